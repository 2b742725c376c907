//! What a server offers whose calls are judged: an embedder tells it, and tools it does not offer are refused.

use std::sync::{Arc, PoisonError};

use jackline_core::catalogue::Catalogue;
use jackline_core::schema::SCHEMA_BYTES_MAX;

use crate::definitions::DefinitionFault;
use crate::runtime::Runtime;
use crate::schemas;

impl Runtime {
    /// Judges from now on by what a server offers: its tools are known, their arguments must fit, and where no
    /// definition says otherwise other tools are refused.
    pub fn offer(&self, catalogue: Catalogue) {
        *self.catalogue.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(catalogue));
        // What was prepared knows the tools of before.
        *self.ground.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    pub(crate) fn offered(&self) -> Option<Arc<Catalogue>> {
        self.catalogue.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether nothing is judged here, because nobody declared anything and the runtime was told to let that pass.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.idles && matches!(self.definitions.stack(None, None), Err(DefinitionFault::Missing(_)))
    }
}

/// Whether arguments can be held against a schema: a server may offer one that refers to what is not there.
#[must_use]
pub fn is_usable(schema: &str) -> bool {
    schema.len() <= SCHEMA_BYTES_MAX && schemas::compile(schema.as_bytes()).is_ok()
}
