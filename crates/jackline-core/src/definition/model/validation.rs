//! What a definition says about schemas: where each one is, and what follows when a value does not fit.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::sha::Digest;

/// Where a schema is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SchemaSource {
    /// In the definition itself, as compact JSON.
    Inline(String),
    /// In a file, named from the definition's directory.
    File(String),
}

impl SchemaSource {
    /// A schema written in code.
    #[must_use]
    pub fn inline(schema: &Value) -> Self {
        Self::Inline(schema.to_string())
    }

    /// What an inline schema is known by.
    #[must_use]
    pub fn digest(text: &str) -> Digest {
        Digest::of(text.as_bytes())
    }
}

/// How arguments and outputs are validated; the key `schema`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validation {
    /// Repairs after the first failure, then the run is halted.
    pub repair_attempts: u32,
    pub missing: Missing,
}

impl Default for Validation {
    fn default() -> Self {
        Self { repair_attempts: 2, missing: Missing::default() }
    }
}

/// What becomes of a declared tool that has no schema; ordered from the strictest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    Deny,
    #[default]
    Allow,
}

spelled!(Missing { Allow = "allow", Deny = "deny" });
