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
    let mut reach: Vec<bool> = (0..=b.len()).map(|j| b.iter().take(j).all(|c| *c == '*')).collect();
    for x in a {
        let at = |row: &[bool], j: usize| row.get(j).copied().unwrap_or(false);
        let mut row = vec![x == '*' && at(&reach, 0)];
        for (j, y) in b.iter().enumerate() {
            let same = x == *y || x == '?' || *y == '?' || is_digit(x, *y) || is_digit(*y, x);
            let reached = match (x, *y) {
                ('*', _) | (_, '*') => at(&reach, j + 1) || at(&row, j) || at(&reach, j),
                _ => same && at(&reach, j),
            };
            row.push(reached);
        }
        reach = row;
    }
    reach.last().copied().unwrap_or(true)
}

/// Stands for any digit; no path has it.
const DIGIT: char = '\0';
/// How that is written.
const DIGITS: &str = "[0-9]";

fn is_digit(x: char, y: char) -> bool {
    x == DIGIT && y.is_ascii_digit()
}

/// The characters of a segment, cut with a `*` where brackets, braces or escapes begin.
fn simplified(segment: &str) -> Vec<char> {
    let mut simple = Vec::with_capacity(segment.len());
    let mut rest = segment;
    while let Some(cut) = rest.find(['[', '{', '\\']) {
        simple.extend(rest.get(..cut).unwrap_or_default().chars());
        match rest.get(cut..).and_then(|rest| rest.strip_prefix(DIGITS)) {
            Some(after) => rest = after,
            None => {
                simple.push('*');
                return simple;
            }
        }
        simple.push(DIGIT);
    }
    simple.extend(rest.chars());
    simple
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
        check("a.[0-9]", "a.[0-9]*.txt", false);
        check("a.[0-9]*", "a.[0-9]*.txt", true);
        assert!(overlaps_from_root("jackline.yaml", "*.yaml"));
        assert!(overlaps_from_root("jackline.yaml", "**/*.yaml"));
        assert!(!overlaps_from_root("jackline.yaml", "**/__pycache__/**"));
        assert!(!overlaps_from_root("jackline.yaml", "src/*"));
        assert!(overlaps_from_root(".mcp.json", Expanded { pattern: "**/*.json", dots: true }));
    }
}
