//! Which calls may have changed something, counted where a todo's commands may have to run again because of them.

use crate::call::View;
use crate::decision::Decision;
use crate::definition::Kind;
use crate::guards::Context;
use crate::session::{Change, Session};
use crate::todos::Todo;
use crate::todos::state::State;

/// Whether a call may change something, as anyone sees it.
pub(super) fn may_change(context: &Context<'_>) -> bool {
    context.views.all().any(changes)
}

/// What a tool of an unknown kind does is not known, so it counts.
const fn changes(view: &View<'_>) -> bool {
    match view.kind {
        Kind::Write | Kind::Shell | Kind::Agent => true,
        // Our own server's todos and facts are known to change no file.
        Kind::Other => view.other.is_none(),
        Kind::Read | Kind::Search | Kind::List | Kind::Fetch => false,
    }
}

/// Counts a call that was let through, or is over. What goes on in the background is always remembered.
pub(super) fn count(context: &Context<'_>, background: bool, decision: &mut Decision) {
    if may_change(context) && (background || is_watched(context.session)) {
        decision.changes.push(Change::Acted { background });
    }
}

/// Whether the commands of a todo were, or are being, run for its verification.
fn is_watched(session: &Session) -> bool {
    let runs = |todo: &Todo| todo.checks.iter().any(|check| check.command().is_some());
    let looked_at = |todo: &Todo| match &todo.state {
        State::Claimed(_) => true,
        State::Verified(verified) => verified.by_runtime().is_some(),
        State::Pending(_) | State::InProgress(_) | State::NeedsHuman(_) | State::Waived(_) => false,
    };
    session.todos.iter().any(|todo| looked_at(todo) && runs(todo))
}
