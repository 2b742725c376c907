//! Random definitions and events from a small pool, so that they meet: the same few tools, files, names and agents.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

/// The session that all events belong to.
pub(crate) const SESSION: &str = "s1";

/// The middle of the time that events are from.
pub(crate) const MIDDLE_MS: i64 = 1_767_225_600_000;

/// Milliseconds that events lie apart at most, forwards or backwards.
const APART_MS: i64 = 20_000;

fn guards() -> Vec<Value> {
    vec![
        json!({ "sequence": { "requires": { "deploy": ["test"] } } }),
        json!({ "sequence": { "requires": { "write_file": ["test", "read_file"] }, "fresh": true } }),
        json!({ "sequence": { "requires": { "push": ["proof"] }, "fresh": true } }),
        json!({ "read_before_write": {} }),
        json!({ "read_before_write": { "own_writes": false, "stale": "allow" } }),
        json!({ "paths": { "outside": "deny", "protect": ["*.lock"] } }),
        json!({ "paths": { "outside": "allow", "protect": ["a.txt", "sub/**"], "protect_reads": true } }),
        json!({ "rule": { "tool": "deploy", "verdict": "ask", "reason": "are you sure?" } }),
        json!({ "rule": { "tool": "@shell", "command": "git push*", "verdict": "deny", "reason": "no pushing" } }),
        json!({ "rule": { "tool": "look", "args": { "n": { "gt": 2 } }, "verdict": "halt", "reason": "too far" } }),
        json!({ "rule": { "tool": "*", "session": { "calls": { "gt": 6 } }, "verdict": "deny", "reason": "enough" } }),
        json!({ "rule": { "path": "outside", "verdict": "ask", "reason": "outside" } }),
        json!({ "rule": { "tool": "@write", "session": { "not_done": "test" }, "verdict": "deny", "reason": "test" } }),
    ]
}

/// One policy, enforced in any way, sometimes only for some calls.
pub(crate) fn policy() -> impl Strategy<Value = Value> {
    let enforce = select(vec!["deny", "deny", "ask", "warn", "off"]);
    let when = prop::option::weighted(0.2, select(vec![json!({ "tool": "@write" }), json!({ "agent": "sub" })]));
    (select(guards()), enforce, when, any::<bool>()).prop_map(|(mut guard, enforce, when, lenient)| {
        let fields = guard.as_object_mut().unwrap();
        fields.insert("enforce".to_owned(), json!(enforce));
        fields.insert("on_fault".to_owned(), json!(if lenient { "allow" } else { "deny" }));
        fields.extend(when.map(|when| ("when".to_owned(), when)));
        guard
    })
}

pub(crate) fn policies() -> impl Strategy<Value = Vec<Value>> {
    vec(policy(), 0..6)
}

/// A definition around policies; the rest of it is fixed, so that two differ in their policies alone.
pub(crate) fn definition(policies: &[Value]) -> String {
    let files = |name: &str| json!({ "files": [name] });
    let command = json!({ "command": { "run": ["test", "-f", "sub/c.txt"], "timeout": "5s" } });
    let checks = json!([{ "any": [files("new.txt"), files("a.txt")] }, { "any": [{ "done": "proof" }, command] }]);
    let completion = json!({ "all": checks, "blocks_max": 2, "when": "worked", "subagents": true });
    definition_with(policies, &Map::from_iter([("completion".to_owned(), completion)]))
}

/// The same with further members.
pub(crate) fn definition_with(policies: &[Value], more: &Map<String, Value>) -> String {
    let mut whole = json!({
        "jackline": 1,
        "tools": tools("allow"),
        "steps": {
            "push": { "tool": "@shell", "command": "git push*" },
            "proof": { "tool": "@shell", "command": "cargo test*" },
        },
        "policies": policies,
        "feedback": [
            { "static": "on course", "every_n_calls": 3 },
            { "name": "again", "static": "again", "every_n_seconds": 7, "on_file_created": "a.txt" },
            { "deadline": {}, "every_n_calls": 2 },
        ],
        "store": { "sync": "os" },
    });
    whole.as_object_mut().unwrap().extend(more.clone());
    whole.to_string()
}

fn tools(unknown: &str) -> Value {
    let look = json!({ "kind": "other", "schema": { "properties": { "n": { "maximum": 2 } } } });
    let declared = json!({ "deploy": { "kind": "other" }, "test": { "kind": "other" }, "look": look });
    json!({ "unknown": unknown, "declare": declared })
}

/// What a whole layer may add: how it counts, its limits, its loop guard, its stance on unknown tools.
pub(crate) fn settings() -> impl Strategy<Value = Map<String, Value>> {
    let mode = select(vec!["enforce", "enforce", "observe"]);
    let repeat =
        select(vec![json!(false), json!({ "window": 2, "threshold": 2 }), json!({ "window": 5, "threshold": 3 })]);
    let limits = select(vec![json!({}), json!({ "steps": 3 }), json!({ "deadline": "30s" }), json!({ "tokens": 20 })]);
    let reads = select(vec![json!({}), json!({ "lines_max": 1 }), json!({ "lines_max": 3, "bytes_max": 4 })]);
    (mode, repeat, limits, reads, any::<bool>()).prop_map(|(mode, repeat, limits, reads, strict)| {
        let stance = if strict { "deny" } else { "allow" };
        let shell = json!({ "opaque": stance });
        let members = [
            ("mode", json!(mode)),
            ("loop", repeat),
            ("limits", limits),
            ("reads", reads),
            ("shell", shell),
            ("tools", tools(stance)),
        ];
        members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    })
}

fn call() -> impl Strategy<Value = Value> {
    const PATHS: &[&str] = &[
        "a.txt",
        "./a.txt",
        "sub/../a.txt",
        "b.txt",
        "sub/c.txt",
        "new.txt",
        "x.lock",
        "link",
        "../out.txt",
        "jackline.yaml",
        "",
    ];
    const COMMANDS: &[&str] =
        &["cargo test", "git push --force", "cat a.txt", "echo x > b.txt", "rm -rf sub", "$X", "(", "cargo test; true"];
    let file = (select(vec!["read_file", "write_file", "edit_file"]), select(PATHS))
        .prop_map(|(tool, path)| json!({ "tool": tool, "args": { "path": path, "content": "text" } }));
    let shell = select(COMMANDS).prop_map(|command| json!({ "tool": "Bash", "args": { "command": command } }));
    let plain = (select(vec!["deploy", "test", "look", "look", "frobnicate"]), 0..4_u8)
        .prop_map(|(tool, n)| json!({ "tool": tool, "args": { "n": n } }));
    (prop_oneof![3 => file, 2 => shell, 3 => plain], prop::option::of(0..6_u8)).prop_map(|(mut call, id)| {
        call.as_object_mut().unwrap().extend(id.map(|id| ("id".to_owned(), json!(format!("c{id}")))));
        call
    })
}

fn body() -> impl Strategy<Value = Value> {
    let output = select(vec!["done", "one\ntwo\nthree\nfour\n", "\0", ""]);
    let finished = (call(), any::<bool>(), 0..9_u8, output).prop_map(|(call, ok, tokens, output)| {
        let usage = json!({ "input_tokens": tokens, "output_tokens": 1, "cost_usd": 0.25 });
        json!({ "event": "call.finished", "call": call, "ok": ok, "output": output, "usage": usage })
    });
    let plan = json!({
        "action_type": "STOP", "rationale": "done", "tool_calls": [], "expected_output_artifacts": [], "stop_condition": null
    });
    let produced = select(vec![plan.to_string(), "{}".to_owned(), "{\"a\":1,\"a\":2}".to_owned()])
        .prop_map(|text| json!({ "event": "output.produced", "schema": "plan", "text": text, "final": true }));
    let stopped = select(vec!["Done.", "Done.", "<park>no key</park>"])
        .prop_map(|message| json!({ "event": "stop.requested", "message": message }));
    let named = (select(vec!["session.snapshot", "session.restore"]), select(vec!["one", "two"]))
        .prop_map(|(event, name)| json!({ "event": event, "name": name }));
    let set = (select(vec!["look", "Bash"]), 0..2_u8).prop_map(|(tool, max)| {
        let demand = json!({ "tool_budget": { "tool": tool, "max_calls": max }, "ttl_steps": 3, "ttl": "9s" });
        json!({ "event": "override.set", "override": demand })
    });
    let started = (0..2_u8).prop_map(|n| json!({ "event": "session.started", "invariants": { "objective": n } }));
    let bare =
        select(vec!["prompt.submitted", "session.ended", "session.reset"]).prop_map(|event| json!({ "event": event }));
    let parked = Just(json!({ "event": "park", "reason": "stuck" }));
    prop_oneof![
        8 => call().prop_map(|call| json!({ "event": "call.requested", "call": call })),
        6 => finished,
        1 => produced,
        1 => named,
        1 => set,
        1 => started,
        2 => stopped,
        1 => parked,
        1 => bare,
    ]
}

/// One event, of the main agent or a sub-agent, at a time that may go backwards.
pub(crate) fn event() -> impl Strategy<Value = Value> {
    (body(), prop::option::weighted(0.2, Just("sub")), -APART_MS..APART_MS).prop_map(|(mut body, agent, apart)| {
        let at = jackline_core::time::Timestamp(MIDDLE_MS + apart).to_string();
        let fields = body.as_object_mut().unwrap();
        fields.extend([("session".to_owned(), json!(SESSION)), ("at".to_owned(), json!(at))]);
        fields.extend(agent.map(|agent| ("agent".to_owned(), json!(agent))));
        body
    })
}

pub(crate) fn events(max: usize) -> impl Strategy<Value = Vec<Value>> {
    vec(event(), 1..max)
}
