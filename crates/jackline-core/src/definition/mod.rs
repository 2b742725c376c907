//! Reads a definition: text in, a [`Model`] or all its faults out.

pub mod fault;
pub mod model;
mod reference;
mod schema;
mod shape;
mod validate;
mod yaml;

pub use fault::{Fault, Span, render};
pub use model::Model;
pub use reference::reference_markdown;
pub use schema::json_schema;
pub use yaml::{DEFINITION_BYTES_MAX, DEPTH_MAX, NODES_MAX};
