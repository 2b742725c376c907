//! Arguments that are no JSON or do not fit their tool's schema, and declared or served tools that have none.

use serde_json::json;

use super::{Context, observed};
use crate::code;
use crate::decision::{Finding, Verdict};
use crate::definition::Kind;
use crate::definition::model::{Declaration, Missing};
use crate::event::Outcome;
use crate::json;
use crate::probe::{Fact, Probe};
use crate::repair::{Held, Payload, Validation};
use crate::schema::{Schema, SchemaError, Target};
use crate::stack::Layer;
use crate::tools::{PAGING_USUAL, SERVED_FRONT};

pub(crate) const GUARD: &str = "schema";

pub(crate) fn needs(context: &Context<'_>) -> Vec<Probe> {
    of_args(context).needs()
}

pub(crate) fn judge(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = of_args(context).findings();
    findings.extend(lacking(context).map(|layer| observed(missing(context), layer)));
    findings.extend(unusable(context).map(|why| unchecked(context, why)));
    let reading = context.stack.layers.iter().filter(|layer| layer.model.reads.is_some());
    findings.extend(reading.filter_map(|layer| Some(observed(unpaged(context)?, layer))));
    if let Some(finding) = doubled(context) {
        let layers = context.stack.layers.iter().filter(|layer| !layer.is_pack());
        findings.extend(layers.map(|layer| observed(finding.clone(), layer)));
    }
    findings
}

/// Arguments for a server that say something twice, in other letters: which of the two it reads, only the server knows.
fn doubled(context: &Context<'_>) -> Option<Finding> {
    let call = context.view.call;
    let (one, other) = json::twins(&call.args).filter(|_| call.tool.starts_with(SERVED_FRONT))?;
    let message = format!("`{one}` and `{other}` differ only in case");
    Some(invalid(context, vec![SchemaError::new("", "propertyNames", &message)]))
}

/// The finding that arguments do not fit, for these errors.
fn invalid(context: &Context<'_>, errors: Vec<SchemaError>) -> Finding {
    let told =
        json!({ "error": "SCHEMA_INVALID", "target": "tool_args", "schema": context.view.call.tool, "errors": errors });
    let finding = Finding::deny(GUARD, code::SCHEMA_INVALID, told.to_string());
    Finding { errors, ..finding.suggest("send the corrected JSON only") }
}

/// A page of a file that no read can show: nothing is less than one line, and nothing comes before the first.
fn unpaged(context: &Context<'_>) -> Option<Finding> {
    let row = context.view.row.filter(|_| context.view.kind == Kind::Read)?;
    let paging = row.paging.unwrap_or(PAGING_USUAL);
    let wrong = [(paging.limit, 1), (paging.offset, 0)].into_iter().filter_map(|(name, least)| {
        let value = context.view.call.args.get(name).filter(|value| !value.is_null())?;
        let holds = value.as_f64().is_some_and(|number| number >= f64::from(least) && number.fract() == 0.0);
        let message = format!("value is no whole number of at least {least}");
        (!holds).then(|| SchemaError::new(&format!("/{name}"), "minimum", &message))
    });
    let errors: Vec<SchemaError> = wrong.collect();
    (!errors.is_empty()).then(|| invalid(context, errors))
}

/// A call's arguments, held against the schema that each layer has for its tool.
pub(crate) fn of_args<'a>(context: &Context<'a>) -> Validation<'a> {
    let call = context.view.call;
    let payload = match &call.broken {
        Some(why) => Payload::Broken(call.args.as_str().unwrap_or_default(), why),
        None => Payload::Json(&call.args),
    };
    // Without a schema only broken JSON is looked at, and JSON that was broken before.
    let plain = call.broken.is_some() || !context.agent.repairs.is_empty();
    let held = context.stack.layers.iter().filter_map(|layer| {
        let source = declared(context, layer).and_then(|tool| tool.schema.as_ref());
        let schema = source.map(|source| layer.schema(source, &context.stack.root)).or_else(|| offered(context, layer));
        let (kind, name) = ("tool_args", call.tool.clone());
        (plain || schema.is_some()).then_some(Held { layer, kind, target: Target::Args, name, schema, payload })
    });
    validation(context, context.session.steps + 1, held.collect())
}

/// A call's result, held against the schema that each layer has for it.
pub(crate) fn of_output<'a>(context: &Context<'a>, outcome: &'a Outcome) -> Validation<'a> {
    let held = context.stack.layers.iter().filter_map(|layer| {
        let source = declared(context, layer)?.output_schema.as_ref()?;
        Some(Held {
            layer,
            kind: "tool_output",
            target: Target::Output,
            name: context.view.call.tool.clone(),
            schema: Some(layer.schema(source, &context.stack.root)),
            payload: Payload::Json(&outcome.output),
        })
    });
    // A failure has no result, and one that only started has none yet.
    let held = if outcome.ok && !outcome.background { held.collect() } else { Vec::new() };
    validation(context, context.session.steps, held)
}

fn validation<'a>(context: &Context<'a>, step: u64, held: Vec<Held<'a>>) -> Validation<'a> {
    Validation { stack: context.stack, event: context.event, agent: context.agent, facts: context.facts, step, held }
}

/// What the server that is called says of the arguments; packs speak only through their policies.
fn offered(context: &Context<'_>, layer: &Layer) -> Option<Schema> {
    let catalogue = context.stack.catalogue.as_ref().filter(|_| !layer.is_pack())?;
    catalogue.schema(&context.view.call.tool)
}

fn declared<'a>(context: &Context<'a>, layer: &'a Layer) -> Option<&'a Declaration> {
    layer.model.tools.declared(&context.view.call.tool)
}

/// The layers that want a schema for this tool and have none.
fn lacking<'a>(context: &Context<'a>) -> impl Iterator<Item = &'a Layer> {
    let layers = context.stack.layers.iter().filter(|layer| layer.model.validation.missing == Missing::Deny);
    let served = is_served_without(context);
    layers.filter(move |layer| match declared(context, layer) {
        Some(tool) => tool.schema.is_none(),
        // Packs have no say in what servers offer.
        None => served && !layer.is_pack(),
    })
}

/// Whether a definition declares this tool, or its server lists it, and nobody has a schema for it that can be used.
pub(crate) fn absent(context: &Context<'_>) -> bool {
    let mut declared = context.stack.layers.iter().filter_map(|layer| declared(context, layer)).peekable();
    let known = declared.peek().is_some() || is_served_without(context);
    known && declared.all(|tool| tool.schema.is_none())
}

/// Whether the server that is called lists this tool without a schema that can be used: neither one that is none nor one
/// that is left out is held against anything.
fn is_served_without(context: &Context<'_>) -> bool {
    let tool = &context.view.call.tool;
    let listing = context.stack.catalogue.as_ref().filter(|catalogue| catalogue.lists(tool));
    listing.is_some_and(|catalogue| catalogue.schema(tool).is_none() || unusable(context).is_some())
}

/// Why the schema that the server has for this tool was held against nothing.
fn unusable<'a>(context: &Context<'a>) -> Option<&'a str> {
    let schema = context.stack.catalogue.as_ref()?.schema(&context.view.call.tool)?;
    match context.facts.get(&Probe::Schema { schema, target: Target::Args })? {
        Fact::Schema(checked) => checked.unusable.as_deref(),
        _ => None,
    }
}

/// What is on record of a call whose arguments nobody here looked at.
fn unchecked(context: &Context<'_>, why: &str) -> Finding {
    let tool = &context.view.call.tool;
    let reason =
        format!("The schema that the server has for tool '{tool}' cannot be used, so nothing is held to it: {why}");
    Finding::deny(GUARD, code::SCHEMA_UNUSABLE, reason).verdict(Verdict::Allow)
}

fn missing(context: &Context<'_>) -> Finding {
    let tool = &context.view.call.tool;
    let that = if unusable(context).is_some() { " that can be used" } else { "" };
    let reason = format!("Tool '{tool}' has no schema{that}, and tools without one are refused.");
    Finding::deny(GUARD, code::SCHEMA_MISSING, reason).suggest("use another tool, or ask the owner to give it a schema")
}
