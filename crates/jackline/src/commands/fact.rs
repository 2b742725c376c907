//! `jackline fact`: what agents recorded as facts, with the calls they rest on.

use super::{Format, log};
use crate::error::CommandError;
use crate::place::Where;
use crate::{paint::Paint, person, screen, timeline};

/// Show the facts of a session
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Fact {
    List(List),
}

/// List the facts that stand, with the calls they rest on
#[derive(Debug, clap::Args)]
pub(crate) struct List {
    /// The session (default: the workspace's most recent one)
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// How the list is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    at: Where,
}

impl Fact {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        let Self::List(list) = self;
        list.run()
    }
}

impl List {
    fn run(&self) -> Result<(), CommandError> {
        let session = log::chosen(&self.at.files()?, &self.at, self.session.as_deref())?;
        let statements = person::runtime(&self.at)?.session(&session)?.statements;
        if self.format == Format::Json {
            return Ok(screen::line(&statements.to_value().to_string())?);
        }
        if statements.is_empty() {
            return Ok(screen::line(&format!("no facts in session {}", timeline::shown(&session)))?);
        }
        let paint = Paint::for_stdout();
        for statement in statements.iter() {
            screen::line(&format!("{}  {}", paint.bold(statement.id.as_str()), timeline::harmless(&statement.text)))?;
            let sources: Vec<String> = statement.sources.iter().map(|source| timeline::shown(source)).collect();
            screen::line(&paint.dim(&format!("    from {}", sources.join(", "))))?;
        }
        Ok(())
    }
}
