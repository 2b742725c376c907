//! What judges an agent stays out of its reach: steps, confinement and scripts of checks, with the real binary.

#![expect(clippy::indexing_slicing, reason = "a test that cannot go on says so by panicking")]

use serde_json::{Value, json};

use crate::World;

fn answers(world: &World, events: &[Value]) -> Vec<Value> {
    let lines = events.iter().map(|event| {
        let mut event = event.clone();
        event["session"] = json!("s1");
        event["host"] = json!("claude");
        format!("{event}\n")
    });
    let (_, stdout, stderr) = world.run(&["eval"], &lines.collect::<String>());
    let read = |line: &str| serde_json::from_str(line).expect("an answer");
    let answers: Vec<Value> = stdout.lines().map(read).collect();
    assert_eq!(answers.len(), events.len(), "{stderr}");
    answers
}

fn answer(world: &World, event: &Value) -> Value {
    answers(world, std::slice::from_ref(event)).remove(0)
}

fn first_todo(world: &World) -> String {
    let listed = answer(world, &json!({ "event": "todo.list" }));
    listed["result"]["todos"][0]["id"].as_str().expect("a todo").to_owned()
}

/// Starts, claims and verifies a todo; what became of it.
fn proven(world: &World, id: &str) -> Value {
    answer(world, &json!({ "event": "todo.start", "todo": { "id": id } }));
    let claim = json!({ "id": id, "explanation": "it is all there, just look" });
    answer(world, &json!({ "event": "todo.claim", "todo": claim }));
    answer(world, &json!({ "event": "todo.verify", "todo": { "id": id } }))
}

fn shell(world: &World, command: &str) {
    let call = json!({ "id": command, "tool": "Bash", "args": { "command": command } });
    let finished = json!({ "event": "call.finished", "call": call, "ok": true, "output": "" });
    let all = answers(world, &[json!({ "event": "call.requested", "call": call }), finished]);
    assert_eq!(all[0]["verdict"], "allow", "{command}");
}

fn step(command: &str) -> String {
    json!({ "test": { "tool": "@shell", "command": command } }).to_string()
}

const REQUIRED: &str = r#"todos: { require: [ { content: R, checks: [ { call_succeeded: { tool: test } } ] } ] }"#;

#[test]
fn a_step_that_nobody_trusted_proves_no_check_of_another_definition() {
    let world = World::defined(&format!("jackline: 1\nloop: false\nsteps: {}\n{REQUIRED}\n", step("cargo test*")));
    let id = first_todo(&world);
    world.write("ws/jackline.yaml", &format!("jackline: 1\nloop: false\nsteps: {}\n{REQUIRED}\n", step("true*")));
    shell(&world, "true");
    let refused = proven(&world, &id);
    assert_eq!(refused["code"], "todo/checks", "{refused}");
    shell(&world, "cargo test");
    let both = answer(&world, &json!({ "event": "todo.verify", "todo": { "id": id } }));
    assert_eq!(both["result"]["status"], "verified", "each definition has its call: {both}");
}

#[test]
fn a_projects_step_proves_no_check_of_the_users() {
    let world = World::defined(&format!("jackline: 1\nloop: false\nsteps: {}\n", step("true*")));
    let users = format!("jackline: 1\nloop: false\nsteps: {}\n{REQUIRED}\n", step("cargo test*"));
    world.write("home/.config/jackline/jackline.yaml", &users);
    let id = first_todo(&world);
    shell(&world, "true");
    assert_eq!(proven(&world, &id)["code"], "todo/checks");
    shell(&world, "cargo test");
    let verified = answer(&world, &json!({ "event": "todo.verify", "todo": { "id": id } }));
    assert_eq!(verified["result"]["status"], "verified", "{verified}");
}

#[test]
fn a_step_below_a_step_is_part_of_what_it_means() {
    let steps = |command: &str| {
        let inner = json!({ "tool": "@shell", "command": command });
        let steps = json!({ "inner": inner, "test": { "tool": "inner" } });
        format!("jackline: 1\nloop: false\nsteps: {steps}\ncompletion: {{ done: test }}\n")
    };
    let world = World::defined(&steps("cargo test*"));
    answer(&world, &json!({ "event": "session.started" }));
    world.write("ws/jackline.yaml", &steps("true*"));
    shell(&world, "true");
    let stop = answer(&world, &json!({ "event": "stop.requested", "message": "done" }));
    assert_eq!(stop["verdict"], "deny", "{stop}");
}

#[test]
fn confinement_is_not_switched_off_by_a_definition_that_nobody_trusted() {
    let world = World::defined("jackline: 1\nchecks: { confine: off, network: true }\n");
    let users = "jackline: 1\ncompletion: { command: { run: [sh, -c, \"true\"] } }\n";
    world.write("home/.config/jackline/jackline.yaml", users);
    let told = "`checks` counts only after `jackline trust` where it loosens (checks.confine loosened from auto to off; \
                checks.network was switched on)";
    let (_, status, _) = world.run(&["status"], "");
    assert!(status.contains(told), "{status}");
    answer(&world, &json!({ "event": "stop.requested", "message": "done" }));
    let (_, exported, _) = world.run(&["audit", "export"], "");
    let ran = exported.lines().find(|line| line.contains("\"ran\"")).expect("it ran");
    assert!(!ran.contains("nobody asked for it"), "{ran}");
}

#[test]
fn what_a_persons_check_runs_is_bound_and_protected() {
    let world = World::defined("jackline: 1\nloop: false\n");
    world.write("ws/c.sh", "exit 1\n");
    answer(&world, &json!({ "event": "session.started" }));
    let check = r#"{"command_exit_zero": ["sh", "c.sh"]}"#;
    let (code, _, stderr) = world.at_terminal(&["todo", "add", "x", "--check", check, "--yes"], "");
    assert_eq!(code, Some(0), "{stderr}");
    let id = first_todo(&world);
    let failed = proven(&world, &id);
    assert!(failed["reason"].as_str().is_some_and(|text| text.contains("it exited with 1")), "{failed}");
    let write = json!({ "tool": "Write", "args": { "file_path": "c.sh", "content": "exit 0" } });
    let refused = answer(&world, &json!({ "event": "call.requested", "call": write }));
    assert_eq!(refused["code"], "self/protected", "{refused}");
    assert!(refused["reason"].as_str().is_some_and(|text| text.contains("a todo's check runs")), "{refused}");
    world.write("ws/c.sh", "touch evil\nexit 0\n");
    let altered = answer(&world, &json!({ "event": "todo.verify", "todo": { "id": id } }));
    assert!(altered["reason"].as_str().is_some_and(|text| text.contains("`c.sh` changed since")), "{altered}");
    assert!(!world.path("ws/evil").exists());
    let other = r#"{"command_exit_zero": ["sh", "later.sh"]}"#;
    let (code, _, stderr) = world.at_terminal(&["todo", "add", "x", "--check", other, "--yes"], "");
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("`later.sh` is not there"), "{stderr}");
}

#[test]
fn trust_says_what_each_command_runs_and_what_cannot_be_told() {
    let world = World::defined(
        "jackline: 1\ncompletion: { all: [ { command: { run: [python3, -m, tools.verify] } }, \
         { command: { run: [make, -C, scripts] } }, { command: { run: [bash, -o, pipefail, gone.sh] } }, \
         { command: { run: [sh, -c, \"sh $X/y.sh\"] } } ] }\n",
    );
    world.write("ws/tools/verify.py", "exit(1)\n");
    let (code, stdout, stderr) = world.at_terminal(&["trust", "--yes"], "");
    assert_eq!(code, Some(0), "{stderr}");
    for line in [
        "  runs: python3 -m tools.verify\n  with: tools/verify.py (sha256:HASH)\n",
        "  runs: make -C scripts\n  with: nothing of the workspace; what the program reads there by itself is not protected\n",
        "  runs: bash -o pipefail gone.sh\n  with: gone.sh, which is not there: the command is skipped until you trust it\n",
        "  runs: sh -c sh $X/y.sh\n  note: what else of the workspace it runs cannot be told, and is not protected\n",
    ] {
        assert!(stdout.contains(line), "{line}{stdout}");
    }
    let write = json!({ "tool": "Write", "args": { "file_path": "tools/verify.py", "content": "" } });
    let refused = answer(&world, &json!({ "event": "call.requested", "call": write }));
    assert_eq!(refused["code"], "self/protected", "{refused}");
}

/// A shell by the name of a host, which strips its marks from what it starts.
#[cfg(target_os = "linux")]
#[test]
fn below_a_host_nobody_is_taken_for_a_person() {
    let world = World::defined(
        "jackline: 1\nloop: false\ntodos: { require: [ { content: R, checks: [ { file_exists: never } ] } ] }\n",
    );
    let id = first_todo(&world);
    let host = world.path("claude");
    std::os::unix::fs::symlink("/bin/sh", &host).expect("linked");
    let line = format!("{} todo waive {id} --reason ok --yes; exit $?", env!("CARGO_BIN_EXE_jackline"));
    let mut command = std::process::Command::new(&host);
    command.args(["-c", &line]).current_dir(world.path("ws")).env_clear().env("HOME", world.path("home"));
    let (code, _, stderr) = world.spawn_at_terminal(command, "");
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("an agent's session is around (process ") && stderr.contains("is `claude`)"), "{stderr}");
    // The marks of a process above count as well, though they were taken away below it.
    let line = format!("env -u CLAUDE_CODE_ENTRYPOINT {line}");
    let mut command = std::process::Command::new("/bin/sh");
    command.args(["-c", &line]).current_dir(world.path("ws")).env_clear().env("HOME", world.path("home"));
    command.env("CLAUDE_CODE_ENTRYPOINT", "cli").env("PATH", "/usr/bin:/bin");
    let (code, _, stderr) = world.spawn_at_terminal(command, "");
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("has `CLAUDE_CODE_ENTRYPOINT`"), "{stderr}");
    let listed = answer(&world, &json!({ "event": "todo.list" }));
    assert_eq!(listed["result"]["todos"][0]["status"], "pending");
}

#[test]
fn every_mark_of_a_host_is_known() {
    let world = World::defined("jackline: 1\nloop: false\ntodos: { require: [ { content: R } ] }\n");
    let id = first_todo(&world);
    for mark in [
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_PID",
        "CLAUDE_CODE_MESSAGING_SOCKET",
        "CLAUDE_PROJECT_DIR",
        "CODEX_THREAD_ID",
    ] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_jackline"));
        command.args(["todo", "waive", &id, "--reason", "ok", "--yes"]).current_dir(world.path("ws"));
        command.env_clear().env("HOME", world.path("home")).env(mark, "x");
        let (code, _, stderr) = world.spawn_at_terminal(command, "");
        assert_eq!(code, Some(2), "{mark}: {stderr}");
        assert!(stderr.contains(&format!("(`{mark}` is set)")), "{stderr}");
    }
}
