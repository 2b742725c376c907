//! What follows from overrides once a call is decided: one is put, counted or lapses; and those that the host sets.

use serde_json::{Value, json};

use crate::code;
use crate::decision::{Decision, Finding, Note};
use crate::event::Event;
use crate::guards::{Context, overriding};
use crate::overrides::{Imposed, OVERRIDES_MAX, Override};
use crate::session::{Change, Session};

/// What a requested call changes about the overrides on its agent.
pub(super) fn follow(context: &Context<'_>, decision: &mut Decision) {
    if context.agent.overrides.is_empty() && !overriding::speaks(context) {
        return;
    }
    expire(context, decision);
    // A person let it pass: it is not held against the override, and brings none nearer to its end.
    let lifted = decision.findings.iter().any(|found| found.guard == overriding::GUARD && found.exception.is_some());
    if !lifted && !decision.verdict.refuses() {
        tick(context, decision);
    }
    for imposed in overriding::put(context) {
        put(context, decision, imposed);
    }
    show(context, decision);
}

fn expire(context: &Context<'_>, decision: &mut Decision) {
    let now = context.session.now(context.event.at);
    let over = context.agent.overrides.iter().filter(|imposed| !imposed.lasts(now));
    for imposed in over {
        let by = if imposed.steps_left == Some(0) { "ttl_steps" } else { "expires_at" };
        lapse(decision, context.event.agent(), imposed, by);
    }
}

fn tick(context: &Context<'_>, decision: &mut Decision) {
    let standing: Vec<&Imposed> = overriding::standing(context).collect();
    if standing.is_empty() {
        return;
    }
    let counted = standing.iter().filter(|imposed| overriding::counts(context, imposed)).map(|imposed| imposed.key());
    let agent = context.event.agent();
    decision.changes.push(Change::OverridesTicked { agent: agent.to_owned(), counted: counted.collect() });
    let last = |imposed: &&&Imposed| imposed.steps_left.is_some_and(|left| left <= 1) && !imposed.lingers();
    for imposed in standing.iter().filter(last) {
        lapse(decision, agent, imposed, "ttl_steps");
    }
}

fn lapse(decision: &mut Decision, agent: &str, imposed: &Imposed, by: &str) {
    let before = imposed.to_value();
    decision.notes.push(Note { kind: "constraint.lapsed", before, after: Value::Null, data: json!({ "by": by }) });
    decision.changes.push(Change::OverrideLapsed { agent: agent.to_owned(), key: imposed.key() });
}

fn put(context: &Context<'_>, decision: &mut Decision, mut imposed: Imposed) {
    let policy = imposed.by.as_ref().map(|by| by.policy.clone()).unwrap_or_default();
    // What a person lets pass of this policy has no consequences.
    if decision.findings.iter().any(|found| found.policy == policy && found.exception.is_some()) {
        return;
    }
    if !decision.verdict.refuses() && overriding::counts(context, &imposed) {
        imposed.calls = 1;
    }
    impose(decision, context.event, context.session.steps + 1, imposed);
}

fn impose(decision: &mut Decision, event: &Event, step: u64, imposed: Imposed) {
    let shown = imposed.to_value();
    let typed = json!({ "type": "OVERRIDE_INJECTED", "session": event.session, "step": step, "override": shown });
    decision.emitted.push(typed);
    let (before, data) = (Value::Null, json!({}));
    decision.notes.push(Note { kind: "constraint.set", before, after: shown.clone(), data });
    if decision.constraint.is_none() {
        decision.constraint = Some(shown);
    }
    decision.changes.push(Change::Imposed { agent: event.agent().to_owned(), imposed });
}

/// The override that refused is the one that matters.
fn show(context: &Context<'_>, decision: &mut Decision) {
    let refused = |code: &code::Code| *code == code::OVERRIDE_TOOL_BUDGET || *code == code::OVERRIDE_FORCE_ACTION;
    let Some(code) = decision.code.clone().filter(refused) else { return };
    let held = overriding::held(context);
    let broken = held.iter().find(|imposed| overriding::breaks(context, imposed).as_ref() == Some(&code));
    decision.constraint = broken.map(Imposed::to_value).or_else(|| decision.constraint.take());
}

/// The host sets an override; the same one again starts anew.
pub(super) fn set(session: &Session, event: &Event, settings: &Override) -> Decision {
    let now = session.now(event.at);
    let imposed = Imposed::new(None, settings.clone(), now);
    let standing = session.agent(event.agent()).map(|agent| agent.overrides.as_slice()).unwrap_or_default();
    let others = standing.iter().filter(|known| known.key() != imposed.key() && known.lasts(now));
    if others.count() >= OVERRIDES_MAX {
        let reason = format!("There are {OVERRIDES_MAX} overrides on this agent already.");
        let finding = Finding::deny("event", code::EVENT_INVALID, reason);
        return Decision::merge(vec![finding.suggest("wait until one of them lapses")]);
    }
    let mut decision = Decision::default();
    for over in standing.iter().filter(|known| known.key() == imposed.key() || !known.lasts(now)) {
        let by = if over.lasts(now) { "renewed" } else { "expires_at" };
        lapse(&mut decision, event.agent(), over, by);
    }
    impose(&mut decision, event, session.steps, imposed);
    decision
}
