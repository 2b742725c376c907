//! `cargo xtask dist`: the program as it is handed out for Linux: one static file that the kernel starts without a
//! loader and without anything to relocate, laid out by a profile of an agent's day. Why that matters:
//! docs/internals/speed.md.

mod layout;
pub(crate) mod link;
mod profile;
mod trial;

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use crate::shell::{cargo, say, step};
use crate::{elf, play};
use link::Linker;

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

/// Bytes of a piece that is not to be mapped by a large page: what the kernel maps around a page that is touched.
const SMALL_PIECE_BYTES: usize = 0x1_0000;

/// The section that the linker puts the hook's functions into.
const TOGETHER: &[u8] = b"\0.text.hook\0";

/// What begins the variables that would change how the release is compiled: as one object, which is laid out as a whole.
const RELEASE: &str = "CARGO_PROFILE_RELEASE_";

/// Builds, looks at what was built, and puts it in its place.
pub(crate) fn run() -> Result<(), String> {
    let directory = target_directory()?;
    let layout = Layout::best(&directory.join("linked"))?;
    let recorded = profile::record()?;
    let built = build_with("static build", &directory, &profile::used(&recorded), &layout)?;
    let bytes = fs::read(&built).map_err(|fault| format!("`{}` cannot be read: {fault}", built.display()))?;
    check(&bytes, &layout)?;
    let handed = handed_out(&directory, &bytes)?;
    let mebibytes = bytes.len() as f64 / f64::from(1 << 20);
    say(&format!("{} ({mebibytes:.1} MiB, static, no relocations)", handed.display()));
    Ok(())
}

/// Complains about a program that would start slower than this one may.
fn check(bytes: &[u8], layout: &Layout) -> Result<(), String> {
    elf::check(bytes)?;
    if !bytes.windows(TOGETHER.len()).any(|window| window == TOGETHER) {
        return Err("the hook's code does not lie together: the linker took no script".to_owned());
    }
    if *layout != Layout::Usual && layout::large_page(bytes).is_none() {
        return Err("the hook's code does not lie on large pages of its own".to_owned());
    }
    Ok(())
}

/// Whether a build is laid out by what it was seen to run, or as the compiler has it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Layout {
    /// By a copy of this chore as the linker, and by the program that links.
    Learned(PathBuf, Linker),
    Usual,
}

impl Layout {
    /// The best that can be had here: what runs is seen on one family of processors alone, and only where one process may
    /// look into another. Elsewhere the list in the repository serves, as in every build. What would go wrong only after all code
    /// was compiled twice goes wrong here.
    fn best(place: &Path) -> Result<Self, String> {
        play::place()?;
        if !cfg!(target_arch = "x86_64") {
            return Ok(Self::Usual);
        }
        if let Err(why) = play::can_watch() {
            say(&format!("== no process can be watched here, so the list in the repository serves: {why}"));
            return Ok(Self::Usual);
        }
        let linker = Linker::configured(&target()?);
        let tried = trial::run(&linker, &place.join("trial"));
        tried.map_err(|why| format!("a small program cannot be linked as the distribution build is: {why}"))?;
        Ok(Self::Learned(copied(place)?, linker))
    }
}

/// This very program, in a place where no other call of cargo's replaces it while it is still to link.
fn copied(place: &Path) -> Result<PathBuf, String> {
    let copy = place.join("linker");
    // One that links just now cannot be written to, but goes on when it is removed.
    let removed = fs::remove_file(&copy).or_else(|fault| match fault.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(fault),
    });
    let made = removed.and_then(|()| fs::create_dir_all(place)).and_then(|()| fs::copy("/proc/self/exe", &copy));
    made.map_err(|fault| format!("`{}` cannot be written: {fault}", copy.display()))?;
    Ok(copy)
}

/// Builds a static program with further flags, and says where it is.
fn build_with(step_name: &str, directory: &Path, further: &[String], layout: &Layout) -> Result<PathBuf, String> {
    let target = target()?;
    installed(&target)?;
    let mut build = cargo(&["build", "--release", "--locked", "-p", "jackline", "--target", &target]);
    build.arg("--target-dir").arg(directory);
    let mut flags: Vec<String> = FLAGS.into_iter().map(str::to_owned).chain(further.iter().cloned()).collect();
    if let Layout::Learned(chore, linker) = layout {
        flags.push(linker.used(&mut build, chore)?);
    }
    // With a target named, build scripts and procedural macros, which run here, are built as ever.
    build.env("CARGO_ENCODED_RUSTFLAGS", flags.join(BETWEEN_FLAGS)).env_remove("RUSTFLAGS");
    let names = std::env::vars_os().map(|(name, _)| name);
    names.filter(|name| name.as_encoded_bytes().starts_with(RELEASE.as_bytes())).for_each(|name| {
        build.env_remove(name);
    });
    c_compiler(&mut build, &target);
    step(step_name, &mut build)?;
    Ok(directory.join(&target).join("release/jackline"))
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

/// Puts the program in its place. The system keeps a file in pieces as large as those it was written in, and maps them so: what
/// lies on the large pages and all behind it is written by a single call, and what comes before it in small pieces, since a
/// large page counts as memory whole. Where nothing keeps large pages off the rest, all of it is written so.
fn handed_out(directory: &Path, bytes: &[u8]) -> Result<PathBuf, String> {
    let place = directory.join("dist");
    let file = place.join("jackline");
    let broken = |fault| format!("`{}` cannot be written: {fault}", file.display());
    fs::create_dir_all(&place).map_err(broken)?;
    // Written beside and renamed: a program that runs cannot be written to.
    let beside = place.join("jackline.new");
    written(&beside, bytes).and_then(|()| fs::rename(&beside, &file)).map_err(broken)?;
    Ok(file)
}

fn written(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let large = layout::large_page(bytes).and_then(|offset| usize::try_from(offset).ok());
    let (before, from) = large.and_then(|large| bytes.split_at_checked(large)).unwrap_or((bytes, &[]));
    let mut output = fs::File::create(file)?;
    before.chunks(SMALL_PIECE_BYTES).chain([from]).try_for_each(|piece| output.write_all(piece))?;
    output.set_permissions(fs::Permissions::from_mode(0o755))
}
