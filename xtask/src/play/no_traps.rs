//! Where nobody knows how to watch a process.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};

pub(super) struct Functions;

impl Functions {
    pub(super) fn of(_program: &Path) -> Result<Self, String> {
        Err("the order is found on Linux, on a processor of the x86-64 family".to_owned())
    }

    pub(super) fn can_watch() -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn start(command: &mut Command) -> io::Result<Child> {
        command.spawn()
    }

    pub(super) fn watch(&self, _child: &Child) -> io::Result<(ExitStatus, BTreeSet<String>)> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
