//! Feedback: which providers have their turn with a counted call, and what they say. No verdict hangs on it.
//!
//! A call is counted once: with its outcome, or with the denial when it is refused.

use serde_json::{Value, json};

use crate::audit;
use crate::decision::{Decision, Note, Step};
use crate::definition::model::{Advice, Provider, Trigger};
use crate::feedback::command::{self, COMMAND_MS_MAX, COMMANDS_MS_MAX};
use crate::feedback::{FEEDBACK_BYTES_MAX, Feedback, FeedbackContext, Own, Recent, Turn, deadline};
use crate::guards::own_policy::guarded;
use crate::guards::{Context, budget};
use crate::overrides::Owner;
use crate::probe::{Fact, Facts, Probe, There};
use crate::ran::Author;
use crate::session::{Cadence, Change, Key, Taken};
use crate::sha::Digest;
use crate::stack::{Layer, Stack};
use crate::time::Timestamp;

/// Bytes of a tool's or a provider's name that are remembered: enough to tell them apart.
const NAME_BYTES_MAX: usize = 128;

/// Bytes of what went wrong with a provider that are kept: a few sentences.
const FAULT_BYTES_MAX: usize = 1024;
/// Facts that one provider of the embedding program may ask for: each costs a look, and the agent waits.
const PROBES_MAX: usize = 16;

/// A decision about a counted call together with its feedback; or what must be known first.
pub(super) fn tell(context: &Context<'_>, ok: Option<bool>, mut decision: Decision) -> Step {
    let advising = Advising::new(context, ok);
    let wanted = advising.needs();
    if !wanted.is_empty() {
        return Step::Need(wanted);
    }
    advising.follow(&mut decision);
    super::done(decision)
}

/// What a provider of this name is remembered by, under an identity.
pub(crate) fn keys_of(stack: &Stack, scope: Key, name: &str) -> Vec<Key> {
    let speakers = speakers(stack).into_iter();
    speakers.filter(|speaker| speaker.scope == scope && speaker.name == name).map(|speaker| speaker.key).collect()
}

/// Someone who may have something to say.
struct Speaker<'a> {
    /// The identity of the definition under which calls are counted.
    scope: Key,
    key: Key,
    name: &'a str,
    trigger: &'a Trigger,
    voice: Voice<'a>,
}

enum Voice<'a> {
    Declared(&'a Provider),
    Own(&'a Own),
}

impl Speaker<'_> {
    /// Whether it is a command.
    fn runs(&self) -> bool {
        matches!(&self.voice, Voice::Declared(provider) if provider.advice.command().is_some())
    }
}

/// Why a provider has its turn.
struct Due {
    triggers: Vec<&'static str>,
    /// The file that was seen.
    file: Option<Key>,
}

/// What came of a turn.
enum Said {
    /// It did not want it.
    Declined,
    Nothing,
    Given(Feedback),
    Failed(String),
}

/// A turn as it is taken.
struct Turning<'a> {
    speaker: &'a Speaker<'a>,
    due: Due,
    said: Said,
    /// What the agent would be shown.
    block: String,
}

/// A counted call, and those who may speak with it.
pub(super) struct Advising<'a> {
    context: &'a Context<'a>,
    recent: Recent,
    speakers: Vec<Speaker<'a>>,
}

impl<'a> Advising<'a> {
    /// About a call that succeeded, failed, or (`None`) was refused.
    pub(super) fn new(context: &'a Context<'a>, ok: Option<bool>) -> Self {
        let tool = audit::head(&context.view.call.tool, NAME_BYTES_MAX).to_owned();
        let recent = Recent { tool, ok, at: context.session.now(context.event.at) };
        Self { context, recent, speakers: speakers(context.stack) }
    }

    /// The facts that are still wanted: files first, for they decide who has a turn.
    pub(super) fn needs(&self) -> Vec<Probe> {
        let unknown = |probe: &Probe| self.context.facts.get(probe).is_none();
        let files: Vec<Probe> = self.speakers.iter().filter_map(|speaker| self.file_probe(speaker)).collect();
        let mut wanted: Vec<Probe> = files.into_iter().filter(unknown).collect();
        if wanted.is_empty() {
            let due = self.speakers.iter().filter(|speaker| self.due(speaker).is_some());
            wanted.extend(due.flat_map(|speaker| self.speaker_needs(speaker)).filter(unknown));
        }
        wanted.sort_unstable();
        wanted.dedup();
        wanted
    }

    fn speaker_needs(&self, speaker: &Speaker<'_>) -> Vec<Probe> {
        match &speaker.voice {
            Voice::Declared(provider) => {
                let argv = provider.advice.command().filter(|argv| self.ran(argv).is_none());
                argv.map(|argv| self.run(argv)).into_iter().collect()
            }
            // One that cannot say what it needs is asked at once, and fails there.
            Voice::Own(own) => {
                // Without facts, so that it wants the same each time: asking without end would become a denial.
                let nothing = Facts::default();
                let unseen = FeedbackContext { facts: &nothing, ..self.seen(speaker) };
                let wanted = guarded(|| Ok(own.provider.needs(&unseen))).unwrap_or_default();
                // A provider looks; what is done at most once per event is not its to ask for.
                wanted.into_iter().filter(Probe::observes).take(PROBES_MAX).collect()
            }
        }
    }

    /// Counts the call, and adds what those say who have their turn.
    pub(super) fn follow(&self, decision: &mut Decision) {
        let mut scopes: Vec<Key> = self.speakers.iter().map(|speaker| speaker.scope).collect();
        scopes.sort_unstable();
        scopes.dedup();
        if scopes.is_empty() {
            return;
        }
        let asks = !self.context.stack.feedback.is_empty();
        decision.changes.push(Change::Counted { scopes, recent: asks.then(|| self.recent.clone()) });
        let due = self.speakers.iter().filter_map(|speaker| Some((speaker, self.due(speaker)?)));
        let turns: Vec<Turning<'_>> = due.map(|(speaker, due)| self.turning(speaker, due)).collect();
        let held = self.held(&turns, decision.feedback.as_ref().map_or(0, String::len));
        for (at, turning) in turns.into_iter().enumerate() {
            self.turn(turning, held.contains(&at), decision);
        }
    }

    fn turning<'b>(&self, speaker: &'b Speaker<'b>, due: Due) -> Turning<'b> {
        let said = self.say(speaker);
        let block = if let Said::Given(feedback) = &said { feedback.render(speaker.name) } else { String::new() };
        Turning { speaker, due, said, block }
    }

    /// Those for whom there is no more room: who waited longest goes first, and has its turn whatever its length.
    fn held(&self, turns: &[Turning<'_>], mut said: usize) -> Vec<usize> {
        let waits = |at: &usize| turns.get(*at).and_then(|turning| self.cadence(turning.speaker)).map(|it| it.turn.at);
        let mut order: Vec<usize> = (0..turns.len()).collect();
        // Stable: of those who waited as long, the one who is declared first.
        order.sort_by_key(waits);
        let mut held = Vec::new();
        for at in order {
            let bytes = turns.get(at).map_or(0, |turning| turning.block.len());
            if said > 0 && bytes > 0 && said + bytes > FEEDBACK_BYTES_MAX {
                held.push(at);
            } else {
                said += bytes;
            }
        }
        held
    }

    fn turn(&self, turning: Turning<'_>, held: bool, decision: &mut Decision) {
        let Turning { speaker, due, said, block } = turning;
        let call = self.call(speaker);
        let note = |kind, more: (&str, Value)| {
            let name = audit::head(speaker.name, NAME_BYTES_MAX);
            let mut data = json!({ "provider": name, "call_index": call, "trigger": due.triggers });
            if let Value::Object(data) = &mut data {
                data.insert(more.0.to_owned(), more.1);
            }
            Note { kind, before: Value::Null, after: Value::Null, data }
        };
        let given = match said {
            Said::Declined => return,
            Said::Nothing => false,
            Said::Failed(why) => {
                let why = audit::head(&why, FAULT_BYTES_MAX);
                decision.notes.push(note("feedback.failed", ("fault", json!(why))));
                false
            }
            Said::Given(_) if held => {
                // It has its turn with the next call, ahead of those who had theirs now.
                decision.notes.push(note("feedback.held", ("bytes", json!(block.len()))));
                return;
            }
            Said::Given(feedback) => {
                decision.advise(&block);
                decision.notes.push(note("feedback.given", ("severity", json!(feedback.severity))));
                true
            }
        };
        let turn = Turn { call, at: self.now() };
        let taken = Taken { scope: speaker.scope, provider: speaker.key, turn, given, file: due.file };
        decision.changes.push(Change::Advised { taken });
    }

    fn say(&self, speaker: &Speaker<'_>) -> Said {
        match &speaker.voice {
            Voice::Declared(provider) => self.declared(provider),
            Voice::Own(own) => self.own(speaker, own),
        }
    }

    fn declared(&self, provider: &Provider) -> Said {
        let given = match &provider.advice {
            Advice::Deadline { warning_threshold_ms } => {
                let clock = budget::clock(self.context.stack, self.context.session, self.now());
                let Some(clock) = clock else { return Said::Declined };
                return Said::Given(deadline::advice(clock, *warning_threshold_ms));
            }
            Advice::Fixed(text) => Feedback::new(text),
            Advice::Command(argv) => return self.commanded(provider, argv),
        };
        let (severity, suggestions) = (provider.severity, provider.suggestions.clone());
        Said::Given(Feedback { severity, suggestions, ..given })
    }

    fn commanded(&self, provider: &Provider, argv: &[String]) -> Said {
        let said = match self.ran(argv) {
            Some(Fact::Ran(ran)) => command::advice(ran, provider),
            Some(Fact::Unknown(why)) => Err(why.clone()),
            Some(_) | None => Err("it was not run".to_owned()),
        };
        match said {
            Ok(Some(feedback)) => Said::Given(feedback),
            Ok(None) => Said::Nothing,
            Err(why) => Said::Failed(why),
        }
    }

    fn own(&self, speaker: &Speaker<'_>, own: &Own) -> Said {
        let seen = self.seen(speaker);
        match guarded(|| Ok(own.provider.should_run(&seen))) {
            Ok(true) => {}
            Ok(false) => return Said::Declined,
            Err(why) => return Said::Failed(why),
        }
        match guarded(|| own.provider.provide(&seen)) {
            Ok(Some(feedback)) if !feedback.is_empty() => Said::Given(feedback),
            Ok(_) => Said::Nothing,
            Err(why) => Said::Failed(why),
        }
    }

    fn seen<'b>(&'b self, speaker: &Speaker<'_>) -> FeedbackContext<'b> {
        FeedbackContext {
            event: self.context.event,
            session: self.context.session,
            facts: self.context.facts,
            stack: self.context.stack,
            scope: speaker.scope,
            recent: &self.recent,
        }
    }
}

impl Advising<'_> {
    fn now(&self) -> Timestamp {
        self.recent.at
    }

    /// The number of this call, as the provider's definition counts.
    fn call(&self, speaker: &Speaker<'_>) -> u64 {
        self.context.session.memory.pace(speaker.scope).map_or(0, |pace| pace.calls).saturating_add(1)
    }

    fn cadence(&self, speaker: &Speaker<'_>) -> Option<&Cadence> {
        self.context.session.memory.pace(speaker.scope)?.cadence(&speaker.key)
    }

    /// Whether a provider has its turn with this call: any of its triggers is met.
    fn due(&self, speaker: &Speaker<'_>) -> Option<Due> {
        let last = self.cadence(speaker).map(|cadence| cadence.turn);
        let calls = self.call(speaker).saturating_sub(last.map_or(0, |turn| turn.call));
        let by_calls = speaker.trigger.every_n_calls.is_some_and(|n| calls >= n);
        let in_time = |ms| last.is_none_or(|turn| self.now().since(turn.at) >= ms);
        let by_time = speaker.trigger.every_n_ms.is_some_and(in_time);
        let file = self.file_seen(speaker);
        let met = [("every_n_calls", by_calls), ("every_n_seconds", by_time), ("on_file_created", file.is_some())];
        let triggers: Vec<&str> = met.into_iter().filter(|(_, met)| *met).map(|(name, _)| name).collect();
        (!triggers.is_empty()).then_some(Due { triggers, file })
    }

    /// The question what a command says. Those that are due share the time there is.
    fn run(&self, argv: &[String]) -> Probe {
        let commands = self.speakers.iter().filter(|speaker| speaker.runs() && self.due(speaker).is_some()).count();
        let share = COMMANDS_MS_MAX / u64::try_from(commands).unwrap_or(u64::MAX).max(1);
        Probe::Run { argv: argv.to_vec(), timeout_ms: share.clamp(1, COMMAND_MS_MAX), author: Author::Owner }
    }

    /// What came of a command. It ran at most once, also if its share of the time is another one by now.
    fn ran(&self, argv: &[String]) -> Option<&Fact> {
        let same = |probe: &Probe| matches!(probe, Probe::Run { argv: ran, author: Author::Owner, .. } if ran == argv);
        self.context.facts.iter().find(|(probe, _)| same(probe)).map(|(_, fact)| fact)
    }

    /// The question about a provider's file, until its trigger is spent.
    fn file_probe(&self, speaker: &Speaker<'_>) -> Option<Probe> {
        let file = speaker.trigger.on_file_created.as_ref()?;
        let spent = self.cadence(speaker).is_some_and(|cadence| cadence.files.contains(&file_key(file)));
        (!spent).then(|| Probe::Identity { path: file.clone(), dir: self.context.stack.root.clone() })
    }

    /// The file, if it is there now and its trigger is not spent. What cannot be told is looked at again.
    fn file_seen(&self, speaker: &Speaker<'_>) -> Option<Key> {
        let identity = self.context.facts.get(&self.file_probe(speaker)?)?.identity()?;
        let is_there = identity.there != There::Nothing && identity.inside.is_some();
        is_there.then(|| file_key(speaker.trigger.on_file_created.as_deref().unwrap_or("")))
    }
}

fn file_key(file: &str) -> Key {
    Digest::of(file.as_bytes()).short()
}

/// Those who may speak, in the order in which they do: declared ones layer by layer, then the embedding program's.
fn speakers(stack: &Stack) -> Vec<Speaker<'_>> {
    let mut all: Vec<Speaker<'_>> = Vec::new();
    for layer in stack.layers.iter().filter(|layer| !layer.model.feedback.is_empty()) {
        let scope = scope(layer);
        for provider in &layer.model.feedback {
            let key = owned(layer, provider);
            // An accepted definition beside a changed one: who is in both speaks once.
            if !all.iter().any(|known| (known.scope, known.key) == (scope, key)) {
                let (name, trigger) = (provider.signature(), &provider.trigger);
                all.push(Speaker { scope, key, name, trigger, voice: Voice::Declared(provider) });
            }
        }
    }
    if !stack.feedback.is_empty() {
        let scope = stack.face().map_or(Digest::ZERO.short(), scope);
        all.extend(stack.feedback.iter().map(|own| {
            let key = Digest::of_parts([b"own".as_slice(), own.name.as_bytes()]).short();
            Speaker { scope, key, name: &own.name, trigger: &own.trigger, voice: Voice::Own(own) }
        }));
    }
    all
}

/// The identity under which a definition's calls are counted: its `ns:key`.
fn scope(layer: &Layer) -> Key {
    let agent = &layer.model.agent;
    let part = |text: &'_ Option<String>| text.clone().unwrap_or_default();
    Digest::of_parts([part(&agent.ns).as_bytes(), part(&agent.key).as_bytes()]).short()
}

/// A user's provider is not a project's, even under the same name.
fn owned(layer: &Layer, provider: &Provider) -> Key {
    let owner: &[u8] = match Owner::of(layer.origin) {
        Owner::Machine => b"machine",
        Owner::User => b"user",
        Owner::Project => b"project",
        Owner::Pack(_) => b"pack",
    };
    Digest::of_parts([owner, provider.key.0.as_slice()]).short()
}
