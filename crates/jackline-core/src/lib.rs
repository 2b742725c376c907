//! Decides: the pure core of Jackline.

pub mod audit;
pub mod json;
pub mod path;
pub mod probe;
pub mod redact;
pub mod sha;
pub mod time;
