//! Attends to a command that runs: drains what it prints, watches its time, and ends all it started.

use std::io::{self, PipeReader, Read as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::Exit;
use super::feed::Feed;
use super::kept::Printed;

/// How long a command that was asked to end may tidy up.
const GRACE: Duration = Duration::from_millis(1000);
/// How long a killed command is waited for. One that hangs in the kernel is left to a thread.
const REAP: Duration = Duration::from_millis(500);
/// Between two looks at a command that prints nothing; seldom enough to cost nothing.
const LOOK: Duration = Duration::from_millis(2);

/// Bytes read at once: as many as a pipe holds.
const CHUNK_BYTES: usize = 64 * 1024;
/// Chunks read from one stream before the clock is looked at: a flood must not stop it.
const CHUNKS_MAX: usize = 16;

/// How a command came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Itself,
    Late,
    Stopped,
}

/// Until when a command may run, and whether it is to end before.
type Patience<'a> = (Instant, &'a dyn Fn() -> bool);

/// Attends until the command has ended, or it was ended: its time is up, or it is to stop.
pub(super) fn attend(
    mut child: Child,
    pipes: [PipeReader; 2],
    mut feed: Feed<'_>,
    patience: Patience<'_>,
) -> (Exit, [Printed; 2]) {
    let mut streams = pipes.map(|pipe| Stream { pipe: Some(pipe), printed: Printed::default() });
    let group = Pid::from_child(&child);
    let ending = watch(group, &mut streams, &mut feed, patience);
    // INVARIANT: the command is not reaped yet, so that the number is still its group's. What it left behind, or what
    // did not want to end, ends here; a fork in this moment fails too.
    let _ = kill_process_group(group, Signal::KILL);
    let exit = reap(&mut child).map_or_else(|| leave(child), exit);
    // Whoever left the group may hold a pipe open for ever: what is there is read, and nothing is waited for.
    streams.iter_mut().for_each(Stream::read);
    let exit = match ending {
        Ending::Itself => exit,
        Ending::Late => Exit::TimedOut,
        Ending::Stopped => Exit::Stopped,
    };
    (exit, streams.map(|stream| stream.printed))
}

/// Feeds and drains until the command has ended by itself, or was told to and had its time for that.
fn watch(group: Pid, streams: &mut [Stream; 2], feed: &mut Feed<'_>, (until, stop): Patience<'_>) -> Ending {
    let mut until = until;
    let mut asked = None;
    loop {
        feed.write();
        wait(streams, feed);
        streams.iter_mut().for_each(Stream::read);
        if ended(group) {
            return asked.unwrap_or(Ending::Itself);
        }
        // Late even if it was never asked: we may have slept longer than all of this takes.
        if Instant::now() >= until + GRACE {
            return asked.unwrap_or(Ending::Late);
        }
        if asked.is_none() && (stop() || Instant::now() >= until) {
            asked = Some(if Instant::now() >= until { Ending::Late } else { Ending::Stopped });
            until = until.min(Instant::now());
            // It may have ended in this moment; the next look tells.
            let _ = kill_process_group(group, Signal::TERM);
        }
    }
}

/// Waits a moment, or less if there is something to read, or room to write.
fn wait(streams: &[Stream; 2], feed: &Feed<'_>) {
    let open = streams.iter().filter_map(|stream| stream.pipe.as_ref());
    let mut open: Vec<PollFd<'_>> = open.map(|pipe| PollFd::new(pipe, PollFlags::IN)).collect();
    open.extend(feed.pipe().map(|pipe| PollFd::new(pipe, PollFlags::OUT)));
    let moment = Timespec { tv_sec: 0, tv_nsec: i64::from(LOOK.subsec_nanos()) };
    if open.is_empty() || poll(&mut open, Some(&moment)).is_err() {
        thread::sleep(LOOK);
    }
}

/// Whether the command has ended, without reaping it. If that cannot be told there is nothing to wait for.
fn ended(group: Pid) -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    !matches!(waitid(WaitId::Pid(group), look), Ok(None) | Err(rustix::io::Errno::INTR))
}

fn reap(child: &mut Child) -> Option<io::Result<ExitStatus>> {
    let until = Instant::now() + REAP;
    loop {
        match child.try_wait() {
            Ok(None) if Instant::now() < until => thread::sleep(LOOK),
            Ok(None) => return None,
            Ok(Some(status)) => return Some(Ok(status)),
            Err(fault) => return Some(Err(fault)),
        }
    }
}

/// Leaves a command that cannot even be killed to a thread: no caller waits for the kernel.
fn leave(mut child: Child) -> Exit {
    // Without a thread it stays a zombie until we end, which harms nobody.
    drop(thread::Builder::new().spawn(move || child.wait()));
    Exit::Unknown("it was killed and does not end".to_owned())
}

fn exit(status: io::Result<ExitStatus>) -> Exit {
    match status.map(|status| (status.code(), status.signal())) {
        Ok((Some(code), _)) => Exit::Code(code),
        Ok((None, Some(signal))) => Exit::Signal(signal),
        Ok((None, None)) => Exit::Unknown("it ended in no known way".to_owned()),
        Err(fault) => Exit::Unknown(format!("it cannot be waited for: {fault}")),
    }
}

/// What comes out of one pipe.
#[derive(Debug)]
struct Stream {
    /// `None` once it is closed.
    pipe: Option<PipeReader>,
    printed: Printed,
}

impl Stream {
    /// Reads what is there, and not for ever.
    fn read(&mut self) {
        let mut chunk = [0; CHUNK_BYTES];
        for _ in 0..CHUNKS_MAX {
            let Some(pipe) = self.pipe.as_mut() else { return };
            match pipe.read(&mut chunk) {
                Ok(bytes @ 1..) => self.printed.push(chunk.get(..bytes).unwrap_or_default()),
                Err(fault) if fault.kind() == io::ErrorKind::WouldBlock => return,
                Err(fault) if fault.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => self.pipe = None,
            }
        }
    }
}
