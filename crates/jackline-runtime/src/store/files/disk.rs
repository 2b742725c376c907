//! The few calls that change or read a kept file by position, so that tests can make each of them fail.

use std::fs::File;
use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

use rustix::fs::AtFlags;
use rustix::io::Errno;

/// Writes everything at `offset`: one system call, unless the disk takes only a part.
pub(super) fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = match write_at(file, bytes, offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => written,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        bytes = bytes.get(written..).unwrap_or_default();
        offset += written as u64;
    }
    Ok(())
}

/// The same for two parts, the second right behind the first.
pub(super) fn write_both_at(file: &File, first: &[u8], second: &[u8], offset: u64) -> io::Result<()> {
    let written = match write_both(file, first, second, offset) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
        written => written?,
    };
    // What the disk did not take at once, mostly nothing, is written part by part.
    write_all_at(file, first.get(written..).unwrap_or_default(), offset + written as u64)?;
    let behind = written.saturating_sub(first.len());
    write_all_at(file, second.get(behind..).unwrap_or_default(), offset + (first.len() + behind) as u64)
}

fn write_both(file: &File, first: &[u8], second: &[u8], offset: u64) -> io::Result<usize> {
    #[cfg(test)]
    if let Some(fault) = faults::next() {
        return fault.write(file, &[first, second].concat(), offset);
    }
    Ok(rustix::io::pwritev(file, &[IoSlice::new(first), IoSlice::new(second)], offset)?)
}

fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
    #[cfg(test)]
    if let Some(fault) = faults::next() {
        return fault.write(file, bytes, offset);
    }
    file.write_at(bytes, offset)
}

/// Writes parts one behind the other over what is there, and returns when they are durable. What the disk does not take
/// at once is an error.
pub(super) fn write_through(file: &File, parts: &[&[u8]], offset: u64) -> io::Result<()> {
    #[cfg(test)]
    if let Some(fault) = faults::next() {
        return fault.fail();
    }
    let slices: Vec<IoSlice<'_>> = parts.iter().map(|part| IoSlice::new(part)).collect();
    let written = write_slices_through(file, &slices, offset)?;
    let whole = written == parts.iter().map(|part| part.len()).sum::<usize>();
    whole.then_some(()).ok_or_else(|| io::ErrorKind::WriteZero.into())
}

#[cfg(target_os = "linux")]
fn write_slices_through(file: &File, slices: &[IoSlice<'_>], offset: u64) -> io::Result<usize> {
    Ok(rustix::io::pwritev2(file, slices, offset, rustix::io::ReadWriteFlags::DSYNC)?)
}

#[cfg(not(target_os = "linux"))]
fn write_slices_through(file: &File, slices: &[IoSlice<'_>], offset: u64) -> io::Result<usize> {
    let written = rustix::io::pwritev(file, slices, offset)?;
    file.sync_data().map(|()| written)
}

/// Writes parts one behind the other over what is there, and has the system begin to bring them to the disk, which goes on
/// while others work; [`sync`] waits for it. What the disk does not take at once is an error.
pub(super) fn write_behind(file: &File, parts: &[&[u8]], offset: u64) -> io::Result<()> {
    #[cfg(test)]
    if let Some(fault) = faults::next() {
        return fault.fail();
    }
    let slices: Vec<IoSlice<'_>> = parts.iter().map(|part| IoSlice::new(part)).collect();
    let bytes = parts.iter().map(|part| part.len()).sum::<usize>();
    if rustix::io::pwritev(file, &slices, offset)? != bytes {
        return Err(io::ErrorKind::WriteZero.into());
    }
    begin_to_sync(file, offset, bytes as u64);
    Ok(())
}

/// Nothing but a wish: whoever waits for the disk waits longer where it is not granted. What is said not to be needed is
/// written at once, and what is being written stays in memory.
#[cfg(target_os = "linux")]
fn begin_to_sync(file: &File, offset: u64, bytes: u64) {
    let _ = rustix::fs::fadvise(file, offset, std::num::NonZeroU64::new(bytes), rustix::fs::Advice::DontNeed);
}

#[cfg(not(target_os = "linux"))]
const fn begin_to_sync(_file: &File, _offset: u64, _bytes: u64) {}

/// Makes what was written durable.
pub(super) fn sync(file: &File) -> io::Result<()> {
    #[cfg(test)]
    if let Some(fault) = faults::next() {
        return fault.fail();
    }
    file.sync_data()
}

/// Puts a file in the place of another of the same directory: at any moment one of the two is there, whole.
pub(super) fn replace(directory: &OwnedFd, from: &str, to: &str) -> io::Result<()> {
    #[cfg(test)]
    if let Some(fault) = faults::next() {
        fault.fail()?;
    }
    Ok(rustix::fs::renameat(directory, from, directory, to)?)
}

/// Removes a file of a directory; one that is not there is removed already.
pub(super) fn remove(directory: &OwnedFd, name: &str) -> io::Result<()> {
    #[cfg(test)]
    if let Some(fault) = faults::next() {
        fault.fail()?;
    }
    match rustix::fs::unlinkat(directory, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Cuts a file. No fault is planned for it: it is how we recover from the others.
pub(super) fn cut(file: &File, len: u64) -> io::Result<()> {
    file.set_len(len)
}

/// Reads from `offset` until `bytes` is full or the file ends; returns how many bytes were read.
///
/// A read that comes back short is taken for the end, which spares a second call: files hand out less only there.
pub(super) fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    loop {
        match file.read_at(bytes, offset) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Reads exactly `len` bytes from `offset`; `None` when the file ends before.
pub(super) fn read_exact(file: &File, offset: u64, len: usize) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = vec![0; len];
    match file.read_exact_at(&mut bytes, offset) {
        Ok(()) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
pub(super) mod faults {
    //! A plan of what the next writes, syncs, renames and removals of this thread do.

    use std::cell::RefCell;
    use std::collections::VecDeque;
    use std::fs::File;
    use std::io;
    use std::os::unix::fs::FileExt;

    use rustix::io::Errno;

    /// What one planned step does.
    #[derive(Debug, Clone, Copy)]
    pub(in crate::store::files) enum Fault {
        /// It works.
        Pass,
        /// Only so many bytes are taken, and no error is given.
        Short(usize),
        /// It fails.
        Fail(Errno),
    }

    thread_local! {
        static PLAN: RefCell<VecDeque<Fault>> = const { RefCell::new(VecDeque::new()) };
    }

    /// Plans the next steps; later ones work.
    pub(in crate::store::files) fn plan(faults: &[Fault]) {
        PLAN.with_borrow_mut(|plan| *plan = faults.iter().copied().collect());
    }

    pub(super) fn next() -> Option<Fault> {
        PLAN.with_borrow_mut(VecDeque::pop_front)
    }

    impl Fault {
        pub(super) fn write(self, file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
            match self {
                Self::Pass => file.write_at(bytes, offset),
                Self::Short(taken) => file.write_at(&bytes[..taken.min(bytes.len())], offset),
                Self::Fail(errno) => Err(errno.into()),
            }
        }

        pub(super) fn fail(self) -> io::Result<()> {
            match self {
                Self::Fail(errno) => Err(errno.into()),
                Self::Pass | Self::Short(_) => Ok(()),
            }
        }
    }
}
