//! What an agent is shown of a call: a page is asked for where the host lets us, what comes back is cut, and a search
//! that found nothing gets a next step. Nothing of it alters a verdict.

use serde_json::{Value, json};

use super::typed;
use crate::bounds::{self, Bounded, Place};
use crate::code;
use crate::decision::{Decision, Edit, EditTarget, Finding, Verdict};
use crate::definition::{Bounds, Kind};
use crate::event::{Body, Outcome};
use crate::guards::{Context, overriding};
use crate::listing::MCP_HOST;
use crate::overrides::widening;
use crate::probe::{Fact, Probe, There};
use crate::search;
use crate::sha::Digest;
use crate::stack::Layer;
use crate::tools::{OWN_ARGUMENT, PAGING_USUAL, Tool};

/// Asks for a page of a file instead of all of it.
///
/// Only where nobody is asked: a person shall judge what the agent wrote.
pub(super) fn page(context: &Context<'_>, decision: &mut Decision) {
    let paging = native(context).and_then(|row| row.paging);
    let (Some(paging), Some(bounds)) = (paging, in_force(context, false)) else { return };
    if decision.verdict != Verdict::Allow || context.view.kind != Kind::Read {
        return;
    }
    if let Some(asked) = bounds::ask(&context.view.call.args, &paging, bounds) {
        let (value, meta) = (asked.args, asked.meta);
        decision.edits.push(Edit { target: EditTarget::Args, value, code: code::BOUNDS_TRUNCATED, meta });
    }
}

/// Tells our own server which call of which session this is, over whatever the agent put there.
///
/// Only where nobody is asked, as above; and only a host's hook does: what stands on the way adds it by itself.
pub(super) fn address(context: &Context<'_>, decision: &mut Decision) {
    let call = context.view.call;
    let hooked = context.event.host.as_deref().is_some_and(|host| host != MCP_HOST);
    let (Some(id), Value::Object(args)) = (&call.id, &call.args) else { return };
    if !hooked || context.view.other.is_none() || decision.verdict != Verdict::Allow {
        return;
    }
    let mut args = args.clone();
    args.insert(OWN_ARGUMENT.to_owned(), json!({ "session": context.event.session, "call": id }));
    let (target, value, code) = (EditTarget::Args, Value::Object(args), code::SESSION_ADDRESSED);
    decision.edits.push(Edit { target, value, code, meta: Value::Null });
}

/// What must be known to count the lines of a file of which a page was read.
pub(super) fn needs(context: &Context<'_>, outcome: &Outcome) -> Vec<Probe> {
    let bounds: Vec<Bounds> = [false, true].into_iter().filter_map(|observing| in_force(context, observing)).collect();
    if outcome.fixed || bounds.is_empty() {
        return Vec::new();
    }
    let place = place(context);
    let cut = |bounds: Bounds| bounds::bound(&outcome.output, &place, bounds).is_some();
    if !bounds::goes_on(&outcome.output, &place) || !bounds.into_iter().any(cut) {
        return Vec::new();
    }
    let Some(touch) = context.view.touches.first() else { return Vec::new() };
    last_byte(context).map_or_else(|| vec![touch.probe()], |probe| vec![probe])
}

/// The question how the file ends that a call read, once it is known which file that is.
fn last_byte(context: &Context<'_>) -> Option<Probe> {
    match context.facts.get(&context.view.touches.first()?.probe())? {
        Fact::Identity(identity) if identity.there == There::File => {
            Some(Probe::LastByte { path: identity.path.clone() })
        }
        _ => None,
    }
}

/// Whether a newline ends that file.
fn ended(context: &Context<'_>) -> Option<bool> {
    match context.facts.get(&last_byte(context)?)? {
        Fact::Content(last) => Some(*last == Some(Digest::of(b"\n"))),
        _ => None,
    }
}

/// Cuts an outcome to what is shown of it.
pub(super) fn cut(context: &Context<'_>, outcome: &Outcome, decision: &mut Decision) {
    if outcome.fixed {
        return;
    }
    let within = |observing: bool| {
        let bounds = in_force(context, observing)?;
        Some((bounds, bounds::bound(&outcome.output, &place(context), bounds)?))
    };
    if let Some((bounds, Bounded { value, meta })) = within(false) {
        decision.emitted.push(truncated(context, bounds, &meta));
        decision.edits.push(Edit { target: EditTarget::Output, value, code: code::BOUNDS_TRUNCATED, meta });
    }
    if let Some((bounds, _)) = within(true) {
        let reason = format!("More than {} lines or {} bytes: it would be cut.", bounds.lines_max, bounds.bytes_max);
        let finding = Finding::deny("bounds", code::BOUNDS_TRUNCATED, reason).verdict(Verdict::Allow);
        decision.findings.push(Finding { enforced: false, ..finding });
    }
}

/// Says what to try next when a search found nothing.
pub(super) fn nothing_found(context: &Context<'_>, outcome: &Outcome, decision: &mut Decision) {
    if !search::found_nothing(context.view, outcome) {
        return;
    }
    let finding = Finding::deny("search", code::SEARCH_ZERO_RESULTS, search::GUIDANCE).verdict(Verdict::Allow);
    decision.findings.push(finding);
    decision.advise(search::GUIDANCE);
    let fields = json!({
        "tool": context.view.call.tool,
        "query_hash": context.signature.key,
        "guidance_code": code::SEARCH_ZERO_RESULTS,
    });
    decision.emitted.push(typed(context, step(context), "ZERO_RESULTS", fields));
}

/// The bounds on what this call shows, of the layers that enforce or of those that observe; the smaller count.
fn in_force(context: &Context<'_>, observing: bool) -> Option<Bounds> {
    let served = context.view.call.tool.starts_with("mcp__");
    let layers = context.stack.layers.iter().filter(|layer| layer.observes() == observing);
    layers
        .flat_map(|layer| {
            let kind = context.subject(layer).view.kind;
            let prints = served || matches!(kind, Kind::Shell | Kind::Search | Kind::List);
            let reads = layer.model.reads.filter(|_| kind == Kind::Read);
            let given = [reads, layer.model.outputs.filter(|_| prints)];
            given.map(|bounds| bounds.map(|bounds| bounds.widened(factor(context, layer))))
        })
        .flatten()
        .reduce(Bounds::and)
}

/// How many times wider an override makes the bounds of a layer. What comes back is cut as widely as was asked for, so
/// one that this call brought to its end still counts for its outcome.
fn factor(context: &Context<'_>, layer: &Layer) -> u32 {
    let now = context.session.now(context.event.at);
    match context.event.body {
        Body::CallRequested(_) => widening(&overriding::held(context), layer.origin, now),
        _ => context.agent.widening(layer.origin, now),
    }
}

/// The row of a host's own tool, whose arguments and outcome have no other form.
fn native(context: &Context<'_>) -> Option<&'static Tool> {
    let own = |row: &&Tool| row.host != MCP_HOST || context.view.served;
    let native = context.view.row.filter(|row| !row.host.is_empty() && context.event.host.as_deref() == Some(row.host));
    native.filter(own)
}

/// Where the outcome's texts stand, and which part of a file they are.
fn place(context: &Context<'_>) -> Place {
    let (row, native) = (context.view.row, native(context));
    let paging = native.and_then(|row| row.paging).unwrap_or(PAGING_USUAL);
    let reads = context.view.kind == Kind::Read;
    Place {
        texts: row.map(|row| row.texts).unwrap_or_default(),
        counts: row.and_then(|row| row.counts),
        skipped: if reads { bounds::skipped(&context.view.call.args, &paging) } else { 0 },
        first: paging.first,
        paged: reads,
        native: native.is_some(),
        ended: ended(context),
    }
}

fn truncated(context: &Context<'_>, bounds: Bounds, meta: &Value) -> Value {
    let mut fields = json!({ "tool": context.view.call.tool, "cap": bounds });
    if let Value::Object(fields) = &mut fields {
        let target = Some(&context.signature.target).filter(|target| !target.is_empty());
        fields.extend(target.map(|path| ("path".to_owned(), json!(path))));
        for key in ["lines_shown", "lines_remaining", "has_more", "next_offset"] {
            fields.extend(meta.get(key).map(|value| (key.to_owned(), value.clone())));
        }
    }
    typed(context, step(context), "READ_TRUNCATED", fields)
}

/// The step that asked for the call.
fn step(context: &Context<'_>) -> u64 {
    let asked = context.view.call.id.as_deref().and_then(|id| context.session.step_of(id));
    asked.unwrap_or(context.session.steps)
}
