//! `jackline policy check`: what is outstanding now, recorded and queued as at a stop.

use std::path::PathBuf;
use std::process::ExitCode;

use jackline_core::event::Body;
use jackline_core::legible;
use jackline_runtime::Answer;
use jackline_runtime::files::{self, NO_COMMIT};
use serde_json::{Value, json};

use super::{Workspace, annotated, none_found};
use crate::error::CommandError;
use crate::place::{self, Where};
use crate::{person, screen, timeline};

/// Check what must change together with what changed
///
/// Exits with 0 when nothing is outstanding, 1 when something is or a policy cannot be used, 2 when it cannot be told, 3
/// when it cannot be recorded.
#[derive(Debug, clap::Args)]
pub(crate) struct Check {
    /// What happened: an agent wants to stop, or a prompt was submitted (which keeps a baseline)
    #[arg(long, value_enum, default_value_t)]
    event: Moment,
    /// The agent's transcript, for its promises
    #[arg(long, value_name = "FILE")]
    transcript: Option<PathBuf>,
    /// Compare to where this branch left REF, instead of every policy's own baseline
    #[arg(long, value_name = "REF")]
    base: Option<String>,
    /// Run the policies' commands as they are, without `jackline trust`; for machines that build
    #[arg(long)]
    trust: bool,
    /// How it is printed; annotations are printed too where GitHub runs it
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    at: Where,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Moment {
    #[default]
    Stop,
    Prompt,
}

/// How it is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Format {
    #[default]
    Human,
    Json,
    Github,
}

impl Check {
    pub(crate) fn run(&self) -> Result<ExitCode, CommandError> {
        if self.trust {
            person::outside_a_session()?;
        }
        let workspace = Workspace::of(&self.at)?;
        match self.event {
            Moment::Prompt if self.base.is_some() || self.transcript.is_some() || self.format == Format::Github => {
                Err(CommandError::input("a prompt only keeps a baseline: `--base`, `--transcript` and `--format github` are about what is outstanding")
                    .hint("leave them out, or use `--event stop`"))
            }
            Moment::Prompt => self.prompt(&workspace),
            Moment::Stop => self.stop(&workspace),
        }
    }

    fn prompt(&self, workspace: &Workspace) -> Result<ExitCode, CommandError> {
        let answer = workspace.decide(self.trust, None, Body::PromptSubmitted { prompt: None })?;
        match self.format {
            Format::Json => screen::line(&recorded(workspace, &answer).to_string())?,
            Format::Human | Format::Github => screen::line("the prompt is recorded")?,
        }
        for notice in &answer.notices {
            screen::complain(&format!("warning: {notice}"));
        }
        if answer.notices.is_empty() { Ok(ExitCode::SUCCESS) } else { Err(CommandError::not_fine()) }
    }

    fn stop(&self, workspace: &Workspace) -> Result<ExitCode, CommandError> {
        let transcript = self.transcript.as_ref().map(std::path::absolute).transpose()?;
        if let Some(file) = transcript.as_ref().filter(|file| !file.is_file()) {
            return Err(CommandError::input(format!("there is no transcript `{}`", file.display())));
        }
        let transcript = transcript.map(|file| file.display().to_string());
        let answer = workspace.decide(self.trust, transcript, Body::PoliciesChecked { base: self.base.clone() })?;
        let result = answer.result.clone().unwrap_or_default();
        match self.format {
            Format::Json => screen::line(&result.to_string())?,
            Format::Human => self.human(workspace, &result)?,
            Format::Github => {}
        }
        if self.format == Format::Github || (self.format == Format::Human && place::on_github()) {
            annotated::lines(&result).iter().try_for_each(|line| screen::line(line))?;
        }
        ended(&answer, &result)
    }

    fn human(&self, workspace: &Workspace, result: &Value) -> Result<(), CommandError> {
        for fault in items(result, "faults") {
            let text = |key: &str| timeline::harmless(fault.get(key).and_then(Value::as_str).unwrap_or_default());
            let line = fault.get("line").and_then(Value::as_u64).unwrap_or(1);
            screen::line(&format!("{}: {}:{line}: {}", text("level"), text("file"), text("message")))?;
            if !text("help").is_empty() {
                screen::line(&format!("  help: {}", text("help")))?;
            }
        }
        items(result, "rewritten").iter().try_for_each(|item| screen::line(&shown(&rewritten(item))))?;
        let text = result.get("text").and_then(Value::as_str).unwrap_or_default();
        if !text.is_empty() {
            return Ok(screen::line(&shown(text))?);
        }
        if result.get("unclear").is_some_and(|why| !why.is_null()) {
            return Ok(());
        }
        let line = match workspace.folders().is_empty() {
            true if !items(result, "faults").is_empty() => return Ok(()),
            true => none_found(workspace),
            false => format!("nothing is outstanding ({} settled)", items(result, "settled").len()),
        };
        Ok(screen::line(&line)?)
    }
}

/// What commands changed: they passed for that, and what is committed is something else.
fn rewritten(item: &Value) -> String {
    let texts =
        |key: &str| -> Vec<String> { items(item, key).iter().filter_map(Value::as_str).map(timeline::shown).collect() };
    let (names, files) = (texts("names"), texts("files"));
    let whose = if names.len() == 1 { "its command" } else { "one of their commands" };
    let more = item.get("left_out").and_then(Value::as_u64).filter(|more| *more > 0);
    let more = more.map(|more| format!(" and {more} more")).unwrap_or_default();
    format!("warning: {}: {whose} changed {}{more}: commit that", names.join(", "), files.join(", "))
}

/// What the agent is shown, for a person: nothing that a command printed steers a terminal, or gives orders to the
/// machine that shows annotations.
fn shown(text: &str) -> String {
    let plain = legible::plain(text);
    let lines = plain.lines().map(|line| match line.trim_start() {
        order if place::on_github() && (order.starts_with("::") || order.contains("##[")) => {
            format!("| {}", line.replace("##[", "## ["))
        }
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What a prompt leads to, in the form of every look: nothing is outstanding at one.
fn recorded(workspace: &Workspace, answer: &Answer) -> Value {
    let folders = workspace.folders();
    let faults = folders.iter().flat_map(|folder| files::policies(folder).faults).chain(workspace.missing());
    let faults: Vec<Value> = faults.map(|fault| fault.to_value()).collect();
    json!({ "outstanding": [], "settled": [], "faults": faults, "rewritten": [], "text": "", "recorded": answer.seq })
}

/// How it ends: a policy that is switched on but cannot be judged is not fine.
fn ended(answer: &Answer, result: &Value) -> Result<ExitCode, CommandError> {
    if let Some(why) = result.get("unclear").and_then(Value::as_str) {
        let hint = if why.contains(NO_COMMIT) {
            "fetch it first: `git fetch origin BRANCH`, or all of the history (`fetch-depth: 0` where GitHub checks out)"
        } else if why.contains("dubious ownership") {
            "the repository is another user's: `git config --global --add safe.directory DIR` has git look at it"
        } else {
            "run it inside a git repository; `--base` names a commit of it"
        };
        return Err(CommandError::input(format!("the file policies could not be judged: {why}")).hint(hint));
    }
    let faulty = items(result, "faults").iter().any(|fault| fault.get("level") == Some(&json!("error")));
    let open = !items(result, "outstanding").is_empty();
    debug_assert!(open || !answer.verdict.refuses(), "only what is outstanding refuses");
    if open || faulty { Err(CommandError::not_fine()) } else { Ok(ExitCode::SUCCESS) }
}

fn items<'a>(result: &'a Value, key: &str) -> &'a [Value] {
    result.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}
