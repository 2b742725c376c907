//! Acts that are a person's: asked for on a terminal, refused inside an agent's session.

use std::io::{self, BufRead as _, IsTerminal as _};

use jackline_core::event::{Body, Event};
use jackline_runtime::{Runtime, clock};

use crate::error::CommandError;
use crate::place::Where;
use crate::{ancestors, place, screen, timeline};

/// Makes sure that no agent's session is around; enough for what only adds guards, so that it works without a terminal.
pub(crate) fn outside_a_session() -> Result<(), CommandError> {
    let mark = place::host_mark().map(|mark| format!("`{mark}` is set"));
    let Some(mark) = mark.or_else(ancestors::host) else { return Ok(()) };
    Err(CommandError::input(format!("this is for people, and an agent's session is around ({mark})"))
        .hint("run it in a terminal of your own, outside the agent's host"))
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

/// The runtime that a person's own commands act through.
pub(crate) fn runtime(at: &Where) -> Result<Runtime, CommandError> {
    let mut builder = Runtime::builder().state(at.state()?).environment(place::environment).web(crate::web::Client);
    if let Some(home) = place::home() {
        builder = builder.home(home);
    }
    let runtime = builder.definitions(at.definitions_read_only()?).build();
    runtime.map_err(|fault| CommandError::internal(fault.to_string()))
}

/// Tells a session what a person did, and says where it is recorded.
pub(crate) fn tell(at: &Where, session: &str, body: Body) -> Result<String, CommandError> {
    let answer = runtime(at)?.decide_for_person(&Event::new(session, clock::now(), body));
    match (answer.verdict.refuses(), answer.seq, answer.reason) {
        (false, Some(seq), _) => Ok(format!("recorded in session {} #{seq}", timeline::shown(session))),
        (_, _, reason) => Err(CommandError::internal(reason.unwrap_or_else(|| "it was not recorded".to_owned()))),
    }
}
