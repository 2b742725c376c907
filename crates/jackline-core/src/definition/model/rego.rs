//! What a definition says about a Rego policy: where it is, and which calls it judges.

use serde::{Deserialize, Serialize};

/// An OPA policy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rego {
    /// Named from the definition's directory.
    pub file: String,
    /// Any of these: a tool name or glob, a step, `@kind`; empty for every call.
    pub tool: Vec<String>,
}
