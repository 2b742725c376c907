//! What is not known, or only observed by one of several definitions, must not open a gate.
#![expect(clippy::unwrap_used, clippy::panic, reason = "what goes wrong in a test's own steps fails the test")]

use std::sync::Arc;

use jackline_core::decide::decide;
use jackline_core::decision::{Decision, Step, Verdict};
use jackline_core::definition;
use jackline_core::event::{self, Event};
use jackline_core::policy::{Asked, Keep, Objection, Policy};
use jackline_core::probe::{Fact, Facts, Probe};
use jackline_core::session::Session;
use jackline_core::sha::Digest;
use jackline_core::stack::{Layer, Origin, Stack};
use jackline_core::time::Timestamp;
use jackline_runtime::store::{Commit, Committed, Lines, Loaded, SessionEntry, Store, StoreFault};
use jackline_runtime::{Assessment, Checker, Runtime, Stopping};
use serde_json::{Value, json};

const AT: Timestamp = Timestamp(1_767_225_600_000);

fn event(name: &str, call: Value) -> Event {
    event::read(&json!({ "event": name, "session": "s", "call": call, "ok": true }), AT).unwrap()
}

fn stack(definitions: &[&str]) -> Stack {
    let layer = |text: &&str| {
        let model = definition::parse(text, &[]).unwrap().model;
        Layer::new(model, Digest::of(text.as_bytes()), Origin::Project, true)
    };
    Stack { root: "/ws".to_owned(), layers: definitions.iter().map(layer).collect(), ..Stack::default() }
}

fn decided(stack: &Stack, session: &Session, event: &Event) -> Decision {
    let mut facts = Facts::default();
    if let Step::Need(probes) = decide(stack, session, event, &facts) {
        let [probe @ Probe::Exceptions { .. }] = probes.as_slice() else { panic!("{probes:?} are asked for") };
        facts.keep(probe.clone(), Fact::Unknown("nobody knows of any".to_owned()));
    }
    match decide(stack, session, event, &facts) {
        Step::Done(decision) => *decision,
        Step::Need(probes) => panic!("no fact is needed, yet {probes:?} are asked for"),
    }
}

#[test]
fn a_write_that_leads_nobody_knows_where_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    std::os::unix::fs::symlink("loop", root.join("loop")).unwrap();
    let runtime = Runtime::builder().workspace(&root).definition_yaml("jackline: 1\n").build().unwrap();
    for path in ["loop", "/proc/self/cwd/jackline.yaml", "a\0b", "jackline.yaml"] {
        let call = json!({ "tool": "write_file", "args": { "path": path, "content": "" } });
        let answer = runtime.decide(&event("call.requested", call));
        assert_eq!(answer.verdict, Verdict::Deny, "{path:?}");
    }
    let harmless = json!({ "tool": "write_file", "args": { "path": "new.txt", "content": "" } });
    assert_eq!(runtime.decide(&event("call.requested", harmless)).verdict, Verdict::Allow);
}

#[track_caller]
fn check_layers(rules: &str, session: &Session, call: &Value) {
    let (observing, enforcing) = (format!("jackline: 1\nmode: observe\n{rules}"), format!("jackline: 1\n{rules}"));
    let requested = event("call.requested", call.clone());
    let verdict = |layers: &[&str]| decided(&stack(layers), session, &requested).verdict;
    assert_eq!(verdict(&[&observing]), Verdict::Allow, "observing alone");
    assert_eq!(verdict(&[&enforcing]), Verdict::Deny, "enforcing alone");
    assert_eq!(verdict(&[&observing, &enforcing]), Verdict::Deny, "the observing layer first");
    assert_eq!(verdict(&[&enforcing, &observing]), Verdict::Deny, "the enforcing layer first");
}

#[test]
fn a_layer_that_observes_does_not_speak_for_one_that_enforces() {
    let call = json!({ "tool": "frobnicate", "args": {} });
    check_layers("tools: { unknown: deny }\n", &Session::default(), &call);
    check_layers("limits: { steps: 1 }\n", &repeated(&call, 1), &call);
    check_layers("loop: { window: 2, threshold: 2 }\n", &repeated(&call, 1), &call);
}

/// A session in which a call was made before.
fn repeated(call: &Value, times: u32) -> Session {
    let mut session = Session::default();
    for _ in 0..times {
        let changes = decided(&stack(&["jackline: 1\n"]), &session, &event("call.requested", call.clone())).changes;
        session.apply(AT, &changes, &|_| None);
    }
    session
}

/// Remembers which file a call of `mark` led to.
#[derive(Debug)]
struct Marks;

impl Policy for Marks {
    fn name(&self) -> &str {
        "marks"
    }

    fn needs(&self, _asked: &Asked<'_>) -> Vec<Probe> {
        vec![Probe::Identity { path: "a.txt".to_owned(), dir: String::new() }]
    }

    fn judge(&self, asked: &Asked<'_>) -> Result<Option<Objection>, String> {
        Ok(asked.kept("file").map(|file| Objection::deny(format!("{file} is marked"))))
    }

    fn on_result(&self, asked: &Asked<'_>) -> Result<Vec<Keep>, String> {
        let fact = self.needs(asked).first().and_then(|probe| asked.facts.get(probe));
        let Some(Fact::Identity(identity)) = fact else { return Err("the fact is missing".to_owned()) };
        Ok(vec![Keep { key: "file".to_owned(), value: identity.inside.clone() }])
    }
}

#[test]
fn a_policy_is_told_of_results_with_the_facts_it_needs() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let built = Runtime::builder().workspace(&root).definition_yaml("jackline: 1\n").policy(Marks).build();
    let runtime = built.unwrap();
    let call = json!({ "id": "c1", "tool": "mark", "args": {} });
    assert_eq!(runtime.decide(&event("call.requested", call.clone())).verdict, Verdict::Allow);
    assert_eq!(runtime.decide(&event("call.finished", call.clone())).findings, []);
    let second = json!({ "id": "c2", "tool": "mark", "args": {} });
    assert_eq!(runtime.decide(&event("call.requested", second)).reason.as_deref(), Some("a.txt is marked"));
}

/// A store with a defect: it panics where a session is loaded.
#[derive(Debug)]
struct Broken;

impl Store for Broken {
    fn load(&self, _session: &str) -> Result<Loaded, StoreFault> {
        panic!("a defect of ours")
    }

    fn commit(&self, _session: &str, _commit: &Commit<'_>) -> Result<Committed, StoreFault> {
        Ok(Committed::Done)
    }

    fn sessions(&self) -> Result<Vec<SessionEntry>, StoreFault> {
        Ok(Vec::new())
    }

    fn lines(&self, _session: &str, _from: u64) -> Result<Lines, StoreFault> {
        Ok(Box::new(std::iter::empty()))
    }

    fn snapshot_put(&self, _session: &str, state: &[u8]) -> Result<Digest, StoreFault> {
        Ok(Digest::of(state))
    }

    fn snapshot_get(&self, _session: &str, _digest: &Digest) -> Result<Option<Vec<u8>>, StoreFault> {
        Ok(None)
    }

    fn snapshot_drop(&self, _session: &str, _digest: &Digest) -> Result<(), StoreFault> {
        Ok(())
    }

    fn snapshots(&self, _session: &str) -> Result<Vec<Digest>, StoreFault> {
        Ok(Vec::new())
    }
}

#[test]
fn a_panic_of_ours_is_a_denial_that_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let built = Runtime::builder().workspace(&root).store(Arc::new(Broken)).definition_yaml("jackline: 1\n").build();
    let answer = built.unwrap().decide(&event("call.requested", json!({ "tool": "look", "args": {} })));
    assert_eq!(answer.verdict, Verdict::Deny);
    assert_eq!(answer.code.as_ref().map(ToString::to_string).as_deref(), Some("fault/internal"));
    assert!(!answer.reason.unwrap().contains("a defect of ours"), "internal texts are not for the agent");
}

/// Panics when it is asked what it needs, and has nothing to say without it.
#[derive(Debug)]
struct Needless;

impl Policy for Needless {
    fn name(&self) -> &str {
        "needless"
    }

    fn needs(&self, _asked: &Asked<'_>) -> Vec<Probe> {
        panic!("a defect of the embedder's")
    }

    fn judge(&self, _asked: &Asked<'_>) -> Result<Option<Objection>, String> {
        Ok(None)
    }
}

impl Checker for Needless {
    fn name(&self) -> &str {
        "needless"
    }

    fn needs(&self, _stopping: &Stopping<'_>) -> Vec<Probe> {
        panic!("a defect of the embedder's")
    }

    fn check(&self, _stopping: &Stopping<'_>) -> Result<Assessment, String> {
        Ok(Assessment::complete())
    }
}

fn stop() -> Event {
    event::read(&json!({ "event": "stop.requested", "session": "s" }), AT).unwrap()
}

#[test]
fn a_panic_of_a_policy_that_says_what_it_needs_is_a_fault() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let builder = || Runtime::builder().workspace(&root).definition_yaml("jackline: 1\n");
    let judged = builder().policy(Needless).build().unwrap();
    let answer = judged.decide(&event("call.requested", json!({ "tool": "look", "args": {} })));
    assert_eq!(answer.code.as_ref().map(ToString::to_string).as_deref(), Some("fault/policy"));
    assert_eq!(answer.verdict, Verdict::Deny);
    let checked = builder().checker(Needless).build().unwrap();
    assert_eq!(checked.decide(&stop()).verdict, Verdict::Deny);
}

/// Has something against everything.
#[derive(Debug)]
struct Never;

impl Policy for Never {
    fn name(&self) -> &str {
        "never"
    }

    fn judge(&self, _asked: &Asked<'_>) -> Result<Option<Objection>, String> {
        Ok(Some(Objection::deny("never")))
    }
}

impl Checker for Never {
    fn name(&self) -> &str {
        "never"
    }

    fn check(&self, _stopping: &Stopping<'_>) -> Result<Assessment, String> {
        Ok(Assessment::incomplete("never"))
    }
}

#[test]
fn an_embedders_own_policies_and_checks_observe_where_the_definition_does() {
    let call = event("call.requested", json!({ "tool": "look", "args": {} }));
    let with = |definitions: &[&str]| Stack { own: vec![Arc::new(Never)], ..stack(definitions) };
    let (observing, enforcing) = ("jackline: 1\nmode: observe\n", "jackline: 1\n");
    let observed = decided(&with(&[observing]), &Session::default(), &call);
    assert_eq!(observed.verdict, Verdict::Allow);
    assert!(observed.findings.iter().any(|finding| finding.policy == "never" && finding.verdict == Verdict::Deny));
    for layers in [&[enforcing][..], &[observing, enforcing]] {
        assert_eq!(decided(&with(layers), &Session::default(), &call).verdict, Verdict::Deny, "{layers:?}");
    }
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let stopped = |definition: &str| {
        let built = Runtime::builder().workspace(&root).definition_yaml(definition).checker(Never).build();
        built.unwrap().decide(&stop()).verdict
    };
    assert_eq!((stopped(observing), stopped(enforcing)), (Verdict::Allow, Verdict::Deny));
}
