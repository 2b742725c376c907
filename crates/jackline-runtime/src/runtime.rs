//! The pipeline: read, load, probe, decide, commit, render. `handle` shows it on one screen.

mod faults;
mod files;
mod notices;
mod proven;
mod raw;
mod redacted;
mod stops;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use jackline_core::catalogue::Catalogue;
use jackline_core::code;
use jackline_core::completion::checker::Checker;
use jackline_core::decide::{attributed, decide};
use jackline_core::decision::{Decision, Finding, Step, Verdict};
use jackline_core::definition::{UnknownTools, model};
use jackline_core::event::{Body, Event, MAIN_AGENT};
use jackline_core::feedback;
use jackline_core::overrides::Override;
use jackline_core::own_files::label;
use jackline_core::policy::Policy;
use jackline_core::probe::{Fact, Facts, Identity, PROBE_ROUNDS_MAX, Probe, Told};
use jackline_core::redact::Redactor;
use jackline_core::session::{Change, Memory, Session};
use jackline_core::sha::Digest;
use jackline_core::stack::Stack;

use crate::adapters::{Adapter, Heard, Message, Reply};
use crate::answer::Answer;
use crate::builder::RuntimeBuilder;
use crate::checkpoint;
use crate::clock;
use crate::commands::Commands;
use crate::definitions::{DefinitionFault, Definitions, Kept, Standing};
use crate::exceptions::Exceptions;
use crate::loading::{self, Encoding, Held};
use crate::probes::{
    self, Ground, OwnPath, Prober, WorkspaceProber, inline_schemas, own_between, own_paths, own_program, own_settings,
};
use crate::records::{Entry, Linked};
use crate::runner::Environment;
use crate::runner::artifacts::{Artifact, ArtifactFault, Artifacts};
use crate::store::{Commit, Committed, Head, Store, StoreFault, Sync};
use crate::web::{self, Web};
use crate::wiring::CommandLine;
pub use files::CHECKING_SESSION;
use files::FilesSeen;
use redacted::{plainly_named, redact_changes, redact_policies};

/// Times a decision is taken anew because another process committed in between. Each time someone else got
/// through, so this many losses in a row mean that something is wrong.
const COMMIT_TRIES_MAX: u32 = 256;

/// Sessions whose state is held in memory between events; a further one pushes another out, to be loaded again.
const HELD_MAX: usize = 64;

/// The embeddable runtime: takes events, answers with decisions, keeps the record.
#[derive(Debug)]
pub struct Runtime {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) definitions: Box<dyn Definitions>,
    pub(crate) policies: Vec<Arc<dyn Policy>>,
    pub(crate) checkers: Vec<Arc<dyn Checker>>,
    pub(crate) feedback: Vec<feedback::Own>,
    /// Where definitions are kept by digest, if they are.
    pub(crate) kept: Option<Kept>,
    /// The user's home directory and the state directory, for telling what is ours.
    pub(crate) home: Option<PathBuf>,
    pub(crate) host_settings: Vec<OwnPath>,
    /// Where the host was started, as far as that is known.
    pub(crate) started_in: Vec<PathBuf>,
    pub(crate) state: Option<PathBuf>,
    /// Whether a workspace without any definition is left alone rather than refused.
    pub(crate) idles: bool,
    /// Whether an outcome is pressed to disk with the next record only.
    pub(crate) outcomes_follow: bool,
    /// Asks addresses for checks, where the embedder lets it.
    pub(crate) web: Option<Arc<dyn Web>>,
    /// What the host ran to ask us, where it is a host that does.
    pub(crate) line: Option<CommandLine>,
    /// Which variables commands get, read when the first one runs.
    pub(crate) environment: Option<fn(&[String]) -> Environment>,
    /// Told how long a command may take before it runs.
    pub(crate) patience: Option<fn(u64)>,
    /// What the server offers whose calls are judged, where the surface told.
    pub(crate) catalogue: Mutex<Option<Arc<Catalogue>>>,
    pub(crate) held: Mutex<BTreeMap<String, Box<Held>>>,
    pub(crate) ground: Mutex<Option<(Arc<Standing>, Arc<Judging>)>>,
}

/// What a standing definition needs at hand to judge and to record.
#[derive(Debug)]
pub(crate) struct Judging {
    standing: Arc<Standing>,
    /// The standing's stack as it judges here, where that is another one.
    adapted: Option<Stack>,
    /// Made when a guard first asks: what is ours takes a look around, and many calls touch no file.
    prober: LazyLock<WorkspaceProber, MakeProber>,
    redactor: Redactor,
    sync: Sync,
    /// The files that the checks of the session's todos run.
    scripts: BTreeSet<String>,
}

impl Judging {
    fn stack(&self) -> &Stack {
        self.adapted.as_ref().unwrap_or(&self.standing.stack)
    }
}

type MakeProber = Box<dyn FnOnce() -> WorkspaceProber + Send>;

/// Why an event could not be carried to its decision.
#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error(transparent)]
    Definition(#[from] DefinitionFault),
    #[error(transparent)]
    Store(#[from] StoreFault),
    #[error(transparent)]
    Artifact(#[from] ArtifactFault),
    #[error("too many other processes write to this session")]
    Busy,
    #[error("an internal fault")]
    Panicked,
}

impl Runtime {
    /// Starts building a runtime.
    #[must_use]
    pub fn builder() -> RuntimeBuilder {
        RuntimeBuilder::default()
    }

    /// Takes a host's native message and gives its native reply.
    pub fn handle(&self, adapter: &dyn Adapter, native: &[u8]) -> Reply {
        let now = clock::now();
        let Heard { asked, messages } = adapter.read(native, now);
        let answers: Vec<Answer> = match messages {
            Ok(messages) => messages.into_iter().map(|message| self.answer(&proven::settled(message))).collect(),
            Err(finding) => vec![self.refuse_unread(adapter.unread(&asked, native, now), &asked, *finding)],
        };
        adapter.render(&asked, &answers)
    }

    /// Decides about one event and keeps the record.
    pub fn decide(&self, event: &Event) -> Answer {
        self.answer(&Message::new(event.clone(), raw::raw(event)))
    }

    /// The same; and the files that a path of the event's led to when it was judged, as far as a guard asked. Who then
    /// opens it must find the same there: a link may have been put in its place meanwhile.
    pub fn decide_with_identities(&self, event: &Event, path: &str) -> (Answer, Vec<Identity>) {
        let message = Message::new(event.clone(), raw::raw(event));
        let mut seen = Seen::default();
        let answer = self.answer_seeing(&message, &mut seen);
        (answer, seen.facts.identities(path).cloned().collect())
    }

    /// The same for an event that a person's own command sends: the record names a human as its actor.
    ///
    /// Who calls this has made sure that a person is there.
    pub fn decide_for_person(&self, event: &Event) -> Answer {
        self.answer(&Message { by_person: true, ..Message::new(event.clone(), raw::raw(event)) })
    }

    /// Keeps what guards remember under a name.
    pub fn snapshot(&self, session: &str, name: &str) -> Answer {
        self.operate(session, Body::Snapshot { name: name.to_owned() })
    }

    /// Goes back to what guards remembered under a name.
    pub fn restore(&self, session: &str, name: &str) -> Answer {
        self.operate(session, Body::Restore { name: name.to_owned() })
    }

    /// Forgets what guards remember; the log keeps everything.
    pub fn reset(&self, session: &str) -> Answer {
        self.operate(session, Body::Reset)
    }

    /// Puts an override on an agent; the same one again starts anew.
    pub fn constrain(&self, session: &str, agent: &str, settings: Override) -> Answer {
        let event = Event::new(session, clock::now(), Body::OverrideSet(settings));
        self.decide(&Event { agent: Some(agent.to_owned()).filter(|agent| agent != MAIN_AGENT), ..event })
    }

    /// The names of the policies that would judge a call of this tool, in the order they are asked.
    ///
    /// # Errors
    /// Why no definition is in force.
    pub fn policies_for_tool(&self, tool: &str) -> Result<Vec<String>, DefinitionFault> {
        Ok(self.judging(&self.definitions.stack(None, None)?, BTreeSet::new()).stack().policies_for_tool(tool))
    }

    /// What is remembered of a session; an empty one where nothing is.
    ///
    /// # Errors
    /// Why the store does not tell.
    pub fn session(&self, id: &str) -> Result<Session, StoreFault> {
        Ok(self.load(id)?.session)
    }

    /// The files that a path of a call's leads to, where nothing that is said of the call itself is against it, not even with
    /// a question. It is not made, so what its agent used up and how often it asked does not count. Nothing is kept and no
    /// exception is used up; where it cannot be told, something is against it.
    #[must_use]
    pub fn would_permit(&self, event: &Event, path: &str) -> Option<Vec<Identity>> {
        let foreseen = catch_unwind(AssertUnwindSafe(|| self.foresee(event, path)));
        let (decision, identities) = foreseen.unwrap_or(Err(Fault::Panicked)).ok()?;
        (decision.verdict_on_the_call() == Verdict::Allow).then_some(identities)
    }

    fn foresee(&self, event: &Event, path: &str) -> Result<(Decision, Vec<Identity>), Fault> {
        let mut seen = Seen::default();
        let held = self.recall(&event.session)?;
        let standing = self.definitions.stack(held.session.pin.as_ref(), event.definition.as_deref())?;
        let judging = self.judging(&standing, held.session.todos.scripts());
        let decision = self.converse(&judging, &held.session, event, &mut seen);
        self.hold(&event.session, held);
        seen.settle(&[]);
        Ok((decision, seen.facts.identities(path).cloned().collect()))
    }

    /// Does what was left for later, where the runtime was built to leave anything.
    pub fn catch_up(&self) {
        self.store.catch_up(&|session, head| {
            let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            held.get_mut(session).filter(|held| held.head == head).map(|held| held.encoded())
        });
    }

    fn operate(&self, session: &str, body: Body) -> Answer {
        self.decide(&Event::new(session, clock::now(), body))
    }

    fn answer(&self, message: &Message) -> Answer {
        self.answer_seeing(message, &mut Seen::default())
    }

    fn answer_seeing(&self, message: &Message, seen: &mut Seen) -> Answer {
        // A defect of ours must not become a call that nobody judged.
        let carried = catch_unwind(AssertUnwindSafe(|| self.carry(message, seen)));
        match carried.unwrap_or(Err(Fault::Panicked)) {
            Ok(answer) => answer,
            // A hook that stands ready everywhere has nothing to enforce where nobody declared anything.
            Err(Fault::Definition(DefinitionFault::Missing(_))) if self.idles => Answer::unkept(Decision::default()),
            Err(fault) => self.refuse(message, &fault),
        }
    }

    /// Answers where nothing could be decided.
    #[cold]
    fn refuse(&self, message: &Message, fault: &Fault) -> Answer {
        let alone = settings_alone(&message.event, self.line.as_ref());
        let stopped = || self.stop_at_fault(message, fault);
        let called = || self.call_at_fault(message, fault);
        alone.or_else(stopped).or_else(called).unwrap_or_else(|| Answer::refusal(refusal(fault)))
    }

    /// Load, decide (asking for facts as needed), commit; and all of it again if someone committed in between.
    fn carry(&self, message: &Message, seen: &mut Seen) -> Result<Answer, Fault> {
        let carried = self.attempt(message, seen);
        seen.settle(carried.as_ref().map_or(&[], |answer| &answer.findings));
        carried
    }

    fn attempt(&self, message: &Message, seen: &mut Seen) -> Result<Answer, Fault> {
        seen.files.begin(&message.event, || self.definitions.root(None));
        let mut held = self.recall(&message.event.session)?;
        for _ in 0..COMMIT_TRIES_MAX {
            let named = message.event.definition.as_deref();
            let standing = self.definitions.stack(held.session.pin.as_ref(), named)?;
            let judging = self.judging(&standing, held.session.todos.scripts());
            let plain = plainly_named(message, &judging.redactor);
            let message = plain.as_ref().unwrap_or(message);
            let attributed = attributed(judging.stack(), &held.session, &message.event);
            let attributed = attributed.map(|event| Message { event, ..message.clone() });
            let message = attributed.as_ref().unwrap_or(message);
            let mut decision = self.converse(&judging, &held.session, &message.event, seen);
            if decision.passing {
                self.hold(&message.event.session, held);
                return Ok(Answer::unkept(decision));
            }
            let queue = std::mem::take(&mut decision.queue);
            match self.commit(message, &judging, held, decision, &seen.facts)? {
                Ok(answer) => {
                    self.keep_queue(&judging, &queue, &seen.files);
                    return Ok(answer);
                }
                // Facts that were seen stay seen: a probe that runs something must not run again.
                Err(Moved) => held = self.load(&message.event.session)?,
            }
        }
        Err(Fault::Busy)
    }

    /// Asks the core until it has decided, answering its probes; what was not learned in time is unknown.
    fn converse(&self, judging: &Judging, session: &Session, event: &Event, seen: &mut Seen) -> Decision {
        for round in 0..=PROBE_ROUNDS_MAX {
            let probes = match decide(judging.stack(), session, event, &seen.facts) {
                Step::Done(decision) => return *decision,
                Step::Need(probes) => probes,
            };
            for probe in probes {
                let fact = match &probe {
                    _ if round >= PROBE_ROUNDS_MAX => Fact::Unknown("asked for too late".to_owned()),
                    Probe::Exceptions { at, refusals } => {
                        seen.exceptions = self.exceptions(session, judging.stack());
                        seen.exceptions.as_ref().map_or(Fact::Absent, |known| known.answer(*at, refusals))
                    }
                    Probe::Counts => Fact::Told(Told::Counted { writes: session.writes, acts: session.acts }),
                    Probe::Calls { queries } => self.calls(judging.stack(), &event.session, queries),
                    Probe::Web { request } => {
                        self.patience.iter().for_each(|patience| patience(web::WEB_MS_MAX));
                        self.web.as_deref().map_or_else(web::absent, |web| web::answer(web, request))
                    }
                    Probe::Scripts { commands } => self.commands(judging).scripts_of(commands),
                    Probe::Run { argv, timeout_ms, author } => self.commands(judging).answer(argv, *timeout_ms, author),
                    Probe::Files { ask } => self.files(judging, (session, event), ask, &mut seen.files),
                    probe => judging.prober.answer(probe, event),
                };
                seen.facts.keep(probe, fact);
            }
        }
        let why = "the policies asked for facts without end";
        Decision::merge(vec![Finding::fault("probe", code::FAULT_PROBE, why)])
    }

    fn commands<'a>(&'a self, judging: &'a Judging) -> Commands<'a> {
        Commands {
            stack: judging.stack(),
            scripts: &judging.standing.scripts,
            redactor: &judging.redactor,
            home: self.home.as_deref(),
            state: self.state.as_deref(),
            environment: self.environment,
            patience: self.patience,
        }
    }

    /// The exceptions of the workspace where the session is at home, wherever it has moved to since.
    fn exceptions(&self, session: &Session, stack: &Stack) -> Option<Exceptions> {
        let home = session.pin.as_ref().map_or(stack.home(), |pin| &pin.home);
        self.state.as_deref().map(|state| Exceptions::of(state, home))
    }

    fn recall(&self, session: &str) -> Result<Box<Held>, Fault> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).remove(session);
        held.map_or_else(|| Ok(self.load(session)?), Ok)
    }

    fn load(&self, session: &str) -> Result<Box<Held>, StoreFault> {
        loading::load(&*self.store, session)
    }

    /// What it takes to judge: by these definitions, with these files of todos' checks protected besides theirs.
    fn judging(&self, standing: &Arc<Standing>, scripts: BTreeSet<String>) -> Arc<Judging> {
        let mut ground = self.ground.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |(known, judging): &&(Arc<Standing>, Arc<Judging>)| {
            Arc::ptr_eq(known, standing) && judging.scripts == scripts
        };
        if let Some((_, judging)) = ground.as_ref().filter(same) {
            return Arc::clone(judging);
        }
        let judging = Arc::new(self.prepare(standing, scripts));
        *ground = Some((Arc::clone(standing), Arc::clone(&judging)));
        judging
    }

    // Its stack is given back before anybody judges: each page that is deeper costs a fault.
    #[inline(never)]
    fn prepare(&self, standing: &Arc<Standing>, scripts: BTreeSet<String>) -> Judging {
        let stack = &standing.stack;
        let full = stack.layers.iter().any(|layer| layer.model.store.sync == model::Sync::Full);
        if let Some(kept) = &self.kept {
            let known = standing.kept.as_ref() == Some(kept);
            for (layer, (digest, text)) in stack.layers.iter().zip(&standing.texts) {
                // A pack's layer is not the pack's own model: it is mixed with what the definition says.
                match layer.is_pack() {
                    true => kept.keep_text(digest, text),
                    false if known => {}
                    false => kept.keep(digest, text, &layer.model),
                }
            }
        }
        Judging {
            prober: LazyLock::new(self.prober(standing, &scripts)),
            scripts,
            redactor: redactor(stack),
            sync: if full { Sync::Full } else { Sync::Os },
            adapted: self.adapted(stack),
            standing: Arc::clone(standing),
        }
    }

    /// The stack with what only the embedder knows; nothing when that changes nothing.
    fn adapted(&self, stack: &Stack) -> Option<Stack> {
        let home = self.home.as_ref().filter(|_| stack.mentions_home());
        let catalogue = self.offered();
        let bare = self.policies.is_empty() && self.checkers.is_empty() && self.feedback.is_empty();
        if bare && home.is_none() && catalogue.is_none() {
            return None;
        }
        let mut stack = stack.clone();
        stack.unknown_tools = stack.unknown_tools.or(catalogue.is_some().then_some(UnknownTools::Deny));
        stack.catalogue = catalogue;
        stack.own.extend(self.policies.iter().cloned());
        stack.checkers.extend(self.checkers.iter().cloned());
        stack.feedback.extend(self.feedback.iter().cloned());
        if let Some(home) = home {
            crate::tilde::expand(&mut stack, home);
        }
        Some(stack)
    }

    fn prober(&self, standing: &Arc<Standing>, scripts: &BTreeSet<String>) -> MakeProber {
        let (standing, line, catalogue) = (Arc::clone(standing), self.line.clone(), self.offered());
        let root = PathBuf::from(&standing.stack.root);
        let scripts: Vec<PathBuf> = scripts.iter().map(|script| root.join(script)).collect();
        let (home, state, settings) = (self.home.clone(), self.state.clone(), self.host_settings.clone());
        let started = self.started_in.clone();
        Box::new(move || {
            let definition = standing.stack.path.as_ref().map(Path::new);
            let trees = standing.trees();
            let protected = standing.protected_in(&trees);
            let own_of = |tree| own_paths(tree, home.as_deref(), state.as_deref(), definition, &protected);
            let mut own: Vec<OwnPath> = trees.iter().flat_map(own_of).collect();
            own.extend(own_between(&root, &started));
            own.extend(own_settings(&standing.stack));
            own.extend(own_program(line.as_ref()));
            let (instructing, settings): (Vec<OwnPath>, Vec<OwnPath>) =
                settings.into_iter().partition(|own| own.instructs);
            let instructing = instructing.into_iter().map(|own| own.path).collect();
            own.extend(settings);
            own.extend(scripts.into_iter().map(|script| OwnPath::whole(script, label::CHECK)));
            let schemas = inline_schemas(&standing.stack);
            let first_root = standing.first_root.clone();
            WorkspaceProber::new(Ground { root, first_root, home, own, instructing, schemas })
                .started_by(line)
                .offered(catalogue)
        })
    }

    fn commit(
        &self,
        message: &Message,
        judging: &Judging,
        mut held: Box<Held>,
        mut decision: Decision,
        facts: &Facts,
    ) -> Result<Result<Answer, Moved>, Fault> {
        let session = &message.event.session;
        redact_changes(&mut decision, &judging.redactor);
        redact_policies(&mut decision, &message.event, &judging.redactor);
        let entry = Entry {
            event: &message.event,
            raw: &message.raw,
            by_person: message.by_person,
            partial: message.partial,
            decision: &decision,
            facts,
            stack: judging.stack(),
            session: &held.session,
            torn: held.torn,
            restored: held.restored,
            redactor: &judging.redactor,
            artifact: None,
        };
        let Linked { lines, head } = Entry { artifact: self.keep_whole(&entry)?, ..entry }.link(held.head);
        let before = takes_snapshot(&decision).then(|| held.session.memory.clone());
        held.session.apply(message.event.at, &decision.changes, &|digest| {
            self.store.snapshot_get(session, digest).ok().flatten()
        });
        self.keep_snapshot(session, before.as_ref(), &held.session)?;
        let state = Encoding { session: &held.session, bytes: Cell::new(held.bytes) };
        let commit = Commit {
            expected: held.head,
            cut: held.torn.is_some(),
            restored: held.restored,
            lines: &lines,
            head,
            state: &state,
            sync: self.sync(judging.sync, &message.event),
        };
        match self.store.commit(session, &commit)? {
            Committed::Moved => Ok(Err(Moved)),
            Committed::Done => {
                self.sign(message, judging, head);
                held.bytes = state.bytes.get();
                (held.head, held.torn, held.restored) = (head, None, None);
                self.hold(session, held);
                let notices = notices::of(judging, &message.event, &decision, facts);
                Ok(Ok(Answer { notices, ..Answer::kept(decision, head.seq, head.hash) }))
            }
        }
    }

    /// Keeps an event that went wrong whole where its record will not; that it cannot be kept is a fault.
    fn keep_whole(&self, entry: &Entry<'_>) -> Result<Option<Artifact>, Fault> {
        let Some(state) = self.state.as_deref() else { return Ok(None) };
        Ok(entry.clipped_fault().map(|kept| Artifacts::of(state).keep(&kept)).transpose()?)
    }

    /// Signs the head of a session that ended, where the definition wants it. The record is kept already, so a key
    /// that cannot be used only leaves the end of this session unsigned; `jackline doctor` tells.
    fn sign(&self, message: &Message, judging: &Judging, head: Head) {
        let wanted = judging.stack().layers.iter().any(|layer| layer.model.audit.checkpoint);
        if let (Body::SessionEnded, true, Some(state)) = (&message.event.body, wanted, &self.state) {
            drop(checkpoint::kept_below(state).sign(&message.event.session, (head.seq, head.hash), clock::now()));
        }
    }

    fn hold(&self, session: &str, held: Box<Held>) {
        let mut all = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= HELD_MAX {
            all.pop_first();
        }
        all.insert(session.to_owned(), held);
    }

    /// A snapshot's content is in the store before any record names it. What no name leads to afterwards goes
    /// first: a store keeps only so many.
    fn keep_snapshot(&self, session: &str, before: Option<&Memory>, next: &Session) -> Result<(), StoreFault> {
        let Some(before) = before else { return Ok(()) };
        let named = |digest: &Digest| next.snapshots.iter().any(|(_, known)| known == digest);
        for digest in self.store.snapshots(session)?.iter().filter(|digest| !named(digest)) {
            self.store.snapshot_drop(session, digest)?;
        }
        self.store.snapshot_put(session, &before.encode()).map(drop)
    }
}

/// What was seen for one event, over all attempts to carry it.
#[derive(Debug, Default)]
struct Seen {
    facts: Facts,
    /// Where exceptions are, once they were asked for.
    exceptions: Option<Exceptions>,
    files: FilesSeen,
}

impl Seen {
    /// An exception for a single use is used up by the kept decision that names it. One that was claimed for nothing
    /// stands again, also when the event could not be carried to its end.
    fn settle(&self, findings: &[Finding]) {
        let Some(exceptions) = &self.exceptions else { return };
        for (_, fact) in self.facts.iter() {
            let Fact::Excepted(seen) = fact else { continue };
            for claimed in seen.iter().filter(|exception| exception.once) {
                let used = findings.iter().any(|finding| finding.exception.as_ref() == Some(&claimed.id));
                if used { exceptions.use_up(&claimed.id) } else { exceptions.give_back(&claimed.id) }
            }
        }
    }
}

fn takes_snapshot(decision: &Decision) -> bool {
    decision.changes.iter().any(|change| matches!(change, Change::Snapshot { .. }))
}

/// Another process committed in between.
#[derive(Debug)]
struct Moved;

/// What takes secrets out, with what these definitions name beside.
fn redactor(stack: &Stack) -> Redactor {
    Redactor::new(stack.layers.iter().flat_map(|layer| layer.model.audit.redact.iter().map(String::as_str)))
}

/// Whether changed settings silence us can be told without a store and without a definition.
fn settings_alone(event: &Event, line: Option<&CommandLine>) -> Option<Answer> {
    let Body::SettingsChanged { file, wired } = &event.body else { return None };
    let mut facts = Facts::default();
    let fact = probes::settings(Path::new(file), *wired, line);
    facts.keep(Probe::Settings { file: file.clone(), wired: *wired }, fact);
    match decide(&Stack::default(), &Session::default(), event, &facts) {
        Step::Done(decision) => Some(Answer::unkept(*decision)),
        Step::Need(_) => None,
    }
}

/// A fault as the agent is shown it: never an internal text beyond one sentence.
fn refusal(fault: &Fault) -> Finding {
    match fault {
        Fault::Definition(fault) => fault.finding(),
        Fault::Store(fault) => fault.finding(),
        Fault::Busy | Fault::Artifact(_) => Finding::fault("store", code::FAULT_STORE, &fault.to_string()),
        Fault::Panicked => Finding::fault("runtime", code::FAULT_INTERNAL, &fault.to_string()),
    }
}
