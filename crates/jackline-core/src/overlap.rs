//! Whether two patterns may match the same path: one that protects, and one that a shell will expand.
//!
//! Errs toward yes: brackets and braces count as any text, but for a digit.

/// Segments looked at; a pattern with more overlaps with everything.
const SEGMENTS_MAX: usize = 64;

/// Whether some path may match both the protecting `pattern` and the shell's `expanded`, both seen from one root.
///
/// As in a shell, a wildcard at the start of a segment of `expanded` does not match a leading dot, unless it says so.
#[must_use]
pub(crate) fn overlaps<'a>(pattern: &str, expanded: impl Into<Expanded<'a>>) -> bool {
    let anywhere = (!pattern.trim_end_matches('/').contains('/')).then_some("**");
    segments_overlap(anywhere.into_iter().chain(segments(pattern)).collect(), expanded.into())
}

/// The same for a pattern that stands for a path from the root even without a `/`.
#[must_use]
pub fn overlaps_from_root<'a>(pattern: &str, expanded: impl Into<Expanded<'a>>) -> bool {
    segments_overlap(segments(pattern).collect(), expanded.into())
}

/// A pattern that will be expanded.
#[derive(Debug, Clone, Copy)]
pub struct Expanded<'a> {
    pub pattern: &'a str,
    /// Whether its wildcards stand for hidden names, too.
    pub dots: bool,
}

impl<'a> From<&'a str> for Expanded<'a> {
    fn from(pattern: &'a str) -> Self {
        Self { pattern, dots: false }
    }
}

impl<'a> From<&'a String> for Expanded<'a> {
    fn from(pattern: &'a String) -> Self {
        Self::from(pattern.as_str())
    }
}

fn segments_overlap(a: Vec<&str>, expanded: Expanded<'_>) -> bool {
    let b: Vec<&str> = segments(expanded.pattern).collect();
    if a.len() > SEGMENTS_MAX || b.len() > SEGMENTS_MAX {
        return true;
    }
    // reach[j]: the segments of `a` so far can stand against the first j of `b`.
    let mut reach: Vec<bool> = (0..=b.len()).map(|j| b.iter().take(j).all(|segment| *segment == "**")).collect();
    for segment in a {
        reach = next_row(&reach, segment, (&b, expanded.dots));
    }
    reach.last().copied().unwrap_or(true)
}

fn next_row(reach: &[bool], segment: &str, (b, dots): (&[&str], bool)) -> Vec<bool> {
    let at = |row: &[bool], j: usize| row.get(j).copied().unwrap_or(false);
    let mut row: Vec<bool> = vec![segment == "**" && at(reach, 0)];
    for (j, other) in b.iter().enumerate() {
        let both = segment_overlaps(segment, other, dots) && at(reach, j);
        let reached = match (segment, *other) {
            ("**", "**") => at(reach, j + 1) || at(&row, j) || at(reach, j),
            ("**", _) => at(reach, j + 1) || at(&row, j),
            (_, "**") => at(&row, j) || at(reach, j + 1) || at(reach, j),
            _ => both,
        };
        row.push(reached);
    }
    row
}

fn segments(pattern: &str) -> impl Iterator<Item = &str> {
    pattern.split('/').filter(|segment| !segment.is_empty() && *segment != ".")
}

fn segment_overlaps(pattern: &str, expanded: &str, dots: bool) -> bool {
    let hidden = !dots && pattern.starts_with('.') && expanded.starts_with(['*', '?', '[']);
    !hidden && texts_overlap(pattern, expanded)
}

/// Whether some text may match both patterns, in which `*` stands for any text.
#[must_use]
pub fn texts_overlap(pattern: &str, expanded: &str) -> bool {
    let (a, b) = (simplified(pattern), simplified(expanded));
    let mut reach: Vec<bool> = (0..=b.len()).map(|j| b.iter().take(j).all(|part| *part == Part::Any)).collect();
    for x in a {
        let at = |row: &[bool], j: usize| row.get(j).copied().unwrap_or(false);
        let mut row = vec![x == Part::Any && at(&reach, 0)];
        for (j, y) in b.iter().enumerate() {
            let reached = match (&x, y) {
                (Part::Any, _) | (_, Part::Any) => at(&reach, j + 1) || at(&row, j) || at(&reach, j),
                _ => x.meets(y) && at(&reach, j),
            };
            row.push(reached);
        }
        reach = row;
    }
    reach.last().copied().unwrap_or(true)
}

/// What a piece of a pattern stands for.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    /// Any text.
    Any,
    /// Any character.
    One,
    Letter(char),
    /// A character of one of these ranges.
    Class(Vec<(char, char)>),
}

impl Part {
    /// Whether a character may be what both stand for.
    fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Letter(one), Self::Letter(another)) => one == another,
            (Self::Letter(letter), Self::Class(ranges)) | (Self::Class(ranges), Self::Letter(letter)) => {
                ranges.iter().any(|range| is_in(*range, *letter))
            }
            (Self::Any | Self::One | Self::Class(_), _) | (_, Self::Any | Self::One) => true,
        }
    }
}

/// In some languages' order of letters a range of one case holds those of the other.
fn is_in((first, last): (char, char), letter: char) -> bool {
    let cases = [letter, letter.to_ascii_lowercase(), letter.to_ascii_uppercase()];
    match first == last {
        true => letter == first,
        false => cases.iter().any(|case| (first..=last).contains(case)),
    }
}

/// The pieces of a segment, cut with any text where braces, escapes or unusual brackets begin.
fn simplified(segment: &str) -> Vec<Part> {
    let mut simple = Vec::with_capacity(segment.len());
    let mut rest = segment.chars();
    while let Some(letter) = rest.next() {
        simple.push(match letter {
            '*' => Part::Any,
            '?' => Part::One,
            '[' => match class(rest.as_str()) {
                Some((class, behind)) => {
                    rest = behind.chars();
                    class
                }
                None => Part::Any,
            },
            '{' | '\\' => Part::Any,
            letter => Part::Letter(letter),
        });
        let was_cut = matches!(letter, '{' | '\\') || letter == '[' && simple.last() == Some(&Part::Any);
        if was_cut {
            break;
        }
    }
    simple
}

/// What brackets stand for, and what is behind them; nothing where they hold names of classes or escapes.
fn class(text: &str) -> Option<(Part, &str)> {
    let inner = text.strip_prefix(['!', '^']).unwrap_or(text);
    // A bracket that closes is itself one of the characters where it comes first.
    let first = inner.chars().next()?;
    let end = first.len_utf8() + inner.get(first.len_utf8()..)?.find(']')?;
    let (letters, behind) = (inner.get(..end)?, inner.get(end + 1..)?);
    if letters.contains(['[', '\\']) {
        return None;
    }
    if inner.len() < text.len() {
        return Some((Part::One, behind));
    }
    let (mut ranges, mut rest) = (Vec::new(), letters.chars());
    while let Some(first) = rest.next() {
        let mut ahead = rest.clone();
        match (ahead.next(), ahead.next()) {
            (Some('-'), Some(last)) => {
                ranges.push((first, last));
                rest = ahead;
            }
            _ => ranges.push((first, first)),
        }
    }
    Some((Part::Class(ranges), behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, expanded: &str, want: bool) {
        assert_eq!(overlaps(pattern, expanded), want, "{pattern} and {expanded}");
    }

    #[test]
    fn patterns_meet_or_do_not() {
        check("infra/prod/**", "infra/**", true);
        check("infra/prod/**", "infra/prod/*.tf", true);
        check("infra/prod/**", "infra/dev/*", false);
        check("infra/prod/**", "**", true);
        check("jackline.yaml", "*.o", false);
        check("jackline.yaml", "*", true);
        check("jackline.yaml", "*.y*", true);
        check("jackline.yaml", "src/*", true);
        check(".env*", "*", false);
        check(".env*", ".*", true);
        check(".env*", "src/**", true);
        check("a/b", "a/*", true);
        check("a/b", "a/*/c", false);
        check("secret/{a,b}", "secret/x*", true);
        check("*.key", "*.pem", false);
        check("log.1*", "log.[0-9]*", true);
        check("log.x", "log.[0-9]*", false);
        check("jackline.yaml", "[0-9]*", false);
        check("jackline.yaml", "[0-z]*", true);
        check("jackline.yaml", "[A-Z]*", true);
        check("jackline.yaml", "[A-Z]*.md", false);
        check("jackline.yaml", "[Bb]uild", false);
        check("jackline.yaml", "[Jj]ack*", true);
        check("jackline.yaml", "[!x]ackline.yaml", true);
        check("jackline.yaml", "[]j]*", true);
        check("jackline.yaml", "[]k]*", false);
        check("jackline.yaml", "[k-]*", false);
        check("jackline.yaml", "[[:upper:]]*.md", true);
        check("jackline.yaml", "jackline.yam[", true);
        check("a.[0-9]", "a.[0-9]*.txt", false);
        check("a.[0-9]*", "a.[0-9]*.txt", true);
        assert!(overlaps_from_root("jackline.yaml", "*.yaml"));
        assert!(overlaps_from_root("jackline.yaml", "**/*.yaml"));
        assert!(!overlaps_from_root("jackline.yaml", "**/__pycache__/**"));
        assert!(!overlaps_from_root("jackline.yaml", "src/*"));
        assert!(overlaps_from_root(".mcp.json", Expanded { pattern: "**/*.json", dots: true }));
    }
}
