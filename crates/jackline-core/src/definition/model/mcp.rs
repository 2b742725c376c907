//! What a definition says about MCP servers.

use serde::{Deserialize, Serialize};

/// The key `mcp`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mcp {
    pub changed_tools: ChangedTools,
}

/// What becomes of calls of tools that their server changed while the session runs; ordered from the strictest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangedTools {
    Deny,
    #[default]
    Report,
}

spelled!(ChangedTools { Report = "report", Deny = "deny" });
