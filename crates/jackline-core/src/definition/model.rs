//! The definition as guards read it: typed, complete with its defaults, free of source positions but for lines.
//!
//! INVARIANT: plain derives only (no untagged, flatten, skip or borrowed data): accepted definitions are kept
//! compiled with postcard, which is not self-describing. What a later version adds goes at the end. Rules alone have a
//! form of their own: a length, and bytes that nobody has to look at.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::bounds::Bounds;
use crate::glob;
use crate::overrides::Override;
use crate::path::Role;
use crate::sha::{Digest, Key};

/// What a rule says when its owner wrote no reason.
pub const REASON_DEFAULT: &str = "Denied by policy.";

/// Names an enum's values as their owner spells them, in a definition or a policy's file, and reads them back.
macro_rules! spelled {
    ($kind:ident { $($value:ident = $name:literal),+ $(,)? }) => {
        impl $kind {
            /// Every value, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$value),+];
            /// Every spelling, in the same order.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// The value as it is spelled.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$value => $name),+ }
            }

            /// Reads a spelling.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($name => Some(Self::$value),)+ _ => None }
            }
        }
    };
}
pub(crate) use spelled;

mod checks;
mod completion;
mod feedback;
mod files;
mod kept_rule;
mod limits;
mod mcp;
mod rego;
mod todos;
mod used;
mod validation;

pub use checks::{Checks, Confine};
pub use completion::{BLOCKS_MAX_DEFAULT, COMMAND_TIMEOUT_MS_MAX, Check, Command, Completion, When};
pub use feedback::{Advice, Provider, Severity, Trigger};
pub(super) use feedback::{WARNING_THRESHOLD_MS, milliseconds};
pub use files::{FilePolicies, FilesOutput};
pub use kept_rule::KeptRule;
pub use limits::{Deadline, Limits, Per, Steps};
pub use mcp::{ChangedTools, Mcp};
pub use rego::Rego;
pub use todos::{AgentCommands, Native, Required, Todos};
pub use used::Use;
pub use validation::{Missing, SchemaSource, Validation};

/// A whole definition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Model {
    pub agent: Identity,
    pub mode: Mode,
    pub tools: Tools,
    pub steps: Vec<Step>,
    pub policies: Vec<Policy>,
    pub sections: Vec<Section>,
    /// The key `loop`; `None` is `loop: false`.
    pub repeat: Option<Loop>,
    pub limits: Limits,
    pub shell: Shell,
    /// The key `self`.
    pub own: OwnFiles,
    pub audit: Audit,
    pub store: StoreSettings,
    pub reads: Option<Bounds>,
    pub outputs: Option<Bounds>,
    /// The key `schema`.
    pub validation: Validation,
    /// The key `use`.
    pub packs: Vec<Use>,
    pub todos: Todos,
    pub checks: Checks,
    pub completion: Option<Completion>,
    pub feedback: Vec<Provider>,
    pub mcp: Mcp,
    pub file_policies: FilePolicies,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            agent: Identity::default(),
            mode: Mode::default(),
            tools: Tools::default(),
            steps: Vec::new(),
            policies: Vec::new(),
            sections: Vec::new(),
            repeat: Some(Loop::default()),
            limits: Limits::default(),
            shell: Shell::default(),
            own: OwnFiles::default(),
            audit: Audit::default(),
            store: StoreSettings::default(),
            reads: None,
            outputs: None,
            validation: Validation::default(),
            packs: Vec::new(),
            todos: Todos::default(),
            checks: Checks::default(),
            completion: None,
            feedback: Vec::new(),
            mcp: Mcp::default(),
            file_policies: FilePolicies::default(),
        }
    }
}

/// Who the definition speaks for; goes into every audit record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    pub ns: Option<String>,
    pub key: Option<String>,
}

/// Whether verdicts are enforced or only recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    #[default]
    Enforce,
    Observe,
}

spelled!(Mode { Enforce = "enforce", Observe = "observe" });

/// The catalogue of tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tools {
    /// `None` leaves it to the surface: deny where the catalogue is known, else allow.
    pub unknown: Option<UnknownTools>,
    /// By their names, or by patterns of them.
    pub declare: BTreeMap<String, Declaration>,
}

impl Tools {
    /// What is declared of a tool: under its name, else under the longest pattern that matches it.
    #[must_use]
    pub fn declared(&self, tool: &str) -> Option<&Declaration> {
        let matching = |name: &&String| is_of_several(name) && glob::text_matches(name, tool);
        let longest = || self.declare.iter().filter(|(name, _)| matching(name)).max_by_key(|(name, _)| name.len());
        self.declare.get(tool).or_else(|| longest().map(|(_, declaration)| declaration))
    }

    /// The tools that are declared by their names.
    pub fn named(&self) -> impl Iterator<Item = &str> {
        self.declare.keys().filter(|name| !is_of_several(name)).map(String::as_str)
    }
}

/// Whether what is declared is a pattern of tools' names.
fn is_of_several(name: &str) -> bool {
    name.contains('*')
}

/// What becomes of a call to a tool that nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownTools {
    Allow,
    Deny,
}

spelled!(UnknownTools { Allow = "allow", Deny = "deny" });

/// What the owner says about one tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declaration {
    pub kind: Option<Kind>,
    /// Names of the arguments that hold paths.
    pub path: Vec<String>,
    pub line: u32,
    /// What its arguments must fit.
    pub schema: Option<SchemaSource>,
    /// What its result should fit.
    pub output_schema: Option<SchemaSource>,
}

/// What a tool does, whatever its host calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Read,
    Write,
    Search,
    List,
    Shell,
    Fetch,
    Agent,
    Other,
}

spelled!(Kind {
    Read = "read",
    Write = "write",
    Search = "search",
    List = "list",
    Shell = "shell",
    Fetch = "fetch",
    Agent = "agent",
    Other = "other",
});

/// A named call, usable wherever a tool name is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    pub name: String,
    pub matcher: Matcher,
    /// What a session remembers the step by; another matcher under the same name is another step.
    pub key: Key,
    pub line: u32,
}

impl Step {
    /// A step with its key worked out.
    #[must_use]
    pub fn new(name: impl Into<String>, matcher: Matcher, line: u32) -> Self {
        let name = name.into();
        // Postcard fails on a matcher only when out of memory; the empty text is then as good a key as any.
        let bytes = postcard::to_stdvec(&matcher).unwrap_or_default();
        let key = Digest::of_parts([name.as_bytes(), bytes.as_slice()]).short();
        Self { name, matcher, key, line }
    }
}

/// One declared constraint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    pub name: String,
    pub enforce: Enforce,
    /// On the heap: hardly one has it, and dozens of policies are read for every event.
    pub when: Option<Box<Matcher>>,
    pub on_fault: OnFault,
    pub guard: Guard,
    pub line: u32,
}

/// What a broken policy leads to; ordered from the strictest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Enforce {
    #[default]
    Deny,
    Ask,
    Warn,
    Off,
}

spelled!(Enforce { Deny = "deny", Ask = "ask", Warn = "warn", Off = "off" });

/// What follows when we cannot decide; ordered from the strictest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFault {
    #[default]
    Deny,
    Allow,
}

spelled!(OnFault { Deny = "deny", Allow = "allow" });

/// The kind of constraint, with its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Guard {
    Sequence(Sequence),
    ReadBeforeWrite(ReadBeforeWrite),
    Paths(Paths),
    Rule(KeptRule),
    Rego(Rego),
}

impl Guard {
    /// The guard as the definition spells it.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Sequence(_) => "sequence",
            Self::ReadBeforeWrite(_) => "read_before_write",
            Self::Paths(_) => "paths",
            Self::Rule(_) => "rule",
            Self::Rego(_) => "rego",
        }
    }
}

/// What must have succeeded before a call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sequence {
    /// A tool or step, and the tools or steps it needs; in the order of declaration.
    pub requires: Vec<(String, Vec<String>)>,
    /// A prerequisite counts only if nothing was written since.
    pub fresh: bool,
}

/// Existing files are read before they are written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadBeforeWrite {
    /// A file this session wrote counts as read.
    pub own_writes: bool,
    pub stale: Stale,
}

impl Default for ReadBeforeWrite {
    fn default() -> Self {
        Self { own_writes: true, stale: Stale::Deny }
    }
}

/// What becomes of a write to a file that changed since it was read; ordered from the strictest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stale {
    #[default]
    Deny,
    Allow,
}

spelled!(Stale { Deny = "deny", Allow = "allow" });

/// Where calls may read and write.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paths {
    pub outside: Outside,
    /// Globs outside the workspace that are allowed all the same.
    pub allow: Vec<String>,
    /// Globs that may not be written.
    pub protect: Vec<String>,
    /// What is protected may not be read either.
    pub protect_reads: bool,
}

/// What becomes of paths outside the workspace; ordered from the strictest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outside {
    #[default]
    Deny,
    Allow,
}

spelled!(Outside { Deny = "deny", Allow = "allow" });

/// A condition of the owner's own, and what follows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    pub matcher: Matcher,
    /// `None` refuses nothing: the rule only puts its override.
    pub verdict: Option<RuleVerdict>,
    pub reason: String,
    pub suggest: Vec<String>,
    /// The key `override`.
    pub overriding: Option<Override>,
}

impl Default for Rule {
    fn default() -> Self {
        Self {
            matcher: Matcher::default(),
            verdict: Some(RuleVerdict::default()),
            reason: REASON_DEFAULT.to_owned(),
            suggest: Vec::new(),
            overriding: None,
        }
    }
}

/// What a rule leads to; ordered as verdicts are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleVerdict {
    Ask,
    #[default]
    Deny,
    Halt,
}

spelled!(RuleVerdict { Ask = "ask", Deny = "deny", Halt = "halt" });

/// Policies that judge only some tools.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Section {
    pub name: String,
    pub tools: Vec<String>,
    pub policies: Vec<Policy>,
}

/// A condition on a call; all given keys must hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Matcher {
    /// Any of these: a tool name or glob, a step, `@kind`.
    pub tool: Vec<String>,
    pub command: Option<CommandMatcher>,
    /// Any of these globs over any path of the call, or `outside`.
    pub path: Vec<String>,
    /// Argument names (nested with dots), all of which must hold.
    pub args: Vec<(String, ArgMatcher)>,
    pub session: Option<SessionMatcher>,
    pub agent: Option<String>,
    pub host: Option<String>,
    pub all: Vec<Matcher>,
    pub any: Vec<Matcher>,
    pub not: Option<Box<Matcher>>,
    /// What `path` looks at is read, written or deleted; empty is any of it.
    pub access: Vec<Role>,
    /// What the shell text runs cannot be known beforehand.
    pub opaque: bool,
}

impl Matcher {
    /// Whether no key is given: such a matcher holds for every call.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A condition on any simple command of a shell text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandMatcher {
    /// Any of these globs over the command's words.
    Glob(Vec<String>),
    Parts(CommandParts),
}

/// A command by its parts; all given ones must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandParts {
    /// Any of these.
    pub program: Vec<String>,
    /// In this order, gaps allowed.
    pub args: Vec<String>,
    /// Any of these.
    pub flags: Vec<String>,
    /// Any of these variables is set for the command, or to a value that fits: `NAME=glob`.
    pub env: Vec<String>,
    /// Any of these globs is written by a redirection.
    pub redirects_to: Vec<String>,
    /// Any of these, each one or several words that follow the program and its options.
    pub subcommand: Vec<String>,
    /// None of these words.
    pub without: Vec<String>,
    /// A statement that it is told begins with any of these.
    pub statement: Vec<String>,
}

/// A condition on one argument. JSON is compact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArgMatcher {
    Literal(String),
    Glob(String),
    Regex(String),
    Compare { gt: Option<f64>, lt: Option<f64> },
    In(Vec<String>),
    Absent,
}

/// A condition on what the session has done so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionMatcher {
    pub calls: Option<Range>,
    pub minutes: Option<Range>,
    pub written: Option<Range>,
    /// All of these tools or steps are done.
    pub done: Vec<String>,
    /// None of these tools or steps is done.
    pub not_done: Vec<String>,
}

/// Bounds on a number, both exclusive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Range {
    pub gt: Option<f64>,
    pub lt: Option<f64>,
}

/// The loop guard's settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loop {
    pub window: u32,
    pub threshold: u32,
    pub override_retries: u32,
    pub ttl_steps: u32,
    pub progress_aware: bool,
    pub cycles: bool,
    pub exempt: Vec<String>,
}

impl Default for Loop {
    fn default() -> Self {
        Self {
            window: 3,
            threshold: 3,
            override_retries: 1,
            ttl_steps: 3,
            progress_aware: false,
            cycles: false,
            exempt: Vec::new(),
        }
    }
}

/// How shell texts are judged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shell {
    pub opaque: Opaque,
    pub computed: Computed,
}

/// What becomes of a command whose program cannot be known; ordered as verdicts are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Opaque {
    Allow,
    #[default]
    Ask,
    Deny,
}

spelled!(Opaque { Allow = "allow", Ask = "ask", Deny = "deny" });

/// Whether a matcher holds for a word or path that is only known when the text runs; ordered from the strictest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Computed {
    #[default]
    Match,
    Pass,
}

spelled!(Computed { Match = "match", Pass = "pass" });

/// Files of ours and of hosts that the agent may edit all the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnFiles {
    pub allow: Vec<String>,
}

/// How the audit log is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audit {
    /// Field names whose values never reach the log.
    pub redact: Vec<String>,
    pub checkpoint: bool,
}

impl Default for Audit {
    fn default() -> Self {
        Self { redact: Vec::new(), checkpoint: true }
    }
}

/// How the store keeps records.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreSettings {
    pub sync: Sync,
}

/// How hard a record is pressed to disk before the answer; ordered from the strictest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sync {
    #[default]
    Full,
    Os,
}

spelled!(Sync { Full = "full", Os = "os" });

#[cfg(test)]
mod tests;
