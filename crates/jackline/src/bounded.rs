//! Runs a program for an answer: with bounded time and output, and in no terminal.

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes of a stream that are read; versions, replies and complaints are far shorter.
const OUTPUT_BYTES_MAX: u64 = 64 * 1024;
/// Milliseconds between two looks at a program that has not ended.
const POLL_MS: u64 = 2;

/// What a program did.
#[derive(Debug)]
pub(crate) struct Answered {
    /// `None` when a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs a program with this input; why there is no answer, if there is none.
pub(crate) fn run(mut command: Command, input: &str, ms_max: u64) -> Result<Answered, String> {
    let until = Instant::now() + Duration::from_millis(ms_max);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|fault| format!("it cannot be started: {fault}"))?;
    let (stdout, stderr) = (collect(child.stdout.take()), collect(child.stderr.take()));
    feed(child.stdin.take(), input.to_owned());
    let code = ended(&mut child, until).inspect_err(|_| end(&mut child))?;
    let late = |_| format!("it keeps its output open for more than {ms_max} ms");
    let rest =
        |from: Receiver<String>| from.recv_timeout(until.saturating_duration_since(Instant::now())).map_err(late);
    Ok(Answered { code, stdout: rest(stdout)?, stderr: rest(stderr)? })
}

fn ended(child: &mut Child, until: Instant) -> Result<Option<i32>, String> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.code()),
            Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(POLL_MS)),
            Ok(None) => return Err("it did not end in time".to_owned()),
            Err(fault) => return Err(format!("it cannot be waited for: {fault}")),
        }
    }
}

/// Nothing is left behind, also when it does not want to end.
fn end(child: &mut Child) {
    drop(child.kill());
    drop(child.wait());
}

/// Fed from a thread: a program that reads nothing would otherwise hold us up.
fn feed(stdin: Option<ChildStdin>, input: String) {
    let Some(mut stdin) = stdin else { return };
    thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
}

fn collect(stream: Option<impl std::io::Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(stream) = stream {
            drop(stream.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes));
        }
        drop(sender.send(String::from_utf8_lossy(&bytes).into_owned()));
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(text: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", text]);
        command
    }

    #[test]
    fn what_a_program_says_is_told() {
        let answered = run(shell("cat; echo oh >&2; exit 3"), "hello", 5_000).unwrap();
        assert_eq!((answered.code, answered.stdout.as_str(), answered.stderr.as_str()), (Some(3), "hello", "oh\n"));
        let answered = run(shell("true"), &"x".repeat(1 << 20), 5_000).unwrap();
        assert_eq!(answered.code, Some(0));
    }

    #[test]
    fn what_does_not_end_is_ended() {
        let before = Instant::now();
        assert_eq!(run(shell("exec sleep 60"), "", 100).unwrap_err(), "it did not end in time");
        assert!(run(shell("sleep 3 & true"), "", 100).unwrap_err().contains("keeps its output open"));
        assert!(before.elapsed() < Duration::from_secs(2), "{:?}", before.elapsed());
        assert!(run(Command::new("/nowhere/at/all"), "", 100).unwrap_err().contains("cannot be started"));
    }
}
