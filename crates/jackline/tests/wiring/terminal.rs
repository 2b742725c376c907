//! A terminal for acts that are a person's.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::Ran;

/// Runs a command with a terminal as its standard input, at which a person types `typed`.
pub(crate) fn ran_by_a_person(mut command: Command, typed: &str) -> Ran {
    let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&screen).expect("ours");
    unlockpt(&screen).expect("unlocked");
    let name = ptsname(&screen, Vec::new()).expect("its name");
    let path = std::ffi::OsStr::from_bytes(name.as_bytes());
    let keyboard = OpenOptions::new().read(true).write(true).open(path).expect("opened");
    let mut screen = File::from(screen);
    screen.write_all(typed.as_bytes()).expect("typed");
    command.stdin(Stdio::from(keyboard)).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = command.spawn().expect("started").wait_with_output().expect("ended");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}
