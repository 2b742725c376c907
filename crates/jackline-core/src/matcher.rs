//! The language of conditions: does a call match what the owner wrote?
//!
//! Two ways of looking: a restriction counts what *may* match (an argument of the wrong type, a word that is not
//! known), a proof counts only what surely does. `not` turns the one into the other.

use serde_json::Value;

use crate::call::View;
use crate::definition::model::{ArgMatcher, CommandMatcher, CommandParts, Matcher, Range, SessionMatcher};
use crate::event::{Event, MAIN_AGENT};
use crate::glob;
use crate::probe::{Fact, Facts, Probe};
use crate::session::Session;
use crate::shell::{self, Command, Word};
use crate::stack::Layer;

/// Steps that name steps are followed this deep; a definition that goes deeper names nothing more.
pub(crate) const STEP_DEPTH_MAX: u32 = 8;

/// How a match is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Something is forbidden or asked for: what may match, matches.
    Restrict,
    /// Something counts as done: only a command whose success the exit status proves.
    Prove,
    /// Inside a `not`: what surely matches.
    Sure,
}

impl Purpose {
    const fn inside_not(self) -> Self {
        match self {
            Self::Restrict => Self::Sure,
            Self::Prove | Self::Sure => Self::Restrict,
        }
    }

    fn lenient(self) -> bool {
        self == Self::Restrict
    }
}

/// What a matcher is held against.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    pub layer: &'a Layer,
    pub session: &'a Session,
    pub event: &'a Event,
    pub view: &'a View<'a>,
    pub facts: &'a Facts,
}

impl Subject<'_> {
    /// Whether the call matches, all given keys together.
    #[must_use]
    pub fn matches(&self, matcher: &Matcher, purpose: Purpose) -> bool {
        self.matches_at(matcher, purpose, STEP_DEPTH_MAX)
    }

    /// Whether the call is one of `name`: a tool or glob, a step, or `@kind`.
    #[must_use]
    pub fn is_named(&self, name: &str, purpose: Purpose) -> bool {
        self.is_named_at(name, purpose, STEP_DEPTH_MAX)
    }

    /// The facts a matcher wants: where the call's paths lead, when it speaks of paths and all else holds so far.
    #[must_use]
    pub fn needs(&self, matcher: &Matcher) -> Vec<Probe> {
        if !speaks_of_paths(self.layer, matcher, STEP_DEPTH_MAX) {
            return Vec::new();
        }
        let touches = self.view.touches.iter().filter(|touch| !touch.dynamic && touch.is_plain());
        touches.map(crate::call::Touch::probe).filter(|probe| self.facts.get(probe).is_none()).collect()
    }

    /// The facts that all steps together want, to tell which of them this call is.
    #[must_use]
    pub fn steps_need(&self) -> Vec<Probe> {
        self.layer.model.steps.iter().flat_map(|step| self.needs(&step.matcher)).collect()
    }

    fn matches_at(&self, matcher: &Matcher, purpose: Purpose, depth: u32) -> bool {
        let inner = |part: &Matcher| self.matches_at(part, purpose, depth);
        let argument =
            |(name, wanted): &&(String, ArgMatcher)| argument_holds(&self.view.call.args, name, wanted, purpose);
        // From cheap to dear: a regex is compiled only when everything else has matched.
        let (regexes, plain): (Vec<_>, Vec<_>) =
            matcher.args.iter().partition(|(_, wanted)| matches!(wanted, ArgMatcher::Regex(_)));
        (matcher.tool.is_empty() || matcher.tool.iter().any(|name| self.is_named_at(name, purpose, depth)))
            && matcher.agent.as_ref().is_none_or(|agent| self.is_agent(agent))
            && matcher.host.as_ref().is_none_or(|host| self.event.host.as_deref() == Some(host))
            && matcher.session.as_ref().is_none_or(|session| self.session_holds(session))
            && plain.iter().all(argument)
            && matcher.command.as_ref().is_none_or(|command| self.command_holds(command, purpose))
            && (matcher.path.is_empty() || self.path_holds(&matcher.path, purpose))
            && matcher.all.iter().all(inner)
            && (matcher.any.is_empty() || matcher.any.iter().any(inner))
            && matcher.not.as_ref().is_none_or(|not| !self.matches_at(not, purpose.inside_not(), depth))
            && regexes.iter().all(argument)
    }

    fn is_named_at(&self, name: &str, purpose: Purpose, depth: u32) -> bool {
        if let Some(kind) = name.strip_prefix('@') {
            return self.view.kind.name() == kind;
        }
        match self.layer.step(name) {
            Some(step) => depth > 0 && self.matches_at(&step.matcher, purpose, depth - 1),
            None => glob::text_matches(name, &self.view.call.tool),
        }
    }

    fn is_agent(&self, wanted: &str) -> bool {
        match wanted {
            "sub" => self.event.agent() != MAIN_AGENT,
            wanted => self.event.agent() == wanted,
        }
    }

    fn session_holds(&self, wanted: &SessionMatcher) -> bool {
        let minutes =
            self.session.began.map_or(0, |began| self.session.now(self.event.at).since(began)) as f64 / 60_000.0;
        in_range(wanted.calls, self.session.steps as f64)
            && in_range(wanted.minutes, minutes)
            && in_range(wanted.written, self.session.writes as f64)
            && wanted.done.iter().all(|name| crate::done::find(self.session, self.layer, name).is_some())
            && wanted.not_done.iter().all(|name| crate::done::find(self.session, self.layer, name).is_none())
    }

    fn command_holds(&self, wanted: &CommandMatcher, purpose: Purpose) -> bool {
        let Some(reading) = self.view.reading() else { return false };
        reading.commands.iter().filter(|command| purpose != Purpose::Prove || command.proven).any(
            |command| match wanted {
                CommandMatcher::Glob(globs) => globs.iter().any(|glob| match purpose.lenient() {
                    true => shell::glob_may_match(command, glob),
                    false => shell::glob_matches(command, glob),
                }),
                CommandMatcher::Parts(parts) => parts_hold(command, parts, purpose.lenient()),
            },
        )
    }

    fn path_holds(&self, wanted: &[String], purpose: Purpose) -> bool {
        self.view.touches.iter().filter(|touch| touch.is_plain()).any(|touch| {
            let fact = if touch.dynamic { None } else { self.facts.get(&touch.probe()) };
            match fact {
                Some(Fact::Identity(identity)) => wanted.iter().any(|glob| match (&identity.inside, glob.as_str()) {
                    (inside, "outside") => inside.is_none(),
                    (Some(inside), glob) => glob::matches(glob, inside),
                    (None, glob) => glob.starts_with('/') && glob::matches(glob, &identity.path),
                }),
                Some(
                    Fact::Content(_)
                    | Fact::Schema(_)
                    | Fact::Usage(_)
                    | Fact::Excepted(_)
                    | Fact::Absent
                    | Fact::Unknown(_),
                )
                | None => purpose.lenient(),
            }
        })
    }
}

fn speaks_of_paths(layer: &Layer, matcher: &Matcher, depth: u32) -> bool {
    let parts = matcher.all.iter().chain(&matcher.any).chain(matcher.not.as_deref());
    let mut steps = matcher.tool.iter().filter_map(|name| layer.step(name));
    !matcher.path.is_empty()
        || parts.into_iter().any(|part| speaks_of_paths(layer, part, depth))
        || depth > 0 && steps.any(|step| speaks_of_paths(layer, &step.matcher, depth - 1))
}

fn in_range(range: Option<Range>, value: f64) -> bool {
    range.is_none_or(|range| range.gt.is_none_or(|gt| value > gt) && range.lt.is_none_or(|lt| value < lt))
}

fn parts_hold(command: &Command, wanted: &CommandParts, lenient: bool) -> bool {
    let Some(program) = command.program() else { return false };
    let told: Vec<&Word> = shell::told(command).into_iter().skip(1).collect();
    wanted.program.as_ref().is_none_or(|wanted| glob::text_matches(wanted, program))
        && in_order(&told, &wanted.args, lenient)
        && (wanted.flags.is_empty()
            || wanted.flags.iter().any(|flag| told.iter().any(|word| is_flag(word, flag, lenient))))
        && (wanted.env.is_empty()
            || wanted.env.iter().any(|name| command.env.iter().any(|(set, _)| glob::text_matches(name, set))))
        && (wanted.redirects_to.is_empty()
            || wanted.redirects_to.iter().any(|glob| redirects_to(command, glob, lenient)))
}

/// Whether the wanted words occur in this order, gaps allowed.
fn in_order(words: &[&Word], wanted: &[String], lenient: bool) -> bool {
    let mut words = words.iter();
    wanted.iter().all(|want| words.any(|word| word_is(word, want, lenient)))
}

fn word_is(word: &Word, wanted: &str, lenient: bool) -> bool {
    if word.dynamic || word.glob { lenient } else { glob::text_matches(wanted, &word.text) }
}

/// `--force` also as `--force=x`; `-f` also inside `-uf`; and where something is forbidden, `--no-verify` also as
/// `--no-veri`, since programs take the beginning of an option for the whole.
fn is_flag(word: &Word, flag: &str, lenient: bool) -> bool {
    let text = word.text.as_str();
    if word.dynamic {
        // What begins with a letter is no option, whatever comes after.
        return lenient && !text.starts_with(|c: char| c.is_alphanumeric() || c == '/' || c == '.');
    }
    if lenient && is_abbreviated(text, flag) {
        return true;
    }
    if text == flag || text.strip_prefix(flag).is_some_and(|rest| flag.starts_with("--") && rest.starts_with('=')) {
        return true;
    }
    match (flag.strip_prefix('-'), text.strip_prefix('-')) {
        (Some(letter), Some(letters)) if letter.chars().count() == 1 && letter != "-" => {
            !letters.starts_with('-') && letters.contains(letter)
        }
        _ => false,
    }
}

/// Whether `text` is a long option cut short within a word: `--no` is an option of its own, `--no-veri` is not.
fn is_abbreviated(text: &str, flag: &str) -> bool {
    let option = text.split('=').next().unwrap_or_default();
    let rest = flag.strip_prefix(option).filter(|_| option.starts_with("--") && option.len() > 4);
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('-') && !option.ends_with('-'))
}

fn redirects_to(command: &Command, wanted: &str, lenient: bool) -> bool {
    command.redirects.iter().filter(|redirect| redirect.writes).any(|redirect| {
        if redirect.to.dynamic { lenient } else { glob::matches(wanted, &crate::path::fold(&redirect.to.text)) }
    })
}

fn argument_holds(args: &Value, name: &str, wanted: &ArgMatcher, purpose: Purpose) -> bool {
    let value = name.split('.').try_fold(args, |value, part| value.get(part));
    let wrong_type = purpose.lenient();
    match (wanted, value) {
        (ArgMatcher::Absent, value) => value.is_none(),
        (_, None) => false,
        (ArgMatcher::Literal(json), Some(value)) => same_json(json, value),
        (ArgMatcher::In(options), Some(value)) => options.iter().any(|json| same_json(json, value)),
        (ArgMatcher::Glob(pattern), Some(Value::String(text))) => glob::text_matches(pattern, text),
        (ArgMatcher::Regex(pattern), Some(Value::String(text))) => regex_holds(pattern, text, wrong_type),
        (ArgMatcher::Compare { gt, lt }, Some(value)) => match value.as_f64() {
            Some(number) => in_range(Some(Range { gt: *gt, lt: *lt }), number),
            None => wrong_type,
        },
        (ArgMatcher::Glob(_) | ArgMatcher::Regex(_), Some(_)) => wrong_type,
    }
}

/// Compiled only here, when everything cheaper has matched: a cold regex costs more than a whole decision.
fn regex_holds(pattern: &str, text: &str, broken: bool) -> bool {
    crate::definition::compile_regex(pattern).map_or(broken, |regex| regex.is_match(text))
}

fn same_json(json: &str, value: &Value) -> bool {
    serde_json::from_str::<Value>(json)
        .is_ok_and(|wanted| crate::json::canonical(&wanted) == crate::json::canonical(value))
}
