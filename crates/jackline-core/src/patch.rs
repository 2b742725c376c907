//! The files that a patch names: in the `*** Begin Patch` form, or as a unified diff.

use crate::call::TOUCHES_MAX;
use crate::path::Role;

const HEADS: &[(&str, Role)] = &[
    ("*** Add File: ", Role::Write),
    ("*** Update File: ", Role::Write),
    ("*** Delete File: ", Role::Delete),
    ("*** Move to: ", Role::Write),
    ("+++ ", Role::Write),
    ("--- ", Role::Write),
    ("rename to ", Role::Write),
    ("rename from ", Role::Delete),
];

/// Every file that a patch may change. Lines of its content that look like a head count too: better one too many.
#[must_use]
pub(crate) fn files(patch: &str) -> Vec<(String, Role)> {
    patch.lines().flat_map(named).take(TOUCHES_MAX + 1).collect()
}

/// Who applies a patch may be lenient about blanks around its heads, so we are.
fn named(line: &str) -> Option<(String, Role)> {
    let line = line.trim();
    let (path, role) = HEADS.iter().find_map(|(head, role)| Some((line.strip_prefix(head)?, *role)))?;
    // A diff may have a time after the name, and puts a letter before it.
    let path = path.split('\t').next().unwrap_or_default().trim();
    let diff = line.starts_with("+++ ") || line.starts_with("--- ");
    let path = path.strip_prefix("a/").or(path.strip_prefix("b/")).filter(|_| diff).unwrap_or(path);
    (path != "/dev/null" && !path.is_empty()).then(|| (path.to_owned(), role))
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
        check("--- x\t2026-01-01\n+++ x\t2026-01-02\n", &[("x", Role::Write), ("x", Role::Write)]);
        check("--- a/x\n+++ /dev/null\n", &[("x", Role::Write)]);
        check("rename from x\nrename to y\n", &[("x", Role::Delete), ("y", Role::Write)]);
        check("+added\n-removed\n context\n", &[]);
    }
}
