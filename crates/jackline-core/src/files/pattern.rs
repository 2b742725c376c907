//! Patterns of file policies: ordinary globs, anchored at the root, and in correspondences variables that capture.
//!
//! `*` and `?` stop at `/`, `**` is any number of directories, `{a,b}` are alternatives, `[a-z]` is a class, `\` escapes.
//! `{name}` and any `{x}` capture one segment, `{path}` and `{**x}` several; `{*}` is `{name}`, `{**}` is `{path}`.
//! Every fault of a pattern is found when it is read. Matching takes at most pattern × path × path steps.

use crate::audit::head;
use crate::glob::braces::{self, Brace};
use crate::glob::{Class, PATTERN_CHARS_MAX, class};

/// Variables of one pattern: a path has few parts that anyone names.
pub const VARIABLES_MAX: usize = 16;
/// Bytes of a variable's name that a fault quotes.
const QUOTED_BYTES_MAX: usize = 60;
/// Wildcards from which on dead ends are remembered: with fewer, trying all is quicker than remembering.
const WILDCARDS_PLAIN_MAX: usize = 2;

/// A pattern that was read once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    alternatives: Vec<Vec<Part>>,
    /// The names of its variables, in their order.
    variables: Vec<String>,
    /// What every match begins with.
    prefix: String,
}

/// What a variable captured, by its name.
pub type Captures = Vec<(String, String)>;

/// One part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    /// `?`
    One,
    /// `*`: any text within a segment.
    Within,
    /// `**/`: any number of directories, each with its `/`.
    Directories,
    /// `**` at the end: anything.
    Rest,
    Class(Class),
    /// A variable: its place in the list of names, and whether it passes over `/`.
    Variable(usize, bool),
}

/// A piece while alternatives are not written out yet.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Char(char),
    One,
    Star,
    Class(Class),
    Variable(usize, bool),
    Open,
    Comma,
    Close,
}

impl Pattern {
    /// Reads a pattern that captures nothing.
    ///
    /// # Errors
    /// What is wrong with it, to be read after the pattern itself.
    pub fn glob(text: &str) -> Result<Self, String> {
        let pattern = Self::capturing(text)?;
        match pattern.variables.first() {
            None => Ok(pattern),
            Some(name) => Err(format!(
                "has the variable `{{{}}}`, which means nothing here (`*` is one segment, `**` any number)",
                head(name, QUOTED_BYTES_MAX)
            )),
        }
    }

    /// Reads a pattern that may have variables.
    ///
    /// # Errors
    /// What is wrong with it, to be read after the pattern itself.
    pub fn capturing(text: &str) -> Result<Self, String> {
        check_whole(text)?;
        let mut reader = Reader { chars: text.chars().peekable(), tokens: Vec::new(), variables: Vec::new() };
        reader.read()?;
        let Reader { tokens, variables, .. } = reader;
        let alternatives: Vec<Vec<Part>> = braces::expand(tokens)?.iter().map(|tokens| parts(tokens)).collect();
        let prefix = common_prefix(&alternatives);
        Ok(Self { text: text.to_owned(), alternatives, variables, prefix })
    }

    /// As its owner wrote it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names of its variables.
    #[must_use]
    pub fn variables(&self) -> &[String] {
        &self.variables
    }

    /// What every path that matches begins with.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Whether a path matches.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        path.starts_with(&self.prefix) && self.alternatives.iter().any(|parts| run(parts, path, 0).is_some())
    }

    /// What the variables captured, when the path matches: each as much as it can, the first first.
    #[must_use]
    pub fn captures(&self, path: &str) -> Option<Captures> {
        if !path.starts_with(&self.prefix) {
            return None;
        }
        let spans = self.alternatives.iter().find_map(|parts| run(parts, path, self.variables.len()))?;
        let taken = |(name, (from, to)): (&String, (usize, usize))| {
            (name.clone(), path.get(from..to).unwrap_or_default().to_owned())
        };
        Some(self.variables.iter().zip(spans).map(taken).collect())
    }

    /// The pattern with what was captured in place of its variables: once, and never as a pattern itself.
    #[must_use]
    pub fn filled(&self, captures: &Captures) -> Self {
        let value = |name: &str| captures.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value);
        let fill = |part: &Part| match part {
            Part::Variable(at, _) => {
                Part::Text(self.variables.get(*at).map(|name| value(name)).unwrap_or_default().to_owned())
            }
            part => part.clone(),
        };
        let alternatives: Vec<Vec<Part>> =
            self.alternatives.iter().map(|parts| joined(parts.iter().map(fill))).collect();
        let prefix = common_prefix(&alternatives);
        let text = exact(&alternatives).map_or_else(|| written(&self.text, value), str::to_owned);
        Self { text, alternatives, variables: Vec::new(), prefix }
    }

    /// Whether it matches the same paths and captures the same of them, however it is written.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.alternatives == other.alternatives && self.variables == other.variables
    }

    /// Whether it says more of the paths that it matches than another one does of its own.
    #[must_use]
    pub fn is_nearer(&self, other: &Self) -> bool {
        self.said_bytes() > other.said_bytes()
    }

    /// Bytes that every match has as they stand in the pattern.
    fn said_bytes(&self) -> usize {
        let said = |part: &Part| if let Part::Text(text) = part { text.len() } else { 0 };
        self.alternatives.iter().map(|parts| parts.iter().map(said).sum()).min().unwrap_or_default()
    }

    /// The one path it stands for, if it has nothing that could stand for several.
    #[must_use]
    pub fn exact(&self) -> Option<&str> {
        exact(&self.alternatives)
    }
}

fn exact(alternatives: &[Vec<Part>]) -> Option<&str> {
    match alternatives {
        [parts] => match parts.as_slice() {
            [Part::Text(text)] => Some(text),
            _ => None,
        },
        _ => None,
    }
}

/// A pattern's text with values in place of its variables, each put in once.
fn written<'v>(text: &str, value: impl Fn(&str) -> &'v str) -> String {
    let mut found = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        found.push_str(before);
        let named = after.split_once('}').filter(|(inside, _)| !inside.contains([',', '{']) && !before.ends_with('\\'));
        rest = match named {
            Some((inside, behind)) => {
                found.push_str(value(variable_name(inside).0));
                behind
            }
            None => {
                found.push('{');
                after
            }
        };
    }
    found + rest
}

/// What a pattern has that means something elsewhere and nothing here, if anything.
#[must_use]
pub fn odd(text: &str) -> Option<(&'static str, &'static str)> {
    if text.starts_with('!') {
        return Some((
            "begins with `!`, which negates nothing here",
            "say with `safety` what keeps a policy from firing",
        ));
    }
    let named = text.contains("[[:");
    named.then_some(("has `[[:`, and a class has no names here", "write its characters: `[a-zA-Z]`"))
}

/// What can be said of a pattern without taking it apart.
fn check_whole(text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Err("is empty".to_owned());
    }
    if text.chars().nth(PATTERN_CHARS_MAX).is_some() {
        return Err(format!("is longer than {PATTERN_CHARS_MAX} characters"));
    }
    if text.starts_with('/') {
        return Err("begins with `/`, and paths are told from the repository's root".to_owned());
    }
    if text.ends_with('/') {
        return Err("ends with `/`, where `/**` would match what is below".to_owned());
    }
    if text.chars().any(char::is_control) {
        return Err("has a control character, which no pattern needs".to_owned());
    }
    match text.split('/').find(|segment| matches!(*segment, "" | "." | "..")) {
        Some("") => Err("has `//`, and no path has an empty segment".to_owned()),
        Some(segment) => Err(format!("has a segment `{segment}`, which no path has")),
        None => Ok(()),
    }
}

/// Reads characters into tokens; braces stay in, balanced.
struct Reader<'a> {
    chars: std::iter::Peekable<std::str::Chars<'a>>,
    tokens: Vec<Token>,
    variables: Vec<String>,
}

impl Reader<'_> {
    fn read(&mut self) -> Result<(), String> {
        // For each open brace, whether it had a comma yet.
        let mut open: Vec<bool> = Vec::new();
        while let Some(c) = self.chars.next() {
            let token = match c {
                '\\' => Token::Char(self.chars.next().ok_or("ends with `\\`, which escapes nothing")?),
                '?' => Token::One,
                '*' => Token::Star,
                '[' => Token::Class(class(&mut self.chars)?),
                '{' if self.begins_variable()? => self.variable(open.is_empty())?,
                '{' => {
                    open.push(false);
                    Token::Open
                }
                ',' if !open.is_empty() => {
                    open.last_mut().into_iter().for_each(|comma| *comma = true);
                    Token::Comma
                }
                '}' => match open.pop() {
                    Some(true) => Token::Close,
                    Some(false) => return Err("has a brace within a brace, without a comma".to_owned()),
                    None => return Err("has a `}` that nothing opened (a literal one is `\\}`)".to_owned()),
                },
                c => Token::Char(c),
            };
            self.tokens.push(token);
        }
        if open.is_empty() { Ok(()) } else { Err(UNCLOSED.to_owned()) }
    }

    /// Whether the brace just read holds one name: it closes before a comma or another brace.
    fn begins_variable(&self) -> Result<bool, String> {
        let next = self.chars.clone().find(|c| matches!(c, '{' | '}' | ',' | '\\'));
        next.map(|c| c == '}').ok_or_else(|| UNCLOSED.to_owned())
    }

    fn variable(&mut self, outside: bool) -> Result<Token, String> {
        let inside: String = self.chars.by_ref().take_while(|c| *c != '}').collect();
        let (name, several) = variable_name(&inside);
        let shown = head(&inside, QUOTED_BYTES_MAX);
        if !is_name(name) {
            return Err(format!(
                "has `{{{shown}}}`, and a variable's name has letters, digits and `_` only, and no digit first"
            ));
        }
        if !outside {
            return Err(format!("has the variable `{{{shown}}}` inside alternatives, where it may stand for nothing"));
        }
        if self.variables.iter().any(|known| known == name) {
            return Err(format!("has the variable `{}` twice", head(name, QUOTED_BYTES_MAX)));
        }
        if self.variables.len() >= VARIABLES_MAX {
            return Err(format!("has more than {VARIABLES_MAX} variables"));
        }
        self.variables.push(name.to_owned());
        Ok(Token::Variable(self.variables.len() - 1, several))
    }
}

/// What a pattern that ends inside a brace is told as.
const UNCLOSED: &str = "has an unclosed brace";

/// The name of a variable and whether it passes over `/`.
fn variable_name(inside: &str) -> (&str, bool) {
    match (inside, inside.strip_prefix("**"), inside.strip_prefix('*')) {
        ("path" | "**", ..) => ("path", true),
        ("*", ..) => ("name", false),
        (_, Some(name), _) => (name, true),
        (_, None, Some(name)) => (name, false),
        (name, None, None) => (name, false),
    }
}

fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c == '_' || c.is_alphabetic()) && chars.all(|c| c == '_' || c.is_alphanumeric())
}

impl braces::Token for Token {
    fn brace(&self) -> Option<Brace> {
        match self {
            Self::Open => Some(Brace::Open),
            Self::Comma => Some(Brace::Comma),
            Self::Close => Some(Brace::Close),
            _ => None,
        }
    }
}

/// Tokens without braces as parts: texts joined, `**` told apart by where it stands.
fn parts(tokens: &[Token]) -> Vec<Part> {
    let mut found: Vec<Part> = Vec::new();
    let mut rest = tokens;
    let mut fresh = true;
    while let Some((token, after)) = rest.split_first() {
        let begins = std::mem::replace(&mut fresh, *token == Token::Char('/'));
        let stars = rest.iter().take_while(|token| **token == Token::Star).count();
        let behind = rest.get(stars..).unwrap_or_default();
        rest = after;
        let part = match token {
            Token::Star if begins && stars > 1 && behind.is_empty() => {
                rest = behind;
                Part::Rest
            }
            Token::Star if begins && stars > 1 && behind.first() == Some(&Token::Char('/')) => {
                rest = behind.get(1..).unwrap_or_default();
                fresh = true;
                Part::Directories
            }
            Token::Star => {
                rest = behind;
                Part::Within
            }
            Token::Char(c) => Part::Text(c.to_string()),
            Token::One => Part::One,
            Token::Class(class) => Part::Class(class.clone()),
            Token::Variable(at, several) => Part::Variable(*at, *several),
            // Written out before.
            Token::Open | Token::Comma | Token::Close => continue,
        };
        found.push(part);
    }
    joined(found)
}

/// Joins texts that stand side by side.
fn joined(parts: impl IntoIterator<Item = Part>) -> Vec<Part> {
    let mut all: Vec<Part> = Vec::new();
    for part in parts {
        match (all.last_mut(), part) {
            (Some(Part::Text(before)), Part::Text(text)) => before.push_str(&text),
            (_, part) => all.push(part),
        }
    }
    all
}

/// What the matches of all alternatives begin with.
fn common_prefix(alternatives: &[Vec<Part>]) -> String {
    let begins = |parts: &Vec<Part>| match parts.first() {
        Some(Part::Text(text)) => text.clone(),
        _ => String::new(),
    };
    let mut beginnings = alternatives.iter().map(begins);
    let first = beginnings.next().unwrap_or_default();
    beginnings.fold(first, |known, other| {
        let shared = known.chars().zip(other.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
        head(&known, shared).to_owned()
    })
}

/// Holds a path against the parts; the captured places when it matches.
fn run(parts: &[Part], path: &str, variables: usize) -> Option<Vec<(usize, usize)>> {
    if let Some(Part::Text(end)) = parts.last()
        && !path.ends_with(end.as_str())
    {
        return None;
    }
    let wild = |part: &&Part| matches!(part, Part::Within | Part::Directories | Part::Rest | Part::Variable(..));
    let remembers = parts.iter().filter(wild).count() > WILDCARDS_PLAIN_MAX;
    let dead = if remembers { vec![false; (parts.len() + 1) * (path.len() + 1)] } else { Vec::new() };
    let mut attempt = Attempt { path, dead, spans: vec![(0, 0); variables] };
    attempt.from(parts, 0).then_some(attempt.spans)
}

/// One path held against one list of parts.
struct Attempt<'a> {
    path: &'a str,
    /// By parts left and place: from there it does not match. Empty where it is not worth it.
    dead: Vec<bool>,
    spans: Vec<(usize, usize)>,
}

impl Attempt<'_> {
    /// Whether the path matches from a place on. Recursion goes no deeper than there are parts.
    fn from(&mut self, parts: &[Part], at: usize) -> bool {
        let state = parts.len() * (self.path.len() + 1) + at;
        if self.dead.get(state).copied().unwrap_or_default() {
            return false;
        }
        let matches = self.step(parts, at);
        if !matches && let Some(dead) = self.dead.get_mut(state) {
            *dead = true;
        }
        matches
    }

    fn step(&mut self, parts: &[Part], at: usize) -> bool {
        let Some((part, rest)) = parts.split_first() else { return at == self.path.len() };
        let left = self.path.get(at..).unwrap_or_default();
        match part {
            Part::Text(text) => left.starts_with(text.as_str()) && self.from(rest, at + text.len()),
            Part::One => self.one(left, at, rest, |c| c != '/'),
            Part::Class(class) => self.one(left, at, rest, |c| c != '/' && class.holds(c)),
            Part::Rest => rest.is_empty(),
            Part::Within => self.ends(left, false, 0).any(|end| self.from(rest, at + end)),
            Part::Directories => {
                let ends = left.match_indices('/').map(|(end, _)| end + 1);
                std::iter::once(0).chain(ends).any(|end| self.from(rest, at + end))
            }
            Part::Variable(name, several) => self.ends(left, *several, 1).any(|end| {
                let matches = self.from(rest, at + end);
                if matches && let Some(span) = self.spans.get_mut(*name) {
                    *span = (at, at + end);
                }
                matches
            }),
        }
    }

    fn one(&mut self, left: &str, at: usize, rest: &[Part], fits: impl Fn(char) -> bool) -> bool {
        left.chars().next().is_some_and(|c| fits(c) && self.from(rest, at + c.len_utf8()))
    }

    /// Where a run of at least `min` characters may end, the longest first.
    fn ends<'t>(&self, left: &'t str, several: bool, min: usize) -> impl Iterator<Item = usize> + use<'t> {
        let end = if several { left.len() } else { left.find('/').unwrap_or(left.len()) };
        (min..=end).rev().filter(|end| left.is_char_boundary(*end))
    }
}

#[cfg(test)]
mod tests;
