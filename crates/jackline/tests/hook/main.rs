//! `jackline hook claude` on the real binary: what the client is answered, and what is on disk afterwards.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on says so by panicking")]

mod answers;
mod budgets;
mod faults;
mod feedback;
mod shown;
mod trees;
mod world;
