//! Decides: the pure core of Jackline.
//!
//! An [`event`] is one thing a host told us. [`decide`](decide::decide) holds it against the definitions in force
//! (a [`stack`] of [`definition`]s) and what is remembered of the run (a [`session`]). It either asks for facts
//! ([`probe`]) or answers with a [`decision`]: a verdict, the findings behind it, and the changes that lead to the
//! next session. `guards` are the functions that find; [`audit`] is the form in which all of it is kept.
//!
//! This crate opens no file, reads no clock, starts no process, knows no environment and cannot fail: whatever
//! cannot be told becomes a finding that denies.

pub mod audit;
pub mod bounds;
pub mod briefing;
pub mod call;
pub mod calls;
pub mod catalogue;
pub mod code;
pub mod completion;
pub mod decide;
pub mod decision;
pub mod definition;
pub mod done;
pub mod event;
pub mod exception;
pub mod extension;
pub mod facts;
pub mod feedback;
pub mod files;
pub mod glob;
mod guards;
pub mod hosts;
mod index;
pub mod instructions;
pub mod json;
pub mod legible;
pub mod listing;
pub mod matcher;
pub mod nearest;
pub mod operation;
pub mod overlap;
pub mod overrides;
pub mod own_files;
pub mod packs;
mod patch;
pub mod path;
pub mod policy;
pub mod probe;
pub mod ran;
pub mod redact;
pub mod rego;
mod repair;
pub mod schema;
pub mod search;
pub mod session;
pub mod sha;
pub mod shell;
mod spelling;
pub mod stack;
mod tilde;
pub mod time;
pub mod todos;
pub mod tools;
pub mod usage;

pub use guards::budget::{Meter, meters};
pub use guards::self_protection::operator::is_known as is_known_command;
