//! Holds the policies of a folder against what changed, each against its own baseline.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};

use jackline_core::audit::head;
use jackline_core::files::detector::{self, Changes, Detected, State};
use jackline_core::files::evaluator::content_digest;
use jackline_core::files::policy::{Action, CompareTo, Policy};
use jackline_core::files::queue::trigger_hash;
use jackline_core::files::seen::{
    Baseline, FILES_TOLD_MAX, FILES_TOTAL_MAX, Firing, Found, Held, INSTRUCTIONS_BYTES_MAX, Noted, PolicyFault,
};
use jackline_core::files::text::filled;
use jackline_core::redact::Redactor;
use jackline_core::sha::Digest;
use jackline_core::time::Timestamp;

use super::ahead::Ahead;
use super::baselines;
use super::changes::{LOOK_MS_MAX, Survey, Told, Unclear};
use super::contents::{self, Contents};
use super::folder::{Folder, holds_any, policies};
use super::holding::Holding;
use super::names;
use super::withheld;
use crate::probes::git::Git;

/// What is asked.
#[derive(Debug, Clone, Copy, Default)]
pub struct Question<'a> {
    /// Compared to instead of every baseline.
    pub base: Option<&'a str>,
    /// The last prompt's, as the session remembers it.
    pub baseline: Option<&'a Baseline>,
    /// Policies that fired before, and are not settled.
    pub held: &'a [Held],
    /// They are held against what they were compared to then, and stay outstanding when their policies go. Nobody could
    /// promise where a person only looks.
    pub holds: bool,
    /// What took the secrets out of the names of their files.
    pub redactor: Option<&'a Redactor>,
    /// Where we keep things beside other folders.
    pub kept: &'a [PathBuf],
    /// When the session began that asks: what changed since is read, whatever git's index says of it.
    pub began: Option<Timestamp>,
}

impl Question<'_> {
    /// A firing of this policy on record, where it is held against what it was compared to.
    fn on_record(&self, policy: &Policy, file: &str) -> Option<&Held> {
        let counts = self.holds && self.base.is_none() && policy.compare_to != CompareTo::Prompt;
        self.held
            .iter()
            .filter(|_| counts)
            .filter(|held| is_of(held, policy, file))
            .find(|held| !held.reference.is_empty())
    }

    /// Firings on record that are outstanding.
    fn outstanding(&self) -> impl Iterator<Item = &Held> {
        self.held.iter().filter(|held| self.holds && self.base.is_none() && !held.aside)
    }

    /// The policies with a firing on record that are not there, and should be: their files, or what they are called
    /// where no file is on record.
    pub(crate) fn missing(&self, is_there: impl Fn(&Held) -> bool) -> Vec<String> {
        let gone = self.held.iter().filter(|held| self.holds && !held.aside && !is_there(held));
        gone.map(|held| if held.file.is_empty() { held.policy.clone() } else { held.file.clone() }).collect()
    }
}

/// Whether a firing on record is this policy's.
fn is_of(held: &Held, policy: &Policy, file: &str) -> bool {
    held.policy == policy.id && (held.file.is_empty() || held.file == file)
}

/// Everything that was found, with nothing left out.
#[derive(Debug, Clone, Default)]
pub struct Detection {
    pub fired: Vec<Fired>,
    pub faults: Vec<PolicyFault>,
    pub policies: usize,
    pub individual: bool,
    /// Of the policies that fired before, those that are gone or cannot be used.
    pub missing: Vec<String>,
    /// Which policies there are, and what they say, unless there are too many.
    pub noted: Vec<Noted>,
}

/// A policy that is about some changed files.
#[derive(Debug, Clone)]
pub struct Fired {
    pub policy: Policy,
    pub detected: detector::Detected,
    pub hash: String,
    pub reference: String,
    pub file: String,
    pub content: Digest,
    /// Trigger files that are there, in order, where its command is given them. The name of a repository inside is no file.
    pub present: Vec<String>,
    /// Those that would lead it elsewhere, and are kept from it.
    pub links: Vec<String>,
}

/// The same, with whichever git program the system has.
///
/// # Errors
/// Why it cannot be told.
pub fn look_at(folder: &Folder, home: Option<&Path>, question: Question<'_>) -> Result<Detection, String> {
    detect(Git::find(&folder.root, home).as_ref(), folder, question, None, || {})
}

/// Looks which policies fire; `ahead` is a look that was begun before, `meanwhile` is done while the work tree is looked
/// at.
pub(crate) fn detect(
    git: Option<&Git>,
    folder: &Folder,
    question: Question<'_>,
    ahead: Option<&Ahead>,
    meanwhile: impl FnOnce(),
) -> Result<Detection, String> {
    let survey = git.ok_or(Unclear::NoGit).and_then(|git| surveyed(git, folder, question, ahead));
    // What changed is looked at while the policies are read.
    survey.iter().filter(|_| holds_any(&folder.dir)).for_each(Survey::begin);
    let read = policies(folder);
    let (policies, individual) = (read.policies.len(), folder.individual);
    let here = |held: &Held| held.file.is_empty() || held.file == folder.file(&held.policy);
    let missing = question.missing(|held| here(held) && read.policies.iter().any(|policy| policy.id == held.policy));
    let noted = super::noted(folder, &read.policies);
    let empty = Detection { fired: Vec::new(), faults: read.faults, policies, individual, missing, noted };
    if read.policies.is_empty() {
        return Ok(empty);
    }
    meanwhile();
    let (fired, lost) =
        survey.and_then(|survey| look(&survey, folder, question, read.policies)).map_err(|why| why.to_string())?;
    let faults = empty.faults.into_iter().chain(lost).collect();
    Ok(Detection { fired, faults, ..empty })
}

/// What changed since one baseline.
struct Since {
    changes: Changes,
    reference: String,
    /// It should have been compared to something else, which is gone.
    lost: Option<Lost>,
}

/// What of a prompt is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lost {
    /// How everything was then.
    Baseline,
    /// The commit that was checked out then.
    Commit,
}

/// What fires, and what is wrong with what it was compared to.
type Looked = (Vec<Fired>, Vec<PolicyFault>);

/// The repository as it is looked at for a folder.
fn surveyed<'a>(
    git: &'a Git,
    folder: &Folder,
    asked: Question<'_>,
    ahead: Option<&'a Ahead>,
) -> Result<Survey<'a>, Unclear> {
    let survey = Survey::new(git, &folder.root, LOOK_MS_MAX)?;
    Ok(survey.beside(folder, asked.kept).doubting(asked.began).after(ahead))
}

fn look(survey: &Survey<'_>, folder: &Folder, asked: Question<'_>, all: Vec<Policy>) -> Result<Looked, Unclear> {
    let mut known: BTreeMap<CompareTo, Since> = BTreeMap::new();
    for policy in &all {
        if let Entry::Vacant(vacant) = known.entry(policy.compare_to) {
            vacant.insert(since(survey, folder, asked, policy.compare_to)?);
        }
    }
    let (closed, removed) = (survey.closed(), survey.removed());
    let hidden: Vec<String> = closed.iter().chain(&removed).cloned().collect();
    let is_told = |file: &str| known.values().any(|since| since.changes.holds(file));
    let withheld = withheld::files(survey, asked.outstanding(), is_told)?;
    let mut holding = Holding::new(asked.redactor);
    let mut found: Vec<(Policy, Detected, String)> = Vec::new();
    for policy in all {
        let Some(Since { changes, reference, .. }) = known.get(&policy.compare_to) else { continue };
        let (now, file) = (reference, folder.file(&policy.id));
        let outstanding = asked.outstanding().filter(|held| is_of(held, &policy, &file));
        let more = withheld::beside(changes, outstanding, &withheld);
        let changes = more.as_ref().unwrap_or(changes);
        let held = asked.on_record(&policy, &file);
        let plain = || detector::detect(&policy, changes).map(|seen| (seen, reference.clone()));
        let seen = match held.filter(|held| held.reference != *reference) {
            Some(held) if held.aside => holding.again(survey, &policy, (changes, reference), held, plain())?,
            Some(held) => holding.detect(survey, &policy, (changes, reference), held)?,
            None => plain(),
        };
        let (seen, reference) = seen.unzip();
        let seen = detector::with_closed(&policy, seen, &hidden);
        found.extend(seen.map(|seen| (policy, seen, reference.unwrap_or_else(|| now.clone()))));
    }
    let mut touched: Vec<&str> =
        found.iter().flat_map(|(_, seen, _)| &seen.trigger_files).map(String::as_str).collect();
    touched.sort_unstable();
    touched.dedup();
    let contents = survey.contents(&touched);
    let fired: Vec<Fired> =
        found.into_iter().map(|(policy, seen, to)| fired(folder, (policy, seen), to, &contents)).collect();
    let lost = known.values().find_map(|since| since.lost).map(|lost| gone(folder, lost));
    let compared = [survey.is_astray().then(astray), survey.is_cut().then(cut)];
    let told = lost.into_iter().chain(compared.into_iter().flatten()).chain(closed.iter().map(|dir| unlisted(dir)));
    let told = told.chain(removed.iter().map(|dir| taken_out(dir))).chain(fired.iter().filter_map(linked));
    let told = told.collect();
    Ok((fired, told))
}

/// What is told of a directory that cannot be listed.
fn unlisted(dir: &str) -> PolicyFault {
    let message =
        "the directory cannot be listed, or holds too much: whatever policies ask about may be new in it".to_owned();
    let help = Some("let its owner read it (`chmod u+rx`), or have `.gitignore` name it".to_owned());
    let file = if dir.is_empty() { ".".to_owned() } else { dir.to_owned() };
    PolicyFault { file, line: 1, message, help, warning: true }
}

/// What is told of a submodule that is there no more.
fn taken_out(dir: &str) -> PolicyFault {
    let message = "the submodule is there no more: whatever policies ask about was perhaps in it".to_owned();
    PolicyFault { file: dir.to_owned(), line: 1, message, help: None, warning: true }
}

/// What is told of links that a command is not given.
fn linked(fired: &Fired) -> Option<PolicyFault> {
    let first = fired.links.first().filter(|_| fired.detected.state == State::Fires)?;
    let more = fired.links.len() - 1;
    let more = if more > 0 { format!(", nor on {more} more") } else { String::new() };
    let message = format!("a link, or behind one: the command of `{}` is not run on it{more}", fired.policy.name);
    let help = Some("have a file stand there".to_owned());
    Some(PolicyFault { file: first.clone(), line: 1, message, help, warning: true })
}

fn since(survey: &Survey<'_>, folder: &Folder, asked: Question<'_>, to: CompareTo) -> Result<Since, Unclear> {
    let against = |commit: Option<String>, name: &str| -> Result<Since, Unclear> {
        let changes = survey.since(commit.as_deref())?;
        Ok(Since { changes, reference: commit.unwrap_or_else(|| name.to_owned()), lost: None })
    };
    if let Some(base) = asked.base {
        return against(Some(survey.named(base)?), "base");
    }
    match to {
        CompareTo::Base => against(survey.base()?, to.name()),
        CompareTo::DefaultTip => against(survey.default_tip()?, to.name()),
        CompareTo::Prompt => {
            let kept = asked.baseline.and_then(|known| Some((known, baselines::load(folder, known)?)));
            match kept {
                Some((known, kept)) => {
                    let Told { changes, whole } = baselines::since(survey, folder, &kept)?;
                    let lost = whole.then_some(Lost::Commit);
                    Ok(Since { changes, reference: known.reference.clone(), lost })
                }
                None => without(survey, asked.baseline),
            }
        }
    }
}

/// What changed since a prompt whose baseline is not there: since the commit that was checked out then, so that losing it
/// never makes less count. Where no prompt was seen at all, everything that is not committed counts.
fn without(survey: &Survey<'_>, known: Option<&Baseline>) -> Result<Since, Unclear> {
    match known {
        Some(known) => {
            let Told { changes, whole } = survey.since_then(known.commit.as_deref())?;
            let lost = if whole { Some(Lost::Commit) } else { known.unkept.is_none().then_some(Lost::Baseline) };
            Ok(Since { changes, reference: known.reference.clone(), lost })
        }
        None => {
            let (changes, reference) = (survey.since(survey.head()?.as_deref())?, CompareTo::Prompt.name().to_owned());
            Ok(Since { changes, reference, lost: None })
        }
    }
}

/// What is told of a baseline that was kept and is gone, or is not as it was; or of its commit.
fn gone(folder: &Folder, lost: Lost) -> PolicyFault {
    let dir = folder.state().join("baselines");
    let file = dir.strip_prefix(&folder.root).unwrap_or(&dir).display().to_string();
    let message = match lost {
        Lost::Baseline => "the baseline of the last prompt is gone or was changed: everything since its commit counts",
        Lost::Commit => "the commit of the last prompt cannot be compared to any more: every file counts",
    };
    PolicyFault { file, line: 1, message: message.to_owned(), help: None, warning: true }
}

/// What is told where a remote is there and compared to nothing of it.
fn astray() -> PolicyFault {
    let message =
        "which branch of the remote is the default one is not known: compared to what is checked out".to_owned();
    let help = Some("the remote is `origin`; run `git remote set-head origin --auto`".to_owned());
    PolicyFault { file: "compare_to".to_owned(), line: 1, message, help, warning: true }
}

/// What is told where the branch that is compared to has nothing in common with what is checked out.
fn cut() -> PolicyFault {
    let message = "what is checked out has no commit in common with the branch it is compared to: compared to that \
                   branch's tip"
        .to_owned();
    let help = Some("if the clone is shallow, fetch the rest: `git fetch --unshallow`".to_owned());
    PolicyFault { file: "compare_to".to_owned(), line: 1, message, help, warning: true }
}

fn fired(folder: &Folder, (policy, seen): (Policy, Detected), reference: String, contents: &Contents) -> Fired {
    let is_file = |content: &Digest| *content != contents::directory();
    let is_there = |path: &&String| contents.get(*path).is_some_and(|content| content.as_ref().is_some_and(is_file));
    let given = matches!(&policy.action, Action::Command(command) if command.names_files());
    let files: &[String] = if given { &seen.trigger_files } else { &[] };
    // Where a link leads the agent may not write, and the command would do so for it.
    let (links, present) =
        files.iter().filter(is_there).cloned().partition(|path| names::is_linked(&folder.root, path));
    Fired {
        hash: trigger_hash(&policy.id, &seen.trigger_files, &reference),
        reference,
        file: folder.file(&policy.id),
        content: about(&policy, &seen, contents),
        present,
        links,
        policy,
        detected: seen,
    }
}

/// What a firing is about: the policy's text, its files as they are, and what is asked for along with them.
pub(super) fn about(policy: &Policy, seen: &detector::Detected, contents: &Contents) -> Digest {
    let content = |path: &String| contents.get(path).and_then(Option::as_ref);
    let files = seen.trigger_files.iter().map(|path| (path.as_str(), content(path)));
    content_digest(&policy.digest, files, &seen.pairs)
}

impl Detection {
    /// The same as a record keeps it: lists cut to their bounds, and counted.
    #[must_use]
    pub fn told(&self) -> Found {
        let mut left = FILES_TOTAL_MAX;
        Found {
            firings: self.fired.iter().map(|fired| fired.told(&mut left)).collect(),
            faults: self.faults.clone(),
            policies: self.policies,
            individual: self.individual,
            missing: self.missing.clone(),
            noted: self.noted.clone(),
        }
    }
}

impl Fired {
    fn told(&self, left: &mut usize) -> Firing {
        let seen = &self.detected;
        let room = FILES_TOLD_MAX.min(*left);
        let cut = |files: &[String]| files.iter().take(room).cloned().collect::<Vec<_>>();
        let pairs: Vec<_> = seen.pairs.iter().take(room).cloned().collect();
        *left = left.saturating_sub(seen.trigger_files.len().min(room) + pairs.len());
        let (command, idle) = match &self.policy.action {
            Action::Prompt => (None, false),
            Action::Command(command) => (Some(command.shown.clone()), command.names_files() && self.present.is_empty()),
        };
        let instructions = if seen.state == State::Fires {
            filled(&self.policy.body, &seen.trigger_files, &seen.expected_files)
        } else {
            String::new()
        };
        Firing {
            policy: self.policy.id.clone(),
            name: self.policy.name.clone(),
            file: self.file.clone(),
            tree: None,
            state: seen.state,
            hash: self.hash.clone(),
            baseline_ref: self.reference.clone(),
            compare_to: self.policy.compare_to,
            content: self.content,
            trigger_files: cut(&seen.trigger_files),
            expected_files: cut(&seen.expected_files),
            matched_files: cut(&seen.matched_files),
            left_out: seen.trigger_files.len().saturating_sub(room),
            pairs_left_out: seen.pairs.len().saturating_sub(pairs.len()),
            pairs,
            command,
            idle,
            instructions: head(&instructions, INSTRUCTIONS_BYTES_MAX).to_owned(),
            backed: None,
            failed: None,
        }
    }
}
