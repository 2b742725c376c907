//! The repair protocol: a value is held against its schemas; one that does not fit is sent back with all its errors,
//! so many times, and then the run is halted. Wrong JSON is never silently mended.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Value, json};

use crate::code;
use crate::decision::{Decision, Finding, Verdict};
use crate::event::Event;
use crate::guards::observed;
use crate::probe::{Fact, Facts, Probe};
use crate::schema::{KEYWORD_JSON, Schema, SchemaError, Target};
use crate::session::{Agent, Change, Key};
use crate::sha::Digest;
use crate::stack::{Layer, Stack};

const GUARD: &str = "schema";

/// Bytes of errors inside a reason: with its frame it fits into what hosts show at once. The rest is in the finding.
const REASON_BYTES_MAX: usize = 6 * 1024;

/// What an agent is told to do about a value of its own.
const INSTRUCTION: &str = "RETURN_CORRECTED_JSON_ONLY";

/// A value and a schema of one layer that it must fit.
#[derive(Debug, Clone)]
pub(crate) struct Held<'a> {
    pub(crate) layer: &'a Layer,
    /// What is validated, as typed events call it.
    pub(crate) kind: &'static str,
    pub(crate) target: Target,
    /// What the schema is called.
    pub(crate) name: String,
    /// Absent where only JSON is asked for.
    pub(crate) schema: Option<Schema>,
    pub(crate) payload: Payload<'a>,
}

/// What is validated.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Payload<'a> {
    Json(&'a Value),
    /// Text that is no JSON, and why.
    Broken(&'a str, &'a str),
}

/// Values held against schemas, and what is known about them.
#[derive(Debug)]
pub(crate) struct Validation<'a> {
    pub(crate) stack: &'a Stack,
    pub(crate) event: &'a Event,
    pub(crate) agent: &'a Agent,
    pub(crate) facts: &'a Facts,
    /// The step that typed events name.
    pub(crate) step: u64,
    pub(crate) held: Vec<Held<'a>>,
}

/// What came of one of them.
#[derive(Debug)]
enum Outcome<'a> {
    Fits,
    Fails { errors: Cow<'a, [SchemaError]>, omitted: u64 },
    Unknown(&'a str),
}

impl Held<'_> {
    fn probe(&self) -> Option<Probe> {
        let schema = self.schema.clone().filter(|_| matches!(self.payload, Payload::Json(_)))?;
        Some(Probe::Schema { schema, target: self.target })
    }

    /// What its attempts are counted under.
    fn key(&self) -> Key {
        let schema = serde_json::to_vec(&self.schema).unwrap_or_default();
        Digest::of_parts([self.kind.as_bytes(), self.name.as_bytes(), &schema]).short()
    }

    fn what(&self) -> String {
        match self.target {
            Target::Args => format!("The arguments of tool '{}'", self.name),
            Target::Output => format!("The result of tool '{}'", self.name),
            Target::Text => format!("The output for schema '{}'", self.name),
        }
    }

    /// Whether a value that does not fit is refused; a tool's result is there already.
    const fn refuses(&self) -> bool {
        !matches!(self.target, Target::Output)
    }

    fn payload_hash(&self) -> String {
        match self.payload {
            Payload::Json(value) => crate::schema::digest(value).hex(),
            Payload::Broken(text, _) => Digest::of(text.as_bytes()).hex(),
        }
    }
}

impl<'a> Validation<'a> {
    /// The facts that are still wanted.
    pub(crate) fn needs(&self) -> Vec<Probe> {
        let probes = self.held.iter().filter_map(Held::probe);
        // Several definitions may ask for the same.
        let wanted: BTreeSet<Probe> = probes.filter(|probe| self.facts.get(probe).is_none()).collect();
        wanted.into_iter().collect()
    }

    pub(crate) fn findings(&self) -> Vec<Finding> {
        self.held.iter().filter_map(|held| Some(observed(self.finding(held)?, held.layer))).collect()
    }

    fn finding(&self, held: &Held<'a>) -> Option<Finding> {
        let mut finding = match self.outcome(held) {
            Outcome::Fits => return None,
            Outcome::Unknown(why) => {
                let why = format!("{} could not be validated, {why}", held.what());
                Finding::fault(GUARD, code::FAULT_PROBE, &why)
            }
            Outcome::Fails { errors, .. } if self.is_exhausted(held) => self.exhausted(held, errors.into_owned()),
            Outcome::Fails { errors, omitted } => self.invalid(held, errors.into_owned(), omitted),
        };
        finding.enforced = held.refuses();
        Some(finding)
    }

    fn outcome(&self, held: &Held<'a>) -> Outcome<'a> {
        if let Payload::Broken(_, why) = held.payload {
            let message = match held.target {
                Target::Args => format!("{} are no JSON object: {why}", held.what()),
                Target::Output | Target::Text => format!("{} is no JSON: {why}", held.what()),
            };
            let error = SchemaError::new("", KEYWORD_JSON, &message);
            return Outcome::Fails { errors: Cow::Owned(vec![error]), omitted: 0 };
        }
        match held.probe().map(|probe| self.facts.get(&probe)) {
            None => Outcome::Fits,
            Some(Some(Fact::Schema(checked))) if checked.errors.is_empty() => Outcome::Fits,
            Some(Some(Fact::Schema(checked))) => {
                Outcome::Fails { errors: Cow::Borrowed(&checked.errors), omitted: checked.omitted }
            }
            Some(Some(Fact::Unknown(why))) => Outcome::Unknown(why),
            Some(_) => Outcome::Unknown("it was not looked at"),
        }
    }

    /// How many repairs are granted: the least that this definition or one that is enforced says, whoever has the schema.
    fn attempts_max(&self, held: &Held<'_>) -> u32 {
        let enforced = self.stack.layers.iter().filter(|layer| !layer.observes());
        let said = enforced.chain([held.layer]).map(|layer| layer.model.validation.repair_attempts);
        said.min().unwrap_or_default()
    }

    /// How often the value did not fit before.
    fn earlier(&self, held: &Held<'_>) -> u32 {
        self.agent.repair(&held.key()).map_or(0, |repair| repair.count)
    }

    fn is_exhausted(&self, held: &Held<'_>) -> bool {
        held.refuses() && self.earlier(held) >= self.attempts_max(held)
    }

    fn invalid(&self, held: &Held<'_>, errors: Vec<SchemaError>, omitted: u64) -> Finding {
        let reason = self.told(held, &errors, omitted);
        let finding = Finding::deny(GUARD, code::SCHEMA_INVALID, reason);
        let next = if held.refuses() { "send the corrected JSON only" } else { "do not rely on this result" };
        Finding { errors, ..finding.suggest(next) }
    }

    fn exhausted(&self, held: &Held<'_>, errors: Vec<SchemaError>) -> Finding {
        let (what, repairs) = (held.what(), self.attempts_max(held));
        let reason = format!("{what} did not fit the schema after {repairs} repair(s); the run is halted.");
        let finding = Finding::deny(GUARD, code::SCHEMA_EXHAUSTED, reason).verdict(Verdict::Halt);
        Finding { errors, ..finding.suggest("stop, and report what is wrong with the value") }
    }

    /// The typed message that goes back to the agent: one line of JSON, short enough to be shown whole.
    fn told(&self, held: &Held<'_>, errors: &[SchemaError], omitted: u64) -> String {
        let mut bytes = 0;
        let fits = |error: &&SchemaError| {
            bytes += serde_json::to_string(error).map_or(usize::MAX, |text| text.len());
            bytes <= REASON_BYTES_MAX
        };
        let shown: Vec<&SchemaError> = errors.iter().take_while(fits).collect();
        let told = Told {
            error: "SCHEMA_INVALID",
            target: held.kind,
            schema: &held.name,
            omitted: omitted + (errors.len() - shown.len()) as u64,
            errors: shown,
            attempt: self.earlier(held).saturating_add(1),
            max: self.attempts_max(held),
            instruction_code: held.refuses().then_some(INSTRUCTION),
        };
        // Texts and numbers only: there is nothing in it that JSON cannot say.
        serde_json::to_string(&told).unwrap_or_default()
    }

    /// What is remembered and emitted. Definitions that ask for the same are counted once.
    pub(crate) fn follow(&self, decision: &mut Decision) {
        // What a person lets pass has no consequences.
        if decision.findings.iter().any(|finding| finding.guard == GUARD && finding.exception.is_some()) {
            return;
        }
        // Nothing follows from what fits while nothing is being repaired, which is nearly always.
        let matters = |held: &&Held<'a>| !self.agent.repairs.is_empty() || !matches!(self.outcome(held), Outcome::Fits);
        let mut seen = BTreeSet::new();
        for held in self.held.iter().filter(matters).filter(|held| seen.insert(held.key())) {
            match self.outcome(held) {
                Outcome::Unknown(_) => {}
                Outcome::Fits => self.fitted(held, decision),
                Outcome::Fails { errors, .. } => self.failed(held, &errors, decision),
            }
        }
    }

    fn fitted(&self, held: &Held<'_>, decision: &mut Decision) {
        let Some(repair) = self.agent.repair(&held.key()) else { return };
        // Of a result nobody asked for a repair.
        let repaired = || self.emit("REPAIR_SUCCEEDED", held, json!({ "attempt": repair.count }));
        decision.emitted.extend(held.refuses().then(repaired));
        decision.changes.push(Change::Repaired { agent: self.event.agent().to_owned(), key: held.key() });
    }

    fn failed(&self, held: &Held<'_>, errors: &[SchemaError], decision: &mut Decision) {
        let (key, earlier) = (held.key(), self.earlier(held));
        let granted = || self.held.iter().filter(|other| other.key() == key).map(|other| self.attempts_max(other));
        let (least, most) = (granted().min().unwrap_or_default(), granted().max().unwrap_or_default());
        let left = held.refuses().then(|| least.saturating_sub(earlier));
        let fields = json!({
            "errors": errors,
            "attempt": earlier.saturating_add(1),
            "attempts_left": left,
            "payload_hash": held.payload_hash(),
        });
        decision.emitted.push(self.emit("VALIDATION_FAILED", held, fields));
        decision.emitted.extend(held.refuses().then(|| self.asked(held, least, errors)));
        // What no layer grants a repair for any more is not counted further: a repair never exceeds its attempts.
        if earlier < most || !held.refuses() {
            let (agent, errors) = (self.event.agent().to_owned(), errors.to_vec());
            decision.changes.push(Change::Invalid { agent, key, errors });
        }
    }

    /// What is asked of the agent, or that nothing is asked any more.
    fn asked(&self, held: &Held<'_>, max: u32, errors: &[SchemaError]) -> Value {
        let (earlier, attempt) = (self.earlier(held), self.earlier(held).saturating_add(1));
        if earlier >= max {
            let attempts = self.attempts(held, errors);
            return self.emit(
                "REPAIR_EXHAUSTED",
                held,
                json!({ "attempt": attempt, "max": max, "attempts": attempts }),
            );
        }
        let fields = json!({ "attempt": attempt, "max": max, "instruction_code": INSTRUCTION });
        self.emit("REPAIR_REQUESTED", held, fields)
    }

    /// What was wrong each time, the present one last.
    fn attempts(&self, held: &Held<'_>, errors: &[SchemaError]) -> Value {
        let repair = self.agent.repair(&held.key());
        let count = repair.map_or(0, |repair| repair.count);
        let kept = repair.map(|repair| repair.attempts.as_slice()).unwrap_or_default();
        // Only the latest are kept of very many.
        let first = (count as usize).saturating_sub(kept.len()) + 1;
        let all = kept.iter().map(Vec::as_slice).chain([errors]).enumerate();
        all.map(|(at, errors)| json!({ "attempt": first + at, "errors": errors })).collect()
    }

    /// All attempts at the value that halts the run.
    pub(crate) fn diagnostics(&self) -> Option<Value> {
        self.held.iter().filter(|held| self.is_exhausted(held)).find_map(|held| match self.outcome(held) {
            Outcome::Fails { errors, .. } => {
                let attempts = self.attempts(held, &errors);
                Some(json!({ "target": held.kind, "schema_id": held.name, "attempts": attempts }))
            }
            Outcome::Fits | Outcome::Unknown(_) => None,
        })
    }

    fn emit(&self, kind: &str, held: &Held<'_>, fields: Value) -> Value {
        let mut emitted = emit(self.event, self.step, kind, fields);
        if let Value::Object(emitted) = &mut emitted {
            emitted.insert("target".to_owned(), json!(held.kind));
            emitted.insert("schema_id".to_owned(), json!(held.name));
        }
        emitted
    }
}

/// A typed event with what all of them carry.
pub(crate) fn emit(event: &Event, step: u64, kind: &str, fields: Value) -> Value {
    let mut emitted = json!({ "type": kind, "session": event.session, "step": step });
    if let (Value::Object(emitted), Value::Object(fields)) = (&mut emitted, fields) {
        emitted.extend(fields);
    }
    emitted
}

/// What an agent is told about a value that does not fit, in the order in which it is read.
#[derive(Serialize)]
struct Told<'a> {
    error: &'static str,
    target: &'static str,
    schema: &'a str,
    errors: Vec<&'a SchemaError>,
    #[serde(skip_serializing_if = "is_zero")]
    omitted: u64,
    attempt: u32,
    max: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    instruction_code: Option<&'static str>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}
