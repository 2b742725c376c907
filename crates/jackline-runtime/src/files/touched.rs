//! Files that look changed and are not: their stat data differ from git's or are not believed, or git was told not to look at
//! them, and what they contain is looked at.
//!
//! No filter of the repository is run. Line ends are converted as git would convert them, and a file that Git LFS keeps
//! elsewhere is held against its pointer, which names its digest.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::time::Instant;

use sha2::{Digest as _, Sha256};

use super::blob::Blob;
use super::changes::{Converts, Survey, Unclear};
use super::contents::each;
use super::names;
use super::tree::Read;
use crate::probes::fingerprint::{Opened, open};
use crate::probes::git::GitFault;

/// Bytes of a pointer: three short lines.
const POINTER_BYTES_MAX: usize = 1024;
/// The filter whose pointers are known.
const LFS: &[u8] = b"lfs";
/// Bytes of a file that is held against its pointer; a larger one whose stat data differ counts as changed.
const POINTED_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Bytes read at a time.
const CHUNK_BYTES: usize = 64 * 1024;

/// A file that is not known to have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unsure<'a> {
    pub(super) path: &'a [u8],
    /// The object that it was.
    pub(super) id: &'a [u8],
    /// Its stat data are those of the index.
    pub(super) believed: bool,
}

/// The paths of those that contain what they did.
pub(super) fn unchanged<'a>(survey: &Survey<'_>, unsure: &[Unsure<'a>]) -> Result<BTreeSet<&'a [u8]>, Unclear> {
    // However long reading takes, time is left for git.
    let until = Instant::now() + survey.until.saturating_duration_since(Instant::now()) / 2;
    let (known, unread): (Vec<Unsure<'a>>, Vec<Unsure<'a>>) =
        unsure.iter().partition(|file| survey.read(file.path).is_some());
    let path = |file: &Unsure<'_>| survey.root().join(names::from_bytes(file.path));
    let read = each(&unread, |file| Read::of(&path(file), file.id, until));
    let read = read.iter().map(|(file, read)| (**file, read.as_ref()));
    let known = known.into_iter().map(|file| (file, survey.read(file.path).and_then(Option::as_ref)));
    let (mut same, mut left, mut convertible) = (BTreeSet::new(), Vec::new(), Vec::new());
    // One that cannot be read is not what it was.
    for (file, read) in known.chain(read).filter_map(|(file, read)| Some((file, read?))) {
        if read.id == file.id {
            same.insert(file.path);
        } else {
            survey.remember(file.path, read.content);
            left.push(file);
            convertible.extend(read.convertible.then_some(file));
        }
    }
    if left.is_empty() {
        return Ok(same);
    }
    let converts = survey.converts();
    same.extend(match converts {
        Converts::Any => converted(survey, &left)?,
        Converts::Marked => converted(survey, &convertible)?,
        Converts::Nothing => Vec::new(),
    });
    left.retain(|file| !same.contains(file.path));
    same.extend(pointed(survey, &left)?);
    left.retain(|file| file.believed && !same.contains(file.path) && converts != Converts::Nothing);
    same.extend(filtered(survey, &left)?);
    Ok(same)
}

/// Files that git would keep as what they were, once it has converted their line ends and the like.
fn converted<'a>(survey: &Survey<'_>, files: &[Unsure<'a>]) -> Result<Vec<&'a [u8]>, Unclear> {
    // Names with a line end would break git's list of lines: such a file counts as changed.
    let plain = |file: &&Unsure<'a>| !file.path.iter().any(|byte| matches!(byte, b'\n' | b'\r'));
    let mut left: Vec<Unsure<'a>> = files.iter().filter(plain).copied().collect();
    let ids = match hashed(survey, &left)? {
        Some(ids) => ids,
        None => {
            // One that cannot be read fails for all: the others are asked about without it.
            left.retain(|file| is_readable(survey, file));
            hashed(survey, &left)?.unwrap_or_default()
        }
    };
    Ok(left.iter().zip(&ids).filter(|(file, id)| file.id == id.as_slice()).map(|(file, _)| file.path).collect())
}

fn is_readable(survey: &Survey<'_>, file: &Unsure<'_>) -> bool {
    matches!(open(&survey.root().join(names::from_bytes(file.path))), Ok(Opened::File(..)))
}

/// The ids of files, as git computes them; none when one of them cannot be read, or is gone by now.
fn hashed(survey: &Survey<'_>, files: &[Unsure<'_>]) -> Result<Option<Vec<Vec<u8>>>, Unclear> {
    if files.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let lines: Vec<u8> = files.iter().flat_map(|file| [b"./".as_slice(), file.path, b"\n"].concat()).collect();
    match survey.unfiltered(&["hash-object", "--stdin-paths"], lines) {
        Ok(printed) => {
            Ok(Some(printed.split(|byte| *byte == b'\n').filter(|id| !id.is_empty()).map(<[u8]>::to_owned).collect()))
        }
        Err(GitFault::Failed(_)) => Ok(None),
        Err(fault) => Err(fault.into()),
    }
}

/// The same of links, which contain where they lead.
pub(super) fn unchanged_links<'a>(survey: &Survey<'_>, unsure: &[Unsure<'a>]) -> Vec<&'a [u8]> {
    let now = |file: &Unsure<'a>| Blob::of_link(&survey.root().join(names::from_bytes(file.path)), file.id.len());
    unsure.iter().filter(|file| now(file).is_some_and(|blob| blob.id == file.id)).map(|file| file.path).collect()
}

/// Files that one of the repository's own filters keeps as something else, and that git has just looked at: nothing can be
/// said of them without running it, so git is believed.
fn filtered<'a>(survey: &Survey<'_>, files: &[Unsure<'a>]) -> Result<Vec<&'a [u8]>, Unclear> {
    if files.is_empty() || !survey.has_filters() {
        return Ok(Vec::new());
    }
    let asked: Vec<u8> = files.iter().flat_map(|file| [file.path, b"\0"].concat()).collect();
    let printed = survey.run(&["check-attr", "-z", "--stdin", "filter"], asked)?;
    let values = printed.split(|byte| *byte == 0).skip(2).step_by(3);
    let known = |value: &[u8]| !matches!(value, b"unspecified" | b"unset" | b"set" | LFS) && survey.has_filter(value);
    Ok(files.iter().zip(values).filter(|(_, value)| known(value)).map(|(file, _)| file.path).collect())
}

/// Files whose object is the pointer to what they contain.
fn pointed<'a>(survey: &Survey<'_>, files: &[Unsure<'a>]) -> Result<Vec<&'a [u8]>, Unclear> {
    let files = if survey.has_filters() { files } else { &[] };
    same_as(survey, files, POINTER_BYTES_MAX, |path| pointer(path).map(String::into_bytes))
}

/// Files whose object, of so many bytes at most, is what can be said of them.
fn same_as<'a>(
    survey: &Survey<'_>,
    files: &[Unsure<'a>],
    bytes_max: usize,
    now: impl Fn(&Path) -> Option<Vec<u8>>,
) -> Result<Vec<&'a [u8]>, Unclear> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let asked: Vec<u8> = files.iter().flat_map(|file| [file.id, b"\n"].concat()).collect();
    let sizes = survey.unfiltered(&["cat-file", "--batch-check=%(objectsize)"], asked)?;
    let sizes = sizes.split(|byte| *byte == b'\n').map(|size| str::from_utf8(size).ok()?.parse::<usize>().ok());
    let small: Vec<&Unsure<'a>> = files
        .iter()
        .zip(sizes)
        .filter(|(_, size)| size.is_some_and(|size| size <= bytes_max))
        .map(|(file, _)| file)
        .collect();
    let mut same = Vec::new();
    let asked: Vec<u8> = small.iter().flat_map(|file| [file.id, b"\n"].concat()).collect();
    let objects = if small.is_empty() { Vec::new() } else { survey.unfiltered(&["cat-file", "--batch"], asked)? };
    let mut rest = objects.as_slice();
    for file in small {
        let Some((object, after)) = object(rest) else { break };
        rest = after;
        let full = survey.root().join(names::from_bytes(file.path));
        same.extend(now(&full).filter(|now| now == object).map(|_| file.path));
    }
    Ok(same)
}

/// The first object of a batch, `id kind size LF bytes LF`, and what follows it.
fn object(printed: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = printed.iter().position(|byte| *byte == b'\n')?;
    let size = str::from_utf8(printed.get(..end)?).ok()?.rsplit(' ').next()?.parse::<usize>().ok()?;
    let (object, after) = printed.get(end + 1..)?.split_at_checked(size)?;
    Some((object, after.strip_prefix(b"\n")?))
}

/// The pointer that Git LFS keeps for a file.
fn pointer(path: &Path) -> Option<String> {
    let Ok(Opened::File(file, meta)) = open(path) else { return None };
    if meta.len() > POINTED_BYTES_MAX {
        return None;
    }
    let digest = digest(&file)?;
    Some(format!("version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {}\n", meta.len()))
}

fn digest(file: &File) -> Option<jackline_core::sha::Digest> {
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut rest = file.take(POINTED_BYTES_MAX + 1);
    loop {
        let read = rest.read(&mut chunk).ok()?;
        match chunk.get(..read) {
            Some(bytes) if !bytes.is_empty() => hasher.update(bytes),
            Some(_) | None => return Some(jackline_core::sha::Digest(hasher.finalize().into())),
        }
    }
}
