//! What is outstanding: firings held against what the session remembers, commands run where they are due, promises
//! heard. A firing is settled for the content that it was settled for, and for no other.

use serde_json::{Value, json};

use super::detector::State;
use super::memory::{FILES_HELD_MAX, Heard, Kept, Step};
use super::policy::CompareTo;
use super::promise::{folded_name, promised};
use super::queue::{ActionResult, Entry, SettledBy, Status, Write};
use super::seen::{Acted, Ask, Due, Failure, Firing, Found, PolicyFault, Said, Seen};
use super::settings::{Folder, folders};
use super::text::{self, Section};
use crate::decision::Note;
use crate::definition::model::FilesOutput;
use crate::event::Event;
use crate::probe::{Fact, Facts, Probe};
use crate::session::{Change, Session};
use crate::sha::Digest;
use crate::stack::Stack;

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
    /// The session is over: nothing is run any more.
    pub(crate) over: bool,
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
    /// Why it could not be told what fires.
    pub(crate) unclear: Option<String>,
    /// There are policies at all.
    pub(crate) any: bool,
    pub(crate) individual: bool,
}

/// A policy that is outstanding.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outstanding {
    pub(crate) entry: Entry,
    pub(crate) firing: Firing,
    pub(crate) section: Section,
    pub(crate) observed: bool,
}

impl Evaluator<'_> {
    /// What is outstanding.
    ///
    /// # Errors
    /// The questions that must be answered first.
    pub(crate) fn evaluate(&self) -> Result<Evaluated, Vec<Probe>> {
        let mut all = Evaluated::default();
        let folders = folders(self.stack);
        let wanted: Vec<Probe> = folders.iter().flat_map(|folder| self.unanswered(self.detect(folder, 0))).collect();
        if !wanted.is_empty() {
            return Err(wanted);
        }
        let mut firings: Vec<Firing> = Vec::new();
        for folder in &folders {
            firings.extend(self.folder(folder, &mut all)?);
        }
        if all.any && all.unclear.is_none() {
            self.let_go(&firings, &mut all);
        }
        all.notes.extend(faulty(&all.faults));
        Ok(all)
    }

    fn folder(&self, folder: &Folder, all: &mut Evaluated) -> Result<Vec<Firing>, Vec<Probe>> {
        let Some(first) = self.found(folder, 0, all) else { return Ok(Vec::new()) };
        let said = self.said(&first)?;
        let due = self.due(&first, &said);
        let acted = if due.is_empty() { Vec::new() } else { self.acted(folder, due, all)? };
        let found = match acted.iter().any(|acted| acted.changed) {
            false => first,
            true => {
                let again = self.unanswered(self.detect(folder, 1));
                if !again.is_empty() {
                    return Err(again);
                }
                let Some(found) = self.found(folder, 1, all) else { return Ok(Vec::new()) };
                found
            }
        };
        all.any |= found.policies > 0;
        all.individual |= folder.output.map_or(found.individual, |output| output == FilesOutput::Individual);
        all.faults.extend(found.faults.iter().cloned());
        for firing in &found.firings {
            let judged = self.judge(firing, &acted, &said);
            self.keep(firing, judged, folder.observed, all);
        }
        self.listened(&said, all);
        Ok(found.firings)
    }

    fn detect(&self, folder: &Folder, round: u32) -> Ask {
        folder.detect(self.base, &self.session.files, round)
    }

    fn unanswered(&self, ask: Ask) -> Vec<Probe> {
        let probe = Probe::Files { ask: ask.into() };
        if self.facts.get(&probe).is_some() { Vec::new() } else { vec![probe] }
    }

    /// What was found in a folder; nothing where there is none.
    fn found(&self, folder: &Folder, round: u32, all: &mut Evaluated) -> Option<Found> {
        match self.facts.get(&Probe::Files { ask: self.detect(folder, round).into() }) {
            Some(Fact::Files(Seen::Detected(found))) => Some(found.clone()),
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

    /// The promises in the transcript; asked for only when something fires that is not settled.
    fn said(&self, found: &Found) -> Result<Heardof, Vec<Probe>> {
        let open = found.firings.iter().any(|firing| firing.state == State::Fires && !self.is_settled(firing));
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

    /// The firings whose commands are to be run now.
    fn due(&self, found: &Found, said: &Heardof) -> Vec<Due> {
        if self.over {
            return Vec::new();
        }
        let due = |firing: &&Firing| {
            let failed = |kept: &Kept| kept.status == Status::Failed && kept.content == firing.content;
            let before = self.session.files.of(&firing.policy, &firing.hash).is_some_and(failed);
            firing.state == State::Fires
                && firing.command.is_some()
                && !self.is_settled(firing)
                && !before
                && !self.promises(firing, said)
        };
        let named = |firing: &Firing| Due { policy: firing.policy.clone(), hash: firing.hash.clone() };
        found.firings.iter().filter(due).map(named).collect()
    }

    fn acted(&self, folder: &Folder, due: Vec<Due>, all: &mut Evaluated) -> Result<Vec<Acted>, Vec<Probe>> {
        let probe = Probe::Files { ask: Ask::Act { dir: folder.dir.clone(), due }.into() };
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

    fn is_settled(&self, firing: &Firing) -> bool {
        let kept = self.session.files.of(&firing.policy, &firing.hash);
        let here = kept.is_some_and(|kept| kept.status.is_settled() && kept.content == firing.content);
        here || firing.backed.as_ref().is_some_and(|backed| backed.status.is_settled())
    }

    /// Whether the agent promised a firing after it fired.
    fn promises(&self, firing: &Firing, heard: &Heardof) -> bool {
        let Some(kept) = self.session.files.of(&firing.policy, &firing.hash) else { return false };
        if kept.status.is_settled() {
            return false;
        }
        let names = [folded_name(&firing.name), folded_name(&firing.policy)];
        let message = self.message.map(promised).unwrap_or_default();
        let later = |said: &&Said| said.at.is_none_or(|at| at > kept.at);
        let mut spoken = heard.said.iter().filter(later).map(|said| &said.name).chain(&message);
        spoken.any(|name| names.contains(name))
    }

    fn judge(&self, firing: &Firing, acted: &[Acted], said: &Heardof) -> Judged {
        let known = self.session.files.of(&firing.policy, &firing.hash);
        match firing.state {
            State::Safe => return Judged::Settled(Status::Skipped, SettledBy::Safety),
            State::Met => return Judged::Settled(Status::Skipped, SettledBy::Satisfied),
            State::Fires => {}
        }
        if let Some(backed) = firing.backed.as_ref().filter(|backed| backed.status.is_settled()) {
            return Judged::Stands(backed.status, backed.by);
        }
        if let Some(kept) = known.filter(|_| self.is_settled(firing)) {
            return Judged::Stands(kept.status, kept.by);
        }
        if self.promises(firing, said) {
            return Judged::Settled(Status::Passed, SettledBy::Promise);
        }
        if firing.command.is_none() {
            return Judged::Open(Status::Queued, text::prompt(firing), None);
        }
        // A command may change which files its policy is about: what passed, passed for what it left behind.
        let about = |acted: &&Acted| acted.policy == firing.policy;
        match acted.iter().find(|acted| acted.hash == firing.hash).or_else(|| acted.iter().find(about)) {
            Some(acted) if acted.passed => Judged::Settled(Status::Passed, SettledBy::Command),
            // What was not run for want of trust is run once it is trusted.
            Some(acted) => {
                let status = if acted.skipped { Status::Queued } else { Status::Failed };
                Judged::Open(status, text::command(firing, acted), Some(acted.clone().into()))
            }
            None if known.is_some_and(|kept| kept.status == Status::Failed) => {
                Judged::Open(Status::Failed, text::command_again(firing), None)
            }
            None => {
                let why = if self.over { "the session is over" } else { "it could not be" };
                Judged::Open(Status::Queued, text::command_unrun(firing, why), None)
            }
        }
    }

    /// Remembers what was judged, and puts it into the queue.
    fn keep(&self, firing: &Firing, judged: Judged, observed: bool, all: &mut Evaluated) {
        let (status, by, result) = match &judged {
            Judged::Stands(status, by) => {
                let entry = self.entry(firing, *status, *by, None);
                return all.settled.push(entry);
            }
            Judged::Settled(status, by) => (*status, Some(*by), settled_result(firing, *by)),
            Judged::Open(status, _, acted) => (*status, None, open_result(firing, acted.as_deref())),
        };
        let entry = self.entry(firing, status, by, result);
        let known = self.session.files.of(&firing.policy, &firing.hash);
        let same = known.is_some_and(|kept| kept.status == status && kept.content == firing.content);
        let fires = firing.state == State::Fires;
        if fires && !same {
            // A firing that goes on keeps the time at which it began.
            let since = known.filter(|kept| !kept.status.is_settled() && !status.is_settled()).map(|kept| kept.at);
            let kept = Kept {
                policy: firing.policy.clone(),
                hash: firing.hash.clone(),
                content: firing.content,
                status,
                by,
                reference: firing.baseline_ref.clone(),
                files: held_files(firing, status),
                prompt: firing.compare_to == CompareTo::Prompt,
                at: since.unwrap_or(self.session.now(self.event.at)),
            };
            all.changes.push(Change::Files { step: Step::Kept { kept } });
            all.notes.push(note(firing, known.map(|kept| kept.status), status, by));
        }
        if !same {
            all.queue.push(Write::Entry(Box::new(entry.clone())));
        }
        match judged {
            Judged::Open(_, section, _) => {
                all.outstanding.push(Outstanding { entry, firing: firing.clone(), section, observed });
            }
            Judged::Stands(..) | Judged::Settled(..) => all.settled.push(entry),
        }
    }

    fn entry(&self, firing: &Firing, status: Status, by: Option<SettledBy>, result: Option<ActionResult>) -> Entry {
        let now = self.session.now(self.event.at);
        let known = self.session.files.of(&firing.policy, &firing.hash);
        Entry {
            policy_name: firing.policy.clone(),
            trigger_hash: firing.hash.clone(),
            status,
            created_at: known.map_or(now, |kept| kept.at).to_string(),
            evaluated_at: (status != Status::Queued).then(|| now.to_string()),
            baseline_ref: firing.baseline_ref.clone(),
            trigger_files: firing.trigger_files.clone(),
            expected_files: firing.expected_files.clone(),
            matched_files: firing.matched_files.clone(),
            action_result: result,
            content_digest: firing.content,
            settled_by: by,
            session: self.event.session.clone(),
            name: firing.name.clone(),
        }
    }

    /// Firings that were outstanding and do not fire any more.
    fn let_go(&self, firings: &[Firing], all: &mut Evaluated) {
        for kept in self.session.files.outstanding() {
            let fires = |firing: &&Firing| firing.state == State::Fires && firing.policy == kept.policy;
            if firings.iter().filter(fires).any(|firing| firing.hash == kept.hash) {
                continue;
            }
            let (status, by) = if firings.iter().any(|firing| fires(&firing)) {
                (Status::Skipped, SettledBy::Superseded)
            } else if firings.iter().any(|firing| firing.policy == kept.policy) {
                (Status::Passed, SettledBy::Satisfied)
            } else {
                (Status::Skipped, SettledBy::Irrelevant)
            };
            let at = self.session.now(self.event.at);
            all.queue.push(Write::Settle { hash: kept.hash.clone(), status, by, at });
            let settled = Kept { status, by: Some(by), at, files: Vec::new(), ..kept.clone() };
            all.changes.push(Change::Files { step: Step::Kept { kept: settled } });
            all.notes.push(settled_note((&kept.policy, &kept.policy), &kept.hash, kept.status, (status, by)));
        }
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

/// How a firing is judged.
enum Judged {
    /// It was settled before.
    Stands(Status, Option<SettledBy>),
    Settled(Status, SettledBy),
    Open(Status, Section, Option<Box<Acted>>),
}

/// The files of a firing that stay changed while it is outstanding.
fn held_files(firing: &Firing, status: Status) -> Vec<String> {
    let all = firing.left_out == 0 && firing.trigger_files.len() <= FILES_HELD_MAX;
    if all && !status.is_settled() { firing.trigger_files.clone() } else { Vec::new() }
}

/// What came of the action of a firing that is settled.
fn settled_result(firing: &Firing, by: SettledBy) -> Option<ActionResult> {
    let kind = if firing.command.is_some() { "command" } else { "prompt" };
    let output = (by == SettledBy::Promise).then(|| "acknowledged by a promise".to_owned());
    let exit_code = (by == SettledBy::Command).then_some(0);
    let result = ActionResult {
        kind: kind.to_owned(),
        command: firing.command.clone(),
        exit_code,
        output,
        ..ActionResult::prompt()
    };
    (firing.state == State::Fires).then_some(result)
}

/// What came of the action of one that is not.
fn open_result(firing: &Firing, acted: Option<&Acted>) -> Option<ActionResult> {
    let Some(command) = &firing.command else { return Some(ActionResult::prompt()) };
    let acted = acted?;
    let first: Option<&Failure> = acted.failures.first();
    Some(ActionResult {
        kind: "command".to_owned(),
        command: Some(first.map_or_else(|| command.clone(), |failure| failure.command.clone())),
        exit_code: first.map_or(Some(0), |failure| failure.exit_code),
        output: Some(first.map_or_else(|| "it is not idempotent".to_owned(), |failure| failure.told.clone())),
        stdout: first.map(|failure| failure.stdout.clone()),
        stderr: first.map(|failure| failure.stderr.clone()),
    })
}

fn note(firing: &Firing, before: Option<Status>, status: Status, by: Option<SettledBy>) -> Note {
    match by {
        Some(by) => {
            settled_note((&firing.policy, &firing.name), &firing.hash, before.unwrap_or(Status::Queued), (status, by))
        }
        None => Note {
            kind: "policy.fired",
            before: Value::Null,
            after: json!({ "status": status }),
            data: json!({ "policy": firing.policy, "name": firing.name, "trigger_hash": firing.hash, "content_digest": firing.content }),
        },
    }
}

fn settled_note((policy, name): (&str, &str), hash: &str, before: Status, (status, by): (Status, SettledBy)) -> Note {
    Note {
        kind: "policy.settled",
        before: json!({ "status": before }),
        after: json!({ "status": status }),
        data: json!({ "policy": policy, "name": name, "trigger_hash": hash, "settled_by": by }),
    }
}

/// Policies that cannot be used stand in the record by themselves: nobody else is told of what they would have said. So
/// does what only warns: a folder that is passed over, a baseline that is gone.
pub(crate) fn faulty(faults: &[PolicyFault]) -> Option<Note> {
    let first: Vec<&PolicyFault> = faults.iter().take(FAULTS_NOTED_MAX).collect();
    let data = json!({ "faults": first, "total": faults.len() });
    (!first.is_empty()).then_some(Note { kind: "policy.faulty", before: Value::Null, after: Value::Null, data })
}

/// The digest of what some files contain; `None` for one that is gone.
#[must_use]
pub fn content_digest<'a>(files: impl IntoIterator<Item = (&'a str, Option<&'a Digest>)>) -> Digest {
    let parts = files.into_iter().flat_map(|(path, content)| {
        let content: &[u8] = content.map_or(&[], |digest| digest.0.as_slice());
        [path.as_bytes(), content]
    });
    Digest::of_parts(parts)
}
