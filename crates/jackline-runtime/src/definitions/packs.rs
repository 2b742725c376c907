//! The packs as they were compiled when this was built.

use jackline_core::packs::{Compiled, Content, Pack};

/// Every pack's bytes, by its name.
static COMPILED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/packs.rs"));

/// A pack's definition; from its text if it was not compiled.
pub(super) fn content(pack: &'static Pack) -> Content {
    let bytes = COMPILED.iter().find(|(name, _)| *name == pack.name).map(|(_, bytes)| *bytes);
    let compiled = bytes.and_then(|bytes| Compiled::open(pack, bytes));
    compiled.map_or_else(|| pack.model().into(), Content::Compiled)
}
