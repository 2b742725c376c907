//! Where the linker of the distribution build puts what: a script that both GNU's and LLVM's linker add to their own layout. The
//! latter takes from it only what stands inside of sections or is said of them, so nothing stands between them.
//!
//! First the beginning and what only the proxy runs, then, by itself and on large pages, what events run with the constants
//! that it names and what the compiler split off of it, then everything else. The kernel reads a program's first bytes to start
//! it, so the large pages cannot be there.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::{Endianness, Object as _, ObjectSection as _, ObjectSymbol as _};
use object::{RelocationTarget, SectionIndex};

use crate::order::{self, Runs, Use};

type Elf<'a> = ElfFile<'a, FileHeader64<Endianness>>;

/// Bytes of a large page. What lies on one has to begin at such a place of the file and of memory alike.
pub(super) const LARGE_PAGE_BYTES: u64 = 0x20_0000;
/// Large pages that the hook may have, each of which counts as memory whole: one for what events run, and one for what they run
/// now and then, in a block here and a block there.
const LARGE_PAGES_MAX: u64 = 2;
/// Bytes of what is laid on them: some of it goes into keeping places aligned.
const HOOK_BYTES_MAX: u64 = LARGE_PAGES_MAX * LARGE_PAGE_BYTES / 16 * 15;
/// How the compiler's sections for functions begin: by how often it takes them to run.
const FUNCTIONS: [&str; 3] = [".text.hot.", ".text.unlikely.", ".text."];
/// How sections for constants begin.
const CONSTANTS: &str = ".rodata";
/// What has no function's name: the program's beginnings, and what is written in assembly.
const BEGINNING: &str = "*(.text.jackline_start) *crt1.o(.text .text.*)";
const ASSEMBLED: &str = "*(.text.jackline_bytes)";
/// Bytes by which the rest is shifted against its place in the file: so it is mapped by itself, and never by large pages, each of
/// which counts as memory whole.
const SHIFT_BYTES: u64 = 0x1_0000;
/// Of the functions that events run, one in so many at least is in the compiler's object; the others are the C library's. With
/// fewer, what lies together would be weighed as nothing.
const FOUND_OF: usize = 2;

/// The script for a program of which these functions run.
pub(super) fn script(object: &[u8], runs: Runs) -> Result<String, String> {
    bounded(object, runs, HOOK_BYTES_MAX)
}

/// The script by which so many bytes at most are laid on large pages.
fn bounded(object: &[u8], runs: Runs, bytes_max: u64) -> Result<String, String> {
    let object = Elf::parse(object).map_err(|fault| format!("the compiler's object cannot be read: {fault}"))?;
    let (events, proxy): (Vec<_>, Vec<_>) = order::ranked(runs).into_iter().partition(|(_, ran)| ran.by_events());
    let names = |list: Vec<(String, Use)>| list.into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    let (events, proxy) = (names(events), names(proxy));
    let sections = Sections::of(&object);
    sections.have_most_of(&events)?;
    let Fitting { functions, constants, splits } = sections.fitting(&events, bytes_max);
    let [fit, left] = [events.get(..functions), events.get(functions..)].map(Option::unwrap_or_default);
    let [fit_splits, left_splits] = [fit.get(..splits), fit.get(splits..)].map(Option::unwrap_or_default);

    let mut script = format!("SECTIONS {{ .text.first : {{\n{BEGINNING}\n");
    left.iter().chain(&proxy).for_each(|name| list(&mut script, &places(name)));
    left_splits.iter().chain(left).for_each(|name| list(&mut script, &split(name)));
    script += &hook_begins();
    fit.iter().for_each(|name| list(&mut script, &places(name)));
    constants.iter().for_each(|name| list(&mut script, name));
    fit_splits.iter().for_each(|name| list(&mut script, &split(name)));
    Ok(script + &hook_ends())
}

/// A piece of the file by itself (`AT`), at such a place there and in memory, so that it does not matter what is before it.
fn hook_begins() -> String {
    let large = LARGE_PAGE_BYTES;
    let place = format!("(ALIGN({large}) + {large}) : AT(ADDR(.text.hook)) ALIGN({large})");
    format!("}}\n.text.hook {place} {{\n{ASSEMBLED}\n")
}

/// Behind it comes one byte that is shifted, and all the rest follows that; and `start.s` learns where it lies.
fn hook_ends() -> String {
    let place = format!("(ALIGN(0x1000) + {SHIFT_BYTES}) : AT(ADDR(.text.behind))");
    let known = "jackline_hook = ADDR(.text.hook);\njackline_hook_bytes = SIZEOF(.text.hook);";
    format!(". = ALIGN({LARGE_PAGE_BYTES}); }}\n.text.behind {place} {{ BYTE(0) }}\n}} INSERT BEFORE .text;\n{known}\n")
}

/// Where in its file a program has what lies on large pages: as many as it may have, and of its own.
pub(super) fn large_page(program: &[u8]) -> Option<u64> {
    let program = Elf::parse(program).ok()?;
    let hook = program.section_by_name(".text.hook")?;
    let (offset, bytes) = hook.file_range()?;
    let are_aligned = [hook.address(), offset, bytes].iter().all(|place| place.is_multiple_of(LARGE_PAGE_BYTES));
    let is_bounded = (1..=LARGE_PAGES_MAX).contains(&(bytes / LARGE_PAGE_BYTES));
    Some(offset).filter(|offset| are_aligned && is_bounded && *offset > 0)
}

/// The sections that a function may be in; what C has under two names is in a section of one.
fn places(name: &str) -> String {
    FUNCTIONS.map(|start| format!("{start}{name}")).join(" ") + &format!(" .text.__{name}")
}

/// The section of what the compiler split off of a function.
fn split(name: &str) -> String {
    format!(".text.split.{name}")
}

fn list(script: &mut String, sections: &str) {
    let _ = writeln!(script, "*({sections})");
}

/// What fits on the large pages, of functions in their order.
struct Fitting {
    /// How many of them.
    functions: usize,
    /// All constants that these name.
    constants: Vec<String>,
    /// Of how many of them that which was split off of them does, too.
    splits: usize,
}

/// The sections of the compiler's object, by name.
struct Sections<'a> {
    object: &'a Elf<'a>,
    named: BTreeMap<String, SectionIndex>,
}

impl<'a> Sections<'a> {
    fn of(object: &'a Elf<'a>) -> Self {
        let named = object.sections().filter_map(|section| Some((section.name().ok()?.to_owned(), section.index())));
        Self { object, named: named.collect() }
    }

    /// Complains where most of these functions are elsewhere, or are not apart from one another.
    fn have_most_of(&self, functions: &[String]) -> Result<(), String> {
        let found = functions.iter().filter(|name| self.function(name).is_some()).count();
        if found * FOUND_OF >= functions.len() {
            return Ok(());
        }
        let all = functions.len();
        Err(format!("of {all} functions that events run only {found} have a section of the compiler's object"))
    }

    fn function(&self, name: &str) -> Option<SectionIndex> {
        FUNCTIONS.iter().find_map(|start| self.named.get(&format!("{start}{name}"))).copied()
    }

    /// What fits into so many bytes.
    fn fitting(&self, functions: &[String], bytes_max: u64) -> Fitting {
        let (mut bytes, mut seen, mut constants) = (0, HashSet::new(), Vec::new());
        let mut fit = 0;
        for name in functions {
            let fresh = self.fresh(name, &mut seen);
            let with = bytes + self.bytes_of(&fresh);
            if with > bytes_max {
                break;
            }
            (fit, bytes) = (fit + 1, with);
            constants.extend(fresh.iter().filter_map(|index| self.constant(*index)));
        }
        let splits = functions.iter().take(fit).map(|name| self.named.get(&split(name)).copied());
        let splits = splits.take_while(|split| {
            bytes += self.bytes_of(split.as_slice());
            bytes <= bytes_max
        });
        Fitting { functions: fit, constants, splits: splits.count() }
    }

    /// A function's section, and those of constants that it is the first to name, itself or through others.
    fn fresh(&self, function: &str, seen: &mut HashSet<SectionIndex>) -> Vec<SectionIndex> {
        let mut fresh = Vec::from_iter(self.function(function));
        let mut next = 0;
        while let Some(index) = fresh.get(next).copied() {
            next += 1;
            let named = self.targets(index).into_iter().filter(|target| self.constant(*target).is_some());
            fresh.extend(named.filter(|target| seen.insert(*target)));
        }
        fresh
    }

    fn constant(&self, index: SectionIndex) -> Option<String> {
        let section = self.object.section_by_index(index).ok()?;
        section.name().ok().filter(|name| name.starts_with(CONSTANTS)).map(str::to_owned)
    }

    fn bytes_of(&self, sections: &[SectionIndex]) -> u64 {
        let sections = sections.iter().filter_map(|index| self.object.section_by_index(*index).ok());
        sections.map(|section| section.size().next_multiple_of(section.align().max(1))).sum()
    }

    /// The sections that one names.
    fn targets(&self, index: SectionIndex) -> Vec<SectionIndex> {
        let Ok(section) = self.object.section_by_index(index) else { return Vec::new() };
        let home = |target| match target {
            RelocationTarget::Symbol(symbol) => self.object.symbol_by_index(symbol).ok()?.section_index(),
            RelocationTarget::Section(section) => Some(section),
            _ => None,
        };
        section.relocations().filter_map(|(_, relocation)| home(relocation.target())).collect()
    }
}

#[cfg(test)]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod tests {
    use std::process::Command;

    use super::super::link::Linker;
    use super::super::trial;
    use super::*;

    /// Where something is in a program, by its name: its address and its section.
    fn home(program: &Elf<'_>, name: &str) -> (u64, String) {
        let symbol = program.symbols().find(|symbol| symbol.name() == Ok(name)).unwrap();
        let section = symbol.section_index().map(|index| program.section_by_index(index).unwrap());
        (symbol.address(), section.map_or_else(String::new, |section| section.name().unwrap().to_owned()))
    }

    #[track_caller]
    fn lays_out(further: &[&str]) {
        let scratch = tempfile::tempdir().unwrap();
        let bytes = trial::laid_out(&Linker::of("cc"), further, &scratch.path().join("a,b")).unwrap();
        let offset = large_page(&bytes);
        assert_eq!(offset, Some(LARGE_PAGE_BYTES));
        let program = Elf::parse(&bytes[..]).unwrap();
        let hook = ".text.hook";
        let of_hook = ["often", "list", "named", "often.cold"].map(|name| home(&program, name).1);
        assert_eq!(of_hook, [hook; 4]);
        let others = ["jackline_start", "never", "other"].map(|name| home(&program, name).1);
        assert_eq!(others, [".text.first", ".text", ".rodata"]);

        let section = program.section_by_name(hook).unwrap();
        assert_eq!(home(&program, "jackline_hook").0, section.address());
        assert_eq!(home(&program, "jackline_hook_bytes").0, section.size());
        let behind = program.section_by_name(".text").unwrap();
        let shifted = behind.address() - behind.file_range().unwrap().0;
        // LLVM's linker may add a page of its own between two parts that are mapped otherwise.
        let own_pages = shifted % LARGE_PAGE_BYTES - SHIFT_BYTES;
        assert!([0, 0x1000].contains(&own_pages), "{own_pages}");
        assert!(behind.address() > section.address() + section.size());
        let ended = Command::new(scratch.path().join("a,b/trial")).status().unwrap();
        assert!(ended.success(), "{ended}");
    }

    #[test]
    fn what_events_run_with_its_constants_and_what_was_split_off_lies_on_large_pages() {
        lays_out(&[]);
    }

    /// With LLVM's linker as it comes with the compiler, or else the system's.
    #[test]
    fn llvms_linker_lays_out_alike() {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let told = Command::new(rustc).args(["--print", "target-libdir"]).output().unwrap();
        let libraries = String::from_utf8(told.stdout).unwrap();
        let own = std::path::Path::new(libraries.trim()).with_file_name("bin").join("gcc-ld");
        let words = [&format!("-B{}", own.display()), "-fuse-ld=lld"];
        let is_there =
            Command::new("cc").args(words).arg("-Wl,--version").output().is_ok_and(|told| told.status.success());
        if is_there {
            lays_out(&words);
        } else {
            eprintln!("LLVM's linker is neither with the compiler nor on this machine: it is not tried");
        }
    }

    /// As `build.rs` has functions together, which lie on no page of their own.
    #[test]
    fn functions_that_only_lie_together_lie_on_no_large_page() {
        let scratch = tempfile::tempdir().unwrap();
        trial::laid_out(&Linker::of("cc"), &[], scratch.path()).unwrap();
        let script = "SECTIONS { .text.hook : { *(.text.often) } } INSERT BEFORE .text;\n";
        std::fs::write(scratch.path().join("hook.ld"), script).unwrap();
        let words = [&trial::WORDS[..], &["trial.rcgu.o", "-o", "together", "-T", "hook.ld"]].concat();
        assert!(Command::new("cc").args(words).current_dir(scratch.path()).status().unwrap().success());
        let bytes = std::fs::read(scratch.path().join("together")).unwrap();
        assert!(Elf::parse(&bytes[..]).unwrap().section_by_name(".text.hook").is_some());
        assert_eq!(large_page(&bytes), None);
    }

    #[test]
    fn what_does_not_fit_lies_before_the_large_pages() {
        let scratch = tempfile::tempdir().unwrap();
        trial::laid_out(&Linker::of("cc"), &[], scratch.path()).unwrap();
        let object = std::fs::read(scratch.path().join("trial.rcgu.o")).unwrap();
        let script = |bytes_max| bounded(&object, order::runs_of(&[("often", 2), ("seldom", 1)]), bytes_max).unwrap();
        let on_pages = |script: &str, names: &[&str]| {
            let (before, behind) = script.split_once("\n.text.hook ").unwrap();
            names.iter().map(|name| (before.contains(name), behind.contains(name))).collect::<Vec<_>>()
        };
        let names = [".text.often ", ".rodata.list", ".text.seldom ", ".text.split.often)"];
        let (fits, does_not) = ((false, true), (true, false));
        assert_eq!(on_pages(&script(HOOK_BYTES_MAX), &names), [fits; 4]);
        // A call of six bytes with two constants of eight, a return of one, and another one that was split off.
        assert_eq!(on_pages(&script(24), &names), [fits; 4]);
        assert_eq!(on_pages(&script(23), &names), [fits, fits, fits, does_not]);
        assert_eq!(on_pages(&script(22), &names), [fits, fits, does_not, does_not]);
        assert_eq!(on_pages(&script(21), &names), [does_not, (false, false), does_not, does_not]);
    }

    #[test]
    fn functions_that_are_elsewhere_are_told() {
        let scratch = tempfile::tempdir().unwrap();
        trial::laid_out(&Linker::of("cc"), &[], scratch.path()).unwrap();
        let object = std::fs::read(scratch.path().join("trial.rcgu.o")).unwrap();
        let told = script(&object, order::runs_of(&[("often", 1), ("gone", 1), ("lost", 1)])).unwrap_err();
        assert_eq!(told, "of 3 functions that events run only 1 have a section of the compiler's object");
        assert!(script(&object, order::runs_of(&[("often", 1), ("gone", 1)])).is_ok());
    }

    #[test]
    fn a_program_without_the_section_has_no_large_pages() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(large_page(&own), None);
        assert_eq!(large_page(b"no program"), None);
    }

    #[test]
    fn an_object_that_cannot_be_read_is_told() {
        let fault = script(b"no object", Runs::new()).unwrap_err();
        assert!(fault.starts_with("the compiler's object cannot be read: "), "{fault}");
    }
}
