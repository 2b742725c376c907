//! The real programs: how one is started on a stage, and what is left of a session.

pub mod claude;
pub mod codex;
pub mod copilot;
pub mod gemini;
pub mod opencode;
mod process;
pub mod qwen;

use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::model::{Model, Script};
use crate::stage::Stage;

/// Seconds for a whole session. They take three to ten on two busy cores.
const SESSION_SECONDS_MAX: u64 = 120;

/// Where programs are, for the agent's shell too.
pub const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What hosts must give as a key; long, because some hide it wherever they print it.
const KEY: &str = "a-key-that-nobody-checks-0123456789";

/// The name by which hosts call the scripted model.
const MODEL: &str = "scripted";

/// A program that runs agents.
pub trait Client: Sync {
    /// The program with everything it needs to play headless against the model, and nothing else. Settings that
    /// cannot be given on a command line or in a variable are written to the stage.
    fn command(&self, stage: &Stage, model: &Model, play: &Play) -> io::Result<Command>;

    /// Whether it can stay up and be asked more in one process.
    fn stays(&self) -> bool {
        false
    }
}

/// A program from npm that runs in Node.js.
#[derive(Debug, Clone)]
pub struct Scripted {
    /// What is started.
    pub program: PathBuf,
    /// The directory with `node` in it.
    pub node: PathBuf,
}

impl Scripted {
    /// The program with a cleared environment: places of the stage, and the model as the only way out.
    fn command(&self, stage: &Stage, model: &Model) -> Command {
        let mut command = cleared(&self.program, stage, model);
        command.env("PATH", format!("{}:{PATH}", self.node.display()));
        command
    }

    /// The same path with more in front.
    fn extend(&self, command: &mut Command, play: &Play) {
        for (name, value) in &play.variables {
            let node = self.node.display();
            let value = if name == "PATH" { format!("{node}:{value}") } else { value.clone() };
            command.env(name, value);
        }
        command.args(&play.arguments);
    }
}

/// A program with a cleared environment.
fn cleared(program: &PathBuf, stage: &Stage, model: &Model) -> Command {
    let mut command = Command::new(program);
    command.current_dir(stage.repo()).env_clear();
    command.env("PATH", PATH).env("SHELL", "/bin/bash").env("LANG", "C.UTF-8").env("TERM", "dumb");
    command.env("HOME", stage.home()).env("TMPDIR", stage.tmp());
    command.env("HTTPS_PROXY", model.url()).env("HTTP_PROXY", model.url()).env("NO_PROXY", "127.0.0.1,localhost");
    command
}

/// What may differ from session to session.
#[derive(Debug, Clone)]
pub struct Play {
    /// What the person asks. More is asked in a further play that resumes the session: a host that is given two
    /// prompts at once may take up the second in the midst of the first.
    pub prompt: String,
    /// What they ask after that of a host that stays up, each once all is quiet.
    pub then: Vec<String>,
    /// The model that the host believes it speaks to, where what it offers hangs on that.
    pub model: Option<String>,
    /// The host's word for how much it asks back.
    pub permission_mode: String,
    /// The directory of the repository in which the host is started; its top otherwise.
    pub below: Option<String>,
    /// Further arguments.
    pub arguments: Vec<String>,
    /// Further variables; they win over the usual ones.
    pub variables: Vec<(String, String)>,
    /// Standard input, for hosts that are steered by it; none is an empty one.
    pub input: Option<String>,
    /// MCP servers that are reached by HTTP: names and addresses.
    pub servers: Vec<(String, String)>,
}

impl Default for Play {
    fn default() -> Self {
        Self {
            prompt: "go".to_owned(),
            then: Vec::new(),
            model: None,
            permission_mode: "bypassPermissions".to_owned(),
            below: None,
            arguments: Vec::new(),
            variables: Vec::new(),
            input: None,
            servers: Vec::new(),
        }
    }
}

impl Play {
    /// Adds arguments.
    pub fn with(mut self, arguments: &[&str]) -> Self {
        self.arguments.extend(arguments.iter().map(|&argument| argument.to_owned()));
        self
    }
}

/// A session that is over.
#[derive(Debug)]
pub struct Run {
    /// None if it was ended by a signal.
    pub exit: Option<i32>,
    /// What the program printed, line by line, as JSON.
    pub events: Vec<Value>,
    /// What it complained about.
    pub stderr: String,
    /// Whether it had to be ended.
    pub timed_out: bool,
    /// The model, with all it was shown.
    pub model: Model,
}

/// Plays a script on a stage.
pub fn play(client: &dyn Client, stage: &Stage, script: Script, play: &Play) -> io::Result<Run> {
    if !play.then.is_empty() && !client.stays() {
        return Err(io::Error::other("this host does not stay up for another prompt"));
    }
    let model = Model::start(script, &stage.repo().display().to_string())?;
    let mut command = client.command(stage, &model, play)?;
    if let Some(below) = &play.below {
        command.current_dir(stage.repo().join(below));
    }
    let ended = process::run(&mut command, play.input.clone(), Duration::from_secs(SESSION_SECONDS_MAX))?;
    let events = ended.stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    Ok(Run { exit: ended.exit, events, stderr: ended.stderr, timed_out: ended.timed_out, model })
}
