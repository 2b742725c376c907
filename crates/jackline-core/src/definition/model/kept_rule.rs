//! A rule as it is kept: in its bytes until somebody looks at it, with what tells whether anybody has to.
//!
//! A hook loads every rule of a definition and needs hardly one of them; reading them all would cost it more than
//! judging does.

use std::fmt;
use std::ops::Deref;
use std::sync::OnceLock;

use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Matcher, Rule};
use crate::index::Summary;

/// A rule; it is one in all that can be done with it.
#[derive(Clone)]
pub struct KeptRule {
    rule: OnceLock<Box<Rule>>,
    /// What the rule is decoded from, where it is not.
    bytes: Box<[u8]>,
    summary: Option<Box<Summary>>,
}

impl KeptRule {
    /// What is known of the rule without looking at it, if it was summed up.
    pub(crate) fn summary(&self) -> Option<&Summary> {
        self.summary.as_deref()
    }

    pub(crate) fn sum_up(&mut self, summary: Summary) {
        self.summary = Some(Box::new(summary));
    }

    /// Changes the rule; what was summed up need not be so any more.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Rule)) {
        let mut rule = Rule::clone(self);
        change(&mut rule);
        *self = rule.into();
    }

    /// Stands in for one that cannot be decoded, and refuses everything, so that it is noticed.
    fn unreadable() -> Rule {
        Rule::deny(Matcher::tool("*")).reason("This rule cannot be read.")
    }
}

impl From<Rule> for KeptRule {
    fn from(rule: Rule) -> Self {
        Self { rule: OnceLock::from(Box::new(rule)), bytes: Box::default(), summary: None }
    }
}

impl Deref for KeptRule {
    type Target = Rule;

    fn deref(&self) -> &Rule {
        let decode = || postcard::from_bytes(&self.bytes).unwrap_or_else(|_| Self::unreadable());
        self.rule.get_or_init(|| Box::new(decode()))
    }
}

impl PartialEq for KeptRule {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl fmt::Debug for KeptRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(formatter)
    }
}

impl Serialize for KeptRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = match self.rule.get() {
            Some(rule) => &postcard::to_stdvec(rule).map_err(S::Error::custom)?,
            None => self.bytes.as_ref(),
        };
        (&self.summary, bytes).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for KeptRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (summary, bytes) = <(Option<Box<Summary>>, &'de [u8])>::deserialize(deserializer)?;
        Ok(Self { rule: OnceLock::new(), bytes: bytes.into(), summary })
    }
}
