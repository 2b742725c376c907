//! `jackline schema`: the JSON Schema of the definition, for editors.

use crate::error::CommandError;
use crate::screen;

/// Print the JSON Schema of jackline.yaml
#[derive(Debug, clap::Args)]
pub(crate) struct Schema {}

impl Schema {
    #[expect(clippy::unused_self, reason = "every command is run the same way")]
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        let schema = jackline_core::definition::json_schema();
        let text = serde_json::to_string_pretty(&schema).map_err(|fault| CommandError::internal(fault.to_string()))?;
        Ok(screen::line(&text)?)
    }
}
