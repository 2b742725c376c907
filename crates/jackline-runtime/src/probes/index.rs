//! Reads git's listing of its index (`ls-files -z -s --debug`): which content it knows under which path, and what
//! the file looked like then. Git itself is not asked what changed, because comparing would run clean filters.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

/// The index's mode of a submodule.
const MODE_SUBMODULE: &str = "160000";

/// One path of the index.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry<'a> {
    pub(super) path: &'a [u8],
    /// The id of its content, hexadecimal.
    pub(super) id: &'a str,
    mode: &'a str,
    /// Above `0` while a merge is unfinished.
    stage: &'a str,
    stamp: Stamp,
}

/// What a file looked like when its content was taken in; the index keeps 32 bits of each number.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    changed: (u32, u32),
    modified: (u32, u32),
    inode: u32,
    size: u32,
}

impl Stamp {
    fn of(meta: &Metadata) -> Self {
        Self {
            changed: (meta.ctime() as u32, meta.ctime_nsec() as u32),
            modified: (meta.mtime() as u32, meta.mtime_nsec() as u32),
            inode: meta.ino() as u32,
            size: meta.size() as u32,
        }
    }
}

impl Entry<'_> {
    pub(super) fn is_submodule(&self) -> bool {
        self.mode == MODE_SUBMODULE
    }

    /// Whether the file surely still has the content of the index: the same to the last nanosecond of its change
    /// time, which no program can set, and last modified before the index was written.
    pub(super) fn stands_for(&self, file: &Metadata, index: Option<&Metadata>) -> bool {
        let Some(index) = index else { return false };
        let earlier = (file.mtime(), file.mtime_nsec()) < (index.mtime(), index.mtime_nsec());
        self.mode.starts_with("100") && self.stage == "0" && earlier && self.stamp == Stamp::of(file)
    }
}

/// All entries of a listing; `None` when it is not one.
pub(super) fn entries(listing: &[u8]) -> Option<Vec<Entry<'_>>> {
    let mut rest = listing;
    let mut entries = Vec::new();
    while !rest.is_empty() {
        let (head, after) = split(rest, 0)?;
        let (about, path) = split(head, b'\t')?;
        let mut words = str::from_utf8(about).ok()?.split(' ');
        let (mode, id, stage) = (words.next()?, words.next()?, words.next()?);
        let (stamp, after) = stamp(after)?;
        entries.push(Entry { path, id, mode, stage, stamp });
        rest = after;
    }
    Some(entries)
}

/// The five lines of stat data behind a path.
fn stamp(text: &[u8]) -> Option<(Stamp, &[u8])> {
    let (changed, rest) = line(text, "ctime: ")?;
    let (modified, rest) = line(rest, "mtime: ")?;
    let (numbers, rest) = line(rest, "dev: ")?;
    let (_, rest) = line(rest, "uid: ")?;
    let (size, rest) = line(rest, "size: ")?;
    let stamp = Stamp {
        changed: time(changed)?,
        modified: time(modified)?,
        inode: numbers.split_once("\tino: ")?.1.parse().ok()?,
        size: size.split_once('\t')?.0.parse().ok()?,
    };
    Some((stamp, rest))
}

fn line<'a>(text: &'a [u8], label: &str) -> Option<(&'a str, &'a [u8])> {
    let (line, rest) = split(text, b'\n')?;
    Some((str::from_utf8(line).ok()?.strip_prefix("  ")?.strip_prefix(label)?, rest))
}

fn time(text: &str) -> Option<(u32, u32)> {
    let (seconds, nanoseconds) = text.split_once(':')?;
    Some((seconds.parse().ok()?, nanoseconds.parse().ok()?))
}

fn split(text: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let position = text.iter().position(|byte| *byte == at)?;
    let (head, tail) = text.split_at_checked(position)?;
    Some((head, tail.get(1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::time::Duration;

    const STAMP: &str = "  ctime: 17:25\n  mtime: 18:26\n  dev: 65024\tino: 7\n  uid: 0\tgid: 0\n  size: 3\tflags: 0\n";

    #[track_caller]
    fn check(listing: &str, want: Option<&[(&str, &str)]>) {
        let seen = entries(listing.as_bytes());
        let seen = seen.map(|seen| {
            seen.iter().map(|entry| (str::from_utf8(entry.path).unwrap().to_owned(), entry.id.to_owned())).collect()
        });
        let want: Option<Vec<_>> =
            want.map(|want| want.iter().map(|(path, id)| ((*path).to_owned(), (*id).to_owned())).collect());
        assert_eq!(seen, want, "{listing:?}");
    }

    #[test]
    fn listings_are_read_whole_or_not_at_all() {
        check("", Some(&[]));
        check(&format!("100644 aa 0\tx y\0{STAMP}"), Some(&[("x y", "aa")]));
        check(&format!("100644 aa 0\tx\ny\t\0{STAMP}100755 bb 2\tz\0{STAMP}"), Some(&[("x\ny\t", "aa"), ("z", "bb")]));
        check("100644 aa 0\tx\0", None);
        check(&format!("100644 aa\tx\0{STAMP}"), None);
        check(&format!("100644 aa 0\tx\0{}", STAMP.replace("17", "-1")), None);
        check(&format!("100644 aa 0\tx\0{}", STAMP.replace("mtime", "time")), None);
        check(&format!("100644 aa 0\tx\0{STAMP}trailing"), None);
    }

    #[test]
    fn stat_data_is_read() {
        let listing = format!("100644 aa 0\tx\0{STAMP}");
        let stamp = Stamp { changed: (17, 25), modified: (18, 26), inode: 7, size: 3 };
        assert_eq!(entries(listing.as_bytes()).unwrap()[0].stamp, stamp);
    }

    /// Whether an entry with the file's own stamp stands for it, the index being older or younger by a nanosecond.
    #[track_caller]
    fn check_stands(mode: &str, stage: &str, younger: bool, want: bool) {
        let dir = tempfile::tempdir().unwrap();
        let file = fs::File::create(dir.path().join("a")).unwrap();
        let index = fs::File::create(dir.path().join("index")).unwrap();
        let time = file.metadata().unwrap().modified().unwrap();
        index.set_modified(time + Duration::from_nanos(u64::from(younger))).unwrap();
        let (file, index) = (file.metadata().unwrap(), index.metadata().unwrap());
        let entry = Entry { path: b"a", id: "aa", mode, stage, stamp: Stamp::of(&file) };
        assert_eq!(entry.stands_for(&file, Some(&index)), want, "{mode} {stage} {younger}");
        assert!(!entry.stands_for(&file, None));
        let other = Entry { stamp: Stamp { inode: entry.stamp.inode ^ 1, ..Stamp::of(&file) }, ..entry };
        assert!(!other.stands_for(&file, Some(&index)));
    }

    #[test]
    fn an_entry_stands_for_a_file_older_than_the_index() {
        check_stands("100644", "0", true, true);
        check_stands("100755", "0", true, true);
        check_stands("100644", "0", false, false);
        check_stands("100644", "2", true, false);
        check_stands("120000", "0", true, false);
    }
}
