//! The programs that are compared: an empty one, `/bin/true`, a hook in Python, and the builds of ours.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What an empty program is called in the table.
pub(crate) const EMPTY: &str = "empty main";
/// The system's program that does nothing.
pub(crate) const TRUE: &str = "/bin/true";
/// What the hook in Python is called.
pub(crate) const PYTHON: &str = "Python hook";
/// Our builds: by `cargo build --release`, and by `cargo xtask dist`.
pub(crate) const PLAIN: &str = "plain release";
pub(crate) const DIST: &str = "distribution";

/// A program with the arguments it is started with.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) path: PathBuf,
    pub(crate) arguments: Vec<PathBuf>,
}

/// What ours are compared with.
pub(crate) fn others(scratch: &Path) -> Vec<Program> {
    let program = |name, path: PathBuf| Program { name, path, arguments: Vec::new() };
    let mut others = vec![program(EMPTY, empty(scratch)), program(TRUE, TRUE.into())];
    match python() {
        Some(path) => {
            let script = scratch.join("hook.py");
            fs::write(&script, include_str!("one_regex.py")).expect("written");
            others.push(Program { arguments: vec![script], ..program(PYTHON, path) });
        }
        None => println!("there is no python3 here: the hook in Python is not measured"),
    }
    others
}

/// Builds of ours, as far as they are there.
pub(crate) fn builds() -> Vec<Program> {
    let program = |name, path| Program { name, path, arguments: vec!["hook".into(), "claude".into()] };
    let mut builds = vec![program(PLAIN, PathBuf::from(env!("CARGO_BIN_EXE_jackline")))];
    let handed_out = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("dist").join("jackline");
    if handed_out.exists() {
        builds.push(program(DIST, handed_out));
    } else {
        println!("there is no distribution build: `cargo xtask dist` makes it");
    }
    builds
}

/// An empty `main`, built by cargo as anybody's first program is: outside of this repository and its settings.
fn empty(scratch: &Path) -> PathBuf {
    let place = scratch.join("empty");
    fs::create_dir_all(place.join("src")).expect("made");
    let manifest = "[package]\nname = \"empty\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n";
    fs::write(place.join("Cargo.toml"), manifest).expect("written");
    fs::write(place.join("src/main.rs"), "fn main() {}\n").expect("written");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--release", "--quiet", "--offline", "--target-dir", "target"]).current_dir(&place);
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_a_setting(&name.to_string_lossy())) {
        cargo.env_remove(name);
    }
    assert!(cargo.status().expect("cargo started").success(), "the empty program was built");
    place.join("target/release/empty")
}

/// Variables that would make an empty program another than cargo's defaults do.
fn is_a_setting(name: &str) -> bool {
    let cargo = ["CARGO_PROFILE_", "CARGO_BUILD_", "CARGO_TARGET_", "CARGO_ENCODED_", "CARGO_MANIFEST_", "CARGO_PKG_"];
    name == "RUSTFLAGS" || cargo.iter().any(|start| name.starts_with(start))
}

fn python() -> Option<PathBuf> {
    let ask = "import sys; print(sys.executable)";
    let said = Command::new("python3").args(["-c", ask]).stderr(Stdio::null()).output().ok()?;
    let path = String::from_utf8(said.stdout).ok()?;
    Some(PathBuf::from(path.trim())).filter(|path| path.is_absolute())
}
