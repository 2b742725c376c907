//! Carries: loads sessions, answers probes, and commits records around the pure core.
//!
//! A [`Runtime`] takes events (or a host's native messages, through an [`adapter`](adapters)) and answers each with
//! a decision. In between it loads what is remembered of the session from a [`store`], lets the core decide, looks
//! for the facts it asks for ([`probes`]), and commits the audit records before it answers. Which
//! [`definitions`] judge is either given by the embedder or found in the workspace; [`exceptions`] are a person's.
//!
//! Synchronous throughout. This crate knows no command line, no HTTP, no MCP, reads no environment and prints
//! nothing. `adapters`, `probes` and `store` never import one another.

pub mod adapters;
mod answer;
mod builder;
mod canonical;
mod carried;
pub mod checkpoint;
mod checksum;
pub mod clock;
pub mod commands;
pub mod definitions;
pub mod exceptions;
pub mod files;
pub mod limits;
pub mod lines;
pub mod live;
mod loading;
mod offered;
mod operations;
pub mod private;
pub mod probes;
mod records;
mod rego;
pub mod replace;
pub mod replay;
pub mod retention;
pub mod runner;
mod runtime;
mod schemas;
mod standing;
pub mod store;
pub mod tilde;
pub mod trees;
pub mod web;
pub mod wiring;
mod worker;

pub use answer::Answer;
pub use builder::{BuildFault, RuntimeBuilder};
pub use canonical::canonical;
pub use jackline_core as core;
pub use jackline_core::completion::checker::{Assessment, Checker, Stopping};
pub use jackline_core::feedback::{Feedback, FeedbackContext, FeedbackProvider, Severity, Trigger};
pub use jackline_core::policy::{Asked, Keep, Objection, Policy};
pub use runtime::{CHECKING_SESSION, Runtime};
pub use schemas::{Schema, SchemaFault, schema_fault};
