//! Which definitions are in force for a session: given by the embedder, or found in the workspace and remembered.

mod accepted;
mod cache;
mod discover;
mod file;
mod found;
mod packs;
mod rego;
mod schemas;
mod scripts;
mod steady;

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use jackline_core::code;
use jackline_core::decision::Finding;
use jackline_core::definition::Fault;
use jackline_core::session::Pin;
use jackline_core::sha::Digest;
use jackline_core::stack::Stack;
use thiserror::Error;

use crate::files::Levels;

pub use accepted::{Acceptance, Accepted};
pub use cache::Kept;
pub use discover::{DEFINITION_FILE, discover};
pub use found::{Found, Places, read_text};
pub use rego::rego_faults;
pub use schemas::schema_faults;
pub use scripts::{Runs, Scripts, files as script_files, present as present_scripts};
pub(crate) use scripts::{bound, objection};
pub use steady::Steady;

/// Says which definitions judge a session.
pub trait Definitions: Send + Sync + fmt::Debug {
    /// The stack in force: for a session that is pinned, or for one that begins, which may name a definition itself.
    ///
    /// # Errors
    /// Why there is none; every call is then refused.
    fn stack(&self, pin: Option<&Pin>, named: Option<&str>) -> Result<Arc<Standing>, DefinitionFault>;

    /// The files that hold the definitions of a pinned session, whether they are there or not. While they are as they were,
    /// the stack is too, but for what a person came to trust.
    fn files(&self, _pin: &Pin) -> Vec<PathBuf> {
        Vec::new()
    }

    /// The workspace that a session is in, also where no definition can be used; `None` when that is not known.
    fn root(&self, pin: Option<&Pin>) -> Option<String> {
        pin.map(|pin| pin.root.clone())
    }
}

/// The stack in force, with the texts it was read from and what people should be told about it.
#[derive(Debug, Clone, Default)]
pub struct Standing {
    pub stack: Stack,
    /// The text of each layer by digest, to be kept so that records can be replayed.
    pub texts: Vec<(Digest, Cow<'static, str>)>,
    /// What people should know: a change that waits for trust, an unreadable file.
    pub notices: Vec<String>,
    /// Files named by the definition, which are protected with it.
    pub files: Vec<PathBuf>,
    /// Where the texts are kept already, if they are.
    pub kept: Option<Kept>,
    /// The root at the session's beginning, once the host has moved to another: what guards the session is there.
    pub first_root: Option<PathBuf>,
    /// What is known of the files that commands run.
    pub scripts: Scripts,
}

impl Standing {
    /// Every file that is protected with the definitions: those they name, and the scripts of their commands.
    #[must_use]
    pub fn protected(&self) -> Vec<PathBuf> {
        self.protected_in(&self.trees())
    }

    /// The same, looked for in these work trees.
    pub(crate) fn protected_in(&self, trees: &[Levels]) -> Vec<PathBuf> {
        let mut files = self.files.clone();
        files.extend(script_files(&self.stack, &self.scripts, trees));
        files
    }

    /// The work trees that are guarded, as they are now: where the session is, and where it began.
    pub(crate) fn trees(&self) -> Vec<Levels> {
        let roots = [Some(Path::new(&self.stack.root)), self.first_root.as_deref()];
        roots.into_iter().flatten().map(Levels::around).collect()
    }
}

/// Why no definition is in force.
#[derive(Debug, Clone, Error)]
#[non_exhaustive]
pub enum DefinitionFault {
    #[error("there is no {DEFINITION_FILE} in `{0}` or above it")]
    Missing(PathBuf),
    #[error("`{path}` cannot be read: {why}")]
    Unreadable { path: PathBuf, why: String },
    #[error("`{path}` has {} fault(s)", faults.len())]
    Faulty { path: PathBuf, source_text: String, faults: Vec<Fault> },
    #[error("the state directory cannot be used: {0}")]
    State(String),
}

impl DefinitionFault {
    /// It, as the agent is told of it.
    #[must_use]
    pub fn finding(&self) -> Finding {
        let finding = Finding::fault("definition", code::FAULT_DEFINITION, &self.to_string());
        finding.suggest(match self {
            Self::Missing(_) => "ask the owner to write one with `jackline init`",
            Self::Unreadable { .. } | Self::Faulty { .. } | Self::State(_) => "ask the owner to run `jackline check`",
        })
    }
}

/// A definition that the embedder gave: no file is looked for and nothing is remembered. A session that names a
/// definition of its own is judged by exactly that one.
#[derive(Debug)]
pub struct Given {
    standing: Arc<Standing>,
    /// The last definition that a session named, with its text's digest.
    named: Mutex<Option<(Digest, Arc<Standing>)>>,
    /// The last standing that was asked for in another work tree, with the one it was made of.
    moved: Mutex<Option<(Arc<Standing>, Arc<Standing>)>>,
}

impl Given {
    #[must_use]
    pub fn new(standing: Standing) -> Self {
        Self { standing: Arc::new(standing), named: Mutex::new(None), moved: Mutex::new(None) }
    }

    /// The same where the session is now: a host that moved to another work tree is judged by what is there.
    fn moved(&self, standing: Arc<Standing>, pin: Option<&Pin>) -> Arc<Standing> {
        let Some(pin) = pin.filter(|pin| pin.root != pin.home) else { return standing };
        let mut moved = self.moved.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |known: &Standing| known.stack.root == pin.root;
        if let Some((_, known)) = moved.as_ref().filter(|(from, known)| Arc::ptr_eq(from, &standing) && same(known)) {
            return Arc::clone(known);
        }
        let mut there = Standing::clone(&standing);
        there.stack.root.clone_from(&pin.root);
        there.first_root = Some(PathBuf::from(&pin.home));
        let there = Arc::new(there);
        *moved = Some((standing, Arc::clone(&there)));
        there
    }

    fn by_name(&self, name: &str) -> Result<Arc<Standing>, DefinitionFault> {
        let root = Path::new(&self.standing.stack.root);
        let path = root.join(name);
        let text = found::read_text(&path).map_err(|why| DefinitionFault::Unreadable { path: path.clone(), why })?;
        let digest = Digest::of(text.as_bytes());
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, standing)) = named.as_ref().filter(|(known, _)| *known == digest) {
            return Ok(Arc::clone(standing));
        }
        let dir = path.parent().unwrap_or(root);
        let mut standing = Standing::given_from(root, dir, &text, None).map_err(|faults| DefinitionFault::Faulty {
            path: path.clone(),
            source_text: text,
            faults,
        })?;
        standing.stack.path = Some(path.display().to_string());
        let standing = Arc::new(standing);
        *named = Some((digest, Arc::clone(&standing)));
        Ok(standing)
    }
}

impl Definitions for Given {
    fn stack(&self, pin: Option<&Pin>, named: Option<&str>) -> Result<Arc<Standing>, DefinitionFault> {
        let own = self.standing.stack.path.as_deref();
        let pinned = pin.and_then(|pin| pin.definition.as_deref()).filter(|pinned| Some(*pinned) != own);
        match (pin, pinned, named) {
            (_, Some(name), _) | (None, None, Some(name)) => Ok(self.moved(self.by_name(name)?, pin)),
            (Some(_), None, _) | (None, None, None) => Ok(self.moved(Arc::clone(&self.standing), pin)),
        }
    }
}
