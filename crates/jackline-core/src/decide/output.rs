//! The agent produced a plan or another structured output: it must be JSON and fit its schema before anyone uses it.

use serde_json::Value;

use super::excepted::{Lifted, lift};
use super::{requested, stopped};
use crate::code;
use crate::completion::GUARD;
use crate::decision::{Decision, Finding, Step, Verdict};
use crate::event::{Event, Output, OutputSchema};
use crate::nearest;
use crate::probe::Facts;
use crate::repair::{Held, Payload, Validation};
use crate::schema::{self, BUILT_IN, PLAN, Schema, Target};
use crate::session::{Agent, Session};
use crate::stack::{Layer, Stack};

/// Names that are suggested for one that nobody has.
const NEAREST_MAX: usize = 3;

pub(super) fn decide(stack: &Stack, session: &Session, event: &Event, (output, facts): (&Output, &Facts)) -> Step {
    let nobody = Agent::default();
    let agent = session.agent(event.agent()).unwrap_or(&nobody);
    let held = held(stack, output);
    if held.is_empty() {
        return super::done(Decision::merge(vec![nameless(stack, output)]));
    }
    let validation = Validation { stack, event, agent, facts, step: session.steps, held };
    let wanted = validation.needs();
    if !wanted.is_empty() {
        return Step::Need(wanted);
    }
    let advice = match valid_result(output, &validation) {
        true => match stopped::advice(stack, session, event, (output, facts)) {
            Ok(advice) => advice,
            Err(step) => return step,
        },
        false => Vec::new(),
    };
    let Lifted { findings, notes } = match lift(validation.findings(), session, event, facts) {
        Ok(lifted) => lifted,
        Err(probe) => return Step::Need(vec![probe]),
    };
    let consulted = vec!["schema".to_owned()];
    let mut decision = Decision { consulted, notes, ..Decision::merge(findings) };
    if agent.halted.is_some() {
        // The run stopped: what is produced all the same is refused, and nothing else follows from it.
        decision.verdict = decision.verdict.min(Verdict::Deny);
        return super::done(decision);
    }
    validation.follow(&mut decision);
    if decision.verdict == Verdict::Halt {
        requested::stop_run(event, session.steps, validation.diagnostics().unwrap_or_default(), &mut decision);
    }
    advice.iter().for_each(|open| decision.advise(&open.reason));
    decision.consulted.extend((!advice.is_empty()).then(|| GUARD.to_owned()));
    decision.findings.extend(advice);
    super::done(decision)
}

/// Whether it is the run's result, and fits its schema: one that does not is mended first.
fn valid_result(output: &Output, validation: &Validation<'_>) -> bool {
    output.last && validation.findings().is_empty()
}

/// The output, held against what each layer knows under the schema's name.
fn held<'a>(stack: &'a Stack, output: &'a Output) -> Vec<Held<'a>> {
    let payload = match &output.value {
        Ok(value) => Payload::Json(value),
        Err(why) => Payload::Broken(&output.text, why),
    };
    let (name, kind) = (name(output), kind(output));
    let schemas =
        stack.layers.iter().flat_map(|layer| schemas(stack, layer, output).map(move |schema| (layer, schema)));
    schemas
        .map(|(layer, schema)| Held {
            layer,
            kind,
            target: Target::Text,
            name: name.to_owned(),
            schema: Some(schema),
            payload,
        })
        .collect()
}

fn name(output: &Output) -> &str {
    match &output.schema {
        OutputSchema::Named(name) => name,
        OutputSchema::Given(schema) => schema.get("title").and_then(Value::as_str).unwrap_or("the event's own"),
    }
}

/// What typed events call it.
fn kind(output: &Output) -> &'static str {
    match &output.schema {
        OutputSchema::Named(name) if name == PLAN => "plan",
        _ if output.last => "final_output",
        _ => "output",
    }
}

/// A name is one of ours, or a declared tool's: then its arguments' schema is meant, for that is what agents write.
fn schemas<'a>(stack: &'a Stack, layer: &'a Layer, output: &'a Output) -> impl Iterator<Item = Schema> + use<'a> {
    let (own, given) = match &output.schema {
        OutputSchema::Named(name) => (BUILT_IN.iter().find(|(known, _)| known == name), None),
        OutputSchema::Given(given) => (None, Some(Schema::Given(schema::digest(given)))),
    };
    let declared = match &output.schema {
        OutputSchema::Named(name) => layer.model.tools.declare.get(name).and_then(|tool| tool.schema.as_ref()),
        OutputSchema::Given(_) => None,
    };
    let own = own.map(|(name, _)| Schema::BuiltIn((*name).to_owned()));
    own.into_iter().chain(given).chain(declared.map(|source| layer.schema(source, &stack.root)))
}

fn nameless(stack: &Stack, output: &Output) -> Finding {
    let name = name(output);
    let declared = stack.layers.iter().flat_map(|layer| &layer.model.tools.declare);
    let with_schema = declared.filter(|(name, tool)| tool.schema.is_some() && !name.contains('*'));
    let with_schema = with_schema.map(|(name, _)| name.as_str());
    let known: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).chain(with_schema).collect();
    let reason = format!("There is no schema '{name}'.");
    let mut finding = Finding::deny("event", code::EVENT_INVALID, reason);
    let near = nearest::names(name, known, NEAREST_MAX);
    finding.suggestions = near.into_iter().map(|near| format!("name the schema '{near}'")).collect();
    finding
}
