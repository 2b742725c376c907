//! How a run is scored, and what scores lead to: `observability.evaluation`.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::Metric;
use crate::gates::{Thresholds, reaches};
use crate::judge::seconds;
use crate::respondent::{Respondent, Unnamed};

/// Metrics of one workflow.
const METRICS_MAX: usize = 100;
/// Repairs, where nothing else is said.
const REPAIRS: u32 = 2;
/// Seconds for one rubric or test, where nothing else is said.
const TIMEOUT_S: f64 = 120.0;

/// How a run is scored.
#[derive(Debug, Clone)]
pub struct Settings {
    pub metrics: Vec<Metric>,
    pub thresholds: Thresholds,
    /// When steps are scored.
    pub hooks: Vec<Hook>,
    pub retry: RetryPolicy,
    /// Who judges by rubrics.
    pub judge: Option<Respondent>,
    pub timeout: Duration,
}

/// When something is scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hook {
    WorkerResult,
    /// Never: tools are not made while a workflow runs.
    GeneratedTool,
    FinalAnswer,
}

impl Hook {
    /// Its name in events.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::WorkerResult => "worker_result",
            Self::GeneratedTool => "generated_tool",
            Self::FinalAnswer => "final_answer",
        }
    }
}

/// What a score leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    Accept,
    AcceptWithWarning,
    RetryWithRepair,
    FailWorkflow,
}

impl Act {
    /// Its name in events.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::AcceptWithWarning => "accept_with_warning",
            Self::RetryWithRepair => "retry_with_repair",
            Self::FailWorkflow => "fail_workflow",
        }
    }
}

/// What low scores lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    pub enabled: bool,
    pub max_repairs: u32,
    pub below_retry: Act,
    pub below_fail: Act,
}

/// As it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Written {
    enabled: bool,
    metrics: Vec<Value>,
    thresholds: Thresholds,
    step_scores: Steps,
    retry_policy: Retry,
    rubric_judge: Value,
}

#[derive(Debug, Deserialize)]
#[serde(default)]
struct Steps {
    enabled: bool,
    hooks: Vec<Hook>,
}

impl Default for Steps {
    fn default() -> Self {
        Self { enabled: true, hooks: vec![Hook::WorkerResult, Hook::FinalAnswer] }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Retry {
    enabled: bool,
    max_repairs: Option<u32>,
    actions: Actions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Actions {
    below_retry: Option<Act>,
    below_fail: Option<Act>,
}

/// Why nothing could be scored by what is written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    #[error(transparent)]
    Unnamed(#[from] Unnamed),
    #[error("`evaluation` cannot be read: {0}")]
    Shape(String),
    #[error("the metric `{name}` cannot be used: {why}")]
    Metric { name: String, why: String },
    #[error("there are more than {METRICS_MAX} metrics")]
    TooMany,
    #[error("`rubric_judge.timeout` must be a number of seconds above 0 and up to an hour")]
    Timeout,
}

impl Settings {
    /// Reads `observability.evaluation`; none when it is not enabled.
    ///
    /// # Errors
    /// When it is enabled and cannot be used.
    pub fn read(section: &Value) -> Result<Option<Self>, Unusable> {
        let mut section = section.clone();
        if let Some(members) = section.as_object_mut() {
            members.retain(|_, value| !value.is_null());
        }
        let written: Written = serde_json::from_value(section).map_err(|fault| Unusable::Shape(fault.to_string()))?;
        if !written.enabled {
            return Ok(None);
        }
        if written.metrics.len() > METRICS_MAX {
            return Err(Unusable::TooMany);
        }
        let metrics = written.metrics.iter().enumerate().map(|(at, metric)| Metric::read(at + 1, metric));
        let Retry { enabled, max_repairs, actions } = written.retry_policy;
        let judge = &written.rubric_judge;
        let timeout = judge.get("timeout").and_then(Value::as_f64).unwrap_or(TIMEOUT_S);
        Ok(Some(Self {
            metrics: metrics.collect::<Result<_, _>>()?,
            thresholds: written.thresholds,
            hooks: if written.step_scores.enabled { written.step_scores.hooks } else { Vec::new() },
            retry: RetryPolicy {
                enabled,
                max_repairs: max_repairs.unwrap_or(REPAIRS),
                below_retry: actions.below_retry.unwrap_or(Act::RetryWithRepair),
                below_fail: actions.below_fail.unwrap_or(Act::FailWorkflow),
            },
            judge: named(judge)?,
            timeout: seconds(timeout).ok_or(Unusable::Timeout)?,
        }))
    }

    /// Whether something is scored at a hook.
    #[must_use]
    pub fn scores_at(&self, hook: Hook) -> bool {
        self.hooks.contains(&hook)
    }

    /// What the score of a step leads to after so many repairs of it. Without a policy a low score is only told.
    #[must_use]
    pub fn act(&self, score: Option<f64>, repairs: u32) -> Act {
        let Thresholds { accept, retry, fail } = self.thresholds;
        let low = match score {
            Some(score) if reaches(score, accept) => return Act::Accept,
            Some(score) if reaches(score, retry) => return Act::AcceptWithWarning,
            _ if !self.retry.enabled => return Act::AcceptWithWarning,
            Some(score) if reaches(score, fail) => self.retry.below_retry,
            // What has no score is worth nothing.
            _ => self.retry.below_fail,
        };
        // The last repair did not help, and nobody said to go on with it.
        if low == Act::RetryWithRepair && repairs >= self.retry.max_repairs { Act::FailWorkflow } else { low }
    }

    /// The thresholds that the gate judges a whole run by, after so many repairs of it. The policy may end a run sooner or
    /// have it repaired longer; it never lets a run pass whose score is below `retry`.
    #[must_use]
    pub fn gate_thresholds(&self, repairs: u32) -> Thresholds {
        let Thresholds { accept, retry, fail } = self.thresholds;
        if !self.retry.enabled {
            return self.thresholds;
        }
        let ends = self.retry.below_retry == Act::FailWorkflow || repairs >= self.retry.max_repairs;
        let lasts = self.retry.below_fail == Act::RetryWithRepair;
        let fail = match (ends, lasts) {
            (true, _) => retry,
            (false, true) => 0.0,
            (false, false) => fail,
        };
        Thresholds { accept, retry, fail }
    }
}

/// Who judges: `rubric_judge` itself, or its `judge` or `model`. Its `temperature` is that of the model which is named.
fn named(judge: &Value) -> Result<Option<Respondent>, Unnamed> {
    let (named, temperature) = (Respondent::read(judge, &["judge", "model"])?, judge.get("temperature"));
    let only = |key: &str| matches!(key, "temperature" | "timeout");
    let nobody = judge.as_object().is_some_and(|members| members.keys().all(|key| only(key)));
    let named = match named {
        Some(named) => Some(named),
        None if nobody => None,
        None => Respondent::read(&json!({ "rubric_judge": judge }), &["rubric_judge"])?,
    };
    Ok(named.map(|named| with_temperature(named, temperature)))
}

/// A model is asked with this temperature, unless its own parameters say another.
fn with_temperature(named: Respondent, temperature: Option<&Value>) -> Respondent {
    let (Respondent::Model(mut model), Some(temperature)) = (named.clone(), temperature) else { return named };
    if let Some(members) = model.as_object_mut() {
        let parameters = members.entry("parameters").or_insert_with(|| json!({}));
        if let Some(parameters) = parameters.as_object_mut() {
            parameters.entry("temperature").or_insert_with(|| temperature.clone());
        }
    }
    Respondent::Model(model)
}
