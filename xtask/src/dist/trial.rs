//! Tries a linker out before anything is built: one that does not lay out as it is asked to is told of at once, and not
//! after all code was compiled twice.

use std::fs;
use std::path::Path;

use super::layout;
use super::link::{Linker, text};
use crate::order;

/// A program of which `often` runs.
const SOURCE: &str = include_str!("trial.s");
/// What every link of the distribution build has, besides its files.
pub(super) const WORDS: [&str; 4] = ["-nostdlib", "-static", "-no-pie", "-Wl,-z,noseparate-code"];

/// Whether a linker lays out, in a directory for it.
pub(super) fn run(linker: &Linker, directory: &Path) -> Result<(), String> {
    let program = laid_out(linker, &[], directory)?;
    match layout::large_page(&program) {
        Some(_) => Ok(()),
        None => Err(format!("{linker} links, but does not lay out as its script says: GNU's and LLVM's linkers do")),
    }
}

/// A program, linked as the distribution build's is, and with further words.
pub(super) fn laid_out(linker: &Linker, further: &[&str], directory: &Path) -> Result<Vec<u8>, String> {
    let broken = |fault| format!("`{}` cannot be written: {fault}", directory.display());
    let [source, object, output] = ["trial.s", "trial.rcgu.o", "trial"].map(|name| directory.join(name));
    fs::create_dir_all(directory).and_then(|()| fs::write(&source, SOURCE)).map_err(broken)?;
    linker.link(&["-c".into(), text(&source), "-o".into(), text(&object)])?;
    let words = WORDS.iter().chain(further).map(Into::into);
    let words = words.chain([text(&object), "-o".into(), text(&output)]);
    linker.lay_out(&words.collect::<Vec<_>>(), &output, order::runs_of(&[("often", 1)]))?;
    fs::read(&output).map_err(|fault| format!("`{}` cannot be read: {fault}", output.display()))
}
