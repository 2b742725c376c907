//! `cargo xtask dist`: the program as it is handed out for Linux: one static file that the kernel starts without a
//! loader and without anything to relocate, laid out by a profile of an agent's day. Why that matters:
//! docs/internals/speed.md.

mod profile;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::elf;
use crate::shell::{cargo, say, step};

/// Static, and at a fixed address: a position-independent program is relocated anew at each of its starts. The names are as
/// in `.cargo/config.toml`, which does not count where flags are given. Code and constants are mapped together: each piece that is
/// mapped by itself costs as much as four pages.
const FLAGS: [&str; 4] = [
    "-Ctarget-feature=+crt-static",
    "-Crelocation-model=static",
    "-Csymbol-mangling-version=v0",
    "-Clink-arg=-Wl,-z,noseparate-code",
];
/// What keeps flags apart.
const BETWEEN_FLAGS: &str = "\x1f";

/// The section that `build.rs` has the linker put the hook's functions into.
const TOGETHER: &[u8] = b"\0.text.hook\0";

/// Builds, looks at what was built, and puts it in its place.
pub(crate) fn run() -> Result<(), String> {
    let built = build("release")?;
    let bytes = fs::read(&built).map_err(|fault| format!("`{}` cannot be read: {fault}", built.display()))?;
    elf::check(&bytes)?;
    if !bytes.windows(TOGETHER.len()).any(|window| window == TOGETHER) {
        return Err("the hook's code does not lie together: the linker took no script".to_owned());
    }
    let handed = handed_out(&target_directory()?, &bytes)?;
    let mebibytes = bytes.len() as f64 / f64::from(1 << 20);
    say(&format!("{} ({mebibytes:.1} MiB, static, no relocations)", handed.display()));
    Ok(())
}

/// Builds with one of cargo's profiles, by a profile that is recorded for it, and says where the program is.
pub(crate) fn build(profile: &str) -> Result<PathBuf, String> {
    let recorded = profile::record()?;
    build_with("static build", profile, &target_directory()?, &profile::used(&recorded))
}

/// Builds a static program with further flags.
fn build_with(step_name: &str, profile: &str, directory: &Path, further: &[String]) -> Result<PathBuf, String> {
    let target = target()?;
    installed(&target)?;
    let mut build = cargo(&["build", "--profile", profile, "--locked", "-p", "jackline", "--target", &target]);
    build.arg("--target-dir").arg(directory);
    let flags: Vec<&str> = FLAGS.into_iter().chain(further.iter().map(String::as_str)).collect();
    // With a target named, build scripts and procedural macros, which run here, are built as ever.
    build.env("CARGO_ENCODED_RUSTFLAGS", flags.join(BETWEEN_FLAGS)).env_remove("RUSTFLAGS");
    c_compiler(&mut build, &target);
    step(step_name, &mut build)?;
    Ok(directory.join(&target).join(profile).join("jackline"))
}

/// Builds as everyone does, with one of cargo's profiles, and says where the program is.
pub(crate) fn build_plain(profile: &str) -> Result<PathBuf, String> {
    let directory = target_directory()?;
    let mut build = cargo(&["build", "--profile", profile, "--locked", "-p", "jackline", "--target-dir"]);
    step("plain build", build.arg(&directory))?;
    Ok(directory.join(profile).join("jackline"))
}

/// The C in it (cryptography for HTTPS) calls nothing of the C library but what every one has, so this machine's own
/// compiler will do; unless someone names another, it would look for one that few machines have. What hardened compilers
/// add by themselves is left out: it calls functions that only their own C library has.
fn c_compiler(build: &mut Command, target: &str) {
    let under = target.replace('-', "_");
    for (name, value) in [(format!("CC_{under}"), "cc"), (format!("CFLAGS_{under}"), "-U_FORTIFY_SOURCE")] {
        if std::env::var_os(&name).is_none() {
            build.env(name, value);
        }
    }
}

/// This machine's target with static linking.
fn target() -> Result<String, String> {
    if cfg!(target_os = "linux") {
        return Ok(format!("{}-unknown-linux-musl", std::env::consts::ARCH));
    }
    Err("the distribution build is made on Linux; elsewhere `cargo build --release` is what there is".to_owned())
}

/// Makes sure that the target's standard library is there, fetching it where rustup can.
fn installed(target: &str) -> Result<(), String> {
    if has(target) {
        return Ok(());
    }
    say(&format!("== {target} is missing; asking rustup for it"));
    let fetched = Command::new("rustup").args(["target", "add", target]).status().is_ok_and(|status| status.success());
    if fetched && has(target) {
        return Ok(());
    }
    Err(format!("{target} is missing: install it with `rustup target add {target}`, or from your distribution"))
}

fn has(target: &str) -> bool {
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let asked = Command::new(compiler).args(["--print", "target-libdir", "--target", target]).output();
    let said = asked.ok().filter(|said| said.status.success()).and_then(|said| String::from_utf8(said.stdout).ok());
    let library = said.and_then(|said| fs::read_dir(said.trim()).ok());
    library.is_some_and(|mut entries| entries.any(|entry| entry.is_ok_and(|entry| is_standard(&entry.path()))))
}

fn is_standard(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("libstd-"))
}

/// Where cargo puts what it builds: it has put this chore there.
fn target_directory() -> Result<PathBuf, String> {
    let chore = std::env::current_exe().map_err(|fault| format!("this program does not know its place: {fault}"))?;
    let directory = chore.ancestors().nth(2).map(Path::to_owned);
    directory.ok_or_else(|| format!("`{}` does not lie where cargo builds", chore.display()))
}

/// Written by a single call: the system keeps a file in pieces as large as those it was written in, and maps them so.
fn handed_out(directory: &Path, bytes: &[u8]) -> Result<PathBuf, String> {
    let place = directory.join("dist");
    let file = place.join("jackline");
    let broken = |fault| format!("`{}` cannot be written: {fault}", file.display());
    fs::create_dir_all(&place).map_err(broken)?;
    // Written beside and renamed: a program that runs cannot be written to.
    let beside = place.join("jackline.new");
    let written =
        fs::write(&beside, bytes).and_then(|()| fs::set_permissions(&beside, fs::Permissions::from_mode(0o755)));
    written.and_then(|()| fs::rename(&beside, &file)).map_err(broken)?;
    Ok(file)
}
