//! A profile for the distribution build: a build that counts how often each part of it runs is played an agent's day, and the
//! compiler then knows which parts to lay beside one another, and which ones never run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::play::Play;
use crate::shell::{clear, say, step};

/// What the counts of one program's runs are put into, together.
const COUNTS: &str = "%m.profraw";

/// Builds a program that counts, plays to it, and says where the profile is.
pub(super) fn record() -> Result<PathBuf, String> {
    let merge = tool()?;
    let directory = super::target_directory()?.join("recorded");
    let counts = directory.join("counts");
    clear(&counts).map_err(|fault| format!("`{}` cannot be removed: {fault}", counts.display()))?;
    let counting = ["-Cprofile-generate".to_owned()];
    let program = super::build_with("build that counts", &directory, &counting, &super::Layout::Usual)?;
    say("== an agent's day is played to it");
    let play = Play::recorded(&program, counts.join(COUNTS))?;
    play.events()?;
    play.proxy()?;
    play.commands()?;
    let profile = directory.join("profile");
    step("profile", Command::new(merge).arg("merge").arg("-o").arg(&profile).arg(&counts))?;
    Ok(profile)
}

/// The flags of a build by a profile. Blocks that never ran are put elsewhere than those that did, even once: a hook runs
/// most of what it runs only once.
pub(super) fn used(profile: &Path) -> Vec<String> {
    let options = ["-enable-split-machine-functions", "-mfs-psi-cutoff=0", "-mfs-count-threshold=1"];
    let options = options.map(|option| format!("-Cllvm-args={option}"));
    [format!("-Cprofile-use={}", profile.display())].into_iter().chain(options).collect()
}

/// The tool that sums counts up, which comes with the compiler, fetched where rustup can.
fn tool() -> Result<PathBuf, String> {
    if let Some(tool) = there() {
        return Ok(tool);
    }
    say("== llvm-tools is missing; asking rustup for it");
    // Whether that worked is seen by what is there then.
    drop(Command::new("rustup").args(["component", "add", "llvm-tools"]).status());
    there().ok_or_else(|| "llvm-tools is missing: install it with `rustup component add llvm-tools`".to_owned())
}

fn there() -> Option<PathBuf> {
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let said = Command::new(compiler).args(["--print", "target-libdir"]).stderr(Stdio::null()).output().ok()?;
    let libraries = PathBuf::from(String::from_utf8(said.stdout).ok()?.trim());
    Some(libraries.parent()?.join("bin/llvm-profdata")).filter(|tool| tool.is_file())
}
