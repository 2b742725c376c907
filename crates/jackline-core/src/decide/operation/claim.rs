//! An agent claims that a todo is done: the evidence is looked up, never believed.

use serde_json::{Value, json};

use super::todo::{changed, illegal, moved, room};
use super::{Ground, Outcome, Trouble, given, refuse};
use crate::calls::{Became, Found, Logged, Query};
use crate::code;
use crate::decide::checking::{self, Seen};
use crate::decide::judged;
use crate::legible::is_blank;
use crate::probe::{Fact, GitQuestion, Probe, There, Told};
use crate::sha::{Digest, Key};
use crate::todos::Todo;
use crate::todos::evidence::{EVIDENCE_MAX, Evidence, Named, What};
use crate::todos::required;
use crate::todos::state::State;

/// Characters that are no blanks in the least explanation: shorter ones explained nothing.
const EXPLANATION_CHARS_MIN: usize = 20;
/// Bytes of the longest: it is kept in the log.
const EXPLANATION_BYTES_MAX: usize = 4_000;

pub(super) fn claim(ground: &Ground<'_>, given: &Value) -> Outcome {
    let todo = given::todo(ground, given)?;
    let explanation = explanation(given).map_err(|trouble| trouble.about(todo))?;
    let State::InProgress(work) = &todo.state else { return Err(illegal(todo, "claimed", "in_progress")) };
    let named = given::list(given, "evidence", EVIDENCE_MAX, &code::TODO_EVIDENCE)?;
    let named =
        named.iter().map(|piece| Named::read(piece).map_err(|why| refused(&why))).collect::<Result<Vec<_>, _>>();
    let named = named.map_err(|trouble| trouble.about(todo))?;
    if named.is_empty() && todo.checks.is_empty() {
        let reason = "This todo has no checks, so its claim needs evidence.";
        let next = "name what proves it: {call: ID}, {command: TEXT}, {file: PATH} or {commit: SHA}";
        return Err(refuse(code::TODO_EVIDENCE, reason, next).about(todo));
    }
    let evidence = found(ground, todo, &named, work.step()).map_err(|trouble| trouble.about(todo))?;
    if let Some(piece) = evidence.iter().find(|piece| todo.was_refused(piece)) {
        let reason = format!("{} is as it was when the claim was sent back.", piece.named());
        return Err(no(reason, "do what the person asked for, then name what came of it").about(todo));
    }
    let claimed = todo.claimed(ground.session.now(ground.event.at), evidence);
    let claimed: Todo = claimed.ok_or_else(|| illegal(todo, "claimed", "in_progress"))?;
    room(&ground.session.todos, ground.session.todos.len(), &claimed).map_err(|trouble| trouble.about(todo))?;
    Ok(moved(changed("todo.claimed", todo, &claimed, json!({ "explanation": explanation })), claimed, false))
}

fn explanation(given: &Value) -> Result<String, Trouble> {
    let text = given.get("explanation").and_then(Value::as_str).unwrap_or_default().trim();
    let told = text.chars().filter(|c| !is_blank(*c)).count();
    if told < EXPLANATION_CHARS_MIN {
        let reason = format!(
            "The explanation has {told} characters that are no blanks, and needs at least {EXPLANATION_CHARS_MIN}."
        );
        return Err(refuse(code::TODO_EXPLANATION, reason, "say what was done, and how it was made sure"));
    }
    if text.len() > EXPLANATION_BYTES_MAX {
        let reason = format!("The explanation has {} bytes, more than {EXPLANATION_BYTES_MAX}.", text.len());
        return Err(refuse(code::TODO_EXPLANATION, reason, "say it shorter"));
    }
    Ok(text.to_owned())
}

fn refused(why: &str) -> Trouble {
    refuse(code::TODO_EVIDENCE, format!("The evidence cannot be used: {why}."), "name other evidence")
}

/// Everything that was named, looked up; or the first piece that does not hold.
fn found(ground: &Ground<'_>, todo: &Todo, named: &[Named], since: u64) -> Result<Vec<Evidence>, Trouble> {
    let by: Vec<Key> = required::layers(ground.stack, todo).map(|layer| layer.digest.short()).collect();
    let queries: Vec<Query> = named.iter().filter_map(|named| query(named, &by)).collect();
    let log = Probe::Calls { queries: queries.clone() };
    let mut wanted = Vec::new();
    let mut pieces = Vec::new();
    let mut answers = match (queries.is_empty(), ground.facts.get(&log)) {
        (true, _) => [].iter(),
        (false, None) => {
            wanted.push(log);
            [].iter()
        }
        (false, Some(Fact::Told(Told::Calls(found)))) if found.len() == queries.len() => found.iter(),
        (false, Some(_)) => return Err(refused("the log could not be looked through")),
    };
    for piece in named {
        let looked = match piece {
            Named::Call(_) | Named::Command(_) if !wanted.is_empty() => continue,
            Named::Call(id) => call(ground, answers.next(), &Said::id(id), since),
            Named::Command(text) => call(ground, answers.next(), &Said::command(text), since),
            Named::File(path) => file(ground, path),
            Named::Commit(sha) => commit(ground, sha),
        };
        match looked {
            Ok(evidence) => pieces.push(evidence),
            Err(Trouble::Need(probes)) => wanted.extend(probes),
            Err(refused) => return Err(refused),
        }
    }
    if wanted.is_empty() { Ok(pieces) } else { Err(Trouble::Need(wanted)) }
}

/// A command is one to those who require the todo.
fn query(named: &Named, by: &[Key]) -> Option<Query> {
    match named {
        Named::Call(id) => Some(Query::of_id(id)),
        Named::Command(text) => Some(Query { by: by.to_vec(), ..Query::of_command(text) }),
        Named::File(_) | Named::Commit(_) => None,
    }
}

/// How a call that was named is spoken of.
struct Said {
    one: String,
    none: String,
}

impl Said {
    fn id(id: &str) -> Self {
        Self { one: format!("Call `{id}`"), none: format!("Call `{id}` is not in this session's log") }
    }

    fn command(text: &str) -> Self {
        let none = format!("No command `{text}` was run in this session");
        Self { one: format!("The latest run of `{text}`"), none }
    }
}

/// A call must be there, have succeeded, be later than the todo's start and, of a command, later than the last write.
fn call(ground: &Ground<'_>, found: Option<&Found>, said: &Said, since: u64) -> Result<Evidence, Trouble> {
    let cut = found.is_some_and(|found| found.cut);
    let Some(logged) = found.and_then(|found| found.calls.last()) else {
        let where_ = if cut { ", as far back as it is looked through" } else { "" };
        return Err(no(format!("{}{where_}.", said.none), "do the work first; `calls.list` shows what was called"));
    };
    let one = &said.one;
    if let Some(flaw) = logged.flaw {
        return Err(no(format!("{one} {}.", flaw.told()), "name a call that was requested and ran as it was"));
    }
    match logged.became {
        Became::Unfinished => return Err(no(format!("{one} has not finished."), "wait until it has")),
        Became::Refused => return Err(no(format!("{one} was refused."), "name a call that ran")),
        Became::Failed => {
            let code = logged.exit_code.map(|code| format!(" with exit code {code}")).unwrap_or_default();
            return Err(no(format!("{one} failed{code}."), "make it succeed, then claim again"));
        }
        Became::Succeeded => {}
    }
    if !logged.proven {
        let reason = format!("{one} does not prove that it succeeded: its exit status is another command's.");
        return Err(no(reason, "run it by itself, without `||`, `;` or a pipe behind it"));
    }
    if logged.step <= since {
        return Err(no(format!("{one} was made before the todo was started."), "do the work after `todo.start`"));
    }
    if logged.shell {
        unchanged_since(ground, logged, one)?;
    }
    Ok(resolved(logged))
}

/// Nothing was written since the call began, and the work tree is as it left it, where there is one.
fn unchanged_since(ground: &Ground<'_>, logged: &Logged, one: &str) -> Result<(), Trouble> {
    let again = "run it again, then claim";
    match (logged.outdated, logged.tree, ground.facts.get(&Probe::WorkTree)) {
        (true, _, _) => Err(no(format!("{one} is outdated: files were written since."), again)),
        (false, None, _) => Ok(()),
        (false, Some(_), None) => Err(Trouble::Need(vec![Probe::WorkTree])),
        (false, Some(then), Some(now)) => match logged.is_outdated_by(now) {
            false => Ok(()),
            true if then == Digest::ZERO || matches!(now, Fact::Unknown(_)) => {
                Err(no(format!("{one} may be outdated: whether files changed since cannot be told."), again))
            }
            true => Err(no(format!("{one} is outdated: files changed since."), again)),
        },
    }
}

fn no(reason: String, next: &str) -> Trouble {
    refuse(code::TODO_EVIDENCE, reason, next)
}

fn resolved(logged: &Logged) -> Evidence {
    let Logged { id, seq, tool, command, exit_code, .. } = logged.clone();
    Evidence { at: logged.at, what: What::Call { id, seq, tool, command, exit_code } }
}

fn file(ground: &Ground<'_>, path: &str) -> Result<Evidence, Trouble> {
    if let Some(finding) = judged::reading(ground, path).map_err(Trouble::Need)? {
        let reason = format!("File `{path}` may not be read: {}", finding.reason);
        return Err(no(reason, "name a file that you may read"));
    }
    let identity = match checking::inside(ground, path) {
        Seen::Known(identity) => identity,
        Seen::Wanted(probe) => return Err(Trouble::Need(vec![probe])),
        Seen::Not(why) => return Err(no(format!("File `{path}`: {why}."), "name a file of the workspace")),
    };
    let wrong = match identity.there {
        There::File => None,
        There::Nothing => Some("does not exist"),
        There::Directory => Some("is a directory, which proves nothing"),
        There::Other => Some("is no plain file, and proves nothing"),
    };
    if let Some(wrong) = wrong {
        return Err(no(format!("File `{path}` {wrong}."), "name a file that is there"));
    }
    let probe = Probe::Fingerprint { path: identity.path.clone() };
    match ground.facts.get(&probe) {
        None => Err(Trouble::Need(vec![probe])),
        Some(Fact::Content(Some(sha256))) => {
            let path = identity.inside.clone().unwrap_or_else(|| path.to_owned());
            Ok(Evidence { at: ground.session.now(ground.event.at), what: What::File { path, sha256: *sha256 } })
        }
        Some(_) => Err(no(format!("File `{path}` cannot be read."), "name a file that can be read")),
    }
}

fn commit(ground: &Ground<'_>, sha: &str) -> Result<Evidence, Trouble> {
    let probe = Probe::Git { question: GitQuestion::Commit { sha: sha.to_owned() } };
    match ground.facts.get(&probe) {
        None => Err(Trouble::Need(vec![probe])),
        Some(Fact::Told(Told::Holds { holds: true, .. })) => {
            let what = What::Commit { sha: sha.to_owned() };
            Ok(Evidence { at: ground.session.now(ground.event.at), what })
        }
        Some(_) => Err(no(format!("Commit `{sha}` is not in the repository."), "name a commit that is there")),
    }
}
