//! `jackline session show`: a session on one page, for whoever reviews what an agent did.

use crate::commands::log;
use crate::error::CommandError;
use crate::place::Where;
use crate::review::Review;
use crate::{paint::Paint, person, screen};

/// Show a session on one page: what was asked, done, proven and left open
#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    /// The session (default: the workspace's most recent one)
    #[arg(value_name = "SESSION")]
    session: Option<String>,
    /// How it is printed: for a terminal, for a pull request, or for programs
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    at: Where,
}

/// How a page is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Format {
    #[default]
    Human,
    Markdown,
    Json,
}

impl Show {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        let store = self.at.files()?;
        let session = log::chosen(&store, &self.at, self.session.as_deref())?;
        let state = person::runtime(&self.at)?.session(&session)?;
        let review = Review::of(&store, &session, state)?;
        Ok(screen::show(&match self.format {
            Format::Json => format!("{}\n", review.to_value()),
            Format::Markdown => review.markdown(),
            Format::Human => review.human(Paint::for_stdout()),
        })?)
    }
}
