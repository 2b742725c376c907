//! The real Claude Code, driven by a scripted model, with the real program as its hook.
//!
//! Every scenario asserts what is on disk, what the model was shown, and that nothing left the machine. How to write
//! one: `docs/internals/rehearsal.md`.

#![expect(clippy::expect_used, reason = "a test that cannot go on says so by panicking")]

mod broken;

use std::process::Command;

use jackline_rehearsal::client::{self, Play};
use jackline_rehearsal::{Claude, Lane, Outcome, Run, Script, Stage, install};
use serde_json::{Value, json};

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
        world.write("README.md", "# A small project\n");
        world.git(&["init", "-q", "-b", "main"]);
        world.git(&["config", "user.name", "Dev"]);
        world.git(&["config", "user.email", "dev@example.com"]);
        world.git(&["add", "-A"]);
        world.git(&["commit", "-qm", "Begin"]);
        world
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
        client::play(&self.claude, &self.stage, script, play).expect("the host runs")
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
