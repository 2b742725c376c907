//! The commands, one file each.

mod allow;
mod audit;
mod check;
mod doctor;
mod eval;
mod explain;
mod fact;
mod hook;
mod init;
mod listing;
mod log;
mod mcp;
mod off;
mod on;
mod pack;
mod policy;
mod schema;
pub(crate) mod session;
pub(crate) mod sessions;
mod status;
mod store;
mod test;
mod todo;
mod tour;
mod trust;
mod uninit;
mod workflow;

use std::process::ExitCode;

use crate::error::CommandError;

/// What to do.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Tour(tour::Tour),
    Init(init::Init),
    Uninit(uninit::Uninit),
    Doctor(doctor::Doctor),
    Hook(hook::Hook),
    Eval(eval::Eval),
    Check(check::Check),
    Test(test::Test),
    Schema(schema::Schema),
    Trust(trust::Trust),
    Allow(allow::Allow),
    Off(off::Off),
    On(on::On),
    Status(status::Status),
    /// Verify, export and sign the audit log
    #[command(subcommand)]
    Audit(audit::Audit),
    #[command(subcommand)]
    Session(session::Session),
    Sessions(sessions::Sessions),
    Log(log::Log),
    Explain(explain::Explain),
    /// Retire what the store need not keep
    #[command(subcommand)]
    Store(store::Store),
    /// Guard MCP servers, or be one: behind a proxy, in a host's settings, or with tools of our own
    #[command(subcommand)]
    Mcp(mcp::Mcp),
    #[command(subcommand)]
    Todo(todo::Todo),
    #[command(subcommand)]
    Fact(fact::Fact),
    /// Show the packs that a definition can use
    #[command(subcommand)]
    Pack(pack::Pack),
    #[command(subcommand)]
    Policy(policy::Policy),
    /// Check, explain, draw and begin workflows of agents
    #[command(subcommand)]
    Workflow(workflow::Workflow),
}

impl Command {
    pub(crate) fn run(&self) -> Result<ExitCode, CommandError> {
        let done = match self {
            Self::Tour(command) => command.run(),
            Self::Hook(command) => return Ok(command.run()),
            Self::Mcp(command) => return command.run(),
            Self::Policy(command) => return command.run(),
            Self::Init(command) => command.run(),
            Self::Uninit(command) => command.run(),
            Self::Doctor(command) => command.run(),
            Self::Eval(command) => command.run(),
            Self::Check(command) => command.run(),
            Self::Test(command) => command.run(),
            Self::Schema(command) => command.run(),
            Self::Trust(command) => command.run(),
            Self::Allow(command) => command.run(),
            Self::Off(command) => command.run(),
            Self::On(command) => command.run(),
            Self::Status(command) => command.run(),
            Self::Audit(command) => command.run(),
            Self::Session(command) => command.run(),
            Self::Sessions(command) => command.run(),
            Self::Log(command) => command.run(),
            Self::Explain(command) => command.run(),
            Self::Store(command) => command.run(),
            Self::Todo(command) => command.run(),
            Self::Fact(command) => command.run(),
            Self::Pack(command) => command.run(),
            Self::Workflow(command) => command.run(),
        };
        done.map(|()| ExitCode::SUCCESS)
    }
}

/// How a list is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Format {
    #[default]
    Human,
    Json,
}

#[cfg(test)]
mod tests {
    use clap::Subcommand as _;

    use super::*;

    #[test]
    fn the_guard_knows_every_command() {
        let all = Command::augment_subcommands(clap::Command::new("jackline"));
        let known = |command: &clap::Command| jackline_core::is_known_command(command.get_name());
        let unknown: Vec<&str> = all.get_subcommands().filter(|it| !known(it)).map(clap::Command::get_name).collect();
        assert!(unknown.is_empty(), "neither for people nor read-only: {unknown:?}");
    }
}
