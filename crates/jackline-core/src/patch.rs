//! The files that a patch names: in the `*** Begin Patch` form, or as a unified diff.

use crate::call::TOUCHES_MAX;
use crate::path::Role;

/// How a patch in the first form begins.
const BEGIN: &str = "*** Begin Patch";
/// The heads of that form. Who applies it may not ask for the blank that usually follows.
const HEADS: &[(&str, Role)] = &[
    ("*** Add File:", Role::Write),
    ("*** Update File:", Role::Write),
    ("*** Delete File:", Role::Delete),
    ("*** Move to:", Role::Write),
];
/// Other lines of that form, which name no file.
const MARKS: &[&str] = &[BEGIN, "*** End Patch", "*** End of File", "*** Environment ID:"];
/// How every line of that form begins that is no content.
const STARS: &str = "*** ";
/// The heads of a diff.
const DIFF_HEADS: &[(&str, Role)] =
    &[("+++ ", Role::Write), ("--- ", Role::Write), ("rename to ", Role::Write), ("rename from ", Role::Delete)];
/// The mark that some programs leave off with the blanks.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Every file that a patch may change. Lines of its content that look like a head count too: better one too many.
#[must_use]
pub(crate) fn files(patch: &str) -> Vec<(String, Role)> {
    lines(patch)
        .map(trimmed)
        .flat_map(|line| named(line).or_else(|| named_in_diff(line)).unwrap_or_default())
        .take(TOUCHES_MAX + 1)
        .collect()
}

/// Whether a text is a patch in the first form.
#[must_use]
pub(crate) fn is_one(text: &str) -> bool {
    lines(text).any(|line| trimmed(line).starts_with(BEGIN))
}

/// Whether a text is a unified diff: a file's two heads stand one behind the other, or git's own head stands there.
#[must_use]
pub(crate) fn is_diff(text: &str) -> bool {
    let heads = |(first, second): (&str, &str)| first.starts_with("--- ") && second.starts_with("+++ ");
    let full = || lines(text).filter(|line| !line.is_empty());
    full().zip(full().skip(1)).any(heads) || full().any(|line| line.starts_with("diff --git "))
}

/// Whether a patch has a line that must be a head, and is none that we know: it may name a file.
#[must_use]
pub(crate) fn is_odd(patch: &str) -> bool {
    let known = |line: &str| {
        MARKS.iter().any(|mark| line.starts_with(mark)) || HEADS.iter().any(|(head, _)| line.starts_with(head))
    };
    lines(patch).any(|line| line.starts_with(STARS) && !known(line))
}

/// Some programs take a lone carriage return for the end of a line.
fn lines(patch: &str) -> impl Iterator<Item = &str> {
    patch.split(['\n', '\r'])
}

/// Who applies a patch may be lenient about blanks around its heads and names, so we are.
fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == BYTE_ORDER_MARK)
}

fn named(line: &str) -> Option<Vec<(String, Role)>> {
    let (path, role) = HEADS.iter().find_map(|(head, role)| Some((trimmed(line.strip_prefix(head)?), *role)))?;
    Some(if path.is_empty() { Vec::new() } else { vec![(path.to_owned(), role)] })
}

/// A diff may have a time after the name, and puts a letter before it; a name may hold what stands before a time.
fn named_in_diff(line: &str) -> Option<Vec<(String, Role)>> {
    let (head, role) = DIFF_HEADS.iter().find(|(head, _)| line.starts_with(head))?;
    let whole = line.strip_prefix(head)?;
    let lettered = head.starts_with(['+', '-']);
    let short = whole.split('\t').next().unwrap_or_default();
    let mut readings = vec![trimmed(short), trimmed(whole)];
    readings.dedup();
    let plain = |path: &'_ str| -> String {
        let bare = path.strip_prefix("a/").or(path.strip_prefix("b/")).filter(|_| lettered);
        bare.unwrap_or(path).to_owned()
    };
    let told = readings.into_iter().filter(|path| !path.is_empty() && *path != "/dev/null");
    Some(told.map(|path| (plain(path), *role)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(patch: &str, want: &[(&str, Role)]) {
        let found = files(patch);
        let found: Vec<_> = found.iter().map(|(path, role)| (path.as_str(), *role)).collect();
        assert_eq!(found, want, "{patch}");
    }

    #[test]
    fn heads_are_found_however_they_are_set() {
        check(
            "*** Begin Patch\n*** Update File: a\n@@\n-x\n*** Delete File: b\n",
            &[("a", Role::Write), ("b", Role::Delete)],
        );
        check("  *** Update File: a  \n\t*** Move to: b\n", &[("a", Role::Write), ("b", Role::Write)]);
        check("--- a/x\n+++ b/x\n@@ -1 +1 @@\n", &[("x", Role::Write), ("x", Role::Write)]);
        check("--- x\t2026\n", &[("x", Role::Write), ("x\t2026", Role::Write)]);
        check("--- a/x\n+++ /dev/null\n", &[("x", Role::Write)]);
        check("rename from x\nrename to y\n", &[("x", Role::Delete), ("y", Role::Write)]);
        check("+added\n-removed\n context\n", &[]);
    }

    #[test]
    fn a_name_is_all_that_stands_behind_its_head() {
        check("*** Add File: x\t/../jackline.yaml\n", &[("x\t/../jackline.yaml", Role::Write)]);
        check("*** Add File:a\n*** Move to:\tb\n", &[("a", Role::Write), ("b", Role::Write)]);
        check("*** Delete File:\u{feff}a\n", &[("a", Role::Delete)]);
        check("*** Begin Patch\r*** Add File: a\r+x\r", &[("a", Role::Write)]);
    }

    #[test]
    fn a_head_that_is_not_known_may_name_a_file() {
        assert!(is_odd("*** Begin Patch\n*** Copy File: a\n*** End Patch\n"));
        assert!(!is_odd(
            "*** Begin Patch\n*** Update File: a\n@@\n *** a rule\n+*** another\n*** End of File\n*** End Patch"
        ));
        assert!(is_one("\n*** Begin Patch\n") && !is_one("a text of *** Begin Patch"));
    }
}
