//! Multi-agent workflows: what their files say, and whether they keep the rules.
//!
//! [`python`] reads the Python of agents and tools as far as rules ask about it. [`graph`] draws a graph of agents.
//! [`gates`] judges whether a run is complete, [`loop_control`] what becomes of a manager's decisions.
//!
//! Nothing of this crate is touched by a hook. It knows no command line, reads no environment and prints nothing.

pub mod gates;
pub mod graph;
pub mod loop_control;
pub mod python;
