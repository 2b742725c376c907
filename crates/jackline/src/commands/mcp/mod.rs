//! `jackline mcp`: what an agent reaches through MCP servers gets the same guards as its host's own tools; and a server of
//! our own.

mod judging;
mod proxy;
mod serve;
mod wrap;

use std::process::ExitCode;

use crate::error::CommandError;

/// What to do about MCP servers.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Mcp {
    Proxy(Box<proxy::Proxy>),
    Serve(Box<serve::Serve>),
    Wrap(wrap::Wrap),
}

impl Mcp {
    pub(crate) fn run(&self) -> Result<ExitCode, CommandError> {
        match self {
            Self::Proxy(command) => command.run(),
            Self::Serve(command) => command.run(),
            Self::Wrap(command) => command.run().map(|()| ExitCode::SUCCESS),
        }
    }
}
