//! Todos and facts as an embedder uses them: the methods, what the log keeps, and that a replay decides the same.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on says so by panicking")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use jackline_core::decide::decide;
use jackline_core::decision::{Step, Verdict};
use jackline_core::event::{Body, Call, Event, Outcome};
use jackline_core::operation::Operation;
use jackline_core::sha::Digest;
use jackline_core::stack::Stack;
use jackline_core::time::Timestamp;
use jackline_runtime::replay::{self, Fold};
use jackline_runtime::store::Store;
use jackline_runtime::store::memory::MemoryStore;
use jackline_runtime::{Answer, Runtime};
use serde_json::{Value, json};

const DEFINITION: &str = "jackline: 1\nloop: false\nstore: { sync: os }\ntodos: { require: [ { content: owner's, checks: [ { file_exists: a.txt } ] } ] }\n";

struct World {
    dir: tempfile::TempDir,
    store: Arc<dyn Store>,
    runtime: Runtime,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
        let root = fs::canonicalize(dir.path()).unwrap();
        let builder = Runtime::builder().workspace(root).store(Arc::clone(&store)).definition_yaml(DEFINITION);
        Self { dir, store, runtime: builder.build().unwrap() }
    }

    fn root(&self) -> String {
        fs::canonicalize(self.dir.path()).unwrap().to_str().unwrap().to_owned()
    }

    /// A shell call that ran and succeeded.
    fn shell(&self, id: &str, command: &str) {
        let call = Call { id: Some(id.to_owned()), ..Call::new("Bash", json!({ "command": command })) };
        let event = |body| Event { host: Some("claude".to_owned()), ..Event::new("s", Timestamp(1_000), body) };
        self.runtime.decide(&event(Body::CallRequested(call.clone())));
        self.runtime.decide(&event(Body::CallFinished(call, Outcome::new(true, json!("ok")))));
    }

    fn records(&self) -> Vec<Value> {
        let lines = self.store.lines("s", 0).unwrap();
        lines.map(|line| replay::record(&line.unwrap()).unwrap()).collect()
    }
}

#[track_caller]
fn fine(answer: &Answer) -> Value {
    assert_eq!(answer.verdict, Verdict::Allow, "{:?}", answer.reason);
    answer.result.clone().unwrap()
}

fn id(answer: &Answer) -> String {
    fine(answer)["id"].as_str().unwrap().to_owned()
}

/// A session with a todo that is claimed, fails once and is verified, and a fact.
fn played() -> World {
    let world = World::new();
    let (runtime, root) = (&world.runtime, world.root());
    let todo = id(&runtime.todo_create("s", "write b", &[json!({ "file_exists": "b.txt" })]));
    fine(&runtime.todo_start("s", &todo));
    world.shell("c1", "cargo test");
    let evidence = [json!({ "command": "cargo test" })];
    fine(&runtime.todo_claim("s", &todo, "b is written, and all tests pass", &evidence));
    let failed = runtime.todo_verify("s", &todo);
    assert_eq!(failed.code.map(|code| code.to_string()).as_deref(), Some("todo/checks"));
    fs::write(Path::new(&root).join("b.txt"), "").unwrap();
    assert_eq!(fine(&runtime.todo_verify("s", &todo))["status"], "verified");
    let fact = id(&runtime.fact_record("s", "tests pass", &["c1"]));
    fine(&runtime.fact_summarise("s", &[&fact], "all is well"));
    assert_eq!(runtime.fact_record("s", "no", &["c9"]).verdict, Verdict::Deny);
    fs::remove_file(Path::new(&root).join("b.txt")).unwrap();
    world.shell("c2", "rm b.txt");
    runtime.decide(&Event::new("s", Timestamp(2_000), Body::StopRequested(Default::default())));
    world
}

#[test]
fn the_log_keeps_every_step_with_who_took_it() {
    let world = played();
    let told: Vec<(String, String)> = world
        .records()
        .iter()
        .map(|record| (record["kind"].as_str().unwrap().to_owned(), record["actor"].as_str().unwrap().to_owned()))
        .filter(|(kind, _)| (kind.starts_with("todo.") || kind.starts_with("fact.")) && kind.ends_with("ed"))
        .collect();
    let told: Vec<(&str, &str)> = told.iter().map(|(kind, actor)| (kind.as_str(), actor.as_str())).collect();
    let want = [
        ("todo.created", "runtime"),
        ("todo.created", "agent"),
        ("todo.started", "agent"),
        ("todo.claimed", "agent"),
        ("todo.refused", "runtime"),
        ("todo.verified", "runtime"),
        ("fact.recorded", "agent"),
        ("fact.summarised", "agent"),
        ("fact.refused", "agent"),
        ("todo.reopened", "runtime"),
    ];
    assert_eq!(told, want);
    let records = world.records();
    let claimed = records.iter().find(|record| record["kind"] == "todo.claimed").unwrap();
    assert_eq!(claimed["before"]["evidence"], json!([]), "what was before stays what it was");
    assert_eq!(claimed["after"]["evidence"][0]["call"], "c1");
    assert_eq!(claimed["data"]["explanation"], "b is written, and all tests pass");
    let summary = records.iter().find(|record| record["kind"] == "fact.summarised").unwrap();
    assert_eq!((&summary["before"][0]["text"], &summary["after"]["sources"]), (&json!("tests pass"), &json!(["c1"])));
}

#[test]
fn a_replay_decides_the_same() {
    let world = played();
    let model = jackline_core::definition::parse(DEFINITION, &[]).unwrap().model;
    let stack = Stack::of(world.root(), model, Digest::of(DEFINITION.as_bytes()));
    let mut fold = Fold::default();
    let (mut event, mut replayed) = (None, 0);
    for line in world.store.lines("s", 0).unwrap() {
        let line = line.unwrap();
        let record = replay::record(&line).unwrap();
        if record["kind"] != "decision" {
            event.get_or_insert(record);
            continue;
        }
        let asked = replay::event(&event.take().unwrap()).unwrap();
        let Step::Done(decision) = decide(&stack, &fold.session, &asked, &replay::facts(&record)) else {
            unreachable!("{asked:?} asks for more than was seen")
        };
        assert_eq!(serde_json::to_value(&decision.changes).unwrap(), record["changes"], "{asked:?}");
        assert_eq!(json!(decision.verdict), record["data"]["verdict"]);
        replayed += 1;
        fold.line(&line, &|_| None).unwrap();
    }
    assert!(replayed > 10, "{replayed}");
    assert_eq!(fold.session, world.runtime.session("s").unwrap());
}

#[test]
fn lists_are_not_recorded_and_what_is_a_persons_is_refused() {
    let world = World::new();
    let listed = fine(&world.runtime.todo_list("s"));
    assert_eq!(listed["todos"][0]["author"], "owner");
    let records = world.records().len();
    fine(&world.runtime.todo_list("s"));
    fine(&world.runtime.fact_list("s"));
    fine(&world.runtime.calls_list("s", None, None, None));
    assert_eq!(world.records().len(), records);
    let given = json!({ "id": listed["todos"][0]["id"], "reason": "because" });
    for operation in Operation::ALL.iter().filter(|operation| operation.is_persons_own()) {
        let answer = world.runtime.operation("s", *operation, given.clone());
        assert_eq!(answer.code.map(|code| code.to_string()).as_deref(), Some("event/invalid"), "{operation:?}");
    }
    assert_eq!(world.records().len(), records);
}

#[test]
fn without_a_client_addresses_do_not_pass() {
    let world = World::new();
    let check = json!({ "pr_exists": { "repo": "a/b", "number": 1 } });
    let todo = id(&world.runtime.todo_create("s", "x", &[check]));
    fine(&world.runtime.todo_start("s", &todo));
    fine(&world.runtime.todo_claim("s", &todo, "the pull request is open now", &[]));
    let refused = world.runtime.todo_verify("s", &todo);
    let reason = refused.reason.unwrap();
    assert!(reason.contains("[FAIL] pr_exists a/b#1: it cannot be told"), "{reason}");
}
