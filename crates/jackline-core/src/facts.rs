//! What an agent recorded as a fact: a statement, and the calls it rests on.
//!
//! Retracting and summarising take nothing out of the log: a summary has the sources of all it replaces and names
//! them. Of what is no longer stated the session keeps only the id; text and sources are in the log.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::time::Timestamp;
use crate::todos::id::Id;

/// Statements that stand at once; the state of a session is read and written by every event.
pub const STATEMENTS_MAX: usize = 128;
/// Bytes of one statement: a sentence or two.
pub const STATEMENT_BYTES_MAX: usize = 1_000;
/// Bytes of texts and sources over all statements that stand.
pub const STATEMENTS_BYTES_MAX: usize = 64 * 1024;
/// Calls that one statement rests on, a summary's included.
pub const SOURCES_MAX: usize = 32;
/// Statements that one summary replaces.
pub const SUMMARISED_MAX: usize = 32;
/// Statements that stand no more and are still told apart from ones that never were; the oldest makes room.
pub const SETTLED_MAX: usize = 128;

/// Something stated, and why it may be believed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    pub id: Id,
    pub text: String,
    /// Ids of calls in this session's log.
    pub sources: Vec<String>,
    /// The statements that it summarises.
    pub of: Vec<Id>,
    pub recorded_at: Timestamp,
}

impl Statement {
    /// Bytes that count toward [`STATEMENTS_BYTES_MAX`].
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.text.len() + self.sources.iter().map(String::len).sum::<usize>() + self.of.len() * 36
    }

    /// As lists and records show it.
    #[must_use]
    pub fn to_value(&self) -> Value {
        json!({
            "id": self.id,
            "text": self.text,
            "sources": self.sources,
            "summarises": self.of,
            "recorded_at": self.recorded_at.to_string(),
        })
    }
}

/// Why a statement stands no more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settled {
    Retracted,
    /// It is part of this one.
    Summarised(Id),
}

/// The statements of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Statements {
    standing: Vec<Statement>,
    settled: VecDeque<(Id, Settled)>,
    /// How many were ever made, so that no id is used again.
    made: u64,
}

impl Statements {
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Statement> {
        self.standing.iter()
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.standing.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.standing.is_empty()
    }

    #[must_use]
    pub const fn made(&self) -> u64 {
        self.made
    }

    #[must_use]
    pub fn get(&self, id: &Id) -> Option<&Statement> {
        self.standing.iter().find(|statement| statement.id == *id)
    }

    /// Why a statement stands no more, if it ever did.
    #[must_use]
    pub fn settled(&self, id: &Id) -> Option<&Settled> {
        self.settled.iter().find(|(known, _)| known == id).map(|(_, how)| how)
    }

    #[must_use]
    pub fn bytes(&self) -> usize {
        self.standing.iter().map(Statement::bytes).sum()
    }

    /// The list of what stands, oldest first.
    #[must_use]
    pub fn to_value(&self) -> Value {
        json!({ "facts": self.iter().map(Statement::to_value).collect::<Vec<_>>() })
    }

    pub(crate) fn record(&mut self, statement: &Statement) {
        self.made += 1;
        for id in &statement.of {
            self.settle(id, Settled::Summarised(statement.id.clone()));
        }
        self.standing.push(statement.clone());
    }

    pub(crate) fn retract(&mut self, id: &Id) {
        self.settle(id, Settled::Retracted);
    }

    fn settle(&mut self, id: &Id, how: Settled) {
        self.standing.retain(|statement| statement.id != *id);
        self.settled.push_back((id.clone(), how));
        if self.settled.len() > SETTLED_MAX {
            self.settled.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(n: u64, of: Vec<Id>) -> Statement {
        let id = Id::derive("fact", "s", n, Timestamp(0));
        Statement { id, text: "x".to_owned(), sources: vec!["c1".to_owned()], of, recorded_at: Timestamp(0) }
    }

    #[test]
    fn what_is_summarised_or_retracted_stands_no_more_and_is_not_forgotten() {
        let mut statements = Statements::default();
        let (one, two) = (statement(0, vec![]), statement(1, vec![]));
        statements.record(&one);
        statements.record(&two);
        let summary = statement(2, vec![one.id.clone()]);
        statements.record(&summary);
        statements.retract(&two.id);
        assert_eq!(statements.iter().collect::<Vec<_>>(), vec![&summary]);
        assert_eq!(statements.settled(&one.id), Some(&Settled::Summarised(summary.id.clone())));
        assert_eq!(statements.settled(&two.id), Some(&Settled::Retracted));
        assert_eq!(statements.made(), 3);
    }

    #[test]
    fn what_stands_no_more_takes_bounded_room() {
        let mut statements = Statements::default();
        for n in 0..SETTLED_MAX as u64 + 5 {
            let statement = statement(n, vec![]);
            statements.record(&statement);
            statements.retract(&statement.id);
        }
        assert_eq!((statements.settled.len(), statements.len()), (SETTLED_MAX, 0));
    }
}
