//! `edit_file`: an exact text is replaced. One that stands there several times is not guessed at.

use jackline_core::code;
use serde_json::{Value, json};

use super::place::Place;
use super::write::{Put, put};
use super::{Workspace, flag, text};
use crate::serve::said::{Refused, Said};

/// Bytes of a file that is edited: it is held three times over while it is.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Times that an edit is made anew because another program changed the file meanwhile.
const TRIES_MAX: usize = 8;

pub(super) fn edit(workspace: &Workspace<'_>, args: &Value) -> Result<Said, Refused> {
    // INVARIANT: held from reading to writing; an edit in between would be lost without a word.
    let _writing = workspace.writing();
    let place = workspace.place(args)?;
    for _ in 0..TRIES_MAX {
        let (file, there) = place.open()?;
        let content = place.text(file, FILE_BYTES_MAX)?;
        let (count, after) = replaced(&place, &content, args)?;
        if put(&place, &after, Some(&there))? != Put::Moved {
            let value = json!({ "path": place.shown, "replaced": count, "bytes": after.len() });
            return Ok(Said { text: format!("Replaced {count} in {}.", place.shown), value });
        }
    }
    let reason = format!("'{}' is changed by another program all the time.", place.shown);
    Err(Refused::new(&code::WORKSPACE_FAILED, reason, "wait until it is done, and read the file again"))
}

/// How often the text stands there, and the content without it.
fn replaced(place: &Place, content: &str, args: &Value) -> Result<(usize, String), Refused> {
    let (old, new) = (text(args, "old_text").unwrap_or_default(), text(args, "new_text").unwrap_or_default());
    let count = if old.is_empty() { 0 } else { content.matches(old).count() };
    if count == 0 {
        let reason = format!("The text to be replaced is not in '{}'.", place.shown);
        return Err(Refused::new(&code::WORKSPACE_NO_MATCH, reason, "read the file, and give the text exactly"));
    }
    let overlaps = count == 1 && stands_again(content, old);
    if (count > 1 || overlaps) && !flag(args, "replace_all") {
        let times = if overlaps { "more than once".to_owned() } else { format!("{count} times") };
        let reason = format!("The text to be replaced stands {times} in '{}'.", place.shown);
        let next = "give more of what is around it, or set `replace_all`";
        return Err(Refused::new(&code::WORKSPACE_NO_MATCH, reason, next));
    }
    let grown = content.len() as u64 + count as u64 * new.len() as u64;
    if grown > 2 * FILE_BYTES_MAX {
        let reason = format!("'{}' would be larger than {} bytes.", place.shown, 2 * FILE_BYTES_MAX);
        return Err(Refused::new(&code::WORKSPACE_UNFIT, reason, "replace less at once"));
    }
    Ok((count, content.replace(old, new)))
}

/// Whether a text stands there once more, where the first one has not ended yet.
fn stands_again(content: &str, old: &str) -> bool {
    let letter = old.chars().next().map_or(0, char::len_utf8);
    let after = content.find(old).and_then(|at| content.get(at + letter..));
    after.is_some_and(|after| after.contains(old))
}
