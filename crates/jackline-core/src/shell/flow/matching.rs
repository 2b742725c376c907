//! How wildcards are matched where an option of the shell's has them match more than their text says.

use super::super::{Touch, Word};

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
        let (dynamic, dots) = (touch.path.dynamic || self.unknown, touch.path.dots || self.hidden);
        let path = |text: String| Word { text, dynamic, dots, ..touch.path.clone() };
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
