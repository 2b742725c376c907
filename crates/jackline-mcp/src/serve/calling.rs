//! One call of a tool of ours: joined to its session, judged, done, finished; each with its record before anything goes on.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use jackline_core::completion::park;
use jackline_core::decision::{Edit, EditTarget, Verdict};
use jackline_core::event::{Body, Call, MAIN_AGENT, Outcome, TOOL_NAME_BYTES_MAX};
use jackline_core::operation::Operation;
use jackline_core::probe::Identity;
use jackline_core::tools::{OWN_ARGUMENT, OWN_PATH, OWN_PATH_USUAL};
use jackline_core::{audit, code};
use jackline_runtime::{Answer, Runtime};
use rmcp::model::CallToolResult;
use serde_json::{Map, Value, json};

use super::offer::{self, Offered};
use super::said::{Refused, Said, denied, told};
use super::workspace::{self, Workspace};
use crate::join::{Joined, Joiner, fresh_call_id};

/// What every call is judged with.
#[derive(Debug)]
pub(super) struct Serving {
    runtime: Runtime,
    joiner: Joiner,
    /// One is judged at a time: two that decide about one session at once would only make each other decide again.
    turn: Mutex<()>,
    writing: Mutex<()>,
}

/// A call as a client asks for it.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) tool: String,
    pub(super) args: Map<String, Value>,
    /// The host's id of it, where a host tells.
    pub(super) host_id: Option<String>,
}

/// A call on its way.
struct Called {
    joined: Joined,
    call: Call,
}

impl Serving {
    pub(super) fn new(runtime: Runtime, joiner: Joiner) -> Self {
        runtime.offer(offer::catalogue());
        Self { runtime, joiner, turn: Mutex::default(), writing: Mutex::default() }
    }

    /// What an agent that begins is told.
    pub(super) fn briefing(&self) -> Option<String> {
        self.runtime.briefing()
    }

    /// The server ends, and what it started with it.
    pub(super) fn end(&self) {
        self.joiner.end(&self.runtime);
    }

    /// Carries a call from its request to its result.
    pub(super) fn call(&self, asked: Asked) -> CallToolResult {
        let called = match self.join(asked) {
            Ok(called) => called,
            Err(answer) => return denied(&answer),
        };
        let (answer, judged_by) = self.judge(&called);
        // Nobody can be asked here: a question is a no. Where a hook asked before, this call is not asked about again.
        if answer.verdict != Verdict::Allow {
            return denied(&answer);
        }
        let called = self.of_its_maker(called);
        let args = answer.edit(EditTarget::Args).map_or(&called.call.args, |edit| &edit.value);
        let outcome = self.work(&called, args, &judged_by);
        let finished = self.decide(&called, Body::CallFinished(called.call.clone(), judged(&outcome)));
        // Done, and not on record: then it is not told as done.
        if finished.is_fault() {
            return told(&Err(Refused::unkept(&finished)), None, finished.emitted);
        }
        let outcome = match (outcome, finished.edit(EditTarget::Output)) {
            (Ok(said), Some(edit)) => Ok(bounded(said, edit, args)),
            (outcome, _) => outcome,
        };
        told(&outcome, finished.feedback.as_deref(), [answer.emitted, finished.emitted].concat())
    }

    fn decide(&self, called: &Called, body: Body) -> Answer {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.runtime.decide(&called.joined.event(body))
    }

    /// Judges a call; and says which files it was judged by.
    fn judge(&self, called: &Called) -> (Answer, Vec<Identity>) {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let path = called.call.args.get(OWN_PATH).and_then(Value::as_str).unwrap_or(OWN_PATH_USUAL);
        self.runtime.decide_with_identities(&called.joined.event(Body::CallRequested(called.call.clone())), path)
    }

    /// Which session a call belongs to, and which of its calls it is.
    fn join(&self, asked: Asked) -> Result<Called, Box<Answer>> {
        let Asked { tool, mut args, host_id } = asked;
        let address = args.remove(OWN_ARGUMENT);
        let tool = audit::head(offer::own_name(&tool), TOOL_NAME_BYTES_MAX).to_owned();
        let call = |id, own_id| Call { id, own_id, ..Call::new(tool, Value::Object(args)) };
        if let Some((joined, id)) = address.and_then(|address| self.joiner.addressed(&self.runtime, &address)) {
            return Ok(Called { joined, call: call(Some(id), false) });
        }
        let own_id = host_id.is_none();
        let call = call(host_id.or_else(fresh_call_id), own_id);
        Ok(Called { joined: self.joiner.join(&self.runtime, &call)?, call })
    }

    /// The call as one of the agent that made it, where a hook saw that and nothing of it came along.
    fn of_its_maker(&self, called: Called) -> Called {
        let Some(id) = called.call.id.as_deref().filter(|_| called.call.own_id) else { return called };
        let agent = self.runtime.requested_by(&called.joined.session, id).filter(|agent| agent != MAIN_AGENT);
        Called { joined: Joined { agent, ..called.joined }, call: called.call }
    }

    /// Does what was asked for.
    fn work(&self, called: &Called, args: &Value, judged: &[Identity]) -> Result<Said, Refused> {
        match Offered::named(&called.call.tool) {
            Some(Offered::Asks(operation)) => self.ask(called, operation, args),
            Some(Offered::Park) => self.park(called, args),
            Some(Offered::GuardStatus) => {
                let agent = called.joined.agent.as_deref().unwrap_or(MAIN_AGENT);
                let standing = self.runtime.standing(&called.joined.session, agent);
                standing.map(status).map_err(|answer| Refused::by(&answer))
            }
            Some(tool) => self.files(called, (tool, args), judged),
            None => {
                // The owner lets unknown tools be; there is none all the same.
                let reason = format!("There is no tool '{}'.", called.call.tool);
                Err(Refused::new(&code::TOOLS_UNKNOWN, reason, "call one that is listed"))
            }
        }
    }

    /// An operation on todos, facts or calls; its checks may run for minutes, so nobody else waits for it.
    fn ask(&self, called: &Called, operation: Operation, args: &Value) -> Result<Said, Refused> {
        let body = Body::Operation { operation, given: args.clone() };
        let answer = self.runtime.decide(&called.joined.event(body));
        if answer.verdict.refuses() {
            return Err(Refused::by(&answer));
        }
        Ok(Said::json(answer.result.unwrap_or_else(|| json!({}))))
    }

    fn park(&self, called: &Called, args: &Value) -> Result<Said, Refused> {
        let reason = args.get("reason").and_then(Value::as_str).and_then(park::bounded);
        let Some(reason) = reason else {
            let why = "`reason` does not say why.";
            return Err(Refused::new(&code::SCHEMA_INVALID, why, "say what is in the way"));
        };
        let answer = self.decide(called, Body::Park { reason });
        if answer.verdict.refuses() {
            return Err(Refused::by(&answer));
        }
        let text = "Parked: you may stop now, and the owner is told why.".to_owned();
        Ok(Said { text, value: json!({ "parked": true }) })
    }

    fn files(&self, called: &Called, (tool, args): (Offered, &Value), judged: &[Identity]) -> Result<Said, Refused> {
        let bearings = self.runtime.bearings(&called.joined.session);
        let (root, reads) = bearings.map_err(|fault| Refused::by(&Answer::refusal(fault.finding())))?;
        let root = Path::new(&root).canonicalize().map_err(|fault| {
            let reason = format!("The workspace cannot be used: {fault}.");
            Refused::new(&code::WORKSPACE_FAILED, reason, "ask the owner to look at it")
        })?;
        let hides = |path: &str| self.hides(called, path);
        Workspace { root: &root, reads, writing: &self.writing, judged, hides: &hides }.work(tool, args)
    }

    /// Whether something is against reading this file, which no link leads to.
    fn hides(&self, called: &Called, path: &str) -> bool {
        let call = Call { id: fresh_call_id(), ..Call::new(offer::READ_FILE, json!({ "path": path })) };
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let permitted = self.runtime.would_permit(&called.joined.event(Body::CallRequested(call)), path);
        let itself = |identity: &Identity| identity.inside.as_deref() == Some(path);
        !permitted.is_some_and(|identities| identities.iter().any(itself))
    }
}

fn status(standing: Value) -> Said {
    let enforced =
        standing.get("enforced").and_then(Value::as_str).unwrap_or("Nothing is declared beyond the defaults.");
    let mut rest = standing.clone();
    if let Value::Object(rest) = &mut rest {
        rest.remove("enforced");
    }
    Said { text: format!("{enforced}\n{rest}"), value: standing }
}

/// An outcome as it is judged and kept: what a model reads of it.
fn judged(outcome: &Result<Said, Refused>) -> Outcome {
    let text = |text: &str| json!({ "content": [{ "type": "text", "text": text }] });
    match outcome {
        Err(refused) => Outcome::new(false, json!({ "error": refused.text, "code": refused.code })),
        Ok(Said { value, .. }) if is_nothing(value) => Outcome::new(true, json!({ "matches": [] })),
        // Of a page, the file's own lines: the line about it is ours.
        Ok(Said { value, text: shown }) => {
            Outcome::new(true, text(value.get("content").and_then(Value::as_str).unwrap_or(shown)))
        }
    }
}

/// Whether it is a search that found nothing.
fn is_nothing(value: &Value) -> bool {
    value.get("matches").and_then(Value::as_array).is_some_and(Vec::is_empty)
}

/// How the line ends that says what was cut.
const CUT_END: &str = "]";

/// What is shown where less may be shown than there is: the text as it was cut, and as many of the rows.
fn bounded(mut said: Said, edit: &Edit, args: &Value) -> Said {
    let text = edit.value.pointer("/content/0/text").and_then(Value::as_str);
    said.text = text.map_or_else(|| edit.value.to_string(), str::to_owned);
    let shown = edit.meta.get("lines_shown").and_then(Value::as_u64).and_then(|shown| usize::try_from(shown).ok());
    let Value::Object(fields) = &mut said.value else { return said };
    for rows in ["matches", "entries", "calls", "todos", "facts"] {
        if let (Some(Value::Array(rows)), Some(shown)) = (fields.get_mut(rows), shown) {
            rows.truncate(shown);
        }
    }
    // A directory is listed in pages: the next one begins where this one was cut.
    if let (true, Some(shown)) = (fields.contains_key("entries"), shown) {
        let next = workspace::number(args, "offset").unwrap_or(0).saturating_add(shown);
        fields.insert("next_offset".to_owned(), json!(next));
        if let Some(text) = said.text.strip_suffix(CUT_END) {
            said.text = format!("{text}, next_offset: {next}{CUT_END}");
        }
    }
    if let Some(content) = fields.get_mut("content") {
        *content = json!(said.text);
    }
    if let Some(more) = fields.get_mut("has_more") {
        *more = json!(true);
    }
    said
}
