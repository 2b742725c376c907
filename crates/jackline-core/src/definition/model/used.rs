//! The key `use`: packs that a definition is judged together with.

use serde::{Deserialize, Serialize};

use super::Enforce;

/// A pack that the definition is judged together with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Use {
    pub pack: String,
    /// Policies of the pack that are enforced otherwise than the pack says.
    pub enforce: Vec<(String, Enforce)>,
}
