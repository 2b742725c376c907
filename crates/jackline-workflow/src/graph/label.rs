//! Texts as pictures show them: nothing hides, nothing runs on for ever.

use super::{Mark, Node};
use crate::visible::visible;

/// Columns of a line in a box: an id has 48 at most, and conditions are recognised by their beginning.
const LINE_COLUMNS_MAX: usize = 34;
/// Marks named in a box; the list below the graph has the others.
const MARKS_MAX: usize = 3;

/// A visible text of at most so many columns.
pub(crate) fn cut(text: &str, columns_max: usize) -> String {
    let text = visible(text);
    if columns(&text) <= columns_max {
        return text;
    }
    let mut used = 1;
    let kept = text.chars().take_while(|c| {
        used += width(*c);
        used <= columns_max
    });
    kept.chain(['…']).collect()
}

/// How many columns of a fixed-width font a text takes.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(width).sum()
}

const fn width(c: char) -> usize {
    match c {
        '\u{300}'..='\u{36f}' | '\u{fe00}'..='\u{fe0f}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

/// The lines of an agent's box; the first is its id.
pub(super) fn lines(node: &Node) -> Vec<String> {
    let id = if node.id.is_empty() { "(no name)" } else { &node.id };
    let mut lines = vec![cut(id, LINE_COLUMNS_MAX)];
    lines.extend(node.missing.then(|| "not in the graph".to_owned()));
    lines.extend(node.condition.as_ref().map(|condition| cut(&format!("when {condition}"), LINE_COLUMNS_MAX)));
    lines.extend(node.note.as_ref().map(|note| cut(note, LINE_COLUMNS_MAX)));
    lines.extend(marks(&node.marks));
    lines
}

/// The rules that speak of an agent, on one line.
fn marks(marks: &[Mark]) -> Option<String> {
    let mut named: Vec<String> = marks.iter().take(MARKS_MAX).map(short).collect();
    named.dedup();
    let more = marks.len().saturating_sub(MARKS_MAX);
    named.extend((more > 0).then(|| format!("{more} more")));
    (!named.is_empty()).then(|| cut(&named.join(", "), LINE_COLUMNS_MAX))
}

fn short(mark: &Mark) -> String {
    format!("{} {}", if mark.warning { "warning" } else { "error" }, mark.rule)
}

/// A finding in one line of its own, with the agent it belongs to.
pub(super) fn told(node: Option<&Node>, mark: &Mark) -> String {
    let about = node.map(|node| format!(" ({})", node.id)).unwrap_or_default();
    visible(&format!("{}{about}: {}", short(mark), mark.message))
}
