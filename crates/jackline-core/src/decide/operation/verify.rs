//! The runtime verifies a claim: all checks are evaluated, none cuts another short. And it looks again at a stop.

use serde_json::{Value, json};

use super::todo::{changed, illegal, moved};
use super::{Ground, Trouble, given, refuse};
use crate::code;
use crate::decide::checking::{self, Look};
use crate::decide::judged;
use crate::decision::{Decision, Finding, Note};
use crate::probe::{Fact, Probe, Told};
use crate::ran::Ran;
use crate::session::Change;
use crate::sha::Digest;
use crate::todos::check::{Again, Check, Outcome};
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
    let wrote = wrote(ground, todo).map_err(Trouble::Need)?;
    let verified = todo.verified(ground.session.now(ground.event.at), results, mark);
    let verified = verified.ok_or_else(|| illegal(todo, "verified", "claimed"))?;
    let mut decision = match &verified.state {
        State::Verified(_) => moved(changed("todo.verified", todo, &verified, json!({})), verified, true),
        _ => failed(ground, todo, verified),
    };
    decision.changes.extend(wrote.then_some(Change::Wrote));
    Ok(decision)
}

/// Whether a command of the agent's own wrote files, as the shell call would have that does the same.
fn wrote(ground: &Ground<'_>, todo: &Todo) -> Result<bool, Vec<Probe>> {
    let own = checking::ran(ground, todo).filter(|_| todo.author == Author::Agent);
    let (mut wrote, mut wanted) = (false, Vec::new());
    for (check, _) in own.filter(|(_, ran)| ran.exit.began()) {
        match judged::wrote(ground, check) {
            Ok(did) => wrote |= did,
            Err(probes) => wanted.extend(probes),
        }
    }
    if wanted.is_empty() { Ok(wrote) } else { Err(wanted) }
}

/// The claim does not hold: refused, with everything that was found.
fn failed(ground: &Ground<'_>, before: &Todo, after: Todo) -> Decision {
    let messages: Vec<&str> = after.results.iter().map(|result| result.message.as_str()).collect();
    let not_passed = after.results.iter().filter(|result| !result.passed).count();
    let reason = format!("{not_passed} of {} checks did not pass:\n{}", after.results.len(), messages.join("\n"));
    let reason = format!("{reason}{}", printed(ground, before));
    let output = kept(ground, before);
    let data = json!({ "operation": "todo.verify", "code": code::TODO_CHECKS, "reason": reason, "output": output });
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

/// The ends of what commands printed that did not pass.
fn printed(ground: &Ground<'_>, todo: &Todo) -> String {
    let failed = checking::ran(ground, todo).filter(|(_, ran)| !ran.succeeded());
    let told = failed.map(|(check, ran)| (check, ran.tails())).filter(|(_, tails)| !tails.is_empty());
    told.map(|(check, tails)| format!("\n`{}` printed:{tails}", check.subject())).collect()
}

/// Where the whole of it is kept, by hash.
fn kept(ground: &Ground<'_>, todo: &Todo) -> Vec<Value> {
    let hex = |digest: Option<Digest>| digest.map(|digest| digest.hex());
    let failed = checking::ran(ground, todo).filter(|(_, ran)| !ran.succeeded());
    let longer = failed.filter(|(_, ran)| ran.stdout_kept.is_some() || ran.stderr_kept.is_some());
    let told = |(check, ran): (&Check, &Ran)| {
        let (stdout, stderr) = (hex(ran.stdout_kept), hex(ran.stderr_kept));
        json!({ "check": check, "stdout_sha256": stdout, "stderr_sha256": stderr })
    };
    longer.map(told).collect()
}

/// What the workspace is like now; what the session had counted is as it was when this was first asked.
fn mark(ground: &Ground<'_>) -> Result<Mark, Vec<Probe>> {
    let (Some(counts), Some(tree)) = (ground.facts.get(&Probe::Counts), ground.facts.get(&Probe::WorkTree)) else {
        return Err(vec![Probe::Counts, Probe::WorkTree]);
    };
    let tree = match tree {
        Fact::Content(Some(digest)) => Some(*digest),
        Fact::Absent => None,
        // One that could not be told never equals another.
        _ => Some(Digest::ZERO),
    };
    match counts {
        Fact::Told(Told::Counted { writes, acts }) => Ok(Mark { writes: *writes, acts: *acts, tree }),
        _ => Ok(Mark { writes: u64::MAX, acts: u64::MAX, tree }),
    }
}

/// What a look at verified todos leads to when the agent wants to stop, or the session is over.
#[derive(Debug, Default)]
pub(in crate::decide) struct LookedAgain {
    pub(in crate::decide) changes: Vec<Change>,
    pub(in crate::decide) notes: Vec<Note>,
}

/// Looks again at what the runtime verified: at its files always, by its commands where files may have changed. What
/// fails now is open again.
pub(in crate::decide) fn look_again(ground: &Ground<'_>, over: bool) -> Result<LookedAgain, Vec<Probe>> {
    let mut looked = LookedAgain::default();
    if !ground.session.todos.iter().any(by_runtime) {
        return Ok(looked);
    }
    let now = mark(ground)?;
    let verified: Vec<(&Todo, bool)> = ground
        .session
        .todos
        .iter()
        .filter(|todo| by_runtime(todo))
        .map(|todo| (todo, is_outdated(ground, todo, &now)))
        .collect();
    let agents = agents_commands_ms(&verified);
    let (mut wanted, mut evaluated) = (Vec::new(), 0);
    for (todo, changed) in verified {
        evaluated += if todo.author == Author::Agent { costs(todo, changed) } else { 0 };
        let look = |command_ms| Look { changed, over, command_ms };
        let results = match todo.author {
            Author::Agent if evaluated > STOP_CHECKS_MAX => Ok(too_many(todo)),
            Author::Agent => checking::again(ground, todo, look(agents)),
            Author::Owner | Author::Human => checking::again(ground, todo, look(COMMAND_MS_MAX)),
        };
        match results.and_then(|results| Ok((results, wrote(ground, todo)?))) {
            Err(probes) => wanted.extend(probes),
            // Nothing happened, and all is as it was.
            Ok((results, _)) if !changed && results.iter().all(|result| result.passed) => {}
            Ok((results, wrote)) => {
                let (at, step) = (ground.session.now(ground.event.at), ground.session.steps);
                looked.extend(todo, todo.looked_at_again(at, step, results, now));
                looked.changes.extend(wrote.then_some(Change::Wrote));
            }
        }
    }
    if wanted.is_empty() { Ok(looked) } else { Err(wanted) }
}

/// How long each command of agents' own todos may take, so that all of them end in time.
fn agents_commands_ms(verified: &[(&Todo, bool)]) -> u64 {
    let own = verified.iter().filter(|(todo, changed)| *changed && todo.author == Author::Agent);
    let commands = own.flat_map(|(todo, _)| &todo.checks).filter(|check| check.command().is_some()).count();
    STOP_MS_MAX / (commands as u64).max(1)
}

/// How many of its checks take more than a look at a name.
fn costs(todo: &Todo, changed: bool) -> usize {
    let costs = |check: &&Check| match check {
        Check::FileExists(_) | Check::FileAbsent(_) => false,
        check => check.again() == Again::Always || changed && check.again() == Again::Changed,
    };
    todo.checks.iter().filter(costs).count()
}

fn too_many(todo: &Todo) -> Vec<Outcome> {
    let why = format!("more than {STOP_CHECKS_MAX} checks would be evaluated again");
    todo.checks.iter().map(|check| Outcome::fail(check, &why)).collect()
}

fn by_runtime(todo: &Todo) -> bool {
    matches!(&todo.state, State::Verified(verified) if verified.by_runtime().is_some())
}

fn is_outdated(ground: &Ground<'_>, todo: &Todo, now: &Mark) -> bool {
    match &todo.state {
        State::Verified(verified) => {
            ground.session.background || verified.by_runtime().is_some_and(|verified| verified.mark().differs(now))
        }
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
