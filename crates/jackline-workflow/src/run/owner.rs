//! Who carries a run out: one process at a time. What holds it is a lock, which also a sudden end lets go.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::Path;

use jackline_runtime::private;

use super::fault::RunFault;
use super::kept;

/// The file in a run's directory that is locked; it names the process.
const FILE: &str = "owner";

/// A run of ours, until this is dropped.
#[derive(Debug)]
pub(super) struct Owner {
    locked: File,
}

impl Owner {
    /// Takes a run, or says who has it.
    pub(super) fn take(run: &str, directory: &Path) -> Result<Self, RunFault> {
        let path = directory.join(FILE);
        let disk = |fault: io::Error| kept::disk(&path, &fault);
        private::create_dir(directory).map_err(disk)?;
        let mut file = private::create_file_or_open(&path).map_err(disk)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let process = fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok());
                return Err(RunFault::AtWork { id: run.to_owned(), process });
            }
            Err(TryLockError::Error(fault)) => return Err(disk(fault)),
        }
        file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())).map_err(disk)?;
        Ok(Self { locked: file })
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // Aloud: a command that is just being started may hold a copy of the file for a moment, and the lock with it.
        let _ = self.locked.unlock();
    }
}
