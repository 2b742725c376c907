//! `cargo xtask order`: finds the functions that the hook and the MCP proxy run, for the linker to put them beside one
//! another.
//!
//! It plays common events and calls to builds with names under valgrind and writes down every function that took part. The
//! list is kept in the repository, so that nobody who only builds needs valgrind. It ages without harm: a function that is
//! not on it lies with all others. Both builds are played to, because what is joined into what differs between them.

mod hook;
mod proxy;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::dist;
use crate::shell::{root, say};

/// What stands above the list.
const HEAD: &str = "# The functions that `jackline hook` and then `jackline mcp proxy` run, for build.rs; found by `cargo xtask order`.\n";
/// What begins a crate's name, with a hash that differs from compiler to compiler, so it is left open.
const CRATE: &str = "Cs";
/// What valgrind does not know by name: the program's beginning, and functions of the C library that are written in
/// assembly, which have a file rather than a section of their own.
const UNNAMED: &[&str] = &["file crt1.o", "__libc_start_main", "file memcpy.lo", "file memmove.lo", "file memset.lo"];

/// How many events ran a function.
type Times = BTreeMap<String, usize>;

/// Builds, plays, and writes the list.
pub(crate) fn run() -> Result<(), String> {
    let mut times = Times::new();
    for program in [dist::build("profiling")?, dist::build_plain("profiling")?] {
        for (name, ran) in played(&program)? {
            let most = times.entry(name).or_default();
            *most = ran.max(*most);
        }
    }
    let names = ranked(times);
    let list = root().join("crates/jackline/hook.order");
    let text = names.iter().fold(HEAD.to_owned(), |text, name| text + name + "\n");
    fs::write(&list, text).map_err(|fault| format!("`{}` cannot be written: {fault}", list.display()))?;
    say(&format!("== order: {} functions", names.len()));
    Ok(())
}

/// What a program runs. What the proxy alone runs is counted as run by no event, so it comes last.
fn played(program: &Path) -> Result<Times, String> {
    let place = Place::new(program).map_err(|fault| format!("a place to play cannot be made: {fault}"))?;
    let mut times = hook::play(program, &place)?;
    for name in proxy::play(program, &place)? {
        times.entry(name).or_default();
    }
    Ok(times)
}

/// Where a program is played to; gone afterwards.
struct Place(PathBuf);

impl Place {
    fn new(program: &Path) -> std::io::Result<Self> {
        let place = Self(program.with_file_name("order"));
        fs::create_dir_all(place.workspace().join("src"))?;
        fs::create_dir_all(place.0.join("home/.claude"))?;
        fs::write(place.workspace().join("src/one.rs"), "fn main() {}\n")?;
        fs::copy(root().join("crates/jackline/benches/rules.yaml"), place.workspace().join("jackline.yaml"))?;
        Ok(place)
    }

    fn workspace(&self) -> PathBuf {
        self.0.join("workspace")
    }

    fn profile(&self) -> PathBuf {
        self.0.join("profile")
    }

    /// A program that is about to be started here, watched if that is asked for.
    fn command(&self, program: &Path, is_watched: bool) -> Command {
        let mut command = if is_watched { Command::new("valgrind") } else { Command::new(program) };
        if is_watched {
            command.args(["--tool=callgrind", "--demangle=no", "-q"]);
            command.arg(format!("--callgrind-out-file={}", self.profile().display())).arg(program);
        }
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", self.0.join("home"));
        command.env("JACKLINE_HOME", self.0.join("store")).env("CLAUDE_PROJECT_DIR", self.workspace());
        command.current_dir(self.workspace());
        command
    }

    /// The functions that what was watched last has run.
    fn ran(&self) -> Result<BTreeSet<String>, String> {
        let profile = fs::read_to_string(self.profile());
        profile.map(|profile| functions(&profile)).map_err(|fault| format!("the profile cannot be read: {fault}"))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// What most events run comes first, so that an event touches few pages of what others run.
fn ranked(times: Times) -> Vec<String> {
    let mut names: Vec<(String, usize)> = times.into_iter().collect();
    names.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    let unnamed = UNNAMED.iter().map(|name| (*name).to_owned());
    unnamed.chain(names.into_iter().map(|(name, _)| name)).collect()
}

/// The names in a profile, which gives each with the first line that mentions it; what has none is given by address.
fn functions(profile: &str) -> BTreeSet<String> {
    let named = profile.lines().filter_map(|line| line.strip_prefix("fn=").or_else(|| line.strip_prefix("cfn=")));
    let names = named.filter_map(|rest| rest.split_once(") ")).map(|(_, name)| name);
    names.filter(|name| !name.starts_with("0x") && !name.starts_with('(')).map(pattern).collect()
}

/// A name as it will be in every build: with the hash of each crate left open, and the number of a copy. What is recursive
/// is listed with its depth behind a quote. All names are of the form that tells the instances of a generic function apart
/// (`.cargo/config.toml`); with the other one, a name would fetch every instance there is.
fn pattern(name: &str) -> String {
    let name = name.split('\'').next().unwrap_or(name);
    let (name, copy) = match name.rsplit_once('.') {
        Some((name, _)) => (name, "*"),
        None => (name, ""),
    };
    let mut parts = name.split(CRATE);
    let mut open = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let hash = part.bytes().take_while(u8::is_ascii_alphanumeric).count();
        open.push_str(CRATE);
        open.push_str(if part.get(hash..).is_some_and(|rest| rest.starts_with('_')) { "*" } else { "" });
        open.push_str(part.get(if open.ends_with('*') { hash } else { 0 }..).unwrap_or_default());
    }
    open + copy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_hash_and_their_depth() {
        let profile = "ob=(1) /x\nfn=(1) main\n0 5\ncfn=(2) _RNvNtCsaz6_4core3ptr4drop'2\nfn=(1)\nfn=(3) 0x40\n";
        let want = ["_RNvNtCs*_4core3ptr4drop", "main"].map(str::to_owned);
        assert_eq!(functions(profile), BTreeSet::from(want));
        assert_eq!(pattern("_RNvNtCsaz6eC2DG7lh_3std3env7__var_os.12"), "_RNvNtCs*_3std3env7__var_os*");
        assert_eq!(pattern("_RNvXCs1_1aNtCsB2_4CsDe"), "_RNvXCs*_1aNtCs*_4CsDe");
    }

    #[test]
    fn what_all_events_run_comes_first() {
        let times = [("a", 1), ("b", 3), ("c", 3)].map(|(name, times)| (name.to_owned(), times));
        assert_eq!(ranked(times.into())[UNNAMED.len()..], ["b", "c", "a"]);
    }
}
