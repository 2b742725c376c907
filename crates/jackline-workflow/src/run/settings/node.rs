//! Nodes of the graph: whom each waits for, on what condition it runs, how often, for how many.

use std::time::Duration;

use jackline_core::definition::tree;
use serde::Deserialize;
use serde_json::Value;

use super::execution::seconds;
use super::{Execution, OnFailure, Retry, without_nulls};
use crate::expression::Expression;
use crate::manifest::{GraphNode, Manifest, home};

/// Rounds of a loop when nobody says otherwise: the protocol's own.
const ITERATIONS: u32 = 5;
/// Rounds of a loop whatever is said: a loop that needs more does not come to an end.
const ITERATIONS_MAX: u32 = 1_000;
/// Copies of a fan-out at once when nobody says otherwise: the protocol's own.
const FAN_PARALLEL: usize = 4;
/// Copies at once whatever is said: each is a process, and machines have few processors.
const FAN_PARALLEL_MAX: usize = 256;

/// The field that a list of answers is, when nobody says otherwise.
pub(crate) const GATHERED: &str = "results";

/// A node of the graph.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) id: String,
    /// The name of its agent.
    pub(crate) agent: String,
    pub(crate) enabled: bool,
    pub(crate) waits: Vec<Wait>,
    /// All must hold, or it is skipped.
    pub(crate) conditions: Vec<Expression>,
    pub(crate) timeout: Duration,
    pub(crate) retry: Retry,
    /// Whether the node says itself what its failure leads to.
    pub(crate) own_on_failure: bool,
    pub(crate) on_failure: OnFailure,
    pub(crate) repeat: Option<Repeat>,
    pub(crate) fan_out: Option<FanOut>,
    pub(crate) share_output: Vec<String>,
    pub(crate) share_input: Value,
}

/// Whom a node waits for.
#[derive(Debug)]
pub(crate) struct Wait {
    pub(crate) id: String,
    pub(crate) condition: Condition,
    pub(crate) when: Option<Expression>,
}

/// Which outcome of another node a node waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    Success,
    Failure,
    Always,
}

/// A node that runs more than once.
#[derive(Debug)]
pub(crate) struct Repeat {
    pub(crate) max: u32,
    /// It goes on while this holds.
    pub(crate) go_on: Option<Expression>,
    /// It ends once this holds.
    pub(crate) until: Option<Expression>,
    pub(crate) pause: Duration,
}

/// A node that runs once for each of many.
#[derive(Debug)]
pub(crate) struct FanOut {
    pub(crate) source: Expression,
    /// What an item is called in an agent's inputs.
    pub(crate) variable: String,
    pub(crate) agent: Option<String>,
    pub(crate) parallel: usize,
    pub(crate) aggregation: Aggregation,
    /// The member of the state that the answers become.
    pub(crate) target: Option<String>,
}

/// What many answers become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aggregation {
    /// A list of all.
    Merge,
    /// One object with the members of all, later ones winning.
    Reduce,
    /// The first that is there.
    First,
    /// The one most often given.
    Majority,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Written {
    enabled: Value,
    depends_on: Vec<Value>,
    when: Option<String>,
    timeout: Option<f64>,
    retry: Option<Value>,
    on_failure: Option<String>,
    #[serde(rename = "loop")]
    repeat: Option<WrittenLoop>,
    fan_out: Option<WrittenFan>,
    fan_in: WrittenFanIn,
    share_output: Vec<String>,
    share_input: Value,
    subworkflow: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WrittenLoop {
    enabled: Option<bool>,
    #[serde(rename = "type")]
    kind: Option<String>,
    mode: Option<String>,
    max_iterations: Option<u32>,
    condition: Option<String>,
    until: Option<String>,
    until_condition: Option<String>,
    poll_interval: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WrittenFan {
    enabled: Option<bool>,
    source: Option<String>,
    source_field: Option<String>,
    variable: Option<String>,
    agent_template: Option<String>,
    max_parallel: Option<usize>,
    aggregation: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WrittenFanIn {
    strategy: Option<String>,
    target_field: Option<String>,
}

impl FanOut {
    /// The field that the answers become together, if they become one: without a target, many lie in a list.
    pub(crate) fn gathered(&self) -> Option<&str> {
        let list = (self.aggregation == Aggregation::Merge).then_some(GATHERED);
        self.target.as_deref().or(list)
    }
}

impl Node {
    /// The names of the agents that it runs.
    pub(super) fn agents(&self) -> impl Iterator<Item = &str> {
        let copies = self.fan_out.as_ref().and_then(|fan_out| fan_out.agent.as_deref());
        copies.into_iter().chain([self.agent.as_str()]).take(1)
    }
}

/// The last part of an agent's directory: what it is called in a run.
pub(super) fn agent_name(named: &str) -> String {
    let home = home(named).unwrap_or_default();
    home.rsplit('/').next().unwrap_or_default().to_owned()
}

/// All nodes, in the order they are declared.
pub(super) fn read(manifest: Manifest<'_>, execution: &Execution, out: &mut Vec<String>) -> Vec<Node> {
    let mut nodes = Vec::new();
    for node in manifest.graph() {
        let Some(id) = node.id().and_then(|id| id.text()) else { continue };
        match node_of(node, id, execution) {
            Ok(node) => nodes.push(node),
            Err(why) => out.push(format!("the node `{id}` cannot be run: {why}")),
        }
    }
    nodes
}

fn node_of(node: GraphNode<'_>, id: &str, execution: &Execution) -> Result<Node, String> {
    let mut value = tree(node.node).ok_or("it holds no plain values")?;
    without_nulls(&mut value);
    let written: Written = serde_json::from_value(value).map_err(|why| why.to_string())?;
    if written.subworkflow.is_some() {
        return Err("workflows inside a workflow are not run".to_owned());
    }
    if let Some(kind) = written.kind.as_deref().filter(|kind| *kind != "agent") {
        return Err(format!("nodes of the type `{kind}` are not run"));
    }
    let named = node.node.get("agent").and_then(|named| named.text()).unwrap_or(id);
    let word = written.on_failure.as_deref();
    let retry = Retry::read(written.retry.as_ref(), &execution.retry)?;
    let conditions = [written.enabled.as_str(), written.when.as_deref()].into_iter().flatten();
    Ok(Node {
        id: id.to_owned(),
        agent: agent_name(named),
        enabled: written.enabled != Value::Bool(false),
        waits: written.depends_on.iter().filter_map(wait).collect::<Result<_, _>>()?,
        conditions: conditions.map(expression).collect::<Result<_, _>>()?,
        timeout: written.timeout.map_or(execution.per_agent, seconds),
        retry: if word == Some("retry") { retry.at_least(2) } else { retry },
        own_on_failure: word.is_some_and(|word| word != "retry"),
        on_failure: OnFailure::named(word.unwrap_or_default(), execution.on_failure),
        repeat: written.repeat.map(repeat).transpose()?.flatten(),
        fan_out: written.fan_out.map(|fan_out| fan(fan_out, written.fan_in)).transpose()?.flatten(),
        share_output: written.share_output,
        share_input: written.share_input,
    })
}

fn expression(text: &str) -> Result<Expression, String> {
    Expression::read(text).map_err(|why| format!("the expression `{text}` cannot be read: {why}"))
}

fn wait(value: &Value) -> Option<Result<Wait, String>> {
    let member = |names: [&str; 2]| names.iter().find_map(|name| value.get(*name)?.as_str());
    let id = value.as_str().or_else(|| member(["agent", "id"]))?.to_owned();
    let condition = match value.get("condition").and_then(Value::as_str) {
        None | Some("success") => Condition::Success,
        Some("failure") => Condition::Failure,
        Some("always" | "completed") => Condition::Always,
        Some(other) => return Some(Err(format!("`condition` is `success`, `failure` or `always`, not `{other}`"))),
    };
    let when = member(["when", "expr"]).map(expression).transpose();
    Some(when.map(|when| Wait { id, condition, when }))
}

fn repeat(written: WrittenLoop) -> Result<Option<Repeat>, String> {
    if written.enabled == Some(false) {
        return Ok(None);
    }
    if let Some(kind) = written.kind.or(written.mode).filter(|kind| kind != "standard") {
        return Err(format!("loops of the type `{kind}` are not run"));
    }
    let until = written.until.or(written.until_condition).filter(|text| !text.trim().is_empty());
    Ok(Some(Repeat {
        max: written.max_iterations.unwrap_or(ITERATIONS).clamp(1, ITERATIONS_MAX),
        go_on: written.condition.as_deref().map(expression).transpose()?,
        until: until.as_deref().map(expression).transpose()?,
        pause: written.poll_interval.filter(|pause| *pause > 0.0).map_or(Duration::ZERO, seconds),
    }))
}

fn fan(written: WrittenFan, gathered: WrittenFanIn) -> Result<Option<FanOut>, String> {
    if written.enabled == Some(false) {
        return Ok(None);
    }
    let source = written.source.or(written.source_field).ok_or("`fan_out` has no `source`")?;
    let aggregation = match gathered.strategy.or(written.aggregation).as_deref() {
        None | Some("merge" | "list") => Aggregation::Merge,
        Some("reduce") => Aggregation::Reduce,
        Some("first") => Aggregation::First,
        Some("majority") => Aggregation::Majority,
        Some(other) => {
            return Err(format!(
                "many answers are gathered by `merge`, `reduce`, `first` or `majority`, not `{other}`"
            ));
        }
    };
    Ok(Some(FanOut {
        source: expression(&source)?,
        variable: written.variable.unwrap_or_else(|| "item".to_owned()),
        agent: written.agent_template.as_deref().map(agent_name),
        parallel: written.max_parallel.unwrap_or(FAN_PARALLEL).clamp(1, FAN_PARALLEL_MAX),
        aggregation,
        target: gathered.target_field,
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_more_copies_are_at_work_than_may() {
        for (written, want) in [(json!(null), 4), (json!(0), 1), (json!(7), 7), (json!(5_000), 256)] {
            let fan_out = serde_json::from_value(json!({"source": "state.xs", "max_parallel": written})).unwrap();
            let fan_out = fan(fan_out, WrittenFanIn::default()).unwrap().unwrap();
            assert_eq!(fan_out.parallel, want, "{written}");
        }
    }
}
