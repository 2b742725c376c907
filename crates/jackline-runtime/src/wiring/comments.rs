//! Comments in a host's JSON: some hosts allow them, and read the rest as if they were not there.

/// The same text with blanks in place of comments, so that everything else stands where it stood.
#[must_use]
pub fn blanked(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (length, is_comment) = token(rest, c);
        let (part, behind) = rest.split_at(length);
        if is_comment {
            plain.extend(part.bytes().map(|byte| if matches!(byte, b'\n' | b'\r') { char::from(byte) } else { ' ' }));
        } else {
            plain.push_str(part);
        }
        rest = behind;
    }
    plain
}

/// How many bytes belong together at the beginning of a text: a comment, a quoted text, or one character.
fn token(text: &str, first: char) -> (usize, bool) {
    let to_end = |at: Option<usize>| at.unwrap_or(text.len());
    if text.starts_with("//") {
        return (to_end(text.find('\n')), true);
    }
    if let Some(inside) = text.strip_prefix("/*") {
        return (to_end(inside.find("*/").map(|at| at + 4)), true);
    }
    if first != '"' {
        return (first.len_utf8(), false);
    }
    let mut escaped = false;
    let closes = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    (to_end(closes.map(|(at, _)| at + 1)), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &str) {
        assert_eq!(blanked(text), want);
        assert_eq!(text.len(), want.len(), "everything else stands where it stood");
    }

    #[test]
    fn comments_go_and_texts_stay() {
        check("// a \"h\"\n{ /* b */ \"x//y\": 1 }", "        \n{         \"x//y\": 1 }");
        check(r#"{"a\"//b": "\\"} // c"#, r#"{"a\"//b": "\\"}     "#);
        check("{} /* ö\r\n*/ 1", "{}      \r\n   1");
        check("{} /* open", "{}        ");
        check("\"open // text", "\"open // text");
        check("a / b", "a / b");
    }
}
