//! `jackline workflow`: workflows of agents, checked, explained, drawn, run, judged and begun.

mod begin;
mod explain;
mod gates;
mod graph;
mod progress;
mod run;
mod schema;
mod show;
mod spent;
mod validate;

use std::path::Path;

use jackline_workflow::report::Validated;
use jackline_workflow::{Absent, MANIFEST_FILE, load};

use crate::error::CommandError;
use crate::place;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Workflow {
    Validate(validate::Validate),
    Explain(explain::Explain),
    Graph(graph::Graph),
    Run(run::Run),
    Show(show::Show),
    Gates(gates::Gates),
    New(begin::New),
    Schema(schema::Schema),
}

impl Workflow {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        match self {
            Self::Validate(command) => command.run(),
            Self::Explain(command) => command.run(),
            Self::Graph(command) => command.run(),
            Self::Run(command) => command.run(),
            Self::Show(command) => command.run(),
            Self::Gates(command) => command.run(),
            Self::New(command) => command.run(),
            Self::Schema(command) => command.run(),
        }
    }
}

/// Reads a workflow and holds it against its rules.
fn validated(path: &Path) -> Result<Validated, CommandError> {
    let flow = load(path).map_err(|absent| nothing(path, &absent))?;
    let report = jackline_workflow::validate(&flow);
    Ok(Validated { path: path.display().to_string(), flow, report })
}

fn nothing(path: &Path, absent: &Absent) -> CommandError {
    let error = CommandError::input(format!("there is no workflow at `{}`", place::shown(path)));
    if path.is_dir() {
        return error.hint(format!(
            "a workflow is a directory with a `{MANIFEST_FILE}`; `jackline workflow new NAME` writes one"
        ));
    }
    error.hint(format!("`{}` is not there", place::shown(&absent.path)))
}
