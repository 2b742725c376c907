//! Functions of OPA that a policy may know and that are not here: found before the first call that would need them.

use super::words::{blanked, calls};

/// Families of functions none of which is here, but for those of [`PRESENT`].
const ABSENT: &[&str] = &[
    "base64",
    "base64url",
    "crypto",
    "graph",
    "graphql",
    "hex",
    "http",
    "io",
    "net",
    "opa",
    "providers",
    "rand",
    "rego",
    "semver",
    "time",
    "units",
    "urlquery",
    "uuid",
    "yaml",
];
/// The exceptions: the time is the event's.
const PRESENT: &[&str] = &["time.now_ns"];

/// The first call of a function that is not here, with its line and column.
///
/// Reads words only, outside of strings and comments; a family's name that the policy imports is the policy's own.
pub(super) fn builtin(text: &str) -> Option<(String, (u32, u32))> {
    let code = blanked(text);
    let imported = |family: &str| {
        let mut imports = code.lines().filter_map(|line| line.trim().strip_prefix("import "));
        imports.any(|import| import.split(['.', ' ']).next_back() == Some(family))
    };
    (1..).zip(code.lines()).find_map(|(line, code)| {
        let (name, column) = calls(code).find(|(name, _)| {
            let family = name.split('.').next().unwrap_or_default();
            ABSENT.contains(&family) && name.contains('.') && !PRESENT.contains(name) && !imported(family)
        })?;
        Some((name.to_owned(), (line, u32::try_from(column).unwrap_or(u32::MAX))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Option<(&str, (u32, u32))>) {
        assert_eq!(builtin(text), want.map(|(name, place)| (name.to_owned(), place)), "{text}");
    }

    #[test]
    fn functions_that_are_not_here_are_found_where_they_are_called() {
        check("package jackline\nx := http.send({})\n", Some(("http.send", (2, 6))));
        check("x if time.parse_rfc3339_ns(\"a\") > 1", Some(("time.parse_rfc3339_ns", (1, 6))));
        check("x := rand.intn(\"a\", 2)", Some(("rand.intn", (1, 6))));
        check("x := \"ж\"\ny := [\"é\", uuid.rfc4122(\"a\")]", Some(("uuid.rfc4122", (2, 12))));
    }

    #[test]
    fn what_only_looks_like_one_is_left_alone() {
        check("x := time.now_ns()", None);
        check("# http.send(1)\nx := \"http.send(1) \\\" net.x(\" # `", None);
        check("x := `raw http.send(`", None);
        check("import data.jackline.net\nx := net.ours(1)", None);
        check("x := input.http.y; count(time)", None);
        check("x := lower(input.net.name)", None);
    }
}
