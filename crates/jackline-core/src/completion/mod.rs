//! What must hold before an agent may stop, and whether it does.
//!
//! Checks are asked in the order of their declaration, and no further than the answer: a command that is not reached
//! does not run. Every definition in force is asked by itself, so that all of them must hold.

pub mod checker;
pub(crate) mod files;
pub mod park;

use serde::{Deserialize, Serialize};

use crate::code;
use crate::decision::{Finding, StopReason};
use crate::definition::model::{Check, Command, When};
use crate::done;
use crate::event::{Event, StopAsk};
use crate::files::evaluator::Evaluated;
use crate::guards::observed;
use crate::path;
use crate::probe::{Fact, Facts, Identity, Probe, There};
use crate::ran::Author;
use crate::session::Session;
use crate::stack::{Layer, Stack};
use crate::todos::{Todo, required};

/// Checks of one definition that are no combination: each may take a round of asking.
pub const CHECKS_MAX: usize = 32;

/// The guard's name in findings, and the name that exceptions know its findings by.
pub const GUARD: &str = "completion";
/// What a check that says nothing is told as.
const TEXTLESS: &str = "Tasks are incomplete";
/// What a failure ends with that stands for itself.
const BLOCKER_END: &str = "</blocker>";
/// Files that are named when several are missing.
const NAMED_MAX: usize = 3;
/// Characters of a todo's content where it is named.
const LABEL_CHARS_MAX: usize = 80;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// Everything that must hold held.
    Complete,
    /// The agent said that it cannot go on, and why.
    Parked,
    /// A limit was used up, so nothing was checked.
    Exhausted,
    /// Something did not hold, and the agent was let go all the same.
    Incomplete,
    /// The run was halted, or we could not decide.
    Fault,
}

impl Stopped {
    /// As records and people are told.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Parked => "parked",
            Self::Exhausted => "exhausted",
            Self::Incomplete => "incomplete",
            Self::Fault => "fault",
        }
    }

    /// The one reason that a run ended for.
    #[must_use]
    pub const fn reason(self) -> StopReason {
        match self {
            Self::Complete => StopReason::ObjectiveAchieved,
            Self::Parked => StopReason::HumanRequested,
            Self::Exhausted => StopReason::BudgetExceeded,
            Self::Incomplete => StopReason::NoEvidence,
            Self::Fault => StopReason::SystemError,
        }
    }
}

/// What the checks are held against.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ground<'a> {
    pub(crate) stack: &'a Stack,
    pub(crate) session: &'a Session,
    pub(crate) event: &'a Event,
    pub(crate) facts: &'a Facts,
    /// What the host says of the stop.
    pub(crate) ask: &'a StopAsk,
    /// The session is over: nothing is run any more.
    pub(crate) over: bool,
    /// How file policies stand, once they were looked at.
    pub(crate) files: Option<&'a Evaluated>,
}

/// What does not hold, and how long it holds a stop.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Open {
    pub(crate) finding: Finding,
    pub(crate) holds: Holds,
}

/// How long something holds a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// While no more stops in a row than these were blocked.
    Blocks(u32),
    /// Once, whatever else blocked before: a fault of ours keeps nobody for ever.
    Once,
}

/// A check that does not hold: what the agent is told, and what it may do.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Failure {
    text: String,
    next: Vec<String>,
}

/// Whether a check holds; or the questions that must be answered first.
type Judged = Result<Option<Failure>, Vec<Probe>>;

impl Ground<'_> {
    /// Everything that does not hold, the first first.
    ///
    /// # Errors
    /// The questions that must be answered before it can be told.
    pub(crate) fn open(&self) -> Result<Vec<Open>, Vec<Probe>> {
        let (mut open, mut wanted) = (Vec::new(), Vec::new());
        for layer in &self.stack.layers {
            match self.layer(layer) {
                Ok(found) => open.extend(found),
                Err(probes) => wanted.extend(probes),
            }
        }
        match checker::open(self) {
            Ok(found) => open.extend(found),
            Err(probes) => wanted.extend(probes),
        }
        open.extend(files::open(self));
        wanted.sort_unstable();
        wanted.dedup();
        if wanted.is_empty() { Ok(open) } else { Err(wanted) }
    }

    /// Whether any definition or checker has a say.
    pub(crate) fn is_judged(&self) -> bool {
        !self.stack.checkers.is_empty() || self.stack.layers.iter().any(|layer| layer.model.completion.is_some())
    }

    /// Whether a definition leaves this stop alone because nothing was done in this turn.
    pub(crate) fn leaves_out(&self) -> bool {
        let completions = self.stack.layers.iter().filter_map(|layer| layer.model.completion.as_ref());
        completions.into_iter().any(|completion| self.leaves(completion.when))
    }

    /// The end of a session is the end of all its turns.
    const fn leaves(&self, when: When) -> bool {
        let worked = self.session.worked || self.over && self.session.owed;
        matches!(when, When::Worked) && !worked
    }

    fn layer(&self, layer: &Layer) -> Result<Option<Open>, Vec<Probe>> {
        let Some(completion) = &layer.model.completion else { return Ok(None) };
        let sub = self.event.agent.is_some();
        if (sub && !completion.subagents) || self.leaves(completion.when) {
            return Ok(None);
        }
        let failure = self.check(layer, &completion.check)?;
        Ok(failure.map(|failure| Open {
            finding: observed(finding(failure), layer),
            holds: Holds::Blocks(completion.blocks_max),
        }))
    }

    /// Recursion is bounded by the depth of checks.
    fn check(&self, layer: &Layer, check: &Check) -> Judged {
        match check {
            Check::All(checks) => self.all(layer, checks),
            Check::Any(checks) => self.any(layer, checks),
            Check::Files(files) => self.files(files),
            Check::Done(name) => self.done(layer, name),
            Check::Command(command) => self.command(command),
            Check::Todos => Ok(self.todos()),
            Check::FilePolicies => Ok(files::check(self)),
        }
    }

    fn all(&self, layer: &Layer, checks: &[Check]) -> Judged {
        for check in checks {
            if let Some(failure) = self.check(layer, check)? {
                return Ok(Some(failure));
            }
        }
        Ok(None)
    }

    fn any(&self, layer: &Layer, checks: &[Check]) -> Judged {
        let mut failures: Vec<Failure> = Vec::new();
        for check in checks {
            match self.check(layer, check)? {
                None => return Ok(None),
                Some(failure) => failures.push(failure),
            }
        }
        let next = failures.iter().flat_map(|failure| failure.next.clone()).collect();
        Ok((!failures.is_empty()).then(|| Failure { text: side_by_side(&failures), next }))
    }

    fn files(&self, files: &[String]) -> Judged {
        if files.is_empty() {
            return Ok(None);
        }
        if self.stack.root.is_empty() {
            return Ok(no_filesystem(files.len()));
        }
        let at = |path: String| Probe::Identity { path, dir: String::new() };
        let (root, probe) = (at(self.stack.root.clone()), |file: &String| at(path::join(&self.stack.root, file)));
        let asked = files.iter().map(probe).chain([root.clone()]);
        let wanted: Vec<Probe> = asked.filter(|probe| self.facts.get(probe).is_none()).collect();
        if !wanted.is_empty() {
            return Err(wanted);
        }
        let is_there = |identity: &Identity| identity.there == There::Directory;
        if !self.facts.get(&root).and_then(Fact::identity).is_some_and(is_there) {
            return Ok(no_filesystem(files.len()));
        }
        let there = |file: &&String| self.facts.get(&probe(file)).and_then(Fact::identity).is_some_and(is_output);
        let missing: Vec<&str> = files.iter().filter(|file| !there(file)).map(String::as_str).collect();
        if missing.is_empty() {
            return Ok(None);
        }
        let more = if missing.len() > NAMED_MAX { "..." } else { "" };
        let named = missing.iter().take(NAMED_MAX).copied().collect::<Vec<_>>().join(", ");
        Ok(failed(&format!("{} required output file(s) not found: {named}{more}", missing.len())))
    }

    fn done(&self, layer: &Layer, name: &str) -> Judged {
        let told = |text: &str, next: Vec<String>| Ok(failed(text).map(|failure| Failure { next, ..failure }));
        let how = done::how_to(layer, name);
        match done::find(self.session, layer, name) {
            None => told(&format!("'{name}' is not done."), how.into_iter().collect()),
            Some(done) if done::wants_tree(done, self.session, self.facts) => Err(vec![Probe::WorkTree]),
            Some(done) if done::is_fresh(done, self.session, self.facts) => Ok(None),
            Some(_) => {
                let next = std::iter::once(done::RUN_AGAIN.to_owned()).chain(how).collect();
                told(&format!("'{name}' was done before files changed."), next)
            }
        }
    }

    /// Every todo is verified or waived, those included that are required and have not been looked at yet.
    fn todos(&self) -> Option<Failure> {
        let missing = required::missing(self.stack, self.session, self.event);
        let open: Vec<&Todo> = self.session.todos.open().chain(&missing).collect();
        if open.is_empty() {
            return None;
        }
        let more = if open.len() > NAMED_MAX { "..." } else { "" };
        let named: Vec<String> = open.iter().take(NAMED_MAX).map(|todo| todo.label(LABEL_CHARS_MAX)).collect();
        let next = "start, claim and verify each of them; what cannot be verified a person approves or waives";
        let failure = failed(&format!("{} todo(s) not verified: {}{more}", open.len(), named.join(", ")));
        failure.map(|failure| Failure { next: vec![next.to_owned()], ..failure })
    }

    fn command(&self, command: &Command) -> Judged {
        let shown = command.run.join(" ");
        if self.over {
            return Ok(failed(&format!("Command '{shown}' was not run: the session is over.")));
        }
        let Command { run, timeout_ms } = command;
        let probe = Probe::Run { argv: run.clone(), timeout_ms: *timeout_ms, author: Author::Owner };
        match self.facts.get(&probe) {
            None => Err(vec![probe]),
            Some(Fact::Ran(ran)) if ran.succeeded() => Ok(None),
            Some(Fact::Ran(ran)) => {
                Ok(failed(&format!("Command '{shown}' does not pass: {}.{}", ran.exit.told(), ran.tails())))
            }
            Some(Fact::Unknown(why)) => Ok(failed(&format!("Command '{shown}' could not be run: {why}."))),
            Some(_) => Ok(failed(&format!("Command '{shown}' could not be run."))),
        }
    }
}

/// The texts of several failures. What is marked as a whole stands on one line with the next; paragraphs do not.
fn side_by_side(failures: &[Failure]) -> String {
    let mut text = String::new();
    for failure in failures {
        let between = if text.is_empty() || text.ends_with(BLOCKER_END) { " " } else { "\n\n" };
        text.push_str(if text.is_empty() { "" } else { between });
        text.push_str(&failure.text);
    }
    text
}

/// Whether something is there, inside the workspace. A directory counts, as an output may be one.
const fn is_output(identity: &Identity) -> bool {
    let there = match identity.there {
        There::File | There::Directory | There::Other => true,
        There::Nothing => false,
    };
    there && identity.inside.is_some()
}

fn no_filesystem(files: usize) -> Option<Failure> {
    failed(&format!("No filesystem available to verify {files} required output file(s)."))
}

fn finding(failure: Failure) -> Finding {
    let text = if failure.text.is_empty() { TEXTLESS.to_owned() } else { failure.text };
    let finding = Finding::deny(GUARD, code::COMPLETION_INCOMPLETE, text);
    failure.next.into_iter().fold(finding, Finding::suggest).suggest(park::EXIT)
}

/// A failure with this text, marked as what stands in the way. What would end the mark early is spelled otherwise.
fn failed(text: &str) -> Option<Failure> {
    let text = format!("<blocker>\n{}\n{BLOCKER_END}", text.replace("</blocker", "<\\/blocker"));
    Some(Failure { text, next: Vec::new() })
}
