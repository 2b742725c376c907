//! `jackline workflow show`: what became of a run, on a terminal, for programs, or as a page for a pull request.

use std::path::{Path, PathBuf};

use jackline_runtime::store::Store as _;
use jackline_runtime::{replace, replay};
use jackline_workflow::account::{Account, Reader, deliverables};
use jackline_workflow::json_line;
use jackline_workflow::run::is_run_id;

use super::run::RUNS;
use crate::commands::audit::broken_of;
use crate::error::CommandError;
use crate::place::{self, Where};
use crate::screen;

/// Show what became of a run: its timeline, gates, budgets, cost and deliverables
///
/// SVG and HTML are whole by themselves: they run nothing and load nothing. The record is verified first; of one that was
/// changed nothing is shown.
#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    /// The run's name
    #[arg(value_name = "RUN")]
    run: String,
    /// How it is shown
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Write it to a file instead
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    at: Where,
}

/// How a run is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Format {
    #[default]
    Text,
    Json,
    /// The timeline as a picture
    Svg,
    /// Everything on one page
    Html,
}

impl Show {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        let account = self.account()?;
        let text = match self.format {
            Format::Text => account.human(),
            Format::Json => format!("{}\n", json_line(&account.to_json())),
            Format::Svg => account.to_svg(),
            Format::Html => account.to_html(),
        };
        let Some(file) = &self.output else { return Ok(screen::show(&text)?) };
        write(file, &text)?;
        Ok(screen::line(&format!("wrote {}", place::shown(file)))?)
    }

    fn account(&self) -> Result<Account, CommandError> {
        let (store, state) = (self.at.files()?, self.at.state()?);
        let known = is_run_id(&self.run) && store.load(&self.run)?.head.seq > 0;
        if let Some(broken) = known.then(|| broken_of(&self.at, std::slice::from_ref(&self.run))).transpose()?.flatten()
        {
            return Err(CommandError::input(format!("the record of the run `{}` was changed: {broken}", self.run))
                .hint("`jackline audit verify` checks the record, `jackline log` shows it as it is"));
        }
        let mut reader = Reader::default();
        for line in known.then(|| store.lines(&self.run, 0)).transpose()?.into_iter().flatten() {
            let unreadable = |why: String| {
                CommandError::input(format!("the record of the run `{}` cannot be read: {why}", self.run))
                    .hint("`jackline audit verify` checks the record")
            };
            reader.take(&replay::record(&line?).map_err(unreadable)?);
        }
        let account = reader.account();
        if account.run.is_empty() {
            let error = CommandError::input(format!("there is no run `{}`", self.run));
            return Err(error.hint("`jackline sessions --all` lists runs, too"));
        }
        let deliverables = deliverables(&state.join(RUNS).join(&self.run).join("output"));
        Ok(Account { deliverables, ..account })
    }
}

/// Writes a page where its directory is. That a directory is named, or one that is not there, is a slip.
fn write(file: &Path, text: &str) -> Result<(), CommandError> {
    let shown = place::shown(file);
    let beside = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if file.is_dir() || file.file_name().is_none() {
        return Err(CommandError::input(format!("`{shown}` is a directory")).hint("name a file in it"));
    }
    if !beside.is_dir() {
        let error = CommandError::input(format!("`{}` is no directory", place::shown(beside)));
        return Err(error.hint("make it, or name a file elsewhere"));
    }
    replace::write(file, text).map_err(|fault| CommandError::input(format!("`{shown}` cannot be written: {fault}")))
}
