//! Our own MCP server in a session whose hooks are wired: todos that the model cannot tick off by saying so, and files
//! through guarded tools. Each call is one call, in the session of the hooks.

use std::process::{Command, Output};

use jackline_rehearsal::client::Play;
use jackline_rehearsal::{Run, Script};
use serde_json::{Value, json};

use super::{JACKLINE, World, outcome, ran, refused, sound};

/// Registers the server as a person does, whose client keeps its settings where the stage has them.
fn registered() -> World {
    let world = World::defined();
    let done = init(&world, &["init", "claude", "--mcp"]);
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    world
}

fn init(world: &World, arguments: &[&str]) -> Output {
    let mut command = Command::new(JACKLINE);
    command.args(arguments).current_dir(world.stage.repo()).env_clear();
    command.env("HOME", world.stage.home()).env("CLAUDE_CONFIG_DIR", world.stage.home().join(".claude"));
    command.env("PATH", world.path()).output().expect("the program starts")
}

fn tool(name: &str) -> String {
    format!("mcp__jackline__{name}")
}

/// The structured content of a call, as the model was shown it.
#[track_caller]
fn shown(run: &Run, name: &str) -> Value {
    let text = outcome(run, name).text;
    serde_json::from_str(&text).unwrap_or_else(|fault| panic!("{fault}: {text}"))
}

/// The ids of the todos, which no script can know before.
fn ids_of_todos(world: &World) -> Vec<String> {
    let listed = world.jackline(&["todo", "list", "--format", "json"]);
    let todos: Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    let todos = todos["todos"].as_array().expect("a list").clone();
    todos.iter().map(|todo| todo["id"].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn a_todo_is_claimed_with_evidence_and_verified_by_the_runtime() {
    let world = registered();
    let checked = json!({"content": "report written", "checks": [{"file_exists": "report.md"}]});
    let begun = world.play(
        Script::new()
            .call("plain", &tool("todo_create"), json!({"content": "the tests pass"}))
            .call("checked", &tool("todo_create"), checked)
            .call("look", &tool("todo_list"), json!({}))
            .say("later"),
    );
    sound(&begun);
    assert_eq!(shown(&begun, "plain")["status"], "pending");
    assert_eq!(shown(&begun, "look")["todos"].as_array().map(Vec::len), Some(2));
    let session = begun.session();
    let ids = ids_of_todos(&world);
    let (plain, checked) = (ids[0].as_str(), ids[1].as_str());
    let claim = |id: &str, evidence: Value| json!({"id": id, "explanation": "ran the tests and looked at what they say", "evidence": evidence});
    let run = world.play_with(
        Script::new()
            .call("start", &tool("todo_start"), json!({"id": plain}))
            .call("bare", &tool("todo_claim"), claim(plain, json!([])))
            .call("lie", &tool("todo_claim"), claim(plain, json!([{"command": "./check.sh"}])))
            .call("start too", &tool("todo_start"), json!({"id": checked}))
            .call("early", &tool("todo_claim"), claim(checked, json!([])))
            .call("unproven", &tool("todo_verify"), json!({"id": checked}))
            .bash("work", "echo findings > report.md")
            .bash("test", "./check.sh")
            .call("claim", &tool("todo_claim"), claim(plain, json!([{"command": "./check.sh"}])))
            .call("verify", &tool("todo_verify"), json!({"id": checked}))
            .say("done"),
        &Play::default().with(&["--resume", session]),
    );
    sound(&run);
    ran(&run, "start");
    refused(&run, "bare", &["todo/evidence", "needs evidence"]);
    refused(&run, "lie", &["No command `./check.sh` was run in this session"]);
    refused(&run, "unproven", &["todo/checks", "report.md"]);
    assert_eq!(shown(&run, "claim")["status"], "claimed");
    let verified = shown(&run, "verify");
    assert_eq!((&verified["status"], &verified["results"][0]["passed"]), (&json!("verified"), &json!(true)));
    let actors: Vec<Value> = world
        .records()
        .iter()
        .filter(|record| record["kind"] == "todo.verified")
        .map(|record| record["actor"].clone())
        .collect();
    assert_eq!(actors, [json!("runtime")]);
}

#[test]
fn checks_decide_and_files_are_guarded_and_each_call_is_one() {
    let world = registered();
    let run = world.play(
        Script::new()
            .call(
                "forged",
                &tool("todo_create"),
                json!({
                    "content": "notes are there", "checks": [{"file_exists": "notes.md"}],
                    "_jackline": {"session": "another", "call": "toolu_none"},
                }),
            )
            .call("blind", &tool("write_file"), json!({"path": "README.md", "content": "gone"}))
            .call("read", &tool("read_file"), json!({"path": "README.md"}))
            .call("edit", &tool("edit_file"), json!({"path": "README.md", "old_text": "small", "new_text": "tiny"}))
            .call("guard", &tool("write_file"), json!({"path": "jackline.yaml", "content": "jackline: 1"}))
            .call("none", &tool("search"), json!({"pattern": "no such text anywhere"}))
            .say("done"),
    );
    sound(&run);
    ran(&run, "forged");
    refused(&run, "blind", &["must be read before overwriting"]);
    assert_eq!(shown(&run, "read")["content"], "# A small project\n");
    ran(&run, "edit");
    assert_eq!(std::fs::read_to_string(world.stage.repo().join("README.md")).expect("there"), "# A tiny project\n");
    refused(&run, "guard", &["guards this session"]);
    assert!(outcome(&run, "none").text.contains("broaden the filters"), "{}", outcome(&run, "none").text);
    let records = world.records();
    let sessions: std::collections::BTreeSet<String> =
        records.iter().map(|record| record["session"].to_string()).collect();
    assert_eq!(sessions.len(), 1, "the server joined the session of the hooks");
    for call in ["forged", "read", "edit"] {
        let seen = world.records_of("call.requested", call);
        let hosts: Vec<&str> = seen.iter().filter_map(|record| record["host"].as_str()).collect();
        assert_eq!(hosts, ["claude", "mcp"], "{call}");
        assert_eq!(seen[0]["step"], seen[1]["step"], "`{call}` was counted once");
    }
}
