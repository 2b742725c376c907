//! Exceptions as people make and end them: what they may name, how long they last, and the record of it.

use jackline_core::code;
use jackline_core::definition::model::{Guard, Policy};
use jackline_core::event::Body;
use jackline_core::exception::{
    EXCEPTION_MS_MAX, Exception, REASON_BYTES_MAX, TEXT_BYTES_MAX, What, family, is_liftable, is_liftable_family,
};
use jackline_core::nearest;
use jackline_core::rego;
use jackline_core::stack::Stack;
use jackline_core::time::{Timestamp, parse_duration_ms};
use jackline_runtime::clock;
use jackline_runtime::definitions::Definitions as _;
use jackline_runtime::exceptions::{EXCEPTIONS_MAX, Exceptions};
use jackline_runtime::files;

use crate::commands::sessions;
use crate::error::CommandError;
use crate::hosts;
use crate::place::{self, Where};
use crate::{person, screen, timeline};

/// Names shown when one was misspelled.
const NEAREST_MAX: usize = 3;

/// A workspace, with the exceptions that hold in it.
pub(crate) struct Ground<'a> {
    at: &'a Where,
    pub(crate) stack: Stack,
    pub(crate) exceptions: Exceptions,
}

/// An exception that a person asks for.
pub(crate) struct Wish<'a> {
    pub(crate) what: What,
    pub(crate) once: bool,
    /// How long; as long as possible when absent.
    pub(crate) lasting: Option<&'a str>,
    pub(crate) reason: &'a str,
    pub(crate) yes: bool,
}

impl<'a> Ground<'a> {
    /// The workspace's, by the definition in force there; exceptions hold where its sessions are at home.
    pub(crate) fn of(at: &'a Where) -> Result<Self, CommandError> {
        let at_home = hosts::at_home_in(&at.workspace()?);
        let stack = at.definitions_of_sessions(at_home)?.stack(None, None)?.stack.clone();
        let exceptions = Exceptions::of(&at.state()?, stack.home());
        Ok(Self { at, stack, exceptions })
    }

    /// Makes an exception, once a person agreed.
    pub(crate) fn grant(&self, wish: Wish<'_>) -> Result<(), CommandError> {
        let (lasting_ms, reason) = (lasting(wish.lasting)?, reason(wish.reason)?);
        person::agrees(&question(&wish.what, wish.once, lasting_ms), wish.yes)?;
        let granted_at = clock::now();
        let exception = Exception {
            id: Exceptions::fresh_id()?,
            what: wish.what,
            once: wish.once,
            granted_at,
            until: Timestamp(granted_at.0.saturating_add(lasting_ms)),
            reason,
            by: by(),
        };
        if !self.exceptions.has_room(granted_at)? {
            let why = format!("there are {EXCEPTIONS_MAX} exceptions already");
            return Err(CommandError::input(why).hint("end some with `jackline on ID`; `jackline status` lists them"));
        }
        // The record first: nothing passes on an exception that nobody can read of.
        let recorded = self.record(Body::ExceptionGranted(exception.clone()))?;
        self.exceptions.keep(&exception)?;
        screen::line(&format!("exception {}", shown(&exception, granted_at)))?;
        screen::line(&format!("  {recorded}; `jackline on {}` ends it early", exception.id))?;
        Ok(())
    }

    /// Ends an exception; what cannot be recorded is ended all the same.
    pub(crate) fn end(&self, exception: &Exception) -> Result<(), CommandError> {
        if !self.exceptions.end(&exception.id)? {
            return Ok(screen::line(&format!("exception {} was over already", exception.id))?);
        }
        let ended = format!("ended exception {} ({})", exception.id, words(&exception.what));
        let recorded =
            self.record(Body::ExceptionRevoked(exception.clone())).inspect_err(|_| screen::complain(&ended))?;
        Ok(screen::line(&format!("{ended}; {recorded}"))?)
    }

    /// Tells the workspace's newest session, if there is one, and says so.
    fn record(&self, body: Body) -> Result<String, CommandError> {
        let Some(session) = self.newest()? else {
            return Ok("no session is there to record it in".to_owned());
        };
        person::tell(self.at, &session, body)
    }

    /// The session of this workspace that was written last.
    pub(crate) fn newest(&self) -> Result<Option<String>, CommandError> {
        let listed = sessions::list(&self.at.files()?, self.at, true)?;
        let here = listed.into_iter().find(|session| session.workspace() == self.stack.root);
        Ok(here.map(|session| session.entry.id))
    }

    /// What a name stands for: a policy in force here, a code, or the first part of codes.
    pub(crate) fn resolve(&self, name: &str) -> Result<What, CommandError> {
        let policies = self.policies();
        if policies.iter().any(|policy| policy == name) {
            return Ok(What::Policy(name.to_owned()));
        }
        let owners = name.strip_prefix("rule/").is_some_and(|rule| policies.iter().any(|policy| policy == rule))
            || name.strip_prefix("policy/").is_some_and(|own| !own.is_empty())
            || name.strip_prefix("rego/").is_some_and(|code| rego::is_code(code) && self.has_rego());
        if owners || codes().any(|code| code == name) {
            return if is_liftable(name) { Ok(What::Code(name.to_owned())) } else { Err(unliftable(name)) };
        }
        if families().any(|known| known == name) {
            return if is_liftable_family(name) { Ok(What::Family(name.to_owned())) } else { Err(one_by_one(name)) };
        }
        Err(unknown(name, &policies))
    }

    /// Whether a Rego policy is in force: which codes it gives, only it knows.
    fn has_rego(&self) -> bool {
        let is_rego = |policy: &Policy| matches!(policy.guard, Guard::Rego(_));
        self.stack.layers.iter().any(|layer| layer.policies().any(|(_, policy)| is_rego(policy)))
    }

    fn policies(&self) -> Vec<String> {
        let layers = self.stack.layers.iter();
        let declared = layers.flat_map(|layer| layer.policies().map(|(_, policy)| policy.name.clone()));
        let of_files = files::folders(&self.stack).into_iter().flat_map(|folder| files::policies(&folder).policies);
        declared.chain(of_files.map(|policy| policy.id)).collect()
    }
}

fn codes() -> impl Iterator<Item = &'static str> {
    code::ALL.iter().map(|entry| entry.code)
}

fn families() -> impl Iterator<Item = &'static str> {
    code::ALL.iter().chain(code::FAMILIES).map(|entry| family(entry.code))
}

fn unliftable(code: &str) -> CommandError {
    let remedy = code::remedy(code);
    let error = CommandError::input(format!("`{code}` cannot be lifted: it says that there was nothing to judge"));
    remedy.into_iter().fold(error, CommandError::hint)
}

fn one_by_one(family: &str) -> CommandError {
    let within = codes().filter(|code| jackline_core::exception::family(code) == family && is_liftable(code));
    let within: Vec<String> = within.map(|code| format!("`{code}`")).collect();
    let error = CommandError::input(format!("`{family}` cannot be lifted as a whole"));
    if within.is_empty() { error } else { error.hint(format!("name a code: {}", within.join(", "))) }
}

fn unknown(name: &str, policies: &[String]) -> CommandError {
    let error = CommandError::input(format!("there is no policy or code `{}` here", timeline::shown(name)));
    let mut known: Vec<&str> = policies.iter().map(String::as_str).collect();
    for name in codes().chain(families()) {
        known.push(name);
    }
    known.sort_unstable();
    known.dedup();
    let near = nearest::names(name, known, NEAREST_MAX);
    if !near.is_empty() {
        let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
        return error.hint(format!("did you mean {}?", near.join(" or ")));
    }
    let named: Vec<String> = policies.iter().map(|name| format!("`{}`", timeline::shown(name))).collect();
    let error = if named.is_empty() { error } else { error.hint(format!("policies here: {}", named.join(", "))) };
    error.hint("`jackline log` shows the code of what was refused")
}

fn lasting(text: Option<&str>) -> Result<i64, CommandError> {
    let Some(text) = text else { return Ok(EXCEPTION_MS_MAX) };
    let shown = timeline::shown(text);
    let ms = parse_duration_ms(text).filter(|ms| *ms > 0);
    let ms = ms.ok_or_else(|| {
        CommandError::input(format!("`{shown}` is no duration")).hint("write it as in `30s`, `10m` or `1h30m`")
    })?;
    if ms > EXCEPTION_MS_MAX {
        let most = duration(EXCEPTION_MS_MAX);
        return Err(CommandError::input(format!("`{shown}` is longer than the {most} an exception may last"))
            .hint("what is needed for longer belongs into the definition"));
    }
    Ok(ms)
}

/// A reason as the log keeps it.
pub(crate) fn reason(text: &str) -> Result<String, CommandError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(CommandError::input("the reason is empty").hint("say why: the log keeps it"));
    }
    if text.len() > REASON_BYTES_MAX {
        let why = format!("the reason has {} bytes, more than {REASON_BYTES_MAX}", text.len());
        return Err(CommandError::input(why).hint("a sentence will do"));
    }
    Ok(text.to_owned())
}

/// Who the person is, as the machine knows them.
pub(crate) fn by() -> String {
    let user = place::user().unwrap_or_else(|| "a person".to_owned());
    jackline_core::audit::head(&user, TEXT_BYTES_MAX).to_owned()
}

fn question(what: &What, once: bool, lasting_ms: i64) -> String {
    let (what, lasting) = (words(what), duration(lasting_ms));
    if once { format!("Let {what} pass once, within {lasting}?") } else { format!("Let {what} pass for {lasting}?") }
}

/// What an exception covers, in words.
pub(crate) fn words(what: &What) -> String {
    match what {
        What::Policy(name) => format!("policy `{}`", timeline::shown(name)),
        What::Code(code) => format!("code `{}`", timeline::shown(code)),
        What::Family(family) => format!("every code `{}/…`", timeline::shown(family)),
        What::All => "everything but self-protection".to_owned(),
    }
}

/// An exception on a line.
pub(crate) fn shown(exception: &Exception, now: Timestamp) -> String {
    let once = if exception.once { ", once" } else { "" };
    let left = duration(exception.until.since(now));
    let (reason, by) = (timeline::shown(&exception.reason), timeline::shown(&exception.by));
    format!("{}: {}{once}, {left} left; {reason} ({by})", exception.id, words(&exception.what))
}

/// A duration as people write it, in whole seconds, begun ones counted.
pub(crate) fn duration(ms: i64) -> String {
    let seconds = ms.saturating_add(999) / 1_000;
    let parts = [(seconds / 3_600, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")];
    let shown: String = parts.iter().filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n}{unit}")).collect();
    if shown.is_empty() { "0s".to_owned() } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_shown_as_they_are_written() {
        for text in ["30s", "10m", "1h30m", "24h", "1h1m1s"] {
            assert_eq!(duration(parse_duration_ms(text).unwrap_or_default()), text);
        }
        assert_eq!((duration(1), duration(0)), ("1s".to_owned(), "0s".to_owned()));
    }
}
