//! A host's settings file: read whole, followed through links, replaced whole.

use std::fs;
use std::io::{self, Read as _};
use std::path::PathBuf;

use jackline_runtime::replace;
use jackline_runtime::wiring::{SETTINGS_BYTES_MAX, SettingsFault};

use crate::error::CommandError;
use crate::place;

/// A settings file as it lies there.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// Where it is named.
    pub(crate) path: PathBuf,
    /// Where it is, links followed.
    target: PathBuf,
    /// `None` when there is none.
    pub(crate) text: Option<String>,
}

impl Settings {
    /// Reads a file; a missing one has no text.
    pub(crate) fn read(path: PathBuf) -> Result<Self, CommandError> {
        let unreadable = |why: String| CommandError::input(format!("`{}` cannot be read: {why}", place::shown(&path)));
        match fs::symlink_metadata(&path) {
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => {
                return Ok(Self { target: path.clone(), path, text: None });
            }
            Err(fault) => return Err(unreadable(fault.to_string())),
            Ok(_) => {}
        }
        let target = path.canonicalize().map_err(|_| unreadable("it is a link that leads nowhere".to_owned()))?;
        let text = read_plain(&target).map_err(unreadable)?;
        Ok(Self { path, target, text: Some(text) })
    }

    /// Replaces the file, or removes it; refuses when someone else has changed it since it was read.
    pub(crate) fn replace(&self, after: Option<&str>) -> Result<(), CommandError> {
        let now = Self::read(self.path.clone())?;
        let shown = place::shown(&self.path);
        if now.text != self.text || now.target != self.target {
            return Err(CommandError::input(format!("`{shown}` was changed meanwhile")).hint("run it again"));
        }
        let done = match after {
            Some(text) => replace::write(&self.target, text),
            None => fs::remove_file(&self.target),
        };
        done.map_err(|fault| {
            CommandError::internal(format!("`{shown}` cannot be written: {fault}"))
                .hint("look at the rights of the file and of its directory; it is as it was")
        })
    }

    /// An error about its content.
    pub(crate) fn refused(&self, fault: &SettingsFault) -> CommandError {
        CommandError::input(format!("`{}` is left alone: {fault}", place::shown(&self.path))).hint(fault.help())
    }
}

fn read_plain(path: &PathBuf) -> Result<String, String> {
    // Looked at before it is opened: a pipe that was planted there would be waited for.
    let there = fs::metadata(path).map_err(|fault| fault.to_string())?;
    if !there.is_file() {
        return Err("it is no regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(|fault| fault.to_string())?;
    file.take(SETTINGS_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).map_err(|fault| fault.to_string())?;
    // A part of a file must never be taken for the whole, which would be written back.
    if bytes.len() > SETTINGS_BYTES_MAX {
        let size = usize::try_from(there.len()).unwrap_or(usize::MAX).max(bytes.len());
        return Err(SettingsFault::TooLarge(size).to_string());
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}
