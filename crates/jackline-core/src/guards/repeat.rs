//! The loop guard: a call that is made again and again is forbidden for a while, and a run that insists is halted.

use serde_json::{Value, json};

use super::{Context, observed};
use crate::code;
use crate::decision::{Finding, Verdict};
use crate::definition::model::Loop;
use crate::listing::MCP_HOST;
use crate::matcher::Purpose;
use crate::session::{CONSTRAINT_TEXT_BYTES_MAX, CONSTRAINTS_MAX, Change, Constraint, Key, WINDOW_MAX};
use crate::stack::Layer;

pub(crate) const GUARD: &str = "loop";

/// Calls in a cycle that is looked for; work that alternates between more of them is hard to tell from progress.
const PERIOD_MAX: usize = 4;
/// Rounds of a cycle until it is one: edit, test, edit, test is work.
const CYCLES: usize = 3;
const _: () = assert!(PERIOD_MAX * CYCLES <= WINDOW_MAX, "a cycle fits into the window");

pub(crate) fn judge(context: &Context<'_>) -> Vec<Finding> {
    // Each layer for itself: one that only observes must not speak for one that enforces.
    let alarms = context.stack.layers.iter().filter_map(|layer| Some((layer, alarm(context, layer)?)));
    alarms.map(|(layer, alarm)| observed(raise(context, alarm), layer)).collect()
}

fn raise(context: &Context<'_>, alarm: Alarm) -> Finding {
    let call = described(context);
    match alarm {
        Alarm::Override(count) => finding(
            code::LOOP_OVERRIDE,
            format!("FORBID_ACTION: the same call ({call}) was made {count} times; it is forbidden now."),
        ),
        Alarm::Cycle(period) => finding(
            code::LOOP_OVERRIDE,
            format!(
                "FORBID_ACTION: the same {period} calls were made {CYCLES} times in turn; this one ({call}) is forbidden now."
            ),
        ),
        Alarm::Forbidden => {
            let left = context.agent.constraint(&context.signature.key).map_or(1, |standing| standing.retries_left);
            let times = if left > 1 { format!("{left} more times") } else { "again".to_owned() };
            finding(
                code::LOOP_FORBIDDEN,
                format!("FORBID_ACTION: this call ({call}) is still forbidden; repeating it {times} ends the run."),
            )
        }
        Alarm::Persisted | Alarm::Crowded => {
            let reason = match alarm {
                Alarm::Crowded => format!(
                    "This call ({call}) is repeated while {CONSTRAINTS_MAX} others are forbidden; the run is halted."
                ),
                _ => format!("The forbidden call ({call}) was repeated; the run is halted."),
            };
            Finding::deny(GUARD, code::LOOP_PERSISTED, reason)
                .verdict(Verdict::Halt)
                .suggest("stop, and report to the person")
        }
    }
}

/// What the loop guard has to say about this call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Alarm {
    /// This many equal calls within the window.
    Override(usize),
    /// The same so many different calls, again and again in the same order.
    Cycle(usize),
    Forbidden,
    Persisted,
    /// A loop beside as many that stand as are remembered: none of them may be forgotten.
    Crowded,
}

/// The alarm a layer raises for this call, if any.
pub(crate) fn alarm(context: &Context<'_>, layer: &Layer) -> Option<Alarm> {
    let settings = layer.model.repeat.as_ref()?;
    if is_exempt(settings, context, layer) {
        return None;
    }
    let stands = |standing: &&Constraint| !standing.observed || layer.observes();
    if let Some(standing) = context.agent.constraint(&context.signature.key).filter(stands) {
        return Some(if standing.retries_left > 0 { Alarm::Forbidden } else { Alarm::Persisted });
    }
    let crowded = context.agent.constraints.len() >= CONSTRAINTS_MAX;
    let begun = |alarm| if crowded { Alarm::Crowded } else { alarm };
    let earlier = (settings.window as usize).min(WINDOW_MAX).saturating_sub(1);
    let count = 1 + earlier_steps(context, settings.progress_aware, earlier).len();
    if count >= settings.threshold as usize {
        return Some(begun(Alarm::Override(count)));
    }
    cycle(context, settings.progress_aware).filter(|_| settings.cycles).map(|period| begun(Alarm::Cycle(period)))
}

/// The steps of the equal calls among the latest so many. Who is aware of progress counts none that led to something
/// else since.
fn earlier_steps(context: &Context<'_>, aware: bool, latest: usize) -> Vec<u64> {
    let window = context.agent.window.iter().rev().take(latest);
    let equal = window.filter(|call| call.signature == context.signature.key && !(aware && call.progressed));
    equal.map(|call| call.step).collect()
}

/// The calls that an override is put for, this one included, oldest first.
pub(crate) fn evidence(context: &Context<'_>, window: u32) -> Vec<Value> {
    let aware = raised(context).alarms.iter().all(|(settings, _)| settings.progress_aware);
    let mut steps = earlier_steps(context, aware, (window as usize).min(WINDOW_MAX).saturating_sub(1));
    steps.reverse();
    let earlier = steps.into_iter().map(|step| json!({ "step": step }));
    let present = json!({ "step": context.session.steps + 1, "tool_call_id": context.view.call.id });
    earlier.chain([present]).collect()
}

/// The period of a short cycle that this call completes: the latest calls are the same few, several times over.
fn cycle(context: &Context<'_>, aware: bool) -> Option<usize> {
    let present = std::iter::once(&context.signature.key);
    // What led to something new is no part of a round that leads nowhere, nor is what came before it.
    let window = context.agent.window.iter().rev().take_while(|call| !(aware && call.progressed));
    let window = window.map(|call| &call.signature);
    let latest: Vec<&Key> = present.chain(window).take(PERIOD_MAX * CYCLES).collect();
    (2..=PERIOD_MAX).find(|period| {
        let run = latest.get(..period * CYCLES).unwrap_or_default();
        let repeats = run.iter().zip(run.iter().skip(*period)).all(|(call, before)| call == before);
        !run.is_empty() && repeats
    })
}

/// Whether calls of this tool feed any layer's window.
pub(crate) fn feeds(context: &Context<'_>) -> bool {
    let mut loops = context.stack.layers.iter().filter_map(|layer| Some((layer.model.repeat.as_ref()?, layer)));
    loops.any(|(settings, layer)| !is_exempt(settings, context, layer))
}

/// An alarm of one or several layers.
struct Raised<'a> {
    alarms: Vec<(&'a Loop, Alarm)>,
    /// None of them enforces.
    observed: bool,
}

/// The alarms of layers that enforce; only where there are none, those of others.
fn raised<'a>(context: &Context<'a>) -> Raised<'a> {
    let of = |observed: bool| {
        let layers = context.stack.layers.iter().filter(move |layer| layer.observes() == observed);
        let alarms = layers.filter_map(|layer| Some((layer.model.repeat.as_ref()?, alarm(context, layer)?)));
        Raised { alarms: alarms.collect(), observed }
    };
    let enforced = of(false);
    if enforced.alarms.is_empty() { of(true) } else { enforced }
}

/// What the session remembers of an alarm.
pub(crate) fn changes(context: &Context<'_>) -> Vec<Change> {
    let raised = raised(context);
    let agent = context.event.agent().to_owned();
    let begins = |(_, alarm): &(&Loop, Alarm)| matches!(alarm, Alarm::Override(_) | Alarm::Cycle(_));
    let repeats = |(_, alarm): &(&Loop, Alarm)| *alarm == Alarm::Forbidden;
    if raised.alarms.iter().any(begins) {
        let constraint = constraint(context, &raised);
        return constraint.map(|constraint| Change::Constrained { agent, constraint }).into_iter().collect();
    }
    let retried = || Change::Retried { agent, signature: context.signature.key };
    raised.alarms.iter().any(repeats).then(retried).into_iter().collect()
}

/// Of several layers the strictest counts: the fewest retries, and the longest time.
fn constraint(context: &Context<'_>, raised: &Raised<'_>) -> Option<Constraint> {
    let settings = || raised.alarms.iter().map(|(settings, _)| settings);
    let first = settings().next()?;
    Some(Constraint {
        signature: context.signature.key,
        action: clip(&context.view.call.action),
        tool: clip(&context.view.call.tool),
        target: clip(&context.signature.target),
        retries_left: settings().map(|settings| settings.override_retries).min()?,
        ttl_steps: settings().map(|settings| settings.ttl_steps).max()?,
        window: first.window,
        threshold: first.threshold,
        step: context.session.steps + 1,
        observed: raised.observed,
    })
}

fn is_exempt(settings: &Loop, context: &Context<'_>, layer: &Layer) -> bool {
    // The third time that its checks fail a todo is given to a person: that is its own bound.
    if context.view.row.is_some_and(|row| row.host == MCP_HOST && row.name == "todo_verify") {
        return true;
    }
    settings.exempt.iter().any(|name| context.subject(layer).is_named(name, Purpose::Sure))
}

fn finding(code: code::Code, reason: String) -> Finding {
    Finding::deny(GUARD, code, reason).suggest("use another tool or other arguments, or stop and ask the person")
}

fn described(context: &Context<'_>) -> String {
    match context.signature.target.as_str() {
        "" => format!("tool '{}'", context.view.call.tool),
        target => format!("tool '{}' on '{}'", context.view.call.tool, clip(target)),
    }
}

fn clip(text: &str) -> String {
    crate::audit::head(text, CONSTRAINT_TEXT_BYTES_MAX).to_owned()
}
