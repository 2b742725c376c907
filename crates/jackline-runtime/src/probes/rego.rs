//! Asks a Rego policy about an event: reads its file, tells it what there is to know, keeps what was compiled.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use jackline_core::event::Event;
use jackline_core::probe::Fact;
use jackline_core::rego::About;
use jackline_core::sha::Digest;
use serde_json::{Value, json};

use crate::rego::{Compiled, read};

/// Compiled policies held at once; a definition names a few.
const COMPILED_MAX: usize = 32;

/// Policies that were asked, by the digest of their texts.
#[derive(Debug, Default)]
pub(super) struct Policies(Mutex<BTreeMap<Digest, Compiled>>);

impl Policies {
    pub(super) fn answer(&self, file: &Path, about: &About, event: &Event) -> Fact {
        let judged = read(file)
            .map_err(|why| format!("it cannot be read: {why}"))
            .and_then(|text| self.compiled(&text))
            .and_then(|policy| policy.judge(input(about, event), event.at));
        judged.map_or_else(Fact::Unknown, Fact::Rego)
    }

    fn compiled(&self, text: &str) -> Result<Compiled, String> {
        let digest = Digest::of(text.as_bytes());
        if let Some(known) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&digest) {
            return Ok(known.clone());
        }
        let compiled = Compiled::new(text).map_err(|fault| fault.message)?;
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= COMPILED_MAX {
            kept.pop_first();
        }
        kept.insert(digest, compiled.clone());
        Ok(compiled)
    }
}

/// What a policy sees as `input`; `docs/reference/rego.md` describes it.
fn input(about: &About, event: &Event) -> Value {
    json!({
        "event": event_json(event),
        "session": {
            "calls": about.calls,
            "minutes": about.ms as f64 / 60_000.0,
            "written": about.written,
            "done": about.done,
        },
        "tool": event.call().map(|call| call.tool.as_str()),
        "kind": about.kind.name(),
        "paths": about.paths,
        "agent": event.agent(),
        "host": event.host,
    })
}

/// The event as the protocol spells it; what the host did not tell is null.
fn event_json(event: &Event) -> Value {
    let call = event.call().map(|call| {
        let args = if call.broken.is_some() { "args_text" } else { "args" };
        json!({ "id": call.id, "tool": call.tool, args: call.args, "action": call.action })
    });
    json!({
        "event": event.body.name(),
        "session": event.session,
        "at": event.at.to_string(),
        "agent": event.agent,
        "host": event.host,
        "cwd": event.cwd,
        "call": call,
    })
}
