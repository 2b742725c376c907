//! A call as guards see it: its kind, the paths it touches, and what its shell text says.
//!
//! Everything here is read off the event and the definition; where a path leads is asked with a probe.

mod arguments;
mod signature;
mod suspicion;
mod touch;
mod views;

use arguments::{command_text, decoded, directories, strings_at, suspected_text};
pub use signature::Signature;
pub use touch::{Copied, Only, Touch};
pub use views::Views;

use crate::definition::Kind;
use crate::definition::model::Declaration;
use crate::event::Call;
use crate::glob;
use crate::listing::MCP_HOST;
use crate::patch;
use crate::path::{self, Role};
use crate::probe::Probe;
use crate::shell::{self, Dir, Reading, ShellText};
use crate::spelling::{self, Spelling};
use crate::tools::{self, PATH_ARGUMENTS, Tool};

/// Paths judged of one call; a call that touches more counts as touching something that cannot be told.
pub const TOUCHES_MAX: usize = 256;

/// A call as guards see it.
#[derive(Debug, Clone)]
pub struct View<'a> {
    pub call: &'a Call,
    pub kind: Kind,
    /// Neither the host nor the definition knows this tool.
    pub unknown: bool,
    /// A definition says what the tool is.
    pub declared: bool,
    pub touches: Vec<Touch>,
    /// How many of them, at the end, are the same paths seen from elsewhere.
    pub(crate) elsewhere: usize,
    /// What a tool of which nothing is known may write: only what guards us is held against it.
    pub suspected: Vec<Touch>,
    /// The shell text that such a tool may run.
    pub suspected_text: Option<(String, Reading)>,
    /// The programs that it may run, in any language.
    pub suspected_programs: Vec<&'a str>,
    /// It writes, but no argument says where.
    pub pathless: bool,
    /// It changes more paths than are judged.
    pub crowded: bool,
    /// What its shell text says, for shell tools.
    pub shell: Option<ShellText>,
    /// What is known of the tool itself.
    pub row: Option<&'static Tool>,
    /// The other name of a tool of our own server: what the owner says of one holds for both.
    pub other: Option<String>,
    /// Other names that the tool may have, where its host's name of it does not say where the server's name ends.
    pub maybe: Vec<String>,
    /// Its own name, where its host does not say of which server it is.
    pub of_some_server: Option<&'a str>,
    /// Our own server tells of the call.
    pub served: bool,
}

impl<'a> View<'a> {
    /// Looks at a call from `dir`, with what is declared of its tool.
    #[must_use]
    pub fn new(call: &'a Call, host: Option<&str>, dir: &str, declared: Option<&Declaration>) -> Self {
        let of_some_server = tools::of_some_server(host, &call.tool);
        let maybe = tools::other_splits(host, &call.tool);
        let row = tools::lookup(host, &call.tool);
        let guess = || std::iter::once(&call.tool).chain(&maybe).find_map(|name| tools::guess(name));
        let said = declared.is_some_and(|declaration| declaration.kind.is_some());
        let guessed = if row.is_none() && !said { guess() } else { None };
        let kind = declared
            .and_then(|declaration| declaration.kind)
            .or_else(|| row.or(guessed).map(|row| row.kind))
            .unwrap_or(Kind::Other);
        let native = row.filter(|row| tools::is_native(host, row));
        let places: Vec<&str> = match (declared.map(|declaration| declaration.path.as_slice()), native) {
            (Some(names), _) if !names.is_empty() => names.iter().map(String::as_str).collect(),
            (_, Some(row)) => row.paths.to_vec(),
            (_, None) => row.or(guessed).map(usual_places).unwrap_or_default(),
        };
        let mut view = Self {
            call,
            kind,
            unknown: declared.is_none() && row.is_none(),
            declared: declared.is_some(),
            touches: Vec::new(),
            elsewhere: 0,
            suspected: Vec::new(),
            suspected_text: None,
            suspected_programs: Vec::new(),
            pathless: false,
            crowded: false,
            shell: None,
            row,
            other: tools::other_name(host, &call.tool),
            maybe,
            of_some_server,
            served: tools::is_at_own_server(host, &call.tool),
        };
        if kind == Kind::Shell {
            view.read_shell(native, dir);
        }
        view.find_paths(&places, dir);
        if view.unknown && guessed.is_none_or(|row| matches!(row.kind, Kind::Write | Kind::Shell | Kind::Other)) {
            view.suspect(dir);
        }
        view.bound();
        // What names no path here names none from elsewhere.
        let says_where = view.shell.is_some() || view.suspected_text.is_some();
        if says_where || !view.touches.is_empty() || !view.suspected.is_empty() {
            for other in call.dirs.iter().filter(|other| *other != dir) {
                view.see_from(other, host, declared);
            }
        }
        view
    }

    /// Adds what the call touches if its paths are seen from another directory: which one is meant, nobody knows here.
    fn see_from(&mut self, dir: &str, host: Option<&str>, declared: Option<&Declaration>) {
        let call = Call { dirs: Vec::new(), ..self.call.clone() };
        let seen = View::new(&call, host, dir, declared);
        let relative = |touch: &Touch| !touch.path.starts_with(['/', '~']);
        // Which of them was read cannot be told, so none of these counts as read.
        let touches = seen.touches.into_iter().filter(relative).map(|touch| Touch { whole: false, ..touch });
        let fresh: Vec<Touch> = touches.filter(|touch| !self.touches.contains(touch)).collect();
        self.elsewhere += fresh.len();
        self.touches.extend(fresh);
        self.suspected.extend(seen.suspected.into_iter().filter(relative));
    }

    /// What it touches if its paths are seen from where they are said to be.
    pub(crate) fn here(&self) -> impl Iterator<Item = &Touch> {
        self.touches.iter().take(self.touches.len().saturating_sub(self.elsewhere))
    }

    /// The names that the tool goes by.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.call.tool.as_str()).chain(self.other.as_deref())
    }

    /// Those, and the ones that it may go by.
    pub fn possible_names(&self) -> impl Iterator<Item = &str> {
        self.names().chain(self.maybe.iter().map(String::as_str))
    }

    /// The shell text's commands, when there is one and it could be parsed.
    #[must_use]
    pub fn reading(&self) -> Option<&Reading> {
        match &self.shell {
            Some(ShellText::Reading(reading)) => Some(reading),
            _ => None,
        }
    }

    /// The raw shell text, for a last look where it could not be parsed.
    #[must_use]
    pub fn shell_text(&self) -> Option<String> {
        (self.kind == Kind::Shell).then(|| self.command_text()).flatten()
    }

    fn command_text(&self) -> Option<String> {
        if self.row.is_some_and(Tool::runs_unsaid) {
            return None;
        }
        command_text(&self.call.args, self.row.and_then(|row| row.command))
    }

    fn read_shell(&mut self, native: Option<&Tool>, dir: &str) {
        let Some(text) = self.command_text() else {
            self.shell = Some(ShellText::Unparsable("the call carries no command text".to_owned()));
            return;
        };
        let shell = match self.row.and_then(|row| row.language) {
            Some(language) => ShellText::Unparsable(format!("{} is not read", language.name)),
            None => shell::read(&text),
        };
        if let ShellText::Reading(reading) = &shell {
            self.touches = from_each(directories(&decoded(&self.call.args), native), dir, reading);
        }
        self.shell = Some(shell);
    }

    /// What a call of a tool that nobody knows may write and run.
    fn suspect(&mut self, dir: &str) {
        let found = suspicion::paths(&self.call.tool, &self.call.args);
        let role = if suspicion::takes_by_name(&self.call.tool) { Role::Delete } else { Role::Write };
        self.suspected = found.iter().map(|text| self.meant(text, dir, role).0).collect();
        self.suspected_programs = suspicion::programs(&self.call.args);
        let known = || self.row.is_some_and(|row| row.command.is_some() || row.runs_unsaid());
        let text = if known() { self.command_text() } else { suspected_text(&self.call.args) };
        if let Some(text) = text.filter(|_| self.shell.is_none())
            && let ShellText::Reading(reading) = shell::read(&text)
        {
            self.suspected.extend(from_each(directories(&decoded(&self.call.args), None), dir, &reading));
            self.suspected_text = Some((text, reading));
        }
        self.suspected.retain(|touch| touch.role.changes());
        self.crowded |= self.suspected.len() > TOUCHES_MAX;
        self.suspected.truncate(TOUCHES_MAX);
    }

    fn find_paths(&mut self, names: &[&str], dir: &str) {
        let role = match self.kind {
            Kind::Write => Role::Write,
            _ => Role::Read,
        };
        let named =
            if names.is_empty() && matches!(self.kind, Kind::Read | Kind::Write) { PATH_ARGUMENTS } else { names };
        let mut found: Vec<(String, Role)> = Vec::new();
        let mut odd = false;
        for name in named {
            if let Some(name) = name.strip_prefix("glob:") {
                self.find_patterns(name, dir);
                continue;
            }
            if let Some(name) = name.strip_prefix("within:") {
                self.find_contents(name, &found, dir);
                continue;
            }
            match name.strip_prefix("patch:") {
                Some(name) => strings_at(&self.call.args, name, &mut |text| {
                    odd |= patch::is_odd(text);
                    found.extend(patch::files(text));
                }),
                None => self.roles_of(name, role, &mut |text, role| found.push((text.to_owned(), role))),
            }
        }
        self.pathless = self.kind == Kind::Write && (odd || found.iter().all(|(path, _)| path.is_empty()));
        let whole = self.kind == Kind::Read;
        for (text, role) in found {
            let (named, others) = self.meant(&text, dir, role);
            self.touches.push(Touch { whole, ..named });
            self.touches.extend(others);
        }
    }

    /// A pattern of paths that begins elsewhere than where the search does.
    fn find_patterns(&mut self, name: &str, dir: &str) {
        let leaves = |text: &str| text.starts_with(['/', '~']) || text.split('/').any(|part| part == "..");
        let mut found: Vec<String> = Vec::new();
        strings_at(&self.call.args, name, &mut |text| found.extend(leaves(text).then(|| text.to_owned())));
        let touch = |path| Touch::plain(Spelling { path, readings: Vec::new() }, dir, Role::Read);
        self.touches.extend(found.into_iter().map(|path| Touch { glob: true, ..touch(path) }));
    }

    /// A pattern of files whose content is shown, from where the search begins. What it says of every directory it says of
    /// none: such a search looks everywhere, as one without a pattern does. Where it takes all of a directory, it is that.
    fn find_contents(&mut self, name: &str, places: &[(String, Role)], dir: &str) {
        let base = places.first().map_or("", |(path, _)| path.trim_end_matches('/'));
        let mut found: Vec<String> = Vec::new();
        strings_at(&self.call.args, name, &mut |text| {
            let named = braced(text).into_iter().map(|pattern| bare(&pattern).to_owned());
            let named =
                named.filter(|pattern| !matches!(pattern.as_str(), "" | "*" | "**") && !pattern.starts_with('!'));
            let placed = |pattern: String| match base.is_empty() || pattern.starts_with(['/', '~']) {
                true => pattern,
                false => format!("{base}/{pattern}"),
            };
            found.extend(named.map(placed));
        });
        let touch = |path| Touch::plain(Spelling { path, readings: Vec::new() }, dir, Role::Read);
        self.touches.extend(found.into_iter().map(|path| Touch { glob: glob::is_pattern(&path), ..touch(path) }));
    }

    /// A path as the host that opens it may read it; a server's tool is nobody's we know. Who takes `~` for a name rarely
    /// finds something there to read, so such readings of what is read are touches of their own.
    fn meant(&self, text: &str, dir: &str, role: Role) -> (Touch, Vec<Touch>) {
        let host = self.row.map(|row| row.host).filter(|host| !matches!(*host, "" | MCP_HOST));
        let Spelling { path, readings } = spelling::read(host, dir, text);
        let (others, readings): (Vec<String>, Vec<String>) =
            readings.into_iter().partition(|reading| role == Role::Read && reading.starts_with("./~"));
        let others = others.into_iter().map(|path| if_present(path, dir, role)).collect();
        (Touch::plain(Spelling { path, readings }, dir, role), others)
    }

    /// The paths in an argument, and what becomes of them.
    fn roles_of(&self, name: &str, role: Role, found: &mut impl FnMut(&str, Role)) {
        if let Some(name) = name.strip_prefix("gone:") {
            return strings_at(&self.call.args, name, &mut |text| found(text, Role::Delete));
        }
        // Only its name says so: it may as well write there.
        let taken = role == Role::Write && tools::takes_away(&self.call.tool, name);
        strings_at(&self.call.args, name, &mut |text| {
            found(text, role);
            if taken {
                found(text, Role::Delete);
            }
        });
    }

    fn bound(&mut self) {
        if self.touches.len() > TOUCHES_MAX {
            // What is read must not crowd out what is changed.
            self.touches.sort_by_key(|touch| !touch.role.changes());
            self.crowded = self.touches.get(TOUCHES_MAX).is_some_and(|touch| touch.role.changes());
            let role = self.touches.iter().map(|touch| touch.role).max().unwrap_or(Role::Write);
            self.touches.truncate(TOUCHES_MAX);
            if let Some(last) = self.touches.last_mut() {
                *last = Touch { dynamic: true, role, path: format!("{} and more", last.path), ..last.clone() };
            }
        }
    }
}

/// The patterns that one with alternatives in braces stands for; of several braces the first are looked at.
fn braced(pattern: &str) -> Vec<String> {
    let parts = pattern.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    let Some((before, (inside, after))) = parts else { return vec![pattern.to_owned()] };
    inside.split(',').map(|part| format!("{before}{part}{after}")).collect()
}

/// A pattern without what stands for any directory before it, and for everything below it.
fn bare(pattern: &str) -> &str {
    let mut bare = pattern.trim_start_matches("./");
    while let Some(rest) = bare.strip_prefix("**/") {
        bare = rest;
    }
    while let Some(rest) = bare.strip_suffix("/**").or_else(|| bare.strip_suffix("/*")) {
        bare = rest;
    }
    bare
}

/// A path that is touched only where something is there.
fn if_present(path: String, dir: &str, role: Role) -> Touch {
    let there = Probe::Identity { path: path.clone(), dir: dir.to_owned() };
    Touch { only: Some(Only::Present(there)), ..Touch::plain(Spelling { path, readings: Vec::new() }, dir, role) }
}

/// Where a tool keeps its paths of which only the name is known is a guess: every usual place is looked at.
fn usual_places(row: &Tool) -> Vec<&'static str> {
    let named = |name: &&&str| row.paths.iter().any(|own| own.rsplit(':').next() == Some(**name));
    let usual = PATH_ARGUMENTS.iter().filter(|name| matches!(row.kind, Kind::Read | Kind::Write) && !named(name));
    row.paths.iter().chain(usual).copied().collect()
}

/// The host that makes the patches which stand in a shell's text.
const PATCHING: &str = "codex";

/// What a shell text touches, seen from each directory in which it may run.
fn from_each(directories: Vec<Option<&str>>, dir: &str, reading: &Reading) -> Vec<Touch> {
    let mut touches: Vec<Touch> = Vec::new();
    for (number, from) in directories.into_iter().flat_map(|named| starts(dir, named)).enumerate() {
        // An absolute path leads to the same place from everywhere.
        let seen = reading.touches.iter().filter(|touch| number == 0 || !touch.path.text.starts_with(['/', '~']));
        for touch in seen {
            touches.push(from_shell(touch, &from, placed));
            let Dir::At(place) = &touch.dir else { continue };
            if climbs(place) || climbs(&from) {
                touches.push(from_shell(touch, &from, walked));
                touches.extend(taken_back(touch, place, &from));
            }
        }
    }
    touches
}

/// What is touched where a shell has taken back what stands before `..`, and began in a directory that is walked.
fn taken_back(touch: &shell::Touch, place: &str, from: &str) -> Option<Touch> {
    let dir = touch.dir.folded();
    let other = match &dir {
        Dir::At(folded) => folded != place && walked(from, folded) != placed(from, place),
        Dir::Here | Dir::Unknown => climbs(from),
    };
    other.then(|| from_shell(&shell::Touch { dir, ..touch.clone() }, from, walked))
}

/// Where a text may begin that is run in a directory which is named so. Some hosts take back what stands before `..`; with
/// others it is walked as the kernel does.
fn starts(dir: &str, named: Option<&str>) -> Vec<String> {
    match named {
        None => vec![dir.to_owned()],
        Some(named) if climbs(named) => vec![path::join(dir, named), walked(dir, named)],
        Some(named) => vec![path::join(dir, named)],
    }
}

fn climbs(path: &str) -> bool {
    path.split('/').any(|part| part == "..")
}

fn from_shell(touch: &shell::Touch, from: &str, placed: fn(&str, &str) -> String) -> Touch {
    let path = touch.path.text.clone();
    let (dir, lost) = match &touch.dir {
        Dir::Here => (from.to_owned(), false),
        Dir::At(place) => (placed(from, place), false),
        Dir::Unknown => (from.to_owned(), !path.starts_with(['/', '~'])),
    };
    let Spelling { path, readings } = match touch.taken_apart {
        true => spelling::read(Some(PATCHING), &dir, &path),
        false => Spelling { path, readings: Vec::new() },
    };
    let only = touch.only.as_ref().map(|only| match only {
        shell::Only::Unentered(place) => {
            Only::Unentered(Probe::Identity { path: placed(from, place), dir: from.to_owned() })
        }
        shell::Only::Present(path) => Only::Present(Probe::Identity { path: path.clone(), dir: dir.clone() }),
        shell::Only::Searched(search) => Only::Searched(search.clone()),
        shell::Only::Copied { source, name, named, follows } => Only::Copied(Copied {
            source: Probe::Identity { path: source.clone(), dir: dir.clone() },
            name: name.clone(),
            named: named.clone(),
            follows: *follows,
        }),
    });
    let mut touch = Touch {
        path,
        readings,
        dir,
        role: touch.role,
        whole: touch.whole,
        seen: touch.seen,
        glob: touch.path.glob,
        dots: touch.path.dots,
        brought: touch.path.brought,
        listed: touch.path.listed,
        chosen: touch.path.chosen,
        dynamic: touch.path.dynamic || lost,
        how: touch.how,
        only,
    };
    // Where `..` leads from a directory that a pattern chooses depends on the directory.
    touch.dynamic |= touch.split().1.split('/').any(|part| part == "..");
    touch
}

fn placed(from: &str, place: &str) -> String {
    if place.starts_with('~') { place.to_owned() } else { path::join(from, place) }
}

fn walked(from: &str, place: &str) -> String {
    if place.starts_with(['~', '/']) { place.to_owned() } else { format!("{from}/{place}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn call(tool: &str, args: Value) -> Call {
        Call::new(tool, args)
    }

    #[track_caller]
    fn check(tool: &str, args: Value, want: &[(&str, Role)]) {
        let call = call(tool, args);
        let view = View::new(&call, None, "/ws", None);
        let found: Vec<_> = view.touches.iter().map(|touch| (touch.path.as_str(), touch.role)).collect();
        assert_eq!(found, want);
    }

    #[test]
    fn paths_are_found_where_each_tool_keeps_them() {
        check("Write", json!({"file_path": "/ws/a", "content": "x"}), &[("/ws/a", Role::Write)]);
        check("NotebookEdit", json!({"notebook_path": "n.ipynb"}), &[("n.ipynb", Role::Write)]);
        check("read_many_files", json!({"paths": ["a", "b"]}), &[("a", Role::Read), ("b", Role::Read)]);
        check(
            "multiedit",
            json!({"filePath": "a", "edits": [{"filePath": "b"}, {"other": 1}]}),
            &[("a", Role::Write), ("b", Role::Write)],
        );
        check(
            "apply_patch",
            json!({"command": "*** Begin Patch\n*** Update File: a\n@@\n*** Delete File: b\n*** End Patch"}),
            &[("a", Role::Write), ("b", Role::Delete)],
        );
        check("deploy", json!({"path": "a"}), &[]);
        check("mcp__files__edit_file", json!({"file_path": "a"}), &[("a", Role::Write)]);
        check(
            "mcp__files__move_file",
            json!({"source": "a", "destination": "b"}),
            &[("a", Role::Delete), ("b", Role::Write)],
        );
        check("delete_file", json!({"path": "a"}), &[("a", Role::Delete)]);
        check("mcp__files__remove_directory", json!({"path": "a"}), &[("a", Role::Delete)]);
    }

    #[test]
    fn patterns_are_split_before_their_first_wildcard() {
        let split = |path: &str, glob: bool| {
            let spelling = Spelling { path: path.to_owned(), readings: Vec::new() };
            let touch = Touch { glob, ..Touch::plain(spelling, "", Role::Read) };
            let (anchor, rest) = touch.split();
            (anchor.to_owned(), rest.to_owned())
        };
        assert_eq!(split("*", true), (".".into(), "*".into()));
        assert_eq!(split("a/b*/c", true), ("a".into(), "b*/c".into()));
        assert_eq!(split("/x*", true), ("/".into(), "x*".into()));
        assert_eq!(split(".", true), (".".into(), String::new()));
        assert_eq!(split("a*", false), ("a*".into(), String::new()));
    }

    #[test]
    fn an_argument_that_the_host_does_not_know_moves_nothing() {
        let dirs = |host: &str, tool: &str, argument: &str| -> Vec<String> {
            let call = call(tool, json!({"command": "rm a", "cmd": "rm a", argument: "src"}));
            View::new(&call, Some(host), "/ws", None).touches.into_iter().map(|touch| touch.dir).collect()
        };
        let own = [
            ("claude", "Bash", ""),
            ("codex", "Bash", ""),
            ("codex", "exec_command", "workdir"),
            ("gemini", "run_shell_command", "dir_path"),
            ("qwen", "run_shell_command", "directory"),
            ("opencode", "bash", "workdir"),
            ("copilot", "Bash", ""),
            ("cursor", "Shell", "working_directory"),
            ("vscode", "run_in_terminal", ""),
        ];
        for (host, tool, heeded) in own {
            for argument in ["workdir", "cwd", "directory", "dir_path", "working_directory"] {
                let want = if argument == heeded { "/ws/src" } else { "/ws" };
                assert_eq!(dirs(host, tool, argument), [want], "{host} {argument}");
            }
        }
        // Of another host nobody knows: it may run in either.
        assert_eq!(dirs("my-loop", "Bash", "cwd"), ["/ws/src", "/ws"]);
    }

    #[test]
    fn a_text_inside_an_argument_is_found_with_its_words() {
        let task = json!({"task": {"type": "shell", "command": "rm", "args": ["-r", "a b", ";x"]}});
        let view = |tool: &str, args: Value| {
            let call = call(tool, args);
            View::new(&call, Some("vscode"), "/ws", None).shell_text()
        };
        assert_eq!(view("create_and_run_task", task).as_deref(), Some("rm -r 'a b' ;x"));
        assert_eq!(view("run_in_terminal", json!("rm a")).as_deref(), Some("rm a"));
    }

    #[test]
    fn a_write_without_a_path_says_so() {
        let call = call("write_file", json!({"content": "x"}));
        assert!(View::new(&call, None, "/ws", None).pathless);
    }

    #[test]
    fn too_many_paths_cannot_be_told() {
        let names: Vec<String> = (0..2 * TOUCHES_MAX).map(|n| format!("f{n}")).collect();
        let call = call("read_many_files", json!({ "paths": names }));
        let view = View::new(&call, None, "/ws", None);
        assert_eq!(view.touches.len(), TOUCHES_MAX);
        assert!(view.touches.last().is_some_and(|touch| touch.dynamic));
    }
}
