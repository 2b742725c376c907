//! The real binary under what breaks programs: `kill -9`, crowds, torn and lost files, full disks, hostile input.
//!
//! What was answered must be kept, what could not be kept must be a refusal, and nothing may hang or grow.

mod crowd;
mod damage;
mod hostile;
mod kills;
mod seeded;
mod unusable;
mod world;
