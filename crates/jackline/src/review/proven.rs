//! What `completion` saw when it let a stop pass, read from the facts on the decision's record.

use jackline_core::probe::{Fact, Probe, There};
use jackline_runtime::replay;
use serde_json::Value;

use crate::timeline::text;

/// One line for the stop, and one for each command that passed and each file that was there.
pub(super) fn seen(decision: &Value) -> Vec<String> {
    let seq = decision.get("seq").and_then(Value::as_u64).unwrap_or_default();
    let root = text(decision, "workspace");
    let facts = replay::facts(decision);
    let held = facts.iter().filter_map(|(probe, fact)| one(probe, fact, root));
    std::iter::once(format!("all that `completion` demands held (record {seq})")).chain(held).collect()
}

fn one(probe: &Probe, fact: &Fact, root: &str) -> Option<String> {
    match (probe, fact) {
        (Probe::Run { argv, .. }, Fact::Ran(ran)) if ran.succeeded() => {
            Some(format!("command {}: {}", argv.join(" "), ran.exit.told()))
        }
        // Files of todos are asked for as seen from the root, and stand with their todos.
        (Probe::Identity { path, dir }, Fact::Identity(identity)) if dir.is_empty() && path != root => {
            let inside = identity.inside.as_ref().filter(|_| identity.there != There::Nothing)?;
            Some(format!("file {inside}: it is there"))
        }
        _ => None,
    }
}
