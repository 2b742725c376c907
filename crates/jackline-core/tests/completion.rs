//! What must hold before a stop, on the core alone: texts, order, the embedder's checkers, and how often it blocks.
#![expect(clippy::unwrap_used, clippy::panic, reason = "what goes wrong in a test's own steps fails the test")]

use std::cell::RefCell;
use std::sync::Arc;

use jackline_core::completion::checker::{Assessment, Checker, Stopping};
use jackline_core::decide::decide;
use jackline_core::decision::{Decision, Step, Verdict};
use jackline_core::definition::model::{Check, Completion};
use jackline_core::definition::{self, Model};
use jackline_core::event;
use jackline_core::probe::{Fact, Facts, Identity, Probe, There};
use jackline_core::ran::{Exit, Ran};
use jackline_core::schema::Checked;
use jackline_core::session::{Change, Session};
use jackline_core::sha::Digest;
use jackline_core::stack::{Layer, Origin, Stack};
use jackline_core::time::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};

const ROOT: &str = "/ws";

/// A world in which some files exist, and commands exit as their first word says.
#[derive(Default)]
struct World {
    files: Vec<&'static str>,
    /// The workspace is not there any more.
    gone: bool,
    ran: RefCell<Vec<String>>,
}

impl World {
    fn answer(&self, probe: &Probe) -> Fact {
        match probe {
            Probe::Identity { path, .. } => {
                let inside = path.strip_prefix("/ws/").map(str::to_owned);
                let there = inside.as_deref().is_some_and(|inside| self.files.contains(&inside));
                let there = match (there, path == ROOT) {
                    (_, true) if !self.gone => There::Directory,
                    (true, false) => There::File,
                    (_, _) => There::Nothing,
                };
                Fact::Identity(Identity {
                    path: path.clone(),
                    inside,
                    there,
                    ours: None,
                    holds: None,
                    leads: Vec::new(),
                    began: None,
                    instructs: false,
                })
            }
            Probe::Run { argv, .. } => {
                self.ran.borrow_mut().push(argv.join(" "));
                let code = i32::from(argv.first().is_some_and(|word| word != "true"));
                Fact::Ran(Ran::silent(Exit::Code(code)))
            }
            Probe::Exceptions { .. } => Fact::Excepted(Vec::new()),
            Probe::Files { .. } => Fact::Absent,
            Probe::Schema { .. } => Fact::Schema(Checked::new(Digest::ZERO, Vec::new(), 0)),
            other => panic!("{other:?} was asked for"),
        }
    }

    fn decide(&self, stack: &Stack, session: &Session, event: &Value) -> Decision {
        let event = event::read(event, Timestamp(0)).unwrap();
        let mut facts = Facts::default();
        loop {
            match decide(stack, session, &event, &facts) {
                Step::Done(decision) => return *decision,
                Step::Need(probes) => probes.into_iter().for_each(|probe| {
                    let fact = self.answer(&probe);
                    facts.keep(probe, fact);
                }),
            }
        }
    }
}

fn stack(texts: &[&str]) -> Stack {
    let layer = |text: &&str| {
        let model = definition::parse(&format!("jackline: 1\n{text}\n"), &[]).unwrap().model;
        Layer::new(model, Digest::of(text.as_bytes()), Origin::Project, true)
    };
    Stack { root: ROOT.to_owned(), layers: texts.iter().map(layer).collect(), ..Stack::default() }
}

fn stop() -> Value {
    json!({ "event": "stop.requested", "session": "s", "message": "Done.", "reason": "end_turn", "output": {"n": 1} })
}

#[track_caller]
fn check(world: &World, completion: &str, reason: Option<&str>) {
    let decision = world.decide(&stack(&[&format!("completion: {completion}")]), &Session::default(), &stop());
    assert_eq!(decision.reason.as_deref(), reason, "{completion}");
    let want = if reason.is_some() { Verdict::Deny } else { Verdict::Allow };
    assert_eq!(decision.verdict, want, "{completion}");
}

#[test]
fn all_missing_files_are_counted_and_three_are_named() {
    let world = World { files: vec!["a"], ..World::default() };
    let blocker = |text: &str| format!("<blocker>\n{text}\n</blocker>");
    check(&world, "{files: [a]}", None);
    check(&world, "{files: [a, b, c]}", Some(&blocker("2 required output file(s) not found: b, c")));
    check(&world, "{files: [b, c, d]}", Some(&blocker("3 required output file(s) not found: b, c, d")));
    check(&world, "{files: [b, c, d, e]}", Some(&blocker("4 required output file(s) not found: b, c, d...")));
}

#[test]
fn without_a_filesystem_files_are_missing_and_none_are_complete() {
    let decide = |check: Check| {
        let model = Model { completion: Some(Completion::new(check)), ..Model::default() };
        let stack = Stack::of("", model, Digest::ZERO);
        World::default().decide(&stack, &Session::default(), &stop()).reason
    };
    let files = Check::Files(vec!["a".to_owned(), "b".to_owned()]);
    let blocker = "<blocker>\nNo filesystem available to verify 2 required output file(s).\n</blocker>";
    assert_eq!(decide(files).as_deref(), Some(blocker));
    let gone = World { gone: true, ..World::default() };
    check(&gone, "{files: [a, b]}", Some(blocker));
    assert_eq!(decide(Check::Files(Vec::new())), None);
    assert_eq!(decide(Check::All(Vec::new())), None);
    assert_eq!(decide(Check::Any(Vec::new())), None);
}

#[test]
fn combinations_ask_no_further_than_their_answer() {
    let world = World::default();
    let command = |word: &str| format!("{{command: {{run: ['{word}']}}}}");
    let three = |words: [&str; 3]| words.map(command).join(", ");
    let blocker = |word: &str| format!("<blocker>\nCommand '{word}' does not pass: it exited with 1.\n</blocker>");
    check(&world, &format!("{{all: [{}]}}", three(["true", "two", "three"])), Some(&blocker("two")));
    assert_eq!(world.ran.take(), ["true", "two"]);
    check(&world, &format!("{{any: [{}]}}", three(["one", "true", "three"])), None);
    assert_eq!(world.ran.take(), ["one", "true"]);
    let all = [blocker("one"), blocker("two"), blocker("three")].join(" ");
    check(&world, &format!("{{any: [{}]}}", three(["one", "two", "three"])), Some(&all));
    check(
        &world,
        &format!("{{all: [{{any: [{}]}}, {{files: [x]}}]}}", three(["one", "true", "x"])),
        Some("<blocker>\n1 required output file(s) not found: x\n</blocker>"),
    );
}

#[test]
fn every_definition_in_force_must_hold_and_each_counts_its_own_blocks() {
    let world = World { files: vec!["b"], ..World::default() };
    let both = stack(&["completion: {files: [a], blocks_max: 1}", "completion: {files: [b]}"]);
    let mut session = Session::default();
    let first = world.decide(&both, &session, &stop());
    assert!(first.verdict == Verdict::Deny && first.reason.as_deref().is_some_and(|it| it.contains("not found: a")));
    session.apply(Timestamp(0), &first.changes, &|_| None);
    assert_eq!(world.decide(&both, &session, &stop()).verdict, Verdict::Allow, "the first blocks once");
    let without = World::default();
    let second = without.decide(&both, &session, &stop());
    assert!(second.verdict == Verdict::Deny && second.reason.as_deref().is_some_and(|it| it.contains("not found: b")));
}

/// A checker that says what it is told to, and looks at what it is given.
#[derive(Debug)]
struct Says(Option<&'static str>, bool);

impl Checker for Says {
    fn name(&self) -> &str {
        "says"
    }

    fn needs(&self, _stopping: &Stopping<'_>) -> Vec<Probe> {
        let run = Probe::Run { argv: vec!["x".into()], timeout_ms: 1, author: jackline_core::ran::Author::Owner };
        vec![Probe::Identity { path: "/ws/made".to_owned(), dir: String::new() }, run]
    }

    fn check(&self, stopping: &Stopping<'_>) -> Result<Assessment, String> {
        assert_eq!((stopping.message, stopping.reason, stopping.workspace), (Some("Done."), Some("end_turn"), ROOT));
        assert_eq!(stopping.output, Some(&json!({"n": 1})));
        let probe = Probe::Identity { path: "/ws/made".to_owned(), dir: String::new() };
        let made = stopping.facts.get(&probe).and_then(Fact::identity).ok_or("it was not looked at")?;
        match self.0 {
            _ if made.there == There::File => Ok(Assessment::complete()),
            Some("panic") => panic!("a defect"),
            Some("fault") => Err("no idea".to_owned()),
            Some(text) => Ok(Assessment::incomplete(text)),
            None => Ok(Assessment { complete: self.1, feedback: None }),
        }
    }
}

#[track_caller]
fn check_checker(checker: Says, world: &World, reason: Option<&str>) {
    let shown = format!("{checker:?}");
    let stack = Stack { checkers: vec![Arc::new(checker)], ..stack(&[""]) };
    let mut session = Session::default();
    for _ in 0..6 {
        let decision = world.decide(&stack, &session, &stop());
        let same = decision.reason.as_deref().is_some_and(|said| reason.is_some_and(|want| said.contains(want)));
        assert!(same || decision.reason.is_none() && reason.is_none(), "{shown}: {:?}", decision.reason);
        session.apply(Timestamp(0), &decision.changes, &|_| None);
    }
    let last = world.decide(&stack, &session, &stop());
    assert_eq!(last.verdict, Verdict::Allow, "{shown}: no checker holds an agent for ever");
    assert_eq!(last.findings.is_empty(), reason.is_none(), "{shown}");
    assert!(world.ran.borrow().is_empty(), "a checker looks, and runs nothing");
}

#[test]
fn an_embedders_checker_blocks_with_its_words_and_on_its_faults() {
    let empty = World::default();
    check_checker(Says(Some("write the tests"), false), &empty, Some("write the tests"));
    check_checker(Says(None, false), &empty, Some("Tasks are incomplete"));
    check_checker(Says(Some(""), false), &empty, Some("Tasks are incomplete"));
    check_checker(Says(Some("fault"), false), &empty, Some("checker `says` failed: no idea"));
    check_checker(Says(Some("panic"), false), &empty, Some("checker `says` failed: it panicked"));
    check_checker(Says(None, true), &empty, None);
    check_checker(Says(Some("panic"), false), &World { files: vec!["made"], ..World::default() }, None);
}

#[test]
fn a_sub_agents_stop_is_not_the_checkers_unless_the_definition_says_so() {
    let world = World::default();
    let mut sub = stop();
    sub["agent"] = json!("a1");
    let with = |text: &str| Stack { checkers: vec![Arc::new(Says(Some("no"), false))], ..stack(&[text]) };
    assert_eq!(world.decide(&with("completion: {files: [x]}"), &Session::default(), &sub).verdict, Verdict::Allow);
    let judged = with("completion: {files: [x], subagents: true}");
    assert_eq!(world.decide(&judged, &Session::default(), &sub).findings.len(), 2);
}

/// Wants what the run's result says.
#[derive(Debug)]
struct Three;

impl Checker for Three {
    fn name(&self) -> &str {
        "result"
    }

    fn check(&self, stopping: &Stopping<'_>) -> Result<Assessment, String> {
        assert_eq!(stopping.reason, Some("structured_output"));
        let enough = stopping.output.is_some_and(|output| output["n"] == 3);
        Ok(if enough { Assessment::complete() } else { Assessment::incomplete("n must be 3") })
    }
}

#[test]
fn a_runs_result_is_what_checkers_look_at() {
    let stack = Stack { checkers: vec![Arc::new(Three)], ..stack(&[""]) };
    for (text, told) in [("{\"n\": 2}", Some("n must be 3")), ("{\"n\": 3}", None)] {
        let produced = json!({ "event": "output.produced", "session": "s", "schema": {}, "text": text, "final": true });
        let decision = World::default().decide(&stack, &Session::default(), &produced);
        assert_eq!((decision.verdict, decision.feedback.as_deref()), (Verdict::Allow, told), "{text}");
    }
}

/// What may happen around stops.
fn events() -> impl Strategy<Value = Vec<(Value, bool)>> {
    let agent = prop_oneof![Just("main"), Just("a1"), Just("a2")];
    let kind = prop_oneof![6 => Just("stop.requested"), 1 => Just("prompt.submitted"), 1 => Just("park"), 1 => Just("session.ended")];
    let event = (kind, agent, any::<bool>()).prop_map(|(kind, agent, there)| {
        (json!({ "event": kind, "session": "s", "agent": agent, "message": "Done.", "reason": "stuck", "prompt": "go" }), there)
    });
    prop::collection::vec(event, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_agent_is_blocked_more_often_in_a_row_than_the_definition_says(
        events in events(), max in 1..5_u32, subagents: bool,
    ) {
        let stack = stack(&[&format!("completion: {{files: [a], blocks_max: {max}, subagents: {subagents}}}")]);
        let mut session = Session::default();
        let mut blocked = std::collections::BTreeMap::<String, u32>::new();
        for (event, there) in events {
            let world = World { files: if there { vec!["a"] } else { Vec::new() }, ..World::default() };
            let decision = world.decide(&stack, &session, &event);
            let agent = event["agent"].as_str().unwrap().to_owned();
            match event["event"].as_str() {
                Some("prompt.submitted") => blocked.clear(),
                Some("stop.requested") if decision.verdict.refuses() => *blocked.entry(agent.clone()).or_default() += 1,
                Some("stop.requested") => { blocked.remove(&agent); }
                _ => prop_assert!(!decision.verdict.refuses(), "only stops are blocked"),
            }
            prop_assert!(blocked.values().all(|count| *count <= max), "{blocked:?} of {max}");
            prop_assert!(agent == "main" || subagents || !decision.verdict.refuses());
            let ends = decision.changes.iter().any(|change| matches!(change, Change::Stopped { .. }));
            prop_assert!(event["event"] != "stop.requested" || ends != decision.verdict.refuses());
            session.apply(Timestamp(0), &decision.changes, &|_| None);
        }
    }
}
