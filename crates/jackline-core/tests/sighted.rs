//! A call that a hook let through comes to a proxy that knows more of its server: where that may see paths from.
#![expect(clippy::unwrap_used, clippy::panic, reason = "what goes wrong in a test's own steps fails the test")]

use jackline_core::decide::decide;
use jackline_core::decision::{Decision, Step};
use jackline_core::definition;
use jackline_core::event;
use jackline_core::probe::{Fact, Facts, Identity, Probe, There};
use jackline_core::session::Session;
use jackline_core::sha::Digest;
use jackline_core::stack::{Layer, Origin, Stack};
use jackline_core::time::Timestamp;
use jackline_core::tools;
use serde_json::{Value, json};

const ROOT: &str = "/ws";

fn answer(probe: &Probe) -> Fact {
    match probe {
        Probe::Identity { path, dir } | Probe::Meant { path, dir, .. } => {
            let dir = if dir.starts_with('/') { dir.clone() } else { format!("{ROOT}/{dir}") };
            let path = if path.starts_with('/') { path.clone() } else { format!("{dir}/{path}") };
            let inside = path.strip_prefix("/ws/").map(str::to_owned);
            Fact::Identity(Identity { path, inside, there: There::File, ours: None, holds: None })
        }
        Probe::Exceptions { .. } => Fact::Excepted(Vec::new()),
        other => panic!("{other:?} was asked for"),
    }
}

struct Run {
    stack: Stack,
    session: Session,
}

impl Run {
    fn new(text: &str) -> Self {
        let model = definition::parse(text, &tools::names()).unwrap_or_else(|faults| panic!("{faults:#?}")).model;
        let layers = vec![Layer::new(model, Digest::of(text.as_bytes()), Origin::Project, true)];
        let stack = Stack { root: ROOT.to_owned(), layers, ..Stack::default() };
        Self { stack, session: Session::default() }
    }

    fn send(&mut self, event: &Value) -> Decision {
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

    /// What a hook says of a call, and then the proxy before a server that was started in these directories.
    fn both(&mut self, id: &str, path: &str, dirs: &[&str]) -> [String; 2] {
        let call = json!({ "id": id, "tool": "mcp__files__read_file", "args": { "path": path } });
        let mut at_proxy = call.clone();
        at_proxy.as_object_mut().unwrap().insert("dirs".to_owned(), json!(dirs));
        [("claude", call), ("mcp", at_proxy)].map(|(host, call)| {
            let event = json!({ "event": "call.requested", "session": "s", "host": host, "call": call });
            self.send(&event).code.map_or_else(|| "allow".to_owned(), |code| code.to_string())
        })
    }
}

#[test]
fn what_a_hook_cannot_know_of_a_servers_directories_is_judged_at_the_proxy() {
    let text = "jackline: 1\nloop: false\nlimits: {steps: 4}\n\
                policies: [{paths: {protect: [\"sub/secret\"], protect_reads: true}}]\n";
    let mut run = Run::new(text);
    assert_eq!(run.both("1", "secret", &["/ws/sub"]), ["allow", "paths/protected"]);
    assert_eq!(run.both("2", "plain", &["/ws/sub"]), ["allow", "allow"]);
    assert_eq!(run.both("3", "secret", &["/ws"]), ["allow", "allow"]);
    // Four calls are four: what comes by a second time is not counted again.
    assert_eq!(run.both("4", "/ws/secret", &["/ws/sub"]), ["allow", "allow"]);
    assert_eq!(run.session.steps, 4);
}
