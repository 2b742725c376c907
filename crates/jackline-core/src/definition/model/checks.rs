//! How checks look at the world.

use serde::{Deserialize, Serialize};

/// The key `checks`; what is absent is left to the other definitions in force.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checks {
    /// Where pull requests are asked for.
    pub github_api: Option<String>,
}
