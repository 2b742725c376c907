//! The linker of the distribution build: this chore, started by the compiler in the linker's place.
//!
//! It links twice. The first program has names, and an agent's day is played to it; of the second one, what ran lies together.
//! So what lies together is what this very build runs, whatever the compiler joined into what.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::layout;
use crate::order;

/// The variable by which the chore that builds tells the one that links what it is there for.
const ASKED: &str = "JACKLINE_XTASK_LINKS";
/// The program that links.
const LINKER: &str = "cc";
/// What the program is called, before a hash; whatever else is linked is only tried out.
const PROGRAM: &str = "jackline-";
/// How the compiler calls the one object that all code is in.
const OBJECT: &str = ".rcgu.o";
/// What the program begins with.
const START: &str = include_str!("start.s");
/// Options of the first link that would take names away, or lay code out by an older list.
const WITHOUT: [&str; 3] = ["-Wl,--strip-all", "-Wl,--strip-debug", SCRIPT];
/// The option that gives a script.
const SCRIPT: &str = "-Wl,-T,";
/// The option for where the program begins: in `start.s`.
const ENTRY: &str = "-Wl,--entry=jackline_start";

/// Has a build link by this chore.
pub(super) fn used(build: &mut Command) -> Result<String, String> {
    let chore = std::env::current_exe().map_err(|fault| format!("this program does not know its place: {fault}"))?;
    build.env(ASKED, "1");
    Ok(format!("-Clinker={}", chore.display()))
}

/// Whether the compiler has started this process to link.
pub(crate) fn is_asked() -> bool {
    std::env::var_os(ASKED).is_some()
}

/// Links as the compiler says.
pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let output = words.iter().position(|word| word == "-o").and_then(|at| words.get(at + 1)).map(PathBuf::from);
    let is_program = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PROGRAM));
    match output.filter(is_program) {
        Some(output) => learned(words, &output),
        None => link(words),
    }
}

/// Links, plays, and links again.
fn learned(words: &[String], output: &Path) -> Result<(), String> {
    let object = words.iter().find(|word| word.ends_with(OBJECT)).ok_or("the compiler names no object of its own")?;
    let [named, script, start] = ["named", "ld", "s"].map(|kind| output.with_extension(kind));
    link(&first(words, output, &named))?;
    let broken = |fault| format!("`{object}` cannot be read: {fault}");
    let laid_out = layout::script(&std::fs::read(object).map_err(broken)?, order::played(&named)?)?;
    write(&script, &laid_out)?;
    write(&start, START)?;
    link(&second(words, &start, &script))
}

/// The words of the link whose program has names, and a place of its own.
fn first(words: &[String], output: &Path, named: &Path) -> Vec<String> {
    let is_kept = |word: &&String| !WITHOUT.iter().any(|without| word.starts_with(without));
    let moved = |word: &String| if Path::new(word) == output { text(named) } else { word.clone() };
    words.iter().filter(is_kept).map(moved).collect()
}

/// The words of the link that lays out.
fn second(words: &[String], start: &Path, script: &Path) -> Vec<String> {
    let kept = words.iter().filter(|word| !word.starts_with(SCRIPT)).cloned();
    kept.chain([text(start), ENTRY.to_owned(), format!("{SCRIPT}{}", script.display())]).collect()
}

fn write(file: &Path, content: &str) -> Result<(), String> {
    std::fs::write(file, content).map_err(|fault| format!("`{}` cannot be written: {fault}", file.display()))
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn link(words: &[String]) -> Result<(), String> {
    let status = Command::new(LINKER).args(words).env_remove(ASKED).status();
    match status.map_err(|fault| format!("`{LINKER}` could not be started: {fault}"))? {
        status if status.success() => Ok(()),
        status => Err(format!("`{LINKER}` failed: {status}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_program_has_names_and_the_second_one_script() {
        let words =
            ["-static", "a.rcgu.o", "-o", "x/jackline-1", "-Wl,--strip-all", "-Wl,-T,old.ld"].map(str::to_owned);
        let named = first(&words, Path::new("x/jackline-1"), Path::new("x/jackline-1.named"));
        assert_eq!(named, ["-static", "a.rcgu.o", "-o", "x/jackline-1.named"]);
        let laid_out = second(&words, Path::new("x.s"), Path::new("x.ld"));
        let kept = ["-static", "a.rcgu.o", "-o", "x/jackline-1", "-Wl,--strip-all"];
        assert_eq!(laid_out, [&kept[..], &["x.s", "-Wl,--entry=jackline_start", "-Wl,-T,x.ld"]].concat());
    }

    #[test]
    fn a_program_without_one_object_is_not_linked() {
        let words = ["-o", "jackline-1"].map(str::to_owned);
        assert_eq!(run(&words), Err("the compiler names no object of its own".to_owned()));
    }
}
