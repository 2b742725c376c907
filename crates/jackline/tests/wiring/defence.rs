//! The wired hook defends its own wiring while a session runs.

use std::process::Command;

use serde_json::{Value, json};

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
    let world = World::wired();
    let hook = world.settings()["hooks"]["ConfigChange"][0]["hooks"][0].clone();
    for (source, file) in [("user_settings", USER), ("project_settings", PROJECT)] {
        world.write(file, "{\"model\": \"opus\"}");
        assert_eq!(told(&world, &hook, source, file).out, "");
        world.write(file, "{\"disableAllHooks\": true}");
        told(&world, &hook, source, file).check(0, &["\"decision\":\"block\""]);
    }
}
