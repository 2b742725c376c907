//! Pathspecs: which files git takes a word for. Its wildcards match hidden names and go through directories, and signs
//! before a path change what it means.

use super::super::Word;

/// Wildcards of one word that are read as going through directories, each for itself; with more it may be anything.
const WILDCARDS_MAX: usize = 3;

/// A word as git reads it.
struct Pathspec<'w> {
    signs: Vec<&'w str>,
    path: &'w str,
}

impl<'w> Pathspec<'w> {
    fn read(text: &'w str) -> Self {
        let long = text.strip_prefix(":(").and_then(|rest| rest.split_once(')'));
        if let Some((signs, path)) = long {
            return Self { signs: signs.split(',').collect(), path };
        }
        let Some(rest) = text.strip_prefix(':') else { return Self { signs: Vec::new(), path: text } };
        let path = rest.trim_start_matches(['/', '!', '^']);
        let signs = rest.strip_suffix(path).unwrap_or_default();
        let signs = signs.chars().map(|sign| if sign == '/' { "top" } else { "exclude" }).collect();
        Self { signs, path: path.strip_prefix(':').unwrap_or(path) }
    }

    fn has(&self, sign: &str) -> bool {
        self.signs.contains(&sign)
    }
}

/// A set of files that is meant.
pub(super) struct Meant {
    pub(super) path: Word,
    /// It is seen from the top of the work tree.
    pub(super) from_top: bool,
}

/// The files that git takes these words for; all of them where only some are left out.
pub(super) fn meant(words: &[Word], caseless: bool) -> Vec<Meant> {
    let read: Vec<(&Word, Pathspec)> = words.iter().map(|word| (word, Pathspec::read(&word.text))).collect();
    let (left_out, meant): (Vec<_>, Vec<_>) = read.iter().partition(|(_, spec)| spec.has("exclude"));
    if meant.is_empty() && !left_out.is_empty() {
        return vec![Meant { path: Word::literal("."), from_top: false }];
    }
    meant.into_iter().flat_map(|(word, spec)| each(word, spec, caseless)).collect()
}

/// Whether a word can only be a pathspec, and no name of a branch.
pub(super) fn is_one(word: &Word) -> bool {
    word.known() && (word.text.starts_with(':') || word.text.contains(['*', '?', '[']))
}

fn each(word: &Word, spec: &Pathspec<'_>, caseless: bool) -> Vec<Meant> {
    let from_top = spec.has("top");
    // What is not known, or chosen by another program, stands for what it stands for.
    if word.listed || word.dynamic && spec.signs.is_empty() {
        return vec![Meant { path: word.clone(), from_top }];
    }
    let wild = spec.path.contains(['*', '?', '[']) && !spec.has("literal");
    let caseless = caseless || spec.has("icase");
    let texts = match wild {
        // All there is.
        _ if matches!(spec.path, "" | "*" | "**" | "**/*") => vec![".".to_owned()],
        true if spec.has("glob") => vec![spec.path.to_owned()],
        true => through(spec.path),
        false => vec![spec.path.to_owned()],
    };
    let any = |text: &String| text.chars().map(|c| if c.is_alphabetic() { '?' } else { c }).collect::<String>();
    let others: Vec<String> = texts.iter().filter(|_| caseless).map(any).collect();
    let meant = |text: String| {
        let glob = text.contains(['*', '?', '[']) && (wild || caseless) || word.glob && text != ".";
        Meant { path: Word { glob, dots: glob, text, ..word.clone() }, from_top }
    };
    texts.into_iter().chain(others).map(meant).collect()
}

/// Patterns in which a wildcard stays within a name, that together match what this one does where it does not.
fn through(pattern: &str) -> Vec<String> {
    let (begin, rest) = match pattern.strip_prefix('*') {
        Some(rest) => ("**/*", rest),
        None => ("", pattern),
    };
    let parts: Vec<&str> = rest.split('*').collect();
    if parts.len() > WILDCARDS_MAX + 1 {
        return vec!["**".to_owned()];
    }
    let mut found = vec![begin.to_owned()];
    for (number, part) in parts.into_iter().enumerate() {
        let before: &[&str] = if number == 0 { &[""] } else { &["*", "*/**/*"] };
        found = found.iter().flat_map(|front| before.iter().map(move |sign| format!("{front}{sign}{part}"))).collect();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &[&str]) {
        let shown = |meant: Meant| format!("{}{}", if meant.from_top { "/" } else { "" }, meant.path.text);
        let found: Vec<String> = meant(&[Word::literal(text)], false).into_iter().map(shown).collect();
        assert_eq!(found, want, "{text}");
    }

    #[test]
    fn signs_and_wildcards_are_read_as_git_does() {
        check("a/b", &["a/b"]);
        check(":(top)a", &["/a"]);
        check(":/a", &["/a"]);
        check(":/", &["/."]);
        check(":(literal)a*", &["a*"]);
        check(":(glob)a/*.c", &["a/*.c"]);
        check("*.c", &["**/*.c"]);
        check("a*.c", &["a*.c", "a*/**/*.c"]);
        check("*", &["."]);
        check(":!a", &["."]);
        check(":(exclude)a", &["."]);
        check(":(icase).E1", &[".E1", ".?1"]);
        check(":(top,icase)e", &["/e", "/?"]);
        check("a*b*c*d*e", &["**"]);
        let both = meant(&[Word::literal("a"), Word::literal(":^b")], false);
        assert_eq!(both.len(), 1, "what is left out of something else is not looked at");
    }
}
