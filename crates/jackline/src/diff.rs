//! What a change does to a text, line by line, in the unified form that people know.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Lines shown around a change.
const CONTEXT_LINES: usize = 3;
/// Cells of the table that finds the shortest change: some two thousand lines by two thousand. Beyond, what differs is
/// shown as taken out and put in.
const CELLS_MAX: usize = 4_000_000;
/// Characters of a line that are shown: hosts keep whole conversations in one.
const LINE_CHARS_MAX: usize = 2_000;

/// One line of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line<'a> {
    Same(&'a str),
    Gone(&'a str),
    New(&'a str),
}

/// The change from one text to another; empty when there is none. `None` is a file that is not there.
pub(crate) fn unified(path: &str, before: Option<&str>, after: Option<&str>) -> String {
    if before == after {
        return String::new();
    }
    let name = |text: Option<&str>| if text.is_some() { path.to_owned() } else { "/dev/null".to_owned() };
    let mut shown = format!("--- {}\n+++ {}\n", name(before), name(after));
    let (old, new): (Vec<&str>, Vec<&str>) = (lines(before), lines(after));
    hunks(&compare(&old, &new)).into_iter().for_each(|hunk| shown.push_str(&hunk));
    shown
}

fn lines(text: Option<&str>) -> Vec<&str> {
    text.unwrap_or_default().split_inclusive('\n').collect()
}

fn compare<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (old.get(head..).unwrap_or_default(), new.get(head..).unwrap_or_default());
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old_middle, same) = old_rest.split_at(old_rest.len() - tail);
    let new_middle = new_rest.get(..new_rest.len() - tail).unwrap_or_default();
    let mut all: Vec<Line<'a>> = old.iter().take(head).map(|line| Line::Same(line)).collect();
    all.extend(middle(old_middle, new_middle));
    all.extend(same.iter().map(|line| Line::Same(line)));
    all
}

fn middle<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let width = new.len() + 1;
    if (old.len() + 1).saturating_mul(width) > CELLS_MAX {
        return old.iter().map(|line| Line::Gone(line)).chain(new.iter().map(|line| Line::New(line))).collect();
    }
    // `common[i, j]`: lines that `old[i..]` and `new[j..]` have in common, in order.
    let mut common = vec![0_u32; (old.len() + 1) * width];
    let at = |common: &[u32], i: usize, j: usize| common.get(i * width + j).copied().unwrap_or_default();
    for (i, a) in old.iter().enumerate().rev() {
        for (j, b) in new.iter().enumerate().rev() {
            let best =
                if a == b { at(&common, i + 1, j + 1) + 1 } else { at(&common, i + 1, j).max(at(&common, i, j + 1)) };
            if let Some(cell) = common.get_mut(i * width + j) {
                *cell = best;
            }
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut found = Vec::new();
    loop {
        match (old.get(i), new.get(j)) {
            (Some(a), Some(b)) if a == b => {
                found.push(Line::Same(a));
                (i, j) = (i + 1, j + 1);
            }
            (Some(a), b) if b.is_none() || at(&common, i + 1, j) >= at(&common, i, j + 1) => {
                found.push(Line::Gone(a));
                i += 1;
            }
            (_, Some(b)) => {
                found.push(Line::New(b));
                j += 1;
            }
            (_, None) => return found,
        }
    }
}

/// The parts of a comparison in which something changes, with a little around them.
fn hunks(all: &[Line<'_>]) -> Vec<String> {
    let changed: Vec<usize> =
        all.iter().enumerate().filter(|(_, line)| !matches!(line, Line::Same(_))).map(|(at, _)| at).collect();
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for at in changed {
        let (start, end) = (at.saturating_sub(CONTEXT_LINES), (at + 1 + CONTEXT_LINES).min(all.len()));
        match spans.last_mut().filter(|(_, last)| start <= *last) {
            Some((_, last)) => *last = end,
            None => spans.push((start, end)),
        }
    }
    spans.into_iter().map(|(start, end)| hunk(all, start, end)).collect()
}

fn hunk(all: &[Line<'_>], start: usize, end: usize) -> String {
    let (before, part) = (all.get(..start).unwrap_or_default(), all.get(start..end).unwrap_or_default());
    let old = |lines: &[Line<'_>]| lines.iter().filter(|line| !matches!(line, Line::New(_))).count();
    let new = |lines: &[Line<'_>]| lines.iter().filter(|line| !matches!(line, Line::Gone(_))).count();
    let place =
        |start: usize, count: usize| if count == 0 { format!("{start},0") } else { format!("{},{count}", start + 1) };
    let mut shown = format!("@@ -{} +{} @@\n", place(old(before), old(part)), place(new(before), new(part)));
    for line in part {
        let (mark, text) = match line {
            Line::Same(text) => (' ', text),
            Line::Gone(text) => ('-', text),
            Line::New(text) => ('+', text),
        };
        let end = if text.ends_with('\n') { "" } else { "\n\\ No newline at end of file\n" };
        let _ = write!(shown, "{mark}{}{end}", cut(text));
    }
    shown
}

/// A line as it is shown; of a very long one the beginning.
fn cut(line: &str) -> Cow<'_, str> {
    let Some((at, _)) = line.char_indices().nth(LINE_CHARS_MAX).filter(|_| line.len() > LINE_CHARS_MAX) else {
        return Cow::Borrowed(line);
    };
    let line_end = if line.ends_with('\n') { "\n" } else { "" };
    Cow::Owned(format!("{}… ({} bytes in all){line_end}", line.get(..at).unwrap_or_default(), line.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: Option<&str>, after: Option<&str>, want: &str) {
        assert_eq!(unified("f", before, after), want);
    }

    #[test]
    fn changes_are_shown_with_what_is_around_them() {
        check(Some("a\n"), Some("a\n"), "");
        check(None, Some("a\nb\n"), "--- /dev/null\n+++ f\n@@ -0,0 +1,2 @@\n+a\n+b\n");
        check(Some("a\n"), None, "--- f\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n");
        check(
            Some("1\n2\n3\n4\n5\n6\n7\n8\n9\n"),
            Some("1\n2\n3\n4\nx\n6\n7\n8\n9\n"),
            "--- f\n+++ f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n",
        );
        check(Some("{}"), Some("{\n}\n"), "--- f\n+++ f\n@@ -1,1 +1,2 @@\n-{}\n\\ No newline at end of file\n+{\n+}\n");
    }

    #[test]
    fn a_very_long_line_is_cut() {
        let long = "ü".repeat(LINE_CHARS_MAX + 1);
        let shown = unified("f", Some(&format!("{long}\na\n")), Some(&format!("{long}\nb")));
        let cut = "ü".repeat(LINE_CHARS_MAX);
        let want = format!("@@ -1,2 +1,2 @@\n {cut}… (4003 bytes in all)\n-a\n+b\n\\ No newline at end of file\n");
        assert_eq!(shown, format!("--- f\n+++ f\n{want}"));
    }

    #[test]
    fn what_stays_in_between_stays() {
        let shown = unified("f", Some("a\nb\nc\nd\n"), Some("x\nb\ny\nd\nz\n"));
        assert_eq!(shown, "--- f\n+++ f\n@@ -1,4 +1,5 @@\n-a\n+x\n b\n-c\n+y\n d\n+z\n");
    }

    #[test]
    fn far_apart_changes_are_apart_and_huge_ones_bounded() {
        let old: String = (0..40).map(|n| format!("{n}\n")).collect();
        let new = old.replace("\n3\n", "\nx\n").replace("\n30\n", "\ny\n");
        assert_eq!(unified("f", Some(&old), Some(&new)).matches("@@ -").count(), 2);
        let (old, new): (String, String) = (0..5_000).map(|n| (format!("{n}\n"), format!("{n}!\n"))).unzip();
        assert_eq!(unified("f", Some(&old), Some(&new)).lines().count(), 10_003);
    }
}
