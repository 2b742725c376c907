//! How the program is linked on Linux: what the hook runs lies together; with glibc at a fixed address, and with the C
//! library in it, or at least the unwinder.
//!
//! Code that is scattered over a large program costs a page fault per function. A position-independent program is
//! relocated anew at each start, which grows with all that is linked into it; and libraries that are loaded take most of an
//! empty program's time. Measured in docs/internals/speed.md.

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
    let is_static = target("FEATURE").split(',').any(|feature| feature == "crt-static");
    if named("PROFILE").as_deref() == Some("release") {
        lay_together();
    }
    if target("ENV") != "gnu" || is_static {
        return;
    }
    println!("cargo:rustc-link-arg-bins=-no-pie");
    if let Some(arguments) = c_library() {
        arguments.iter().for_each(|argument| println!("cargo:rustc-link-arg-bins={argument}"));
    } else if let Some(archive) = archive("gcc_eh") {
        // Without the C library's archive, the libraries are loaded as ever, but for the unwinder, which comes with gcc.
        println!("cargo:rustc-link-search=native={}", archive.parent().unwrap_or(&archive).display());
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
    // Two words: a comma in the path would end it in an option for the linker alone.
    let arguments = ["-T".to_owned(), script.display().to_string()];
    match written.and_then(|()| builds(EMPTY, &arguments.each_ref().map(String::as_str), &out)) {
        Ok(Some(_)) => arguments.iter().for_each(|argument| println!("cargo:rustc-link-arg-bins={argument}")),
        Ok(None) => {
            println!("cargo:warning=this linker takes no script: the hook's code stays scattered, it is slower")
        }
        Err(fault) => println!("cargo:warning=the hook's code stays scattered, it is slower: {fault}"),
    }
}

/// Sections of their own before all other code, in a form that both GNU's linker and LLVM's add to their own layout: what the
/// hook runs with its tables of jumps, and what a build by a profile splits off of it, which runs now and then all the same.
fn linker_script(order: &str) -> String {
    let lines = || order.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut script = "SECTIONS { .text.hook : {\n".to_owned();
    for name in lines() {
        let _ = match name.strip_prefix("file ") {
            // Some libraries have no section per function, but per file, which comes from an archive or by itself.
            Some(file) => writeln!(script, "*:{file}(.text .text.*) */{file}(.text)"),
            // What C has under two names is in a section of one; and the compiler marks what it takes for often or seldom run.
            None => writeln!(script, "*(.text.{name} .text.__{name} .text.hot.{name} .text.unlikely.{name})"),
        };
    }
    let functions = || lines().filter(|line| !line.starts_with("file "));
    functions().for_each(|name| script += &format!("*(.rodata.{name})\n"));
    script += "}\n.text.seldom : {\n";
    functions().for_each(|name| script += &format!("*(.text.split.{name})\n"));
    script + "} } INSERT BEFORE .text;\n"
}

/// What has the linker take the C library and the unwinder from archives, where such a program works here. The libraries
/// are asked for by rustc as those that are loaded, so scripts of their names stand where the linker looks first.
fn c_library() -> Option<Vec<String>> {
    let directory = PathBuf::from(named("OUT_DIR")?).join("archives");
    fs::create_dir_all(&directory).ok()?;
    let [unwinder, c, math] = ["gcc_eh", "c", "m"].map(archive);
    let (unwinder, c, math) = (unwinder?, c?, math?);
    for (library, archives) in [("gcc_s", vec![&unwinder]), ("c", vec![&c, &unwinder]), ("m", vec![&math])] {
        let names: String = archives.iter().map(|archive| format!(" \"{}\"", archive.display())).collect();
        fs::write(directory.join(format!("lib{library}.so")), format!("GROUP ({names} )\n")).ok()?;
    }
    let arguments = [format!("-L{}", directory.display()), "-static".to_owned()];
    let tried: Vec<&str> = ["-no-pie"].into_iter().chain(arguments.iter().map(String::as_str)).collect();
    let program = builds(TRIAL, &tried, &directory).ok()??;
    // What is loaded at run time all the same, to look names up, would come with a C library of its own.
    let works = Command::new(program).stderr(Stdio::null()).status().is_ok_and(|status| status.success());
    works.then(|| arguments.into())
}

/// A program that has nothing in it.
const EMPTY: &str = "fn main() {}\n";
/// A program that needs what a C library may be unable to do from an archive: threads, unwinding, looking up a name.
const TRIAL: &str = r#"
use std::net::ToSocketAddrs;
fn main() {
    assert!(std::thread::spawn(|| panic!("caught")).join().is_err());
    assert!("localhost:80".to_socket_addrs().is_ok());
    assert!(std::env::args_os().count() as f64 > 0.5f64.sin());
}
"#;

/// A program that is linked with these arguments, where that works: which linker is used is the user's choice, and not all
/// of them can.
fn builds(source: &str, arguments: &[&str], out: &Path) -> io::Result<Option<PathBuf>> {
    let (text, program) = (out.join("trial.rs"), out.join("trial"));
    fs::write(&text, source)?;
    let mut compiler = Command::new(named("RUSTC").unwrap_or_else(|| "rustc".to_owned()));
    compiler.arg(&text).arg("-o").arg(&program).args(["--target", &named("TARGET").unwrap_or_default()]);
    compiler.args(named("RUSTC_LINKER").map(|linker| format!("-Clinker={linker}")));
    let flags = named("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    compiler.args(flags.split('\x1f').filter(|flag| !flag.is_empty()));
    compiler.args(arguments.iter().map(|argument| format!("-Clink-arg={argument}")));
    let built = compiler.stdout(Stdio::null()).stderr(Stdio::null()).status()?.success();
    Ok(built.then_some(program))
}

/// This machine's archive of a library; a program for another machine needs another one.
fn archive(library: &str) -> Option<PathBuf> {
    named("HOST").filter(|host| Some(host) == named("TARGET").as_ref())?;
    let linker = named("RUSTC_LINKER").unwrap_or_else(|| "cc".to_owned());
    let said = Command::new(linker).arg(format!("-print-file-name=lib{library}.a")).output().ok()?;
    let path = PathBuf::from(String::from_utf8(said.stdout).ok()?.trim());
    path.is_absolute().then_some(path)
}
