//! Limits on steps, time, tokens and cost. One predicate says what is exhausted, wherever it is asked.

use serde_json::json;

use super::{Context, observed};
use crate::code::{self, Code};
use crate::decision::{Finding, Verdict};
use crate::definition::model::{Deadline, Limits, Per};
use crate::extension::Extended;
use crate::feedback::Clock;
use crate::session::{Session, Used, nano_usd, shown_usd};
use crate::stack::Stack;
use crate::time::Timestamp;

pub(crate) const GUARD: &str = "budget";

/// A declared limit, and what is used of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Meter {
    pub kind: &'static str,
    pub used: serde_json::Value,
    pub limit: serde_json::Value,
    /// Whether it is used up; a soft limit never is.
    pub exhausted: bool,
    /// It only warns.
    pub soft: bool,
    pub(crate) code: Code,
    pub(crate) reason: &'static str,
}

pub(crate) fn judge(context: &Context<'_>) -> Vec<Finding> {
    let now = context.session.now(context.event.at);
    let layers = context.stack.layers.iter();
    layers
        .flat_map(|layer| {
            exhausted(&layer.model.limits, context.session, now)
                .into_iter()
                .map(|spent| observed(finding(spent), layer))
        })
        .collect()
}

fn finding(spent: Meter) -> Finding {
    Finding::deny(GUARD, spent.code, spent.reason).suggest("stop, and report what is left to do")
}

/// What is said once where a soft limit is reached.
pub(crate) fn warning(limit: u64) -> Finding {
    let reason = format!("The soft limit of {limit} steps is reached; calls still run.");
    Finding::deny(GUARD, code::BUDGET_STEPS, reason).verdict(Verdict::Allow).suggest("ask the person whether to go on")
}

/// Whether any limit in force is used up. One that is only observed refuses nothing, so it ends nothing that another
/// definition holds.
pub(crate) fn any_exhausted(stack: &Stack, session: &Session, at: Timestamp) -> Option<Meter> {
    let now = session.now(at);
    let enforced = stack.layers.iter().any(|layer| !layer.observes());
    let mut counting = stack.layers.iter().filter(|layer| !(enforced && layer.observes()));
    counting.find_map(|layer| exhausted(&layer.model.limits, session, now).into_iter().next())
}

/// The limit in force that is used up and has this code.
pub(crate) fn exhausted_by(stack: &Stack, session: &Session, at: Timestamp, code: &Code) -> Option<Meter> {
    let now = session.now(at);
    let mut spent = stack.layers.iter().flat_map(|layer| exhausted(&layer.model.limits, session, now));
    spent.find(|meter| meter.code == *code)
}

/// Whether a soft step limit is reached and has not been warned of.
pub(crate) fn soft_limit(stack: &Stack, session: &Session) -> Option<u64> {
    let soft = stack.layers.iter().filter_map(|layer| {
        let steps = layer.model.limits.steps?;
        let max = extended(&layer.model.limits, session).limit(steps.max, |used| used.steps);
        (steps.soft && used(&layer.model.limits, session).steps >= max).then_some(max)
    });
    soft.min().filter(|_| !session.budget.warned)
}

/// Every limit that is used up.
pub(crate) fn exhausted(limits: &Limits, session: &Session, now: Timestamp) -> Vec<Meter> {
    meters(limits, session, now).into_iter().filter(|meter| meter.exhausted).collect()
}

/// Every declared limit: used up when a deadline is reached or a count is at its maximum.
#[must_use]
pub fn meters(limits: &Limits, session: &Session, now: Timestamp) -> Vec<Meter> {
    let (used, extended) = (used(limits, session), extended(limits, session));
    let mut found = Vec::new();
    let mut meter = |kind, (code, reason), (used, limit), exhausted| {
        let soft = kind == "steps" && limits.steps.is_some_and(|steps| steps.soft);
        found.push(Meter { kind, used, limit, exhausted, soft, code, reason });
    };
    if let Some(steps) = limits.steps {
        let said = (code::BUDGET_STEPS, "Step budget exhausted");
        let max = extended.limit(steps.max, |used| used.steps);
        meter("steps", said, (json!(used.steps), json!(max)), !steps.soft && used.steps >= max);
    }
    if let Some(deadline) = deadline(limits, session) {
        let said = (code::BUDGET_DEADLINE, "Deadline exceeded");
        meter("deadline", said, (json!(now.to_string()), json!(deadline.to_string())), now >= deadline);
    }
    if let Some(tokens) = limits.tokens {
        let said = (code::BUDGET_TOKENS, "Token budget exhausted");
        let tokens = extended.limit(tokens, |used| used.tokens);
        meter("tokens", said, (json!(used.tokens), json!(tokens)), used.tokens >= tokens);
    }
    if let Some(cost) = limits.cost_usd {
        let said = (code::BUDGET_COST, "Cost budget exhausted");
        let (spent, cost) = (used.cost_nano_usd, extended.limit(nano_usd(cost), |used| used.cost_nano_usd));
        meter("cost", said, (json!(shown_usd(spent)), json!(shown_usd(cost))), spent >= cost);
    }
    found
}

fn used(limits: &Limits, session: &Session) -> Used {
    match limits.per {
        Per::Session => session.budget.session,
        Per::Prompt => session.budget.prompt,
    }
}

/// What a person added.
fn extended<'a>(limits: &Limits, session: &'a Session) -> &'a Extended {
    match limits.per {
        Per::Session => &session.budget.session_extended,
        Per::Prompt => &session.budget.prompt_extended,
    }
}

fn deadline(limits: &Limits, session: &Session) -> Option<Timestamp> {
    declared(limits, session).map(|deadline| extended(limits, session).deadline(deadline))
}

fn declared(limits: &Limits, session: &Session) -> Option<Timestamp> {
    match limits.deadline? {
        Deadline::At(at) => Some(at),
        Deadline::After(ms) => start(limits, session).map(|start| Timestamp(start.0.saturating_add(ms))),
    }
}

/// When the time began to count; a session without any event has not begun.
fn start(limits: &Limits, session: &Session) -> Option<Timestamp> {
    match limits.per {
        Per::Session => session.budget.reset.or(session.began),
        Per::Prompt => session.budget.prompted.or(session.budget.reset).or(session.began),
    }
}

/// The nearest deadline in force, as it stands now. A session that begins now has all of its time.
pub(crate) fn clock(stack: &Stack, session: &Session, now: Timestamp) -> Option<Clock> {
    let clock = |limits: &Limits| {
        let start = start(limits, session).unwrap_or(now);
        let end = match limits.deadline? {
            Deadline::At(at) => at,
            Deadline::After(ms) => Timestamp(start.0.saturating_add(ms)),
        };
        let end = extended(limits, session).deadline(end);
        Some(Clock { elapsed_ms: now.since(start), left_ms: end.0.saturating_sub(now.0) })
    };
    stack.layers.iter().filter_map(|layer| clock(&layer.model.limits)).min_by_key(|clock| clock.left_ms)
}
