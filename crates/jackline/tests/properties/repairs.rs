//! Repairs, against a second way of counting them: never more than granted, none lost, each agent's and tool's apart.

use std::collections::BTreeMap;

use jackline_core::decide::decide;
use jackline_core::decision::{Decision, Step, Verdict};
use jackline_core::event::{self, Event};
use jackline_core::probe::{Fact, Facts, Probe};
use jackline_core::schema::{Checked, SchemaError};
use jackline_core::session::{Change, Session};
use jackline_core::sha::Digest;
use jackline_core::stack::Stack;
use jackline_core::time::Timestamp;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use crate::pure;

/// What an agent does next.
#[derive(Debug, Clone, Copy)]
enum Act {
    Fits,
    Fails,
    /// Its arguments are no JSON.
    Breaks,
    /// A person speaks, which lifts halts.
    Prompt,
}

type Move = (Act, &'static str, &'static str);

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let act = select(vec![Act::Fits, Act::Fails, Act::Fails, Act::Fails, Act::Breaks, Act::Prompt]);
    prop::collection::vec((act, select(vec!["main", "sub"]), select(vec!["a", "b"])), 1..40)
}

fn stack(attempts: u32) -> Stack {
    let tool = json!({ "schema": { "required": ["fits"] } });
    let text = json!({
        "jackline": 1, "loop": false, "schema": { "repair_attempts": attempts },
        "tools": { "declare": { "a": tool, "b": tool } },
    });
    Stack { root: "/ws".to_owned(), layers: vec![pure::layer(&text.to_string())], ..Stack::default() }
}

fn read((act, agent, tool): Move) -> Event {
    let call = match act {
        Act::Prompt => return event(json!({ "event": "prompt.submitted" }), agent),
        Act::Fits => json!({ "tool": tool, "args": { "fits": true } }),
        Act::Fails => json!({ "tool": tool, "args": {} }),
        Act::Breaks => json!({ "tool": tool, "args_text": "{" }),
    };
    event(json!({ "event": "call.requested", "call": call }), agent)
}

fn event(mut event: serde_json::Value, agent: &str) -> Event {
    event["session"] = json!("s");
    event["agent"] = json!(agent);
    event::read(&event, Timestamp(0)).unwrap()
}

fn answer(probe: &Probe, event: &Event) -> Fact {
    let Probe::Schema { .. } = probe else { return Fact::Absent };
    let fits = event.call().is_some_and(|call| call.args.get("fits").is_some());
    let error = SchemaError::new("", "required", "\"fits\" is a required property");
    Fact::Schema(Checked::new(Digest::ZERO, if fits { vec![] } else { vec![error] }, 0))
}

fn decided(stack: &Stack, session: &Session, event: &Event) -> Decision {
    let mut facts = Facts::default();
    loop {
        match decide(stack, session, event, &facts) {
            Step::Done(decision) => return *decision,
            Step::Need(probes) => probes.into_iter().for_each(|probe| {
                let fact = answer(&probe, event);
                facts.keep(probe, fact);
            }),
        }
    }
}

/// What should come of a call, counted by hand.
#[derive(Default)]
struct Counted {
    failures: BTreeMap<(&'static str, &'static str), u32>,
    halted: Vec<&'static str>,
}

impl Counted {
    fn expect(&mut self, (act, agent, tool): Move, attempts: u32) -> (Verdict, Option<&'static str>) {
        // A run is halted once, and nothing that comes after is counted.
        if self.halted.contains(&agent) && !matches!(act, Act::Prompt) {
            return (Verdict::Deny, Some("run/halted"));
        }
        let failures = self.failures.entry((agent, tool)).or_default();
        match act {
            Act::Prompt => {
                let lifted = |agent: &str| self.halted.contains(&agent);
                self.failures.retain(|(agent, _), _| !lifted(agent));
                self.halted.clear();
                (Verdict::Allow, None)
            }
            Act::Fits => {
                *failures = 0;
                (Verdict::Allow, None)
            }
            Act::Fails | Act::Breaks if *failures < attempts => {
                *failures += 1;
                (Verdict::Deny, Some("schema/invalid"))
            }
            Act::Fails | Act::Breaks => {
                self.halted.push(agent);
                (Verdict::Halt, Some("schema/exhausted"))
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn repair_never_exceeds_its_attempts(attempts in 0..4_u32, moves in moves()) {
        let (stack, mut session, mut counted) = (stack(attempts), Session::default(), Counted::default());
        for (number, next) in moves.iter().enumerate() {
            let event = read(*next);
            let decision = decided(&stack, &session, &event);
            let (verdict, code) = counted.expect(*next, attempts);
            prop_assert_eq!(decision.verdict, verdict, "move {}", number);
            prop_assert_eq!(decision.code.as_ref().map(|code| code.as_str()), code, "move {}", number);
            // Only what fits may run.
            let runs = !decision.verdict.refuses();
            prop_assert!(!runs || matches!(next.0, Act::Fits | Act::Prompt), "move {}", number);
            session.apply(event.at, &decision.changes, &|_| None);
            let repairs = session.memory.agents.values().flat_map(|agent| &agent.repairs);
            prop_assert!(repairs.into_iter().all(|repair| (1..=attempts).contains(&repair.count)), "move {}", number);
            let again = decision.changes.iter().filter(|change| matches!(change, Change::Invalid { .. })).count();
            prop_assert!(again <= 1);
        }
    }
}
