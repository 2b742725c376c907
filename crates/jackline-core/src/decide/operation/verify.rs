//! The runtime verifies a claim: all checks are evaluated, none cuts another short. And it looks again at a stop.

use serde_json::{Value, json};

use super::todo::{changed, illegal, moved};
use super::{Ground, Trouble, given, refuse};
use crate::code;
use crate::decide::checking;
use crate::decision::{Decision, Finding, Note};
use crate::probe::{Fact, Probe};
use crate::session::Change;
use crate::sha::Digest;
use crate::todos::check::Outcome;
use crate::todos::state::{Mark, State};
use crate::todos::{Author, COMMAND_MS_MAX, STOP_CHECKS_MAX, STOP_MS_MAX, Todo};

pub(super) fn verify(ground: &Ground<'_>, given: &Value) -> super::Outcome {
    let todo = given::todo(ground, given)?;
    let State::Claimed(_) = &todo.state else { return Err(illegal(todo, "verified", "claimed")) };
    if todo.checks.is_empty() {
        let reason = "This todo has no checks, so only a person can approve it.";
        let next = format!("tell the person: `jackline todo approve {}`", todo.id);
        return Err(refuse(code::TODO_CHECKS, reason, next).about(todo));
    }
    // INVARIANT: the mark is asked for first, before anything runs: what changes meanwhile counts as changed.
    let (mark, results) = match (mark(ground), checking::evaluate(ground, todo)) {
        (Ok(mark), Ok(results)) => (mark, results),
        (mark, results) => {
            return Err(Trouble::Need([mark.err(), results.err()].into_iter().flatten().flatten().collect()));
        }
    };
    let verified = todo.verified(ground.session.now(ground.event.at), results, mark);
    let verified = verified.ok_or_else(|| illegal(todo, "verified", "claimed"))?;
    Ok(match &verified.state {
        State::Verified(_) => moved(changed("todo.verified", todo, &verified, json!({})), verified, true),
        _ => failed(todo, verified),
    })
}

/// The claim does not hold: refused, with everything that was found.
fn failed(before: &Todo, after: Todo) -> Decision {
    let messages: Vec<&str> = after.results.iter().map(|result| result.message.as_str()).collect();
    let not_passed = after.results.iter().filter(|result| !result.passed).count();
    let reason = format!("{not_passed} of {} checks did not pass:\n{}", after.results.len(), messages.join("\n"));
    let data = json!({ "operation": "todo.verify", "code": code::TODO_CHECKS, "reason": reason });
    let mut finding = Finding::deny("todo", code::TODO_CHECKS, reason);
    let mut notes = vec![changed("todo.refused", before, &after, data)];
    match &after.state {
        State::NeedsHuman(_) => {
            notes.push(changed("todo.needs_human", before, &after, json!({ "failures": after.failures })));
            finding = finding.suggest("stop working on it: a person decides now");
        }
        _ => finding = finding.suggest("mend what failed, then ask for verification again"),
    }
    let result = Some(after.answer(true));
    let changes = vec![Change::Todo { todo: Box::new(after) }];
    Decision { notes, changes, result, ..Decision::merge(vec![finding]) }
}

/// What the workspace is like now.
fn mark(ground: &Ground<'_>) -> Result<Mark, Vec<Probe>> {
    let tree = match ground.facts.get(&Probe::WorkTree) {
        None => return Err(vec![Probe::WorkTree]),
        Some(Fact::Content(Some(digest))) => Some(*digest),
        Some(Fact::Absent) => None,
        // One that could not be told never equals another.
        Some(_) => Some(Digest::ZERO),
    };
    Ok(Mark { writes: ground.session.writes, tree })
}

/// What a look at verified todos leads to when the agent wants to stop.
#[derive(Debug, Default)]
pub(in crate::decide) struct LookedAgain {
    pub(in crate::decide) changes: Vec<Change>,
    pub(in crate::decide) notes: Vec<Note>,
}

/// Evaluates the checks of todos that were verified before files changed; what fails now is open again.
pub(in crate::decide) fn at_stop(ground: &Ground<'_>) -> Result<LookedAgain, Vec<Probe>> {
    let mut looked = LookedAgain::default();
    if !ground.session.todos.iter().any(by_runtime) {
        return Ok(looked);
    }
    let now = mark(ground)?;
    let outdated: Vec<&Todo> = ground.session.todos.iter().filter(|todo| is_outdated(todo, &now)).collect();
    let agents = agents_commands_ms(&outdated);
    let (mut wanted, mut evaluated) = (Vec::new(), 0);
    for todo in outdated {
        evaluated += if todo.author == Author::Agent { todo.checks.len() } else { 0 };
        let results = match todo.author {
            Author::Agent if evaluated > STOP_CHECKS_MAX => Ok(too_many(todo)),
            Author::Agent => checking::again(ground, todo, agents),
            Author::Owner | Author::Human => checking::again(ground, todo, COMMAND_MS_MAX),
        };
        match results {
            Err(probes) => wanted.extend(probes),
            Ok(results) => {
                let (at, step) = (ground.session.now(ground.event.at), ground.session.steps);
                looked.extend(todo, todo.looked_at_again(at, step, results, now));
            }
        }
    }
    if wanted.is_empty() { Ok(looked) } else { Err(wanted) }
}

/// How long each command of agents' own todos may take, so that all of them end in time.
fn agents_commands_ms(outdated: &[&Todo]) -> u64 {
    let own = outdated.iter().filter(|todo| todo.author == Author::Agent);
    let commands = own.flat_map(|todo| &todo.checks).filter(|check| check.command().is_some()).count();
    STOP_MS_MAX / (commands as u64).max(1)
}

fn too_many(todo: &Todo) -> Vec<Outcome> {
    let why = format!("more than {STOP_CHECKS_MAX} checks would be evaluated again");
    todo.checks.iter().map(|check| Outcome::fail(check, &why)).collect()
}

fn by_runtime(todo: &Todo) -> bool {
    matches!(&todo.state, State::Verified(verified) if verified.by_runtime().is_some())
}

fn is_outdated(todo: &Todo, now: &Mark) -> bool {
    match &todo.state {
        State::Verified(verified) => verified.by_runtime().is_some_and(|verified| verified.mark().differs(now)),
        _ => false,
    }
}

impl LookedAgain {
    fn extend(&mut self, before: &Todo, after: Option<Todo>) {
        let Some(after) = after else { return };
        if let State::InProgress(_) = after.state {
            self.notes.push(changed("todo.reopened", before, &after, json!({ "results": after.answer(true) })));
        }
        self.changes.push(Change::Todo { todo: Box::new(after) });
    }
}
