//! Limits on steps, time, tokens and cost. One predicate says what is exhausted, wherever it is asked.

use serde_json::json;

use super::{Context, observed};
use crate::code::{self, Code};
use crate::decision::Finding;
use crate::definition::model::{Deadline, Limits, Per};
use crate::session::{Session, Used};
use crate::stack::Stack;
use crate::time::Timestamp;

/// A limit that is used up.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Exhausted {
    pub(crate) kind: &'static str,
    pub(crate) code: Code,
    pub(crate) reason: &'static str,
    pub(crate) used: serde_json::Value,
    pub(crate) limit: serde_json::Value,
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

fn finding(spent: Exhausted) -> Finding {
    Finding::deny("budget", spent.code, spent.reason).suggest("stop, and report what is left to do")
}

/// Whether any limit in force is used up.
pub(crate) fn any_exhausted(stack: &Stack, session: &Session, at: Timestamp) -> Option<Exhausted> {
    let now = session.now(at);
    stack.layers.iter().find_map(|layer| exhausted(&layer.model.limits, session, now).into_iter().next())
}

/// Whether a soft step limit is reached and has not been warned of.
pub(crate) fn soft_limit(stack: &Stack, session: &Session) -> Option<u64> {
    let soft = stack.layers.iter().filter_map(|layer| {
        let steps = layer.model.limits.steps?;
        (steps.soft && used(&layer.model.limits, session).steps >= steps.max).then_some(steps.max)
    });
    soft.min().filter(|_| !session.budget.warned)
}

/// Every limit that is used up: a deadline reached, a count at its maximum.
pub(crate) fn exhausted(limits: &Limits, session: &Session, now: Timestamp) -> Vec<Exhausted> {
    let used = used(limits, session);
    let spent = |kind, code, reason, used, limit| Exhausted { kind, code, reason, used, limit };
    let mut found = Vec::new();
    if let Some(steps) = limits.steps.filter(|steps| !steps.soft && used.steps >= steps.max) {
        let reason = "Step budget exhausted";
        found.push(spent("steps", code::BUDGET_STEPS, reason, json!(used.steps), json!(steps.max)));
    }
    if let Some(deadline) = deadline(limits, session).filter(|deadline| now >= *deadline) {
        let (used, limit) = (json!(now.to_string()), json!(deadline.to_string()));
        found.push(spent("deadline", code::BUDGET_DEADLINE, "Deadline exceeded", used, limit));
    }
    if let Some(tokens) = limits.tokens.filter(|tokens| used.tokens >= *tokens) {
        let reason = "Token budget exhausted";
        found.push(spent("tokens", code::BUDGET_TOKENS, reason, json!(used.tokens), json!(tokens)));
    }
    if let Some(cost) = limits.cost_usd.filter(|cost| used.cost_usd >= *cost) {
        let reason = "Cost budget exhausted";
        found.push(spent("cost", code::BUDGET_COST, reason, json!(used.cost_usd), json!(cost)));
    }
    found
}

fn used(limits: &Limits, session: &Session) -> Used {
    match limits.per {
        Per::Session => session.budget.session,
        Per::Prompt => session.budget.prompt,
    }
}

fn deadline(limits: &Limits, session: &Session) -> Option<Timestamp> {
    match limits.deadline? {
        Deadline::At(at) => Some(at),
        Deadline::After(ms) => {
            let start = match limits.per {
                Per::Session => session.budget.reset.or(session.began),
                Per::Prompt => session.budget.prompted.or(session.budget.reset).or(session.began),
            };
            start.map(|start| Timestamp(start.0.saturating_add(ms)))
        }
    }
}
