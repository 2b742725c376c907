//! How the program is linked on Linux with glibc: at a fixed address, and with the unwinder in it.
//!
//! A position-independent program is relocated anew at each start, which grows with all that is linked into it; and
//! the unwinder's library alone takes a tenth of an empty program's time to load. Measured in docs/internals/speed.md.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let is_static = target("FEATURE").split(',').any(|feature| feature == "crt-static");
    if target("OS") != "linux" || target("ENV") != "gnu" || is_static {
        return;
    }
    println!("cargo:rustc-link-arg-bins=-no-pie");
    // Its form as an archive comes with gcc. Where another compiler links, the library is loaded as ever.
    if let Some(directory) = unwinder() {
        println!("cargo:rustc-link-search=native={}", directory.display());
        println!("cargo:rustc-link-lib=static=gcc_eh");
    }
}

/// The directory of this machine's unwinder as an archive; a program for another machine needs another one.
fn unwinder() -> Option<PathBuf> {
    let named = |name| std::env::var(name).ok();
    named("HOST").filter(|host| Some(host) == named("TARGET").as_ref())?;
    let linker = named("RUSTC_LINKER").unwrap_or_else(|| "cc".to_owned());
    let said = Command::new(linker).arg("-print-file-name=libgcc_eh.a").output().ok()?;
    let path = PathBuf::from(String::from_utf8(said.stdout).ok()?.trim());
    path.is_absolute().then(|| path.parent().map(Path::to_owned)).flatten()
}
