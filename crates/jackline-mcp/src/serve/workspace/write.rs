//! `write_file`: a whole file, put in place at once, with its rights as they were.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, RawMode, Stat};
use rustix::io::Errno;
use serde_json::{Value, json};

use super::place::{Place, is_file};
use super::{Workspace, failed, text, unfit};
use crate::serve::said::{Refused, Said};

/// Makes a file where nothing is, not even a link.
const NEW: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Rights of a new file, less those that the user takes from all.
const NEW_MODE: RawMode = 0o666;

/// What became of a text that was to be put in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Put {
    Created,
    Wrote,
    /// Nothing: another file is there than the one that was seen.
    Moved,
}

pub(super) fn write(workspace: &Workspace<'_>, args: &Value) -> Result<Said, Refused> {
    let _writing = workspace.writing();
    let place = workspace.place(args)?;
    let content = text(args, "content").unwrap_or_default();
    let created = put(&place, content, None)? == Put::Created;
    let (bytes, what) = (content.len(), if created { "Created" } else { "Wrote" });
    let said = format!("{what} {} ({bytes} bytes).", place.shown);
    Ok(Said { text: said, value: json!({ "path": place.shown, "bytes": bytes, "created": created }) })
}

/// Puts a text in place; where a file was seen there, only in that one's place.
pub(super) fn put(place: &Place, content: &str, seen: Option<&Stat>) -> Result<Put, Refused> {
    let (dir, name) = place.made()?;
    let there = match rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(there) => there,
        Err(Errno::NOENT) if seen.is_some() => return Ok(Put::Moved),
        Err(Errno::NOENT) => {
            let created = create((&dir, name), content);
            return created.map(|()| Put::Created).map_err(|fault| failed(&place.shown, &fault));
        }
        Err(fault) => return Err(place.failed(fault)),
    };
    if !is_file(&there) {
        return Err(unfit(&place.shown, "is no regular file", "use another path"));
    }
    // It is put in place by its directory's rights, so its own are looked at first.
    if there.st_mode & 0o222 == 0 {
        return Err(unfit(&place.shown, "is read-only", "leave it as it is, or ask the person"));
    }
    let replaced = replace((&dir, name), content, &there, seen);
    replaced.map_err(|fault| failed(&place.shown, &fault))
}

/// A new file, as a whole or not at all; one that appeared meanwhile is not overwritten.
fn create((dir, name): (&OwnedFd, &OsStr), content: &str) -> io::Result<()> {
    if let Some(file) = unnamed(dir, content, NEW_MODE)? {
        match name_it(&file, (dir, name)) {
            Ok(()) => return Ok(()),
            Err(Errno::EXIST) => return Err(Errno::EXIST.into()),
            // Where `/proc` is not there, for instance.
            Err(_) => {}
        }
    }
    let beside = beside();
    remove(dir, &beside);
    written((dir, &beside), content, NEW_MODE)?;
    let named = rustix::fs::linkat(dir, &beside, dir, name, AtFlags::empty());
    remove(dir, &beside);
    match named {
        // Some disks know no second name of a file.
        Err(Errno::PERM | Errno::NOTSUP | Errno::NOSYS) => written((dir, name), content, NEW_MODE).map(drop),
        named => Ok(named?),
    }
}

/// The name under which a file is made that is to take another's place.
fn beside() -> OsString {
    format!(".jackline-{}.new", std::process::id()).into()
}

/// A file of this name, with its content; there must be none.
fn written((dir, name): (&OwnedFd, &OsStr), content: &str, mode: RawMode) -> io::Result<File> {
    let mut file = File::from(rustix::fs::openat(dir, name, NEW, Mode::from_raw_mode(mode))?);
    let written = file.write_all(content.as_bytes()).and_then(|()| file.sync_all());
    written.inspect_err(|_| remove(dir, name)).map(|()| file)
}

/// A file in the place of another, as a whole or not at all.
fn replace((dir, name): (&OwnedFd, &OsStr), content: &str, there: &Stat, seen: Option<&Stat>) -> io::Result<Put> {
    let beside = &*beside();
    // One that a process of this number left behind when it was ended.
    remove(dir, beside);
    let file = match unnamed(dir, content, 0o600)? {
        Some(file) if name_it(&file, (dir, beside)).is_ok() => file,
        // Not every disk has files without a name.
        Some(_) | None => written((dir, beside), content, 0o600)?,
    };
    let renamed = rustix::fs::fchmod(&file, Mode::from_raw_mode(there.st_mode & 0o7777)).and_then(|()| {
        let now = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW);
        if seen.is_some_and(|seen| !now.is_ok_and(|now| is_same(seen, &now))) {
            return Ok(Put::Moved);
        }
        rustix::fs::renameat(dir, beside, dir, name).map(|()| Put::Wrote)
    });
    if renamed != Ok(Put::Wrote) {
        remove(dir, beside);
    }
    Ok(renamed?)
}

/// A file that has no name yet: of one that is not finished, because we are ended, nothing stays behind.
#[cfg(target_os = "linux")]
fn unnamed(dir: &OwnedFd, content: &str, mode: RawMode) -> io::Result<Option<File>> {
    let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
    let Ok(file) = rustix::fs::openat(dir, ".", flags, Mode::from_raw_mode(mode)) else { return Ok(None) };
    let mut file = File::from(file);
    file.write_all(content.as_bytes()).and_then(|()| file.sync_all()).map(|()| Some(file))
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &OwnedFd, _: &str, _: RawMode) -> io::Result<Option<File>> {
    Ok(None)
}

fn name_it(file: &File, (dir, name): (&OwnedFd, &OsStr)) -> rustix::io::Result<()> {
    let itself = format!("/proc/self/fd/{}", file.as_raw_fd());
    rustix::fs::linkat(rustix::fs::CWD, itself, dir, name, AtFlags::SYMLINK_FOLLOW)
}

/// Takes away what is not wanted; where it cannot be, it lies there and does no harm.
fn remove(dir: &OwnedFd, name: &OsStr) {
    let _ = rustix::fs::unlinkat(dir, name, AtFlags::empty());
}

/// Whether a file is the one that was seen, as it was.
fn is_same(seen: &Stat, now: &Stat) -> bool {
    let of = |stat: &Stat| {
        let changed = (stat.st_mtime, stat.st_mtime_nsec, stat.st_ctime, stat.st_ctime_nsec);
        (stat.st_dev, stat.st_ino, stat.st_size, changed)
    };
    of(seen) == of(now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_text_is_put_in_the_place_of_what_was_seen_only() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let put_at =
            |content: &str, seen: Option<&Stat>| put(&Place::of(&root, "a/b").unwrap(), content, seen).unwrap();
        assert_eq!(put_at("one", None), Put::Created);
        fs::set_permissions(root.join("a/b"), fs::Permissions::from_mode(0o640)).unwrap();
        let seen = Place::of(&root, "a/b").unwrap().there().unwrap().unwrap();
        assert_eq!(put_at("two", Some(&seen)), Put::Wrote);
        assert_eq!(put_at("three", Some(&seen)), Put::Moved);
        assert_eq!(fs::read_to_string(root.join("a/b")).unwrap(), "two");
        assert_eq!(fs::metadata(root.join("a/b")).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(root.join("a")).unwrap().count(), 1, "nothing stays beside it");
        fs::remove_file(root.join("a/b")).unwrap();
        assert_eq!(put_at("four", Some(&seen)), Put::Moved);
    }

    #[test]
    fn a_new_file_is_whole_when_it_is_seen_and_takes_nobodys_place() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let content = "x".repeat(8 << 20);
        let seen = std::thread::scope(|scope| {
            let made = scope.spawn(|| put(&Place::of(&root, "new").unwrap(), &content, None).unwrap());
            loop {
                if let Ok(there) = fs::metadata(root.join("new")) {
                    break (there.len(), made.join().unwrap());
                }
            }
        });
        assert_eq!(seen, (content.len() as u64, Put::Created), "the first look shows all of it");
        assert_eq!(fs::read_dir(&root).unwrap().count(), 1, "nothing stays beside it");
        let held = rustix::fs::open(&root, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap();
        assert!(create((&held, OsStr::new("new")), "other").is_err());
        assert_eq!(fs::metadata(root.join("new")).unwrap().len(), content.len() as u64);
    }
}
