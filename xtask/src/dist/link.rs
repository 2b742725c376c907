//! The linker of the distribution build: a copy of this chore, started by the compiler in the linker's place.
//!
//! It links twice. The first program has names, and an agent's day is played to it; of the second one, what ran lies together.
//! So what lies together is what this very build runs, whatever the compiler joined into what. The linking itself is left to
//! the linker that cargo would have used.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::layout;
use crate::order::{self, Runs};
use crate::shell::{cargo, root};

/// The variable by which the chore that builds tells the one that links what it is there for, and by which linker.
const ASKED: &str = "JACKLINE_XTASK_LINKS";
/// The program that links where nothing else is said.
const USUAL: &str = "cc";
/// What the program is called, before a hash; whatever else is linked is only tried out.
const PROGRAM: &str = "jackline-";
/// How the compiler calls the one object that all code is in.
const OBJECT: &str = ".rcgu.o";
/// What the program begins with.
const START: &str = include_str!("start.s");
/// Options of the first link that would take names away.
const STRIPPING: [&str; 2] = ["-Wl,--strip-all", "-Wl,--strip-debug"];
/// The option that gives a script, whose path is a word of its own: a comma would end it in an option for the linker alone.
const SCRIPT: &str = "-T";
/// The option for where the program begins: in `start.s`.
const ENTRY: &str = "-Wl,--entry=jackline_start";

/// The program that links, called as a C compiler is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Linker(OsString);

impl Linker {
    /// The one that cargo is configured with for a target, by a variable or a file.
    pub(super) fn configured(target: &str) -> Self {
        let variable = format!("CARGO_TARGET_{}_LINKER", target.to_uppercase().replace('-', "_"));
        let named = std::env::var_os(variable).filter(|linker| !linker.is_empty());
        let named = named.map(|linker| seen_from(&root(), linker)).or_else(|| in_file(target));
        Self(named.unwrap_or_else(|| USUAL.into()))
    }

    #[cfg(test)]
    pub(super) fn of(program: &str) -> Self {
        Self(program.into())
    }

    /// The one to link by, where the compiler has started this process to link.
    pub(crate) fn asked() -> Option<Self> {
        std::env::var_os(ASKED).map(Self)
    }

    /// Has a build link by a copy of this chore.
    pub(super) fn used(&self, build: &mut Command, chore: &Path) -> Result<String, String> {
        build.env(ASKED, &self.0);
        let chore = chore.to_str().ok_or_else(|| format!("cargo takes no such path: `{}`", chore.display()))?;
        Ok(format!("-Clinker={chore}"))
    }

    /// Links as the compiler says.
    pub(crate) fn run(&self, words: &[OsString]) -> Result<(), String> {
        match program(words) {
            Some(output) => self.learned(words, &output),
            None => self.link(words),
        }
    }

    /// Links, plays, and links again.
    fn learned(&self, words: &[OsString], output: &Path) -> Result<(), String> {
        // Nothing is played where there is nothing to weigh afterwards.
        object(words)?;
        let named = output.with_extension("named");
        self.link(&first(words, output, &named))?;
        self.lay_out(words, output, order::played(&named)?)
    }

    /// Links so that what ran lies together.
    pub(super) fn lay_out(&self, words: &[OsString], output: &Path, runs: Runs) -> Result<(), String> {
        let object = object(words)?;
        let [script, start] = ["ld", "start.s"].map(|kind| output.with_extension(kind));
        let broken = |fault| format!("`{}` cannot be read: {fault}", object.display());
        write(&script, &layout::script(&std::fs::read(object).map_err(broken)?, runs)?)?;
        write(&start, START)?;
        self.link(&second(words, &start, &script))
    }

    pub(super) fn link(&self, words: &[OsString]) -> Result<(), String> {
        let status = Command::new(&self.0).args(words).env_remove(ASKED).status();
        match status.map_err(|fault| format!("{self} could not be started: {fault}"))? {
            status if status.success() => Ok(()),
            status => Err(format!("{self} failed: {status}")),
        }
    }
}

impl fmt::Display for Linker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}`", self.0.display())
    }
}

/// What cargo's files say of a target by its name, as far as it can be asked: a later one may no longer answer in this way, and
/// then only the variable counts. It tells a value and the file that it is from; a path is seen from what holds that file's
/// directory.
fn in_file(target: &str) -> Option<OsString> {
    let mut asked = cargo(&["-Zunstable-options", "config", "get", "--show-origin"]);
    let said = asked.arg(format!("target.{target}.linker")).env("RUSTC_BOOTSTRAP", "1").output().ok()?;
    told(&String::from_utf8(said.stdout).ok()?)
}

fn told(said: &str) -> Option<OsString> {
    let (_, value) = said.split_once(" = \"")?;
    let (linker, file) = value.trim_end().split_once("\" # ")?;
    Some(seen_from(Path::new(file).ancestors().nth(2)?, linker.into()))
}

/// A name alone is looked for among the system's programs, and only a path is seen from somewhere.
fn seen_from(base: &Path, linker: OsString) -> OsString {
    if linker.as_encoded_bytes().contains(&b'/') { base.join(linker).into() } else { linker }
}

/// The program that is linked, unless it is only something that is tried out.
fn program(words: &[OsString]) -> Option<PathBuf> {
    let output = words.iter().position(|word| word == "-o").and_then(|at| words.get(at + 1)).map(PathBuf::from)?;
    output.file_name().is_some_and(|name| begins(name, PROGRAM)).then_some(output)
}

/// The one object that all code is in. Of several, each would be weighed by itself, and what is in none weighs nothing.
fn object(words: &[OsString]) -> Result<&Path, String> {
    let objects: Vec<_> = words.iter().filter(|word| word.as_encoded_bytes().ends_with(OBJECT.as_bytes())).collect();
    match *objects.as_slice() {
        [object] => Ok(Path::new(object)),
        [] => Err("the compiler names no object of its own".to_owned()),
        ref many => Err(format!("the compiler left the code in {} objects instead of one", many.len())),
    }
}

/// The words of the link whose program has names, and a place of its own.
fn first(words: &[OsString], output: &Path, named: &Path) -> Vec<OsString> {
    let is_kept = |word: &OsString| !STRIPPING.iter().any(|without| begins(word, without));
    let moved = |word: OsString| if Path::new(&word) == output { text(named) } else { word };
    without_script(words).filter(is_kept).map(moved).collect()
}

/// The words of the link that lays out.
fn second(words: &[OsString], start: &Path, script: &Path) -> Vec<OsString> {
    without_script(words).chain([text(start), ENTRY.into(), SCRIPT.into(), text(script)]).collect()
}

/// All words but those that lay code out by an older list.
fn without_script(words: &[OsString]) -> impl Iterator<Item = OsString> {
    let before = std::iter::once(None).chain(words.iter().map(Some));
    let pairs = before.zip(words).filter(|(before, word)| *word != SCRIPT && before.is_none_or(|word| word != SCRIPT));
    pairs.map(|(_, word)| word.clone())
}

fn begins(word: &OsStr, with: &str) -> bool {
    word.as_encoded_bytes().starts_with(with.as_bytes())
}

fn write(file: &Path, content: &str) -> Result<(), String> {
    std::fs::write(file, content).map_err(|fault| format!("`{}` cannot be written: {fault}", file.display()))
}

pub(super) fn text(path: &Path) -> OsString {
    path.as_os_str().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words<const N: usize>(words: [&str; N]) -> Vec<OsString> {
        words.map(OsString::from).into()
    }

    fn fault<const N: usize>(given: [&str; N]) -> String {
        Linker::of("true").run(&words(given)).unwrap_err()
    }

    #[test]
    fn the_first_program_has_names_and_the_second_one_script() {
        let given = words(["-static", "-T", "old,1.ld", "a.rcgu.o", "-o", "x/jackline-1", "-Wl,--strip-all"]);
        let named = first(&given, Path::new("x/jackline-1"), Path::new("x/jackline-1.named"));
        assert_eq!(named, ["-static", "a.rcgu.o", "-o", "x/jackline-1.named"]);
        let laid_out = second(&given, Path::new("x.s"), Path::new("x.ld"));
        let kept = ["-static", "a.rcgu.o", "-o", "x/jackline-1", "-Wl,--strip-all"];
        assert_eq!(laid_out, [&kept[..], &["x.s", "-Wl,--entry=jackline_start", "-T", "x.ld"]].concat());
    }

    #[test]
    fn the_program_is_laid_out_and_whatever_else_is_linked_is_only_linked() {
        assert_eq!(program(&words(["a.o", "-o", "deps/jackline-1"])), Some("deps/jackline-1".into()));
        for other in [&["-o", "out/trial"][..], &["-o", "jackline-1/trial"], &["jackline-1"], &["a.o", "-o"]] {
            assert_eq!(program(&other.iter().map(Into::into).collect::<Vec<_>>()), None, "{other:?}");
        }
        let linker = Linker::of("true");
        assert_eq!(linker.run(&words(["a.o", "-o", "trial"])), Ok(()));
        assert_eq!(Linker::of("false").run(&words(["-o", "trial"])), Err("`false` failed: exit status: 1".to_owned()));
    }

    #[test]
    fn a_program_without_one_object_is_not_linked() {
        assert_eq!(fault(["-o", "jackline-1"]), "the compiler names no object of its own");
        let two = fault(["a.rcgu.o", "b.rcgu.o", "-o", "jackline-1"]);
        assert_eq!(two, "the compiler left the code in 2 objects instead of one");
    }

    #[test]
    fn cargo_tells_a_linker_with_the_file_that_names_it() {
        let linker = |said: &str| told(said).map(|linker| linker.into_string().unwrap());
        let file = "/w/.cargo/config.toml";
        assert_eq!(linker(&format!("target.t.linker = \"clang\" # {file}\n")).as_deref(), Some("clang"));
        assert_eq!(linker(&format!("target.t.linker = \"tools/ld\" # {file}\n")).as_deref(), Some("/w/tools/ld"));
        assert_eq!(linker(&format!("target.t.linker = \"/bin/ld\" # {file}\n")).as_deref(), Some("/bin/ld"));
        assert_eq!(linker(""), None);
    }
}
