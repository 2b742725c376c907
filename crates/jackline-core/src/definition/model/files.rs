//! What a definition says about file policies.

use serde::{Deserialize, Serialize};

/// The key `file_policies`; what is absent, nobody said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePolicies {
    /// Where they are, from the workspace's root.
    pub dir: Option<String>,
    pub enabled: Option<bool>,
    pub output: Option<FilesOutput>,
}

/// How much of what is outstanding is shown at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FilesOutput {
    #[default]
    Batched,
    Individual,
}

spelled!(FilesOutput { Batched = "batched", Individual = "individual" });
