//! Looks through records of a session, oldest first, and answers queries about its calls.

use serde_json::Value;

use super::{Became, CALLS_SHOWN_MAX, Flaw, Found, Logged, Meaning, Query, clipped};
use crate::call::{View, Views};
use crate::definition::Kind;
use crate::done;
use crate::event::{Call, MAIN_AGENT};
use crate::glob;
use crate::sha::{Digest, Key};
use crate::shell;
use crate::stack::Stack;
use crate::time::Timestamp;

/// Calls that are remembered while looking: more than fit into what is looked through at the size of a record.
const CALLS_MAX: usize = 65_536;
/// Members of an outcome in which hosts report an exit code.
const EXIT_CODES: &[&str] = &["exit_code", "exitCode", "returnCode", "code"];

/// A look through the log under way.
#[derive(Debug)]
pub struct Scan<'a> {
    stack: &'a Stack,
    calls: Vec<Entry>,
    /// The call that the latest event was about, until its decision is read.
    about: Option<usize>,
    /// Whether that event was the request.
    asked: bool,
    /// The number of the latest record that says that files were written.
    written: u64,
    cut: bool,
}

/// A call as far as it was read.
#[derive(Debug)]
struct Entry {
    logged: Logged,
    host: Option<String>,
    args: Value,
    /// Its arguments are as they were sent.
    whole: bool,
    /// What it counts as, by the decision about its outcome.
    names: Vec<String>,
}

impl<'a> Scan<'a> {
    /// A scan under these definitions; `cut` when the beginning of the log is left out.
    #[must_use]
    pub const fn new(stack: &'a Stack, cut: bool) -> Self {
        Self { stack, calls: Vec::new(), about: None, asked: false, written: 0, cut }
    }

    /// Takes the next record.
    pub fn record(&mut self, record: &Value) {
        match text(record, "kind") {
            "call.requested" => {
                self.about = self.request(record);
                self.asked = true;
            }
            "call.finished" => {
                self.about = self.finish(record);
                self.asked = false;
            }
            "call.settled" => self.settle(record),
            "decision" => self.decision(record),
            _ => {}
        }
    }

    /// What the calls read so far say to each query.
    #[must_use]
    pub fn answer(&self, queries: &[Query]) -> Vec<Found> {
        queries.iter().map(|query| self.one(query)).collect()
    }

    fn one(&self, query: &Query) -> Found {
        let last = query.last.min(CALLS_SHOWN_MAX) as usize;
        let matching = self.calls.iter().rev().filter_map(|entry| self.matching(entry, query));
        let mut calls: Vec<Logged> = matching.take(last).collect();
        calls.reverse();
        Found { calls, cut: self.cut }
    }

    fn matching(&self, entry: &Entry, query: &Query) -> Option<Logged> {
        let logged = &entry.logged;
        let meant = query.id.as_ref().is_none_or(|id| logged.id.as_ref() == Some(id))
            && query.counting.as_ref().is_none_or(|meaning| entry.counts_as(meaning))
            && query.tool.as_ref().is_none_or(|tool| self.is_named(entry, tool));
        let proven = match (&query.command, meant) {
            (_, false) => return None,
            (None, true) => logged.became == Became::Succeeded,
            (Some(command), true) => self.runs(entry, command, &query.by)?,
        };
        Some(Logged { proven, outdated: self.written > logged.seq, ..logged.clone() })
    }

    /// A step counts where it was proven; a tool also by its plain name, whatever became of the call.
    fn is_named(&self, entry: &Entry, name: &str) -> bool {
        let proven =
            |remembered: &String| self.stack.layers.iter().any(|layer| done::is_named(layer, name, remembered));
        let step = self.stack.layers.iter().any(|layer| layer.step(name).is_some());
        entry.names.iter().any(proven) || !step && glob::text_matches(name, &entry.logged.tool)
    }

    /// Whether the call's shell text runs this command, to each who is asked; and if so, whether its success proves the
    /// command's.
    fn runs(&self, entry: &Entry, wanted: &str, by: &[Key]) -> Option<bool> {
        // A text that was cut or lacks a secret is another text.
        if !entry.whole {
            return None;
        }
        let call = Call::new(&entry.logged.tool, entry.args.clone());
        let host = entry.host.as_deref();
        let views = Views::new(&call, host, &self.stack.root, self.stack);
        let asked = self.stack.layers.iter().filter(|layer| by.contains(&layer.digest.short()));
        let seen: Vec<&View<'_>> = match by {
            [] => vec![&views.first],
            _ => asked.map(|layer| views.of(self.stack, layer)).collect(),
        };
        let longer = format!("{wanted} *");
        let is =
            |command: &&shell::Command| shell::glob_matches(command, wanted) || shell::glob_matches(command, &longer);
        let proves = |view: &&View<'_>| {
            let mut found = view.reading()?.commands.iter().filter(is).peekable();
            found.peek()?;
            Some(found.any(|command| command.proven))
        };
        let proven: Option<Vec<bool>> = seen.iter().map(proves).collect();
        proven.filter(|proven| !proven.is_empty()).map(|proven| proven.into_iter().all(|proven| proven))
    }

    fn request(&mut self, record: &Value) -> Option<usize> {
        if self.calls.len() >= CALLS_MAX {
            self.calls.remove(0);
            self.cut = true;
        }
        self.calls.push(self.entry(record));
        self.calls.len().checked_sub(1)
    }

    fn entry(&self, record: &Value) -> Entry {
        let tool = text(record, "target").strip_prefix("tool:").unwrap_or_default().to_owned();
        let args = record.pointer("/data/call/args").cloned().unwrap_or_default();
        let host = record.get("host").and_then(Value::as_str).map(str::to_owned);
        let call = Call::new(tool.as_str(), args.clone());
        let views = Views::new(&call, host.as_deref(), &self.stack.root, self.stack);
        let agent = Some(text(record, "agent")).filter(|agent| !agent.is_empty()).unwrap_or(MAIN_AGENT);
        let logged = Logged {
            id: record.get("call").and_then(Value::as_str).map(str::to_owned),
            agent: agent.to_owned(),
            seq: number(record, "seq"),
            step: number(record, "step"),
            at: Timestamp::parse(text(record, "at")).unwrap_or(Timestamp(0)),
            became: Became::Unfinished,
            exit_code: None,
            command: views.all().find_map(View::shell_text).map(|text| clipped(&text)),
            shell: views.all().any(|view| view.kind == Kind::Shell),
            proven: false,
            outdated: false,
            tree: None,
            flaw: None,
            tool,
        };
        let whole = record.get("replayable") != Some(&Value::Bool(false));
        Entry { logged, host, args, whole, names: Vec::new() }
    }

    /// An outcome belongs to the latest call of its id that has none; without ids, to the oldest equal one.
    fn finish(&mut self, record: &Value) -> Option<usize> {
        let id = record.get("call").and_then(Value::as_str);
        let tool = text(record, "target").strip_prefix("tool:").unwrap_or_default();
        let args = record.pointer("/data/call/args");
        let unfinished = |entry: &Entry| entry.logged.became == Became::Unfinished;
        let equal = |entry: &Entry| entry.logged.tool == tool && Some(&entry.args) == args;
        let at = match id {
            Some(_) => self.calls.iter().rposition(|entry| entry.logged.id.as_deref() == id),
            None => self.calls.iter().position(|entry| unfinished(entry) && entry.logged.id.is_none() && equal(entry)),
        };
        // Finishing twice is finishing once, and what was refused never finished.
        let at = match at {
            Some(at) if self.calls.get(at).is_some_and(unfinished) => at,
            Some(_) => return None,
            None => {
                let at = self.request(record)?;
                self.calls.get_mut(at)?.logged.flaw = Some(Flaw::Unasked);
                at
            }
        };
        let entry = self.calls.get_mut(at)?;
        entry.end(record);
        Some(at)
    }

    /// One that is over without an outcome has none, whatever is told of it later.
    fn settle(&mut self, record: &Value) {
        let Some(id) = record.get("call").and_then(Value::as_str) else { return };
        let same = |entry: &&mut Entry| entry.logged.id.as_deref() == Some(id);
        if let Some(entry) = self.calls.iter_mut().rev().find(same)
            && entry.logged.became == Became::Unfinished
        {
            (entry.logged.became, entry.logged.flaw) = (Became::Failed, Some(Flaw::Settled));
        }
    }

    fn decision(&mut self, record: &Value) {
        let changes = record.get("changes").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        if changes.iter().any(|change| change.as_str() == Some("wrote")) {
            self.written = number(record, "seq");
        }
        let Some(entry) = self.about.take().and_then(|at| self.calls.get_mut(at)) else { return };
        if self.asked {
            let verdict = record.pointer("/data/verdict").and_then(Value::as_str);
            if matches!(verdict, Some("deny" | "halt")) {
                entry.logged.became = Became::Refused;
            }
            return;
        }
        let names = changes.iter().filter_map(|change| change.pointer("/done/name")?.as_str());
        entry.names = names.map(str::to_owned).collect();
        let tree = changes.iter().find_map(|change| change.pointer("/done/tree")?.as_str());
        entry.logged.tree = tree.and_then(Digest::parse);
        // Whatever succeeds as it was judged counts at least as its tool.
        if entry.logged.became == Became::Succeeded && entry.names.is_empty() {
            entry.logged.flaw.get_or_insert(Flaw::Exchanged);
        }
    }
}

impl Entry {
    fn counts_as(&self, meaning: &Meaning) -> bool {
        let counts = match meaning {
            Meaning::Step(remembered) => self.names.contains(remembered),
            Meaning::Tool(name) if name.starts_with('@') => self.names.contains(name),
            Meaning::Tool(name) => {
                // A tool may go by two names, and counts as both.
                let tools = self.names.iter().filter_map(|name| name.strip_prefix("tool:"));
                tools.chain([self.logged.tool.as_str()]).any(|tool| glob::text_matches(name, tool))
            }
        };
        counts && self.logged.became == Became::Succeeded
    }

    fn end(&mut self, record: &Value) {
        let is = |member: &str| record.pointer(member) == Some(&Value::Bool(true));
        let code = exit_code(record.pointer("/data/output"));
        let ok = is("/data/ok") && code.is_none_or(|code| code == 0);
        self.logged.exit_code = code.or_else(|| (ok && self.logged.shell).then_some(0));
        self.logged.became = match (ok, is("/data/background")) {
            (true, true) => Became::Unfinished,
            (true, false) => Became::Succeeded,
            (false, _) => Became::Failed,
        };
    }
}

/// An exit code that the host reports as a number; none is ever read out of a text.
fn exit_code(output: Option<&Value>) -> Option<i64> {
    let output = output?.as_object()?;
    EXIT_CODES.iter().find_map(|name| output.get(*name)?.as_i64())
}

fn text<'a>(record: &'a Value, key: &str) -> &'a str {
    record.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn number(record: &Value, key: &str) -> u64 {
    record.get(key).and_then(Value::as_u64).unwrap_or_default()
}

#[cfg(test)]
mod tests;
