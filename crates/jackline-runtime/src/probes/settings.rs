//! Whether a host's settings file, as it lies there now, would silence us.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use jackline_core::probe::Fact;

use crate::wiring::claude::{breach, diverted};
use crate::wiring::{CommandLine, SETTINGS_BYTES_MAX};

/// `Absent` when nothing in the file silences us, `Unknown` with the reason when something may. A file that wires us must
/// go on running us by the same command line, where that is known.
#[must_use]
pub fn answer(file: &Path, wired: bool, line: Option<&CommandLine>) -> Fact {
    let text = match read(file) {
        Ok(text) => text,
        Err(why) => return Fact::Unknown(format!("they cannot be read ({why})")),
    };
    let diverted = || line.filter(|_| wired).and_then(|line| diverted(text.as_deref(), line));
    breach(text.as_deref(), wired).or_else(diverted).map_or(Fact::Absent, Fact::Unknown)
}

fn read(file: &Path) -> Result<Option<Vec<u8>>, String> {
    // Looked at before it is opened: opening a pipe that was planted there would wait for ever.
    match fs::metadata(file) {
        Ok(there) if there.is_file() => {}
        Ok(_) => return Err("it is no regular file".to_owned()),
        Err(fault) if fault.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(fault) => return Err(fault.to_string()),
    }
    let mut text = Vec::new();
    let bounded = |file: File| file.take(SETTINGS_BYTES_MAX as u64 + 1).read_to_end(&mut text);
    File::open(file).and_then(bounded).map_err(|fault| fault.to_string())?;
    Ok(Some(text))
}
