//! `jackline policy status`: the queue, and whether the audit log says the same.

use std::collections::BTreeMap;

use jackline_core::files::queue::{Entry, SettledBy, Status as State};
use jackline_core::session::Session;
use jackline_runtime::Runtime;
use jackline_runtime::files::queue::Queue;
use serde_json::json;

use super::{Workspace, none_found};
use crate::commands::Format;
use crate::error::CommandError;
use crate::place::Where;
use crate::{screen, timeline};

/// Sessions that are asked what they say of an entry; others are told of as not asked.
const SESSIONS_MAX: usize = 64;
/// Files that are named for each entry.
const FILES_SHOWN_MAX: usize = 3;

/// Show how file policies stand
///
/// The queue is a view for people: an entry that the log of its session does not back is marked, and does not count.
#[derive(Debug, clap::Args)]
pub(crate) struct Status {
    /// How it is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    at: Where,
}

impl Status {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        let workspace = Workspace::of(&self.at)?;
        let folders = workspace.folders();
        let mut sessions = Sessions { runtime: workspace.runtime(false)?, known: BTreeMap::new() };
        let (mut entries, mut corrupt) = (Vec::new(), Vec::new());
        for folder in &folders {
            let (found, damaged) = Queue::of(folder).all();
            let placed = |entry: Entry| Entry { file: folder.file(&entry.policy_name), ..entry };
            entries.extend(found.into_iter().map(placed));
            corrupt.extend(damaged);
        }
        let rows: Vec<(Entry, bool)> = entries
            .into_iter()
            .map(|entry| {
                let backed = sessions.back(&entry);
                (entry, backed)
            })
            .collect();
        if self.format == Format::Json {
            let rows: Vec<_> = rows.iter().map(|(entry, backed)| json!({ "entry": entry, "backed": backed })).collect();
            return Ok(screen::line(&json!({ "entries": rows, "damaged": corrupt }).to_string())?);
        }
        if folders.is_empty() {
            return Ok(screen::line(&none_found(&workspace))?);
        }
        if rows.is_empty() && corrupt.is_empty() {
            screen::line("the queue is empty")?;
        }
        rows.iter().try_for_each(|(entry, backed)| screen::line(&line(entry, *backed)))?;
        corrupt.iter().try_for_each(|name| screen::line(&format!("damaged: {name} ({})", becoming(name))))?;
        Ok(())
    }
}

/// What becomes of a damaged entry, by its file's name: of those that are settled there may be many, and no stop reads them
/// all.
fn becoming(name: &str) -> &'static str {
    let status = |status: State| name.ends_with(&format!(".{}.json", status.name()));
    if status(State::Queued) || status(State::Failed) {
        "the next stop records and removes it, and writes it anew if it still fires"
    } else {
        "it is recorded and removed when it fires again; `jackline policy clear` removes it now"
    }
}

/// What sessions remember, each loaded once.
struct Sessions {
    runtime: Runtime,
    known: BTreeMap<String, Option<Session>>,
}

impl Sessions {
    fn back(&mut self, entry: &Entry) -> bool {
        // What never fired is told by the files themselves, each time anew; what did is on record.
        let looked_up =
            matches!(entry.settled_by, Some(SettledBy::Safety | SettledBy::Satisfied)) && entry.action_result.is_none();
        if !self.known.contains_key(&entry.session) && self.known.len() >= SESSIONS_MAX {
            return looked_up;
        }
        let load = || self.runtime.session(&entry.session).ok();
        let session = self.known.entry(entry.session.clone()).or_insert_with(load);
        let of = (entry.policy_name.as_str(), entry.file.as_str());
        let kept = session.as_ref().and_then(|session| session.files.of(of, &entry.trigger_hash));
        kept.map_or(looked_up, |kept| kept.status == entry.status || looked_up && kept.status.is_settled())
    }
}

fn line(entry: &Entry, backed: bool) -> String {
    let shown: Vec<String> =
        entry.trigger_files.iter().take(FILES_SHOWN_MAX).map(|file| timeline::shown(file)).collect();
    let more = entry.trigger_files.len().saturating_sub(FILES_SHOWN_MAX);
    let files = if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") };
    let by = entry.settled_by.map(|by| format!(" by {}", by.name())).unwrap_or_default();
    let doubt = if backed { "" } else { " [the log does not say so: it does not count]" };
    let name = timeline::shown(&entry.policy_name);
    format!("{} {}{by} {name}: {files}{doubt}", entry.trigger_hash, entry.status.name())
}
