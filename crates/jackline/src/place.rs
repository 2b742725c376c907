//! Where things are: the one place that reads the environment.

use std::env;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use jackline_runtime::definitions::{DEFINITION_FILE, Found, Places};
use jackline_runtime::probes::{self, OwnPath};
use jackline_runtime::runner::Environment;
use jackline_runtime::store::files::FileStore;
use jackline_runtime::trees::{self, Tree};
use jackline_runtime::wiring::CommandLine;

use crate::error::CommandError;
use crate::marks;

/// Directories walked up before giving up; no real tree is deeper.
const LEVELS_MAX: usize = 128;
/// The definition that counts for everyone on this machine.
const MACHINE_DEFINITION: &str = "/etc/jackline/jackline.yaml";

/// Where programs keep a user's settings, below the home directory, unless they are told otherwise.
const SETTINGS: &str = ".config";
/// The same for what they remember, and our own directory there.
const USER_STATE: &str = ".local/state";
const OWN: &str = "jackline";

/// Options that every command about a workspace has.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Where {
    /// The workspace (default: the present directory)
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// The state directory (default: $JACKLINE_HOME, else the user's state directory)
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
}

impl Where {
    /// The workspace, absolute.
    pub(crate) fn workspace(&self) -> Result<PathBuf, CommandError> {
        let named = self.workspace.clone().unwrap_or_else(|| PathBuf::from("."));
        let found = named.canonicalize().ok().filter(|dir| dir.is_dir());
        let found = found.ok_or_else(|| {
            CommandError::input(format!("the workspace `{}` is no directory", named.display()))
                .hint("name one that exists with `--workspace DIR`")
        })?;
        // Events, patterns and records are UTF-8: in such a place no path could be told from another.
        if found.to_str().is_none() {
            let why = format!("the workspace's path `{}` is not UTF-8", found.display());
            return Err(CommandError::input(why).hint("rename the directory, or work in another one"));
        }
        Ok(found)
    }

    /// The project around the workspace: the nearest directory upwards with a definition or a repository, unless a
    /// workspace is named; else the workspace itself.
    pub(crate) fn project(&self) -> Result<PathBuf, CommandError> {
        let here = self.workspace()?;
        let is_top = |dir: &&Path| dir.join(DEFINITION_FILE).exists() || dir.join(".git").exists();
        let top = here.ancestors().take(LEVELS_MAX).find(is_top).filter(|_| self.workspace.is_none());
        Ok(top.map(Path::to_owned).unwrap_or(here))
    }

    /// The state directory.
    pub(crate) fn state(&self) -> Result<PathBuf, CommandError> {
        self.store.clone().or_else(|| variable("JACKLINE_HOME")).or_else(user_state).map(absolute).ok_or_else(|| {
            CommandError::input("there is no place for the state")
                .hint("set HOME or JACKLINE_HOME, or name one with `--store DIR`")
        })
    }

    /// The store of files in it.
    pub(crate) fn files(&self) -> Result<FileStore, CommandError> {
        Ok(FileStore::open(self.state()?))
    }

    /// The definitions of the workspace, with what was accepted.
    pub(crate) fn definitions(&self) -> Result<Found, CommandError> {
        Ok(Found::new(self.places()?))
    }

    /// The same, reading what was accepted where there is such a memory, and adding nothing to it.
    pub(crate) fn definitions_read_only(&self) -> Result<Found, CommandError> {
        let home = self.state().ok();
        Ok(Found::read_only(Places { home: home.unwrap_or_default(), ..self.places_but_home()? }))
    }

    /// The definitions by which sessions that begin here are judged, reading only; `at_home` is where they are at home, if that
    /// is in another work tree.
    pub(crate) fn definitions_of_sessions(&self, at_home: Option<PathBuf>) -> Result<Found, CommandError> {
        let Some(start) = at_home else { return self.definitions_read_only() };
        let tree = trees::other(&start, &self.workspace()?);
        Ok(Found::read_only(Places { home: self.state()?, start, tree, named: None, ..wider() }))
    }

    fn places(&self) -> Result<Places, CommandError> {
        Ok(Places { home: self.state()?, ..self.places_but_home()? })
    }

    /// Where definitions are, whether or not there is a state directory.
    pub(crate) fn places_but_home(&self) -> Result<Places, CommandError> {
        Ok(Places { start: self.workspace()?, named: variable("JACKLINE_DEFINITION").map(absolute), ..wider() })
    }
}

/// Variables in which hosts tell their hooks the project's directory; the others start hooks there.
const PROJECTS: &[(&str, &str)] = &[("claude", "CLAUDE_PROJECT_DIR"), ("cursor", "CURSOR_PROJECT_DIR")];

/// Hosts that start hooks at the top of the repository, wherever in it they were started; their messages say where.
const STARTING_ABOVE: &[&str] = &["copilot"];

/// The places that `init` wrote into a wired command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Baked {
    pub(crate) store: Option<PathBuf>,
    pub(crate) root: Option<PathBuf>,
    pub(crate) home: Option<PathBuf>,
    pub(crate) settings: Option<PathBuf>,
}

impl Baked {
    /// The user's own definition. Where a home is baked in, a variable that says where settings lie is passed over: a
    /// project may set it, and leave the user without what they declared, or with what it declares in their name. Elsewhere
    /// it leads away from none that lies in the usual place.
    fn user_definition(&self) -> Option<PathBuf> {
        let usual = || self.home.as_ref().map(|home| home.join(SETTINGS));
        let baked = self.settings.clone().or_else(usual).map(definition_in);
        baked.or_else(|| {
            let there = home().map(|home| definition_in(home.join(SETTINGS)));
            match named_settings().map(definition_in) {
                Some(named) => there.filter(|definition| definition.exists()).or(Some(named)),
                None => there,
            }
        })
    }
}

/// The host whose settings of one person's count in every work tree of a repository, with the variable in which it says where
/// it was started.
const SHARING_TREES: (&str, &str) = ("claude", "CLAUDE_PROJECT_DIR");

/// What a hook works with.
#[derive(Debug)]
pub(crate) struct Hooked {
    pub(crate) state: PathBuf,
    pub(crate) definitions: Found,
    pub(crate) home: Option<PathBuf>,
    /// Files of the host's that count beside those which every session protects.
    pub(crate) settings: Vec<OwnPath>,
    /// Where the host was started.
    pub(crate) started_in: Vec<PathBuf>,
}

/// Where a hook looks. What `init` wrote on its command line wins over the environment, which an agent might reach;
/// no variable names a definition here. `told` is where the host's message says that it works.
pub(crate) fn hooked(host: &str, baked: &Baked, told: impl FnOnce() -> Option<PathBuf>) -> Result<Hooked, String> {
    // Nearly all sessions are where they were wired, and nothing more is looked at.
    let wired = baked.root.is_some() && host == SHARING_TREES.0;
    let astray = |start: &Path, started: &[PathBuf]| wired && started.iter().any(|dir| dir != start);
    placed(host, baked, told, |start, started| astray(start, started).then(|| tree_of(start)).flatten())
}

/// The same for our server, which any host may start, and whose workspace is the one that it was told.
pub(crate) fn served(baked: &Baked) -> Result<Hooked, String> {
    placed(SHARING_TREES.0, baked, || None, |_, _| None)
}

fn placed(
    host: &str,
    baked: &Baked,
    told: impl FnOnce() -> Option<PathBuf>,
    tree: impl FnOnce(&Path, &[PathBuf]) -> Option<Tree>,
) -> Result<Hooked, String> {
    let named = || PROJECTS.iter().find(|(own, _)| *own == host).and_then(|(_, name)| variable(name));
    let start = baked.root.clone().or_else(named).or_else(|| env::current_dir().ok());
    let named = start.ok_or_else(|| "the present directory is gone".to_owned())?;
    let found = jackline_runtime::canonical(&named);
    // Mostly all of these are one directory, under one name.
    let real = |dir: PathBuf| if dir == named { found.as_ref().ok().cloned() } else { real(dir) };
    let started_in: Vec<PathBuf> = dirs_of_start().filter_map(real).collect();
    let start = found.unwrap_or(named);
    let tree = tree(&start, &started_in);
    let told = STARTING_ABOVE.contains(&host).then(told).flatten();
    let told = told.and_then(|told| jackline_runtime::canonical(&told).ok()).filter(|told| told.starts_with(&start));
    let start = told.unwrap_or(start);
    if !start.is_absolute() || start.to_str().is_none() {
        return Err(format!("the workspace `{}` is no absolute UTF-8 path", start.display()));
    }
    let state = baked.store.clone().map(absolute).or_else(|| shared_state(&start));
    let state = state.ok_or_else(|| "there is no place for the state; set HOME or JACKLINE_HOME".to_owned())?;
    let files = variables(host, &start).into_iter().chain(in_between(host));
    let settings = host_settings().into_iter().chain(files.map(OwnPath::from)).collect();
    let places = Places { home: state.clone(), start, tree, user: baked.user_definition(), ..wider() };
    Ok(Hooked { state, definitions: Found::new(places), home: baked.home.clone().or_else(home), settings, started_in })
}

/// The other work tree of the project's repository that a session is in, if it is. The host's variable alone tells: it goes on
/// naming the project wherever a command works. One that names another project leads nowhere: what was wired counts.
fn tree_of(root: &Path) -> Option<Tree> {
    trees::other(root, &variable(SHARING_TREES.1).and_then(real)?)
}

/// The state directory of hooks that are told none, as a project's own are. What is named in the project's files could be
/// the project's as well, with exceptions and trust that nobody gave.
pub(crate) fn shared_state(start: &Path) -> Option<PathBuf> {
    let [jackline, state] = state_variables();
    let within = |dir: &PathBuf| leads_into(dir, start);
    let usual = || home().map(|home| home.join(USER_STATE));
    jackline
        .filter(|dir| !within(dir))
        .or_else(|| state.filter(|dir| !within(dir)).or_else(usual).map(|dir| dir.join(OWN)))
}

/// A variable that names a state directory within the project, which such hooks pass over.
pub(crate) fn passed_over(start: &Path) -> Option<&'static str> {
    let named = STATE_VARIABLES.into_iter().zip(state_variables());
    named.into_iter().find_map(|(name, dir)| dir.filter(|dir| leads_into(dir, start)).map(|_| name))
}

/// The variables that say where the state is: all of it, or every program's.
const STATE_VARIABLES: [&str; 2] = ["JACKLINE_HOME", "XDG_STATE_HOME"];

fn state_variables() -> [Option<PathBuf>; 2] {
    let [jackline, state] = STATE_VARIABLES.map(variable);
    [jackline.map(absolute), state.filter(|dir| dir.is_absolute())]
}

/// Whether a directory lies in the project around another: below its definition, or in its repository.
pub(crate) fn leads_into(dir: &Path, start: &Path) -> bool {
    let real = jackline_runtime::canonical(dir).unwrap_or_else(|_| dir.to_owned());
    let around = |mark: &str| start.ancestors().take(LEVELS_MAX).find(|dir| dir.join(mark).exists());
    let mut projects = [Some(start), around(DEFINITION_FILE), around(".git")].into_iter().flatten();
    projects.any(|project| real.starts_with(project))
}

/// A file of variables, in every directory that may have one.
const VARIABLES: &str = ".env";

/// The files that a host takes variables from, some of which switch its hooks off or lead them elsewhere: upwards from
/// where it works and at home, or only where it keeps its own settings.
pub(crate) fn variables(host: &str, start: &Path) -> Vec<PathBuf> {
    let own = match host {
        "qwen" => ".qwen",
        "gemini" => ".gemini",
        "codex" => return host_home("CODEX_HOME", ".codex").map(|dir| dir.join(VARIABLES)).into_iter().collect(),
        _ => return Vec::new(),
    };
    let mut dirs: Vec<PathBuf> = start.ancestors().take(LEVELS_MAX).map(Path::to_owned).collect();
    dirs.extend(home().filter(|home| !start.starts_with(home)));
    let mut files: Vec<PathBuf> =
        dirs.iter().flat_map(|dir| [dir.join(own).join(VARIABLES), dir.join(VARIABLES)]).collect();
    files.extend(variable("QWEN_HOME").filter(|_| host == "qwen").map(|dir| absolute(dir).join(VARIABLES)));
    files
}

/// What could answer between a host and us: a file by the name of the shell that it starts, or of our own program, earlier
/// among the directories in which that is found; what the shell reads first.
fn in_between(host: &str) -> Vec<PathBuf> {
    let shell = matches!(host, "gemini" | "qwen").then_some("bash");
    let by_name = command_line().is_some_and(|line| !line.program.contains('/')).then_some(OWN);
    let mut files: Vec<PathBuf> = shell.into_iter().chain(by_name).flat_map(found_as).collect();
    if host == "codex" {
        // It starts hooks by the login shell; zsh reads this one whatever it is started for.
        let own = [variable("ZDOTDIR").map(absolute), home()].into_iter().flatten().map(|dir| dir.join(".zshenv"));
        files.extend(own.chain(["/etc/zshenv", "/etc/zsh/zshenv"].map(PathBuf::from)));
    }
    files
}

/// The shell by which a host starts hooks, where that is the user's own, with the variables by which it finds its files.
pub(crate) fn starting(host: &str) -> Option<(PathBuf, Vec<(&'static str, PathBuf)>)> {
    let shell = (host == "codex").then(|| login_shell().or_else(|| variable("SHELL"))).flatten()?;
    let given = ["HOME", "ZDOTDIR", "PATH"].into_iter().filter_map(|name| Some((name, variable(name)?)));
    Some((shell, given.collect())).filter(|(shell, _)| is_program(shell))
}

/// The shell that the list of users names for this one.
fn login_shell() -> Option<PathBuf> {
    let own = rustix::process::getuid().as_raw().to_string();
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    let row = users.lines().find(|row| row.split(':').nth(2) == Some(own.as_str()))?;
    row.split(':').nth(6).filter(|shell| !shell.is_empty()).map(PathBuf::from)
}

/// The files of this name in the directories of programs, up to the first that can be run.
fn found_as(name: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for dir in env::split_paths(&search_path().unwrap_or_default()).filter(|dir| dir.is_absolute()) {
        files.push(dir.join(name));
        if files.last().is_some_and(|file| is_program(file)) {
            break;
        }
    }
    files
}

/// The definitions that a hook would judge by, with nothing remembered.
pub(crate) fn judged_by(state: PathBuf, root: PathBuf) -> Found {
    Found::read_only(Places { home: state, start: root, named: None, ..wider() })
}

/// The directories of a project in which a host may be started and finds settings, beside its root: from here up to the
/// repository's top.
pub(crate) fn between(here: &Path, root: &Path) -> Vec<PathBuf> {
    let top = root.ancestors().take(LEVELS_MAX).find(|dir| dir.join(".git").exists()).unwrap_or(root);
    let dirs = here.ancestors().chain(root.ancestors()).filter(|dir| dir.starts_with(top) && *dir != root);
    let mut found: Vec<PathBuf> = Vec::new();
    for dir in dirs {
        if !found.iter().any(|known| known == dir) {
            found.push(dir.to_owned());
        }
    }
    found
}

/// The definitions that count everywhere on this machine.
fn wider() -> Places {
    Places { user: user_definition(), machine: Some(PathBuf::from(MACHINE_DEFINITION)), ..Places::default() }
}

/// The machine's definition, if there is one.
pub(crate) fn machine_definition() -> Option<&'static Path> {
    Some(Path::new(MACHINE_DEFINITION)).filter(|path| path.exists())
}

/// Whether GitHub's machines run us, which show annotations.
pub(crate) fn on_github() -> bool {
    env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true")
}

/// Where programs are looked for.
pub(crate) fn search_path() -> Option<OsString> {
    env::var_os("PATH")
}

/// The variables that commands of checks get: those that always pass, and these.
pub(crate) fn environment(named: &[String]) -> Environment {
    Environment::filtered(env::vars_os(), named)
}

/// The value of a variable that a workflow names.
pub(crate) fn named(name: &str) -> Option<String> {
    env::var(name).ok()
}

/// How wide the terminal on standard error is, if there is one.
pub(crate) fn columns_of_errors() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stderr()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// How wide the terminal on standard output is, if there is one.
pub(crate) fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// The user's home directory.
pub(crate) fn home() -> Option<PathBuf> {
    variable("HOME").filter(|home| home.is_absolute())
}

/// The user's name, as the environment gives it.
pub(crate) fn user() -> Option<String> {
    let named = variable("USER").or_else(|| variable("LOGNAME"))?;
    Some(named.to_string_lossy().into_owned())
}

/// The user's token for GitHub; it goes where `checks.github_api` says and nowhere else.
pub(crate) fn github_token() -> Option<String> {
    let named = |name: &str| env::var(name).ok().filter(|token| !token.trim().is_empty());
    named("GITHUB_TOKEN").or_else(|| named("GH_TOKEN")).map(|token| token.trim().to_owned())
}

/// The file with the authorities whose certificates count, where someone named one.
pub(crate) fn certificates() -> Option<PathBuf> {
    variable("SSL_CERT_FILE")
}

/// The token that clients of our MCP server must send, where one is given.
pub(crate) fn mcp_token() -> Option<String> {
    env::var("JACKLINE_MCP_TOKEN").ok().filter(|token| !token.trim().is_empty())
}

fn user_state() -> Option<PathBuf> {
    let [_, base] = state_variables();
    base.or_else(|| home().map(|home| home.join(USER_STATE))).map(|dir| dir.join(OWN))
}

/// Variables that tell hosts to keep elsewhere what they usually keep in a directory at home, with the directory in there that
/// stands for it.
const MOVED: &[(&str, &str, &str)] = &[
    ("CLAUDE_CONFIG_DIR", ".claude", ""),
    ("CODEX_HOME", ".codex", ""),
    ("COPILOT_HOME", ".copilot", ""),
    ("GEMINI_CLI_HOME", ".gemini", ".gemini"),
    ("QWEN_HOME", ".qwen", ""),
    ("XDG_CONFIG_HOME", ".config", ""),
    ("XDG_DATA_HOME", ".local/share", ""),
    ("XDG_CACHE_HOME", ".cache", ""),
];

/// Variables that name other places of settings, and what lies there; nothing where it names the file.
const ELSEWHERE: &[(&str, &[&str])] = &[
    ("CLAUDE_CONFIG_DIR", &[".claude.json"]),
    ("OPENCODE_CONFIG_DIR", OPENCODE_FILES),
    ("OPENCODE_CONFIG", &[""]),
    ("OPENCODE_TUI_CONFIG", &[""]),
    ("GEMINI_CLI_SYSTEM_SETTINGS_PATH", &[""]),
    (QWEN_SYSTEM[0], &[""]),
    (QWEN_SYSTEM[1], &[""]),
];

const OPENCODE_FILES: &[&str] = &[
    "opencode.json",
    "opencode.jsonc",
    "tui.json",
    "tui.jsonc",
    "plugin",
    "plugins",
    "tool",
    "tools",
    "package.json",
    "node_modules",
];

/// Variables that name settings of Qwen Code's which count for everyone.
const QWEN_SYSTEM: [&str; 2] = ["QWEN_CODE_SYSTEM_SETTINGS_PATH", "QWEN_CODE_SYSTEM_DEFAULTS_PATH"];

/// The files that they name.
pub(crate) fn qwen_system() -> Vec<PathBuf> {
    QWEN_SYSTEM.into_iter().filter_map(variable).map(absolute).collect()
}

/// The settings of hosts that were told to keep them elsewhere.
fn host_settings() -> Vec<OwnPath> {
    let at = |dir: &Path, name: &str| if name.is_empty() { dir.to_owned() } else { dir.join(name) };
    let below = |dir: PathBuf, names: &[&str]| names.iter().map(|name| at(&dir, name).into()).collect::<Vec<_>>();
    let elsewhere = ELSEWHERE.iter().filter_map(|(name, files)| Some(below(absolute(variable(name)?), files)));
    let moved = MOVED
        .iter()
        .filter_map(|(name, usual, there)| Some(probes::own_moved(usual, &at(&absolute(variable(name)?), there))));
    elsewhere.chain(moved).flatten().collect()
}

/// Where hosts that were told to keep their settings elsewhere have agents and skills.
pub(crate) fn instructing() -> impl Iterator<Item = PathBuf> {
    host_settings().into_iter().filter(|own| own.instructs).map(|own| own.path)
}

/// Where the host that starts us was started itself: it starts us there, or says where.
pub(crate) fn started_in() -> Vec<PathBuf> {
    dirs_of_start().filter_map(real).collect()
}

/// The same, as it is told.
fn dirs_of_start() -> impl Iterator<Item = PathBuf> {
    let named = PROJECTS.iter().filter_map(|(_, name)| variable(name));
    env::current_dir().ok().into_iter().chain(named)
}

fn real(dir: PathBuf) -> Option<PathBuf> {
    jackline_runtime::canonical(&dir).ok()
}

/// Where the user's own definition lies, if it does.
pub(crate) fn user_definition() -> Option<PathBuf> {
    user_settings().map(definition_in)
}

fn definition_in(settings: PathBuf) -> PathBuf {
    settings.join("jackline/jackline.yaml")
}

/// The directory in which programs keep a user's settings.
pub(crate) fn user_settings() -> Option<PathBuf> {
    named_settings().or_else(|| home().map(|home| home.join(SETTINGS)))
}

/// The directory in which programs keep a user's data.
pub(crate) fn user_data() -> Option<PathBuf> {
    let named = variable("XDG_DATA_HOME").filter(|dir| dir.is_absolute());
    named.or_else(|| home().map(|home| home.join(".local/share")))
}

/// The same, where a variable says so.
pub(crate) fn named_settings() -> Option<PathBuf> {
    variable("XDG_CONFIG_HOME").filter(|dir| dir.is_absolute())
}

/// A mark that an agent's host left in the environment of what it started, by its name.
pub(crate) fn host_mark() -> Option<String> {
    let set = env::vars_os().filter(|(_, value)| !value.is_empty());
    set.filter_map(|(name, _)| name.into_string().ok()).find(|name| marks::is_mark(name))
}

/// The directory in which a host keeps the user's settings: where this variable says, or this one below the home.
pub(crate) fn host_home(named_by: &str, usual: &str) -> Option<PathBuf> {
    variable(named_by).map(absolute).or_else(|| home().map(|home| home.join(usual)))
}

/// The same for a host that follows links in what the variable says, and knows its files by where they really are.
pub(crate) fn host_home_followed(named_by: &str, usual: &str) -> Option<PathBuf> {
    let followed = |dir: PathBuf| dir.canonicalize().unwrap_or_else(|_| absolute(dir));
    variable(named_by).map(followed).or_else(|| host_home(named_by, usual))
}

/// Where Claude Code keeps the user's MCP servers, and those of single projects.
pub(crate) fn claude_servers() -> Option<PathBuf> {
    let elsewhere = variable("CLAUDE_CONFIG_DIR").map(absolute);
    elsewhere.or_else(home).map(|dir| dir.join(".claude.json"))
}

/// A program that would be found by its name.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let search = search_path().unwrap_or_default();
    let absolute = env::split_paths(&search).filter(|dir| dir.is_absolute());
    absolute.map(|dir| dir.join(name)).find(|file| is_program(file))
}

/// The program that a host would start by a command line, where it would find one.
pub(crate) fn started(line: &CommandLine) -> Option<PathBuf> {
    let named = Path::new(&line.program);
    if named.components().count() == 1 {
        return on_path(&line.program);
    }
    Some(named.to_owned()).filter(|program| program.is_absolute() && is_program(program))
}

/// Whether a file may be run.
pub(crate) fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|there| there.is_file() && there.permissions().mode() & 0o111 != 0)
}

/// What we were started by, word for word; `None` when it is no text.
pub(crate) fn command_line() -> Option<CommandLine> {
    let mut words = crate::entry::words().iter().map(|word| word.to_str().map(str::to_owned));
    let program = words.next()??;
    Some(CommandLine { program, arguments: words.collect::<Option<_>>()? })
}

/// This program, wherever links lead to it from.
pub(crate) fn this_program() -> Result<PathBuf, CommandError> {
    let program = env::current_exe().and_then(|program| program.canonicalize());
    program.map_err(|fault| CommandError::internal(format!("this program's own place cannot be told: {fault}")))
}

/// The name by which a program is found, where that leads to it: a link outlives the version that it leads to today.
pub(crate) fn lasting(program: PathBuf) -> PathBuf {
    let name = program.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    on_path(name).filter(|found| found.canonicalize().is_ok_and(|real| real == program)).unwrap_or(program)
}

/// Where things may lie for a moment.
pub(crate) fn temporary() -> PathBuf {
    env::temp_dir()
}

/// Whether a variable has a value.
pub(crate) fn is_set(name: &str) -> bool {
    variable(name).is_some()
}

/// A variable that someone named on the command line, as text.
pub(crate) fn named_variable(name: &str) -> Option<String> {
    env::var(name).ok()
}

fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

/// A path as people are shown it: from the present directory where that is shorter.
pub(crate) fn shown(path: &Path) -> String {
    let here = env::current_dir().ok();
    let near =
        here.as_deref().and_then(|here| path.strip_prefix(here).ok()).filter(|near| !near.as_os_str().is_empty());
    near.unwrap_or(path).display().to_string()
}
