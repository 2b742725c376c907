//! The real binary under what breaks programs: `kill -9`, crowds, torn and lost files, full disks, hostile input.
//!
//! What was answered must be kept, what could not be kept must be a refusal, and nothing may hang or grow.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what goes wrong in a test's own steps fails the test"
)]

mod crowd;
mod damage;
mod hostile;
mod kills;
mod seeded;
mod unusable;
mod world;
