//! Todos as lists, results and records show them.

use serde_json::{Value, json};

use super::state::{By, State};
use super::{Todo, Todos};
use crate::time::Timestamp;

impl Todo {
    /// All of it: what a list shows, and what records keep as `before` and `after`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
        let mut value = json!({
            "id": self.id,
            "content": self.content,
            "status": self.state.name(),
            "author": self.author,
            "checks": self.checks,
            "checks_sha256": self.digest.hex(),
            "evidence": self.state.evidence().iter().map(super::evidence::Evidence::to_value).collect::<Vec<_>>(),
            "results": self.results_value(),
            "failures": self.failures,
            "created_at": self.created_at.to_string(),
            "started_at": time(self.state.work().map(super::state::InProgress::started_at)),
            "claimed_at": time(self.state.claim().map(super::state::Claimed::claimed_at)),
            "verified_at": Value::Null,
        });
        if let Value::Object(fields) = &mut value {
            if !self.scripts.is_empty() {
                fields.insert("scripts".to_owned(), json!(self.scripts));
            }
            match &self.state {
                State::Verified(verified) => {
                    fields.insert("verified_at".to_owned(), json!(verified.verified_at().to_string()));
                    let by = match verified.by() {
                        By::Runtime(_) => json!({ "actor": "runtime" }),
                        By::Human(consent) => json!({ "actor": "human", "by": consent.by, "reason": consent.reason }),
                    };
                    fields.insert("verified_by".to_owned(), by);
                }
                State::Waived(waived) => {
                    fields.insert("waived_at".to_owned(), json!(waived.waived_at().to_string()));
                    let consent = self.state.consent();
                    let by = consent.map(|consent| json!({ "by": consent.by, "reason": consent.reason }));
                    fields.insert("waived_by".to_owned(), json!(by));
                }
                State::Pending(_) | State::InProgress(_) | State::Claimed(_) | State::NeedsHuman(_) => {}
            }
        }
        value
    }

    /// What an act on it answers: id and status; with what came of its checks where they were evaluated.
    #[must_use]
    pub fn answer(&self, with_results: bool) -> Value {
        let mut value = json!({ "id": self.id, "status": self.state.name() });
        if let (Value::Object(fields), true) = (&mut value, with_results) {
            fields.insert("results".to_owned(), self.results_value());
        }
        value
    }

    fn results_value(&self) -> Value {
        let pairs = self.checks.iter().zip(&self.results);
        pairs
            .map(|(check, result)| json!({ "check": check, "passed": result.passed, "message": result.message }))
            .collect()
    }
}

impl Todos {
    /// The whole list, oldest first.
    #[must_use]
    pub fn to_value(&self) -> Value {
        json!({ "todos": self.iter().map(Todo::to_value).collect::<Vec<_>>() })
    }
}
