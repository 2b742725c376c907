//! A case as it is written.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

#[derive(Debug, Default)]
pub(crate) struct Case {
    pub(crate) note: String,
    pub(crate) definition: Value,
    pub(crate) workspace: BTreeMap<String, String>,
    pub(crate) dirs: Vec<String>,
    pub(crate) links: BTreeMap<String, String>,
    pub(crate) home: BTreeMap<String, String>,
    pub(crate) steps: Vec<Step>,
    pub(crate) after: BTreeMap<String, String>,
    pub(crate) definition_error: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Step {
    pub(crate) restart: bool,
    pub(crate) fs: Value,
    pub(crate) event: Option<Value>,
    pub(crate) raw: Option<String>,
    pub(crate) want: Value,
    /// Parts of the decision that later texts name, by where they are.
    pub(crate) keep: BTreeMap<String, String>,
}

/// The cases of a file; those that are a ready-made log are another test's.
pub(crate) fn read(path: &Path) -> Vec<Case> {
    let text = fs::read_to_string(path).expect("readable");
    let file: Value = serde_saphyr::from_str(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    let cases = file["cases"].as_array().expect("a list of cases");
    cases.iter().filter(|case| case.get("log").is_none()).map(case).collect()
}

fn case(value: &Value) -> Case {
    const KEYS: &[&str] =
        &["note", "definition", "workspace", "dirs", "links", "home", "steps", "texts", "after", "definition_error"];
    known_keys(value, KEYS);
    Case {
        note: value["note"].as_str().expect("a note").to_owned(),
        definition: value["definition"].clone(),
        workspace: texts(&value["workspace"]),
        dirs: value["dirs"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect(),
        links: texts(&value["links"]),
        home: texts(&value["home"]),
        steps: value["steps"].as_array().into_iter().flatten().map(step).chain(shell_texts(&value["texts"])).collect(),
        after: texts(&value["after"]),
        definition_error: value["definition_error"] == Value::Bool(true),
    }
}

/// Tables of shell texts that all lead to the same: each text is a call of the tool `run`, in a session of its own.
fn shell_texts(tables: &Value) -> Vec<Step> {
    let mut steps = Vec::new();
    for table in tables.as_array().into_iter().flatten() {
        known_keys(table, &["want", "run"]);
        for text in table["run"].as_array().expect("a list of texts") {
            let event = json!({
                "event": "call.requested", "session": format!("t{}", steps.len()), "at": "2026-03-01T09:00:00Z",
                "call": { "id": "c1", "tool": "run", "args": { "command": text.as_str().expect("a text") } },
            });
            steps.push(Step { event: Some(event), want: table["want"].clone(), ..Step::default() });
        }
    }
    steps
}

fn step(value: &Value) -> Step {
    known_keys(value, &["restart", "fs", "event", "raw", "want", "keep"]);
    Step {
        restart: value["restart"] == Value::Bool(true),
        fs: value["fs"].clone(),
        event: value.get("event").cloned(),
        raw: value["raw"].as_str().map(str::to_owned),
        want: value["want"].clone(),
        keep: texts(&value["keep"]),
    }
}

/// A misspelled key would be a check that is skipped in silence.
fn known_keys(value: &Value, known: &[&str]) {
    for key in value.as_object().expect("a map").keys() {
        assert!(known.contains(&key.as_str()), "unknown key `{key}` in a case");
    }
}

pub(crate) fn texts(value: &Value) -> BTreeMap<String, String> {
    let entries = value.as_object().into_iter().flatten();
    entries.map(|(key, text)| (key.clone(), text.as_str().expect("a text").to_owned())).collect()
}
