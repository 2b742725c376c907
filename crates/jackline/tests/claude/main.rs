//! The real Claude Code, driven by a scripted model, with the real program as its hook.
//!
//! Every scenario asserts what is on disk, what the model was shown, and that nothing left the machine. How to write
//! one: `docs/internals/rehearsal.md`.

#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]
#![expect(clippy::indexing_slicing, reason = "records and events are JSON: a missing member is null")]

mod agents;
mod broken;
mod budgets;
mod bypass;
mod day;
mod feedback;
mod odd_calls;
mod policies;
mod proxied;
#[path = "../records/mod.rs"]
mod records;
mod rules;
mod served;
mod session;
mod shown;
mod stops;

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Output};

use jackline_rehearsal::client::{self, Play, claude};
use jackline_rehearsal::{Claude, Lane, Outcome, Run, Script, Stage, install};
use serde_json::{Value, json};

/// The program under test.
const JACKLINE: &str = env!("CARGO_BIN_EXE_jackline");

/// What a careful owner asks for. `check.sh` stands for the project's tests.
const DEFINITION: &str = r#"jackline: 1
agent: { ns: acme, key: rehearsal }
steps:
  test: { tool: "@shell", command: "./check.sh*" }
  commit: { tool: "@shell", command: "git commit*" }
policies:
  - name: tested
    sequence: { requires: { commit: [test] }, fresh: true }
  - read_before_write: {}
  - paths: { outside: allow, protect: [".env*", "infra/**"] }
  - name: no-force-push
    rule:
      tool: "@shell"
      command: { program: git, args: [push], flags: ["--force", "-f"] }
      reason: "force-push rewrites shared history"
      suggest: ["push to a new branch"]
  - name: no-shouting
    rule: { tool: mcp__notes__note, args: { text: { glob: "*!" } }, reason: "notes are calm" }
"#;

/// A repository on a stage of its own.
struct World {
    stage: Stage,
    claude: Claude,
}

impl World {
    /// A git repository with one commit and no definition.
    fn new() -> Self {
        Self::on(install::CLAUDE)
    }

    /// The same for a certain version of the host.
    #[track_caller]
    fn on(version: &str) -> Self {
        let program = install::claude(version).unwrap_or_else(|why| panic!("{why}"));
        let world = Self { stage: Stage::new().expect("a stage"), claude: Claude { program } };
        world.stage.write("bin/.keep", "").expect("written");
        symlink(&world.claude.program, world.stage.top().join("bin/claude")).expect("linked");
        symlink(JACKLINE, world.stage.top().join("bin/jackline")).expect("linked");
        world.write("README.md", "# A small project\n");
        world.git(&["init", "-q", "-b", "main"]);
        world.git(&["config", "user.name", "Dev"]);
        world.git(&["config", "user.email", "dev@example.com"]);
        world.git(&["add", "-A"]);
        world.git(&["commit", "-qm", "Begin"]);
        world
    }

    /// The same with the definition above, tests, and the program as hook.
    fn guarded() -> Self {
        let world = Self::defined();
        world.wire("local");
        world
    }

    /// The same without the hook.
    fn defined() -> Self {
        let world = Self::new();
        world.write("jackline.yaml", DEFINITION);
        world.stage.write_program("repo/check.sh", "#!/bin/sh\necho all good\n").expect("written");
        world.git(&["add", "-A"]);
        world.git(&["commit", "-qm", "Guard it"]);
        world
    }

    /// Wires the program as a person does.
    #[track_caller]
    fn wire(&self, scope: &str) {
        let wired = self.jackline(&["init", "claude", "--scope", scope]);
        assert_eq!(wired.status.code(), Some(0), "{}", String::from_utf8_lossy(&wired.stderr));
    }

    /// What `jackline trust` remembers once a person agreed.
    fn trust(&self) {
        let accepted = std::fs::read_dir(self.store().join("accepted")).expect("something was accepted");
        let file = accepted.map(|entry| entry.expect("readable").path()).next().expect("one");
        let text = std::fs::read_to_string(&file).expect("read");
        std::fs::write(&file, text.replace("\"trusted\": false", "\"trusted\": true")).expect("written");
    }

    /// The state directory.
    fn store(&self) -> PathBuf {
        self.stage.home().join(".local/state/jackline")
    }

    /// Runs the program as a person would, in the repository, with the host in reach.
    fn jackline(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(JACKLINE);
        command.args(arguments).current_dir(self.stage.repo()).env_clear();
        command.env("HOME", self.stage.home()).env("PATH", self.path()).output().expect("the program starts")
    }

    /// Where programs are, for people and agents: the host and the program under test among them.
    fn path(&self) -> String {
        format!("{}:{}", self.stage.top().join("bin").display(), claude::PATH)
    }

    /// Everything on record, in order; the record must be whole.
    #[track_caller]
    fn records(&self) -> Vec<Value> {
        records::exported(|words| self.jackline(words))
    }

    /// The records of one kind about a call, by its name in the script.
    #[track_caller]
    fn records_of(&self, kind: &str, call: &str) -> Vec<Value> {
        let id = format!("toolu_{call}");
        let mut records = self.records();
        records.retain(|record| record["kind"] == kind && record["call"] == id.as_str());
        records
    }

    /// What was decided when a call was asked for.
    #[track_caller]
    fn decided(&self, call: &str) -> String {
        let decisions = self.records_of("decision", call);
        let first = decisions.first().unwrap_or_else(|| panic!("nothing was decided about `{call}`"));
        first["data"]["verdict"].as_str().expect("a verdict").to_owned()
    }

    fn write(&self, name: &str, text: &str) {
        self.stage.write(&format!("repo/{name}"), text).expect("written");
    }

    fn has(&self, name: &str) -> bool {
        self.stage.has(&format!("repo/{name}"))
    }

    /// What git says in the repository.
    #[track_caller]
    fn git(&self, arguments: &[&str]) -> String {
        let mut git = Command::new("git");
        git.args(arguments).current_dir(self.stage.repo()).env("HOME", self.stage.home());
        let output = git.env("GIT_CONFIG_NOSYSTEM", "1").output().expect("git is there");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    fn settings(&self, settings: &Value) {
        self.write(".claude/settings.json", &settings.to_string());
    }

    fn play(&self, script: Script) -> Run {
        self.play_with(script, &Play::default())
    }

    fn play_with(&self, script: Script, play: &Play) -> Run {
        let mut play = play.clone();
        play.variables.push(("PATH".to_owned(), self.path()));
        client::play(&self.claude, &self.stage, script, &play).expect("the host runs")
    }
}

/// The session went to its end by the script, alone.
#[track_caller]
fn calm(run: &Run) {
    assert!(!run.timed_out, "it had to be ended: {run:#?}");
    assert_eq!(run.model.strangers(), [""; 0], "something wanted to leave the machine");
    for lane in [Lane::Main, Lane::Subagent] {
        let (used, all) = run.model.turns_used(lane);
        assert_eq!(used, all, "turns of {lane:?}; the host said {}", run.stderr);
    }
}

/// The same, and no hook broke on the way.
#[track_caller]
fn sound(run: &Run) {
    calm(run);
    assert_eq!(run.no_verdicts(), [&Value::Null; 0], "a gate gave no answer");
    assert_eq!(run.broken_hooks(), [&Value::Null; 0], "a hook did not go well");
    assert_eq!((run.exit, run.terminal_reason()), (Some(0), "completed"), "{}", run.stderr);
}

/// What the model was shown of a call.
#[track_caller]
fn outcome(run: &Run, name: &str) -> Outcome {
    run.model.outcome(name).unwrap_or_else(|| panic!("the model was shown no result of `{name}`: {}", run.stderr))
}

/// A call was refused, and the model was told why.
#[track_caller]
fn refused(run: &Run, name: &str, why: &[&str]) {
    let Outcome { text, failed, .. } = outcome(run, name);
    assert!(failed, "`{name}` was not refused: {text}");
    for part in why {
        assert!(text.contains(part), "`{name}` was refused without `{part}`: {text}");
    }
}

/// A call ran and went well.
#[track_caller]
fn ran(run: &Run, name: &str) {
    let Outcome { text, failed, .. } = outcome(run, name);
    assert!(!failed, "`{name}` did not go well: {text}");
}

/// Settings with one hook before tools.
fn hooked(hooks: &[(&str, Value)]) -> Value {
    let entries: Vec<Value> =
        hooks.iter().map(|(matcher, hook)| json!({"matcher": matcher, "hooks": [hook]})).collect();
    json!({"hooks": {"PreToolUse": entries}})
}
