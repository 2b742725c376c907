//! `jackline audit`: verify, export, show and sign the audit log.

mod checkpoint;
mod verify;

pub(super) use verify::{broken_of, odd_of};

use std::io::{self, Write as _};

use jackline_runtime::replay;
use jackline_runtime::store::Store as _;
use serde_json::Value;

use super::{log, sessions};
use crate::error::CommandError;
use crate::place::Where;
use crate::{screen, timeline};

/// Verify, export and sign the audit log
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Audit {
    Verify(verify::Verify),
    Export(Export),
    Show(Show),
    Checkpoint(checkpoint::Sign),
}

impl Audit {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        match self {
            Self::Verify(command) => command.run(),
            Self::Export(command) => command.run(),
            Self::Show(command) => command.run(),
            Self::Checkpoint(command) => command.run(),
        }
    }
}

/// Print records as JSON Lines
///
/// Without `--session`: all sessions of the workspace, one after another.
#[derive(Debug, clap::Args)]
pub(crate) struct Export {
    /// Only this session
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    #[command(flatten)]
    at: Where,
}

impl Export {
    fn run(&self) -> Result<(), CommandError> {
        let store = self.at.files()?;
        let ids = match &self.session {
            Some(named) => vec![log::chosen(&store, &self.at, Some(named))?],
            None => sessions::list(&store, &self.at, false)?.into_iter().map(|session| session.entry.id).collect(),
        };
        let mut out = io::BufWriter::new(io::stdout().lock());
        for id in ids {
            let mut first = true;
            for line in store.lines(&id, 0)? {
                let line = line?;
                if std::mem::take(&mut first) {
                    note_missing(&id, &line);
                }
                out.write_all(&line)?;
                out.write_all(b"\n")?;
            }
        }
        Ok(out.flush()?)
    }
}

/// Says beside an export that its beginning is not in it.
fn note_missing(session: &str, first: &[u8]) {
    let missing = replay::record(first).ok().as_ref().and_then(timeline::missing);
    if let Some(last) = missing {
        let (session, words) = (timeline::shown(session), timeline::missing_words(last));
        screen::complain(&format!("note: {session}: {words}"));
    }
}

/// Show one record, or all of a session, laid out for reading
#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    /// The session
    #[arg(value_name = "SESSION")]
    session: String,
    /// The record's number
    #[arg(value_name = "SEQ")]
    seq: Option<u64>,
    #[command(flatten)]
    at: Where,
}

impl Show {
    fn run(&self) -> Result<(), CommandError> {
        let store = self.at.files()?;
        let session = log::chosen(&store, &self.at, Some(&self.session))?;
        let (mut found, mut missing) = (false, None);
        for line in store.lines(&session, 0)? {
            let record = replay::record(&line?).map_err(|why| {
                CommandError::input(format!("a record cannot be read: {why}")).hint("run `jackline audit verify`")
            })?;
            let number = record.get("seq").and_then(Value::as_u64);
            missing = missing.or(Some(timeline::missing(&record).unwrap_or_default()));
            if self.seq.is_none() || self.seq == number {
                found = true;
                screen::line(&escaped(&serde_json::to_string_pretty(&record).unwrap_or_default()))?;
            }
        }
        if found {
            Ok(())
        } else if let (Some(seq), Some(last)) = (self.seq.filter(|seq| *seq > 0 && Some(*seq) <= missing), missing) {
            Err(retired(seq, last))
        } else {
            Err(CommandError::input("this session has no record of that number")
                .hint("`jackline log` shows the numbers after `#`"))
        }
    }
}

/// That a record which is asked for was retired.
pub(super) fn retired(seq: u64, last: u64) -> CommandError {
    CommandError::input(format!("record {seq} was retired, with all up to {last}"))
        .hint("`jackline audit verify` tells when; an archive may hold it")
}

/// JSON leaves some control characters as they are; a terminal must not obey them.
fn escaped(json: &str) -> String {
    let escape = |c: char| if c.is_control() && c != '\n' { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    json.chars().map(escape).collect()
}
