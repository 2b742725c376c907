//! The real programs: how one is started on a stage, and what is left of a session.

pub mod claude;
mod process;

use std::io;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::model::{Model, Script};
use crate::stage::Stage;

/// Seconds for a whole session. They take three to ten on two busy cores.
const SESSION_SECONDS_MAX: u64 = 120;

/// A program that runs agents.
pub trait Client {
    /// The program with everything it needs to play headless against the model, and nothing else.
    fn command(&self, stage: &Stage, model: &Model, play: &Play) -> Command;
}

/// What may differ from session to session.
#[derive(Debug, Clone)]
pub struct Play {
    /// What the person asks. More is asked in a further play that resumes the session: a host that is given two
    /// prompts at once may take up the second in the midst of the first.
    pub prompt: String,
    /// The host's word for how much it asks back.
    pub permission_mode: String,
    /// Further arguments.
    pub arguments: Vec<String>,
    /// Further variables; they win over the usual ones.
    pub variables: Vec<(String, String)>,
    /// Standard input, for hosts that are steered by it; none is an empty one.
    pub input: Option<String>,
}

impl Default for Play {
    fn default() -> Self {
        Self {
            prompt: "go".to_owned(),
            permission_mode: "bypassPermissions".to_owned(),
            arguments: Vec::new(),
            variables: Vec::new(),
            input: None,
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
pub fn play(client: &impl Client, stage: &Stage, script: Script, play: &Play) -> io::Result<Run> {
    let model = Model::start(script, &stage.repo().display().to_string())?;
    let mut command = client.command(stage, &model, play);
    let ended = process::run(&mut command, play.input.clone(), Duration::from_secs(SESSION_SECONDS_MAX))?;
    let events = ended.stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    Ok(Run { exit: ended.exit, events, stderr: ended.stderr, timed_out: ended.timed_out, model })
}
