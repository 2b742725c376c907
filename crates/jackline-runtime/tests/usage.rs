//! What a transcript told is on record, and the same decisions can be taken again from the log alone.

use std::fs;

use jackline_core::decide::decide;
use jackline_core::decision::Step;
use jackline_core::definition;
use jackline_core::sha::Digest;
use jackline_core::stack::Stack;
use jackline_runtime::Runtime;
use jackline_runtime::adapters::lines::Lines;
use jackline_runtime::replay;
use jackline_runtime::store::Store as _;
use jackline_runtime::store::files::FileStore;
use serde_json::json;

const DEFINITION: &str = "jackline: 1\nloop: false\nlimits: { tokens: 30 }\n";

fn message(n: u32) -> String {
    let message = json!({ "id": format!("m{n}"), "usage": { "input_tokens": 8, "output_tokens": n } });
    format!("{}\n", json!({ "type": "assistant", "message": message }))
}

#[test]
fn decisions_are_the_same_when_the_transcript_is_gone() {
    let top = tempfile::tempdir().unwrap();
    let (root, state) = (top.path().canonicalize().unwrap(), top.path().join("state"));
    let transcript = root.join("t.jsonl");
    let runtime = Runtime::builder().workspace(&root).state(&state).definition_yaml(DEFINITION).build().unwrap();
    for n in 0..5 {
        let text: String = (1..=n).map(message).collect();
        fs::write(&transcript, text).unwrap();
        let event = json!({
            "event": "call.requested", "session": "s", "at": format!("2026-01-01T00:00:0{n}Z"),
            "transcript": transcript, "call": { "tool": "look", "args": { "n": n } },
        });
        runtime.handle(&Lines, event.to_string().as_bytes());
    }
    fs::remove_file(&transcript).unwrap();
    let used = runtime.session("s").unwrap().budget.session.tokens;
    assert_eq!(used, (1..5).map(|n| 8 + n).sum::<u64>());

    let model = definition::parse(DEFINITION, &jackline_core::tools::names()).unwrap().model;
    let stack = Stack::of(root.display().to_string(), model, Digest::of(DEFINITION.as_bytes()));
    let (mut folded, mut asked, mut verdicts) = (replay::Fold::default(), None, Vec::new());
    for line in FileStore::open(state).lines("s", 0).unwrap() {
        let line = line.unwrap();
        let record = replay::record(&line).unwrap();
        assert!(record.get("replayable").is_none(), "{record}");
        if record["kind"] == "decision" {
            let event = replay::event(&asked.take().unwrap()).unwrap();
            let Step::Done(decision) = decide(&stack, &folded.session, &event, &replay::facts(&record)) else {
                panic!("facts are missing in {record}");
            };
            assert_eq!(record["data"]["verdict"], json!(decision.verdict));
            assert_eq!(record["changes"], json!(decision.changes));
            verdicts.push(decision.verdict.name());
        } else {
            asked = asked.or(Some(record));
        }
        folded.line(&line, &|_| None).unwrap();
    }
    assert_eq!(verdicts, ["allow", "allow", "allow", "deny", "deny"]);
}
