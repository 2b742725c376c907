//! Whether a database is told a statement that begins with given words. What stands in texts, names and comments is no
//! statement. Databases do not agree on where those end, so a text is read in more than one way.

/// Words after which a statement begins inside another one.
const OPENING: &[&str] = &["as", "begin", "do", "else", "go", "loop", "then"];

/// How a text is read where databases differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    /// A backslash is itself, `--` begins a comment, comments nest.
    Standard,
    /// A backslash escapes, `--` needs a blank behind it, `#` begins a comment, and `/*!` is none.
    Escaping,
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    /// In small letters.
    Word(String),
    /// Here one statement ends and another begins.
    End,
    Other,
}

/// Whether some statement of a text begins with these words, as one of the readings has it; or, for what must be `sure`, as
/// all of them have it.
pub(super) fn begin_with(text: &str, words: &str, sure: bool) -> bool {
    let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
    let mut readings = [Dialect::Standard, Dialect::Escaping].into_iter().map(|dialect| tokens(text, dialect));
    let said = |tokens: Vec<Token>| (0..tokens.len()).any(|at| begins(&tokens, at) && follow(&tokens, at, &words));
    if sure { readings.all(said) } else { readings.any(said) }
}

/// The texts that an argument may hold: all of it, or what follows an option in the same word.
pub(super) fn held_by(argument: &str) -> [&str; 2] {
    let value = match argument.strip_prefix("--") {
        Some(option) => option.split_once('=').map(|(_, value)| value),
        None => argument.strip_prefix('-').and_then(|option| option.get(1..)),
    };
    [argument, value.unwrap_or_default()]
}

fn begins(tokens: &[Token], at: usize) -> bool {
    match at.checked_sub(1).and_then(|before| tokens.get(before)) {
        None | Some(Token::End) => true,
        Some(Token::Word(word)) => OPENING.contains(&word.as_str()),
        Some(Token::Other) => false,
    }
}

fn follow(tokens: &[Token], at: usize, words: &[String]) -> bool {
    let found = tokens.iter().skip(at).map(|token| if let Token::Word(word) = token { word.as_str() } else { "" });
    found.take(words.len()).eq(words.iter().map(String::as_str))
}

fn tokens(text: &str, dialect: Dialect) -> Vec<Token> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (token, length) = token(rest, first, dialect);
        found.extend(token);
        rest = rest.get(length..).unwrap_or_default();
    }
    found
}

/// What a text begins with, if it counts, and its bytes.
fn token(text: &str, first: char, dialect: Dialect) -> (Option<Token>, usize) {
    let escapes = dialect == Dialect::Escaping;
    let line = || text.find('\n').unwrap_or(text.len());
    match first {
        c if c.is_whitespace() => (None, c.len_utf8()),
        '#' if escapes => (None, line()),
        '-' if is_comment(text, dialect) => (None, line()),
        '/' if escapes && text.starts_with("/*!") => (None, marker(text)),
        '*' if escapes && text.starts_with("*/") => (None, 2),
        '/' if text.starts_with("/*") => (None, comment(text, !escapes)),
        '\'' | '"' | '`' => (Some(Token::Other), quoted(text, first, escapes && first != '`')),
        ';' => (Some(Token::End), 1),
        '$' => dollar(text).map_or((Some(Token::Other), 1), |length| (Some(Token::End), length)),
        c if is_part(c) => {
            let length = text.find(|c| !is_part(c)).unwrap_or(text.len());
            (Some(Token::Word(text.get(..length).unwrap_or_default().to_lowercase())), length)
        }
        c => (Some(Token::Other), c.len_utf8()),
    }
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_comment(text: &str, dialect: Dialect) -> bool {
    let behind = text.strip_prefix("--");
    behind.is_some_and(|rest| dialect == Dialect::Standard || !rest.starts_with(|c: char| !c.is_whitespace()))
}

/// The bytes of `/*!` with the version behind it: what follows is run.
fn marker(text: &str) -> usize {
    let digits = text.bytes().skip(3).take_while(u8::is_ascii_digit).count();
    3 + digits
}

/// The bytes of a comment; one that nothing closes goes to the end.
fn comment(text: &str, nests: bool) -> usize {
    let (mut at, mut depth) = (2, 1);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let step = match rest {
            rest if rest.starts_with("*/") => {
                depth -= 1;
                2
            }
            rest if nests && rest.starts_with("/*") => {
                depth += 1;
                2
            }
            rest => rest.chars().next().map_or(1, char::len_utf8),
        };
        at += step;
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// The bytes of what is quoted, with its quotes; a quote that is doubled begins it anew.
fn quoted(text: &str, quote: char, escapes: bool) -> usize {
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' if escapes => drop(chars.next()),
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The bytes of `$$` or `$name$`, between which a body of statements stands.
fn dollar(text: &str) -> Option<usize> {
    let name = text.strip_prefix('$')?;
    let length = name.find(|c| !is_part(c))?;
    let named = !name.starts_with(|c: char| c.is_ascii_digit());
    (named && name.get(length..)?.starts_with('$')).then_some(length + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, said: bool) {
        assert_eq!(begin_with(text, "drop table", false), said, "{text}");
    }

    #[test]
    fn a_statement_is_found_where_it_begins() {
        for text in [
            "DROP TABLE x",
            " \n drop\n\ttable x",
            "select 1; drop table x",
            "select 1;drop table x",
            "DROP/**/TABLE x",
            "/* a /* b */ c */ drop table x",
            "-- first\ndrop table x",
            "begin drop table x; end",
            "do $$ begin drop table x; end $$",
            "do $body$ if a then drop table x; end if $body$",
            "select 'a''b'; drop table x",
            r"select 'a\'; drop table x --'",
            r"select 'a\\'; drop table x",
            "/*!50000 drop table x */",
            "select 5--3; drop table x",
            "select `a;b`; drop table x",
            "select 'é'; drop table x",
        ] {
            check(text, true);
        }
    }

    #[test]
    fn texts_names_and_comments_are_none() {
        for text in [
            "select * from audit where stmt like 'drop table%'",
            "insert into log(msg) values ('we; drop table x')",
            "select \"drop table\" from t",
            "select 1; select 'it''s; drop table x'",
            "select now() -- and then: drop table x",
            "select /* ; drop table x */ 1",
            "select * from drop_table",
            "alter table x drop column y",
            "create table drop_table_x (a int)",
            "select 'drop table x",
            "select $1, 'drop table x'",
            "drop",
            "",
        ] {
            check(text, false);
        }
    }

    #[test]
    fn what_must_be_sure_is_so_however_it_is_read() {
        assert!(begin_with("drop table x", "drop table", true));
        assert!(!begin_with(r"select 'a\'; drop table x --'", "drop table", true));
    }

    #[test]
    fn an_option_may_hold_it() {
        assert_eq!(held_by("drop table x")[0], "drop table x");
        assert_eq!(held_by("-cdrop table x")[1], "drop table x");
        assert_eq!(held_by("--command=drop table x")[1], "drop table x");
        assert_eq!(held_by("-")[1], "");
    }
}
