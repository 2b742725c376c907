//! Todos and facts at their bounds: what no longer fits is refused, with what to do, and the state stays as it is.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says so by panicking"
)]

use jackline_core::calls::{Became, Found, Logged};
use jackline_core::decide::decide;
use jackline_core::decision::{Decision, Step};
use jackline_core::definition;
use jackline_core::event::{self, Body, Event};
use jackline_core::facts::STATEMENTS_MAX;
use jackline_core::operation::Operation;
use jackline_core::probe::{Fact, Facts, Probe, Told};
use jackline_core::session::Session;
use jackline_core::sha::Digest;
use jackline_core::stack::Stack;
use jackline_core::time::Timestamp;
use jackline_core::todos::{PEOPLES_MAX, TODOS_BYTES_MAX, TODOS_MAX};
use serde_json::{Value, json};

struct World {
    stack: Stack,
    session: Session,
}

impl World {
    fn new() -> Self {
        let model = definition::parse("jackline: 1\n", &[]).expect("fine").model;
        Self { stack: Stack::of("/ws", model, Digest::ZERO), session: Session::default() }
    }

    /// Decides about an event in a world in which every call that is asked for was made, and folds it in.
    fn tell(&mut self, mut event: Value) -> Decision {
        event["session"] = json!("s");
        let event = event::read(&event, Timestamp(0)).expect("readable");
        let mut facts = Facts::default();
        loop {
            match decide(&self.stack, &self.session, &event, &facts) {
                Step::Need(probes) => probes.into_iter().for_each(|probe| {
                    let Probe::Calls { queries } = &probe else { panic!("{probe:?} was not expected") };
                    let fact = Fact::Told(Told::Calls(queries.iter().map(|_| made()).collect()));
                    facts.keep(probe, fact);
                }),
                Step::Done(decision) => {
                    self.session.apply(event.at, &decision.changes, &|_| None);
                    return *decision;
                }
            }
        }
    }

    fn create(&mut self, content: &str, checks: Value) -> Option<String> {
        let decision = self.tell(json!({ "event": "todo.create", "todo": { "content": content, "checks": checks } }));
        decision.code.map(|code| code.to_string())
    }
}

fn made() -> Found {
    let call = Logged {
        id: None,
        tool: "Read".to_owned(),
        agent: "main".to_owned(),
        seq: 1,
        step: 1,
        at: Timestamp(0),
        became: Became::Succeeded,
        exit_code: None,
        command: None,
        shell: false,
        proven: true,
        outdated: false,
        tree: None,
        flaw: None,
    };
    Found { calls: vec![call], cut: false }
}

#[test]
fn one_todo_too_many_is_refused() {
    let mut world = World::new();
    for n in 0..TODOS_MAX {
        assert_eq!(world.create(&format!("todo {n}"), json!([])), None);
    }
    assert_eq!(world.create("one more", json!([])).as_deref(), Some("todo/full"));
    assert_eq!(world.session.todos.len(), TODOS_MAX);
}

#[test]
fn an_agent_that_fills_its_room_keeps_no_person_out() {
    let mut world = World::new();
    let checks: Value = (0..2).map(|n| json!({ "file_exists": format!("{n}{}", "x".repeat(700)) })).collect();
    let refused = (0..=TODOS_MAX).find_map(|n| world.create(&n.to_string(), checks.clone()));
    assert_eq!(refused.as_deref(), Some("todo/full"));
    let mut assign = |n: usize| {
        let given = json!({ "content": format!("person's {n}"), "checks": [] });
        let body = Body::Operation { operation: Operation::TodoAssign, given };
        let event = Event::new("s", Timestamp(0), body);
        let Step::Done(decision) = decide(&world.stack, &world.session, &event, &Facts::default()) else {
            panic!("nothing is asked for")
        };
        world.session.apply(event.at, &decision.changes, &|_| None);
        decision.code.map(|code| code.to_string())
    };
    assert!((0..PEOPLES_MAX).all(|n| assign(n).is_none()));
    assert_eq!((0..=TODOS_MAX).find_map(assign).as_deref(), Some("todo/full"), "people have a bound, too");
}

#[test]
fn todos_that_are_too_long_together_are_refused() {
    let mut world = World::new();
    let checks: Value = (0..4).map(|n| json!({ "file_exists": format!("{n}{}", "x".repeat(900)) })).collect();
    let refused = (0..TODOS_MAX).find_map(|n| world.create(&n.to_string(), checks.clone()));
    assert_eq!(refused.as_deref(), Some("todo/full"));
    assert!(world.session.todos.bytes() <= TODOS_BYTES_MAX);
}

#[test]
fn one_fact_too_many_is_refused_and_a_summary_makes_room() {
    let mut world = World::new();
    let record =
        |n: usize| json!({ "event": "fact.record", "fact": { "text": format!("fact {n}"), "sources": ["c1"] } });
    for n in 0..STATEMENTS_MAX {
        assert_eq!(world.tell(record(n)).code, None);
    }
    let refused = world.tell(record(STATEMENTS_MAX));
    assert_eq!(refused.code.map(|code| code.to_string()).as_deref(), Some("fact/full"));
    let ids: Vec<String> = world.session.statements.iter().take(2).map(|statement| statement.id.to_string()).collect();
    let summary = json!({ "event": "fact.summarise", "fact": { "ids": ids, "text": "both" } });
    assert_eq!(world.tell(summary).code, None);
    assert_eq!(world.tell(record(STATEMENTS_MAX)).code, None);
}

#[test]
fn a_check_with_a_secret_is_refused_and_kept_nowhere() {
    let mut world = World::new();
    let token = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
    let refused = world.create("x", json!([{ "file_contains": { "path": "a", "text": token } }]));
    assert_eq!(refused.as_deref(), Some("todo/invalid"));
    assert!(world.session.todos.is_empty());
}
