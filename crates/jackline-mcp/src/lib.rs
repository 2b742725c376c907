//! Serves over MCP: everything an agent reaches through an MCP server gets the same guards as its host's own tools.
//!
//! [`proxy`] stands between any client and any server. It judges each `tools/call` by the runtime, and lets everything
//! else pass as it is. Nothing of this crate is touched by a hook.
//!
//! This crate knows no command line, reads no environment and prints nothing: it is handed the streams it speaks on.

pub mod proxy;
