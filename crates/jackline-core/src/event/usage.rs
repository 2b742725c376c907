//! What a call cost, as an event says it: what cannot be understood is never taken for nothing.

use serde_json::{Map, Value};

use super::{EventFault, Usage};

pub(super) fn read(fields: &Map<String, Value>) -> Result<Usage, EventFault> {
    let usage = match fields.get("usage") {
        None | Some(Value::Null) => return Ok(Usage::default()),
        Some(Value::Object(usage)) => usage,
        Some(_) => return Err(EventFault::Wrong("usage", "an object")),
    };
    let tokens = count(usage, "input_tokens")?.saturating_add(count(usage, "output_tokens")?);
    Ok(Usage { tokens, cost_usd: cost(usage)? })
}

/// A number of tokens: one that cannot be understood must not count as none, or a budget would never be used up.
fn count(usage: &Map<String, Value>, key: &'static str) -> Result<u64, EventFault> {
    const WANTED: &str = "a whole number, zero or more";
    match usage.get(key) {
        None | Some(Value::Null) => Ok(0),
        Some(Value::Number(number)) => match (number.as_u64(), number.as_f64()) {
            (Some(count), _) => Ok(count),
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a cast from a number that is zero or more saturates, and so do budgets"
            )]
            (None, Some(count)) if count >= 0.0 && count.fract() == 0.0 => Ok(count as u64),
            _ => Err(EventFault::Wrong(key, WANTED)),
        },
        Some(_) => Err(EventFault::Wrong(key, WANTED)),
    }
}

fn cost(usage: &Map<String, Value>) -> Result<f64, EventFault> {
    match usage.get("cost_usd") {
        None | Some(Value::Null) => Ok(0.0),
        Some(value) => {
            value.as_f64().filter(|cost| *cost >= 0.0).ok_or(EventFault::Wrong("cost_usd", "a number, zero or more"))
        }
    }
}
