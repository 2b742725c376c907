//! `cargo xtask order`: finds the functions that the hook and the MCP proxy run, for the linker to put them beside one
//! another.
//!
//! It plays common events and calls to a build with names and writes down every function that took part. The list is kept in
//! the repository, so that who only builds need not find it. It ages without harm: a function that is not on it lies with all
//! others. The distribution build finds what it runs anew each time (`dist::link`).

mod libraries;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::play::Play;
use crate::shell::{root, say};
use crate::{dist, play};

/// What stands above the list.
const HEAD: &str = "# The functions that `jackline hook` and then `jackline mcp proxy` run, for build.rs; found by `cargo xtask order`.\n";
/// What begins a crate's name, with a hash that differs from compiler to compiler, so it is left open.
const CRATE: &str = "Cs";
/// What has no function's name: the program's beginning, and what is written in assembly.
const UNNAMED: &str = "file crt1.o\njackline_bytes\n";

/// What runs functions, by their names.
pub(crate) type Runs = BTreeMap<String, Use>;

/// What runs a function: which kinds of events, a bit for each, and how many events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Use {
    kinds: u64,
    times: usize,
}

impl Use {
    fn with(self, other: Self) -> Self {
        Self { kinds: self.kinds | other.kinds, times: self.times.max(other.times) }
    }

    /// Whether events run it, or the proxy alone.
    pub(crate) const fn by_events(self) -> bool {
        self.times > 0
    }
}

/// Builds, plays, and writes the list; builds nothing where programs with names are given.
pub(crate) fn run(given: &[&str]) -> Result<(), String> {
    play::can_watch().map_err(|fault| format!("no process can be watched here: {fault}"))?;
    let programs = match given {
        [] => vec![dist::build_plain("profiling")?],
        given => given.iter().map(absolute).collect::<Result<_, _>>()?,
    };
    let members = libraries::members()?;
    let mut lines = Runs::new();
    for program in programs {
        for (name, ran) in played(&program)? {
            for line in told(&name, &members) {
                let known = lines.entry(line).or_default();
                *known = known.with(ran);
            }
        }
    }
    let list = root().join("crates/jackline/hook.order");
    let text = ranked(lines).iter().fold(HEAD.to_owned() + UNNAMED, |text, (name, _)| text + name + "\n");
    fs::write(&list, &text).map_err(|fault| format!("`{}` cannot be written: {fault}", list.display()))?;
    say(&format!("== order: {} functions", text.lines().filter(|line| !line.starts_with('#')).count()));
    Ok(())
}

fn absolute(program: &&str) -> Result<PathBuf, String> {
    fs::canonicalize(program).map_err(|fault| format!("`{program}` cannot be found: {fault}"))
}

/// What a program with names runs. What the proxy alone runs is run by no event.
pub(crate) fn played(program: &Path) -> Result<Runs, String> {
    let play = Play::watched(program)?;
    let mut runs = Runs::new();
    for (number, event) in play.events()?.into_iter().enumerate() {
        for name in event {
            let known = runs.entry(name).or_default();
            *known = Use { kinds: known.kinds | 1 << (number % Play::KINDS), times: known.times + 1 };
        }
    }
    for name in play.proxy()? {
        runs.entry(name).or_default();
    }
    Ok(runs)
}

/// How the linker is told of a function: by its own section, and by the file of the plain build's C library that it is in.
fn told(name: &str, members: &BTreeMap<String, String>) -> impl Iterator<Item = String> {
    members.get(name).map(|member| format!("file {member}")).into_iter().chain([pattern(name)])
}

/// What most kinds of events run comes first, and what the same kinds run lies together, so that an event touches few pages
/// of what others run.
pub(crate) fn ranked(runs: Runs) -> Vec<(String, Use)> {
    let mut names: Vec<(String, Use)> = runs.into_iter().collect();
    names.sort_by_key(|(_, Use { kinds, times })| Reverse((kinds.count_ones(), *kinds, *times)));
    names
}

/// A name as it will be in every build: with the hash of each crate left open, the number of a copy, and for which crate an
/// instance was made. Of instances that are the same, the compiler keeps one, and which one differs from build to build.
///
/// All names are of the form that tells the instances of a generic function apart (`.cargo/config.toml`); with the other one, a
/// name would fetch every instance there is.
fn pattern(name: &str) -> String {
    let (name, copy) = match name.rsplit_once('.') {
        Some((name, _)) => (name, "*"),
        None => (name, ""),
    };
    let (mut open, mut rest) = (String::new(), name);
    while let Some((before, behind)) = rest.split_once(CRATE) {
        open.push_str(before);
        open.push_str(CRATE);
        // All of it, though what begins a crate's name may stand in the hash of one, too.
        let hash = behind.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let is_hash = behind.get(hash..).is_some_and(|rest| rest.starts_with('_'));
        open.push_str(if is_hash { "*" } else { "" });
        rest = behind.get(if is_hash { hash } else { 0 }..).unwrap_or_default();
    }
    open.push_str(if open.ends_with('*') && is_crate(rest) { "" } else { rest });
    open + copy
}

/// Whether this is a crate's name behind its hash, and nothing else.
fn is_crate(rest: &str) -> bool {
    let counted = rest.strip_prefix('_').unwrap_or_default();
    let name = counted.trim_start_matches(|character: char| character.is_ascii_digit());
    counted.strip_suffix(name).is_some_and(|length| length.parse() == Ok(name.len()))
}

/// What runs functions, by their names and how many events run each.
pub(crate) fn runs_of(named: &[(&str, usize)]) -> Runs {
    named.iter().map(|(name, times)| ((*name).to_owned(), Use { kinds: 1, times: *times })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_what_differs_from_build_to_build() {
        assert_eq!(pattern("main"), "main");
        assert_eq!(pattern("_RNvNtCsaz6_4core3ptr4drop"), "_RNvNtCs*_4core3ptr4drop");
        assert_eq!(pattern("_RNvNtCsaz6eC2DG7lh_3std3env7__var_os.12"), "_RNvNtCs*_3std3env7__var_os*");
        assert_eq!(pattern("_RNvXCs1_1aNtCsB2_4CsDe"), "_RNvXCs*_1aNtCs*_4CsDe");
        assert_eq!(pattern("_RNvNtCskABnBxCqCsn_13jackline_core5hosts5named"), "_RNvNtCs*_13jackline_core5hosts5named");
        assert_eq!(
            pattern("_RNvMs_NtCs1_5alloc3vecINtB4_3VechE4growCs2_4rmcp"),
            "_RNvMs_NtCs*_5alloc3vecINtB4_3VechE4growCs*"
        );
    }

    #[test]
    fn what_the_c_library_has_is_told_by_its_file_too() {
        let members = [("read".to_owned(), "read.o".to_owned())].into();
        assert_eq!(told("read", &members).collect::<Vec<_>>(), ["file read.o", "read"]);
        assert_eq!(told("reads", &members).collect::<Vec<_>>(), ["reads"]);
    }

    #[test]
    fn what_all_events_run_comes_first_and_what_the_same_run_lies_together() {
        let runs = [("a", 0b01, 1), ("b", 0b11, 2), ("c", 0b11, 3), ("d", 0b10, 1), ("e", 0b01, 2), ("f", 0, 0)];
        let runs = runs.map(|(name, kinds, times)| (name.to_owned(), Use { kinds, times }));
        let ranked = ranked(runs.into());
        assert_eq!(ranked.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["c", "b", "d", "e", "a", "f"]);
        assert_eq!(ranked.iter().filter(|(_, ran)| ran.by_events()).count(), 5);
    }
}
