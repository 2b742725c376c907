//! Archives: what is packed is read, what is unpacked is written, and some take away what they packed.

use super::super::Word;
use super::Found;
use super::arguments::{has_option, inside, operands, values_of};
use super::valued::{TAR, UNZIP};
use crate::path::Role;

/// Programs that leave what they packed or unpacked, unless they are told otherwise.
const KEEPING: &[&str] = &["brotli", "unzstd", "zstd", "zstdmt"];

/// Their options that name a directory for what they make.
const INTO: &[&str] = &["--output-dir-flat", "--output-dir-mirror"];

/// Ends of names of packed files.
const PACKED: &[&str] = &[".br", ".bz2", ".gz", ".lz", ".lzma", ".xz", ".Z", ".zst"];

impl Found<'_> {
    pub(super) fn tar(&mut self, arguments: &[Word]) {
        let arguments = unbundled(arguments);
        let archives = values_of(&arguments, &["-f", "--file"]);
        let dirs = values_of(&arguments, &["-C", "--directory"]);
        if has_option(&arguments, &["-x", "--extract", "--get"]) {
            self.push_each(&archives, Role::Read);
            match dirs.first() {
                Some(target) => self.push(&Word { glob: true, ..target.clone() }, Role::Write),
                None => self.push_everything(Role::Write),
            }
            // Members that are asked for by name.
            self.name_own(&arguments);
        } else if has_option(&arguments, &["-c", "-r", "-u", "--create", "--append", "--update"]) {
            self.push_each(&archives, Role::Write);
            self.push_each(&values_of(&arguments, &["-T", "--files-from"]), Role::Read);
            let (members, _) = operands(&arguments, TAR);
            let here = self.dir.clone();
            dirs.iter().for_each(|dir| self.dir = self.dir.enter(dir));
            self.packed(&members, has_option(&arguments, &["--remove-files"]));
            self.dir = here;
        } else {
            self.push_each(&archives, Role::Read);
        }
    }

    /// Files that are packed, and go afterwards or stay.
    fn packed(&mut self, files: &[Word], removed: bool) {
        self.push_each(files, Role::Read);
        if removed {
            self.push_each(files, Role::Delete);
            self.push_below(files);
        }
    }

    pub(super) fn unzip(&mut self, arguments: &[Word]) {
        let (paths, _) = operands(arguments, UNZIP);
        paths.first().iter().for_each(|archive| self.push(archive, Role::Read));
        if has_option(arguments, &["-p", "-l", "-t", "-v", "-Z"]) {
            return;
        }
        match values_of(arguments, &["-d"]).first() {
            Some(target) => self.push(&Word { glob: true, ..target.clone() }, Role::Write),
            None => self.push_everything(Role::Write),
        }
        self.name_own(arguments);
    }

    /// `zip -m` takes away what it packed.
    pub(super) fn emptied(&mut self, arguments: &[Word]) {
        let (paths, _) = operands(arguments, &self.valued);
        if has_option(arguments, &["-m", "--move"]) {
            self.packed(paths.get(1..).unwrap_or_default(), true);
        }
    }

    /// Files each of which is packed or unpacked by itself, beside it or where an option says.
    pub(super) fn pack(&mut self, program: &str, arguments: &[Word], paths: &[Word]) {
        let keeps = KEEPING.contains(&program);
        let prints = has_option(arguments, &["-c", "--stdout", "--to-stdout"]);
        let only_tells = has_option(arguments, &["-l", "-t", "--list", "--test"]);
        let removes = match keeps {
            true => has_option(arguments, &["-j", "--rm"]),
            false => !prints && !only_tells && !has_option(arguments, &["-k", "--keep"]),
        };
        if keeps || prints {
            self.push_each(paths, Role::Read);
        }
        if removes {
            self.push_each(paths, Role::Delete);
        }
        for dir in values_of(arguments, INTO) {
            paths.iter().for_each(|path| self.push(&unpacked(&inside(&dir, path)), Role::Write));
        }
        let elsewhere = ["-o", "--output"].iter().chain(INTO).any(|option| has_option(arguments, &[*option]));
        if !(prints || only_tells || elsewhere) {
            let beside = paths.iter().filter(|path| !path.glob).map(|path| (path, unpacked(path)));
            beside.filter(|(path, beside)| *path != beside).for_each(|(_, beside)| self.push(&beside, Role::Write));
        }
    }

    /// `ar rcs ARCHIVE FILES`, `7z a ARCHIVE FILES`: a word says what becomes of them.
    pub(super) fn by_verb(&mut self, program: &str, arguments: &[Word]) {
        let (paths, _) = operands(arguments, &[]);
        let [verb, archive, files @ ..] = paths.as_slice() else { return };
        let packs = match program {
            "ar" => verb.text.contains(['r', 'q', 'd', 'm', 's']) && !verb.text.contains('x'),
            _ => matches!(verb.text.as_str(), "a" | "u" | "d" | "rn"),
        };
        let unpacks = if program == "ar" { verb.text.contains('x') } else { matches!(verb.text.as_str(), "x" | "e") };
        self.push(archive, if packs { Role::Write } else { Role::Read });
        if packs {
            self.packed(files, has_option(arguments, &["-sdel"]));
        } else if unpacks {
            self.push_everything(Role::Write);
        }
    }
}

/// The name of a file without the end that tells it is packed.
fn unpacked(path: &Word) -> Word {
    let text = PACKED.iter().find_map(|end| path.text.strip_suffix(end)).unwrap_or(&path.text);
    Word { text: text.to_owned(), ..path.clone() }
}

/// The arguments of tar with the letters of its old form as options: `czf a.tgz b` is `-c -z -f a.tgz b`.
fn unbundled(arguments: &[Word]) -> Vec<Word> {
    let mut rest = arguments.iter();
    let Some(bundle) = rest.next().filter(|word| word.known() && !word.text.starts_with('-')) else {
        return arguments.to_vec();
    };
    let mut plain = Vec::new();
    for letter in bundle.text.chars() {
        let option = format!("-{letter}");
        let value = if TAR.contains(&option.as_str()) { rest.next() } else { None };
        plain.push(Word::literal(option));
        plain.extend(value.cloned());
    }
    plain.extend(rest.cloned());
    plain
}
