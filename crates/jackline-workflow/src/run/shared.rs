//! The state that agents share: what was there at the start, what each of them said, what they wrote, what went wrong, and
//! the messages under way. What one agent sees of it follows the strategy of sharing (R16).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::answer::Answer;
use super::mail::Letter;
use super::settings::{Sharing, Strategy};
use crate::rules::RESERVED_KEYS;

/// The state of a run.
#[derive(Debug, Default)]
pub(super) struct Shared {
    start: Map<String, Value>,
    /// What each agent said last.
    said: BTreeMap<String, Map<String, Value>>,
    /// Fields of these that whoever stood in for an agent keeps back.
    kept_back: BTreeMap<String, BTreeSet<String>>,
    /// Members that agents wrote, and who wrote each last.
    written: BTreeMap<String, Written>,
    /// Why agents failed.
    errors: BTreeMap<String, String>,
    letters: Vec<Letter>,
    /// About how many bytes all of it has.
    bytes: u64,
}

/// A member that an agent wrote.
#[derive(Debug)]
struct Written {
    by: String,
    value: Value,
    /// Whether whoever stood in for that agent keeps it back.
    kept_back: bool,
}

impl Shared {
    pub(super) fn new(start: Map<String, Value>) -> Self {
        let bytes = bytes(&Value::Object(start.clone()));
        Self { start, bytes, ..Self::default() }
    }

    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// An answer becomes part of the state: what is said under a name, if it has one there.
    pub(super) fn land(&mut self, agent: &str, state: Option<&str>, answer: &Answer, letters: Vec<Letter>) {
        for (key, value) in &answer.updates {
            let kept_back = answer.kept_back.contains(key);
            let written = Written { by: agent.to_owned(), value: value.clone(), kept_back };
            let before = self.written.insert(key.clone(), written);
            self.grow(before.as_ref().map(|before| &before.value), value);
        }
        if let Some(name) = state {
            let before = self.said.insert(name.to_owned(), answer.said.clone()).map(Value::Object);
            self.grow(before.as_ref(), &Value::Object(answer.said.clone()));
            self.kept_back.insert(name.to_owned(), answer.kept_back.clone());
            self.errors.remove(name);
        }
        self.letters.extend(letters);
    }

    fn grow(&mut self, before: Option<&Value>, after: &Value) {
        self.bytes = (self.bytes + bytes(after)).saturating_sub(before.map_or(0, bytes));
    }

    pub(super) fn failed(&mut self, name: &str, reason: &str) {
        self.errors.insert(name.to_owned(), reason.to_owned());
    }

    /// All of it: what conditions are asked about.
    pub(super) fn whole(&self) -> Value {
        let said = self.said.iter().map(|(name, said)| (name.clone(), Value::Object(said.clone())));
        let written = self.written.iter().map(|(key, written)| (key.clone(), written.value.clone()));
        let mut all = self.start.clone();
        all.extend(written);
        all.extend(said);
        Value::Object(all)
    }

    /// What one agent said last, as far as another sees it.
    pub(super) fn fields(&self, sharing: &Sharing, from: &str, to: &str) -> Option<Value> {
        let kept_back = self.kept_back.get(from).filter(|_| from != to);
        let said = self.said.get(from)?.iter().filter(|(field, _)| !kept_back.is_some_and(|own| own.contains(*field)));
        let shown: Map<String, Value> =
            said.filter_map(|(field, value)| Some((field.clone(), sharing.seen((from, field), value, to)?))).collect();
        (!shown.is_empty() || sharing.strategy == Strategy::Full).then_some(Value::Object(shown))
    }

    /// The state as an agent sees it.
    pub(super) fn view(&self, sharing: &Sharing, to: &str, workflow: Value) -> Value {
        let mut view = self.start.clone();
        for (key, Written { by, value, .. }) in self.written.iter().filter(|(_, one)| !one.kept_back || one.by == to) {
            if let Some(seen) = sharing.seen((by, key), value, to) {
                view.insert(key.clone(), seen);
            }
        }
        for from in self.said.keys() {
            if let Some(fields) = self.fields(sharing, from, to) {
                view.insert(from.clone(), fields);
            }
        }
        view.retain(|key, _| !RESERVED_KEYS.contains(&key.as_str()));
        view.insert("_workflow".to_owned(), workflow);
        // A reason quotes what an agent printed: where not everything is shared, it is nobody else's.
        let seen = |name: &str| sharing.strategy == Strategy::Full || name == to;
        let errors: BTreeMap<&String, &String> = self.errors.iter().filter(|(name, _)| seen(name)).collect();
        view.insert("_errors".to_owned(), json!(errors));
        Value::Object(view)
    }

    /// Messages that an agent was sent.
    pub(super) fn letters(&self, to: &str) -> Vec<Value> {
        self.letters.iter().filter(|letter| letter.to.iter().any(|name| name == to)).map(Letter::shown).collect()
    }
}

fn bytes(value: &Value) -> u64 {
    value.to_string().len() as u64
}
