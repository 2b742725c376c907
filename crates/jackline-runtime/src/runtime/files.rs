//! File policies in the pipeline: answers what the core asks about them, and keeps the queue after the record.

use std::collections::BTreeMap;
use std::path::Path;

use jackline_core::event::Event;
use jackline_core::files::queue::{Entry, SettledBy, Write};
use jackline_core::files::seen::{Ask, Backed, Due, Found, PolicyFault, Seen};
use jackline_core::probe::Fact;
use jackline_core::session::Session;

use super::{Judging, Runtime};
use crate::files::actions::Acting;
use crate::files::queue::{self, Queue};
use crate::files::{self, ACTIONS_MS_MAX, Detection, Folder, LOOK_MS_MAX, Question, promises};

/// Other sessions whose memory is looked at to back what the queue says; a workspace has few at a time.
const SESSIONS_BACKING_MAX: usize = 8;
/// How the id of a session begins in which a person looks at policies by command.
pub const CHECKING_SESSION: &str = "policies-";

/// What was found for one event, in full: commands run over more files than a record keeps.
#[derive(Debug, Default)]
pub(super) struct FilesSeen {
    detections: BTreeMap<Option<String>, (Folder, Detection)>,
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
        let Some(folder) = files::find(root(judging), dir.map(String::as_str)) else {
            return Ok(dir.map(|dir| Seen::Detected(missing(dir))));
        };
        self.patience.iter().for_each(|patience| patience(LOOK_MS_MAX));
        let detection = files::detect(judging.prober.git(), &folder, question)?;
        let mut found = detection.told();
        self.back(&folder, event, &mut found);
        seen.detections.insert(dir.cloned(), (folder, detection));
        Ok(Some(Seen::Detected(found)))
    }

    /// Says which firings another session settled for the same content: its queue entry names it, and its own log must
    /// say so. What is settled by a person's look is no agent's promise.
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
            if !other || !entry.status.is_settled() || entry.content_digest != firing.content || promised_aside(&entry)
            {
                continue;
            }
            if !sessions.contains_key(&entry.session) && sessions.len() >= SESSIONS_BACKING_MAX {
                continue;
            }
            let session = sessions.entry(entry.session.clone()).or_insert_with(|| self.session(&entry.session).ok());
            let kept = session.as_ref().and_then(|session| session.files.of(&firing.policy, &firing.hash));
            let backs = kept.is_some_and(|kept| kept.status == entry.status && kept.content == firing.content);
            firing.backed =
                backs.then_some(Backed { session: entry.session, status: entry.status, by: entry.settled_by });
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
        seen: &FilesSeen,
    ) -> Result<Option<Seen>, String> {
        let (folder, detection) = seen.detections.get(dir).ok_or("nothing was looked at before")?;
        let named =
            |due: &Due| detection.fired.iter().find(|fired| fired.policy.id == due.policy && fired.hash == due.hash);
        let due: Vec<_> = due.iter().filter_map(named).collect();
        self.patience.iter().for_each(|patience| patience(ACTIONS_MS_MAX + LOOK_MS_MAX));
        let commands = self.commands(judging);
        let acting = Acting { commands: &commands, git: judging.prober.git(), folder };
        acting.act(&due).map(|acted| Some(Seen::Acted(acted)))
    }

    /// Shows people what the record says. It is a view: that it cannot be written changes nothing that was decided.
    pub(super) fn keep_queue(&self, judging: &Judging, writes: &[Write], seen: &FilesSeen) {
        if writes.is_empty() {
            return;
        }
        for (folder, _) in seen.detections.values() {
            drop(Queue::of(folder).write(writes, &judging.redactor));
        }
    }
}

/// A folder that a definition names must be there: its policies would be switched off in silence.
fn missing(dir: &str) -> Found {
    Found { faults: vec![files::not_there(dir)], ..Found::default() }
}

fn root(judging: &Judging) -> &Path {
    Path::new(&judging.stack().root)
}

/// A promise that was heard in a person's look at the policies settles nothing for an agent's session.
fn promised_aside(entry: &Entry) -> bool {
    entry.settled_by == Some(SettledBy::Promise) && entry.session.starts_with(CHECKING_SESSION)
}
