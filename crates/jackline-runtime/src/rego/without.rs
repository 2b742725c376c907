//! The engine of a build without one: nothing can be judged, and so nothing passes.

use jackline_core::rego::Judged;
use jackline_core::time::Timestamp;
use serde_json::Value;

use super::RegoFault;

/// Why nothing is judged.
const NO_ENGINE: &str = "this build of Jackline has no Rego engine";

/// A policy that could be asked; there never is one.
#[derive(Debug, Clone)]
pub(crate) struct Compiled(());

impl Compiled {
    pub(crate) fn new(_text: &str) -> Result<Self, RegoFault> {
        Err(RegoFault::new(NO_ENGINE))
    }

    pub(crate) fn judge(&self, _input: Value, _at: Timestamp) -> Result<Judged, String> {
        Err(NO_ENGINE.to_owned())
    }
}
