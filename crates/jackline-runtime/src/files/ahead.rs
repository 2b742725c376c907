//! A look at a work tree in two steps: its index is read at once, and the tree is held against it when somebody says how.
//!
//! At a stop the first step is taken before the session and the definitions are loaded, beside that.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use super::folder::DIRS;
use super::index::Index;
use super::tree::{self, Tree};
use crate::probes::git::Repository;

/// A look that is under way.
#[derive(Debug)]
pub(super) struct Looking {
    how: Sender<How>,
    pub(super) index: Receiver<Option<Indexed>>,
    pub(super) tree: JoinHandle<Option<Tree>>,
}

/// What is known of an index that was read.
#[derive(Debug)]
pub(super) struct Indexed {
    /// The tree that it is as a whole, where that is known.
    pub(super) tree: Option<Vec<u8>>,
}

/// How a tree is held against its index.
#[derive(Debug)]
pub(super) struct How {
    pub(super) root: PathBuf,
    pub(super) until: Instant,
    /// Seconds from which on the stat data of what changed are not believed.
    pub(super) late: Option<i64>,
}

impl Looking {
    /// Begins to read the index in a repository's directory; nothing where there is no thread to be had.
    pub(super) fn begin(dir: PathBuf) -> Option<Self> {
        let ((how, told), (tell, index)) = (mpsc::channel::<How>(), mpsc::channel());
        let look = move || {
            let index = Index::read(&dir);
            let known = |index: &Index| Indexed { tree: index.tree().map(<[u8]>::to_owned) };
            // Nobody may want to know any more.
            let _ = tell.send(index.as_ref().map(known));
            let How { root, until, late } = told.recv().ok()?;
            tree::look(&root, index?, until, late)
        };
        let tree = thread::Builder::new().spawn(look).ok()?;
        Some(Self { how, index, tree })
    }

    /// Goes on with the tree.
    pub(super) fn go(&self, how: How) {
        // Who cannot be told has ended, and left nothing.
        let _ = self.how.send(how);
    }
}

/// A look that was begun before anybody asked for it.
#[derive(Debug)]
pub(crate) struct Ahead {
    dir: PathBuf,
    looking: Mutex<Option<Looking>>,
}

impl Ahead {
    /// Begins one where a workspace has policies: most likely somebody will ask what changed.
    pub(crate) fn begin(root: &Path) -> Option<Self> {
        if !DIRS.iter().any(|dir| root.join(dir).is_dir()) {
            return None;
        }
        let dir = Repository::around(&crate::canonical(root).ok()?)?.dir;
        let looking = Mutex::new(Some(Looking::begin(dir.clone())?));
        Some(Self { dir, looking })
    }

    /// The look, where it is of this repository and nobody took it.
    pub(super) fn take(&self, dir: &Path) -> Option<Looking> {
        let mut looking = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
        if self.dir == dir { looking.take() } else { None }
    }
}
