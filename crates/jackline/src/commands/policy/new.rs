//! `jackline policy new`: asks what must change together, writes a commented policy, and tries it on the repository.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::Path;

use jackline_core::definition::render;
use jackline_core::files::detector::State;
use jackline_core::files::pattern::Pattern;
use jackline_core::files::policy::{CompareTo, Policy as FilePolicy};
use jackline_runtime::files::{self, Question, legacy};
use jackline_runtime::replace;
use serde_json::json;

use super::Workspace;
use crate::error::CommandError;
use crate::place::{self, Where};
use crate::{person, screen, timeline};

/// Files that are named when a new policy is tried.
const FILES_SHOWN_MAX: usize = 5;
/// What the body says until its owner says more.
const BODY: &str = "{trigger_files} changed. Look whether something else has to change along with it.";
const BODY_EXPECTED: &str = "Bring {expected_files} up to date with {trigger_files}.";

/// Write a file policy, and try it on the repository
///
/// Asks for what is not given, where a terminal is attached.
#[derive(Debug, clap::Args)]
pub(crate) struct New {
    /// What people and promises call it
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Globs: it fires when a changed file matches one
    #[arg(long, value_name = "GLOB")]
    trigger: Vec<String>,
    /// Globs that keep it from firing, with `--trigger`
    #[arg(long, value_name = "GLOB", requires = "trigger")]
    safety: Vec<String>,
    /// Patterns that change together: give it twice or more
    #[arg(long, value_name = "PATTERN", conflicts_with = "trigger")]
    set: Vec<String>,
    /// A pattern that asks for others
    #[arg(long, value_name = "PATTERN", requires = "expects", conflicts_with_all = ["trigger", "set"])]
    pair: Option<String>,
    /// What it asks for
    #[arg(long, value_name = "PATTERN", requires = "pair", conflicts_with_all = ["trigger", "set", "created"])]
    expects: Vec<String>,
    /// Globs: it fires when a new file matches one
    #[arg(long, value_name = "GLOB", conflicts_with_all = ["trigger", "set", "pair"])]
    created: Vec<String>,
    /// A command that is run instead of asking the agent, such as `ruff format {file}`
    #[arg(long, value_name = "TEXT")]
    command: Option<String>,
    /// Since when a file counts as changed
    #[arg(long, value_name = "BASELINE", value_parser = CompareTo::NAMES.to_vec())]
    compare_to: Option<String>,
    /// What the agent is to do
    #[arg(long, value_name = "TEXT")]
    instructions: Option<String>,
    /// Show the file, and write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    at: Where,
}

/// How a pattern is read.
type Read = fn(&str) -> Result<Pattern, String>;

/// What a policy will say, once everything is known.
struct Answers {
    name: String,
    detection: String,
    command: Option<String>,
    compare_to: String,
    instructions: String,
}

impl New {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        person::outside_a_session()?;
        let workspace = Workspace::of(&self.at)?;
        let answers = self.answers()?;
        let id = legacy::id(&answers.name).ok_or_else(|| CommandError::input("the name has no letter or digit"))?;
        let text = self.text(&answers);
        FilePolicy::parse(&id, &text).map_err(|faults| {
            let shown = render(&faults, &text, &format!("{id}.md"));
            CommandError::input(format!("the policy would have {} fault(s)\n\n{}", faults.len(), shown.trim_end()))
        })?;
        if self.dry_run {
            return Ok(screen::show(&text)?);
        }
        let path = workspace.home().join(format!("{id}.md"));
        if path.exists() {
            return Err(
                CommandError::input(format!("`{}` is there already", place::shown(&path))).hint("choose another name")
            );
        }
        replace::write(&path, &text)?;
        screen::line(&format!("wrote {}", place::shown(&path)))?;
        tried(&workspace, &id)?;
        workspace.warn_if_undefined();
        let next =
            if answers.command.is_some() { "commit it; its command runs after `jackline trust`" } else { "commit it" };
        Ok(screen::line(next)?)
    }

    fn answers(&self) -> Result<Answers, CommandError> {
        let name = match &self.name {
            Some(name) => name.clone(),
            None => wanted("What is the policy called?", "give it a name: `jackline policy new NAME`")?,
        };
        let given = self.detection();
        let asks = given.is_none();
        let detection = match given {
            Some(detection) => detection,
            None => ask_detection()?,
        };
        let compare_to = match &self.compare_to {
            Some(since) => since.clone(),
            None if asks => ask_since()?,
            None => CompareTo::Base.name().to_owned(),
        };
        let command = match &self.command {
            Some(command) => Some(command.clone()),
            None if asks && self.instructions.is_none() => {
                let question =
                    "Which command is run instead of asking the agent, such as `ruff format {file}`? (empty: none)";
                Some(asked(question, "")?).filter(|command| !command.is_empty())
            }
            None => None,
        };
        let expects = detection.starts_with("set") || detection.starts_with("pair");
        let default = if expects { BODY_EXPECTED } else { BODY };
        let instructions = match (&self.instructions, &command) {
            (Some(text), _) => text.clone(),
            (None, Some(_)) => String::new(),
            (None, None) if io::stdin().is_terminal() => {
                let said = asked("What is the agent to do? (empty: a text to edit)", "")?;
                if said.is_empty() { default.to_owned() } else { said }
            }
            (None, None) => default.to_owned(),
        };
        Ok(Answers { name, detection, command, compare_to, instructions })
    }

    /// The front matter's keys that say when it fires, as far as they were given. JSON is YAML.
    fn detection(&self) -> Option<String> {
        if let Some(trigger) = &self.pair {
            return Some(format!("pair: {}\n", json!({ "trigger": trigger, "expects": self.expects })));
        }
        if !self.trigger.is_empty() {
            let safety =
                if self.safety.is_empty() { String::new() } else { format!("safety: {}\n", json!(self.safety)) };
            return Some(format!("trigger: {}\n{safety}", json!(self.trigger)));
        }
        let listed = [("set", &self.set), ("created", &self.created)];
        listed.into_iter().find(|(_, all)| !all.is_empty()).map(|(key, all)| format!("{key}: {}\n", json!(all)))
    }

    fn text(&self, answers: &Answers) -> String {
        let since = &answers.compare_to;
        let action = answers.command.as_ref().map(|command| {
            format!(
                "# Run without a shell (`sh -c '… \"$1\" …' sh {{file}}` has one); `{{files}}` with `run_for: all_matches` for all at once.\naction: {}\n",
                json!({ "command": command })
            )
        });
        format!(
            "---\nname: {}\n# When it fires: `trigger` (and `safety`), `set`, `pair` or `created`.\n{}# Since when a file counts \
             as changed: base, default_tip or prompt.\ncompare_to: {since}\n{}---\n{}\n",
            json!(answers.name),
            answers.detection,
            action.unwrap_or_default(),
            answers.instructions.trim()
        )
    }
}

fn ask_detection() -> Result<String, CommandError> {
    let hint = "say when it fires: `--trigger GLOB`, `--set PATTERN --set PATTERN`, `--pair … --expects …` or `--created GLOB`";
    let question = "When does it fire: when files change (1), change without their counterpart (2), are new (3), or change \
                    without what depends on them (4)?";
    match chosen(question, hint, &["1", "2", "3", "4"])?.as_str() {
        "2" => {
            let question = "Which patterns change together, such as `src/{path}.py tests/{path}_test.py`?";
            Ok(format!("set: {}\n", json!(patterns(question, hint, (2, Pattern::capturing))?)))
        }
        "3" => {
            let question = "Which new files, such as `src/**/*.py`?";
            Ok(format!("created: {}\n", json!(patterns(question, hint, (1, Pattern::glob))?)))
        }
        "4" => {
            let question = "Which pattern asks for others, such as `api/{path}.py`?";
            let trigger = patterns(question, hint, (1, Pattern::capturing))?.join(" ");
            let question = "Which must change along with it, such as `docs/api/{path}.md`?";
            let expects = patterns(question, hint, (1, Pattern::capturing))?;
            Ok(format!("pair: {}\n", json!({ "trigger": trigger, "expects": expects })))
        }
        _ => {
            let trigger = patterns("Which files, such as `src/**/*.py`?", hint, (1, Pattern::glob))?;
            let question = "Which files, if they change too, make it needless? (empty: none)";
            let safety = patterns(question, hint, (0, Pattern::glob))?;
            let safety = if safety.is_empty() { String::new() } else { format!("safety: {}\n", json!(safety)) };
            Ok(format!("trigger: {}\n{safety}", json!(trigger)))
        }
    }
}

fn ask_since() -> Result<String, CommandError> {
    let question = "Since when does a file count as changed: since the branch began (1), against the tip of the remote's \
                    default branch (2), or since the last prompt (3)? (empty: 1)";
    let chosen = chosen(question, "say so with `--compare-to`", &["1", "2", "3", ""])?;
    let since = match chosen.as_str() {
        "2" => CompareTo::DefaultTip,
        "3" => CompareTo::Prompt,
        _ => CompareTo::Base,
    };
    Ok(since.name().to_owned())
}

/// Asks until one of these is said.
fn chosen(question: &str, hint: &str, these: &[&str]) -> Result<String, CommandError> {
    loop {
        let said = asked(question, hint)?;
        if these.contains(&said.as_str()) {
            return Ok(said);
        }
        let these: Vec<&str> = these.iter().copied().filter(|one| !one.is_empty()).collect();
        screen::line(&format!("say one of {}", these.join(", ")))?;
    }
}

/// Asks until so many patterns are said, all of which can be read.
fn patterns(question: &str, hint: &str, (least, read): (usize, Read)) -> Result<Vec<String>, CommandError> {
    loop {
        let said: Vec<String> = asked(question, hint)?.split_whitespace().map(str::to_owned).collect();
        let wrong: Vec<String> =
            said.iter().filter_map(|text| Some(format!("pattern `{text}` {}", read(text).err()?))).collect();
        if wrong.is_empty() && said.len() >= least {
            return Ok(said);
        }
        wrong.iter().try_for_each(|wrong| screen::line(wrong))?;
        if said.len() < least {
            screen::line(&format!("say at least {least}, with a blank between two"))?;
        }
    }
}

/// Asks until something is said.
fn wanted(question: &str, hint: &str) -> Result<String, CommandError> {
    loop {
        let said = asked(question, hint)?;
        if !said.is_empty() {
            return Ok(said);
        }
    }
}

/// Asks on a terminal; without one it says what to give instead.
fn asked(question: &str, hint: &str) -> Result<String, CommandError> {
    if !io::stdin().is_terminal() {
        return Err(CommandError::input("something is not said, and no terminal is attached").hint(hint));
    }
    screen::show(&format!("{question} "))?;
    let mut answer = String::new();
    if io::stdin().lock().read_line(&mut answer)? == 0 {
        return Err(CommandError::input("nothing more is said").hint(hint));
    }
    Ok(answer.trim().to_owned())
}

/// What the new policy makes of the repository as it is.
fn tried(workspace: &Workspace, id: &str) -> Result<(), CommandError> {
    let root: &Path = workspace.standing.stack.root.as_ref();
    let Some(folder) = workspace.folders().into_iter().find(|folder| folder.dir.join(format!("{id}.md")).exists())
    else {
        return Ok(screen::line("it is not read: file policies are switched off here")?);
    };
    let home = place::home();
    debug_assert!(folder.dir.starts_with(root) || folder.dir.is_absolute(), "a folder is below its root");
    let looked = match files::look_at(&folder, home.as_deref(), Question::default()) {
        Ok(looked) => looked,
        Err(why) => return Ok(screen::line(&format!("it was not tried: {why}"))?),
    };
    let told = match looked.fired.iter().find(|fired| fired.policy.id == id) {
        None => "as things are it is about no changed file".to_owned(),
        Some(fired) => {
            let seen = &fired.detected;
            let shown: Vec<String> =
                seen.trigger_files.iter().take(FILES_SHOWN_MAX).map(|file| timeline::shown(file)).collect();
            let more = seen.trigger_files.len().saturating_sub(FILES_SHOWN_MAX);
            let files = if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") };
            match seen.state {
                State::Fires => format!("as things are it fires for {files}"),
                State::Safe | State::Met => format!("as things are it is satisfied ({files})"),
            }
        }
    };
    Ok(screen::line(&told)?)
}
