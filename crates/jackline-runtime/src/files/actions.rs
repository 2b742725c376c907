//! Runs the commands of policies that fired: bounded, without a shell, side by side where they share no file, and once
//! more where they changed something, since an action must come to rest.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use jackline_core::audit::head;
use jackline_core::files::command::{self, Command};
use jackline_core::files::policy::Action;
use jackline_core::files::seen::{Acted, FAILURES_TOLD_MAX, Failure, PRINTED_BYTES_MAX, REWROTE_TOLD_MAX};
use jackline_core::ran::{Exit, Ran};
use jackline_core::sha::Digest;
use jackline_core::stack::Stack;
use rustix::fs::{FlockOperation, flock};

use super::contents;
use super::detection::{Fired, about};
use super::folder::Folder;
use super::names;
use super::queue;
use crate::commands::Commands;
use crate::definitions::Scripts;
use crate::private;
use crate::probes::git::Git;
use crate::probes::worktree::{self, Files};

/// Milliseconds that all commands of one stop may take together: a host waits so long, and no longer.
pub const ACTIONS_MS_MAX: u64 = 120_000;
/// Milliseconds that one run may take.
const RUN_MS_MAX: u64 = 60_000;
/// Runs of one policy: one that has more files takes many of them at once.
const RUNS_MAX: usize = 1000;
/// Commands that run at once.
const RUNNERS_MAX: usize = 4;
/// Milliseconds between two looks at a lock that another process holds.
const LOCK_POLL_MS: u64 = 20;
/// Milliseconds until we give up on it.
const LOCK_MS_MAX: u64 = 10_000;
/// Milliseconds for which nothing is run at least, to see what changes by itself; else as long as a run took.
const PAUSE_MS_MIN: u64 = 250;
/// The same at most: an agent waits for it.
const PAUSE_MS_MAX: u64 = 2_000;
/// Files that are named when a command does not come to rest.
const UNSTEADY_TOLD_MAX: usize = 20;

/// Runs the commands of firings.
pub(crate) struct Acting<'a> {
    pub(crate) commands: &'a Commands<'a>,
    pub(crate) git: Option<&'a Git>,
    pub(crate) folder: &'a Folder,
    /// When all commands of this stop must have come to their end.
    pub(crate) until: Instant,
}

/// One run of a command.
struct Job<'a> {
    /// The firing it belongs to, by its place.
    of: usize,
    argv: Vec<String>,
    files: Vec<&'a str>,
}

/// What came of one firing so far.
struct Progress<'a> {
    fired: &'a Fired,
    command: &'a Command,
    refused: Option<String>,
    failures: Vec<Failure>,
    failed: usize,
    unsteady: Vec<String>,
    /// What it was about when it had last run.
    content: Option<Digest>,
}

impl<'f> Progress<'f> {
    /// The files it runs for: a command that is given names gets those that are there, another runs for what is deleted
    /// too.
    fn files(&self) -> &'f [String] {
        if self.command.names_files() { &self.fired.present } else { &self.fired.detected.trigger_files }
    }

    /// The files that it is about, where it ran.
    fn own(&self) -> BTreeSet<&'f str> {
        let fired: &'f Fired = self.fired;
        fired.detected.trigger_files.iter().filter(|_| self.refused.is_none()).map(String::as_str).collect()
    }

    /// What it changed of all that changed while commands ran side by side: its own files, and those that are nobody's.
    fn share(&self, owned: &BTreeSet<&str>, rewritten: &[String]) -> Vec<String> {
        let own = self.own();
        let is_nobodys = |file: &str| self.refused.is_none() && !owned.contains(file);
        rewritten.iter().filter(|file| own.contains(file.as_str()) || is_nobodys(file)).cloned().collect()
    }
}

/// Why no command was run.
enum NotRun {
    /// Another session runs commands here; they are run when it has ended.
    Busy,
    Fault(String),
}

impl Acting<'_> {
    /// What comes of the commands of these firings.
    ///
    /// # Errors
    /// Why none of them was run.
    pub(crate) fn act(&self, due: &[&Fired]) -> Result<Vec<Acted>, String> {
        let _lock = match self.lock() {
            Ok(lock) => lock,
            Err(NotRun::Busy) => return Ok(due.iter().map(|fired| waiting(fired)).collect()),
            Err(NotRun::Fault(why)) => return Err(why),
        };
        let mut all: Vec<Progress<'_>> = due.iter().filter_map(|fired| self.begin(fired)).collect();
        let before = self.tree();
        let stamps = before.as_ref().map(|files| self.stamps(files));
        let jobs = self.jobs(&all, |progress| progress.refused.is_none());
        let outcomes = self.run(&jobs);
        note(&mut all, &jobs, outcomes);
        let after = self.tree();
        let changed = differs(before.as_ref(), after.as_ref());
        // Commands that undo what others did leave the files as they were, and each of them would change them again.
        let touched = || before.as_ref().map(|files| self.stamps(files)) != stamps;
        let by_itself = if changed || touched() { self.again(&mut all) } else { BTreeSet::new() };
        let rewritten = rewritten(before.as_ref(), after.as_ref(), &by_itself);
        let owned: BTreeSet<&str> = all.iter().flat_map(Progress::own).collect();
        let shares: Vec<Vec<String>> = all.iter().map(|progress| progress.share(&owned, &rewritten)).collect();
        Ok(all.into_iter().zip(shares).map(|(progress, share)| self.acted(progress, changed, share)).collect())
    }

    fn begin<'f>(&self, fired: &'f Fired) -> Option<Progress<'f>> {
        let Action::Command(command) = &fired.policy.action else { return None };
        let refused = self.objection(fired, command);
        let (failures, unsteady) = (Vec::new(), Vec::new());
        Some(Progress { fired, command, refused, failures, failed: 0, unsteady, content: None })
    }

    /// Why a policy's command may not run: the owner trusts a policy by its content, and the scripts it runs with it.
    fn objection(&self, fired: &Fired, command: &Command) -> Option<String> {
        if let Scripts::Trusted(known) = self.commands.scripts {
            let now = format!("sha256:{}", fired.policy.digest);
            match known.get(&fired.file) {
                None => return Some(format!("`{}` is not trusted", fired.file)),
                Some(then) if *then != now => return Some(format!("`{}` changed since it was trusted", fired.file)),
                Some(_) => {}
            }
        }
        self.commands.scripts.objection(&self.folder.root, &rooted(self.folder, command))
    }

    fn jobs<'f>(&self, all: &[Progress<'f>], runs: impl Fn(&Progress<'f>) -> bool) -> Vec<Job<'f>> {
        let root = self.folder.root.display().to_string();
        let mut jobs = Vec::new();
        for (of, progress) in all.iter().enumerate().filter(|(_, progress)| runs(progress)) {
            let files = progress.files();
            if files.is_empty() {
                continue;
            }
            let runs = progress.command.runs(files, &root).into_iter().take(RUNS_MAX);
            jobs.extend(runs.map(|(argv, files)| Job { of, argv, files }));
        }
        jobs
    }

    /// Runs jobs side by side; two that share a file one after the other.
    fn run(&self, jobs: &[Job<'_>]) -> Vec<(usize, Ran)> {
        let plan = Mutex::new(Plan { waiting: (0..jobs.len()).collect(), busy: BTreeSet::new(), done: Vec::new() });
        let freed = Condvar::new();
        thread::scope(|scope| {
            for _ in 0..RUNNERS_MAX.min(jobs.len()) {
                scope.spawn(|| {
                    while let Some((at, job)) = take(jobs, &plan, &freed) {
                        let ran = self.one(job);
                        let mut plan = plan.lock().unwrap_or_else(PoisonError::into_inner);
                        plan.free(job);
                        plan.done.push((at, ran));
                        freed.notify_all();
                    }
                });
            }
        });
        let mut done = plan.into_inner().unwrap_or_else(PoisonError::into_inner).done;
        done.sort_by_key(|(at, _)| *at);
        done
    }

    fn one(&self, job: &Job<'_>) -> Ran {
        let left = u64::try_from(self.until.saturating_duration_since(Instant::now()).as_millis()).unwrap_or_default();
        if left == 0 {
            let why = format!("the commands of all policies took longer than {ACTIONS_MS_MAX} ms");
            return Ran::silent(Exit::NotStarted(why));
        }
        let argv = names::words(&job.argv, &job.files);
        self.commands.run_in(&self.folder.root, argv, left.min(RUN_MS_MAX))
    }

    /// Runs what went well once more, policy by policy, so that it can be told whose command does not come to rest; the files
    /// that changed while nothing was run.
    fn again(&self, all: &mut [Progress<'_>]) -> BTreeSet<Vec<u8>> {
        let (mut tree, mut by_itself) = (self.tree(), BTreeSet::new());
        for at in 0..all.len() {
            let Some(progress) = all.get(at).filter(|progress| progress.refused.is_none() && progress.failed == 0)
            else {
                continue;
            };
            let fired = progress.fired;
            let paths: Vec<&str> = fired.detected.trigger_files.iter().map(String::as_str).collect();
            let before = contents::of(&self.folder.root, &paths);
            let jobs: Vec<Job<'_>> = self.jobs(std::slice::from_ref(progress), |_| true);
            let began = Instant::now();
            let outcomes = self.run(&jobs);
            let took = began.elapsed();
            let after = contents::of(&self.folder.root, &paths);
            let mut now = self.tree();
            let mut unsteady: Vec<String> = paths
                .iter()
                .filter(|path| before.get(**path) != after.get(**path))
                .map(|path| (*path).to_owned())
                .collect();
            if unsteady.is_empty() && differs(tree.as_ref(), now.as_ref()) {
                (unsteady, now) = self.unexplained((tree.as_ref(), now), took, &mut by_itself);
            }
            tree = now;
            let jobs: Vec<Job<'_>> = jobs.into_iter().map(|job| Job { of: at, ..job }).collect();
            note(all, &jobs, outcomes);
            if let Some(progress) = all.get_mut(at) {
                progress.unsteady = unsteady;
                progress.content = Some(about(&fired.policy, &fired.detected, &after));
            }
        }
        by_itself
    }

    /// The files that a run changed besides those it is about, and the work tree as it is now. What goes on changing while
    /// nothing is run is somebody else's: a log, a watcher's output.
    fn unexplained(
        &self,
        (before, after): (Option<&Files>, Option<Files>),
        took: Duration,
        all_by_itself: &mut BTreeSet<Vec<u8>>,
    ) -> (Vec<String>, Option<Files>) {
        let (Some(then), Some(now)) = (before, &after) else {
            return (vec!["files it is not about".to_owned()], after);
        };
        let pause = took.clamp(Duration::from_millis(PAUSE_MS_MIN), Duration::from_millis(PAUSE_MS_MAX));
        thread::sleep(pause.min(self.until.saturating_duration_since(Instant::now())));
        let Some(later) = self.tree() else { return (vec!["files it is not about".to_owned()], after) };
        let by_itself = changed_in(now, &later);
        all_by_itself.extend(by_itself.iter().map(|path| path.to_vec()));
        let unexplained = changed_in(then, now).into_iter().filter(|path| !by_itself.contains(path));
        (unexplained.map(names::shown).collect(), Some(later))
    }

    /// What is in each file of the work tree, if it can be told.
    fn tree(&self) -> Option<Files> {
        self.git.and_then(|git| worktree::files(git, &self.folder.root))
    }

    /// When each of these files was written last, whatever was in it before.
    fn stamps(&self, files: &Files) -> Vec<Option<(u64, i64, i64)>> {
        let stamp = |path: &Vec<u8>| {
            let there = fs::symlink_metadata(self.folder.root.join(OsStr::from_bytes(path))).ok()?;
            Some((there.ino(), there.ctime(), there.ctime_nsec()))
        };
        files.keys().map(stamp).collect()
    }

    fn acted(&self, progress: Progress<'_>, changed: bool, mut rewrote: Vec<String>) -> Acted {
        let files = progress.files();
        let Progress { fired, command, refused, mut failures, mut failed, unsteady, content } = progress;
        if files.len() > RUNS_MAX && command.runs(files, "").len() > RUNS_MAX {
            let why = format!("there are more than {RUNS_MAX} files; use `run_for: all_matches`");
            failures.insert(0, told(command.shown.clone(), &Ran::silent(Exit::NotStarted(why))));
            failed += 1;
        }
        let skipped = refused.is_some();
        if let Some(why) = refused {
            failures.push(told(command.shown.clone(), &Ran::silent(Exit::Untrusted(why))));
            failed += 1;
        }
        failures.truncate(FAILURES_TOLD_MAX);
        let rewrote_more = rewrote.len().saturating_sub(REWROTE_TOLD_MAX);
        rewrote.truncate(REWROTE_TOLD_MAX);
        Acted {
            policy: fired.policy.id.clone(),
            hash: fired.hash.clone(),
            passed: failed == 0 && unsteady.is_empty(),
            skipped,
            waits: false,
            changed,
            content: content.unwrap_or_else(|| self.content(fired)),
            failures,
            failed,
            unsteady: unsteady.into_iter().take(UNSTEADY_TOLD_MAX).collect(),
            rewrote,
            rewrote_more,
        }
    }

    /// What a firing is about as things are now.
    fn content(&self, fired: &Fired) -> Digest {
        let paths: Vec<&str> = fired.detected.trigger_files.iter().map(String::as_str).collect();
        about(&fired.policy, &fired.detected, &contents::of(&self.folder.root, &paths))
    }

    /// Two sessions in one workspace do not run commands over the same files at once.
    fn lock(&self) -> Result<File, NotRun> {
        let unkept = |fault: io::Error| NotRun::Fault(format!("nothing can be kept: {fault}"));
        let place = queue::place(self.folder, "queue").map_err(unkept)?;
        let file = private::create_file_or_open(&place.with_file_name("lock")).map_err(unkept)?;
        let until = Instant::now() + Duration::from_millis(LOCK_MS_MAX);
        while flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            if Instant::now() >= until {
                return Err(NotRun::Busy);
            }
            thread::sleep(Duration::from_millis(LOCK_POLL_MS));
        }
        Ok(file)
    }
}

/// Whether two looks at the work tree differ; what cannot be told is never the same.
fn differs(before: Option<&Files>, after: Option<&Files>) -> bool {
    before.is_none() || before != after
}

/// The files that are not as they were.
fn changed_in<'f>(before: &'f Files, after: &'f Files) -> BTreeSet<&'f [u8]> {
    let all = before.keys().chain(after.keys());
    all.filter(|path| before.get(*path) != after.get(*path)).map(Vec::as_slice).collect()
}

/// The files that were other ones once commands had run, as they are named; without those that change by themselves.
fn rewritten(before: Option<&Files>, after: Option<&Files>, by_itself: &BTreeSet<Vec<u8>>) -> Vec<String> {
    let (Some(before), Some(after)) = (before, after) else { return Vec::new() };
    // What is not looked at stands there, too, under a key that is no file's.
    let named = |path: &&[u8]| !path.contains(&0) && !by_itself.contains(*path);
    changed_in(before, after).into_iter().filter(named).map(names::shown).collect()
}

/// What came of a firing whose command waits for another session's.
fn waiting(fired: &Fired) -> Acted {
    Acted {
        policy: fired.policy.id.clone(),
        hash: fired.hash.clone(),
        passed: false,
        skipped: false,
        waits: true,
        changed: false,
        content: fired.content,
        failures: Vec::new(),
        failed: 0,
        unsteady: Vec::new(),
        rewrote: Vec::new(),
        rewrote_more: 0,
    }
}

/// Which jobs wait, and which files are in use.
struct Plan<'a> {
    waiting: Vec<usize>,
    busy: BTreeSet<&'a str>,
    done: Vec<(usize, Ran)>,
}

impl<'a> Plan<'a> {
    /// A job's files may be used by others.
    fn free(&mut self, job: &Job<'a>) {
        for file in &job.files {
            self.busy.remove(file);
        }
    }
}

/// The next job whose files nobody uses; waits while there are only others.
fn take<'j, 'f>(jobs: &'j [Job<'f>], plan: &Mutex<Plan<'f>>, freed: &Condvar) -> Option<(usize, &'j Job<'f>)> {
    let mut held = plan.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if held.waiting.is_empty() {
            return None;
        }
        let free = |at: &usize| jobs.get(*at).is_some_and(|job| !job.files.iter().any(|file| held.busy.contains(file)));
        if let Some(position) = held.waiting.iter().position(free) {
            let at = held.waiting.remove(position);
            let job = jobs.get(at)?;
            held.busy.extend(job.files.iter().copied());
            return Some((at, job));
        }
        held = freed.wait(held).unwrap_or_else(PoisonError::into_inner);
    }
}

fn note(all: &mut [Progress<'_>], jobs: &[Job<'_>], outcomes: Vec<(usize, Ran)>) {
    for (at, ran) in outcomes {
        let Some(job) = jobs.get(at).filter(|_| !ran.succeeded()) else { continue };
        let Some(progress) = all.get_mut(job.of) else { continue };
        progress.failed += 1;
        if progress.failures.len() < FAILURES_TOLD_MAX {
            progress.failures.push(told(command::told(&job.argv), &ran));
        }
    }
}

fn told(command: String, ran: &Ran) -> Failure {
    Failure {
        command: head(&command, PRINTED_BYTES_MAX).to_owned(),
        told: ran.exit.told(),
        exit_code: if let Exit::Code(code) = ran.exit { Some(code) } else { None },
        stdout: head(&ran.stdout, PRINTED_BYTES_MAX).to_owned(),
        stderr: head(&ran.stderr, PRINTED_BYTES_MAX).to_owned(),
        stdout_kept: ran.stdout_kept,
        stderr_kept: ran.stderr_kept,
    }
}

/// The policy files with commands, and the scripts these run, as `jackline trust` remembers them.
#[must_use]
pub fn trusted(folder: &Folder) -> Vec<(String, String, Vec<String>)> {
    let all = super::folder::commands(folder).into_iter();
    let named = all.filter_map(|(file, policy)| match policy.action {
        Action::Command(command) => Some((file, format!("sha256:{}", policy.digest), rooted(folder, &command))),
        Action::Prompt => None,
    });
    named.collect()
}

/// A command's words as they lead to files of the workspace.
fn rooted(folder: &Folder, command: &Command) -> Vec<String> {
    command.rooted(&folder.root.display().to_string())
}

/// Whether any policy that counts runs a command, so that a host must wait longer.
#[must_use]
pub fn any(stack: &Stack) -> bool {
    super::folders(stack).iter().any(|folder| !super::folder::commands(folder).is_empty())
}
