//! A project with a definition, a home and a store of its own, and a client that sends messages.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Map, Value, json};

/// A definition that most tests share.
pub(crate) const RULES: &str = r#"
jackline: 1
steps:
  test:   { tool: "@shell", command: "./test.sh*" }
  commit: { tool: "@shell", command: "git commit*" }
policies:
  - sequence: { requires: { commit: [test] }, fresh: true }
  - read_before_write: {}
  - paths: { protect: [".env*"] }
"#;

pub(crate) struct World {
    top: tempfile::TempDir,
}

/// What one message was answered with.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) exit: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Answered {
    pub(crate) fn json(&self) -> Value {
        assert_eq!((self.exit, self.stderr.as_str()), (Some(0), ""), "{self:?}");
        serde_json::from_str(&self.stdout).unwrap()
    }

    #[track_caller]
    pub(crate) fn silent(&self) {
        assert_eq!((self.exit, self.stdout.as_str(), self.stderr.as_str()), (Some(0), "", ""));
    }

    /// Refused in the client's form, for this reason.
    #[track_caller]
    pub(crate) fn denied(&self, reason: &str) {
        let specific = self.json()["hookSpecificOutput"].take();
        assert_eq!(specific["permissionDecision"], "deny", "{self:?}");
        let said = specific["permissionDecisionReason"].as_str().unwrap();
        assert!(said.contains(reason), "{said}");
    }

    /// Blocked because we could not decide.
    #[track_caller]
    pub(crate) fn blocked(&self, why: &str) {
        assert_eq!((self.exit, self.stdout.as_str()), (Some(2), ""), "{self:?}");
        assert!(self.stderr.contains(why), "{}", self.stderr);
    }
}

impl World {
    pub(crate) fn new(definition: Option<&str>) -> Self {
        let world = Self { top: tempfile::tempdir().unwrap() };
        fs::create_dir(world.root()).unwrap();
        fs::create_dir(world.home()).unwrap();
        if let Some(definition) = definition {
            fs::write(world.root().join("jackline.yaml"), definition).unwrap();
        }
        world
    }

    pub(crate) fn top(&self) -> PathBuf {
        self.top.path().canonicalize().unwrap()
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.top().join("project")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.top().join("home")
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.top().join("store")
    }

    /// The hook as `init` wires it, with what the client puts into its environment.
    pub(crate) fn hook(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jackline"));
        command.args(["hook", "claude", "--store"]).arg(self.store()).arg("--root").arg(self.root());
        command.args(["--wired", "local"]);
        command.current_dir(self.root()).env_clear().env("HOME", self.home()).env("CLAUDECODE", "1");
        command
    }

    pub(crate) fn send(&self, native: &[u8]) -> Answered {
        answered(&mut self.hook(), native)
    }

    /// One message of session `s1`.
    pub(crate) fn tell(&self, event: &str, fields: Value) -> Answered {
        self.send(self.message(event, fields).to_string().as_bytes())
    }

    pub(crate) fn message(&self, event: &str, fields: Value) -> Value {
        let mut message = Map::new();
        message.insert("session_id".into(), json!("s1"));
        message.insert("cwd".into(), json!(self.root()));
        message.insert("hook_event_name".into(), json!(event));
        message.extend(fields.as_object().cloned().unwrap_or_default());
        Value::Object(message)
    }

    pub(crate) fn asks(&self, id: &str, tool: &str, input: Value) -> Answered {
        self.tell("PreToolUse", json!({ "tool_name": tool, "tool_input": input, "tool_use_id": id }))
    }

    pub(crate) fn ran(&self, id: &str, tool: &str, input: Value, response: Value) -> Answered {
        let call = json!({ "tool_name": tool, "tool_input": input, "tool_use_id": id, "tool_response": response });
        self.tell("PostToolUse", call)
    }

    /// A shell command that is asked for and, if it is allowed, has succeeded.
    pub(crate) fn bash(&self, id: &str, command: &str) -> Answered {
        let answered = self.asks(id, "Bash", json!({ "command": command }));
        if answered.stdout.is_empty() && answered.exit == Some(0) {
            let response = json!({ "stdout": "", "interrupted": false });
            self.ran(id, "Bash", json!({ "command": command }), response).silent();
        }
        answered
    }

    pub(crate) fn jackline(&self, arguments: &[&str]) -> Answered {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jackline"));
        command.args(arguments).arg("--store").arg(self.store());
        command.current_dir(self.root()).env_clear().env("HOME", self.home());
        answered(&mut command, b"")
    }

    /// The records of session `s1`, verified.
    pub(crate) fn records(&self) -> Vec<Value> {
        let verified = self.jackline(&["audit", "verify"]);
        assert_eq!(verified.exit, Some(0), "{verified:?}");
        let exported = self.jackline(&["audit", "export", "--session", "s1"]);
        exported.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub(crate) fn kinds(&self) -> Vec<String> {
        let kinds = self.records().into_iter().map(|record| record["kind"].as_str().unwrap().to_owned());
        kinds.filter(|kind| kind != "decision").collect()
    }
}

pub(crate) fn answered(command: &mut Command, native: &[u8]) -> Answered {
    let mut child = spawned(command);
    let mut input = child.stdin.take().unwrap();
    // A hook that has seen enough may have gone already.
    drop(input.write_all(native));
    drop(input);
    ended(child)
}

pub(crate) fn spawned(command: &mut Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

pub(crate) fn ended(child: Child) -> Answered {
    let output = child.wait_with_output().unwrap();
    Answered {
        exit: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Everything below a directory, by name.
pub(crate) fn tree(top: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(top).into_iter().flatten() {
        let path = entry.unwrap().path();
        found.extend(if path.is_dir() { tree(&path) } else { Vec::new() });
        found.push(path);
    }
    found.sort();
    found
}
