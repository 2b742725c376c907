//! Codex's settings in every form that people give them: what `init` adds to them, that trust follows the hooks, and that
//! gates refuse by themselves where our program is gone.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::Value;

use crate::others::{check_red, world};
use crate::terminal::ran_by_a_person;
use crate::{World, is_there, ran};

const CONFIG: &str = "home/.codex/config.toml";
const HOOKS: &str = "home/.codex/hooks.json";

fn codex() -> World {
    world("codex", "codex-cli 0.166.0")
}

/// Settings that are left as they are: the hooks are there for a person to trust.
#[track_caller]
fn check_left(config: &str, told: &str) {
    let world = codex();
    world.write(CONFIG, config);
    world.run(&["init", "codex"]).check(2, &[told, "trust them in the host itself (`/hooks`)"]);
    assert_eq!(world.read(CONFIG), config);
    assert!(is_there(&world.path(HOOKS)), "there is something to trust");
    world.run(&["doctor"]).check(1, &["not fine"]);
}

#[test]
fn settings_that_cannot_be_added_to_are_left_alone() {
    let large = format!("x = 1\n{}[projects.\"/last\"]\n", "# a line of a large file\n".repeat(50_000));
    check_left(&large, &format!("it has {} bytes", large.len()));
    check_left("model = \n", "it is not valid TOML (line 1)");
    check_left("[hooks]\nstate = { x = { trusted_hash = \"y\" } }\n", "in a way to which no table can be added");
    check_left("\"hooks\" = { state = {} }\n", "not trusted yet, and not run until they are: the hooks of Codex");
}

/// Settings that are added to, and are as they were once it is taken out.
#[track_caller]
fn check_added(config: &str) {
    let world = codex();
    world.write(CONFIG, config);
    world.run(&["init", "codex"]).check(0, &["wrote"]);
    world.run(&["doctor"]).check(0, &["trusts the hooks"]);
    ran_by_a_person(world.command(&["uninit", "codex", "--yes"]), "").check(0, &["wrote"]);
    assert_eq!(world.read(CONFIG), config);
}

#[test]
fn settings_are_added_to_whatever_else_they_say() {
    check_added("");
    check_added("model = \"x\"");
    check_added("[features]\nhooks = true\n");
    check_added("[mcp_servers.x]\r\nhooks = \"\"\"\r\nhooks.state = 1\r\n\"\"\"");
}

#[test]
fn trust_is_kept_under_the_place_that_codex_knows_a_file_by() {
    let world = codex();
    fs::create_dir_all(world.path("real")).expect("made");
    symlink(world.path("real"), world.path("link")).expect("linked");
    let mut init = world.command(&["init", "codex"]);
    ran(std::mem::replace(init.env("CODEX_HOME", world.path("link")), Command::new("true")), "").check(0, &[]);
    let key = format!("[hooks.state.\"{}:pre_tool_use:0:0\"]", world.path("real/hooks.json").display());
    assert!(world.read("real/config.toml").contains(&key), "{}", world.read("real/config.toml"));
}

#[test]
fn a_persons_own_hook_stays_trusted_when_the_program_moves_and_when_ours_go() {
    let world = codex();
    world.run(&["init", "codex"]).check(0, &[]);
    let mine = "{ \"hooks\": [{ \"type\": \"command\", \"command\": \"mine\", \"timeout\": 5 }] }";
    world.change(HOOKS, "\n    ],\n    \"PostToolUse\"", &format!(",\n      {mine}\n    ],\n    \"PostToolUse\""));
    let trusted = |at: usize| {
        format!(
            "\n[hooks.state.\"{}:pre_tool_use:{at}:0\"]\ntrusted_hash = \"sha256:mine\"\n",
            world.path(HOOKS).display()
        )
    };
    world.write(CONFIG, &format!("{}{}", world.read(CONFIG), trusted(1)));
    fs::create_dir_all(world.path("moved")).expect("made");
    fs::rename(world.path("bin/jackline"), world.path("moved/jackline")).expect("moved");
    let moved = |arguments: &[&str]| {
        let mut command = Command::new(world.path("moved/jackline"));
        command.args(arguments).current_dir(world.path("ws")).env_clear().env("HOME", world.path("home"));
        command
    };
    ran(moved(&["init", "codex"]), "").check(0, &["wrote"]);
    let hooks: Value = serde_json::from_str(&world.read(HOOKS)).expect("JSON");
    assert_eq!(hooks["hooks"]["PreToolUse"][1]["hooks"][0]["command"], "mine");
    assert!(world.read(CONFIG).ends_with(&trusted(1)), "{}", world.read(CONFIG));
    ran(moved(&["doctor"]), "").check(0, &["trusts the hooks"]);
    ran_by_a_person(moved(&["uninit", "codex", "--yes"]), "").check(0, &["wrote"]);
    assert_eq!(world.read(CONFIG), trusted(0));
}

#[test]
fn hooks_of_two_scopes_go_at_once() {
    let world = codex();
    world.run(&["init", "codex", "--scope", "project"]).check(0, &[]);
    fs::rename(world.path("ws/.codex"), world.path("aside")).expect("moved");
    world.run(&["init", "codex", "--scope", "user"]).check(0, &[]);
    fs::rename(world.path("aside"), world.path("ws/.codex")).expect("moved");
    ran_by_a_person(world.command(&["uninit", "codex", "--yes"]), "").check(0, &["removed"]);
    assert!(!is_there(&world.path(CONFIG)) && !is_there(&world.path(HOOKS)));
    assert!(!is_there(&world.path("ws/.codex/hooks.json")));
}

#[test]
fn whatever_keeps_codex_from_running_our_hooks_is_red() {
    let codex = ("codex", "codex");
    let before =
        |line: &'static str| move |world: &World| world.write(CONFIG, &format!("{line}\n\n{}", world.read(CONFIG)));
    check_red(codex, before("features = { hooks = false }"), "`features.hooks` switches every hook off");
    check_red(codex, before("[features] # f\n\"hooks\" = false"), "`features.hooks` switches every hook off");
    check_red(codex, before("[features]\ncodex_hooks = false"), "`features.codex_hooks` switches every hook off");
    check_red(codex, before("model = "), "it is not valid TOML (line 1)");
    let project = |world: &World| world.write("ws/.codex/config.toml", "[features]\nhooks = false\n");
    check_red(codex, project, ".codex/config.toml: `features.hooks` switches every hook off");
    let change =
        |file: &'static str, from: &'static str, to: &'static str| move |world: &World| world.change(file, from, to);
    check_red(codex, change(CONFIG, "trusted_hash", "enabled = false # off\ntrusted_hash"), "9 of our 9 hooks");
    check_red(codex, change(HOOKS, "{ \"hooks\": [", "{ \"matcher\": \"\", \"hooks\": ["), "9 of our 9 hooks");
    check_red(codex, change(HOOKS, "\"timeout\": 10 ", "\"timeout\": 10.0 "), "hooks are not trusted");
}

/// The command that stands for a gate in a file.
fn gate(world: &World, file: &str, event: &str) -> String {
    let settings: Value = serde_json::from_str(&world.read(file)).expect("JSON");
    settings["hooks"][event][0]["hooks"][0]["command"].as_str().expect("a text").to_owned()
}

/// A gate refuses by itself once our program is gone, and one that does not is red.
#[track_caller]
fn check_gate(host: &str, file: &str, event: &str) {
    let world = world(host, "0.166.0");
    world.run(&["init", host]).check(0, &[]);
    let text = gate(&world, file, event);
    let asked = |world: &World| {
        let mut shell = Command::new("sh");
        shell.args(["-c", &text]).current_dir(world.path("ws")).env_clear().env("HOME", world.path("home"));
        ran(shell, "{ this is no message")
    };
    asked(&world).check(2, &[]);
    world.script("bin/jackline", "kill -9 $$");
    asked(&world).check(2, &["Jackline could not be asked"]);
    fs::remove_file(world.path("bin/jackline")).expect("removed");
    asked(&world).check(2, &["Jackline could not be asked"]);
    let bare = move |world: &World| {
        let text = Value::from(gate(world, file, event)).to_string();
        let (_, ours) = text.rsplit_once("esac; f' ").expect("refuses");
        let bare = world.read(file).replace(&text, &format!("\"{ours}"));
        world.write(file, &bare);
    };
    check_red((host, host), bare, "does not refuse by itself when our program is missing");
}

#[test]
fn a_gate_refuses_by_itself_where_the_host_would_let_the_call_pass() {
    check_gate("codex", HOOKS, "PreToolUse");
    check_gate("gemini", "home/.gemini/settings.json", "BeforeTool");
    check_gate("qwen", "home/.qwen/settings.json", "PreToolUse");
}
