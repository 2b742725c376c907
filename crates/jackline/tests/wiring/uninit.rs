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
    world.run(&["uninit"]).check(2, &["no terminal is attached"]);
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

#[test]
fn several_hosts_are_taken_out_at_once_and_all_of_them_without_a_name() {
    let world = World::new();
    world.script("bin/codex", "echo 'codex-cli 0.166.0'");
    world.script("bin/gemini", "echo '0.61.0'");
    let before = world.files("home");
    world.run(&["init"]).check(0, &["Claude Code", "Codex", "Gemini CLI"]);
    world.run(&["uninit", "--dry-run"]).check(0, &["settings.local.json", "hooks.json", ".gemini/settings.json"]);
    world.run(&["uninit", "codex", "clod"]).check(2, &["`clod` is no host"]);
    ran_by_a_person(world.command(&["uninit", "claude", "codex", "claude", "--yes"]), "")
        .check(0, &["removed .claude/settings.local.json", "hooks.json"]);
    assert!(!is_there(&world.path(LOCAL)) && !is_there(&world.path("home/.codex/hooks.json")));
    assert!(is_there(&world.path("home/.gemini/settings.json")), "it was not named");
    ran_by_a_person(world.command(&["uninit", "--yes"]), "").check(0, &[".gemini/settings.json"]);
    let beside_state = |files: Vec<(std::path::PathBuf, Vec<u8>)>| {
        files.into_iter().filter(|(path, _)| !path.starts_with(world.path("home/.local"))).collect::<Vec<_>>()
    };
    assert_eq!(beside_state(world.files("home")), before);
    world.run(&["uninit"]).check(0, &["nothing to do: no host is wired here"]);
    world.run(&["uninit", "claude", "codex"]).check(0, &["nothing to do: none of these is wired here: claude, codex"]);
}

#[test]
fn one_host_with_odd_settings_keeps_no_other_from_being_taken_out() {
    let world = World::new();
    world.script("bin/codex", "echo 'codex-cli 0.166.0'");
    world.run(&["init"]).check(0, &[]);
    world.write(PROJECT, "{ oops: jackline");
    let ran = ran_by_a_person(world.command(&["uninit", "--yes"]), "");
    ran.check(2, &["`.claude/settings.json` is left alone", "not taken out: Claude Code", "hooks.json"]);
    assert!(!is_there(&world.path("home/.codex/hooks.json")) && is_there(&world.path(LOCAL)));
    assert_eq!(world.read(PROJECT), "{ oops: jackline");
}

#[test]
fn our_server_is_registered_beside_a_long_history_and_nothing_of_it_is_lost() {
    let world = World::new();
    // As the client writes it: many conversations, one of them cut within a character, and a deep one.
    let said = format!("{} \\ud83d", "all of it was said here ".repeat(40_000));
    let history: Vec<String> = (0..3).map(|_| format!("      {{ \"display\": \"{said}\" }}")).collect();
    let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
    let root = world.path("ws").display().to_string();
    let before = format!(
        "{{\n  \"numStartups\": 9,\n  \"projects\": {{\n    \"{root}\": {{\n      \"history\": [\n{}\n      ],\n      \"deep\": {deep}\n    }}\n  }}\n}}",
        history.join(",\n")
    );
    assert!(before.len() > 2 << 20);
    world.write("home/.claude.json", &before);
    let wired = world.run(&["init", "claude", "--mcp"]);
    wired.check(0, &[".claude.json", "bytes in all", "+        \"jackline\": {"]);
    assert!(wired.out.len() < 64 * 1024, "long lines are cut: {} bytes", wired.out.len());
    let after = world.read("home/.claude.json");
    assert!(after.starts_with(before.trim_end_matches("\n    }\n  }\n}")) && after.contains("\"serve\""));
    world.run(&["doctor"]).check(0, &["our server offers todos"]);
    ran_by_a_person(world.command(&["uninit", "--yes"]), "").check(0, &[".claude.json"]);
    assert!(world.read("home/.claude.json") == before, "every byte is as it was");
}
