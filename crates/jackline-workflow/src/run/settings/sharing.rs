//! Who sees what of whom (R16).

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Map, Value, json};

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
    /// The field that many answers become together, by the node's name.
    gathered: BTreeMap<String, String>,
    /// The agents that answer for a node, by its name.
    agents: BTreeMap<String, BTreeSet<String>>,
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
        let gathered = nodes.iter().filter_map(|node| Some((node.id.clone(), node.fan_out.as_ref()?.gathered()?)));
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
            gathered: gathered.map(|(id, field)| (id, field.to_owned())).collect(),
            agents: nodes.iter().map(|node| (node.id.clone(), node.agents().map(str::to_owned).collect())).collect(),
        }
    }

    /// What one agent sees of a field of another. What many answers became shows of each of them what is shared of it.
    pub(crate) fn seen(&self, (from, field): (&str, &str), value: &Value, to: &str) -> Option<Value> {
        if self.shows(from, field, to) {
            return Some(value.clone());
        }
        let inside = self.gathers(from, field) && !self.keeps_back(from, field);
        inside.then(|| within(value, &|member| self.shows(from, member, to))).flatten()
    }

    /// Whether a field of a node is what many answers became.
    pub(crate) fn gathers(&self, from: &str, field: &str) -> bool {
        self.gathered.get(from).is_some_and(|gathered| gathered == field)
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
        let owner = |of: &str| [from, EVERYTHING].contains(&of) || self.answers_for(of, from);
        let named = |path: &String| path.rsplit_once('.').is_some_and(|(of, name)| owner(of) && name == field);
        let never = self.never.contains(field) || self.never.iter().any(named);
        never || self.unshared.get(from).is_some_and(|list| list.contains(field))
    }

    /// Whether an agent is one that answers for a node.
    fn answers_for(&self, agent: &str, node: &str) -> bool {
        self.agents.get(node).is_some_and(|agents| agents.contains(agent))
    }

    fn names(&self, from: &str, field: &str, to: &str) -> bool {
        let output = |list: &BTreeSet<String>| list.contains(field) || list.contains(EVERYTHING);
        let meant = |named: &str, meant: &str| named == meant || named == EVERYTHING;
        // A name of a node means that node and no other, whose agent may be called so.
        let who = |named: &str, node: &str| {
            meant(named, node) || !self.agents.contains_key(named) && self.answers_for(named, node)
        };
        self.outputs.get(from).is_some_and(output)
            || self.rules.iter().any(|rule| {
                who(&rule.from, from)
                    && rule.to.iter().any(|name| who(name, to))
                    && rule.fields.iter().any(|name| meant(name, field))
            })
    }
}

/// What is left of gathered answers, one or a list of them, when only some of their members are shown; none when nothing is.
pub(crate) fn within(gathered: &Value, shows: &dyn Fn(&str) -> bool) -> Option<Value> {
    let one = |answer: &Value| {
        let members = answer.as_object().into_iter().flatten().filter(|(name, _)| shows(name));
        members.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>()
    };
    match gathered {
        Value::Array(answers) => {
            let shown: Vec<Map<_, _>> = answers.iter().map(one).collect();
            shown.iter().any(|answer| !answer.is_empty()).then(|| json!(shown))
        }
        answer => Some(one(answer)).filter(|shown| !shown.is_empty()).map(Value::Object),
    }
}

fn names(value: &Value) -> Vec<String> {
    let one = value.as_str();
    let many = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    one.into_iter().chain(many).map(str::to_owned).collect()
}
