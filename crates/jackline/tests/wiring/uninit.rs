//! `jackline uninit`: takes out what `init` put in, and nothing else.

use crate::terminal::ran_by_a_person;
use crate::{LOCAL, PROJECT, USER, World, is_there, ran};

#[track_caller]
fn check_round(before: &str) {
    let world = World::new();
    world.write(LOCAL, before);
    world.run(&["init"]).check(0, &["wrote .claude/settings.local.json"]);
    assert_ne!(world.read(LOCAL), before);
    ran_by_a_person(world.command(&["uninit", "claude"]), "y\n").check(0, &["wrote .claude/settings.local.json"]);
    assert_eq!(world.read(LOCAL), before);
}

#[test]
fn what_was_there_is_there_again_byte_for_byte() {
    check_round("");
    check_round("{}");
    check_round("{\n}\n");
    check_round("{\r\n\t\"schlüssel\": \"wert ✓\",\r\n\t\"hooks\" : { }\r\n}\r\n\r\n");
    check_round(
        "{\"permissions\":{\"allow\":[\"Bash(ls:*)\"]},\"hooks\":{\"PreToolUse\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"x\"}]}]}}",
    );
}

#[test]
fn a_file_made_by_init_goes_and_the_rest_stays() {
    let world = World::wired();
    let state = world.files("home/.local");
    let ran = ran_by_a_person(world.command(&["uninit", "claude", "--yes"]), "");
    ran.check(0, &["removed .claude/settings.local.json", "the definition and the store are as they were"]);
    assert!(!is_there(&world.path(LOCAL)) && is_there(&world.path("ws/jackline.yaml")));
    assert_eq!(world.files("home/.local"), state);
    world.run(&["uninit", "claude"]).check(0, &["nothing to do"]);
}

#[test]
fn it_is_a_persons_act() {
    let world = World::wired();
    let before = world.read(LOCAL);
    world.run(&["uninit", "claude"]).check(2, &["no terminal is attached"]);
    world.run(&["uninit", "claude", "--yes"]).check(2, &["no terminal is attached"]);
    ran_by_a_person(world.command(&["uninit", "claude"]), "n\n").check(2, &["nothing was changed"]);
    let mut guarded = world.command(&["uninit", "claude", "--yes"]);
    guarded.env("CLAUDECODE", "1");
    ran_by_a_person(guarded, "y\n").check(2, &["an agent's session is around"]);
    world.run(&["uninit", "claude", "--dry-run"]).check(0, &["-  \"hooks\": {", "nothing was written"]);
    world.run(&["uninit"]).check(2, &["<HOST>"]);
    world.run(&["uninit", "clod"]).check(2, &["is no host"]);
    assert_eq!(world.read(LOCAL), before);
}

#[test]
fn only_the_named_scope_is_taken_out() {
    let world = World::wired();
    let user = world.read(LOCAL).replace("\"local\"", "\"user\"");
    world.write(USER, &user);
    world.write(PROJECT, "{\"model\": \"opus\"}");
    ran_by_a_person(world.command(&["uninit", "claude", "--scope", "local", "--yes"]), "").check(0, &["removed"]);
    assert_eq!((is_there(&world.path(LOCAL)), world.read(USER)), (false, user));
    ran_by_a_person(world.command(&["uninit", "claude", "--yes"]), "").check(0, &["settings.json"]);
    assert_eq!((is_there(&world.path(USER)), world.read(PROJECT).as_str()), (false, "{\"model\": \"opus\"}"));
}

#[test]
fn broken_settings_are_left_alone() {
    let world = World::wired();
    world.write(PROJECT, "{ oops: jackline");
    world.run(&["uninit", "claude"]).check(2, &["`.claude/settings.json` is left alone"]);
    ran(world.command(&["uninit", "claude", "--scope", "local", "--dry-run"]), "").check(0, &["nothing was written"]);
    assert_eq!(world.read(PROJECT), "{ oops: jackline");
}

#[test]
fn files_that_do_not_name_us_hold_nothing_up() {
    let world = World::wired();
    world.write(PROJECT, "{ oops");
    let history = format!("{{ \"history\": \"{}\", \"a\": 1, \"a\": 2 }}", "x".repeat(2 << 20));
    world.write("home/.claude.json", &history);
    ran_by_a_person(world.command(&["uninit", "claude", "--yes"]), "")
        .check(0, &["removed .claude/settings.local.json"]);
    assert!(!is_there(&world.path(LOCAL)));
    assert!(world.read(PROJECT) == "{ oops" && world.read("home/.claude.json") == history);
}
