//! A host's settings file: read whole, followed through links, replaced whole.

use std::fs;
use std::io::{self, Read as _};
use std::path::PathBuf;

use jackline_runtime::replace::{self, Spared};
use jackline_runtime::wiring::{SERVERS_BYTES_MAX, SETTINGS_BYTES_MAX, SettingsFault};

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
    /// How many bytes of it are read.
    bytes_max: usize,
}

impl Settings {
    /// Reads a file; a missing one has no text.
    pub(crate) fn read(path: PathBuf) -> Result<Self, CommandError> {
        Self::read_within(path, SETTINGS_BYTES_MAX)
    }

    /// The same for a file that holds a list of servers, and perhaps much else.
    pub(crate) fn read_servers(path: PathBuf) -> Result<Self, CommandError> {
        Self::read_within(path, SERVERS_BYTES_MAX)
    }

    fn read_within(path: PathBuf, bytes_max: usize) -> Result<Self, CommandError> {
        let unreadable = |why: String| CommandError::input(format!("`{}` cannot be read: {why}", place::shown(&path)));
        match fs::symlink_metadata(&path) {
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => {
                return Ok(Self { target: path.clone(), path, text: None, bytes_max });
            }
            Err(fault) => return Err(unreadable(fault.to_string())),
            Ok(_) => {}
        }
        let target = path.canonicalize().map_err(|_| unreadable("it is a link that leads nowhere".to_owned()))?;
        let text = read_plain(&target, bytes_max).map_err(unreadable)?;
        Ok(Self { path, target, text: Some(text), bytes_max })
    }

    /// Replaces the file, or removes it; refuses when someone else has changed it since it was read.
    pub(crate) fn replace(&self, after: Option<&str>) -> Result<(), CommandError> {
        let now = Self::read_within(self.path.clone(), self.bytes_max)?;
        let shown = place::shown(&self.path);
        if now.text != self.text || now.target != self.target {
            return Err(CommandError::input(format!("`{shown}` was changed meanwhile")).hint("run it again"));
        }
        let done = match after {
            Some(text) => replace::write(&self.target, text),
            None => replace::meant(&self.target).and_then(|()| fs::remove_file(&self.target)),
        };
        done.map_err(|fault| self.unwritten(&fault))
    }

    /// Looks whether its owner means it to be written, before anything else is.
    pub(crate) fn meant(&self) -> Result<(), CommandError> {
        replace::meant(&self.target).map_err(|fault| self.unwritten(&fault))
    }

    fn unwritten(&self, fault: &io::Error) -> CommandError {
        let usual = "look at the rights of the file and of its directory; it is as it was";
        let text = format!("`{}` cannot be written: {fault}", place::shown(&self.path));
        match Spared::of(fault) {
            Some(spared) => CommandError::input(text).hint(spared.help()),
            None => CommandError::internal(text).hint(usual),
        }
    }

    /// An error about its content.
    pub(crate) fn refused(&self, fault: &SettingsFault) -> CommandError {
        CommandError::input(format!("`{}` is left alone: {fault}", place::shown(&self.path))).hint(fault.help())
    }
}

fn read_plain(path: &PathBuf, bytes_max: usize) -> Result<String, String> {
    // Looked at before it is opened: a pipe that was planted there would be waited for.
    let there = fs::metadata(path).map_err(|fault| fault.to_string())?;
    if !there.is_file() {
        return Err("it is no regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(|fault| fault.to_string())?;
    file.take(bytes_max as u64 + 1).read_to_end(&mut bytes).map_err(|fault| fault.to_string())?;
    // A part of a file must never be taken for the whole, which would be written back.
    if bytes.len() > bytes_max {
        let bytes = usize::try_from(there.len()).unwrap_or(usize::MAX).max(bytes.len());
        return Err(SettingsFault::TooLarge { bytes, most: bytes_max }.to_string());
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}
