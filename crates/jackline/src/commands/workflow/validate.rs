//! `jackline workflow validate`: all that breaks a rule, in all files, at once.

use std::path::PathBuf;

use jackline_workflow::report::{Validated, as_json, as_sarif};

use super::validated;
use crate::error::CommandError;
use crate::{place, screen};

/// Check workflows against rules R1 to R32 and show all findings
///
/// Exits with 0 when all are valid, 1 when one is not, 2 when there is no workflow at a path; the others are shown.
#[derive(Debug, clap::Args)]
pub(crate) struct Validate {
    /// Directories with a workflow.awp.yaml, or such files
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,
    /// How findings are printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// How findings are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Format {
    #[default]
    Human,
    Json,
    /// SARIF 2.1.0, as code hosts read it
    Sarif,
}

impl Validate {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        let mut all = Vec::new();
        let mut absent: Option<CommandError> = None;
        for path in &self.paths {
            match (validated(path), absent.take()) {
                (Ok(one), before) => {
                    all.push(one);
                    absent = before;
                }
                (Err(error), None) => absent = Some(error),
                (Err(_), Some(first)) => {
                    absent = Some(first.hint(format!("nor is there one at `{}`", place::shown(path))));
                }
            }
        }
        // What is wrong with the others is told all the same.
        if !all.is_empty() {
            self.show(&all)?;
        }
        let valid = all.iter().all(|one| one.report.valid());
        // The process ends: to give every part of a large tree back would only take time.
        std::mem::forget(all);
        match absent {
            Some(error) => Err(error),
            None if valid => Ok(()),
            None => Err(CommandError::not_fine()),
        }
    }

    fn show(&self, all: &[Validated]) -> Result<(), CommandError> {
        match self.format {
            Format::Human => screen::show(&all.iter().map(Validated::human).collect::<Vec<_>>().join("\n"))?,
            Format::Json => screen::line(&as_json(all).to_string())?,
            Format::Sarif => screen::line(&as_sarif(all, env!("CARGO_PKG_VERSION")).to_string())?,
        }
        Ok(())
    }
}
