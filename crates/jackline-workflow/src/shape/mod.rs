//! The tables of what the two files of a workflow may say. Reading holds files against them, and editors get JSON Schemas
//! of them. Keys that a rule judges are only described here; keys that nobody knows are let pass, as the protocol has it.

mod agent;
mod workflow;

use jackline_core::definition::form::Form;
use jackline_core::definition::schema_of;
use serde_json::Value;

pub(crate) use agent::AGENT;
pub(crate) use workflow::WORKFLOW;

/// Numbers that count something: no workflow needs a larger one.
const COUNT: Form = Form::Whole { min: 0, max: 1_000_000_000_000 };
const TEXTS: Form = Form::List(&Form::Text);
const FLAG_OR_TEXT: Form = Form::Either(&[Form::Flag, Form::Text]);
/// A fraction: thresholds and weights.
const NUMBER: Form = Form::Number;

/// The schema of `workflow.awp.yaml`.
#[must_use]
pub fn workflow_schema() -> Value {
    schema_of("workflow.awp.yaml", &WORKFLOW)
}

/// The schema of `agent.awp.yaml`.
#[must_use]
pub fn agent_schema() -> Value {
    schema_of("agent.awp.yaml", &AGENT)
}
