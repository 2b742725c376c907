//! Policies as people write them, and what they are told when something is wrong.

use super::*;

#[track_caller]
fn faults(source: &str) -> Vec<String> {
    let found = Policy::parse("my-policy", source).expect_err(source);
    let place =
        |span: Option<Span>| span.map_or_else(|| "-".to_owned(), |span| format!("{}:{}", span.line, span.column));
    found.iter().map(|fault| format!("{} {}", place(fault.span), fault.message)).collect()
}

#[track_caller]
fn check(front: &str, want: &[&str]) {
    assert_eq!(faults(&format!("---\n{front}\n---\nbody\n")), want, "{front}");
}

#[test]
fn a_policy_is_read_with_its_defaults() {
    let policy = Policy::parse("readme", "---\ntrigger: src/**\n---\n\nVerify it.\n\n").unwrap();
    assert_eq!((policy.id.as_str(), policy.name.as_str(), policy.body.as_str()), ("readme", "readme", "Verify it."));
    assert_eq!((policy.compare_to, &policy.action), (CompareTo::Base, &Action::Prompt));
    let bare = Policy::parse("readme", "---\ntrigger: src/**\nsafety: []\n---\n\nVerify it.\n").unwrap();
    assert_eq!(bare.detection, policy.detection, "an empty list is none");
    let front = "name: Format\ntrigger: ['**/*.py']\ncompare_to: prompt\naction: {command: ruff format {file}}";
    let yaml = front.replace("ruff format {file}", "'ruff format {file}'");
    let policy = Policy::parse("fmt", &format!("---\n{yaml}\n---\n")).unwrap();
    assert_eq!((policy.name.as_str(), policy.compare_to), ("Format", CompareTo::Prompt));
    let Action::Command(command) = &policy.action else { panic!("no command") };
    assert_eq!((command.words.len(), command.run_for), (3, RunFor::EachMatch));
}

#[test]
fn a_file_may_have_a_mark_and_other_line_ends() {
    let policy = Policy::parse("p", "\u{feff}---\r\ntrigger: a\r\n---\r\nfirst\r\n---\r\nlast\r\n").unwrap();
    assert_eq!(policy.body, "first\r\n---\r\nlast");
    let scalar = "---\ntrigger: a\nname: |-\n  x\n  ---\n  y\n---\nbody";
    assert!(faults(scalar)[0].contains("cannot stand in a promise"), "a fence inside a text ends nothing");
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    check("triger: a", &["2:1 unknown key `triger`"]);
    check("name: x", &["2:1 `file policy` needs one of `trigger`, `set`, `pair`, `created`"]);
    check("trigger: a\nset: [b, c]", &["3:1 `file policy` has both `trigger` and `set`"]);
    check("name: 42\ntrigger: a", &["2:7 `name` must be a text, found 42"]);
    check(
        "trigger: a\ncompare_to: main",
        &["3:13 `compare_to` must be `base`, `default_tip` or `prompt`, found `main`"],
    );
    check("trigger: []", &["2:10 `trigger` is empty"]);
    check("set: [a]", &["2:6 a set has at least two patterns"]);
    check("pair: {trigger: 'a/{x}'}", &["2:7 `expects` is missing in `pair`"]);
    check("trigger: a\nname: ✓", &["3:7 the name `✓` cannot stand in a promise"]);
    check("trigger: a\nname: a<b", &["3:7 the name `a<b` cannot stand in a promise"]);
    check(
        "trigger: a\naction: {command: 'x {files}y'}",
        &["3:19 `{files}` becomes several words, so it must be a word of its own"],
    );
}

#[test]
fn a_name_that_would_be_run_is_refused_with_the_form_that_runs_nothing() {
    let front = "trigger: src/**\naction: {command: \"sh -c 'cat {file} | wc -l'\"}";
    check(front, &["3:19 `cat {file} | wc -l` is run by a shell, and a file's name would be run with it"]);
    check(
        "trigger: src/**\naction: {command: [python3, -c, \"open('{file}')\"]}",
        &["3:19 `open('{file}')` is run by `python3`, and a file's name would be run with it"],
    );
    let help = Policy::parse("p", &format!("---\n{front}\n---\n")).unwrap_err()[0].help.clone();
    assert_eq!(help.as_deref(), Some("give it as an argument of its own: `sh -c '… \"$1\" …' sh {file}`"));
    check_warnings("trigger: src/**\naction: {command: \"sh -c 'cat \\\"$1\\\" | wc -l' sh {file}\"}", &[]);
    check_warnings(
        "trigger: src/**\naction: {command: [unheard-of, -c, 'look at {file}']}",
        &["the program may run `look at {file}`, and a file's name with it"],
    );
}

#[test]
fn every_pattern_is_looked_at_when_a_policy_is_read() {
    check(
        "trigger: ['src/{path.py', 'a]', '/x']",
        &[
            "2:11 pattern `src/{path.py` has an unclosed brace",
            "2:33 pattern `/x` begins with `/`, and paths are told from the repository's root",
        ],
    );
    check(
        "set: ['src/{my-var}.py', b]",
        &[
            "2:7 pattern `src/{my-var}.py` has `{my-var}`, and a variable's name has letters, digits and `_` only, and no \
           digit first",
        ],
    );
    check("set: ['src/{x}', 'b/{x}', 'src/{x}']", &["2:27 the set has `src/{x}` twice, which asks for nothing"]);
    check(
        "trigger: src/{path}.py",
        &[
            "2:10 pattern `src/{path}.py` has the variable `{path}`, which means nothing here (`*` is one segment, `**` any \
         number)",
        ],
    );
    check(
        "set: ['a/{x}', 'b/{y}']",
        &["2:7 the variable `x` is not captured by `b/{y}`", "2:16 the variable `y` is not captured by `a/{x}`"],
    );
    check(
        "pair: {trigger: 'a/{x}', expects: ['b/{x}', 'c/{y}']}",
        &["2:45 the variable `y` is not captured by `a/{x}`"],
    );
    let help = Policy::parse("p", "---\nset: ['src/{path.py', 'b/{path}']\n---\nb").unwrap_err()[0].help.clone();
    assert_eq!(help.as_deref(), Some("close it: `src/{path}.py`"));
}

#[test]
fn a_file_without_front_matter_or_body_is_none() {
    assert_eq!(faults("no fence"), ["1:1 the front matter is missing"]);
    assert_eq!(faults(""), ["1:1 the front matter is missing"]);
    assert_eq!(faults("---\ntrigger: a\n"), ["1:1 the front matter does not end"]);
    assert_eq!(faults("---\n---\nbody"), ["1:4 the front matter must be a map, found nothing"]);
    assert!(faults("---\n- a\n---\nbody")[0].contains("the front matter must be a map"));
    assert!(faults("---\ntrigger: a\n---\n  \n")[0].contains("the policy has no instructions"));
    assert!(faults(&format!("---\n{}", "a".repeat(POLICY_BYTES_MAX)))[0].contains("longer than"));
}

#[track_caller]
fn check_warnings(front: &str, want: &[&str]) {
    let policy = Policy::parse("p", &format!("---\n{front}\n---\nbody\n")).expect(front);
    let told: Vec<&str> = policy.warnings.iter().map(|fault| fault.message.as_str()).collect();
    assert_eq!(told, want, "{front}");
    assert!(policy.warnings.iter().all(|fault| fault.warning && fault.help.is_some() && fault.span.is_some()));
}

#[test]
fn what_means_something_elsewhere_and_nothing_here_is_warned_of() {
    check_warnings("trigger: src/**\naction: {command: 'sh -c \"ls | wc\" {file}'}", &[]);
    check_warnings("trigger: src/**\naction: {command: [grep, '|', '{file}']}", &[]);
    for (command, odd) in
        [("ls | wc", "|"), ("a && b", "&&"), ("a > c", ">"), ("ls $HOME", "$HOME"), ("a; b", "a;"), ("a `id`", "`id`")]
    {
        let want = format!("the command has `{odd}`, and no shell reads it: the program is given it as it stands");
        check_warnings(&format!("trigger: src/**\naction: {{command: '{command}'}}"), &[&want]);
    }
    check_warnings(
        "trigger: src/**\naction: {command: 'lint {file'}",
        &["the command has `{file`, which is no place for a file: the program is given it as it stands"],
    );
    check_warnings("created: a\nsafety: b", &["`safety` is only looked at with `trigger`"]);
    check_warnings("trigger: '!src/**'", &["pattern `!src/**` begins with `!`, which negates nothing here"]);
    check_warnings(
        "trigger: src/**\nsafety: 'a[[:alpha:]]'",
        &["pattern `a[[:alpha:]]` has `[[:`, and a class has no names here"],
    );
}

#[test]
fn what_can_never_fire_is_told() {
    let twice = "the set has `src/{**path}.py` twice, which asks for nothing";
    check("set: ['src/{path}.py', 'src/{**path}.py']", &[&format!("2:24 {twice}")]);
    let itself = "`src/{path}.py` asks for itself, which asks for nothing";
    check("pair: {trigger: 'src/{path}.py', expects: 'src/{path}.py'}", &[&format!("2:43 {itself}")]);
    let never = "`safety` has all that `trigger` has, so the policy never fires";
    check_warnings("trigger: 'src/**'\nsafety: ['docs/**', 'src/**']", &[never]);
    check_warnings("trigger: ['src/**', 'lib/**']\nsafety: 'src/**'", &[]);
}

#[test]
fn instructions_that_are_not_shown_to_their_end_are_told() {
    let policy = |bytes: usize| Policy::parse("p", &format!("---\ntrigger: a\n---\n{}\n", "x".repeat(bytes))).unwrap();
    let told: Vec<String> = policy(9000).warnings.into_iter().map(|fault| fault.message).collect();
    assert_eq!(told, ["only the first 3584 bytes of the instructions are shown"]);
    assert_eq!(policy(3000).warnings, []);
}
