//! Acts that are a person's: asked for on a terminal, refused inside an agent's session.

use std::io::{self, BufRead as _, IsTerminal as _};

use crate::error::CommandError;
use crate::{place, screen};

/// Makes sure that no agent's session is around; enough for what only adds guards, so that it works without a terminal.
pub(crate) fn outside_a_session() -> Result<(), CommandError> {
    let Some(mark) = place::host_mark() else { return Ok(()) };
    Err(CommandError::input(format!("this is for people, and an agent's session is around (`{mark}` is set)"))
        .hint("run it in a terminal of your own"))
}

/// Makes sure that a person is there and agrees; `yes` answers for them, but only where a terminal is attached.
pub(crate) fn agrees(question: &str, yes: bool) -> Result<(), CommandError> {
    is_there()?;
    if yes {
        return Ok(());
    }
    screen::show(&format!("{question} [y/N] "))?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(CommandError::input("nothing was changed")),
    }
}

/// Makes sure that a person is there, as far as a terminal and the environment tell.
pub(crate) fn is_there() -> Result<(), CommandError> {
    outside_a_session()?;
    if !io::stdin().is_terminal() {
        return Err(CommandError::input("this is for people, and no terminal is attached")
            .hint("run it in a terminal; `--yes` answers only there"));
    }
    Ok(())
}
