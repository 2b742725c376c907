//! Runs programs for the chores and talks to whoever watches.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Prints a line.
pub(crate) fn say(text: &str) {
    // Nobody is left to be told when standard output is gone.
    drop(writeln!(io::stdout().lock(), "{text}"));
}

/// Prints a line for the person, beside the output.
pub(crate) fn complain(text: &str) {
    drop(writeln!(io::stderr().lock(), "{text}"));
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// The cargo that runs us, in the repository, with nobody to answer questions.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root()).stdin(Stdio::null());
    command
}

/// Removes a directory, if it is there.
pub(crate) fn clear(directory: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(directory) {
        Err(fault) if fault.kind() != io::ErrorKind::NotFound => Err(fault),
        _ => Ok(()),
    }
}

/// Runs one named step and says how long it took.
pub(crate) fn step(name: &str, command: &mut Command) -> Result<(), String> {
    say(&format!("== {name}"));
    let began = Instant::now();
    let status = command.status().map_err(|fault| format!("step `{name}` could not be started: {fault}"))?;
    let seconds = began.elapsed().as_secs_f64();
    if status.success() {
        say(&format!("== {name}: fine, {seconds:.1} s\n"));
        return Ok(());
    }
    Err(format!("step `{name}` failed after {seconds:.1} s ({status}); its output is above"))
}
