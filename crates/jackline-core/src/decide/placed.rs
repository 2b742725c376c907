//! Which file a tool of our own server opens: remembered when its call is let through, and held against where the path leads
//! when the call comes by again. A link that was put in the way meanwhile leads to what nobody judged.

use serde_json::Value;

use crate::code;
use crate::decision::Finding;
use crate::guards::Context;
use crate::probe::{Fact, Probe};
use crate::session::Key;
use crate::sha::Digest;
use crate::tools::{OWN_PATH, OWN_PATH_USUAL};

/// The question where the path leads, as our server reads it; of tools that open one, also where no guard asks.
fn question(context: &Context<'_>) -> Option<Probe> {
    context.view.row.filter(|row| context.view.other.is_some() && row.paths.contains(&OWN_PATH))?;
    Some(Probe::Identity { path: written(context).to_owned(), dir: context.stack.root.clone() })
}

fn written<'a>(context: &Context<'a>) -> &'a str {
    context.view.call.args.get(OWN_PATH).and_then(Value::as_str).unwrap_or(OWN_PATH_USUAL)
}

pub(super) fn needs(context: &Context<'_>) -> Option<Probe> {
    question(context).filter(|probe| context.facts.get(probe).is_none())
}

/// The file as it is remembered until our server opens it; where that asks first, it opens it at once.
pub(super) fn remembered(context: &Context<'_>) -> Option<Key> {
    if context.view.served { None } else { key(context) }
}

/// The file as it is compared; none where it cannot be told.
fn key(context: &Context<'_>) -> Option<Key> {
    let identity = context.facts.get(&question(context)?).and_then(Fact::identity)?;
    Some(Digest::of(identity.path.as_bytes()).short())
}

/// What is found in a call whose path led to `before` when it was judged.
pub(super) fn judge(context: &Context<'_>, before: Option<Key>) -> Option<Finding> {
    question(context)?;
    let now = key(context);
    if now.is_some() && now == before {
        return None;
    }
    let written = written(context);
    let reason = format!("Where path '{written}' leads changed since the call was judged.");
    let finding = Finding::deny("paths", code::PATHS_UNRESOLVABLE, reason).about(written);
    Some(finding.suggest("call again, with a path that no link is part of"))
}
