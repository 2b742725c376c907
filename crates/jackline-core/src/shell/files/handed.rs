//! Files that a program is handed otherwise than as a plain operand: by an option, in an address, as a text that it runs,
//! or to be brought to another machine.

use super::super::{How, Word, wrappers};
use super::Found;
use super::arguments::{below, has_option, inside, operands, values_of};
use super::formatters::FORMATTERS;
use super::valued::MKTEMP;
use crate::path::Role;

/// Files that set up an environment and are sourced all day; what they put into `PATH` is as good as the programs of
/// the workspace.
const ENVIRONMENTS: &[&str] =
    &["bin/activate", ".cargo/env", "nvm.sh", ".bashrc", ".profile", ".bash_profile", ".zshrc"];

/// Programs that bring files to another machine or fetch them, and the words that begin such a command.
const SHUTTLES: &[(&str, &[&str])] = &[
    ("aws", &["s3"]),
    ("docker", &[]),
    ("gcloud", &["storage"]),
    ("gsutil", &[]),
    ("kubectl", &[]),
    ("podman", &[]),
    ("rclone", &[]),
];
const SHUTTLING: &[&str] = &["copy", "copyto", "cp", "move", "moveto", "mv", "rsync", "sync"];

/// Options of theirs that take a value.
const SHUTTLED: &[&str] = &[
    "-c",
    "-n",
    "--acl",
    "--cache-control",
    "--config",
    "--container",
    "--content-type",
    "--context",
    "--endpoint-url",
    "--exclude",
    "--include",
    "--metadata",
    "--namespace",
    "--profile",
    "--project",
    "--region",
    "--sse",
    "--storage-class",
    "--transfers",
];

/// Kinds of an end of `socat`'s that are files.
const FILES: &[&str] = &["CREAT", "CREATE", "FILE", "GOPEN", "OPEN", "PIPE", "UNIX-LISTEN", "UNIX-L"];

/// The file that an end of `socat`'s is, and what is said of it.
fn end_of(end: &str) -> Option<(&str, Vec<&str>)> {
    let mut parts = end.split(',');
    let (first, told) = (parts.next()?, parts.collect());
    match first.split_once(':') {
        Some((kind, file)) => FILES.iter().any(|known| known.eq_ignore_ascii_case(kind)).then_some((file, told)),
        // Without a kind it is one if it looks like a path.
        None => first.contains('/').then_some((first, told)),
    }
}

/// Whether a file is one that sets up an environment.
pub(in crate::shell) fn sets_up(file: &Word) -> bool {
    file.known() && ENVIRONMENTS.iter().any(|end| file.text.ends_with(end))
}

impl Found<'_> {
    /// The text that `source` or a shell is told to run.
    pub(super) fn run_from(&mut self, program: &str, arguments: &[Word]) {
        let file = match program {
            "." | "source" => arguments.iter().find(|word| word.text != "--"),
            _ => wrappers::script(arguments),
        };
        // A shell that traces shows what it reads.
        let traces = has_option(arguments, &["-v", "-x"]) && wrappers::is_shell(program);
        let how = if traces { How::Whole } else { How::Loaded };
        let file = file.filter(|file| file.known() && !sets_up(file));
        file.iter().for_each(|file| self.push_how(file, Role::Read, how));
    }

    /// What goes to another machine is read, what comes from there is written.
    pub(super) fn shuttled(&mut self, program: &str, arguments: &[Word]) {
        let Some((_, begin)) = SHUTTLES.iter().find(|(name, _)| *name == program) else { return };
        let (words, _) = operands(arguments, SHUTTLED);
        let begins = words.iter().zip(*begin).all(|(word, begin)| word.text == *begin);
        let rest = words.get(begin.len()..).filter(|_| begins).unwrap_or_default();
        let [verb, sources @ .., target] = rest else { return };
        if sources.is_empty() || !SHUTTLING.contains(&verb.text.as_str()) {
            return;
        }
        let here = |word: &&Word| !word.text.contains(':');
        sources.iter().filter(here).for_each(|source| self.push(source, Role::Read));
        if here(&target) {
            self.push(target, Role::Write);
            sources.iter().for_each(|source| self.push(&inside(target, source), Role::Write));
        }
    }

    /// `socat` joins two ends, of which each may be a file: one that is read, or written where it is not said that it is not.
    pub(super) fn joined(&mut self, arguments: &[Word]) {
        let (ends, _) = operands(arguments, &["-b", "-L", "-lf", "-lp", "-r", "-R", "-s", "-t", "-T", "-W"]);
        values_of(arguments, &["-lf", "-r", "-R"]).iter().for_each(|file| self.push(file, Role::Write));
        for (number, end) in ends.iter().enumerate() {
            let only_read = match number {
                0 => has_option(arguments, &["-u"]),
                _ => has_option(arguments, &["-U"]),
            };
            for (file, told) in end.text.split("!!").filter_map(end_of) {
                let file = Word { text: file.to_owned(), ..end.clone() };
                let role = if only_read || told.contains(&"rdonly") { Role::Read } else { Role::Write };
                self.push(&file, role);
            }
        }
    }

    /// What a formatter lays out anew.
    pub(super) fn formatted(&mut self, program: &str, arguments: &[Word]) {
        let Some(row) = FORMATTERS.iter().find(|row| row.program == program) else { return };
        let told = row.writes.is_empty() || has_option(arguments, row.writes);
        if told && !has_option(arguments, row.only_shows) {
            let (files, _) = operands(arguments, row.valued);
            files.iter().for_each(|file| self.push_how(file, Role::Write, How::Formatted));
        }
    }

    /// A name made for something new.
    pub(super) fn new_name(&mut self, arguments: &[Word]) {
        let dir = values_of(arguments, &["-p", "--tmpdir"]).pop();
        let (named, _) = operands(arguments, MKTEMP);
        let name = named.first().cloned();
        let place = match (dir, name) {
            (Some(dir), name) => {
                let name = name.unwrap_or_else(|| Word::literal("tmp.mktemp"));
                below(&dir, &name.text, &name)
            }
            (None, Some(name)) => name,
            (None, None) => return,
        };
        self.push_how(&place, Role::Write, How::Metadata);
    }

    /// A key that is made, with its public half; some commands only tell of one.
    pub(super) fn keys(&mut self, arguments: &[Word]) {
        let shows = has_option(arguments, &["-y", "-l", "-e", "-B", "-F"]);
        for file in values_of(arguments, &["-f"]) {
            if shows {
                self.push_how(&file, Role::Read, How::Measured);
                continue;
            }
            self.push(&file, Role::Write);
            self.push(&Word { text: format!("{}.pub", file.text), ..file }, Role::Write);
        }
    }
}
