//! What a whole work tree contains, as one digest of the files below the workspace root that git does not ignore:
//! the same whether a change is staged, committed or neither; another as soon as a file, a name or an executable
//! bit is. Where clean filters or line-end conversions apply, staging an edited file counts as a change.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jackline_core::probe::Fact;
use jackline_core::sha::Digest;

use super::below;
use super::fingerprint::{self, FINGERPRINT_BYTES_MAX, Opened};
use super::git::{At, GIT_MS_MAX, Git, GitFault, Repository};
use super::index::{self, Entry};

/// Files looked at; a larger tree takes longer than a tool call may wait.
const FILES_MAX: usize = 200_000;

/// Repositories below the root (submodules and nested ones) that are looked into, three git calls each.
const REPOSITORIES_MAX: usize = 64;

const LIST_INDEX: [&str; 4] = ["ls-files", "-z", "-s", "--debug"];
const LIST_UNTRACKED: [&str; 4] = ["ls-files", "-z", "-o", "--exclude-standard"];
const HASH: [&str; 3] = ["hash-object", "--no-filters", "--stdin-paths"];

/// Why the work tree could not be looked at.
#[derive(Debug, thiserror::Error)]
enum Unclear {
    #[error(transparent)]
    Git(#[from] GitFault),
    #[error("a file of the work tree cannot be read: {0}")]
    File(#[from] io::Error),
    #[error("the work tree has more than {0} files")]
    Files(usize),
    #[error("the work tree has more than {REPOSITORIES_MAX} repositories")]
    Repositories,
    #[error("git's listing cannot be read")]
    Listing,
    #[error("the work tree changed while being looked at")]
    Moved,
}

pub(crate) fn answer(git: &Git, root: &Path) -> Fact {
    match fingerprint(git, root, FILES_MAX) {
        Ok(Some(digest)) => Fact::Content(Some(digest)),
        Ok(None) => Fact::Absent,
        Err(unclear) => Fact::Unknown(unclear.to_string()),
    }
}

/// Paths below the root and what is there: a name may be any bytes.
pub(crate) type Files = BTreeMap<Vec<u8>, Vec<u8>>;

/// What is in each file of the work tree; nothing where that cannot be told.
pub(crate) fn files(git: &Git, root: &Path) -> Option<Files> {
    look(git, root, FILES_MAX).ok().flatten()
}

/// The digest of the work tree; `None` without a repository.
fn fingerprint(git: &Git, root: &Path, files_max: usize) -> Result<Option<Digest>, Unclear> {
    let digest =
        |found: Files| Digest::of_parts(found.iter().flat_map(|(path, content)| [path.as_slice(), content.as_slice()]));
    Ok(look(git, root, files_max)?.map(digest))
}

fn look(git: &Git, root: &Path, files_max: usize) -> Result<Option<Files>, Unclear> {
    let root = fs::canonicalize(root)?;
    let Some(repository) = Repository::around(&root) else { return Ok(None) };
    let until = Instant::now() + Duration::from_millis(GIT_MS_MAX);
    let mut survey = Survey { git, root, until, files_max, files: 0, found: BTreeMap::new(), nested: BTreeSet::new() };
    survey.repository(&repository, b"")?;
    let mut done = BTreeSet::new();
    while let Some(below) = survey.nested.pop_first() {
        if done.len() >= REPOSITORIES_MAX {
            return Err(Unclear::Repositories);
        }
        if done.insert(below.clone()) {
            survey.below(&below)?;
        }
    }
    Ok(Some(survey.found))
}

/// A look at all files under way.
struct Survey<'a> {
    git: &'a Git,
    root: PathBuf,
    until: Instant,
    files_max: usize,
    files: usize,
    found: Files,
    /// Repositories below the root still to look into, ending in `/`.
    nested: BTreeSet<Vec<u8>>,
}

/// One repository of the survey.
struct Part<'a> {
    /// Its path below the root: empty, or ending in `/`.
    below: &'a [u8],
    dir: PathBuf,
    /// No repository: git hashes nothing there.
    foreign: bool,
    index: Option<Metadata>,
    /// Files whose content git has to hash.
    edited: Vec<(&'a [u8], Metadata)>,
}

impl Survey<'_> {
    /// A nested repository; one that has been taken out leaves a mark, so that taking it out is a change, and what lies
    /// in its place is looked at file by file.
    fn below(&mut self, below: &[u8]) -> Result<(), Unclear> {
        let dir = self.root.join(OsStr::from_bytes(below));
        if let Some(repository) = Repository::at(&dir) {
            return self.repository(&repository, below);
        }
        self.found.insert(below.to_owned(), b"no repository".to_vec());
        let found = below::files(&dir, self.files_max).ok_or(Unclear::Files(self.files_max))?;
        let mut part = Part { below, dir, foreign: true, index: None, edited: Vec::new() };
        found.closed.iter().for_each(|path| self.keep(&part, path, content("closed", b"")));
        found.files.iter().try_for_each(|path| self.path(&mut part, path, None))
    }

    fn repository(&mut self, repository: &Repository, below: &[u8]) -> Result<(), Unclear> {
        let dir = self.root.join(OsStr::from_bytes(below));
        let at = At { dir: &dir, top: &repository.top, until: self.until };
        // Looked at before listing: an older index makes more files doubtful, never fewer.
        let index = fs::symlink_metadata(repository.dir.join("index")).ok();
        let tracked = self.git.run(&at, &LIST_INDEX, Vec::new())?;
        let untracked = self.git.run(&at, &LIST_UNTRACKED, Vec::new())?;
        let mut part = Part { below, dir: dir.clone(), foreign: false, index, edited: Vec::new() };
        for entry in index::entries(&tracked).ok_or(Unclear::Listing)? {
            self.path(&mut part, entry.path, Some(&entry))?;
        }
        for path in untracked.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
            self.path(&mut part, path, None)?;
        }
        self.excludes(&part, &repository.common)?;
        self.hash(&part, &at)
    }

    /// What is not looked at belongs to what was seen: hiding a file is a change.
    fn excludes(&mut self, part: &Part<'_>, common: &Path) -> Result<(), Unclear> {
        if let Opened::File(file, meta) = fingerprint::open(&common.join("info/exclude"))? {
            // No path has a NUL byte, so this key is no file's.
            self.keep(part, b"\0exclude", content("excludes", &fingerprint::digest(&file, &meta)?.0));
        }
        Ok(())
    }

    fn path<'p>(&mut self, part: &mut Part<'p>, path: &'p [u8], entry: Option<&Entry<'_>>) -> Result<(), Unclear> {
        self.files += 1;
        if self.files > self.files_max {
            return Err(Unclear::Files(self.files_max));
        }
        if Instant::now() > self.until {
            return Err(GitFault::Late.into());
        }
        let full = part.dir.join(OsStr::from_bytes(path));
        match fs::symlink_metadata(&full) {
            Ok(meta) if meta.is_file() => self.file(part, path, &full, (meta, entry))?,
            Ok(meta) if meta.is_symlink() => {
                let target = fs::read_link(&full)?;
                self.keep(part, path, content("link", target.as_os_str().as_bytes()));
            }
            Ok(meta) if meta.is_dir() => self.directory(part, path, entry),
            Ok(_) => self.keep(part, path, content("other", b"")),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// A submodule, or a repository git does not track (listed with a `/`); else a file made way for a directory.
    fn directory(&mut self, part: &Part<'_>, path: &[u8], entry: Option<&Entry<'_>>) {
        if entry.is_none_or(Entry::is_submodule) {
            let path = path.strip_suffix(b"/").unwrap_or(path);
            self.nested.insert([part.below, path, b"/"].concat());
        }
    }

    fn file<'p>(
        &mut self,
        part: &mut Part<'p>,
        path: &'p [u8],
        full: &Path,
        (meta, entry): (Metadata, Option<&Entry<'_>>),
    ) -> Result<(), Unclear> {
        // Hashed by ourselves whatever the index says, so that staging changes nothing: what is too large for git to
        // hash in time, and names that would break git's list of lines.
        if part.foreign || meta.len() > FINGERPRINT_BYTES_MAX || path.iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
            let Opened::File(file, meta) = fingerprint::open(full)? else { return Err(Unclear::Moved) };
            self.keep(part, path, content(kind(&meta), &fingerprint::digest(&file, &meta)?.0));
            return Ok(());
        }
        match entry {
            Some(entry) if entry.stands_for(&meta, part.index.as_ref()) => {
                self.keep(part, path, content(kind(&meta), entry.id.as_bytes()));
            }
            Some(_) | None => part.edited.push((path, meta)),
        }
        Ok(())
    }

    /// Has git name the content of edited and untracked files as it would when staging them, without doing so.
    fn hash(&mut self, part: &Part<'_>, at: &At<'_>) -> Result<(), Unclear> {
        if part.edited.is_empty() {
            return Ok(());
        }
        // `./` in front, because git would unquote a name that begins with a quote.
        let names = part.edited.iter().flat_map(|(path, _)| [b"./".as_slice(), path, b"\n"].concat());
        let printed = self.git.run(at, &HASH, names.collect())?;
        let ids: Vec<&[u8]> = printed.split(|byte| *byte == b'\n').filter(|id| !id.is_empty()).collect();
        if ids.len() != part.edited.len() {
            return Err(Unclear::Moved);
        }
        for ((path, meta), id) in part.edited.iter().zip(ids) {
            self.keep(part, path, content(kind(meta), id));
        }
        Ok(())
    }

    fn keep(&mut self, part: &Part<'_>, path: &[u8], content: Vec<u8>) {
        self.found.insert([part.below, path].concat(), content);
    }
}

fn kind(meta: &Metadata) -> &'static str {
    if meta.mode() & 0o100 == 0 { "file" } else { "program" }
}

fn content(kind: &str, id: &[u8]) -> Vec<u8> {
    [kind.as_bytes(), b" ", id].concat()
}

#[cfg(test)]
mod tests;
