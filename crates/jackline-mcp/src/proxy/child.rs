//! A server that is a program: started in a process group of its own, spoken to over pipes, ended with all it started.

use std::io::{self, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::server::{Ending, Sent, Server};

/// Seconds that a server may leave its input unread while something is to be written.
const WRITE_SECONDS_MAX: i64 = 10;
/// Milliseconds between two looks whether a server that was asked to end has ended.
const LOOK_MS: u64 = 5;

/// A running program.
#[derive(Debug)]
pub(super) struct Program {
    name: String,
    group: Pid,
    child: Mutex<Child>,
    input: Mutex<Option<ChildStdin>>,
}

impl Program {
    /// Starts it; its complaints go where ours go.
    pub(super) fn start(words: &[String]) -> Result<(Self, ChildStdout), String> {
        let (program, arguments) = words.split_first().ok_or("there is no command")?;
        let unstarted = |fault: io::Error| format!("`{program}` cannot be started: {fault}");
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        // A group of its own, so that all it starts can be ended at once.
        command.process_group(0);
        let mut child = command.spawn().map_err(unstarted)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(format!("`{program}` has no input or output"));
        };
        fcntl_getfl(&input)
            .and_then(|flags| fcntl_setfl(&input, flags | OFlags::NONBLOCK))
            .map_err(|fault| unstarted(fault.into()))?;
        let group = Pid::from_child(&child);
        let server = Self { name: program.clone(), group, child: Mutex::new(child), input: Mutex::new(Some(input)) };
        Ok((server, output))
    }

    fn write(&self, input: &mut ChildStdin, mut bytes: &[u8]) -> Result<(), String> {
        while !bytes.is_empty() {
            match input.write(bytes) {
                Ok(0) => return Err(format!("the server `{}` does not read any more", self.name)),
                Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
                Err(fault) if fault.kind() == io::ErrorKind::Interrupted => {}
                Err(fault) if fault.kind() == io::ErrorKind::WouldBlock => self.wait_for_room(input)?,
                Err(fault) => return Err(format!("the server `{}` cannot be written to: {fault}", self.name)),
            }
        }
        Ok(())
    }

    fn wait_for_room(&self, input: &ChildStdin) -> Result<(), String> {
        let patience = Timespec { tv_sec: WRITE_SECONDS_MAX, tv_nsec: 0 };
        match poll(&mut [PollFd::new(input, PollFlags::OUT)], Some(&patience)) {
            Ok(0) => Err(format!("the server `{}` has not read for {WRITE_SECONDS_MAX} s", self.name)),
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(fault) => Err(format!("the server `{}` cannot be written to: {fault}", self.name)),
        }
    }

    /// How it ended, once it did within this time.
    fn ended(&self, within: Duration) -> Option<ExitStatus> {
        let until = Instant::now() + within;
        loop {
            let status = self.child.lock().unwrap_or_else(PoisonError::into_inner).try_wait();
            match status {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(LOOK_MS)),
                Ok(None) | Err(_) => return None,
            }
        }
    }

    fn kill(&self, signal: Signal) {
        // It fails only when nobody of the group is left.
        let _ = kill_process_group(self.group, signal);
    }
}

impl Server for Program {
    fn send(&self, message: &Sent<'_>) -> Result<(), String> {
        let mut line = Vec::with_capacity(message.text.len() + 1);
        line.extend_from_slice(message.text);
        line.push(b'\n');
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(pipe) = input.as_mut() else { return Err(format!("the server `{}` is being ended", self.name)) };
        let written = self.write(pipe, &line);
        if written.is_err() {
            // Half of a line may be there: whatever came after it would be read as its end.
            *input = None;
        }
        written
    }

    fn is_lost(&self) -> bool {
        self.input.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    fn wait(&self) -> bool {
        // It is left for `end` to be taken note of.
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        loop {
            match waitid(WaitId::Pid(self.group), ended) {
                Err(rustix::io::Errno::INTR) => {}
                Ok(Some(_)) | Err(_) => return true,
                Ok(None) => return false,
            }
        }
    }

    fn close(&self) {
        *self.input.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn signal(&self, signal: Ending) {
        self.kill(match signal {
            Ending::Hangup => Signal::HUP,
            Ending::Interrupt => Signal::INT,
            Ending::Terminate => Signal::TERM,
        });
    }

    fn end(&self, grace: Duration) -> (String, Option<u8>) {
        self.close();
        let status = self.ended(grace).or_else(|| {
            self.kill(Signal::TERM);
            self.ended(grace)
        });
        // Also what it left behind.
        self.kill(Signal::KILL);
        let status = status.or_else(|| self.ended(grace));
        let code = status.and_then(|status| status.code()).and_then(|code| u8::try_from(code).ok());
        let how = match status.map(|status| (status.code(), status.signal())) {
            Some((Some(code), _)) => format!("ended with exit code {code}"),
            Some((None, Some(signal))) => format!("was ended by signal {signal}"),
            Some((None, None)) | None => "was ended".to_owned(),
        };
        (format!("the server `{}` {how}", self.name), code)
    }
}
