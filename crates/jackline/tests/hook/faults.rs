//! What we cannot do anything with: a tool call is blocked, a person's prompt and everything else pass, a stop is held
//! once, and nothing that was kept is lost.

use std::fs;
use std::io::Write as _;
use std::process::Command;

use serde_json::{Value, json};

use crate::world::{RULES, World, answered, ended, spawned};

/// A message of 50 MB that begins like a real one.
fn huge(event: &str) -> Vec<u8> {
    let mut message = format!("{{\"session_id\":\"s1\",\"hook_event_name\":\"{event}\",\"prompt\":\"").into_bytes();
    message.resize(50_000_000, b'x');
    message.extend(b"\"}");
    message
}

#[test]
fn input_that_is_no_message_blocks() {
    let world = World::new(Some(RULES));
    let nested = [b"[".repeat(200_000), b"]".repeat(200_000)].concat();
    let deep = format!(
        "{{\"session_id\":\"s1\",\"hook_event_name\":\"PreToolUse\",\"tool_input\":{}1{}}}",
        "[".repeat(5000),
        "]".repeat(5000)
    );
    for native in [
        b"".as_slice(),
        b"{",
        b"null",
        b"[]",
        b"{}",
        b"\xff\xfe\x00",
        b"{\"hook_event_name\":7}",
        b"{\"hook_event_name\":\"PreToolUse\"}",
        b"{\"session_id\":\"s1\",\"session_id\":\"s2\",\"hook_event_name\":\"PreToolUse\"}",
        &nested,
    ] {
        world.send(native).blocked("jackline");
    }
    assert!(!world.store().join("sessions").exists(), "nothing is kept of what no session sent");
    world.send(deep.as_bytes()).blocked("jackline");
    world.send(&huge("PreToolUse")).blocked("jackline");
}

#[test]
fn a_call_that_cannot_be_read_is_refused_on_record_and_counts() {
    let world = World::new(Some("jackline: 1\nlimits: { steps: 2 }\n"));
    world.bash("c1", "ls").silent();
    let half = b"{\"session_id\":\"s1\",\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_use_id\":\"c2\",\"tool_input\":{\"command\":\"\\ud800\"}}";
    world.send(half).blocked("cannot be read");
    let records = world.records();
    let [.., asked, decided] = records.as_slice() else { panic!("{records:?}") };
    assert_eq!((&asked["kind"], &asked["call"], &asked["step"]), (&json!("call.requested"), &json!("c2"), &json!(2)));
    assert_eq!(asked["data"]["unreadable"]["bytes"], half.len());
    assert_eq!((&decided["data"]["verdict"], &decided["data"]["code"]), (&json!("deny"), &json!("event/invalid")));
    world.bash("c3", "ls").denied("Step budget exhausted");
    assert_eq!(world.jackline(&["audit", "verify"]).exit, Some(0));
}

#[test]
fn the_end_of_a_call_that_is_too_long_to_read_may_have_written() {
    let world = World::new(Some(RULES));
    let test = json!({ "command": "./test.sh" });
    world.asks("c1", "Bash", test.clone()).silent();
    world.ran("c1", "Bash", test, json!({ "stdout": "" })).silent();
    world.bash("c2", "git commit").silent();
    world.send(&huge("PostToolUse")).silent();
    world.bash("c3", "git commit").denied("requires: test");
}

#[test]
fn an_event_that_two_names_are_told_of_is_a_gate() {
    let world = World::new(Some(RULES));
    world
        .send(b"{\"session_id\":\"s1\",\"hook_event_name\":\"PreCompact\",\"hook_event_name\":\"PreToolUse\"}")
        .blocked("cannot be read");
}

#[test]
fn one_event_that_is_named_twice_is_itself() {
    let world = World::new(Some(RULES));
    world
        .send(b"{\"session_id\":\"s1\",\"hook_event_name\":\"PreCompact\",\"hook_event_name\":\"PreCompact\"}")
        .silent();
}

#[test]
fn nothing_is_kept_of_what_cannot_be_read_where_nothing_is_declared() {
    let world = World::new(None);
    world.send(b"{\"session_id\":\"s1\",\"hook_event_name\":\"PreToolUse\",\"tool_input\":{").blocked("cannot be read");
    world.send(&huge("PostToolUse")).silent();
    assert!(!world.store().join("sessions").exists());
}

#[test]
fn where_nobody_knows_what_is_secret_only_names_are_kept() {
    let world = World::new(Some("jackline: 2\n"));
    world.bash("c1", "say moonlight").blocked("jackline check");
    world.ran("c1", "Bash", json!({ "command": "say moonlight" }), json!({ "stdout": "moonlight" })).silent();
    let records = world.records();
    assert!(!json!(records).to_string().contains("moonlight"), "{records:?}");
    assert_eq!((&records[0]["target"], &records[0]["replayable"]), (&json!("tool:Bash"), &json!(false)));
    assert!(records[0]["data"]["withheld"]["sha256"].is_string(), "{records:?}");
}

#[test]
fn calls_that_no_definition_judged_are_on_record() {
    let world = World::new(Some("jackline: 2\n"));
    world.bash("c1", "ls").blocked("jackline check");
    world.ran("c0", "Bash", json!({ "command": "ls" }), json!({})).silent();
    assert_eq!(world.kinds(), ["call.requested", "call.finished"]);
    let refused = &world.records()[1];
    assert_eq!((&refused["step"], &refused["data"]["code"]), (&json!(1), &json!("fault/definition")));
    assert_eq!(world.jackline(&["audit", "verify"]).exit, Some(0));
    let explained = world.jackline(&["explain", "last"]);
    assert!(explained.exit == Some(0) && !explained.stdout.is_empty(), "{explained:?}");
}

#[test]
fn a_prompt_that_cannot_be_read_is_not_swallowed() {
    let world = World::new(Some(RULES));
    world.send(&huge("UserPromptSubmit")).silent();
    world.send(b"{\"session_id\":\"s1\",\"hook_event_name\":\"UserPromptSubmit\",\"prompt\":\"\xff\"}").silent();
    world.send(b"{\"session_id\":\"s1\",\"hook_event_name\": \"PreCompact\", oops").silent();
    // What an agent chose comes later in a message than its name.
    let forged = b"{\"session_id\":\"s1\",\"hook_event_name\":\"PreToolUse\",\"tool_input\":{\"hook_event_name\":\"UserPromptSubmit\"},";
    world.send(forged).blocked("jackline");
}

#[test]
fn a_stop_is_held_once() {
    let world = World::new(Some(RULES));
    fs::write(world.store(), "in the way").unwrap();
    let held = world.tell("Stop", json!({ "stop_hook_active": false })).json();
    assert_eq!(held["decision"], "block");
    assert!(held["reason"].as_str().unwrap().contains("Jackline could not decide"), "{held}");
    // No record can be made of it, so the person is told.
    let let_go = world.tell("Stop", json!({ "stop_hook_active": true })).json();
    assert!(let_go.get("decision").is_none(), "{let_go}");
    let told = let_go["systemMessage"].as_str().unwrap();
    assert!(told.starts_with("jackline: the agent stopped, and nobody judged it: "), "{told}");
}

#[test]
fn a_definition_that_breaks_holds_a_stop_once_and_the_record_says_so() {
    let world = World::new(Some(RULES));
    world.tell("Stop", json!({ "stop_hook_active": false })).json();
    // Neither the file nor what was accepted of it can be used.
    fs::write(world.root().join("jackline.yaml"), "jackline: 2\n").unwrap();
    fs::remove_dir_all(world.store().join("accepted")).unwrap();
    let held = world.tell("Stop", json!({ "stop_hook_active": true })).json();
    assert_eq!(held["decision"], "block", "{held}");
    assert!(world.tell("Stop", json!({ "stop_hook_active": true })).json().get("decision").is_none());
    let last = world.records().pop().unwrap();
    assert_eq!((&last["data"]["stopped"], &last["data"]["verdict"]), (&json!("fault"), &json!("allow")));
}

#[test]
fn a_store_that_cannot_be_used_blocks_tools_and_nothing_else() {
    let world = World::new(Some(RULES));
    fs::write(world.store(), "in the way").unwrap();
    world.bash("c1", "ls").blocked("Jackline could not decide");
    world.tell("UserPromptSubmit", json!({ "prompt": "go" })).silent();
    world.tell("SessionStart", json!({ "source": "startup" })).silent();
    world.tell("PreCompact", json!({ "trigger": "auto" })).silent();
    world.ran("c1", "Bash", json!({ "command": "ls" }), json!({})).silent();
    assert_eq!(fs::read_to_string(world.store()).unwrap(), "in the way");
}

#[test]
fn a_broken_definition_blocks_where_there_never_was_another() {
    for definition in ["jackline: 1\npolices: []\n", "jackline: 2\n", "", "\u{0}", "a: [", "jackline: 1\njackline: 1\n"]
    {
        let world = World::new(Some(definition));
        world.bash("c1", "ls").blocked("ask the owner to run `jackline check`");
        world.tell("UserPromptSubmit", json!({ "prompt": "go" })).silent();
    }
}

#[test]
fn without_a_home_the_store_on_the_command_line_serves() {
    let world = World::new(Some(RULES));
    let native = world.message(
        "PreToolUse",
        json!({ "tool_name": "Bash", "tool_input": { "command": "git commit" }, "tool_use_id": "c1" }),
    );
    let native = native.to_string();
    answered(world.hook().env_remove("HOME"), native.as_bytes()).denied("requires: test");
    let mut bare = std::process::Command::new(env!("CARGO_BIN_EXE_jackline"));
    bare.args(["hook", "claude"]).current_dir(world.root()).env_clear();
    answered(&mut bare, native.as_bytes()).blocked("there is no place for the state");
}

#[test]
fn a_command_line_that_is_not_understood_blocks() {
    let world = World::new(Some(RULES));
    for arguments in [
        &["hook"][..],
        &["hook", "nobody"],
        &["hook", "claude", "--wired", "everywhere"],
        &["hook", "claude", "--stor", "x"],
    ] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_jackline"));
        command.args(arguments).current_dir(world.root()).env_clear();
        let answer = answered(&mut command, b"{}");
        assert_eq!((answer.exit, answer.stdout.as_str()), (Some(2), ""), "{arguments:?}: {answer:?}");
    }
}

#[test]
fn a_host_that_says_nothing_is_answered_before_it_loses_patience() {
    let world = World::new(Some(RULES));
    let mut silent = spawned(&mut world.hook());
    let input = silent.stdin.take().unwrap();
    ended(silent).blocked("it took longer than its deadline");
    drop(input);
    let mut begun = spawned(&mut world.hook());
    let mut input = begun.stdin.take().unwrap();
    input.write_all(b"{\"session_id\":\"s1\",\"hook_event_name\":\"UserPromptSubmit\",").unwrap();
    ended(begun).blocked("it took longer than its deadline");
}

#[test]
fn a_deadline_on_a_host_that_lets_another_hook_consent_is_said_as_its_refusals_are() {
    let world = World::new(Some(RULES));
    let mut qwen = std::process::Command::new(env!("CARGO_BIN_EXE_jackline"));
    qwen.args(["hook", "qwen"]).current_dir(world.root()).env_clear();
    let mut silent = spawned(&mut qwen);
    let input = silent.stdin.take().unwrap();
    let answer = ended(silent);
    drop(input);
    let refusal: Value = serde_json::from_str(&answer.stderr).unwrap();
    assert_eq!((answer.exit, &refusal["continue"]), (Some(2), &json!(false)));
    for reason in ["/stopReason", "/reason", "/hookSpecificOutput/permissionDecisionReason"] {
        let reason = refusal.pointer(reason).and_then(Value::as_str).unwrap();
        assert!(reason.contains("it took longer than its deadline"), "{reason}");
    }
}

#[test]
fn a_reply_that_nobody_can_read_is_no_consent() {
    let world = World::new(Some(RULES));
    let call = json!({ "tool_name": "Bash", "tool_input": { "command": "git commit" }, "tool_use_id": "c1" });
    let mut child = spawned(&mut world.hook());
    drop(child.stdout.take());
    let mut input = child.stdin.take().unwrap();
    input.write_all(world.message("PreToolUse", call).to_string().as_bytes()).unwrap();
    drop(input);
    assert_eq!(ended(child).exit, Some(2));
}

#[test]
fn a_file_that_may_not_grow_is_a_fault_and_no_end_of_ours() {
    let world = World::new(Some(RULES));
    let limited = |event: &str, fields| {
        let hook = world.hook();
        let mut command = std::process::Command::new("bash");
        command.args(["-c", "ulimit -f 0; exec \"$0\" \"$@\""]).arg(hook.get_program()).args(hook.get_args());
        command.current_dir(world.root()).env_clear().env("HOME", world.home()).env("CLAUDECODE", "1");
        answered(&mut command, world.message(event, fields).to_string().as_bytes())
    };
    let call = json!({ "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_use_id": "c1" });
    limited("PreToolUse", call).blocked("could not decide");
    let stopped = limited("Stop", json!({ "stop_hook_active": false }));
    assert_eq!(stopped.exit, Some(0), "{stopped:?}");
    assert!(stopped.stdout.contains("could not decide"), "{stopped:?}");
}

#[test]
fn an_answer_that_nobody_can_read_is_told_by_the_exit_code() {
    let world = World::new(Some(RULES));
    let message = world.message(
        "PreToolUse",
        json!({ "tool_name": "Write", "tool_input": { "file_path": ".env", "content": "x" }, "tool_use_id": "t1" }),
    );
    let file = world.home().join("message.json");
    fs::write(&file, message.to_string()).unwrap();
    for nowhere in [">&-", "> /dev/full"] {
        let hook = world.hook();
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &format!("exec \"$@\" < \"$MESSAGE\" {nowhere}"), "sh"]).arg(hook.get_program());
        shell.args(hook.get_args()).current_dir(world.root()).env_clear().env("HOME", world.home());
        shell.env("MESSAGE", &file);
        assert_eq!(shell.output().unwrap().status.code(), Some(2), "{nowhere}");
    }
}
