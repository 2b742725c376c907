//! Reads a definition: text in, a [`Model`] or all its faults out.

pub mod fault;
pub mod model;
pub mod yaml;

pub use fault::{Fault, Span, render};
pub use model::{Kind, Model, UnknownTools};
