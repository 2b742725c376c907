//! The audit log: one hash-linked record per entry, one chain per session.
//!
//! [`Record`] writes, [`Verifier`] reads; the two share the format and no code, so a mistake in one shows in the
//! other. Nothing here knows where a log is kept.

mod checkpoint;
mod clip;
mod record;
mod verify;

pub use checkpoint::{CHECKPOINT_BYTES_MAX, Checkpoint, CheckpointFault};
pub use clip::{ARGUMENT_BYTES_MAX, CLIP_DEPTH_MAX, HEAD_BYTES_MAX, STRING_BYTES_MAX, clip, head};
pub use record::{Actor, Record};
pub use verify::{
    Broken, Chain, Format, RECORD_DEPTH_MAX, Retired, SEQ_MAX, SESSION_BYTES_MAX, SESSIONS_MAX, Said, Summary,
    Verifier, verify,
};
