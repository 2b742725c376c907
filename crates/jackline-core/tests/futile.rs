//! A rule that the reader calls futile is: whatever happens, it never fires, or never has a say.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on says so by panicking")]

use jackline_core::decide::decide;
use jackline_core::decision::{Decision, Step};
use jackline_core::definition::{self, Model};
use jackline_core::event::{self, Event};
use jackline_core::probe::{Fact, Facts, Identity, Probe, There};
use jackline_core::session::Session;
use jackline_core::sha::Digest;
use jackline_core::stack::Stack;
use jackline_core::time::Timestamp;
use jackline_core::tools;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree as _;
use serde_json::{Value, json};

const ROOT: &str = "/ws";

/// One condition, of which several together often contradict one another.
fn condition() -> impl Strategy<Value = Value> {
    select(vec![
        json!({"tool": "a"}),
        json!({"tool": "b"}),
        json!({"tool": ["a", "Bash"]}),
        json!({"tool": "a*"}),
        json!({"tool": "*"}),
        json!({"tool": "step"}),
        json!({"tool": "@shell"}),
        json!({"tool": "@write"}),
        json!({"tool": "Read"}),
        json!({"command": "git*"}),
        json!({"command": {"program": "git", "flags": ["-f"]}}),
        json!({"path": "src/**"}),
        json!({"args": {"n": 1}}),
        json!({"args": {"n": {"gt": 0, "lt": 5}}}),
        json!({"args": {"n": {"gt": 7}}}),
        json!({"args": {"n": {"in": [2, "x"]}}}),
        json!({"args": {"n": {"glob": "x*"}}}),
        json!({"args": {"n": {"regex": "^y"}}}),
        json!({"args": {"n": {"absent": true}}}),
        json!({"session": {"calls": {"lt": 2}}}),
        json!({"session": {"calls": {"gt": 0, "lt": 1}}}),
        json!({"session": {"calls": {"gt": 1}, "done": "a"}}),
        json!({"session": {"done": "b", "not_done": "b"}}),
        json!({"session": {"written": {"lt": 0}}}),
        json!({"session": {"minutes": {"gt": 1}}}),
        json!({"agent": "main"}),
        json!({"agent": "sub"}),
        json!({"agent": "x"}),
        json!({"host": "claude"}),
        json!({"host": "codex"}),
    ])
}

fn matcher() -> impl Strategy<Value = Value> {
    condition().prop_recursive(3, 12, 3, |inner| {
        let some = prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            3 => some.clone().prop_map(|parts| json!({ "all": parts })),
            2 => some.prop_map(|parts| json!({ "any": parts })),
            2 => inner.clone().prop_map(|part| json!({ "not": part })),
            2 => (inner.clone(), inner).prop_map(|(all, not)| json!({ "all": [all], "not": not })),
        ]
    })
}

fn policy() -> impl Strategy<Value = Value> {
    let verdict = select(vec!["ask", "deny", "deny", "halt", "halt"]);
    (matcher(), prop::option::weighted(0.3, matcher()), verdict).prop_map(|(mut rule, when, verdict)| {
        rule["verdict"] = json!(verdict);
        match when {
            Some(when) => json!({ "when": when, "rule": rule }),
            None => json!({ "rule": rule }),
        }
    })
}

fn source() -> impl Strategy<Value = String> {
    let policies = prop::collection::vec(policy(), 1..6);
    let inside = prop::collection::vec(policy(), 0..2);
    (policies, inside, matcher(), any::<bool>()).prop_map(|(mut policies, mut inside, step, again)| {
        if again {
            // The same once more, narrower, so that an earlier halt covers it.
            let mut narrower = policies[0].clone();
            narrower["rule"]["path"] = json!("src/*");
            policies.push(narrower);
        }
        for (n, policy) in policies.iter_mut().chain(&mut inside).enumerate() {
            policy["name"] = json!(format!("p{n}"));
        }
        let sections = match inside.is_empty() {
            true => json!([]),
            false => json!([{ "name": "s", "tools": ["a", "@shell"], "policies": inside }]),
        };
        json!({ "jackline": 1, "loop": false, "steps": { "step": step }, "policies": policies, "sections": sections })
            .to_string()
    })
}

fn call() -> impl Strategy<Value = Value> {
    let tool = select(vec!["a", "b", "ab", "Bash", "Read", "Write", "other"]);
    let n = select(vec![json!(null), json!(1), json!(2), json!(3), json!(9), json!("x1"), json!("y"), json!([1])]);
    let agent = select(vec![None, Some("x"), Some("y")]);
    let host = select(vec![None, Some("claude"), Some("codex"), Some("new")]);
    let command = select(vec!["git push -f", "ls", "$X push"]);
    (tool, n, agent, host, command, 0..200_i64).prop_map(|(tool, n, agent, host, command, later)| {
        let mut args = json!({ "command": command, "file_path": "src/a.rs", "path": "b.rs" });
        if !n.is_null() {
            args["n"] = n;
        }
        json!({ "tool": tool, "args": args, "agent": agent, "host": host, "later": later })
    })
}

/// A run of calls, each of which is finished where it may run.
fn events(calls: &[Value]) -> Vec<Event> {
    let mut at = 0;
    let mut all = Vec::new();
    for (n, call) in calls.iter().enumerate() {
        at += 1_000 * call["later"].as_i64().unwrap();
        let body = json!({ "id": format!("c{n}"), "tool": call["tool"], "args": call["args"] });
        for (kind, ok) in [("call.requested", json!(null)), ("call.finished", json!(true))] {
            let event = json!({ "event": kind, "session": "s", "call": body, "ok": ok,
                "agent": call["agent"], "host": call["host"] });
            all.push(event::read(&event, Timestamp(at)).unwrap());
        }
    }
    all
}

fn answer(probe: &Probe) -> Fact {
    match probe {
        Probe::Identity { path, .. } => Fact::Identity(Identity {
            path: format!("{ROOT}/{path}"),
            inside: Some(path.clone()),
            there: There::File,
            ours: None,
            holds: None,
            leads: Vec::new(),
            began: None,
            instructs: false,
        }),
        _ => Fact::Absent,
    }
}

fn judge(stack: &Stack, session: &Session, event: &Event) -> Decision {
    let mut facts = Facts::default();
    loop {
        match decide(stack, session, event, &facts) {
            Step::Done(decision) => return *decision,
            Step::Need(probes) => probes.into_iter().for_each(|probe| {
                let fact = answer(&probe);
                facts.keep(probe, fact);
            }),
        }
    }
}

/// The names of policies of whose futility a warning ending this way tells.
fn told(warnings: &[definition::Fault], why: &str) -> Vec<String> {
    let of = |message: &str| Some(message.strip_prefix("policy \"")?.split_once('"')?.0.to_owned());
    let meant = warnings.iter().filter(|warning| warning.message.contains(why));
    meant.filter_map(|warning| of(&warning.message)).collect()
}

fn stack(model: Model) -> Stack {
    Stack::of(ROOT, model, Digest::of(b"x"))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn what_is_called_futile_never_fires(source in source(), calls in prop::collection::vec(call(), 1..8)) {
        let Ok(parsed) = definition::parse(&source, &tools::names()) else { return Ok(()) };
        let never = told(&parsed.warnings, "it can never fire");
        let silent = told(&parsed.warnings, "it never has a say");
        let stack = stack(parsed.model);
        let mut session = Session::default();
        for event in events(&calls) {
            let decision = judge(&stack, &session, &event);
            for finding in &decision.findings {
                prop_assert!(!never.contains(&finding.policy), "{} fired on {event:?}\n{source}", finding.policy);
            }
            let speaker = decision.code.as_ref().and_then(|code| code.as_str().strip_prefix("rule/").map(str::to_owned));
            prop_assert!(!speaker.is_some_and(|name| silent.contains(&name)), "{silent:?} spoke on {event:?}\n{source}");
            session.apply(event.at, &decision.changes, &|_| None);
        }
    }
}

/// The property above means something only if such rules are made, and found.
#[test]
fn such_rules_are_among_those_tried() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut never, mut silent) = (0, 0);
    for _ in 0..500 {
        let source = source().new_tree(&mut runner).unwrap().current();
        let Ok(parsed) = definition::parse(&source, &tools::names()) else { continue };
        never += told(&parsed.warnings, "it can never fire").len();
        silent += told(&parsed.warnings, "it never has a say").len();
    }
    assert!(never > 100 && silent > 20, "{never} that never fire, {silent} that never have a say");
}
