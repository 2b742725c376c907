//! `jackline workflow gates`: the completion gates alone, over a run that somebody else carried out.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use jackline_core::json::JSON_BYTES_MAX;
use jackline_workflow::gates::{Run, judge, look};

use crate::error::CommandError;
use crate::{place, screen};

/// Judge whether a run is complete, by what it left behind
///
/// Exits with 0 when it is complete, 1 when a gate rejects it, 2 when the run's file cannot be read.
#[derive(Debug, clap::Args)]
pub(crate) struct Gates {
    /// What the run was asked for and says of itself, as JSON; its directories are seen from where the file is
    #[arg(long, value_name = "FILE")]
    run: PathBuf,
    /// How the judgement is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// How a judgement is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Format {
    #[default]
    Human,
    Json,
}

impl Gates {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        let run = self.read()?;
        let judgement = judge(&run, &look(&run, self.run.parent().unwrap_or(Path::new(""))));
        match self.format {
            Format::Human => screen::show(&judgement.human())?,
            Format::Json => screen::line(&jackline_workflow::json_line(&judgement.to_json()))?,
        }
        if judgement.complete() { Ok(()) } else { Err(CommandError::not_fine()) }
    }

    fn read(&self) -> Result<Run, CommandError> {
        let shown = place::shown(&self.run);
        let failed = |error| CommandError::input(format!("cannot read `{shown}`: {error}"));
        // Looked at before it is opened: opening a pipe that lies there would wait for ever.
        if !fs::metadata(&self.run).map_err(failed)?.is_file() {
            return Err(CommandError::input(format!("cannot read `{shown}`: it is no regular file")));
        }
        let mut text = Vec::new();
        let file = fs::File::open(&self.run).map_err(failed)?;
        file.take(JSON_BYTES_MAX as u64 + 1).read_to_end(&mut text).map_err(failed)?;
        Run::read(&text).map_err(|error| {
            CommandError::input(format!("`{shown}` says nothing that gates could judge: {error}")).hint(
                "it holds `task`, `output_dir`, `workspace_dir`, `plan`, `final_result`, `critique` and `evaluation`",
            )
        })
    }
}
