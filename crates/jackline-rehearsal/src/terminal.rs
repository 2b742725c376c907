//! A terminal, for acts that are a person's and for what only a person is shown.

use std::fs::File;
use std::io;

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// A terminal: the end at which a person sits, and the one that a command is given.
pub fn terminal() -> io::Result<(File, File)> {
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    grantpt(&person)?;
    unlockpt(&person)?;
    let name = ptsname(&person, Vec::new())?;
    let command = open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    Ok((File::from(person), File::from(command)))
}
