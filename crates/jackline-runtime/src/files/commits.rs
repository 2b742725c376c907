//! Which tree a commit has: git need not compare the commit that is checked out with an index that is just that.
//!
//! What git said of that commit is kept, word for word, beside the policies. It is believed for what it is: its id is the
//! digest of it.

use std::path::PathBuf;

use sha1::{Digest as _, Sha1};

use super::changes::{Survey, Unclear};
use super::folder::Folder;
use super::{names, queue};
use crate::probes::fingerprint::small;
use crate::probes::git::GitFault;

/// Bytes of a commit that is kept: people write less about one.
const COMMIT_BYTES_MAX: u64 = 64 * 1024;
/// Where it is kept, beside the policies.
const CACHE: &str = "cache";
/// The file there.
const COMMIT: &str = "commit";
/// Hexadecimal digits of the ids that an index has which is read without git.
const DIGITS: usize = 40;

/// Where the commit that was checked out last is kept.
#[derive(Debug)]
pub(super) struct Keeping {
    folder: Folder,
}

impl Keeping {
    pub(super) fn of(folder: &Folder) -> Self {
        Self { folder: folder.clone() }
    }

    fn file(&self) -> PathBuf {
        self.folder.state().join(CACHE).join(COMMIT)
    }

    /// Only where we keep other things already: whoever merely looks leaves nothing behind. One that cannot be kept is asked
    /// for again.
    fn keep(&self, commit: &[u8]) {
        if commit.len() as u64 <= COMMIT_BYTES_MAX && self.folder.state().is_dir() {
            drop(queue::place(&self.folder, CACHE).and_then(|_| queue::replace(&self.file(), commit)));
        }
    }
}

impl Survey<'_> {
    /// Whether an index that is this tree differs in nothing from a commit, as far as that is told without comparing them.
    pub(super) fn is_tree_of(&self, commit: &str, index: Option<&[u8]>) -> Result<bool, Unclear> {
        let Some(index) = index.filter(|_| commit.len() == DIGITS) else { return Ok(false) };
        // Others hardly ever have this tree.
        if self.head()?.as_deref() != Some(commit) {
            return Ok(false);
        }
        let kept = self.keeping.as_ref().and_then(|keeping| small(&keeping.file(), COMMIT_BYTES_MAX));
        let known = match kept.filter(|kept| is(kept, commit)) {
            Some(known) => known,
            None => match self.run(&["cat-file", "commit", commit], Vec::new()) {
                Ok(told) if is(&told, commit) => {
                    self.keeping.iter().for_each(|keeping| keeping.keep(&told));
                    told
                }
                Ok(_) | Err(GitFault::Failed(_)) => return Ok(false),
                Err(fault) => return Err(fault.into()),
            },
        };
        Ok(tree(&known).is_some_and(|tree| tree == names::hex_of(index)))
    }
}

/// Whether this is the commit with such an id.
fn is(commit: &[u8], id: &str) -> bool {
    let digest = Sha1::new().chain_update(format!("commit {}\0", commit.len())).chain_update(commit).finalize();
    names::hex_of(&digest) == id.as_bytes()
}

/// The id of its tree, which its first line tells.
fn tree(commit: &[u8]) -> Option<&[u8]> {
    commit.strip_prefix(b"tree ")?.get(..DIGITS + 1)?.strip_suffix(b"\n")
}
