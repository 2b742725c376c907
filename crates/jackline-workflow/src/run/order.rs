//! What is asked for: a task, values to begin with, a name for the run; or a run to take up again.

use std::collections::BTreeMap;

use jackline_core::sha::Digest;
use jackline_runtime::clock;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::fault::RunFault;
use super::journal::Journal;
use super::kept::Kept;
use super::settings::Settings;
use crate::rules::RESERVED_KEYS;

/// Characters of a run's name: it is a directory's too.
const RUN_ID_CHARS_MAX: usize = 64;
/// Digits that tell runs of one millisecond apart.
const RUN_ID_DIGITS: usize = 6;

/// What is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    /// The run's name; see [`is_run_id`].
    pub run: String,
    pub task: Option<String>,
    /// Values to begin with: an object, or a text that is the task.
    pub input: Option<Value>,
    /// Whether a run of this name is taken up again.
    pub resume: bool,
}

/// What a run is to do, as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Wanted {
    pub(super) task: String,
    /// The shared state at the start.
    pub(super) start: Map<String, Value>,
    /// Digests of what sensitive variables were set to: what they were then is in answers, and must be known to be hidden.
    #[serde(default)]
    pub(super) secrets: BTreeMap<String, String>,
}

/// Whether a text can be a run's name: letters, digits, `-`, `_` and `.`, the first no dot.
#[must_use]
pub fn is_run_id(text: &str) -> bool {
    let fine = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    !text.is_empty() && text.len() <= RUN_ID_CHARS_MAX && !text.starts_with('.') && text.chars().all(fine)
}

/// A name for a run that no other has: the time, and some digits of what tells this process apart.
#[must_use]
pub fn new_run_id() -> String {
    let now = clock::now();
    let plain: String = now.to_string().chars().filter(char::is_ascii_alphanumeric).collect();
    let apart = format!("{now} {} {:?}", std::process::id(), std::thread::current().id());
    let digits = Digest::of(apart.as_bytes()).hex();
    format!("run-{}-{}", plain.to_lowercase(), digits.get(..RUN_ID_DIGITS).unwrap_or_default())
}

impl Order {
    /// Whether a run of this name can begin, or be taken up again, by what there is of it.
    pub(super) fn check(&self, there: bool) -> Result<(), RunFault> {
        if !is_run_id(&self.run) {
            return Err(RunFault::Input(format!("`{}` is no name of a run", self.run)));
        }
        match (self.resume, there) {
            (false, false) | (true, true) => Ok(()),
            (false, true) => Err(RunFault::Exists(self.run.clone())),
            (true, false) => Err(RunFault::Unknown(self.run.clone())),
        }
    }

    /// Whether its records let a run be taken up again.
    pub(super) fn check_records(&self, journal: &Journal, digest: &str) -> Result<(), RunFault> {
        if !self.resume {
            return Ok(());
        }
        // A run that somebody ended by a signal was interrupted; every other end is one.
        if let Some((status, reason)) = journal.ended.clone().filter(|(status, _)| status != "aborted") {
            return Err(RunFault::Over { id: self.run.clone(), status, reason });
        }
        if journal.definition != digest {
            return Err(RunFault::Changed(self.run.clone()));
        }
        Ok(())
    }

    /// What a run that is taken up again was to do when it began.
    pub(super) fn again(
        &self,
        (journal, kept): (&Journal, &Kept),
        secrets: &BTreeMap<String, String>,
    ) -> Result<Wanted, RunFault> {
        let secrets = self.digests(secrets);
        let lost = || RunFault::Unreadable { id: self.run.clone(), why: "what it was to do is not kept".to_owned() };
        let value = journal.order.as_ref().and_then(|digest| kept.get(digest)).ok_or_else(lost)?;
        let wanted: Wanted = serde_json::from_value(value).map_err(|_| lost())?;
        let mut names = wanted.secrets.keys().chain(secrets.keys());
        match names.find(|name| wanted.secrets.get(*name) != secrets.get(*name)) {
            Some(name) => Err(RunFault::Variable { id: self.run.clone(), name: name.clone() }),
            None => Ok(wanted),
        }
    }

    /// What a new run is to do.
    pub(super) fn anew(&self, settings: &Settings, secrets: &BTreeMap<String, String>) -> Result<Wanted, RunFault> {
        let (given, said) = match self.input.clone().unwrap_or_default() {
            Value::Null => (Map::new(), None),
            Value::String(task) => (Map::new(), Some(task)),
            Value::Object(given) => (given, None),
            _ => return Err(RunFault::Input("it is neither an object nor a text".to_owned())),
        };
        let mut start = settings.initial.clone();
        start.extend(given);
        let in_input = match start.remove("task") {
            None | Some(Value::Null) => None,
            Some(Value::String(task)) => Some(task),
            Some(other) => return Err(RunFault::Input(format!("`task` is `{other}`, and a task is a text"))),
        };
        let task = self.task.clone().or(said).or(in_input);
        refused(settings, &start)?;
        Ok(Wanted { task: task.unwrap_or_default(), start, secrets: self.digests(secrets) })
    }

    /// What values are told apart by, in this run alone.
    fn digests(&self, secrets: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let digest = |name: &str, value: &str| Digest::of_parts([&self.run, name, value].map(str::as_bytes)).hex();
        secrets.iter().map(|(name, value)| (name.clone(), digest(name, value))).collect()
    }
}

/// What the state may not begin with (R13), and what it must.
fn refused(settings: &Settings, start: &Map<String, Value>) -> Result<(), RunFault> {
    let taken = |key: &&String| RESERVED_KEYS.contains(&key.as_str()) || settings.names().any(|name| name == **key);
    if let Some(key) = start.keys().find(taken) {
        return Err(RunFault::Reserved(key.clone()));
    }
    match settings.required.iter().find(|name| name.as_str() != "task" && !start.contains_key(*name)) {
        Some(missing) => {
            Err(RunFault::Input(format!("`{missing}` is missing, and `state.required_fields` asks for it")))
        }
        None => Ok(()),
    }
}
