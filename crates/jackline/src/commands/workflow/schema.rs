//! `jackline workflow schema`: the JSON Schemas of the two files, for editors.

use crate::error::CommandError;
use crate::screen;

/// Print the JSON Schema of workflow.awp.yaml or agent.awp.yaml
#[derive(Debug, clap::Args)]
pub(crate) struct Schema {
    /// Of which file
    #[arg(value_name = "FILE", value_enum, default_value_t)]
    file: File,
}

/// The files of a workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum File {
    #[default]
    Workflow,
    Agent,
}

impl Schema {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        let schema = match self.file {
            File::Workflow => jackline_workflow::workflow_schema(),
            File::Agent => jackline_workflow::agent_schema(),
        };
        let text = serde_json::to_string_pretty(&schema).map_err(|fault| CommandError::internal(fault.to_string()))?;
        Ok(screen::line(&text)?)
    }
}
