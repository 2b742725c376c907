//! Who sees what of whom (R16).

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use super::{AgentSettings, Engine, Node, part};

/// Stands for every agent, and for every field.
const EVERYTHING: &str = "*";

/// What others see of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Strategy {
    /// Everything that is not kept back.
    #[default]
    Full,
    /// What `share_output` and the rules name.
    Selective,
    /// Nothing.
    Isolated,
}

/// Who sees what.
#[derive(Debug, Default)]
pub(crate) struct Sharing {
    pub(crate) strategy: Strategy,
    /// Fields that an agent shows everybody, by its name.
    outputs: BTreeMap<String, BTreeSet<String>>,
    rules: Vec<Rule>,
    never: BTreeSet<String>,
    /// Fields that contracts keep back, by the node's name.
    unshared: BTreeMap<String, BTreeSet<String>>,
}

#[derive(Debug)]
struct Rule {
    from: String,
    to: Vec<String>,
    fields: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Written {
    strategy: Option<String>,
    rules: Vec<WrittenRule>,
    never_share: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WrittenRule {
    #[serde(alias = "from_agent")]
    from: String,
    #[serde(alias = "to_agents")]
    to: Value,
    fields: Vec<String>,
}

impl Sharing {
    pub(super) fn read(
        root: &Value,
        engine: &Engine,
        agents: &BTreeMap<String, AgentSettings>,
        out: &mut Vec<String>,
    ) -> Self {
        let written: Written = part(root, "/state/sharing", out);
        let nodes: &[Node] = match engine {
            Engine::Graph(nodes) => nodes,
            Engine::Delegation(delegation) => &delegation.nodes,
        };
        let unshared = nodes.iter().map(|node| (&node.id, &node.agent)).chain(agents.keys().map(|name| (name, name)));
        let unshared = unshared.filter_map(|(id, agent)| Some((id.clone(), agents.get(agent)?.unshared.clone())));
        let outputs = nodes.iter().map(|node| (node.id.clone(), node.share_output.iter().cloned().collect()));
        let rules =
            written.rules.into_iter().map(|rule| Rule { from: rule.from, to: names(&rule.to), fields: rule.fields });
        Self {
            strategy: match written.strategy.as_deref() {
                Some("isolated") => Strategy::Isolated,
                Some("selective") => Strategy::Selective,
                _ => Strategy::Full,
            },
            outputs: outputs.collect(),
            rules: rules.collect(),
            never: written.never_share.into_iter().collect(),
            unshared: unshared.collect(),
        }
    }

    /// Whether one agent sees a field of another.
    pub(crate) fn shows(&self, from: &str, field: &str, to: &str) -> bool {
        if from == to {
            return true;
        }
        if self.keeps_back(from, field) {
            return false;
        }
        match self.strategy {
            Strategy::Full => true,
            Strategy::Isolated => false,
            Strategy::Selective => self.names(from, field, to),
        }
    }

    /// Whether a field of an agent is nobody else's, under any strategy.
    pub(crate) fn keeps_back(&self, from: &str, field: &str) -> bool {
        let named = |path: &String| path.rsplit_once('.').is_some_and(|(of, name)| of == from && name == field);
        let never = self.never.contains(field) || self.never.iter().any(named);
        never || self.unshared.get(from).is_some_and(|list| list.contains(field))
    }

    fn names(&self, from: &str, field: &str, to: &str) -> bool {
        let output = |list: &BTreeSet<String>| list.contains(field) || list.contains(EVERYTHING);
        let meant = |named: &str, meant: &str| named == meant || named == EVERYTHING;
        self.outputs.get(from).is_some_and(output)
            || self.rules.iter().any(|rule| {
                meant(&rule.from, from)
                    && rule.to.iter().any(|name| meant(name, to))
                    && rule.fields.iter().any(|name| meant(name, field))
            })
    }
}

fn names(value: &Value) -> Vec<String> {
    let one = value.as_str();
    let many = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    one.into_iter().chain(many).map(str::to_owned).collect()
}
