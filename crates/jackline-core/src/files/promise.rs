//! The agent's word that a policy needs nothing: `<promise>name</promise>` in a message of its own.

/// Bytes of a name that is looked at; a longer one is no policy's.
const PROMISED_BYTES_MAX: usize = 400;
/// Promises of one text; each names a policy.
pub const PROMISES_MAX: usize = 256;
const BEGIN: &str = "<promise>";
const END: &str = "</promise>";
/// What stands around a block that is quoted, as often as this or more.
const FENCES: [char; 2] = ['`', '~'];
const FENCE_CHARS_MIN: usize = 3;
/// What stands around what nobody is shown.
const COMMENT: (&str, &str) = ("<!--", "-->");
/// What may stand in front of the name, as some agents write it.
const TICK: char = '✓';

/// The names that a text promises in its own words, folded so that case does not count. What it quotes is no word of its
/// own: often it is ours.
#[must_use]
pub fn promised(text: &str) -> Vec<String> {
    names_in(&without_comments(&without_quotations(text)))
}

/// The names of which a text has promises, though they may only be quoted.
#[must_use]
pub fn named(text: &str) -> Vec<String> {
    names_in(text)
}

/// A text without its fenced blocks and without the lines that begin with `>`.
fn without_quotations(text: &str) -> String {
    let mut own = String::with_capacity(text.len());
    let mut open: Option<(char, usize)> = None;
    for line in text.split_inclusive('\n') {
        let begun = line.trim_start();
        match (open, fence(begun)) {
            // Within a longer one, a shorter one is quoted itself.
            (Some((mark, chars)), Some((same, more))) if mark == same && more >= chars => open = None,
            (None, None) => match fence(item(begun)) {
                None if item(begun).starts_with('>') => {}
                None => own.push_str(line),
                begins => open = begins,
            },
            (None, begins) => open = begins,
            _ => {}
        }
    }
    own
}

/// The mark of a fence with which a line begins, and how often it stands there.
fn fence(line: &str) -> Option<(char, usize)> {
    let mark = line.chars().next().filter(|c| FENCES.contains(c))?;
    let chars = line.chars().take_while(|c| *c == mark).count();
    (chars >= FENCE_CHARS_MIN).then_some((mark, chars))
}

/// A line without what makes it an item of a list.
fn item(line: &str) -> &str {
    let bullet = line.strip_prefix(['-', '*', '+']);
    let number = || line.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix(['.', ')']);
    let rest = bullet.or_else(number).filter(|rest| rest.starts_with([' ', '\t']));
    rest.map_or(line, str::trim_start)
}

/// A text without its comments; one that does not end is none.
fn without_comments(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(COMMENT.0) {
        let Some((_, behind)) = after.split_once(COMMENT.1) else { break };
        shown.push_str(before);
        rest = behind;
    }
    shown + rest
}

fn names_in(text: &str) -> Vec<String> {
    // Case counts in no mark; folding ASCII alone keeps every place where it was.
    let folded = text.to_ascii_lowercase();
    let mut names = Vec::new();
    let mut at = 0;
    while let Some(from) = folded.get(at..).and_then(|rest| rest.find(BEGIN)).map(|from| at + from + BEGIN.len()) {
        at = from;
        let inside = text.get(from..).and_then(|rest| rest.find('<').and_then(|end| rest.get(..end)));
        let Some(inside) = inside.filter(|inside| inside.len() <= PROMISED_BYTES_MAX) else { continue };
        let closed = folded.get(from + inside.len()..).is_some_and(|rest| rest.starts_with(END));
        let name = folded_name(inside);
        if closed && !name.is_empty() && names.len() < PROMISES_MAX {
            names.push(name);
        }
    }
    names
}

/// A policy's name as promises are held against it: neither case nor a tick in front counts.
#[must_use]
pub fn folded_name(name: &str) -> String {
    let name = name.trim();
    let name = name.strip_prefix(TICK).unwrap_or(name);
    name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &[&str]) {
        assert_eq!(promised(text), want, "{text}");
    }

    #[test]
    fn a_promise_is_a_whole_mark_with_a_name() {
        for text in ["<promise>✓ Rule</promise>", "<promise>✓Rule</promise>", "<PROMISE> Rule </PROMISE>"] {
            check(text, &["rule"]);
        }
        check("<promise>\n  Rule\n</promise>", &["rule"]);
        check("Well: <promise>source/TEST pairing</promise>, and <promise>b</promise>.", &["source/test pairing", "b"]);
        for text in ["<promise></promise>", "<promise>a<b</promise>", "<promise >x</promise>", "<promise>x"] {
            check(text, &[]);
        }
        check("Quoted:\n> <promise>a</promise>\n  > <promise>b</promise>\nsaid: `<promise>c</promise>`", &["c"]);
        check("```\n<promise>a</promise>\n~~~\n```text\n<promise>b</promise>", &["b"]);
        check("~~~\n<promise>a</promise>\n```\n~~~\n<promise>✓ b</promise>\n", &["b"]);
        assert_eq!(named("> <promise>A</promise>"), ["a"]);
        check("````\n```\n<promise>a</promise>\n````\n<promise>b</promise>", &["b"]);
        check("- ```\n  <promise>a</promise>\n  ```\n1. > <promise>b</promise>\n2. <promise>c</promise>", &["c"]);
        check("<!-- <promise>a</promise> --><promise>b</promise> <!-- <promise>c</promise>", &["b", "c"]);
        check("<promise>✅ A</promise>", &["✅ a"]);
        check("<promise>✓ Checks</promise>", &[folded_name("✓ Checks").as_str()]);
        check("<promise><promise>x</promise>", &["x"]);
        check(&format!("<promise>{}</promise>", "x".repeat(500)), &[]);
    }
}
