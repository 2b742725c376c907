//! The variables a command gets: a short list, and those its owner names. Everything else stays here.
//!
//! A list of what may pass, not of what may not: nobody knows the names of all secrets. So keys, tokens, agents'
//! sockets, proxies with passwords and the marks of a host's session do not pass.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Variables that always pass: who and where the user is, and where toolchains live, since most commands are one.
const PASSED: [&str; 46] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NIX_SSL_CERT_FILE",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "GOROOT",
    "GOCACHE",
    "GOMODCACHE",
    "GOTOOLCHAIN",
    "JAVA_HOME",
    "GRADLE_USER_HOME",
    "KOTLIN_HOME",
    "ANDROID_HOME",
    "ANDROID_SDK_ROOT",
    "NVM_DIR",
    "VOLTA_HOME",
    "PNPM_HOME",
    "BUN_INSTALL",
    "DENO_DIR",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "UV_CACHE_DIR",
    "RBENV_ROOT",
    "GEM_HOME",
    "GEM_PATH",
    "COMPOSER_HOME",
    "DOTNET_ROOT",
    "ASDF_DATA_DIR",
    "MISE_DATA_DIR",
    "NIX_PATH",
    "DEVELOPER_DIR",
    "SDKROOT",
];

/// Variables that hold a token of ours; a command may come by it in other ways than by its environment.
const TOKENS: [&str; 2] = ["GITHUB_TOKEN", "GH_TOKEN"];

/// How the names of all variables about language and form begin.
const LOCALE_PREFIX: &str = "LC_";

/// Where programs are looked for when the caller has no `PATH`.
const SEARCH_DEFAULT: &str = "/usr/local/bin:/usr/bin:/bin";

/// Where temporary files are when the caller has no `TMPDIR`.
const TEMP_DEFAULT: &str = "/tmp";

/// The variables of a command.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
    /// What the named variables are set to, and tokens: it does not show in anything that a command prints.
    secrets: Vec<String>,
}

impl Environment {
    /// Of all these variables, those that pass, and those that are named.
    #[must_use]
    pub fn filtered(all: impl IntoIterator<Item = (OsString, OsString)>, named: &[String]) -> Self {
        let is_named = |name: &str| named.iter().any(|named| named == name);
        let always = |name: &str| PASSED.contains(&name) || name.starts_with(LOCALE_PREFIX);
        let (mut variables, mut secrets) = (BTreeMap::new(), Vec::new());
        for (name, value) in all {
            let text = name.to_str().unwrap_or_default();
            if (is_named(text) && !always(text)) || TOKENS.contains(&text) {
                secrets.extend(value.to_str().map(str::to_owned));
            }
            if always(text) || is_named(text) {
                variables.insert(name, value);
            }
        }
        // Nobody looks at a screen: no colours, no progress bars.
        variables.insert("TERM".into(), "dumb".into());
        Self { variables, secrets }
    }

    /// The same with values for variables that are not set.
    #[must_use]
    pub fn with_defaults<'a>(mut self, defaults: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        for (name, value) in defaults {
            self.variables.entry(name.into()).or_insert_with(|| value.into());
        }
        self
    }

    /// What must not show in anything that a command prints.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        self.secrets.iter().map(String::as_str)
    }

    /// The variables for a command of this workspace, with [`search`](Self::search) as its `PATH`.
    pub(super) fn of(&self, workspace: &Path) -> BTreeMap<OsString, OsString> {
        let mut variables = self.variables.clone();
        variables.insert("PATH".into(), self.search(workspace));
        if variables.contains_key(OsStr::new("TMPDIR")) {
            variables.insert("TMPDIR".into(), self.temp(workspace).into());
        }
        variables
    }

    /// The directories where programs are looked for: absolute ones that the workspace cannot fill.
    ///
    /// An agent that may write a `.venv/bin/cargo` would otherwise decide what `cargo test` says.
    pub(super) fn search(&self, workspace: &Path) -> OsString {
        let all = self.variables.get(OsStr::new("PATH")).cloned().unwrap_or_else(|| SEARCH_DEFAULT.into());
        let outside = |dir: &PathBuf| {
            let real = dir.canonicalize().unwrap_or_else(|_| dir.clone());
            dir.is_absolute() && !dir.starts_with(workspace) && !real.starts_with(workspace)
        };
        // What was split off a list holds no separator, so that it can be joined again.
        env::join_paths(env::split_paths(&all).filter(outside)).unwrap_or_default()
    }

    /// Where a command puts temporary files, and may write: not where more lies than that, such as the workspace or
    /// what the user has.
    pub(super) fn temp(&self, workspace: &Path) -> PathBuf {
        let named = self.variables.get(OsStr::new("TMPDIR")).map(PathBuf::from);
        let home = self.variables.get(OsStr::new("HOME")).map(PathBuf::from);
        let holds = |dir: &Path| workspace.starts_with(dir) || home.is_some_and(|home| real(&home).starts_with(dir));
        let apart = |dir: &PathBuf| dir.is_absolute() && !holds(&real(dir));
        named.filter(apart).unwrap_or_else(|| TEMP_DEFAULT.into())
    }
}

/// A directory as the kernel knows it, so that it can be compared.
fn real(dir: &Path) -> PathBuf {
    dir.canonicalize().unwrap_or_else(|_| dir.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, named: &[&str], passes: bool) {
        let named: Vec<String> = named.iter().map(|name| (*name).to_owned()).collect();
        let environment = Environment::filtered([(name.into(), "x".into())], &named);
        assert_eq!(environment.variables.get(OsStr::new(name)).is_some_and(|value| value == "x"), passes, "{name}");
    }

    #[test]
    fn secrets_and_marks_of_hosts_do_not_pass() {
        for name in ["PATH", "HOME", "LANG", "LC_ALL", "LC_TIME", "TMPDIR", "CARGO_HOME", "JAVA_HOME"] {
            check(name, &[], true);
        }
        let secrets = ["ANTHROPIC_API_KEY", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK", "HTTPS_PROXY"];
        let marks = ["CLAUDECODE", "CLAUDE_PROJECT_DIR", "JACKLINE_HOME"];
        let loaders = ["LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV", "NODE_OPTIONS", "PYTHONSTARTUP"];
        for name in secrets.into_iter().chain(marks).chain(loaders) {
            check(name, &[], false);
            check(name, &["OTHER", name], true);
        }
        check("path", &[], false);
        check("TERM", &["TERM"], false);
    }

    #[test]
    fn programs_are_never_looked_for_in_the_workspace() {
        let path = "/usr/bin::.:bin:/home/dev/space/.venv/bin:/home/dev/spaces:/home/dev/space";
        let environment = Environment::filtered([("PATH".into(), path.into())], &[]);
        assert_eq!(environment.search(Path::new("/home/dev/space")), "/usr/bin:/home/dev/spaces");
        assert_eq!(Environment::default().search(Path::new("/w")), SEARCH_DEFAULT);
    }

    #[test]
    fn a_temporary_directory_that_is_relative_or_holds_more_counts_for_nothing() {
        let home = || ("HOME".into(), "/home/dev".into());
        let of = |value: &str| Environment::filtered([("TMPDIR".into(), value.into()), home()], &[]);
        let temp = |value: &str| of(value).temp(Path::new("/srv/trees/space"));
        assert_eq!(temp("/var/x"), Path::new("/var/x"));
        assert_eq!(temp("/home/dev/tmp"), Path::new("/home/dev/tmp"));
        for wide in ["x", "/", "/srv", "/srv/trees/space", "/home", "/home/dev", "/home/dev/"] {
            assert_eq!(temp(wide), Path::new(TEMP_DEFAULT), "{wide}");
            let given = of(wide).of(Path::new("/srv/trees/space"));
            assert_eq!(given.get(OsStr::new("TMPDIR")).unwrap(), TEMP_DEFAULT, "{wide}");
        }
        assert_eq!(Environment::default().temp(Path::new("/w")), Path::new(TEMP_DEFAULT));
    }

    #[test]
    fn what_the_owner_names_is_a_secret_and_what_always_passes_is_none() {
        let all = [("KEY", "k1"), ("OTHER", "o1"), ("GITHUB_TOKEN", "g1"), ("PATH", "/bin")];
        let all = all.map(|(name, value)| (name.into(), value.into()));
        let environment = Environment::filtered(all, &["KEY".to_owned(), "PATH".to_owned()]);
        assert_eq!(environment.secrets().collect::<Vec<_>>(), ["k1", "g1"]);
    }
}
