//! Policies of the embedding program, asked like built-in ones: a fault or a panic denies.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Context;
use crate::code::{self, Code};
use crate::decision::{Finding, Verdict};
use crate::policy::{Asked, Keep, Objection, Policy};
use crate::probe::Probe;
use crate::session::MEMORY_BYTES_MAX;

/// What a denial without text reads.
const DENIED: &str = "Denied by policy.";

pub(crate) fn needs(context: &Context<'_>) -> Vec<Probe> {
    let wanted = context.stack.own.iter().flat_map(|policy| {
        // A policy that cannot say what it needs is asked once more when it judges, and denies there.
        guarded(|| Ok(policy.needs(&asked(context, policy.as_ref())))).unwrap_or_default()
    });
    // A policy looks; what is done at most once per event is not its to ask for.
    wanted.filter(|probe| probe.observes() && context.facts.get(probe).is_none()).collect()
}

pub(crate) fn judge(context: &Context<'_>) -> Vec<(String, Option<Finding>)> {
    context.stack.own.iter().map(|policy| (policy.name().to_owned(), judge_one(context, policy.as_ref()))).collect()
}

/// What the policies want to remember of a call that succeeded, and what went wrong in asking them.
pub(crate) fn on_result(context: &Context<'_>) -> Vec<(String, Result<Vec<Keep>, String>)> {
    let ask = |policy: &dyn Policy| {
        guarded(|| {
            let asked = told(context, policy);
            policy.on_result(&asked).and_then(bounded)
        })
    };
    context.stack.own.iter().map(|policy| (policy.name().to_owned(), ask(policy.as_ref()))).collect()
}

/// What a policy wants to remember, if there is room for each of it.
fn bounded(kept: Vec<Keep>) -> Result<Vec<Keep>, String> {
    let bytes = |keep: &Keep| keep.key.len() + keep.value.as_ref().map_or(0, String::len);
    match kept.iter().find(|keep| bytes(keep) > MEMORY_BYTES_MAX) {
        Some(keep) => Err(format!("it wants to remember {} bytes, more than {MEMORY_BYTES_MAX}", bytes(keep))),
        None => Ok(kept),
    }
}

fn judge_one(context: &Context<'_>, policy: &dyn Policy) -> Option<Finding> {
    let finding = match guarded(|| policy.judge(&told(context, policy))) {
        Ok(None) => return None,
        Ok(Some(objection)) if objection.verdict == Verdict::Allow => return None,
        Ok(Some(objection)) => objected(policy.name(), objection),
        Err(why) => Finding::fault("policy", code::FAULT_POLICY, &format!("policy `{}` failed: {why}", policy.name())),
    };
    let enforced = finding.enforced && !context.stack.observes();
    Some(Finding { policy: policy.name().to_owned(), enforced, ..finding })
}

/// What a policy judges by. It is asked for what it needs once more: one that panics there has not all the facts that it
/// wants, and must not judge without them.
fn told<'a>(context: &Context<'a>, policy: &'a dyn Policy) -> Asked<'a> {
    let asked = asked(context, policy);
    drop(policy.needs(&asked));
    asked
}

fn objected(name: &str, objection: Objection) -> Finding {
    let reason = objection.reason.filter(|reason| !reason.is_empty()).unwrap_or_else(|| DENIED.to_owned());
    let finding = Finding::deny("policy", Code::own(name), reason).verdict(objection.verdict);
    Finding { suggestions: objection.suggestions, ..finding }
}

fn asked<'a>(context: &Context<'a>, policy: &'a dyn Policy) -> Asked<'a> {
    Asked {
        event: context.event,
        view: context.view,
        session: context.session,
        facts: context.facts,
        policy: policy.name(),
    }
}

/// What the embedding program's code says; a panic in it is a fault like any other.
pub(crate) fn guarded<T>(ask: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(ask)).unwrap_or_else(|_| Err("it panicked".to_owned()))
}
