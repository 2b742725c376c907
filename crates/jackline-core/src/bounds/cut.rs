//! Cuts texts to lines and bytes: at the end of a line where it can, at a character boundary always.
//!
//! A last line without a newline counts, a newline at the very end adds none. Binary content has no lines.

use serde_json::{Value, json};

use crate::definition::Bounds;

/// Bytes looked at to tell binary content, as git does.
const BINARY_PROBE_BYTES: usize = 8000;
/// One replacement character in so many is an accident; more are bytes that were no text.
const REPLACED_ONE_IN: usize = 10;
/// Bytes that the line about a cut takes at most: four numbers of twenty digits and their names.
pub const NOTE_BYTES_MAX: usize = 192;

/// The number of lines of a text.
#[must_use]
pub fn lines(text: &str) -> u64 {
    let ended = text.bytes().filter(|byte| *byte == b'\n').count();
    ended as u64 + u64::from(!text.is_empty() && !text.ends_with('\n'))
}

/// Whether a text was none before it was put into one: it holds a NUL, or is full of replacement characters.
#[must_use]
pub fn is_binary(text: &str) -> bool {
    let beginning = upto(text, BINARY_PROBE_BYTES);
    let replaced = beginning.chars().filter(|c| *c == char::REPLACEMENT_CHARACTER).count();
    beginning.contains('\0') || replaced * REPLACED_ONE_IN > beginning.chars().count()
}

/// The longest beginning of at most `bytes` bytes.
fn upto(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// The first `count` lines, with their newlines.
fn first_lines(text: &str, count: u64) -> &str {
    let Some(last) = usize::try_from(count).unwrap_or(usize::MAX).checked_sub(1) else { return "" };
    let end = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').nth(last).map(|(at, _)| at + 1);
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

/// What made a text shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    Lines,
    Bytes,
    Binary,
}

impl By {
    const fn name(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Bytes => "bytes",
            Self::Binary => "binary",
        }
    }
}

/// Shows texts one after another until the bounds are reached, and counts what comes after.
#[derive(Debug)]
pub(super) struct Pager {
    bounds: Bounds,
    bytes_shown: u64,
    /// Lines shown, one that is shown in part included.
    pub(super) lines_shown: u64,
    /// Lines there are.
    pub(super) lines: u64,
    pub(super) cut: Option<By>,
    line_truncated: bool,
    binary_bytes: u64,
}

impl Pager {
    pub(super) const fn new(bounds: Bounds) -> Self {
        Self { bounds, bytes_shown: 0, lines_shown: 0, lines: 0, cut: None, line_truncated: false, binary_bytes: 0 }
    }

    /// What is shown of the next text; `None` when all of it is.
    pub(super) fn show(&mut self, text: &str) -> Option<String> {
        if is_binary(text) {
            return Some(self.hide(text));
        }
        let count = lines(text);
        self.lines += count;
        if matches!(self.cut, Some(By::Lines | By::Bytes)) {
            return (!text.is_empty()).then(String::new);
        }
        let lines_left = self.bounds.lines_max.saturating_sub(self.lines_shown);
        let bytes_left = self.bounds.bytes_max.saturating_sub(self.bytes_shown);
        if count <= lines_left && text.len() as u64 <= bytes_left {
            self.lines_shown += count;
            self.bytes_shown += text.len() as u64;
            return None;
        }
        Some(self.cut(text, lines_left, bytes_left).to_owned())
    }

    fn hide(&mut self, text: &str) -> String {
        let first = self.binary_bytes == 0;
        self.binary_bytes += text.len() as u64;
        self.cut = self.cut.or(Some(By::Binary));
        // Told once: a list of a thousand such texts must not become a thousand lines about them.
        if first { format!("[binary: {} bytes, not shown]", text.len()) } else { String::new() }
    }

    fn cut<'a>(&mut self, text: &'a str, lines_left: u64, bytes_left: u64) -> &'a str {
        let mut kept = first_lines(text, lines_left);
        self.cut = Some(By::Lines);
        if kept.len() as u64 > bytes_left {
            self.cut = Some(By::Bytes);
            let part = upto(kept, usize::try_from(bytes_left).unwrap_or(usize::MAX));
            kept = match part.rfind('\n') {
                Some(end) => part.get(..=end).unwrap_or_default(),
                // A first line that is too long is shown in part: a reader that pages on must not meet it again.
                None if self.lines_shown == 0 => {
                    self.line_truncated = true;
                    part
                }
                None => "",
            };
        }
        self.lines_shown += if self.line_truncated { 1 } else { lines(kept) };
        kept
    }
}

/// What is told about a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Summary {
    /// Lines before the first one shown.
    pub(super) before: u64,
    pub(super) lines_shown: u64,
    /// Lines there are in all, those before included.
    pub(super) total_lines: u64,
    /// The argument that asks for the line after the last one shown, where there is one.
    pub(super) next_offset: Option<u64>,
    pub(super) by: By,
    pub(super) line_truncated: bool,
    pub(super) binary_bytes: u64,
    /// Whether the counts are those of the whole text.
    pub(super) exact: bool,
}

impl Summary {
    /// After `before` lines of a text that has `total` lines, or as many as were seen.
    pub(super) fn new(pager: &Pager, before: u64, total: Option<u64>, first: Option<u64>) -> Self {
        let seen = before.saturating_add(pager.lines);
        Self {
            before,
            lines_shown: pager.lines_shown,
            total_lines: total.map_or(seen, |total| total.max(seen)),
            next_offset: first.map(|first| before.saturating_add(pager.lines_shown).saturating_add(first)),
            by: pager.cut.unwrap_or(By::Lines),
            line_truncated: pager.line_truncated,
            binary_bytes: pager.binary_bytes,
            exact: true,
        }
    }

    pub(super) const fn lines_remaining(&self) -> u64 {
        self.total_lines.saturating_sub(self.before).saturating_sub(self.lines_shown)
    }

    /// The last line of a text that was cut.
    pub(super) fn note(&self) -> String {
        let remaining = self.lines_remaining();
        let more = remaining > 0;
        let next = self.next_offset.filter(|_| more).map(|next| format!(", next_offset: {next}")).unwrap_or_default();
        let truncated = if self.line_truncated { ", line_truncated: true" } else { "" };
        let shown = self.lines_shown;
        format!("[lines_shown: {shown}, lines_remaining: {remaining}, has_more: {more}{next}{truncated}]")
    }

    pub(super) fn meta(&self) -> Value {
        let remaining = self.lines_remaining();
        let mut meta = json!({
            "lines_shown": self.lines_shown,
            "lines_remaining": remaining,
            "has_more": remaining > 0,
            "start_line": self.before.saturating_add(1),
            "total_lines": self.total_lines,
            "truncated_by": self.by.name(),
            "exact": self.exact,
        });
        if let Value::Object(meta) = &mut meta {
            let next = self.next_offset.filter(|_| remaining > 0);
            meta.extend(next.map(|next| ("next_offset".to_owned(), json!(next))));
            meta.extend(self.line_truncated.then(|| ("line_truncated".to_owned(), json!(true))));
            meta.extend((self.binary_bytes > 0).then(|| ("binary_bytes".to_owned(), json!(self.binary_bytes))));
        }
        meta
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const fn bounds(lines_max: u64, bytes_max: u64) -> Bounds {
        Bounds { lines_max, bytes_max }
    }

    #[track_caller]
    fn check(text: &str, limits: (u64, u64), want: Option<&str>, note: &str) {
        let mut pager = Pager::new(bounds(limits.0, limits.1));
        let shown = pager.show(text);
        assert_eq!(shown.as_deref(), want, "{text:?}");
        let summary = Summary::new(&pager, 0, None, Some(0));
        assert_eq!(pager.cut.map(|_| summary.note()).unwrap_or_default(), note, "{text:?}");
    }

    #[test]
    fn lines_are_counted_as_people_do() {
        for (text, want) in [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("\n", 1), ("\n\n", 2), ("a\r\nb\r\n", 2)] {
            assert_eq!(lines(text), want, "{text:?}");
        }
    }

    #[test]
    fn a_text_is_cut_at_the_end_of_a_line() {
        let shown = |note| format!("[lines_shown: {note}]");
        check("1\n2\n", (2, 99), None, "");
        check("1\n2\n3", (2, 99), Some("1\n2\n"), &shown("2, lines_remaining: 1, has_more: true, next_offset: 2"));
        check("1\n22\n3\n", (9, 5), Some("1\n22\n"), &shown("2, lines_remaining: 1, has_more: true, next_offset: 2"));
        check("1\n22\n3\n", (9, 4), Some("1\n"), &shown("1, lines_remaining: 2, has_more: true, next_offset: 1"));
        check("", (1, 1), None, "");
    }

    #[test]
    fn one_enormous_line_is_shown_in_part() {
        let note = "[lines_shown: 1, lines_remaining: 0, has_more: false, line_truncated: true]";
        check(&"x".repeat(5 << 20), (9, 3), Some("xxx"), note);
        check("äöü", (9, 3), Some("ä"), note);
        check("ä", (9, 1), Some(""), note);
        let more = "[lines_shown: 1, lines_remaining: 1, has_more: true, next_offset: 1, line_truncated: true]";
        check("xxxx\ny\n", (9, 3), Some("xxx"), more);
    }

    #[test]
    fn binary_content_has_no_lines() {
        assert!(is_binary("PNG\0\n\n") && is_binary("\u{fffd}\u{fffd}ab") && !is_binary("a\u{fffd}bcdefghijklmnop"));
        let mut pager = Pager::new(bounds(1, 99));
        assert_eq!(pager.show("\0\n\n\n").as_deref(), Some("[binary: 4 bytes, not shown]"));
        assert_eq!((pager.show("a\n"), pager.lines), (None, 1));
        assert_eq!(Summary::new(&pager, 0, None, Some(0)).meta()["binary_bytes"], 4);
    }

    #[test]
    fn texts_share_one_allowance() {
        let mut pager = Pager::new(bounds(3, 99));
        assert_eq!(pager.show("1\n2\n"), None);
        assert_eq!(pager.show("3\n4\n").as_deref(), Some("3\n"));
        assert_eq!(pager.show("5\n").as_deref(), Some(""));
        assert_eq!(
            Summary::new(&pager, 10, None, Some(1)).note(),
            "[lines_shown: 3, lines_remaining: 2, has_more: true, next_offset: 14]"
        );
    }

    fn text() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("\n".to_owned()),
            Just("\r\n".to_owned()),
            "[a-c]{0,9}",
            "\\PC{0,9}",
            Just("\0".to_owned())
        ];
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_shown_never_exceeds_its_bounds(texts in prop::collection::vec(text(), 1..4), lines_max in 1_u64..9, bytes_max in 1_u64..60) {
            let mut pager = Pager::new(bounds(lines_max, bytes_max));
            let (mut count, mut bytes) = (0, 0);
            for text in &texts {
                let shown = pager.show(text).unwrap_or_else(|| text.clone());
                if !is_binary(text) {
                    prop_assert!(text.starts_with(&shown));
                    count += lines(&shown);
                    bytes += shown.len() as u64;
                }
            }
            prop_assert!(count <= lines_max && bytes <= bytes_max, "{count} lines, {bytes} bytes");
            let all: u64 = texts.iter().filter(|text| !is_binary(text)).map(|text| lines(text)).sum();
            let summary = Summary::new(&pager, 0, None, Some(0));
            prop_assert_eq!(summary.lines_shown + summary.lines_remaining(), all);
            prop_assert!(summary.note().len() <= NOTE_BYTES_MAX);
        }

        #[test]
        fn paging_on_shows_every_line_once(text in "([a-c]{0,5}\n){0,30}", lines_max in 1_u64..9, bytes_max in 6_u64..60) {
            let (mut rest, mut seen) = (text.as_str(), String::new());
            while !rest.is_empty() {
                let mut pager = Pager::new(bounds(lines_max, bytes_max));
                let shown = pager.show(rest).unwrap_or_else(|| rest.to_owned());
                prop_assert!(!shown.is_empty());
                seen.push_str(&shown);
                rest = rest.strip_prefix(shown.as_str()).unwrap();
            }
            prop_assert_eq!(seen, text);
        }
    }
}
