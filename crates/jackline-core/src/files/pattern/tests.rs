//! Patterns: tables, faults, and a slow matcher that the fast one must agree with.

use super::*;
use proptest::prelude::*;

#[track_caller]
fn check(pattern: &str, path: &str, want: bool) {
    let read = Pattern::glob(pattern).unwrap_or_else(|why| panic!("{pattern} {why}"));
    assert_eq!(read.matches(path), want, "{pattern} over {path}");
}

#[test]
fn globs_are_ordinary_and_anchored() {
    for (pattern, path, want) in [
        ("README.md", "README.md", true),
        ("README.md", "docs/README.md", false),
        ("*.py", "a.py", true),
        ("*.py", "src/a.py", false),
        ("src/*.py", "src/a.py", true),
        ("src/*.py", "src/x/a.py", false),
        ("src/**/*.py", "src/a.py", true),
        ("src/**/*.py", "src/x/y/a.py", true),
        ("src/**/*.py", "src.py", false),
        ("src/**", "src/a/b", true),
        ("src/**", "srcs/a", false),
        ("**", "a/b", true),
        ("**/*", "a/b", true),
        ("**/*.md", "a.md", true),
        ("**/migrations/**", "migrations/1.py", true),
        ("**/migrations/**", "a/migrations/b/1.py", true),
        ("src/**/test/**/*.py", "src/test/x.py", true),
        ("src/**/test/**/*.py", "src/a/test/x/y.py", true),
        ("a**b", "axb", true),
        ("a**b", "a/b", false),
        ("src*/**", "src1/a", true),
        ("a?c", "abc", true),
        ("a?c", "a/c", false),
        ("[ab].py", "a.py", true),
        ("[!ab].py", "a.py", false),
        ("*.{js,ts}", "a.ts", true),
        ("*.{js,ts}", "a.tsx", false),
        ("{a,b/c}/d", "b/c/d", true),
        ("docs/**", "docs/é ü.md", true),
        ("docs/é?ü.md", "docs/é ü.md", true),
        ("\\*", "*", true),
        ("\\{a\\}", "{a}", true),
        (".env*", ".env", true),
    ] {
        check(pattern, path, want);
    }
}

#[track_caller]
fn check_captures(pattern: &str, path: &str, want: Option<&[(&str, &str)]>) {
    let seen = Pattern::capturing(pattern).unwrap_or_else(|why| panic!("{pattern} {why}")).captures(path);
    let want: Option<Captures> =
        want.map(|want| want.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect());
    assert_eq!(seen, want, "{pattern} over {path}");
}

#[test]
fn variables_capture_greedily_and_never_nothing() {
    check_captures("src/{path}.py", "src/a.py", Some(&[("path", "a")]));
    check_captures("src/{path}.py", "src/a/b.py", Some(&[("path", "a/b")]));
    check_captures("src/{path}.py", "src/.py", None);
    check_captures("src/{name}.py", "src/a/b.py", None);
    check_captures("src/{any}/{**deep}.py", "src/a/b/c.py", Some(&[("any", "a"), ("deep", "b/c")]));
    check_captures("{a}_{b}.py", "x_y_z.py", Some(&[("a", "x_y"), ("b", "z")]));
    check_captures("src/{path}_test.py", "src/a_test_test.py", Some(&[("path", "a_test")]));
    check_captures("{*}.py", "a.py", Some(&[("name", "a")]));
    check_captures("{**}.py", "a/b.py", Some(&[("path", "a/b")]));
    check_captures("{*x}/{**}.py", "a/b/c.py", Some(&[("x", "a"), ("path", "b/c")]));
    check_captures("web/{feature}/**/*", "web/login/a/b.ts", Some(&[("feature", "login")]));
    check_captures("src/{path}.{js,ts}", "src/a.ts", Some(&[("path", "a")]));
    check_captures("é/{path}", "é/ü", Some(&[("path", "ü")]));
}

#[track_caller]
fn check_filled(pattern: &str, captures: &[(&str, &str)], want: (&str, bool)) {
    let captures: Captures = captures.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let filled = Pattern::capturing(pattern).unwrap().filled(&captures);
    assert_eq!((filled.text(), filled.exact().is_some()), want, "{pattern}");
}

#[test]
fn what_was_captured_is_put_in_once_and_is_no_pattern() {
    check_filled("tests/{path}_test.py", &[("path", "a/b")], ("tests/a/b_test.py", true));
    check_filled("{a}/{b}", &[("a", "{b}"), ("b", "x")], ("{b}/x", true));
    check_filled("{a}/{b}/*", &[("a", "{b}"), ("b", "x")], ("{b}/x/*", false));
    check_filled("t/{*}.py", &[("name", "a")], ("t/a.py", true));
    check_filled("t/{path}.{js,ts}", &[("path", "a")], ("t/a.{js,ts}", false));
    let star = Pattern::capturing("t/{path}").unwrap().filled(&vec![("path".to_owned(), "*".to_owned())]);
    assert!(star.matches("t/*") && !star.matches("t/a"));
}

#[track_caller]
fn check_fault(pattern: &str, want: &str) {
    let fault = Pattern::capturing(pattern).expect_err(pattern);
    assert!(fault.contains(want), "{pattern}: {fault}");
    assert!(!fault.contains('\n') && !fault.ends_with('.'), "{fault}");
}

#[test]
fn every_fault_is_found_when_it_is_read() {
    for bad in ["src/{my-var}.py", "{1a}", "{a b}", "{}", "{***}"] {
        check_fault(bad, "name has letters");
    }
    check_fault("{{a}}", "inside alternatives");
    check_fault("{{a,b}}", "without a comma");
    check_fault("{x,{path}}", "inside alternatives");
    check_fault("{*}/{*name}", "`name` twice");
    check_fault("{path}/{**}", "`path` twice");
    check_fault("src/{path.py", "unclosed brace");
    check_fault("src/{a,b", "unclosed brace");
    check_fault("a}", "nothing opened");
    check_fault("[a", "unclosed bracket");
    check_fault("a\\", "escapes nothing");
    check_fault("", "empty");
    check_fault("/src/*", "begins with `/`");
    check_fault("src/", "`/**`");
    check_fault("src//a", "`//`");
    check_fault("../a", "`..`");
    check_fault("a/./b", "`.`");
    check_fault("a\nb", "control");
    check_fault(&"a".repeat(PATTERN_CHARS_MAX + 1), "longer than");
    check_fault(&"{a,b}".repeat(20), "more than 64");
    check_fault(&format!("{{{}a}}{}", "a,".repeat(30), "b".repeat(900)), "more than 8192 characters");
    check_fault(&(0..20).map(|n| format!("{{v{n}}}/")).collect::<String>(), "ends with");
    check_fault(&(0..20).map(|n| format!("{{v{n}}}")).collect::<String>(), "more than 16");
    assert!(Pattern::glob("src/{path}.py").unwrap_err().contains("means nothing here"));
}

#[test]
fn hostile_patterns_end_soon() {
    let path = "a/".repeat(1000) + "a";
    assert!(!Pattern::glob(&format!("{}b", "**/*a*/".repeat(100))).unwrap().matches(&path));
    assert!(!Pattern::capturing("{**a}a{**b}a{**c}a{**d}b").unwrap().matches(&path));
}

/// Tries everything, slowly: what the matcher must agree with. Segment by segment, as a shell does it.
fn naive(pattern: &[&str], path: &[&str]) -> bool {
    match pattern {
        [] => path.is_empty(),
        ["**"] => !path.is_empty(),
        ["**", rest @ ..] => (0..=path.len()).any(|end| naive(rest, &path[end..])),
        [one, rest @ ..] => {
            !path.is_empty() && naive_text(one.as_bytes(), path[0].as_bytes()) && naive(rest, &path[1..])
        }
    }
}

fn naive_text(pattern: &[u8], text: &[u8]) -> bool {
    match pattern {
        [] => text.is_empty(),
        [b'*', rest @ ..] => (0..=text.len()).any(|end| naive_text(rest, &text[end..])),
        [b'?', rest @ ..] => !text.is_empty() && naive_text(rest, &text[1..]),
        [c, rest @ ..] => text.first() == Some(c) && naive_text(rest, &text[1..]),
    }
}

/// All ways in which `{a}` (one segment) and `{**b}` (several) split a text, the greediest first.
fn naive_captures(pattern: &[&str], text: &str) -> Option<Vec<String>> {
    let Some((first, rest)) = pattern.split_first() else { return text.is_empty().then(Vec::new) };
    match *first {
        "{a}" | "{**b}" => (1..=text.len()).rev().find_map(|end| {
            let (taken, left) = text.split_at(end);
            if *first == "{a}" && taken.contains('/') {
                return None;
            }
            let mut all = naive_captures(rest, left)?;
            all.insert(0, taken.to_owned());
            Some(all)
        }),
        literal => naive_captures(rest, text.strip_prefix(literal)?),
    }
}

fn segment() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[ab?]{1,2}", 2 => "[ab]?\\*[ab]?", 2 => Just("**".to_owned()), 1 => Just("*a*b".to_owned())]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_trying_everything(
        pattern in prop::collection::vec(segment(), 1..6),
        path in prop::collection::vec("[ab]{1,3}", 1..6),
    ) {
        let (text, whole) = (pattern.join("/"), path.join("/"));
        let pattern: Vec<&str> = pattern.iter().map(String::as_str).collect();
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let seen = Pattern::glob(&text).unwrap().matches(&whole);
        prop_assert_eq!(seen, naive(&pattern, &path), "{} over {}", text, whole);
    }

    #[test]
    fn captures_agree_with_trying_everything(
        before in "[ab]{0,1}", between in "[ab/_]{0,2}", after in "[ab]{0,2}",
        path in "[ab_]{1,3}(/[ab_]{1,3}){0,3}", turned in any::<bool>(),
    ) {
        let (first, second) = if turned { ("{a}", "{**b}") } else { ("{**b}", "{a}") };
        let parts = [before.as_str(), first, between.as_str(), second, after.as_str()];
        let Ok(pattern) = Pattern::capturing(&parts.concat()) else { return Ok(()) };
        let seen = pattern.captures(&path).map(|all| all.into_iter().map(|(_, value)| value).collect::<Vec<_>>());
        prop_assert_eq!(seen, naive_captures(&parts, &path), "{} over {}", pattern.text(), path);
    }

    #[test]
    fn what_matches_is_filled_to_itself(pattern in "[ab]{0,1}\\{a\\}[ab/_]{0,2}\\{\\*\\*b\\}", path in "[ab_/]{1,9}") {
        let Ok(pattern) = Pattern::capturing(&pattern) else { return Ok(()) };
        if let Some(captures) = pattern.captures(&path) {
            let filled = pattern.filled(&captures);
            prop_assert_eq!(filled.exact(), Some(path.as_str()));
        }
    }

    #[test]
    fn nothing_written_makes_it_panic(pattern in ".{0,40}", path in ".{0,40}") {
        let Ok(pattern) = Pattern::capturing(&pattern) else { return Ok(()) };
        if let Some(captures) = pattern.captures(&path) {
            let _ = pattern.filled(&captures);
        }
    }
}
