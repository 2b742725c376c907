//! One step of the tour: what the agent wants, what it is told, and what then becomes of the world.

use std::fs;

use jackline_core::decision::Verdict;

use super::agent::Agent;
use super::scratch::Scratch;
use super::script::{Act, Step, Want};
use super::stage::Stage;
use super::told::Told;
use crate::error::CommandError;
use crate::place;

/// A session that is under way.
pub(super) struct Play<'a> {
    stage: &'a Stage,
    scratch: &'a Scratch,
    agent: Agent<'a>,
}

impl<'a> Play<'a> {
    pub(super) fn begin(stage: &'a Stage, scratch: &'a Scratch) -> Result<Self, CommandError> {
        Ok(Self { stage, scratch, agent: Agent::begin(scratch)? })
    }

    pub(super) fn end(&self) -> Result<(), CommandError> {
        self.agent.end()
    }

    /// Takes one step, as far as it is decided as scripted.
    pub(super) fn take(&mut self, step: &Step) -> Result<(), CommandError> {
        let before = self.content(&step.act);
        self.stage.wants(&subject(&step.act))?;
        let told = shortened(self.agent.ask(&step.act)?, self.scratch);
        let code = told.code.as_deref().map(|code| format!("  {code}")).unwrap_or_default();
        self.stage.verdict(told.verdict, &format!("{}{code}", told.verdict.name()))?;
        expected(step, &told)?;
        match (&step.want, &step.act) {
            (Want::Deny(_), act) => self.refused(act, &told, before),
            (Want::Allow(_), Act::Stop(_)) => self.stopped(&told),
            (Want::Allow(remark), act) => self.allowed(act, remark),
        }
    }

    /// What the file holds that a call would change, if the call would change one and the file is there.
    fn content(&self, act: &Act) -> Option<Vec<u8>> {
        fs::read(self.scratch.file(target(act)?)).ok()
    }

    /// Shows why not, and that nothing happened.
    fn refused(&self, act: &Act, told: &Told, before: Option<Vec<u8>>) -> Result<(), CommandError> {
        self.stage.effect("")?;
        let after = self.content(act);
        if before != after {
            return Err(CommandError::internal(format!("`{}` was denied and happened all the same", subject(act))));
        }
        let state = if after.is_some() { "is unchanged" } else { "was not made" };
        self.stage.refusal(told, target(act).map(|name| format!("{name} {state}")).as_deref())
    }

    fn stopped(&self, told: &Told) -> Result<(), CommandError> {
        self.stage.effect("")?;
        told.notice.iter().try_for_each(|notice| self.stage.remark(&format!("The person sees: {notice}")))
    }

    /// Does what was allowed, and shows what came of it.
    fn allowed(&self, act: &Act, remark: &str) -> Result<(), CommandError> {
        let effect = self.agent.act(act)?;
        self.stage.effect(&effect.said)?;
        let excused = !self.scratch.has_git() && matches!(act, Act::Shell(text, _) if text.starts_with("git "));
        if !effect.ok && !excused {
            return Err(CommandError::internal(format!("`{}` was allowed and did not work", subject(act))));
        }
        if remark.is_empty() { Ok(()) } else { self.stage.remark(remark) }
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
