//! How commands that are run for their answer are held, and which commands a definition names.

use serde::{Deserialize, Serialize};

use super::Model;
use crate::todos::check::Check;

/// The key `checks`; what is absent is left to the other definitions in force.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checks {
    pub confine: Option<Confine>,
    /// Whether a confined command may use the network.
    pub network: Option<bool>,
    /// Directories that a confined command may write besides the workspace and the temporary directory.
    pub writable: Vec<String>,
    /// Variables that commands get besides those that always pass.
    pub environment: Vec<String>,
    /// Where pull requests are asked for.
    pub github_api: Option<String>,
}

/// Whether a command is confined by the kernel; ordered from the loosest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confine {
    Off,
    #[default]
    Auto,
    Require,
}

spelled!(Confine { Off = "off", Auto = "auto", Require = "require" });

impl Model {
    /// Every command that the definition names, word by word: what `jackline trust` lets run.
    #[must_use]
    pub fn commands(&self) -> Vec<&[String]> {
        let completion = self.completion.iter().flat_map(|completion| completion.check.commands());
        let feedback = self.feedback.iter().filter_map(|provider| provider.advice.command());
        let todos = self.todos.require.iter().flat_map(|required| &required.checks).filter_map(Check::command);
        completion.map(|command| command.run.as_slice()).chain(feedback).chain(todos).collect()
    }
}
