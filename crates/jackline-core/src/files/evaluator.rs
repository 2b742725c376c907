//! What is outstanding: firings held against what the session remembers, commands run where they are due, promises
//! heard. A firing is settled for the content that it was settled for, and for no other.

mod judged;
mod unfired;

use serde::Serialize;
use serde_json::{Value, json};

use super::detector::{Pair, State};
use super::memory::{Heard, Kept, Step};
use super::promise::{folded_name, named, promised};
use super::queue::{Entry, Status, Write};
use super::seen::{Acted, Ask, Due, Firing, Found, PolicyFault, Said, Seen};
use super::settings::{Folder, in_trees};
use super::text::{self, Section};
use crate::decision::Note;
use crate::definition::model::FilesOutput;
use crate::event::Event;
use crate::probe::{Fact, Facts, Probe};
use crate::session::{Change, Session};
use crate::sha::{Digest, Key};
use crate::stack::Stack;

/// Times that commands are run at one stop: what one of them changes may be due for another, and so on, but a stop
/// must come to an end.
pub const ACT_ROUNDS_MAX: u32 = 3;
/// Faults of policies that one record names.
const FAULTS_NOTED_MAX: usize = 20;

/// What policies are held against.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Evaluator<'a> {
    pub(crate) stack: &'a Stack,
    pub(crate) session: &'a Session,
    pub(crate) event: &'a Event,
    pub(crate) facts: &'a Facts,
    /// The agent's last message.
    pub(crate) message: Option<&'a str>,
    /// Compared to instead of every baseline.
    pub(crate) base: Option<&'a str>,
    /// Why nothing is run, where nothing is.
    pub(crate) idle: Option<&'static str>,
}

/// What is outstanding, and what follows from looking at it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Evaluated {
    pub(crate) outstanding: Vec<Outstanding>,
    /// Entries that are settled as things stand.
    pub(crate) settled: Vec<Entry>,
    pub(crate) changes: Vec<Change>,
    pub(crate) notes: Vec<Note>,
    pub(crate) queue: Vec<Write>,
    pub(crate) faults: Vec<PolicyFault>,
    /// What commands changed: whoever checks what is committed would not see it otherwise.
    pub(crate) rewritten: Vec<Rewritten>,
    /// Why it could not be told what fires.
    pub(crate) unclear: Option<String>,
    /// There are policies at all.
    pub(crate) any: bool,
    pub(crate) individual: bool,
    /// Stops that are held yet, this one among them, where anyone counts them.
    pub(crate) stops: Option<u32>,
    /// Every folder is judged by a composition.
    pub(crate) placed: bool,
    /// Every definition that names a folder only observes.
    pub(crate) observed: bool,
}

/// What the command of a policy changed; of several, where they ran side by side and no one can tell whose it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Rewritten {
    pub(crate) policies: Vec<String>,
    /// What they are called.
    pub(crate) names: Vec<String>,
    /// The first of them.
    pub(crate) files: Vec<String>,
    pub(crate) left_out: usize,
}

/// A policy that is outstanding.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outstanding {
    pub(crate) entry: Entry,
    pub(crate) firing: Firing,
    pub(crate) section: Section,
    pub(crate) observed: bool,
    /// A composition of a definition judges it.
    pub(crate) placed: bool,
}

impl Evaluator<'_> {
    /// What is outstanding.
    ///
    /// # Errors
    /// The questions that must be answered first.
    pub(crate) fn evaluate(&self) -> Result<Evaluated, Vec<Probe>> {
        let folders = in_trees(self.stack, self.session);
        let placed = folders.iter().all(|folder| folder.placed);
        let observed = folders.iter().all(|folder| folder.observed);
        let mut all = Evaluated { placed, observed, ..Evaluated::default() };
        let wanted: Vec<Probe> = folders.iter().flat_map(|folder| self.unanswered(self.detect(folder, 0))).collect();
        if !wanted.is_empty() {
            return Err(wanted);
        }
        let found: Vec<Option<Found>> = folders.iter().map(|folder| self.found(folder, 0, &mut all)).collect();
        let heard = self.said(&folders, &found)?;
        let mut judged: Vec<Option<Found>> = Vec::new();
        for (folder, first) in folders.iter().zip(found) {
            let first = first.map(|first| self.folder(folder, first, &heard, &mut all));
            judged.push(first.transpose()?.flatten());
        }
        self.on_record((&folders, &judged), &heard, &mut all);
        self.count((&folders, &judged), &mut all);
        self.listened(&heard, &mut all);
        all.notes.extend(faulty(&all.faults));
        Ok(all)
    }

    /// Judges what was found in a folder, once its commands have run; nothing where it cannot be told any more.
    fn folder(
        &self,
        folder: &Folder,
        first: Found,
        heard: &Heardof,
        all: &mut Evaluated,
    ) -> Result<Option<Found>, Vec<Probe>> {
        let Some((found, acted)) = self.act(folder, first, heard, all)? else { return Ok(None) };
        all.any |= found.policies > 0;
        all.individual |= folder.output.map_or(found.individual, |output| output == FilesOutput::Individual);
        all.faults.extend(found.faults.iter().cloned());
        for rewritten in judged::rewritten(&found, &acted) {
            all.notes.push(judged::rewritten_note(&rewritten));
            all.rewritten.push(rewritten);
        }
        for firing in &found.firings {
            let judged = self.judge(firing, &acted, heard);
            self.keep(firing, judged, folder, all);
        }
        Ok(Some(found))
    }

    fn detect(&self, folder: &Folder, round: u32) -> Ask {
        folder.detect(self.base, self.session, round)
    }

    fn unanswered(&self, ask: Ask) -> Vec<Probe> {
        let probe = Probe::Files { ask: ask.into() };
        if self.facts.get(&probe).is_some() { Vec::new() } else { vec![probe] }
    }

    /// What was found in a folder; nothing where there is none.
    fn found(&self, folder: &Folder, round: u32, all: &mut Evaluated) -> Option<Found> {
        match self.facts.get(&Probe::Files { ask: self.detect(folder, round).into() }) {
            Some(Fact::Files(Seen::Detected(found))) => {
                let mut found = found.clone();
                found.firings.iter_mut().for_each(|firing| firing.tree.clone_from(&folder.tree));
                Some(found)
            }
            Some(Fact::Absent) | None => None,
            Some(Fact::Unknown(why)) => {
                all.unclear = Some(why.clone());
                None
            }
            Some(_) => {
                all.unclear = Some("the policies were not looked at".to_owned());
                None
            }
        }
    }

    /// The promises in the transcript; asked for only when something is open.
    fn said(&self, folders: &[Folder], found: &[Option<Found>]) -> Result<Heardof, Vec<Probe>> {
        let fires = |firing: &Firing| firing.state == State::Fires && !self.is_settled(firing);
        let on_record = || !self.unjudged((folders, found)).is_empty();
        let open = found.iter().flatten().any(|found| found.firings.iter().any(fires)) || on_record();
        let Some(file) = self.event.transcript.as_ref().filter(|_| open) else { return Ok(Heardof::default()) };
        let ask = Ask::Promises { file: file.clone(), offset: self.session.files.offset(file) };
        let probe = Probe::Files { ask: ask.into() };
        match self.facts.get(&probe) {
            None => Err(vec![probe]),
            Some(Fact::Files(Seen::Said { said, end })) => {
                let heard = Heard { file: crate::usage::key(file), offset: *end };
                Ok(Heardof { said: said.clone(), heard: Some(heard) })
            }
            // A transcript that cannot be read holds no promise.
            Some(_) => Ok(Heardof::default()),
        }
    }

    /// Runs what is due, and looks again where that changed files: a command that passed, passed for the files and the
    /// content it ran on, and is due once more for others. Nothing where it cannot be told any more.
    fn act(
        &self,
        folder: &Folder,
        first: Found,
        heard: &Heardof,
        all: &mut Evaluated,
    ) -> Result<Option<(Found, Vec<Acted>)>, Vec<Probe>> {
        let (mut found, mut acted) = (first, Vec::new());
        for round in 1..=ACT_ROUNDS_MAX {
            let due = self.due(&found, heard, &acted);
            if due.is_empty() {
                break;
            }
            let now = self.acted(folder, due, all)?;
            let changed = now.iter().any(|acted| acted.changed);
            acted.extend(now);
            if !changed {
                break;
            }
            let again = self.unanswered(self.detect(folder, round));
            if !again.is_empty() {
                return Err(again);
            }
            let Some(next) = self.found(folder, round, all) else { return Ok(None) };
            found = next;
        }
        Ok(Some((found, acted)))
    }

    /// The firings whose commands are to be run now.
    fn due(&self, found: &Found, heard: &Heardof, acted: &[Acted]) -> Vec<Due> {
        if self.idle.is_some() {
            return Vec::new();
        }
        let due = |firing: &&Firing| {
            let failed = |kept: &Kept| kept.status == Status::Failed && kept.content == firing.content;
            let before = self.known(firing).is_some_and(failed);
            firing.state == State::Fires
                && firing.command.is_some()
                && !firing.idle
                && !self.is_settled(firing)
                && !before
                && !self.promises(firing, heard)
                && !acted.iter().any(|acted| acted.is_of(firing))
        };
        let named = |firing: &Firing| {
            let (policy, hash) = (firing.policy.clone(), firing.hash.clone());
            Due { policy, hash, content: firing.content }
        };
        found.firings.iter().filter(due).map(named).collect()
    }

    fn acted(&self, folder: &Folder, due: Vec<Due>, all: &mut Evaluated) -> Result<Vec<Acted>, Vec<Probe>> {
        let probe = Probe::Files { ask: Ask::Act { dir: folder.dir.clone(), root: folder.root.clone(), due }.into() };
        match self.facts.get(&probe) {
            None => Err(vec![probe]),
            Some(Fact::Files(Seen::Acted(acted))) => Ok(acted.clone()),
            Some(Fact::Unknown(why)) => {
                all.unclear = Some(why.clone());
                Ok(Vec::new())
            }
            Some(_) => Ok(Vec::new()),
        }
    }

    /// How a firing stands on record, if it ever did.
    fn known(&self, firing: &Firing) -> Option<&Kept> {
        self.session.files.known(firing)
    }

    /// Whether a promise or a command that passed stands for exactly this: here, or in another session's log.
    fn is_settled(&self, firing: &Firing) -> bool {
        firing.backed.is_some() || self.session.files.settled(firing).is_some()
    }

    /// Whether the agent promised a firing after it fired for this content.
    fn promises(&self, firing: &Firing, heard: &Heardof) -> bool {
        let kept = self.known(firing).filter(|kept| kept.content == firing.content);
        kept.is_some_and(|kept| self.promised(kept, &firing.name, heard))
    }

    /// Whether the agent gave its word for a firing on record, after it was recorded.
    fn promised(&self, kept: &Kept, name: &str, heard: &Heardof) -> bool {
        if kept.status.is_settled() {
            return false;
        }
        let names = [folded_name(name), folded_name(&kept.policy)];
        // A host tells the same words again when nothing was said since. Where the transcript can be read, it knows what
        // is new; elsewhere a stop comes with new words.
        let stale = heard.heard.is_some() && kept.said.is_some() && kept.said == self.spoken();
        let message = self.message.filter(|_| !stale).map(promised).unwrap_or_default();
        let later = |said: &&Said| said.at.is_none_or(|at| at > kept.at);
        let mut spoken = heard.said.iter().filter(later).map(|said| &said.name).chain(&message);
        spoken.any(|name| names.contains(name))
    }

    /// A section with why the last message did not settle it, where that promises the firing: it was said before, or is
    /// only quoted.
    fn unheard(&self, firing: &Firing, section: Section) -> Section {
        let names = [folded_name(&firing.name), folded_name(&firing.policy)];
        let holds = |said: fn(&str) -> Vec<String>| {
            self.message.map(said).unwrap_or_default().iter().any(|name| names.contains(name))
        };
        if holds(promised) {
            text::unheard(section)
        } else if holds(named) {
            text::only_quoted(section)
        } else {
            section
        }
    }

    /// The agent's last message as it is recognised again, where it promises something.
    fn spoken(&self) -> Option<Key> {
        let promising = self.message.filter(|message| !promised(message).is_empty());
        promising.map(|message| Digest::of(message.as_bytes()).short())
    }

    /// How far the transcript was heard, once something is outstanding: a promise must come after it.
    fn listened(&self, heard: &Heardof, all: &mut Evaluated) {
        let Some(heard) = heard.heard.filter(|_| !all.outstanding.is_empty()) else { return };
        all.changes.push(Change::Files { step: Step::Heard { heard } });
    }
}

/// What was heard of a transcript.
#[derive(Debug, Clone, Default)]
struct Heardof {
    said: Vec<Said>,
    heard: Option<Heard>,
}

/// Policies that cannot be used stand in the record by themselves: nobody else is told of what they would have said. So
/// does what only warns: a folder that is passed over, a baseline that is gone.
pub(crate) fn faulty(faults: &[PolicyFault]) -> Option<Note> {
    let first: Vec<&PolicyFault> = faults.iter().take(FAULTS_NOTED_MAX).collect();
    let data = json!({ "faults": first, "total": faults.len() });
    (!first.is_empty()).then_some(Note { kind: "policy.faulty", before: Value::Null, after: Value::Null, data })
}

/// The digest of what a firing is about: the policy's own text, what some files contain (`None` for one that is gone),
/// and what is asked for along with them.
#[must_use]
pub fn content_digest<'a>(
    policy: &'a Digest,
    files: impl IntoIterator<Item = (&'a str, Option<&'a Digest>)>,
    pairs: &'a [Pair],
) -> Digest {
    let files = files.into_iter().flat_map(|(path, content)| {
        let content: &[u8] = content.map_or(&[], |digest| digest.0.as_slice());
        [b"file".as_slice(), path.as_bytes(), content]
    });
    let pairs = pairs.iter().flat_map(|pair| [b"pair".as_slice(), pair.from.as_bytes(), pair.to.as_bytes()]);
    Digest::of_parts([policy.0.as_slice()].into_iter().chain(files).chain(pairs))
}
