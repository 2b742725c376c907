//! A call is requested: all guards judge it, and the session remembers that it was asked for.

use serde_json::{Value, json};

use super::advised;
use super::effect;
use super::excepted::{Lifted, lift};
use super::overridden;
use super::placed;
use super::shown;
use crate::code;
use crate::decision::{Decision, Finding, Note, Step, Stop, StopReason, Verdict};
use crate::definition::model::When;
use crate::event::{Call, Event};
use crate::guards::{self, Context, budget, repeat, schema, unknown_tool};
use crate::hosts;
use crate::probe::Probe;
use crate::repair;
use crate::session::{Change, Constraint, Halt, Key, prompt_key};
use crate::sha::Digest;

pub(super) fn decide(context: &Context<'_>) -> Step {
    let mut wanted = guards::needs(context);
    if let Some(probe) = placed::needs(context).filter(|probe| !wanted.contains(probe)) {
        wanted.push(probe);
    }
    if !wanted.is_empty() {
        return Step::Need(wanted);
    }
    match weigh(context, guards::judge(context)) {
        Ok(mut decision) => {
            overridden::follow(context, &mut decision);
            shown::page(context, &mut decision);
            shown::address(context, &mut decision);
            // A call that is refused never finishes: it is counted now.
            if never_runs(context, &decision) { advised::tell(context, None, decision) } else { super::done(decision) }
        }
        Err(probe) => Step::Need(vec![probe]),
    }
}

/// The decision that findings about a call lead to once exceptions are looked at, and what follows from it: what is
/// remembered, emitted and stopped.
pub(super) fn weigh(
    context: &Context<'_>,
    (findings, consulted): (Vec<Finding>, Vec<String>),
) -> Result<Decision, Probe> {
    let Lifted { mut findings, notes } = lift(findings, context.session, context.event, context.facts)?;
    halted_once(context, &mut findings);
    let mut decision = Decision { consulted, notes, ..Decision::merge(findings) };
    requested(context, &mut decision);
    unknown(context, &mut decision);
    rejected(context, &mut decision);
    validated(context, &mut decision);
    spent(context, &mut decision);
    warned(context, &mut decision);
    repeated(context, &mut decision);
    halted(context, &mut decision);
    Ok(decision)
}

/// A run is halted once: until a person speaks, every call is refused, and its cause is not said again.
pub(super) fn halted_once(context: &Context<'_>, findings: &mut Vec<Finding>) {
    if let Some(halt) = &context.agent.halted {
        findings.retain(|finding| finding.code.to_string() != halt.code);
        findings.iter_mut().for_each(|finding| finding.verdict = finding.verdict.min(Verdict::Deny));
    }
}

/// Whether the call does not run: it is refused, or a person would have to agree where nobody can be asked.
fn never_runs(context: &Context<'_>, decision: &Decision) -> bool {
    let unasked = || decision.verdict == Verdict::Ask && !hosts::asks(context.event.host.as_deref());
    decision.verdict.refuses() || unasked()
}

/// The key an open call is remembered by.
pub(super) fn call_key(call: &Call) -> Option<Key> {
    call.id.as_ref().map(|id| Digest::of(id.as_bytes()).short())
}

fn emit(context: &Context<'_>, kind: &str, fields: Value) -> Value {
    super::typed(context, context.session.steps + 1, kind, fields)
}

fn requested(context: &Context<'_>, decision: &mut Decision) {
    // A denial that is a fault of ours says nothing about what the agent does: it must not look like a loop.
    let our_fault = decision.verdict.refuses() && decision.code.as_ref().is_some_and(crate::code::Code::is_fault);
    let refused = never_runs(context, decision);
    decision.changes.push(Change::Requested {
        agent: context.event.agent().to_owned(),
        call: call_key(context.view.call),
        signature: context.signature.key,
        refused,
        feeds: !our_fault && repeat::feeds(context),
        place: placed::remembered(context).filter(|_| !refused),
    });
    if !refused {
        decision.changes.extend(works(context).then_some(Change::Worked));
        decision.changes.extend(scheduled(context));
        effect::count(context, false, decision);
    }
}

/// The prompt that the host is told to submit later: when it comes, no person speaks.
fn scheduled(context: &Context<'_>) -> Option<Change> {
    let argument = context.view.row?.schedules?;
    let prompt = prompt_key(context.view.call.args.get(argument)?.as_str()?);
    (!context.session.is_scheduled(Some(prompt))).then_some(Change::Scheduled { prompt })
}

/// Whether this is the first call since the last prompt that may change something, where that matters for a stop.
fn works(context: &Context<'_>) -> bool {
    let completions = context.stack.layers.iter().filter_map(|layer| layer.model.completion.as_ref());
    let matters = || completions.clone().any(|completion| completion.when == When::Worked);
    effect::may_change(context) && !context.session.worked && matters()
}

pub(super) fn unknown(context: &Context<'_>, decision: &mut Decision) {
    let agent = context.event.agent().to_owned();
    let refused = || decision.findings.iter().any(|finding| finding.enforced && finding.code == code::TOOLS_UNKNOWN);
    if context.view.unknown || refused() {
        let tool = context.view.call.tool.clone();
        let known = unknown_tool::known(context);
        decision.emitted.push(emit(
            context,
            "UNKNOWN_TOOL",
            json!({
                "requested": tool,
                "nearest": unknown_tool::nearest(context, &known),
                "known_count": known.len(),
                "correction_required": true,
            }),
        ));
        decision.constraint = Some(super::correct_tool(&tool));
        decision.changes.push(Change::UnknownTool { agent, tool });
    } else if context.agent.correct_tool.is_some() && !never_runs(context, decision) {
        decision.changes.push(Change::KnownTool { agent });
    }
}

/// Paths that were refused; what was written is told by its hash, since it may be anything.
pub(super) fn rejected(context: &Context<'_>, decision: &mut Decision) {
    let refused = decision.findings.iter().filter(|finding| finding.enforced && finding.verdict.refuses());
    let paths = refused.filter_map(|finding| Some((finding.path.as_ref()?, &finding.code)));
    let told: Vec<Value> = paths
        .map(|(raw, code)| {
            let hash = Digest::of(raw.as_bytes()).hex();
            emit(context, "PATH_REJECTED", json!({ "raw_hash": hash, "reason": code }))
        })
        .collect();
    decision.emitted.extend(told);
}

pub(super) fn validated(context: &Context<'_>, decision: &mut Decision) {
    // Of a call that the host refused by itself the arguments were not judged.
    if !decision.consulted.iter().any(|guard| guard == "schema") {
        return;
    }
    if context.agent.halted.is_none() {
        schema::of_args(context).follow(decision);
    }
    if schema::absent(context) {
        let tool = &context.view.call.tool;
        decision.emitted.push(emit(context, "SCHEMA_ABSENT", json!({ "tool": tool })));
    }
}

pub(super) fn spent(context: &Context<'_>, decision: &mut Decision) {
    let refusing = decision.findings.iter().filter(|finding| finding.guard == budget::GUARD && finding.enforced);
    let spent: Vec<_> = refusing
        .filter_map(|finding| budget::exhausted_by(context.stack, context.session, context.event.at, &finding.code))
        .collect();
    let (mut stopped, mut told) = (context.session.budget.refused, context.session.budget.told.clone());
    for spent in spent {
        let diagnostics = json!({ "kind": spent.kind, "used": spent.used, "limit": spent.limit });
        if !told.iter().any(|kind| kind == spent.kind) {
            told.push(spent.kind.to_owned());
            decision.emitted.push(emit(context, "BUDGET_EXCEEDED", diagnostics.clone()));
            decision.changes.push(Change::BudgetTold { kind: spent.kind.to_owned() });
        }
        if !stopped {
            stopped = true;
            let diagnostics =
                json!({ "code": spent.code, "kind": spent.kind, "used": spent.used, "limit": spent.limit });
            decision.stop = Some(Stop { reason: StopReason::BudgetExceeded, diagnostics });
            decision.changes.push(Change::BudgetRefused);
        }
    }
}

/// A soft limit is told of once.
fn warned(context: &Context<'_>, decision: &mut Decision) {
    if let Some(limit) = budget::soft_limit(context.stack, context.session) {
        let used = context.session.steps + 1;
        let fields = json!({ "kind": "steps", "used": used, "limit": limit, "soft": true });
        decision.emitted.push(emit(context, "BUDGET_WARNING", fields));
        decision.emitted.push(emit(context, "ASK_HUMAN", json!({ "reason": "BUDGET_WARNING" })));
        decision.changes.push(Change::BudgetWarned);
        let warning = budget::warning(limit);
        let next = warning.suggestions.join(", ");
        decision.advise(&format!("<feedback provider='Budget'>\n{}\n→ {next}\n</feedback>", warning.reason));
        decision.findings.push(warning);
    }
}

fn repeated(context: &Context<'_>, decision: &mut Decision) {
    let signature = context.signature.key;
    // A repeat that a person lets pass neither sets a constraint nor brings one nearer to its end; the window goes
    // on counting, so that it is an alarm again once the exception is over.
    let lifted = decision.findings.iter().any(|found| found.guard == repeat::GUARD && found.exception.is_some());
    let halted = context.agent.halted.is_some();
    let changes = if lifted || halted { Vec::new() } else { repeat::changes(context) };
    for change in changes {
        match &change {
            Change::Constrained { constraint, .. } => {
                let (shown, window) = (constraint.to_value(), constraint.window);
                let evidence = repeat::evidence(context, window);
                let detected = json!({ "signature": signature, "count": evidence.len(), "window": window });
                decision.emitted.push(emit(context, "LOOP_DETECTED", detected));
                let (id, shown_too) = (constraint.id(), shown.clone());
                let injected =
                    json!({ "override_id": id, "override": shown_too, "signature": signature, "evidence": evidence });
                decision.emitted.push(emit(context, "LOOP_OVERRIDE_INJECTED", injected));
                decision.notes.push(Note {
                    kind: "constraint.set",
                    before: Value::Null,
                    after: shown.clone(),
                    data: json!({}),
                });
                decision.constraint = Some(shown);
            }
            _ => decision.emitted.push(emit(context, "LOOP_REPEAT_AFTER_OVERRIDE", json!({ "signature": signature }))),
        }
        decision.changes.push(change);
    }
    if !lifted && !never_runs(context, decision) {
        tick(context, decision);
    }
    let after = || super::afterwards(context.agent, context.event.agent(), &decision.changes);
    if context.agent.constraint(&context.signature.key).is_some() {
        decision.constraint = after().constraint(&context.signature.key).map(Constraint::to_value);
    }
}

/// A call that is not refused brings every constraint nearer to its end.
fn tick(context: &Context<'_>, decision: &mut Decision) {
    let agent = context.event.agent();
    if context.agent.constraints.is_empty() {
        return;
    }
    decision.changes.push(Change::Ticked { agent: agent.to_owned() });
    for constraint in context.agent.constraints.iter().filter(|constraint| constraint.ttl_steps <= 1) {
        let before = constraint.to_value();
        decision.notes.push(Note {
            kind: "constraint.lapsed",
            before,
            after: Value::Null,
            data: json!({ "by": "ttl_steps" }),
        });
        decision.changes.push(Change::Lapsed { agent: agent.to_owned(), signature: constraint.signature });
    }
}

pub(super) fn halted(context: &Context<'_>, decision: &mut Decision) {
    if decision.verdict != Verdict::Halt {
        return;
    }
    let mut diagnostics = json!({
        "signature": context.signature.key,
        "action": {
            "action_type": context.view.call.action,
            "tool": context.view.call.tool,
            "target_path": context.signature.target,
        },
    });
    if decision.code == Some(code::LOOP_PERSISTED) {
        decision.emitted.push(emit(context, "LOOP_PERSISTED", diagnostics.clone()));
    }
    let exhausted = decision.code == Some(code::SCHEMA_EXHAUSTED);
    let validation = schema::of_args(context).diagnostics().filter(|_| exhausted);
    if let (Value::Object(diagnostics), Some(validation)) = (&mut diagnostics, validation) {
        diagnostics.insert("validation".to_owned(), validation);
    }
    stop_run(context.event, context.session.steps + 1, diagnostics, decision);
}

/// A run that is halted stops: everyone is told why, and it is remembered until a person speaks.
pub(super) fn stop_run(event: &Event, step: u64, mut diagnostics: Value, decision: &mut Decision) {
    let code = decision.code.as_ref().map(ToString::to_string).unwrap_or_default();
    let reason = decision.reason.clone().unwrap_or_default();
    if let Value::Object(diagnostics) = &mut diagnostics {
        diagnostics.insert("code".to_owned(), json!(code));
    }
    let digest = Digest::of(&crate::json::canonical(&diagnostics)).hex();
    let fields = json!({ "stop_reason": StopReason::SystemError, "diagnostics_ref": format!("sha256:{digest}") });
    decision.emitted.push(repair::emit(event, step, "RUN_STOPPED", fields));
    decision.stop = Some(Stop { reason: StopReason::SystemError, diagnostics });
    decision.changes.push(Change::Halted { agent: event.agent().to_owned(), halt: Halt { code, reason } });
}
