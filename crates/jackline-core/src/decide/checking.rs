//! Evaluates the checks of a todo: each asks what it needs, and says what came of it. None cuts another short.
//!
//! Whatever is not known is a failure: a check passes only on what was seen.

use std::collections::BTreeSet;

use super::Ground;
use super::judged;
use crate::calls::{Meaning, Query};
use crate::path;
use crate::probe::{Fact, GitQuestion, Identity, Probe, There, Told, WebRequest};
use crate::ran::{self, Ran};
use crate::stack::Stack;
use crate::todos::check::{Again, Check, Outcome};
use crate::todos::{Author, COMMAND_MS_MAX, Todo, required};

/// What came of every check of a todo, in their order; or what must be known first.
pub(super) fn evaluate(ground: &Ground<'_>, todo: &Todo) -> Result<Vec<Outcome>, Vec<Probe>> {
    all(todo, |_, check| one(ground, todo, check, COMMAND_MS_MAX))
}

/// How one that was verified is looked at again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    /// Files may have changed since.
    pub(super) changed: bool,
    /// The session is over: nothing is run any more.
    pub(super) over: bool,
    /// Milliseconds that each command may take.
    pub(super) command_ms: u64,
}

/// The same for one that was verified before: looks are cheap, commands run where files may have changed, and what does
/// not hang on files stands.
pub(super) fn again(ground: &Ground<'_>, todo: &Todo, look: Look) -> Result<Vec<Outcome>, Vec<Probe>> {
    all(todo, |at, check| match (check.again(), todo.results.get(at)) {
        (Again::Never, Some(before)) => Ok(before.clone()),
        (Again::Changed, Some(before)) if !look.changed => Ok(before.clone()),
        (Again::Changed, _) if look.over => {
            Ok(Outcome::fail(check, "files may have changed since, and nothing is run when the session is over"))
        }
        _ => one(ground, todo, check, look.command_ms),
    })
}

fn all(
    todo: &Todo,
    evaluate: impl Fn(usize, &Check) -> Result<Outcome, Vec<Probe>>,
) -> Result<Vec<Outcome>, Vec<Probe>> {
    let (mut wanted, mut outcomes) = (Vec::new(), Vec::new());
    for (at, check) in todo.checks.iter().enumerate() {
        match evaluate(at, check) {
            Ok(outcome) => outcomes.push(outcome),
            Err(probes) => wanted.extend(probes),
        }
    }
    if wanted.is_empty() { Ok(outcomes) } else { Err(wanted) }
}

fn one(ground: &Ground<'_>, todo: &Todo, check: &Check, command_ms: u64) -> Result<Outcome, Vec<Probe>> {
    // Also now: a link may lead elsewhere than when the todo was made.
    if todo.author == Author::Agent
        && check.path().is_some()
        && let Some(finding) = judged::judge(ground, check)?
    {
        return Ok(Outcome::fail(check, &format!("it was skipped: {}", finding.reason)));
    }
    match check {
        Check::CommandExitZero(words) => command(ground, todo, check, (words, command_ms)),
        Check::FileExists(path) => Ok(match inside(ground, path) {
            Seen::Wanted(probe) => return Err(vec![probe]),
            Seen::Not(why) => Outcome::fail(check, &why),
            Seen::Known(identity) if identity.there == There::Nothing => Outcome::fail(check, "nothing is there"),
            Seen::Known(_) => Outcome::pass(check, "it is there"),
        }),
        Check::FileAbsent(path) => absent(ground, check, path),
        Check::FileContains { path, text } => contains(ground, check, path, text),
        Check::GitCommitExists { sha } => git(ground, check, GitQuestion::Commit { sha: sha.clone() }),
        Check::GitClean {} => git(ground, check, GitQuestion::Clean),
        Check::GitBranchPushed { branch, remote } => {
            git(ground, check, GitQuestion::Pushed { branch: branch.clone(), remote: remote.clone() })
        }
        Check::PrExists { repo, number } => pull(ground, check, (repo, *number), false),
        Check::PrMerged { repo, number } => pull(ground, check, (repo, *number), true),
        Check::HttpStatus { url, status } => status_of(ground, todo, check, (url, *status)),
        Check::CallSucceeded { tool } => succeeded(ground, todo, check, tool),
    }
}

/// What is known of a path of the workspace.
pub(super) enum Seen<'a> {
    Known(&'a Identity),
    Wanted(Probe),
    /// It cannot be told, or lies elsewhere.
    Not(String),
}

/// The file that a path leads to, seen from the workspace's root, if it lies inside.
pub(super) fn inside<'a>(ground: &Ground<'a>, path: &str) -> Seen<'a> {
    let probe = Probe::Identity { path: path.to_owned(), dir: ground.stack.root.clone() };
    match ground.facts.get(&probe) {
        None => Seen::Wanted(probe),
        Some(Fact::Identity(identity)) if identity.inside.is_some() => Seen::Known(identity),
        Some(Fact::Identity(_)) => Seen::Not("it lies outside the workspace".to_owned()),
        Some(_) => Seen::Not("where it leads cannot be told".to_owned()),
    }
}

/// Nothing is there, not even a link that leads nowhere: the path ends where its directory does.
fn absent(ground: &Ground<'_>, check: &Check, path: &str) -> Result<Outcome, Vec<Probe>> {
    let identity = match inside(ground, path) {
        Seen::Wanted(probe) => return Err(vec![probe]),
        Seen::Not(why) => return Ok(Outcome::fail(check, &why)),
        Seen::Known(identity) if identity.there != There::Nothing => return Ok(Outcome::fail(check, "it is there")),
        Seen::Known(identity) => identity,
    };
    let (above, name) = path.trim_end_matches('/').rsplit_once('/').unwrap_or((".", path));
    Ok(match inside(ground, if above.is_empty() { "/" } else { above }) {
        Seen::Wanted(probe) => return Err(vec![probe]),
        Seen::Not(why) => Outcome::fail(check, &why),
        Seen::Known(above) if identity.path == path::join(&above.path, name) => {
            Outcome::pass(check, "nothing is there")
        }
        Seen::Known(_) => Outcome::fail(check, "a link that leads nowhere is there"),
    })
}

fn contains(ground: &Ground<'_>, check: &Check, path: &str, text: &str) -> Result<Outcome, Vec<Probe>> {
    let identity = match inside(ground, path) {
        Seen::Wanted(probe) => return Err(vec![probe]),
        Seen::Not(why) => return Ok(Outcome::fail(check, &why)),
        Seen::Known(identity) => identity,
    };
    if identity.there != There::File {
        return Ok(Outcome::fail(check, "there is no such file"));
    }
    holds(ground, check, Probe::Contains { path: identity.path.clone(), text: text.to_owned() })
}

fn git(ground: &Ground<'_>, check: &Check, question: GitQuestion) -> Result<Outcome, Vec<Probe>> {
    holds(ground, check, Probe::Git { question })
}

/// A check that stands or falls with one answer.
fn holds(ground: &Ground<'_>, check: &Check, probe: Probe) -> Result<Outcome, Vec<Probe>> {
    Ok(match ground.facts.get(&probe) {
        None => return Err(vec![probe]),
        Some(Fact::Told(Told::Holds { holds: true, seen })) => Outcome::pass(check, seen),
        Some(Fact::Told(Told::Holds { holds: false, seen })) => Outcome::fail(check, seen),
        Some(fact) => Outcome::fail(check, &unknown(fact)),
    })
}

fn unknown(fact: &Fact) -> String {
    match fact {
        Fact::Unknown(why) => format!("it cannot be told: {why}"),
        _ => "it cannot be told".to_owned(),
    }
}

/// Every meaning must have its call: the strictest wins.
fn succeeded(ground: &Ground<'_>, todo: &Todo, check: &Check, tool: &str) -> Result<Outcome, Vec<Probe>> {
    let queries: Vec<Query> = meanings(ground.stack, todo, tool).into_iter().map(Query::counting).collect();
    let probe = Probe::Calls { queries };
    let found = match ground.facts.get(&probe) {
        None => return Err(vec![probe]),
        Some(Fact::Told(Told::Calls(found))) => found,
        Some(fact) => return Ok(Outcome::fail(check, &unknown(fact))),
    };
    let calls: Option<Vec<u64>> = found.iter().map(|found| Some(found.calls.last()?.seq)).collect();
    Ok(match calls.and_then(|calls| calls.into_iter().min()) {
        Some(seq) => Outcome::pass(check, &format!("record {seq}")),
        None => Outcome::fail(check, "no such call succeeded in this session"),
    })
}

/// What a tool or step of a check means: what the definitions say that require the todo. For a todo of nobody's in
/// force, what those say that have such a step. So no definition lends its step to another's check.
fn meanings(stack: &Stack, todo: &Todo, tool: &str) -> BTreeSet<Meaning> {
    let mut meant: BTreeSet<Meaning> = required::layers(stack, todo).map(|layer| Meaning::of(layer, tool)).collect();
    if meant.is_empty() {
        let with_step = required::own_layers(stack).filter(|layer| layer.step(tool).is_some());
        meant.extend(with_step.map(|layer| Meaning::of(layer, tool)));
    }
    if meant.is_empty() {
        meant.insert(Meaning::Tool(tool.to_owned()));
    }
    meant
}

/// The user's token goes to that address, so only a definition that the owner trusts may say which one.
fn pull(ground: &Ground<'_>, check: &Check, (repo, number): (&str, u64), merged: bool) -> Result<Outcome, Vec<Probe>> {
    let api = match ground.stack.github_api() {
        Ok(api) => api.to_owned(),
        Err(why) => return Ok(Outcome::fail(check, why)),
    };
    let probe = Probe::Web { request: WebRequest::Pull { api, repo: repo.to_owned(), number } };
    Ok(match ground.facts.get(&probe) {
        None => return Err(vec![probe]),
        Some(Fact::Told(Told::Answered { status: 200, merged: Some(true) })) => Outcome::pass(check, "it is merged"),
        Some(Fact::Told(Told::Answered { status: 200, .. })) if !merged => Outcome::pass(check, "it exists"),
        Some(Fact::Told(Told::Answered { status: 200, merged: Some(false) })) => {
            Outcome::fail(check, "it is not merged")
        }
        Some(Fact::Told(Told::Answered { status: 200, .. })) => {
            Outcome::fail(check, "it cannot be told: the answer does not say whether it is merged")
        }
        Some(Fact::Told(Told::Answered { status, .. })) => Outcome::fail(check, &format!("the answer was {status}")),
        Some(fact) => Outcome::fail(check, &unknown(fact)),
    })
}

fn status_of(
    ground: &Ground<'_>,
    todo: &Todo,
    check: &Check,
    (url, wanted): (&str, u16),
) -> Result<Outcome, Vec<Probe>> {
    if let Some(refused) = refused(ground, todo, check)? {
        return Ok(refused);
    }
    let probe = Probe::Web { request: WebRequest::Status { url: url.to_owned() } };
    Ok(match ground.facts.get(&probe) {
        None => return Err(vec![probe]),
        Some(Fact::Told(Told::Answered { status, .. })) if *status == wanted => Outcome::pass(check, "it does"),
        Some(Fact::Told(Told::Answered { status, .. })) => Outcome::fail(check, &format!("it answers {status}")),
        Some(fact) => Outcome::fail(check, &unknown(fact)),
    })
}

/// Why a check that acts may not: its definition is not trusted, or the agent could not make such a call now.
fn refused(ground: &Ground<'_>, todo: &Todo, check: &Check) -> Result<Option<Outcome>, Vec<Probe>> {
    match todo.author {
        Author::Human => Ok(None),
        Author::Owner if required::layers(ground.stack, todo).any(|layer| layer.trusted) => Ok(None),
        Author::Owner => {
            let why = "it was skipped: the definition is not trusted; the owner runs `jackline trust`";
            Ok(Some(Outcome::fail(check, why)))
        }
        Author::Agent if !super::operation::agents_may(ground) => {
            Ok(Some(Outcome::fail(check, "it was skipped: agents may not have such checks any more")))
        }
        Author::Agent => {
            let finding = judged::judge(ground, check)?;
            Ok(finding.map(|finding| Outcome::fail(check, &format!("it was skipped: {}", finding.reason))))
        }
    }
}

fn command(
    ground: &Ground<'_>,
    todo: &Todo,
    check: &Check,
    (words, timeout_ms): (&[String], u64),
) -> Result<Outcome, Vec<Probe>> {
    // Whether an owner's command may run is told by who runs it: the files it names must be trusted, too.
    if todo.author == Author::Agent
        && let Some(refused) = refused(ground, todo, check)?
    {
        return Ok(refused);
    }
    let probe = run(todo, words, timeout_ms);
    Ok(match ground.facts.get(&probe) {
        None => return Err(vec![probe]),
        Some(Fact::Ran(ran)) if ran.succeeded() => Outcome::pass(check, &ran.exit.told()),
        Some(Fact::Ran(ran)) => Outcome::fail(check, &ran.exit.told()),
        Some(fact) => Outcome::fail(check, &unknown(fact)),
    })
}

fn run(todo: &Todo, words: &[String], timeout_ms: u64) -> Probe {
    let author = match todo.author {
        Author::Owner => ran::Author::Owner,
        Author::Agent => ran::Author::Agent,
        Author::Human => ran::Author::Human { scripts: todo.scripts.clone() },
    };
    Probe::Run { argv: words.to_vec(), timeout_ms, author }
}

/// What came of the commands of a todo that were run now, with their checks.
pub(super) fn ran<'a>(ground: &Ground<'a>, todo: &'a Todo) -> impl Iterator<Item = (&'a Check, &'a Ran)> {
    let facts = ground.facts;
    todo.checks.iter().filter_map(move |check| {
        let words = check.command()?;
        let of = |probe: &Probe| matches!(probe, Probe::Run { argv, .. } if argv == words);
        facts.iter().find_map(|(probe, fact)| match fact {
            Fact::Ran(ran) if of(probe) => Some((check, ran)),
            _ => None,
        })
    })
}
