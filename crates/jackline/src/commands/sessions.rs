//! `jackline sessions`: the sessions of the workspace, newest first.

use std::path::Path;

use jackline_core::completion::Stopped;
use jackline_runtime::store::{SessionEntry, Store};
use jackline_runtime::{Runtime, replay, retention};
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
    /// Its first record; of one whose beginning was retired the first that is left, with the session's own beginning.
    pub(crate) first: Value,
}

/// What a session has come to.
struct State {
    records: u64,
    /// How its last stop ended, unless it went on since.
    stopped: Option<Stopped>,
    /// Why it parked, if that is how.
    parked: Option<String>,
}

impl Listed {
    pub(crate) fn workspace(&self) -> &str {
        timeline::text(&self.first, "workspace")
    }

    /// Whether it is a session of a workspace that this place is in.
    pub(crate) fn is_at(&self, here: &Path) -> bool {
        !self.workspace().is_empty() && here.starts_with(self.workspace())
    }
}

impl Sessions {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        let store = self.at.files()?;
        let listed = list(&store, &self.at, self.all)?;
        let runtime = Runtime::builder().state(self.at.state()?).definitions(self.at.definitions_read_only()?).build();
        let runtime = runtime.map_err(|fault| CommandError::internal(fault.to_string()))?;
        let state = |session: &Listed| -> Result<State, CommandError> {
            let (id, records) = (&session.entry.id, store.load(&session.entry.id)?.head.seq);
            // A session that cannot be read is listed all the same; `audit verify` says what is wrong with it.
            let session = runtime.session(id).ok();
            let parked = session.as_ref().and_then(|session| session.parked_for()).map(str::to_owned);
            Ok(State { records, stopped: session.and_then(|session| session.stopped), parked })
        };
        if self.format == Format::Json {
            let each = |session: &Listed| Ok(as_json(session, &state(session)?));
            let sessions = listed.iter().map(each).collect::<Result<Vec<Value>, CommandError>>()?;
            return Ok(screen::line(&json!({ "sessions": sessions }).to_string())?);
        }
        if listed.is_empty() {
            return Ok(screen::line("no sessions here yet")?);
        }
        let paint = Paint::for_stdout();
        for session in &listed {
            screen::line(&row(session, &state(session)?, self.all, paint))?;
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
        let mut first = first.and_then(|line| replay::record(&line).ok()).unwrap_or_default();
        begin(store, &entry.id, &mut first);
        listed.push(Listed { entry, first });
    }
    listed.retain(|session| all || session.is_at(&here));
    listed.sort_by(|a, b| (b.entry.modified, &a.entry.id).cmp(&(a.entry.modified, &b.entry.id)));
    Ok(listed)
}

/// Of a log whose beginning was retired, what was carried over tells when and where the session began.
fn begin(store: &dyn Store, id: &str, first: &mut Value) {
    let before = timeline::missing(first).and_then(|last| retention::before(store, id, last));
    let (Some(before), Value::Object(members)) = (before, first) else { return };
    members.extend(before.began.map(|began| ("at".to_owned(), json!(began.to_string()))));
    members.extend(before.workspace.map(|workspace| ("workspace".to_owned(), json!(workspace))));
}

fn row(session: &Listed, State { records, stopped, parked }: &State, all: bool, paint: Paint) -> String {
    let began = timeline::text(&session.first, "at").get(..19).unwrap_or_default().replace('T', " ");
    let host = Some(timeline::text(&session.first, "host")).filter(|host| !host.is_empty()).unwrap_or("-");
    let host = timeline::shown(host);
    let place = if all { format!("  {}", timeline::harmless(session.workspace())) } else { String::new() };
    let id = timeline::shown(&session.entry.id);
    let why = parked.as_deref().map(|why| format!(": {}", timeline::shown(why))).unwrap_or_default();
    let ended = stopped.map(|stopped| format!("  {}{why}", stopped.name())).unwrap_or_default();
    let id = paint.bold(&format!("{id:<36}"));
    let retired = timeline::missing(&session.first).map(|last| format!(", {last} of them retired")).unwrap_or_default();
    format!("{id}  {began}  {host:<9} {records:>7} records{retired}{ended}{}", paint.dim(&place))
}

fn as_json(session: &Listed, state: &State) -> Value {
    json!({
        "session": session.entry.id,
        "workspace": session.workspace(),
        "began": session.first.get("at"),
        "host": session.first.get("host"),
        "modified": session.entry.modified.to_string(),
        "bytes": session.entry.bytes,
        "retired": timeline::missing(&session.first),
        "stopped": state.stopped,
        "parked": state.parked,
    })
}
