//! How the program is linked on Linux: what the hook runs lies together; with glibc at a fixed address, and with the
//! unwinder in it.
//!
//! Code that is scattered over a large program costs a page fault per function. A position-independent program is
//! relocated anew at each start, which grows with all that is linked into it; and the unwinder's library alone takes a
//! tenth of an empty program's time to load. Measured in docs/internals/speed.md.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The functions that the hook runs, as `cargo xtask order` found them.
const ORDER: &str = "hook.order";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={ORDER}");
    let target = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    if target("OS") != "linux" {
        return;
    }
    if named("PROFILE").as_deref() == Some("release") {
        lay_together();
    }
    let is_static = target("FEATURE").split(',').any(|feature| feature == "crt-static");
    if target("ENV") != "gnu" || is_static {
        return;
    }
    println!("cargo:rustc-link-arg-bins=-no-pie");
    // Its form as an archive comes with gcc. Where another compiler links, the library is loaded as ever.
    if let Some(directory) = unwinder() {
        println!("cargo:rustc-link-search=native={}", directory.display());
        println!("cargo:rustc-link-lib=static=gcc_eh");
    }
}

fn named(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Has the linker put the hook's functions beside one another. A name that is no longer there does no harm.
fn lay_together() {
    let Some(out) = named("OUT_DIR").map(PathBuf::from) else { return };
    let script = out.join("hook.ld");
    let written = fs::read_to_string(ORDER).and_then(|order| fs::write(&script, linker_script(&order)));
    let argument = format!("-Wl,-T,{}", script.display());
    match written.and_then(|()| links_with(&argument, &out)) {
        Ok(true) => println!("cargo:rustc-link-arg-bins={argument}"),
        Ok(false) => {
            println!("cargo:warning=this linker takes no script: the hook's code stays scattered, it is slower")
        }
        Err(fault) => println!("cargo:warning=the hook's code stays scattered, it is slower: {fault}"),
    }
}

/// A section of its own before all other code, in a form that both GNU's linker and LLVM's add to their own layout.
fn linker_script(order: &str) -> String {
    let mut script = "SECTIONS { .text.hook : {\n".to_owned();
    for name in order.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        // Assembly has no section per function, but a file; and what C has under two names is in a section of one.
        let _ = match name.strip_prefix("file ") {
            Some(file) => writeln!(script, "*{file}(.text)"),
            None => writeln!(script, "*(.text.{name} .text.__{name})"),
        };
    }
    script + "} } INSERT BEFORE .text;\n"
}

/// Whether an empty program can be linked so: which linker is used is the user's choice, and not all of them can.
fn links_with(argument: &str, out: &Path) -> io::Result<bool> {
    let empty = out.join("empty.rs");
    fs::write(&empty, "fn main() {}\n")?;
    let mut compiler = Command::new(named("RUSTC").unwrap_or_else(|| "rustc".to_owned()));
    compiler.arg(&empty).arg("-o").arg(out.join("empty")).args(["--target", &named("TARGET").unwrap_or_default()]);
    compiler.args(named("RUSTC_LINKER").map(|linker| format!("-Clinker={linker}")));
    let flags = named("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    compiler.args(flags.split('\x1f').filter(|flag| !flag.is_empty())).arg(format!("-Clink-arg={argument}"));
    Ok(compiler.stdout(Stdio::null()).stderr(Stdio::null()).status()?.success())
}

/// The directory of this machine's unwinder as an archive; a program for another machine needs another one.
fn unwinder() -> Option<PathBuf> {
    named("HOST").filter(|host| Some(host) == named("TARGET").as_ref())?;
    let linker = named("RUSTC_LINKER").unwrap_or_else(|| "cc".to_owned());
    let said = Command::new(linker).arg("-print-file-name=libgcc_eh.a").output().ok()?;
    let path = PathBuf::from(String::from_utf8(said.stdout).ok()?.trim());
    path.is_absolute().then(|| path.parent().map(Path::to_owned)).flatten()
}
