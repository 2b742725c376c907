//! How each firing stands, and what is remembered and shown of it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{Evaluated, Evaluator, Heardof, Outstanding, Rewritten};
use crate::decision::Note;
use crate::files::detector::State;
use crate::files::memory::{FILES_HELD_MAX, Kept, Step};
use crate::files::policy::CompareTo;
use crate::files::queue::{ActionResult, Entry, SettledBy, Status, Write};
use crate::files::seen::{Acted, Failure, Firing, Found, REWROTE_TOLD_MAX};
use crate::files::settings::Folder;
use crate::files::text::{self, Section};
use crate::session::Change;

/// How a firing is judged.
pub(super) enum Judged {
    /// It was settled before.
    Stands(Status, Option<SettledBy>),
    Settled(Status, SettledBy),
    Open(Status, Section, Option<Box<Acted>>),
}

impl Evaluator<'_> {
    pub(super) fn judge(&self, firing: &Firing, acted: &[Acted], heard: &Heardof) -> Judged {
        let known = self.known(firing);
        match firing.state {
            State::Safe => return quiet(known, SettledBy::Safety),
            State::Met => return quiet(known, SettledBy::Satisfied),
            State::Fires => {}
        }
        if let Some(backed) = &firing.backed {
            return Judged::Stands(backed.status, backed.by);
        }
        if let Some(kept) = self.session.files.settled(firing) {
            return Judged::Stands(kept.status, kept.by);
        }
        if self.promises(firing, heard) {
            return Judged::Settled(Status::Passed, SettledBy::Promise);
        }
        if firing.idle {
            return Judged::Settled(Status::Skipped, SettledBy::Deleted);
        }
        if firing.command.is_none() {
            return Judged::Open(Status::Queued, text::prompt(firing), None);
        }
        match acted.iter().find(|acted| acted.is_of(firing)) {
            Some(acted) => ran(firing, acted),
            None => self.unrun(firing, known, acted),
        }
    }

    /// How a firing stands whose command has not run for it now.
    fn unrun(&self, firing: &Firing, known: Option<&Kept>, acted: &[Acted]) -> Judged {
        if known.is_some_and(|kept| kept.status == Status::Failed && kept.content == firing.content) {
            return Judged::Open(Status::Failed, text::command_again(firing), None);
        }
        let why = if let Some(why) = self.idle {
            why
        } else if acted.iter().any(|acted| acted.policy == firing.policy) {
            "its files changed after it had run; it runs anew when you stop again"
        } else {
            "it could not be"
        };
        Judged::Open(Status::Queued, text::command_unrun(firing, why), None)
    }

    /// Remembers what was judged, and puts it into the queue.
    pub(super) fn keep(&self, firing: &Firing, judged: Judged, folder: &Folder, all: &mut Evaluated) {
        let (status, by, result) = match &judged {
            Judged::Stands(status, by) => (*status, *by, by.and_then(|by| settled_result(firing, by))),
            Judged::Settled(status, by) => (*status, Some(*by), settled_result(firing, *by)),
            Judged::Open(status, _, acted) => (*status, None, open_result(firing, acted.as_deref())),
        };
        let entry = self.entry(firing, status, by, result);
        let known = self.known(firing);
        let same = known.is_some_and(|kept| (kept.status, kept.by, kept.content) == (status, by, firing.content));
        match &judged {
            // What another session settled stands in its own log, and its entry is there.
            Judged::Stands(..) if firing.backed.is_some() => {}
            Judged::Stands(..) => all.queue.push(Write::Restored(Box::new(entry.clone()))),
            Judged::Settled(..) | Judged::Open(..) if same => {
                all.queue.push(Write::Restored(Box::new(entry.clone())));
            }
            Judged::Settled(..) | Judged::Open(..) => {
                if firing.state == State::Fires {
                    let kept = self.kept(firing, known, (status, by));
                    all.changes.push(Change::Files { step: Step::Kept { kept } });
                    all.notes.push(note(firing, known.map(|kept| kept.status), status, by));
                }
                all.queue.push(Write::Entry(Box::new(entry.clone())));
            }
        }
        match judged {
            Judged::Open(_, section, _) => {
                let section = self.unheard(firing, section);
                let section = text::elsewhere(section, folder.root.as_deref());
                let (firing, observed, placed) = (firing.clone(), folder.observed, folder.placed);
                all.outstanding.push(Outstanding { entry, firing, section, observed, placed });
            }
            Judged::Stands(..) | Judged::Settled(..) => all.settled.push(entry),
        }
    }

    fn kept(&self, firing: &Firing, known: Option<&Kept>, (status, by): (Status, Option<SettledBy>)) -> Kept {
        // A firing that goes on for the same content keeps the time at which it began.
        let goes_on =
            |kept: &&Kept| !kept.status.is_settled() && !status.is_settled() && kept.content == firing.content;
        Kept {
            policy: firing.policy.clone(),
            hash: firing.hash.clone(),
            content: firing.content,
            status,
            by,
            name: firing.name.clone(),
            file: firing.file.clone(),
            reference: firing.baseline_ref.clone(),
            files: held_files(firing, status, by),
            prompt: firing.compare_to == CompareTo::Prompt,
            at: known.filter(goes_on).map_or(self.session.now(self.event.at), |kept| kept.at),
            said: if status.is_settled() {
                None
            } else {
                known.filter(goes_on).map_or(self.spoken(), |kept| kept.said)
            },
            tree: firing.tree.clone(),
        }
    }

    fn entry(&self, firing: &Firing, status: Status, by: Option<SettledBy>, result: Option<ActionResult>) -> Entry {
        let now = self.session.now(self.event.at);
        let known = self.known(firing);
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
            file: firing.file.clone(),
            tree: firing.tree.clone(),
        }
    }
}

/// How one stands that asks for nothing now: one that did before has passed, and goes on so.
fn quiet(known: Option<&Kept>, by: SettledBy) -> Judged {
    match known {
        Some(kept) if kept.status == Status::Passed => Judged::Stands(Status::Passed, kept.by),
        Some(kept) if !kept.status.is_settled() => Judged::Settled(Status::Passed, SettledBy::Satisfied),
        Some(_) | None => Judged::Settled(Status::Skipped, by),
    }
}

/// The files of a firing that stay changed while it is outstanding.
fn held_files(firing: &Firing, status: Status, by: Option<SettledBy>) -> Vec<String> {
    let answered = status.is_settled() && by != Some(SettledBy::Deleted);
    let held = if answered { 0 } else { FILES_HELD_MAX };
    firing.trigger_files.iter().take(held).cloned().collect()
}

/// How a firing stands whose command was to run for exactly this.
fn ran(firing: &Firing, acted: &Acted) -> Judged {
    if acted.passed {
        return Judged::Settled(Status::Passed, SettledBy::Command);
    }
    if acted.waits {
        return Judged::Open(Status::Queued, text::command_waits(firing), None);
    }
    // What was not run for want of trust is run once it is trusted.
    let status = if acted.skipped { Status::Queued } else { Status::Failed };
    Judged::Open(status, text::command(firing, acted), Some(acted.clone().into()))
}

impl Acted {
    /// Whether it is what came of this firing: of these files, with this content, by this policy's text.
    pub(super) fn is_of(&self, firing: &Firing) -> bool {
        self.policy == firing.policy && self.hash == firing.hash && self.content == firing.content
    }
}

/// What came of the action of a firing that is settled.
fn settled_result(firing: &Firing, by: SettledBy) -> Option<ActionResult> {
    let kind = if firing.command.is_some() { "command" } else { "prompt" };
    let output = match by {
        SettledBy::Promise => Some("acknowledged by a promise".to_owned()),
        SettledBy::Deleted => Some("it was not run: its files are deleted, or links".to_owned()),
        _ => None,
    };
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
    let Some(acted) = acted else { return firing.failed.clone() };
    let first: Option<&Failure> = acted.failures.first();
    Some(ActionResult {
        kind: "command".to_owned(),
        command: Some(first.map_or_else(|| command.clone(), |failure| failure.command.clone())),
        exit_code: first.map_or(Some(0), |failure| failure.exit_code),
        output: Some(first.map_or_else(|| "it is not idempotent".to_owned(), |failure| failure.told.clone())),
        stdout: first.map(|failure| failure.stdout.clone()),
        stderr: first.map(|failure| failure.stderr.clone()),
        stdout_kept: first.and_then(|failure| failure.stdout_kept),
        stderr_kept: first.and_then(|failure| failure.stderr_kept),
    })
}

/// What the commands of a folder's policies changed, in all their runs.
pub(super) fn rewritten(found: &Found, acted: &[Acted]) -> Vec<Rewritten> {
    let mut whose: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut more: BTreeMap<BTreeSet<&str>, usize> = BTreeMap::new();
    for acted in acted {
        for file in &acted.rewrote {
            whose.entry(file).or_default().insert(&acted.policy);
        }
        *more.entry(BTreeSet::from([acted.policy.as_str()])).or_default() += acted.rewrote_more;
    }
    let mut all: BTreeMap<BTreeSet<&str>, Vec<String>> = BTreeMap::new();
    for (file, policies) in whose {
        all.entry(policies).or_default().push(file.to_owned());
    }
    let named = |policy: &&str| {
        let firing = found.firings.iter().find(|firing| firing.policy == **policy);
        firing.map_or((*policy).to_owned(), |firing| firing.name.clone())
    };
    let told = |(policies, mut files): (BTreeSet<&str>, Vec<String>)| {
        let left_out = more.get(&policies).unwrap_or(&0) + files.len().saturating_sub(REWROTE_TOLD_MAX);
        files.truncate(REWROTE_TOLD_MAX);
        let names = policies.iter().map(named).collect();
        Rewritten { policies: policies.into_iter().map(str::to_owned).collect(), names, files, left_out }
    };
    all.into_iter().map(told).collect()
}

pub(super) fn rewritten_note(rewritten: &Rewritten) -> Note {
    Note { kind: "policy.rewrote", before: Value::Null, after: Value::Null, data: json!(rewritten) }
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

pub(super) fn settled_note(
    (policy, name): (&str, &str),
    hash: &str,
    before: Status,
    (status, by): (Status, SettledBy),
) -> Note {
    Note {
        kind: "policy.settled",
        before: json!({ "status": before }),
        after: json!({ "status": status }),
        data: json!({ "policy": policy, "name": name, "trigger_hash": hash, "settled_by": by }),
    }
}
