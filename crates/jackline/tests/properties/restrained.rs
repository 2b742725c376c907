//! What stands on an agent holds: no run of events makes a call that a constraint or an override forbids.

use jackline_core::decision::Decision;
use jackline_core::overrides::{Demand, OVERRIDES_MAX};
use jackline_core::session::{Agent, Change, Key, Session};
use jackline_core::time::Timestamp;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use crate::pool;
use crate::pure::{decided, layer, read, stack};

/// Worlds in which nobody made an exception: the bits by which one is picked are all set.
const NO_EXCEPTIONS: u64 = 0xffff;

fn repeats() -> impl Strategy<Value = Value> {
    (1..4_u8, 1..3_u8, 0..3_u8, 1..4_u8, any::<bool>(), any::<bool>()).prop_map(
        |(threshold, more, retries, ttl, progress_aware, cycles)| {
            json!({
                "window": threshold + more, "threshold": threshold + 1, "override_retries": retries, "ttl_steps": ttl,
                "progress_aware": progress_aware, "cycles": cycles,
            })
        },
    )
}

fn overriding() -> impl Strategy<Value = Value> {
    let tool = || select(vec!["deploy", "test", "look", "@write", "Bash"]);
    let demand = prop_oneof![
        (tool(), 0..3_u8).prop_map(|(tool, max)| json!({ "tool_budget": { "tool": tool, "max_calls": max } })),
        tool().prop_map(|tool| json!({ "force_action": { "tool": tool } })),
        Just(json!({ "widen_retrieval": { "factor": 3 } })),
    ];
    let ttl = prop_oneof![
        (1..4_u8).prop_map(|steps| json!({ "ttl_steps": steps })),
        (1..30_u8).prop_map(|seconds| json!({ "ttl": format!("{seconds}s") })),
        (1..9_u8).prop_map(|steps| json!({ "ttl_steps": steps, "ttl": "20s" })),
    ];
    (demand, ttl).prop_map(|(mut demand, ttl)| {
        demand.as_object_mut().unwrap().extend(ttl.as_object().unwrap().clone());
        demand
    })
}

/// Rules that put overrides, each on calls of another tool.
fn rules() -> impl Strategy<Value = Vec<Value>> {
    let rule = (select(vec!["deploy", "test", "look", "@read", "@shell"]), overriding(), prop::option::of("ask"));
    vec(rule, 0..4).prop_map(|rules| {
        let rule = |(tool, overriding, verdict): (&str, Value, Option<String>)| {
            let mut rule = json!({ "tool": tool, "override": overriding });
            rule.as_object_mut().unwrap().extend(verdict.map(|verdict| ("verdict".to_owned(), json!(verdict))));
            json!({ "rule": rule })
        };
        rules.into_iter().map(rule).collect()
    })
}

fn events() -> impl Strategy<Value = Vec<Value>> {
    let set = (overriding(), pool::event()).prop_map(|(overriding, mut event)| {
        let fields = event.as_object_mut().unwrap();
        fields.retain(|key, _| ["session", "at", "agent"].contains(&key.as_str()));
        fields.extend([("event".to_owned(), json!("override.set")), ("override".to_owned(), overriding)]);
        event
    });
    vec(prop_oneof![9 => pool::event(), 1 => set], 1..60)
}

/// Plays events and shows each decision with the agent as it was before.
fn play(definition: &str, events: &[Value], salt: u64, mut see: impl FnMut(&Value, &Agent, Timestamp, &Decision)) {
    let stack = stack(vec![layer(definition)]);
    let mut session = Session::default();
    let mut snapshots = std::collections::BTreeMap::new();
    for value in events {
        let event = read(value);
        let decision = decided(&stack, &session, &event, salt | NO_EXCEPTIONS);
        let agent = session.agent(event.agent()).cloned().unwrap_or_default();
        see(value, &agent, session.now(event.at), &decision);
        if decision.changes.iter().any(|change| matches!(change, Change::Snapshot { .. })) {
            let bytes = session.memory.encode();
            snapshots.insert(jackline_core::sha::Digest::of(&bytes), bytes);
        }
        session.apply(event.at, &decision.changes, &|digest| snapshots.get(digest).cloned());
    }
}

fn signature(decision: &Decision) -> Option<Key> {
    decision.changes.iter().find_map(|change| match change {
        Change::Requested { signature, .. } => Some(*signature),
        _ => None,
    })
}

fn definition(policies: &[Value], repeat: Value) -> String {
    pool::definition_with(policies, &Map::from_iter([("loop".to_owned(), repeat)]))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_forbidden_call_is_not_made_while_its_constraint_stands(
        policies in pool::policies(), repeat in repeats(), events in events(), salt: u64,
    ) {
        play(&definition(&policies, repeat), &events, salt, |event, agent, _, decision| {
            let forbidden = signature(decision).is_some_and(|signature| agent.constraint(&signature).is_some());
            assert!(!forbidden || decision.verdict.refuses(), "{event} was {:?} under {:?}", decision.verdict, agent.constraints);
        });
    }

    #[test]
    fn what_an_override_rules_out_is_not_done_while_it_stands(rules in rules(), events in events(), salt: u64) {
        play(&definition(&rules, json!(false)), &events, salt, |event, agent, now, decision| {
            assert!(agent.overrides.len() <= OVERRIDES_MAX);
            let standing = agent.overrides.iter().filter(|imposed| imposed.lasts(now));
            for imposed in standing.filter(|_| signature(decision).is_some()) {
                let called = event["call"]["tool"].as_str().unwrap_or_default();
                let writes = ["write_file", "edit_file"].contains(&called);
                let is = |tool: &str| tool == called || tool == "@write" && writes;
                let ruled_out = match &imposed.settings.demand {
                    Demand::ToolBudget { tool, max_calls } => {
                        assert!(imposed.calls <= *max_calls, "{imposed:?}");
                        is(tool) && imposed.calls >= *max_calls
                    }
                    Demand::ForceAction { tool } => !is(tool),
                    Demand::WidenRetrieval { .. } => false,
                };
                assert!(!ruled_out || decision.verdict.refuses(), "{event} was {:?} under {imposed:?}", decision.verdict);
            }
        });
    }
}
