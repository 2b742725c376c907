//! Firings on record that do not fire any more: what was done or undone ends them; that their policy is gone, or that
//! nothing can be told, does not.

use super::judged::settled_note;
use super::{Evaluated, Evaluator, Heardof, Outstanding};
use crate::event::Body;
use crate::files::detector::State;
use crate::files::memory::{Kept, Step};
use crate::files::policy::CompareTo;
use crate::files::queue::{Entry, SettledBy, Status, Write};
use crate::files::seen::{Firing, Found, Noted, PolicyFault};
use crate::files::settings::Folder;
use crate::files::text::{self, Section};
use crate::session::Change;

impl Evaluator<'_> {
    /// The firings on record whose policies are in none of the folders that could be looked at: they are gone, cannot be
    /// used, or are in a folder of which nothing can be told. Where a person only looks, nobody could answer them.
    pub(super) fn unjudged(&self, (folders, found): (&[Folder], &[Option<Found>])) -> Vec<&Kept> {
        if found.is_empty() || matches!(self.event.body, Body::PoliciesChecked { .. }) {
            return Vec::new();
        }
        let is_missing = |found: &Found, kept: &Kept| found.missing.iter().any(|missing| missing == kept.identity());
        let looked = |kept: &Kept| {
            let of_tree = folders.iter().zip(found).filter(|(folder, _)| folder.tree == kept.tree);
            of_tree.filter_map(|(_, found)| found.as_ref()).collect::<Vec<_>>()
        };
        let nowhere = |kept: &&Kept| looked(kept).into_iter().all(|found| is_missing(found, kept));
        self.session.files.outstanding().filter(nowhere).collect()
    }

    /// Whether all policies are there that were when the session began: where some are gone, nobody knows what they would
    /// have said; and whether they say the same. Each is told once.
    pub(super) fn count(&self, (folders, judged): (&[Folder], &[Option<Found>]), all: &mut Evaluated) {
        let home = |folder: &Folder| folder.root.is_none() && folder.tree.is_none() && !folder.observed;
        if all.unclear.is_some() || !folders.iter().any(home) {
            return;
        }
        let found = folders.iter().zip(judged).filter(|(folder, _)| home(folder));
        let found: Vec<&Found> = found.filter_map(|(_, found)| found.as_ref()).collect();
        let policies: usize = found.iter().map(|found| found.policies + found.unusable().len()).sum();
        let before = &self.session.files;
        let Compared { gone, changed, noted } = compared(&before.noted, &found);
        let missing = before.policies.saturating_sub(policies).max(gone.len());
        if missing > 0 {
            let known = before.policies;
            let named = if gone.is_empty() { String::new() } else { format!(": {}", text::listed(gone.into_iter())) };
            let told = format!("{missing} of {known} policies that were there when the session began are gone{named}");
            all.unclear = Some(told);
        }
        if missing > 0 || !changed.is_empty() {
            let policies = if missing > 0 { policies } else { before.policies };
            all.changes.push(Change::Files { step: Step::Counted { policies, noted } });
        }
        all.faults.extend(changed.into_iter().map(changed_since));
    }

    /// What becomes of firings on record that were not judged now.
    pub(super) fn on_record(
        &self,
        (folders, judged): (&[Folder], &[Option<Found>]),
        heard: &Heardof,
        all: &mut Evaluated,
    ) {
        let unjudged = self.unjudged((folders, judged));
        if let Some(why) = all.unclear.clone() {
            return unjudged.iter().for_each(|kept| self.keep_untold(kept, &why, heard, all));
        }
        if all.any {
            let firings: Vec<&Firing> = judged.iter().flatten().flat_map(|found| &found.firings).collect();
            self.let_go(&firings, &unjudged, all);
        }
        unjudged.iter().for_each(|kept| self.keep_lost(kept, heard, all));
    }

    /// What fired stays outstanding while it cannot be told whether it still does: that is on record, and needs no git.
    fn keep_untold(&self, kept: &Kept, why: &str, heard: &Heardof, all: &mut Evaluated) {
        all.any = true;
        if self.promised(kept, &kept.name, heard) {
            return self.settle(kept, (Status::Passed, SettledBy::Promise), all);
        }
        let firing = unknown(kept);
        let section = text::untold(&firing, why);
        self.keep_open(kept, firing, section, all);
    }

    fn keep_open(&self, kept: &Kept, firing: Firing, section: Section, all: &mut Evaluated) {
        let (entry, observed, placed) = (self.lost_entry(kept), all.observed, all.placed);
        let home = self.session.pin.as_ref().map_or(self.stack.home(), |pin| &pin.home);
        let tree = Some(kept.tree.as_deref().unwrap_or(home)).filter(|tree| *tree != self.stack.root);
        let section = text::elsewhere(section, tree);
        all.outstanding.push(Outstanding { entry, section, firing, observed, placed });
    }

    /// What a policy asked for that is gone or broken now stays outstanding: taking it away is no answer.
    fn keep_lost(&self, kept: &Kept, heard: &Heardof, all: &mut Evaluated) {
        all.any = true;
        if self.promised(kept, &kept.name, heard) {
            return self.settle(kept, (Status::Passed, SettledBy::Promise), all);
        }
        if !all.faults.iter().any(|fault| fault.file == kept.file) {
            let message = "it is gone, and what it asked for is still outstanding".to_owned();
            let help = Some("put it back; `jackline policy clear` forgets what is outstanding".to_owned());
            all.faults.push(PolicyFault { file: kept.file.clone(), line: 1, message, help, warning: false });
        }
        let firing = unknown(kept);
        let section = text::lost(&firing);
        self.keep_open(kept, firing, section, all);
    }

    /// Firings that were outstanding and do not fire any more.
    fn let_go(&self, firings: &[&Firing], unjudged: &[&Kept], all: &mut Evaluated) {
        for kept in self.session.files.outstanding().filter(|kept| !unjudged.contains(kept)) {
            let own = || firings.iter().filter(|firing| kept.is_like(firing));
            let fires = || own().filter(|firing| firing.state == State::Fires);
            if fires().any(|firing| firing.hash == kept.hash) {
                continue;
            }
            let settled = if fires().next().is_some() {
                (Status::Skipped, SettledBy::Superseded)
            } else if own().next().is_some() {
                (Status::Passed, SettledBy::Satisfied)
            } else {
                (Status::Skipped, SettledBy::Irrelevant)
            };
            self.settle(kept, settled, all);
        }
    }

    fn settle(&self, kept: &Kept, (status, by): (Status, SettledBy), all: &mut Evaluated) {
        let at = self.session.now(self.event.at);
        let (tree, file, hash) = (kept.tree.clone(), kept.file.clone(), kept.hash.clone());
        all.queue.push(Write::Settle { tree, file, hash, status, by, at });
        let name = if kept.name.is_empty() { &kept.policy } else { &kept.name };
        all.notes.push(settled_note((&kept.policy, name), &kept.hash, kept.status, (status, by)));
        // What was put aside may come back.
        let aside = matches!(by, SettledBy::Irrelevant | SettledBy::Satisfied);
        let files = if aside { kept.files.clone() } else { Vec::new() };
        let settled = Kept { status, by: Some(by), at, files, said: None, ..kept.clone() };
        all.changes.push(Change::Files { step: Step::Kept { kept: settled } });
    }

    fn lost_entry(&self, kept: &Kept) -> Entry {
        Entry {
            policy_name: kept.policy.clone(),
            trigger_hash: kept.hash.clone(),
            status: kept.status,
            created_at: kept.at.to_string(),
            evaluated_at: None,
            baseline_ref: kept.reference.clone(),
            trigger_files: kept.files.clone(),
            expected_files: Vec::new(),
            matched_files: Vec::new(),
            action_result: None,
            content_digest: kept.content,
            settled_by: None,
            session: self.event.session.clone(),
            name: kept.name.clone(),
            file: kept.file.clone(),
            tree: kept.tree.clone(),
        }
    }
}

/// What became of policies that were there.
struct Compared<'a> {
    gone: Vec<&'a str>,
    changed: Vec<&'a str>,
    /// Those that are there yet, as they are.
    noted: Vec<Noted>,
}

fn compared<'a>(before: &'a [Noted], found: &[&Found]) -> Compared<'a> {
    let mut all = Compared { gone: Vec::new(), changed: Vec::new(), noted: Vec::new() };
    // More than are told one by one: they are only counted.
    let untold = found.iter().any(|found| found.noted.len() < found.policies);
    for known in before {
        let now = found.iter().flat_map(|found| &found.noted).find(|now| now.file == known.file);
        // That one cannot be used is told by itself.
        let broken = || found.iter().any(|found| found.unusable().contains(known.file.as_str()));
        match now {
            Some(now) if now.digest != known.digest => all.changed.push(&known.file),
            None if !untold && !broken() => {
                all.gone.push(&known.file);
                continue;
            }
            Some(_) | None => {}
        }
        all.noted.push(now.unwrap_or(known).clone());
    }
    all
}

/// What is told of a policy that says something else than before.
fn changed_since(file: &str) -> PolicyFault {
    let message = "it does not say any more what it said when the session began".to_owned();
    let help = Some("look whether it still asks for what you want".to_owned());
    PolicyFault { file: file.to_owned(), line: 1, message, help, warning: true }
}

/// A firing of which only the record is left.
fn unknown(kept: &Kept) -> Firing {
    let name = if kept.name.is_empty() { kept.policy.clone() } else { kept.name.clone() };
    Firing {
        policy: kept.policy.clone(),
        name,
        file: kept.file.clone(),
        tree: kept.tree.clone(),
        state: State::Fires,
        hash: kept.hash.clone(),
        baseline_ref: kept.reference.clone(),
        compare_to: if kept.prompt { CompareTo::Prompt } else { CompareTo::Base },
        content: kept.content,
        trigger_files: kept.files.clone(),
        expected_files: Vec::new(),
        matched_files: Vec::new(),
        pairs: Vec::new(),
        left_out: 0,
        pairs_left_out: 0,
        command: None,
        idle: false,
        instructions: String::new(),
        backed: None,
        failed: None,
    }
}
