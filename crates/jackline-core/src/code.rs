//! The closed list of codes: stable identifiers `guard/what` for machines, each with its documentation.
//!
//! Codes are added, never reworded or reused. Families carry a name of the owner's: `rule/<name>`,
//! `rego/<code>` and, for embedders, `policy/<name>`.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A stable identifier of what a guard found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Code(Cow<'static, str>);

impl Code {
    /// The code of a rule that the owner named.
    #[must_use]
    pub fn rule(name: &str) -> Self {
        Self(Cow::Owned(format!("rule/{name}")))
    }

    /// The code of a denial that a Rego policy gave.
    #[must_use]
    pub fn rego(code: &str) -> Self {
        Self(Cow::Owned(format!("rego/{code}")))
    }

    /// The code of an embedder's own policy.
    #[must_use]
    pub fn own(name: &str) -> Self {
        Self(Cow::Owned(format!("policy/{name}")))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this says that we could not decide, rather than that a policy was broken.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        self.0.starts_with("fault/")
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One code and what is said of it in the reference.
#[derive(Debug, Clone, Copy)]
pub struct Documented {
    pub code: &'static str,
    /// What happened, in one sentence.
    pub means: &'static str,
    /// What the agent, or the owner, does next.
    pub remedy: &'static str,
}

macro_rules! codes {
    ($($name:ident = $code:literal, $means:literal, $remedy:literal;)*) => {
        $(#[doc = $means] pub const $name: Code = Code(Cow::Borrowed($code));)*

        /// Every code, in the order of the reference page.
        pub const ALL: &[Documented] = &[$(Documented { code: $code, means: $means, remedy: $remedy },)*];
    };
}

codes! {
    RUN_HALTED = "run/halted",
        "The run was halted earlier and every call of that agent is refused until a person speaks.",
        "Stop and report; a person's next prompt lifts it, or `jackline session resume`.";
    TOOLS_UNKNOWN = "tools/unknown",
        "The tool is neither the host's own nor declared, and `tools.unknown` is `deny`.",
        "Call a tool that there is; the owner may declare it under `tools.declare`.";
    TOOLS_NATIVE_TODO = "tools/native-todo",
        "The host's own todo tool replaces or edits a list that nothing verifies, and `todos.native` is `deny`.",
        "Use the todos of Jackline.";
    SCHEMA_INVALID = "schema/invalid",
        "The arguments, a plan or another output are no JSON, or do not fit their schema.",
        "Send the corrected JSON only.";
    SCHEMA_EXHAUSTED = "schema/exhausted",
        "The value did not fit its schema after all the repairs that `schema.repair_attempts` grants; the run is halted.",
        "Stop and report; a person's next prompt lifts it, or `jackline session resume`.";
    SCHEMA_MISSING = "schema/missing",
        "The tool is declared without a schema, or its MCP server lists it without one that can be used, and `schema.missing` \
         is `deny`.",
        "Call another tool; the owner may give it a `schema`.";
    SCHEMA_UNUSABLE = "schema/unusable",
        "The schema that an MCP server has for its tool cannot be used, so the arguments were not held against it. Nothing is \
         refused for that, unless `schema.missing` is `deny`.",
        "The owner may declare the tool with a `schema` of their own.";
    MCP_TOOLS_CHANGED = "mcp/tools-changed",
        "An MCP server changed what it says of its tools while the session runs; with `mcp.changed_tools: deny` calls of changed and new tools are refused.",
        "Look at what changed; the owner may let it pass with `jackline allow mcp/tools-changed`, or start a new session.";
    MCP_TOOLS_UNCLEAR = "mcp/tools-unclear",
        "What an MCP server lists as its tools cannot be read, or two of them have one name: whether a call fits cannot be told.",
        "The owner looks at the server; `tools: {unknown: allow}` without `mcp.changed_tools: deny` judges calls without its list.";
    SESSION_AMBIGUOUS = "session/ambiguous",
        "The MCP proxy, or Jackline's own MCP server, was not told which session a call belongs to, and several are live in the workspace.",
        "The owner names one with `--session`, or wires the host's hooks, which name it by themselves.";
    SESSION_ADDRESSED = "session/addressed",
        "The call goes to Jackline's own MCP server; its session and its id are written into the arguments, so that the server knows it.",
        "Nothing; the edit is made on the way.";
    BUDGET_STEPS = "budget/steps",
        "The declared number of calls has been made.",
        "Stop and report what is left; the owner may raise `limits.steps`.";
    BUDGET_DEADLINE = "budget/deadline",
        "The declared deadline has passed.",
        "Stop and report what is left; the owner may raise `limits.deadline`.";
    BUDGET_TOKENS = "budget/tokens",
        "The declared number of tokens has been used.",
        "Stop and report what is left; the owner may raise `limits.tokens`.";
    BUDGET_COST = "budget/cost",
        "The declared cost has been reached.",
        "Stop and report what is left; the owner may raise `limits.cost_usd`.";
    BUDGET_UNMETERED = "budget/unmetered",
        "A limit on tokens or cost is declared, and what was used could not be learned; nothing is refused for it.",
        "The owner looks at the transcript that the reason names; other limits still hold.";
    SELF_PROTECTED = "self/protected",
        "The call would change the definition, the store, a host's hook settings or git's hooks.",
        "Ask the owner to make the change; `self.allow` names exceptions.";
    SELF_OPERATOR_COMMAND = "self/operator-command",
        "The shell text runs a Jackline command that is for people.",
        "Ask the owner to run it; `check`, `log`, `explain`, `sessions` and `todo list` are open to agents.";
    SHELL_UNPARSABLE = "shell/unparsable",
        "The shell text could not be parsed, and a policy looks inside commands or a pattern in it may name anything.",
        "Write it more simply, as one or several plain commands.";
    SHELL_OPAQUE = "shell/opaque",
        "The shell text runs a program that cannot be known before it runs, and a policy looks inside commands.",
        "Name the program literally, or run the steps one by one.";
    SHELL_INTERACTIVE = "shell/interactive",
        "The shell text starts a program that waits for what it shall do, on a host that does not tell what is written to it.",
        "Give the program what it shall do as arguments or in a file; the owner may set `shell: {opaque: allow}`.";
    SHELL_LEFT_BEHIND = "shell/left-behind",
        "The shell text moves the terminal, or gives a name another meaning there, on a host that runs the next command in the same terminal.",
        "Put it into parentheses: `(cd dir && command)`; the owner may set `shell: {opaque: allow}`.";
    SEQUENCE_MISSING = "sequence/missing",
        "A prerequisite has not succeeded in this session, or files changed since it did.",
        "Run the named prerequisites first.";
    READ_UNREAD = "read-before-write/unread",
        "The file exists and this agent has not read it.",
        "Read the file, then write it.";
    READ_STALE = "read-before-write/stale",
        "The file changed on disk after this agent read it.",
        "Read the file again, then write it.";
    READ_NO_PATH = "read-before-write/no-path",
        "The call writes, but which file cannot be told from its arguments.",
        "Name the file literally.";
    PATHS_OUTSIDE = "paths/outside",
        "The path leads outside the workspace.",
        "Work inside the workspace; the owner may add the place to `paths.allow`.";
    PATHS_PROTECTED = "paths/protected",
        "The path is protected by the owner.",
        "Leave the file as it is, or ask the owner.";
    PATHS_UNRESOLVABLE = "paths/unresolvable",
        "Where the path leads cannot be told.",
        "Write the path out literally.";
    PATHS_ESCAPED = "paths/escaped",
        "When the call had finished, its path led outside the workspace.",
        "The owner looks at what was written there.";
    LOOP_OVERRIDE = "loop/override",
        "The same call was made again and again; it is now forbidden for a while.",
        "Do something else: another tool, other arguments, or stop and ask.";
    LOOP_FORBIDDEN = "loop/forbidden",
        "The call is forbidden by a constraint that is still in force.",
        "Do something else: another tool, other arguments, or stop and ask.";
    LOOP_PERSISTED = "loop/persisted",
        "The forbidden call was repeated until its retries were used up; the run is halted.",
        "Stop and report; a person's next prompt lifts it, or `jackline session resume`.";
    OVERRIDE_TOOL_BUDGET = "override/tool-budget",
        "An override is in force that allows only so many calls of the tool, and they have been made.",
        "Use another tool, or stop and ask; the constraint says when it lapses.";
    OVERRIDE_FORCE_ACTION = "override/force-action",
        "An override is in force that allows only calls of one tool, and this is none.",
        "Make the call that is asked for, alone, or stop and ask; the constraint says when it lapses.";
    BOUNDS_TRUNCATED = "bounds/truncated",
        "More was read or printed than is shown at once; the edit holds what is shown.",
        "Read on from `next_offset`, or ask for less.";
    SEARCH_ZERO_RESULTS = "search/zero-results",
        "A search found nothing. The call is allowed and finished; the feedback says what to try.",
        "List the directory, check alternate naming, or broaden the filters.";
    WORKSPACE_MISSING = "workspace/missing",
        "There is nothing at the path.",
        "List the directory, or search for the name.";
    WORKSPACE_UNFIT = "workspace/unfit",
        "What is at the path is not what the tool works on: a directory, a device, read-only, no text, or too large.",
        "Use another tool, or another path.";
    WORKSPACE_NO_MATCH = "workspace/no-match",
        "The text to be replaced is not in the file, or stands there several times.",
        "Read the file, and give a text that stands there once; or set `replace_all`.";
    WORKSPACE_PATTERN = "workspace/pattern",
        "The pattern of a search cannot be used.",
        "Correct it, or set `literal`.";
    WORKSPACE_FAILED = "workspace/failed",
        "The operating system refused to read or to write.",
        "Look at the rights of the file and of its directory.";
    TODO_UNKNOWN = "todo/unknown",
        "There is no todo of this id in the session.",
        "List the todos, and name one of them.";
    TODO_INVALID = "todo/invalid",
        "What was given for a todo is missing, too long, or has a check that cannot be used.",
        "Correct what the reason names.";
    TODO_INVALID_TRANSITION = "todo/invalid-transition",
        "The todo's state does not have this transition.",
        "Do what its state allows: pending, start; in_progress, claim; claimed, verify.";
    TODO_EXPLANATION = "todo/explanation",
        "The explanation of a claim has fewer than 20 characters that are no blanks, or is too long.",
        "Say what was done, and how it was made sure.";
    TODO_EVIDENCE = "todo/evidence",
        "A piece of evidence is missing, was not found in the log, did not succeed, or is too old.",
        "Do what the reason names, then claim again.";
    TODO_CHECKS = "todo/checks",
        "A claimed todo was not verified: its checks did not all pass, or it has none.",
        "Mend what failed and ask again; without checks a person approves.";
    TODO_COMMAND_REFUSED = "todo/command-refused",
        "An agent's todo has a check that runs a program, asks an address or looks at a file, and it may not.",
        "Use other checks; the owner may set `todos.agent_commands` or require the todo.";
    TODO_FULL = "todo/full",
        "There is no room for more todos or evidence in the session.",
        "Work on the todos that are there, and say less in each.";
    FACT_INVALID = "fact/invalid",
        "What was given for a fact is missing or too long.",
        "Correct what the reason names.";
    FACT_UNKNOWN = "fact/unknown",
        "There is no fact of this id, or it stands no more.",
        "List the facts, and name one of them.";
    FACT_SOURCES = "fact/sources",
        "A fact has no sources, or names a call that is not in the session's log.",
        "Name calls that were made.";
    FACT_FULL = "fact/full",
        "There is no room for more facts in the session.",
        "Summarise some, or retract what no longer holds.";
    COMPLETION_INCOMPLETE = "completion/incomplete",
        "The agent wants to stop, and something that must hold before does not.",
        "Do what the text names; or park, with the reason, where that is not possible.";
    FILES_OUTSTANDING = "files/outstanding",
        "Changed files made a file policy fire, and it is not settled.",
        "Do what its text asks; or promise, where nothing needs to change; or park.";
    EVENT_INVALID = "event/invalid",
        "The event could not be read.",
        "Send one JSON object per line, as `docs/reference/events.md` describes.";
    EVENT_INVARIANT_CHANGED = "event/invariant-changed",
        "A later `session.started` names another objective or another meaning of done.",
        "Keep the run's invariants, or start a new session.";
    FAULT_DEFINITION = "fault/definition",
        "The definition cannot be read and there is no accepted one to fall back on.",
        "Run `jackline check`.";
    FAULT_STORE = "fault/store",
        "The record could not be kept, so nothing was decided.",
        "Free the store's directory or make it writable, then try again.";
    FAULT_PROBE = "fault/probe",
        "A fact that the decision needs could not be learned.",
        "Run `jackline explain last` to see which one.";
    FAULT_POLICY = "fault/policy",
        "A policy could not judge.",
        "Mend the policy; `on_fault: allow` lets such calls pass.";
    FAULT_REGO = "fault/rego",
        "A Rego policy cannot be read, parsed or evaluated, or takes too long.",
        "Run `jackline check`; `on_fault: allow` lets such calls pass.";
    FAULT_INTERNAL = "fault/internal",
        "Jackline itself failed.",
        "Report it, with the session's log.";
}

/// Families of codes whose last part is a name the owner or embedder gave.
pub const FAMILIES: &[Documented] = &[
    Documented {
        code: "rule/<name>",
        means: "A `rule` policy of that name matched.",
        remedy: "Make another call, as the rule's reason says; the owner may change the rule.",
    },
    Documented {
        code: "rego/<code>",
        means: "A `rego` policy denied the call; `rego/deny` where it gave no code.",
        remedy: "Make another call, as its reason says; the owner may change the policy.",
    },
    Documented {
        code: "policy/<name>",
        means: "A policy that the embedding program added denied the call.",
        remedy: "Make another call, as its reason says; the embedding program decides.",
    },
];

/// What is to be done about a code, as the reference says.
#[must_use]
pub fn remedy(code: &str) -> Option<&'static str> {
    let exact = || ALL.iter().find(|entry| entry.code == code);
    let family = |entry: &&Documented| {
        entry.code.split_once('<').is_some_and(|(family, _)| code.len() > family.len() && code.starts_with(family))
    };
    exact().or_else(|| FAMILIES.iter().find(family)).map(|entry| entry.remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_remedy() {
        assert_eq!(remedy("self/protected"), Some("Ask the owner to make the change; `self.allow` names exceptions."));
        for code in ["rule/x", "rego/no-prod", "policy/mine"] {
            assert!(remedy(code).is_some_and(|remedy| remedy.starts_with("Make another call")), "{code}");
        }
        assert_eq!([remedy("rule/"), remedy("nonesuch/x")], [None, None]);
    }

    #[test]
    fn codes_are_unique_and_well_formed() {
        let mut seen = std::collections::BTreeSet::new();
        for entry in ALL {
            assert!(seen.insert(entry.code), "{} stands twice", entry.code);
            assert_eq!(entry.code.split('/').count(), 2, "{}", entry.code);
            assert!(entry.means.ends_with('.') && entry.remedy.ends_with('.'), "{}", entry.code);
        }
    }
}
