//! The engine of a build without one: nothing can be judged, and so nothing passes.

use jackline_core::rego::Judged;
use jackline_core::time::Timestamp;
use serde_json::Value;

use super::RegoFault;

/// A policy that can be asked; there is none.
#[derive(Debug, Clone)]
pub(crate) enum Compiled {}

impl Compiled {
    pub(crate) fn new(_text: &str) -> Result<Self, RegoFault> {
        Err(RegoFault::new("this build of Jackline has no Rego engine"))
    }

    pub(crate) fn judge(&self, _input: Value, _at: Timestamp) -> Result<Judged, String> {
        match *self {}
    }
}
