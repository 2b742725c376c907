//! Serves over MCP: everything an agent reaches through an MCP server gets the same guards as its host's own tools.
//!
//! [`proxy`] stands between any client and any server. It judges each `tools/call` by the runtime, and lets everything
//! else pass as it is. [`serve`] is a server of our own: todos, facts and the workspace's files, for any agent. Nothing of
//! this crate is touched by a hook.
//!
//! This crate knows no command line, reads no environment and prints nothing: it is handed the streams it speaks on.

mod deep;
mod join;
mod message;
pub mod proxy;
mod reply;
mod scan;
pub mod serve;
