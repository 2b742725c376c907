//! The `jackline` program: serves the runtime through commands.
//!
//! This crate is the only one that reads the environment, knows the command line and prints.

mod bounded;
mod commands;
mod deadline;
mod diff;
mod error;
mod exceptions;
mod hook;
mod hosts;
mod interrupt;
mod paint;
mod person;
mod place;
mod replace;
mod screen;
mod starter;
mod timeline;
mod tour;

use std::process::ExitCode;

use clap::Parser as _;

use commands::Command;

/// Guardrails for AI agents: decide, keep, prove.
#[derive(Debug, clap::Parser)]
#[command(name = "jackline", version, about, long_about = None, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    if words.next().is_some_and(|word| word == "hook")
        && let Some(options) = hook::Options::plain(words)
    {
        return hook::run(&options);
    }
    match Arguments::parse().command.run() {
        Ok(code) => code,
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            error.show();
            error.exit_code()
        }
    }
}
