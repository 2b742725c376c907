//! Deciding: a dialogue. Each round either names the facts that are still wanted or ends in a decision.
//!
//! Pure and total: no clock but the event's, no look at the world but the facts, and no way to fail. Whatever
//! cannot be told becomes a finding that denies.

mod advised;
mod checked;
mod checking;
mod continued;
mod effect;
mod excepted;
mod faulted;
mod finished;
mod judged;
mod metered;
mod operation;
mod output;
mod overridden;
mod placed;
mod prompted;
mod requested;
mod served;
mod settled;
mod shown;
mod sighted;
mod stopped;
mod watched;

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::briefing::{Watching, briefing};
use crate::call::Views;
use crate::code;
use crate::decision::{Decision, Finding, Note, Step};
use crate::event::{Body, Call, Event, MAIN_AGENT, StopAsk};
use crate::guards::Context;
use crate::overrides::Imposed;
use crate::path;
use crate::probe::{Fact, Facts, Probe};
use crate::session::{Agent, Change, Constraint, Pin, Session};
use crate::sha::Digest;
use crate::stack::Stack;
use crate::time::Timestamp;
use crate::todos::required;
use crate::tools;
pub(crate) use advised::keys_of;
pub use faulted::{faulted, told, unread_outcome};
use metered::Metered;

/// Decides about one event, or says which facts it wants first.
#[must_use]
pub fn decide(stack: &Stack, session: &Session, event: &Event, facts: &Facts) -> Step {
    let attributed = attributed(stack, session, event);
    let event = attributed.as_ref().unwrap_or(event);
    if let Some(finding) = unpinned(session, event) {
        return done(Decision::merge(vec![finding]));
    }
    match metered::meter(stack, session, event, facts) {
        Metered::Off => judge(stack, session, event, facts),
        Metered::Need(probe) => Step::Need(vec![probe]),
        Metered::Read(changes, finding) => {
            let mut ahead = session.clone();
            changes.iter().for_each(|change| ahead.meter(change));
            match judge(stack, &ahead, event, facts) {
                Step::Need(probes) => Step::Need(probes),
                Step::Done(mut decision) => {
                    decision.changes.splice(0..0, changes);
                    decision.findings.extend(finding);
                    Step::Done(decision)
                }
            }
        }
    }
}

/// The event as one of the agent that made the call, where whoever tells of it cannot know: a proxy and our own server see
/// calls, and not who makes them. Nothing where it stays as it is told.
#[must_use]
pub fn attributed(stack: &Stack, session: &Session, event: &Event) -> Option<Event> {
    let (Body::CallRequested(call) | Body::CallFinished(call, _)) = &event.body else { return None };
    let others = || session.open.iter().any(|open| open.agent != MAIN_AGENT);
    if event.agent.is_some() || !sighted::is_on_the_way(event) || !others() {
        return None;
    }
    let maker = |context: &Context<'_>| sighted::maker(context).map(|open| open.agent.clone());
    let agent = in_context(stack, session, event, (call, &Facts::default()), maker)?;
    (agent != MAIN_AGENT).then(|| Event { agent: Some(agent), ..event.clone() })
}

/// Whether a call that comes by is one that a hook let through in this session, and that has not come by yet.
#[must_use]
pub fn awaits(stack: &Stack, session: &Session, event: &Event) -> bool {
    let Body::CallRequested(call) = &event.body else { return false };
    let first = |context: &Context<'_>| sighted::first(context).is_some();
    !session.open.is_empty() && in_context(stack, session, event, (call, &Facts::default()), first)
}

/// What is decided on: the definitions in force, what is remembered, the event, and what was seen.
#[derive(Debug, Clone, Copy)]
struct Ground<'a> {
    stack: &'a Stack,
    session: &'a Session,
    event: &'a Event,
    facts: &'a Facts,
}

impl Ground<'_> {
    /// The questions that have no answer yet, each once.
    fn unanswered(&self, mut probes: Vec<Probe>) -> Vec<Probe> {
        probes.retain(|probe| self.facts.get(probe).is_none());
        let mut asked = Vec::with_capacity(probes.len());
        for probe in probes {
            if !asked.contains(&probe) {
                asked.push(probe);
            }
        }
        asked
    }
}

fn judge(stack: &Stack, session: &Session, event: &Event, facts: &Facts) -> Step {
    let step = match &event.body {
        Body::CallRequested(call) => in_context(stack, session, event, (call, facts), |context| {
            if let Some(call) = continued::begun(context) {
                return continued::decide(context, call);
            }
            if let Some(first) = sighted::first(context) {
                return sighted::decide(context, first);
            }
            sighted::mark(context, requested::decide(context))
        }),
        Body::CallFinished(call, outcome) => {
            in_context(stack, session, event, (call, facts), |context| finished::decide(context, outcome))
        }
        Body::CallSettled(call) => in_context(stack, session, event, (call, facts), settled::decide),
        Body::SessionStarted { invariants } => match watched::by_policies(&Ground { stack, session, event, facts }) {
            Err(probes) => Step::Need(probes),
            Ok(watching) => {
                let briefing = briefing(stack, &watching, event.host.as_deref());
                let mut decision = Decision { briefing, ..started(session, invariants.as_ref()) };
                decision.changes.extend(watched::counted(session, &watching));
                done(decision)
            }
        },
        Body::AgentStarted => {
            let briefing = briefing(stack, &Watching::default(), event.host.as_deref());
            done(Decision { briefing, ..Decision::default() })
        }
        Body::PromptSubmitted { prompt } if session.is_scheduled(*prompt) => done(Decision::default()),
        Body::PromptSubmitted { .. } => prompted::decide(&Ground { stack, session, event, facts }),
        Body::PoliciesChecked { base } => checked::decide(&Ground { stack, session, event, facts }, base.as_deref()),
        Body::PoliciesCleared => checked::clear(),
        Body::Resumed => done(lifted(session, "resume")),
        Body::Extended(extension) => {
            let changes = vec![Change::Extended { extension: extension.clone() }];
            done(Decision { changes, ..Decision::default() })
        }
        Body::OverrideSet(settings) => done(overridden::set(session, event, settings)),
        Body::Operation { operation, given } => {
            operation::decide(&Ground { stack, session, event, facts }, *operation, given)
        }
        Body::StopRequested(ask) => stop_requested(&Ground { stack, session, event, facts }, ask),
        Body::Park { reason } => done(stopped::park(event, reason)),
        Body::SessionEnded => session_ended(&Ground { stack, session, event, facts }),
        Body::OutputProduced(output) => output::decide(stack, session, event, (output, facts)),
        Body::Noted { .. } | Body::ExceptionGranted(_) | Body::ExceptionRevoked(_) => done(Decision::default()),
        Body::ToolsListed(listing) => done(served::listed(stack, session, listing)),
        Body::Rerooted { root } => done(rerooted(stack, session, event, root.as_deref())),
        Body::SettingsChanged { file, wired } => settings_changed(facts, file, *wired),
        Body::Snapshot { name } => done(snapshot(session, name)),
        Body::Restore { name } => done(restore(session, name)),
        Body::Reset => done(Decision { changes: vec![Change::Reset], ..Decision::default() }),
    };
    match step {
        Step::Need(probes) => Step::Need(probes),
        Step::Done(decision) => Step::Done(Box::new(finish(*decision, stack, session, event))),
    }
}

/// A later event may not name another definition than the one the session began with.
fn unpinned(session: &Session, event: &Event) -> Option<Finding> {
    let (pin, named) = (session.pin.as_ref()?, event.definition.as_ref()?);
    let same = pin.definition.as_ref().is_some_and(|pinned| path::fold(pinned) == path::join(&pin.root, named));
    let reason = "The session began under another definition, which is pinned.";
    (!same).then(|| Finding::deny("event", code::EVENT_INVALID, reason).suggest("start a new session"))
}

/// Looks at a call as guards see it, and decides with that in hand.
fn in_context<T>(
    stack: &Stack,
    session: &Session,
    event: &Event,
    (call, facts): (&Call, &Facts),
    decide: impl FnOnce(&Context<'_>) -> T,
) -> T {
    let host = event.host.as_deref();
    let own = tools::other_name(host, &call.tool).is_some();
    // Our own server sees relative paths from the root, wherever the host is. Where another one sees them from is not
    // known: it may be where it was started, or where the host is now.
    let served = own || call.tool.starts_with(tools::SERVED_FRONT);
    let dir = event.cwd.as_deref().filter(|_| !served).unwrap_or(&stack.root);
    let call = match (own, served, &event.cwd) {
        (true, _, _) => Cow::Owned(unaddressed(call)),
        (false, true, Some(cwd)) if *cwd != stack.root => Cow::Owned(also_from(call, cwd)),
        _ => Cow::Borrowed(call),
    };
    let views = Views::new(&call, host, dir, stack);
    let (view, signature) = (&views.first, views.first.signature(&stack.root));
    let nobody = Agent::default();
    let agent = session.agent(event.agent()).unwrap_or(&nobody);
    decide(&Context { stack, session, agent, event, view, views: &views, signature: &signature, facts })
}

/// A call whose paths may also be seen from this directory.
fn also_from(call: &Call, dir: &str) -> Call {
    let mut call = call.clone();
    call.dirs.push(dir.to_owned());
    call
}

/// A call to our own server without what says which call it is: that is no argument of the tool's.
fn unaddressed(call: &Call) -> Call {
    let mut call = call.clone();
    if let Value::Object(args) = &mut call.args {
        args.remove(tools::OWN_ARGUMENT);
    }
    call
}

/// A typed event, as `emitted` holds it.
fn typed(context: &Context<'_>, step: u64, kind: &str, fields: Value) -> Value {
    crate::repair::emit(context.event, step, kind, fields)
}

fn done(decision: Decision) -> Step {
    Step::Done(Box::new(decision))
}

/// What every decision carries: which definition judged, and the constraint in force.
fn finish(mut decision: Decision, stack: &Stack, session: &Session, event: &Event) -> Decision {
    required::add(&mut decision, stack, session, event);
    let digest = stack.digest();
    if session.definition != Some(digest) {
        decision.changes.insert(0, Change::Judged { definition: digest });
        decision.notes.extend(session.definition.map(|before| definition_changed(before, digest)));
    }
    // A record of our own fault may stand before the first event that could be judged.
    if session.pin.is_none() {
        let (root, home) = (stack.root.clone(), stack.home().to_owned());
        let pinned = Pin { root, home, definition: stack.path.clone() };
        decision.changes.insert(0, Change::Pinned { pin: pinned });
    }
    if matches!(event.body, Body::SessionEnded) {
        decision.changes.push(Change::Over);
    }
    if decision.constraint.is_none() {
        let now = session.now(event.at);
        decision.constraint = constraint_in_force(session, event.agent(), &decision.changes, now);
    }
    decision
}

fn definition_changed(before: Digest, after: Digest) -> Note {
    let named = |digest: Digest| json!({ "digest": format!("sha256:{digest}") });
    Note { kind: "definition.changed", before: named(before), after: named(after), data: json!({}) }
}

/// The newest typed override that still stands on an agent once these changes have happened.
fn constraint_in_force(session: &Session, name: &str, changes: &[Change], now: Timestamp) -> Option<Value> {
    let agent = session.agent(name)?;
    let restrained = agent.correct_tool.is_some() || !agent.constraints.is_empty() || !agent.overrides.is_empty();
    if !restrained || changes.iter().any(|change| matches!(change, Change::Reset | Change::Restored { .. })) {
        return None;
    }
    let agent = afterwards(agent, name, changes);
    let correct = agent.correct_tool.as_ref().map(|tool| correct_tool(tool));
    let forbidden = || agent.constraints.last().map(Constraint::to_value);
    let demanded = || agent.overrides.iter().rev().find(|imposed| imposed.lasts(now)).map(Imposed::to_value);
    correct.or_else(forbidden).or_else(demanded)
}

/// An agent as it is once these changes have happened: what is shown of it counts the present call.
fn afterwards(agent: &Agent, name: &str, changes: &[Change]) -> Agent {
    let mut after = agent.clone();
    changes.iter().filter(|change| change.agent() == Some(name)).for_each(|change| after.apply(change));
    after
}

fn correct_tool(requested: &str) -> Value {
    json!({ "type": "CORRECT_TOOL", "reason": "UNKNOWN_TOOL", "requested": requested, "allowed_next": ["known_tool", "ASK_HUMAN", "STOP"] })
}

fn started(session: &Session, invariants: Option<&Value>) -> Decision {
    let Some(invariants) = invariants.filter(|invariants| !invariants.is_null()) else { return Decision::default() };
    let digest = Digest::of(&crate::json::canonical(invariants));
    match session.invariants {
        None => Decision { changes: vec![Change::Invariants { digest }], ..Decision::default() },
        Some(known) if known == digest => Decision::default(),
        Some(_) => {
            let reason = "The run's objective and its meaning of done may not change within a session.";
            let finding = Finding::deny("event", code::EVENT_INVARIANT_CHANGED, reason);
            Decision::merge(vec![finding.suggest("keep them as they were, or start a new session")])
        }
    }
}

/// A person spoke: halts are lifted.
fn lifted(session: &Session, by: &str) -> Decision {
    let halted = session.memory.agents.iter().filter_map(|(name, agent)| Some((name, agent.halted.as_ref()?)));
    let mut decision = Decision::default();
    for (name, halt) in halted {
        decision.changes.push(Change::Lifted { agent: name.clone() });
        let before = json!({ "type": "HALT", "code": halt.code, "agent": name });
        decision.notes.push(Note { kind: "constraint.lapsed", before, after: Value::Null, data: json!({ "by": by }) });
    }
    decision
}

/// The host moved to another work tree: the same definition judges what happens there. Where a sub-agent went, only that
/// one is: everybody else works where they did.
fn rerooted(stack: &Stack, session: &Session, event: &Event, root: Option<&str>) -> Decision {
    let pin = session.pin.as_ref().filter(|_| event.agent.is_none());
    let Some(pin) = pin else { return Decision::default() };
    let root = root.map_or_else(|| stack.back.as_ref().unwrap_or(&pin.home).clone(), path::fold);
    if root == pin.root {
        return Decision::default();
    }
    let note = Note {
        kind: "session.moved",
        before: json!({ "root": pin.root }),
        after: json!({ "root": root }),
        data: json!({}),
    };
    let pin = Pin { root, ..pin.clone() };
    Decision { changes: vec![Change::Pinned { pin }], notes: vec![note], ..Decision::default() }
}

/// A host's settings changed: only what would silence us is refused.
fn settings_changed(facts: &Facts, file: &str, wired: bool) -> Step {
    let probe = Probe::Settings { file: file.to_owned(), wired };
    match facts.get(&probe) {
        None => Step::Need(vec![probe]),
        Some(Fact::Absent) => done(Decision::default()),
        Some(Fact::Unknown(why)) => {
            let reason = format!("The changed settings would leave this session unguarded: {why}.");
            let finding = Finding::deny("self", code::SELF_PROTECTED, reason);
            done(Decision::merge(vec![finding.suggest("run `jackline doctor`, or take the change back")]))
        }
        Some(_) => {
            done(Decision::merge(vec![Finding::fault("self", code::FAULT_PROBE, "the settings were not looked at")]))
        }
    }
}

/// Todos that were verified are looked at again; what is then open counts at this very stop.
fn stop_requested(ground: &Ground<'_>, ask: &StopAsk) -> Step {
    let Ground { stack, session, event, facts } = *ground;
    if event.agent.is_some() || stopped::is_free(stack, session, event, (ask, facts)) {
        return stopped::decide(stack, session, event, (ask, facts));
    }
    looked_at_again(ground, false, |session| stopped::decide(stack, session, event, (ask, facts)))
}

/// The same at the end of a session that had no allowed stop.
fn session_ended(ground: &Ground<'_>) -> Step {
    let Ground { stack, session, event, facts } = *ground;
    if session.stopped.is_some() || stopped::is_free(stack, session, event, (&StopAsk::default(), facts)) {
        return stopped::over(stack, session, event, facts);
    }
    looked_at_again(ground, true, |session| stopped::over(stack, session, event, facts))
}

/// Decides on the session as it is once verified todos were looked at again.
fn looked_at_again(ground: &Ground<'_>, over: bool, decide: impl FnOnce(&Session) -> Step) -> Step {
    let looked = match operation::look_again(ground, over) {
        Err(probes) => return Step::Need(ground.unanswered(probes)),
        Ok(looked) if looked.changes.is_empty() => return decide(ground.session),
        Ok(looked) => looked,
    };
    let mut ahead = ground.session.clone();
    ahead.apply(ground.event.at, &looked.changes, &|_| None);
    match decide(&ahead) {
        Step::Need(probes) => Step::Need(probes),
        Step::Done(mut decision) => {
            decision.changes.splice(0..0, looked.changes);
            decision.notes.splice(0..0, looked.notes);
            Step::Done(decision)
        }
    }
}

fn snapshot(session: &Session, name: &str) -> Decision {
    let digest = Digest::of(&session.memory.encode());
    Decision { changes: vec![Change::Snapshot { name: name.to_owned(), digest }], ..Decision::default() }
}

fn restore(session: &Session, name: &str) -> Decision {
    match session.snapshot(name) {
        Some(digest) => {
            Decision { changes: vec![Change::Restored { name: name.to_owned(), digest }], ..Decision::default() }
        }
        None => {
            let reason = format!("There is no snapshot named '{name}' in this session.");
            let finding = Finding::deny("event", code::EVENT_INVALID, reason);
            Decision::merge(vec![finding.suggest("restore one that was taken; the newest 16 are kept")])
        }
    }
}
