//! Firings on record that do not fire any more: what was done or undone ends them; that their policy is gone does not.

use super::judged::settled_note;
use super::{Evaluated, Evaluator, Heardof, Outstanding};
use crate::files::detector::State;
use crate::files::memory::{Kept, Step};
use crate::files::policy::CompareTo;
use crate::files::queue::{Entry, SettledBy, Status, Write};
use crate::files::seen::{Firing, Found, PolicyFault};
use crate::files::text;
use crate::session::Change;

impl Evaluator<'_> {
    /// The firings on record whose policies are in no folder any more, or cannot be used.
    pub(super) fn lost(&self, found: &[Option<Found>]) -> Vec<&Kept> {
        let missing = |kept: &&Kept| found.iter().flatten().all(|found| found.missing.contains(&kept.policy));
        self.session.files.outstanding().filter(missing).collect()
    }

    /// What a policy asked for that is gone or broken now stays outstanding: taking it away is no answer.
    pub(super) fn keep_lost(&self, kept: &Kept, heard: &Heardof, all: &mut Evaluated) {
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
        let entry = self.lost_entry(kept);
        let (section, placed) = (text::lost(&firing), all.placed);
        all.outstanding.push(Outstanding { entry, section, firing, observed: false, placed });
    }

    /// Firings that were outstanding and do not fire any more.
    pub(super) fn let_go(&self, firings: &[Firing], lost: &[&Kept], all: &mut Evaluated) {
        for kept in self.session.files.outstanding().filter(|kept| !lost.contains(kept)) {
            let fires = |firing: &&Firing| firing.state == State::Fires && firing.policy == kept.policy;
            if firings.iter().filter(fires).any(|firing| firing.hash == kept.hash) {
                continue;
            }
            let settled = if firings.iter().any(|firing| fires(&firing)) {
                (Status::Skipped, SettledBy::Superseded)
            } else if firings.iter().any(|firing| firing.policy == kept.policy) {
                (Status::Passed, SettledBy::Satisfied)
            } else {
                (Status::Skipped, SettledBy::Irrelevant)
            };
            self.settle(kept, settled, all);
        }
    }

    fn settle(&self, kept: &Kept, (status, by): (Status, SettledBy), all: &mut Evaluated) {
        let at = self.session.now(self.event.at);
        all.queue.push(Write::Settle { hash: kept.hash.clone(), status, by, at });
        let name = if kept.name.is_empty() { &kept.policy } else { &kept.name };
        all.notes.push(settled_note((&kept.policy, name), &kept.hash, kept.status, (status, by)));
        let settled = Kept { status, by: Some(by), at, files: Vec::new(), ..kept.clone() };
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
            trigger_files: Vec::new(),
            expected_files: Vec::new(),
            matched_files: Vec::new(),
            action_result: None,
            content_digest: kept.content,
            settled_by: None,
            session: self.event.session.clone(),
            name: kept.name.clone(),
        }
    }
}

/// A firing of which only the record is left.
fn unknown(kept: &Kept) -> Firing {
    let name = if kept.name.is_empty() { kept.policy.clone() } else { kept.name.clone() };
    Firing {
        policy: kept.policy.clone(),
        name,
        file: kept.file.clone(),
        state: State::Fires,
        hash: kept.hash.clone(),
        baseline_ref: kept.reference.clone(),
        compare_to: if kept.prompt { CompareTo::Prompt } else { CompareTo::Base },
        content: kept.content,
        trigger_files: Vec::new(),
        expected_files: Vec::new(),
        matched_files: Vec::new(),
        pairs: Vec::new(),
        left_out: 0,
        pairs_left_out: 0,
        command: None,
        idle: false,
        instructions: String::new(),
        backed: None,
    }
}
