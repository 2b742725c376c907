//! A terminal for acts that are a person's.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::Ran;

/// Runs a command with a terminal as its standard input, at which a person types `typed`.
pub(crate) fn ran_by_a_person(mut command: Command, typed: &str) -> Ran {
    let (mut person, keyboard) = jackline_rehearsal::terminal().expect("a terminal");
    person.write_all(typed.as_bytes()).expect("typed");
    command.stdin(keyboard).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = command.spawn().expect("started").wait_with_output().expect("ended");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}
