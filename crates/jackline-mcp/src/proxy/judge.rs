//! Calls as the runtime judges them: asked for, then finished, each with its record before anything goes on.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use jackline_core::catalogue::Catalogue;
use jackline_core::code;
use jackline_core::decision::{EditTarget, Verdict};
use jackline_core::event::{Body, Call, Continued, Event, Outcome, TOOL_NAME_BYTES_MAX};
use jackline_core::listing::{Listing, MCP_HOST, tool_name};
use jackline_core::tools::{self, OWN_ARGUMENT};
use jackline_runtime::{Answer, Runtime};
use serde_json::{Map, Value, json};

use super::continued::{Continuations, Paused, ROUNDS_MAX};
use super::roots::Roots;
use crate::join::{CALL_ID_BYTES_MAX, CLAUDE_CALL, Joined, Joiner, event, fresh_call_id};
use crate::message::{Message, is_disguised};
use crate::reply::{self, block};

/// Where requests of 2026-07-28 and later say which protocol they speak.
pub(super) const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// The parameters of a call.
const PARAMS: [&str; 6] = ["name", "arguments", "_meta", "task", "requestState", "inputResponses"];
/// Sessions that were told of the present list; more than one is rare.
const TOLD_MAX: usize = 64;

/// A call on its way.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Called {
    session: String,
    agent: Option<String>,
    pub(super) call: Call,
    /// The client speaks a protocol in which results say whether they are the last word.
    stateless: bool,
    /// How often the client came back with it, because the server asked for input.
    rounds: u32,
    /// A host's hook let it through before it came here.
    agreed: bool,
}

/// A call as the client asks for it.
#[derive(Debug)]
pub(super) struct Asked<'a> {
    pub(super) tool: &'a str,
    pub(super) args: Value,
    host_id: Option<&'a str>,
    /// The client speaks a protocol in which results say whether they are the last word.
    stateless: bool,
    /// What it goes on with, where it is no new call.
    state: Option<&'a Value>,
    /// What the server wanted to know before it goes on.
    responses: Option<&'a Value>,
}

/// What becomes of a call.
#[derive(Debug)]
pub(super) enum Judged {
    /// It goes on, with other arguments where there are some.
    Pass(Box<Called>, Option<Value>),
    /// It does not; this is its result.
    Denied(Value),
}

/// What the client is told of a call that the server answered with an error, where that is something else.
#[derive(Debug)]
pub(super) enum Failed {
    /// An error within its bounds.
    Error(Value),
    /// A result of ours: the end of the call could not be kept.
    Withheld(Value),
}

impl<'a> Asked<'a> {
    /// The call that a message asks for; or what is wrong with it.
    pub(super) fn of(message: &Message<'a>) -> Result<Self, &'static str> {
        let disguised = |params: &Map<String, Value>| is_disguised(params, &PARAMS);
        if message.fields.get("params").and_then(Value::as_object).is_some_and(disguised) {
            return Err("a parameter is spelled in other letters, which some would take for it");
        }
        let tool = message.param("name").and_then(Value::as_str).filter(|name| !name.is_empty());
        let tool = tool.ok_or("`params.name` is no tool's name")?;
        let args = match message.param("arguments") {
            None | Some(Value::Null) => Value::Object(Map::new()),
            Some(args @ Value::Object(_)) => args.clone(),
            Some(_) => return Err("`params.arguments` is no object"),
        };
        let host_id = message.meta(CLAUDE_CALL).and_then(Value::as_str);
        let host_id = host_id.filter(|id| (1..=CALL_ID_BYTES_MAX).contains(&id.len()));
        let stateless = message.meta(PROTOCOL_VERSION).is_some();
        let responses = message.param("inputResponses");
        let state = message.param("requestState").or_else(|| responses.map(|_| &Value::Null));
        Ok(Self { tool, args, host_id, stateless, state, responses })
    }
}

/// What sessions are told of the server's tools.
#[derive(Debug, Default)]
struct Lists {
    /// The first list, until a session is told: the client saw it before it called anything.
    first: Option<Listing>,
    present: Option<Listing>,
    /// The sessions that were told of the present one.
    told: BTreeSet<String>,
    /// Its tools whose schemas cannot be used, as far as people were told so.
    unusable: BTreeSet<String>,
}

impl Lists {
    /// The lists that a session is to be told of now, in their order.
    fn news(&mut self, session: &str) -> Vec<Listing> {
        if self.told.len() >= TOLD_MAX {
            self.told.clear();
        }
        let Some(present) = &self.present else { return Vec::new() };
        if self.told.contains(session) {
            return Vec::new();
        }
        self.told.insert(session.to_owned());
        let first = self.first.take().filter(|first| first != present);
        first.into_iter().chain([present.clone()]).collect()
    }
}

/// Judges the calls to one server.
#[derive(Debug)]
pub(super) struct Judge {
    runtime: Runtime,
    joiner: Joiner,
    /// One decides at a time: two that decide about one session at once would only make each other decide again.
    turn: Mutex<()>,
    /// The server's name in tools' names, once it is known.
    server: Mutex<Option<String>>,
    /// A definition is in force, and stays so: what was accepted once does not go with its file.
    in_force: AtomicBool,
    listed: Mutex<Lists>,
    /// Calls that the server wants input for.
    continued: Continuations,
    /// From where the server may see a relative path, besides the client's roots.
    dirs: Vec<String>,
    roots: Arc<Roots>,
}

impl Judge {
    pub(super) fn new(
        runtime: Runtime,
        joiner: Joiner,
        name: Option<&str>,
        (dirs, roots): (Vec<String>, Arc<Roots>),
    ) -> Self {
        let (server, listed) = (Mutex::new(name.map(safe_name)), Mutex::default());
        let (in_force, turn, continued) = (AtomicBool::new(false), Mutex::default(), Continuations::default());
        Self { runtime, joiner, turn, server, in_force, listed, continued, dirs, roots }
    }

    /// The server says what it is called; a name that was given before counts more.
    pub(super) fn introduce(&self, name: &str) {
        lock(&self.server).get_or_insert_with(|| safe_name(name));
    }

    /// The server's name in tools' names, once it is known.
    pub(super) fn name(&self) -> Option<String> {
        lock(&self.server).clone()
    }

    /// Whether it is known.
    pub(super) fn is_named(&self) -> bool {
        lock(&self.server).is_some()
    }

    /// The server's name as people are told it.
    pub(super) fn server(&self) -> String {
        self.name().unwrap_or_else(|| "server".to_owned())
    }

    /// Whether nothing is judged here.
    pub(super) fn is_idle(&self) -> bool {
        let idle = !self.in_force.load(Ordering::Relaxed) && self.runtime.is_idle();
        self.in_force.store(!idle, Ordering::Relaxed);
        idle
    }

    fn decide(&self, event: &Event) -> Answer {
        let _turn = lock(&self.turn);
        self.runtime.decide(event)
    }

    /// Does what was left for later; but not while a call waits to be judged, which ends with this too.
    pub(super) fn catch_up(&self) {
        let turn = self.turn.try_lock();
        if !matches!(turn, Err(TryLockError::WouldBlock)) {
            self.runtime.catch_up();
        }
    }

    /// Takes a new list; what people should know about it.
    pub(super) fn listed(&self, catalogue: Catalogue, listing: Option<Listing>) -> Vec<String> {
        {
            let _turn = lock(&self.turn);
            self.runtime.offer(catalogue);
        }
        let Some(listing) = listing else { return Vec::new() };
        {
            let mut listed = lock(&self.listed);
            if listed.present.as_ref() == Some(&listing) {
                return Vec::new();
            }
            if listed.present.is_none() {
                listed.first = Some(listing.clone());
            }
            listed.present = Some(listing);
            listed.told.clear();
            listed.unusable.clear();
        }
        self.joiner.present().map(|session| self.tell(&session)).unwrap_or_default()
    }

    /// Tells a session of the present list, unless it was told before; what people should know about it.
    fn tell(&self, session: &str) -> Vec<String> {
        let news = lock(&self.listed).news(session);
        let tell = |listing| self.decide(&event(session, Body::ToolsListed(listing))).notices;
        news.into_iter().flat_map(tell).collect()
    }

    /// Judges a call before it goes to the server, `unlisted` where the server offers no tool of just this name; and what
    /// people should know.
    pub(super) fn requested(&self, asked: &Asked<'_>, unlisted: bool) -> (Judged, Vec<String>) {
        let tool = cut(&tool_name(&self.server(), &safe(asked.tool)));
        // From now on its paths may lead elsewhere.
        asked.responses.into_iter().for_each(|responses| self.roots.given(responses));
        let goes_on = self.goes_on(&tool, asked);
        let mut called = match goes_on.map_or_else(|| self.join(tool, asked), Ok) {
            Ok(called) => Called { call: Call { unlisted, ..called.call }, ..called },
            Err(answer) => return (Judged::Denied(self.denial(&answer, asked)), Vec::new()),
        };
        let mut notices = self.tell(&called.session);
        let answer = self.decide(&called.event(Body::CallRequested(called.call.clone())));
        notices.extend(self.unchecked(&called.call.tool, &answer));
        let goes_on = called.call.continued.take().is_some_and(|continued| continued.known);
        // Nobody can be asked here: a question is a no. Where a hook asked before, this call is not asked about again.
        if answer.verdict != Verdict::Allow {
            if goes_on {
                self.finished(&called, false, &json!({ "error": "it was refused when it was to go on" }));
            }
            return (Judged::Denied(self.denial(&answer, asked)), notices);
        }
        if !goes_on {
            called.agreed = answer.again;
        }
        let edited = answer.edit(EditTarget::Args).map(|edit| edit.value.clone());
        let edited = called.addressed(edited.as_ref()).or(edited);
        (Judged::Pass(Box::new(called), edited), notices)
    }

    /// What people should know of a tool whose arguments nobody can check; once for each list.
    fn unchecked(&self, tool: &str, answer: &Answer) -> Option<String> {
        let finding = answer.findings.iter().find(|finding| finding.code == code::SCHEMA_UNUSABLE)?;
        lock(&self.listed).unusable.insert(tool.to_owned()).then(|| finding.reason.clone())
    }

    /// Which session a call belongs to, and which of its calls it is. One to our own server may carry what a hook wrote
    /// for it.
    fn join(&self, tool: String, asked: &Asked<'_>) -> Result<Called, Box<Answer>> {
        let mut args = asked.args.clone();
        let own = tools::other_name(Some(MCP_HOST), &tool).and(args.as_object_mut());
        let address = own.and_then(|args| args.remove(OWN_ARGUMENT));
        let addressed = address.as_ref().and_then(|address| self.joiner.addressed(&self.runtime, address));
        let (joined, id) = addressed.map_or((None, None), |(joined, id)| (Some(joined), Some(id)));
        let id = id.or_else(|| asked.host_id.map(str::to_owned));
        let (own_id, dirs) = (id.is_none(), self.roots.and(&self.dirs));
        let given = asked.state.map(|_| asked.responses.cloned().unwrap_or_default());
        let continued = given.map(|given| Continued { asked: Value::Null, given, known: false, agreed: false });
        let call = Call { id: id.or_else(fresh_call_id), own_id, dirs, continued, ..Call::new(tool, args) };
        let Joined { session, agent } = joined.map_or_else(|| self.joiner.join(&self.runtime, &call), Ok)?;
        Ok(Called { session, agent, call, stateless: asked.stateless, rounds: 0, agreed: false })
    }

    fn denial(&self, answer: &Answer, asked: &Asked<'_>) -> Value {
        let mut text = answer.shown();
        if answer.verdict == Verdict::Ask {
            text.push_str("\n→ a person would have to agree, and nobody can be asked here");
        }
        if asked.host_id.is_none() {
            // To such a client a tool is what the server calls it.
            text = text.replace(&tool_name(&self.server(), ""), "");
        }
        reply::denial(answer, &text, asked.stateless)
    }

    /// The call that a client goes on with, now that the server has its input.
    fn goes_on(&self, tool: &str, asked: &Asked<'_>) -> Option<Called> {
        let Paused { called, asked: wanted } = self.continued.take(tool, &asked.args, asked.state?)?;
        let given = asked.responses.cloned().unwrap_or_default();
        let continued = Some(Continued { asked: wanted, given, known: true, agreed: called.agreed });
        let call = Call { dirs: self.roots.and(&self.dirs), continued, ..called.call };
        Some(Called { call, rounds: called.rounds + 1, ..called })
    }

    /// The server wants input before it goes on with a call; or why it gets none.
    pub(super) fn wants_input(&self, called: &Called, result: &Value) -> Result<(), String> {
        if called.rounds >= ROUNDS_MAX {
            return Err(format!("the call was made, and the server asked for input more than {ROUNDS_MAX} times"));
        }
        self.continued.add(called, result).iter().for_each(|paused| self.give_up(paused));
        Ok(())
    }

    /// Keeps that nobody came back with what the server asked.
    fn give_up(&self, Paused { called, asked }: &Paused) {
        let error = "the client did not come back with what the server asked for";
        self.finished(called, false, &json!({ "error": error, "asked": asked }));
    }

    /// Keeps the end of a call; gives the result as it is to be shown, where that is another one.
    pub(super) fn finished(&self, called: &Called, ok: bool, result: &Value) -> Option<Value> {
        let background = result.get("task").is_some();
        let outcome = Outcome { background, ..Outcome::new(ok, shown_part(result)) };
        let answer = self.decide(&called.event(Body::CallFinished(called.call.clone(), outcome)));
        if answer.is_fault() {
            return Some(withheld(&answer, called));
        }
        let bounded = answer.edit(EditTarget::Output).map(|edit| edit.value.clone());
        rendered(result, bounded, answer.feedback.as_deref())
    }

    /// The same for a call that the server answered with an error.
    pub(super) fn failed(&self, called: &Called, error: &Value) -> Option<Failed> {
        let outcome = Outcome::new(false, json!({ "code": error.get("code"), "content": error_texts(error) }));
        let answer = self.decide(&called.event(Body::CallFinished(called.call.clone(), outcome)));
        if answer.is_fault() {
            return Some(Failed::Withheld(withheld(&answer, called)));
        }
        let bounded = answer.edit(EditTarget::Output).map(|edit| bounded_error(error, &edit.value));
        let shown = match answer.feedback.as_deref() {
            Some(feedback) => advised(bounded.unwrap_or_else(|| error.clone()), feedback),
            None => bounded?,
        };
        Some(Failed::Error(shown))
    }

    /// The proxy ends, and what it started with it.
    pub(super) fn end(&self) {
        self.continued.close().iter().for_each(|paused| self.give_up(paused));
        self.joiner.end(&self.runtime);
        self.runtime.catch_up();
    }
}

impl Called {
    /// Whether a result asks the client for input, and is nothing else: only clients that speak of it know that.
    pub(super) fn may_go_on(&self, result: &Value) -> bool {
        const ASKS: [&str; 4] = ["resultType", "inputRequests", "requestState", "_meta"];
        let asks = result.get("resultType").and_then(Value::as_str) == Some("input_required");
        let only = || result.as_object().is_some_and(|fields| fields.keys().all(|key| ASKS.contains(&key.as_str())));
        self.stateless && asks && only()
    }

    /// The arguments of a call to our own server, with which call of which session it is.
    fn addressed(&self, edited: Option<&Value>) -> Option<Value> {
        tools::other_name(Some(MCP_HOST), &self.call.tool)?;
        let mut args = edited.unwrap_or(&self.call.args).as_object()?.clone();
        let address = json!({ "session": self.session, "call": self.call.id.as_ref()? });
        args.insert(OWN_ARGUMENT.to_owned(), address);
        Some(Value::Object(args))
    }

    fn event(&self, body: Body) -> Event {
        Event { agent: self.agent.clone(), ..event(&self.session, body) }
    }
}

/// What is shown instead of a result whose end could not be kept, or judged: what is not on record did not happen to who
/// reads the record.
fn withheld(answer: &Answer, called: &Called) -> Value {
    let text = format!("The call was made, and its result is not shown.\n{}", answer.shown());
    reply::denial(answer, &text, called.stateless)
}

/// What an error says, as blocks of text: the message, and what is beside it.
fn error_texts(error: &Value) -> Vec<Value> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let parts = [Some(error.get("message").unwrap_or(&Value::Null)), error.get("data")];
    parts.into_iter().flatten().map(|part| block(&text(part))).collect()
}

/// An error within its bounds.
fn bounded_error(error: &Value, bounded: &Value) -> Value {
    let text = |at: usize| bounded.get("content")?.get(at)?.get("text").cloned();
    let mut shown = json!({ "code": error.get("code"), "message": text(0).unwrap_or_else(|| json!("")) });
    if let (Value::Object(shown), Some(data)) = (&mut shown, text(1)) {
        shown.insert("data".to_owned(), data);
    }
    shown
}

/// An error with advice behind its message: it has no other place that agents are shown.
fn advised(mut error: Value, feedback: &str) -> Value {
    if let Value::Object(shown) = &mut error {
        let message = shown.get("message").and_then(Value::as_str).unwrap_or_default();
        let message = format!("{message}\n{feedback}");
        shown.insert("message".to_owned(), json!(message));
    }
    error
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What of a result an agent is shown as text. Structured content says the same again where there is any text, and must
/// stay as it is to fit its schema.
fn shown_part(result: &Value) -> Value {
    let mut shown = result.clone();
    let has_text = result.get("content").and_then(Value::as_array).is_some_and(|content| !content.is_empty());
    if let (Value::Object(shown), true) = (&mut shown, has_text) {
        shown.remove("structuredContent");
    }
    shown
}

/// The result within its bounds and with what is to be said beside it; nothing where it stays as it is.
fn rendered(result: &Value, bounded: Option<Value>, feedback: Option<&str>) -> Option<Value> {
    if bounded.is_none() && feedback.is_none() {
        return None;
    }
    let mut shown = result.as_object().cloned().unwrap_or_default();
    match bounded {
        Some(Value::Object(mut bounded)) => {
            shown.extend(bounded.remove("content").map(|content| ("content".to_owned(), content)));
        }
        Some(text) => {
            // All of it is in that text now.
            const KEPT: [&str; 4] = ["structuredContent", "isError", "resultType", "_meta"];
            shown.retain(|key, _| KEPT.contains(&key.as_str()));
            let text = text.as_str().map_or_else(|| text.to_string(), str::to_owned);
            shown.insert("content".to_owned(), json!([block(&text)]));
        }
        None => {}
    }
    if let Some(feedback) = feedback {
        let content = shown.entry("content").or_insert_with(|| json!([]));
        if !content.is_array() {
            // No client can show it as it is, and advice could not be beside it.
            let text = content.as_str().map_or_else(|| content.to_string(), str::to_owned);
            *content = json!([block(&text)]);
        }
        content.as_array_mut().into_iter().for_each(|content| content.push(block(feedback)));
    }
    Some(Value::Object(shown))
}

/// A name as hosts write it into tools' names.
pub(super) fn safe(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' }).collect()
}

fn safe_name(name: &str) -> String {
    /// Characters of a server's name; the rest would only bloat records.
    const NAME_CHARS_MAX: usize = 64;
    let safe: String = safe(name).chars().take(NAME_CHARS_MAX).collect();
    if safe.is_empty() { "server".to_owned() } else { safe }
}

/// A name within its bound; one that is longer is no tool's, and unknown either way.
fn cut(name: &str) -> String {
    name.chars().take(TOOL_NAME_BYTES_MAX).collect()
}
