//! `cargo xtask test`: everything a change must pass, on any machine with a Rust toolchain and npm, without questions.

use std::process::{Command, Stdio};
use std::time::Instant;

use crate::hosts;
use crate::shell::{cargo, say, step};

/// Runs all steps, the quick ones first; the first that fails ends it.
pub(crate) fn run() -> Result<(), String> {
    let began = Instant::now();
    component("rustfmt", "fmt")?;
    component("clippy", "clippy")?;
    step("format", &mut cargo(&["fmt", "--all", "--", "--check"]))?;
    step("lints", &mut cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    let mut documentation = cargo(&["doc", "--workspace", "--no-deps"]);
    step("documentation", documentation.env("RUSTDOCFLAGS", "-D warnings"))?;
    hosts::run()?;
    step("tests", &mut cargo(&["test", "--workspace"]))?;
    step("embedder's example", &mut cargo(&["run", "--quiet", "-p", "jackline-runtime", "--example", "agent_loop"]))?;
    say(&format!("all fine, {:.0} s", began.elapsed().as_secs_f64()));
    Ok(())
}

/// Makes sure that a part of the toolchain is there, fetching it where rustup can.
fn component(name: &str, command: &str) -> Result<(), String> {
    if works(&mut cargo(&[command, "--version"])) {
        return Ok(());
    }
    say(&format!("== {name} is missing; asking rustup for it"));
    let fetched = works(Command::new("rustup").args(["component", "add", name]));
    if fetched && works(&mut cargo(&[command, "--version"])) {
        return Ok(());
    }
    Err(format!("{name} is missing: install it with `rustup component add {name}`, or from your distribution"))
}

fn works(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
