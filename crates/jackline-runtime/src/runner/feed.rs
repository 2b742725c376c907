//! What a command reads, written to it as fast as it reads and never waited for.

use std::io::{self, PipeWriter, Write as _};

/// The rest of what a command is told.
#[derive(Debug)]
pub(super) struct Feed<'a> {
    /// `None` once all is written, or nobody reads any more.
    pipe: Option<PipeWriter>,
    rest: &'a [u8],
}

impl<'a> Feed<'a> {
    /// INVARIANT: writing to the pipe never waits.
    pub(super) const fn new(pipe: Option<PipeWriter>, input: &'a [u8]) -> Self {
        Self { pipe, rest: input }
    }

    /// Where there is still something to write to.
    pub(super) const fn pipe(&self) -> Option<&PipeWriter> {
        self.pipe.as_ref()
    }

    /// Writes what the pipe takes now.
    pub(super) fn write(&mut self) {
        while let Some(pipe) = self.pipe.as_mut() {
            match pipe.write(self.rest) {
                Ok(bytes) => self.rest = self.rest.get(bytes..).unwrap_or_default(),
                Err(fault) if fault.kind() == io::ErrorKind::WouldBlock => return,
                Err(fault) if fault.kind() == io::ErrorKind::Interrupted => {}
                // A command may end, or close its input, without reading all of it.
                Err(_) => self.rest = &[],
            }
            if self.rest.is_empty() {
                self.pipe = None;
            }
        }
    }
}
