//! Where a scenario is played: a repository with its definition, wired by `jackline init` to a copy of the program that
//! can be taken away or replaced.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use jackline_rehearsal::client::{self, PATH, Play};
use jackline_rehearsal::{Call, Mcp, Run, Script, Stage, call};
use serde_json::{Value, json};

use super::records;
use super::rig::{Approving, Rig};
use super::scenario::{Act, Mishap, Scenario};

/// The program under test.
const JACKLINE: &str = env!("CARGO_BIN_EXE_jackline");

/// Commits that are there before the agent begins.
const COMMITS: usize = 1;

pub(crate) struct World {
    pub(crate) stage: Stage,
    pub(crate) rig: &'static Rig,
    /// What the wired settings and the definition held at the start.
    pub(crate) before: Vec<(String, Option<String>)>,
    pub(crate) notes: Mcp,
}

impl World {
    /// Everything that a scenario needs, wired.
    pub(crate) fn of(scenario: &Scenario, rig: &'static Rig) -> Self {
        Self::wired(scenario, rig, rig.init)
    }

    /// The same, wired by these words.
    pub(crate) fn wired(scenario: &Scenario, rig: &'static Rig, init: &[&str]) -> Self {
        let stage = Stage::new().expect("a stage");
        let notes = Mcp::start().expect("started");
        let mut world = Self { stage, rig, before: Vec::new(), notes };
        world.stage.write("bin/.keep", "").expect("written");
        fs::hard_link(JACKLINE, world.guard())
            .or_else(|_| fs::copy(JACKLINE, world.guard()).map(drop))
            .expect("copied");
        let definition = scenario.definition.to_string().replace("{{NOTE}}", rig.note);
        world.write("jackline.yaml", &definition);
        for (path, content) in &scenario.workspace {
            world.write(path, content);
            if content.starts_with("#!") {
                let path = world.stage.repo().join(path);
                fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("set");
            }
        }
        world.commit();
        let wired = world.jackline(init);
        assert_eq!(wired.status.code(), Some(0), "{}", String::from_utf8_lossy(&wired.stderr));
        if let Some(approving) = rig.approving.as_ref().filter(|_| scenario.approved) {
            world.approve(approving);
        }
        world.before = scenario.want.unchanged.iter().map(|name| world.held(name)).collect();
        world
    }

    /// Has the host run the repository's own hooks, where it wants a person's word first.
    pub(crate) fn trust_folder(&self) {
        if let Some(file) = self.rig.folders {
            let kept = json!({ "trusted_folders": [self.stage.repo()] });
            self.stage.write(file, &kept.to_string()).expect("written");
        }
    }

    /// Puts a hook behind ours that approves every call.
    fn approve(&self, approving: &Approving) {
        let text = self.stage.read(approving.file).unwrap_or_else(|| "{\"version\":1}".to_owned());
        let mut settings: Value = serde_json::from_str(&text).expect("JSON");
        let answer = json!({"hookSpecificOutput": {"hookEventName": approving.event, "permissionDecision": "allow"},
                            "permissionDecision": "allow", "decision": "allow"});
        let hooks = &mut settings["hooks"][approving.event];
        let mut listed = hooks.as_array().cloned().unwrap_or_default();
        listed.push((approving.hook)(&format!("echo '{answer}'")));
        *hooks = listed.into();
        self.stage.write(approving.file, &settings.to_string()).expect("written");
    }

    fn commit(&self) {
        self.git(&["init", "-q", "-b", "main"]);
        self.git(&["config", "user.name", "Dev"]);
        self.git(&["config", "user.email", "dev@example.com"]);
        self.git(&["add", "-A"]);
        self.git(&["commit", "-qm", "Begin"]);
    }

    /// A file of the repository with what it holds; of the settings the hooks, because hosts add things of their own.
    pub(crate) fn held(&self, name: &str) -> (String, Option<String>) {
        if name != "{{SETTINGS}}" {
            return (name.to_owned(), self.stage.read(&format!("repo/{name}")));
        }
        let text = self.stage.read(self.rig.settings);
        let settings: Option<Value> = text.as_ref().and_then(|text| serde_json::from_str(text).ok());
        (name.to_owned(), settings.map(|settings| settings["hooks"].to_string()).or(text))
    }

    /// The copy of the program that is wired.
    pub(crate) fn guard(&self) -> PathBuf {
        self.stage.top().join("bin/jackline")
    }

    /// Puts a program in the guard's place that spoils its answers.
    pub(crate) fn spoil(&self, how: &str, odd: &Path) {
        let text = format!("#!/bin/sh\nexec '{}' {how} {JACKLINE} \"$@\"\n", odd.display());
        replace(&self.guard(), &text);
    }

    fn write(&self, name: &str, text: &str) {
        self.stage.write(&format!("repo/{name}"), text).expect("written");
    }

    /// Runs the program as a person would, in the repository.
    pub(crate) fn jackline(&self, arguments: &[&str]) -> Output {
        self.jackline_in("", arguments)
    }

    /// The same in a directory of it.
    pub(crate) fn jackline_in(&self, below: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new(if self.guard().exists() { self.guard() } else { JACKLINE.into() });
        command.args(arguments).current_dir(self.stage.repo().join(below)).env_clear();
        command.env("HOME", self.stage.home()).env("PATH", self.path()).output().expect("the program starts")
    }

    fn path(&self) -> String {
        format!("{}:{PATH}", self.stage.top().join("bin").display())
    }

    /// The commits since the first.
    pub(crate) fn commits(&self) -> Vec<String> {
        let log = self.git(&["log", "--reverse", "--format=%s"]);
        log.lines().skip(COMMITS).map(str::to_owned).collect()
    }

    fn git(&self, arguments: &[&str]) -> String {
        let mut git = Command::new("git");
        git.args(arguments).current_dir(self.stage.repo()).env("HOME", self.stage.home());
        let output = git.env("GIT_CONFIG_NOSYSTEM", "1").output().expect("git is there");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// Everything on record, in order; the record must be whole.
    pub(crate) fn records(&self) -> Vec<Value> {
        records::exported(|words| {
            let mut command = Command::new(JACKLINE);
            command.args(words).current_dir(self.stage.repo()).env_clear().env("HOME", self.stage.home());
            command.output().expect("the program starts")
        })
    }

    /// Plays the scenario on the real host.
    pub(crate) fn play(&self, scenario: &Scenario) -> Run {
        self.play_in(scenario, None)
    }

    /// The same, where the host is started in a directory of the repository.
    pub(crate) fn play_in(&self, scenario: &Scenario, below: Option<&str>) -> Run {
        let client = (self.rig.client)().unwrap_or_else(|why| panic!("{why}"));
        let mut play = Play { below: below.map(str::to_owned), ..Play::default() };
        play.variables.push(("PATH".to_owned(), self.path()));
        play.then = scenario.prompts();
        let edits = scenario.agent.iter().any(|act| matches!(act, Act::Edit { .. }));
        play.model = self.rig.patching.filter(|_| edits).map(str::to_owned);
        if scenario.agent.iter().any(|act| matches!(act, Act::Note { .. })) {
            play.servers.push(("notes".to_owned(), self.notes.url()));
        }
        client::play(client.as_ref(), &self.stage, self.script(&scenario.agent), &play).expect("the host runs")
    }

    fn script(&self, acts: &[Act]) -> Script {
        let mut script = Script::new();
        let mut mishap = None;
        for act in acts {
            script = match act {
                Act::Guard(how) => {
                    mishap = Some(*how);
                    continue;
                }
                Act::Say(text) => script.say(text),
                Act::Prompt(_) => continue,
                Act::Together(acts) => script.calls(acts.iter().map(|act| self.spelled(act))),
                act => script.calls([self.spelled(act)]),
            };
            if let Act::Task { agent, .. } = act {
                script = script.subagent(self.script_of_subagent(agent));
                if let Some((wait, name)) = self.rig.wait.zip(act.name()) {
                    script = script.calls([wait(name)]);
                }
            }
            if let Some(how) = mishap.take() {
                let guard = self.guard();
                script = script.meanwhile(move || befall(&guard, how));
            }
        }
        script
    }

    /// The same for a sub-agent, which on some hosts does not end by speaking.
    fn script_of_subagent(&self, acts: &[Act]) -> Script {
        match (self.rig.finish, acts.split_last()) {
            (Some(finish), Some((Act::Say(text), before))) => self.script(before).calls([finish(text)]),
            _ => self.script(acts),
        }
    }

    fn spelled(&self, act: &Act) -> Call {
        let settings = self.stage.top().join(self.rig.settings).display().to_string();
        let act = match act {
            Act::Shell { name, run } => Act::Shell { name: name.clone(), run: run.replace("{{SETTINGS}}", &settings) },
            act => act.clone(),
        };
        let spelled = (self.rig.spell)(&act).zip(act.name());
        let ((tool, input), name) = spelled.unwrap_or_else(|| panic!("{} has no tool for {act:?}", self.rig.title));
        call(name, tool, input)
    }
}

/// The guard breaks.
fn befall(guard: &Path, how: Mishap) {
    match how {
        Mishap::Gone => fs::remove_file(guard).expect("it was there"),
        Mishap::Crashes => replace(guard, "#!/bin/sh\necho thread main panicked >&2\nexit 101\n"),
        Mishap::Dies => replace(guard, "#!/bin/sh\nexit 1\n"),
        Mishap::Killed => replace(guard, "#!/bin/sh\nkill -9 $$\n"),
        // Longer than any host waits at a call; at a stop it may wait for an hour.
        Mishap::Hangs => replace(guard, "#!/bin/sh\nexec sleep 25\n"),
        Mishap::Babbles => replace(guard, "#!/bin/sh\necho INFO: all is well\n"),
        Mishap::Empty => replace(guard, ""),
    }
}

/// Puts another program in the guard's place. The old one is removed, not written over: it may be running, and it is a
/// link to the program under test.
fn replace(guard: &Path, text: &str) {
    fs::remove_file(guard).expect("it was there");
    fs::write(guard, text).expect("written");
    fs::set_permissions(guard, fs::Permissions::from_mode(0o755)).expect("set");
}
