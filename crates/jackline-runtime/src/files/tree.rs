//! The work tree held against git's index, without git: which files may contain something else than the index says, which
//! are gone, and which are new and not ignored.
//!
//! Only a tree without anything unusual is looked at: where a repository lies inside, a directory cannot be listed, or a
//! pattern cannot be read, git is asked instead. What lies in it is listed a directory at a time, on as many threads as
//! there are processors.

use std::collections::{BTreeSet, HashMap};
use std::ffi::CStr;
use std::fs::File;
#[cfg(target_os = "linux")]
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use foldhash::fast::RandomState;
use jackline_core::sha::Digest;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

use super::blob::Blob;
use super::changes::CHANGED_MAX;
use super::ignored::{IGNORE_BYTES_MAX, Level};
use super::index::{Entry, FILE, Index, LINK, PROGRAM};
use super::listing::{IGNORING, OWN_PLACES};
use super::names;
use crate::probes::fingerprint::all;

/// Threads that look: disks and caches serve a few at once.
const LOOKERS_MAX: usize = 4;
/// Files from which on more than one thread looks; starting one costs as much as looking at dozens.
const FILES_PER_LOOKER_MIN: usize = 256;
/// Bytes of a directory that are listed by one question to the kernel.
#[cfg(target_os = "linux")]
const LISTED_BYTES: usize = 32 * 1024;
/// Files that each of them reads at most, of those that may contain something else; others are read when they are asked for.
const READ_MAX: usize = 16 * 1024;
/// What says how git converts files.
pub(super) const ATTRIBUTES: &str = ".gitattributes";

/// What a work tree has, beside its index.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) index: Index,
    /// Entries of the index, in order, whose files are not surely what they were.
    pub(super) doubtful: Vec<(usize, Now)>,
    /// Those of them whose stat data are those of the index.
    pub(super) believed: BTreeSet<Vec<u8>>,
    /// Files that git does not know and does not ignore, in order.
    pub(super) untracked: Vec<Vec<u8>>,
    /// Files that say how git converts others, of those that lie there.
    pub(super) attributes: Vec<Vec<u8>>,
    /// What doubtful files contain, by their entries, in order; nothing inside where that could not be told.
    read: Vec<(usize, Option<Read>)>,
}

/// What a file contains.
#[derive(Debug)]
pub(super) struct Read {
    /// As git would call it, hexadecimal.
    pub(super) id: Vec<u8>,
    /// Git may keep it in another form.
    pub(super) convertible: bool,
    /// Our own digest of it, where it is not what the index has.
    pub(super) content: Option<Digest>,
}

impl Read {
    /// What a file contains, where it should have such an id.
    pub(super) fn of(path: &Path, id: &[u8], until: Instant) -> Option<Self> {
        let blob = Blob::of_file(path, id.len(), until)?;
        // What changed is asked for again, as our own digest.
        let content = blob.bytes.filter(|_| blob.id != id).map(|bytes| Digest::of(&bytes));
        Some(Self { id: blob.id, convertible: blob.convertible, content })
    }
}

impl Tree {
    /// What was read of the file under a path of the index, if anyone tried.
    pub(super) fn read(&self, path: &[u8]) -> Option<&Option<Read>> {
        let at = self.read.binary_search_by(|(number, _)| self.index.path(*number).cmp(path)).ok()?;
        self.read.get(at).map(|(_, read)| read)
    }

    /// The paths that the index knows.
    pub(super) fn known(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.index.len()).map(|number| self.index.path(number))
    }

    /// Whether the index has a file that says how others are converted, and that does not lie there.
    pub(super) fn lacks_attributes(&self) -> bool {
        let gone = self.doubtful.iter().filter(|(_, now)| *now == Now::Gone);
        let name = |number: usize| self.index.path(number).rsplit(|byte| *byte == b'/').next();
        gone.into_iter().any(|(number, _)| name(*number) == Some(ATTRIBUTES.as_bytes()))
    }
}

/// What is under the path of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Now {
    Gone,
    /// Something of this mode.
    There(u32),
}

/// What was found in some directories.
#[derive(Debug, Default)]
struct Found {
    doubtful: Vec<(usize, Now)>,
    believed: Vec<usize>,
    untracked: Vec<Vec<u8>>,
    attributes: Vec<Vec<u8>>,
    read: Vec<(usize, Option<Read>)>,
}

/// A directory that is to be looked into.
#[derive(Debug)]
struct Directory {
    /// From the root, with a `/` at its end; nothing is the root.
    path: Vec<u8>,
    /// What the index has in it.
    entries: Range<usize>,
    ignoring: Option<Arc<Level>>,
    /// It is ignored: what git does not know in it does not count.
    ignored: bool,
}

/// What the index has in a directory, by name.
type Children<'a> = HashMap<&'a [u8], Child, RandomState>;

/// The same under one name.
#[derive(Debug)]
struct Child {
    entries: Range<usize>,
    directory: bool,
    seen: bool,
}

/// Something in a directory that the index does not have.
struct Other {
    name: Vec<u8>,
    kind: FileType,
}

/// Holds the work tree below a root against its index; nothing where git must be asked.
pub(super) fn look(root: &Path, index: Index, until: Instant, late: Option<i64>) -> Option<Tree> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let top = openat(CWD, root, flags, Mode::empty()).ok()?;
    let first = Directory { path: Vec::new(), entries: 0..index.len(), ignoring: None, ignored: false };
    let (left, more, failed) = (Mutex::new((vec![first], 0)), Condvar::new(), AtomicBool::new(false));
    // However long reading takes, time is left for git.
    let read_until = Instant::now() + until.saturating_duration_since(Instant::now()) / 2;
    let work = Work { root, top, index: &index, until, read_until, late, left, more, failed };
    let processors = thread::available_parallelism().map_or(1, usize::from).min(LOOKERS_MAX);
    let lookers = index.len().div_ceil(FILES_PER_LOOKER_MIN).clamp(1, processors);
    let found = thread::scope(|scope| {
        let others: Vec<_> = (1..lookers).map(|_| scope.spawn(|| work.look())).collect();
        let own = work.look();
        let others = others.into_iter().map(|looker| looker.join().ok().flatten());
        std::iter::once(own).chain(others).collect::<Option<Vec<Found>>>()
    })?;
    let mut all = Found::default();
    for found in found {
        all.doubtful.extend(found.doubtful);
        all.believed.extend(found.believed);
        all.untracked.extend(found.untracked);
        all.attributes.extend(found.attributes);
        all.read.extend(found.read);
    }
    all.doubtful.sort_unstable_by_key(|(number, _)| *number);
    all.read.sort_unstable_by_key(|(number, _)| *number);
    all.untracked.sort_unstable();
    let believed = all.believed.iter().map(|number| index.path(*number).to_owned()).collect();
    let Found { doubtful, untracked, attributes, read, .. } = all;
    Some(Tree { doubtful, believed, untracked, attributes, read, index })
}

/// Directories that are left, shared by all who look.
struct Work<'a> {
    root: &'a Path,
    top: OwnedFd,
    index: &'a Index,
    until: Instant,
    /// Until when files are read.
    read_until: Instant,
    /// Seconds from which on the stat data of what changed are not believed.
    late: Option<i64>,
    /// Those that nobody took, and how many are being looked into.
    left: Mutex<(Vec<Directory>, usize)>,
    more: Condvar,
    failed: AtomicBool,
}

impl Work<'_> {
    /// Looks into one after another, until none is left; nothing when git must be asked.
    fn look(&self) -> Option<Found> {
        let (mut found, mut children) = (Found::default(), Children::default());
        while let Some(directory) = self.next() {
            let inner = self.look_into(&directory, &mut children, &mut found);
            let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
            left.1 -= 1;
            match inner {
                Some(inner) => left.0.extend(inner),
                None => self.failed.store(true, Ordering::Relaxed),
            }
            drop(left);
            self.more.notify_all();
        }
        (!self.failed.load(Ordering::Relaxed)).then_some(found)
    }

    /// The next directory; nothing when there is none and no one can find another.
    fn next(&self) -> Option<Directory> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if self.failed.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(directory) = left.0.pop() {
                left.1 += 1;
                return Some(directory);
            }
            if left.1 == 0 {
                return None;
            }
            // Whoever looks into it may have failed without a word.
            let patience = self.until.saturating_duration_since(Instant::now());
            let (again, late) = self.more.wait_timeout(left, patience).unwrap_or_else(PoisonError::into_inner);
            if late.timed_out() {
                self.failed.store(true, Ordering::Relaxed);
                return None;
            }
            left = again;
        }
    }

    /// Looks into a directory; the directories in it.
    fn look_into<'a>(
        &'a self,
        directory: &Directory,
        children: &mut Children<'a>,
        found: &mut Found,
    ) -> Option<Vec<Directory>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let at = directory.path.strip_suffix(b"/").unwrap_or(b".");
        let opened = openat(&self.top, at, flags, Mode::empty()).ok()?;
        if Instant::now() > self.until || found.untracked.len() > CHANGED_MAX {
            return None;
        }
        self.children(directory, children);
        let (mut others, mut ignores) = (Vec::new(), false);
        let mut inner = Vec::new();
        let here = opened.as_fd();
        each(&opened, |entry, kind| {
            let name = entry.to_bytes();
            match name {
                b"." | b".." => return Some(()),
                b".git" if directory.path.is_empty() => return Some(()),
                // A repository inside, or what looks like one.
                b".git" => return None,
                _ => {}
            }
            let kind = self::kind(here, entry, kind)?;
            ignores |= name == IGNORING.as_bytes();
            if name == ATTRIBUTES.as_bytes() {
                found.attributes.push([&directory.path, name].concat());
            }
            match children.get_mut(name) {
                Some(child) if child.directory == (kind == FileType::Directory) => {
                    child.seen = true;
                    if child.directory {
                        inner.push((name.to_owned(), child.entries.clone()));
                    } else {
                        let entry_number = child.entries.start;
                        self.hold(here, entry, entry_number, found)?;
                    }
                }
                Some(_) | None => others.push(Other { name: name.to_owned(), kind }),
            }
            Some(())
        })?;
        let gone = children.values().filter(|child| !child.seen).flat_map(|child| child.entries.clone());
        found.doubtful.extend(gone.map(|number| (number, Now::Gone)));
        let ignoring = if ignores && !directory.ignored {
            let patterns = patterns(here)?;
            Some(Level::read(&patterns, directory.path.len(), directory.ignoring.clone())?)
        } else {
            directory.ignoring.clone()
        };
        let further = Further { directory, ignoring, found };
        Some(further.of(inner, others))
    }

    /// What the index has in a directory, by name.
    fn children<'a>(&'a self, directory: &Directory, children: &mut Children<'a>) {
        children.clear();
        let below = directory.path.len();
        let mut at = directory.entries.start;
        while at < directory.entries.end {
            let rest = self.index.path(at).get(below..).unwrap_or_default();
            let slash = rest.iter().position(|byte| *byte == b'/');
            let end = slash.map_or(at + 1, |slash| self.end_of(at, below + slash + 1, directory.entries.end));
            let name = slash.and_then(|slash| rest.get(..slash)).unwrap_or(rest);
            children.insert(name, Child { entries: at..end, directory: slash.is_some(), seen: false });
            at = end;
        }
    }

    /// Where the entries end that begin with the same so many bytes.
    fn end_of(&self, from: usize, bytes: usize, to: usize) -> usize {
        let prefix = self.index.path(from).get(..bytes).unwrap_or_default();
        let (mut low, mut high) = (from, to);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.index.path(middle).starts_with(prefix) { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// Keeps what is under the path of an entry, where that is not surely what it was; nothing when git must be asked.
    fn hold(&self, here: BorrowedFd<'_>, name: &CStr, number: usize, found: &mut Found) -> Option<()> {
        let entry: Entry<'_> = self.index.get(number)?;
        let stat = statat(here, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let mode = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile if stat.st_mode & 0o100 == 0 => FILE,
            FileType::RegularFile => PROGRAM,
            FileType::Symlink => LINK,
            _ => return None,
        };
        let same = mode == entry.mode && self.index.is_like(&entry, &stat);
        let late = self.late.is_some_and(|late| stat.st_ctime >= late) || self.index.is_racy(&stat);
        if !same || late {
            found.doubtful.push((number, Now::There(mode)));
            found.believed.extend(same.then_some(number));
            if mode == entry.mode && mode != LINK && found.read.len() < READ_MAX {
                let path = self.root.join(names::from_bytes(entry.path));
                found.read.push((number, Read::of(&path, &names::hex_of(entry.id), self.read_until)));
            }
        }
        Some(())
    }
}

/// What follows from a directory that was listed.
struct Further<'a> {
    directory: &'a Directory,
    ignoring: Option<Arc<Level>>,
    found: &'a mut Found,
}

impl Further<'_> {
    /// The directories in it that are to be looked into; files that git does not know are kept.
    fn of(self, known: Vec<(Vec<u8>, Range<usize>)>, others: Vec<Other>) -> Vec<Directory> {
        let mut inner = Vec::new();
        for (name, entries) in known {
            let path = [self.directory.path.as_slice(), &name].concat();
            let ignored = self.directory.ignored || self.ignores(&path, &name, true);
            inner.push(self.inner(path, entries, ignored));
        }
        let others = others.into_iter().filter(|_| !self.directory.ignored);
        for Other { name, kind } in others {
            let path = [self.directory.path.as_slice(), &name].concat();
            match kind {
                FileType::Directory if !self.ignores(&path, &name, true) => inner.push(self.inner(path, 0..0, false)),
                FileType::RegularFile | FileType::Symlink if !self.ignores(&path, &name, false) => {
                    self.found.untracked.push(path);
                }
                _ => {}
            }
        }
        inner
    }

    fn inner(&self, mut path: Vec<u8>, entries: Range<usize>, ignored: bool) -> Directory {
        path.push(b'/');
        Directory { path, entries, ignoring: self.ignoring.clone(), ignored }
    }

    /// Whether git is told to pass over it, by us or by the tree. What says so itself is never passed over.
    fn ignores(&self, path: &[u8], name: &[u8], directory: bool) -> bool {
        let is =
            |own: &&str| path.strip_suffix(own.as_bytes()).is_some_and(|dir| dir.is_empty() || dir.ends_with(b"/"));
        let own = directory && OWN_PLACES.iter().any(is);
        let told = || self.ignoring.as_ref().is_some_and(|level| level.ignores(path, directory));
        name != IGNORING.as_bytes() && (own || told())
    }
}

/// Tells of everything in a directory, until nothing is answered; nothing as well where it cannot be listed.
#[cfg(target_os = "linux")]
fn each(directory: &OwnedFd, mut tell: impl FnMut(&CStr, FileType) -> Option<()>) -> Option<()> {
    let mut room = [MaybeUninit::uninit(); LISTED_BYTES];
    let mut listing = rustix::fs::RawDir::new(directory, &mut room);
    while let Some(entry) = listing.next() {
        let entry = entry.ok()?;
        tell(entry.file_name(), entry.file_type())?;
    }
    Some(())
}

#[cfg(not(target_os = "linux"))]
fn each(directory: &OwnedFd, mut tell: impl FnMut(&CStr, FileType) -> Option<()>) -> Option<()> {
    let mut listing = rustix::fs::Dir::read_from(directory).ok()?;
    while let Some(entry) = listing.read() {
        let entry = entry.ok()?;
        tell(entry.file_name(), entry.file_type())?;
    }
    Some(())
}

/// What something is; nothing where that cannot be told.
fn kind(here: BorrowedFd<'_>, name: &CStr, listed: FileType) -> Option<FileType> {
    if listed != FileType::Unknown {
        return Some(listed);
    }
    Some(FileType::from_raw_mode(statat(here, name, AtFlags::SYMLINK_NOFOLLOW).ok()?.st_mode))
}

/// The patterns of a directory, where a plain file has them.
fn patterns(here: BorrowedFd<'_>) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match openat(here.as_fd(), IGNORING, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        // Git follows no link here.
        Err(Errno::LOOP) => return Some(Vec::new()),
        Err(_) => return None,
    };
    // What is no file says nothing, and git would wait for a pipe.
    if !file.metadata().ok()?.is_file() {
        return Some(Vec::new());
    }
    all(&file, IGNORE_BYTES_MAX)
}
