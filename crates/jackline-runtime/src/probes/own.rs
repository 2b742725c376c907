//! What the agent may not change by default: our files, and the files that wire or unwire us in a host. The table of
//! it, with the words that reasons use.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use jackline_core::glob;
use jackline_core::instructions;
use jackline_core::own_files::label::{
    CLAUDE, CODEX, COPILOT, CURSOR, DEFINITION, GEMINI, GIT, OPENCODE, QWEN, WINDSURF,
};
use jackline_core::own_files::{DIRECTORIES, IN_WORKSPACE, label};

use jackline_core::stack::{Origin, Stack};
use jackline_core::tools::OWN_SERVER;

use super::fold;
use super::git::Repository;
use crate::files::Levels;
use crate::wiring::CommandLine;

/// A project's MCP servers, as several hosts read them.
const SERVERS: &[&str] = &[".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json"];
/// Bytes of that file that are looked through; real ones have a few hundred.
const SERVERS_BYTES_MAX: u64 = 64 * 1024;

/// A file or directory that is ours or a host's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnPath {
    /// Absolute; it need not exist.
    pub path: PathBuf,
    /// What it is, for reason texts.
    pub label: String,
    /// A glob of what below it is meant; without one all of it is.
    pub like: Option<&'static str>,
    /// It holds files that tell the host's agents what to do: they may be written, but bring no hooks along.
    pub instructs: bool,
}

impl OwnPath {
    /// A path and all below it.
    #[must_use]
    pub fn whole(path: PathBuf, label: &str) -> Self {
        Self { path, label: label.to_owned(), like: None, instructs: false }
    }
}

impl From<PathBuf> for OwnPath {
    /// A host's settings, wherever they lie.
    fn from(path: PathBuf) -> Self {
        Self::whole(path, label::HOST)
    }
}

/// Below the home directory.
const IN_HOME: &[(&str, &str)] = &[
    (".config/jackline", label::SETTINGS),
    (".claude/settings.json", CLAUDE),
    (".claude/settings.local.json", CLAUDE),
    // Servers of the user's and of each project, ours among them, and which projects are trusted.
    (".claude.json", CLAUDE),
    // Hooks that plugins bring along, and which of them are installed.
    (".claude/plugins", CLAUDE),
    // Texts that it has its shell read before every command.
    (".claude/shell-snapshots", CLAUDE),
    (".claude/session-env", CLAUDE),
    (".codex/config.toml", CODEX),
    (".codex/hooks.json", CODEX),
    // Variables that hooks are started with.
    (".codex/.env", CODEX),
    // Its transcripts say how commands ended.
    (".codex/sessions", CODEX),
    (".gemini/settings.json", GEMINI),
    // Which folders' hooks run, variables that switch them off, and what starts programs beside them.
    (".gemini/trustedFolders.json", GEMINI),
    (".gemini/.env", GEMINI),
    (".gemini/extensions", GEMINI),
    (".qwen/settings.json", QWEN),
    (".qwen/trustedFolders.json", QWEN),
    (".qwen/.env", QWEN),
    (".qwen/extensions", QWEN),
    (".config/opencode", OPENCODE),
    (".opencode", OPENCODE),
    // An entry there may have it fetch settings, plugins among them, from elsewhere.
    (".local/share/opencode/auth.json", OPENCODE),
    // Packages of its plugins, as it runs them.
    (".cache/opencode", OPENCODE),
    (".copilot/hooks", COPILOT),
    (".copilot/settings.json", COPILOT),
    (".copilot/config.json", COPILOT),
    // Programs that it starts, and plugins with hooks of their own.
    (".copilot/extensions", COPILOT),
    (".copilot/installed-plugins", COPILOT),
    (".copilot/mcp-config.json", COPILOT),
    (".copilot/lsp-config.json", COPILOT),
    (".cursor/hooks.json", CURSOR),
    (".cursor/mcp.json", CURSOR),
    (".codeium/windsurf/hooks.json", WINDSURF),
    // They hold for every repository, hooks and aliases included.
    (".gitconfig", GIT),
    (".config/git/config", GIT),
];

/// What makes a skill a plugin, which brings hooks along without having been installed.
const PLUGINS_AMONG_SKILLS: (&str, &str, &str) =
    (".claude/skills", "*/{.claude-plugin,.claude-plugin/**,hooks/hooks.json}", CLAUDE);

/// What counts below the workspace root in directories whose names nobody knows before, as the directory above them and a
/// glob below that.
const IN_WORKSPACE_LIKE: &[(&str, &str, &str)] = &[PLUGINS_AMONG_SKILLS];

/// The same at home.
const IN_HOME_LIKE: &[(&str, &str, &str)] = &[
    PLUGINS_AMONG_SKILLS,
    // What it starts in the background, and from what it takes sessions up again; but not what those put into `tmp`.
    (".claude", "{daemon,daemon/**,daemon.json,jobs,jobs/*,jobs/*/*.json,jobs/*/*.jsonl}", CLAUDE),
    // Settings that count when they are named (`--profile`).
    (".codex", "*.config.toml", CODEX),
    // Programs that it starts in one session.
    (".copilot/session-state", "*/extensions{,/**}", COPILOT),
];

/// Of the machine: what its administrator decided.
const ON_MACHINE: &[(&str, &str)] = &[
    ("/etc/jackline", "the machine's settings for Jackline"),
    ("/etc/claude-code", CLAUDE),
    ("/Library/Application Support/ClaudeCode", CLAUDE),
    ("/etc/codex", CODEX),
    ("/etc/gemini-cli", GEMINI),
    ("/Library/Application Support/GeminiCli", GEMINI),
    ("/etc/qwen-code", QWEN),
    ("/Library/Application Support/QwenCode", QWEN),
    ("/etc/cursor", CURSOR),
    ("/Library/Application Support/Cursor/hooks.json", CURSOR),
    ("/etc/opencode", OPENCODE),
    ("/Library/Application Support/opencode", OPENCODE),
    ("/etc/windsurf", WINDSURF),
];

/// Below the directory that all work trees of a repository share: what makes git run something.
const IN_GIT: [(&str, &str); 2] = [("config", GIT), ("hooks", "git's hooks")];

/// Everything protected by default. The first label of a path stands; a host that is told to keep its settings
/// elsewhere has that place added by the caller.
#[must_use]
pub fn own_paths(
    tree: &Levels,
    home: Option<&Path>,
    store: Option<&Path>,
    definition: Option<&Path>,
    named: &[PathBuf],
) -> Vec<OwnPath> {
    let mut table = Table::default();
    let root = tree.root.as_path();
    table.add(root, definition.iter().map(|path| (*path, DEFINITION)));
    table.add(root, named.iter().map(|path| (path.as_path(), "a file the definition names")));
    table.add(root, store.iter().map(|path| (*path, "Jackline's store")));
    table.add(root, IN_WORKSPACE.iter().map(written));
    table.add_like(root, IN_WORKSPACE_LIKE);
    // What its plugins and tools import. Patterns of the shell's are not held against it: packages are cleaned every day.
    table.add(root, [(Path::new(".opencode/node_modules"), OPENCODE)]);
    // Projects' lists of servers are edited every day; one that names our own server wires us.
    let servers = SERVERS.iter().filter(|file| names_us(&root.join(file)));
    table.add(root, servers.map(|file| (Path::new(*file), label::SERVERS)));
    if let Some(home) = home {
        table.add(home, IN_HOME.iter().map(written));
        table.add_like(home, IN_HOME_LIKE);
    }
    table.add(root, ON_MACHINE.iter().map(written));
    table.add_repository(tree);
    table.own
}

/// What is protected below a directory of the home's, for a host that keeps that one elsewhere; and where it has agents and
/// skills there.
#[must_use]
pub fn own_moved(usual: &str, dir: &Path) -> Vec<OwnPath> {
    let moved = |path: &str| match path.strip_prefix(usual)? {
        "" => Some(dir.to_owned()),
        rest => rest.strip_prefix('/').map(|rest| dir.join(rest)),
    };
    let whole = IN_HOME.iter().filter_map(|(path, label)| Some(OwnPath::whole(moved(path)?, label)));
    let like = IN_HOME_LIKE.iter().filter_map(|(path, glob, label)| Some(own_like(&moved(path)?, glob, label)));
    let instructing = |path: &&str| Some(OwnPath { instructs: true, ..moved(path)?.into() });
    whole.chain(like).chain(instructions::DIRECTORIES.iter().filter_map(instructing)).collect()
}

/// What lies in a directory and is like this glob.
pub(super) fn own_like(dir: &Path, like: &'static str, label: &str) -> OwnPath {
    OwnPath { like: Some(like), ..OwnPath::whole(dir.to_owned(), label) }
}

/// The same below where a host was started, and below every directory between that and the root: hosts look for their
/// settings there, and for a definition.
#[must_use]
pub fn own_between(root: &Path, started: &[PathBuf]) -> Vec<OwnPath> {
    let mut table = Table::default();
    let inside = |dir: &&Path| dir.starts_with(root) && *dir != root;
    for dir in started.iter().flat_map(|start| start.ancestors()).filter(inside) {
        table.add(dir, IN_WORKSPACE.iter().map(written));
        table.add_like(dir, IN_WORKSPACE_LIKE);
    }
    table.own
}

/// The program that judges, as its file and as the host's settings name it: whoever replaces it judges in its place.
#[must_use]
pub fn own_program(line: Option<&CommandLine>) -> Vec<OwnPath> {
    let named = line.map(|line| PathBuf::from(&line.program)).filter(|named| named.is_absolute());
    let programs: Vec<PathBuf> = named.into_iter().chain(std::env::current_exe().ok()).collect();
    let mut table = Table::default();
    table.add(Path::new("/"), programs.iter().map(|program| (program.as_path(), label::PROGRAM)));
    table.own
}

/// The directories of definitions that count for all projects, wherever they lie.
#[must_use]
pub fn own_settings(stack: &Stack) -> Vec<OwnPath> {
    let wider = stack.layers.iter().filter(|layer| matches!(layer.origin, Origin::Machine | Origin::User));
    let wider = wider.filter(|layer| !layer.dir.is_empty());
    let mut table = Table::default();
    table.add(Path::new("/"), wider.map(|layer| (Path::new(&layer.dir), label::SETTINGS)));
    table.own
}

/// What a path is by its names alone, in whichever directory of the repository it lies, or above: what lies there decides
/// whether a host that is started there next, or below, is guarded. It need not exist.
pub(super) fn by_name(path: &Path, root: &Path, folds: bool) -> Option<&'static str> {
    named(path, root, folds, |rest| {
        let whole = IN_WORKSPACE.iter().find(|(own, _)| fold::within(rest, Path::new(own), folds));
        let like = || IN_WORKSPACE_LIKE.iter().find(|(dir, like, _)| is_like(rest, Path::new(dir), like, folds));
        whole.map(|(_, label)| *label).or_else(|| like().map(|(.., label)| *label))
    })
}

/// The same for a directory that is a host's alone, with what would lie in it.
pub(super) fn holding_by_name(path: &Path, root: &Path, folds: bool) -> Option<&'static str> {
    let is_hosts = |name: &Path| DIRECTORIES.iter().any(|own| fold::within(name, Path::new(own), folds));
    named(path, root, folds, |rest| {
        let held = |own: &str| is_hosts(rest) && fold::within(Path::new(own), rest, folds);
        IN_WORKSPACE.iter().find(|(own, _)| held(own)).map(|(_, label)| *label)
    })
}

/// Whether a path lies below a directory, and is like what is meant there.
pub(super) fn is_like(path: &Path, dir: &Path, like: &str, folds: bool) -> bool {
    let below = Some(path).filter(|path| fold::within(path, dir, folds));
    let rest = below.map(|path| path.components().skip(dir.components().count()).collect::<PathBuf>());
    rest.as_deref().and_then(Path::to_str).is_some_and(|rest| {
        glob::matches(like, rest) || folds && glob::matches(&like.to_lowercase(), &rest.to_lowercase())
    })
}

/// What the names of those files begin with, where case does not count either: nearly all others are told by it.
const BEGINNINGS: &[u8] = b".jotJOT";

/// The first of our files that `label` takes the end of a path for, seen from a directory that counts. The disk is asked
/// only about a path that has such an end.
fn named(path: &Path, root: &Path, folds: bool, label: impl Fn(&Path) -> Option<&'static str>) -> Option<&'static str> {
    let bytes = path.as_os_str().as_bytes();
    let slashes = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    let ends = slashes.filter(|at| bytes.get(at + 1).is_some_and(|first| BEGINNINGS.contains(first)));
    let mut found = ends.filter_map(|at| {
        let (dir, rest) = (part(bytes.get(..at.max(1))), part(bytes.get(at + 1..)));
        label(rest).map(|label| (dir, label))
    });
    let top = || Repository::around(root).map_or_else(|| root.to_owned(), |repository| repository.top);
    let counts = |dir: &Path| fold::within(root, dir, folds) || fold::within(dir, &top(), folds);
    found.find(|(dir, _)| counts(dir)).map(|(_, label)| label)
}

fn part(bytes: Option<&[u8]>) -> &Path {
    Path::new(OsStr::from_bytes(bytes.unwrap_or_default()))
}

/// Whether a file names our program; one that cannot be looked through may.
fn names_us(file: &Path) -> bool {
    // Looked at before it is opened: opening a pipe that was planted there would wait for ever.
    match fs::metadata(file) {
        Ok(there) if there.is_file() && there.len() <= SERVERS_BYTES_MAX => {}
        Ok(_) => return true,
        Err(fault) => return fault.kind() != io::ErrorKind::NotFound,
    }
    let text = fs::read(file).unwrap_or_else(|_| OWN_SERVER.as_bytes().to_vec());
    text.windows(OWN_SERVER.len()).any(|part| part == OWN_SERVER.as_bytes())
}

fn written(&(path, label): &(&'static str, &'static str)) -> (&'static Path, &'static str) {
    (Path::new(path), label)
}

#[derive(Default)]
struct Table {
    own: Vec<OwnPath>,
}

impl Table {
    /// Adds paths seen from a directory, which absolute ones are not.
    fn add<'a>(&mut self, dir: &Path, paths: impl IntoIterator<Item = (&'a Path, &'a str)>) {
        for (path, label) in paths {
            let path = dir.join(path);
            // By bytes: taking dozens of paths apart costs more than asking the disk about all of them, and one that is
            // listed twice under two spellings does no harm.
            if !self.own.iter().any(|own| own.path.as_os_str() == path.as_os_str()) {
                self.own.push(OwnPath::whole(path, label));
            }
        }
    }

    /// Adds what is like a glob below a directory that is seen from another.
    fn add_like(&mut self, dir: &Path, like: &[(&str, &'static str, &str)]) {
        self.own.extend(like.iter().map(|(below, glob, label)| own_like(&dir.join(below), glob, label)));
    }

    /// Adds git's settings and hooks, also where a linked work tree keeps them. Without a repository they are
    /// protected where one would begin.
    fn add_repository(&mut self, tree: &Levels) {
        let Some(repository) = &tree.repository else {
            return self.add(&tree.root.join(".git"), IN_GIT.iter().map(written));
        };
        self.add(&repository.common, IN_GIT.iter().map(written));
        self.add(&repository.dir, [(Path::new("config.worktree"), GIT)]);
        // Where one is put, git looks for its settings and hooks elsewhere.
        self.add(&repository.dir, [(Path::new("commondir"), "git's link to the repository")]);
        if repository.linked {
            self.add(&repository.top, [(Path::new(".git"), "git's link to the repository")]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jackline_core::own_files::label::POLICIES;

    #[track_caller]
    fn check(own: &[OwnPath], path: &Path, want: Option<&str>) {
        let label = own.iter().find(|own| own.path == path).map(|own| own.label.as_str());
        assert_eq!(label, want, "{}", path.display());
    }

    #[test]
    fn ours_and_the_hosts_files_are_listed_once() {
        let dir = tempfile::tempdir().unwrap();
        let (root, home, store) = (dir.path().join("ws"), dir.path().join("home"), dir.path().join("store"));
        let definition = root.join("jackline.yaml");
        let named = [PathBuf::from("schemas/a.json"), root.join("opencode.json")];
        let own = own_paths(&Levels::around(&root), Some(&home), Some(&store), Some(&definition), &named);
        check(&own, &definition, Some(DEFINITION));
        check(&own, &root.join("schemas/a.json"), Some("a file the definition names"));
        check(&own, &root.join("opencode.json"), Some("a file the definition names"));
        check(&own, &store, Some("Jackline's store"));
        check(&own, &root.join(".claude/settings.local.json"), Some(CLAUDE));
        check(&own, &home.join(".claude/settings.json"), Some(CLAUDE));
        check(&own, &home.join(".config/jackline"), Some("Jackline's settings"));
        check(&own, &home.join(".gitconfig"), Some(GIT));
        check(&own, &home.join(".codex/sessions"), Some(CODEX));
        check(&own, &home.join(".copilot/settings.json"), Some(COPILOT));
        check(&own, &home.join(".copilot/extensions"), Some(COPILOT));
        check(&own, &root.join(".github/extensions"), Some(COPILOT));
        check(&own, &home.join(".local/share/opencode/auth.json"), Some(OPENCODE));
        check(&own, &root.join(".opencode/tui.jsonc"), Some(OPENCODE));
        check(&own, &home.join(".cursor/mcp.json"), Some(CURSOR));
        check(&own, Path::new("/etc/claude-code"), Some(CLAUDE));
        check(&own, Path::new("/etc/gemini-cli"), Some(GEMINI));
        check(&own, Path::new("/etc/jackline"), Some("the machine's settings for Jackline"));
        check(&own, &home.join(".opencode"), Some(OPENCODE));
        check(&own, &root.join(".opencode/tool"), Some(OPENCODE));
        check(&own, &root.join(".git/hooks"), Some("git's hooks"));
        check(&own, &root.join("src"), None);
        check(&own, &root.join(".mcp.json"), None);
        assert!(own.iter().all(|own| own.path.is_absolute() && !own.label.is_empty()));
        let paths: std::collections::BTreeSet<_> = own.iter().map(|own| (&own.path, own.like)).collect();
        assert_eq!(paths.len(), own.len());
    }

    #[test]
    fn what_is_protected_at_home_is_protected_where_a_host_keeps_it_instead() {
        let paths = |usual: &str| -> Vec<PathBuf> {
            own_moved(usual, Path::new("/else")).into_iter().map(|own| own.path).collect()
        };
        for name in ["settings.json", "trustedFolders.json", ".env", "extensions"] {
            assert!(paths(".qwen").contains(&Path::new("/else").join(name)), "{name}");
        }
        assert!(paths(".claude").contains(&PathBuf::from("/else/shell-snapshots")));
        assert!(own_moved(".codex", Path::new("/else")).iter().any(|own| own.like == Some("*.config.toml")));
        assert!(paths(".config").contains(&PathBuf::from("/else/opencode")));
        let instructs = |own: &OwnPath| own.instructs && own.path == Path::new("/else/skills");
        assert!(own_moved(".claude", Path::new("/else")).iter().any(instructs));
        assert!(!paths(".claude").contains(&PathBuf::from("/else/.json")), "a part of a name is no directory");
    }

    #[test]
    fn without_a_definition_or_a_home_the_rest_stands() {
        let own =
            own_paths(&Levels::around(Path::new("/nowhere/ws")), None, Some(Path::new("/nowhere/store")), None, &[]);
        check(&own, Path::new("/nowhere/ws/jackline.yaml"), Some(DEFINITION));
        check(&own, Path::new("/nowhere/ws/.jackline"), Some(POLICIES));
        assert!(!own.iter().any(|own| own.label == "Jackline's settings"));
    }

    #[test]
    fn a_host_that_starts_below_the_root_has_its_settings_there() {
        let (root, start) = (Path::new("/ws"), PathBuf::from("/ws/a/b"));
        let own = own_between(root, &[start, PathBuf::from("/elsewhere"), root.to_owned()]);
        check(&own, Path::new("/ws/a/b/.gemini/settings.json"), Some(GEMINI));
        check(&own, Path::new("/ws/a/jackline.yaml"), Some(DEFINITION));
        check(&own, Path::new("/ws/jackline.yaml"), None);
        check(&own, Path::new("/elsewhere/jackline.yaml"), None);
    }

    #[test]
    fn a_hosts_settings_are_known_by_their_name_in_the_whole_repository() {
        let dir = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir_all(top.join("repo/.git")).unwrap();
        fs::write(top.join("repo/.git/HEAD"), "").unwrap();
        let root = top.join("repo/pkg");
        fs::create_dir_all(&root).unwrap();
        let named = |path: &str, folds| by_name(&top.join(path), &root, folds);
        for path in ["repo/.codex/config.toml", "repo/pkg/sub/.codex/config.toml", "repo/other/a/.codex/hooks.json"] {
            assert_eq!(named(path, false), Some(CODEX), "{path}");
        }
        assert_eq!(named("repo/.opencode/tool/evil.js", false), Some(OPENCODE));
        assert_eq!(named("repo/a/tui.json", false), Some(OPENCODE));
        assert_eq!(
            (named("repo/a/opencode.json", false), named("repo/a/opencode.json5", false)),
            (Some(OPENCODE), None)
        );
        assert_eq!(
            (named("repo/a/.Codex/config.toml", true), named("repo/a/.Codex/config.toml", false)),
            (Some(CODEX), None)
        );
        for path in ["repo/a/jackline.yaml", "jackline.yaml"] {
            assert_eq!(named(path, false), Some(DEFINITION), "{path}");
        }
        assert_eq!(named("repo/a/.jackline/policies/x.md", false), Some(POLICIES));
        for path in ["a/.claude/skills/p/.claude-plugin/plugin.json", "a/.claude/skills/p/hooks/hooks.json"] {
            assert_eq!(named(&format!("repo/{path}"), false), Some(CLAUDE), "{path}");
            assert_eq!(named(&format!("other/{path}"), false), None, "{path}");
        }
        assert_eq!(named("repo/a/.Claude/skills/p/Hooks/hooks.json", true), Some(CLAUDE));
        for path in
            ["repo/a/.claude/skills/p/SKILL.md", "repo/a/.claude/skills/p/hooks/a.md", "repo/a/p/hooks/hooks.json"]
        {
            assert_eq!(named(path, false), None, "{path}");
        }
        for path in ["other/.codex/config.toml", "other/jackline.yaml", "repo/a/.codex/x", "repo/a/my-jackline.yaml"] {
            assert_eq!(named(path, false), None, "{path}");
        }
        let holding = |path: &str| holding_by_name(&top.join(path), &root, false);
        assert_eq!((holding("repo/a/.claude"), holding("repo/.codex")), (Some(CLAUDE), Some(CODEX)));
        assert_eq!((holding("repo/a/.github"), holding("repo/a"), holding("other/.claude")), (None, None, None));
    }

    #[test]
    fn a_list_of_servers_is_ours_where_it_names_us() {
        let dir = tempfile::tempdir().unwrap();
        let own = || own_paths(&Levels::around(dir.path()), None, None, None, &[]);
        let servers = dir.path().join(".mcp.json");
        fs::write(&servers, r#"{"mcpServers":{"a":{"command":"npx"}}}"#).unwrap();
        check(&own(), &servers, None);
        fs::write(&servers, r#"{"mcpServers":{"jackline":{"command":"jackline","args":["mcp","serve"]}}}"#).unwrap();
        check(&own(), &servers, Some(label::SERVERS));
    }

    #[test]
    fn git_is_protected_where_it_keeps_its_settings() {
        let dir = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(dir.path()).unwrap();
        let git = top.join("repo/.git");
        fs::create_dir_all(git.join("worktrees/w")).unwrap();
        fs::create_dir_all(top.join("repo/sub")).unwrap();
        fs::create_dir_all(top.join("linked")).unwrap();
        fs::write(git.join("HEAD"), "").unwrap();
        fs::write(git.join("worktrees/w/HEAD"), "").unwrap();
        fs::write(git.join("worktrees/w/commondir"), git.to_str().unwrap()).unwrap();
        fs::write(top.join("linked/.git"), format!("gitdir: {}\n", git.join("worktrees/w").display())).unwrap();
        let own = |root: &str| own_paths(&Levels::around(&top.join(root)), None, Some(&top.join("store")), None, &[]);
        check(&own("repo/sub"), &git.join("config"), Some("git's settings"));
        check(&own("repo"), &git.join("hooks"), Some("git's hooks"));
        check(&own("repo"), &top.join("repo/.git"), None);
        let linked = own("linked");
        check(&linked, &git.join("config"), Some("git's settings"));
        check(&linked, &git.join("hooks"), Some("git's hooks"));
        check(&linked, &git.join("worktrees/w/config.worktree"), Some("git's settings"));
        check(&linked, &top.join("linked/.git"), Some("git's link to the repository"));
    }
}
