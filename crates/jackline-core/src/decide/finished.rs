//! A call has finished: the session learns what was done, read and written. Nothing is refused any more.

use std::collections::BTreeSet;

use serde_json::json;

use super::advised::Advising;
use super::effect;
use super::requested::call_key;
use super::shown;
use crate::call::{Touch, View};
use crate::code;
use crate::decision::{Decision, Finding, Step};
use crate::definition::Kind;
use crate::definition::model::{Guard, Policy};
use crate::done;
use crate::event::Outcome;
use crate::guards::{
    Context,
    expanded::{Stands, stands_for},
    own_policy, paths,
    read_before_write::{file_key, is_pattern, layer_file_key, written_key},
    schema,
};
use crate::path::Role;
use crate::probe::{Fact, Identity, Probe, There};
use crate::session::Change;
use crate::sha::Digest;
use crate::shell::How;
use crate::stack::Layer;
use crate::todos::Todo;
use crate::todos::state::State;

pub(super) fn decide(context: &Context<'_>, outcome: &Outcome) -> Step {
    let ended = Ended::new(context, outcome);
    let wanted = ended.needs();
    if wanted.is_empty() { Step::Done(Box::new(ended.decide())) } else { Step::Need(wanted) }
}

/// A finished call and what it earns.
struct Ended<'a> {
    context: &'a Context<'a>,
    outcome: &'a Outcome,
    /// It finished before; finishing twice is finishing once.
    again: bool,
    /// It succeeded and had not been refused.
    earned: bool,
    /// It was refused, so it never ran.
    refused: bool,
    /// Our own server did it.
    served: bool,
    /// How many writes had happened when it was requested, where that is known.
    writes: Option<u64>,
    /// Feedback that may come with it; one that was refused had its feedback then.
    advising: Option<Advising<'a>>,
    /// What it counts as, with the layer's view of it.
    names: BTreeSet<String>,
}

impl<'a> Ended<'a> {
    fn new(context: &'a Context<'a>, outcome: &'a Outcome) -> Self {
        let call = call_key(context.view.call);
        let open = context.session.open(context.event.agent(), call, context.signature.key);
        let again = context.session.finished(call) || open.is_some_and(|open| open.ended);
        let refused = open.is_some_and(|open| open.refused);
        // What ran is not what was judged: a text that was exchanged on the way proves nothing.
        let shell = context.views.all().any(|view| view.kind == Kind::Shell);
        let exchanged = shell && open.is_some_and(|open| open.signature != context.signature.key);
        let earned = outcome.ok && !refused && !again && !exchanged;
        let mut names = if earned { done::all_names(context) } else { BTreeSet::new() };
        if outcome.background || in_background(context.view) {
            // A call that only started in the background has proven nothing but that it was made.
            names.retain(|name| !done::is_step(name));
        }
        let advising = (!again && !refused).then(|| Advising::new(context, Some(outcome.ok)));
        let served = context.view.served || open.is_some_and(|open| open.served);
        let writes = open.map(|open| open.writes);
        Self { context, outcome, again, earned, refused, served, writes, advising, names }
    }

    fn needs(&self) -> Vec<Probe> {
        let mut wanted: Vec<Probe> = Vec::new();
        if !self.again && !self.refused {
            let touches = self.touches().filter(|touch| !touch.dynamic && self.matters(touch));
            wanted.extend(touches.map(Touch::probe));
        }
        if self.outcome.ok && !self.again {
            wanted.extend(self.contents().map(|identity| Probe::Fingerprint { path: identity.path.clone() }));
            wanted.extend(self.patterns_need());
            wanted.extend(self.wants_tree().then_some(Probe::WorkTree));
            wanted.extend(self.context.stack.layers.iter().flat_map(|layer| self.context.subject(layer).steps_need()));
            wanted.extend(own_policy::needs(self.context));
            wanted.extend(schema::of_output(self.context, self.outcome).needs());
        }
        wanted.extend(shown::needs(self.context, self.outcome));
        wanted.extend(self.advising.iter().flat_map(Advising::needs));
        wanted.retain(|probe| self.context.facts.get(probe).is_none());
        wanted.sort_unstable();
        wanted.dedup();
        wanted
    }

    /// What it touches, as anyone sees it.
    fn touches(&self) -> impl Iterator<Item = &'a Touch> + use<'a> {
        self.context.views.all().flat_map(|view| &view.touches)
    }

    /// Whether any policy in force cares where this touch led.
    fn matters(&self, touch: &Touch) -> bool {
        self.policies().any(|(_, policy)| match &policy.guard {
            Guard::ReadBeforeWrite(_) => remembers(touch),
            Guard::Paths(_) => true,
            Guard::Sequence(_) | Guard::Rule(_) | Guard::Rego(_) => false,
        }) || (touch.role.changes() && self.must_be_fresh())
    }

    /// Whether anything counts only if nothing was written since.
    fn must_be_fresh(&self) -> bool {
        self.context.stack.layers.iter().any(|layer| done::fresh_names(layer).next().is_some())
    }

    fn policies(&self) -> impl Iterator<Item = (&'a Layer, &'a Policy)> {
        let layers = self.context.stack.layers.iter();
        layers.flat_map(|layer| layer.declared().map(move |(_, policy)| (layer, policy)))
    }

    fn reads_before_writes(&self) -> bool {
        self.policies().any(|(_, policy)| matches!(policy.guard, Guard::ReadBeforeWrite(_)))
    }

    /// Whether every policy takes what was written for read; where not, each looks for itself.
    fn own_writes(&self) -> bool {
        self.policies().all(|(_, policy)| match &policy.guard {
            Guard::ReadBeforeWrite(settings) => settings.own_writes,
            Guard::Sequence(_) | Guard::Paths(_) | Guard::Rule(_) | Guard::Rego(_) => true,
        })
    }

    /// The files whose content is remembered, as far as their identity is known.
    fn contents(&self) -> impl Iterator<Item = &'a Identity> {
        let (reads, facts) = (self.reads_before_writes(), self.context.facts);
        self.touches().filter(move |touch| reads && remembers(touch)).filter_map(move |touch| {
            match facts.get(&touch.probe()) {
                Some(Fact::Identity(identity)) if identity.there == There::File => Some(identity),
                _ => None,
            }
        })
    }

    /// What is to be known of the files that patterns stand for, where the agent has read them.
    fn patterns_need(&self) -> Vec<Probe> {
        let patterns = self.touches().filter(|touch| self.reads_before_writes() && writes_by_pattern(touch));
        let questions = patterns.flat_map(|touch| match stands_for(touch, self.context.facts) {
            Stands::Open(probe) => vec![probe],
            Stands::For { files, .. } => {
                let read = files.iter().filter(|path| self.is_read(path));
                read.map(|path| Probe::Fingerprint { path: path.clone() }).collect()
            }
            Stands::Untold => Vec::new(),
        });
        questions.collect()
    }

    /// Whether the agent has read or written a file, as far as that counts for all layers.
    fn is_read(&self, path: &str) -> bool {
        let file = file_key(path);
        [file, written_key(file)].iter().any(|key| self.context.agent.read(key).is_some())
    }

    /// Whether something it counts as must be fresh, for a later call, for the end, or as evidence for a todo.
    fn wants_tree(&self) -> bool {
        self.is_evidence()
            || self.context.stack.layers.iter().any(|layer| {
                done::fresh_names(layer).any(|need| self.names.iter().any(|name| done::is_named(layer, need, name)))
            })
    }

    /// Whether a claim may rest on it: a shell call that succeeded while a todo is worked on.
    fn is_evidence(&self) -> bool {
        let works = |todo: &Todo| matches!(todo.state, State::InProgress(_));
        let shell = || self.context.views.all().any(|view| view.kind == Kind::Shell);
        self.earned && shell() && self.context.session.todos.iter().any(works)
    }

    fn decide(&self) -> Decision {
        let event = self.context.event;
        let mut decision = Decision::default();
        // Whatever is shown is bounded, told of before or not.
        shown::cut(self.context, self.outcome, &mut decision);
        if self.again {
            decision.changes.extend(self.told_twice());
            return decision;
        }
        let usage = self.outcome.usage;
        if usage.tokens > 0 || usage.cost_usd > 0.0 {
            decision.changes.push(Change::Used { tokens: usage.tokens, cost_usd: usage.cost_usd });
        }
        decision.changes.push(Change::Finished {
            agent: event.agent().to_owned(),
            call: call_key(self.context.view.call),
            signature: self.context.signature.key,
        });
        decision.findings.extend(self.escaped());
        if self.outcome.ok {
            self.earn(&mut decision);
        }
        // INVARIANT: done before wrote. A text that runs a step and then writes leaves the step outdated. One that fails
        // may have written before it did.
        decision.changes.extend((!self.refused && self.wrote()).then_some(Change::Wrote));
        if self.outcome.ok {
            self.remember(&mut decision);
        }
        // What our own server does for an agent is known: it counts as what it wrote.
        if !self.refused && !self.served {
            effect::count(self.context, self.background(), &mut decision);
        }
        shown::nothing_found(self.context, self.outcome, &mut decision);
        self.progress(&mut decision);
        self.validated(&mut decision);
        self.advising.iter().for_each(|advising| advising.follow(&mut decision));
        decision
    }

    /// A host without ids says itself that a call is over which a proxy told of before: then nobody else will.
    fn told_twice(&self) -> Option<Change> {
        let (agent, signature) = (self.context.event.agent(), self.context.signature.key);
        let open = self.context.session.open(agent, call_key(self.context.view.call), signature);
        let call = call_key(self.context.view.call);
        open.filter(|open| open.ended).map(|_| Change::Finished { agent: agent.to_owned(), call, signature })
    }

    /// A result that does not fit its schema is there all the same: it is told, so that nobody relies on it.
    fn validated(&self, decision: &mut Decision) {
        let validation = schema::of_output(self.context, self.outcome);
        let findings = validation.findings();
        let told: Vec<String> = findings.iter().map(|finding| finding.reason.replace('<', "\\u003c")).collect();
        if !told.is_empty() {
            decision.advise(&format!("<feedback provider='Schema'>\n{}\n</feedback>", told.join("\n")));
        }
        validation.follow(decision);
        decision.findings.extend(findings);
    }

    fn earn(&self, decision: &mut Decision) {
        let tree = if self.wants_tree() { self.tree() } else { None };
        let done = |name: &String| Change::Done { name: name.clone(), tree, writes: self.writes };
        decision.changes.extend(self.names.iter().map(done));
        if !self.earned {
            return;
        }
        for (policy, kept) in own_policy::on_result(self.context) {
            match kept {
                Ok(kept) => decision.changes.extend(kept.into_iter().map(|keep| Change::Kept {
                    policy: policy.clone(),
                    key: keep.key,
                    value: keep.value,
                })),
                Err(why) => {
                    let why = format!("policy `{policy}` failed on a result: {why}");
                    let mut finding = Finding::fault("policy", code::FAULT_POLICY, &why);
                    finding.enforced = false;
                    decision.findings.push(Finding { policy, ..finding });
                }
            }
        }
    }

    fn background(&self) -> bool {
        self.outcome.background || in_background(self.context.view)
    }

    /// The work tree as it is now; one that could not be told never equals another.
    fn tree(&self) -> Option<Digest> {
        match self.context.facts.get(&Probe::WorkTree) {
            Some(Fact::Content(Some(digest))) => Some(*digest),
            Some(Fact::Absent) => None,
            Some(_) | None => Some(Digest::ZERO),
        }
    }

    /// Whether a file of the workspace was changed, as far as can be told, also where the session began.
    fn wrote(&self) -> bool {
        let pathless = |view: &View<'_>| view.kind == Kind::Write && view.touches.is_empty();
        let mut changed = self.touches().filter(|touch| touch.role.changes() && touch.is_plain());
        self.context.views.all().any(pathless)
            || changed.any(|touch| match self.context.facts.get(&touch.probe()) {
                Some(Fact::Identity(identity)) => identity.place().is_some(),
                _ => true,
            })
    }

    fn remember(&self, decision: &mut Decision) {
        if !self.reads_before_writes() || !self.earned {
            return;
        }
        if self.context.views.agree() {
            return self.remember_as(self.context.view, None, decision);
        }
        // Where layers see the call in different ways, each that asks for reads counts its own.
        let mut asking: Vec<&Layer> = Vec::new();
        for (layer, policy) in self.policies() {
            let asks = matches!(policy.guard, Guard::ReadBeforeWrite(_));
            if asks && !asking.iter().any(|known| std::ptr::eq(*known, layer)) {
                asking.push(layer);
            }
        }
        for layer in asking {
            self.remember_as(self.context.subject(layer).view, Some(layer), decision);
        }
    }

    /// Remembers what was read and written as one view shows it; for all layers, or for one.
    fn remember_as(&self, view: &View<'_>, only: Option<&Layer>, decision: &mut Decision) {
        let agent = self.context.event.agent();
        for touch in view.touches.iter().filter(|touch| remembers(touch)) {
            let Some(Fact::Identity(identity)) = self.context.facts.get(&touch.probe()) else { continue };
            let fingerprint = self.context.facts.get(&Probe::Fingerprint { path: identity.path.clone() });
            let content = match fingerprint {
                Some(Fact::Content(Some(digest))) => Some(digest.short()),
                Some(Fact::Content(None) | Fact::Absent) | None => None,
                // What it contains is not known, so it was not read.
                Some(_) => continue,
            };
            let file = only.map_or_else(|| file_key(&identity.path), |layer| layer_file_key(&identity.path, layer));
            match touch.role {
                // Only the writer knows what is there now: to every other agent the file is stale.
                Role::Write if !self.own_writes() || touch.how == How::Appended => {
                    decision.changes.push(Change::Refreshed { agent: agent.to_owned(), file, content });
                    if touch.how != How::Appended {
                        let (agent, file) = (agent.to_owned(), written_key(file));
                        decision.changes.push(Change::Read { agent, file, content });
                    }
                }
                Role::Write | Role::Read => {
                    decision.changes.push(Change::Read { agent: agent.to_owned(), file, content });
                }
                Role::Delete => {}
            }
        }
        for touch in view.touches.iter().filter(|touch| writes_by_pattern(touch)) {
            self.refresh(touch, decision);
        }
    }

    /// What the agent knew of the files that a pattern stands for, it knows now: it wrote them.
    fn refresh(&self, touch: &Touch, decision: &mut Decision) {
        let Stands::For { files, .. } = stands_for(touch, self.context.facts) else { return };
        for path in files.iter().filter(|path| self.is_read(path)) {
            let fact = self.context.facts.get(&Probe::Fingerprint { path: path.clone() });
            let Some(Fact::Content(Some(content))) = fact else { continue };
            let (agent, content) = (self.context.event.agent(), Some(content.short()));
            for file in [file_key(path), written_key(file_key(path))] {
                decision.changes.push(Change::Refreshed { agent: agent.to_owned(), file, content });
            }
        }
    }

    /// Paths that lead outside now that the call has finished.
    fn escaped(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (_, policy) in self.policies() {
            let Guard::Paths(settings) = &policy.guard else { continue };
            for touch in self.touches().filter(|touch| touch.role.changes() && touch.is_plain()) {
                let Some(Fact::Identity(identity)) = self.context.facts.get(&touch.probe()) else { continue };
                if paths::is_outside(settings, identity) {
                    let reason = format!("Path '{}' led outside the workspace when the call had finished.", touch.path);
                    let mut finding = Finding::deny("paths", code::PATHS_ESCAPED, reason);
                    finding.policy.clone_from(&policy.name);
                    finding.enforced = false;
                    if !findings.contains(&finding) {
                        findings.push(finding);
                    }
                }
            }
        }
        findings
    }

    fn progress(&self, decision: &mut Decision) {
        let aware = self.context.stack.layers.iter().filter_map(|layer| layer.model.repeat.as_ref());
        if !aware.into_iter().any(|settings| settings.progress_aware) {
            return;
        }
        let agent = self.context.event.agent().to_owned();
        let signature = self.context.signature.key;
        let shown = json!({ "ok": self.outcome.ok, "output": self.outcome.output });
        let result = Digest::of(&crate::json::canonical(&shown)).short();
        let changed = self.context.agent.result(&signature).is_some_and(|before| before != result);
        let progressed = || Change::Progressed { agent: agent.clone(), signature: Some(signature) };
        decision.changes.extend(changed.then(progressed));
        decision.changes.push(Change::Outcome { agent, signature, result });
    }
}

/// Touches that make a file known to the agent: its content was shown, or written by it.
fn remembers(touch: &Touch) -> bool {
    let reads = touch.role == Role::Read && touch.whole;
    let writes = touch.role == Role::Write && matches!(touch.how, How::Whole | How::Appended | How::Restored);
    (reads || writes) && touch.is_plain() && !touch.dynamic && !touch.glob
}

/// Touches that write what a pattern stands for.
fn writes_by_pattern(touch: &Touch) -> bool {
    let writes = touch.role == Role::Write && matches!(touch.how, How::Whole | How::Appended | How::Restored);
    writes && touch.is_plain() && is_pattern(touch)
}

pub(super) fn in_background(view: &View<'_>) -> bool {
    ["run_in_background", "is_background"].iter().any(|name| view.call.args.get(*name) == Some(&json!(true)))
}
