//! Tokens of a client's session, counted from its transcript.

use std::fs;
use std::io::Write as _;

use serde_json::{Value, json};

use crate::world::World;

const LIMITED: &str = "jackline: 1\nloop: false\nlimits: { tokens: 1000, cost_usd: 5 }\n";

fn message(id: &str, output: u64) -> String {
    let usage = json!({ "input_tokens": 3, "output_tokens": output, "cache_creation_input_tokens": 97, "cache_read_input_tokens": 99999 });
    let message = json!({ "id": id, "type": "message", "role": "assistant", "content": [], "usage": usage });
    json!({ "type": "assistant", "message": message, "uuid": id }).to_string() + "\n"
}

fn append(world: &World, text: &str) {
    let path = world.top().join("t.jsonl");
    fs::OpenOptions::new().create(true).append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

fn sends(world: &World, name: &str, more: Value) -> crate::world::Answered {
    let mut more = more;
    more["transcript_path"] = json!(world.top().join("t.jsonl"));
    world.tell(name, more)
}

fn asks(world: &World, n: u32) -> crate::world::Answered {
    let input = json!({ "command": format!("echo {n}") });
    sends(world, "PreToolUse", json!({ "tool_name": "Bash", "tool_input": input, "tool_use_id": format!("c{n}") }))
}

#[test]
fn a_sessions_tokens_run_out() {
    let world = World::new(Some(LIMITED));
    let told = sends(&world, "SessionStart", json!({ "source": "startup" })).json();
    let notice = told["systemMessage"].as_str().unwrap();
    assert!(notice.contains("`limits.cost_usd` has no source on this host"), "{notice}");
    append(&world, &(message("m1", 1) + &message("m1", 300)));
    asks(&world, 1).silent();
    append(&world, &message("m2", 400));
    let sub = world.top().join("agent.jsonl");
    fs::write(&sub, message("a1", 99)).unwrap();
    asks(&world, 2).silent();
    // A sub-agent that stops names a transcript of its own: 400 and 500 and 199.
    sends(&world, "SubagentStop", json!({ "agent_id": "a", "agent_transcript_path": sub })).silent();
    asks(&world, 3).denied("Token budget exhausted");
}

#[test]
fn what_cannot_be_read_is_on_record_and_refuses_nothing() {
    let world = World::new(Some(LIMITED));
    fs::create_dir(world.top().join("t.jsonl")).unwrap();
    asks(&world, 1).json()["systemMessage"]
        .as_str()
        .filter(|told| told.contains("What was used cannot be told"))
        .expect("the person is told");
    asks(&world, 2).silent();
    let records = world.records();
    let found: Vec<&Value> = records
        .iter()
        .flat_map(|record| record["data"]["findings"].as_array().into_iter().flatten())
        .filter(|finding| finding["code"] == "budget/unmetered")
        .collect();
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn a_soft_limit_is_told_once_to_agent_and_person() {
    let world = World::new(Some("jackline: 1\nloop: false\nlimits: { steps: { max: 1, soft: true } }\n"));
    asks(&world, 1).silent();
    let told = asks(&world, 2).json();
    let person = told["systemMessage"].as_str().unwrap();
    assert!(person.contains("The soft limit of 1 steps is reached"), "{person}");
    let agent = told["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(agent.contains("ask the person whether to go on"), "{agent}");
    assert_eq!(told["hookSpecificOutput"]["permissionDecision"], Value::Null, "nothing is approved by it");
    asks(&world, 3).silent();
}
