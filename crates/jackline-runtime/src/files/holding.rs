//! A firing on record stays held against what it was compared to: a commit, or a branch that moved on, ends nothing.
//!
//! Only its own files are held so. What others changed since then, and brought along with a branch, asks for nothing; it
//! may satisfy, though. What counts as changed only because the baseline moved back does not: it was there before.

use std::collections::BTreeMap;

use jackline_core::files::detector::{self, Changed, Changes, Detected, State};
use jackline_core::files::policy::{CompareTo, Policy};
use jackline_core::files::seen::Held;
use jackline_core::redact::Redactor;

use super::changes::{Survey, Unclear};
use crate::probes::git::GitFault;

/// What changed since the commits that firings on record were compared to; each is asked for once.
pub(super) struct Holding<'a> {
    since: BTreeMap<String, Option<Changes>>,
    redactor: Option<&'a Redactor>,
}

impl<'a> Holding<'a> {
    pub(super) const fn new(redactor: Option<&'a Redactor>) -> Self {
        Self { since: BTreeMap::new(), redactor }
    }

    /// What a policy with a firing on record makes of what changed, and what that is compared to.
    pub(super) fn detect(
        &mut self,
        survey: &Survey<'_>,
        policy: &Policy,
        (now, reference): (&Changes, &str),
        held: &Held,
    ) -> Result<Option<(Detected, String)>, Unclear> {
        let redactor = self.redactor;
        let then = self.since(survey, policy, &held.reference)?;
        let on_record = |path: &str| held.files.iter().any(|file| file == path);
        // A name with a secret is on record without it.
        let redacted = |path: &str| match redactor.map(|redactor| redactor.text(path)) {
            Some((name, true)) => on_record(&name),
            Some((_, false)) | None => false,
        };
        let own = |path: &str| held.has_more() || on_record(path) || redacted(path);
        // Where it cannot be told any more, what is on record stands, and nothing but a promise answers it.
        let holds = |path: &str| own(path) && then.is_none_or(|then| then.holds(path));
        if then.is_none() && held.files.is_empty() {
            return Err(Unclear::NoCommit(held.reference.clone()));
        }
        let all = together(now, then, held);
        let asks = |path: &str| now.holds(path) || holds(path);
        let answers = |asking: &str, path: &str| !holds(asking) || then.is_some_and(|then| then.holds(path));
        let Some(seen) = detector::detect_among(policy, &all, asks, answers) else { return Ok(None) };
        let still = seen.trigger_files.iter().any(|path| holds(path));
        let reference = if still { held.reference.clone() } else { reference.to_owned() };
        Ok(Some((seen, reference)))
    }

    /// The same of a firing that was put aside: what asks for something now counts; else its files may have come back by a
    /// commit, where what is checked out is compared to. A branch of the remote tells by itself what is not in it. That another
    /// branch differs from what was compared to is not their coming back.
    pub(super) fn again(
        &mut self,
        survey: &Survey<'_>,
        policy: &Policy,
        (now, reference): (&Changes, &str),
        held: &Held,
        plain: Option<(Detected, String)>,
    ) -> Result<Option<(Detected, String)>, Unclear> {
        let fires =
            |seen: &Option<(Detected, String)>| seen.as_ref().is_some_and(|(seen, _)| seen.state == State::Fires);
        if fires(&plain) || !survey.is_local() {
            return Ok(plain);
        }
        let back = self.detect(survey, policy, (now, reference), held)?;
        Ok(if fires(&back) && survey.comes_after(&held.reference)? { back } else { plain })
    }

    /// What changed since a commit on record; nothing where that commit is no more.
    fn since(&mut self, survey: &Survey<'_>, policy: &Policy, reference: &str) -> Result<Option<&Changes>, Unclear> {
        if !self.since.contains_key(reference) {
            // A baseline without a commit is named by what was compared to.
            let commit = Some(reference).filter(|reference| CompareTo::parse(reference) != Some(policy.compare_to));
            let changes = match survey.since(commit) {
                Err(Unclear::Git(GitFault::Failed(_))) => None,
                told => Some(told?),
            };
            self.since.insert(reference.to_owned(), changes);
        }
        Ok(self.since.get(reference).and_then(Option::as_ref))
    }
}

/// What changed since either; a file is new if it was for either.
fn together(now: &Changes, then: Option<&Changes>, held: &Held) -> Changes {
    let mut all: BTreeMap<&str, bool> = BTreeMap::new();
    let on_record = held.files.iter().filter(|_| then.is_none()).map(|path| (path.as_str(), false));
    let told = now.iter().chain(then.into_iter().flat_map(Changes::iter));
    for (path, created) in told.map(|file| (file.path.as_str(), file.created)).chain(on_record) {
        *all.entry(path).or_default() |= created;
    }
    Changes::new(all.into_iter().map(|(path, created)| Changed { path: path.to_owned(), created }).collect())
}
