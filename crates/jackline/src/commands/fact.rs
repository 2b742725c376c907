//! `jackline fact`: what agents recorded as facts, with the calls they rest on.

use super::listing::Listing;
use crate::error::CommandError;
use crate::{paint::Paint, screen, timeline};

/// Show the facts of a session
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Fact {
    List(List),
}

/// List the facts that stand, with the calls they rest on
#[derive(Debug, clap::Args)]
pub(crate) struct List {
    #[command(flatten)]
    of: Listing,
}

impl Fact {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        let Self::List(list) = self;
        list.run()
    }
}

impl List {
    fn run(&self) -> Result<(), CommandError> {
        let (name, session) = self.of.session()?;
        let statements = session.statements;
        if self.of.is_told("facts", &name, statements.is_empty(), || statements.to_value())? {
            return Ok(());
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
