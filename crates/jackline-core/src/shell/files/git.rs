//! Git: which of its many commands change which files, and which settings of its make it run something.

use super::super::{Command, Dir, How, Word, options};
use super::Found;
use super::arguments::{has_option, operands, values_of};
use super::parted::parted;
use super::pathspecs::{self, Meant};
use crate::path::Role;

/// Options before the subcommand that take a value.
pub(in crate::shell) const VALUED: &[&str] = &[
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--exec-path",
    "--config-env",
    "--super-prefix",
    "--attr-source",
    "--shallow-file",
];

/// Settings that make git run something, read other settings, or find its hooks and files elsewhere.
const RUNNING: &[&str] = &[
    "core.hookspath",
    "core.fsmonitor",
    "core.sshcommand",
    "core.editor",
    "core.pager",
    "core.worktree",
    "core.askpass",
    "core.gitproxy",
    "core.attributesfile",
    "sequence.editor",
    "init.templatedir",
    "diff.external",
    "include.path",
    "core.alternaterefscommand",
    "gc.recentobjectshook",
    "imap.tunnel",
    "interactive.difffilter",
    "uploadpack.packobjectshook",
];

/// Settings that make git run a command only where their value begins with this sign.
const SIGNED: &str = "!";

/// Such settings, by their first and last parts.
const RUNNING_IF_SIGNED: &[(&str, &str)] = &[("credential.", "helper"), ("submodule.", ".update")];

/// Settings that make git run a command unless their value is one of these.
const RUNNING_UNLESS: &[(&str, &[&str])] = &[("pager.", &["true", "false", "yes", "no", "on", "off", "1", "0", ""])];

/// The same by their first or last part.
const RUNNING_PARTS: &[&str] = &[
    "alias.",
    "filter.",
    "includeif.",
    "hook.",
    "protocol.ext.",
    ".textconv",
    ".driver",
    ".program",
    ".command",
    ".cmd",
    ".uploadpack",
    ".receivepack",
    ".cccmd",
    ".headercmd",
    ".sendmailcmd",
    ".tocmd",
];

/// Commands that change no file of the work tree because of its name in their arguments, those apart that are read above.
const HARMLESS: &[&str] = &[
    "add",
    "archive",
    "bisect",
    "branch",
    "bundle",
    "check-attr",
    "check-ignore",
    "clone",
    "commit",
    "count-objects",
    "describe",
    "diff-files",
    "diff-index",
    "diff-tree",
    "difftool",
    "fetch",
    "for-each-ref",
    "format-patch",
    "fsck",
    "gc",
    "help",
    "init",
    "interpret-trailers",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "maintenance",
    "merge-base",
    "merge-file",
    "merge-tree",
    "name-rev",
    "notes",
    "prune",
    "push",
    "range-diff",
    "reflog",
    "remote",
    "reset",
    "rev-list",
    "rev-parse",
    "rm",
    "shortlog",
    "show-ref",
    "status",
    "submodule",
    "switch",
    "tag",
    "update-index",
    "version",
    "whatchanged",
    "worktree",
];

/// Options of its commands that take a value, where they take files.
const VALUED_AFTER: &[(&str, &[&str])] = &[
    ("checkout", &["-b", "-B", "-U", "--conflict", "--orphan", "--pathspec-from-file", "--unified"]),
    ("clean", &["-e", "--exclude"]),
    ("clone", CLONE),
    ("restore", &["-s", "-U", "--conflict", "--pathspec-from-file", "--source", "--unified"]),
    ("rm", &["--pathspec-from-file"]),
    ("stash", &["-m", "--message", "--pathspec-from-file"]),
];
const CLONE: &[&str] = &[
    "-b",
    "-c",
    "-j",
    "-o",
    "-u",
    "--branch",
    "--bundle-uri",
    "--config",
    "--depth",
    "--filter",
    "--jobs",
    "--origin",
    "--reference",
    "--reference-if-able",
    "--revision",
    "--separate-git-dir",
    "--server-option",
    "--shallow-exclude",
    "--shallow-since",
    "--template",
    "--upload-pack",
];

/// Options of `git config` that take a value, and those with which it only shows something.
const CONFIG: &[&str] = &["-f", "--file", "--blob", "--type", "-t", "--default", "--comment", "--value"];
const READING: &[&str] =
    &["--get", "--get-all", "--get-regexp", "--get-urlmatch", "-l", "--list", "--get-color", "--get-colorbool"];

/// Options of git's other commands that usually take a value.
const USUALLY_VALUED: &[&str] = &["-L", "-m", "-b", "-B", "-o"];

/// What becomes of files that git puts back.
const RESTORED: (Role, How) = (Role::Write, How::Restored);

/// Commands of `git stash` that change no file, and those that put files back.
const STASHED: &[&str] = &["clear", "create", "drop", "export", "list", "show", "store"];
const UNSTASHING: &[&str] = &["apply", "branch", "import", "pop"];

/// The words after git's own options.
pub(in crate::shell) fn without_git_options(arguments: &[Word]) -> Vec<Word> {
    let mut words = arguments.iter().peekable();
    while let Some(word) = words.next_if(|word| word.text.starts_with('-')) {
        if VALUED.contains(&word.text.as_str()) {
            words.next();
        }
    }
    words.cloned().collect()
}

/// The words of a command as they would be if the work tree that a variable names were named by an option.
pub(in crate::shell) fn in_work_tree<'a>(
    program: &str,
    words: &'a [Word],
    env: &[(String, Word)],
) -> std::borrow::Cow<'a, [Word]> {
    let tree = env.iter().rfind(|(name, _)| program == "git" && name == "GIT_WORK_TREE").map(|(_, tree)| tree);
    match (words.split_first(), tree) {
        (Some((git, rest)), Some(tree)) => {
            let option = Word { text: format!("--work-tree={}", tree.text), ..tree.clone() };
            [git.clone(), option].into_iter().chain(rest.iter().cloned()).collect()
        }
        _ => words.into(),
    }
}

/// Settings that decide which hooks run; given for one command alone, they switch off what the owner relies on. The
/// other settings that make git run something are read for what they run.
const HOOKING: &[&str] = &["core.hookspath", "hook.", "include.path", "includeif."];

/// The settings that a command changes, or has changed for itself alone, of those that make git run something.
#[must_use]
pub fn git_settings(command: &Command) -> Vec<String> {
    let Some(arguments) = command.words.get(1..).filter(|_| command.program() == Some("git")) else {
        return Vec::new();
    };
    let given = values_of(before_command(arguments), &["-c", "--config-env"]);
    let keys = given.iter().filter_map(|word| word.text.split('=').next()).map(str::to_owned);
    let hooking = |key: &String| HOOKING.iter().any(|known| key.to_ascii_lowercase().starts_with(known));
    keys.filter(hooking).chain(setting(arguments)).collect()
}

/// Whether `git config` is told to show settings and nothing else.
fn only_reads(rest: &[Word]) -> bool {
    let mut options = rest.iter().take_while(|word| word.text != "--");
    let first = operands(rest, CONFIG).0.first().is_some_and(|word| matches!(word.text.as_str(), "get" | "list"));
    first || options.any(|word| READING.contains(&word.text.as_str()))
}

/// The setting that `git config` changes.
fn setting(arguments: &[Word]) -> Option<String> {
    let words = without_git_options(arguments);
    let rest = words.split_first().filter(|(sub, _)| sub.text == "config")?.1;
    let (named, _) = operands(rest, CONFIG);
    // Git takes any beginning of a long option for the whole.
    let told = |options: &[&str]| {
        let cut = |word: &Word| word.text.len() > 2 && options.iter().any(|option| option.starts_with(&word.text));
        has_option(rest, options) || rest.iter().filter(|word| word.text.starts_with("--")).any(cut)
    };
    let removes = told(&["--unset", "--unset-all", "--remove-section", "--rename-section"]);
    let sections = told(&["--remove-section", "--rename-section"]);
    let key = match named.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().as_slice() {
        _ if only_reads(rest) => return None,
        // An editor is handed all of them.
        ["edit"] => "edit",
        ["remove-section" | "rename-section", sections @ ..] => return moves(sections),
        names if sections => return moves(names),
        [] if told(&["-e", "--edit"]) => return Some("--edit".to_owned()),
        ["set", key, value, ..] if runs_by_value(key, value) => return Some((*key).to_owned()),
        ["set" | "unset", key, ..] => *key,
        [key, value, ..] if runs_by_value(key, value) => return Some((*key).to_owned()),
        [key, _, ..] => key,
        [key] if removes || told(&["--add", "--replace-all"]) => key,
        _ => return None,
    };
    (key == "edit" || key.contains('$') || makes_run(key)).then(|| key.to_owned())
}

/// The section that goes, or the one that its settings come to stand in, where that makes git run something else.
fn moves(sections: &[&str]) -> Option<String> {
    let (old, new) = (sections.first()?, sections.get(1));
    takes_away(old).or_else(|| new.and_then(|new| takes_away(new).or_else(|| takes_in(new))))
}

/// A section that makes git run something by what its settings say, which nobody knows of those that come to it.
fn takes_in(section: &str) -> Option<String> {
    let front = format!("{}.", section.to_ascii_lowercase());
    let by_value =
        || RUNNING_IF_SIGNED.iter().map(|(first, _)| first).chain(RUNNING_UNLESS.iter().map(|(first, _)| first));
    by_value().any(|first| front.starts_with(first)).then(|| section.to_owned())
}

/// A section of settings, where some of those that may stand in it make git run something.
fn takes_away(section: &str) -> Option<String> {
    let front = format!("{}.", section.to_ascii_lowercase());
    let own = RUNNING.iter().chain(RUNNING_PARTS).any(|key| key.starts_with(&front));
    (own || section.contains('$') || makes_run(&front)).then(|| section.to_owned())
}

/// Whether a setting makes git run something by what it is set to.
pub(in crate::shell) fn runs_by_value(key: &str, value: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let signed = value.starts_with(SIGNED) || value.contains('$');
    let if_signed = |(first, last): &(&str, &str)| key.starts_with(first) && key.ends_with(last);
    let unless = |(first, plain): &(&str, &[&str])| key.starts_with(first) && !plain.contains(&value);
    signed && RUNNING_IF_SIGNED.iter().any(if_signed) || RUNNING_UNLESS.iter().any(unless)
}

/// Whether a setting makes git run something, or look elsewhere for what it runs.
pub(in crate::shell) fn makes_run(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let part = |part: &&str| if part.starts_with('.') { key.ends_with(*part) } else { key.starts_with(*part) };
    RUNNING.contains(&key.as_str()) || RUNNING_PARTS.iter().any(part)
}

impl Found<'_> {
    pub(super) fn git(&mut self, arguments: &[Word], input: Option<&Word>) {
        let given = before_command(arguments);
        for option in ["--work-tree", "-C"] {
            self.enter_each(&values_of(given, &[option]));
        }
        let set = values_of(given, &["-c"]).into_iter().filter_map(|word| {
            let (key, dir) = word.text.split_once('=')?;
            key.eq_ignore_ascii_case("core.worktree").then(|| Word { text: dir.to_owned(), ..word.clone() })
        });
        self.enter_each(&set.collect::<Vec<_>>());
        let words = without_git_options(arguments);
        let Some((command, rest)) = words.split_first() else { return };
        // `git clean --help` shows a page.
        if rest.first().is_some_and(|word| matches!(word.text.as_str(), "--help" | "-h")) {
            return;
        }
        let valued = VALUED_AFTER.iter().find(|(name, _)| *name == command.text);
        let valued = valued.map_or(USUALLY_VALUED, |(_, valued)| *valued);
        let rest = &*parted("git", rest, valued);
        let (paths, _) = operands(rest, valued);
        let caseless = given.iter().any(|word| word.text == "--icase-pathspecs");
        let meant = |paths: &[Word]| pathspecs::meant(paths, caseless);
        for file in values_of(rest, &["--output"]) {
            self.push(&file, Role::Write);
        }
        match command.text.as_str() {
            "rm" if has_option(rest, &["--cached", "-n", "--dry-run"]) => {}
            "rm" if has_option(rest, &["--pathspec-from-file"]) => self.push_everything(Role::Delete),
            "rm" => self.push_meant(meant(&paths), (Role::Delete, How::Whole)),
            "mv" => self.transfer(&paths, None, Role::Delete),
            // Only the index is put back.
            "restore" if has_option(rest, &["--staged", "-S"]) && !has_option(rest, &["--worktree", "-W"]) => {}
            "restore" => self.push_meant(meant(&paths), RESTORED),
            "checkout" => self.checkout(rest, &paths, caseless),
            "clean" if only_shows(rest) => {}
            "clean" => {
                self.push_meant(meant(&paths), (Role::Delete, How::Whole));
                if paths.is_empty() {
                    self.push_everything(Role::Delete);
                }
            }
            "stash" => self.stashed(rest, &paths, caseless),
            "apply" | "am" => {
                self.enter_each(&values_of(rest, &["--directory"]));
                self.patched(input);
                self.push_everything(Role::Write);
            }
            "diff" if has_option(rest, &["--no-index"]) => self.push_each(&paths, Role::Read),
            "hash-object" => self.push_each(&paths, Role::Read),
            "annotate" | "blame" | "cat-file" | "diff" | "show" => self.git_shown(&paths),
            "log" if has_option(rest, &["-p", "-u", "-L", "--patch"]) => self.git_shown(&paths),
            "checkout-index" if !paths.is_empty() => {
                let prefix = values_of(rest, &["--prefix"]).pop().unwrap_or_default().text;
                let placed = |path: &Word| Word { text: format!("{prefix}{}", path.text), ..path.clone() };
                self.push_restored(&paths.iter().map(placed).collect::<Vec<_>>());
            }
            "config" => self.git_config(rest),
            "grep" => self.git_grep(rest),
            "merge" | "rebase" | "pull" | "revert" | "cherry-pick" | "checkout-index" | "read-tree" => {
                self.push_everything(Role::Write)
            }
            "reset" if has_option(rest, &["--hard", "--merge", "--keep"]) => self.push_everything(Role::Write),
            _ => self.git_elsewhere(command, rest, &paths),
        }
    }

    /// What is put aside goes from the work tree, or comes back to it.
    fn stashed(&mut self, rest: &[Word], paths: &[Word], caseless: bool) {
        let is_one = |names: &[&str]| rest.first().is_some_and(|word| names.contains(&word.text.as_str()));
        if is_one(STASHED) {
            return;
        }
        // What git does not know yet is taken away as well.
        let takes = has_option(rest, &["-a", "-u", "--all", "--include-untracked"]) && !is_one(UNSTASHING);
        let role = if takes { Role::Delete } else { Role::Write };
        let dashed = rest.iter().any(|word| word.text == "--");
        let files = match paths.split_first() {
            Some((first, files)) if first.text == "push" => files,
            _ if dashed => paths,
            _ => &[],
        };
        match files.is_empty() {
            true => self.push_everything(role),
            false => self.push_meant(pathspecs::meant(files, caseless), (role, How::Whole)),
        }
    }

    /// What is shown of files: those that are named, with a revision before them or without. A name may be that of a
    /// revision, and one that is not known usually is.
    fn git_shown(&mut self, names: &[Word]) {
        for name in names.iter().filter(|name| name.known()) {
            // `:/text` looks for a commit, and other signs for more than one file.
            let path = name.text.split_once(':').map_or(Some(name.text.as_str()), |(_, path)| {
                Some(path).filter(|path| !path.starts_with(['/', '(', '!', '^']))
            });
            path.iter().for_each(|path| self.push(&Word::literal(*path), Role::Read));
        }
    }

    /// Settings in a file of their own.
    fn git_config(&mut self, rest: &[Word]) {
        let role = if only_reads(rest) { Role::Read } else { Role::Write };
        values_of(rest, &["-f", "--file"]).iter().for_each(|file| self.push(file, role));
    }

    /// Commands that write somewhere else than in the work tree.
    fn git_elsewhere(&mut self, command: &Word, rest: &[Word], paths: &[Word]) {
        match (command.text.as_str(), paths) {
            // A whole tree is laid out there.
            ("worktree", [action, dir, ..]) if action.text == "add" => self.push(dir, Role::Write),
            ("worktree", [action, dir, ..]) if action.text == "remove" => {
                self.push_how(dir, Role::Write, How::Metadata)
            }
            ("worktree", [action, from, to, ..]) if action.text == "move" => {
                self.push_how(from, Role::Write, How::Metadata);
                self.push_how(to, Role::Write, How::Metadata);
            }
            ("clone", [_, dir, ..]) => self.push(dir, Role::Write),
            ("submodule", [action, _, dir, ..]) if action.text == "add" => self.push(dir, Role::Write),
            ("merge-file", [file, others @ ..]) => {
                let shows = has_option(rest, &["-p", "--stdout"]);
                self.push(file, if shows { Role::Read } else { Role::Write });
                self.push_each(others, Role::Read);
            }
            ("mailinfo", [message, patch, ..]) => self.push_each(&[message.clone(), patch.clone()], Role::Write),
            ("interpret-trailers", files) if has_option(rest, &["--in-place"]) => self.push_each(files, Role::Write),
            ("init", dirs) => {
                self.push_how(&Word::literal("."), Role::Write, How::Metadata);
                dirs.iter().for_each(|dir| self.push_how(dir, Role::Write, How::Metadata));
                if has_option(rest, &["--template"]) {
                    // The template's hooks become the repository's.
                    self.push(&Word::literal(".git/hooks"), Role::Write);
                }
            }
            ("archive" | "format-patch", _) => {
                values_of(rest, &["-o", "--output-directory"]).iter().for_each(|file| self.push(file, Role::Write));
            }
            ("bundle", [action, file, ..]) if action.text == "create" => self.push(file, Role::Write),
            // What the index holds is laid out later.
            ("update-index", _) if has_option(rest, &["--cacheinfo"]) => {
                let parts = rest.iter().flat_map(|word| word.text.split(',').map(Word::literal));
                self.name_own(&parts.collect::<Vec<_>>());
            }
            ("sparse-checkout", [action, patterns @ ..]) if matches!(action.text.as_str(), "set" | "add") => {
                self.thinned_out(patterns);
            }
            // Of a command that we do not know no more is known than of a program.
            (other, _) if !HARMLESS.contains(&other) => self.name_own(rest),
            _ => {}
        }
    }

    /// What goes from the work tree where only some of it is wanted: what is not, and every other directory.
    fn thinned_out(&mut self, patterns: &[Word]) {
        let unwanted = patterns.iter().filter_map(|word| Some((word.text.strip_prefix('!')?, word)));
        for (text, word) in unwanted {
            let text = text.trim_start_matches('/').to_owned();
            self.push(&Word { glob: true, dots: true, text, ..word.clone() }, Role::Delete);
        }
        if !patterns.iter().any(|word| word.text == "/*") {
            self.push(&Word { glob: true, dots: true, ..Word::literal("*/**") }, Role::Delete);
        }
    }

    /// `git checkout [TREE] [--] FILES`; the first name is a branch or a file.
    fn checkout(&mut self, rest: &[Word], paths: &[Word], caseless: bool) {
        let after_dashes: Vec<Word> = rest.iter().skip_while(|word| word.text != "--").skip(1).cloned().collect();
        let (first, files) = match (after_dashes.as_slice(), paths) {
            ([], [first, files @ ..]) => (Some(first), files),
            (after_dashes, _) => (None, after_dashes),
        };
        match first {
            Some(first) if pathspecs::is_one(first) => {
                self.push_meant(pathspecs::meant(std::slice::from_ref(first), caseless), RESTORED);
            }
            Some(first) => self.push_how(first, Role::Write, How::Named),
            None => {}
        }
        self.push_meant(pathspecs::meant(files, caseless), RESTORED);
    }

    /// The files that pathspecs stand for. What is seen from the top is looked for where the text begins, too.
    fn push_meant(&mut self, meant: Vec<Meant>, (role, how): (Role, How)) {
        for Meant { path, from_top } in meant {
            self.push_how(&path, role, how);
            if from_top && self.dir != Dir::Here {
                let here = std::mem::replace(&mut self.dir, Dir::Here);
                self.push_how(&path, role, how);
                self.dir = here;
            }
        }
    }

    fn push_restored(&mut self, paths: &[Word]) {
        paths.iter().for_each(|path| self.push_how(path, Role::Write, How::Restored));
    }
}

/// Whether `git clean` is told to delete nothing.
fn only_shows(rest: &[Word]) -> bool {
    let options = options::among("git", Some("clean"), rest.iter());
    ["-n", "--dry-run", "--help"].iter().any(|option| options.surely_has(option))
}

fn before_command(arguments: &[Word]) -> &[Word] {
    let rest = without_git_options(arguments).len();
    arguments.get(..arguments.len() - rest).unwrap_or_default()
}
