//! A server that is a program: started in a process group of its own, spoken to over pipes, ended with all it started.

use std::io;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::pipe::Pipe;
use super::server::{Ending, Sent, Server};
use super::spawn;

/// Milliseconds between two looks whether a server that was asked to end has ended.
const LOOK_MS: u64 = 5;

/// A running program.
#[derive(Debug)]
pub(super) struct Program {
    name: String,
    group: Pid,
    child: Mutex<Child>,
    pipe: Arc<Pipe>,
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
        let pipe = Arc::new(Pipe::new(input).map_err(unstarted)?);
        let carrier = Arc::clone(&pipe);
        spawn("input", move || carrier.carry())?;
        let group = Pid::from_child(&child);
        Ok((Self { name: program.clone(), group, child: Mutex::new(child), pipe }, output))
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
        self.pipe.send(message.text).map_err(|why| format!("the server `{}` {why}", self.name))
    }

    fn is_lost(&self) -> bool {
        self.pipe.is_closed()
    }

    fn wait_deaf(&self) -> bool {
        self.pipe.wait_deaf()
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
        self.pipe.close();
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
