//! Texts as people are shown them: nothing hides, nothing commands a terminal.

/// A text on one line: controls, and marks that reorder or hide text, are written out.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || hides(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

/// JSON on one line, with the same characters written out: in JSON they stand only inside of texts, where an escape says the
/// same to programs.
#[must_use]
pub fn json_line(value: &serde_json::Value) -> String {
    let mut shown = String::new();
    for c in value.to_string().chars() {
        if c.is_control() || hides(c) {
            let mut units = [0; 2];
            c.encode_utf16(&mut units).iter().for_each(|unit| shown.push_str(&format!("\\u{unit:04x}")));
        } else {
            shown.push(c);
        }
    }
    shown
}

const fn hides(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}'..='\u{ffff}' | '\u{e0000}'..='\u{e007f}')
}

/// A text in XML and HTML; what XML cannot hold was written out before, or is a replacement character.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn json_says_the_same_and_commands_nothing() {
        let value = json!({"a\u{9b}": "x\u{202e}\u{1b}[2J\n\u{e0041} ä", "n": [1, null]});
        let line = json_line(&value);
        assert!(line.chars().all(|c| !c.is_control() && !hides(c)), "{line}");
        assert!(line.contains('ä'));
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), value);
    }
}
