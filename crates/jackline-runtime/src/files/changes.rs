//! What changed in a repository since a commit, told by git in as few calls as that takes; nothing is ever staged.
//!
//! Git compares its index with a commit and stat data with its index; a file that only looks touched is read again, and so
//! is one that git was told not to look at. Repositories inside are looked into: a submodule since the commit that names
//! it; any other, and a submodule that cannot be compared, as a directory of new files.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, thread};

use jackline_core::files::detector::{Changed, Changes};

use super::folder::Folder;
use super::listing::{self, Listing, Submodule, Unwatched};
use super::names::{self, listed, shown};
use super::touched::{self, Unsure};
use crate::probes::below;
use crate::probes::git::{At, Git, GitFault, Repository, without_filters};

/// Milliseconds for all git calls of one look at the end of a turn.
pub const LOOK_MS_MAX: u64 = 12_000;
/// The same when a prompt is submitted, where a person waits: the hook's own deadline comes soon after.
pub(super) const PROMPT_LOOK_MS_MAX: u64 = 4_000;
/// Changed files of one look: far more than a session changes, and each is held against every policy.
pub(super) const CHANGED_MAX: usize = 100_000;
/// Repositories inside the one that is looked at (submodules, and those git does not know), a few git calls each.
const REPOSITORIES_MAX: usize = 64;
/// Branches of the remote that are compared to, the first that is there.
const DEFAULT_BRANCHES: [&str; 3] =
    ["refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master"];
/// How the modes of plain files begin, and those of links.
const FILE: &[u8] = b"100";
const LINK: &[u8] = b"120";
/// Bytes of a list of packed references that is looked through for a remote.
const PACKED_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// How it is told that a name stands for nothing; whoever shows it knows a remedy.
pub const NO_COMMIT: &str = "is no commit of this repository";

/// Why it could not be told what changed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unclear {
    #[error("there is no git program")]
    NoGit,
    #[error("there is no git repository around the policies")]
    NoRepository,
    #[error(transparent)]
    Git(#[from] GitFault),
    #[error("git's listing cannot be read")]
    Listing,
    #[error("`{0}` {NO_COMMIT}")]
    NoCommit(String),
    #[error("more than {CHANGED_MAX} files changed")]
    Many,
    #[error("the work tree has more than {REPOSITORIES_MAX} repositories")]
    Repositories,
}

/// How a tracked file differs from a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tracked {
    /// The commit does not have it.
    pub(super) added: bool,
    /// The index already holds what the work tree does.
    pub(super) staged: bool,
}

/// A repository under a look: what was told once is not asked again.
pub(super) struct Survey<'a> {
    git: &'a Git,
    root: PathBuf,
    repository: Repository,
    until: Instant,
    /// What this look and those into repositories inside have in common.
    all: Arc<Common>,
    seen: OnceLock<Prepared>,
    head: OnceLock<Option<String>>,
    astray: AtomicBool,
    cut: AtomicBool,
    /// Files that we wrote ourselves.
    own: Vec<Vec<u8>>,
}

/// What looks at a repository and into those inside have in common.
#[derive(Default)]
struct Common {
    /// Repositories inside that were looked into.
    entered: AtomicUsize,
    /// Directories that cannot be listed, as full paths.
    closed: Mutex<BTreeSet<PathBuf>>,
}

/// What every look needs.
struct Prepared {
    /// Settings that switch the repository's filters off.
    neutral: Vec<String>,
    listing: Listing,
    untracked: Vec<String>,
    /// Other work trees of this very repository that lie in it: they are compared to what it is compared to.
    linked: Vec<Vec<u8>>,
}

impl<'a> Survey<'a> {
    pub(super) fn new(git: &'a Git, root: &Path, ms_max: u64) -> Result<Self, Unclear> {
        let canonical = crate::canonical(root).map_err(GitFault::from)?;
        let repository = Repository::around(&canonical).ok_or(Unclear::NoRepository)?;
        let until = Instant::now() + Duration::from_millis(ms_max);
        Ok(Self::of(git, root.to_owned(), (repository, until), Arc::default()))
    }

    fn of(git: &'a Git, root: PathBuf, (repository, until): (Repository, Instant), all: Arc<Common>) -> Self {
        let (seen, head) = (OnceLock::new(), OnceLock::new());
        let (astray, cut) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { git, root, repository, until, all, seen, head, astray, cut, own: Vec::new() }
    }

    /// The same beside folders of policies: what we write there, so that git ignores the rest, is no change.
    pub(super) fn beside(self, folder: &Folder, states: &[PathBuf]) -> Self {
        let ignoring = |state: &PathBuf| Some(state.strip_prefix(&self.root).ok()?.join(listing::IGNORING));
        let state = folder.state();
        let own = states.iter().chain([&state]).filter_map(ignoring);
        let own = own.map(|file| file.into_os_string().into_encoded_bytes()).collect();
        Self { own, ..self }
    }

    /// Directories that could not be listed, from the root: nobody can tell what is new in them.
    pub(super) fn closed(&self) -> Vec<String> {
        let all = self.all.closed.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().map(|dir| shown(dir.strip_prefix(&self.root).unwrap_or(dir).as_os_str().as_bytes())).collect()
    }

    fn close(&self, below: &Path, names: Vec<Vec<u8>>) {
        let mut all = self.all.closed.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(names.iter().map(|name| below.join(names::from_bytes(name))));
    }

    fn run(&self, words: &[&str], input: Vec<u8>) -> Result<Vec<u8>, GitFault> {
        self.git.run(&At { dir: &self.root, top: &self.repository.top, until: self.until }, words, input)
    }

    /// What git printed, trimmed; nothing when it said no.
    fn answer(&self, words: &[&str]) -> Result<Option<String>, GitFault> {
        match self.run(words, Vec::new()) {
            Ok(printed) => {
                Ok(Some(String::from_utf8_lossy(&printed).trim().to_owned()).filter(|text| !text.is_empty()))
            }
            Err(GitFault::Failed(_)) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// The commit that is checked out; none where there is no commit yet.
    pub(super) fn head(&self) -> Result<Option<String>, Unclear> {
        if let Some(head) = self.head.get() {
            return Ok(head.clone());
        }
        let head = self.answer(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])?;
        Ok(self.head.get_or_init(|| head).clone())
    }

    /// Where this branch left the remote's default branch; what is checked out where there is no remote.
    pub(super) fn base(&self) -> Result<Option<String>, Unclear> {
        for branch in self.remote_branches() {
            if let Some(base) = self.left(branch)? {
                return Ok(Some(base));
            }
        }
        self.fall_back()
    }

    /// Where this branch left another; the tip of that, where they have nothing in common: a history that was cut must
    /// not make less count. Nothing where there is no such branch.
    fn left(&self, branch: &str) -> Result<Option<String>, Unclear> {
        match self.run(&["merge-base", "HEAD", branch], Vec::new()) {
            Ok(printed) => Ok(Some(String::from_utf8_lossy(&printed).trim().to_owned())),
            // Of what it does not know git complains; that there is no common commit is no fault to it.
            Err(GitFault::Failed(why)) if !why.starts_with("fatal:") => {
                let tip = self.tip(branch)?;
                self.cut.fetch_or(tip.is_some(), Ordering::Relaxed);
                Ok(tip)
            }
            Err(GitFault::Failed(_)) => Ok(None),
            Err(fault) => Err(fault.into()),
        }
    }

    fn tip(&self, branch: &str) -> Result<Option<String>, Unclear> {
        let commit = format!("{branch}^{{commit}}");
        Ok(self.answer(&["rev-parse", "--verify", "--quiet", "--end-of-options", &commit])?)
    }

    /// The tip of the remote's default branch; what is checked out where there is no remote.
    pub(super) fn default_tip(&self) -> Result<Option<String>, Unclear> {
        for branch in self.remote_branches() {
            if let Some(tip) = self.tip(branch)? {
                return Ok(Some(tip));
            }
        }
        self.fall_back()
    }

    /// What is checked out; whether there is a remote after all is remembered, for people to be told.
    fn fall_back(&self) -> Result<Option<String>, Unclear> {
        self.astray.store(self.has_refs(b"refs/remotes/"), Ordering::Relaxed);
        self.head()
    }

    /// There is a remote, and none of its branches is known to be the default one.
    pub(super) fn is_astray(&self) -> bool {
        self.astray.load(Ordering::Relaxed)
    }

    /// The branch that was compared to has no commit in common with what is checked out.
    pub(super) fn is_cut(&self) -> bool {
        self.cut.load(Ordering::Relaxed)
    }

    /// Whether any reference begins so, as far as the disk tells.
    fn has_refs(&self, beginning: &[u8]) -> bool {
        let common = &self.repository.common;
        let packed = crate::probes::fingerprint::small(&common.join("packed-refs"), PACKED_BYTES_MAX);
        let in_packed = packed.is_some_and(|all| all.windows(beginning.len()).any(|window| window == beginning));
        let mut loose = fs::read_dir(common.join(names::from_bytes(beginning))).into_iter().flatten().flatten();
        in_packed || loose.next().is_some()
    }

    /// Where this branch left a commit that was named; that commit itself, where they have nothing in common.
    pub(super) fn named(&self, name: &str) -> Result<String, Unclear> {
        let tip = self.tip(name)?.ok_or_else(|| Unclear::NoCommit(name.to_owned()))?;
        Ok(self.left(&tip)?.unwrap_or(tip))
    }

    /// A look at the disk spares a call for each branch that cannot be there.
    fn remote_branches(&self) -> &'static [&'static str] {
        let common = &self.repository.common;
        let there = common.join("reftable").is_dir() || self.has_refs(b"refs/remotes/origin/");
        let symbolic = common.join("refs/remotes/origin/HEAD").exists() || common.join("reftable").is_dir();
        match (there, symbolic) {
            (false, _) => &[],
            (true, true) => &DEFAULT_BRANCHES,
            (true, false) => DEFAULT_BRANCHES.get(1..).unwrap_or_default(),
        }
    }

    /// Asks at once for what every look needs, so that git's calls run side by side.
    pub(super) fn prepare(&self) -> Result<(), Unclear> {
        if self.seen.get().is_some() {
            return Ok(());
        }
        let at = || At { dir: &self.root, top: &self.repository.top, until: self.until };
        let git = self.git;
        let (listed, configured) = thread::scope(|scope| {
            let configured = scope.spawn(|| git.run(&at(), &["config", "-z", "--list"], Vec::new()));
            let listed = git.heard(&at(), &listing::WORDS, Vec::new());
            (listed, configured.join())
        });
        let configured =
            configured.unwrap_or(Err(GitFault::Failed("its settings could not be asked for".to_owned())))?;
        let neutral = without_filters(&configured)?;
        let (listed, complaints) = listed?;
        // Git tells such places from the top of its work tree.
        self.close(&self.repository.top, listing::closed(&complaints));
        let mut listing = listing::read(&listed).ok_or(Unclear::Listing)?;
        listing.untracked.retain(|name| !self.own.contains(name));
        let sparse = is_on(&configured, b"core.sparsecheckout");
        let left_out = |file: &Unwatched| sparse && file.sparse && self.is_gone(&file.path);
        listing.unwatched.retain(|file| !left_out(file));
        let (linked, nested) = std::mem::take(&mut listing.nested).into_iter().partition(|below| self.is_linked(below));
        listing.nested = nested;
        let untracked = self.not_known(&listing)?;
        if untracked.len() > CHANGED_MAX {
            return Err(Unclear::Many);
        }
        let _ = self.seen.set(Prepared { neutral, listing, untracked, linked });
        Ok(())
    }

    fn prepared(&self) -> Result<&Prepared, Unclear> {
        self.prepare()?;
        self.seen.get().ok_or(Unclear::Listing)
    }

    fn is_gone(&self, path: &[u8]) -> bool {
        fs::symlink_metadata(self.root.join(names::from_bytes(path))).is_err()
    }

    /// Whether another work tree of this repository lies there.
    fn is_linked(&self, below: &[u8]) -> bool {
        let there = Repository::at(&self.root.join(names::from_bytes(below))).filter(|there| there.linked);
        let common = |repository: &Repository| crate::canonical(&repository.common).ok();
        there.is_some_and(|there| common(&there).is_some_and(|place| Some(place) == common(&self.repository)))
    }

    /// Files that git does not know, with those of repositories that it only names.
    fn not_known(&self, listing: &Listing) -> Result<Vec<String>, Unclear> {
        let mut untracked: Vec<String> = listing.untracked.iter().map(|name| shown(name)).collect();
        for nested in &listing.nested {
            untracked.extend(self.all_in(nested)?);
            // Its own name stays: a policy may be about the directory.
            untracked.push(shown(nested));
        }
        untracked.sort_unstable();
        untracked.dedup();
        Ok(untracked)
    }

    /// All files of a directory that git does not look into, from here: as the repository there lists them, or walked
    /// through where there is none, or git cannot list it.
    fn all_in(&self, below: &[u8]) -> Result<Vec<String>, Unclear> {
        let inner = self.enter(below)?;
        let listed = match inner.map(|inner| inner.since(None)) {
            Some(Err(Unclear::Git(GitFault::Failed(_)))) | None => None,
            Some(told) => Some(told?.iter().map(|file| file.path.clone()).collect::<Vec<_>>()),
        };
        let files = match listed {
            Some(listed) => listed,
            None => {
                let dir = self.root.join(names::from_bytes(below));
                let found = below::files(&dir, CHANGED_MAX).ok_or(Unclear::Many)?;
                self.close(&dir, found.closed);
                found.files.iter().map(|name| shown(name)).collect()
            }
        };
        let below = shown(below);
        Ok(files.into_iter().map(|file| format!("{below}/{file}")).collect())
    }

    /// The repository in a directory of this one; nothing where there is none.
    fn enter(&self, below: &[u8]) -> Result<Option<Survey<'a>>, Unclear> {
        let root = self.root.join(names::from_bytes(below));
        let repository = Some(&root).filter(|root| below::is_directory(root)).and_then(|root| Repository::at(root));
        let Some(repository) = repository else { return Ok(None) };
        if self.all.entered.fetch_add(1, Ordering::Relaxed) >= REPOSITORIES_MAX {
            return Err(Unclear::Repositories);
        }
        Ok(Some(Survey::of(self.git, root, (repository, self.until), Arc::clone(&self.all))))
    }

    /// Files that git does not know and does not ignore.
    pub(super) fn untracked(&self) -> Result<&[String], Unclear> {
        Ok(&self.prepared()?.untracked)
    }

    /// Runs git with the repository's filters switched off.
    pub(super) fn unfiltered(&self, words: &[&str], input: Vec<u8>) -> Result<Vec<u8>, GitFault> {
        let neutral = self.seen.get().map(|seen| seen.neutral.as_slice()).unwrap_or_default();
        let off = neutral.iter().flat_map(|setting| ["-c", setting]);
        self.run(&off.chain(words.iter().copied()).collect::<Vec<_>>(), input)
    }

    /// Whether the repository has filters, so that a file may be kept as something else than its bytes.
    pub(super) fn has_filters(&self) -> bool {
        self.seen.get().is_some_and(|seen| !seen.neutral.is_empty())
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Tracked files that differ from a commit, or from nothing at all where there is none.
    pub(super) fn tracked(&self, commit: Option<&str>) -> Result<BTreeMap<String, Tracked>, Unclear> {
        let seen = self.prepared()?;
        let Some(commit) = commit else {
            return self.all_known(seen);
        };
        // Inside a submodule settings of its own would count: which commit it is at is looked at here, the rest there.
        let mut words = vec!["diff-index", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff"];
        words.extend(["--ignore-submodules=dirty", "--relative", commit, "--"]);
        let printed = self.unfiltered(&words, Vec::new())?;
        let entries = entries(&printed).ok_or(Unclear::Listing)?;
        if entries.len() > CHANGED_MAX {
            return Err(Unclear::Many);
        }
        let mut changed = self.really_changed(&entries, &seen.listing)?;
        for submodule in &seen.listing.submodules {
            let entry = entries.iter().find(|entry| entry.path == submodule.path);
            for (path, how) in self.in_submodule(submodule, entry)? {
                changed.entry(path).or_insert(how);
            }
        }
        for below in &seen.linked {
            changed.extend(self.in_repository(below, Some(commit))?);
        }
        bounded(changed)
    }

    /// All files that git knows, with those of the repositories that its index names.
    fn all_known(&self, seen: &Prepared) -> Result<BTreeMap<String, Tracked>, Unclear> {
        let added = |staged| Tracked { added: true, staged };
        let mut known: BTreeMap<_, _> = seen.listing.tracked.iter().map(|name| (shown(name), added(true))).collect();
        let inside = seen.listing.submodules.iter().map(|submodule| &submodule.path).chain(&seen.linked);
        for below in inside {
            known.extend(self.all_in(below)?.into_iter().map(|path| (path, added(false))));
        }
        bounded(known)
    }

    /// What a comparison names, without files whose stat data alone differ; and what git was told not to look at.
    fn really_changed(&self, entries: &[Entry<'_>], listing: &Listing) -> Result<BTreeMap<String, Tracked>, Unclear> {
        let named: BTreeSet<&[u8]> = entries.iter().map(|entry| entry.path).collect();
        let unwatched: Vec<&Unwatched> =
            listing.unwatched.iter().filter(|file| !named.contains(file.path.as_slice())).collect();
        let unsure = |kind: &[u8]| -> Vec<Unsure<'_>> {
            let touched = entries.iter().filter(|entry| entry.may_be_touched() && entry.modes.0.starts_with(kind));
            let touched = touched.map(|entry| Unsure { path: entry.path, id: entry.before });
            let hidden = unwatched.iter().filter(|file| file.mode.starts_with(kind) && !self.is_gone(&file.path));
            touched.chain(hidden.map(|file| Unsure { path: &file.path, id: &file.id })).collect()
        };
        let mut same = touched::unchanged(self, &unsure(FILE))?;
        same.extend(touched::unchanged_links(self, &unsure(LINK))?);
        let changed = entries.iter().filter(|entry| !same.contains(entry.path));
        let seen = changed.map(|entry| (shown(entry.path), entry.tracked()));
        let unseen = unwatched.iter().filter(|file| !same.contains(file.path.as_slice()));
        let unseen = unseen.map(|file| (shown(&file.path), Tracked { added: false, staged: false }));
        Ok(seen.chain(unseen).collect())
    }

    /// What changed in a submodule since the commit that was compared to names it.
    fn in_submodule(
        &self,
        submodule: &Submodule,
        entry: Option<&Entry<'_>>,
    ) -> Result<Vec<(String, Tracked)>, Unclear> {
        let then = match entry {
            Some(entry) if entry.is_submodule() => Some(entry.before),
            Some(_) => None,
            None => Some(submodule.id.as_slice()),
        };
        let then = then.map(|id| String::from_utf8_lossy(id).into_owned());
        self.in_repository(&submodule.path, then.as_deref())
    }

    /// What changed in a repository inside since a commit of it. Where nobody can tell, because it is no repository any
    /// more or not the one that it was, all that lies there counts, and so does the directory.
    fn in_repository(&self, below: &[u8], then: Option<&str>) -> Result<Vec<(String, Tracked)>, Unclear> {
        let how = |added: bool| Tracked { added, staged: false };
        let name = shown(below);
        let inner = self.enter(below)?;
        match inner.map(|inner| inner.since(then)) {
            Some(Err(Unclear::Git(GitFault::Failed(_)))) | None => {
                let all = self.all_in(below)?;
                let itself = (!all.is_empty()).then(|| (name, how(false)));
                Ok(all.into_iter().map(|path| (path, how(true))).chain(itself).collect())
            }
            Some(told) => {
                let told = told?;
                Ok(told.iter().map(|file| (format!("{name}/{}", file.path), how(file.created))).collect())
            }
        }
    }

    /// Everything that changed since a commit.
    pub(super) fn since(&self, commit: Option<&str>) -> Result<Changes, Unclear> {
        let tracked = self.tracked(commit)?;
        let untracked = self.untracked()?;
        // What was taken out of the index and still lies there is in both lists, and was there before.
        let known = |name: &&String| !tracked.contains_key(*name);
        let new = untracked.iter().filter(known).map(|name| Changed { path: name.clone(), created: true });
        let old = tracked.iter().map(|(name, how)| Changed { path: name.clone(), created: how.added });
        Ok(Changes::new(old.chain(new).collect()))
    }
}

fn bounded(changed: BTreeMap<String, Tracked>) -> Result<BTreeMap<String, Tracked>, Unclear> {
    if changed.len() > CHANGED_MAX { Err(Unclear::Many) } else { Ok(changed) }
}

/// Whether a setting is on, in a list of `key LF value NUL` where the last one counts; one without a value is.
fn is_on(configured: &[u8], key: &[u8]) -> bool {
    let last = listed(configured)
        .filter_map(|setting| {
            let (name, value) =
                setting.split_at(setting.iter().position(|byte| *byte == b'\n').unwrap_or(setting.len()));
            name.eq_ignore_ascii_case(key).then_some(value)
        })
        .last();
    let off = |value: &[u8]| {
        value == b"\n" || [&b"\nfalse"[..], b"\nno", b"\noff", b"\n0"].iter().any(|off| value.eq_ignore_ascii_case(off))
    };
    last.is_some_and(|value| !off(value))
}

/// One line of a comparison.
#[derive(Debug, PartialEq, Eq)]
struct Entry<'a> {
    modes: (&'a [u8], &'a [u8]),
    before: &'a [u8],
    after: &'a [u8],
    status: u8,
    path: &'a [u8],
}

impl Entry<'_> {
    fn tracked(&self) -> Tracked {
        Tracked { added: self.status == b'A', staged: !self.unhashed() }
    }

    /// The work tree's content is not that of the index.
    fn unhashed(&self) -> bool {
        self.after.iter().all(|digit| *digit == b'0')
    }

    /// It was one before, whatever it is now.
    fn is_submodule(&self) -> bool {
        self.modes.0 == b"160000"
    }

    fn may_be_touched(&self) -> bool {
        self.status == b'M' && self.unhashed() && self.modes.0 == self.modes.1
    }
}

/// Reads `:mode mode id id status NUL path NUL`, again and again; `None` when it is something else.
fn entries(printed: &[u8]) -> Option<Vec<Entry<'_>>> {
    let mut all = Vec::new();
    let mut parts = listed(printed);
    while let Some(about) = parts.next() {
        let mut words = about.strip_prefix(b":")?.split(|byte| *byte == b' ');
        let (from, to) = (words.next()?, words.next()?);
        let (before, after) = (words.next()?, words.next()?);
        let status = *words.next()?.first()?;
        all.push(Entry { modes: (from, to), before, after, status, path: parts.next()? });
    }
    Some(all)
}

#[cfg(test)]
mod tests;
