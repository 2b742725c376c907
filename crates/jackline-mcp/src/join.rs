//! Which session a call belongs to: the one that is named, the one whose hook saw the call, the only one that is live
//! in the workspace, or a new one. Never a guess between several.

use std::fs::File;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jackline_core::code;
use jackline_core::decision::Finding;
use jackline_core::event::{Body, Call, Event, MAIN_AGENT};
use jackline_core::listing::MCP_HOST;
use jackline_runtime::live::{Listed, Live, asked_by};
use jackline_runtime::store::StoreFault;
use jackline_runtime::{Answer, Runtime, clock, private};
use serde_json::Value;

/// Bytes of chance in the name of a session that we start: enough that no two are alike.
const NAME_BYTES: usize = 16;
/// The file that keeps two proxies that start at once from starting a session each.
const LOCK: &str = "mcp.lock";

/// Where Claude Code says which of its calls this is; a model cannot write there.
pub(crate) const CLAUDE_CALL: &str = "claudecode/toolUseId";
/// Bytes of a host's id for a call; hosts use some forty.
pub(crate) const CALL_ID_BYTES_MAX: usize = 256;

/// Where a call belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Joined {
    pub(crate) session: String,
    /// The sub-agent that asked for it, where a hook saw who did.
    pub(crate) agent: Option<String>,
}

impl Joined {
    /// Something that happened there, told by us.
    pub(crate) fn event(&self, body: Body) -> Event {
        Event { agent: self.agent.clone(), ..event(&self.session, body) }
    }
}

/// Finds sessions for calls.
#[derive(Debug)]
pub(crate) struct Joiner {
    /// The session that was named when the proxy was started.
    named: Option<String>,
    /// The state directory, where there is one.
    state: Option<PathBuf>,
    /// The session that was started here, and ends with us.
    own: Mutex<Option<String>>,
    /// The sessions that may be live, as they were last listed.
    listed: Mutex<Option<Listed>>,
    /// The session that the last call belonged to: where the next is looked for first, and no more.
    recent: Mutex<Option<String>>,
}

impl Joiner {
    pub(crate) fn new(named: Option<String>, state: Option<PathBuf>) -> Self {
        Self { named, state, own: Mutex::default(), listed: Mutex::default(), recent: Mutex::default() }
    }

    /// The session of a call, by the host's id of it where there is one; or why none is meant plainly.
    pub(crate) fn join(&self, runtime: &Runtime, call: &Call) -> Result<Joined, Box<Answer>> {
        let agent = |agent: &str| Some(agent.to_owned()).filter(|agent| agent != MAIN_AGENT);
        let Some(id) = call.id.as_deref().filter(|_| !call.own_id) else {
            return Ok(Joined { session: self.session(runtime, call)?, agent: None });
        };
        // The one that saw the last call most likely saw this one.
        let known = self.present().and_then(|session| Some((runtime.session(&session).ok()?, session)));
        if let Some((session, known)) = known
            && let Some(asked) = asked_by(&session, id)
        {
            return Ok(Joined { agent: agent(asked), session: known });
        }
        if let Some(named) = &self.named {
            return Ok(Joined { session: named.clone(), agent: None });
        }
        let live = runtime.live().map_err(refused)?;
        if let Some((session, asked)) = live.iter().find_map(|live| Some((&live.id, live.asked_by(id)?))) {
            self.remember(session);
            return Ok(Joined { session: session.clone(), agent: agent(asked) });
        }
        Ok(Joined { session: self.session(runtime, call)?, agent: None })
    }

    /// The session that someone on the call's way names, and the call's id; nothing unless the record has that call.
    pub(crate) fn addressed(&self, runtime: &Runtime, address: &Value) -> Option<(Joined, String)> {
        let member = |name: &str| address.get(name)?.as_str().filter(|id| (1..=CALL_ID_BYTES_MAX).contains(&id.len()));
        let (session, call) = (member("session")?, member("call")?);
        let agent = Some(runtime.requested_by(session, call)?).filter(|agent| agent != MAIN_AGENT);
        self.remember(session);
        Some((Joined { session: session.to_owned(), agent }, call.to_owned()))
    }

    /// The session that is joined already, if any.
    pub(crate) fn present(&self) -> Option<String> {
        self.named.clone().or_else(|| lock(&self.recent).clone()).or_else(|| self.own())
    }

    /// INVARIANT: this binds nobody: a call that says where it belongs speaks for no other.
    fn remember(&self, session: &str) {
        *lock(&self.recent) = Some(session.to_owned());
    }

    /// The session for calls that say nothing of one.
    fn session(&self, runtime: &Runtime, call: &Call) -> Result<String, Box<Answer>> {
        if let Some(named) = &self.named {
            return Ok(named.clone());
        }
        // It was begun for these very calls, when no other was there.
        if let Some(own) = self.own() {
            return Ok(own);
        }
        let live = runtime.live_again(&mut lock(&self.listed)).map_err(refused)?;
        if let Some(joined) = self.joined(runtime, &live, call)? {
            return Ok(joined);
        }
        let _lock = self.lock();
        // Another proxy may have begun one meanwhile.
        let live = runtime.live().map_err(refused)?;
        self.joined(runtime, &live, call)?.map_or_else(|| self.start(runtime), Ok)
    }

    /// The session that a call belongs to which says nothing of it: the one whose hook let it through, else the only one.
    fn joined(&self, runtime: &Runtime, live: &[Live], call: &Call) -> Result<Option<String>, Box<Answer>> {
        let comes_by = |live: &Live| event(&live.id, Body::CallRequested(call.clone()));
        let awaiting: Vec<&Live> = live.iter().filter(|live| runtime.awaits(live, &comes_by(live))).collect();
        let one = match (awaiting.as_slice(), live) {
            ([], []) => return Ok(None),
            ([one], _) => *one,
            ([], [one]) => one,
            _ => return Err(Box::new(ambiguous(live))),
        };
        self.remember(&one.id);
        Ok(Some(one.id.clone()))
    }

    fn start(&self, runtime: &Runtime) -> Result<String, Box<Answer>> {
        let id = fresh_id().ok_or_else(|| {
            let finding = Finding::fault("session", code::FAULT_INTERNAL, "there is no chance to name a session by");
            Box::new(Answer::refusal(finding))
        })?;
        let answer = runtime.decide(&event(&id, Body::SessionStarted { invariants: None }));
        if answer.verdict.refuses() {
            return Err(Box::new(answer));
        }
        *lock(&self.own) = Some(id.clone());
        Ok(id)
    }

    /// Ends the session that was started here.
    pub(crate) fn end(&self, runtime: &Runtime) {
        if let Some(own) = lock(&self.own).take() {
            runtime.decide(&event(&own, Body::SessionEnded));
        }
    }

    fn own(&self) -> Option<String> {
        lock(&self.own).clone()
    }

    /// Held while a session is looked for and started. Where it cannot be had, two may be started at once, which is told.
    fn lock(&self) -> Option<File> {
        let state = self.state.as_deref()?;
        private::create_dir(state).ok()?;
        let file = File::create(state.join(LOCK)).ok()?;
        file.lock().ok().map(|()| file)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An event that the proxy tells.
pub(crate) fn event(session: &str, body: Body) -> Event {
    Event { host: Some(MCP_HOST.to_owned()), ..Event::new(session, clock::now(), body) }
}

/// An id for a call that no host named.
pub(crate) fn fresh_call_id() -> Option<String> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).ok()?;
    Some(format!("mcp-{:016x}", u64::from_le_bytes(bytes)))
}

fn fresh_id() -> Option<String> {
    let mut bytes = [0; NAME_BYTES];
    getrandom::fill(&mut bytes).ok()?;
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(format!("mcp-{digits}"))
}

fn refused(fault: StoreFault) -> Box<Answer> {
    Box::new(Answer::refusal(fault.finding()))
}

fn ambiguous(several: &[Live]) -> Answer {
    let reason = format!("{} sessions are live in this workspace, and none is named.", several.len());
    let finding = Finding::deny("session", code::SESSION_AMBIGUOUS, reason)
        .suggest("ask the owner to name one with `--session`, or to end those that are over");
    Answer::refusal(finding)
}
