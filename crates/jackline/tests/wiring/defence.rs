//! The wired hook defends its own wiring while a session runs.

use std::process::Command;

use serde_json::{Value, json};

use crate::terminal::ran_by_a_person;
use crate::{LOCAL, PROJECT, Ran, USER, World, ran};

/// Tells the hook, as it was wired before, that settings changed.
fn told(world: &World, hook: &Value, source: &str, file: &str) -> Ran {
    let mut command = Command::new(hook["command"].as_str().expect("a program"));
    command.args(hook["args"].as_array().expect("arguments").iter().map(|word| word.as_str().expect("text")));
    command.current_dir(world.path("ws")).env_clear().env("HOME", world.path("home"));
    let message = json!({"session_id": "s1", "transcript_path": "/none", "cwd": world.path("ws"),
        "hook_event_name": "ConfigChange", "source": source, "file_path": world.path(file)});
    ran(command, &message.to_string())
}

/// Changes the local settings; whether the hook lets them be taken over.
#[track_caller]
fn check(change: impl Fn(&World), why: Option<&str>) {
    let world = World::wired();
    let hook = world.settings()["hooks"]["ConfigChange"][0]["hooks"][0].clone();
    change(&world);
    let answer = told(&world, &hook, "local_settings", LOCAL);
    match why {
        Some(why) => answer.check(0, &["\"decision\":\"block\"", why]),
        None => assert_eq!((answer.code, answer.out.as_str()), (Some(0), "")),
    }
}

#[test]
fn a_change_that_takes_the_hooks_out_or_diverts_them_is_refused() {
    check(|world| world.write(LOCAL, "{}"), Some("is gone"));
    check(|world| std::fs::remove_file(world.path(LOCAL)).expect("removed"), Some("is gone"));
    check(|world| world.write(LOCAL, "{ oops"), Some("not valid JSON"));
    check(|world| world.change(LOCAL, ", \"onFailure\": \"block\"", ""), Some("onFailure"));
    check(|world| world.change(LOCAL, "{\n  \"hooks\"", "{ \"disableAllHooks\": 1, \"hooks\""), Some("switches every"));
    check(|world| world.change(LOCAL, "{\n  \"hooks\"", "{ \"model\": 7, \"hooks\""), Some("refuses `model`"));
    check(|world| world.change(LOCAL, "{\n  \"hooks\"", "{ \"novel\": 7, \"hooks\""), Some("`novel` is not known"));
    check(|world| world.change(LOCAL, "/bin/jackline", "/other/jackline"), Some("runs something else"));
    check(|world| world.change(LOCAL, "state/jackline", "state/other"), Some("runs something else"));
    check(|world| world.change(LOCAL, "\"--wired\", \"local\"", "\"--wired\", \"user\""), Some("runs something else"));
}

#[test]
fn any_other_change_is_let_through() {
    check(|_| {}, None);
    check(|world| world.change(LOCAL, "{\n  \"hooks\"", "{ \"model\": \"opus\", \"hooks\""), None);
    // What `doctor` itself advises.
    let advised = "{ \"disableSkillShellExecution\": true, \"hooks\"";
    check(|world| world.change(LOCAL, "{\n  \"hooks\"", advised), None);
    let world = World::wired();
    let hook = world.settings()["hooks"]["ConfigChange"][0]["hooks"][0].clone();
    for (source, file) in [("user_settings", USER), ("project_settings", PROJECT)] {
        world.write(file, "{\"model\": \"opus\"}");
        assert_eq!(told(&world, &hook, source, file).out, "");
        world.write(file, "{\"disableAllHooks\": true}");
        told(&world, &hook, source, file).check(0, &["\"decision\":\"block\""]);
    }
}

/// What the hook says, as it was wired, to a tool's call, where a variable has another value than a person gave it.
fn asked(world: &World, variable: (&str, &str), tool: &str, input: Value) -> Ran {
    let hook = &world.settings()["hooks"]["PreToolUse"][0]["hooks"][0];
    let mut command = Command::new(hook["command"].as_str().expect("a program"));
    command.args(hook["args"].as_array().expect("arguments").iter().map(|word| word.as_str().expect("text")));
    command.current_dir(world.path("ws")).env_clear().env("HOME", world.path("home")).env(variable.0, variable.1);
    let message = json!({"session_id": "s1", "transcript_path": "/none", "cwd": world.path("ws"),
        "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input, "tool_use_id": "t"});
    ran(command, &message.to_string())
}

/// A definition that refuses one shell command.
const NO_CURL: &str =
    "jackline: 1\npolicies: [{name: no-curl, rule: {tool: '@shell', command: 'curl *', reason: no}}]\n";

#[test]
fn no_variable_takes_the_users_own_definition_away() {
    let world = World::wired();
    world.write("home/.config/jackline/jackline.yaml", NO_CURL);
    for variable in [("HOME", "/nowhere"), ("XDG_CONFIG_HOME", "/nowhere"), ("JACKLINE_HOME", "/nowhere")] {
        asked(&world, variable, "Bash", json!({"command": "curl x"})).check(0, &["rule/no-curl"]);
        let mine = json!({"file_path": world.path("home/.claude/settings.json"), "content": "{}"});
        asked(&world, variable, "Write", mine).check(0, &["self/protected"]);
    }
}

#[test]
fn a_users_own_definition_is_found_and_protected_where_it_lay_when_it_was_wired() {
    let world = World::new();
    let mut init = world.command(&["init"]);
    init.env("XDG_CONFIG_HOME", world.path("mine"));
    ran(init, "").check(0, &["wrote"]);
    world.write("mine/jackline/jackline.yaml", NO_CURL);
    let elsewhere = ("XDG_CONFIG_HOME", "/nowhere");
    asked(&world, elsewhere, "Bash", json!({"command": "curl x"})).check(0, &["rule/no-curl"]);
    let mine = json!({"file_path": world.path("mine/jackline/jackline.yaml"), "content": "jackline: 1"});
    asked(&world, elsewhere, "Write", mine).check(0, &["self/protected", "Jackline's settings"]);
    let moved = format!("mv {} {}", world.path("mine/jackline").display(), world.path("away").display());
    asked(&world, elsewhere, "Bash", json!({ "command": moved })).check(0, &["self/protected"]);
}

#[test]
fn the_program_that_judges_is_not_replaced() {
    let world = World::wired();
    let program = world.path("bin/jackline").display().to_string();
    let here = ("HOME", world.path("home").display().to_string());
    let here = (here.0, here.1.as_str());
    asked(&world, here, "Write", json!({"file_path": program, "content": ""})).check(0, &["Jackline's program"]);
    let texts = ["cp /bin/true P", "printf x > P", "rm P", "ln -sf /bin/true P", "chmod -x P", "mv P away"];
    for text in texts.map(|text| text.replace('P', &program)) {
        asked(&world, here, "Bash", json!({ "command": text })).check(0, &["self/protected"]);
    }
    for text in ["P --version", "cp P copy", "ls -l P"].map(|text| text.replace('P', &program)) {
        assert_eq!(asked(&world, here, "Bash", json!({ "command": text })).out, "", "{text}");
    }
}

#[test]
fn a_users_own_definition_that_is_gone_is_let_go_by_a_person() {
    let world = World::wired();
    let mine = "home/.config/jackline/jackline.yaml";
    world.write(mine, NO_CURL);
    let home = world.path("home").display().to_string();
    let curls = |what: &str| asked(&world, ("HOME", &home), "Bash", json!({ "command": format!("curl {what}") }));
    curls("a").check(0, &["rule/no-curl"]);
    std::fs::remove_file(world.path(mine)).expect("removed");
    curls("b").check(0, &["rule/no-curl"]);
    let trust = ran_by_a_person(world.command(&["trust"]), "y\n");
    trust.check(0, &["is gone; what it said last is still in force", "in force no longer"]);
    assert_eq!(curls("c").out, "");
}

#[test]
fn nothing_is_put_between_a_host_and_the_program_that_judges() {
    use std::os::unix::process::CommandExt as _;
    let world = World::new();
    world.write("ws/jackline.yaml", "jackline: 1\n");
    let early = world.path("home/.local/bin").display().to_string();
    let path = format!("{early}:{}:/usr/bin:/bin", world.path("bin").display());
    let asked = |host: &str, name: &str, text: &str| {
        let (event, tool) = match host {
            "gemini" => ("BeforeTool", "run_shell_command"),
            "qwen" => ("PreToolUse", "run_shell_command"),
            _ => ("PreToolUse", "Bash"),
        };
        let message = json!({
            "session_id": "s1", "cwd": world.path("ws"), "hook_event_name": event, "tool_name": tool,
            "tool_input": { "command": text }, "tool_use_id": "t1", "timestamp": "2026-11-15T22:20:11Z",
        });
        let mut hook = world.command(&["hook", host, "--wired", "project"]);
        hook.arg0(name).env("PATH", &path);
        let answered = ran(hook, &message.to_string());
        answered.out.contains("self/protected") || answered.err.contains("self/protected")
    };
    let whole = world.path("bin/jackline").display().to_string();
    for text in ["cp /bin/true ~/.local/bin/bash", "ln -s /bin/true ~/.local/bin/bash", "mv x ~/.local/bin/bash"] {
        assert!(asked("gemini", &whole, text) && asked("qwen", &whole, text), "{text}");
        assert!(!asked("codex", &whole, text) && !asked("copilot", &whole, text), "{text}");
    }
    for host in ["gemini", "codex", "copilot", "qwen", "claude"] {
        let text = "cp /bin/true ~/.local/bin/jackline";
        assert!(asked(host, "jackline", text), "{host}: it is found by its name");
        assert!(!asked(host, &whole, text), "{host}: it is found by its place");
        assert!(!asked(host, "jackline", "cp /bin/true ~/.local/bin/other"), "{host}");
    }
    for text in ["echo exit >> ~/.zshenv", "cat x > ~/.zshenv", "rm ~/.zshenv"] {
        assert!(asked("codex", &whole, text) && !asked("claude", &whole, text), "{text}");
    }
}
