//! The project's own chores: `cargo xtask test`, `cargo xtask hosts`, `cargo xtask ack`, `cargo xtask bench`,
//! `cargo xtask dist`, `cargo xtask order`.
//!
//! Each chore says what it does, stops at the first thing that is wrong, and exits with 1 then.

mod ack;
mod bench;
mod dist;
mod elf;
mod hosts;
mod order;
mod play;
mod shell;
mod test;

use std::borrow::Cow;
use std::ffi::OsString;
use std::process::ExitCode;

use shell::say;

const USAGE: &str = "\
usage: cargo xtask <chore>

  test                  everything a change must pass: format, lints, documentation, tests, the embedder's example
  hosts                 fetch the programs that the end-to-end tests drive (needs npm); `test` does it by itself
  ack [--host H] [--scenario S] [--keep]
                        play every conformance scenario, or one, on every real host, or on one; `--keep` keeps what is
                        measured
  bench [hook|eval|decide|files|mcp|workflow] [--quick]
                        measure, comparing side by side in one run; without a name: all
  dist                  build the program as it is handed out for Linux: static, at a fixed address, by a recorded profile
  order [PROGRAM…]      find anew which functions the hook runs, for the linker of the plain release, by a build made for it or by
                        programs that were built with names";

fn main() -> ExitCode {
    // A linker's words are paths, which need not be text.
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    match dist::link::Linker::asked() {
        Some(linker) => ended(linker.run(&words)),
        None => chore(&words),
    }
}

fn chore(words: &[OsString]) -> ExitCode {
    let words: Vec<Cow<'_, str>> = words.iter().map(|word| word.to_string_lossy()).collect();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    let outcome = match words.as_slice() {
        ["test"] => test::run(),
        ["hosts"] => hosts::run(),
        ["ack", options @ ..] => ack::run(options),
        ["bench", options @ ..] => bench::run(options),
        ["dist"] => dist::run(),
        ["order", programs @ ..] => order::run(programs),
        ["help" | "--help" | "-h"] => {
            say(USAGE);
            Ok(())
        }
        _ => {
            shell::complain(USAGE);
            return ExitCode::from(2);
        }
    };
    ended(outcome)
}

fn ended(outcome: Result<(), String>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            shell::complain(&format!("error: {why}"));
            ExitCode::FAILURE
        }
    }
}
