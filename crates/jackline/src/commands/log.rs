//! `jackline log`: a session as a timeline, and how it goes on.

use std::collections::VecDeque;
use std::thread;
use std::time::Duration;

use jackline_runtime::replay;
use jackline_runtime::store::Store;
use serde_json::Value;

use super::{Format, sessions};
use crate::error::CommandError;
use crate::place::Where;
use crate::{paint::Paint, screen, timeline};

/// How often a followed session is looked at again.
const FOLLOW_MS: u64 = 200;

/// Show what happened in a session, as a timeline
#[derive(Debug, clap::Args)]
pub(crate) struct Log {
    /// The session (default: the one of this workspace that was written last)
    #[arg(value_name = "SESSION")]
    session: Option<String>,
    /// Go on showing what happens
    #[arg(long, short)]
    follow: bool,
    /// Only what would have been denied, had it been enforced
    #[arg(long)]
    would_deny: bool,
    /// How many events, from the end (0: all)
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    last: usize,
    /// Timeline, or the records as JSON Lines
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    at: Where,
}

impl Log {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        let store = self.at.files()?;
        let session = chosen(&store, &self.at, self.session.as_deref())?;
        let mut reader = Reader { pending: None };
        let mut offset = 0;
        let mut shown: VecDeque<String> = VecDeque::new();
        loop {
            // The head first: what is appended while we read is left for the next look.
            let head = store.load(&session)?.head;
            self.collect(&store, &session, (offset, head.offset), &mut reader, &mut shown)?;
            offset = head.offset;
            for row in shown.drain(..) {
                screen::line(&row)?;
            }
            if !self.follow {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(FOLLOW_MS));
        }
    }

    fn collect(
        &self,
        store: &dyn Store,
        session: &str,
        (from, to): (u64, u64),
        reader: &mut Reader,
        shown: &mut VecDeque<String>,
    ) -> Result<(), CommandError> {
        if from >= to {
            return Ok(());
        }
        let mut at = from;
        for line in store.lines(session, from)? {
            let line = line?;
            at += line.len() as u64 + 1;
            let row = match self.format {
                Format::Json => Some(String::from_utf8_lossy(&line).into_owned()),
                Format::Human => reader.row(&line, self.would_deny)?,
            };
            shown.extend(row);
            if from == 0 && self.last > 0 && shown.len() > self.last {
                shown.pop_front();
            }
            if at >= to {
                break;
            }
        }
        Ok(())
    }
}

/// Pairs each event's record with its decision's.
struct Reader {
    pending: Option<Value>,
}

impl Reader {
    fn row(&mut self, line: &[u8], would_deny: bool) -> Result<Option<String>, CommandError> {
        let record = replay::record(line).map_err(|why| {
            CommandError::input(format!("a record cannot be read: {why}")).hint("run `jackline audit verify`")
        })?;
        let paint = Paint::for_stdout();
        match timeline::text(&record, "kind") {
            "decision" => {
                let event = self.pending.take().unwrap_or_default();
                let wanted = !would_deny || timeline::would_deny(&record);
                Ok(wanted.then(|| timeline::row(&event, &record, paint)))
            }
            "session.repaired" => Ok((!would_deny).then(|| paint.bold("        -- a torn record was cut --"))),
            "definition.changed" => Ok((!would_deny).then(|| paint.dim("        -- the definition changed --"))),
            "constraint.set" | "constraint.lapsed" | "stop.decided" => Ok(None),
            _ => {
                self.pending = Some(record);
                Ok(None)
            }
        }
    }
}

/// The named session, or the one of the workspace that was written last.
pub(crate) fn chosen(store: &dyn Store, at: &Where, named: Option<&str>) -> Result<String, CommandError> {
    if let Some(named) = named {
        let known = store.load(named)?.head.seq > 0;
        return if known { Ok(named.to_owned()) } else { Err(unknown(named)) };
    }
    let newest = sessions::list(store, at, false)?.into_iter().next();
    newest.map(|session| session.entry.id).ok_or_else(|| {
        CommandError::input("there is no session of this workspace yet")
            .hint("`jackline sessions --all` lists those of all workspaces")
    })
}

fn unknown(named: &str) -> CommandError {
    CommandError::input(format!("there is no session `{}`", timeline::shown(named)))
        .hint("`jackline sessions --all` lists them")
}
