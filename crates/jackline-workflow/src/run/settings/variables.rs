//! Environment variables of agents: which they get, which a run needs, and what those are that are not set.

use std::collections::BTreeSet;

use jackline_core::definition::yaml::{Node, Value};

use crate::manifest::{Manifest, at, is};

/// Variables that a manifest declares.
#[derive(Debug, Default)]
pub(crate) struct Variables {
    /// Those that agents get.
    pub(crate) names: Vec<String>,
    /// Those of them whose values no record shows.
    pub(crate) secret: Vec<String>,
    /// Those without which nothing runs.
    pub(crate) needed: Vec<String>,
    /// Values of those that are not set.
    pub(crate) defaults: Vec<(String, String)>,
}

impl Variables {
    pub(super) fn read(manifest: Manifest<'_>) -> Self {
        let named = |variable: &Node| {
            let name = variable.text().or_else(|| variable.get("name")?.text());
            name.map(str::to_owned)
        };
        let all = || manifest.variables();
        let listed = sections(manifest).filter_map(|env| env.get("required")).flat_map(Node::items);
        let flagged = all().filter(|variable| is(variable, &["required"], true));
        let defaults = || sections(manifest).filter_map(|env| env.get("defaults")).flat_map(Node::entries);
        // Whoever gives a value for a variable wants agents to have it.
        let names: BTreeSet<String> =
            all().filter_map(named).chain(defaults().map(|entry| entry.key.clone())).collect();
        let own = all().filter_map(|variable| Some((named(variable)?, written(variable.get("default")?)?)));
        let defaults = defaults().filter_map(|entry| Some((entry.key.clone(), written(&entry.value)?))).chain(own);
        Self {
            secret: all().filter(|variable| is(variable, &["sensitive"], true)).filter_map(named).collect(),
            needed: listed.chain(flagged).filter_map(named).collect(),
            defaults: defaults.collect(),
            names: names.into_iter().collect(),
        }
    }

    /// The value that a variable has when it is not set.
    pub(crate) fn default_of(&self, name: &str) -> Option<&str> {
        self.defaults.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Where variables are declared by whether a run needs them.
fn sections(manifest: Manifest<'_>) -> impl Iterator<Item = &Node> {
    [at(manifest.root, &["workflow", "env"]), manifest.root.get("env")].into_iter().flatten()
}

/// A scalar, as a variable holds it.
fn written(value: &Node) -> Option<String> {
    match &value.value {
        Value::Text(text) => Some(text.clone()),
        Value::Int(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}
