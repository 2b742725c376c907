//! A session as a reviewer wants it: what was asked, what was done, what is proven, what is left open.
//!
//! Gathered from the log in one pass, and from the state that the log folds to. Everything an agent wrote is shown as
//! the agent's, and what was checked as checked.

mod page;
mod proven;

use std::collections::BTreeMap;

use jackline_core::completion::{self, Stopped};
use jackline_core::event::MAIN_AGENT;
use jackline_core::session::Session;
use jackline_runtime::replay;
use jackline_runtime::store::{Head, Store};
use serde_json::{Value, json};

use crate::error::CommandError;
use crate::timeline::{self, text};

/// Prompts, refusals and exceptions of each kind that are shown; the rest is counted.
const SHOWN_MAX: usize = 20;

/// What a page says.
#[derive(Debug)]
pub(crate) struct Review {
    session: String,
    workspace: String,
    host: String,
    began: String,
    ended: String,
    /// What people asked for, as far as the host told.
    prompts: Vec<String>,
    calls: Calls,
    /// What was refused: by code and reason, how often and first where.
    refused: Vec<Refused>,
    /// Exceptions that were used, in words.
    exceptions: Vec<String>,
    /// How the last stop was decided.
    stopped: Option<Ending>,
    /// What `completion` found missing at the last stop, or at the end.
    missing: Vec<String>,
    /// What it saw at the last stop that was let through with everything in place.
    proven: Vec<String>,
    /// What the agent last said of each todo it claimed, by id.
    explanations: BTreeMap<String, String>,
    state: Session,
    head: Head,
    /// The last record that was retired of its beginning, about which nothing can be said.
    retired: Option<u64>,
}

/// How a run ended.
#[derive(Debug)]
struct Ending {
    how: String,
    at: String,
    /// Why the agent could not go on, if it said so.
    parked: Option<String>,
}

/// How many calls there were, and what became of them.
#[derive(Debug, Default)]
struct Calls {
    requested: u64,
    refused: u64,
    succeeded: u64,
    failed: u64,
    /// Names of tools with their calls.
    tools: BTreeMap<String, u64>,
}

/// Something that was refused.
#[derive(Debug)]
struct Refused {
    code: String,
    reason: String,
    count: u64,
    seq: u64,
}

impl Review {
    /// What the log says of a session.
    pub(crate) fn of(store: &dyn Store, session: &str, state: Session) -> Result<Self, CommandError> {
        let head = store.load(session)?.head;
        let mut review = Self {
            session: session.to_owned(),
            workspace: String::new(),
            host: String::new(),
            began: String::new(),
            ended: String::new(),
            prompts: Vec::new(),
            calls: Calls::default(),
            refused: Vec::new(),
            exceptions: Vec::new(),
            stopped: None,
            missing: Vec::new(),
            proven: Vec::new(),
            explanations: BTreeMap::new(),
            state,
            head,
            retired: None,
        };
        let mut kind = String::new();
        for line in store.lines(session, 0)? {
            let record = replay::record(&line?).map_err(|why| {
                CommandError::input(format!("a record cannot be read: {why}")).hint("run `jackline audit verify`")
            })?;
            if timeline::is_of_retention(&record) {
                continue;
            }
            review.record(&record, &kind);
            // An event's own record comes first of its records, and its decision last.
            match text(&record, "kind") {
                "decision" => kind.clear(),
                first if kind.is_empty() && first != "session.repaired" => first.clone_into(&mut kind),
                _ => {}
            }
        }
        Ok(review)
    }

    /// Takes one record; `event` is the kind of the event that a decision is about.
    fn record(&mut self, record: &Value, event: &str) {
        if self.began.is_empty() {
            self.retired = timeline::missing(record);
            let began = self.state.began.filter(|_| self.retired.is_some()).map(|began| began.to_string());
            self.began = began.unwrap_or_else(|| text(record, "at").to_owned());
            text(record, "workspace").clone_into(&mut self.workspace);
            text(record, "host").clone_into(&mut self.host);
        }
        text(record, "at").clone_into(&mut self.ended);
        let inside = |pointer: &str| record.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        match text(record, "kind") {
            "prompt.submitted" => self.prompts.push(inside("/data/prompt")),
            "call.requested" => {
                self.calls.requested += 1;
                let tool = text(record, "target").strip_prefix("tool:").unwrap_or("?").to_owned();
                *self.calls.tools.entry(tool).or_default() += 1;
            }
            "call.finished" if record.pointer("/data/ok") == Some(&Value::Bool(true)) => self.calls.succeeded += 1,
            "call.finished" => self.calls.failed += 1,
            "exception.used" => {
                let used = record.pointer("/data/exception").and_then(timeline::excepted).unwrap_or_default();
                if !self.exceptions.contains(&used) {
                    self.exceptions.push(used);
                }
            }
            "stop.decided" => {
                let parked = Some(inside("/data/parked")).filter(|reason| !reason.is_empty());
                self.stopped = Some(Ending { how: inside("/data/stopped"), at: text(record, "at").to_owned(), parked });
            }
            "todo.claimed" => {
                let id = text(record, "target").strip_prefix("todo:").unwrap_or_default().to_owned();
                self.explanations.insert(id, inside("/data/explanation"));
            }
            "decision" => {
                if matches!(event, "stop.requested" | "session.ended") {
                    self.judged(record);
                }
                if timeline::verdict(record).refuses() {
                    self.refuse(record, event);
                }
            }
            _ => {}
        }
    }

    /// Takes what was decided about a stop of the main agent: what was missing, and what was seen where nothing was.
    fn judged(&mut self, decision: &Value) {
        let consulted = decision.pointer("/data/consulted").and_then(Value::as_array);
        let judged = consulted.is_some_and(|guards| guards.iter().any(|guard| guard == completion::GUARD));
        if text(decision, "agent") != MAIN_AGENT || !judged {
            return;
        }
        let reasons = timeline::findings(decision).iter().filter_map(|finding| finding.get("reason")?.as_str());
        self.missing = reasons.map(|reason| reason.replace("<blocker>", "").replace("</blocker>", "")).collect();
        let complete = decision.pointer("/data/stopped") == Some(&json!(Stopped::Complete));
        self.proven = if complete { proven::seen(decision) } else { Vec::new() };
    }

    fn refuse(&mut self, record: &Value, event: &str) {
        self.calls.refused += u64::from(event == "call.requested");
        let of = |name: &str| {
            record.pointer(&format!("/data/{name}")).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let (code, reason) = (of("code"), of("reason"));
        let seq = record.get("seq").and_then(Value::as_u64).unwrap_or_default();
        match self.refused.iter_mut().find(|known| known.code == code && known.reason == reason) {
            Some(known) => known.count += 1,
            None => self.refused.push(Refused { code, reason, count: 1, seq }),
        }
    }

    /// The page for programs.
    pub(crate) fn to_value(&self) -> Value {
        let refused = self.refused.iter().map(|refused| {
            json!({ "code": refused.code, "reason": refused.reason, "count": refused.count, "first": refused.seq })
        });
        let todos = self.state.todos.to_value();
        let facts = self.state.statements.to_value();
        json!({
            "session": self.session,
            "workspace": self.workspace,
            "host": self.host,
            "began": self.began,
            "ended": self.ended,
            "retired": self.retired,
            "prompts": self.prompts,
            "calls": {
                "requested": self.calls.requested,
                "refused": self.calls.refused,
                "succeeded": self.calls.succeeded,
                "failed": self.calls.failed,
                "tools": self.calls.tools,
                "writes": self.state.writes,
            },
            "todos": todos.get("todos"),
            "facts": facts.get("facts"),
            "refused": refused.collect::<Vec<_>>(),
            "exceptions": self.exceptions,
            "stopped": self.stopped.as_ref().map(|end| json!({ "how": end.how, "at": end.at, "parked": end.parked })),
            "proven": self.proven,
            "missing": self.missing,
            "explanations": self.explanations,
            "head": { "seq": self.head.seq, "hash": self.head.hash.hex() },
        })
    }
}
