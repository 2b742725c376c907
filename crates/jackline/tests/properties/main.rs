//! What must hold of every definition and every run of events, tried on random ones.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what goes wrong in a test's own steps fails the test"
)]

mod advised;
mod policies;
mod pool;
mod pure;
mod reading;
mod repairs;
mod restrained;
mod stored;
mod todos;
