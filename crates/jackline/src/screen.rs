//! The one place that prints.

use std::io::{self, Write as _};

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
