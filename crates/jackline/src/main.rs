//! The `jackline` program: serves the runtime through commands.
//!
//! This crate is the only one that reads the environment, knows the command line and prints. It begins in `entry`.

#![cfg_attr(not(test), no_main)]

mod ancestors;
mod arena;
mod bounded;
#[cfg(all(target_os = "linux", target_arch = "x86_64", any(target_env = "musl", test)))]
mod bytes;
mod cases;
mod commands;
mod deadline;
mod diff;
mod entry;
mod error;
mod exceptions;
mod hook;
mod hosts;
mod interrupt;
mod marks;
mod paint;
mod person;
mod place;
mod review;
mod screen;
mod starter;
mod timeline;
mod tour;
mod unload;
mod web;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser as _;

use commands::Command;

#[global_allocator]
static ALLOCATOR: arena::Arena = arena::Arena::new();

/// Guardrails for AI agents: decide, keep, prove.
#[derive(Debug, clap::Parser)]
#[command(name = "jackline", version, about, long_about = None, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

/// Serves one command line, the program's name included.
fn serve(words: &[OsString]) -> ExitCode {
    if let [_, first, rest @ ..] = words
        && first == "hook"
        && let Some(options) = hook::Options::plain(rest.iter().cloned())
    {
        return hook::run(&options);
    }
    match Arguments::parse_from(words).command.run() {
        Ok(code) => code,
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            error.show();
            error.exit_code()
        }
    }
}
