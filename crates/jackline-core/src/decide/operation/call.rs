//! Lists calls: models do not see the ids of their calls, and evidence is named by them.

use serde_json::{Value, json};

use super::{Ground, Outcome, Trouble, listed, refuse};
use crate::calls::{CALLS_SHOWN_DEFAULT, CALLS_SHOWN_MAX, Logged, Query};
use crate::code;
use crate::event::NAME_BYTES_MAX;
use crate::probe::{Fact, Probe, Told};

pub(super) fn list(ground: &Ground<'_>, given: &Value) -> Outcome {
    let last = match given.get("last") {
        None | Some(Value::Null) => CALLS_SHOWN_DEFAULT,
        Some(last) => last.as_u64().and_then(|last| u32::try_from(last).ok()).unwrap_or_default(),
    };
    if last == 0 {
        return Err(refuse(code::EVENT_INVALID, "`last` must be a whole number, one or more.", "say how many"));
    }
    let query = Query {
        command: text(given, "command")?,
        tool: text(given, "tool")?,
        last: last.min(CALLS_SHOWN_MAX),
        ..Query::default()
    };
    let probe = Probe::Calls { queries: vec![query] };
    match ground.facts.get(&probe) {
        None => Err(Trouble::Need(vec![probe])),
        Some(Fact::Told(Told::Calls(found))) => {
            let calls: Vec<&Logged> = found.iter().flat_map(|found| &found.calls).collect();
            let tree = ground.facts.get(&Probe::WorkTree);
            if tree.is_none() && calls.iter().any(|call| call.shell && call.tree.is_some()) {
                return Err(Trouble::Need(vec![Probe::WorkTree]));
            }
            let shown = |call: &Logged| {
                let outdated = tree.map_or(call.outdated, |tree| call.is_outdated_by(tree));
                Logged { outdated, ..call.clone() }.to_value()
            };
            Ok(listed(json!({ "calls": calls.into_iter().map(shown).collect::<Vec<_>>() })))
        }
        Some(_) => Err(refuse(code::EVENT_INVALID, "The log could not be looked through.", "try again later")),
    }
}

fn text(given: &Value, key: &str) -> Result<Option<String>, Trouble> {
    match given.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if !text.trim().is_empty() && text.len() <= NAME_BYTES_MAX => {
            Ok(Some(text.trim().to_owned()))
        }
        Some(_) => {
            let reason = format!("`{key}` must be a text of at most {NAME_BYTES_MAX} bytes that is not blank.");
            Err(refuse(code::EVENT_INVALID, reason, "leave it out, or correct it"))
        }
    }
}
