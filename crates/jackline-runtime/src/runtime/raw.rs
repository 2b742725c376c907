//! The JSON form of an event that was built in code: what the log keeps of it.

use jackline_core::event::{Body, Call, Continued, Event, OutputSchema};
use serde_json::{Map, Value, json};

/// The JSON form of an event that was built in code.
pub(super) fn raw(event: &Event) -> Value {
    let mut value = match &event.body {
        Body::SessionStarted { invariants } => json!({ "invariants": invariants }),
        Body::CallRequested(call) | Body::CallSettled(call) => object([("call", raw_call(call))]),
        Body::CallFinished(call, outcome) => object([
            ("call", raw_call(call)),
            ("ok", outcome.ok.into()),
            ("background", outcome.background.into()),
            ("output", outcome.output.clone()),
            (
                "usage",
                json!({ "input_tokens": outcome.usage.tokens, "output_tokens": 0, "cost_usd": outcome.usage.cost_usd }),
            ),
        ]),
        Body::OutputProduced(output) => {
            let schema = match &output.schema {
                OutputSchema::Named(name) => json!(name),
                OutputSchema::Given(schema) => schema.clone(),
            };
            json!({ "schema": schema, "text": output.text, "final": output.last })
        }
        Body::Snapshot { name } | Body::Restore { name } => json!({ "name": name }),
        Body::ExceptionGranted(exception) | Body::ExceptionRevoked(exception) => json!({ "exception": exception }),
        Body::OverrideSet(settings) => json!({ "override": settings.to_value() }),
        Body::Extended(extension) => json!({ "extension": extension }),
        Body::Rerooted { root } => json!({ "root": root }),
        Body::SettingsChanged { file, wired } => json!({ "file": file, "wired": wired }),
        Body::Noted { name } => json!({ "name": name }),
        Body::ToolsListed(listing) => listing.to_value(),
        Body::Operation { operation, given } => json!({ operation.key(): given }),
        Body::StopRequested(ask) => {
            json!({ "message": ask.message, "output": ask.output, "reason": ask.reason, "again": ask.again })
        }
        Body::Park { reason } => json!({ "reason": reason }),
        Body::PoliciesChecked { base } => json!({ "base": base }),
        Body::PoliciesCleared => json!({}),
        Body::PromptSubmitted { .. } | Body::AgentStarted | Body::SessionEnded | Body::Resumed | Body::Reset => {
            json!({})
        }
    };
    if let Value::Object(fields) = &mut value {
        fields.extend(event.cwd.as_ref().map(|cwd| ("cwd".to_owned(), json!(cwd))));
        fields.extend(event.transcript.as_ref().map(|file| ("transcript".to_owned(), json!(file))));
    }
    value
}

fn raw_call(call: &Call) -> Value {
    let args = if call.broken.is_some() { "args_text" } else { "args" };
    let mut raw = object([
        ("id", call.id.clone().into()),
        ("tool", call.tool.clone().into()),
        (args, call.args.clone()),
        ("action", call.action.clone().into()),
    ]);
    if let Value::Object(fields) = &mut raw {
        fields.extend(call.unlisted.then(|| ("unlisted".to_owned(), json!(true))));
        fields.extend(call.own_id.then(|| ("own_id".to_owned(), json!(true))));
        fields.extend((!call.dirs.is_empty()).then(|| ("dirs".to_owned(), json!(call.dirs))));
        fields.extend(call.continued.as_ref().map(|continued| ("continued".to_owned(), raw_continued(continued))));
    }
    raw
}

fn raw_continued(continued: &Continued) -> Value {
    object([
        ("asked", continued.asked.clone()),
        ("given", continued.given.clone()),
        ("known", continued.known.into()),
        ("agreed", continued.agreed.into()),
    ])
}

/// An object of these members, which are moved: `json!` would write each value anew.
fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    let mut object = Map::new();
    members.into_iter().for_each(|(key, value)| drop(object.insert(key.to_owned(), value)));
    Value::Object(object)
}
