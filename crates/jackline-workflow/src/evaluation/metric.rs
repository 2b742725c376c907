//! One metric, as a workflow writes it: what it looks at, and how much it counts.

use jackline_runtime::Schema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::expression::Expression;

use super::settings::Unusable;

/// Expressions of one metric.
const EXPRESSIONS_MAX: usize = 100;

/// One score.
#[derive(Debug, Clone)]
pub struct Metric {
    pub name: String,
    /// At least 0.
    pub weight: f64,
    pub kind: Kind,
}

/// How a score is found.
#[derive(Debug, Clone)]
pub enum Kind {
    /// The share of these that hold.
    Expressions(Vec<Expression>),
    /// Whether a command ends with 0.
    Test(Vec<String>),
    /// Whether the result fits a schema, or each of these parts of it does.
    Schema { schema: Schema, of: Vec<Expression> },
    /// What is left of the scarcest budget; of these ones, or of all.
    Budget(Vec<String>),
    /// Whether no rule of the workflow was broken in the run.
    Policy,
    /// What a judge says of the result by this rubric.
    Rubric(String),
}

/// As it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Written {
    name: Option<String>,
    id: Option<String>,
    kind: String,
    weight: Option<f64>,
    params: Map<String, Value>,
}

impl Metric {
    /// Reads the metric at a place of the list, from 1.
    pub(super) fn read(number: usize, metric: &Value) -> Result<Self, Unusable> {
        let mut metric = metric.clone();
        if let Some(members) = metric.as_object_mut() {
            members.retain(|_, value| !value.is_null());
        }
        let written: Written =
            serde_json::from_value(metric).map_err(|fault| Unusable::Shape(format!("metric {number}: {fault}")))?;
        let name = written.name.or(written.id).unwrap_or_else(|| format!("metric_{number}"));
        let unusable = |why: String| Unusable::Metric { name: name.clone(), why };
        let weight = written.weight.unwrap_or(1.0);
        if !(weight.is_finite() && weight >= 0.0) {
            return Err(unusable("its `weight` must be a number of at least 0".to_owned()));
        }
        let kind = Kind::read(&written.kind, &written.params).map_err(unusable)?;
        Ok(Self { name, weight, kind })
    }
}

impl Kind {
    fn read(kind: &str, params: &Map<String, Value>) -> Result<Self, String> {
        match kind {
            "deterministic" | "deterministic_test" | "deterministic_assertion" => deterministic(params),
            "schema" => {
                let schema = params.get("schema").ok_or("it has no `params.schema`")?;
                let schema = Schema::new(schema)
                    .map_err(|fault| format!("its `params.schema` cannot be used: {}", fault.message))?;
                let of = params.get("of").map(|of| expressions("of", of)).transpose()?;
                Ok(Self::Schema { schema, of: of.unwrap_or_default() })
            }
            "budget" | "budget_utility" => texts(params.get("of"), "of").map(Self::Budget),
            "policy" | "policy_score" => match params.get("rules") {
                Some(rules) => expressions("rules", rules).map(Self::Expressions),
                None => Ok(Self::Policy),
            },
            "llm_rubric" | "rubric_judge" => rubric(params).map(Self::Rubric),
            other => Err(format!("`{other}` is no kind of metric")),
        }
    }
}

/// Expressions or a command: one of both, so that nothing which is written is passed over.
fn deterministic(params: &Map<String, Value>) -> Result<Kind, String> {
    /// The names that expressions have, and the one of a command.
    const KEYS: [&str; 5] = ["expr", "expression", "assertions", "tests", "command"];
    let mut given = KEYS.iter().filter_map(|key| Some((*key, params.get(*key)?)));
    let (key, value) = given.next().ok_or("it has neither `params.expr` nor `params.command`")?;
    if let Some((other, _)) = given.next() {
        return Err(format!("it has both `params.{key}` and `params.{other}`; make two metrics of it"));
    }
    if key != "command" {
        return expressions(key, value).map(Kind::Expressions);
    }
    match texts(Some(value), key)? {
        words if words.is_empty() => Err("its `params.command` is empty".to_owned()),
        words => Ok(Kind::Test(words)),
    }
}

/// One expression, or a list of at least one.
fn expressions(key: &str, value: &Value) -> Result<Vec<Expression>, String> {
    let texts: Option<Vec<&str>> = match value {
        Value::String(text) => Some(vec![text]),
        Value::Array(items) => items.iter().map(Value::as_str).collect(),
        _ => None,
    };
    let texts = texts.filter(|texts| (1..=EXPRESSIONS_MAX).contains(&texts.len()));
    let texts = texts.ok_or_else(|| format!("its `params.{key}` must be 1 to {EXPRESSIONS_MAX} expressions"))?;
    let read =
        |text: &str| Expression::read(text).map_err(|fault| format!("its expression `{text}` cannot be read: {fault}"));
    texts.into_iter().map(read).collect()
}

fn texts(value: Option<&Value>, key: &str) -> Result<Vec<String>, String> {
    let texts = match value {
        None => Some(Vec::new()),
        Some(Value::String(text)) => Some(vec![text.clone()]),
        Some(Value::Array(items)) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
        Some(_) => None,
    };
    texts.ok_or_else(|| format!("its `params.{key}` must be texts"))
}

/// A rubric: a text, or a list of criteria.
fn rubric(params: &Map<String, Value>) -> Result<String, String> {
    let lines = ["rubric", "criteria", "prompt"].iter().find_map(|key| params.get(*key));
    let lines = texts(lines, "rubric")?;
    if lines.iter().all(|line| line.trim().is_empty()) {
        return Err("it has no `params.rubric`".to_owned());
    }
    Ok(lines.join("\n"))
}
