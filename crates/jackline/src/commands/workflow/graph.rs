//! `jackline workflow graph`: a workflow as a picture.

use std::path::PathBuf;

use super::validated;
use crate::error::CommandError;
use crate::screen;

/// Draw a workflow: who waits for whom, on what condition, and what breaks a rule
#[derive(Debug, clap::Args)]
pub(crate) struct Graph {
    /// A directory with a workflow.awp.yaml, or such a file
    #[arg(value_name = "PATH", default_value = ".")]
    path: PathBuf,
    /// How it is drawn
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// How a graph is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Format {
    #[default]
    Mermaid,
    /// For Graphviz
    Dot,
    Svg,
}

impl Graph {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        let one = validated(&self.path)?;
        let Some(picture) = jackline_workflow::picture(&one.flow, &one.report) else {
            screen::complain(one.human().trim_end());
            return Err(CommandError::not_fine());
        };
        let text = match self.format {
            Format::Mermaid => picture.to_mermaid(),
            Format::Dot => picture.to_dot(),
            Format::Svg => picture.to_svg(),
        };
        Ok(screen::line(text.trim_end())?)
    }
}
