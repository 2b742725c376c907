//! Codex's `config.toml`: what it says of hooks, and where the tables stand that keep trust in them.
//!
//! Read as Codex reads it, edited as a text: every byte that is not ours stays.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::{Map, Value, json};
use toml_edit::{Document, Item, TableLike};

use crate::wiring::{SETTINGS_BYTES_MAX, SettingsFault};

/// What is trusted, by key.
pub(super) type States = BTreeMap<String, Value>;

/// A `config.toml`.
#[derive(Debug)]
pub(super) struct Config<'a> {
    text: &'a str,
    document: Document<&'a str>,
    /// The whole of it.
    value: Value,
}

impl<'a> Config<'a> {
    pub(super) fn read(text: &'a str) -> Result<Self, SettingsFault> {
        if text.len() > SETTINGS_BYTES_MAX {
            return Err(SettingsFault::TooLarge { bytes: text.len(), most: SETTINGS_BYTES_MAX });
        }
        let document = Document::parse(text).map_err(|fault| {
            let before = fault.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let what = fault.message().lines().next().unwrap_or_default().to_owned();
            SettingsFault::NotToml { line: before.matches('\n').count() + 1, what }
        })?;
        let value = table(document.as_table());
        Ok(Self { text, document, value })
    }

    /// The setting that switches hooks off as a whole, by either of its names.
    pub(super) fn off(&self) -> Option<&'static str> {
        let features = self.value.get("features")?;
        let is_off = |name: &&str| features.get(*name).is_some_and(|on| *on != Value::Bool(true));
        let named = ["hooks", "codex_hooks"].into_iter().find(is_off)?;
        Some(if named == "hooks" { "features.hooks" } else { "features.codex_hooks" })
    }

    /// Whether programs get a terminal.
    pub(super) fn has_terminal(&self) -> bool {
        self.value.pointer("/features/unified_exec_tty") != Some(&Value::Bool(false))
    }

    /// How far a project is trusted.
    pub(super) fn trust_level(&self, project: &str) -> Option<String> {
        let level = self.value.get("projects")?.get(project)?.get("trust_level")?;
        level.as_str().map(str::to_owned)
    }

    /// All that is trusted.
    pub(super) fn states(&self) -> States {
        let states = self.value.pointer("/hooks/state").and_then(Value::as_object);
        states.into_iter().flatten().map(|(key, state)| (key.clone(), state.clone())).collect()
    }

    /// Everything but what is trusted.
    pub(super) fn rest(&self) -> Value {
        let mut rest = self.value.clone();
        if let Some(hooks) = rest.get_mut("hooks").and_then(Value::as_object_mut) {
            hooks.remove("state");
        }
        if rest.get("hooks").and_then(Value::as_object).is_some_and(Map::is_empty) {
            rest.as_object_mut().map(|rest| rest.remove("hooks"));
        }
        rest
    }

    /// The line break that its lines end with.
    pub(super) fn line_end(&self) -> &'static str {
        if self.text.contains("\r\n") { "\r\n" } else { "\n" }
    }

    /// Where the key of something trusted stands, quotes included.
    pub(super) fn key_span(&self, key: &str) -> Option<Range<usize>> {
        let (key, state) = self.states_table()?.get_key_value(key)?;
        // A dotted key is written once for each member.
        let dotted = state.as_table().is_some_and(|table| table.is_dotted() || table.is_implicit());
        key.span().filter(|_| !dotted)
    }

    /// The lines of the table in which something trusted stands by itself.
    pub(super) fn block(&self, key: &str) -> Option<Range<usize>> {
        let table = self.states_table()?.get(key)?.as_table()?;
        let header = table.span().filter(|_| !table.is_implicit() && !table.is_dotted())?;
        let ends = table.iter().filter_map(|(_, item)| item.span()).map(|span| span.end);
        let end = ends.max().unwrap_or_default().max(header.end);
        let start = self.text.get(..header.start)?.rfind('\n').map_or(0, |at| at + 1);
        let rest = self.text.get(end..)?;
        Some(start..end + rest.find('\n').map_or(rest.len(), |at| at + 1))
    }

    fn states_table(&self) -> Option<&dyn TableLike> {
        self.document.as_table().get("hooks")?.as_table_like()?.get("state")?.as_table_like()
    }
}

/// A table as a value. How deep it goes is the reader's to bound.
fn table(table: &dyn TableLike) -> Value {
    table.iter().map(|(key, item)| (key.to_owned(), value(item))).collect()
}

fn value(item: &Item) -> Value {
    use toml_edit::Value as Toml;
    match item {
        Item::None => Value::Null,
        Item::Table(inner) => table(inner),
        Item::ArrayOfTables(tables) => tables.iter().map(|inner| table(inner)).collect(),
        Item::Value(Toml::InlineTable(inner)) => table(inner),
        Item::Value(Toml::Array(items)) => items.iter().map(|inner| value(&Item::Value(inner.clone()))).collect(),
        Item::Value(Toml::String(text)) => json!(text.value()),
        Item::Value(Toml::Integer(number)) => json!(number.value()),
        Item::Value(Toml::Float(number)) => json!(number.value().to_string()),
        Item::Value(Toml::Boolean(yes)) => json!(yes.value()),
        Item::Value(Toml::Datetime(time)) => json!(time.value().to_string()),
    }
}

/// A header of a table of its own.
pub(super) fn header(key: &str) -> String {
    format!("[hooks.state.{}]", quoted(key))
}

/// A key in quotes. What is no plain character stands as its number, which TOML wants of control characters.
pub(super) fn quoted(key: &str) -> String {
    let mut text = String::from("\"");
    for c in key.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            c if c.is_control() => text.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => text.push(c),
        }
    }
    text.push('"');
    text
}
