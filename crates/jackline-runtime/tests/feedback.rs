//! Feedback through the library: providers of the embedding program, several definitions, and what is on record.
#![expect(clippy::unwrap_used, clippy::panic, reason = "what goes wrong in a test's own steps fails the test")]

use std::path::Path;
use std::sync::{Arc, Mutex};

use jackline_core::decide::decide;
use jackline_core::decision::Step;
use jackline_core::definition::{self, DefinitionBuilder, model};
use jackline_core::event::{self, Event};
use jackline_core::feedback::Own;
use jackline_core::probe::{Facts, Probe};
use jackline_core::session::Session;
use jackline_core::sha::Digest;
use jackline_core::stack::{Layer, Origin, Stack};
use jackline_core::time::Timestamp;
use jackline_runtime::store::Store as _;
use jackline_runtime::store::files::FileStore;
use jackline_runtime::{
    Answer, Feedback, FeedbackContext, FeedbackProvider, Runtime, RuntimeBuilder, Severity, Trigger,
};
use serde_json::{Value, json};

const DEFINITION: &str = "jackline: 1\nagent: { ns: acme, key: bot }\nfeedback: [ { static: x, every_n_calls: 2 } ]\n";

/// A provider that does what a test says.
struct Voice<F>(&'static str, F);

impl<F> std::fmt::Debug for Voice<F> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.0)
    }
}

type Said = Result<Option<Feedback>, String>;

impl<F: Fn(&FeedbackContext<'_>) -> Said + Send + Sync> FeedbackProvider for Voice<F> {
    fn name(&self) -> &str {
        self.0
    }

    fn provide(&self, context: &FeedbackContext<'_>) -> Said {
        (self.1)(context)
    }
}

/// One that has advice from a certain call on.
#[derive(Debug)]
struct From(u64);

impl FeedbackProvider for From {
    fn name(&self) -> &str {
        "From"
    }

    fn should_run(&self, context: &FeedbackContext<'_>) -> bool {
        assert!(self.0 > 0, "a test's own panic");
        context.calls() >= self.0
    }

    fn provide(&self, context: &FeedbackContext<'_>) -> Said {
        Ok(Some(Feedback::new(format!("call {}", context.calls()))))
    }
}

struct World {
    top: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        Self { top: tempfile::tempdir().unwrap() }
    }

    fn root(&self) -> std::path::PathBuf {
        self.top.path().canonicalize().unwrap()
    }

    fn builder(&self) -> RuntimeBuilder {
        let state = self.root().join("state");
        Runtime::builder().workspace(self.root()).state(state).definition_yaml(DEFINITION)
    }

    fn records(&self, kind: &str) -> Vec<Value> {
        let lines = FileStore::open(self.root().join("state")).lines("s", 0).unwrap();
        let records = lines.map(|line| serde_json::from_slice::<Value>(&line.unwrap()).unwrap());
        records.filter(|record| record["kind"] == kind).collect()
    }
}

fn finished(n: u64) -> Event {
    let call = json!({ "id": format!("c{n}"), "tool": "work", "args": { "n": n } });
    let at = Timestamp(1_767_225_600_000 + n as i64 * 1_000);
    event::read(&json!({ "event": "call.finished", "session": "s", "call": call, "ok": !n.is_multiple_of(3) }), at)
        .unwrap()
}

/// The feedback of each of so many calls.
fn told(runtime: &Runtime, calls: u64) -> Vec<Option<String>> {
    (1..=calls).map(|n| runtime.decide(&finished(n)).feedback).collect()
}

fn block(name: &str, text: &str) -> Option<String> {
    Some(format!("<feedback provider='{name}'>\n{text}\n</feedback>"))
}

#[test]
fn a_filtered_turn_does_not_use_the_cadence_up() {
    let world = World::new();
    let runtime = world.builder().definition_yaml("jackline: 1\n").feedback(From(5), Trigger::every_n_calls(2));
    let told = told(&runtime.build().unwrap(), 8);
    let call = |n: u64| block("From", &format!("call {n}"));
    assert_eq!(told, [None, None, None, None, call(5), None, call(7), None]);
}

#[test]
fn a_faulty_provider_is_recorded_and_silences_nobody() {
    let world = World::new();
    let runtime = world
        .builder()
        .feedback(From(0), Trigger::every_n_calls(2))
        .feedback(Voice("Bad", |_: &FeedbackContext<'_>| Err("out of ideas".to_owned())), Trigger::every_n_calls(1))
        .feedback(Voice("Mad", |_: &FeedbackContext<'_>| panic!("a test's own panic")), Trigger::every_n_calls(2))
        .feedback(Voice("Mute", |_: &FeedbackContext<'_>| Ok(None)), Trigger::every_n_calls(1))
        .feedback(Voice("Good", |_: &FeedbackContext<'_>| Ok(Some(Feedback::new("y")))), Trigger::every_n_calls(2));
    let told = told(&runtime.build().unwrap(), 2);
    let both = format!("{}\n\n{}", block("Static", "x").unwrap(), block("Good", "y").unwrap());
    assert_eq!(told, [None, Some(both)]);
    let failed: Vec<String> = world
        .records("feedback.failed")
        .iter()
        .map(|record| {
            format!("{} {} {}", record["data"]["provider"], record["data"]["call_index"], record["data"]["fault"])
        })
        .collect();
    assert_eq!(
        failed,
        [
            "\"Bad\" 1 \"out of ideas\"",
            "\"From\" 2 \"it panicked\"",
            "\"Bad\" 2 \"out of ideas\"",
            "\"Mad\" 2 \"it panicked\""
        ]
    );
}

#[test]
fn what_was_given_is_recorded_with_its_call() {
    let world = World::new();
    let warns = |_: &FeedbackContext<'_>| Ok(Some(Feedback::new("w").severity(Severity::Warning)));
    let trigger = Trigger { every_n_ms: Some(3_000), ..Trigger::every_n_calls(3) };
    let runtime = world.builder().feedback(Voice("Loud", warns), trigger).build().unwrap();
    told(&runtime, 4);
    let given: Vec<Value> = world.records("feedback.given").iter().map(|record| record["data"].clone()).collect();
    let row = |provider: &str, severity: &str, call: u64, trigger: Value| json!({ "provider": provider, "severity": severity, "call_index": call, "trigger": trigger });
    assert_eq!(
        given,
        [
            row("Loud", "warning", 1, json!(["every_n_seconds"])),
            row("Static", "info", 2, json!(["every_n_calls"])),
            row("Static", "info", 4, json!(["every_n_calls"])),
            row("Loud", "warning", 4, json!(["every_n_calls", "every_n_seconds"])),
        ]
    );
    let actors = world.records("feedback.given");
    assert!(actors.iter().all(|record| record["actor"] == "runtime" && record["call"].is_string()), "{actors:?}");
}

/// What a provider saw at one call: its numbers, and the calls before.
type Seen = (u64, u64, u64, Option<u64>, Vec<String>);

#[test]
fn a_provider_sees_counts_turns_and_recent_calls() {
    let world = World::new();
    let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
    let kept = Arc::clone(&seen);
    let look = move |context: &FeedbackContext<'_>| {
        let recent = context.recent_calls(3).into_iter().map(|call| format!("{} {:?}", call.tool, call.ok)).collect();
        let last = context.last_feedback().map(|turn| turn.call);
        let of = |name: &str| context.calls_since_feedback_of(name);
        kept.lock().unwrap().push((context.calls(), context.calls_since_feedback(), of("Static"), last, recent));
        assert_eq!(context.deadline(), None);
        assert_eq!(of("Nobody"), context.calls());
        Ok(None)
    };
    let runtime = world.builder().feedback(Voice("Eye", look), Trigger::every_n_calls(1)).build().unwrap();
    told(&runtime, 4);
    let mut seen = seen.lock().unwrap().clone();
    // It may be asked more than once about the same call.
    seen.dedup();
    let call = |ok: bool| format!("work Some({ok})");
    assert_eq!(
        seen,
        [
            (1, 1, 1, None, vec![call(true)]),
            (2, 2, 2, None, vec![call(true), call(true)]),
            (3, 1, 1, Some(2), vec![call(true), call(true), call(false)]),
            (4, 2, 2, Some(2), vec![call(true), call(false), call(true)]),
        ]
    );
}

#[test]
fn recent_calls_are_kept_only_for_providers_that_may_ask() {
    let world = World::new();
    let runtime = world.builder().build().unwrap();
    told(&runtime, 3);
    let session = runtime.session("s").unwrap();
    assert_eq!((session.memory.recent.len(), session.memory.paces.len()), (0, 1));
    let silent = World::new();
    let runtime = silent.builder().definition_yaml("jackline: 1\n").build().unwrap();
    told(&runtime, 3);
    assert!(runtime.session("s").unwrap().memory.paces.is_empty(), "nobody speaks, so nothing is counted");
}

#[test]
fn a_provider_looks_at_the_world_through_facts() {
    #[derive(Debug)]
    struct Looks;
    fn probe() -> Probe {
        Probe::Identity { path: "done".to_owned(), dir: String::new() }
    }
    impl FeedbackProvider for Looks {
        fn name(&self) -> &str {
            "Looks"
        }
        fn needs(&self, _: &FeedbackContext<'_>) -> Vec<Probe> {
            vec![probe()]
        }
        fn provide(&self, context: &FeedbackContext<'_>) -> Said {
            let identity = context.facts.get(&probe()).and_then(|fact| fact.identity());
            Ok(identity.map(|identity| Feedback::new(format!("{:?}", identity.there))))
        }
    }
    let world = World::new();
    let runtime = world.builder().definition_yaml("jackline: 1\n").feedback(Looks, Trigger::every_n_calls(1));
    let runtime = runtime.build().unwrap();
    assert_eq!(runtime.decide(&finished(1)).feedback, block("Looks", "Nothing"));
    std::fs::write(world.root().join("done"), "").unwrap();
    assert_eq!(runtime.decide(&finished(2)).feedback, block("Looks", "File"));
}

/// One that would ask for ever must not become a denial.
#[test]
fn a_provider_that_asks_for_ever_is_asked_all_the_same() {
    #[derive(Debug)]
    struct Curious;
    impl FeedbackProvider for Curious {
        fn name(&self) -> &str {
            "Curious"
        }
        fn needs(&self, context: &FeedbackContext<'_>) -> Vec<Probe> {
            let known = context.facts.iter().count();
            vec![Probe::Identity { path: format!("f{known}"), dir: String::new() }]
        }
        fn provide(&self, _: &FeedbackContext<'_>) -> Said {
            Ok(Some(Feedback::new("x")))
        }
    }
    let world = World::new();
    let builder = world.builder().definition_yaml("jackline: 1\npolicies: [ { rule: { tool: deploy } } ]\n");
    let runtime = builder.feedback(Curious, Trigger::every_n_calls(1)).build().unwrap();
    assert_eq!(runtime.decide(&finished(1)).feedback, block("Curious", "x"));
    let call = json!({ "id": "c", "tool": "deploy", "args": {} });
    let event = json!({ "event": "call.requested", "session": "s", "call": call });
    let answer = runtime.decide(&event::read(&event, Timestamp(1_767_225_700_000)).unwrap());
    assert_eq!(answer.feedback, block("Curious", "x"));
    assert_eq!(answer.code.unwrap().to_string(), "rule/rule-1");
}

#[track_caller]
fn check_refused(builder: RuntimeBuilder, want: &str) {
    assert_eq!(builder.build().unwrap_err().to_string(), want);
}

#[test]
fn providers_that_make_no_sense_are_refused() {
    let world = World::new();
    let with = |trigger: Trigger| world.builder().feedback(From(1), trigger);
    check_refused(with(Trigger::default()), "the feedback provider `From` has no trigger");
    check_refused(with(Trigger::every_n_calls(0)), "the feedback provider `From` has a trigger of 0 or less");
    check_refused(with(Trigger::every_n_seconds(0.0)), "the feedback provider `From` has a trigger of 0 or less");
    let twice = with(Trigger::every_n_calls(1)).feedback(From(2), Trigger::every_n_calls(2));
    check_refused(twice, "the feedback provider `From` is there twice");
}

#[test]
fn a_definition_built_in_code_gives_feedback() {
    let world = World::new();
    let coach = model::Provider::new(model::Advice::Fixed("x".to_owned()), Trigger::every_n_calls(1));
    let model = DefinitionBuilder::new().feedback(coach.named("Coach").suggest("y")).build().unwrap();
    let answer: Answer = world.builder().definition(model).build().unwrap().decide(&finished(1));
    assert_eq!(answer.feedback, block("Coach", "x\n\n→ y"));
}

fn layer(text: &str, origin: Origin) -> Layer {
    let model = definition::parse(text, &[]).unwrap().model;
    Layer::new(model, Digest::of(text.as_bytes()), origin, true)
}

/// The feedback of each of so many calls under these layers.
fn layered(layers: Vec<Layer>, calls: u64) -> Vec<Option<String>> {
    let stack = Stack { root: "/ws".to_owned(), layers, ..Stack::default() };
    let mut session = Session::default();
    let step = |n: u64| {
        let event = finished(n);
        let Step::Done(decision) = decide(&stack, &session, &event, &Facts::default()) else {
            panic!("no fact is needed")
        };
        session.apply(event.at, &decision.changes, &|_| None);
        decision.feedback
    };
    (1..=calls).map(step).collect()
}

#[test]
fn providers_of_a_user_and_a_project_add_up() {
    let named = |text: &str, n: u64| {
        format!("jackline: 1\nfeedback: [ {{ name: Coach, static: {text}, every_n_calls: {n} }} ]\n")
    };
    let told = layered(vec![layer(&named("u", 2), Origin::User), layer(&named("p", 3), Origin::Project)], 6);
    let (user, project) = (block("Coach", "u"), block("Coach", "p"));
    let both = Some(format!("{}\n\n{}", user.clone().unwrap(), project.clone().unwrap()));
    assert_eq!(told, [None, user.clone(), project, user, None, both]);
}

/// A changed definition that waits for trust stands beside the accepted one: who is in both speaks once.
#[test]
fn an_accepted_definition_beside_a_changed_one_says_nothing_twice() {
    let changed = DEFINITION.replace("key: bot }", "key: bot }\nlimits: { steps: 900 }");
    let told = layered(vec![layer(DEFINITION, Origin::Accepted), layer(&changed, Origin::Project)], 4);
    assert_eq!(told, [None, block("Static", "x"), None, block("Static", "x")]);
}

#[test]
fn another_identity_of_the_definition_counts_anew() {
    let (one, two) = (layer(DEFINITION, Origin::Project), layer(&DEFINITION.replace("bot", "other"), Origin::Project));
    let stack = |layer: &Layer| Stack { root: "/ws".to_owned(), layers: vec![layer.clone()], ..Stack::default() };
    let mut session = Session::default();
    let mut say = |layer: &Layer, n: u64| {
        let event = finished(n);
        let Step::Done(decision) = decide(&stack(layer), &session, &event, &Facts::default()) else {
            panic!("no fact is needed")
        };
        session.apply(event.at, &decision.changes, &|_| None);
        decision.feedback
    };
    assert_eq!(say(&one, 1), None);
    assert_eq!(say(&two, 2), None);
    assert_eq!(say(&two, 3), block("Static", "x"));
    assert_eq!(say(&one, 4), block("Static", "x"));
}

/// What an embedder's provider is in a stack of the core's.
#[test]
fn the_core_alone_asks_providers_too() {
    let own = Own { name: "From".to_owned(), provider: Arc::new(From(1)), trigger: Trigger::every_n_calls(1) };
    let stack = Stack { root: Path::new("/ws").display().to_string(), feedback: vec![own], ..Stack::default() };
    let Step::Done(decision) = decide(&stack, &Session::default(), &finished(1), &Facts::default()) else {
        panic!("no fact is needed")
    };
    assert_eq!(decision.feedback, block("From", "call 1"));
}
