//! `init`, `uninit` and `doctor` on the real binary: what they write, what they leave alone, what they notice.

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a test that cannot go on says so by panicking")]

mod codex;
mod defence;
mod doctor;
mod init;
mod others;
mod serving;
mod shim;
mod silenced;
mod terminal;
mod trees;
mod trusting;
mod uninit;

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// A home, a repository, and a PATH with our program and a client on it.
struct World {
    top: tempfile::TempDir,
}

/// What a command did.
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl World {
    fn new() -> Self {
        let world = Self { top: tempfile::tempdir().expect("a temporary directory") };
        for dir in ["home/.claude", "ws/.git/info", "bin", "tmp"] {
            fs::create_dir_all(world.path(dir)).expect("made");
        }
        let (built, ours) = (env!("CARGO_BIN_EXE_jackline"), world.path("bin/jackline"));
        // A link where the file system allows it: the program is large.
        fs::hard_link(built, &ours).or_else(|_| fs::copy(built, &ours).map(|_| ())).expect("our program");
        world.client("2.1.325 (Claude Code)");
        world
    }

    /// The same, wired in the local scope.
    fn wired() -> Self {
        let world = Self::new();
        assert_eq!(world.run(&["init"]).code, Some(0));
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.top.path().canonicalize().expect("there").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().expect("a parent")).expect("made");
        fs::write(self.path(name), text).expect("written");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("readable")
    }

    fn settings(&self) -> Value {
        serde_json::from_str(&self.read(LOCAL)).expect("JSON")
    }

    /// Changes the text of a file.
    fn change(&self, name: &str, from: &str, to: &str) {
        let text = self.read(name);
        assert!(text.contains(from), "{from:?} is not in\n{text}");
        self.write(name, &text.replace(from, to));
    }

    /// A program that runs this shell text.
    fn script(&self, name: &str, text: &str) {
        drop(fs::remove_file(self.path(name)));
        self.write(name, &format!("#!/bin/sh\n{text}\n"));
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).expect("runnable");
    }

    /// A client that says this version.
    fn client(&self, version: &str) {
        self.script("bin/claude", &format!("echo '{version}'"));
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.path("bin/jackline"));
        command.args(arguments).current_dir(self.path("ws")).env_clear();
        command.env("HOME", self.path("home")).env("TMPDIR", self.path("tmp"));
        command.env("PATH", format!("{}:/usr/bin:/bin", self.path("bin").display()));
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        ran(self.command(arguments), "")
    }

    /// Every file below a directory with its content.
    fn files(&self, name: &str) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut waiting = vec![self.path(name)];
        while let Some(dir) = waiting.pop() {
            for entry in fs::read_dir(dir).expect("listed") {
                let path = entry.expect("readable").path();
                if path.is_dir() {
                    waiting.push(path);
                } else {
                    found.push((path.clone(), fs::read(path).expect("readable")));
                }
            }
        }
        found.sort();
        found
    }
}

/// The settings that `init` writes by default.
const LOCAL: &str = "ws/.claude/settings.local.json";
const USER: &str = "home/.claude/settings.json";
const PROJECT: &str = "ws/.claude/settings.json";

fn ran(mut command: Command, input: &str) -> Ran {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
    // A command that reads nothing may be gone already.
    drop(child.stdin.take().expect("piped").write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("ended");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

impl Ran {
    #[track_caller]
    fn check(&self, code: i32, told: &[&str]) {
        let all = format!("{}{}", self.out, self.err);
        assert_eq!(self.code, Some(code), "{all}");
        told.iter().for_each(|told| assert!(all.contains(told), "{told:?} is not in\n{all}"));
    }
}

fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}
