//! JSON as we read it (strictly) and as we write it (RFC 8785).
//!
//! Nothing here repairs a text: a fault is reported with its place and the reader decides.

mod alike;
mod canonical;
mod strict;

pub use alike::{alike, is_alike, twins};
pub use canonical::{canonical, write_canonical, write_string};
pub use strict::{JSON_BYTES_MAX, JSON_DEPTH_MAX, JSON_HEAP_BYTES_MAX, JsonFault, check, decode, decode_to_depth};
