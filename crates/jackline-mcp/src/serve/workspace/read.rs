//! `read_file`: a page of a text file, with what is needed to ask for the next.

use jackline_core::audit;
use jackline_core::bounds::is_binary;
use jackline_core::definition::Bounds;
use serde_json::{Value, json};

use super::{Workspace, number, unfit};
use crate::serve::said::{Refused, Said};

/// Bytes of a file of which a page is shown: its lines are counted, so all of it is read.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
struct Page<'a> {
    text: &'a str,
    lines: usize,
    /// Where the rest of the last line begins, which is not whole.
    next_byte: Option<usize>,
}

/// Where a page begins: after so many lines, and after so many bytes of the next one.
#[derive(Debug, Clone, Copy)]
struct Start {
    line: usize,
    byte: usize,
}

pub(super) fn read(workspace: &Workspace<'_>, args: &Value) -> Result<Said, Refused> {
    let place = workspace.place(args)?;
    let (file, _) = place.open()?;
    let content = place.text(file, FILE_BYTES_MAX)?;
    if is_binary(&content) {
        return Err(unfit(&place.shown, "is no text", "use another tool"));
    }
    let start = Start { line: number(args, "offset").unwrap_or(0), byte: number(args, "from_byte").unwrap_or(0) };
    let total = content.split_inclusive('\n').count();
    let page = page(&content, start, bounds(workspace, args));
    // What shows nothing must not pass for a look at the file.
    if page.text.is_empty() && total > 0 {
        let why = format!("has {total} lines, and nothing of it stands there");
        return Err(unfit(&place.shown, &why, "begin with a smaller `offset` or `from_byte`"));
    }
    let after = start.line.saturating_add(page.lines).min(total.max(start.line));
    let remaining = total.saturating_sub(after);
    let next = (remaining > 0).then_some(after);
    let value = json!({
        "path": place.shown,
        "content": page.text,
        "start_line": start.line.saturating_add(1),
        "lines_shown": page.lines,
        "lines_remaining": remaining,
        "has_more": remaining > 0 || page.next_byte.is_some(),
        "next_offset": next,
        "total_lines": total,
        "line_cut": page.next_byte.is_some(),
        "next_byte": page.next_byte,
    });
    Ok(Said { text: shown(&page, start, remaining, next), value })
}

/// Lines and bytes of a page.
fn bounds(workspace: &Workspace<'_>, args: &Value) -> (usize, usize) {
    let usual = Bounds::default();
    let lines_usual = usize::try_from(usual.lines_max).unwrap_or(usize::MAX);
    let asked = number(args, "limit").unwrap_or(lines_usual);
    // Where the owner bounds reads, what was asked for is within that by now.
    let lines_max = if workspace.reads.is_some() { asked } else { asked.min(lines_usual) };
    let bytes_max = usize::try_from(workspace.reads.unwrap_or(usual).bytes_max).unwrap_or(usize::MAX);
    (lines_max.max(1), bytes_max)
}

/// The page as a model reads it: the text, and what is needed to read on.
fn shown(page: &Page<'_>, start: Start, remaining: usize, next: Option<usize>) -> String {
    let mut shown = page.text.to_owned();
    let mut note = |note: String| {
        shown.push_str(if shown.is_empty() || shown.ends_with('\n') { "" } else { "\n" });
        shown.push_str(&note);
    };
    let lines = page.lines;
    if let Some(byte) = page.next_byte {
        let line = start.line;
        note(format!(
            "[line_cut: true, has_more: true; the rest of this line is at offset: {line}, from_byte: {byte}]"
        ));
    }
    if let Some(next) = next {
        note(format!("[lines_shown: {lines}, lines_remaining: {remaining}, has_more: true, next_offset: {next}]"));
    }
    shown
}

/// The lines after those that are skipped, as many as fit.
fn page(content: &str, start: Start, (lines_max, bytes_max): (usize, usize)) -> Page<'_> {
    let skipped: usize = content.split_inclusive('\n').take(start.line).map(str::len).sum();
    let rest = content.get(skipped..).unwrap_or_default();
    let line = rest.split_inclusive('\n').next().unwrap_or_default();
    // Beyond the line there is nothing of it.
    let begin =
        if start.byte > 0 && start.byte >= line.len() { rest.len() } else { audit::head(line, start.byte).len() };
    let rest = rest.get(begin..).unwrap_or_default();
    let (mut bytes, mut lines) = (0, 0);
    for line in rest.split_inclusive('\n').take(lines_max) {
        if bytes + line.len() > bytes_max {
            break;
        }
        bytes += line.len();
        lines += 1;
    }
    if lines == 0 && !rest.is_empty() {
        // A line that is too long is shown in part: a reader that pages on must not meet it again.
        let text = audit::head(rest, bytes_max);
        return Page { text, lines: 1, next_byte: Some(begin + text.len()) };
    }
    Page { text: rest.get(..bytes).unwrap_or_default(), lines, next_byte: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(line: usize, byte: usize) -> Start {
        Start { line, byte }
    }

    #[track_caller]
    fn check(content: &str, (skipped, limit): (usize, usize), text: &str, lines: usize) {
        assert_eq!(page(content, at(skipped, 0), (limit, 1000)), Page { text, lines, next_byte: None });
    }

    #[test]
    fn pages_are_whole_lines() {
        check("a\nb\nc", (0, 2), "a\nb\n", 2);
        check("a\nb\nc", (2, 2), "c", 1);
        check("a\nb\nc", (3, 2), "", 0);
        check("a\nb\nc", (usize::MAX, 2), "", 0);
        check("", (0, 2), "", 0);
        check("\n\n", (1, 9), "\n", 1);
    }

    #[test]
    fn a_long_line_is_shown_part_by_part_and_passed() {
        let long = format!("{}\nb\n", "ä".repeat(1000));
        let (mut read, mut next) = (String::new(), Some(0));
        while let Some(byte) = next {
            let part = page(&long, at(0, byte), (1, 999));
            assert!(part.lines == 1 && !part.text.is_empty() && part.text.len() <= 999);
            read.push_str(part.text);
            next = part.next_byte;
        }
        assert_eq!(read, long.strip_suffix("b\n").unwrap());
        check(&long, (1, 9), "b\n", 1);
        assert_eq!(page(&long, at(0, 5000), (9, 999)).text, "");
    }
}
