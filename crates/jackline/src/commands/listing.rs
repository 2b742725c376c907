//! Lists of what a session keeps: which session is meant, and what all of them print alike.

use jackline_core::session::Session;
use serde_json::Value;

use super::{Format, log};
use crate::error::CommandError;
use crate::place::Where;
use crate::{person, screen, timeline};

/// Which session is listed, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct Listing {
    /// The session (default: the workspace's most recent one)
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// How the list is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    at: Where,
}

impl Listing {
    /// The session's name and what is remembered of it.
    pub(crate) fn session(&self) -> Result<(String, Session), CommandError> {
        let name = log::chosen(&self.at.files()?, &self.at, self.session.as_deref())?;
        let session = person::runtime(&self.at)?.session(&name)?;
        Ok((name, session))
    }

    /// Prints what needs no rows, the list as JSON or that it is empty; and whether that was all.
    pub(crate) fn is_told(
        &self,
        what: &str,
        session: &str,
        empty: bool,
        value: impl FnOnce() -> Value,
    ) -> Result<bool, CommandError> {
        if self.format == Format::Json {
            screen::line(&value().to_string())?;
        } else if empty {
            screen::line(&format!("no {what} in session {}", timeline::shown(session)))?;
        }
        Ok(empty || self.format == Format::Json)
    }
}
