//! `list_dir`: the entries of a directory by name, with what each is.

use std::fs::{self, DirEntry};

use serde_json::{Value, json};

use super::{Workspace, failed, number, unfit};
use crate::serve::said::{Refused, Said};

/// Entries of one directory that are looked at; a larger one is a heap that nobody lists.
const ENTRIES_MAX: usize = 100_000;
/// Entries that are shown at once.
const PAGE_ENTRIES_MAX: usize = 500;

pub(super) fn list(workspace: &Workspace<'_>, args: &Value) -> Result<Said, Refused> {
    let place = workspace.place(args)?;
    if !place.there()?.is_dir() {
        return Err(unfit(&place.shown, "is no directory", "read it with `read_file`"));
    }
    let all = fs::read_dir(&place.path).map_err(|fault| failed(&place.shown, &fault))?;
    let mut entries: Vec<DirEntry> = all.take(ENTRIES_MAX + 1).filter_map(Result::ok).collect();
    if entries.len() > ENTRIES_MAX {
        let why = format!("has more than {ENTRIES_MAX} entries");
        return Err(unfit(&place.shown, &why, "look for names with a tool of your own"));
    }
    entries.sort_unstable_by_key(DirEntry::file_name);
    let skipped = number(args, "offset").unwrap_or(0);
    let limit = number(args, "limit").unwrap_or(PAGE_ENTRIES_MAX).clamp(1, PAGE_ENTRIES_MAX);
    let (total, after) = (entries.len(), skipped.saturating_add(limit));
    let shown: Vec<Value> = entries.iter().skip(skipped).take(limit).map(entry).collect();
    let next = (after < total).then_some(after);
    let text = told(&shown, total, next);
    let value = json!({
        "path": place.shown, "entries": shown, "total": total, "has_more": next.is_some(), "next_offset": next,
    });
    Ok(Said { text, value })
}

fn entry(entry: &DirEntry) -> Value {
    let there = entry.metadata().ok();
    let kind = match there.as_ref().map(fs::Metadata::file_type) {
        Some(kind) if kind.is_file() => "file",
        Some(kind) if kind.is_dir() => "directory",
        Some(kind) if kind.is_symlink() => "link",
        Some(_) | None => "other",
    };
    let bytes = there.filter(fs::Metadata::is_file).map(|there| there.len());
    json!({ "name": entry.file_name().to_string_lossy(), "kind": kind, "bytes": bytes })
}

/// One line each; a directory ends in `/`, a link in `@`.
fn told(entries: &[Value], total: usize, next: Option<usize>) -> String {
    let line = |entry: &Value| {
        let end = match entry.get("kind").and_then(Value::as_str) {
            Some("directory") => "/",
            Some("link") => "@",
            _ => "",
        };
        format!("{}{end}", entry.get("name").and_then(Value::as_str).unwrap_or_default())
    };
    let mut lines: Vec<String> = entries.iter().map(line).collect();
    lines.extend(next.map(|next| format!("[{} of {total} entries; next_offset: {next}]", entries.len())));
    if lines.is_empty() { "(empty)".to_owned() } else { lines.join("\n") }
}
