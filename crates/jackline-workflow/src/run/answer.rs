//! An agent's answer: what it says, what it writes to the state, whom it sends messages, what it used.

use std::collections::BTreeSet;

use jackline_runtime::Schema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::settings::Sharing;
use super::worker::{Failure, FailureKind, Reply};
use crate::rules::RESERVED_KEYS;

/// Members of an answer that are about the run, not part of what is said; unless the contract names them.
const UPDATES: &str = "state_updates";
const MESSAGES: &str = "messages";
const USAGE: &str = "usage";
/// Messages of one answer: more are no conversation.
const MESSAGES_MAX: usize = 100;
/// Errors of a contract that a reason tells: the first are the ones to mend.
const ERRORS_SHOWN_MAX: usize = 5;

/// What an agent answered.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Answer {
    /// What it says: what its contract is about.
    pub(super) said: Map<String, Value>,
    /// Members of the shared state that it writes.
    pub(super) updates: Map<String, Value>,
    pub(super) messages: Vec<Message>,
    pub(super) usage: Usage,
    /// Of what it says and writes, what whoever answers in another's place shows nobody.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) kept_back: BTreeSet<String>,
}

/// A message, as an agent sends it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Message {
    pub(super) channel: Option<String>,
    /// Whom it is for; everybody who may receive it, when nobody is named.
    pub(super) to: Option<String>,
    pub(super) content: Value,
}

/// What an answer took, as the agent tells it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Requests to models, those without an answer included.
    pub requests: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub tool_calls: u64,
    #[serde(deserialize_with = "cost")]
    pub cost_usd: f64,
}

/// Dollars; what is below nothing would give back what others used.
fn cost<'de, D: serde::Deserializer<'de>>(read: D) -> Result<f64, D::Error> {
    let dollars = f64::deserialize(read)?;
    let fine = dollars.is_finite() && dollars >= 0.0;
    if fine { Ok(dollars) } else { Err(serde::de::Error::custom(format!("`cost_usd` is {dollars}, below nothing"))) }
}

impl Usage {
    pub(super) const fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.requests = self.requests.saturating_add(other.requests);
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.tool_calls = self.tool_calls.saturating_add(other.tool_calls);
        self.cost_usd += other.cost_usd;
    }
}

impl Usage {
    /// What an object that somebody said tells of it, as far as that can be read.
    pub(super) fn told(said: &Map<String, Value>) -> Self {
        said.get(USAGE).map(|usage| Self::read(usage).0).unwrap_or_default()
    }

    /// As it is told, and what of it cannot be read. Null is absent, as many programs write it; one count that cannot be read
    /// takes away no other.
    fn read(told: &Value) -> (Self, Option<String>) {
        let mut fault = None;
        if !told.is_object() && !told.is_null() {
            fault = Some("it is no object".to_owned());
        }
        let mut unread = |name: &str, value: &Value| {
            fault.get_or_insert_with(|| format!("`{name}` is `{value}`, which is no count"));
        };
        let given = |name: &str| told.get(name).filter(|value| !value.is_null());
        let mut count = |name: &str| {
            let value = given(name)?;
            let part = value.as_f64().filter(|count| *count >= 0.0);
            if value.as_u64().is_none() && part.is_none_or(|count| count.fract() != 0.0) {
                unread(name, value);
            }
            value.as_u64().or_else(|| part.map(whole))
        };
        let [requests, input_tokens, output_tokens, tool_calls] =
            ["requests", "input_tokens", "output_tokens", "tool_calls"].map(|name| count(name).unwrap_or_default());
        let cost =
            given("cost_usd").map(|value| (value, value.as_f64().filter(|cost| cost.is_finite() && *cost >= 0.0)));
        if let Some((value, None)) = cost {
            unread("cost_usd", value);
        }
        let cost_usd = cost.and_then(|(_, cost)| cost).unwrap_or_default();
        (Self { requests, input_tokens, output_tokens, tool_calls, cost_usd }, fault)
    }
}

/// A count that is written as a fraction: what was begun counts whole.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rounded up, and cut at what can be counted"
)]
fn whole(count: f64) -> u64 {
    count.ceil() as u64
}

impl Answer {
    /// The answer of a reply; one that cannot be read used something all the same.
    pub(super) fn of(reply: Reply, fields: &BTreeSet<String>) -> Result<Self, Failure> {
        let Reply { mut value, usage, .. } = reply;
        // Counted elsewhere: what is said under this name is no count.
        if usage.is_some() && !fields.contains(USAGE) {
            value.remove(USAGE);
        }
        let usage = usage.unwrap_or_else(|| Usage::told(&value));
        let read = Self::read(value, fields);
        read.map(|answer| Self { usage, ..answer }).map_err(|failure| Failure { usage, ..failure })
    }

    /// Takes an answer apart. Anything in it that cannot be read makes it no answer.
    pub(super) fn read(mut value: Map<String, Value>, fields: &BTreeSet<String>) -> Result<Self, Failure> {
        let invalid = |part: &str, why: String| {
            Failure::new(FailureKind::Validation, format!("`{part}` of its answer cannot be read: {why}"))
        };
        let named = |name: &str| fields.contains(name);
        let mut take = |name: &str| if named(name) { value.get(name).cloned() } else { value.remove(name) };
        let (updates, messages, usage) = (take(UPDATES), take(MESSAGES), take(USAGE));
        let updates = match updates {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(updates)) => updates,
            Some(_) => return Err(invalid(UPDATES, "it is no object".to_owned())),
        };
        // A field that the contract calls `messages` is the agent's own, unless it reads like messages.
        let messages = match (messages.map(serde_json::from_value::<Vec<Message>>), named(MESSAGES)) {
            (None, _) | (Some(Err(_)), true) => Vec::new(),
            (Some(Ok(messages)), true) if messages.iter().any(|message| message.channel.is_none()) => Vec::new(),
            (Some(Ok(messages)), _) => messages,
            (Some(Err(why)), false) => return Err(invalid(MESSAGES, why.to_string())),
        };
        if messages.len() > MESSAGES_MAX {
            return Err(invalid(MESSAGES, format!("there are more than {MESSAGES_MAX}")));
        }
        let usage = match (usage.as_ref().map(Usage::read), named(USAGE)) {
            (Some((usage, None)), _) => usage,
            (None, _) | (Some((_, Some(_))), true) => Usage::default(),
            (Some((_, Some(why))), false) => return Err(invalid(USAGE, why)),
        };
        Ok(Self { said: value, updates, messages, usage, kept_back: BTreeSet::new() })
    }

    /// Holds it against a contract.
    pub(super) fn check(&self, schema: Option<&Schema>) -> Result<(), Failure> {
        let Some(schema) = schema else { return Ok(()) };
        let invalid = |why: String| Failure { usage: self.usage, ..Failure::new(FailureKind::Validation, why) };
        let errors = schema
            .errors(&Value::Object(self.said.clone()))
            .map_err(|why| invalid(format!("whether its answer fits its contract cannot be told: {why}")))?;
        if errors.is_empty() {
            return Ok(());
        }
        let told = errors.iter().take(ERRORS_SHOWN_MAX).map(|error| match error.instance_path.as_str() {
            "" => error.message.clone(),
            path => format!("at `{path}` {}", error.message),
        });
        let told: Vec<String> = told.collect();
        Err(invalid(format!("its answer does not fit its contract: {}", told.join("; "))))
    }

    /// The same as it is given by an agent for a node: what the agent keeps back stays back, also where it stands in.
    pub(super) fn given(mut self, sharing: &Sharing, (agent, node): (&str, &str)) -> Self {
        let fields = self.said.keys().chain(self.updates.keys());
        let own = fields.filter(|field| sharing.keeps_back(agent, field) && !sharing.keeps_back(node, field));
        self.kept_back = own.cloned().collect();
        self
    }

    /// Keys of the state that it writes and no agent may: those of the runtime (R13), and the names of agents.
    pub(super) fn refused(&self, agents: &dyn Fn(&str) -> bool) -> Vec<String> {
        let reserved = |key: &&String| RESERVED_KEYS.contains(&key.as_str());
        let written = self.updates.keys().filter(|key| reserved(key) || agents(key));
        written.chain(self.said.keys().filter(reserved)).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: &Value, fields: &[&str]) -> Result<Answer, Failure> {
        let fields = fields.iter().map(|field| (*field).to_owned()).collect();
        Answer::read(value.as_object().unwrap().clone(), &fields)
    }

    #[test]
    fn what_is_about_the_run_is_no_part_of_what_is_said() {
        let value = json!({
            "report": "x", "state_updates": {"topic": "tides"}, "usage": {"input_tokens": 3, "output_tokens": 4},
            "messages": [{"channel": "results", "content": {"n": 1}}, {"content": 7, "to": "writer"}],
        });
        let answer = read(&value, &["report"]).unwrap();
        assert_eq!(Value::Object(answer.said), json!({"report": "x"}));
        assert_eq!((answer.usage.tokens(), answer.messages.len()), (7, 2));
        assert_eq!(answer.updates.get("topic"), Some(&json!("tides")));
    }

    #[test]
    fn a_contract_may_have_fields_of_such_names() {
        let value = json!({"usage": "how to use it", "messages": ["a", "b"]});
        let answer = read(&value, &["usage", "messages"]).unwrap();
        assert_eq!(Value::Object(answer.said), value);
        assert!(answer.messages.is_empty());
        assert!(read(&value, &["messages"]).is_err());
        assert!(read(&json!({"messages": [1]}), &[]).is_err());
        assert!(read(&json!({"state_updates": []}), &[]).is_err());
        assert!(read(&json!({"usage": {"cost_usd": -1}}), &[]).is_err());
        assert!(read(&json!({"usage": {"cost_usd": 1, "input_tokens": 2}}), &[]).is_ok());
    }

    #[test]
    fn what_was_counted_elsewhere_is_no_part_of_what_is_said() {
        let counted = Usage { input_tokens: 15, ..Usage::default() };
        let of = |said: &str, fields: &[&str]| {
            let value = json!({"a": "x", "usage": said}).as_object().unwrap().clone();
            let fields = fields.iter().map(|field| (*field).to_owned()).collect();
            Answer::of(Reply { value, notes: Map::new(), usage: Some(counted) }, &fields).unwrap()
        };
        let named = of("how to use it", &["a", "usage"]);
        assert_eq!(Value::Object(named.said), json!({"a": "x", "usage": "how to use it"}));
        let unnamed = of("how to use it", &["a"]);
        assert_eq!((Value::Object(unnamed.said), unnamed.usage), (json!({"a": "x"}), counted));
        assert_eq!(named.usage, counted);
    }

    #[test]
    fn counts_are_read_one_by_one() {
        let told = json!({"input_tokens": 600, "output_tokens": null, "cost_usd": null});
        assert_eq!(read(&json!({ "usage": told }), &[]).unwrap().usage.tokens(), 600);
        assert!(read(&json!({"usage": null}), &[]).is_ok() && read(&json!({"usage": 7}), &[]).is_err());
        assert_eq!(read(&json!({"usage": {"input_tokens": 600.0}}), &[]).unwrap().usage.tokens(), 600);
        for (odd, why) in [
            (json!({"input_tokens": 599.5}), "`input_tokens` is `599.5`, which is no count"),
            (json!({"input_tokens": 600, "output_tokens": -1}), "`output_tokens` is `-1`, which is no count"),
            (json!({"input_tokens": 600, "cost_usd": -9}), "`cost_usd` is `-9`, which is no count"),
            (json!({"input_tokens": 600, "tool_calls": "many"}), "`tool_calls` is `\"many\"`, which is no count"),
        ] {
            let value = json!({ "usage": odd }).as_object().unwrap().clone();
            let failure = Answer::of(Reply { value, notes: Map::new(), usage: None }, &BTreeSet::new()).unwrap_err();
            assert_eq!((failure.usage.tokens(), failure.reason.ends_with(why)), (600, true), "{}", failure.reason);
        }
    }

    #[test]
    fn an_answer_that_cannot_be_read_used_something() {
        let value = json!({"messages": 1, "usage": {"input_tokens": 7}}).as_object().unwrap().clone();
        let failure = Answer::of(Reply { value, notes: Map::new(), usage: None }, &BTreeSet::new()).unwrap_err();
        assert_eq!(failure.usage.tokens(), 7);
    }

    #[test]
    fn keys_of_the_runtime_and_of_agents_are_refused() {
        let answer = read(&json!({"_trace": 1, "state_updates": {"_meta": 1, "writer": 2, "fine": 3}}), &[]).unwrap();
        let refused = answer.refused(&|name| name == "writer");
        assert_eq!(refused, ["_meta", "writer", "_trace"]);
    }
}
