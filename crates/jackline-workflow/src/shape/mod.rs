//! The tables of what the two files of a workflow may say. Reading holds files against them, and editors get JSON Schemas
//! of them. Keys that a rule judges are only described here; keys that nobody knows are let pass, as the protocol has it.

mod agent;
mod evaluation;
mod rounds;
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
/// Any number, such as seconds of a delay.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::TYPES;
    use crate::rules::KINDS;

    /// The words of a list somewhere in a schema, each list that holds a word.
    fn lists<'a>(value: &'a Value, word: &str, found: &mut Vec<&'a Value>) {
        match value {
            Value::Array(items) if items.iter().any(|item| item == word) => found.push(value),
            Value::Array(items) => items.iter().for_each(|item| lists(item, word, found)),
            Value::Object(members) => members.values().for_each(|member| lists(member, word, found)),
            _ => {}
        }
    }

    #[test]
    fn conditions_know_the_words_of_the_rules() {
        let (workflow, agent) = (workflow_schema(), agent_schema());
        let mut kinds = Vec::new();
        lists(&workflow, "llm_rubric", &mut kinds);
        assert_eq!(kinds, [&serde_json::json!(KINDS)]);
        let mut types = Vec::new();
        lists(&agent, "integer", &mut types);
        assert!(types.len() == 2 && types.iter().all(|list| **list == serde_json::json!(TYPES)), "{types:?}");
    }

    #[test]
    fn every_condition_is_a_schema() {
        for schema in [workflow_schema(), agent_schema()] {
            assert_eq!(jackline_runtime::schema_fault(&schema).map(|fault| fault.message), None);
            assert!(schema.to_string().contains("\"if\""));
        }
    }
}
