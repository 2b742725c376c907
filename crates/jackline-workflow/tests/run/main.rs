//! Runs of workflows whose agents are small shell scripts: no network, no model.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on says so by panicking"
)]

mod case;
mod delegation;
mod graph;
mod held;
mod property;
mod resume;
mod rules;
mod spending;
