//! Texts as they may be shown: without what a terminal or a page would obey, and what of them a reader can see at all.

/// Characters of an escape sequence that are passed over; a longer one is none.
const SEQUENCE_CHARS_MAX: usize = 64;

/// Whether a character takes no room, or only steers others.
#[must_use]
pub const fn is_invisible(c: char) -> bool {
    steers(c)
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}')
}

/// Whether a character changes how others are shown or read: direction, lines, tags that nobody sees.
#[must_use]
pub const fn steers(c: char) -> bool {
    matches!(c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a reader sees nothing where this character stands.
#[must_use]
pub fn is_blank(c: char) -> bool {
    let filler = matches!(c, '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}');
    filler || c.is_whitespace() || c.is_control() || is_invisible(c)
}

/// The text without control characters, escape sequences and what steers; lines and tabs stay.
#[must_use]
pub fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        match c {
            '\n' | '\t' => shown.push(c),
            '\r' if rest.starts_with('\n') => {}
            // What a terminal would write over the line before is a line of its own.
            '\r' => shown.push('\n'),
            '\u{1b}' | '\u{9b}' => rest = after_sequence(c, rest),
            c if c.is_control() || steers(c) => {}
            c => shown.push(c),
        }
    }
    shown
}

/// What follows an escape sequence of which the first character was read.
fn after_sequence(first: char, rest: &str) -> &str {
    let body = if first == '\u{9b}' { Some(rest) } else { rest.strip_prefix('[') };
    let Some(body) = body else { return rest };
    let end = body.char_indices().take(SEQUENCE_CHARS_MAX).find(|(_, c)| ('@'..='~').contains(c));
    end.and_then(|(at, _)| body.get(at + 1..)).unwrap_or(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_obeyed_is_left() {
        for (text, want) in [
            ("two\nlines\tand a tab", "two\nlines\tand a tab"),
            ("\u{1b}[1;31mred\u{1b}[0m \u{9b}2Jx", "red x"),
            ("a\0b\u{7}c\u{1b}d\u{1b}]0;title\u{7}e", "abcd]0;titlee"),
            ("10%\r20%\r\ndone", "10%\n20%\ndone"),
            ("\u{202e}evil\u{2066}x\u{feff}\u{e0041}", "evilx"),
            ("नमस्ते 👩\u{200d}💻 é", "नमस्ते 👩\u{200d}💻 é"),
        ] {
            assert_eq!(plain(text), want, "{text:?}");
        }
        let endless = format!("\u{1b}[{}", "1;".repeat(1_000));
        assert_eq!(plain(&endless).len(), 2_000);
    }

    #[test]
    fn blanks_are_what_nobody_sees() {
        let blank = "\u{200b}\u{2800}\u{3164} \t\u{a0}\u{feff}\u{ad}\u{e0020}\0\u{fe0f}\u{2063}";
        assert!(blank.chars().all(is_blank));
        assert!("aß字.-!नम".chars().all(|c| !is_blank(c)));
    }
}
