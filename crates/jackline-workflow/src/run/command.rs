//! An agent that is a command: one JSON object on its standard input, one on its standard output.

use jackline_core::json::decode;
use jackline_runtime::runner::{self, Confined, Dialogue, Exit, KEPT_BYTES_MAX, Outcome, Spec};
use serde_json::{Map, Value, json};

use super::hidden::Hidden;
use super::worker::{Failure, FailureKind, Reply, Request, Unanswered, Usage, Worker, is_json};

/// Bytes of why somebody failed: people read the beginning and the end, and a longer text would be clipped in its record.
const REASON_BYTES_MAX: usize = 2_000;
/// Bytes of complaints that a record keeps beside an answer.
const COMPLAINT_BYTES_MAX: usize = 600;

/// The note of what a command complained about.
const STDERR: &str = "stderr";

/// A command, as an agent's file names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    argv: Vec<String>,
    /// Whether it may use the network.
    network: bool,
    /// Whether it answers with JSON, or with a text.
    json: bool,
}

impl Command {
    /// The command that an agent's file names under `runtime.command`.
    #[must_use]
    pub fn of(agent: &Value) -> Option<Self> {
        let words = agent.pointer("/runtime/command")?.as_array()?;
        let argv: Vec<String> = words.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        let network = agent.pointer("/capabilities/sandbox/network");
        let allowed = |flag: &Value| flag.as_bool().or_else(|| flag.get("enabled")?.as_bool());
        let network = network.and_then(allowed).unwrap_or(false);
        (!argv.is_empty()).then(|| Self { argv, network, json: is_json(agent) })
    }

    fn spec(&self, request: &Request<'_>) -> Spec {
        let place = request.place;
        Spec {
            timeout_ms: u64::try_from(request.timeout.as_millis()).unwrap_or(u64::MAX).min(runner::DIALOGUE_MS_MAX),
            read_only: true,
            network: self.network,
            unreadable: place.records.clone(),
            writable: place.writable().map(ToOwned::to_owned).to_vec(),
            ..Spec::new(self.argv.clone(), place.root.clone(), place.environment.clone())
        }
    }
}

impl Command {
    /// Runs it as a test: whether it ends with 0, or why that is not known.
    pub(super) fn passes(&self, request: &Request<'_>) -> Result<bool, String> {
        let input = format!("{}\n", request.input).into_bytes();
        let dialogue = Dialogue { input: &input, stop: request.stop };
        let spoken = runner::converse(&self.spec(request), dialogue, request.redactor);
        match spoken.outcome.exit {
            Exit::Code(code) => Ok(code == 0),
            _ => Err(failure(&spoken.outcome).reason),
        }
    }
}

impl Worker for Command {
    fn ask(&self, request: &Request<'_>) -> Result<Reply, Unanswered> {
        let mut input = request.input.to_string().into_bytes();
        input.push(b'\n');
        let dialogue = Dialogue { input: &input, stop: request.stop };
        let spoken = runner::converse(&self.spec(request), dialogue, request.redactor);
        let unanswered = match &spoken.outcome.exit {
            Exit::Code(0) => None,
            Exit::Stopped => Some(Unanswered::Stopped(Usage::default())),
            _ => Some(Unanswered::Failed(failure(&spoken.outcome))),
        };
        if let Some(unanswered) = unanswered {
            // What it told it had used before it failed was used.
            let said = spoken.answer.and_then(|answer| object(&answer).ok());
            return Err(unanswered.having_used(said.as_ref().map(Usage::told).unwrap_or_default()));
        }
        let invalid = |why: String| Unanswered::Failed(Failure::new(FailureKind::Validation, why));
        let answer =
            spoken.answer.ok_or_else(|| invalid(format!("its answer has more than {KEPT_BYTES_MAX} bytes")))?;
        let value = if self.json { object(&answer) } else { text(answer) };
        Ok(Reply { value: value.map_err(invalid)?, notes: notes(&spoken.outcome), usage: None })
    }
}

/// The object that a command printed.
fn object(answer: &[u8]) -> Result<Map<String, Value>, String> {
    match decode(answer.trim_ascii()) {
        Ok(Value::Object(value)) => Ok(value),
        Ok(_) => Err("its answer is no JSON object".to_owned()),
        Err(fault) => Err(format!("its answer is no JSON: {fault}")),
    }
}

fn text(answer: Vec<u8>) -> Result<Map<String, Value>, String> {
    let text = String::from_utf8(answer).map_err(|_| "its answer is no text".to_owned())?;
    Ok(Map::from_iter([("text".to_owned(), json!(text))]))
}

fn failure(outcome: &Outcome) -> Failure {
    let (kind, reason) = match &outcome.exit {
        Exit::TimedOut => (FailureKind::Timeout, "its time was up".to_owned()),
        Exit::Code(code) => (FailureKind::Failed, format!("it ended with code {code}")),
        Exit::Signal(signal) => (FailureKind::Failed, format!("it was ended by signal {signal}")),
        Exit::NotStarted(why) | Exit::NotConfined(why) | Exit::Unknown(why) => (FailureKind::Failed, why.clone()),
        Exit::Stopped => (FailureKind::Failed, "it was stopped".to_owned()),
    };
    // All of it: what was learned while it worked is taken out before anything is cut.
    let said = outcome.stderr.whole().trim();
    Failure::new(kind, if said.is_empty() { reason } else { format!("{reason}: {said}") })
}

/// Why somebody failed, as it is told: without what is sensitive, then cut.
pub(super) fn reason(why: &str, hidden: &Hidden) -> String {
    runner::short(&hidden.text(why), REASON_BYTES_MAX)
}

/// Notes as a record keeps them: without what is sensitive, then cut.
pub(super) fn kept(mut notes: Map<String, Value>, hidden: &Hidden) -> Map<String, Value> {
    if let Some(Value::String(said)) = notes.get_mut(STDERR) {
        *said = runner::short(&hidden.text(said), COMPLAINT_BYTES_MAX);
    }
    notes
}

/// What is worth keeping beside the answer.
fn notes(outcome: &Outcome) -> Map<String, Value> {
    let mut notes = Map::from_iter([("elapsed_ms".to_owned(), json!(outcome.elapsed_ms))]);
    if let Confined::Partly(why) | Confined::No(why) = &outcome.confined {
        notes.insert("unconfined".to_owned(), json!(why));
    }
    // All of it: what its answer calls sensitive is known only later, and cut in two it would not be found.
    let said = outcome.stderr.whole().trim();
    if !said.is_empty() {
        notes.insert(STDERR.to_owned(), json!(said));
    }
    notes
}
