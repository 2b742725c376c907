//! The engine: compiles a policy and evaluates `data.jackline.deny`, bounded in time.
//!
//! What would make two evaluations of one event differ is refused or taken from the event: no network, no
//! environment, no chance, and no clock but the event's.

use std::cell::Cell;
use std::num::NonZeroU32;
use std::time::Duration;

use jackline_core::rego::{DENIALS_MAX, Denial, Judged};
use jackline_core::sha::Digest;
use jackline_core::time::Timestamp;
use regorus::utils::limits::ExecutionTimerConfig;
use regorus::{Engine, Value};

use super::{RegoFault, absent, recursion};
use crate::worker::{Left, within};

/// Milliseconds of one evaluation: a host waits for the answer, and policies take well under one.
const EVALUATION_MS_MAX: u64 = 250;
/// Milliseconds until an engine that does not look at its own timer is left behind.
const WORK_MS_MAX: u64 = 1_000;
/// Steps of the engine between two looks at the clock.
const TIMER_STEPS: NonZeroU32 = NonZeroU32::new(256).unwrap();
/// Elements of a range that a policy asks for: it would be allocated at once, and its ends may be the agent's.
const RANGE_MAX: i64 = 10_000;
/// Bytes of a text that is read as a number, and bits by which one is shifted: a few characters of an agent's could
/// otherwise stand for a number that fills the memory.
const NUMBER_BYTES_MAX: usize = 64;
/// See [`NUMBER_BYTES_MAX`].
const SHIFT_BITS_MAX: i64 = 62;
/// Characters of an engine's message that are told.
const MESSAGE_CHARS_MAX: usize = 300;
/// Nanoseconds of a millisecond.
const NS_PER_MS: i64 = 1_000_000;

/// The package that is asked.
const PACKAGE: &str = "data.jackline";
/// What is asked of it.
const RULE: &str = "data.jackline.deny";
/// The name under which the engine speaks of the policy.
const SOURCE: &str = "policy";

thread_local! {
    /// The time of the event that this thread evaluates a policy for.
    static NOW_NS: Cell<i64> = const { Cell::new(0) };
}

/// A policy that can be asked.
#[derive(Debug, Clone)]
pub(crate) struct Compiled {
    engine: Engine,
    digest: Digest,
}

impl Compiled {
    /// Compiles a policy, and asks it once about nothing: some faults only show then.
    pub(crate) fn new(text: &str) -> Result<Self, RegoFault> {
        if let Some((name, place)) = absent::builtin(text) {
            return Err(RegoFault {
                place: Some(place),
                help: Some("a policy sees the event and nothing else, so that a decision can be taken again"),
                ..RegoFault::new(format!("there is no `{name}` here"))
            });
        }
        let (owned, digest) = (text.to_owned(), Digest::of(text.as_bytes()));
        let engine =
            within(WORK_MS_MAX, &Left::default(), move || Ok(compile(owned, digest))).map_err(RegoFault::new)??;
        Ok(Self { engine, digest })
    }

    /// What the policy says of an input, at the time of the event.
    pub(crate) fn judge(&self, input: serde_json::Value, at: Timestamp) -> Result<Judged, String> {
        let answer = self.evaluate(input, at).map_err(|why| {
            let fault = told(&why);
            let place = fault.place.map(|(line, column)| format!("{line}:{column}: ")).unwrap_or_default();
            format!("{place}{}", fault.message)
        })?;
        judged(&answer, self.digest)
    }

    /// The answer as JSON; null where it is undefined.
    fn evaluate(&self, input: serde_json::Value, at: Timestamp) -> Result<serde_json::Value, String> {
        let mut engine = self.engine.clone();
        within(WORK_MS_MAX, &Left::default(), move || evaluate(&mut engine, input, at))
    }
}

fn evaluate(engine: &mut Engine, input: serde_json::Value, at: Timestamp) -> Result<serde_json::Value, String> {
    NOW_NS.set(at.0.saturating_mul(NS_PER_MS));
    engine.set_input(Value::from(input));
    match engine.eval_rule(RULE.to_owned()).map_err(|fault| fault.to_string())? {
        Value::Undefined => Ok(serde_json::Value::Null),
        answer => {
            let json = answer.to_json_str().map_err(|fault| fault.to_string())?;
            serde_json::from_str(&json).map_err(|fault| fault.to_string())
        }
    }
}

fn compile(text: String, digest: Digest) -> Result<Engine, RegoFault> {
    let mut engine = Engine::new();
    // An error inside a built-in function is a fault, not a condition that does not hold: `not` would turn it around.
    engine.set_strict_builtin_errors(true);
    // What a policy prints would end up among the answers to a host.
    engine.set_gather_prints(true);
    let limit = Duration::from_millis(EVALUATION_MS_MAX);
    engine.set_execution_timer_config(ExecutionTimerConfig { limit, check_interval: TIMER_STEPS });
    let package = engine.add_policy(SOURCE.to_owned(), text).map_err(|fault| told(&fault.to_string()))?;
    if package != PACKAGE {
        let message = format!("its package is `{}`", package.trim_start_matches("data."));
        return Err(RegoFault { help: Some("begin it with `package jackline`"), ..RegoFault::new(message) });
    }
    if !matches!(engine.has_declared_rule_rooted_at(SOURCE, "deny"), Ok(true)) {
        let help = "write `deny contains reason if { .. }`";
        return Err(RegoFault { help: Some(help), ..RegoFault::new("it has no rule `deny`") });
    }
    let modules = engine.get_modules();
    let rules: Vec<&str> = modules.iter().flat_map(|module| &module.policy).map(|rule| rule.span().text()).collect();
    if let Some(name) = recursion::find(&rules) {
        return Err(RegoFault::new(format!("function `{name}` calls itself")));
    }
    replace_functions(&mut engine).map_err(RegoFault::new)?;
    // The first question also prepares the engine, so that its copies need not.
    let answer = evaluate(&mut engine, serde_json::json!({}), Timestamp(0)).map_err(|why| told(&why))?;
    judged(&answer, digest).map_err(RegoFault::new).map(|_| engine)
}

/// Stands in for built-in functions of the engine: an extension is looked for first.
fn replace_functions(engine: &mut Engine) -> Result<(), String> {
    add(engine, "time.now_ns", 0, |_| Ok(Value::from(NOW_NS.get())))?;
    add(engine, "rand.intn", 2, |_| Err("chance is refused: the same event must get the same answer".to_owned()))?;
    add(engine, "units.parse", 1, |_| Err("it is refused: its numbers are not bounded".to_owned()))?;
    add(engine, "units.parse_bytes", 1, |_| Err("it is refused: its numbers are not bounded".to_owned()))?;
    add(engine, "to_number", 1, |values| number(values.first()))?;
    add(engine, "bits.lsh", 2, |values| shifted(&values))?;
    add(engine, "numbers.range", 2, |ends| range(&ends, 1))?;
    add(engine, "numbers.range_step", 3, |ends| {
        let step = ends.get(2).and_then(|step| step.as_i64().ok()).filter(|step| *step > 0);
        range(&ends, step.ok_or("the step is no positive whole number")?)
    })
}

fn add(
    engine: &mut Engine,
    name: &str,
    arguments: u8,
    function: impl Fn(Vec<Value>) -> Result<Value, String> + Clone + Send + Sync + 'static,
) -> Result<(), String> {
    let extension = move |values: Vec<Value>| function(values).map_err(anyhow::Error::msg);
    engine.add_extension(name.to_owned(), arguments, Box::new(extension)).map_err(|fault| fault.to_string())
}

/// A value as a number, as OPA has it.
fn number(value: Option<&Value>) -> Result<Value, String> {
    match value {
        Some(Value::Null) => Ok(Value::from(0_i64)),
        Some(Value::Bool(flag)) => Ok(Value::from(i64::from(*flag))),
        Some(number @ Value::Number(_)) => Ok(number.clone()),
        Some(Value::String(text)) if text.len() <= NUMBER_BYTES_MAX => {
            let whole = text.parse::<i64>().ok().map(Value::from);
            let finite = || text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from);
            whole.or_else(finite).ok_or_else(|| "the text is no number".to_owned())
        }
        _ => Err("the value is no number".to_owned()),
    }
}

fn shifted(values: &[Value]) -> Result<Value, String> {
    let whole = |at: usize| values.get(at).and_then(|value| value.as_i64().ok());
    match (whole(0), whole(1)) {
        (Some(value), Some(bits @ 0..=SHIFT_BITS_MAX)) => Ok(Value::from(i128::from(value) << bits)),
        _ => Err(format!("only whole numbers are shifted, by at most {SHIFT_BITS_MAX} bits")),
    }
}

/// Whole numbers from one end to the other, both included, up or down.
fn range(ends: &[Value], step: i64) -> Result<Value, String> {
    let end = |at: usize| ends.get(at).and_then(|end| end.as_i64().ok()).ok_or("the ends are no whole numbers");
    let (from, to) = (end(0)?, end(1)?);
    let count = i128::from(from).abs_diff(i128::from(to)) / step.unsigned_abs() as u128;
    if count >= RANGE_MAX as u128 {
        return Err(format!("a range has more than {RANGE_MAX} elements"));
    }
    let step = if to < from { -step } else { step };
    Ok(Value::from((0..=count as i64).map(|n| Value::from(from + n * step)).collect::<Vec<Value>>()))
}

/// The denials of an answer: a set of texts, or of objects with `code` and `reason`.
fn judged(answer: &serde_json::Value, policy: Digest) -> Result<Judged, String> {
    let mut denials = match answer {
        serde_json::Value::Null => Vec::new(),
        serde_json::Value::Array(answers) => answers.iter().map(denial).collect::<Result<Vec<Denial>, String>>()?,
        _ => return Err("`deny` is no set: write `deny contains reason if { .. }`".to_owned()),
    };
    denials.sort_unstable();
    denials.dedup();
    let omitted = denials.len().saturating_sub(DENIALS_MAX) as u64;
    denials.truncate(DENIALS_MAX);
    Ok(Judged { policy, denials, omitted })
}

fn denial(answer: &serde_json::Value) -> Result<Denial, String> {
    match answer {
        serde_json::Value::String(reason) => Ok(Denial::new(None, Some(reason))),
        serde_json::Value::Object(fields) => {
            let text = |key: &str| fields.get(key).and_then(serde_json::Value::as_str);
            Ok(Denial::new(text("code"), text("reason")))
        }
        _ => Err("`deny` holds something that is neither a text nor an object with `code` and `reason`".to_owned()),
    }
}

/// What the engine said, on one line, with the place it named.
fn told(why: &str) -> RegoFault {
    let lines: Vec<&str> = why.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let place = lines.iter().find_map(|line| line.strip_prefix("--> ")).and_then(place_in);
    let said = lines.iter().find_map(|line| line.strip_prefix("error: ")).or(lines.first().copied());
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let message: String = said.unwrap_or("the engine failed").chars().take(MESSAGE_CHARS_MAX).map(plain).collect();
    RegoFault { place, ..RegoFault::new(message) }
}

/// `policy:3:7`
fn place_in(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.rsplit(':');
    let (column, line) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some((line, column))
}

#[cfg(test)]
mod tests;
