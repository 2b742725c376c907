//! The changes that lead from one state of a session to the next, as the log keeps them.

use serde::{Deserialize, Serialize};

use super::{Constraint, Halt, Key, Pin, Recent, Taken};
use crate::completion::Stopped;
use crate::extension::Extension;
use crate::facts::Statement;
use crate::files;
use crate::listing::Served;
use crate::overrides::Imposed;
use crate::schema::SchemaError;
use crate::sha::Digest;
use crate::todos::Todo;
use crate::todos::id::Id;
use crate::usage::Metering;

/// One step from a session to the next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    Pinned {
        pin: Pin,
    },
    Invariants {
        digest: Digest,
    },
    Judged {
        definition: Digest,
    },
    Prompted,
    Requested {
        agent: String,
        call: Option<Key>,
        signature: Key,
        refused: bool,
        feeds: bool,
        /// The file that a tool of our own server's was let open.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        place: Option<Key>,
    },
    /// A proxy saw a call that was requested before; or our own server did.
    Sighted {
        call: Key,
        signature: Key,
        refused: bool,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        served: bool,
        /// It was the first call of its signature that nobody had seen, by another id.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        paired: bool,
    },
    Finished {
        agent: String,
        call: Option<Key>,
        signature: Key,
    },
    Done {
        name: String,
        tree: Option<Digest>,
        /// How many writes had happened when the call was requested; those of now where that is not known.
        #[serde(default)]
        writes: Option<u64>,
    },
    Wrote,
    /// A call that may change something was let through, or is over; `background` when it goes on.
    Acted {
        background: bool,
    },
    Read {
        agent: String,
        file: Key,
        content: Option<Key>,
    },
    /// An own write to a file that the agent had read: it knows the new content too.
    Refreshed {
        agent: String,
        file: Key,
        content: Option<Key>,
    },
    Used {
        tokens: u64,
        cost_usd: f64,
    },
    BudgetRefused,
    /// That a limit of this kind is used up was told.
    BudgetTold {
        kind: String,
    },
    BudgetWarned,
    /// A host's transcript was read.
    Metered {
        file: String,
        usage: Metering,
    },
    /// It could not be.
    Unmetered,
    /// A person added to the limits.
    Extended {
        extension: Extension,
    },
    /// An override was put on an agent.
    Imposed {
        agent: String,
        imposed: Imposed,
    },
    /// A call that was let through counts toward every override's time to live, and against some budgets.
    OverridesTicked {
        agent: String,
        counted: Vec<Key>,
    },
    OverrideLapsed {
        agent: String,
        key: Key,
    },
    Constrained {
        agent: String,
        constraint: Constraint,
    },
    Retried {
        agent: String,
        signature: Key,
    },
    /// A call that was allowed counts toward every constraint's time to live.
    Ticked {
        agent: String,
    },
    Lapsed {
        agent: String,
        signature: Key,
    },
    Halted {
        agent: String,
        halt: Halt,
    },
    Lifted {
        agent: String,
    },
    /// A person spoke: what the agent repeats is counted anew, and what was forbidden for it is not any more.
    Anew {
        agent: String,
    },
    UnknownTool {
        agent: String,
        tool: String,
    },
    KnownTool {
        agent: String,
    },
    Outcome {
        agent: String,
        signature: Key,
        result: Key,
    },
    /// A value did not fit its schema.
    Invalid {
        agent: String,
        key: Key,
        errors: Vec<SchemaError>,
    },
    /// A value that did not fit its schema fits now.
    Repaired {
        agent: String,
        key: Key,
    },
    /// The result changed: the next equal call is the first again.
    Progressed {
        agent: String,
        /// Of which calls; of all where none is named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<Key>,
    },
    /// An agent was let stop, and this is how it ended.
    Stopped {
        agent: String,
        stopped: Stopped,
        /// Why it could not go on, where it said so.
        #[serde(default)]
        parked: Option<String>,
    },
    /// It was not; `fault` when that is because we could not decide.
    StopBlocked {
        agent: String,
        fault: bool,
    },
    /// The session ended without an allowed stop, and this is how.
    Ended {
        stopped: Stopped,
    },
    /// An agent said that it cannot go on.
    Parked {
        agent: String,
        reason: String,
    },
    /// Something was written or run for the first time since the last prompt.
    Worked,
    Kept {
        policy: String,
        key: String,
        value: Option<String>,
    },
    /// A call was counted for feedback, under these identities of definitions.
    Counted {
        scopes: Vec<Key>,
        recent: Option<Recent>,
    },
    /// A provider of feedback had its turn.
    Advised {
        taken: Taken,
    },
    Snapshot {
        name: String,
        digest: Digest,
    },
    Restored {
        name: String,
        digest: Digest,
    },
    Reset,
    /// A todo was made, or is another one now.
    Todo {
        todo: Box<Todo>,
    },
    /// A fact was recorded, or several were summarised into one.
    Stated {
        statement: Box<Statement>,
    },
    Retracted {
        id: Id,
    },
    /// An MCP server listed its tools.
    Served {
        served: Served,
    },
    /// What is remembered of file policies.
    Files {
        step: files::memory::Step,
    },
    /// The session is over, unless something else happens in it.
    Over,
    /// A call was let through by which the host submits this prompt later.
    Scheduled {
        prompt: Key,
    },
}
