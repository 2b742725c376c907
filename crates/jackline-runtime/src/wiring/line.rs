//! What a host starts: words, and the same as one text for a shell.

/// A program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    pub program: String,
    pub arguments: Vec<String>,
}

impl CommandLine {
    /// The word after an option, which is its value.
    #[must_use]
    pub fn after(&self, option: &str) -> Option<&String> {
        let at = self.arguments.iter().position(|word| word == option)?;
        self.arguments.get(at + 1)
    }

    /// One text that a POSIX shell takes apart into these words again.
    #[must_use]
    pub fn in_shell(&self) -> String {
        let words = std::iter::once(&self.program).chain(&self.arguments);
        words.map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }

    /// The words of such a text; `None` where a shell would do more than start one program.
    #[must_use]
    pub fn from_shell(text: &str) -> Option<Self> {
        let mut words = words(text)?.into_iter();
        Some(Self { program: words.next()?, arguments: words.collect() })
    }

    /// Whether it is our hook for a host, wherever our program lies and however an older version wrote the rest.
    #[must_use]
    pub fn asks_for(&self, host: &str) -> bool {
        let name = self.program.rsplit(['/', '\\']).next().unwrap_or_default();
        let mut words = self.arguments.iter().map(String::as_str);
        (name == "jackline" || name == "jackline.exe") && words.next() == Some("hook") && words.next() == Some(host)
    }
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The words of a text with nothing but words, quotes and escapes in it.
fn words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '"' => in_double_quotes(&mut chars, word.get_or_insert_default())?,
            '\\' => word.get_or_insert_default().push(chars.next()?),
            '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')' | '$' | '`' | '#' | '*' | '?' | '[' | '~' => return None,
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

fn in_double_quotes(chars: &mut std::str::Chars<'_>, word: &mut String) -> Option<()> {
    loop {
        match chars.next()? {
            '"' => return Some(()),
            '$' | '`' => return None,
            '\\' => match chars.next()? {
                c @ ('"' | '\\' | '$' | '`') => word.push(c),
                c => word.extend(['\\', c]),
            },
            c => word.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Option<&[&str]>) {
        let seen = words(text);
        assert_eq!(seen.as_deref().map(|words| words.iter().map(String::as_str).collect()), want.map(<[_]>::to_vec));
    }

    #[test]
    fn plain_words_are_told_and_anything_more_is_not() {
        check("a b  c", Some(&["a", "b", "c"]));
        check(r#"'/o p/x' "y z" w\ v '' "#, Some(&["/o p/x", "y z", "w v", ""]));
        check("", Some(&[]));
        for more in ["a; b", "a | b", "a $(b)", "a > b", "'a", "\"a", "a \"$b\"", "a\nb", "a &", "a *", "~/a", "a # b"]
        {
            check(more, None);
        }
    }

    #[test]
    fn a_shells_text_is_taken_apart_again() {
        for words in [&["/o/jackline", "hook", "codex"][..], &["/o p/it's", "", "a\"b", "$x", "√", "a\\b", "x;y"]] {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            let line = CommandLine { program: words[0].clone(), arguments: words[1..].to_vec() };
            assert_eq!(CommandLine::from_shell(&line.in_shell()), Some(line));
        }
    }

    #[test]
    fn ours_is_known_by_its_name_and_first_words() {
        let asks = |text: &str| CommandLine::from_shell(text).is_some_and(|line| line.asks_for("codex"));
        assert!(asks("/a/jackline hook codex --store /x") && asks("jackline hook codex"));
        assert!(!asks("jackline hook claude") && !asks("jackline-like hook codex") && !asks("jackline codex hook"));
    }
}
