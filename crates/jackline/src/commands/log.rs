//! `jackline log`: a session as a timeline, and how it goes on.

use std::collections::VecDeque;
use std::thread;
use std::time::Duration;

use jackline_runtime::replay;
use jackline_runtime::retention::Graves;
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
        let session = self.session(&store)?;
        let mut reader = Reader::default();
        let mut offset = 0;
        let mut shown: VecDeque<String> = VecDeque::new();
        loop {
            // The head first: what is appended while we read is left for the next look.
            let head = store.load(&session)?.head;
            // A log that is shorter than it was lost its beginning: what was shown of it is passed over.
            let from = if head.offset < offset { 0 } else { offset };
            if head.seq < reader.seen {
                // The session was retired, and began anew.
                reader = Reader::default();
            }
            self.collect(&store, &session, (from, head.offset), &mut reader, &mut shown)?;
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

    /// The session to show; one that is followed may have to begin yet.
    fn session(&self, store: &dyn Store) -> Result<String, CommandError> {
        let waits = self.follow && self.session.is_none();
        if waits && newest(store, &self.at)?.is_none() {
            screen::complain("note: there is no session of this workspace yet; waiting for the first");
            while newest(store, &self.at)?.is_none() {
                thread::sleep(Duration::from_millis(FOLLOW_MS));
            }
        }
        chosen(store, &self.at, self.session.as_deref())
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
            shown.extend(reader.beginning(&line, self.format));
            shown.extend(reader.row(&line, self.would_deny, self.format)?);
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

/// Gathers the records of an event until its decision, the last of them, is there.
#[derive(Default)]
struct Reader {
    event: Option<Value>,
    /// The records as they are kept.
    lines: Vec<String>,
    /// What else happened with this event, for people.
    notes: Vec<String>,
    /// The number of the last record that was read.
    seen: u64,
}

impl Reader {
    /// What is missing before the first line, for people.
    fn beginning(&self, line: &[u8], format: Format) -> Option<String> {
        if self.seen > 0 || format == Format::Json {
            return None;
        }
        timeline::missing(&replay::record(line).ok()?)
            .map(|last| Paint::for_stdout().dim(&format!("-- {} --", timeline::missing_words(last))))
    }

    fn row(&mut self, line: &[u8], would_deny: bool, format: Format) -> Result<Option<String>, CommandError> {
        let record = replay::record(line).map_err(|why| {
            CommandError::input(format!("a record cannot be read: {why}")).hint("run `jackline audit verify`")
        })?;
        let seq = record.get("seq").and_then(Value::as_u64).unwrap_or_default();
        if seq <= self.seen {
            return Ok(None);
        }
        self.seen = seq;
        if timeline::is_of_retention(&record) {
            let row = || timeline::retired(&record, Paint::for_stdout());
            let row = if format == Format::Json { String::from_utf8_lossy(line).into_owned() } else { row() };
            return Ok((!would_deny).then_some(row));
        }
        if timeline::is_of_run(&record) {
            let row = || timeline::happened(&record, Paint::for_stdout());
            let row = if format == Format::Json { String::from_utf8_lossy(line).into_owned() } else { row() };
            return Ok((!would_deny).then_some(row));
        }
        self.lines.push(String::from_utf8_lossy(line).into_owned());
        match timeline::text(&record, "kind") {
            "decision" => {
                let all = std::mem::replace(self, Self { seen: seq, ..Self::default() });
                let wanted = !would_deny || timeline::would_deny(&record);
                Ok(wanted.then(|| all.shown(&record, format)))
            }
            "session.repaired" if record.pointer("/data/restored_at").is_some() => {
                self.note("records that a loss of power had taken were written back")
            }
            "session.repaired" => self.note("a torn record was cut"),
            "definition.changed" => self.note("the definition changed"),
            "constraint.lapsed" => {
                let halt = record.pointer("/before/type").and_then(Value::as_str) == Some("HALT");
                self.note(if halt { "the halt was lifted" } else { "a constraint lapsed" })
            }
            "exception.used" => {
                let used = record.pointer("/data/exception").and_then(timeline::excepted).unwrap_or_default();
                self.note(&format!("exception {used}"))
            }
            "policy.settled" if record.pointer("/data/settled_by").and_then(Value::as_str) == Some("promise") => {
                let name = record.pointer("/data/name").and_then(Value::as_str).unwrap_or_default();
                self.note(&format!("the agent promised that nothing needs to change: {}", timeline::shown(name)))
            }
            kind @ ("feedback.given" | "feedback.failed" | "feedback.held") => {
                self.note(&timeline::advised(kind, &record))
            }
            "stop.decided" => match record.pointer("/data/parked").and_then(Value::as_str) {
                Some(reason) => self.note(&format!("parked: {}", timeline::shown(reason))),
                None => Ok(None),
            },
            "constraint.set" => Ok(None),
            // The event's own record comes first; what follows tells what became of it.
            _ if self.event.is_some() => timeline::noted(&record).map_or(Ok(None), |note| self.note(&note)),
            _ => {
                self.event = Some(record);
                Ok(None)
            }
        }
    }

    fn note(&mut self, note: &str) -> Result<Option<String>, CommandError> {
        if !self.notes.iter().any(|known| known == note) {
            self.notes.push(note.to_owned());
        }
        Ok(None)
    }

    fn shown(self, decision: &Value, format: Format) -> String {
        if format == Format::Json {
            return self.lines.join("\n");
        }
        let paint = Paint::for_stdout();
        let mut row = timeline::row(&self.event.unwrap_or_default(), decision, paint);
        for note in &self.notes {
            row.push_str(&format!("\n{:25}{}", "", paint.dim(&format!("-- {note} --"))));
        }
        row
    }
}

/// The named session, or the one of the workspace that was written last.
pub(crate) fn chosen(store: &dyn Store, at: &Where, named: Option<&str>) -> Result<String, CommandError> {
    if let Some(named) = named {
        let known = store.load(named)?.head.seq > 0;
        return if known { Ok(named.to_owned()) } else { Err(unknown(store, named)) };
    }
    newest(store, at)?.ok_or_else(|| {
        CommandError::input("there is no session of this workspace yet")
            .hint("`jackline sessions --all` lists those of all workspaces")
    })
}

fn newest(store: &dyn Store, at: &Where) -> Result<Option<String>, CommandError> {
    Ok(sessions::list(store, at, false)?.into_iter().next().map(|session| session.entry.id))
}

fn unknown(store: &dyn Store, named: &str) -> CommandError {
    let shown = timeline::shown(named);
    let graves = Graves::of(store).unwrap_or_default();
    let Some(gone) = graves.session(named).last() else {
        return CommandError::input(format!("there is no session `{shown}`"))
            .hint("`jackline sessions --all` lists them");
    };
    let (at, by) = (gone.at.to_string(), timeline::shown(&gone.by));
    let error =
        CommandError::input(format!("session `{shown}` was retired on {} by {by}", at.get(..10).unwrap_or_default()));
    match &gone.archive {
        Some(archive) => error.hint(format!("its records were moved to `{}`", timeline::harmless(archive))),
        None => error.hint("its records were not archived"),
    }
}
