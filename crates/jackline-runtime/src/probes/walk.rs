//! Walks a path as the kernel does: one component at a time, links resolved before `..` is applied, missing parts
//! kept as they are written. Knows nothing of workspaces or of what is ours.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use jackline_core::probe::There;

use super::fold;

/// Links followed before a path is given up: what Linux allows (`ELOOP` beyond).
const LINKS_MAX: usize = 40;

/// Bytes of a path or a link's target: what Linux takes in one call (`PATH_MAX`). With [`LINKS_MAX`] it bounds the
/// components of a walk.
const PATH_BYTES_MAX: usize = 4096;

/// Bytes of one name (`NAME_MAX`); a longer one cannot be created.
const NAME_BYTES_MAX: usize = 255;

/// Components for which a walk has room beyond where it begins: most go no further.
const PASSED_ROOM: usize = 4;

/// Why a path could not be walked.
#[derive(Debug, thiserror::Error)]
pub(super) enum Lost {
    #[error("the path is longer than {PATH_BYTES_MAX} bytes or has a name longer than {NAME_BYTES_MAX}")]
    Long,
    #[error("the path has a NUL byte")]
    Nul,
    #[error("the path passes more than {LINKS_MAX} links")]
    Links,
    #[error("`..` follows something that is no directory")]
    Nowhere,
    #[error("the path leads through another process's view of the files")]
    Magic,
    #[error("the path is seen from a directory that is not absolute")]
    Relative,
    #[error("`~` stands for a home directory that is not known")]
    Home,
    #[error("a part of the path cannot be looked at: {0}")]
    Unseen(ErrorKind),
}

/// A file apart from its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileId {
    pub(super) device: u64,
    pub(super) inode: u64,
}

/// Where a path leads.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// Canonical and absolute.
    pub(super) path: PathBuf,
    pub(super) there: There,
    /// How many names the file has: above one, hard links.
    pub(super) names: u64,
    /// What each component of `path` is, the last one included; shorter than `path` where nothing is there.
    pub(super) passed: Vec<FileId>,
    /// Canonical places of the links that were followed.
    pub(super) links: Vec<PathBuf>,
}

impl Place {
    fn top() -> Self {
        Self { path: "/".into(), there: There::Directory, names: 1, passed: Vec::new(), links: Vec::new() }
    }

    /// The file itself, when there is one (`/` has no name and is compared by path).
    pub(super) fn id(&self) -> Option<FileId> {
        if matches!(self.there, There::Nothing) { None } else { self.passed.last().copied() }
    }

    /// The same place, to go on from, with room for so many bytes more.
    fn onward(&self, bytes: usize) -> Self {
        let mut path = PathBuf::with_capacity(self.path.as_os_str().len() + bytes + 1);
        path.push(&self.path);
        let mut passed = Vec::with_capacity(self.passed.len() + PASSED_ROOM);
        passed.extend_from_slice(&self.passed);
        Self { path, there: self.there, names: self.names, passed, links: self.links.clone() }
    }

    /// Whether another place lies in this one, or was reached through a link that does.
    pub(super) fn has(&self, other: &Self, folds: bool) -> bool {
        std::iter::once(&other.path).chain(&other.links).any(|spot| fold::within(spot, &self.path, folds))
    }

    /// The directories above it.
    pub(super) fn above(&self) -> &[FileId] {
        let own = usize::from(self.id().is_some());
        self.passed.get(..self.passed.len() - own).unwrap_or_default()
    }
}

/// What one look at a path saw.
#[derive(Debug, Clone)]
enum Look {
    Nothing,
    Link { device: u64, inode: u64, target: PathBuf },
    Found { id: FileId, there: There, names: u64 },
}

/// Walks paths within one answer; looks at each component once, however many paths share it.
#[derive(Debug)]
pub(super) struct Walker<'a> {
    home: Option<&'a Path>,
    folds: bool,
    seen: BTreeMap<Spot, Look>,
}

/// A path that was looked at. Ordered by length and from its end: dozens of them begin alike.
#[derive(Debug, PartialEq, Eq)]
struct Spot(OsString);

impl Ord for Spot {
    fn cmp(&self, other: &Self) -> Ordering {
        let (own, others) = (self.0.as_bytes(), other.0.as_bytes());
        own.len().cmp(&others.len()).then_with(|| own.iter().rev().cmp(others.iter().rev()))
    }
}

impl PartialOrd for Spot {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A walk under way: where it is and what is left to go, the next component last.
struct Trip<'a> {
    at: Place,
    rest: Vec<Cow<'a, OsStr>>,
    /// What `/proc/self/cwd` is to whoever uses the path: not our own working directory.
    dir: Option<&'a Path>,
}

impl<'a> Walker<'a> {
    pub(super) const fn new(home: Option<&'a Path>, folds: bool) -> Self {
        Self { home, folds, seen: BTreeMap::new() }
    }

    /// Walks an absolute path of ours or of the host's, taken literally.
    pub(super) fn absolute(&mut self, path: &Path) -> Result<Place, Lost> {
        if !path.is_absolute() {
            return Err(Lost::Relative);
        }
        self.walk(Trip { at: Place::top(), rest: components(path)?, dir: None })
    }

    /// Where a place is below a directory of the host's, if it is.
    pub(super) fn below(&mut self, top: &Path, place: &Place) -> Result<Option<PathBuf>, Lost> {
        let top = self.absolute(top)?;
        Ok(place.path.strip_prefix(&top.path).ok().map(Path::to_owned))
    }

    /// Walks on from a place, taken literally.
    pub(super) fn onward(&mut self, from: &Place, rest: &Path) -> Result<Place, Lost> {
        self.walk(Trip { at: from.onward(rest.as_os_str().len()), rest: components(rest)?, dir: None })
    }

    /// Walks to the directory that a path is seen from.
    pub(super) fn dir(&mut self, root: &Place, written: &str) -> Result<Place, Lost> {
        self.written(root, None, written)
    }

    /// Walks a path as it was written, seen from a directory.
    pub(super) fn path(&mut self, dir: &Place, written: &str) -> Result<Place, Lost> {
        self.written(dir, Some(&dir.path), written)
    }

    fn written(&mut self, from: &Place, dir: Option<&Path>, written: &str) -> Result<Place, Lost> {
        let path = self.expanded(written)?;
        let at = if path.is_absolute() { Place::top() } else { from.onward(path.as_os_str().len()) };
        self.walk(Trip { at, rest: components(&path)?, dir })
    }

    /// `~` and `~/x` are the home directory; `~name` and `~+` are known to a shell alone.
    fn expanded(&self, written: &str) -> Result<PathBuf, Lost> {
        match written.strip_prefix('~') {
            None => Ok(written.into()),
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                Ok(self.home.ok_or(Lost::Home)?.join(rest.trim_start_matches('/')))
            }
            Some(_) => Err(Lost::Home),
        }
    }

    fn walk(&mut self, mut trip: Trip<'_>) -> Result<Place, Lost> {
        while let Some(name) = trip.rest.pop() {
            match name.as_bytes() {
                b".." => up(&mut trip.at)?,
                _ if matches!(trip.at.there, There::Directory) => self.down(&mut trip, &name)?,
                // Below what is missing, or below a file, nothing is.
                _ => {
                    trip.at.path.push(&*name);
                    trip.at.there = There::Nothing;
                }
            }
            if trip.at.path.as_os_str().len() > PATH_BYTES_MAX {
                return Err(Lost::Long);
            }
        }
        Ok(trip.at)
    }

    /// One component down from an existing directory.
    fn down(&mut self, trip: &mut Trip<'_>, name: &OsStr) -> Result<(), Lost> {
        if let Some(target) = process_link(trip, name)? {
            return follow(trip, trip.at.path.join(name), &target);
        }
        // Where it is a link, the way goes on elsewhere; else it is there already.
        trip.at.path.push(name);
        match self.look(&trip.at.path)? {
            Look::Nothing => trip.at.there = There::Nothing,
            Look::Link { .. } if trip.at.path == Path::new("/proc/self") => enter_self(&mut trip.at)?,
            Look::Link { device, inode, target } => {
                trip.at.path.pop();
                self.refuse_magic(&trip.at.path, device)?;
                let name = self.real_name(&trip.at.path, name, inode);
                return follow(trip, trip.at.path.join(name), &target);
            }
            Look::Found { id, there, names } => {
                if self.folds {
                    trip.at.path.pop();
                    trip.at.path.push(fold::real_name(&trip.at.path, name, id.inode));
                }
                (trip.at.names, trip.at.there) = (names, there);
                trip.at.passed.push(id);
            }
        }
        Ok(())
    }

    /// A link below a process (`fd`, `exe`, another's `cwd`, …) leads elsewhere for each who follows it.
    fn refuse_magic(&mut self, dir: &Path, device: u64) -> Result<(), Lost> {
        if dir == Path::new("/proc") {
            return Ok(());
        }
        match self.look(Path::new("/proc"))? {
            Look::Found { id, .. } if id.device == device => Err(Lost::Magic),
            Look::Found { .. } | Look::Link { .. } | Look::Nothing => Ok(()),
        }
    }

    fn real_name(&self, dir: &Path, name: &OsStr, inode: u64) -> OsString {
        if self.folds { fold::real_name(dir, name, inode) } else { name.to_owned() }
    }

    fn look(&mut self, path: &Path) -> Result<Look, Lost> {
        match self.seen.entry(Spot(path.as_os_str().to_owned())) {
            Entry::Occupied(seen) => Ok(seen.get().clone()),
            Entry::Vacant(unseen) => Ok(unseen.insert(look(path)?).clone()),
        }
    }
}

fn look(path: &Path) -> Result<Look, Lost> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_symlink() => {
            let target = fs::read_link(path).map_err(|error| Lost::Unseen(error.kind()))?;
            Ok(Look::Link { device: meta.dev(), inode: meta.ino(), target })
        }
        Ok(meta) => Ok(Look::Found { id: file_id(&meta), there: there(&meta), names: meta.nlink() }),
        Err(error) => match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Ok(Look::Nothing),
            kind => Err(Lost::Unseen(kind)),
        },
    }
}

pub(super) fn file_id(meta: &Metadata) -> FileId {
    FileId { device: meta.dev(), inode: meta.ino() }
}

fn there(meta: &Metadata) -> There {
    if meta.is_dir() {
        There::Directory
    } else if meta.is_file() {
        There::File
    } else {
        There::Other
    }
}

/// `/proc/self` is kept by name: the process that will use the path is not this one.
fn enter_self(at: &mut Place) -> Result<(), Lost> {
    let meta = fs::metadata("/proc/self").map_err(|error| Lost::Unseen(error.kind()))?;
    at.there = There::Directory;
    at.passed.push(file_id(&meta));
    Ok(())
}

/// One component up; the parent of `/` is `/`.
fn up(at: &mut Place) -> Result<(), Lost> {
    if !matches!(at.there, There::Directory) {
        return Err(Lost::Nowhere);
    }
    if at.path.pop() {
        at.passed.pop();
    }
    Ok(())
}

/// Goes on with a link's target in place of its name.
fn follow(trip: &mut Trip<'_>, link: PathBuf, target: &Path) -> Result<(), Lost> {
    if trip.at.links.len() >= LINKS_MAX {
        return Err(Lost::Links);
    }
    trip.at.links.push(link);
    if target.is_absolute() {
        trip.at.path = "/".into();
        trip.at.passed.clear();
    }
    trip.rest.extend(components(target)?.into_iter().map(|name| Cow::Owned(name.into_owned())));
    Ok(())
}

/// Where `cwd` and `root` of the calling process lead; its other links, and `thread-self`, cannot be told.
fn process_link(trip: &Trip<'_>, name: &OsStr) -> Result<Option<PathBuf>, Lost> {
    let at = trip.at.path.as_os_str().as_bytes();
    match (at, name.as_bytes()) {
        (b"/proc/self", b"cwd") => trip.dir.map(|dir| Some(dir.to_owned())).ok_or(Lost::Magic),
        (b"/proc/self", b"root") => Ok(Some("/".into())),
        (b"/proc", b"thread-self") => Err(Lost::Magic),
        _ => Ok(None),
    }
}

/// The names of a path, the first one last; `.` and doubled slashes lead nowhere.
fn components(path: &Path) -> Result<Vec<Cow<'_, OsStr>>, Lost> {
    let bytes = path.as_os_str().as_bytes();
    if bytes.contains(&0) {
        return Err(Lost::Nul);
    }
    let names = || bytes.rsplit(|byte| *byte == b'/').filter(|name| !matches!(*name, b"" | b"."));
    if bytes.len() > PATH_BYTES_MAX || names().any(|name| name.len() > NAME_BYTES_MAX) {
        return Err(Lost::Long);
    }
    Ok(names().map(|name| Cow::Borrowed(OsStr::from_bytes(name))).collect())
}
