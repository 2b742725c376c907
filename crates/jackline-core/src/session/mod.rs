//! All we remember of one run: a bounded state, and the changes that lead from one state to the next.
//!
//! State is never edited in place by a guard: `decide` names [`Change`]s, the audit log keeps them, and folding
//! them over an empty session gives the same state without running a guard.

mod apply;
mod cadence;
mod change;
mod open;
mod pairs;
mod ring;
mod scheduled;
mod shown;

use std::collections::{BTreeMap, VecDeque};

use postcard::ser_flavors::Flavor;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use crate::sha::Key;
pub use cadence::{CADENCES_MAX, Cadence, FILES_MAX, PACES_MAX, Pace, RECENT_CALLS_MAX, Recent, Taken, Turn};
pub use change::Change;
pub use scheduled::{SCHEDULED_MAX, prompt_key};

use crate::completion::Stopped;
use crate::extension::Extended;
use crate::facts::Statements;
use crate::files;
use crate::listing::Served;
use crate::overrides::Imposed;
use crate::schema::SchemaError;
use crate::sha::Digest;
use crate::stack::Origin;
use crate::time::Timestamp;
use crate::todos::Todos;
use crate::usage::Mark;

/// Files one agent is remembered to have read; an evicted one must be read again.
pub const READS_MAX: usize = 1024;
/// Agents of one session that are remembered apart; the one idle longest makes room.
pub const AGENTS_MAX: usize = 32;
/// Files remembered over all agents; the idlest agent's oldest goes first. Keeps the state within one write.
pub const READS_TOTAL_MAX: usize = 4096;
/// Names remembered as done (tools, kinds, steps); the oldest makes room and must be done again.
pub const DONE_MAX: usize = 512;
/// Calls that were requested and have not finished; an older one is taken as lost.
pub const OPEN_CALLS_MAX: usize = 128;
/// Finished calls remembered so that finishing twice is finishing once.
pub const FINISHED_MAX: usize = 128;
/// Signatures kept for the loop guard; a declared window beyond it is a definition fault.
pub const WINDOW_MAX: usize = 100;
/// Constraints standing on one agent at once; a loop beside them halts it.
pub const CONSTRAINTS_MAX: usize = 64;
/// Bytes of a constraint's readable parts; the signature is what counts.
pub const CONSTRAINT_TEXT_BYTES_MAX: usize = 256;
/// Named snapshots of one session.
pub const SNAPSHOTS_MAX: usize = 16;
/// Entries that an embedder's own policies may keep, over all of them.
pub const MEMORY_MAX: usize = 256;
/// Values one agent repairs at once; the oldest makes room and starts anew.
pub const REPAIRS_MAX: usize = 64;
/// Bytes of what was wrong with them, over all agents; the idlest agent's oldest goes first, its count stays.
pub const DIAGNOSTICS_BYTES_MAX: usize = 64 * 1024;
/// Bytes of one such entry, its key included; a policy that wants more has a fault.
pub const MEMORY_BYTES_MAX: usize = 1024;

/// All we remember of one run.
///
/// INVARIANT: as JSON it outlives the version that wrote it, beside a log whose beginning was retired. So what is added here,
/// or below, has a default, and what stands here keeps its name and meaning.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Session {
    /// When its first event happened.
    pub began: Option<Timestamp>,
    /// The latest time seen; a clock that goes backwards does not take it back.
    pub latest: Option<Timestamp>,
    /// Digest of the run's invariants, once named.
    pub invariants: Option<Digest>,
    /// Digest of the definition that judged the last event.
    pub definition: Option<Digest>,
    /// The workspace and the definition's place, pinned by the session's first event.
    pub pin: Option<Pin>,
    /// Snapshots by name; their content is in the store.
    pub snapshots: Vec<(String, Digest)>,
    /// Every requested call, counted once.
    pub steps: u64,
    /// Successful calls that changed files; never taken back, so a restored success is not fresh.
    pub writes: u64,
    /// Calls that may have changed something, at their request and at their end; counted only while the commands of a
    /// todo may have to run again.
    pub acts: u64,
    /// A call went on in the background: files may change at any time.
    pub background: bool,
    pub budget: Budget,
    #[serde(deserialize_with = "ring::deserialize")]
    pub open: VecDeque<Open>,
    #[serde(deserialize_with = "ring::deserialize")]
    pub finished: VecDeque<Key>,
    pub memory: Memory,
    /// How far hosts' transcripts were read for what was used, the one read last at the end.
    pub transcripts: Vec<Mark>,
    /// Work items; no part of what snapshot, restore and reset act on.
    pub todos: Todos,
    /// What was recorded as fact; neither.
    pub statements: Statements,
    /// Something was written or run since the last prompt; kept only where that matters.
    pub worked: bool,
    /// The same, since a stop was last let through: a prompt does not take it back.
    pub owed: bool,
    /// How the main agent's last stop ended, unless it went on since.
    pub stopped: Option<Stopped>,
    /// How the last stop that was let through ended, whatever happened since.
    pub stood: Option<Stopped>,
    /// Why the main agent could not go on when it was last let stop, where it said so.
    pub parked: Option<String>,
    /// The tools of MCP servers as they were listed, the server told of last at the end.
    pub servers: Vec<Served>,
    /// Its last event said that it is over.
    pub ended: bool,
    /// How file policies stand.
    pub files: files::Remembered,
    /// Prompts that agents had their host submit later, by what they say; no part of what snapshot and restore act on.
    pub scheduled: Vec<Key>,
}

/// Where a session is at home; a later `cd` changes nothing about it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pin {
    /// The workspace root now; a host's own change of work tree moves it.
    pub root: String,
    /// The workspace root at the beginning.
    pub home: String,
    pub definition: Option<String>,
}

/// What guards remember: what snapshot, restore and reset act on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// What succeeded, oldest first.
    pub done: Vec<Done>,
    pub agents: BTreeMap<String, Agent>,
    /// What embedders' policies keep, by policy and key.
    #[serde(with = "pairs")]
    pub kept: BTreeMap<(String, String), String>,
    /// Turns of those who give feedback, the identity counted last at the end.
    pub paces: Vec<Pace>,
    /// The latest calls, newest last, where a provider of the embedding program may ask for them.
    pub recent: VecDeque<Recent>,
}

/// What is used up of the limits.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    /// When a reset started the limits anew.
    pub reset: Option<Timestamp>,
    /// When the present prompt was submitted.
    pub prompted: Option<Timestamp>,
    pub session: Used,
    pub prompt: Used,
    /// The first refusal has been told, so `stop` is not repeated.
    pub refused: bool,
    /// The kinds of limits whose refusal has been told, each once.
    pub told: Vec<String>,
    /// The soft step limit has been warned of.
    pub warned: bool,
    /// What a person added to the session's limits, and to those of the present prompt.
    pub session_extended: Extended,
    pub prompt_extended: Extended,
    /// What was used could not be learned the last time.
    pub unmetered: bool,
}

/// Steps, tokens and cost of a session or of a prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Used {
    pub steps: u64,
    pub tokens: u64,
    /// Billionths of a dollar: a sum of fractions would miss a limit by less than anyone was charged.
    pub cost_nano_usd: u64,
}

/// Dollars as they are counted.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates, and so do budgets")]
pub fn nano_usd(usd: f64) -> u64 {
    (usd * 1e9).round() as u64
}

/// Counted dollars as people are shown them.
#[must_use]
pub fn shown_usd(nano: u64) -> f64 {
    nano as f64 / 1e9
}

/// Something that succeeded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// A tool's name, `@kind`, or a step's name and key.
    pub name: String,
    /// How many writes had happened by then.
    pub writes: u64,
    /// The work tree as it was, where a fresh policy asks for it.
    pub tree: Option<Digest>,
}

/// A call that was requested and has not finished.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Open {
    pub call: Option<Key>,
    pub signature: Key,
    pub agent: String,
    /// It was refused, so an outcome of it earns nothing.
    pub refused: bool,
    /// The step at which it was requested.
    pub step: u64,
    /// How many writes had happened by then: it has not surely seen a later one.
    pub writes: u64,
    /// A proxy on the call's way has seen it too.
    pub sighted: bool,
    /// Our own server, at the end of its way, has seen it too.
    pub served: bool,
    /// The file that our own server may open for it, where it is to open one.
    pub place: Option<Key>,
    /// The id that a proxy or our own server gave it, where its host's did not come along.
    pub alias: Option<Key>,
    /// Who gave it that id has told of its end; its host has not.
    pub ended: bool,
}

impl Open {
    /// Whether this is its id, or the other one that it was given.
    #[must_use]
    pub fn is_named(&self, call: Key) -> bool {
        self.call == Some(call) || self.alias == Some(call)
    }
}

/// What is remembered of one agent apart from the others.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Agent {
    /// The step at which it was last seen.
    pub seen: u64,
    /// Files it read, oldest first, with what they contained.
    pub reads: Vec<Read>,
    /// Its latest calls, newest last.
    #[serde(deserialize_with = "ring::deserialize")]
    pub window: VecDeque<Windowed>,
    pub constraints: Vec<Constraint>,
    pub halted: Option<Halt>,
    /// It called an unknown tool and has not made a known call since.
    pub correct_tool: Option<String>,
    /// The latest results of different calls by signature, newest last, for `progress_aware`.
    #[serde(deserialize_with = "ring::deserialize")]
    pub outcomes: VecDeque<(Key, Key)>,
    /// Overrides that stand on it, oldest first.
    pub overrides: Vec<Imposed>,
    /// Values that did not fit their schema and are to be repaired, oldest first.
    pub repairs: Vec<Repair>,
    /// Its stops that were blocked in a row.
    pub blocks: u32,
    /// A stop of its was blocked because we could not decide, since it was last let go.
    pub faulted: bool,
    /// Why it cannot go on, since it said so.
    pub parked: Option<String>,
}

/// A call that the loop guard remembers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Windowed {
    pub signature: Key,
    /// The step at which it was requested.
    pub step: u64,
    /// A later result of an equal call was another: who is aware of progress does not count it.
    pub progressed: bool,
}

/// A value that has not fit its schema yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repair {
    /// What is repaired: a target, a tool and a schema.
    pub key: Key,
    /// How often it did not fit in a row.
    pub count: u32,
    /// What was wrong each time, oldest first, as far as it is kept.
    pub attempts: Vec<Vec<SchemaError>>,
}

/// A file that was read, and what it contained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Read {
    pub file: Key,
    pub content: Option<Key>,
}

/// The typed override put on an agent after repetition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Constraint {
    pub signature: Key,
    /// The readable parts of the signature.
    pub action: String,
    pub tool: String,
    pub target: String,
    pub retries_left: u32,
    /// Other calls that must still run before it lapses.
    pub ttl_steps: u32,
    pub window: u32,
    pub threshold: u32,
    /// The step at which it was put.
    #[serde(default)]
    pub step: u64,
    /// Only definitions that observe put it: it is nothing to one that enforces.
    #[serde(default)]
    pub observed: bool,
}

/// Why an agent's run was halted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Halt {
    pub code: String,
    pub reason: String,
}

impl Session {
    /// The time of a decision: the event's, unless the clock went backwards.
    #[must_use]
    pub fn now(&self, at: Timestamp) -> Timestamp {
        self.latest.map_or(at, |latest| latest.max(at))
    }

    /// What is remembered of an agent; nothing at first.
    #[must_use]
    pub fn agent(&self, name: &str) -> Option<&Agent> {
        self.memory.agents.get(name)
    }

    /// Why the main agent could not go on, while its last stop was for that.
    #[must_use]
    pub fn parked_for(&self) -> Option<&str> {
        self.parked.as_deref().filter(|_| self.stopped == Some(Stopped::Parked))
    }

    /// How far a transcript was read.
    #[must_use]
    pub fn transcript(&self, file: &str) -> Option<&Mark> {
        let file = crate::usage::key(file);
        self.transcripts.iter().find(|mark| mark.file == file)
    }

    /// The snapshot of this name.
    #[must_use]
    pub fn snapshot(&self, name: &str) -> Option<Digest> {
        self.snapshots.iter().find(|(known, _)| known == name).map(|(_, digest)| *digest)
    }
}

impl Session {
    /// The bytes a checkpoint keeps.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        self.encode_in_room_of(0)
    }

    /// The same, by who knows about how many bytes it takes: they are written without being moved.
    #[must_use]
    pub fn encode_in_room_of(&self, bytes: usize) -> Vec<u8> {
        // Plain data with owned strings: encoding into a growing buffer has nothing that could fail.
        postcard::serialize_with_flavor(self, Room(Vec::with_capacity(bytes))).unwrap_or_default()
    }

    /// Reads what [`Session::encode`] wrote.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        postcard::from_bytes(bytes).ok()
    }
}

/// A buffer that begins with room.
struct Room(Vec<u8>);

impl Flavor for Room {
    type Output = Vec<u8>;

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<Vec<u8>> {
        Ok(self.0)
    }
}

impl Memory {
    /// The bytes a snapshot keeps.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        // Plain data with owned strings: encoding into a growing buffer has nothing that could fail.
        postcard::to_allocvec(self).unwrap_or_default()
    }

    /// Reads what [`Memory::encode`] wrote.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        postcard::from_bytes(bytes).ok()
    }
}

impl Agent {
    /// What it read of a file, if it did.
    #[must_use]
    pub fn read(&self, file: &Key) -> Option<&Read> {
        self.reads.iter().rev().find(|read| read.file == *file)
    }

    /// How many times wider reads and outputs may be that a definition of this origin bounds. A project widens its own
    /// bounds and never its user's; the host's word counts for all.
    #[must_use]
    pub fn widening(&self, origin: Origin, now: Timestamp) -> u32 {
        crate::overrides::widening(&self.overrides, origin, now)
    }

    /// The latest result of a call with this signature, as far back as calls are remembered.
    #[must_use]
    pub fn result(&self, signature: &Key) -> Option<Key> {
        self.outcomes.iter().find(|(known, _)| known == signature).map(|(_, result)| *result)
    }

    /// Whether something restrains it that forgetting it would lift.
    fn is_restrained(&self) -> bool {
        let asked = self.correct_tool.is_some() || !self.repairs.is_empty() || self.blocks > 0;
        asked || !self.constraints.is_empty() || !self.overrides.is_empty()
    }

    /// What is being repaired under a key.
    #[must_use]
    pub fn repair(&self, key: &Key) -> Option<&Repair> {
        self.repairs.iter().find(|repair| repair.key == *key)
    }

    /// The constraint on a signature, if one stands.
    #[must_use]
    pub fn constraint(&self, signature: &Key) -> Option<&Constraint> {
        self.constraints.iter().find(|constraint| constraint.signature == *signature)
    }
}

impl Repair {
    /// Bytes of what is kept of its attempts, each counted so that even empty ones end.
    fn bytes(&self) -> usize {
        let texts = |errors: &Vec<SchemaError>| errors.iter().map(SchemaError::bytes).sum::<usize>();
        self.attempts.iter().map(|errors| size_of::<Self>() + texts(errors)).sum()
    }
}

impl Constraint {
    /// What it is called: one action is forbidden once at one step.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}-{}", self.signature, self.step)
    }

    /// The typed override as hosts and models are shown it; one fixed form, no free text.
    #[must_use]
    pub fn to_value(&self) -> Value {
        serde_json::json!({
            "override_id": self.id(),
            "type": "FORBID_ACTION",
            "reason": "LOOP_REPEAT",
            "signature": self.signature,
            "action": { "action_type": self.action, "tool": self.tool, "target_path": self.target },
            "allowed_next": ["different_tool", "different_args", "ASK_HUMAN", "STOP"],
            "window": self.window,
            "threshold": self.threshold,
            "retries_left": self.retries_left,
            "ttl": { "steps": self.ttl_steps },
        })
    }
}
