//! The language of conditions: does a call match what the owner wrote?
//!
//! Two ways of looking: a restriction counts what *may* match (an argument of the wrong type, a word that is not
//! known), a proof counts only what surely does. `not` turns the one into the other.

mod statements;

use serde_json::Value;

use crate::call::{Touch, View};
use crate::definition::Kind;
use crate::definition::model::{
    ArgMatcher, CommandMatcher, CommandParts, Computed, Matcher, Range, SessionMatcher, Step,
};
use crate::event::{Event, MAIN_AGENT};
use crate::glob;
use crate::json::alike;
use crate::overlap;
use crate::path::Role;
use crate::probe::{Fact, Facts, Identity, Probe};
use crate::session::Session;
use crate::shell::{self, Command, How, Options, Word};
use crate::stack::Layer;
use crate::tools;

/// Steps that name steps are followed this deep; a definition that goes deeper names nothing more.
pub(crate) const STEP_DEPTH_MAX: u32 = 8;

/// Bytes of a name's beginning by which a search asks for it: fewer fit too many names.
const ASKED_BYTES_MIN: usize = 2;

/// How a match is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Something is forbidden or asked for: what may match, matches.
    Restrict,
    /// The same, but a word or path that is only known when the text runs does not match.
    Known,
    /// Something counts as done: only a command whose success the exit status proves.
    Prove,
    /// Inside a `not`: what surely matches.
    Sure,
}

impl Purpose {
    const fn inside_not(self) -> Self {
        match self {
            Self::Restrict | Self::Known => Self::Sure,
            Self::Prove | Self::Sure => Self::Restrict,
        }
    }

    /// Whether other spellings count, and arguments of the wrong type.
    const fn lenient(self) -> bool {
        matches!(self, Self::Restrict | Self::Known)
    }

    /// Whether what is not known counts as what is looked for.
    fn guesses(self) -> bool {
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

    /// How a policy of this layer looks at a call.
    #[must_use]
    pub fn restricting(&self) -> Purpose {
        match self.layer.model.shell.computed {
            Computed::Match => Purpose::Restrict,
            Computed::Pass => Purpose::Known,
        }
    }

    /// Whether the call is one of `name`: a tool or glob, a step, or `@kind`.
    #[must_use]
    pub fn is_named(&self, name: &str, purpose: Purpose) -> bool {
        self.is_named_at(name, purpose, STEP_DEPTH_MAX)
    }

    /// The facts a matcher wants: where the call's paths lead, when it speaks of paths and all else holds so far.
    #[must_use]
    pub fn needs(&self, matcher: &Matcher) -> Vec<Probe> {
        let steps = self.layer.model.steps.as_slice();
        if self.view.touches.is_empty() || !speaks_of_paths(steps, matcher, STEP_DEPTH_MAX) {
            return Vec::new();
        }
        if may_be_of(matcher, self.view.kind) { self.paths_need() } else { Vec::new() }
    }

    /// The facts that a compiled pack's rules want, which is the same of each.
    #[must_use]
    pub(crate) fn rules_need(&self) -> Vec<Probe> {
        let wanted = !self.view.touches.is_empty() && self.layer.looks_up_paths(self.view.kind);
        if wanted { self.paths_need() } else { Vec::new() }
    }

    /// Where the call's paths lead, as far as it is not known.
    pub(crate) fn paths_need(&self) -> Vec<Probe> {
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
            && (!matcher.opaque || self.view.reading().is_some_and(|reading| reading.opaque.is_some()))
            && matcher.command.as_ref().is_none_or(|command| self.command_holds(command, purpose))
            && (matcher.path.is_empty() || self.path_holds(matcher, purpose))
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
            None if purpose.lenient() => {
                let some = self.view.of_some_server.is_some_and(|own| tools::means_of_some_server(name, own));
                some || self.view.possible_names().any(|tool| glob::text_matches(name, tool))
            }
            None => self.view.names().any(|tool| glob::text_matches(name, tool)),
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
                CommandMatcher::Glob(globs) => globs.iter().any(|glob| match purpose.guesses() {
                    true => shell::glob_may_match(command, glob),
                    false => shell::glob_matches(command, glob),
                }),
                CommandMatcher::Parts(parts) => parts_hold(command, parts, purpose),
            },
        )
    }

    fn path_holds(&self, matcher: &Matcher, purpose: Purpose) -> bool {
        // Whoever wants to know of the content has nothing of it from a size or a digest, or from a program that works by it.
        let told = |touch: &Touch| purpose != Purpose::Known || !matches!(touch.how, How::Measured | How::Loaded);
        let looked_at = |touch: &&Touch| {
            let meant = matcher.access.is_empty() || matcher.access.contains(&touch.role);
            touch.is_plain() && meant && told(touch)
        };
        self.view.touches.iter().filter(looked_at).any(|touch| {
            let fact = if touch.dynamic { None } else { self.facts.get(&touch.probe()) };
            match fact.and_then(Fact::identity) {
                Some(identity) => matcher.path.iter().any(|pattern| path_is(pattern, touch, identity, purpose)),
                None => purpose.guesses(),
            }
        })
    }
}

/// Whether a path that is touched is one of a pattern; for a pattern of the shell's, whether it may lead to one.
fn path_is(pattern: &str, touch: &Touch, identity: &Identity, purpose: Purpose) -> bool {
    if pattern == "outside" {
        return identity.inside.is_none();
    }
    let absolute = pattern.starts_with('/');
    let (_, rest) = touch.split();
    // Whoever deletes all that lies below a directory deletes its tree.
    let whole = touch.role == Role::Delete && rest == "**";
    let is_itself = || {
        let inside = identity.place().is_some_and(|place| glob::matches(pattern, place));
        inside || absolute && glob::matches(pattern, &identity.path)
    };
    if rest.is_empty() || !purpose.lenient() {
        return is_itself();
    }
    if whole && is_itself() {
        return true;
    }
    let last = rest.rsplit('/').next().unwrap_or_default();
    // What lies anywhere below may be anything: only a pattern that names its directory is known to meet it, or one of
    // hidden files where they are asked for; and of what is searched for, only what is asked for by its whole name, or by
    // how its name begins.
    let says_a_name = |pattern: &str| pattern.rsplit('/').next().is_some_and(|end| end.contains(char::is_alphanumeric));
    let meets = |pattern: &str| match rest.contains("**") {
        true if glob::is_pattern(last) => {
            let parent = pattern.rsplit('/').nth(1);
            // In a workspace nobody keeps what is placed elsewhere.
            let placed = parent.is_some_and(|parent| !is_wild(parent)) && identity.place().is_some();
            parent == identity.path.rsplit('/').next() || !placed && begins_alike(pattern, last)
        }
        true => says_a_name(pattern),
        false => pattern.contains('/') || pattern.starts_with('.') && is_hidden(last),
    };
    let below = |dir: &str| if dir.is_empty() { rest.to_owned() } else { format!("{dir}/{rest}") };
    let may_meet = |pattern: &&String| purpose != Purpose::Known || meets(pattern);
    glob::alternatives(pattern).iter().filter(may_meet).any(|pattern| match identity.place() {
        Some(inside) if !absolute => overlap::overlaps(pattern, &below(inside)),
        _ => absolute && overlap::overlaps_from_root(pattern, &below(&identity.path)),
    })
}

/// Whether a pattern's last segment begins with what a search asks for, as far as that is told.
fn begins_alike(pattern: &str, asked: &str) -> bool {
    let told = |text: &str| text.find(['*', '?', '[', '{', '\\']).unwrap_or(text.len());
    let opening = asked.get(..told(asked)).unwrap_or_default();
    let last = pattern.rsplit('/').next().unwrap_or_default();
    opening.len() >= ASKED_BYTES_MIN && last.get(..told(last)).is_some_and(|last| last.starts_with(opening))
}

fn is_wild(text: &str) -> bool {
    text.contains(['*', '?'])
}

fn is_hidden(name: &str) -> bool {
    name.starts_with('.')
}

/// Whether the kinds that a matcher names leave a call of this kind to it.
fn may_be_of(matcher: &Matcher, kind: Kind) -> bool {
    let other = |name: &String| name.strip_prefix('@').is_some_and(|named| named != kind.name());
    matcher.tool.is_empty() || !matcher.tool.iter().all(other)
}

/// The kinds of call whose paths [`Subject::needs`] asks about.
pub(crate) fn kinds_looked_up(matcher: &Matcher, steps: &[Step]) -> Vec<Kind> {
    let speaks = speaks_of_paths(steps, matcher, STEP_DEPTH_MAX);
    Kind::ALL.iter().copied().filter(|kind| speaks && may_be_of(matcher, *kind)).collect()
}

fn speaks_of_paths(steps: &[Step], matcher: &Matcher, depth: u32) -> bool {
    let parts = matcher.all.iter().chain(&matcher.any).chain(matcher.not.as_deref());
    let mut named = matcher.tool.iter().filter_map(|name| steps.iter().find(|step| step.name == *name));
    !matcher.path.is_empty()
        || parts.into_iter().any(|part| speaks_of_paths(steps, part, depth))
        || depth > 0 && named.any(|step| speaks_of_paths(steps, &step.matcher, depth - 1))
}

fn in_range(range: Option<Range>, value: f64) -> bool {
    range.is_none_or(|range| range.gt.is_none_or(|gt| value > gt) && range.lt.is_none_or(|lt| value < lt))
}

fn parts_hold(command: &Command, wanted: &CommandParts, purpose: Purpose) -> bool {
    let Some(program) = command.program() else { return false };
    // The program first: it tells most commands apart, and costs least.
    if !wanted.program.is_empty() && !wanted.program.iter().any(|wanted| glob::text_matches(wanted, program)) {
        return false;
    }
    let told: Vec<&Word> = shell::told(command).into_iter().skip(1).collect();
    let options = shell::options(command);
    let held = Held { command, told, options, purpose };
    held.words_hold(wanted)
        && (wanted.statement.is_empty() || wanted.statement.iter().any(|words| held.is_statement(words)))
        && !wanted.without.iter().any(|without| is_told(&held.told, without, &held.options))
        && (wanted.env.is_empty() || wanted.env.iter().any(|wanted| is_set(command, wanted, purpose)))
        && (wanted.redirects_to.is_empty()
            || wanted.redirects_to.iter().any(|glob| redirects_to(command, glob, purpose)))
}

/// A command that parts are held against.
struct Held<'c> {
    command: &'c Command,
    told: Vec<&'c Word>,
    options: Options<'c>,
    purpose: Purpose,
}

impl Held<'_> {
    /// Whether the subcommand, the arguments and an option are there, each by a word of its own: one that is not known may
    /// be any of them, but not two at once.
    fn words_hold(&self, wanted: &CommandParts) -> bool {
        let said = self.says(wanted, None);
        if !said || wanted.flags.is_empty() {
            return said;
        }
        let is_option =
            |word: &&&Word| wanted.flags.iter().any(|flag| is_flag(word, flag, &self.options, self.purpose));
        let guessed = |word: &Word| word.dynamic && !word.several && self.purpose.guesses();
        self.options.words.iter().filter(is_option).any(|word| !guessed(word) || self.says(wanted, Some(word)))
    }

    /// Whether the subcommand and the arguments are there, one of the words being an option.
    fn says(&self, wanted: &CommandParts, option: Option<&Word>) -> bool {
        (wanted.subcommand.is_empty() || wanted.subcommand.iter().any(|wanted| self.is_subcommand(wanted, option)))
            && self.in_order(&wanted.args, option)
    }

    /// Whether the words after the program and its options are these.
    fn is_subcommand(&self, wanted: &str, option: Option<&Word>) -> bool {
        let words = shell::without_global_options(self.command);
        let wanted: Vec<&str> = wanted.split_whitespace().collect();
        follow(words.get(1..).unwrap_or_default(), &wanted, option, self.purpose)
    }

    /// Whether the wanted words occur in this order, gaps allowed.
    fn in_order(&self, wanted: &[String], option: Option<&Word>) -> bool {
        let mut words = self.told.as_slice();
        wanted.iter().all(|want| {
            let is_free = |word: &Word| !is_same(word, option) || begins_as_option(want);
            let found = words.iter().position(|word| is_free(word) && self.is_argument(word, want));
            found.is_some_and(|at| {
                let stays = words.get(at).is_some_and(|word| is_several(word, self.purpose));
                words = words.get(at + usize::from(!stays)..).unwrap_or_default();
                true
            })
        })
    }

    /// Whether the command is told a statement that begins with these words.
    fn is_statement(&self, words: &str) -> bool {
        let sure = !self.purpose.lenient();
        let says =
            |word: &Word| statements::held_by(&word.text).iter().any(|it| statements::begin_with(it, words, sure));
        let compared = |word: &Word| word.known() || self.purpose == Purpose::Known;
        let guessed = |word: &Word| !word.known() && self.purpose.guesses();
        self.told.iter().any(|word| guessed(word) || compared(word) && says(word))
    }

    /// Whether a word is a wanted one; an option among these may be cut short as well.
    fn is_argument(&self, word: &Word, wanted: &str) -> bool {
        let is_cut = |option: &String| {
            let (name, value) = option.split_once('=').map_or((option.as_str(), None), |(name, it)| (name, Some(it)));
            let given = word.text.split_once('=').map(|(_, given)| given);
            let fits = match (value, given) {
                (Some(value), Some(given)) => glob::text_matches(value, given),
                (value, given) => value.is_none() && given.is_none(),
            };
            fits && self.options.is_cut(&word.text, name)
        };
        let may_be_cut = || self.purpose.lenient() && word.text.starts_with("--") && wanted.contains("--");
        word_is(word, wanted, self.purpose) || may_be_cut() && glob::alternatives(wanted).iter().any(is_cut)
    }
}

fn is_same(word: &Word, other: Option<&Word>) -> bool {
    other.is_some_and(|other| std::ptr::eq(word, other))
}

/// Whether a pattern may stand for an option.
fn begins_as_option(pattern: &str) -> bool {
    pattern.starts_with(['-', '*', '?', '[', '{'])
}

/// Whether a word may be several of the wanted ones.
fn is_several(word: &Word, purpose: Purpose) -> bool {
    word.dynamic && word.several && purpose.guesses()
}

/// Whether the wanted words come first, options left out. Which options take a value is not known of every program,
/// so where something is forbidden, the word after an option may be its value; and a word that may be several, none.
fn follow(words: &[&Word], wanted: &[&str], option: Option<&Word>, purpose: Purpose) -> bool {
    let Some((first, rest)) = wanted.split_first() else { return true };
    let mut after_option = false;
    for (index, word) in words.iter().enumerate() {
        let is_option = word.text.starts_with('-') && word.text.len() > 1 && !word.dynamic;
        if is_option || is_same(word, option) {
            after_option = !word.text.contains('=');
            continue;
        }
        let after = words.get(index + 1..).unwrap_or_default();
        if word_is(word, first, purpose) && (is_several(word, purpose) || follow(after, rest, option, purpose)) {
            return true;
        }
        let may_be_none = word.dynamic && word.several;
        if !(may_be_none || after_option) || !purpose.lenient() {
            return false;
        }
        after_option &= may_be_none;
    }
    false
}

fn word_is(word: &Word, wanted: &str, purpose: Purpose) -> bool {
    // A word that is not known counts as it is written at most: `+$BRANCH` has its plus, whatever the branch.
    let compared = word.known() || purpose == Purpose::Known;
    !word.known() && purpose.guesses() || compared && glob::text_matches(wanted, &word.text)
}

/// `--force` also as `--force=x`; `-f` also inside `-uf`; and where something is forbidden, `--no-verify` also as
/// `--no-veri`, since programs take the beginning of an option for the whole.
fn is_flag(word: &Word, flag: &str, options: &Options<'_>, purpose: Purpose) -> bool {
    let text = word.text.as_str();
    if word.dynamic && purpose != Purpose::Known {
        // What begins with a letter is no option, whatever comes after.
        return purpose.guesses() && !text.starts_with(|c: char| c.is_alphanumeric() || c == '/' || c == '.');
    }
    if purpose.lenient() && options.is_cut(text, flag) {
        return true;
    }
    if text == flag || text.strip_prefix(flag).is_some_and(|rest| flag.len() > 2 && rest.starts_with('=')) {
        return true;
    }
    let letter = flag.strip_prefix('-').filter(|letter| letter.chars().count() == 1 && *letter != "-");
    letter.is_some_and(|letter| options.has_letter(text, letter))
}

/// Whether a word that takes a command out of a rule is there for sure.
fn is_told(words: &[&Word], without: &str, options: &Options<'_>) -> bool {
    if without.starts_with('-') {
        return options.surely_has(without);
    }
    words.iter().any(|word| word.known() && word.text == without)
}

/// Whether a variable is set for a command, and to a value that fits where one is wanted.
fn is_set(command: &Command, wanted: &str, purpose: Purpose) -> bool {
    let (name, value) = wanted.split_once('=').map_or((wanted, None), |(name, value)| (name, Some(value)));
    let fits = |set: &Word| value.is_none_or(|wanted| word_is(set, wanted, purpose));
    command.env.iter().any(|(set, value)| glob::text_matches(name, set) && fits(value))
}

fn redirects_to(command: &Command, wanted: &str, purpose: Purpose) -> bool {
    // What stands around a command may be redirected elsewhere by the command itself.
    let counts = |redirect: &&shell::Redirect| redirect.writes && (purpose.lenient() || !redirect.around);
    command.redirects.iter().filter(counts).any(|redirect| {
        if redirect.to.dynamic {
            purpose.guesses()
        } else {
            glob::matches(wanted, &crate::path::fold(&redirect.to.text))
        }
    })
}

fn argument_holds(args: &Value, name: &str, wanted: &ArgMatcher, purpose: Purpose) -> bool {
    let value = name.split('.').try_fold(args, |value, part| value.get(part));
    // Some servers take a name in other letters for the same.
    let spelled = || purpose.lenient() && spelled_otherwise(args, name).any(|value| value_holds(value, wanted, true));
    value_holds(value, wanted, purpose.lenient()) || value.is_none() && spelled()
}

/// What stands under names that differ from this one in case only.
fn spelled_otherwise<'a>(args: &'a Value, name: &str) -> impl Iterator<Item = Option<&'a Value>> {
    let mut found = vec![args];
    for part in name.split('.') {
        found = found.into_iter().flat_map(|value| value.get(part).into_iter().chain(alike(value, part))).collect();
    }
    found.into_iter().map(Some)
}

fn value_holds(value: Option<&Value>, wanted: &ArgMatcher, wrong_type: bool) -> bool {
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
