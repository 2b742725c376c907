//! Which policies fire for which changes: every mode, and what the older system got wrong.

use super::*;

fn policy(front: &str) -> Policy {
    Policy::parse("p", &format!("---\n{front}\n---\nbody\n")).unwrap_or_else(|faults| panic!("{front}: {faults:?}"))
}

fn changes(files: &[&str]) -> Changes {
    let changed = |file: &&str| match file.strip_prefix('+') {
        Some(path) => Changed { path: path.to_owned(), created: true },
        None => Changed { path: (*file).to_owned(), created: false },
    };
    Changes::new(files.iter().map(changed).collect())
}

/// The state, the trigger files and the pairs.
type Want<'a> = (State, &'a [&'a str], &'a [(&'a str, &'a str)]);

/// What fires: `None` when the policy is about no file, else the state, trigger files and pairs.
#[track_caller]
fn check(front: &str, files: &[&str], want: Option<Want<'_>>) {
    let seen = detect(&policy(front), &changes(files));
    let seen = seen.as_ref().map(|seen| {
        let pairs: Vec<(&str, &str)> = seen.pairs.iter().map(|pair| (pair.from.as_str(), pair.to.as_str())).collect();
        (seen.state, seen.trigger_files.iter().map(String::as_str).collect::<Vec<_>>(), pairs)
    });
    let want = want.map(|(state, files, pairs)| (state, files.to_vec(), pairs.to_vec()));
    assert_eq!(seen, want, "{front} for {files:?}");
}

const SET: &str = "set: ['src/{path}.py', 'tests/{path}_test.py']";
const PAIR: &str = "pair: {trigger: 'api/{path}.py', expects: ['docs/api/{path}.md', 'schemas/{path}.json']}";

#[test]
fn a_set_asks_both_ways() {
    check(SET, &["src/a.py"], Some((State::Fires, &["src/a.py"], &[("src/a.py", "tests/a_test.py")])));
    check(SET, &["tests/a_test.py"], Some((State::Fires, &["tests/a_test.py"], &[("tests/a_test.py", "src/a.py")])));
    check(SET, &["src/a.py", "tests/a_test.py"], Some((State::Met, &["src/a.py", "tests/a_test.py"], &[])));
    check(SET, &["README.md"], None);
    check(SET, &["src/x/y.py"], Some((State::Fires, &["src/x/y.py"], &[("src/x/y.py", "tests/x/y_test.py")])));
}

#[test]
fn only_what_answers_meets() {
    let (set, all) = (policy(SET), changes(&["src/a.py", "src/b.py", "tests/a_test.py", "tests/b_test.py"]));
    let among = |answers: fn(&str, &str) -> bool| detect_among(&set, &all, |path| path.starts_with("src"), answers);
    assert_eq!(among(|_, _| true).unwrap().state, State::Met);
    let seen = among(|asking, _| asking != "src/a.py").unwrap();
    assert_eq!((seen.state, seen.trigger_files), (State::Fires, vec!["src/a.py".to_owned()]));
    let safe = policy("trigger: src/**\nsafety: tests/**");
    let among = |answers: fn(&str, &str) -> bool| detect_among(&safe, &all, |_| true, answers).unwrap().state;
    assert_eq!(among(|_, _| true), State::Safe);
    assert_eq!(among(|asking, _| asking != "src/a.py"), State::Fires);
}

#[test]
fn correspondences_are_listed_one_by_one() {
    check(
        SET,
        &["src/a.py", "src/b.py"],
        Some((
            State::Fires,
            &["src/a.py", "src/b.py"],
            &[("src/a.py", "tests/a_test.py"), ("src/b.py", "tests/b_test.py")],
        )),
    );
    check(
        SET,
        &["src/a.py", "src/b.py", "tests/b_test.py"],
        Some((State::Fires, &["src/a.py"], &[("src/a.py", "tests/a_test.py")])),
    );
}

#[test]
fn a_set_of_three_and_one_without_variables() {
    let three = "set: ['a/{name}.x', 'b/{name}.y', 'c/{name}.z']";
    check(
        three,
        &["a/q.x", "b/q.y"],
        Some((State::Fires, &["a/q.x", "b/q.y"], &[("a/q.x", "c/q.z"), ("b/q.y", "c/q.z")])),
    );
    let plain = "set: [package.json, package-lock.json]";
    check(plain, &["package.json"], Some((State::Fires, &["package.json"], &[("package.json", "package-lock.json")])));
    check(
        plain,
        &["package.json", "package-lock.json"],
        Some((State::Met, &["package-lock.json", "package.json"], &[])),
    );
}

#[test]
fn a_pair_asks_one_way() {
    check(
        PAIR,
        &["api/users.py", "docs/api/users.md"],
        Some((State::Fires, &["api/users.py"], &[("api/users.py", "schemas/users.json")])),
    );
    check(PAIR, &["docs/api/users.md", "schemas/users.json"], None);
    check(PAIR, &["api/u.py", "docs/api/u.md", "schemas/u.json"], Some((State::Met, &["api/u.py"], &[])));
}

#[test]
fn wildcards_beside_variables_are_met_by_any_file() {
    let set = "set: ['backend/api/{feature}/**/*', 'web/{feature}/**/*']";
    check(
        set,
        &["backend/api/login/a.py"],
        Some((State::Fires, &["backend/api/login/a.py"], &[("backend/api/login/a.py", "web/login/**/*")])),
    );
    check(
        set,
        &["backend/api/login/a.py", "web/login/x/y.ts"],
        Some((State::Met, &["backend/api/login/a.py", "web/login/x/y.ts"], &[])),
    );
    let kinds = "pair: {trigger: 'src/{path}.ts', expects: 'test/{path}.{js,ts}'}";
    check(kinds, &["src/a.ts", "test/a.js"], Some((State::Met, &["src/a.ts"], &[])));
    check(kinds, &["src/a.ts"], Some((State::Fires, &["src/a.ts"], &[("src/a.ts", "test/a.{js,ts}")])));
}

#[test]
fn a_trigger_fires_unless_a_safety_pattern_matches() {
    let front = "trigger: src/**/*.py\nsafety: README.md";
    check(front, &["src/a.py"], Some((State::Fires, &["src/a.py"], &[])));
    check(front, &["src/a.py", "README.md"], Some((State::Safe, &["src/a.py"], &[])));
    check(front, &["src/a.py", "docs/README.md"], Some((State::Fires, &["src/a.py"], &[])));
    check(front, &["README.md"], None);
    let several = "trigger: ['src/**', '*.toml']";
    check(several, &["a.toml", "src/b", "c"], Some((State::Fires, &["a.toml", "src/b"], &[])));
    check(
        "trigger: docs/**",
        &["docs/é ü.md", "docs/sp ace.md"],
        Some((State::Fires, &["docs/sp ace.md", "docs/é ü.md"], &[])),
    );
}

#[test]
fn created_is_about_new_files_only() {
    let front = "created: src/**/*.py\ncompare_to: prompt";
    check(front, &["src/a.py", "+src/new.py"], Some((State::Fires, &["src/new.py"], &[])));
    check(front, &["src/a.py"], None);
}

#[test]
fn a_directory_that_cannot_be_listed_may_hide_what_is_asked_about() {
    let closed = ["src/new".to_owned()];
    let fires = |front: &str, files: &[&str]| {
        let policy = policy(front);
        let seen = with_closed(&policy, detect(&policy, &changes(files)), &closed);
        seen.map(|seen| (seen.state, seen.trigger_files))
    };
    let hidden = |more: &[&str]| {
        Some((State::Fires, more.iter().chain(&["src/new"]).map(|file| (*file).to_owned()).collect::<Vec<_>>()))
    };
    for front in ["trigger: src/**/*.py", "trigger: '**/*.py'", "created: src/new/a/*.py", SET] {
        assert_eq!(fires(front, &[]), hidden(&[]), "{front}");
    }
    for front in ["trigger: docs/**", "trigger: src/newer/**", PAIR] {
        assert_eq!(fires(front, &[]), None, "{front}");
    }
    assert_eq!(fires("trigger: src/**", &["src/a"]), hidden(&["src/a"]));
    assert_eq!(fires(SET, &["src/a.py", "tests/a_test.py"]), hidden(&[]), "what is met asks for nothing");
    let safe = fires("trigger: src/**\nsafety: README.md", &["README.md", "src/a"]);
    assert_eq!(safe.map(|(state, _)| state), Some(State::Safe));
}

#[test]
fn no_file_is_its_own_counterpart() {
    let pair = "pair: {trigger: 'src/{name}.py', expects: '**/{name}*.py'}";
    check(pair, &["src/a.py"], Some((State::Fires, &["src/a.py"], &[("src/a.py", "**/a*.py")])));
    check(pair, &["src/a.py", "tests/a_test.py"], Some((State::Met, &["src/a.py"], &[])));
    let set = "set: ['src/{name}.py', '{src,tests}/{name}*.py']";
    check(set, &["src/a.py"], Some((State::Fires, &["src/a.py"], &[("src/a.py", "{src,tests}/a*.py")])));
}

#[test]
fn a_counterpart_is_no_source_though_the_pattern_of_sources_matches_it() {
    for set in ["set: ['{path}.go', '{path}_test.go']", "set: ['{path}_test.go', '{path}.go']"] {
        check(set, &["a.go", "a_test.go"], Some((State::Met, &["a.go", "a_test.go"], &[])));
        check(set, &["a.go"], Some((State::Fires, &["a.go"], &[("a.go", "a_test.go")])));
        check(set, &["a_test.go"], Some((State::Fires, &["a_test.go"], &[("a_test.go", "a.go")])));
    }
    let pair = "pair: {trigger: '{path}.go', expects: '{path}_test.go'}";
    check(pair, &["x/a.go"], Some((State::Fires, &["x/a.go"], &[("x/a.go", "x/a_test.go")])));
    check(pair, &["x/a.go", "x/a_test.go"], Some((State::Met, &["x/a.go"], &[])));
    check(pair, &["x/a_test.go"], None);
}
