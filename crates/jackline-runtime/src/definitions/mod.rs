//! Which definitions are in force for a session: given by the embedder, or found in the workspace and remembered.

mod accepted;
mod cache;
mod discover;
mod found;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use jackline_core::definition::Fault;
use jackline_core::session::Pin;
use jackline_core::stack::Stack;
use thiserror::Error;

pub use accepted::{Acceptance, Accepted};
pub use cache::Kept;
pub use discover::{DEFINITION_FILE, discover};
pub use found::{Found, Places};

/// Says which definitions judge a session.
pub trait Definitions: Send + Sync + fmt::Debug {
    /// The stack in force, for a session that is pinned or for one that begins.
    ///
    /// # Errors
    /// Why there is none; every call is then refused.
    fn stack(&self, pin: Option<&Pin>) -> Result<Arc<Standing>, DefinitionFault>;
}

/// The stack in force, with the texts it was read from and what people should be told about it.
#[derive(Debug, Clone, Default)]
pub struct Standing {
    pub stack: Stack,
    /// The text of each layer by digest, to be kept so that records can be replayed.
    pub texts: Vec<(jackline_core::sha::Digest, String)>,
    /// What people should know: a change that waits for trust, an unreadable file.
    pub notices: Vec<String>,
    /// Files named by the definition, which are protected with it.
    pub files: Vec<PathBuf>,
}

/// Why no definition is in force.
#[derive(Debug, Clone, Error)]
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

/// A definition that the embedder gave: no file is looked for and nothing is remembered.
#[derive(Debug, Clone)]
pub struct Given(Arc<Standing>);

impl Given {
    #[must_use]
    pub fn new(standing: Standing) -> Self {
        Self(Arc::new(standing))
    }
}

impl Definitions for Given {
    fn stack(&self, _pin: Option<&Pin>) -> Result<Arc<Standing>, DefinitionFault> {
        Ok(Arc::clone(&self.0))
    }
}
