//! Typed overrides: what a rule or the host demands of an agent for a while. Data only; nothing is judged here.
//!
//! One fixed form for each kind, in which no free text stands: what an agent is shown of it is always the same.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::sha::{Digest, Key};
use crate::stack::Origin;
use crate::time::{Timestamp, parse_duration_ms};

/// Overrides that stand on one agent at once, and rules of one definition that put one: more could not be met.
pub const OVERRIDES_MAX: usize = 8;
/// Bytes of the name of a tool, step or kind: it is remembered and shown.
pub const OVERRIDE_TOOL_BYTES_MAX: usize = 256;
/// Calls of a budget, and calls that an override lasts for: beyond this it never ends in practice.
pub const OVERRIDE_COUNT_MAX: u32 = 1_000_000;
/// How many times wider a retrieval may become: beyond this nothing is bounded in practice.
pub const OVERRIDE_FACTOR_MAX: u32 = 1_000;
/// The longest an override lasts: what is needed for longer is a policy.
pub const OVERRIDE_MS_MAX: i64 = 24 * 60 * 60 * 1_000;

/// A demand and how long it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Override {
    pub demand: Demand,
    /// Calls let through after the one that put it.
    pub ttl_steps: Option<u32>,
    /// Milliseconds.
    pub ttl_ms: Option<i64>,
}

/// What is demanded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Demand {
    /// No more than so many calls of a tool.
    ToolBudget { tool: String, max_calls: u32 },
    /// No call but those of a tool.
    ForceAction { tool: String },
    /// Reads and outputs may show so many times more.
    WidenRetrieval { factor: u32 },
}

impl Demand {
    /// The tool, step or `@kind` it is about.
    #[must_use]
    pub fn tool(&self) -> Option<&str> {
        match self {
            Self::ToolBudget { tool, .. } | Self::ForceAction { tool } => Some(tool),
            Self::WidenRetrieval { .. } => None,
        }
    }

    /// The key that holds it.
    #[must_use]
    pub const fn key(&self) -> &'static str {
        match self {
            Self::ToolBudget { .. } => "tool_budget",
            Self::ForceAction { .. } => "force_action",
            Self::WidenRetrieval { .. } => "widen_retrieval",
        }
    }
}

/// Names the values of an override as the definition and the protocol spell them.
const KINDS: [&str; 3] = ["tool_budget", "force_action", "widen_retrieval"];

impl Override {
    /// Reads the JSON form: exactly one kind, and at least one time to live.
    ///
    /// # Errors
    /// What it must be.
    pub fn read(value: &Value) -> Result<Self, &'static str> {
        let fields = value.as_object().ok_or("an object")?;
        let read = Self { demand: demand(fields)?, ttl_steps: steps(fields)?, ttl_ms: lasting(fields)? };
        read.fault().map_or(Ok(read), |(_, must)| Err(must))
    }

    /// The JSON form.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut value = match &self.demand {
            Demand::ToolBudget { tool, max_calls } => {
                json!({ "tool_budget": { "tool": tool, "max_calls": max_calls } })
            }
            Demand::ForceAction { tool } => json!({ "force_action": { "tool": tool } }),
            Demand::WidenRetrieval { factor } => json!({ "widen_retrieval": { "factor": factor } }),
        };
        if let Value::Object(fields) = &mut value {
            fields.extend(self.ttl_steps.map(|steps| ("ttl_steps".to_owned(), json!(steps))));
            fields.extend(self.ttl_ms.map(|ms| ("ttl".to_owned(), json!(format!("{ms}ms")))));
        }
        value
    }

    /// What is wrong with it: the key that is (none where one is missing), and what it must be.
    #[must_use]
    pub fn fault(&self) -> Option<(&'static str, &'static str)> {
        let tool = self.demand.tool().unwrap_or("x");
        let many = matches!(self.demand, Demand::ToolBudget { max_calls, .. } if max_calls > OVERRIDE_COUNT_MAX);
        let wide =
            matches!(self.demand, Demand::WidenRetrieval { factor } if !(2..=OVERRIDE_FACTOR_MAX).contains(&factor));
        let wrong = [
            (tool.is_empty() || tool.len() > OVERRIDE_TOOL_BYTES_MAX, "tool", "about a tool of 1 to 256 bytes"),
            (self.ttl_steps.is_none() && self.ttl_ms.is_none(), "", "given a time to live: `ttl_steps` or `ttl`"),
            (
                self.ttl_steps.is_some_and(|n| n == 0 || n > OVERRIDE_COUNT_MAX),
                "ttl_steps",
                "given 1 to 1000000 `ttl_steps`",
            ),
            (self.ttl_ms.is_some_and(|ms| !(1..=OVERRIDE_MS_MAX).contains(&ms)), "ttl", "given a `ttl` of at most 24h"),
            (many, "max_calls", "given at most 1000000 `max_calls`"),
            (wide, "factor", "given a `factor` of 2 to 1000"),
        ];
        wrong.into_iter().find_map(|(wrong, key, must)| wrong.then_some((key, must)))
    }
}

fn demand(fields: &Map<String, Value>) -> Result<Demand, &'static str> {
    let mut given = KINDS.iter().filter_map(|kind| Some((*kind, fields.get(*kind)?)));
    let (Some((kind, value)), None) = (given.next(), given.next()) else {
        return Err("one of `tool_budget`, `force_action`, `widen_retrieval`");
    };
    let tool = || value.get("tool").and_then(Value::as_str).map(str::to_owned).ok_or("given a `tool`");
    let number = |key: &str| value.get(key).and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
    Ok(match kind {
        "tool_budget" => {
            Demand::ToolBudget { tool: tool()?, max_calls: number("max_calls").ok_or("given whole `max_calls`")? }
        }
        "force_action" => Demand::ForceAction { tool: tool()? },
        _ => Demand::WidenRetrieval { factor: number("factor").ok_or("given a whole `factor`")? },
    })
}

fn steps(fields: &Map<String, Value>) -> Result<Option<u32>, &'static str> {
    match fields.get("ttl_steps") {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let steps = value.as_u64().and_then(|steps| u32::try_from(steps).ok());
            steps.map(Some).ok_or("given 1 to 1000000 `ttl_steps`")
        }
    }
}

fn lasting(fields: &Map<String, Value>) -> Result<Option<i64>, &'static str> {
    match fields.get("ttl") {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value.as_str().and_then(parse_duration_ms).map(Some).ok_or("given a `ttl` such as `10m`"),
    }
}

/// The policy that put an override, and whose definition that is in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct By {
    pub owner: Owner,
    pub policy: String,
}

/// Whose word a definition is: a project's and its last accepted content are the same owner's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    Machine,
    User,
    Project,
    Pack(String),
}

impl Owner {
    #[must_use]
    pub fn of(origin: Origin) -> Self {
        match origin {
            Origin::Machine => Self::Machine,
            Origin::User => Self::User,
            Origin::Project | Origin::Accepted => Self::Project,
            Origin::Pack(name) => Self::Pack(name.to_owned()),
        }
    }
}

/// An override as it stands on an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imposed {
    /// Who put it; the host when absent.
    pub by: Option<By>,
    pub settings: Override,
    /// Calls of the tool that were let through, for a budget.
    pub calls: u32,
    /// Calls that must still be let through before it lapses.
    pub steps_left: Option<u32>,
    pub expires_at: Option<Timestamp>,
}

impl Imposed {
    /// An override put now.
    #[must_use]
    pub fn new(by: Option<By>, settings: Override, now: Timestamp) -> Self {
        let expires_at = settings.ttl_ms.map(|ms| Timestamp(now.0.saturating_add(ms)));
        Self { by, calls: 0, steps_left: settings.ttl_steps, expires_at, settings }
    }

    /// Which override it is: the same demand of the same policy is the same one.
    #[must_use]
    pub fn key(&self) -> Key {
        // Plain data with owned strings: encoding has nothing that could fail.
        Digest::of(&postcard::to_allocvec(&(&self.by, &self.settings)).unwrap_or_default()).short()
    }

    /// Whether it still stands at a time; the very moment of its end is after it.
    #[must_use]
    pub fn lasts(&self, now: Timestamp) -> bool {
        self.steps_left != Some(0) && self.is_in_time(now)
    }

    fn is_in_time(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|end| now < end)
    }

    /// Whether it is remembered beyond the last call that it stood for: until then, its outcome is shown widely.
    #[must_use]
    pub const fn lingers(&self) -> bool {
        matches!(self.settings.demand, Demand::WidenRetrieval { .. })
    }

    /// The typed override as hosts and models are shown it.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let ttl = json!({ "steps": self.steps_left, "expires_at": self.expires_at.map(|at| at.to_string()) });
        let policy = self.by.as_ref().map(|by| by.policy.as_str());
        let reason = if policy.is_some() { "POLICY" } else { "HOST" };
        match &self.settings.demand {
            Demand::ToolBudget { tool, max_calls } => json!({
                "type": "TOOL_BUDGET", "reason": reason, "policy": policy, "tool": tool, "max_calls": max_calls,
                "calls_left": max_calls.saturating_sub(self.calls),
                "allowed_next": ["different_tool", "ASK_HUMAN", "STOP"], "ttl": ttl,
            }),
            Demand::ForceAction { tool } => json!({
                "type": "FORCE_ACTION", "reason": reason, "policy": policy, "tool": tool,
                "allowed_next": ["named_tool", "ASK_HUMAN", "STOP"], "ttl": ttl,
            }),
            Demand::WidenRetrieval { factor } => json!({
                "type": "WIDEN_RETRIEVAL", "reason": reason, "policy": policy, "factor": factor, "ttl": ttl,
            }),
        }
    }
}

/// The widest factor in force for the bounds of a definition of this origin; 1 where there is none.
#[must_use]
pub fn widening(standing: &[Imposed], origin: Origin, now: Timestamp) -> u32 {
    let owner = Owner::of(origin);
    let own = |imposed: &&Imposed| imposed.by.as_ref().is_none_or(|by| by.owner == owner);
    let factors = standing.iter().filter(own).filter(|imposed| imposed.is_in_time(now)).map(|imposed| {
        match imposed.settings.demand {
            Demand::WidenRetrieval { factor } => factor,
            Demand::ToolBudget { .. } | Demand::ForceAction { .. } => 1,
        }
    });
    factors.max().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: Value, want: Result<(), &str>) {
        let read = Override::read(&value);
        assert_eq!(read.as_ref().map(|_| ()).map_err(|why| *why), want, "{value}");
        if let Ok(read) = read {
            assert_eq!(Override::read(&read.to_value()), Ok(read), "{value}");
        }
    }

    #[test]
    fn an_override_has_one_kind_and_an_end() {
        check(json!({ "tool_budget": { "tool": "Bash", "max_calls": 0 }, "ttl_steps": 3 }), Ok(()));
        check(json!({ "force_action": { "tool": "test" }, "ttl": "10m" }), Ok(()));
        check(json!({ "widen_retrieval": { "factor": 4 }, "ttl": "1h", "ttl_steps": 9 }), Ok(()));
        let kinds = "one of `tool_budget`, `force_action`, `widen_retrieval`";
        check(json!({ "ttl": "1h" }), Err(kinds));
        check(json!({ "force_action": { "tool": "a" }, "widen_retrieval": { "factor": 2 }, "ttl": "1h" }), Err(kinds));
        let endless = "given a time to live: `ttl_steps` or `ttl`";
        check(json!({ "force_action": { "tool": "a" } }), Err(endless));
        check(json!({ "force_action": { "tool": "a" }, "ttl": "25h" }), Err("given a `ttl` of at most 24h"));
        check(json!({ "force_action": { "tool": "a" }, "ttl": 5 }), Err("given a `ttl` such as `10m`"));
        check(json!({ "force_action": { "tool": "a" }, "ttl_steps": 0 }), Err("given 1 to 1000000 `ttl_steps`"));
        check(json!({ "force_action": {}, "ttl": "1s" }), Err("given a `tool`"));
        check(json!({ "widen_retrieval": { "factor": 1 }, "ttl": "1s" }), Err("given a `factor` of 2 to 1000"));
        check(json!(7), Err("an object"));
    }

    #[test]
    fn a_project_widens_its_own_bounds_alone() {
        let settings =
            |factor| Override { demand: Demand::WidenRetrieval { factor }, ttl_steps: Some(1), ttl_ms: None };
        let by = Some(By { owner: Owner::Project, policy: "p".into() });
        let own = Imposed::new(by, settings(4), Timestamp(0));
        let hosts = Imposed::new(None, settings(2), Timestamp(0));
        let factor = |standing: &[Imposed], origin| widening(standing, origin, Timestamp(9));
        assert_eq!(factor(std::slice::from_ref(&own), Origin::Project), 4);
        assert_eq!(factor(std::slice::from_ref(&own), Origin::Accepted), 4);
        assert_eq!(factor(std::slice::from_ref(&own), Origin::User), 1);
        assert_eq!(factor(&[own, hosts], Origin::User), 2);
    }

    #[test]
    fn the_moment_of_its_end_is_after_it() {
        let settings = Override::read(&json!({ "force_action": { "tool": "a" }, "ttl": "1s" })).expect("fine");
        let imposed = Imposed::new(None, settings, Timestamp(5));
        assert!(imposed.lasts(Timestamp(1_004)) && !imposed.lasts(Timestamp(1_005)));
    }
}
