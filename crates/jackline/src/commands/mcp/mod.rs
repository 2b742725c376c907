//! `jackline mcp`: what an agent reaches through MCP servers gets the same guards as its host's own tools.

mod proxy;
mod wrap;

use std::process::ExitCode;

use crate::error::CommandError;

/// What to do about MCP servers.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Mcp {
    Proxy(Box<proxy::Proxy>),
    Wrap(wrap::Wrap),
}

impl Mcp {
    pub(crate) fn run(&self) -> Result<ExitCode, CommandError> {
        match self {
            Self::Proxy(command) => command.run(),
            Self::Wrap(command) => command.run().map(|()| ExitCode::SUCCESS),
        }
    }
}
