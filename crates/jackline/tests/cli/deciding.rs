//! `eval`: events in, decisions out, and what is said before it begins.

use crate::{DEFINITION, World};

#[test]
fn eval_answers_every_line() {
    let world = World::defined(DEFINITION);
    world.check_with(&["eval", "--store", "none"], r#"{"event": "call.requested", "session": "s1", "at": "2026-03-01T09:00:00Z", "call": {"id": "c1", "tool": "Bash", "args": {"command": "git push"}}}
nonsense

"#, 0, (r#"{"verdict":"deny","code":"rule/no-push","reason":"a person pushes","findings":[{"policy":"no-push","guard":"rule","code":"rule/no-push","verdict":"deny","reason":"a person pushes","suggestions":[],"enforced":true}],"feedback":null,"edits":[],"constraint":null,"emitted":[],"stop":null,"seq":2,"hash":"HASH"}
{"verdict":"deny","code":"event/invalid","reason":"The event cannot be read: expected a value (line 1, column 2).","findings":[{"policy":"event","guard":"event","code":"event/invalid","verdict":"deny","reason":"The event cannot be read: expected a value (line 1, column 2).","suggestions":["send one JSON object per line, as docs/reference/events.md describes"],"enforced":true}],"feedback":null,"edits":[],"constraint":null,"emitted":[],"stop":null,"seq":null,"hash":null}
{"verdict":"deny","code":"event/invalid","reason":"The event cannot be read: text ends before the value does (line 1, column 1).","findings":[{"policy":"event","guard":"event","code":"event/invalid","verdict":"deny","reason":"The event cannot be read: text ends before the value does (line 1, column 1).","suggestions":["send one JSON object per line, as docs/reference/events.md describes"],"enforced":true}],"feedback":null,"edits":[],"constraint":null,"emitted":[],"stop":null,"seq":null,"hash":null}
"#, ""));
}

#[test]
fn eval_without_a_usable_definition() {
    let world = World::empty();
    world.check(
        &["eval"],
        2,
        "",
        r#"error: there is no jackline.yaml in `TOP/ws` or above it
  help: write one that begins with `jackline: 1`, or name one with `--definition FILE`
"#,
    );
    world.check(
        &["eval", "--definition", "nowhere.yaml"],
        2,
        "",
        "error: `nowhere.yaml` cannot be read: No such file or directory (os error 2)\n",
    );
    world.check(
        &["eval", "--workspace", "nowhere"],
        2,
        "",
        r#"error: the workspace `nowhere` is no directory
  help: name one that exists with `--workspace DIR`
"#,
    );
    world.write(
        "ws/jackline.yaml",
        r#"jackline: 1
limit: {}
"#,
    );
    world.check(
        &["eval"],
        2,
        "",
        r#"error: `TOP/ws/jackline.yaml` has 1 fault(s)

error: unknown key `limit`
  --> TOP/ws/jackline.yaml:2:1
   |
 2 | limit: {}
   | ^^^^^
   = help: did you mean `limits`?

1 error
  help: `jackline schema` prints what may stand in it
"#,
    );
}

#[test]
fn eval_tells_of_definitions_that_wait_for_trust() {
    let world = World::played();
    world.write(
        "ws/jackline.yaml",
        r#"jackline: 1
agent: { ns: acme, key: bot }
"#,
    );
    world.check_with(&["eval", "--store", "none"], r#"{"event": "call.requested", "session": "s1", "at": "2026-03-01T09:00:00Z", "call": {"id": "c1", "tool": "Bash", "args": {"command": "git push"}}}
"#, 0, (r#"{"verdict":"deny","code":"rule/no-push","reason":"a person pushes","findings":[{"policy":"no-push","guard":"rule","code":"rule/no-push","verdict":"deny","reason":"a person pushes","suggestions":[],"enforced":true}],"feedback":null,"edits":[],"constraint":null,"emitted":[],"stop":null,"seq":2,"hash":"HASH"}
"#, r#"note: `TOP/ws/jackline.yaml` is looser than what was accepted (step "test" was removed; step "commit" was removed; policy "sequence-1" was removed; policy "no-push" was removed; policy "soft" was removed); run `jackline trust`
"#));
    world.write("ws/jackline.yaml", "jackline: [\n");
    world.check(&["eval"], 0, "", "note: `TOP/ws/jackline.yaml` has 1 fault(s); the last accepted definition stays in force; run `jackline check`\n");
}

#[test]
fn eval_tells_that_observing_needs_trust() {
    let world = World::defined(
        r#"jackline: 1
mode: observe
"#,
    );
    world.check(
        &["eval"],
        0,
        "",
        "note: `mode: observe` counts only after `jackline trust`; until then everything is enforced\n",
    );
}

#[test]
fn eval_with_a_store_that_is_a_file() {
    let world = World::defined(DEFINITION);
    world.write("file", "");
    world.check_with(&["eval", "--store", "../file"], r#"{"event": "call.requested", "session": "s1", "at": "2026-03-01T09:00:00Z", "call": {"id": "c1", "tool": "Bash", "args": {"command": "ls"}}}
"#, 0, (r#"{"verdict":"deny","code":"fault/store","reason":"Jackline could not decide: cannot read `TOP/ws/../file`. Run `jackline doctor`.","findings":[{"policy":"store","guard":"store","code":"fault/store","verdict":"deny","reason":"Jackline could not decide: cannot read `TOP/ws/../file`. Run `jackline doctor`.","suggestions":["make the store's directory readable for this user, and check the disk"],"enforced":true}],"feedback":null,"edits":[],"constraint":null,"emitted":[],"stop":null,"seq":null,"hash":null}
"#, "note: the accepted definition could not be remembered: Not a directory (os error 20)\n"));
}
