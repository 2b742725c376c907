//! `search`: lines of text files that match, found as ripgrep finds them, and no more than can be read.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, sinks};
use ignore::overrides::{Override, OverrideBuilder};
use ignore::{DirEntry, WalkBuilder};
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
/// Bytes of a line that is looked at, since it is held; a file with a longer one is not searched to its end, and that is told.
const LINE_SEARCHED_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes that are shown of a line before its match, where not all of it is: what it is about often stands there.
const BEFORE_BYTES_MAX: usize = 100;
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
    /// Files that could not be looked into, or not to their end.
    skipped: usize,
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
    let mut searcher = SearcherBuilder::new();
    searcher.binary_detection(BinaryDetection::quit(b'\0')).line_number(true);
    let mut searcher = searcher.heap_limit(Some(LINE_SEARCHED_BYTES_MAX)).build();
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
    let start = if place.shown == "." { root.to_owned() } else { root.join(&place.shown) };
    let mut only = OverrideBuilder::new(root);
    let added = glob.map_or(Ok(()), |glob| only.add(glob).map(drop));
    let only = added.and_then(|()| only.build()).map_err(|fault| {
        let reason = format!("`glob` cannot be used: {}.", audit::head(&fault.to_string(), LINE_BYTES_MAX));
        Refused::new(&code::WORKSPACE_PATTERN, reason, "correct it: `*.rs`, `src/**`")
    })?;
    // What is ignored counts from the repository's top on; nothing above says what belongs to the workspace.
    let top = root.ancestors().find(|dir| dir.join(".git").exists()).unwrap_or(root);
    let mut files = walk(top, &start, only.clone()).peekable();
    // Something that is named is looked into though it is ignored.
    if files.peek().is_none() && start != top {
        files = walk(&start, &start, only).peekable();
    }
    Ok(files)
}

/// The files at or below `start`, by a walk that begins at `top` and learns there what is ignored.
fn walk(top: &Path, start: &Path, only: Override) -> Box<dyn Iterator<Item = PathBuf>> {
    let mut walk = WalkBuilder::new(top);
    walk.require_git(false).follow_links(false).parents(false);
    // What is ignored by settings of the user's own is no part of the workspace's rules.
    walk.git_global(false).sort_by_file_name(std::cmp::Ord::cmp);
    let start = start.to_owned();
    // Not as the walk's own choice: that would bring back what is hidden or ignored.
    let wanted = move |entry: &DirEntry| {
        let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
        let inside = entry.path().starts_with(&start) && !only.matched(entry.path(), is_dir).is_ignore();
        inside || is_dir && start.starts_with(entry.path())
    };
    walk.filter_entry(wanted.clone());
    let entries = walk.build().filter_map(Result::ok);
    // A walk does not ask about the file that it begins with.
    let files = entries.filter(move |entry| entry.file_type().is_some_and(|kind| kind.is_file()) && wanted(entry));
    Box::new(files.map(DirEntry::into_path))
}

impl Found {
    fn look_into(
        &mut self,
        searcher: &mut Searcher,
        matcher: &RegexMatcher,
        (file, root, workspace): (&Path, &OwnedFd, &Workspace<'_>),
        reach: &Reach,
    ) {
        // A name that is no text cannot be asked about, and so nothing of its content is shown.
        let Some(shown) = file.strip_prefix(workspace.root).unwrap_or(file).to_str() else {
            self.skipped += 1;
            return;
        };
        let file = open_plain(workspace.root, root, shown);
        // Why one cannot be read, `read_file` says.
        let Some(file) = file.filter(|file| file.metadata().is_ok_and(|there| there.is_file())) else {
            self.skipped += 1;
            return;
        };
        let (before, more) = (self.matches.len(), self.more);
        let sink = sinks::Lossy(|line, text| {
            if self.matches.len() >= reach.limit {
                self.more = true;
                return Ok(false);
            }
            let text = shown_of(matcher, text.trim_end_matches(['\n', '\r']));
            self.matches.push(json!({ "path": shown, "line": line, "text": text }));
            Ok(true)
        });
        let read = searcher.search_reader(matcher, Timely { file, until: reach.until }, sink);
        // INVARIANT: of a file that may not be read nothing tells whether it matches, or it could be read letter by letter.
        // Only what has something to show is asked about, since asking takes longer than looking.
        let told = self.matches.len() > before || self.more != more || read.is_err();
        if told && (workspace.hides)(shown) {
            self.matches.truncate(before);
            self.more = more;
        } else if read.is_err() {
            self.skipped += 1;
        }
    }

    fn said(self) -> Said {
        let Self { matches, files, skipped, more } = self;
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
        if skipped > 0 {
            lines.push(format!("[files that could not be searched to their end: {skipped}]"));
        }
        let text = if lines.is_empty() { "No matches found.".to_owned() } else { lines.join("\n") };
        Said {
            text,
            value: json!({
                "matches": matches, "files_searched": files, "files_skipped": skipped, "has_more": more,
            }),
        }
    }
}

/// A file that is read for as long as a search may take.
struct Timely {
    file: File,
    until: Instant,
}

impl Read for Timely {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if Instant::now() >= self.until {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.file.read(into)
    }
}

/// What is shown of a matching line: of a long one the part with its first match, and that it is a part.
fn shown_of(matcher: &RegexMatcher, line: &str) -> String {
    if line.len() <= LINE_BYTES_MAX {
        return line.to_owned();
    }
    let found = matcher.find(line.as_bytes()).ok().flatten().map_or(0, |found| found.start());
    let start = if found < LINE_BYTES_MAX - BEFORE_BYTES_MAX { 0 } else { found - BEFORE_BYTES_MAX };
    let rest = line.get(audit::head(line, start).len()..).unwrap_or_default();
    let part = audit::head(rest, LINE_BYTES_MAX);
    let (before, after) = (if start > 0 { "…" } else { "" }, if part.len() < rest.len() { "…" } else { "" });
    format!("{before}{part}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_line_the_part_that_matches_is_shown() {
        let matcher = RegexMatcher::new("needle").unwrap();
        let shown = |line: &str| shown_of(&matcher, line);
        assert_eq!(shown("a needle"), "a needle");
        let late = shown(&format!("{}needle{}", "ä".repeat(5_000), "z".repeat(5_000)));
        assert!(late.starts_with("…ä") && late.contains("needlez") && late.ends_with("z…"), "{late}");
        assert!(late.len() <= LINE_BYTES_MAX + 2 * "…".len());
        let early = shown(&format!("needle{}", "z".repeat(5_000)));
        assert!(early.starts_with("needle") && early.ends_with('…'), "{early}");
        let last = shown(&format!("{}needle", "z".repeat(5_000)));
        assert!(last.starts_with('…') && last.ends_with("needle"), "{last}");
    }
}
