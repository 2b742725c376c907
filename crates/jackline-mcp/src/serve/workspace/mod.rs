//! The workspace's files, for agents without tools of their own: read by pages, written whole, edited, listed, searched.
//!
//! Nothing here judges; a call was judged before it comes here. What these tools never do by themselves is to leave the
//! workspace ([`place`]), and to show or hold more than their bounds.

mod edit;
mod list;
mod place;
mod read;
mod search;
mod write;

use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jackline_core::code;
use jackline_core::definition::Bounds;
use jackline_core::probe::Identity;
use jackline_core::tools::{OWN_PATH, OWN_PATH_USUAL};
use serde_json::Value;

use super::offer::Offered;
use super::said::{Refused, Said};
use place::Place;

/// The files of one session's workspace.
#[derive(Clone, Copy)]
pub(super) struct Workspace<'a> {
    /// Absolute, without links.
    pub(super) root: &'a Path,
    /// How much of a file the owner lets be shown at once, where that is declared.
    pub(super) reads: Option<Bounds>,
    /// Held while a file is written: two writes at once would write to one file beside it.
    pub(super) writing: &'a Mutex<()>,
    /// The files that the path led to when the call was judged.
    pub(super) judged: &'a [Identity],
    /// Whether a file, seen from the root, may not be read: a search shows no line of it.
    pub(super) hides: &'a dyn Fn(&str) -> bool,
}

impl Workspace<'_> {
    /// Does what a tool of the workspace does.
    pub(super) fn work(&self, tool: Offered, args: &Value) -> Result<Said, Refused> {
        match tool {
            Offered::ReadFile => read::read(self, args),
            Offered::WriteFile => write::write(self, args),
            Offered::EditFile => edit::edit(self, args),
            Offered::ListDir => list::list(self, args),
            _ => search::search(self, args),
        }
    }

    /// Where the argument `path` leads; the root where it is left out.
    fn place(&self, args: &Value) -> Result<Place, Refused> {
        let place = Place::of(self.root, text(args, OWN_PATH).unwrap_or(OWN_PATH_USUAL))?;
        place.must_be_judged(self.judged)?;
        Ok(place)
    }

    fn writing(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn text<'a>(args: &'a Value, name: &str) -> Option<&'a str> {
    args.get(name).and_then(Value::as_str)
}

fn flag(args: &Value, name: &str) -> bool {
    args.get(name) == Some(&Value::Bool(true))
}

/// A number of the arguments. One that is written as `1.0` is as whole as any.
pub(super) fn number(args: &Value, name: &str) -> Option<usize> {
    let number = args.get(name)?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole and not negative; too large is large"
    )]
    let whole = number.as_u64().or_else(|| number.as_f64().filter(|n| *n >= 0.0).map(|n| n as u64));
    usize::try_from(whole?).ok()
}

/// What the operating system says of a file.
fn failed(shown: &str, fault: &io::Error) -> Refused {
    match fault.kind() {
        io::ErrorKind::NotFound => missing(shown),
        _ => {
            let reason = format!("Path '{shown}' could not be used: {fault}.");
            Refused::new(&code::WORKSPACE_FAILED, reason, "look at what is there with `list_dir`")
        }
    }
}

fn missing(shown: &str) -> Refused {
    let reason = format!("There is nothing at path '{shown}'.");
    Refused::new(&code::WORKSPACE_MISSING, reason, "list the directory, or search for the name")
}

fn unfit(shown: &str, why: &str, next: &str) -> Refused {
    Refused::new(&code::WORKSPACE_UNFIT, format!("Path '{shown}' {why}."), next)
}
