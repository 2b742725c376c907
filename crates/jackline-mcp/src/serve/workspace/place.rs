//! Where a path leads: links resolved before `..`, as the kernel walks; never outside the workspace.
//!
//! INVARIANT: every step is taken from the directory that was reached, held open, and follows no link by itself. So what
//! is moved or linked while a call runs leads nowhere else than to where it was seen to lead.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use jackline_core::code;
use jackline_core::probe::Identity;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::{failed, missing, unfit};
use crate::serve::said::Refused;

/// Links on the way to a path; kernels follow no more.
const LINKS_MAX: usize = 40;
/// Directories on the way to a path: each is held open while it is walked.
const LEVELS_MAX: usize = 256;

/// Opens a directory to walk on from, and no link to one.
#[cfg(any(target_os = "linux", target_os = "android"))]
const STEP: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Opens a directory to walk on from, and no link to one.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const STEP: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Opens a file to be read; a pipe that was planted there is not waited for.
const READ: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// A place in the workspace.
#[derive(Debug)]
pub(super) struct Place {
    /// The directory that it is in; or that it is, where it has no name.
    dir: OwnedFd,
    /// Directories below that one which are not there yet.
    unmade: Vec<OsString>,
    name: Option<OsString>,
    /// As it is shown: from the root.
    pub(super) shown: String,
    /// It is written as a directory is: with a `/` at its end.
    as_directory: bool,
}

impl Place {
    /// The place that a path names, seen from the root.
    pub(super) fn of(root: &Path, written: &str) -> Result<Self, Refused> {
        let walk = Walk::along(&root.join(written)).map_err(|fault| failed(written, &fault))?;
        let path = walk.path();
        let Ok(inside) = path.strip_prefix(root) else {
            let reason = format!("Path '{written}' leads outside the workspace.");
            return Err(Refused::new(&code::PATHS_OUTSIDE, reason, "work inside the workspace"));
        };
        let shown = match inside.to_str() {
            Some("") => ".".to_owned(),
            Some(inside) => inside.to_owned(),
            None => return Err(unfit(written, "is not UTF-8", "rename it")),
        };
        let as_directory = written.ends_with('/') || written.ends_with("/.");
        if as_directory && walk.leaf {
            return Err(unfit(&shown, "is no directory", "leave out the `/` at its end"));
        }
        let place = walk.ended(shown).ok_or_else(|| failed(written, &io::Error::other("it leads nowhere")))?;
        Ok(Self { as_directory, ..place })
    }

    /// It must be one of the places that the path led to when the call was judged.
    pub(super) fn must_be_judged(&self, judged: &[Identity]) -> Result<(), Refused> {
        let inside = if self.shown == "." { "" } else { &self.shown };
        // Such disks tell names apart by more than their case.
        let same =
            |place: &str| place == inside || cfg!(target_os = "macos") && place.to_lowercase() == inside.to_lowercase();
        if judged.iter().filter_map(|identity| identity.inside.as_deref()).any(same) {
            return Ok(());
        }
        let reason = format!("Where the path leads changed while the call was judged: to '{}' now.", self.shown);
        Err(Refused::new(&code::PATHS_UNRESOLVABLE, reason, "call again, with a path that no link is part of"))
    }

    /// What is there; nothing where nothing is.
    pub(super) fn there(&self) -> Result<Option<Stat>, Refused> {
        if !self.unmade.is_empty() {
            return Ok(None);
        }
        let there = match &self.name {
            Some(name) => rustix::fs::statat(&self.dir, name, AtFlags::SYMLINK_NOFOLLOW),
            None => rustix::fs::fstat(&self.dir),
        };
        match there {
            Ok(there) => Ok(Some(there)),
            Err(Errno::NOENT) => Ok(None),
            Err(fault) => Err(self.failed(fault)),
        }
    }

    /// Something must be there.
    pub(super) fn must_exist(&self) -> Result<(), Refused> {
        self.there()?.map(drop).ok_or_else(|| missing(&self.shown))
    }

    /// The regular file there, to be read; and what is known of it.
    pub(super) fn open(&self) -> Result<(File, Stat), Refused> {
        let Some(name) = &self.name else {
            return Err(unfit(&self.shown, "is a directory", "list it with `list_dir`"));
        };
        if !self.unmade.is_empty() {
            return Err(missing(&self.shown));
        }
        // A device is not even opened.
        let there = self.there()?.ok_or_else(|| missing(&self.shown))?;
        if !is_file(&there) {
            return Err(unfit(&self.shown, "is no regular file", "use another path"));
        }
        let file = rustix::fs::openat(&self.dir, name, READ, Mode::empty()).map_err(|fault| self.failed(fault))?;
        let there = rustix::fs::fstat(&file).map_err(|fault| self.failed(fault))?;
        if !is_file(&there) {
            return Err(unfit(&self.shown, "is no regular file", "use another path"));
        }
        Ok((File::from(file), there))
    }

    /// The content of a file that was opened, of at most so many bytes.
    pub(super) fn content(&self, file: File, bytes_max: u64) -> Result<Vec<u8>, Refused> {
        let mut content = Vec::new();
        let read = file.take(bytes_max + 1).read_to_end(&mut content);
        read.map_err(|fault| failed(&self.shown, &fault))?;
        if content.len() as u64 > bytes_max {
            let why = format!("has more than {bytes_max} bytes");
            return Err(unfit(&self.shown, &why, "search it with `search`"));
        }
        Ok(content)
    }

    /// The same as a text. One of another encoding is none: what was read of it and written back would be another one.
    pub(super) fn text(&self, file: File, bytes_max: u64) -> Result<String, Refused> {
        String::from_utf8(self.content(file, bytes_max)?).map_err(|fault| {
            let (text, at) = (fault.as_bytes(), fault.utf8_error().valid_up_to());
            let line = 1 + text.iter().take(at).filter(|byte| **byte == b'\n').count();
            let why = format!("is no UTF-8 text: line {line} holds other bytes");
            unfit(&self.shown, &why, "look at it with `search`, and change it with a tool that knows its encoding")
        })
    }

    /// The directory there, to be listed.
    pub(super) fn entries(&self) -> Result<OwnedFd, Refused> {
        if self.name.is_some() {
            self.must_exist()?;
            return Err(unfit(&self.shown, "is no directory", "read it with `read_file`"));
        }
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::openat(&self.dir, ".", flags, Mode::empty()).map_err(|fault| self.failed(fault))
    }

    /// The directory and the name in it, with the directories that lead there made.
    pub(super) fn made(&self) -> Result<(OwnedFd, &OsStr), Refused> {
        let Some(name) = &self.name else { return Err(unfit(&self.shown, "is no regular file", "use another path")) };
        if self.as_directory {
            let next = "name a file in it, which makes the directory, or leave out the `/` at its end";
            return Err(unfit(&self.shown, "is written as a directory", next));
        }
        let open = |dir: BorrowedFd<'_>, name: &OsStr| rustix::fs::openat(dir, name, STEP, Mode::empty());
        let mut dir = self.dir.try_clone().map_err(|fault| failed(&self.shown, &fault))?;
        for unmade in &self.unmade {
            let made = match rustix::fs::mkdirat(&dir, unmade, Mode::from_raw_mode(0o777)) {
                // Someone was quicker; what it is shows when it is opened.
                Ok(()) | Err(Errno::EXIST) => open(dir.as_fd(), unmade),
                Err(fault) => Err(fault),
            };
            dir = made.map_err(|fault| self.failed(fault))?;
        }
        Ok((dir, name))
    }

    pub(super) fn failed(&self, fault: Errno) -> Refused {
        failed(&self.shown, &fault.into())
    }
}

pub(super) fn is_file(there: &Stat) -> bool {
    FileType::from_raw_mode(there.st_mode) == FileType::RegularFile
}

/// A way that is being walked.
struct Walk {
    /// The directories from `/` on, with their names.
    dirs: Vec<(OwnedFd, OsString)>,
    /// Names after them: of what is not there, or of one thing that is no directory.
    rest: Vec<OsString>,
    /// Something is there that is no directory.
    leaf: bool,
    links: usize,
}

impl Walk {
    /// Follows an absolute path component by component. What is not there yet is where it would be made.
    fn along(path: &Path) -> io::Result<Self> {
        let top = rustix::fs::open("/", STEP, Mode::empty())?;
        let mut walk = Self { dirs: vec![(top, OsString::new())], rest: Vec::new(), leaf: false, links: 0 };
        let mut left: Vec<PathBuf> = vec![path.to_owned()];
        while let Some(next) = left.pop() {
            let mut parts = next.components();
            let Some(part) = parts.next() else { continue };
            left.push(parts.as_path().to_owned());
            match part {
                Component::Prefix(_) | Component::RootDir => walk.restart(),
                Component::CurDir => {}
                Component::ParentDir => walk.back()?,
                Component::Normal(name) => left.extend(walk.step(name)?),
            }
        }
        Ok(walk)
    }

    fn restart(&mut self) {
        self.dirs.truncate(1);
        self.rest.clear();
    }

    fn back(&mut self) -> io::Result<()> {
        if self.leaf {
            return Err(Errno::NOTDIR.into());
        }
        if self.rest.pop().is_none() && self.dirs.len() > 1 {
            self.dirs.pop();
        }
        Ok(())
    }

    /// One name further; where the name is a link's, what it says instead.
    fn step(&mut self, name: &OsStr) -> io::Result<Option<PathBuf>> {
        if self.leaf {
            return Err(Errno::NOTDIR.into());
        }
        if !self.rest.is_empty() {
            self.rest.push(name.to_owned());
            return Ok(None);
        }
        let Some((at, _)) = self.dirs.last() else { return Err(Errno::NOENT.into()) };
        match rustix::fs::openat(at, name, STEP, Mode::empty()) {
            Ok(dir) if self.dirs.len() < LEVELS_MAX => self.dirs.push((dir, name.to_owned())),
            Ok(_) => return Err(io::Error::other("it lies too deep")),
            Err(Errno::NOENT) => self.rest.push(name.to_owned()),
            Err(Errno::NOTDIR | Errno::LOOP) => match rustix::fs::readlinkat(at, name, Vec::new()) {
                Ok(target) => return self.link(target.as_bytes()).map(Some),
                Err(Errno::INVAL) => {
                    self.leaf = true;
                    self.rest.push(name.to_owned());
                }
                Err(fault) => return Err(fault.into()),
            },
            Err(fault) => return Err(fault.into()),
        }
        Ok(None)
    }

    fn link(&mut self, target: &[u8]) -> io::Result<PathBuf> {
        use std::os::unix::ffi::OsStrExt as _;
        self.links += 1;
        if self.links > LINKS_MAX {
            return Err(io::Error::other("too many links lead there"));
        }
        Ok(PathBuf::from(OsStr::from_bytes(target)))
    }

    /// Where it led, without links.
    fn path(&self) -> PathBuf {
        let dirs = self.dirs.iter().map(|(_, name)| name.as_os_str());
        Path::new("/").join(dirs.chain(self.rest.iter().map(OsString::as_os_str)).collect::<PathBuf>())
    }

    fn ended(mut self, shown: String) -> Option<Place> {
        let name = self.rest.pop();
        let (dir, _) = self.dirs.pop()?;
        Some(Place { dir, unmade: self.rest, name, shown, as_directory: false })
    }
}

/// A file of the root's by its path from there, if no link is part of that.
pub(super) fn open_plain(root: &Path, dir: &OwnedFd, path: &str) -> Option<File> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::ResolveFlags;
        let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match rustix::fs::openat2(dir, path, READ, Mode::empty(), within) {
            // Kernels before 5.6, and filters that do not know of it.
            Err(Errno::NOSYS | Errno::PERM) => {}
            opened => return opened.ok().map(File::from),
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = dir;
    let place = Place::of(root, path).ok().filter(|place| place.shown == path)?;
    place.open().ok().map(|(file, _)| file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jackline_core::probe::There;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_and_none_leads_outside() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let root = top.join("ws");
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(top.join("secret"), "x").unwrap();
        symlink("a/b", root.join("in")).unwrap();
        symlink(&top, root.join("out")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        let shown = |written: &str| Place::of(&root, written).map(|place| place.shown).map_err(|refused| refused.code);
        assert_eq!(shown("in/new"), Ok("a/b/new".to_owned()));
        assert_eq!(shown("in/../x"), Ok("a/x".to_owned()));
        assert_eq!(shown("none/../x"), Ok("x".to_owned()));
        assert_eq!(shown("."), Ok(".".to_owned()));
        assert_eq!(shown(root.join("a").to_str().unwrap()), Ok("a".to_owned()));
        assert_eq!(shown("out/ws/a"), Ok("a".to_owned()));
        for outside in ["..", "../secret", "out/secret", "/etc/passwd", "a/../../secret", "out"] {
            assert_eq!(shown(outside), Err("paths/outside".to_owned()), "{outside}");
        }
        assert_eq!(shown("loop"), Err("workspace/failed".to_owned()));
        assert_eq!(Place::of(&root, "none").unwrap().open().unwrap_err().code, "workspace/missing");
        assert_eq!(Place::of(&root, "a/b").unwrap().open().unwrap_err().code, "workspace/unfit");
    }

    #[test]
    fn a_link_that_is_put_there_meanwhile_leads_nowhere() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let root = top.join("ws");
        fs::create_dir_all(root.join("d")).unwrap();
        fs::create_dir(top.join("out")).unwrap();
        fs::write(root.join("d/f"), "mine").unwrap();
        fs::write(top.join("out/f"), "secret").unwrap();
        let place = Place::of(&root, "d/f").unwrap();
        fs::rename(root.join("d"), root.join("moved")).unwrap();
        symlink(top.join("out"), root.join("d")).unwrap();
        let (file, _) = place.open().unwrap();
        assert_eq!(place.content(file, 99).unwrap(), b"mine");
        fs::remove_file(root.join("moved/f")).unwrap();
        symlink(top.join("out/f"), root.join("moved/f")).unwrap();
        assert_eq!(place.open().unwrap_err().code, "workspace/unfit");
        let held = rustix::fs::open(&root, STEP, Mode::empty()).unwrap();
        assert!(open_plain(&root, &held, "d/f").is_none() && open_plain(&root, &held, "moved/f").is_none());
        fs::write(root.join("moved/g"), "x").unwrap();
        assert!(open_plain(&root, &held, "moved/g").is_some());
    }

    #[test]
    fn only_what_was_judged_is_opened() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let place = Place::of(&root, "a/b").unwrap();
        let judged = |inside: &str| Identity {
            path: root.join(inside).to_str().unwrap().to_owned(),
            inside: Some(inside.to_owned()),
            there: There::Nothing,
            ours: None,
            holds: None,
            leads: Vec::new(),
            began: None,
            instructs: false,
        };
        assert!(place.must_be_judged(&[judged("a/b")]).is_ok());
        for other in [&[][..], &[judged("prot/b")]] {
            assert_eq!(place.must_be_judged(other).unwrap_err().code, "paths/unresolvable");
        }
    }
}
