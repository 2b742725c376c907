//! `audit`: the log verified, exported, shown and signed.

use crate::World;

#[test]
fn verify_of_nothing() {
    let world = World::empty();
    world.check(&["audit", "verify"], 0, "there is no record to verify\n", "");
    world.check(&["audit", "export"], 0, "", "");
    world.check(
        &["audit", "checkpoint"],
        2,
        "",
        r#"error: there is no session of this workspace yet
  help: `jackline sessions --all` lists those of all workspaces
"#,
    );
    world.write("ws/none.jsonl", "");
    world.check(&["audit", "verify", "none.jsonl"], 0, "there is no record to verify\n", "");
}

#[test]
fn verify_of_a_whole_store() {
    let world = World::played();
    world.check(
        &["audit", "verify"],
        0,
        r#"s1: 17 records, head #17 HASH
1 chain verified
"#,
        "",
    );
    world.check(
        &["audit", "verify", "--session", "s1"],
        0,
        r#"s1: 17 records, head #17 HASH
1 chain verified
"#,
        "",
    );
    world.check(
        &["audit", "verify", "--session", "nobody"],
        2,
        "",
        r#"error: there is no session `nobody`
  help: `jackline sessions --all` lists them
"#,
    );
}

#[test]
fn verify_of_what_is_no_export() {
    let world = World::played();
    world.check(&["audit", "verify", "."], 2, "", "error: `.` cannot be read: it is a directory\n");
    world.check(
        &["audit", "verify", "nowhere"],
        2,
        "",
        "error: `nowhere` cannot be read: No such file or directory (os error 2)\n",
    );
    world.check_with(
        &["audit", "verify", "-"],
        "no JSON\n",
        1,
        ("broken at line 1: record is not JSON: expected a value (column 2)\n", ""),
    );
    world.check(
        &["audit", "verify", "x", "--session", "s1"],
        2,
        "",
        r#"error: the argument '[FILE]' cannot be used with '--session <SESSION>'

Usage: jackline audit verify <FILE>

For more information, try '--help'.
"#,
    );
}

#[test]
fn verify_against_heads() {
    let world = World::played();
    world.check(
        &["audit", "verify", "--head", "s1"],
        2,
        "",
        r#"error: `s1` is no head
  help: write it as SESSION:SEQ:HASH, the hash with 64 digits
"#,
    );
    world.check(&["audit", "verify", "--head", "s1:99:0000000000000000000000000000000000000000000000000000000000000000"], 1, "broken at record 99 of session s1 (line 18): record 99 of session `s1` is known to exist and is not in the log\n", "");
    world.check(
        &["audit", "verify", "--head", "s1:1:0000000000000000000000000000000000000000000000000000000000000000"],
        1,
        "broken at record 1 of session s1 (line 1): `hash` is not the one known from elsewhere\n",
        "",
    );
    world.check(&["audit", "verify", "--head", "gone:1:0000000000000000000000000000000000000000000000000000000000000000"], 1, "broken at record 1 of session gone (line 1): record 1 of session `gone` is known to exist and is not in the log\n", "");
    world.check(
        &["audit", "verify", "--public-key", "zz"],
        2,
        "",
        "error: the public key must have 64 hexadecimal digits\n",
    );
}

#[test]
fn show_one_record() {
    let world = World::played();
    world.check(
        &["audit", "show", "s1", "1"],
        0,
        r#"{
  "actor": "host",
  "after": null,
  "agent": "main",
  "at": "2026-03-01T09:00:00.000Z",
  "before": null,
  "call": null,
  "data": {},
  "definition": {
    "digest": "sha256:HASH",
    "key": "bot",
    "ns": "acme"
  },
  "hash": "HASH",
  "host": "claude",
  "kind": "session.started",
  "prev_hash": "HASH",
  "seq": 1,
  "session": "s1",
  "step": 0,
  "target": null,
  "workspace": "TOP/ws"
}
"#,
        "",
    );
    world.check(
        &["audit", "show", "s1", "99"],
        2,
        "",
        r#"error: this session has no record of that number
  help: `jackline log` shows the numbers after `#`
"#,
    );
    world.check(
        &["audit", "show", "nobody"],
        2,
        "",
        r#"error: there is no session `nobody`
  help: `jackline sessions --all` lists them
"#,
    );
}

#[test]
fn checkpoint_of_a_head() {
    let world = World::played();
    world.check(
        &["audit", "checkpoint"],
        0,
        r#"{"at":"TIME","hash":"HASH","public_key":"HASH","seq":17,"session":"s1","signature":"SIGNATURE"}
"#,
        "",
    );
    world.check(
        &["audit", "checkpoint", "--session", "nobody"],
        2,
        "",
        r#"error: there is no session `nobody`
  help: `jackline sessions --all` lists them
"#,
    );
    world.check(
        &["audit", "checkpoint", "--key", "."],
        2,
        "",
        r#"error: key file `.` is not a regular file
  help: move `.` away; a new key is made
"#,
    );
}

#[test]
fn checkpoint_with_a_key_of_its_first_use() {
    let world = World::defined("jackline: 1\n");
    let (exit, ..) = world.run(&["eval"], r#"{"event":"session.started","session":"s1","at":"2026-03-01T09:00:00Z"}"#);
    assert_eq!(exit, Some(0));
    world.check(
        &["audit", "checkpoint"],
        0,
        r#"{"at":"TIME","hash":"HASH","public_key":"HASH","seq":2,"session":"s1","signature":"SIGNATURE"}
"#,
        "",
    );
    world.write("ws/empty", "\n");
    world.check(
        &["audit", "verify", "--checkpoint", "empty"],
        2,
        "",
        r#"error: `empty` holds no checkpoint
  help: `jackline audit checkpoint` prints one
"#,
    );
}
