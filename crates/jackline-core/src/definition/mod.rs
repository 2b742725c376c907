//! Reads a definition: text in, a [`Model`] or all its faults out.

pub mod model;

pub use model::Model;
