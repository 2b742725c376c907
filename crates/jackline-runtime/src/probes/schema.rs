//! Holds a part of an event against a schema: one of the definition's, a file, one of ours, or the event's own.
//!
//! A schema is compiled when it is first asked for, and kept; a file is read each time, because it may have changed.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use jackline_core::definition::model::SchemaSource;
use jackline_core::event::{Body, Event, OutputSchema};
use jackline_core::probe::Fact;
use jackline_core::schema::{BUILT_IN, Checked, Schema, Target};
use jackline_core::sha::Digest;
use jackline_core::stack::Stack;
use serde_json::Value;

use crate::schemas::{Compiled, Formats, compile_unless, read};
use crate::worker::Left;

/// Compiled schemas kept; a host that gives another one with every event must not fill the memory.
const COMPILED_MAX: usize = 64;

/// The schemas written into definitions, by the digest that probes name them by.
pub type Inline = BTreeMap<Digest, String>;

/// Every schema that is written into a definition of the stack.
#[must_use]
pub fn inline(stack: &Stack) -> Inline {
    let declared = stack.layers.iter().flat_map(|layer| layer.model.tools.declare.values());
    let sources = declared.flat_map(|tool| tool.schema.iter().chain(&tool.output_schema));
    sources
        .filter_map(|source| match source {
            SchemaSource::Inline(text) => Some((SchemaSource::digest(text), text.clone())),
            SchemaSource::File(_) => None,
        })
        .collect()
}

/// What is compiled already, by the digest of its text; or what took too long to be.
#[derive(Debug, Default)]
pub(super) struct Shelf(Mutex<BTreeMap<(Digest, Formats), Result<Compiled, Left>>>);

impl Shelf {
    pub(super) fn answer(&self, inline: &Inline, schema: &Schema, target: Target, event: &Event) -> Fact {
        let Some(value) = part(event, target) else { return unknown("the event has no such part") };
        let text = match text(inline, schema, event) {
            Ok(text) => text,
            Err(why) => return unknown(&format!("because its schema cannot be read: {why}")),
        };
        let compiled = match self.compiled(&text, Formats::Held) {
            Ok(compiled) => compiled,
            Err(why) => return unknown(&format!("because its schema cannot be used: {why}")),
        };
        compiled.check(value).map_or_else(|why| unknown(&why), Fact::Schema)
    }

    /// The same for a schema that a server offers. One that cannot be used says nothing against a value: the server
    /// holds its arguments against it itself. But it is told, and counts as none.
    pub(super) fn answer_offered(&self, text: &str, target: Target, event: &Event) -> Fact {
        let Some(value) = part(event, target) else { return unknown("the event has no such part") };
        match self.compiled(text.as_bytes(), Formats::Noted) {
            Ok(compiled) => compiled.check(value).map_or_else(|why| unknown(&why), Fact::Schema),
            Err(why) => Fact::Schema(Checked::unusable(Digest::of(text.as_bytes()), &why)),
        }
    }

    fn compiled(&self, text: &[u8], formats: Formats) -> Result<Compiled, String> {
        let key = (Digest::of(text), formats);
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        let left = match known {
            Some(Ok(known)) => return Ok(known),
            Some(Err(left)) => left,
            None => Left::default(),
        };
        let compiled = compile_unless(&left, text, formats);
        if compiled.is_ok() || left.goes_on() {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.len() >= COMPILED_MAX {
                kept.pop_first();
            }
            kept.insert(key, compiled.clone().map_err(|_| left));
        }
        compiled.map_err(|fault| fault.message)
    }
}

fn unknown(why: &str) -> Fact {
    Fact::Unknown(why.to_owned())
}

fn part(event: &Event, target: Target) -> Option<&Value> {
    match (target, &event.body) {
        (Target::Args, Body::CallRequested(call) | Body::CallFinished(call, _) | Body::CallSettled(call)) => {
            Some(&call.args)
        }
        (Target::Output, Body::CallFinished(_, outcome)) => Some(&outcome.output),
        (Target::Text, Body::OutputProduced(output)) => output.value.as_ref().ok(),
        _ => None,
    }
}

fn text(inline: &Inline, schema: &Schema, event: &Event) -> Result<Vec<u8>, String> {
    match (schema, &event.body) {
        (Schema::Inline(digest), _) => {
            inline.get(digest).map(|text| text.clone().into_bytes()).ok_or_else(|| "no definition has it".to_owned())
        }
        (Schema::File(path), _) => read(Path::new(path)),
        (Schema::BuiltIn(name), _) => {
            let known = BUILT_IN.iter().find(|(known, _)| known == name);
            known.map(|(_, text)| text.as_bytes().to_vec()).ok_or_else(|| "it is none of ours".to_owned())
        }
        (Schema::Given(_), Body::OutputProduced(output)) => match &output.schema {
            OutputSchema::Given(given) => Ok(given.to_string().into_bytes()),
            OutputSchema::Named(_) => Err("the event has none".to_owned()),
        },
        (Schema::Given(_), _) => Err("the event has none".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jackline_core::event::Call;
    use jackline_core::time::Timestamp;
    use serde_json::json;

    #[test]
    fn an_owners_format_is_held_and_a_servers_only_tells() {
        let schema = r#"{"properties":{"at":{"type":"string","format":"date-time"}}}"#;
        let call = Call::new("plan", json!({ "at": "2026-11-16" }));
        let event = Event::new("s", Timestamp(0), Body::CallRequested(call));
        let (shelf, digest) = (Shelf::default(), SchemaSource::digest(schema));
        let inline = Inline::from_iter([(digest, schema.to_owned())]);
        let errors = |fact: Fact| match fact {
            Fact::Schema(checked) => checked.errors.len(),
            other => panic!("{other:?}"),
        };
        assert_eq!(errors(shelf.answer_offered(schema, Target::Args, &event)), 0);
        assert_eq!(errors(shelf.answer(&inline, &Schema::Inline(digest), Target::Args, &event)), 1);
    }
}
