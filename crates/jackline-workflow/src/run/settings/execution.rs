//! How agents are run: how many at once, how long, and what a failure leads to when nothing else is said.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::{OnFailure, Retry, part};

/// Seconds that an agent is given when nobody says otherwise: the protocol's own.
const AGENT_SECONDS: f64 = 120.0;
/// Seconds that a graph is given when nobody says otherwise: the protocol's own.
const GRAPH_SECONDS: f64 = 300.0;
/// Seconds that a manager's loop is given when nobody says otherwise: the protocol's own.
const LOOP_SECONDS: f64 = 3_600.0;
/// Seconds that anything is given at most: a week, after which nobody remembers what was wanted.
const SECONDS_MAX: f64 = 604_800.0;
/// Agents at once when nobody says otherwise: the protocol's own.
const PARALLEL: u32 = 4;
/// Agents at once whatever is said: each is a process, and machines have few processors.
const PARALLEL_MAX: u32 = 256;

/// How agents are run.
#[derive(Debug, Clone)]
pub(crate) struct Execution {
    pub(crate) parallel: usize,
    pub(crate) per_agent: Duration,
    pub(crate) total: Duration,
    pub(crate) idle: Option<Duration>,
    pub(crate) on_failure: OnFailure,
    pub(crate) retry: Retry,
    pub(crate) fallback: Option<String>,
}

/// What a whole run may use.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RunBudget {
    pub(crate) max_total_tokens: Option<u64>,
    pub(crate) max_tool_calls: Option<u64>,
    pub(crate) max_agent_runs: Option<u64>,
    pub(crate) max_cost_usd: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Written {
    mode: Option<String>,
    timeout_per_agent: Option<f64>,
    timeout_total: Option<f64>,
    timeout_idle: Option<f64>,
    timeout: Times,
    max_parallel_agents: Option<u32>,
    error_handling: ErrorHandling,
    on_error: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Times {
    per_agent: Option<f64>,
    total: Option<f64>,
    idle: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ErrorHandling {
    #[serde(rename = "default")]
    default_action: Option<String>,
    max_retries: Option<u32>,
    retry_delay: Option<f64>,
    fallback_agent: Option<String>,
}

/// A time in seconds, held to what can be waited for.
pub(super) fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.clamp(0.001, SECONDS_MAX)).unwrap_or(Duration::from_secs(1))
}

impl Execution {
    pub(super) fn read(root: &Value, out: &mut Vec<String>) -> Self {
        let written: Written = part(root, "/orchestration/execution", out);
        let handling = written.error_handling;
        let word = written.on_error.or(handling.default_action).unwrap_or_default();
        let retry = Retry::counted(handling.max_retries, handling.retry_delay);
        let delegates = root.pointer("/orchestration/delegation_loop").is_some();
        let walls = ["/orchestration/run_budget/max_wall_time", "/orchestration/delegation_loop/budget/max_wall_time"];
        let walls = walls.iter().filter_map(|pointer| root.pointer(pointer).and_then(Value::as_f64));
        let total = written.timeout_total.or(written.timeout.total).into_iter().chain(walls).reduce(f64::min);
        let sequential = written.mode.as_deref() == Some("sequential");
        let parallel = if sequential { 1 } else { written.max_parallel_agents.unwrap_or(PARALLEL) };
        Self {
            parallel: parallel.clamp(1, PARALLEL_MAX) as usize,
            per_agent: seconds(written.timeout_per_agent.or(written.timeout.per_agent).unwrap_or(AGENT_SECONDS)),
            total: seconds(total.unwrap_or(if delegates { LOOP_SECONDS } else { GRAPH_SECONDS })),
            idle: written.timeout_idle.or(written.timeout.idle).map(seconds),
            on_failure: OnFailure::named(&word, OnFailure::Stop),
            // `retry` as a default is one more try of everybody, and then the run stops.
            retry: if word == "retry" { retry.at_least(2) } else { retry },
            fallback: handling.fallback_agent,
        }
    }
}
