//! Runs a program in a process group of its own, so that nothing it started is left behind, however it ends.

use std::io::{self, Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// Programs at a time. They are large, and a loaded machine runs into the hosts' own timeouts.
const RUNNING_MAX: usize = 3;

/// Milliseconds between two looks at whether the program ended.
const LOOK_MS: u64 = 20;

/// Milliseconds for the rest of the output once the program is gone. Someone who left the group may hold the pipe.
const DRAIN_MS_MAX: u64 = 3_000;

/// How a program ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) exit: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) timed_out: bool,
}

/// Runs it to its end or for at most `limit`.
pub(super) fn run(command: &mut Command, input: Option<String>, limit: Duration) -> io::Result<Ended> {
    let _turn = Turn::wait();
    let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn()?;
    if let (Some(text), Some(mut pipe)) = (input, child.stdin.take()) {
        // A program that ended early did not want it.
        drop(pipe.write_all(text.as_bytes()));
    }
    let (stdout, stderr) = (drained(child.stdout.take()), drained(child.stderr.take()));
    let ended = wait(&mut child, limit);
    end_group(&child);
    let status = ended?;
    let text = |from: Receiver<Vec<u8>>| from.recv_timeout(Duration::from_millis(DRAIN_MS_MAX)).unwrap_or_default();
    let text = |from| String::from_utf8_lossy(&text(from)).into_owned();
    let timed_out = status.is_none();
    if timed_out {
        child.wait()?;
    }
    Ok(Ended { exit: status.and_then(|status| status.code()), stdout: text(stdout), stderr: text(stderr), timed_out })
}

fn drained(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read until a fault is the output.
        drop(pipe.map(|mut pipe| pipe.read_to_end(&mut bytes)));
        drop(sender.send(bytes));
    });
    receiver
}

fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let began = Instant::now();
    while began.elapsed() < limit {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(Duration::from_millis(LOOK_MS));
    }
    Ok(None)
}

fn end_group(child: &Child) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    // Usually nobody is left to be ended, which is no fault.
    let _nobody = group.map(|group| kill_process_group(group, Signal::KILL));
}

static RUNNING: (Mutex<usize>, Condvar) = (Mutex::new(0), Condvar::new());

/// One of the places for running programs.
struct Turn;

impl Turn {
    fn wait() -> Self {
        let running = RUNNING.0.lock().unwrap_or_else(PoisonError::into_inner);
        let free = RUNNING.1.wait_while(running, |running| *running >= RUNNING_MAX);
        *free.unwrap_or_else(PoisonError::into_inner) += 1;
        Self
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *RUNNING.0.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        RUNNING.1.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(text: &str, input: Option<&str>, limit: Duration) -> Ended {
        run(Command::new("sh").args(["-c", text]), input.map(str::to_owned), limit).unwrap()
    }

    #[test]
    fn output_and_exit_code_are_kept() {
        let ended = shell("cat; echo no >&2; exit 3", Some("hello"), Duration::from_secs(20));
        assert_eq!((ended.exit, ended.stdout.as_str(), ended.stderr.as_str()), (Some(3), "hello", "no\n"));
    }

    #[test]
    fn who_hangs_is_ended_with_all_it_started() {
        let began = Instant::now();
        let ended = shell("echo begun; sleep 60 & sleep 60", None, Duration::from_millis(300));
        assert!(ended.timed_out && ended.exit.is_none());
        assert_eq!(ended.stdout, "begun\n");
        assert!(began.elapsed() < Duration::from_secs(20), "the child's child held the pipe");
    }
}
