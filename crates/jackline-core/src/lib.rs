//! Decides: the pure core of Jackline.

pub mod definition;
pub mod glob;
pub mod json;
pub mod path;
pub mod probe;
pub mod sha;
pub mod time;
