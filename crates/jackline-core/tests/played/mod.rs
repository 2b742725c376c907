//! A session under some definitions, in a world that is made up: every path leads to a file, and it contains its name.

use jackline_core::decide::decide;
use jackline_core::decision::{Decision, Step};
use jackline_core::definition;
use jackline_core::event;
use jackline_core::path;
use jackline_core::probe::{Fact, Facts, Identity, Probe, There};
use jackline_core::schema::{Checked, SchemaError};
use jackline_core::session::Session;
use jackline_core::sha::Digest;
use jackline_core::stack::{Layer, Origin, Stack};
use jackline_core::time::Timestamp;
use jackline_core::tools;
use serde_json::Value;

const ROOT: &str = "/ws";
/// What guards the session, beside the definition.
pub(crate) const SETTINGS: &str = "/home/dev/.claude/settings.json";

fn answer(probe: &Probe) -> Fact {
    match probe {
        Probe::Identity { path, dir } | Probe::Meant { path, dir, .. } => {
            let path = path::join(&path::join(ROOT, dir), path);
            let inside = path::below(ROOT, &path).map(str::to_owned);
            let ours = (path == SETTINGS).then(|| "the host's settings".to_owned());
            Fact::Identity(Identity {
                path,
                inside,
                there: There::File,
                ours,
                holds: None,
                leads: Vec::new(),
                began: None,
                instructs: false,
            })
        }
        Probe::Fingerprint { path } => Fact::Content(Some(Digest::of(path.as_bytes()))),
        Probe::WorkTree | Probe::Files { .. } => Fact::Absent,
        Probe::Schema { .. } => {
            let errors = vec![SchemaError::new("", "required", "\"a\" is missing")];
            Fact::Schema(Checked::new(Digest::ZERO, errors, 0))
        }
        Probe::Exceptions { .. } => Fact::Excepted(Vec::new()),
        other => panic!("{other:?} was asked for"),
    }
}

/// A session and what is in force.
pub(crate) struct Played {
    stack: Stack,
    pub(crate) session: Session,
}

impl Played {
    pub(crate) fn new(layers: &[(Origin, &str)]) -> Self {
        let layer = |(origin, text): &(Origin, &str)| {
            let text = format!("jackline: 1\n{text}\n");
            let model = definition::parse(&text, &tools::names()).unwrap_or_else(|faults| panic!("{faults:#?}")).model;
            Layer::new(model, Digest::of(text.as_bytes()), *origin, true)
        };
        let stack = Stack { root: ROOT.to_owned(), layers: layers.iter().map(layer).collect(), ..Stack::default() };
        Self { stack, session: Session::default() }
    }

    pub(crate) fn send(&mut self, event: &Value) -> Decision {
        let event = event::read(event, Timestamp(0)).unwrap();
        let mut facts = Facts::default();
        let decision = loop {
            match decide(&self.stack, &self.session, &event, &facts) {
                Step::Done(decision) => break *decision,
                Step::Need(probes) => probes.into_iter().for_each(|probe| {
                    let fact = answer(&probe);
                    facts.keep(probe, fact);
                }),
            }
        };
        self.session.apply(event.at, &decision.changes, &|_| None);
        decision
    }

    /// The code of what comes of an event, or that it is allowed.
    pub(crate) fn code(&mut self, event: &Value) -> String {
        self.send(event).code.map_or_else(|| "allow".to_owned(), |code| code.to_string())
    }
}
