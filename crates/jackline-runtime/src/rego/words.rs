//! The words of a policy's text: what is called where, without strings and comments. No parser: the engine has one.

/// Dotted names that are called, with their columns from one.
pub(super) fn calls(code: &str) -> impl Iterator<Item = (&str, usize)> {
    let of_name = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    code.match_indices('(').filter_map(move |(at, _)| {
        let before = code.get(..at)?;
        let start = before.char_indices().rev().find(|(_, c)| !of_name(*c)).map_or(0, |(end, c)| end + c.len_utf8());
        let name = before.get(start..).filter(|name| !name.is_empty())?;
        Some((name, before.get(..start)?.chars().count() + 1))
    })
}

/// The text with strings and comments made blank, lines and columns kept.
pub(super) fn blanked(text: &str) -> String {
    let (mut inside, mut escaped) = (None, false);
    let blank = |c: char| {
        let (was, here) = (inside, if c == '\n' { '\n' } else { ' ' });
        match (was, c) {
            (None, '"' | '`' | '#') => inside = Some(c),
            (None, _) => return c,
            (Some('#'), '\n') => inside = None,
            (Some('"'), '\\') if !escaped => {
                escaped = true;
                return ' ';
            }
            (Some(quote), c) if c == quote && quote != '#' && !escaped => inside = None,
            _ => {}
        }
        escaped = false;
        here
    };
    text.chars().map(blank).collect()
}
