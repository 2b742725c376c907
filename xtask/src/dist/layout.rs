//! Where the linker of the distribution build puts what: a script that both GNU's and LLVM's linker add to their own layout.
//!
//! First the beginning and what only the proxy runs, then, by itself and on large pages, what events run with the constants
//! that it names and what the compiler split off of it, then everything else. The kernel reads a program's first bytes to start
//! it, so the large pages cannot be there.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::{Endianness, Object as _, ObjectSection as _, ObjectSegment as _, ObjectSymbol as _};
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
/// Before the rest, so that it is mapped by itself, and never by large pages, each of which counts as memory whole: it is
/// shifted against its place in the file.
const SHIFT: &str = ". = ALIGN(0x1000) + 0x10000;";

/// The script for a program of which these functions run.
pub(super) fn script(object: &[u8], runs: Runs) -> Result<String, String> {
    let object = Elf::parse(object).map_err(|fault| format!("the compiler's object cannot be read: {fault}"))?;
    let (events, proxy): (Vec<_>, Vec<_>) = order::ranked(runs).into_iter().partition(|(_, ran)| ran.by_events());
    let names = |list: Vec<(String, Use)>| list.into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    let (events, proxy) = (names(events), names(proxy));
    let Fitting { functions, constants, splits } = Sections::of(&object).fitting(&events);
    let [fit, left] = [events.get(..functions), events.get(functions..)].map(Option::unwrap_or_default);
    let [fit_splits, left_splits] = [fit.get(..splits), fit.get(splits..)].map(Option::unwrap_or_default);
    let large = LARGE_PAGE_BYTES;

    let mut script = format!("SECTIONS {{ .text.first : {{\n{BEGINNING}\n");
    left.iter().chain(&proxy).for_each(|name| list(&mut script, &places(name)));
    left_splits.iter().chain(left).for_each(|name| list(&mut script, &split(name)));
    let _ = writeln!(script, ". = ALIGN({large}); }}\n. = ALIGN({large}) + {large};\njackline_hook = .;");
    let _ = writeln!(script, ".text.hook : {{\n{ASSEMBLED}");
    fit.iter().for_each(|name| list(&mut script, &places(name)));
    constants.iter().for_each(|name| list(&mut script, name));
    fit_splits.iter().for_each(|name| list(&mut script, &split(name)));
    let _ = writeln!(script, ". = ALIGN({large}); }}\njackline_hook_bytes = ABSOLUTE(. - jackline_hook);");
    Ok(script + SHIFT + "\n} INSERT BEFORE .text;\n")
}

/// Where in its file a program has what lies on large pages.
pub(super) fn large_page(program: &[u8]) -> Option<u64> {
    let program = Elf::parse(program).ok()?;
    let hook = program.section_by_name(".text.hook")?;
    let holds = |address: u64, size: u64| (address..address + size).contains(&hook.address());
    let segment = program.segments().find(|segment| holds(segment.address(), segment.size()))?;
    let is_aligned = |place: &u64| place.is_multiple_of(LARGE_PAGE_BYTES);
    Some(segment.file_range().0).filter(is_aligned).filter(|_| is_aligned(&segment.address()))
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

    fn fitting(&self, functions: &[String]) -> Fitting {
        let (mut bytes, mut seen, mut constants) = (0, HashSet::new(), Vec::new());
        let mut fit = 0;
        for name in functions {
            let fresh = self.fresh(name, &mut seen);
            let with = bytes + self.bytes_of(&fresh);
            if with > HOOK_BYTES_MAX {
                break;
            }
            (fit, bytes) = (fit + 1, with);
            constants.extend(fresh.iter().filter_map(|index| self.constant(*index)));
        }
        let splits = functions.iter().take(fit).map(|name| self.named.get(&split(name)).copied());
        let splits = splits.take_while(|split| {
            bytes += self.bytes_of(split.as_slice());
            bytes <= HOOK_BYTES_MAX
        });
        Fitting { functions: fit, constants, splits: splits.count() }
    }

    /// A function's section, and those of constants that it is the first to name, itself or through others.
    fn fresh(&self, function: &str, seen: &mut HashSet<SectionIndex>) -> Vec<SectionIndex> {
        let of = FUNCTIONS.iter().find_map(|start| self.named.get(&format!("{start}{function}"))).copied();
        let mut fresh = Vec::from_iter(of);
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

#[cfg(all(test, target_os = "linux", target_arch = "x86_64"))]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::*;

    /// A program with a function that events run and a constant that only this one names, and with others of both.
    const SOURCE: &str = r#"
    .section .text.often, "ax", @progbits
    .globl often
    often: movl $list, %eax
    ret
    .section .text.split.often, "ax", @progbits
    .globl often.cold
    often.cold: ret
    .section .text.never, "ax", @progbits
    .globl never
    never: movl $other, %eax
    ret
    .section .text.jackline_start, "ax", @progbits
    .globl jackline_start
    jackline_start: call often
    call never
    movl $jackline_hook_bytes, %eax
    .section .rodata.list, "a", @progbits
    list: .quad named
    .section .rodata.named, "a", @progbits
    .globl named
    named: .quad 1
    .section .rodata.other, "a", @progbits
    .globl other
    other: .quad 2
    .section .note.GNU-stack, "", @progbits
"#;

    fn built(directory: &Path, words: &[&str]) {
        let status = Command::new("cc").args(words).current_dir(directory).status();
        assert!(status.is_ok_and(|status| status.success()), "{words:?}");
    }

    #[test]
    fn what_events_run_with_its_constants_and_what_was_split_off_lies_on_large_pages() {
        let scratch = tempfile::tempdir().unwrap();
        let place = |name: &str| scratch.path().join(name);
        std::fs::write(place("a.s"), SOURCE).unwrap();
        built(scratch.path(), &["-c", "a.s", "-o", "a.o"]);
        let runs = order::runs_of(&[("often", 1)]);
        let text = script(&std::fs::read(place("a.o")).unwrap(), runs).unwrap();
        std::fs::write(place("a.ld"), &text).unwrap();
        let words = ["-nostdlib", "-static", "-no-pie", "a.o", "-o", "a", "-Wl,-z,noseparate-code", "-Wl,-T,a.ld"];
        built(scratch.path(), &[&words[..], &["-Wl,--entry=jackline_start"]].concat());

        let bytes = std::fs::read(place("a")).unwrap();
        assert_eq!(large_page(&bytes), Some(LARGE_PAGE_BYTES));
        let program = Elf::parse(&bytes[..]).unwrap();
        let home = |name: &str| {
            let symbol = program.symbols().find(|symbol| symbol.name() == Ok(name)).unwrap();
            let section = program.section_by_index(symbol.section_index().unwrap()).unwrap();
            section.name().unwrap().to_owned()
        };
        let homes = ["often", "list", "named", "often.cold", "jackline_start", "never", "other"].map(home);
        let hook = ".text.hook";
        assert_eq!(homes, [hook, hook, hook, hook, ".text.first", ".text", ".rodata"]);
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
