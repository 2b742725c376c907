//! R15: channels and the schemas of their messages.

use std::collections::BTreeMap;

use jackline_core::definition::Fault;
use jackline_core::definition::fault::quoted;
use jackline_core::definition::yaml::{Node, Value};

use super::manifest::out_if;
use super::state::stranger;
use super::{MANIFEST, Rule, manifest_part, wrong};
use crate::contract::fault_of;
use crate::finding::{Found, Level};
use crate::load::Workflow;
use crate::manifest::{at, texts};

pub(super) static SCHEMA: Rule = Rule {
    id: "R15",
    level: Level::Error,
    category: "Communication",
    summary: "A channel's schema is a JSON Schema",
    text: "Where a channel has a `schema`, a runtime holds messages against it before they are delivered, and refuses what does \
not fit. So it must be a valid JSON Schema, and nothing that it refers to is fetched.

Two channels of one name, and senders or receivers that nobody knows, are warnings.",
    good: manifest_part("communication:\n  channels:\n    - name: results\n      schema:\n        type: object\n        required: [topic]\n        properties:\n          topic: {type: string}\n"),
    bad: manifest_part("communication:\n  channels:\n    - name: results\n      schema:\n        type: objekt        # no type of JSON\n"),
    check,
};

fn check(flow: &Workflow, out: &mut Found) {
    let Some(manifest) = flow.manifest() else { return };
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    for channel in manifest.channels() {
        if let Some(schema) = channel.get("schema") {
            out_if(out, MANIFEST, no_schema(schema));
        }
        if let Some((name, node)) = channel.get("name").and_then(|node| Some((node.text()?, node))) {
            if let Some(line) = seen.get(name) {
                let fault = Fault::warning(format!("duplicate channel {}", quoted(name))).at(node.span);
                out.put(MANIFEST, fault.help(format!("it was given before, on line {line}")));
            } else {
                seen.insert(name, node.span.line);
            }
        }
        for (name, span) in participants(channel) {
            let stranger = stranger(flow, name, span, out).map(|fault| Fault { warning: true, ..fault });
            out_if(out, MANIFEST, stranger);
        }
    }
}

fn participants(channel: &Node) -> impl Iterator<Item = (&str, jackline_core::definition::Span)> {
    let places = ["participants", "acl"]
        .into_iter()
        .flat_map(|section| ["publishers", "subscribers"].map(|side| [section, side]));
    places.flat_map(|keys| texts(at(channel, &keys)))
}

fn no_schema(schema: &Node) -> Option<Fault> {
    match schema.value {
        Value::Map(_) => fault_of(schema),
        Value::Bool(_) | Value::Null | Value::Broken => None,
        _ => wrong("schema", "a JSON Schema", schema),
    }
}
