//! `jackline sessions`: the sessions of the workspace, newest first.

use jackline_runtime::replay;
use jackline_runtime::store::{SessionEntry, Store};
use serde_json::{Value, json};

use super::Format;
use crate::error::CommandError;
use crate::place::Where;
use crate::{paint::Paint, screen, timeline};

/// List the sessions of the workspace
#[derive(Debug, clap::Args)]
pub(crate) struct Sessions {
    /// Sessions of every workspace
    #[arg(long)]
    all: bool,
    /// How the list is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    at: Where,
}

/// A session as the list shows it.
pub(crate) struct Listed {
    pub(crate) entry: SessionEntry,
    /// Its first record.
    pub(crate) first: Value,
}

impl Listed {
    pub(crate) fn workspace(&self) -> &str {
        timeline::text(&self.first, "workspace")
    }
}

impl Sessions {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        let store = self.at.files()?;
        let listed = list(&store, &self.at, self.all)?;
        if self.format == Format::Json {
            let sessions: Vec<Value> = listed.iter().map(as_json).collect();
            return Ok(screen::line(&json!({ "sessions": sessions }).to_string())?);
        }
        if listed.is_empty() {
            return Ok(screen::line("no sessions here yet")?);
        }
        let paint = Paint::for_stdout();
        for session in &listed {
            screen::line(&row(session, store.load(&session.entry.id)?.head.seq, self.all, paint))?;
        }
        Ok(())
    }
}

/// The sessions of a workspace (or all), the one written last first.
pub(crate) fn list(store: &dyn Store, at: &Where, all: bool) -> Result<Vec<Listed>, CommandError> {
    let here = at.workspace()?;
    let mut listed: Vec<Listed> = Vec::new();
    for entry in store.sessions()? {
        let first = store.lines(&entry.id, 0)?.next().transpose()?;
        let first = first.and_then(|line| replay::record(&line).ok()).unwrap_or_default();
        listed.push(Listed { entry, first });
    }
    let is_here = |session: &Listed| !session.workspace().is_empty() && here.starts_with(session.workspace());
    listed.retain(|session| all || is_here(session));
    listed.sort_by(|a, b| (b.entry.modified, &a.entry.id).cmp(&(a.entry.modified, &b.entry.id)));
    Ok(listed)
}

fn row(session: &Listed, records: u64, all: bool, paint: Paint) -> String {
    let began = timeline::text(&session.first, "at").get(..19).unwrap_or_default().replace('T', " ");
    let host = Some(timeline::text(&session.first, "host")).filter(|host| !host.is_empty()).unwrap_or("-");
    let host = timeline::shown(host);
    let place = if all { format!("  {}", timeline::harmless(session.workspace())) } else { String::new() };
    let id = timeline::shown(&session.entry.id);
    format!("{}  {began}  {host:<9} {records:>7} records{}", paint.bold(&format!("{id:<36}")), paint.dim(&place))
}

fn as_json(session: &Listed) -> Value {
    json!({
        "session": session.entry.id,
        "workspace": session.workspace(),
        "began": session.first.get("at"),
        "host": session.first.get("host"),
        "modified": session.entry.modified.to_string(),
        "bytes": session.entry.bytes,
    })
}
