//! `sessions`, `log` and `explain`: what happened, and why.

use crate::{DEFINITION, World};

#[test]
fn nothing_has_happened() {
    let world = World::defined(DEFINITION);
    world.check(&["sessions"], 0, "no sessions here yet\n", "");
    world.check(
        &["sessions", "--format", "json"],
        0,
        r#"{"sessions":[]}
"#,
        "",
    );
    world.check(
        &["log"],
        2,
        "",
        r#"error: there is no session of this workspace yet
  help: `jackline sessions --all` lists those of all workspaces
"#,
    );
    world.check(
        &["explain", "last"],
        2,
        "",
        r#"error: there is no session of this workspace yet
  help: `jackline sessions --all` lists those of all workspaces
"#,
    );
}

#[test]
fn sessions_of_a_workspace() {
    let world = World::played();
    world.check(
        &["sessions"],
        0,
        "s1                                    2026-03-01 09:00:00  claude         17 records  complete\n",
        "",
    );
    world.check(
        &["sessions", "--all"],
        0,
        "s1                                    2026-03-01 09:00:00  claude         17 records  complete  TOP/ws\n",
        "",
    );
}

#[test]
fn log_is_a_timeline() {
    let world = World::played();
    world.check(
        &["log"],
        0,
        r#"09:00:00 #2     ✓       session.started
09:00:01 #4     ✓       prompt “ship it”
09:00:02 #6     ✗ deny  Bash git commit -m x
                         sequence/missing  Tool 'commit' requires: test
09:00:03 #8     ~ would WebFetch http://x
                         rule/soft  stay at home
09:00:04 #10    ✓       WebFetch failed
09:00:05 #12    ✗ deny  [reviewer] Write jackline.yaml
                         self/protected  Path 'jackline.yaml' is part of what guards this session (the definition).
09:00:06 #15    ✓       stop “done” → complete
09:00:07 #17    ✓       session.ended
"#,
        "",
    );
    world.check(
        &["log", "s1", "-n", "2"],
        0,
        r#"09:00:06 #15    ✓       stop “done” → complete
09:00:07 #17    ✓       session.ended
"#,
        "",
    );
    world.check(
        &["log", "--would-deny"],
        0,
        r#"09:00:03 #8     ~ would WebFetch http://x
                         rule/soft  stay at home
"#,
        "",
    );
    world.check(
        &["log", "nobody"],
        2,
        "",
        r#"error: there is no session `nobody`
  help: `jackline sessions --all` lists them
"#,
    );
    world.check(
        &["log", "-n", "x"],
        2,
        "",
        r#"error: invalid value 'x' for '--last <N>': invalid digit found in string

For more information, try '--help'.
"#,
    );
}

#[test]
fn explain_says_why() {
    let world = World::played();
    world.check(
        &["explain", "last"],
        0,
        r#"09:00:05 #12    ✗ deny  [reviewer] Write jackline.yaml
                         self/protected  Path 'jackline.yaml' is part of what guards this session (the definition).

guard self
  self/protected: deny
  Path 'jackline.yaml' is part of what guards this session (the definition).

asked
  unknown_tool, schema, budget, self, shell, sequence-1, no-push, soft, loop

seen
  path jackline.yaml: file, jackline.yaml in the workspace (the definition)

would have changed it
  self/protected: ask the person to make the change
  self/protected: Ask the owner to make the change; `self.allow` names exceptions.

record
  session s1 #12, hash HASH, definition sha256:HASH
"#,
        "",
    );
    world.check(
        &["explain", "last", "6"],
        0,
        r#"09:00:02 #6     ✗ deny  Bash git commit -m x
                         sequence/missing  Tool 'commit' requires: test

policy sequence-1, jackline.yaml line 7
  sequence/missing: deny
  Tool 'commit' requires: test

asked
  unknown_tool, schema, budget, self, shell, sequence-1, no-push, soft, loop

would have changed it
  sequence/missing: test: run `cargo test`, as a command of its own
  sequence/missing: Run the named prerequisites first.

record
  session s1 #6, hash HASH, definition sha256:HASH
"#,
        "",
    );
}

#[test]
fn explain_says_what_was_only_warned_of() {
    let world = World::played();
    world.check(
        &["explain", "s1", "8"],
        0,
        r#"09:00:03 #8     ~ would WebFetch http://x
                         rule/soft  stay at home

policy soft, jackline.yaml line 10 (not enforced)
  rule/soft: deny
  stay at home

asked
  unknown_tool, schema, budget, self, shell, sequence-1, no-push, soft, loop

would have changed it
  rule/soft: Make another call, as the rule's reason says; the owner may change the rule.

record
  session s1 #8, hash HASH, definition sha256:HASH
"#,
        "",
    );
}

#[test]
fn explain_of_nothing() {
    let world = World::played();
    world.check(
        &["explain", "s1", "99"],
        2,
        "",
        r#"error: record 99 of this session belongs to no decision
  help: `jackline log` shows the numbers after `#`
"#,
    );
    world.check(
        &["explain", "s1", "x"],
        2,
        "",
        r#"error: invalid value 'x' for '[SEQ]': invalid digit found in string

For more information, try '--help'.
"#,
    );
    world.check(
        &["explain", "nobody"],
        2,
        "",
        r#"error: there is no session `nobody`
  help: `jackline sessions --all` lists them
"#,
    );
    world.check(
        &["explain"],
        2,
        "",
        r#"error: the following required arguments were not provided:
  <SESSION>

Usage: jackline explain <SESSION> [SEQ]

For more information, try '--help'.
"#,
    );
}

#[test]
fn explain_of_a_session_without_refusals() {
    let world = World::defined(DEFINITION);
    world.check_with(&["eval"], r#"{"event": "call.requested", "session": "s1", "at": "2026-03-01T09:00:00Z", "call": {"id": "c1", "tool": "Bash", "args": {"command": "ls"}}}
"#, 0, (r#"{"verdict":"allow","code":null,"reason":null,"findings":[],"feedback":null,"edits":[],"constraint":null,"emitted":[],"stop":null,"seq":2,"hash":"HASH"}
"#, ""));
    world.check(
        &["explain", "s1"],
        2,
        "",
        r#"error: nothing was refused in this session
  help: name a decision: `jackline explain SESSION SEQ`
"#,
    );
}

#[test]
fn explain_last_goes_back_to_the_session_in_which_something_was_refused() {
    let world = World::played();
    let explained = world.run(&["explain", "last"], "");
    let begun = world.run(&["eval"], "{\"event\":\"session.started\",\"session\":\"s2\"}\n");
    assert_eq!(begun.0, Some(0), "{begun:?}");
    assert_eq!(world.run(&["explain", "last"], ""), explained);
    assert!(explained.1.contains("session s1 #12"), "{explained:?}");
}

#[test]
fn explain_names_the_line_of_a_setting() {
    let call = |tool: &str, args: &str| {
        format!(r#"{{"event":"call.requested","session":"s1","call":{{"tool":"{tool}","args":{args}}}}}"#)
    };
    let definition = "jackline: 1
loop: { window: 2, threshold: 2 }
tools:
  unknown: deny
  declare:
    pick: { schema: { type: object, required: [id] } }
";
    let world = World::defined(definition);
    for (text, want) in [
        (call("nonesuch", "{}"), "guard unknown_tool, jackline.yaml line 4\n"),
        (call("pick", "{}"), "guard schema, jackline.yaml line 6\n"),
        (format!("{0}\n{0}", call("Read", r#"{"file_path":"a"}"#)), "guard loop, jackline.yaml line 2\n"),
    ] {
        world.run(&["eval"], &text);
        let (code, stdout, _) = world.run(&["explain", "last"], "");
        assert_eq!(code, Some(0));
        assert!(stdout.contains(want), "{want} is not in\n{stdout}");
    }
}
