//! `jackline store gc`: a person retires old sessions, and the old beginnings of long logs.

mod shown;

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use jackline_core::audit::{CHECKPOINT_BYTES_MAX, Checkpoint};
use jackline_core::time::parse_duration_ms;
use jackline_runtime::checkpoint;
use jackline_runtime::clock;
use jackline_runtime::retention::{
    self, Archive, ArchiveFault, Done, Fate, GONE_SESSION, Order, Planned, RetentionFault, Settings, Why,
};
use jackline_runtime::store::files::FileStore;
use jackline_runtime::store::{Head, Store as _};

use super::Format;
use crate::error::CommandError;
use crate::place::Where;
use crate::{exceptions, person, screen, timeline};

/// Retire what the store need not keep
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Store {
    Gc(Gc),
}

impl Store {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        match self {
            Self::Gc(command) => command.run(),
        }
    }
}

/// Retire old sessions, and the old beginnings of long logs
///
/// A session goes when it was not written to for long, unless it is open, parked, has open todos, is held or needed by file
/// policies, or its workspace has an exception in force. Of a log longer than 16 MiB the part before goes, between two
/// events; its state stays as it is. What is left verifies, and `jackline audit verify` tells what was retired.
#[derive(Debug, clap::Args)]
pub(crate) struct Gc {
    /// Only what was not written to for this long
    #[arg(long, value_name = "DURATION", default_value = "30d")]
    older_than: String,
    /// How many sessions of each workspace stay whatever their age, the latest ones
    #[arg(long, value_name = "N", default_value_t = 1)]
    keep: usize,
    /// Move the records there, a file for each session that `jackline audit verify FILE` checks
    #[arg(long, value_name = "DIR")]
    archive: Option<PathBuf>,
    /// Signed checkpoints that you hold, one per line: the sessions they name stay whole
    #[arg(long, value_name = "FILE")]
    checkpoint: Vec<PathBuf>,
    /// Show what would go, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask (a terminal must be attached all the same)
    #[arg(long)]
    yes: bool,
    /// How it is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    at: Where,
}

/// A session, what was planned for it, and what became of that.
struct Row {
    planned: Planned,
    done: Option<Result<Done, RetentionFault>>,
}

impl Gc {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        let settings = self.settings()?;
        let state = self.at.state()?;
        let store = FileStore::open(state.clone());
        let planned = retention::plan(&store, &state, &settings)?;
        let broken = planned.iter().any(|one| matches!(one.fate, Fate::Kept(Why::Broken(_))));
        let goes = planned.iter().any(|one| !matches!(one.fate, Fate::Kept(_)));
        let rows = if self.dry_run || !goes {
            planned.into_iter().map(|planned| Row { planned, done: None }).collect()
        } else {
            self.agreed(&planned)?;
            self.carry_out(&store, planned, &settings)?
        };
        let whole = rows.iter().any(|row| matches!(row.done, Some(Ok(Done::Retired { .. }))));
        let own = if whole { Some(store.load(GONE_SESSION)?.head) } else { None };
        self.show(&rows, own)?;
        let faults = rows.iter().filter_map(|row| row.done.as_ref()?.as_ref().err()).count();
        match (faults, broken) {
            (0, false) => Ok(()),
            (0, true) => Err(CommandError::found("a session does not verify, and was left alone")
                .hint("`jackline audit verify` names the record")),
            _ => Err(CommandError::internal(format!("{faults} of them could not be retired"))),
        }
    }

    fn settings(&self) -> Result<Settings, CommandError> {
        let older_than_ms = parse_duration_ms(&self.older_than).ok_or_else(|| {
            CommandError::input(format!("`{}` is no duration", timeline::shown(&self.older_than)))
                .hint("write it as in `30d`, `12h` or `90m`")
        })?;
        let mut signed = BTreeSet::new();
        for file in &self.checkpoint {
            signed.extend(named(file)?);
        }
        Ok(Settings { keep: self.keep, signed, ..Settings::older_than(clock::now(), older_than_ms) })
    }

    fn agreed(&self, planned: &[Planned]) -> Result<(), CommandError> {
        if self.format == Format::Json && !self.yes {
            return Err(CommandError::input("with `--format json` nothing can be asked")
                .hint("look with `--dry-run`, then answer with `--yes`"));
        }
        person::is_there()?;
        if !self.yes {
            shown::rows(planned)?;
        }
        person::agrees(&shown::question(planned, self.archive.as_deref()), self.yes)
    }

    fn carry_out(
        &self,
        store: &FileStore,
        planned: Vec<Planned>,
        settings: &Settings,
    ) -> Result<Vec<Row>, CommandError> {
        let archive = self.archive.as_deref().map(|dir| Archive::at(dir, &store.records())).transpose();
        let archive = archive.map_err(archive_error)?;
        let order = Order { at: settings.now, by: exceptions::by(), archive };
        let retiring = store.retiring()?;
        retiring.sweep()?;
        let carried_out = |planned: Planned| {
            let done = Some(retention::carry_out(store, &retiring, &planned, &order));
            Row { planned, done }
        };
        Ok(planned.into_iter().map(carried_out).collect())
    }

    /// Shows what became of each, and the head of the store's own chain where that tells of it.
    fn show(&self, rows: &[Row], own: Option<Head>) -> Result<(), CommandError> {
        if self.format == Format::Json {
            return Ok(screen::line(&shown::as_json(rows, own, self.dry_run).to_string())?);
        }
        for row in rows {
            if let Some(Err(fault)) = &row.done {
                CommandError::internal(told(fault)).warn();
            }
        }
        shown::summary(rows, self.dry_run)?;
        Ok(own.map_or(Ok(()), |head| screen::line(&format!("head     {GONE_SESSION}:{}:{}", head.seq, head.hash)))?)
    }
}

/// A fault with what caused it.
fn told(fault: &RetentionFault) -> String {
    let cause = std::error::Error::source(fault).map(|source| format!(": {source}")).unwrap_or_default();
    format!("{fault}{cause}")
}

fn archive_error(fault: ArchiveFault) -> CommandError {
    let inside = matches!(fault, ArchiveFault::Inside(_));
    let error = CommandError::input(fault.to_string());
    if inside { error.hint("name a directory elsewhere") } else { error }
}

/// The sessions that a file of checkpoints names.
fn named(file: &Path) -> Result<Vec<String>, CommandError> {
    let unreadable = |why: String| CommandError::input(format!("`{}` cannot be read: {why}", file.display()));
    let opened = std::fs::File::open(file).map_err(|fault| unreadable(fault.to_string()))?;
    let mut named = Vec::new();
    for line in BufReader::new(opened).split(b'\n') {
        let line = line.map_err(|fault| unreadable(fault.to_string()))?;
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let signed = line.get(..CHECKPOINT_BYTES_MAX.min(line.len())).unwrap_or_default();
        let point = Checkpoint::parse(signed).map_err(|fault| unreadable(fault.to_string()))?;
        checkpoint::verify(&point, None).map_err(|fault| unreadable(fault.to_string()))?;
        named.push(point.session);
    }
    Ok(named)
}
