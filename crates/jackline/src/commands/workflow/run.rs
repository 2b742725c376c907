//! `jackline workflow run`: carries a workflow out, shows how it goes, and leaves a record of every step.

use std::fs::{self, File};
use std::io::{self, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jackline_core::json::{JSON_BYTES_MAX, decode};
use jackline_core::shell::quoted;
use jackline_workflow::run::{self, Ended, Order, RunFault, Surroundings};
use serde_json::Value;

use super::progress::{Progress, Way};
use super::validated;
use crate::error::CommandError;
use crate::place::Where;
use crate::web::Client;
use crate::{interrupt, place, screen};

/// Where runs have their files, below the state directory.
pub(super) const RUNS: &str = "runs";

/// Run a workflow: its graph, or its manager's loop
///
/// Validates first, and refuses what is not valid. Every step is recorded before it counts, in one hash chain; `jackline
/// log RUN` shows it. Exits with 0 when the run is complete, 1 when it is partial or failed, 2 when it cannot be begun,
/// 3 when nothing can be recorded any more, 130 when a signal ended it; then `--resume RUN` takes it up again.
#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    /// A directory with a workflow.awp.yaml, or such a file
    #[arg(value_name = "PATH", default_value = ".")]
    path: PathBuf,
    /// What is to be done, in words
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// Values to begin with: a JSON object, or a file with one; its `task` is the task, and so is a JSON text
    #[arg(long, value_name = "FILE|JSON", conflicts_with = "resume")]
    input: Option<String>,
    /// The run's name (default: one with the time)
    #[arg(long, value_name = "ID", conflicts_with = "resume")]
    run_id: Option<String>,
    /// Take up a run that was interrupted
    #[arg(long, value_name = "RUN", conflicts_with = "task")]
    resume: Option<String>,
    /// How the end of the run is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// The same as `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
    #[command(flatten)]
    at: Where,
}

/// How a run's end is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Format {
    #[default]
    Human,
    /// One object
    Json,
}

impl Run {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        let checked = validated(&self.path)?;
        if !checked.report.valid() {
            screen::complain(&checked.human());
            return Err(CommandError::input("the workflow is not valid, and was not run"));
        }
        // A guard that is misspelled is off: whoever runs it hears of it, too.
        let told = checked.before_run();
        if !told.is_empty() {
            screen::complain(told.trim_end_matches('\n'));
        }
        let order = self.order()?;
        let (store, state) = (self.at.files()?, self.at.state()?);
        interrupt::listen();
        let progress = Progress::new(self.way(), &checked.flow);
        let surroundings = Surroundings {
            store: &store,
            runs: state.join(RUNS),
            records: store.records(),
            environment: &place::environment,
            variable: &place::named,
            signal: &interrupt::signal,
            observer: &progress,
            post: Arc::new(Client),
        };
        let ended = progress.during(|| run::run(&checked.flow, order, &surroundings));
        progress.end();
        self.show(&ended.map_err(refused)?)
    }

    fn order(&self) -> Result<Order, CommandError> {
        let run = self.resume.clone().or_else(|| self.run_id.clone()).unwrap_or_else(run::new_run_id);
        if !run::is_run_id(&run) {
            return Err(CommandError::input(format!("`{run}` is no name of a run"))
                .hint("use up to 64 letters, digits, `-`, `_` and `.`, the first no dot"));
        }
        let input = self.input.as_deref().map(read).transpose()?;
        Ok(Order { run, task: self.task.clone(), input, resume: self.resume.is_some() })
    }

    /// How progress is shown: redrawn on a terminal, as plain lines elsewhere.
    fn way(&self) -> Way {
        if io::stderr().is_terminal() { Way::Terminal } else { Way::Lines }
    }

    fn show(&self, ended: &Ended) -> Result<(), CommandError> {
        match self.json || self.format == Format::Json {
            true => screen::line(&jackline_workflow::json_line(&ended.to_json()))?,
            false => screen::show(&ended.human())?,
        }
        if ended.complete() {
            return Ok(());
        }
        if ended.interrupted() {
            let error = CommandError::interrupted(format!("the run `{}` was interrupted", ended.run_id));
            return Err(error.hint(format!("`{}` takes it up again", self.again(&ended.run_id))));
        }
        Err(CommandError::not_fine())
    }

    /// The command line that takes a run up again, where this one kept it.
    fn again(&self, run: &str) -> String {
        let word = |path: &Path| quoted(&place::shown(path));
        let store = self.at.store.as_deref().map(|store| format!(" --store {}", word(store))).unwrap_or_default();
        format!("jackline workflow run {} --resume {run}{store}", word(&self.path))
    }
}

/// The values of an argument: JSON as it stands, else a file with it.
fn read(argument: &str) -> Result<Value, CommandError> {
    let inline = argument.trim_start().starts_with(['{', '[', '"']);
    let text = if inline { argument.as_bytes().to_vec() } else { contents(Path::new(argument))? };
    decode(&text).map_err(|fault| {
        CommandError::input(format!("the input is no JSON: {fault}"))
            .hint("give an object, such as `{\"task\": \"…\"}`, or a file with one")
    })
}

fn contents(path: &Path) -> Result<Vec<u8>, CommandError> {
    let mut text = Vec::new();
    let failed = |error: io::Error| CommandError::input(format!("cannot read `{}`: {error}", place::shown(path)));
    // Looked at before it is opened: opening a pipe that lies there would wait for ever.
    if !fs::metadata(path).map_err(failed)?.is_file() {
        return Err(CommandError::input(format!("cannot read `{}`: it is no regular file", place::shown(path))));
    }
    let file = File::open(path).map_err(failed)?;
    file.take(JSON_BYTES_MAX as u64 + 1).read_to_end(&mut text).map_err(failed)?;
    Ok(text)
}

fn refused(fault: RunFault) -> CommandError {
    match fault {
        RunFault::Store(fault) => fault.into(),
        RunFault::Disk { .. } | RunFault::Moved => CommandError::internal(fault.to_string()),
        RunFault::Unrunnable(ref reasons) => {
            let error = CommandError::input(fault.to_string());
            reasons.iter().fold(error, |error, reason| error.hint(reason.clone()))
        }
        RunFault::Exists(_) => {
            CommandError::input(fault.to_string()).hint("choose another name, or take it up with `--resume`")
        }
        RunFault::Unknown(_) => {
            CommandError::input(fault.to_string()).hint("`jackline sessions --all` lists runs, too")
        }
        RunFault::AtWork { .. } => {
            CommandError::input(fault.to_string()).hint("wait until it ends, or interrupt it first")
        }
        RunFault::Variable { .. } => CommandError::input(fault.to_string())
            .hint("set it as it was, so that it can be hidden, or begin a new run"),
        RunFault::Changed(_) => {
            CommandError::input(fault.to_string()).hint("put its files back as they were, or begin a new run")
        }
        RunFault::Unreadable { .. } => {
            CommandError::input(fault.to_string()).hint("`jackline audit verify` checks the record")
        }
        RunFault::Input(_) => {
            CommandError::input(fault.to_string()).hint("give it with `--input`, as a JSON object or a file with one")
        }
        RunFault::Reserved(_) => CommandError::input(fault.to_string()).hint("leave it out, or call it otherwise"),
        RunFault::Over { .. } => CommandError::input(fault.to_string()).hint("begin a new run"),
    }
}
