//! The agent's word that a policy needs nothing: `<promise>name</promise>` in a message of its own.

/// Bytes of a name that is looked at; a longer one is no policy's.
const PROMISED_BYTES_MAX: usize = 400;
/// Promises of one text; each names a policy.
pub const PROMISES_MAX: usize = 256;
const BEGIN: &str = "<promise>";
const END: &str = "</promise>";
/// What stands around a block that is quoted.
const FENCES: [&str; 2] = ["```", "~~~"];
/// What may stand in front of the name, as some agents write it.
const TICK: char = '✓';

/// The names that a text promises in its own words, folded so that case does not count. What it quotes is no word of its
/// own: often it is ours.
#[must_use]
pub fn promised(text: &str) -> Vec<String> {
    names_in(&without_quotations(text))
}

/// The names of which a text has promises, though they may only be quoted.
#[must_use]
pub fn named(text: &str) -> Vec<String> {
    names_in(text)
}

/// A text without its fenced blocks and without the lines that begin with `>`.
fn without_quotations(text: &str) -> String {
    let mut own = String::with_capacity(text.len());
    let mut fence: Option<&str> = None;
    for line in text.split_inclusive('\n') {
        let begun = line.trim_start();
        let mark = FENCES.into_iter().find(|mark| begun.starts_with(mark));
        match (fence, mark) {
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, Some(mark)) => fence = Some(mark),
            (None, None) if !begun.starts_with('>') => own.push_str(line),
            _ => {}
        }
    }
    own
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
        check("<promise>✅ A</promise>", &["✅ a"]);
        check("<promise>✓ Checks</promise>", &[folded_name("✓ Checks").as_str()]);
        check("<promise><promise>x</promise>", &["x"]);
        check(&format!("<promise>{}</promise>", "x".repeat(500)), &[]);
    }
}
