//! File policies: what must change together, and commands that keep order.
//!
//! A [`policy`] is a file with front matter. Its [`pattern`]s are held against the files that changed since its
//! baseline (`matcher`), expected files are made of what they captured (`resolver`), and so the [`detector`] tells which
//! policies fire. The [`evaluator`] holds that against what a session remembers (`memory`) and says what is outstanding;
//! what becomes of it stands in the [`queue`], for people. [`text`] is what an agent is shown, [`promise`] what it may
//! answer. Nothing here looks at a file: what changed, and what came of commands, the runtime tells ([`seen`]).

pub mod command;
pub mod detector;
pub mod evaluator;
mod matcher;
pub mod memory;
pub mod pattern;
pub mod policy;
pub mod promise;
pub mod queue;
mod resolver;
pub mod seen;
pub mod settings;
pub mod text;

pub use memory::Remembered;

/// The guard's name in findings and records.
pub const GUARD: &str = "files";
