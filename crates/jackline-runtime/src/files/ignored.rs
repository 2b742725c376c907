//! What the `.gitignore` files of a work tree say, as git reads them: of two patterns that match, the later one counts, and
//! one of a directory further down comes later.
//!
//! A pattern is read exactly as git would, or not at all: then git is asked.

use std::sync::Arc;

/// Bytes of a file of patterns; git is asked about a longer one.
pub(super) const IGNORE_BYTES_MAX: u64 = 1024 * 1024;
/// Stars of a pattern. Each may be tried at every place of a path; nobody writes so many.
const STARS_MAX: usize = 8;

/// The patterns of one directory, before those of the directories above.
#[derive(Debug)]
pub(super) struct Level {
    above: Option<Arc<Self>>,
    /// How long the directory's path is, with its `/`.
    base: usize,
    patterns: Vec<Pattern>,
}

#[derive(Debug, PartialEq, Eq)]
struct Pattern {
    text: Vec<u8>,
    /// How much of it is no pattern.
    literal: usize,
    /// What it matches is not ignored.
    negative: bool,
    directories: bool,
    /// It is about a name in whichever directory.
    anywhere: bool,
    /// Everything behind a leading star is literal.
    ending: bool,
}

impl Level {
    /// The patterns of a file in a directory whose path, with its `/`, is so long; `None` where it has one that cannot be
    /// read.
    pub(super) fn read(file: &[u8], base: usize, above: Option<Arc<Self>>) -> Option<Arc<Self>> {
        if file.contains(&0) {
            return None;
        }
        let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
        let lines = file.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && !line.starts_with(b"#"));
        let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        let patterns: Option<Vec<Pattern>> = lines.map(|line| Pattern::read(trimmed(line))).collect();
        Some(Arc::new(Self { above, base, patterns: patterns? }))
    }

    /// Whether a path is ignored, which is in a directory that is not.
    pub(super) fn ignores(&self, path: &[u8], directory: bool) -> bool {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
        let mut level = Some(self);
        while let Some(at) = level {
            let below = path.get(at.base..).unwrap_or_default();
            let matching = |pattern: &&Pattern| pattern.matches(name, below, directory);
            if let Some(pattern) = at.patterns.iter().rev().find(matching) {
                return !pattern.negative;
            }
            level = at.above.as_deref();
        }
        false
    }
}

/// A line without the spaces at its end, save those behind a backslash.
fn trimmed(line: &[u8]) -> &[u8] {
    let mut end = 0;
    let mut at = 0;
    while let Some(byte) = line.get(at) {
        match byte {
            b' ' => at += 1,
            b'\\' => {
                at += 2;
                if at > line.len() {
                    return line;
                }
                end = at;
            }
            _ => {
                at += 1;
                end = at;
            }
        }
    }
    line.get(..end).unwrap_or(line)
}

const fn is_special(byte: u8) -> bool {
    matches!(byte, b'*' | b'?' | b'[' | b'\\')
}

fn literal(text: &[u8]) -> usize {
    text.iter().position(|byte| is_special(*byte)).unwrap_or(text.len())
}

impl Pattern {
    fn read(line: &[u8]) -> Option<Self> {
        let (text, negative) = line.strip_prefix(b"!").map_or((line, false), |rest| (rest, true));
        let whole = text;
        let (text, directories) = text.strip_suffix(b"/").map_or((text, false), |rest| (rest, true));
        let anywhere = !text.contains(&b'/');
        let ending = whole.strip_prefix(b"*").is_some_and(|rest| literal(rest) == rest.len());
        let stars = text.iter().filter(|byte| **byte == b'*').count();
        if stars > STARS_MAX || !has_plain_sets(text) {
            return None;
        }
        Some(Self { text: text.to_owned(), literal: literal(text), negative, directories, anywhere, ending })
    }

    fn matches(&self, name: &[u8], below: &[u8], directory: bool) -> bool {
        if self.directories && !directory {
            return false;
        }
        if !self.anywhere {
            return self.matches_path(below);
        }
        if self.literal == self.text.len() {
            return self.text == name;
        }
        if self.ending {
            return self.text.get(1..).is_some_and(|rest| name.ends_with(rest));
        }
        wild(&self.text, name, false) == Outcome::Match
    }

    fn matches_path(&self, below: &[u8]) -> bool {
        let skipped = usize::from(self.text.starts_with(b"/"));
        let literal = self.literal.saturating_sub(skipped);
        let text = self.text.get(skipped..).unwrap_or_default();
        let (Some(plain), Some(rest)) = (text.get(..literal), text.get(literal..)) else { return false };
        let Some(below) = below.strip_prefix(plain) else { return false };
        if rest.is_empty() && below.is_empty() {
            return true;
        }
        wild(rest, below, true) == Outcome::Match
    }
}

/// Whether sets of characters hold nothing but characters and ranges of them.
fn has_plain_sets(text: &[u8]) -> bool {
    let mut rest = text;
    loop {
        rest = match rest {
            [] => return true,
            [b'\\', _, after @ ..] => after,
            [b'[', after @ ..] => match set(after) {
                Some((_, after)) => after,
                None => return false,
            },
            [_, after @ ..] => after,
        };
    }
}

/// The set that begins behind a bracket, and what follows it.
fn set(text: &[u8]) -> Option<(Set<'_>, &[u8])> {
    let (negative, text) = match text {
        [b'!' | b'^', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    // The first character belongs to it, whatever it is.
    let end = 1 + text.get(1..)?.iter().position(|byte| *byte == b']')?;
    let members = text.get(..end)?;
    let plain = !members.iter().any(|byte| matches!(byte, b'[' | b'\\' | b']' | b'/'));
    plain.then_some((Set { members, negative }, text.get(end + 1..)?))
}

struct Set<'a> {
    members: &'a [u8],
    negative: bool,
}

impl Set<'_> {
    fn holds(&self, byte: u8) -> bool {
        let mut members = self.members;
        let mut found = false;
        loop {
            (found, members) = match members {
                [] => return found != self.negative,
                [from, b'-', to, rest @ ..] => (found || (*from..=*to).contains(&byte) || *from == byte, rest),
                [one, rest @ ..] => (found || *one == byte, rest),
            };
        }
    }
}

/// What became of holding a text against a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Match,
    No,
    /// No star further ahead can help, unless it takes `/` as well.
    NotInSegment,
    /// No star further ahead can help.
    Never,
}

/// Holds a text against a pattern as git does; in `paths` only two stars between slashes take `/`.
fn wild(pattern: &[u8], text: &[u8], paths: bool) -> Outcome {
    let (mut rest, mut left) = (pattern, text);
    loop {
        let Some((first, after)) = rest.split_first() else {
            return if left.is_empty() { Outcome::Match } else { Outcome::No };
        };
        if *first == b'*' {
            let stars = rest.iter().take_while(|byte| **byte == b'*').count();
            let begins = rest.len() == pattern.len();
            let behind = pattern.get(..pattern.len() - rest.len()).is_some_and(|before| before.ends_with(b"/"));
            let after = rest.get(stars..).unwrap_or_default();
            let bounded = matches!(after, [] | [b'/', ..] | [b'\\', b'/', ..]);
            let between = stars > 1 && (begins || behind) && bounded;
            if paths && between && after.first() == Some(&b'/') {
                let nothing = wild(after.get(1..).unwrap_or_default(), left, paths);
                if nothing == Outcome::Match {
                    return Outcome::Match;
                }
            }
            let crossing = !paths || between;
            match after {
                [] if crossing || !left.contains(&b'/') => return Outcome::Match,
                [] => return Outcome::NotInSegment,
                [b'/', ..] if !crossing => {
                    let Some(slash) = left.iter().position(|byte| *byte == b'/') else { return Outcome::Never };
                    (rest, left) = (after, left.get(slash..).unwrap_or_default());
                    continue;
                }
                _ => return star(after, left, (paths, crossing)),
            }
        }
        let Some((byte, following)) = left.split_first() else { return Outcome::Never };
        rest = match first {
            b'?' if paths && *byte == b'/' => return Outcome::No,
            b'?' => after,
            b'[' => match set(after) {
                Some((set, after)) if set.holds(*byte) && !(paths && *byte == b'/') => after,
                Some(_) | None => return Outcome::No,
            },
            b'\\' => match after.split_first() {
                Some((plain, after)) if plain == byte => after,
                Some(_) | None => return Outcome::No,
            },
            plain if plain == byte => after,
            _ => return Outcome::No,
        };
        left = following;
    }
}

/// Tries what follows a star at every place that the star may reach.
fn star(after: &[u8], text: &[u8], (paths, crossing): (bool, bool)) -> Outcome {
    for at in 0..text.len() {
        let left = text.get(at..).unwrap_or_default();
        match wild(after, left, paths) {
            Outcome::No => {}
            Outcome::NotInSegment if crossing => {}
            outcome => return outcome,
        }
        if !crossing && left.first() == Some(&b'/') {
            return Outcome::NotInSegment;
        }
    }
    Outcome::Never
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(patterns: &str, path: &str, directory: bool, want: Option<bool>) {
        let seen = Level::read(patterns.as_bytes(), 0, None).map(|level| level.ignores(path.as_bytes(), directory));
        assert_eq!(seen, want, "{patterns:?} {path:?}");
    }

    #[test]
    fn patterns_are_read_as_git_reads_them() {
        for (patterns, path, directory, want) in [
            ("*.o\n", "a/b.o", false, true),
            ("target/\n", "target", true, true),
            ("target/\n", "target", false, false),
            ("/a\n", "b/a", false, false),
            ("a/b\n", "a/b", false, true),
            ("a/b\n", "c/a/b", false, false),
            ("**/a/b\n", "c/a/b", false, true),
            ("a/**\n", "a/b/c", false, true),
            ("a/*/c\n", "a/b/c", false, true),
            ("a/*/c\n", "a/b/b/c", false, false),
            ("a/**/c\n", "a/c", false, true),
            ("*\n!*.rs\n", "x.rs", false, false),
            ("# x\n\\#y  \n", "#y", false, true),
            ("a\\ \n", "a ", false, true),
            ("a \r\n", "a", false, true),
            ("x[0-9a]\n", "x7", false, true),
            ("x[!0-9]\n", "x7", false, false),
            ("a?c\n", "abc", false, true),
            ("last", "last", false, true),
        ] {
            check(patterns, path, directory, Some(want));
        }
        for unreadable in ["[[:alpha:]]", "[\\]]", "[]a]", "[a/b]", "[a", "*a*b*c*d*e*f*g*h*i", "a\0b"] {
            check(unreadable, "a", false, None);
        }
    }
}
