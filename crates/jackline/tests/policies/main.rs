//! File policies through the real program, in real repositories: what fires, what settles it, what is on disk.

#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]
#![expect(clippy::indexing_slicing, reason = "what is printed is JSON: a missing member is null")]

mod actions;
mod baselines;
mod commands;
mod firing;
mod hidden;
mod inside;
mod moved;
mod places;
mod promises;
mod queue;
mod sessions;
mod settling;
mod trees;
mod trust;
mod untold;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// A policy that pairs sources with their tests.
const PAIRING: &str =
    "---\nname: Source/Test Pairing\nset: ['src/{path}.py', 'tests/{path}_test.py']\n---\nWrite the test.\n";
/// A policy that asks for a look at a file.
const README: &str = "---\nname: README Accuracy\ntrigger: src/**\nsafety: README.md\n---\nVerify README.md.\n";

/// What a command came to.
#[derive(Debug)]
struct Ran {
    exit: Option<i32>,
    stdout: String,
    stderr: String,
}

/// A repository with one commit, a home and a state of its own.
struct World {
    top: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { top: tempfile::tempdir().expect("a temporary directory") };
        fs::create_dir_all(world.path("home")).expect("made");
        world.write("README.md", "# r\n");
        world.git(&["init", "-q", "-b", "main"]);
        world.commit("Begin");
        world
    }

    /// The same with a policy, which is committed.
    fn with(name: &str, text: &str) -> Self {
        let world = Self::new();
        world.policy(name, text);
        world.commit("Policy");
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.top.path().canonicalize().expect("there").join(name)
    }

    fn repo(&self, name: &str) -> PathBuf {
        self.path("repo").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.repo(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.repo(name)).unwrap_or_else(|fault| panic!("{name}: {fault}"))
    }

    fn policy(&self, name: &str, text: &str) {
        self.write(&format!(".jackline/policies/{name}.md"), text);
    }

    #[track_caller]
    fn git(&self, words: &[&str]) -> String {
        self.git_in(&self.path("repo"), words)
    }

    #[track_caller]
    fn git_in(&self, dir: &Path, words: &[&str]) -> String {
        let settings = ["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "protocol.file.allow=always"];
        let mut git = Command::new("git");
        git.args(settings).args(words).current_dir(dir).env("HOME", self.path("home"));
        let output = git.output().expect("git is there");
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-qm", message]);
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        self.run_in(&self.path("repo"), arguments, "")
    }

    fn run_in(&self, dir: &Path, arguments: &[&str], input: &str) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jackline"));
        command
            .args(arguments)
            .current_dir(dir)
            .env_clear()
            .env("HOME", self.path("home"))
            .env("PATH", "/usr/bin:/bin");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("started");
        drop(child.stdin.take().expect("piped").write_all(input.as_bytes()));
        let output = child.wait_with_output().expect("ended");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Ran { exit: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// A look, as JSON; the exit code must say whether something is outstanding.
    #[track_caller]
    fn check(&self, more: &[&str]) -> Value {
        let ran = self.run(&[&["policy", "check", "--format", "json"], more].concat());
        let seen: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
        let open = seen["outstanding"].as_array().is_some_and(|open| !open.is_empty());
        let faults = seen["faults"].as_array().is_some_and(|all| all.iter().any(|fault| fault["level"] == "error"));
        assert_eq!(ran.exit, Some(i32::from(open || faults)), "{ran:?}");
        seen
    }

    /// The policies that are outstanding.
    #[track_caller]
    fn outstanding(&self) -> Vec<String> {
        names(&self.check(&[])["outstanding"])
    }

    /// The queue's files, in order, each without its hash.
    fn queued(&self) -> Vec<String> {
        let all = fs::read_dir(self.repo(".jackline/tmp/policy/queue")).into_iter().flatten().flatten();
        let status = |name: String| name.split_once('.').map(|(_, rest)| rest.to_owned()).unwrap_or_default();
        let mut names: Vec<String> =
            all.map(|entry| status(entry.file_name().to_string_lossy().into_owned())).collect();
        names.sort();
        names
    }

    /// The one entry of the queue with this status.
    #[track_caller]
    fn entry(&self, status: &str) -> Value {
        let all = fs::read_dir(self.repo(".jackline/tmp/policy/queue")).expect("a queue").flatten();
        let found =
            all.map(|entry| entry.path()).find(|path| path.to_string_lossy().ends_with(&format!(".{status}.json")));
        let path = found.unwrap_or_else(|| panic!("nothing is {status}: {:?}", self.queued()));
        serde_json::from_str(&fs::read_to_string(path).expect("readable")).expect("JSON")
    }

    /// A transcript in which the agent says this, at this time if one is given.
    fn transcript(&self, said: &str, at: Option<&str>) -> String {
        let mut line = serde_json::json!({
            "type": "assistant", "message": { "role": "assistant", "content": [{ "type": "text", "text": said }] },
        });
        if let Some(at) = at {
            line["timestamp"] = at.into();
        }
        let path = self.path("transcript.jsonl");
        let mut file = fs::OpenOptions::new().create(true).append(true).open(&path).expect("opened");
        writeln!(file, "{line}").expect("written");
        path.display().to_string()
    }
}

fn names(list: &Value) -> Vec<String> {
    let name = |item: &Value| item["policy"].as_str().unwrap_or_default().to_owned();
    list.as_array().into_iter().flatten().map(name).collect()
}
