//! `edit_file`: an exact text is replaced. One that stands there several times is not guessed at.

use jackline_core::code;
use serde_json::{Value, json};

use super::write::put;
use super::{Workspace, flag, text};
use crate::serve::said::{Refused, Said};

/// Bytes of a file that is edited: it is held three times over while it is.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

pub(super) fn edit(workspace: &Workspace<'_>, args: &Value) -> Result<Said, Refused> {
    let place = workspace.place(args)?;
    let content = place.text(FILE_BYTES_MAX)?;
    let (old, new) = (text(args, "old_text").unwrap_or_default(), text(args, "new_text").unwrap_or_default());
    let count = if old.is_empty() { 0 } else { content.matches(old).count() };
    if count == 0 {
        let reason = format!("The text to be replaced is not in '{}'.", place.shown);
        return Err(Refused::new(&code::WORKSPACE_NO_MATCH, reason, "read the file, and give the text exactly"));
    }
    if count > 1 && !flag(args, "replace_all") {
        let reason = format!("The text to be replaced stands {count} times in '{}'.", place.shown);
        let next = "give more of what is around it, or set `replace_all`";
        return Err(Refused::new(&code::WORKSPACE_NO_MATCH, reason, next));
    }
    let grown = content.len() as u64 + count as u64 * new.len() as u64;
    if grown > 2 * FILE_BYTES_MAX {
        let reason = format!("'{}' would be larger than {} bytes.", place.shown, 2 * FILE_BYTES_MAX);
        return Err(Refused::new(&code::WORKSPACE_UNFIT, reason, "replace less at once"));
    }
    let after = content.replace(old, new);
    put(workspace, &place, &after)?;
    let value = json!({ "path": place.shown, "replaced": count, "bytes": after.len() });
    Ok(Said { text: format!("Replaced {count} in {}.", place.shown), value })
}
