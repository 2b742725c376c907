//! Git's index as it lies on disk, read without git: which content it knows under which path, and what each file looked
//! like then.
//!
//! Read whole or not at all: whatever is unusual (an unfinished merge, a file that git is told not to look at or to take
//! for added, a submodule, a split or sparse index) is `None`, and git is asked instead.

use std::collections::HashMap;
use std::ops::Range;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::Stat;
use sha1::{Digest as _, Sha1};

use crate::probes::fingerprint::{Opened, all, open};

/// Bytes of an index that is read: some 600,000 files.
const INDEX_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Bytes of the numbers in front of an entry's id, and of those behind it.
const NUMBERS_BYTES: usize = 40;
const FLAGS_BYTES: usize = 2;
/// Bytes of an id. A repository with longer ones says so in its settings, and its index cannot be read like this.
const ID_BYTES: usize = 20;
/// Entries of the older versions are padded with NUL to a multiple of this.
const PADDED_BYTES: usize = 8;
/// The extension that names the trees which directories of the index are.
const TREES: &[u8] = b"TREE";
/// What the flags of an entry may say without being unusual: the length of its name, and that there are more flags.
const USUAL_FLAGS: u16 = NAME_BYTES | EXTENDED;
const NAME_BYTES: u16 = 0x0fff;
const EXTENDED: u16 = 0x4000;

/// The modes of an entry that are usual.
pub(super) const FILE: u32 = 0o100_644;
pub(super) const PROGRAM: u32 = 0o100_755;
pub(super) const LINK: u32 = 0o120_000;

/// The index.
#[derive(Debug)]
pub(super) struct Index {
    bytes: Vec<u8>,
    /// The names, where entries have no whole ones.
    names: Option<Vec<u8>>,
    entries: Vec<Place>,
    /// The id of the tree that it is as a whole, where that is known.
    tree: Option<Vec<u8>>,
    /// When it was written, in seconds: what was modified since then may have been taken in before.
    written: i64,
}

/// Where an entry and its name are.
#[derive(Debug, Clone)]
struct Place {
    at: u32,
    name: Range<u32>,
}

/// What is known under a path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) path: &'a [u8],
    pub(super) mode: u32,
    pub(super) id: &'a [u8],
    numbers: &'a [u8],
}

impl Index {
    /// The index in a repository's directory. One that is not there is empty, as git takes it.
    pub(super) fn read(dir: &Path) -> Option<Self> {
        let (file, meta) = match open(&dir.join("index")).ok()? {
            Opened::Nothing => return Some(Self::of(Vec::new(), 0)),
            Opened::File(file, meta) => (file, meta),
            Opened::Directory => return None,
        };
        let mut index = Self::of(all(&file, INDEX_BYTES_MAX)?, meta.mtime());
        let end = index.read_entries()?;
        index.read_extensions(end)?;
        Some(index)
    }

    const fn of(bytes: Vec<u8>, written: i64) -> Self {
        Self { bytes, names: None, entries: Vec::new(), tree: None, written }
    }

    /// Takes all entries in; where they end.
    fn read_entries(&mut self) -> Option<usize> {
        let version =
            number(&self.bytes, 4).filter(|version| self.bytes.starts_with(b"DIRC") && matches!(version, 2..=4))?;
        let count = number(&self.bytes, 8)? as usize;
        // A count that lies must not have us reserve what is not there.
        self.entries.reserve(count.min(self.bytes.len() / NUMBERS_BYTES));
        self.names = (version == 4).then(Vec::new);
        let mut at = 12;
        for _ in 0..count {
            at = self.read_entry(at, version)?;
        }
        Some(at)
    }

    /// Takes one entry in; where it ends.
    fn read_entry(&mut self, at: usize, version: u32) -> Option<usize> {
        let flags_at = at + NUMBERS_BYTES + ID_BYTES;
        let flags = short(&self.bytes, flags_at)?;
        let extended = flags & EXTENDED != 0;
        let more = if extended { short(&self.bytes, flags_at + FLAGS_BYTES)? } else { 0 };
        let mode = number(&self.bytes, at + 24)?;
        if flags & !USUAL_FLAGS != 0 || more != 0 || !matches!(mode, FILE | PROGRAM | LINK) {
            return None;
        }
        let name_at = flags_at + FLAGS_BYTES * if extended { 2 } else { 1 };
        let before = self.entries.last().map_or(0..0, |last| last.name.clone());
        let (cut, name_at) = if version == 4 { varint(&self.bytes, name_at)? } else { (0, name_at) };
        let rest = self.bytes.get(name_at..)?;
        let said = usize::from(flags & NAME_BYTES);
        // Of a name that has no more bytes than fit, the flags tell how many, where it stands whole.
        let bytes = if said < usize::from(NAME_BYTES) && version != 4 {
            Some(said).filter(|end| rest.get(*end) == Some(&0))?
        } else {
            rest.iter().position(|byte| *byte == 0)?
        };
        let name = rest.get(..bytes)?;
        let end = name_at + name.len();
        let name = match &mut self.names {
            Some(names) => {
                let begin = names.len();
                let kept = before.start..before.end.checked_sub(u32::try_from(cut).ok()?)?;
                names.extend_from_within(kept.start as usize..kept.end as usize);
                names.extend_from_slice(name);
                begin..names.len()
            }
            None => name_at..end,
        };
        let name = u32::try_from(name.start).ok()?..u32::try_from(name.end).ok()?;
        let (earlier, path) = (self.name(&before)?, self.name(&name)?);
        if path.is_empty() || (!self.entries.is_empty() && earlier >= path) {
            return None;
        }
        self.entries.push(Place { at: u32::try_from(at).ok()?, name });
        Some(if version == 4 { end + 1 } else { at + (end - at + PADDED_BYTES) / PADDED_BYTES * PADDED_BYTES })
    }

    fn name(&self, range: &Range<u32>) -> Option<&[u8]> {
        self.names.as_ref().unwrap_or(&self.bytes).get(range.start as usize..range.end as usize)
    }

    /// Takes in what follows the entries, up to the checksum: what begins with a capital letter can be passed over.
    fn read_extensions(&mut self, mut at: usize) -> Option<()> {
        let end = self.bytes.len().saturating_sub(ID_BYTES);
        while at < end {
            self.bytes.get(at).filter(|first| first.is_ascii_uppercase())?;
            let size = number(&self.bytes, at + 4)? as usize;
            let extension = self.bytes.get(at + 8..)?.get(..size)?;
            if self.bytes.get(at..at + 4)? == TREES {
                self.tree = self.as_tree(extension);
            }
            at += 8 + size;
        }
        (at == end).then_some(())
    }

    /// The id of the tree that it is as a whole: from the entries of the top, and of what is below from what git noted, which
    /// git believes too when it compares. None where it noted nothing of a directory, or that was changed since.
    fn as_tree(&self, mut noted: &[u8]) -> Option<Vec<u8>> {
        let top = Noted::read(&mut noted)?;
        let (mut tree, mut at, mut left) = (Vec::new(), 0, top.inner);
        let mut below: HashMap<&[u8], Noted<'_>> = HashMap::new();
        while left > 0 {
            let directory = Noted::read(&mut noted)?;
            let mut further = directory.inner;
            while further > 0 {
                further = (further - 1).checked_add(Noted::read(&mut noted)?.inner)?;
            }
            below.insert(directory.name, directory);
            left -= 1;
        }
        while let Some(entry) = self.get(at) {
            let Some(slash) = entry.path.iter().position(|byte| *byte == b'/') else {
                let mode = format!("{:o} ", entry.mode);
                tree.extend([mode.as_bytes(), entry.path, b"\0", entry.id].concat());
                at += 1;
                continue;
            };
            let name = entry.path.get(..slash)?;
            let (entries, id) = below.get(name)?.tree.filter(|(entries, _)| *entries > 0)?;
            let is_in = |at: usize| self.path(at).get(..=slash) == entry.path.get(..=slash);
            let end = at.checked_add(entries)?;
            if !is_in(end - 1) || is_in(end) {
                return None;
            }
            tree.extend([b"40000 ", name, b"\0", id].concat());
            at = end;
        }
        let digest = Sha1::new().chain_update(format!("tree {}\0", tree.len())).chain_update(&tree).finalize();
        Some(digest.to_vec())
    }

    /// The id of the tree that it would be committed as, where that is known.
    pub(super) fn tree(&self) -> Option<&[u8]> {
        self.tree.as_deref()
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn get(&self, number: usize) -> Option<Entry<'_>> {
        let place = self.entries.get(number)?;
        let at = place.at as usize;
        let numbers = self.bytes.get(at..at + NUMBERS_BYTES)?;
        let id = self.bytes.get(at + NUMBERS_BYTES..at + NUMBERS_BYTES + ID_BYTES)?;
        Some(Entry { path: self.name(&place.name)?, mode: self::number(numbers, 24)?, id, numbers })
    }

    /// The path of an entry.
    pub(super) fn path(&self, number: usize) -> &[u8] {
        self.entries.get(number).and_then(|place| self.name(&place.name)).unwrap_or_default()
    }

    /// Whether a file looks as it did when its entry was taken in, by the same numbers as git's and by the parts of seconds
    /// besides, where the index has them.
    pub(super) fn is_like(&self, entry: &Entry<'_>, file: &Stat) -> bool {
        let says = |at: usize| number(entry.numbers, at).unwrap_or_default();
        let same = |at: usize, now: i64| says(at) == now as u32;
        let same_or_none = |at: usize, now: i64| says(at) == 0 || same(at, now);
        let times = same(0, file.st_ctime)
            && same_or_none(4, file.st_ctime_nsec as i64)
            && same(8, file.st_mtime)
            && same_or_none(12, file.st_mtime_nsec as i64);
        let others = same(20, file.st_ino as i64)
            && same(28, i64::from(file.st_uid))
            && same(32, i64::from(file.st_gid))
            && same(36, file.st_size);
        times && others
    }

    /// Whether a file may have been written again in the moment in which the index was: it looks the same then.
    pub(super) fn is_racy(&self, file: &Stat) -> bool {
        file.st_mtime >= self.written
    }
}

/// What git noted of a directory of the index: `name NUL entries SPACE directories LF id`.
#[derive(Debug)]
struct Noted<'a> {
    name: &'a [u8],
    /// How many entries it has, and the id of the tree that they are; nothing where some of them were changed since.
    tree: Option<(usize, &'a [u8])>,
    /// How many directories in it are noted next.
    inner: usize,
}

impl<'a> Noted<'a> {
    /// Takes the next one from a list.
    fn read(list: &mut &'a [u8]) -> Option<Self> {
        let rest = *list;
        let (name, rest) = rest.split_at_checked(rest.iter().position(|byte| *byte == 0)?)?;
        let (about, rest) = rest.split_at_checked(rest.iter().position(|byte| *byte == b'\n')?)?;
        let (entries, inner) = str::from_utf8(about.get(1..)?).ok()?.split_once(' ')?;
        let (rest, inner) = (rest.get(1..)?, inner.parse().ok()?);
        if entries.starts_with('-') {
            *list = rest;
            return Some(Self { name, tree: None, inner });
        }
        let (id, rest) = rest.split_at_checked(ID_BYTES)?;
        *list = rest;
        Some(Self { name, tree: Some((entries.parse().ok()?, id)), inner })
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

/// How many bytes of the name before do not belong to a name, and where its own begin.
fn varint(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut value = 0_usize;
    loop {
        let byte = *bytes.get(at)?;
        at += 1;
        value = value.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
        if byte & 0x80 == 0 {
            return Some((value, at));
        }
        value += 1;
    }
}
