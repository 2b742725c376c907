//! The first minute: a scripted agent's session through the real hook, in a scratch repository, shown as it happens.
//!
//! Every decision is compared with what the script expects, and what is allowed is really done. Nothing of the user's
//! is read or written but the machine's own definition, which counts for everyone.

mod agent;
mod proof;
mod scratch;
mod script;
mod stage;
mod told;

use std::fs;
use std::path::Path;

use jackline_core::decision::Verdict;

use crate::error::CommandError;
use crate::{interrupt, place};
use agent::Agent;
use scratch::Scratch;
use script::{Act, DEFINITION, LESSONS, PROMPT, Step, Want};
use stage::Stage;
use told::Told;

/// Plays it. An error names the first thing that was not as scripted; the scratch directory goes in any case.
pub(crate) fn play(keep: bool, fast: bool) -> Result<(), CommandError> {
    interrupt::listen();
    let stage = Stage::new(fast);
    let scratch = Scratch::new()?;
    let played = perform(&stage, &scratch);
    let kept = scratch.end(keep);
    match played {
        Ok(()) => close(&stage, kept?.as_deref()),
        Err(error) => {
            stage.leave();
            // Whatever failed then, failed because a signal reaches all processes of a terminal.
            Err(if interrupt::asked() { stage::broken_off() } else { error })
        }
    }
}

fn perform(stage: &Stage, scratch: &Scratch) -> Result<(), CommandError> {
    open(stage, scratch)?;
    let mut agent = Agent::begin(scratch)?;
    for (number, lesson) in (1..).zip(&LESSONS) {
        stage.heading(&format!("{number}  {}", lesson.title))?;
        for step in lesson.steps {
            take(stage, scratch, &mut agent, step)?;
        }
    }
    agent.end()?;
    stage.heading("The record of all this: every line carries the hash of the one before")?;
    proof::show(stage, scratch)
}

fn open(stage: &Stage, scratch: &Scratch) -> Result<(), CommandError> {
    stage.text("A scripted agent, a scratch repository, the real `jackline hook claude`, and this definition:")?;
    stage.quote(DEFINITION)?;
    stage.text(&format!("A person asks: “{PROMPT}”"))?;
    if !scratch.has_git() {
        stage.text("Git does not work here, so the commits are asked for and then fail.")?;
    }
    if let Some(machine) = place::machine_definition() {
        stage.text(&format!("This machine's own definition counts here too: {}", machine.display()))?;
    }
    Ok(())
}

fn take(stage: &Stage, scratch: &Scratch, agent: &mut Agent<'_>, step: &Step) -> Result<(), CommandError> {
    let target = target(&step.act);
    let content = || target.map(|name| fs::read(scratch.file(name)).ok());
    let before = content();
    stage.wants(&subject(&step.act))?;
    let told = shortened(agent.ask(&step.act)?, scratch);
    let code = told.code.as_deref().map(|code| format!("  {code}")).unwrap_or_default();
    stage.verdict(told.verdict, &format!("{}{code}", told.verdict.name()))?;
    expected(step, &told)?;
    if told.verdict != Verdict::Allow {
        stage.effect("")?;
        let after = content();
        if before != after {
            return Err(CommandError::internal("a file was changed by a call that was denied"));
        }
        let state = target.zip(after).map(|(name, there)| untouched(name, there.is_some()));
        return stage.refusal(&told, state.as_deref());
    }
    allowed(stage, scratch, agent, (step, &told))
}

fn untouched(name: &str, there: bool) -> String {
    format!("{name} {}", if there { "is unchanged" } else { "was not made" })
}

/// Does what was allowed, and shows what came of it.
fn allowed(
    stage: &Stage,
    scratch: &Scratch,
    agent: &Agent<'_>,
    (step, told): (&Step, &Told),
) -> Result<(), CommandError> {
    if let Act::Stop(_) = step.act {
        stage.effect("")?;
        return told.notice.iter().try_for_each(|notice| stage.remark(&format!("The person sees: {notice}")));
    }
    let effect = agent.act(&step.act)?;
    stage.effect(&effect.said)?;
    let without_git = !scratch.has_git() && matches!(step.act, Act::Shell(text, _) if text.starts_with("git "));
    if !effect.ok && !without_git {
        return Err(CommandError::internal(format!("`{}` was allowed and did not work", subject(&step.act))));
    }
    match step.want {
        Want::Allow(remark) if !remark.is_empty() => stage.remark(remark),
        _ => Ok(()),
    }
}

/// The file that a call would change.
fn target(act: &Act) -> Option<&'static str> {
    match *act {
        Act::Shell(_, target) => target,
        Act::Write(path, _) | Act::Edit(path, ..) => Some(path),
        Act::Read(_) | Act::Stop(_) => None,
    }
}

/// What the agent wants, in a few words.
fn subject(act: &Act) -> String {
    match *act {
        Act::Shell(text, _) => format!("$ {text}"),
        Act::Read(path) => format!("Read {path}"),
        Act::Write(path, _) => format!("Write {path}"),
        Act::Edit(path, ..) => format!("Edit {path}"),
        Act::Stop(_) => "stop: the work is done".to_owned(),
    }
}

/// The reply with paths as seen from the repository's root: where the scratch directory lies tells nothing.
fn shortened(mut told: Told, scratch: &Scratch) -> Told {
    let root = format!("{}/", scratch.repository().display());
    told.shown = told.shown.iter().map(|line| line.replace(&root, "")).collect();
    told
}

/// Whether the decision is the scripted one. Asked before anything is done that only a fault would allow.
fn expected(step: &Step, told: &Told) -> Result<(), CommandError> {
    let wanted = match &step.want {
        Want::Allow(_) => (Verdict::Allow, None),
        Want::Deny(code) => (Verdict::Deny, Some(code.as_str())),
    };
    if wanted == (told.verdict, told.code.as_deref()) {
        return Ok(());
    }
    let shown = |(verdict, code): (Verdict, Option<&str>)| format!("{} {}", verdict.name(), code.unwrap_or_default());
    let found = shown((told.verdict, told.code.as_deref()));
    let error = CommandError::internal(format!(
        "`{}` was decided `{}`, and the tour expects `{}`",
        subject(&step.act),
        found.trim_end(),
        shown(wanted).trim_end()
    ));
    Err(match place::machine_definition() {
        Some(machine) => error.hint(format!("`{}` may say so; then all is well", machine.display())),
        None => error.hint("this is a defect of Jackline's; please report it"),
    })
}

fn close(stage: &Stage, kept: Option<&Path>) -> Result<(), CommandError> {
    stage.heading("Everything was as expected, and nothing of yours was touched.")?;
    if let Some(dir) = kept.map(Path::display) {
        stage.text(&format!("The scratch directory stays: {dir}"))?;
        stage.text(&format!("To look: jackline log --workspace {dir}/repository --store {dir}/store"))?;
    }
    stage.text("Next: `jackline init` in your own repository.")
}

#[cfg(test)]
mod tests {
    use jackline_core::code;

    use super::*;

    #[track_caller]
    fn check(want: Want, verdict: Verdict, code: Option<&str>, fits: bool) {
        let told = Told { verdict, code: code.map(str::to_owned), shown: Vec::new(), notice: None };
        assert_eq!(expected(&Step { act: Act::Read("x"), want }, &told).is_ok(), fits);
    }

    #[test]
    fn verdict_and_code_must_both_fit() {
        check(Want::Allow(""), Verdict::Allow, None, true);
        check(Want::Allow(""), Verdict::Ask, None, false);
        check(Want::Deny(code::PATHS_PROTECTED), Verdict::Deny, Some("paths/protected"), true);
        check(Want::Deny(code::PATHS_PROTECTED), Verdict::Deny, Some("fault/store"), false);
        check(Want::Deny(code::PATHS_PROTECTED), Verdict::Allow, None, false);
    }
}
