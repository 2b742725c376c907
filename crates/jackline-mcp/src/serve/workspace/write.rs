//! `write_file`: a whole file, put in place at once, with its rights as they were.

use std::fs;
use std::sync::PoisonError;

use jackline_runtime::replace;
use serde_json::{Value, json};

use super::place::Place;
use super::{Workspace, failed, text, unfit};
use crate::serve::said::{Refused, Said};

pub(super) fn write(workspace: &Workspace<'_>, args: &Value) -> Result<Said, Refused> {
    let place = workspace.place(args)?;
    let content = text(args, "content").unwrap_or_default();
    let created = place.is_free()?;
    if !created && !place.there()?.is_file() {
        return Err(unfit(&place.shown, "is no regular file", "use another path"));
    }
    put(workspace, &place, content)?;
    let (bytes, what) = (content.len(), if created { "Created" } else { "Wrote" });
    let said = format!("{what} {} ({bytes} bytes).", place.shown);
    Ok(Said { text: said, value: json!({ "path": place.shown, "bytes": bytes, "created": created }) })
}

/// Puts a text in place.
pub(super) fn put(workspace: &Workspace<'_>, place: &Place, content: &str) -> Result<(), Refused> {
    // It is put in place by its directory's rights, so its own are looked at first.
    if fs::metadata(&place.path).is_ok_and(|there| there.permissions().readonly()) {
        return Err(unfit(&place.shown, "is read-only", "leave it as it is, or ask the person"));
    }
    let _writing = workspace.writing.lock().unwrap_or_else(PoisonError::into_inner);
    replace::write(&place.path, content).map_err(|fault| failed(&place.shown, &fault))
}
