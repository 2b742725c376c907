//! The names nearest to a misspelled one.

/// Names longer than this are not compared; nobody misspells a kilobyte.
const NAME_CHARS_MAX: usize = 128;

/// Edits of a slip: one typed wrong, two swapped or left out. More is another word.
const SLIP_EDITS_MAX: usize = 2;

/// At most `max` of `known` that are near `name`, the nearest first.
pub fn names<'a>(name: &str, known: impl IntoIterator<Item = &'a str>, max: usize) -> Vec<&'a str> {
    if name.chars().nth(NAME_CHARS_MAX).is_some() {
        return Vec::new();
    }
    let length = name.chars().count();
    let limit = (length / 3).max(1);
    // A name that is longer or shorter by more than the limit cannot be near; most are not even compared.
    let comparable = known.into_iter().filter(|other| other.chars().count().abs_diff(length) <= limit);
    let mut near: Vec<(usize, &str)> =
        comparable.map(|other| (distance(name, other), other)).filter(|(far, _)| *far <= limit).collect();
    near.sort_unstable();
    near.truncate(max);
    near.into_iter().map(|(_, other)| other).collect()
}

/// The one of `known` that `name` is a slip of: near, and by no more than two edits.
pub fn slip<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    names(name, known, 1).into_iter().find(|other| distance(name, other) <= SLIP_EDITS_MAX)
}

/// Edits (insert, delete, replace, swap neighbours) between two names, ignoring case and `-`/`_`.
fn distance(a: &str, b: &str) -> usize {
    let fold = |text: &str| -> Vec<char> {
        text.chars().map(|c| if c == '-' { '_' } else { c.to_ascii_lowercase() }).collect()
    };
    let (a, b) = (fold(a), fold(b));
    let get = |row: &[usize], at: usize| row.get(at).copied().unwrap_or(usize::MAX / 2);
    let mut before: Vec<usize> = Vec::with_capacity(b.len() + 1);
    let mut row: Vec<usize> = (0..=b.len()).collect();
    let mut next: Vec<usize> = Vec::with_capacity(b.len() + 1);
    for (i, x) in a.iter().enumerate() {
        next.clear();
        next.push(i + 1);
        for (j, y) in b.iter().enumerate() {
            let mut best = (get(&row, j) + usize::from(x != y)).min(get(&row, j + 1) + 1).min(get(&next, j) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x);
            if swapped {
                best = best.min(get(&before, j - 1) + 1);
            }
            next.push(best);
        }
        std::mem::swap(&mut before, &mut row);
        std::mem::swap(&mut row, &mut next);
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, want: &[&str]) {
        assert_eq!(names(name, ["read_file", "write_file", "run", "Bash"], 3), want, "{name}");
    }

    #[test]
    fn near_names_are_found() {
        check("read_fil", &["read_file"]);
        check("raed_file", &["read_file"]);
        check("ReadFile", &["read_file"]);
        check("bash", &["Bash"]);
        check("deploy", &[]);
        check("", &[]);
        check(&"a".repeat(1_000_000), &[]);
        assert_eq!(names("polices", ["policies", "paths"], 1), ["policies"]);
    }
}
