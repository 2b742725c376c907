//! Files that look changed and are not: their stat data differ from git's, or git was told not to look at them, and what
//! they contain is asked for.
//!
//! No filter of the repository is run. Line ends are converted as git would convert them, and a file that Git LFS keeps
//! elsewhere is held against its pointer, which names its digest.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::changes::{Survey, Unclear};
use super::names;
use crate::probes::fingerprint::{Opened, open};
use crate::probes::git::GitFault;

/// Bytes of a pointer: three short lines.
const POINTER_BYTES_MAX: usize = 1024;
/// Bytes of where a link leads: systems take no longer one.
const LINK_BYTES_MAX: usize = 4096;
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
}

/// The paths of those that contain what they did.
pub(super) fn unchanged<'a>(survey: &Survey<'_>, unsure: &[Unsure<'a>]) -> Result<BTreeSet<&'a [u8]>, Unclear> {
    // Names with a line end would break git's list of lines: such a file counts as changed.
    let plain = |file: &&Unsure<'a>| !file.path.iter().any(|byte| matches!(byte, b'\n' | b'\r'));
    let mut left: Vec<Unsure<'a>> = unsure.iter().filter(plain).copied().collect();
    let mut same = BTreeSet::new();
    for words in [&["hash-object", "--no-filters", "--stdin-paths"][..], &["hash-object", "--stdin-paths"]] {
        let ids = match hashed(survey, words, &left)? {
            Some(ids) => ids,
            None => {
                // One that cannot be read fails for all: the others are asked about without it.
                left.retain(|file| is_readable(survey, file));
                hashed(survey, words, &left)?.unwrap_or_default()
            }
        };
        let found = left.iter().zip(&ids).filter(|(file, id)| file.id == id.as_slice()).map(|(file, _)| file.path);
        same.extend(found);
        left.retain(|file| !same.contains(file.path));
    }
    same.extend(pointed(survey, &left)?);
    Ok(same)
}

fn is_readable(survey: &Survey<'_>, file: &Unsure<'_>) -> bool {
    matches!(open(&survey.root().join(names::from_bytes(file.path))), Ok(Opened::File(..)))
}

/// The ids of files, as git computes them; none when one of them cannot be read, or is gone by now.
fn hashed(survey: &Survey<'_>, words: &[&str], files: &[Unsure<'_>]) -> Result<Option<Vec<Vec<u8>>>, Unclear> {
    if files.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let lines: Vec<u8> = files.iter().flat_map(|file| [b"./".as_slice(), file.path, b"\n"].concat()).collect();
    match survey.unfiltered(words, lines) {
        Ok(printed) => {
            Ok(Some(printed.split(|byte| *byte == b'\n').filter(|id| !id.is_empty()).map(<[u8]>::to_owned).collect()))
        }
        Err(GitFault::Failed(_)) => Ok(None),
        Err(fault) => Err(fault.into()),
    }
}

/// The same of links, which contain where they lead.
pub(super) fn unchanged_links<'a>(survey: &Survey<'_>, unsure: &[Unsure<'a>]) -> Result<Vec<&'a [u8]>, Unclear> {
    same_as(survey, unsure, LINK_BYTES_MAX, |path| Some(fs::read_link(path).ok()?.into_os_string().into_vec()))
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
