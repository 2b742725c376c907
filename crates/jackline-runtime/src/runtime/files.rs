//! File policies in the pipeline: answers what the core asks about them, and keeps the queue after the record.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jackline_core::event::{Body, Event};
use jackline_core::files::policy::Action;
use jackline_core::files::queue::{ActionResult, Status, Write};
use jackline_core::files::seen::{Ask, Backed, Due, Found, PRINTED_BYTES_MAX, PolicyFault, Seen};
use jackline_core::files::settings::{self, DIR_DEFAULT};
use jackline_core::probe::Fact;
use jackline_core::session::Session;
use jackline_core::sha::Digest;

use super::{Judging, Runtime};
use crate::files::actions::Acting;
use crate::files::queue::{self, Outstanding, Queue, Standing};
use crate::files::{self, ACTIONS_MS_MAX, Ahead, Detection, Fired, Folder, LOOK_MS_MAX, Place, Question, promises};
use crate::runner::artifacts::Artifacts;
use crate::runner::{SHOWN_BYTES_MAX, short};

/// Other sessions whose memory is looked at to back what the queue says; a workspace has few at a time.
const SESSIONS_BACKING_MAX: usize = 8;
/// How the id of a session begins in which a person looks at policies by command.
pub const CHECKING_SESSION: &str = "policies-";

/// What was found for one event, in full: commands run over more files than a record keeps.
#[derive(Debug, Default)]
pub(super) struct FilesSeen {
    detections: BTreeMap<Asked, Looked>,
    /// A look that was begun as soon as the event came.
    ahead: Option<Ahead>,
    /// When the commands of this event must have come to their end, once the first of them ran.
    acting_until: Option<Instant>,
}

/// A folder that was looked at.
#[derive(Debug)]
struct Looked {
    folder: Folder,
    detection: Detection,
    /// How the queue's entries stood, by their hashes.
    queue: BTreeMap<String, Standing>,
}

/// A folder as it is asked about: what it is called, and in which work tree, where that is another than the session's.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Asked {
    dir: Option<String>,
    root: Option<String>,
}

impl Asked {
    fn of(dir: &Option<String>, root: &Option<String>) -> Self {
        Self { dir: dir.clone(), root: root.clone() }
    }

    /// What is there. A work tree that is gone has nothing, whatever lies around the place where it was.
    fn look_for(&self, judging: &Judging) -> Place {
        let root = self.root(judging);
        if self.root.is_some() && !root.is_dir() {
            return Place::Nothing;
        }
        files::look_for(root, self.dir.as_deref())
    }

    fn root<'a>(&'a self, judging: &'a Judging) -> &'a Path {
        Path::new(self.root.as_ref().unwrap_or(&judging.stack().root))
    }
}

impl FilesSeen {
    /// Begins a look where an agent's own stop will most likely ask for one.
    pub(super) fn begin(&mut self, event: &Event, root: impl FnOnce() -> Option<String>) {
        if matches!(event.body, Body::StopRequested(_)) && event.agent.is_none() && self.ahead.is_none() {
            self.ahead = root().and_then(|root| Ahead::begin(Path::new(&root)));
        }
    }
}

impl Runtime {
    pub(super) fn files(
        &self,
        judging: &Judging,
        (session, event): (&Session, &Event),
        ask: &Ask,
        seen: &mut FilesSeen,
    ) -> Fact {
        let began = session.began.or(Some(event.at));
        let answered = match ask {
            Ask::Detect { dir, root, base, baseline, held, .. } => {
                let holds = !event.session.starts_with(CHECKING_SESSION);
                let (base, baseline, redactor) = (base.as_deref(), baseline.as_ref(), Some(&judging.redactor));
                let kept = &states(judging);
                let question = Question { base, baseline, held, holds, redactor, kept, began };
                self.detect(judging, event, (Asked::of(dir, root), question), seen)
            }
            Ask::Act { dir, root, due } => self.act(judging, &Asked::of(dir, root), due, seen),
            Ask::Baseline { dir, root, at } => {
                let Place::Folder(folder) = Asked::of(dir, root).look_for(judging) else { return Fact::Absent };
                let Some(git) = judging.prober.git() else {
                    return Fact::Unknown("there is no git program".to_owned());
                };
                let kept = files::capture(git, (&folder, &states(judging)), (&event.session, *at, began));
                kept.map(|kept| kept.map(Seen::Baseline))
            }
            Ask::Names { dir } => {
                let root = Path::new(&judging.stack().root);
                Ok(files::find(root, dir.as_deref()).map(|folder| files::names_of(&folder)))
            }
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
        (asked, question): (Asked, Question<'_>),
        seen: &mut FilesSeen,
    ) -> Result<Option<Seen>, String> {
        let folder = match asked.look_for(judging) {
            Place::Folder(folder) => *folder,
            // Its owner switched it off, with all that was outstanding.
            Place::Off => return Ok(Some(Seen::Detected(Found::default()))),
            Place::Nothing => return Ok(nothing_there(asked.dir.as_ref(), question)),
        };
        self.patience.iter().for_each(|patience| patience(LOOK_MS_MAX));
        let ahead = seen.ahead.take();
        let mut outstanding = Outstanding::default();
        let meanwhile = || outstanding = Queue::of(&folder).outstanding();
        let mut detection = files::detect(judging.prober.git(), &folder, question, ahead.as_ref(), meanwhile)?;
        let mut found = detection.told();
        // Nothing but a command is about more files than are told.
        detection.fired.retain(|fired| matches!(fired.policy.action, Action::Command(_)));
        let queue = self.back(&folder, event, &mut found, outstanding);
        seen.detections.insert(asked, Looked { folder, detection, queue });
        Ok(Some(Seen::Detected(found)))
    }

    /// Says which firings another session settled for the same content: its queue entry names it, and its own log must
    /// say so. A person's look by command backs no agent's session: its promises are no agent's, and its commands ran in
    /// whatever surroundings it was started in. How all entries stand is told besides; some were read already.
    fn back(
        &self,
        folder: &Folder,
        event: &Event,
        found: &mut Found,
        mut read: Outstanding,
    ) -> BTreeMap<String, Standing> {
        let queue = Queue::of(folder);
        let mut seen = BTreeMap::new();
        let mut sessions: BTreeMap<String, Option<Session>> = BTreeMap::new();
        let mut damaged = Vec::new();
        for firing in &mut found.firings {
            let read = read.entries.remove(&firing.hash).map(|entry| queue::Found::Entry(entry.into()));
            let entry = match read.unwrap_or_else(|| queue.glance(&firing.hash)) {
                queue::Found::Nothing => continue,
                queue::Found::Corrupt(name) => {
                    damaged.push(name);
                    continue;
                }
                queue::Found::Entry(entry) => entry,
            };
            seen.insert(firing.hash.clone(), Standing::of(&entry));
            let own = entry.session == event.session && entry.content_digest == firing.content;
            let failed = entry.action_result.filter(|_| own && entry.status == Status::Failed);
            firing.failed = failed.filter(|_| firing.command.is_some()).map(told_again);
            let other = !entry.session.is_empty() && entry.session != event.session;
            if !other || entry.content_digest != firing.content || entry.session.starts_with(CHECKING_SESSION) {
                continue;
            }
            if !sessions.contains_key(&entry.session) && sessions.len() >= SESSIONS_BACKING_MAX {
                continue;
            }
            let session = sessions.entry(entry.session.clone()).or_insert_with(|| self.session(&entry.session).ok());
            let of = (firing.policy.as_str(), firing.file.as_str());
            let kept = session.as_ref().and_then(|session| session.files.of(of, &firing.hash));
            let backing = kept.filter(|kept| kept.stands_for(&firing.content));
            firing.backed =
                backing.map(|kept| Backed { session: entry.session.clone(), status: kept.status, by: kept.by });
        }
        damaged.extend(queue.remove_damaged(&read.damaged));
        found.faults.extend(damaged.into_iter().map(|name| removed(folder, &name)));
        seen
    }

    fn act(&self, judging: &Judging, asked: &Asked, due: &[Due], seen: &mut FilesSeen) -> Result<Option<Seen>, String> {
        let until = *seen.acting_until.get_or_insert_with(|| Instant::now() + Duration::from_millis(ACTIONS_MS_MAX));
        let Looked { folder, detection, .. } = seen.detections.get(asked).ok_or("nothing was looked at before")?;
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
        let home = judging.standing.first_root.as_deref().unwrap_or(Path::new(&judging.stack().root));
        for (asked, Looked { folder, queue: stood, .. }) in &seen.detections {
            let queue = Queue::of(folder);
            let here = |write: &&Write| write.tree().map_or(home, Path::new) == asked.root(judging);
            let own: Vec<&Write> = writes.iter().filter(|write| here(write) && folder.holds(write.file())).collect();
            let left: Vec<Write> =
                own.iter().filter(|write| !queue.has(write, stood)).map(|write| self.whole(write)).collect();
            if !left.is_empty() || !(own.is_empty() || queue.is_summed_up()) {
                drop(queue.write(&left, &judging.redactor));
            }
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

/// What is told of an entry that was damaged.
fn removed(folder: &Folder, name: &str) -> PolicyFault {
    let dir = folder.state().join("queue");
    let file = format!("{}/{name}", dir.strip_prefix(&folder.root).unwrap_or(&folder.dir).display());
    let message = "the queue's entry was damaged, and is removed".to_owned();
    PolicyFault { file, line: 1, message, help: None, warning: true }
}

/// What came of a command as a record keeps it: the queue has more of what it printed.
fn told_again(result: ActionResult) -> ActionResult {
    let cut = |text: Option<String>| text.map(|text| short(&text, PRINTED_BYTES_MAX));
    ActionResult { stdout: cut(result.stdout), stderr: cut(result.stderr), ..result }
}

/// A folder that a definition names must be there: its policies would be switched off in silence. So must one whose
/// policies fired before.
fn nothing_there(dir: Option<&String>, question: Question<'_>) -> Option<Seen> {
    let dir = dir.filter(|dir| *dir != DIR_DEFAULT);
    let faults = dir.map(|dir| files::not_there(dir)).into_iter().collect();
    let found = Found { faults, missing: question.missing(|_| false), ..Found::default() };
    let asked_for = question.held.iter().any(|held| !held.aside);
    (dir.is_some() || asked_for).then_some(Seen::Detected(found))
}

/// Where we keep things beside folders that a definition names; the others are known by their names.
fn states(judging: &Judging) -> Vec<PathBuf> {
    let named = settings::folders(judging.stack()).into_iter().filter_map(|folder| folder.dir);
    let root = Path::new(&judging.stack().root);
    named.filter_map(|dir| files::find(root, Some(&dir))).map(|folder| folder.state()).collect()
}
