//! The tiers above the gates, put to work in a run: judging, critique, evaluation.

mod critique;
mod evaluation;
mod judging;

pub(super) use evaluation::Subject;

use super::settings::AgentSettings;
use super::step::Ask;
use crate::work::Work;
use serde_json::Value;

/// An agent's answer, as whoever looks at it is told.
fn work<'a>((task, ask): (&'a str, &'a Ask<'_>), agent: Option<&'a AgentSettings>, output: &'a Value) -> Work<'a> {
    let instructions = ask.given.get("instructions").and_then(Value::as_str).filter(|text| !text.is_empty());
    let described = agent.map(|agent| agent.description.as_str()).unwrap_or_default();
    Work {
        agent: ask.name,
        task,
        instructions: instructions.unwrap_or(described),
        output,
        contract: agent.and_then(|agent| agent.contract.as_ref()),
    }
}
