//! Properties of deciding alone, with facts made up by a rule: any answer to any probe, the unpleasant ones included.

use jackline_core::calls::{Became, Flaw, Found, Logged, Query};
use jackline_core::decide::decide;
use jackline_core::decision::{Decision, Step};
use jackline_core::definition;
use jackline_core::event::{self, Event};
use jackline_core::exception::{self, Exception, Refusal, What};
use jackline_core::path;
use jackline_core::probe::{Fact, Facts, Identity, Probe, There, Told};
use jackline_core::ran::{Exit, Ran};
use jackline_core::rego::{Denial, Judged};
use jackline_core::schema::{Checked, SchemaError};
use jackline_core::session::{Change, Memory, Session};
use jackline_core::sha::Digest;
use jackline_core::stack::{Layer, Origin, Stack};
use jackline_core::time::Timestamp;
use proptest::prelude::*;
use serde_json::Value;

use crate::pool;

const ROOT: &str = "/ws";

pub(crate) fn layer(text: &str) -> Layer {
    let parsed = definition::parse(text, &jackline_core::tools::names());
    let model = parsed.unwrap_or_else(|faults| panic!("{}", definition::render(&faults, text, "pool"))).model;
    Layer::new(model, Digest::of(text.as_bytes()), Origin::Project, true)
}

pub(crate) fn stack(layers: Vec<Layer>) -> Stack {
    Stack { root: ROOT.to_owned(), layers, ..Stack::default() }
}

pub(crate) fn read(value: &Value) -> Event {
    event::read(value, Timestamp(0)).unwrap()
}

/// The answer of a world that `salt` stands for; the same probe always gets the same one.
fn answer(probe: &Probe, salt: u64) -> Fact {
    let dice = Digest::of(format!("{salt} {probe:?}").as_bytes()).0[0];
    match probe {
        // Not by dice: another question about the same exceptions must not find others.
        Probe::Exceptions { at, refusals } => excepted(*at, refusals, salt),
        // The same goes for the folder that policies lie in, which both definitions ask for in their own words.
        Probe::Files { .. } if salt.is_multiple_of(16) => Fact::Unknown("made up".to_owned()),
        Probe::Files { .. } => Fact::Absent,
        _ if dice < 16 => Fact::Unknown("made up".to_owned()),
        Probe::Identity { path, dir } | Probe::Meant { path, dir, .. } => {
            Fact::Identity(identity(&path::join(&path::join(ROOT, dir), path), dice))
        }
        Probe::Fingerprint { .. } | Probe::LastByte { .. } if dice < 40 => Fact::Content(None),
        Probe::LastByte { .. } => Fact::Content(Some(Digest::of(if dice.is_multiple_of(2) { b"\n" } else { b"x" }))),
        Probe::Fingerprint { path } => Fact::Content(Some(Digest::of(format!("{path}{}", dice % 2).as_bytes()))),
        Probe::Usage { .. } => Fact::Absent,
        Probe::Run { .. } => Fact::Ran(Ran::silent(Exit::Code(i32::from(dice % 2)))),
        Probe::WorkTree | Probe::Settings { .. } if dice < 80 => Fact::Absent,
        Probe::Settings { .. } => Fact::Unknown("made up".to_owned()),
        Probe::Schema { .. } => Fact::Schema(checked(dice)),
        Probe::Rego { .. } => Fact::Rego(judged(dice)),
        Probe::Contains { .. }
        | Probe::Lands { .. }
        | Probe::Meets { .. }
        | Probe::Searches { .. }
        | Probe::Git { .. } => Fact::Told(Told::Holds { holds: dice.is_multiple_of(2), seen: "made up".to_owned() }),
        Probe::Expands { dir, .. } => {
            let files = (0..dice % 3).map(|number| format!("{dir}/{number}")).collect();
            Fact::Told(Told::Files { files, more: dice.is_multiple_of(7) })
        }
        Probe::Scripts { .. } => Fact::Told(Told::Scripts([("c.sh".to_owned(), format!("sha256:{dice}"))].into())),
        Probe::Counts => Fact::Told(Told::Counted { writes: u64::from(dice % 3), acts: u64::from(dice % 2) }),
        Probe::Web { .. } => Fact::Told(Told::Answered { status: 200, merged: Some(dice.is_multiple_of(2)) }),
        Probe::Calls { queries } => Fact::Told(Told::Calls(queries.iter().map(|query| found(query, dice)).collect())),
        Probe::WorkTree => Fact::Content(Some(Digest::of(&[dice % 3]))),
    }
}

/// A call that may be what was asked for, or none.
fn found(query: &Query, dice: u8) -> Found {
    let call = Logged {
        id: query.id.clone(),
        tool: "Bash".to_owned(),
        agent: "main".to_owned(),
        seq: 1,
        step: u64::from(dice % 7),
        at: Timestamp(0),
        became: if dice.is_multiple_of(3) { Became::Failed } else { Became::Succeeded },
        exit_code: None,
        command: query.command.clone(),
        shell: true,
        proven: !dice.is_multiple_of(5),
        outdated: dice.is_multiple_of(11),
        tree: dice.is_multiple_of(2).then(|| Digest::of(&[dice % 3])),
        flaw: dice.is_multiple_of(13).then_some(Flaw::Exchanged),
    };
    Found { calls: (dice > 60).then_some(call).into_iter().collect(), cut: dice > 200 }
}

fn judged(dice: u8) -> Judged {
    let denials = (0..dice % 3).map(|n| Denial::new(Some(&format!("c{n}")), Some("made up"))).collect();
    Judged { policy: Digest::of(b"policy"), denials, omitted: 0 }
}

fn checked(dice: u8) -> Checked {
    let error = |n: u8| SchemaError::new(&format!("/{n}"), "type", "made up");
    Checked::new(Digest::of(b"schema"), (0..dice % 3).map(error).collect(), 0)
}

/// The exceptions of that world: the same whatever is asked, as a person made them before.
fn excepted(at: Timestamp, refusals: &[Refusal], salt: u64) -> Fact {
    let what = [
        What::All,
        What::Family("rule".into()),
        What::Family("loop".into()),
        What::Code("sequence/missing".into()),
        What::Code("self/protected".into()),
        What::Code("run/halted".into()),
    ];
    let picked = what.into_iter().enumerate().filter(|(place, _)| salt >> place & 3 == 0);
    let known: Vec<Exception> = picked
        .map(|(place, what)| Exception {
            id: place.to_string(),
            what,
            once: salt >> (place + 8) & 1 == 0,
            granted_at: Timestamp(0),
            until: Timestamp(i64::MAX),
            reason: "made up".into(),
            by: "dev".into(),
        })
        .collect();
    Fact::Excepted(exception::chosen(&known, at, refusals).into_iter().cloned().collect())
}

fn identity(path: &str, dice: u8) -> Identity {
    let there = [There::File, There::File, There::Nothing, There::Directory, There::Other][usize::from(dice) % 5];
    let inside = path::below(ROOT, path).map(str::to_owned);
    let ours = (path.ends_with("jackline.yaml") || dice > 250).then(|| "the definition".to_owned());
    Identity {
        path: path.to_owned(),
        inside,
        there,
        ours,
        holds: None,
        leads: Vec::new(),
        began: None,
        instructs: false,
    }
}

/// Decides with all facts that are asked for, from the world of `salt`.
pub(crate) fn decided(stack: &Stack, session: &Session, event: &Event, salt: u64) -> Decision {
    let mut facts = Facts::default();
    for _ in 0..16 {
        match decide(stack, session, event, &facts) {
            Step::Done(decision) => return *decision,
            Step::Need(probes) => {
                assert!(!probes.is_empty(), "nothing is needed, and nothing decided");
                for probe in probes {
                    assert!(facts.get(&probe).is_none(), "{probe:?} was answered already");
                    let fact = answer(&probe, salt);
                    facts.keep(probe, fact);
                }
            }
        }
    }
    panic!("deciding asks for facts without end");
}

/// A session after events, judged by a stack in a world that changes with every event.
fn after(stack: &Stack, events: &[Value], salt: u64) -> Session {
    let mut session = Session::default();
    let mut snapshots = std::collections::BTreeMap::new();
    for (value, turn) in events.iter().zip(0_u64..) {
        let event = read(value);
        let decision = decided(stack, &session, &event, salt ^ (turn / 4));
        for change in &decision.changes {
            if let Change::Snapshot { digest, .. } = change {
                snapshots.insert(*digest, session.memory.encode());
            }
        }
        session.apply(event.at, &decision.changes, &|digest| snapshots.get(digest).cloned());
    }
    session
}

/// Lines that are shown of an outcome.
fn shown(decision: &Decision) -> u64 {
    decision.edits.iter().filter_map(|edit| edit.meta["lines_shown"].as_u64()).min().unwrap_or(u64::MAX)
}

fn with(policies: &[Value], at: prop::sample::Index, more: Value) -> Vec<Value> {
    let mut all = policies.to_vec();
    all.insert(at.index(policies.len() + 1), more);
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn adding_a_policy_never_loosens(
        policies in pool::policies(), more in pool::policy(), at: prop::sample::Index,
        history in pool::events(16), events in pool::events(8), salt: u64,
    ) {
        let without = stack(vec![layer(&pool::definition(&policies))]);
        let tightened = stack(vec![layer(&pool::definition(&with(&policies, at, more)))]);
        let session = after(&without, &history, salt);
        for value in &events {
            let event = read(value);
            let (before, now) = (decided(&without, &session, &event, salt), decided(&tightened, &session, &event, salt));
            // A limit that is used up ends the work, and nobody checks it: no call is left, and it is told so.
            let is_exhausted = now.data.as_ref().is_some_and(|(_, how)| *how == serde_json::json!("exhausted"));
            let holds = now.verdict >= before.verdict || is_exhausted;
            prop_assert!(holds, "{value}: {:?} became {:?}", before.findings, now.findings);
        }
    }

    #[test]
    fn deciding_is_deterministic(policies in pool::policies(), history in pool::events(24), last in pool::event(), salt: u64) {
        let text = pool::definition(&policies);
        let (one, two) = (stack(vec![layer(&text)]), stack(vec![layer(&text)]));
        let (session, again) = (after(&one, &history, salt), after(&two, &history, salt));
        prop_assert_eq!(&session, &again);
        // A state that went through the disk decides the same.
        let kept = Session::decode(&session.encode()).unwrap();
        prop_assert_eq!(&kept, &session);
        prop_assert_eq!(decided(&one, &session, &read(&last), salt), decided(&two, &kept, &read(&last), salt));
    }

    #[test]
    fn what_the_session_holds_can_be_written_into_a_record(policies in pool::policies(), history in pool::events(24), salt: u64) {
        let stack = stack(vec![layer(&pool::definition(&policies))]);
        let mut session = Session::default();
        for value in &history {
            let event = read(value);
            let changes = decided(&stack, &session, &event, salt).changes;
            let kept: Vec<Change> = serde_json::from_value(serde_json::to_value(&changes).unwrap()).unwrap();
            prop_assert_eq!(&kept, &changes);
            session.apply(event.at, &changes, &|_| None);
        }
        prop_assert_eq!(Memory::decode(&session.memory.encode()).unwrap(), session.memory);
    }
}

proptest! {
    // More of these: two definitions must disagree about the very call that is made.
    #![proptest_config(ProptestConfig { cases: 800, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn adding_a_layer_never_loosens(
        first in pool::policies(), second in pool::policies(), settings in pool::settings(), others in pool::settings(),
        above: bool, history in pool::events(16), events in pool::events(24), salt: u64,
    ) {
        let alone = layer(&pool::definition_with(&first, &settings));
        let added = layer(&pool::definition_with(&second, &others));
        let both = if above { vec![added, alone.clone()] } else { vec![alone.clone(), added] };
        let (alone, both) = (stack(vec![alone]), stack(both));
        let session = after(&alone, &history, salt);
        // What was just done is tried again, for the loop guard's sake.
        for value in events.iter().chain(history.iter().rev().take(3)) {
            let event = read(value);
            let (before, now) = (decided(&alone, &session, &event, salt), decided(&both, &session, &event, salt));
            // A limit that is used up ends the work, and nobody checks it: no call is left, and it is told so.
            let is_exhausted = now.data.as_ref().is_some_and(|(_, how)| *how == serde_json::json!("exhausted"));
            let holds = now.verdict >= before.verdict || is_exhausted;
            prop_assert!(holds, "{value}: {:?} became {:?}", before.findings, now.findings);
            prop_assert!(shown(&now) <= shown(&before), "{value}: {:?} became {:?}", before.edits, now.edits);
        }
    }
}
