//! `search`: lines of text files that match, found as ripgrep finds them, and no more than can be read.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, sinks};
use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;
use jackline_core::{audit, code};
use serde_json::{Value, json};

use super::place::{Place, open_plain};
use super::{Workspace, flag, number, text};
use crate::serve::said::{Refused, Said};

/// Matching lines that are shown unless more or fewer are asked for.
const MATCHES_USUAL: usize = 200;
/// Matching lines that are shown at once.
const MATCHES_MAX: usize = 1_000;
/// Bytes of a matching line that are shown: the rest of a minified file helps nobody.
const LINE_BYTES_MAX: usize = 400;
/// Bytes of a file that is searched; larger ones are data.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Files that one search looks into.
const FILES_MAX: usize = 100_000;
/// Milliseconds of one search; a client waits for it.
const SEARCH_MS_MAX: u64 = 10_000;
/// Bytes of memory that a pattern may take once it is compiled.
const PATTERN_BYTES_MAX: usize = 8 * 1024 * 1024;

/// What was found so far.
#[derive(Debug, Default)]
struct Found {
    matches: Vec<Value>,
    files: usize,
    /// Files that have such lines and may not be read.
    hidden: usize,
    /// Something was left out.
    more: bool,
}

/// How far a search may go.
struct Reach {
    limit: usize,
    until: Instant,
}

pub(super) fn search(workspace: &Workspace<'_>, args: &Value) -> Result<Said, Refused> {
    let place = workspace.place(args)?;
    place.must_exist()?;
    let matcher = matcher(args)?;
    let limit = number(args, "limit").unwrap_or(MATCHES_USUAL).clamp(1, MATCHES_MAX);
    let reach = Reach { limit, until: Instant::now() + Duration::from_millis(SEARCH_MS_MAX) };
    let mut searcher = SearcherBuilder::new().binary_detection(BinaryDetection::quit(b'\0')).line_number(true).build();
    let mut found = Found::default();
    let files = files(workspace.root, &place, text(args, "glob"))?;
    let root = Place::of(workspace.root, ".")?.entries()?;
    for file in files {
        if found.more || found.files >= FILES_MAX || Instant::now() >= reach.until {
            found.more = true;
            break;
        }
        found.files += 1;
        found.look_into(&mut searcher, &matcher, (&file, &root, workspace), &reach);
    }
    Ok(found.said())
}

fn matcher(args: &Value) -> Result<RegexMatcher, Refused> {
    let pattern = text(args, "pattern").unwrap_or_default();
    let mut builder = RegexMatcherBuilder::new();
    builder.case_insensitive(flag(args, "ignore_case")).fixed_strings(flag(args, "literal"));
    builder.size_limit(PATTERN_BYTES_MAX).dfa_size_limit(PATTERN_BYTES_MAX).line_terminator(Some(b'\n'));
    builder.build(pattern).map_err(|fault| {
        let why = fault.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        let reason = format!("The pattern cannot be used: {}.", audit::head(&why, LINE_BYTES_MAX));
        Refused::new(&code::WORKSPACE_PATTERN, reason, "correct it, or set `literal`")
    })
}

/// The files to look into, by name; links are not followed.
fn files(root: &Path, place: &Place, glob: Option<&str>) -> Result<impl Iterator<Item = PathBuf>, Refused> {
    let mut walk = WalkBuilder::new(if place.shown == "." { root.to_owned() } else { root.join(&place.shown) });
    walk.require_git(false).follow_links(false);
    // What is ignored by settings of the user's own is no part of the workspace's rules.
    walk.git_global(false).sort_by_file_name(std::cmp::Ord::cmp);
    if let Some(glob) = glob {
        let mut only = OverrideBuilder::new(root);
        let only = only.add(glob).and_then(|only| only.build()).map_err(|fault| {
            let reason = format!("`glob` cannot be used: {}.", audit::head(&fault.to_string(), LINE_BYTES_MAX));
            Refused::new(&code::WORKSPACE_PATTERN, reason, "correct it: `*.rs`, `src/**`")
        })?;
        // Not as the walk's own choice: that would bring back what is hidden or ignored.
        walk.filter_entry(move |entry| {
            let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
            !only.matched(entry.path(), is_dir).is_ignore()
        });
    }
    let entries = walk.build().filter_map(Result::ok);
    Ok(entries.filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file())).map(ignore::DirEntry::into_path))
}

impl Found {
    fn look_into(
        &mut self,
        searcher: &mut Searcher,
        matcher: &RegexMatcher,
        (file, root, workspace): (&Path, &OwnedFd, &Workspace<'_>),
        reach: &Reach,
    ) {
        // A name that is no text cannot be asked about, and so is not shown.
        let Some(shown) = file.strip_prefix(workspace.root).unwrap_or(file).to_str() else { return };
        // A file that cannot be read has nothing to show; `read_file` says why.
        let Some(file) = open_plain(workspace.root, root, shown) else { return };
        if file.metadata().map_or(true, |there| !there.is_file() || there.len() > FILE_BYTES_MAX) {
            return;
        }
        let before = self.matches.len();
        let sink = sinks::Lossy(|line, text| {
            if self.matches.len() >= reach.limit || Instant::now() >= reach.until {
                self.more = true;
                return Ok(false);
            }
            let text = audit::head(text.trim_end_matches(['\n', '\r']), LINE_BYTES_MAX);
            self.matches.push(json!({ "path": shown, "line": line, "text": text }));
            Ok(true)
        });
        drop(searcher.search_file(matcher, &file, sink));
        // Asked only of files that have something to show.
        if self.matches.len() > before && (workspace.hides)(shown) {
            self.matches.truncate(before);
            self.hidden += 1;
        }
    }

    fn said(self) -> Said {
        let Self { matches, files, hidden, more } = self;
        let member = |found: &Value, name: &str| match found.get(name) {
            Some(Value::String(text)) => text.clone(),
            other => other.map(ToString::to_string).unwrap_or_default(),
        };
        let line =
            |found: &Value| format!("{}:{}:{}", member(found, "path"), member(found, "line"), member(found, "text"));
        let mut lines: Vec<String> = matches.iter().map(line).collect();
        if more {
            lines.push(format!("[{} lines shown, and there may be more: narrow the search]", matches.len()));
        }
        if hidden > 0 {
            lines.push(format!("[matches in files that may not be read are left out: {hidden} files]"));
        }
        let text = if lines.is_empty() { "No matches found.".to_owned() } else { lines.join("\n") };
        Said {
            text,
            value: json!({ "matches": matches, "files_searched": files, "files_hidden": hidden, "has_more": more }),
        }
    }
}
