//! Tries a wired hook out: does it refuse what it must, pass what it may, and refuse what it cannot read?
//!
//! On a workspace and a store made for it and removed afterwards, so that no record of it reaches the real log.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use jackline_runtime::wiring::CommandLine;
use tempfile::TempDir;

use super::report::Report;
use super::wiring::Wired;
use crate::bounded::{self, Answered};
use crate::hosts::{Host, told_to_deny};
use crate::place;

const GROUP: &str = "trial";

/// Milliseconds that a try may take: what the host gives it.
const TRIAL_MS_MAX: u64 = 10_000;

/// What the trial's definition refuses, and why.
const DEFINITION: &str = r#"jackline: 1
policies:
  - name: trial
    rule: { tool: "@shell", reason: "refused by the trial's own definition" }
"#;

/// A directory of our own for a moment.
struct Scratch(TempDir);

impl Scratch {
    fn new() -> io::Result<Self> {
        let only_ours = fs::Permissions::from_mode(0o700);
        let made =
            tempfile::Builder::new().prefix("jackline-doctor-").permissions(only_ours).tempdir_in(place::temporary());
        let scratch = Self(made?);
        fs::create_dir(scratch.root())?;
        fs::write(scratch.root().join("jackline.yaml"), DEFINITION)?;
        Ok(scratch)
    }

    fn root(&self) -> PathBuf {
        self.0.path().join("root")
    }

    fn store(&self) -> PathBuf {
        self.0.path().join("store")
    }
}

pub(super) fn look(wired: &Wired, report: &mut Report) {
    let shown = &wired.shown;
    let Some(program) = wired.program() else {
        let text = format!("{shown}: `{}` is not there or cannot be run", wired.line.program);
        return report.fail(GROUP, text, "install jackline there, or run `jackline init` with the one you have");
    };
    let scratch = match Scratch::new() {
        Ok(scratch) => scratch,
        Err(fault) => {
            let text = format!("no trial: a temporary directory cannot be made: {fault}");
            return report.fail(GROUP, text, "set TMPDIR to a directory that can be written");
        }
    };
    version(shown, &program, report);
    let line = CommandLine { program: program.display().to_string(), arguments: redirected(wired, &scratch) };
    let try_out = Try { host: wired.host, line, scratch: &scratch };
    let began = Instant::now();
    let tried = try_out.refuses().and_then(|()| try_out.passes()).and_then(|()| try_out.refuses_garbage());
    let tried = tried.and_then(|()| try_out.refuses_when_gone());
    match tried {
        Ok(()) => {
            let ms = began.elapsed().as_millis() / 3;
            report.ok(GROUP, format!("{shown}: the wired hook refuses, passes and fails closed (about {ms} ms each)"));
        }
        Err(why) => {
            let remedy = "run `jackline init` with a current jackline; until then do not rely on it";
            report.fail(GROUP, format!("{shown}: {why}"), remedy);
        }
    }
}

/// Another version may judge differently from what the other commands show.
fn version(shown: &str, program: &Path, report: &mut Report) {
    let mut command = Command::new(program);
    command.arg("--version");
    let ours = concat!("jackline ", env!("CARGO_PKG_VERSION"));
    let told = bounded::run(command, "", TRIAL_MS_MAX).map(|answered| answered.stdout.trim().to_owned());
    if told.as_deref() != Ok(ours) {
        let told = told.unwrap_or_else(|why| why);
        let text = format!("{shown}: `{}` is another version than this one ({ours}): {told}", program.display());
        report.warn(GROUP, text, "run `jackline init` with the one that you want");
    }
}

/// The wired arguments, leading to the trial's own places.
fn redirected(wired: &Wired, scratch: &Scratch) -> Vec<String> {
    let mut words = wired.line.arguments.iter();
    let mut arguments = Vec::new();
    while let Some(word) = words.next() {
        if ["--store", "--root", "--home", "--settings"].contains(&word.as_str()) {
            words.next();
        } else {
            arguments.push(word.clone());
        }
    }
    let text = |path: PathBuf| path.display().to_string();
    arguments.extend(["--store".to_owned(), text(scratch.store())]);
    arguments.extend(["--home".to_owned(), text(scratch.0.path().to_owned())]);
    // A line that names no root has to find the definition as it would in a session.
    if wired.line.arguments.iter().any(|word| word == "--root") {
        arguments.extend(["--root".to_owned(), text(scratch.root())]);
    }
    arguments
}

struct Try<'a> {
    host: &'a Host,
    line: CommandLine,
    scratch: &'a Scratch,
}

impl Try<'_> {
    fn refuses(&self) -> Result<(), String> {
        let answered = self.run(&(self.host.trial.shell)(&self.scratch.root()).to_string())?;
        if (self.host.trial.denies)(&answered) {
            return Ok(());
        }
        Err(format!("the wired hook does not refuse what it must: {}", told(&answered)))
    }

    fn passes(&self) -> Result<(), String> {
        let answered = self.run(&(self.host.trial.harmless)(&self.scratch.root()).to_string())?;
        if answered.code == Some(0) && !(self.host.trial.denies)(&answered) {
            return Ok(());
        }
        Err(format!("the wired hook refuses what it should pass: {}", told(&answered)))
    }

    fn refuses_garbage(&self) -> Result<(), String> {
        let answered = self.run("{ this is no message")?;
        if answered.code == Some(2) {
            return Ok(());
        }
        Err(format!("the wired hook does not refuse a message that it cannot read: {}", told(&answered)))
    }

    /// Where the wired command shall refuse by itself, it does so without our program.
    fn refuses_when_gone(&self) -> Result<(), String> {
        let gone = self.scratch.0.path().join("gone").display().to_string();
        let Some(line) = self.host.wiring.shielded(&CommandLine { program: gone, ..self.line.clone() }) else {
            return Ok(());
        };
        let answered = self.run_line(&line, "")?;
        // It has no words of the host's for it.
        if told_to_deny(&answered) {
            return Ok(());
        }
        Err(format!("the wired command does not refuse when our program is missing: {}", told(&answered)))
    }

    /// Runs the hook as the host does for a gate.
    fn run(&self, message: &str) -> Result<Answered, String> {
        self.run_line(self.host.wiring.shielded(&self.line).as_ref().unwrap_or(&self.line), message)
    }

    /// Runs a line with nothing of our environment: what counts is on it. Where the user's own shell starts it, that reads
    /// its files as ever.
    fn run_line(&self, line: &CommandLine, message: &str) -> Result<Answered, String> {
        let (mut command, given) = match place::starting(self.host.name) {
            Some((shell, given)) => (Command::new(shell), given),
            None => (Command::new(&line.program), Vec::new()),
        };
        if given.is_empty() {
            command.args(&line.arguments).env_clear().env("HOME", self.scratch.0.path());
        } else {
            command.args(["-c", &line.in_shell()]).env_clear().envs(given);
        }
        let start = if self.host.trial.above { self.scratch.0.path().to_owned() } else { self.scratch.root() };
        command.current_dir(&start);
        command.envs(self.host.trial.project.map(|name| (name, &start)));
        bounded::run(command, message, TRIAL_MS_MAX).map_err(|why| format!("the wired hook gives no answer: {why}"))
    }
}

/// The beginning of what a hook said.
fn told(answered: &Answered) -> String {
    /// Characters of a reply that are shown; enough to know what kind of program it is.
    const SHOWN_CHARS_MAX: usize = 200;
    let said = [answered.stdout.trim(), answered.stderr.trim()].join(" ");
    let said: String =
        said.trim().chars().take(SHOWN_CHARS_MAX).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let code = answered.code.map_or_else(|| "ended by a signal".to_owned(), |code| format!("exit code {code}"));
    if said.is_empty() { format!("{code}, no words") } else { format!("{code}, `{said}`") }
}
