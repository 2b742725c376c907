//! What an exception does to a decision, and what it leaves alone: pure, with facts written down here.

#![expect(clippy::expect_used, reason = "a test that cannot go on says so by panicking")]

use jackline_core::decide::decide;
use jackline_core::decision::{Decision, Step, Verdict};
use jackline_core::definition;
use jackline_core::event::{self, Event};
use jackline_core::exception::{Exception, What, chosen};
use jackline_core::probe::{Fact, Facts, Identity, Probe, There};
use jackline_core::ran::{Exit, Ran};
use jackline_core::schema::{Checked, SchemaError};
use jackline_core::session::{Change, Session};
use jackline_core::sha::Digest;
use jackline_core::stack::Stack;
use jackline_core::time::Timestamp;
use serde_json::{Value, json};

const ROOT: &str = "/ws";
const NOON: &str = "2026-01-01T12:00:00Z";

/// A run under one definition, and the exceptions that a person made.
struct Run {
    stack: Stack,
    session: Session,
    exceptions: Vec<Exception>,
    /// How often exceptions were asked for.
    asked: usize,
}

impl Run {
    fn new(definition: &Value) -> Self {
        let text = definition.to_string();
        let model = definition::parse(&text, &jackline_core::tools::names()).expect("a fine definition").model;
        let stack = Stack::of(ROOT, model, Digest::of(text.as_bytes()));
        Self { stack, session: Session::default(), exceptions: Vec::new(), asked: 0 }
    }

    fn except(mut self, what: What, once: bool) -> Self {
        let noon = Timestamp::parse(NOON).expect("a time");
        let id = format!("e{}", self.exceptions.len() + 1);
        let until = Timestamp(noon.0 + 60_000);
        let (reason, by) = ("a test".to_owned(), "dev".to_owned());
        self.exceptions.push(Exception { id, what, once, granted_at: noon, until, reason, by });
        self
    }

    fn ask(&mut self, tool: &str, args: Value) -> Decision {
        self.ask_at(NOON, tool, args)
    }

    fn ask_at(&mut self, at: &str, tool: &str, args: Value) -> Decision {
        self.event(json!({"event": "call.requested", "session": "s", "at": at, "call": {"tool": tool, "args": args}}))
    }

    fn event(&mut self, event: Value) -> Decision {
        let event = event::read(&event, Timestamp(0)).expect("an event");
        let mut facts = Facts::default();
        let decision = loop {
            match decide(&self.stack, &self.session, &event, &facts) {
                Step::Done(decision) => break *decision,
                Step::Need(probes) => probes.into_iter().for_each(|probe| {
                    let fact = self.answer(&probe);
                    facts.keep(probe, fact);
                }),
            }
        };
        self.replays(&event, &facts, &decision);
        self.session.apply(event.at, &decision.changes, &|_| None);
        let used = |id: &str| decision.findings.iter().any(|finding| finding.exception.as_deref() == Some(id));
        self.exceptions.retain(|exception| !(exception.once && used(&exception.id)));
        decision
    }

    /// Facts that went through a record lead to the same decision.
    fn replays(&self, event: &Event, facts: &Facts, decision: &Decision) {
        let mut kept = Facts::default();
        for (probe, fact) in facts.iter() {
            let text = json!([probe, fact]).to_string();
            let (probe, fact) = serde_json::from_str(&text).expect("facts read back");
            kept.keep(probe, fact);
        }
        assert_eq!(decide(&self.stack, &self.session, event, &kept), Step::Done(Box::new(decision.clone())));
    }

    fn answer(&mut self, probe: &Probe) -> Fact {
        match probe {
            Probe::Exceptions { at, refusals } => {
                self.asked += 1;
                Fact::Excepted(chosen(&self.exceptions, *at, refusals).into_iter().cloned().collect())
            }
            Probe::Identity { path, .. } | Probe::Meant { path, .. } => Fact::Identity(Identity {
                path: format!("{ROOT}/{path}"),
                inside: Some(path.clone()),
                there: There::File,
                ours: (path == "jackline.yaml").then(|| "the definition".to_owned()),
                holds: None,
                leads: Vec::new(),
                began: None,
                instructs: false,
            }),
            Probe::Fingerprint { .. } | Probe::LastByte { .. } => Fact::Content(None),
            Probe::Run { .. } => Fact::Ran(Ran::silent(Exit::Code(0))),
            Probe::WorkTree
            | Probe::Settings { .. }
            | Probe::Usage { .. }
            | Probe::Rego { .. }
            | Probe::Files { .. } => Fact::Absent,
            Probe::Counts
            | Probe::Calls { .. }
            | Probe::Contains { .. }
            | Probe::Lands { .. }
            | Probe::Meets { .. }
            | Probe::Expands { .. }
            | Probe::Searches { .. }
            | Probe::Git { .. }
            | Probe::Scripts { .. }
            | Probe::Web { .. } => Fact::Unknown("no todo is verified here".to_owned()),
            // Nothing fits.
            Probe::Schema { .. } => {
                let errors = vec![SchemaError::new("", "required", "something is missing")];
                Fact::Schema(Checked::new(Digest::ZERO, errors, 0))
            }
        }
    }
}

/// Two rules, one on each tool and both on a third.
fn rules() -> Value {
    json!({"jackline": 1, "loop": false, "policies": [
        {"name": "no-a", "rule": {"tool": ["a", "both"], "reason": "not a"}},
        {"name": "no-b", "rule": {"tool": ["b", "both"], "reason": "not b"}},
        {"name": "halts", "rule": {"tool": "h", "verdict": "halt", "reason": "stop"}},
        {"name": "asks", "rule": {"tool": "q", "verdict": "ask", "reason": "ask"}},
    ]})
}

fn policy(name: &str) -> What {
    What::Policy(name.to_owned())
}

fn code(name: &str) -> What {
    What::Code(name.to_owned())
}

fn lifted(decision: &Decision) -> Vec<(&str, &str)> {
    let findings = decision.findings.iter();
    findings.filter_map(|finding| Some((finding.policy.as_str(), finding.exception.as_deref()?))).collect()
}

#[test]
fn what_is_allowed_asks_for_no_exception() {
    let mut run = Run::new(&rules()).except(What::All, false);
    assert_eq!(run.ask("other", json!({})).verdict, Verdict::Allow);
    assert_eq!(run.asked, 0);
    run.ask("a", json!({}));
    assert_eq!(run.asked, 1);
}

#[test]
fn a_lifted_finding_keeps_its_verdict_and_names_the_exception() {
    let mut run = Run::new(&rules()).except(policy("no-a"), false);
    let decision = run.ask("a", json!({}));
    assert_eq!((decision.verdict, decision.code.as_ref(), decision.reason.as_ref()), (Verdict::Allow, None, None));
    let finding = &decision.findings[0];
    assert_eq!((finding.verdict, finding.enforced, finding.exception.as_deref()), (Verdict::Deny, false, Some("e1")));
    let note = &decision.notes[0];
    assert_eq!(note.kind, "exception.used");
    assert_eq!(note.data["exception"]["reason"], "a test");
    assert_eq!(note.data["finding"], json!({"policy": "no-a", "code": "rule/no-a"}));
    assert!(!run.session.open[0].refused, "its outcome counts");
    assert_eq!(run.ask("b", json!({})).verdict, Verdict::Deny, "another policy still holds");
    assert_eq!(run.ask("q", json!({})).verdict, Verdict::Ask);
}

#[test]
fn a_question_is_lifted_like_a_denial() {
    let mut run = Run::new(&rules()).except(code("rule/asks"), false);
    assert_eq!(run.ask("q", json!({})).verdict, Verdict::Allow);
}

#[test]
fn one_that_lasts_lifts_its_part_of_a_refusal() {
    let mut run = Run::new(&rules()).except(policy("no-a"), false);
    let decision = run.ask("both", json!({}));
    assert_eq!((decision.verdict, decision.reason.as_deref()), (Verdict::Deny, Some("not b")));
    assert_eq!(lifted(&decision), [("no-a", "e1")]);
}

#[test]
fn one_for_a_single_use_is_used_once_and_not_for_nothing() {
    let mut run = Run::new(&rules()).except(policy("no-a"), true);
    let decision = run.ask("both", json!({}));
    assert_eq!((decision.verdict, lifted(&decision)), (Verdict::Deny, vec![]), "`no-b` stays, so it is not used");
    assert_eq!(run.ask("a", json!({})).verdict, Verdict::Allow);
    assert_eq!(run.ask("a", json!({"n": 1})).verdict, Verdict::Deny);
}

#[test]
fn it_ends_with_its_time() {
    let mut run = Run::new(&rules()).except(policy("no-a"), false);
    assert_eq!(run.ask_at("2026-01-01T12:00:59.999Z", "a", json!({})).verdict, Verdict::Allow);
    assert_eq!(run.ask_at("2026-01-01T12:01:00Z", "a", json!({"n": 1})).verdict, Verdict::Deny);
    let back = run.ask_at(NOON, "a", json!({"n": 2}));
    assert_eq!(back.verdict, Verdict::Deny, "a clock that goes back does not bring it back");
}

#[test]
fn a_claim_survives_that_the_event_is_decided_again() {
    let run = Run::new(&rules()).except(policy("no-a"), true);
    let event = json!({"event": "call.requested", "session": "s", "at": NOON, "call": {"tool": "a", "args": {}}});
    let event = event::read(&event, Timestamp(0)).expect("an event");
    let Step::Need(probes) = decide(&run.stack, &run.session, &event, &Facts::default()) else { panic!("decided") };
    assert!(!probes[0].observes(), "it is asked once");
    let mut facts = Facts::default();
    facts.keep(probes[0].clone(), Fact::Excepted(run.exceptions.clone()));
    // In between another call was committed, and this agent is halted now.
    let mut moved = run.session.clone();
    let halt = jackline_core::session::Halt { code: "c".into(), reason: "r".into() };
    moved.apply(event.at, &[Change::Halted { agent: "main".into(), halt }], &|_| None);
    let Step::Need(further) = decide(&run.stack, &moved, &event, &facts) else { panic!("decided") };
    let Probe::Exceptions { refusals, .. } = &further[0] else { panic!("{further:?}") };
    assert_eq!(refusals.len(), 1, "only what is not covered yet is asked for: {refusals:?}");
    let mut nothing_more = facts.clone();
    nothing_more.keep(further[0].clone(), Fact::Excepted(vec![]));
    let Step::Done(decision) = decide(&run.stack, &moved, &event, &nothing_more) else { panic!("asks again") };
    assert_eq!((decision.verdict, lifted(&decision)), (Verdict::Deny, vec![]), "what was claimed is not used");
    let mut unknown = facts;
    unknown.keep(further[0].clone(), Fact::Unknown("no rights".into()));
    let Step::Done(decision) = decide(&run.stack, &moved, &event, &unknown) else { panic!("asks again") };
    assert_eq!(decision.verdict, Verdict::Deny);
}

#[test]
fn a_lifted_halt_halts_nothing() {
    let mut run = Run::new(&rules()).except(policy("halts"), true);
    let decision = run.ask("h", json!({}));
    assert_eq!((decision.verdict, decision.stop.is_some()), (Verdict::Allow, false));
    assert!(decision.emitted.iter().all(|told| told["type"] != "RUN_STOPPED"), "{:?}", decision.emitted);
    assert!(run.session.agent("main").is_some_and(|agent| agent.halted.is_none()));
    assert_eq!(run.ask("h", json!({"n": 1})).verdict, Verdict::Halt);
    let mut run = Run { session: run.session, ..Run::new(&rules()) }.except(What::All, false);
    assert_eq!(run.ask("other", json!({})).verdict, Verdict::Allow, "a pause lets a halted agent go on");
    assert!(run.session.agent("main").is_some_and(|agent| agent.halted.is_some()), "and does not lift its halt");
}

#[test]
fn a_lifted_budget_refusal_is_not_told() {
    let limited = json!({"jackline": 1, "loop": false, "limits": {"steps": 1}});
    let mut run = Run::new(&limited).except(code("budget/steps"), true);
    run.ask("a", json!({}));
    let decision = run.ask("a", json!({"n": 1}));
    assert_eq!((decision.verdict, decision.stop.is_some()), (Verdict::Allow, false));
    assert!(!run.session.budget.refused);
    let decision = run.ask("a", json!({"n": 2}));
    assert_eq!(decision.verdict, Verdict::Deny);
    assert!(decision.stop.is_some(), "the first refusal that counts is told");
}

#[test]
fn a_lifted_repeat_sets_no_constraint_and_spends_no_retry() {
    let looping = json!({"jackline": 1, "loop": {"window": 5, "threshold": 2, "override_retries": 1, "ttl_steps": 2}});
    let family = || What::Family("loop".to_owned());
    let mut run = Run::new(&looping).except(family(), false);
    for _ in 0..5 {
        assert_eq!(run.ask("a", json!({})).verdict, Verdict::Allow);
    }
    assert!(run.session.agent("main").is_some_and(|agent| agent.constraints.is_empty() && agent.halted.is_none()));
    run.exceptions.clear();
    let code = |decision: &Decision| decision.code.as_ref().map(ToString::to_string).unwrap_or_default();
    assert_eq!(code(&run.ask("a", json!({}))), "loop/override", "it is an alarm again");
    let mut run = run.except(family(), false);
    for _ in 0..3 {
        assert_eq!(run.ask("a", json!({})).verdict, Verdict::Allow, "the constraint is lifted");
    }
    run.exceptions.clear();
    assert_eq!(code(&run.ask("a", json!({}))), "loop/forbidden", "it stands as it stood: neither spent nor lapsed");
    assert_eq!(code(&run.ask("a", json!({}))), "loop/persisted");
}

#[test]
fn a_lifted_override_puts_and_spends_nothing() {
    let demand = json!({"tool_budget": {"tool": "look", "max_calls": 1}, "ttl_steps": 2});
    let definition = json!({
        "jackline": 1, "loop": false, "tools": {"declare": {"look": {"kind": "other"}, "work": {"kind": "other"}}},
        "policies": [{"name": "few", "rule": {"tool": "look", "override": demand}}],
    });
    let mut run = Run::new(&definition).except(code("override/tool-budget"), true);
    assert_eq!(run.ask("look", json!({"n": 1})).verdict, Verdict::Allow);
    let passed = run.ask("look", json!({"n": 2}));
    assert_eq!((passed.verdict, lifted(&passed)), (Verdict::Allow, vec![("few", "e1")]));
    let standing = |run: &Run| run.session.agent("main").map(|agent| agent.overrides.clone()).unwrap_or_default();
    assert_eq!(standing(&run).first().and_then(|imposed| imposed.steps_left), Some(2), "it is no nearer to its end");
    assert_eq!(run.ask("look", json!({"n": 3})).verdict, Verdict::Deny);
    let none = json!({"tool_budget": {"tool": "Bash", "max_calls": 0}, "ttl_steps": 2});
    let rule = json!({"name": "none", "rule": {"tool": "Bash", "override": none}});
    let mut run = Run::new(&json!({"jackline": 1, "policies": [rule]})).except(policy("none"), true);
    assert_eq!(run.ask("Bash", json!({"command": "ls"})).verdict, Verdict::Allow);
    assert!(standing(&run).is_empty(), "what was lifted has no consequences");
}

#[test]
fn a_pause_does_not_lift_self_protection() {
    let write = || json!({"path": "jackline.yaml", "content": "x"});
    let mut run = Run::new(&json!({"jackline": 1})).except(What::All, false);
    assert_eq!(run.ask("write_file", write()).verdict, Verdict::Deny);
    assert_eq!(run.ask("Bash", json!({"command": "jackline on"})).verdict, Verdict::Deny);
    let mut run = Run::new(&json!({"jackline": 1})).except(code("self/protected"), true);
    assert_eq!(run.ask("write_file", write()).verdict, Verdict::Allow, "its code was named");
}

#[test]
fn agents_cannot_run_the_commands_that_make_exceptions() {
    let mut run = Run::new(&json!({"jackline": 1, "loop": false}));
    for command in ["allow no-a --once --reason x", "off --for 1h --reason x", "on", "status"] {
        let decision = run.ask("Bash", json!({"command": format!("jackline {command}")}));
        assert_eq!(decision.code.map(|code| code.to_string()).as_deref(), Some("self/operator-command"), "{command}");
    }
}

#[test]
fn agents_may_ask_how_a_command_is_used() {
    let mut run = Run::new(&json!({"jackline": 1, "loop": false}));
    for command in ["trust --help", "policy --help", "todo -h", "mcp proxy --help", "policy check --help"] {
        let decision = run.ask("Bash", json!({"command": format!("jackline {command}")}));
        assert_eq!(decision.verdict, Verdict::Allow, "{command}");
    }
    for command in
        ["hook claude --help", "mcp proxy sh x.sh --help", "mcp proxy -- x --help", "$X --help", "trust --yes -h"]
    {
        let decision = run.ask("Bash", json!({"command": format!("jackline {command}")}));
        assert_eq!(decision.verdict, Verdict::Deny, "{command}");
    }
}

#[test]
fn granting_and_revoking_change_nothing_by_themselves() {
    let mut run = Run::new(&rules()).except(policy("no-a"), true);
    run.ask("other", json!({}));
    let before = run.session.clone();
    for kind in ["exception.granted", "exception.revoked"] {
        let exception = run.exceptions[0].clone();
        let decision = run.event(json!({"event": kind, "session": "s", "at": NOON, "exception": exception}));
        assert_eq!((decision.verdict, decision.changes.as_slice()), (Verdict::Allow, [].as_slice()));
    }
    assert_eq!(run.session, before);
    let broken = json!({"event": "exception.granted", "session": "s", "exception": {"id": "x"}});
    let fault = event::read(&broken, Timestamp(0)).expect_err("refused").to_string();
    assert_eq!(fault, "`exception` must be an exception as the log keeps it");
}

#[test]
fn a_value_that_may_pass_is_no_failed_repair() {
    let definition = json!({"jackline": 1, "loop": false, "schema": {"repair_attempts": 1},
        "tools": {"declare": {"x": {"schema": {"required": ["n"]}}}}});
    let mut run = Run::new(&definition).except(code("schema/invalid"), true);
    let decision = run.ask("x", json!({}));
    assert_eq!((decision.verdict, decision.emitted.as_slice()), (Verdict::Allow, [].as_slice()));
    assert_eq!(run.ask("x", json!({})).verdict, Verdict::Deny, "the first that counts");
    assert_eq!(run.ask("x", json!({})).verdict, Verdict::Halt);
}

#[test]
fn tools_that_their_server_changed_are_let_pass_by_their_code() {
    let changed = |run: &mut Run| {
        for digit in ["1", "2"] {
            let tools = json!([{"name": "read", "digest": digit.repeat(64)}]);
            run.event(json!({"event": "tools.listed", "session": "s", "at": NOON, "server": "files", "tools": tools}));
        }
        run.ask("mcp__files__read", json!({}))
    };
    let definition = json!({"jackline": 1, "mcp": {"changed_tools": "deny"}});
    assert_eq!(changed(&mut Run::new(&definition)).code.expect("refused").as_str(), "mcp/tools-changed");
    let mut excepted = Run::new(&definition).except(What::Code("mcp/tools-changed".into()), false);
    assert_eq!(changed(&mut excepted).verdict, Verdict::Allow);
}
