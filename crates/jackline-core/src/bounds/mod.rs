//! How much an agent is shown at once: a page of a read, and no more of an outcome than the owner allows.
//!
//! `cut` knows lines and bytes, `outcome` knows where the texts of an outcome stand, `page` asks for a page beforehand
//! where a host lets arguments be rewritten. Pure functions of values; who is bounded by what is decided elsewhere.

mod cut;
mod outcome;
mod page;

pub use cut::{NOTE_BYTES_MAX, is_binary, lines};
pub use outcome::{Bounded, Place, bound, goes_on};
pub use page::{Paged, ask, skipped};
