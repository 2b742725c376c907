//! Workflows of agents: read with places, held against their rules, drawn.
//!
//! A *workflow* is a directory: `workflow.awp.yaml` (its [`manifest`]), one `agents/<id>/agent.awp.yaml` per [`agent`],
//! and Python files that register tools. [`load`] reads all of them into a [`Workflow`], whatever is wrong with it.
//! [`rules`] is the one table of rules R1–R32: each is a small function that looks at the workflow and names what breaks
//! it. [`validate`] asks all of them and gives a [`Report`] with every finding of every file; [`report`] shows it to
//! people, to programs and to code hosts, and [`picture`] as a [`graph`]. [`python`] reads Python as far as rules ask.
//!
//! [`mod@run`] carries one out: agents are asked, [`gates`] judge whether it is complete, [`loop_control`] what becomes of a
//! manager's decisions, and [`expression`]s are its conditions.
//!
//! Whoever can be asked is asked through [`ask`](mod@ask): [`model`]s behind HTTP, or commands. [`judge`], [`critique`] and
//! [`evaluation`] look at answers; [`account`] tells what became of a run.
//!
//! This crate knows no command line, reads no environment and prints nothing. Nothing of it is touched by a hook.

pub mod account;
pub mod agent;
pub mod ask;
mod contract;
pub mod critique;
mod dag;
pub mod effect;
pub mod evaluation;
pub mod expression;
mod file;
mod finding;
pub mod gates;
pub mod graph;
mod inner;
pub mod judge;
mod load;
pub mod loop_control;
pub mod manifest;
pub mod model;
mod picture;
pub mod python;
mod read;
pub mod report;
pub mod respondent;
pub mod rules;
pub mod run;
mod semver;
mod shape;
pub mod starter;
mod template;
mod tools;
mod visible;
mod within;
pub mod work;

pub use contract::{Contract, Field};
pub use dag::Dag;
pub use file::File;
pub use finding::{Finding, Level, Report};
pub use load::{AGENT_FILE, Absent, MANIFEST_FILE, Workflow, load};
pub use picture::picture;
pub use rules::{RULES, Rule, validate};
pub use shape::{agent_schema, workflow_schema};
pub use tools::ToolSource;
pub use visible::json_line;
