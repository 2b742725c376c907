//! What a server offers whose calls are judged: an embedder tells it, and tools it does not offer are refused.

use std::sync::{Arc, PoisonError};

use jackline_core::catalogue::Catalogue;
use jackline_core::event::{Body, Event};

use crate::definitions::DefinitionFault;
use crate::runtime::Runtime;
use crate::store::Sync;

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

    /// How far the record of an event goes before it is answered.
    pub(crate) fn sync(&self, wanted: Sync, event: &Event) -> Sync {
        let follows = self.outcomes_follow && matches!(event.body, Body::CallFinished(..));
        if follows { Sync::Os } else { wanted }
    }

    /// Whether nothing is judged here, because nobody declared anything and the runtime was told to let that pass.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.idles && matches!(self.definitions.stack(None, None), Err(DefinitionFault::Missing(_)))
    }
}
