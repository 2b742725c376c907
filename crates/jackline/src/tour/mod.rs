//! The first minute: a scripted agent's session through the real hook, in a scratch repository, shown as it happens.
//!
//! Every decision is compared with what the script expects, and what is allowed is really done. Nothing of the user's
//! is read or written but the machine's own definition, which counts for everyone.

mod agent;
mod play;
mod proof;
mod scratch;
mod script;
mod stage;
mod told;

use std::path::{Path, PathBuf};

use crate::error::CommandError;
use crate::{interrupt, place};
use play::Play;
use scratch::Scratch;
use script::{DEFINITION, LESSONS, PROMPT};
use stage::Stage;

/// Plays it. An error names the first thing that was not as scripted; the scratch directory goes in that case, too.
pub(crate) fn play(keep: bool, fast: bool) -> Result<(), CommandError> {
    interrupt::listen();
    let stage = Stage::new(fast);
    let scratch = Scratch::new()?;
    let played = perform(&stage, &scratch);
    let kept = scratch.end(keep);
    match played {
        Ok(()) => close(&stage, kept?.as_deref()),
        Err(error) => Err(failed(&stage, error, kept)),
    }
}

/// What is told of a tour that did not come to its end.
fn failed(stage: &Stage, error: CommandError, kept: Result<Option<PathBuf>, CommandError>) -> CommandError {
    stage.leave();
    // A signal of the terminal's reaches the hook as well, which is then what failed.
    let error = if interrupt::asked() { stage::broken_off() } else { error };
    match kept {
        Ok(None) => error,
        Ok(Some(dir)) => error.hint(format!("the scratch directory stays: {}", dir.display())),
        Err(left) => {
            left.show();
            error
        }
    }
}

fn perform(stage: &Stage, scratch: &Scratch) -> Result<(), CommandError> {
    open(stage, scratch)?;
    let mut play = Play::begin(stage, scratch)?;
    for (number, lesson) in (1..).zip(&LESSONS) {
        stage.heading(&format!("{number}  {}", lesson.title))?;
        for step in lesson.steps {
            play.take(step)?;
        }
    }
    play.end()?;
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

fn close(stage: &Stage, kept: Option<&Path>) -> Result<(), CommandError> {
    stage.heading("Everything was as expected, and nothing of yours was touched.")?;
    if let Some(dir) = kept.map(Path::display) {
        stage.text(&format!("The scratch directory stays: {dir}"))?;
        stage.text(&format!("To look: jackline log --workspace {dir}/repository --store {dir}/store"))?;
    }
    stage.text("Next: `jackline init` in your own repository.")
}
