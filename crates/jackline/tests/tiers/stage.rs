//! A workflow in a directory of its own, and the real program that runs it.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// The token of models, which must show nowhere.
pub(crate) const TOKEN: &str = "tok-5ecret-of-the-model-0123456789";

/// A workflow, and a home for what runs leave.
pub(crate) struct Stage {
    directory: TempDir,
}

/// What came of a command.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Stage {
    /// A workflow with this manifest, below the usual head.
    pub(crate) fn new(manifest: &str) -> Self {
        let stage = Self { directory: tempfile::tempdir().unwrap() };
        let head = "awp: \"1.0.0\"\nworkflow: {name: tiers, version: \"1.0.0\", description: A test.}\n";
        stage.file("workflow.awp.yaml", &format!("{head}{manifest}"));
        stage
    }

    pub(crate) fn file(&self, path: &str, text: &str) {
        let path = self.flow().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// An agent whose file says this beside who it is; any object fits its contract.
    pub(crate) fn agent(self, id: &str, text: &str) -> Self {
        let head = format!("awp_agent: \"1.0.0\"\nidentity: {{id: {id}, description: Does {id}.}}\n");
        let output = "output: {contract: {type: object, properties: {text: {type: string}}}}\n";
        self.file(&format!("agents/{id}/agent.awp.yaml"), &format!("{head}{output}{text}"));
        self
    }

    /// An agent that is a shell script; `$input` is what it was given.
    pub(crate) fn script(self, id: &str, script: &str) -> Self {
        self.file(&format!("agents/{id}/run.sh"), &format!("input=$(cat)\n{script}\n"));
        self.agent(id, &format!("runtime: {{command: [sh, agents/{id}/run.sh]}}\n"))
    }

    pub(crate) fn flow(&self) -> PathBuf {
        self.directory.path().join("flow")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jackline"));
        command.args(arguments).current_dir(self.directory.path()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", self.directory.path());
        command.env("JACKLINE_HOME", self.home()).env("MODEL_TOKEN", TOKEN);
        command
    }

    /// Starts a run as `run-1` and does not wait for it.
    pub(crate) fn start(&self) -> Child {
        let mut command = self.command(&["workflow", "run", "flow", "--task", "Say something.", "--run-id", "run-1"]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Takes the run up again and does not wait for it.
    pub(crate) fn start_again(&self) -> Child {
        let mut command = self.command(&["workflow", "run", "flow", "--resume", "run-1"]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Kills whoever carries the run out, once there are so many records of a kind.
    pub(crate) fn kill_after(&self, mut child: Child, kind: &str, count: usize) {
        let until = Instant::now() + Duration::from_secs(60);
        while Instant::now() < until && !(self.began() && self.records(kind).len() >= count) {
            thread::sleep(Duration::from_millis(50));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(self.records(kind).len() >= count, "{}", self.log());
    }

    /// Whether the run has a record.
    pub(crate) fn began(&self) -> bool {
        self.jackline(&["audit", "export", "--session", "run-1"]).code == Some(0)
    }

    pub(crate) fn jackline(&self, arguments: &[&str]) -> Ran {
        let Output { status, stdout, stderr } = self.command(arguments).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Ran { code: status.code(), out: text(stdout), err: text(stderr) }
    }

    /// Runs the workflow as `run-1`; how it ended.
    #[track_caller]
    pub(crate) fn run(&self) -> (Ran, Value) {
        let ran =
            self.jackline(&["workflow", "run", "flow", "--task", "Say something.", "--run-id", "run-1", "--json"]);
        let ended =
            serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{:?}\n{}\n{}", ran.code, ran.out, ran.err));
        (ran, ended)
    }

    /// Runs it and holds how it ended against what was wanted.
    #[track_caller]
    pub(crate) fn ends(&self, status: &str, reason: &str) -> Value {
        let (ran, ended) = self.run();
        let told = (ended["status"].as_str().unwrap(), ended["reason"].as_str().unwrap());
        assert_eq!(told, (status, reason), "{}\n{}\n{}", ran.out, ran.err, self.log());
        assert_eq!(ran.code, Some(i32::from(status != "complete")));
        ended
    }

    /// The run's records, one JSON object in each line.
    pub(crate) fn log(&self) -> String {
        let shown = self.jackline(&["audit", "export", "--session", "run-1"]);
        assert_eq!(shown.code, Some(0), "{}", shown.err);
        shown.out
    }

    /// The records of a kind: their data.
    pub(crate) fn records(&self, kind: &str) -> Vec<Value> {
        let records = self.log();
        let records = records.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        records.filter(|record| record["kind"] == kind).map(|record| record["data"].clone()).collect()
    }

    /// Every file that runs left, as text.
    pub(crate) fn left(&self) -> String {
        let mut all = String::new();
        let mut open = vec![self.home()];
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(directory).unwrap().flatten() {
                if entry.path().is_dir() {
                    open.push(entry.path());
                } else {
                    all.push_str(&String::from_utf8_lossy(&fs::read(entry.path()).unwrap()));
                }
            }
        }
        all
    }
}
