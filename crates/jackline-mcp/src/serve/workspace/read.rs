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
    /// The last line is not whole.
    line_cut: bool,
}

pub(super) fn read(workspace: &Workspace<'_>, args: &Value) -> Result<Said, Refused> {
    let place = workspace.place(args)?;
    let content = place.content(FILE_BYTES_MAX)?;
    let content = String::from_utf8_lossy(&content);
    if is_binary(&content) {
        return Err(unfit(&place.shown, "is no text", "use another tool"));
    }
    let usual = Bounds::default();
    let lines_usual = usize::try_from(usual.lines_max).unwrap_or(usize::MAX);
    let (skipped, asked) = (number(args, "offset").unwrap_or(0), number(args, "limit").unwrap_or(lines_usual));
    // Where the owner bounds reads, what was asked for is within that by now.
    let lines_max = if workspace.reads.is_some() { asked } else { asked.min(lines_usual) };
    let bytes_max = usize::try_from(workspace.reads.unwrap_or(usual).bytes_max).unwrap_or(usize::MAX);
    let total = content.split_inclusive('\n').count();
    let page = page(&content, skipped, (lines_max.max(1), bytes_max));
    let after = skipped.saturating_add(page.lines).min(total.max(skipped));
    let remaining = total.saturating_sub(after);
    let next = (remaining > 0).then_some(after);
    let value = json!({
        "path": place.shown,
        "content": page.text,
        "start_line": skipped.saturating_add(1),
        "lines_shown": page.lines,
        "lines_remaining": remaining,
        "has_more": remaining > 0,
        "next_offset": next,
        "total_lines": total,
        "line_cut": page.line_cut,
    });
    Ok(Said { text: shown(&page, remaining, next), value })
}

/// The page as a model reads it: the text, and one line about what comes after it.
fn shown(page: &Page<'_>, remaining: usize, next: Option<usize>) -> String {
    let Some(next) = next else { return page.text.to_owned() };
    let between = if page.text.is_empty() || page.text.ends_with('\n') { "" } else { "\n" };
    let lines = page.lines;
    format!(
        "{}{between}[lines_shown: {lines}, lines_remaining: {remaining}, has_more: true, next_offset: {next}]",
        page.text
    )
}

/// The lines after those that are skipped, as many as fit.
fn page(content: &str, skipped: usize, (lines_max, bytes_max): (usize, usize)) -> Page<'_> {
    let start: usize = content.split_inclusive('\n').take(skipped).map(str::len).sum();
    let rest = content.get(start..).unwrap_or_default();
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
        return Page { text, lines: 1, line_cut: true };
    }
    Page { text: rest.get(..bytes).unwrap_or_default(), lines, line_cut: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(content: &str, (skipped, limit): (usize, usize), text: &str, lines: usize) {
        assert_eq!(page(content, skipped, (limit, 1000)), Page { text, lines, line_cut: false });
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
    fn a_long_line_is_shown_in_part_and_passed() {
        let long = format!("{}\nb\n", "ä".repeat(1000));
        let first = page(&long, 0, (9, 1000));
        assert!(first.line_cut && first.lines == 1 && first.text.len() <= 1000);
        check(&long, (1, 9), "b\n", 1);
    }
}
