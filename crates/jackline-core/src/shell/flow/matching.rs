//! How wildcards are matched where an option of the shell's has them match more than their text says.

use super::super::{Touch, Word};

/// Parts of a pattern that begin with a wildcard and are told apart, since their readings multiply; a pattern with more
/// is not known.
const WILD_PARTS_MAX: usize = 3;

/// What wildcards match besides what their text says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Matching {
    /// Hidden files.
    pub(super) hidden: bool,
    /// Letters whatever their case.
    caseless: bool,
    /// Nobody knows what.
    unknown: bool,
}

impl Matching {
    /// Options that the shell is told; one that is taken back may not have been in force.
    pub(super) fn told(&mut self, options: &[Word]) {
        for option in options {
            match option.text.to_ascii_lowercase().replace('_', "").as_str() {
                _ if !option.known() => self.unknown = true,
                "dotglob" | "globdots" => self.hidden = true,
                "nocaseglob" | "caseglob" => self.caseless = true,
                _ => {}
            }
        }
    }

    pub(super) const fn merge(&mut self, other: Self) {
        self.hidden |= other.hidden;
        self.caseless |= other.caseless;
        self.unknown |= other.unknown;
    }

    /// A touch of what a pattern may match, as touches of plainer patterns that together match no less.
    pub(super) fn widened(self, touch: Touch) -> Vec<Touch> {
        if !touch.path.glob || self == Self::default() {
            return vec![touch];
        }
        let mut texts = vec![touch.path.text.clone()];
        if self.caseless {
            texts.push(without_case(&touch.path.text));
        }
        let hidden: Option<Vec<Vec<String>>> = texts.iter().map(|text| with_hidden(text)).collect();
        let dynamic = touch.path.dynamic || self.unknown || self.hidden && hidden.is_none();
        if self.hidden {
            texts.extend(hidden.into_iter().flatten().flatten());
        }
        let path = |text: String| Word { text, dynamic, ..touch.path.clone() };
        texts.into_iter().map(|text| Touch { path: path(text), ..touch.clone() }).collect()
    }
}

fn is_wild(part: &str) -> bool {
    part.contains(['*', '?', '['])
}

/// The pattern with any character where a letter stands beside a wildcard.
fn without_case(pattern: &str) -> String {
    let any = |part: &str| match is_wild(part) && !part.contains('[') {
        true => part.chars().map(|c| if c.is_alphabetic() { '?' } else { c }).collect(),
        false if is_wild(part) => "*".to_owned(),
        false => part.to_owned(),
    };
    pattern.split('/').map(any).collect::<Vec<String>>().join("/")
}

/// The pattern as it is where some of the names it matches are hidden; nothing when there are too many ways.
fn with_hidden(pattern: &str) -> Option<Vec<String>> {
    let parts: Vec<&str> = pattern.split('/').collect();
    let begins = |part: &&str| **part != *"**" && part.starts_with(['*', '?', '[']);
    if parts.iter().filter(|part| begins(part)).count() > WILD_PARTS_MAX {
        return None;
    }
    let mut found: Vec<Vec<String>> = vec![Vec::new()];
    for part in parts {
        let ways = std::iter::once(part.to_owned()).chain(begins(&part).then(|| hidden(part)));
        let ways: Vec<String> = ways.collect();
        let longer = |so_far: &Vec<String>| {
            ways.iter().map(|way| [so_far.as_slice(), std::slice::from_ref(way)].concat()).collect::<Vec<_>>()
        };
        found = found.iter().flat_map(longer).collect();
    }
    // The first is the pattern itself.
    Some(found.into_iter().skip(1).map(|parts| parts.join("/")).collect())
}

/// A part that begins with a wildcard, as it matches what begins with a dot.
fn hidden(part: &str) -> String {
    let rest = match part.strip_prefix('[') {
        Some(class) => class.split_once(']').map_or("*", |(_, rest)| rest),
        None => part.strip_prefix('?').unwrap_or(part),
    };
    format!(".{rest}")
}
