//! File policies in the pipeline: answers what the core asks about them, and keeps the queue after the record.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use jackline_core::event::Event;
use jackline_core::files::queue::Write;
use jackline_core::files::seen::{Ask, Backed, Due, Found, PolicyFault, Seen};
use jackline_core::files::settings::DIR_DEFAULT;
use jackline_core::probe::Fact;
use jackline_core::session::Session;
use jackline_core::sha::Digest;

use super::{Judging, Runtime};
use crate::files::actions::Acting;
use crate::files::queue::{self, Queue};
use crate::files::{self, ACTIONS_MS_MAX, Detection, Fired, Folder, LOOK_MS_MAX, Place, Question, promises};
use crate::runner::artifacts::Artifacts;
use crate::runner::{SHOWN_BYTES_MAX, short};

/// Other sessions whose memory is looked at to back what the queue says; a workspace has few at a time.
const SESSIONS_BACKING_MAX: usize = 8;
/// How the id of a session begins in which a person looks at policies by command.
pub const CHECKING_SESSION: &str = "policies-";

/// What was found for one event, in full: commands run over more files than a record keeps.
#[derive(Debug, Default)]
pub(super) struct FilesSeen {
    detections: BTreeMap<Option<String>, (Folder, Detection)>,
    /// When the commands of this event must have come to their end, once the first of them ran.
    acting_until: Option<Instant>,
}

impl Runtime {
    pub(super) fn files(&self, judging: &Judging, event: &Event, ask: &Ask, seen: &mut FilesSeen) -> Fact {
        let answered = match ask {
            Ask::Detect { dir, base, baseline, held, .. } => {
                let holds = !event.session.starts_with(CHECKING_SESSION);
                let question = Question { base: base.as_deref(), baseline: baseline.as_ref(), held, holds };
                self.detect(judging, event, (dir.as_ref(), question), seen)
            }
            Ask::Act { dir, due } => self.act(judging, dir, due, seen),
            Ask::Baseline { dir, at } => {
                let Some(folder) = files::find(root(judging), dir.as_deref()) else { return Fact::Absent };
                let Some(git) = judging.prober.git() else {
                    return Fact::Unknown("there is no git program".to_owned());
                };
                files::capture(git, &folder, (&event.session, *at)).map(|kept| kept.map(Seen::Baseline))
            }
            Ask::Names { dir } => Ok(files::find(root(judging), dir.as_deref()).map(|folder| files::names_of(&folder))),
            Ask::Promises { file, offset } => promises::read(Path::new(file), *offset, event.agent.is_some())
                .map(|(said, end)| Some(Seen::Said { said, end }))
                .map_err(|fault| format!("the transcript cannot be read: {fault}")),
        };
        answered.map_or_else(Fact::Unknown, |seen| seen.map_or(Fact::Absent, Fact::Files))
    }

    fn detect(
        &self,
        judging: &Judging,
        event: &Event,
        (dir, question): (Option<&String>, Question<'_>),
        seen: &mut FilesSeen,
    ) -> Result<Option<Seen>, String> {
        let folder = match files::look_for(root(judging), dir.map(String::as_str)) {
            Place::Folder(folder) => *folder,
            // Its owner switched it off, with all that was outstanding.
            Place::Off => return Ok(Some(Seen::Detected(Found::default()))),
            Place::Nothing => return Ok(nothing_there(dir, question)),
        };
        self.patience.iter().for_each(|patience| patience(LOOK_MS_MAX));
        let detection = files::detect(judging.prober.git(), &folder, question)?;
        let mut found = detection.told();
        self.back(&folder, event, &mut found);
        seen.detections.insert(dir.cloned(), (folder, detection));
        Ok(Some(Seen::Detected(found)))
    }

    /// Says which firings another session settled for the same content: its queue entry names it, and its own log must
    /// say so. A person's look by command backs no agent's session: its promises are no agent's, and its commands ran in
    /// whatever surroundings it was started in.
    fn back(&self, folder: &Folder, event: &Event, found: &mut Found) {
        let queue = Queue::of(folder);
        let mut sessions: BTreeMap<String, Option<Session>> = BTreeMap::new();
        let mut damaged = Vec::new();
        for firing in &mut found.firings {
            let entry = match queue.get(&firing.hash) {
                queue::Found::Nothing => continue,
                queue::Found::Corrupt(name) => {
                    damaged.push(name);
                    continue;
                }
                queue::Found::Entry(entry) => entry,
            };
            let other = !entry.session.is_empty() && entry.session != event.session;
            if !other || entry.content_digest != firing.content || entry.session.starts_with(CHECKING_SESSION) {
                continue;
            }
            if !sessions.contains_key(&entry.session) && sessions.len() >= SESSIONS_BACKING_MAX {
                continue;
            }
            let session = sessions.entry(entry.session.clone()).or_insert_with(|| self.session(&entry.session).ok());
            let kept = session.as_ref().and_then(|session| session.files.of(&firing.policy, &firing.hash));
            let backing = kept.filter(|kept| kept.stands_for(&firing.content));
            firing.backed =
                backing.map(|kept| Backed { session: entry.session.clone(), status: kept.status, by: kept.by });
        }
        found.faults.extend(damaged.into_iter().map(|name| PolicyFault {
            file: format!(
                "{}/{name}",
                folder.state().join("queue").strip_prefix(&folder.root).unwrap_or(&folder.dir).display()
            ),
            line: 1,
            message: "the queue's entry was damaged, and is removed".to_owned(),
            help: None,
            warning: true,
        }));
    }

    fn act(
        &self,
        judging: &Judging,
        dir: &Option<String>,
        due: &[Due],
        seen: &mut FilesSeen,
    ) -> Result<Option<Seen>, String> {
        let until = *seen.acting_until.get_or_insert_with(|| Instant::now() + Duration::from_millis(ACTIONS_MS_MAX));
        let (folder, detection) = seen.detections.get(dir).ok_or("nothing was looked at before")?;
        let same = |fired: &Fired, due: &Due| fired.policy.id == due.policy && fired.hash == due.hash;
        let due: Vec<_> = due.iter().filter_map(|due| detection.fired.iter().find(|fired| same(fired, due))).collect();
        let left = u64::try_from(until.saturating_duration_since(Instant::now()).as_millis()).unwrap_or_default();
        self.patience.iter().for_each(|patience| patience(left + LOOK_MS_MAX));
        let commands = self.commands(judging);
        let acting = Acting { commands: &commands, git: judging.prober.git(), folder, until };
        acting.act(&due).map(|acted| Some(Seen::Acted(acted)))
    }

    /// Shows people what the record says. It is a view: that it cannot be written changes nothing that was decided.
    pub(super) fn keep_queue(&self, judging: &Judging, writes: &[Write], seen: &FilesSeen) {
        if writes.is_empty() {
            return;
        }
        let writes: Vec<Write> = writes.iter().map(|write| self.whole(write)).collect();
        for (folder, _) in seen.detections.values() {
            drop(Queue::of(folder).write(&writes, &judging.redactor));
        }
    }

    /// The same with more of what a failed command printed than a record keeps.
    fn whole(&self, write: &Write) -> Write {
        let (Write::Entry(entry), Some(state)) = (write, &self.state) else { return write.clone() };
        let kept = |digest: Option<Digest>| Artifacts::of(state).read(&digest?).ok().flatten();
        let mut entry = entry.clone();
        if let Some(result) = &mut entry.action_result {
            let stdout = kept(result.stdout_kept).map(|text| short(&text, SHOWN_BYTES_MAX));
            let stderr = kept(result.stderr_kept).map(|text| short(&text, SHOWN_BYTES_MAX));
            result.stdout = stdout.or(result.stdout.take());
            result.stderr = stderr.or(result.stderr.take());
        }
        Write::Entry(entry)
    }
}

/// A folder that a definition names must be there: its policies would be switched off in silence. So must one whose
/// policies fired before.
fn nothing_there(dir: Option<&String>, question: Question<'_>) -> Option<Seen> {
    let dir = dir.filter(|dir| *dir != DIR_DEFAULT);
    let faults = dir.map(|dir| files::not_there(dir)).into_iter().collect();
    let found = Found { faults, missing: question.missing(|_| false), ..Found::default() };
    (dir.is_some() || !question.held.is_empty()).then_some(Seen::Detected(found))
}

fn root(judging: &Judging) -> &Path {
    Path::new(&judging.stack().root)
}
