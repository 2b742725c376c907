//! The input of a server that is a program. What it does not read at once waits here, so that nobody else does: a server that
//! works on one call reads nothing for as long as that takes, and is not deaf for it.

use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::process::ChildStdin;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

/// Bytes that wait to be read: a few of the longest messages.
const WAITING_BYTES_MAX: usize = 64 << 20;
/// Bytes of room that are kept for the next message; few are longer.
const ROOM_BYTES_MAX: usize = 64 << 10;
/// Seconds after which a server that reads nothing may be deaf.
pub(super) const DEAF_SECONDS: u64 = 10;
/// Seconds between two looks whether there is room, should nobody say so.
const ROOM_LOOK_SECONDS: i64 = 1;

#[derive(Debug)]
struct State {
    /// Gone once nothing more is sent.
    input: Option<ChildStdin>,
    waiting: VecDeque<u8>,
    /// When something was last read, or began to wait.
    moved: Instant,
    /// Why nothing can be written any more.
    lost: Option<String>,
}

/// The way into a program.
#[derive(Debug)]
pub(super) struct Pipe {
    state: Mutex<State>,
    changed: Condvar,
}

impl Pipe {
    pub(super) fn new(input: ChildStdin) -> io::Result<Self> {
        let flags = fcntl_getfl(&input)?;
        fcntl_setfl(&input, flags | OFlags::NONBLOCK)?;
        let (input, waiting) = (Some(input), VecDeque::new());
        let state = State { input, waiting, moved: Instant::now(), lost: None };
        Ok(Self { state: Mutex::new(state), changed: Condvar::new() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a line; as much of it as is not read now is sent by [`Pipe::carry`].
    pub(super) fn send(&self, line: &[u8]) -> Result<(), String> {
        let mut state = self.state();
        if state.input.is_none() {
            return Err(state.lost.clone().unwrap_or_else(|| "is being ended".to_owned()));
        }
        if state.waiting.len() + line.len() >= WAITING_BYTES_MAX {
            return Err("has not read what was sent before".to_owned());
        }
        if state.waiting.is_empty() {
            state.moved = Instant::now();
        }
        let at_once = state.waiting.is_empty();
        state.waiting.extend(line);
        state.waiting.push_back(b'\n');
        if at_once {
            state.write();
            // Most lines are read at once. Who only waits for those that are not is not woken for each: that would cost more
            // than the line.
            if !state.waiting.is_empty() || state.lost.is_some() {
                self.changed.notify_all();
            }
        }
        state.lost.clone().map_or(Ok(()), Err)
    }

    /// Writes what waits, as the program reads it, until nothing more is sent.
    pub(super) fn carry(&self) {
        let mut state = self.state();
        while let Some(input) = &state.input {
            if state.waiting.is_empty() {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let Ok(input) = input.as_fd().try_clone_to_owned() else { return };
            drop(state);
            let patience = Timespec { tv_sec: ROOM_LOOK_SECONDS, tv_nsec: 0 };
            // Whatever it says, writing tells.
            let _ = poll(&mut [PollFd::new(&input, PollFlags::OUT)], Some(&patience));
            state = self.state();
            state.write();
            if state.lost.is_some() {
                self.changed.notify_all();
            }
        }
    }

    /// Nothing more is sent.
    pub(super) fn close(&self) {
        self.state().input = None;
        self.changed.notify_all();
    }

    /// Whether nothing can be sent any more.
    pub(super) fn is_closed(&self) -> bool {
        self.state().input.is_none()
    }

    /// Waits until nothing has been read for long, or nothing can be; not so once it is closed by us.
    pub(super) fn wait_deaf(&self) -> bool {
        let patience = Duration::from_secs(DEAF_SECONDS);
        let mut state = self.state();
        loop {
            let stuck = state.moved.elapsed();
            match (&state.lost, &state.input, state.waiting.is_empty()) {
                (Some(_), _, _) => return true,
                (None, None, _) => return false,
                (None, Some(_), true) => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                (None, Some(_), false) if stuck >= patience => return true,
                (None, Some(_), false) => {
                    let waited = self.changed.wait_timeout(state, patience.saturating_sub(stuck));
                    state = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
    }
}

impl State {
    /// Writes as much as is read now.
    fn write(&mut self) {
        while let (Some(input), false) = (&mut self.input, self.waiting.is_empty()) {
            match input.write(self.waiting.as_slices().0) {
                Ok(0) => self.lose("does not read any more".to_owned()),
                Ok(written) => {
                    self.waiting.drain(..written);
                    self.moved = Instant::now();
                }
                Err(fault) if fault.kind() == io::ErrorKind::Interrupted => {}
                Err(fault) if fault.kind() == io::ErrorKind::WouldBlock => return,
                Err(fault) => self.lose(format!("cannot be written to: {fault}")),
            }
        }
        if self.waiting.capacity() > ROOM_BYTES_MAX {
            self.waiting = VecDeque::new();
        }
    }

    /// Half of a line may be there: whatever came after it would be read as its end.
    fn lose(&mut self, why: String) {
        self.lost = Some(why);
        self.input = None;
        self.waiting = VecDeque::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;
    use std::process::{Command, Stdio};
    use std::sync::Arc;

    #[test]
    fn what_is_not_read_at_once_waits_and_comes_in_order() {
        let mut program = Command::new("sh");
        program.args(["-c", "sleep 0.3; cat"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = program.spawn().unwrap();
        let pipe = Arc::new(Pipe::new(child.stdin.take().unwrap()).unwrap());
        let carrier = Arc::clone(&pipe);
        let carrying = std::thread::spawn(move || carrier.carry());
        let lines: Vec<String> = (0..8).map(|n| n.to_string().repeat(100_000)).collect();
        let begun = Instant::now();
        lines.iter().for_each(|line| pipe.send(line.as_bytes()).unwrap());
        assert!(begun.elapsed() < Duration::from_millis(250), "nobody waits for a reader");
        let mut read = vec![0; lines.iter().map(|line| line.len() + 1).sum()];
        child.stdout.take().unwrap().read_exact(&mut read).unwrap();
        assert_eq!(String::from_utf8(read).unwrap().lines().collect::<Vec<_>>(), lines);
        pipe.close();
        carrying.join().unwrap();
        assert!(!pipe.wait_deaf() && pipe.send(b"x").is_err());
        child.wait().unwrap();
    }

    #[test]
    fn a_reader_that_is_gone_is_told() {
        let mut child = Command::new("true").stdin(Stdio::piped()).spawn().unwrap();
        let pipe = Pipe::new(child.stdin.take().unwrap()).unwrap();
        child.wait().unwrap();
        assert!(pipe.send(b"x").unwrap_err().contains("cannot be written to"));
        assert!(pipe.is_closed() && pipe.wait_deaf());
    }
}
