//! `list_dir`: the entries of a directory by name, with what each is.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;

use rustix::fs::{AtFlags, Dir, FileType};
use serde_json::{Value, json};

use super::{Workspace, number, unfit};
use crate::serve::said::{Refused, Said};

/// Entries of one directory that are looked at; a larger one is a heap that nobody lists.
const ENTRIES_MAX: usize = 100_000;
/// Entries that are shown at once.
const PAGE_ENTRIES_MAX: usize = 500;

pub(super) fn list(workspace: &Workspace<'_>, args: &Value) -> Result<Said, Refused> {
    let place = workspace.place(args)?;
    let dir = place.entries()?;
    let all = Dir::read_from(&dir).map_err(|fault| place.failed(fault))?;
    let names = all.filter_map(Result::ok).map(|entry| OsStr::from_bytes(entry.file_name().to_bytes()).to_owned());
    let mut names: Vec<OsString> = names.filter(|name| name != "." && name != "..").take(ENTRIES_MAX + 1).collect();
    if names.len() > ENTRIES_MAX {
        let why = format!("has more than {ENTRIES_MAX} entries");
        return Err(unfit(&place.shown, &why, "look for names with a tool of your own"));
    }
    names.sort_unstable();
    let skipped = number(args, "offset").unwrap_or(0);
    let limit = number(args, "limit").unwrap_or(PAGE_ENTRIES_MAX).clamp(1, PAGE_ENTRIES_MAX);
    let (total, after) = (names.len(), skipped.saturating_add(limit));
    let shown: Vec<Value> = names.iter().skip(skipped).take(limit).map(|name| entry(&dir, name)).collect();
    let next = (after < total).then_some(after);
    let text = match shown.is_empty() && total > 0 {
        true => format!("[none: there are {total} entries, and `offset` is beyond the last]"),
        false => told(&shown, total, next),
    };
    let value = json!({
        "path": place.shown, "entries": shown, "total": total, "has_more": next.is_some(), "next_offset": next,
    });
    Ok(Said { text, value })
}

fn entry(dir: &OwnedFd, name: &OsStr) -> Value {
    let there = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).ok();
    let what = there.as_ref().map(|there| FileType::from_raw_mode(there.st_mode));
    let kind = match what {
        Some(FileType::RegularFile) => "file",
        Some(FileType::Directory) => "directory",
        Some(FileType::Symlink) => "link",
        Some(_) | None => "other",
    };
    let bytes = there.filter(|_| what == Some(FileType::RegularFile)).map(|there| there.st_size);
    json!({ "name": name.to_string_lossy(), "kind": kind, "bytes": bytes })
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
