//! The table of everything a definition may say: each key with its form, default, bounds and meaning.
//!
//! Validation, the JSON Schema and the settings reference all read this one table; nothing else lists the keys.

mod completion;
mod feedback;
pub(super) mod file_policy;
mod mcp;
mod overriding;

use super::bounds::{BYTES_BOUND_MAX, LINES_BOUND_MAX};
use super::form::{Form, Shape, choice, key, shape};
use super::model::{
    Computed, Confine, Enforce, FilesOutput, Kind, Missing, Mode, OnFault, Opaque, Outside, Per, RuleVerdict, Stale,
    Sync as SyncTo, UnknownTools,
};
use crate::path::Role;

/// Calls the loop guard looks back over: each is kept in the session's state.
const LOOP_WINDOW_MAX: i64 = 100;
/// Retries and steps of the loop guard: beyond this a constraint never ends in practice.
const LOOP_COUNT_MAX: i64 = 1_000_000;
/// Repairs of one value: who needs more never gets there.
const REPAIR_ATTEMPTS_MAX: i64 = 100;
/// No budget and no cadence needs a larger number; keeps sums far from overflow.
const COUNT_MAX: i64 = 1_000_000_000_000;

/// Counts that make no sense at zero.
const COUNT: Form = Form::Whole { min: 1, max: COUNT_MAX };
const TEXTS: Form = Form::List(&Form::Text);
const SOME_TEXTS: Form = Form::Some(&Form::Text);
const ONE_OR_MORE: Form = Form::Many(&Form::Text);

/// The whole file.
pub(super) static ROOT: Shape = shape(
    "definition",
    "The file `jackline.yaml`: everything is optional but `jackline: 1`.",
    &[
        key("jackline", Form::Whole { min: 1, max: 1 }, "The version of this format.").required().example("1"),
        key("agent", Form::Map(&AGENT), "Identity of the definition; goes into every audit record."),
        key("use", Form::List(&Form::Either(&[Form::Text, Form::Map(&USE)])), "Packs that are judged beside it.")
            .default("[]")
            .example(r#"["git", "secrets"]"#),
        key("mode", Form::Choice(Mode::NAMES), "Whether verdicts are enforced or only recorded.")
            .default(r#""enforce""#),
        key("tools", Form::Map(&TOOLS), "The catalogue of tools."),
        key("steps", Form::Named(&Form::Map(&MATCHER)), "Names for calls, usable wherever a tool name is.")
            .default("{}")
            .example(r#"{"test": {"tool": "@shell", "command": "cargo test*"}}"#),
        key("policies", Form::List(&Form::Map(&POLICY)), "Constraints on every call, judged in this order.")
            .default("[]")
            .example(r#"[{"read_before_write": {}}]"#),
        key("sections", Form::List(&Form::Map(&SECTION)), "Policies that judge only some tools.").default("[]"),
        key("loop", Form::Either(&[Form::Flag, Form::Map(&LOOP)]), "The loop guard; `false` switches it off."),
        key("reads", Form::Map(&BOUNDS), "Bounds on what a read shows; off unless given."),
        key(
            "outputs",
            Form::Map(&BOUNDS),
            "The same for what shell, search, list and MCP calls show; off unless given.",
        ),
        key("schema", Form::Map(&SCHEMA), "How arguments and outputs are validated."),
        key("limits", Form::Map(&LIMITS), "Budgets; what is absent is not limited."),
        key("shell", Form::Map(&SHELL), "How shell texts are judged."),
        key("feedback", Form::List(&Form::Map(&feedback::FEEDBACK)), "Advice and when it is given.").default("[]"),
        key("completion", Form::Map(&completion::COMPLETION), "What must hold before the agent may stop."),
        key("todos", Form::Map(&TODOS), "Work items the owner requires, and what the agent may do with todos."),
        key("file_policies", Form::Map(&FILE_POLICIES), "Policies over changed files."),
        key("audit", Form::Map(&AUDIT), "How the audit log is kept."),
        key("checks", Form::Map(&CHECKS), "How checks look at the world."),
        key("store", Form::Map(&STORE), "How the store keeps records."),
        key("self", Form::Map(&OWN), "Exceptions from self-protection."),
        key("mcp", Form::Map(&mcp::MCP), "How MCP servers behind the proxy are judged."),
    ],
);

static AGENT: Shape = shape(
    "agent",
    "Identity of the definition.",
    &[
        key("ns", Form::Text, "The namespace, such as a team.").example(r#""acme""#),
        key("key", Form::Text, "The name within the namespace.").example(r#""release-bot""#),
    ],
);

static USE: Shape = shape(
    "use",
    "A pack shipped inside the binary, judged beside the definition that names it.",
    &[
        key("pack", Form::Text, "Its name, as `jackline pack list` shows it.").required().example(r#""git""#),
        key(
            "enforce",
            Form::Named(&Form::Choice(Enforce::NAMES)),
            "Policies of the pack by name, and what breaking them leads to here.",
        )
        .default("{}")
        .example(r#"{"git/discard": "warn"}"#),
    ],
);

static TOOLS: Shape = shape(
    "tools",
    "The catalogue of tools.",
    &[
        key(
            "unknown",
            Form::Choice(UnknownTools::NAMES),
            "What becomes of a call to a tool nobody knows; without it, `deny` over MCP and `allow` elsewhere.",
        ),
        key(
            "declare",
            Form::Named(&Form::Map(&DECLARATION)),
            "What is known about tools, by name; a name with `*` is for all that match it and have no longer one.",
        )
        .default("{}")
        .example(r#"{"read_doc": {"kind": "read", "path": "uri"}}"#),
    ],
);

static DECLARATION: Shape = shape(
    "declaration",
    "What is known about one tool.",
    &[
        key("kind", Form::Choice(Kind::NAMES), "What the tool does."),
        key("path", ONE_OR_MORE, "The argument or arguments that hold paths.").example(r#""uri""#),
        key(
            "schema",
            Form::Either(&[Form::Text, Form::Free]),
            "JSON Schema of the arguments (2020-12 unless it names another draft): inline, or a file named from here.",
        )
        .example(r#""schemas/deploy.json""#),
        key(
            "output_schema",
            Form::Either(&[Form::Text, Form::Free]),
            "JSON Schema of the result; one that does not fit is told, not refused.",
        ),
    ],
);

/// The keys that say what a policy does.
const GUARDS: &[&str] = &["sequence", "read_before_write", "paths", "rule", "rego"];

static POLICY: Shape = choice(
    "policy",
    "One constraint: exactly one guard, and how it is enforced.",
    GUARDS,
    &[
        key("name", Form::Text, "What findings call it; without it the guard's name, numbered."),
        key("enforce", Form::Choice(Enforce::NAMES), "What a broken policy leads to.").default(r#""deny""#),
        key("when", Form::Map(&MATCHER), "Judge only calls that match."),
        key("on_fault", Form::Choice(OnFault::NAMES), "What follows when it cannot be judged.").default(r#""deny""#),
        key("sequence", Form::Map(&SEQUENCE), "What must have succeeded before a call."),
        key("read_before_write", Form::Map(&READ_BEFORE_WRITE), "Existing files are read before they are written."),
        key("paths", Form::Map(&PATHS), "Where calls may read and write."),
        key("rule", Form::Map(&RULE), "A condition of the owner's own."),
        key("rego", Form::Map(&REGO), "An OPA policy: the set `data.jackline.deny`."),
    ],
);

static SEQUENCE: Shape = shape(
    "sequence",
    "What must have succeeded before a call.",
    &[
        key("requires", Form::Named(&SOME_TEXTS), "For a tool or step, the tools or steps it needs.")
            .required()
            .example(r#"{"deploy": ["test", "build"]}"#),
        key("fresh", Form::Flag, "A prerequisite counts only if nothing was written since.").default("false"),
    ],
);

static READ_BEFORE_WRITE: Shape = shape(
    "read_before_write",
    "Existing files are read before they are written.",
    &[
        key("own_writes", Form::Flag, "A file this session wrote counts as read.").default("true"),
        key("stale", Form::Choice(Stale::NAMES), "What becomes of a write to a file that changed since it was read.")
            .default(r#""deny""#),
    ],
);

static PATHS: Shape = shape(
    "paths",
    "Where calls may read and write.",
    &[
        key("outside", Form::Choice(Outside::NAMES), "What becomes of paths outside the workspace.")
            .default(r#""deny""#),
        key("allow", TEXTS, "Globs outside the workspace that are allowed all the same.")
            .default("[]")
            .example(r#"["/tmp/**"]"#),
        key("protect", TEXTS, "Globs that may not be written; without `/` they match in every directory.")
            .default("[]")
            .example(r#"[".env*", "infra/prod/**"]"#),
        key("protect_reads", Form::Flag, "What is protected may not be read either.").default("false"),
    ],
);

static REGO: Shape = shape(
    "rego",
    "An OPA policy, in Rego v1: see [rego.md](rego.md).",
    &[
        key("file", Form::Text, "The Rego file, named from the definition's directory.")
            .required()
            .example(r#""policies/deploy.rego""#),
        key("tool", ONE_OR_MORE, "The tools, steps or `@kind`s it judges; without it every call."),
    ],
);

/// The keys of a matcher, in one macro so that `rule` can have them too.
macro_rules! matcher_keys {
    ($($more:expr),* $(,)?) => {
        &[
            key("tool", ONE_OR_MORE, "Tool name or glob, step name, `@kind`, or a list of which any.")
                .example(r#""@shell""#),
            key("command", Form::Either(&[ONE_OR_MORE, Form::Map(&COMMAND)]),
                "Any simple command inside the shell text: a glob over its words, or its parts.")
                .example(r#""git commit*""#),
            key("path", ONE_OR_MORE,
                "Glob or globs over any path of the call, seen from the workspace; `outside` for paths outside it."),
            key("access", Form::Many(&Form::Choice(Role::NAMES)),
                "What is done to the paths that `path` looks at: any of these; without it any at all."),
            key("opaque", Form::Yes, "What the shell text runs cannot be known beforehand."),
            key("args", Form::Named(&ARGUMENT), "Conditions on arguments; nested keys with dots."),
            key("session", Form::Map(&SESSION), "Conditions on what the session did so far."),
            key("agent", Form::Text, "`main`, `sub`, or a sub-agent's name."),
            key("host", Form::Text, "The host's name.").example(r#""claude""#),
            key("all", Form::Some(&Form::Map(&MATCHER)), "All of these hold."),
            key("any", Form::Some(&Form::Map(&MATCHER)), "Any of these holds."),
            key("not", Form::Map(&MATCHER), "This does not hold."),
            $($more),*
        ]
    };
}

static MATCHER: Shape = shape("matcher", "A condition on a call; all given keys must hold.", matcher_keys!());

static RULE: Shape = shape(
    "rule",
    "A condition of the owner's own, and what follows.",
    matcher_keys!(
        key("name", Form::Text, "The policy's name, if it is not given beside `rule`."),
        key(
            "verdict",
            Form::Choice(RuleVerdict::NAMES),
            "What follows when the condition holds; with `override`, nothing unless given."
        )
        .default(r#""deny""#),
        key("reason", Form::Text, "What the agent is told.").default(r#""Denied by policy.""#),
        key("suggest", TEXTS, "What the agent may do instead.").default("[]"),
        key("override", Form::Map(&overriding::OVERRIDE), "A constraint put on the agent when the condition holds."),
    ),
);

static COMMAND: Shape = shape(
    "command",
    "A command by its parts; all given ones must hold.",
    &[
        key("program", ONE_OR_MORE, "Base name of the program, or a list of which any.").example(r#""git""#),
        key("subcommand", ONE_OR_MORE, "The word or words after the program and its options, or a list of which any.")
            .example(r#"["push", "stash drop"]"#),
        key("args", ONE_OR_MORE, "Words in this order, gaps allowed.").example(r#"["push"]"#),
        key("flags", ONE_OR_MORE, "Any of these flags.").example(r#"["--force", "-f"]"#),
        key("without", ONE_OR_MORE, "None of these words, exactly as they stand here.").example(r#"["--dry-run"]"#),
        key(
            "statement",
            ONE_OR_MORE,
            "A statement in SQL among the words, or on standard input, begins with these words, or a list of which any.",
        )
        .example(r#"["drop table", "truncate"]"#),
        key("env", ONE_OR_MORE, "Any of these variables is set for the command, or to a value that fits: `NAME=glob`.")
            .example(r#"["HUSKY", "GOPROXY=http*"]"#),
        key(
            "redirects_to",
            ONE_OR_MORE,
            "Any of these globs is written by a redirection, of the command or around it.",
        ),
    ],
);

static ARGUMENT: Form = Form::Either(&[Form::Map(&ARGUMENT_MAP), Form::Literal]);

static ARGUMENT_MAP: Shape = shape(
    "argument",
    "A condition on one argument: one kind of comparison.",
    &[
        key("glob", Form::Text, "The text matches this glob, in which `*` also passes over `/`."),
        key("regex", Form::Text, "The text holds a match of this regular expression."),
        key("gt", Form::Number, "The number is greater."),
        key("lt", Form::Number, "The number is smaller."),
        key("in", Form::Some(&Form::Literal), "The value is one of these."),
        key("absent", Form::Yes, "The argument is not there."),
    ],
);

static SESSION: Shape = shape(
    "session",
    "Conditions on what the session did so far.",
    &[
        key("calls", Form::Map(&RANGE), "Calls requested so far."),
        key("minutes", Form::Map(&RANGE), "Minutes since the session's first event."),
        key("written", Form::Map(&RANGE), "Successful calls that wrote, so far."),
        key("done", ONE_OR_MORE, "Tools or steps that are all done."),
        key("not_done", ONE_OR_MORE, "Tools or steps none of which is done."),
    ],
);

static RANGE: Shape = shape(
    "range",
    "Bounds on a number, at least one of them.",
    &[key("gt", Form::Number, "The number is greater."), key("lt", Form::Number, "The number is smaller.")],
);

static SECTION: Shape = shape(
    "section",
    "Policies that judge only some tools.",
    &[
        key("name", Form::Text, "What the section is called.").required(),
        key("tools", SOME_TEXTS, "The tools, steps or `@kind`s it is about.").required(),
        key("policies", Form::Some(&Form::Map(&POLICY)), "Its policies, judged before the definition's.").required(),
    ],
);

static LOOP: Shape = shape(
    "loop",
    "When equal calls become a loop, and what then.",
    &[
        key(
            "window",
            Form::Whole { min: 1, max: LOOP_WINDOW_MAX },
            "Calls looked back over, the present one included.",
        )
        .default("3"),
        key("threshold", Form::Whole { min: 1, max: LOOP_WINDOW_MAX }, "Equal calls among them that make a loop.")
            .default("3"),
        key(
            "override_retries",
            Form::Whole { min: 0, max: LOOP_COUNT_MAX },
            "Repeats denied before the run is halted.",
        )
        .default("1"),
        key("ttl_steps", Form::Whole { min: 0, max: LOOP_COUNT_MAX }, "Other calls after which the constraint lapses.")
            .default("3"),
        key("progress_aware", Form::Flag, "A changed result resets the count.").default("false"),
        key("cycles", Form::Flag, "Also see cycles of two to four different calls, made three times in turn.")
            .default("false"),
        key("exempt", TEXTS, "Tools that may repeat, such as pollers.").default("[]"),
    ],
);

static BOUNDS: Shape = shape(
    "bounds",
    "How much of a result is shown at once.",
    &[
        key("lines_max", Form::Whole { min: 1, max: LINES_BOUND_MAX as i64 }, "Lines shown at once.").default("500"),
        key("bytes_max", Form::Whole { min: 1, max: BYTES_BOUND_MAX as i64 }, "Bytes shown at once.").default("262144"),
    ],
);

static SCHEMA: Shape = shape(
    "schema",
    "How arguments and outputs are validated.",
    &[
        key(
            "repair_attempts",
            Form::Whole { min: 0, max: REPAIR_ATTEMPTS_MAX },
            "Repairs after the first failure, then the run is halted.",
        )
        .default("2"),
        key("missing", Form::Choice(Missing::NAMES), "What becomes of calls of a tool that is declared, or listed by an MCP server behind the proxy, and has no schema that can be used.")
            .default(r#""allow""#),
    ],
);

static LIMITS: Shape = shape(
    "limits",
    "Budgets; what is absent is not limited.",
    &[
        key("steps", Form::Either(&[COUNT, Form::Map(&STEPS)]), "Calls that may be requested.").example("200"),
        key("deadline", Form::Moment, "Time from the first event, or an RFC 3339 time.").example(r#""30m""#),
        key("tokens", COUNT, "Tokens that may be used.").example("1000000"),
        key("cost_usd", Form::Positive, "Dollars that may be spent.").example("5.0"),
        key("per", Form::Choice(Per::NAMES), "What is counted over.").default(r#""session""#),
    ],
);

static STEPS: Shape = shape(
    "steps",
    "How many calls may be requested.",
    &[
        key("max", COUNT, "The number of calls.").required(),
        key("soft", Form::Flag, "Warn once instead of refusing.").default("false"),
    ],
);

static SHELL: Shape = shape(
    "shell",
    "How shell texts are judged.",
    &[
        key("opaque", Form::Choice(Opaque::NAMES), "What becomes of a command whose program cannot be known.")
            .default(r#""ask""#),
        key(
            "computed",
            Form::Choice(Computed::NAMES),
            "Whether matchers count a word or path that is only known when the text runs.",
        )
        .default(r#""match""#),
    ],
);

static TODOS: Shape = shape(
    "todos",
    "Work items the owner requires, and what the agent may do with todos.",
    &[
        key(
            "agent_commands",
            Form::Choice(&["deny", "allow"]),
            "May the agent's own todos have command and http checks?",
        )
        .default(r#""deny""#),
        key("native", Form::Choice(&["record", "deny"]), "What becomes of the host's own todo tools.")
            .default(r#""record""#),
        key("require", Form::List(&Form::Map(&TODO)), "Todos that are there from the beginning.").default("[]"),
    ],
);

static TODO: Shape = shape(
    "todo",
    "One required work item.",
    &[
        key("content", Form::Text, "What is to be done.").required(),
        key("checks", Form::List(&Form::Map(&TODO_CHECK)), "What proves it.").default("[]"),
    ],
);

static TODO_CHECK: Shape = choice(
    "todo_check",
    "One machine-decidable condition.",
    &[
        "command_exit_zero",
        "file_exists",
        "file_contains",
        "file_absent",
        "git_commit_exists",
        "git_clean",
        "git_branch_pushed",
        "pr_exists",
        "pr_merged",
        "http_status",
        "call_succeeded",
    ],
    &[
        key("command_exit_zero", SOME_TEXTS, "This command exits with 0.").example(r#"["cargo", "test"]"#),
        key("file_exists", Form::Text, "This file exists."),
        key("file_contains", Form::Map(&FILE_CONTAINS), "This file holds this text."),
        key("file_absent", Form::Text, "This file does not exist."),
        key("git_commit_exists", Form::Map(&GIT_COMMIT), "This commit exists."),
        key("git_clean", Form::Map(&GIT_CLEAN), "The work tree is clean."),
        key("git_branch_pushed", Form::Map(&GIT_BRANCH), "This branch is on its remote."),
        key("pr_exists", Form::Map(&PULL_REQUEST), "This pull request exists."),
        key("pr_merged", Form::Map(&PULL_REQUEST), "This pull request is merged."),
        key("http_status", Form::Map(&HTTP_STATUS), "This address answers with this status."),
        key("call_succeeded", Form::Map(&CALL_SUCCEEDED), "A call of this tool succeeded."),
    ],
);

static FILE_CONTAINS: Shape = shape(
    "file_contains",
    "A file that holds a text.",
    &[key("path", Form::Text, "The file.").required(), key("text", Form::Text, "The text.").required()],
);

static GIT_COMMIT: Shape =
    shape("git_commit", "A commit.", &[key("sha", Form::Text, "Its hash.").required().example(r#""4b825dc""#)]);

static GIT_CLEAN: Shape = shape("git_clean", "Takes no settings.", &[]);

static GIT_BRANCH: Shape = shape(
    "git_branch",
    "A branch on a remote.",
    &[
        key("branch", Form::Text, "The branch; without it the present one."),
        key("remote", Form::Text, "The remote.").default(r#""origin""#),
    ],
);

static PULL_REQUEST: Shape = shape(
    "pull_request",
    "A pull request.",
    &[
        key("repo", Form::Text, "Owner and name.").required().example(r#""acme/app""#),
        key("number", COUNT, "Its number.").required(),
    ],
);

static HTTP_STATUS: Shape = shape(
    "http_status",
    "What an address answers.",
    &[
        key("url", Form::Text, "The address.").required(),
        key("status", Form::Whole { min: 100, max: 599 }, "The status.").default("200"),
    ],
);

static CALL_SUCCEEDED: Shape =
    shape("call_succeeded", "A call that succeeded.", &[key("tool", Form::Text, "The tool or step.").required()]);

static FILE_POLICIES: Shape = shape(
    "file_policies",
    "Policies over changed files.",
    &[
        key("dir", Form::Text, "Where they are; without it also `.deepwork/policies` and `.deepwork/rules`.")
            .default(r#"".jackline/policies""#),
        key("enabled", Form::Flag, "Whether they are judged.").default("true"),
        key("output", Form::Choice(FilesOutput::NAMES), "All that is outstanding at once, or one by one.")
            .default(r#""batched""#),
    ],
);

static AUDIT: Shape = shape(
    "audit",
    "How the audit log is kept.",
    &[
        key("redact", TEXTS, "Field names whose values never reach the log.").default("[]").example(r#"["password"]"#),
        key("checkpoint", Form::Flag, "Keep signed checkpoints where a key is set up.").default("true"),
    ],
);

static CHECKS: Shape = shape(
    "checks",
    "How checks look at the world.",
    &[
        key("github_api", Form::Text, "Where pull requests are asked for.").default(r#""https://api.github.com""#),
        key("confine", Form::Choice(Confine::NAMES), "Confine commands by the kernel (Landlock).").default(r#""auto""#),
        key("network", Form::Flag, "Whether a confined command may use TCP, on this machine or beyond.")
            .default("false"),
        key(
            "writable",
            TEXTS,
            "Directories a confined command may write, besides the workspace and the temporary one.",
        )
        .default("[]")
        .example(r#"["~/.cache/go-build"]"#),
        key("environment", TEXTS, "Variables that commands get, besides those that always pass.")
            .default("[]")
            .example(r#"["DATABASE_URL"]"#),
    ],
);

static STORE: Shape = shape(
    "store",
    "How the store keeps records.",
    &[key("sync", Form::Choice(SyncTo::NAMES), "How hard a record is pressed to disk before the answer.")
        .default(r#""full""#)],
);

static OWN: Shape = shape(
    "self",
    "Exceptions from self-protection.",
    &[key("allow", TEXTS, "Globs of our own and the host's files that the agent may edit all the same.").default("[]")],
);
