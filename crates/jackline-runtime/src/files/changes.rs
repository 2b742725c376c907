//! What changed in a repository since a commit, told by git in as few calls as that takes; nothing is ever staged.
//!
//! Git compares its index with a commit; stat data are compared with the index here, and by git where anything is unusual.
//! A file that only looks touched is read again, and so is one that git was told not to look at. Repositories inside are
//! looked into: a submodule since the commit that names it; any other, and a submodule that cannot be compared, as a
//! directory of new files.

mod inside;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use jackline_core::files::detector::{Changed, Changes};
use jackline_core::sha::Digest;
use jackline_core::time::Timestamp;

use super::ahead::{Ahead, How, Indexed, Looking};
use super::attributes;
use super::blob::Blob;
use super::commits::Keeping;
use super::compared::{self, Entry};
use super::configured::Settings;
use super::contents::{self, Contents};
use super::declared;
use super::folder::Folder;
use super::listing::{self, Listing, Submodule, Unwatched};
use super::names::{self, shown};
use super::touched::{self, Unsure};
use super::tree::{Read, Tree};
use crate::probes::fold;
use crate::probes::git::{At, Git, GitFault, Printed, Repository};

/// Milliseconds for all git calls of one look at the end of a turn.
pub const LOOK_MS_MAX: u64 = 12_000;
/// The same when a prompt is submitted, where a person waits: the hook's own deadline comes soon after.
pub(super) const PROMPT_LOOK_MS_MAX: u64 = 4_000;
/// Changed files of one look: far more than a session changes, and each is held against every policy.
pub(super) const CHANGED_MAX: usize = 100_000;
/// Seconds by which the clocks of a session and of its files may differ.
const CLOCKS_S: i64 = 2;
/// How the modes of plain files begin, and those of links.
const FILE: &[u8] = b"100";
const LINK: &[u8] = b"120";
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
}

/// Which files git may keep in another form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Converts {
    Any,
    Marked,
    Nothing,
}

/// How a tracked file differs from a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tracked {
    /// The commit does not have it.
    pub(super) added: bool,
    /// The index already holds what the work tree does.
    pub(super) staged: bool,
}

/// What changed since a commit; `whole` where every file counts, because that commit is no more.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) changes: Changes,
    pub(super) whole: bool,
}

/// A repository under a look: what was told once is not asked again.
pub(super) struct Survey<'a> {
    git: &'a Git,
    root: PathBuf,
    pub(super) repository: Repository,
    pub(super) until: Instant,
    /// What this look and those into repositories inside have in common.
    all: Arc<Common>,
    begun: Mutex<Option<Begun>>,
    /// The index, once it was read without git; nothing where git must be asked.
    index: OnceLock<Option<Indexed>>,
    seen: OnceLock<Prepared>,
    pub(super) head: OnceLock<Option<String>>,
    pub(super) local: AtomicBool,
    pub(super) astray: AtomicBool,
    pub(super) cut: AtomicBool,
    /// The root is the top of the repository.
    whole: bool,
    /// Seconds from which on the stat data of what changed are not believed.
    late: Option<i64>,
    /// Files that we wrote ourselves.
    own: Vec<Vec<u8>>,
    /// A look that was begun before.
    ahead: Option<&'a Ahead>,
    /// Where what was learned of a commit is kept.
    pub(super) keeping: Option<Keeping>,
    /// What changed files contain, of those that were read already.
    contents: Mutex<Contents>,
}

/// What looks at a repository and into those inside have in common.
#[derive(Default)]
struct Common {
    /// Repositories inside that were looked into.
    entered: AtomicUsize,
    /// Directories that cannot be listed, as full paths.
    closed: Mutex<BTreeSet<PathBuf>>,
    /// Submodules that are no more, likewise.
    removed: Mutex<BTreeSet<PathBuf>>,
}

/// What is under way while git is asked for other things.
struct Begun {
    configured: Configured,
    /// Nothing where git must be asked for it.
    tree: Option<Looking>,
}

/// Git's settings.
enum Configured {
    Read(Vec<u8>),
    Asked(JoinHandle<Printed>),
}

/// What every look needs.
struct Prepared {
    settings: Settings,
    listing: Listing,
    /// The work tree, where it was looked at without git.
    tree: Option<Tree>,
    untracked: Vec<String>,
    /// Other work trees of this very repository that lie in it: they are compared to what it is compared to.
    linked: Vec<Vec<u8>>,
}

impl<'a> Survey<'a> {
    pub(super) fn new(git: &'a Git, root: &Path, ms_max: u64) -> Result<Self, Unclear> {
        let canonical = crate::canonical(root).map_err(GitFault::from)?;
        let repository = Repository::around(&canonical).ok_or(Unclear::NoRepository)?;
        let until = Instant::now() + Duration::from_millis(ms_max);
        let whole = repository.top == canonical;
        Ok(Self { whole, ..Self::of(git, root.to_owned(), (repository, until), Arc::default()) })
    }

    fn of(git: &'a Git, root: PathBuf, (repository, until): (Repository, Instant), all: Arc<Common>) -> Self {
        let (begun, index, seen, head) = (Mutex::new(None), OnceLock::new(), OnceLock::new(), OnceLock::new());
        let (local, astray, cut) = (AtomicBool::new(false), AtomicBool::new(false), AtomicBool::new(false));
        let (whole, late, own, ahead, keeping, contents) = (true, None, Vec::new(), None, None, Mutex::default());
        Self {
            git,
            root,
            repository,
            until,
            all,
            begun,
            index,
            seen,
            head,
            local,
            astray,
            cut,
            whole,
            late,
            own,
            ahead,
            keeping,
            contents,
        }
    }

    /// The same for a session that began then: what changed since is read, whatever git's index says of it.
    pub(super) fn doubting(self, began: Option<Timestamp>) -> Self {
        Self { late: began.map(|began| began.0.div_euclid(1000) - CLOCKS_S), ..self }
    }

    /// The same, where a look was begun already.
    pub(super) fn after(self, ahead: Option<&'a Ahead>) -> Self {
        Self { ahead, ..self }
    }

    /// The same beside folders of policies: what we write there, so that git ignores the rest, is no change.
    pub(super) fn beside(self, folder: &Folder, states: &[PathBuf]) -> Self {
        let ignoring = |state: &PathBuf| Some(state.strip_prefix(&self.root).ok()?.join(listing::IGNORING));
        let state = folder.state();
        let own = states.iter().chain([&state]).filter_map(ignoring);
        let own = own.map(|file| file.into_os_string().into_encoded_bytes()).collect();
        Self { own, keeping: Some(Keeping::of(folder)), ..self }
    }

    /// Directories that could not be listed, from the root: nobody can tell what is new in them.
    pub(super) fn closed(&self) -> Vec<String> {
        let all = self.all.closed.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().map(|dir| shown(dir.strip_prefix(&self.root).unwrap_or(dir).as_os_str().as_bytes())).collect()
    }

    /// Submodules that are there no more, or not as such, from the root: nobody can tell what was in them.
    pub(super) fn removed(&self) -> Vec<String> {
        let all = self.all.removed.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().map(|dir| shown(dir.strip_prefix(&self.root).unwrap_or(dir).as_os_str().as_bytes())).collect()
    }

    /// What a file was seen to contain as the work tree was looked at; nothing inside where it could not be read, and nothing
    /// at all where nobody tried.
    pub(super) fn read(&self, path: &[u8]) -> Option<&Option<Read>> {
        self.seen.get()?.tree.as_ref()?.read(path)
    }

    /// Keeps what a changed file contains.
    pub(super) fn remember(&self, name: &[u8], content: Option<Digest>) {
        let Some(content) = content else { return };
        let mut contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        contents.insert(shown(name), Some(content));
    }

    /// What each of these files contains.
    pub(super) fn contents(&self, paths: &[&str]) -> Contents {
        let mut known = std::mem::take(&mut *self.contents.lock().unwrap_or_else(PoisonError::into_inner));
        let unread: Vec<&str> = paths.iter().copied().filter(|path| !known.contains_key(*path)).collect();
        known.extend(contents::of(&self.root, &unread));
        known
    }

    fn remove(&self, name: &[u8]) {
        let mut all = self.all.removed.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(self.root.join(names::from_bytes(name)));
    }

    fn close(&self, below: &Path, names: Vec<Vec<u8>>) {
        let mut all = self.all.closed.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(names.iter().map(|name| below.join(names::from_bytes(name))));
    }

    pub(super) fn run(&self, words: &[&str], input: Vec<u8>) -> Result<Vec<u8>, GitFault> {
        self.git.run(&At { dir: &self.root, top: &self.repository.top, until: self.until }, words, input)
    }

    /// What git printed, trimmed; nothing when it said no. A question that it could not answer at all is no such word: what
    /// is there would be taken for something that is not.
    pub(super) fn answer(&self, words: &[&str]) -> Result<Option<String>, GitFault> {
        match self.run(words, Vec::new()) {
            Ok(printed) => {
                Ok(Some(String::from_utf8_lossy(&printed).trim().to_owned()).filter(|text| !text.is_empty()))
            }
            Err(GitFault::Failed(why)) if is_no(&why) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Starts what every look needs, beside what else is asked of git.
    pub(super) fn begin(&self) {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        if begun.is_some() || self.seen.get().is_some() {
            return;
        }
        let plain = self.whole && !fold::folds(&self.repository.top);
        let tree = if plain { self.look() } else { None };
        let configured = declared::list(self.git, &self.repository).map_or_else(|| self.ask(), Configured::Read);
        *begun = Some(Begun { configured, tree });
    }

    /// Asks git for its settings.
    fn ask(&self) -> Configured {
        let (git, root, top, until) = (self.git.clone(), self.root.clone(), self.repository.top.clone(), self.until);
        let ask = move || git.run(&At { dir: &root, top: &top, until }, &["config", "-z", "--list"], Vec::new());
        Configured::Asked(thread::spawn(ask))
    }

    /// Reads the index, where that was not begun before, and looks at the work tree.
    fn look(&self) -> Option<Looking> {
        let dir = &self.repository.dir;
        let begun = self.ahead.and_then(|ahead| ahead.take(dir));
        let looking = begun.or_else(|| Looking::begin(dir.clone()))?;
        looking.go(How { root: self.root.clone(), until: self.until, late: self.late });
        Some(looking)
    }

    /// The index, where the work tree is being looked at without git.
    fn index(&self) -> Option<&Indexed> {
        let read = || {
            let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
            let looking = begun.as_ref().and_then(|begun| begun.tree.as_ref())?;
            looking.index.recv().ok().flatten()
        };
        self.index.get_or_init(read).as_ref()
    }

    /// Whether the work tree is being looked at without git, or was.
    fn looks_itself(&self) -> bool {
        self.seen.get().map_or_else(|| self.index().is_some(), |seen| seen.tree.is_some())
    }

    /// Waits for what was begun, and asks git for the listing where it is not told otherwise.
    fn prepare(&self) -> Result<(), Unclear> {
        if self.seen.get().is_some() {
            return Ok(());
        }
        self.begin();
        let looks_itself = self.index().is_some();
        let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Begun { configured, tree } = begun.ok_or(Unclear::Listing)?;
        // It is listed while git tells its settings.
        let listed = if looks_itself { None } else { Some(self.list()?) };
        let unanswered = || Err(GitFault::Failed("its settings could not be asked for".to_owned()));
        let configured = match configured {
            Configured::Read(configured) => configured,
            Configured::Asked(asked) => asked.join().unwrap_or_else(|_| unanswered())?,
        };
        let settings = Settings::read(&configured)?;
        let mut tree = tree.and_then(|looking| looking.tree.join().ok().flatten()).filter(|_| settings.plain);
        let mut listing = match (listed, &mut tree) {
            (Some(listing), _) => listing,
            (None, Some(tree)) => Listing { untracked: std::mem::take(&mut tree.untracked), ..Listing::default() },
            (None, None) => self.list()?,
        };
        listing.untracked.retain(|name| !self.own.contains(name));
        let left_out = |file: &Unwatched| settings.sparse && file.sparse && self.is_gone(&file.path);
        listing.unwatched.retain(|file| !left_out(file));
        let (linked, nested) = std::mem::take(&mut listing.nested).into_iter().partition(|below| self.is_linked(below));
        listing.nested = nested;
        let untracked = self.not_known(&listing)?;
        if untracked.len() > CHANGED_MAX {
            return Err(Unclear::Many);
        }
        let _ = self.seen.set(Prepared { settings, listing, tree, untracked, linked });
        Ok(())
    }

    /// What git lists.
    fn list(&self) -> Result<Listing, Unclear> {
        let at = At { dir: &self.root, top: &self.repository.top, until: self.until };
        let (listed, complaints) = self.git.heard(&at, &listing::WORDS, Vec::new())?;
        // Git tells such places from the top of its work tree.
        self.close(&self.repository.top, listing::closed(&complaints));
        listing::read(&listed, |path| self.is_late(path)).ok_or(Unclear::Listing)
    }

    /// Whether a file changed so late that its stat data are not believed: a call of git that runs a filter of the
    /// agent's keeps whatever it likes under the stat data of the file.
    fn is_late(&self, path: &[u8]) -> bool {
        let changed = || fs::symlink_metadata(self.root.join(names::from_bytes(path))).ok();
        self.late.is_some_and(|late| changed().is_some_and(|meta| meta.ctime() >= late))
    }

    fn prepared(&self) -> Result<&Prepared, Unclear> {
        self.prepare()?;
        self.seen.get().ok_or(Unclear::Listing)
    }

    fn is_gone(&self, path: &[u8]) -> bool {
        fs::symlink_metadata(self.root.join(names::from_bytes(path))).is_err()
    }

    /// Files that git does not know and does not ignore.
    pub(super) fn untracked(&self) -> Result<&[String], Unclear> {
        Ok(&self.prepared()?.untracked)
    }

    /// Runs git with the repository's filters switched off.
    pub(super) fn unfiltered(&self, words: &[&str], input: Vec<u8>) -> Result<Vec<u8>, GitFault> {
        let neutral = self.seen.get().map(|seen| seen.settings.neutral.as_slice()).unwrap_or_default();
        let off = neutral.iter().flat_map(|setting| ["-c", setting]);
        self.run(&off.chain(words.iter().copied()).collect::<Vec<_>>(), input)
    }

    /// Whether the repository has filters, so that a file may be kept as something else than its bytes.
    pub(super) fn has_filters(&self) -> bool {
        self.seen.get().is_some_and(|seen| !seen.settings.neutral.is_empty())
    }

    /// Whether it has this one.
    pub(super) fn has_filter(&self, name: &[u8]) -> bool {
        let off = [b"filter.", name, b".clean="].concat();
        self.seen.get().is_some_and(|seen| seen.settings.neutral.iter().any(|setting| setting.as_bytes() == off))
    }

    /// Whether git may have to be asked what becomes of a file that it converts: of any, or of one with such line ends and
    /// marks only. Where nobody looked at what says so, of any; and of none where asking would take for ever.
    pub(super) fn converts(&self) -> Converts {
        let Some(Prepared { settings, tree: Some(tree), .. }) = self.seen.get() else { return Converts::Any };
        let beside = [Some(self.repository.common.join("info")), self.git.home().map(|home| home.join(".config/git"))];
        let beside = beside.into_iter().flatten().map(|dir| dir.join("attributes"));
        let inside = tree.attributes.iter().map(|name| self.root.join(names::from_bytes(name)));
        let all: Vec<PathBuf> = beside.chain(inside).collect();
        if all.iter().any(|file| attributes::is_pipe(file)) {
            return Converts::Nothing;
        }
        let any = settings.attributes || tree.lacks_attributes() || all.iter().any(|file| attributes::may_encode(file));
        if any { Converts::Any } else { Converts::Marked }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Tracked files that differ from a commit, or from nothing at all where there is none.
    pub(super) fn tracked(&self, commit: Option<&str>) -> Result<BTreeMap<String, Tracked>, Unclear> {
        self.begin();
        let Some(commit) = commit else {
            return self.all_known(self.prepared()?);
        };
        // Git compares the commit with its index while the work tree is being looked at.
        let staged = if self.looks_itself() { Some(self.staged(commit)?) } else { None };
        let seen = self.prepared()?;
        let printed = match (&staged, &seen.tree) {
            (Some(_), Some(_)) => Vec::new(),
            _ => self.compared(&["--ignore-submodules=dirty", "--relative"], commit)?,
        };
        let entries = match (&staged, &seen.tree) {
            (Some(staged), Some(tree)) => compared::entries(staged)
                .and_then(|staged| compared::with_tree(staged, tree, |path, id| self.contains(path, id))),
            _ => compared::entries(&printed),
        };
        let entries = entries.ok_or(Unclear::Listing)?;
        if entries.len() > CHANGED_MAX {
            return Err(Unclear::Many);
        }
        let mut changed = self.really_changed(&entries, &seen.listing)?;
        for gone in entries.iter().filter(|entry| entry.was_submodule()) {
            self.remove(gone.path);
        }
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

    /// What git says of a commit beside its index; nothing where that is just what was committed.
    fn staged(&self, commit: &str) -> Result<Vec<u8>, Unclear> {
        let tree = self.index().and_then(|index| index.tree.as_deref());
        if self.is_tree_of(commit, tree)? { Ok(Vec::new()) } else { Ok(self.compared(&["--cached"], commit)?) }
    }

    /// Whether a file, or a link, contains what has this id.
    fn contains(&self, path: &[u8], id: &[u8]) -> bool {
        let path = self.root.join(names::from_bytes(path));
        let file = || Blob::of_file(&path, id.len(), self.until);
        Blob::of_link(&path, id.len()).or_else(file).is_some_and(|blob| blob.id == id)
    }

    /// What git says of a commit beside its index or, as there, the work tree. Inside a submodule settings of its own would
    /// count: which commit it is at is looked at here, the rest there.
    fn compared(&self, how: &[&str], commit: &str) -> Result<Vec<u8>, GitFault> {
        let words = ["diff-index", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff"];
        self.unfiltered(&[&words, how, &[commit, "--"]].concat(), Vec::new())
    }

    /// All files that git knows, with those of the repositories that its index names.
    fn all_known(&self, seen: &Prepared) -> Result<BTreeMap<String, Tracked>, Unclear> {
        let added = |staged| Tracked { added: true, staged };
        let named = seen.listing.tracked.iter().map(Vec::as_slice).chain(seen.tree.iter().flat_map(Tree::known));
        let mut known: BTreeMap<_, _> = named.map(|name| (shown(name), added(true))).collect();
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
        let tree = self.seen.get().and_then(|seen| seen.tree.as_ref());
        let believed = |path: &[u8]| tree.is_some_and(|tree| tree.believed.contains(path));
        let unsure = |kind: &[u8]| -> Vec<Unsure<'_>> {
            let touched = entries.iter().filter(|entry| entry.may_be_touched() && entry.modes.0.starts_with(kind));
            let touched =
                touched.map(|entry| Unsure { path: entry.path, id: &entry.before, believed: believed(entry.path) });
            let hidden = unwatched.iter().filter(|file| file.mode.starts_with(kind) && !self.is_gone(&file.path));
            let hidden = hidden.map(|file| Unsure { path: &file.path, id: &file.id, believed: file.believed });
            touched.chain(hidden).collect()
        };
        let mut same = touched::unchanged(self, &unsure(FILE))?;
        same.extend(touched::unchanged_links(self, &unsure(LINK)));
        let changed = entries.iter().filter(|entry| !same.contains(entry.path));
        let seen = changed.map(|entry| (shown(entry.path), entry.tracked()));
        let unseen = unwatched.iter().filter(|file| !same.contains(file.path.as_slice()));
        let unseen = unseen.map(|file| (shown(&file.path), Tracked { added: false, staged: false }));
        Ok(seen.chain(unseen).collect())
    }

    /// Everything that changed since a commit. Where that is more than can be looked at, whatever may be in the tree does.
    pub(super) fn since(&self, commit: Option<&str>) -> Result<Changes, Unclear> {
        match self.changed(commit) {
            Err(Unclear::Many) => {
                self.close(&self.root, vec![Vec::new()]);
                Ok(Changes::default())
            }
            told => told,
        }
    }

    /// The same since a commit that was checked out once. Where git cannot compare to it any more, because it is gone,
    /// every file counts: that it went must not make less count.
    pub(super) fn since_then(&self, commit: Option<&str>) -> Result<Told, Unclear> {
        match self.since(commit) {
            Err(Unclear::Git(GitFault::Failed(_))) if commit.is_some() => {
                Ok(Told { changes: self.since(None)?, whole: true })
            }
            told => Ok(Told { changes: told?, whole: false }),
        }
    }

    fn changed(&self, commit: Option<&str>) -> Result<Changes, Unclear> {
        let tracked = self.tracked(commit)?;
        let untracked = self.untracked()?;
        // What was taken out of the index and still lies there is in both lists, and was there before.
        let known = |name: &&String| !tracked.contains_key(*name);
        let new = untracked.iter().filter(known).map(|name| Changed { path: name.clone(), created: true });
        let old = tracked.iter().map(|(name, how)| Changed { path: name.clone(), created: how.added });
        Ok(Changes::new(old.chain(new).collect()))
    }
}

/// Whether git, which was to keep quiet, only said that there is no such thing, or that it is no commit.
fn is_no(complaint: &str) -> bool {
    let dangling = complaint.starts_with("warning: ignoring dangling symref");
    complaint.is_empty() || dangling || complaint.contains("expected commit type")
}

fn bounded(changed: BTreeMap<String, Tracked>) -> Result<BTreeMap<String, Tracked>, Unclear> {
    if changed.len() > CHANGED_MAX { Err(Unclear::Many) } else { Ok(changed) }
}

#[cfg(test)]
mod tests;
