//! The core by itself: `decide` and the fold, no store, no pipeline. Only the facts come from the disk.

use std::collections::BTreeMap;
use std::path::Path;

use jackline_core::calls::{Query, Scan};
use jackline_core::decide::decide;
use jackline_core::decision::{Decision, Step};
use jackline_core::definition;
use jackline_core::event::{Body, Event};
use jackline_core::files::seen::{Ask, Seen};
use jackline_core::probe::{Fact, Facts, Probe, Told};
use jackline_core::ran::Author;
use jackline_core::redact::Redactor;
use jackline_core::session::{Change, Session};
use jackline_core::sha::Digest;
use jackline_core::stack::Stack;
use jackline_core::time::Timestamp;
use jackline_core::{event, json};
use jackline_runtime::Answer;
use jackline_runtime::adapters::{Adapter as _, lines::Lines};
use jackline_runtime::commands::Commands;
use jackline_runtime::definitions::{Scripts, Standing};
use jackline_runtime::files::{self, Levels, Question};
use jackline_runtime::probes::{Ground, Prober as _, WorkspaceProber, inline_schemas, own_paths};

use serde_json::Value;

use crate::Engine;
use crate::case::Case;
use crate::world::World;

struct Core {
    stack: Stack,
    prober: WorkspaceProber,
    sessions: BTreeMap<String, Session>,
    snapshots: BTreeMap<Digest, Vec<u8>>,
    /// What a log would say of calls, by session.
    records: BTreeMap<String, Vec<Value>>,
    seq: u64,
}

pub(crate) fn start(_case: &Case, world: &World) -> Result<Box<dyn Engine>, String> {
    let standing = Standing::given(&world.root, &world.definition)
        .map_err(|faults| definition::render(&faults, &world.definition, "definition"))?;
    let own =
        own_paths(&Levels::around(&world.root), Some(&world.home), Some(&world.store), None, &standing.protected());
    let schemas = inline_schemas(&standing.stack);
    let ground = Ground {
        root: world.root.clone(),
        first_root: None,
        home: Some(world.home.clone()),
        own,
        instructing: Vec::new(),
        schemas,
    };
    let mut stack = standing.stack;
    jackline_runtime::tilde::expand(&mut stack, &world.home);
    Ok(Box::new(Core {
        stack,
        prober: WorkspaceProber::new(ground),
        sessions: BTreeMap::new(),
        snapshots: BTreeMap::new(),
        records: BTreeMap::new(),
        seq: 0,
    }))
}

/// Runs a command of the case's definition, which is trusted as it is given.
fn run(stack: &Stack, argv: &[String], timeout_ms: u64, author: &Author) -> Fact {
    let (scripts, redactor) = (Scripts::Given, Redactor::new([]));
    let (home, state, environment, patience) = (None, None, None, None);
    let commands = Commands { stack, scripts: &scripts, redactor: &redactor, home, state, environment, patience };
    commands.answer(argv, timeout_ms, author)
}

/// What is on disk of file policies; nothing is kept there, and no command is run.
fn files(stack: &Stack, ask: &Ask) -> Fact {
    let Ask::Detect { dir, base, baseline, held, .. } = ask else { return Fact::Absent };
    let Some(folder) = files::find(Path::new(&stack.root), dir.as_deref()) else { return Fact::Absent };
    let question =
        Question { base: base.as_deref(), baseline: baseline.as_ref(), held, holds: true, ..Question::default() };
    match files::look_at(&folder, None, question) {
        Ok(detection) => Fact::Files(Seen::Detected(detection.told())),
        Err(why) => Fact::Unknown(why),
    }
}

/// Adds what a log would say of an event that is about a call, and of the decision about it.
fn log(records: &mut Vec<Value>, session: &Session, (event, sent): (&Event, Value), decision: &Decision) {
    let call = event.call();
    let finished = call.and_then(|call| session.step_of(call.id.as_deref()?));
    let asked = matches!(event.body, Body::CallRequested(_));
    let step = if asked { session.steps + 1 } else { finished.unwrap_or(session.steps) };
    let mut record = |kind: &str, data: Value, changes: Value| {
        records.push(serde_json::json!({
            "seq": records.len() + 1, "step": step, "kind": kind, "agent": event.agent(), "host": event.host,
            "at": event.at.to_string(), "call": call.and_then(|call| call.id.as_ref()),
            "target": call.map(|call| format!("tool:{}", call.tool)), "data": data, "changes": changes,
        }));
    };
    record(event.body.name(), sent, Value::Null);
    let changes = serde_json::to_value(&decision.changes).expect("plain data");
    record("decision", serde_json::json!({ "verdict": decision.verdict }), changes);
}

fn calls(stack: &Stack, records: &[Value], queries: &[Query]) -> Fact {
    let mut scan = Scan::new(stack, false);
    records.iter().for_each(|record| scan.record(record));
    Fact::Told(Told::Calls(scan.answer(queries)))
}

impl Engine for Core {
    fn ask(&mut self, line: &str) -> String {
        let Ok(messages) = Lines.read(line.as_bytes(), Timestamp(0)).messages else {
            let finding = Lines.read(line.as_bytes(), Timestamp(0)).messages.expect_err("just refused");
            return Answer::refusal(*finding).to_json();
        };
        let event = &messages[0].event;
        let decoded = json::decode(line.as_bytes()).expect("read before");
        assert_eq!(event::read(&decoded, Timestamp(0)).as_ref(), Ok(event));
        let session = self.sessions.entry(event.session.clone()).or_default();
        let records = self.records.entry(event.session.clone()).or_default();
        let mut facts = Facts::default();
        let decision = loop {
            match decide(&self.stack, session, event, &facts) {
                Step::Done(decision) => break *decision,
                Step::Need(probes) => probes.into_iter().for_each(|probe| {
                    let fact = match &probe {
                        Probe::Run { argv, timeout_ms, author } => run(&self.stack, argv, *timeout_ms, author),
                        Probe::Counts => Fact::Told(Told::Counted { writes: session.writes, acts: session.acts }),
                        Probe::Calls { queries } => calls(&self.stack, records, queries),
                        Probe::Files { ask } => files(&self.stack, ask),
                        probe => self.prober.answer(probe, event),
                    };
                    facts.keep(probe, fact);
                }),
            }
        };
        if decision.changes.iter().any(|change| matches!(change, Change::Snapshot { .. })) {
            let bytes = session.memory.encode();
            self.snapshots.insert(Digest::of(&bytes), bytes);
        }
        if !decision.passing {
            log(records, session, (event, decoded), &decision);
        }
        session.apply(event.at, &decision.changes, &|digest| self.snapshots.get(digest).cloned());
        self.answer(decision)
    }

    /// The core keeps nothing: a restart is a fold of the same changes, which the state already is.
    fn restart(&mut self) {
        for session in self.sessions.values_mut() {
            *session = Session::decode(&session.encode()).expect("what was encoded decodes");
        }
    }
}

impl Core {
    fn answer(&mut self, decision: Decision) -> String {
        self.seq += 1;
        Answer::kept(decision, self.seq, Digest::of(&self.seq.to_le_bytes())).to_json()
    }
}
