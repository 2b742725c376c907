//! The one place that prints.

use std::io::{self, Write as _};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Prints a text for whoever reads standard output.
pub(crate) fn show(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Prints a line.
pub(crate) fn line(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

/// Prints a line for the person, beside the output.
pub(crate) fn complain(text: &str) {
    // Nobody is left to be told when standard error is gone.
    drop(writeln!(io::stderr().lock(), "{text}"));
}

/// Whether anybody can still read what is printed; where that cannot be told, somebody can.
pub(crate) fn is_heard() -> bool {
    let (out, at_once) = (io::stdout(), Timespec { tv_sec: 0, tv_nsec: 0 });
    let mut asked = [PollFd::new(&out, PollFlags::empty())];
    let polled = poll(&mut asked, Some(&at_once));
    let [asked] = asked;
    polled.is_err() || !asked.revents().intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL)
}

/// Draws a line for the person over the one before; an empty one leaves nothing.
pub(crate) fn draw(text: &str) {
    let columns = crate::place::columns_of_errors().unwrap_or(80).saturating_sub(1);
    let short: String = text.chars().take(columns).collect();
    let mut out = io::stderr().lock();
    // To the line's beginning, and away with what was there.
    drop(write!(out, "\r\x1b[2K{short}").and_then(|()| out.flush()));
}
