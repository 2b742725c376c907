//! Todos and facts as an embedder uses them: the methods, what the log keeps, and that a replay decides the same.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on says so by panicking")]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::{thread, time::Duration};

use jackline_core::decide::decide;
use jackline_core::decision::{Step, Verdict};
use jackline_core::event::{Body, Call, Event, Outcome, StopAsk};
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
        Self::defined(DEFINITION)
    }

    fn defined(definition: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
        let root = fs::canonicalize(dir.path()).unwrap();
        let builder = Runtime::builder().workspace(root).store(Arc::clone(&store)).definition_yaml(definition);
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

    fn write(&self, path: &str, text: &str) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn git(&self, words: &[&str]) {
        let user = ["-c", "user.name=dev", "-c", "user.email=dev@example.org"];
        let mut git = Command::new("git");
        let output = git.current_dir(self.dir.path()).args(user).args(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn stop(&self) -> Answer {
        let body = Body::StopRequested(StopAsk::default());
        self.runtime.decide(&Event::new("s", Timestamp(1_000), body))
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

/// A todo that the owner requires with this command, verified.
fn verified(world: &World) -> String {
    let todo = fine(&world.runtime.todo_list("s"))["todos"][0]["id"].as_str().unwrap().to_owned();
    fine(&world.runtime.todo_start("s", &todo));
    fine(&world.runtime.todo_claim("s", &todo, "it is all done, believe me now", &[]));
    todo
}

fn requiring(command: &str) -> String {
    let words = json!(["/bin/sh", "-c", command]);
    let check = json!({ "command_exit_zero": words });
    let definition = json!({
        "jackline": 1, "loop": false, "store": { "sync": "os" }, "completion": { "todos": "verified" },
        "todos": { "require": [{ "content": "x", "checks": [check] }] },
    });
    definition.to_string()
}

#[test]
fn what_is_written_while_a_check_runs_comes_after_its_beginning() {
    let slow = "grep -q 1 src.py; found=$?; touch begun; while [ ! -f go ]; do sleep 0.01; done; exit $found";
    let world = World::defined(&requiring(slow));
    world.write("src.py", "1");
    let todo = verified(&world);
    thread::scope(|scope| {
        let verifying = scope.spawn(|| world.runtime.todo_verify("s", &todo));
        while !world.dir.path().join("begun").exists() {
            thread::sleep(Duration::from_millis(5));
        }
        world.write("src.py", "2");
        world.shell("w", "echo 2 > src.py");
        world.write("go", "");
        assert_eq!(fine(&verifying.join().unwrap())["status"], "verified", "it held when it was looked at");
    });
    let stop = world.stop();
    assert_eq!(stop.verdict, Verdict::Deny, "{:?}", stop.stopped);
    assert_eq!(fine(&world.runtime.todo_list("s"))["todos"][0]["status"], "in_progress");
}

#[test]
fn files_that_git_ignores_are_files() {
    let world = World::defined(&requiring("grep -q z ign/out"));
    world.write(".gitignore", "ign/\n");
    world.write("ign/out", "z");
    world.git(&["init", "-q"]);
    world.git(&["add", "."]);
    world.git(&["commit", "-q", "-m", "one"]);
    let todo = verified(&world);
    fine(&world.runtime.todo_verify("s", &todo));
    assert_eq!(world.stop().stopped, Some(json!("complete")));
    world.write("ign/out", "n");
    world.shell("c1", "python3 x.py");
    assert_eq!(world.stop().verdict, Verdict::Deny);
    assert_eq!(fine(&world.runtime.todo_list("s"))["todos"][0]["status"], "in_progress");
}

#[test]
fn evidence_is_held_against_the_work_tree() {
    let world = World::new();
    world.write("src.py", "1");
    world.git(&["init", "-q"]);
    world.git(&["add", "."]);
    let todo = id(&world.runtime.todo_create("s", "x", &[]));
    fine(&world.runtime.todo_start("s", &todo));
    world.shell("c1", "cargo test");
    world.shell("c2", "python3 x.py");
    world.write("src.py", "2");
    let claim = || world.runtime.todo_claim("s", &todo, "all tests pass, I have run them", &[json!({ "call": "c1" })]);
    assert_eq!(claim().reason.as_deref(), Some("Call `c1` is outdated: files changed since."));
    let listed = fine(&world.runtime.calls_list("s", Some("cargo test"), None, None));
    assert_eq!(listed["calls"][0]["files_written_since"], true);
    world.write("src.py", "1");
    assert_eq!(claim().verdict, Verdict::Allow, "the tree is the one that was tested");
}
