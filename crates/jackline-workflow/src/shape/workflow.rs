//! What `workflow.awp.yaml` may say.

use jackline_core::definition::form::{Form, Shape, key, open};

use super::tiers::{CRITIQUE, RESPONDENT, VALIDATION};
use super::{COUNT, FLAG_OR_TEXT, NUMBER, TEXTS};
use crate::rules::{ACTIONS, AGENT_ID, ALGORITHMS, FAILURES, HOOKS, INTEGRITIES, STRATEGIES, WORKFLOW_NAME};
use crate::semver;

/// The whole file.
pub(crate) static WORKFLOW: Shape = open(
    "workflow.awp.yaml",
    "A workflow: which agents there are, who waits for whom, what they share, how a run is limited and recorded.",
    &[
        key("awp", Form::Matching(semver::PATTERN), "The version of the protocol (R1).")
            .required()
            .example(r#""1.0.0""#)
            .judged(),
        key("workflow", Form::Map(&IDENTITY), "What the workflow is.").required().judged(),
        key("orchestration", Form::Map(&ORCHESTRATION), "Who runs, and when."),
        key("state", Form::Map(&STATE), "What agents share."),
        key("communication", Form::Map(&COMMUNICATION), "How agents talk."),
        key("observability", Form::Map(&OBSERVABILITY), "What is recorded and scored."),
        key("custom_tools", Form::Map(&CUSTOM_TOOLS), "Tools of the workflow's own (R10, R11)."),
        key("capabilities", Form::Map(&CAPABILITIES), "The same under its other name."),
        key("dynamic_tools", Form::Map(&DYNAMIC_TOOLS), "Tools that agents make while they run (R25, R26)."),
        key("memory", Form::Free, "What is remembered between runs."),
        key("security", Form::Free, "Circuit breakers, rates, access."),
        key(
            "env",
            Form::Either(&[Form::List(&Form::Map(&VARIABLE)), Form::Map(&ENVIRONMENT)]),
            "Environment variables.",
        ),
        key("settings", Form::Free, "Values for templates."),
    ],
);

static IDENTITY: Shape = open(
    "workflow",
    "What a workflow is.",
    &[
        key("name", Form::Matching(WORKFLOW_NAME), "Its name (R2).")
            .required()
            .example(r#""research-and-write""#)
            .judged(),
        key("version", Form::Matching(semver::PATTERN), "Its version (R1).").judged(),
        key("description", Form::Text, "What it does."),
        key("author", Form::Text, "Who wrote it."),
        key("license", Form::Text, "On what terms."),
        key("tags", TEXTS, "Words to find it by."),
        key("homepage", Form::Text, "Where to read on."),
        key("repository", Form::Text, "Where its source is."),
        key("autonomy", Form::Text, "How far agents decide for themselves."),
        key("runtime", Form::Free, "What it needs to run."),
        key("dependencies", Form::Free, "What else it needs."),
        key(
            "env",
            Form::Either(&[Form::List(&Form::Map(&VARIABLE)), Form::Map(&ENVIRONMENT)]),
            "Environment variables.",
        ),
        key("settings", Form::Free, "Values for templates."),
    ],
);

static ENVIRONMENT: Shape = open(
    "environment",
    "Environment variables, by whether a run needs them.",
    &[
        key("required", VARIABLES, "Those that a run needs (R14)."),
        key("optional", VARIABLES, "Those that it can do without (R14)."),
        key("defaults", Form::Free, "Values of those that are not set."),
    ],
);

const VARIABLES: Form = Form::List(&Form::Either(&[Form::Text, Form::Map(&VARIABLE)]));

static VARIABLE: Shape = open(
    "variable",
    "An environment variable.",
    &[
        key("name", Form::Text, "Its name.").required(),
        key("description", Form::Text, "What it is for."),
        key("required", Form::Flag, "Whether a run needs it.").default("false"),
        key("sensitive", Form::Flag, "Whether its value is kept out of every record (R14).").default("false").judged(),
    ],
);

static ORCHESTRATION: Shape = open(
    "orchestration",
    "Who runs, and when.",
    &[
        key("engine", Form::Choice(&["dag", "delegation_loop"]), "Whether a graph is followed or a manager delegates.")
            .default(r#""dag""#),
        key("graph", Form::List(&Form::Map(&NODE)), "The agents, and whom each waits for (R5, R6, R7, R8)."),
        key("execution", Form::Map(&EXECUTION), "How they are run."),
        key("delegation_loop", Form::Map(&DELEGATION), "How a manager delegates."),
        key("validation", Form::Map(&VALIDATION), "How answers are validated where no manager delegates."),
        key("run_budget", Form::Map(&RUN_BUDGET), "What a run may use (R17)."),
        key("subworkflows", Form::List(&Form::Map(&INNER)), "Workflows inside this one (R8)."),
        key("degradation", Form::List(&Form::Free), "What stands in for agents that fail."),
    ],
)
.conditions(
    r#"[
  {"if": {"not": {"anyOf": [
     {"required": ["delegation_loop"]},
     {"required": ["engine"], "properties": {"engine": {"const": "delegation_loop"}}}]}},
   "then": {"required": ["graph"], "properties": {"graph": {"type": "array", "minItems": 1}}}}
]"#,
);

static LOOP_CONFIG: Shape = open(
    "loop_config",
    "The settings of a delegation loop inside the graph.",
    &[key("budget", Form::Map(&BUDGET), "What it may use (R31, R32).")],
);

static NODE: Shape = open(
    "node",
    "An agent's place in the graph.",
    &[
        key("id", Form::Matching(AGENT_ID), "Its name, once in a graph (R5, R12).").required().judged(),
        key("agent", Form::Text, "Its agent: a name under `agents/`, or a directory. Without it, the `id` (R8)."),
        key("subworkflow", Form::Text, "A workflow instead of an agent."),
        key("enabled", FLAG_OR_TEXT, "Whether it runs; an expression is asked when its turn comes.").default("true"),
        key(
            "depends_on",
            Form::List(&Form::Either(&[Form::Text, Form::Map(&DEPENDENCY)])),
            "Whom it waits for (R6, R7).",
        ),
        key("when", Form::Text, "On what condition it runs."),
        key("share_input", Form::Either(&[TEXTS, Form::Named(&TEXTS)]), "What it is given of others (R16)."),
        key("share_output", TEXTS, "What others may see of its answer (R16)."),
        key("on_failure", Form::Choice(FAILURES), "What its failure leads to (R17).").judged(),
        key("timeout", Form::Positive, "Seconds that it may take (R17).").judged(),
        key("retry", Form::Either(&[COUNT, Form::Map(&RETRY)]), "How often it is tried again."),
        key("loop", Form::Map(&LOOP), "Whether it runs more than once."),
        key("fan_out", Form::Map(&FAN_OUT), "Whether it runs once for each of many."),
        key("fan_in", Form::Map(&FAN_IN), "What becomes of the many answers."),
        key("type", Form::Text, "What kind of node it is."),
        key("config", Form::Map(&LOOP_CONFIG), "The settings of a delegation loop in its place (R31, R32)."),
        key("description", Form::Text, "What it is for here."),
    ],
);

static RETRY: Shape = open(
    "retry",
    "How often an agent is tried, and how long before each new try.",
    &[
        key("max_attempts", COUNT, "Tries in all.").default("1"),
        key("max_retries", COUNT, "Tries after the first: the same, counted otherwise."),
        key("backoff", Form::Choice(&["none", "linear", "exponential"]), "How the time between tries grows.")
            .default(r#""exponential""#),
        key("backoff_base", NUMBER, "Seconds: the first pause, or what it grows by.").default("2.0"),
        key("backoff_max", NUMBER, "Seconds of the longest pause.").default("60.0"),
        key("delay", NUMBER, "The same as `backoff_base`."),
        key("retryable_errors", TEXTS, "Kinds of failures that are tried again; all of them without this."),
        key("non_retryable_errors", TEXTS, "Kinds of failures that are not."),
    ],
);

static LOOP: Shape = open(
    "loop",
    "A node that runs more than once.",
    &[
        key("enabled", Form::Flag, "Whether it does.").default("true"),
        key("type", Form::Choice(&["standard", "interactive"]), "Whether somebody is asked between rounds.")
            .default(r#""standard""#),
        key("mode", Form::Text, "The same under its other name."),
        key("max_iterations", COUNT, "Rounds at most.").default("5"),
        key("condition", Form::Text, "It goes on while this holds, asked after each round."),
        key("until_condition", Form::Text, "It ends once this holds."),
        key("until", Form::Text, "The same in short."),
        key("poll_interval", NUMBER, "Seconds between rounds."),
        key("prompt_field", Form::Text, "Where an interactive loop says that it needs an answer."),
        key("input_channel", Form::Text, "Where the answer comes from."),
    ],
);

static FAN_OUT: Shape = open(
    "fan_out",
    "A node that runs once for each of many.",
    &[
        key("enabled", Form::Flag, "Whether it does.").default("true"),
        key("source", Form::Text, "Each of what: an expression, such as `state.researcher.topics`."),
        key("source_field", Form::Text, "The same under its other name."),
        key("variable", Form::Text, "What one of them is called in `inputs`.").default(r#""item""#),
        key("agent_template", Form::Text, "The agent that runs, if it is another one."),
        key("max_parallel", COUNT, "Copies at once.").default("4"),
        key("aggregation", Form::Text, "What becomes of the answers; `fan_in.strategy` under its other name."),
    ],
);

static FAN_IN: Shape = open(
    "fan_in",
    "What becomes of the answers of a fan-out.",
    &[
        key(
            "strategy",
            Form::Choice(&["merge", "reduce", "first", "majority"]),
            "A list of all, one object of all, the first, or the one most often given.",
        )
        .default(r#""merge""#),
        key("target_field", Form::Text, "The member of the state that they become (R13)."),
    ],
);

static RUN_BUDGET: Shape = open(
    "run_budget",
    "What a run may use.",
    &[
        key("max_wall_time", Form::Positive, "Seconds in all (R17).").judged(),
        key("max_agent_runs", COUNT, "Tries of agents in all."),
        key("max_total_tokens", COUNT, "Tokens in all, as agents tell them."),
        key("max_tool_calls", COUNT, "Calls in all, as agents tell them."),
        key("max_cost_usd", NUMBER, "Dollars in all, as agents tell them."),
    ],
);

static DEPENDENCY: Shape = open(
    "dependency",
    "Whom an agent waits for, and on what condition it goes on.",
    &[
        key("agent", Form::Text, "Whom."),
        key("id", Form::Text, "The same, as others spell it."),
        key("when", Form::Text, "On what condition."),
        key("expr", Form::Text, "The same, as others spell it."),
        key("condition", Form::Text, "Which outcome is waited for: `success`, `failure` or `always`."),
    ],
);

static INNER: Shape = open(
    "inner",
    "A workflow inside this one.",
    &[
        key("name", Form::Text, "How nodes call it."),
        key("ref", Form::Text, "Its directory, or an address, which is not looked at (R8)."),
        key("input_mapping", Form::Free, "What it is given."),
        key("output_mapping", Form::Free, "What is taken from it."),
    ],
);

static EXECUTION: Shape = open(
    "execution",
    "How agents are run.",
    &[
        key("mode", Form::Choice(&["sequential", "parallel", "conditional", "adaptive"]), "In which way."),
        key("timeout_per_agent", Form::Positive, "Seconds that an agent may take (R17).").judged(),
        key("timeout_total", Form::Positive, "Seconds that a run may take (R17).").judged(),
        key("timeout_idle", Form::Positive, "Seconds in which nothing may happen (R17).").judged(),
        key("timeout", Form::Map(&TIMEOUT), "The same under its other names (R17)."),
        key("max_parallel_agents", COUNT, "Agents at once."),
        key("error_handling", Form::Map(&ERROR_HANDLING), "What failures lead to."),
        key("on_error", Form::Choice(FAILURES), "The same under its other name (R17).").judged(),
        key("scheduler", Form::Text, "How the next agent is chosen."),
    ],
);

static TIMEOUT: Shape = open(
    "timeout",
    "Limits of time in seconds.",
    &[
        key("per_agent", Form::Positive, "For an agent (R17).").judged(),
        key("total", Form::Positive, "For a run (R17).").judged(),
        key("idle", Form::Positive, "In which nothing happens (R17).").judged(),
    ],
);

static ERROR_HANDLING: Shape = open(
    "error_handling",
    "What failures lead to.",
    &[
        key("default", Form::Choice(FAILURES), "Where an agent says nothing else (R17).").judged(),
        key("max_retries", COUNT, "How often an agent is tried again."),
        key("retry_delay", NUMBER, "Seconds before the first time."),
        key("fallback_agent", Form::Text, "The agent that stands in (R7)."),
    ],
);

static DELEGATION: Shape = open(
    "delegation_loop",
    "How a manager delegates.",
    &[
        key("manager", Form::Text, "The agent that decides (R8)."),
        key("worker", Form::Text, "The agent of workers that name none."),
        key("budget", Form::Map(&BUDGET), "What a run may use (R31, R32)."),
        key("models", Form::Free, "Which models answer."),
        key("worker_policy", Form::Free, "What holds for every worker."),
        key("termination", Form::Free, "When a run that makes no progress ends."),
        key("validation", Form::Map(&VALIDATION), "How answers are validated."),
        key("critique", Form::Map(&CRITIQUE), "How answers are criticised."),
        key("planning", Form::Free, "How work is planned."),
        key("diagnosis", Form::Free, "How failures are explained."),
        key("history", Form::Free, "What the manager is told of earlier rounds."),
        key("gates", Form::Free, "Completion gates that only warn."),
        key("budget_reservation", Form::Free, "What is kept back for later phases."),
        key("decision_journal", Form::Free, "What is kept of decisions."),
        key("logging", Form::Free, "What is logged."),
    ],
);

static BUDGET: Shape = open(
    "budget",
    "What a delegation loop may use.",
    &[
        key("max_depth", Form::Whole { min: 0, max: 10 }, "Managers below managers; 0 for none (R31, R32).")
            .required()
            .judged(),
        key("max_loops", COUNT, "Decisions of the manager."),
        key("max_total_workers", COUNT, "Workers in all."),
        key("max_total_tokens", COUNT, "Tokens in all."),
        key("max_wall_time", Form::Positive, "Seconds in all (R17).").judged(),
        key("max_tool_calls", COUNT, "Calls in all."),
        key("max_parallel_workers", COUNT, "Workers at once."),
        key("max_workers_per_iteration", COUNT, "Workers that one decision may start."),
        key("max_concurrent_submanagers", COUNT, "Managers below the manager at once."),
        key("max_total_submanagers_per_run", COUNT, "Managers below the manager in all."),
        key("min_loops_per_subtask", COUNT, "Decisions that each subtask is given."),
        key("max_rejected_completions", COUNT, "Rejected completions before something else is done.").default("2"),
    ],
);

static STATE: Shape = open(
    "state",
    "What agents share.",
    &[
        key("model", Form::Text, "How it is kept."),
        key("initial", Form::Free, "What is there at the start (R13)."),
        key("auto_inject", Form::Free, "What is put there at the start of a run (R13)."),
        key("required_fields", TEXTS, "What must be there at the start."),
        key("persistence", Form::Free, "Where it is kept."),
        key("sharing", Form::Map(&SHARING), "Who sees what (R16)."),
        key("limits", Form::Free, "How large it may be."),
        key("max_state_size_mb", NUMBER, "How large it may be in all."),
    ],
)
.conditions(
    r#"[
  {"properties": {
    "initial": {"propertyNames": {"not": {"enum": ["_meta", "_errors", "_trace", "_workflow"]}}},
    "auto_inject": {"propertyNames": {"not": {"enum": ["_meta", "_errors", "_trace", "_workflow"]}}}}}
]"#,
);

static SHARING: Shape = open(
    "sharing",
    "Which agents see what of others.",
    &[
        key("strategy", Form::Choice(STRATEGIES), "Everything, what is shared, or nothing (R16).").judged(),
        key("rules", Form::List(&Form::Map(&SHARING_RULE)), "What is shared with whom, under `selective` (R16)."),
        key("never_share", TEXTS, "Fields that nobody else sees."),
        key("sensitive_fields", TEXTS, "Fields that no record shows (R14).").judged(),
    ],
);

static SHARING_RULE: Shape = open(
    "sharing_rule",
    "Fields of one agent that others see.",
    &[
        key("from", Form::Text, "Whose fields."),
        key("from_agent", Form::Text, "The same, as others spell it."),
        key("to", Form::Many(&Form::Text), "Who sees them."),
        key("to_agents", Form::Many(&Form::Text), "The same, as others spell it."),
        key("fields", TEXTS, "Which fields."),
    ],
);

static COMMUNICATION: Shape = open(
    "communication",
    "How agents talk.",
    &[
        key("bus", Form::Free, "What carries messages."),
        key("channels", Form::List(&Form::Map(&CHANNEL)), "By which channels."),
        key("default_channel", Form::Text, "Where no channel is named."),
        key("patterns", Form::List(&Form::Free), "How channels are used together."),
    ],
);

static CHANNEL: Shape = open(
    "channel",
    "A channel for messages.",
    &[
        key("name", Form::Text, "Its name.").required(),
        key("type", Form::Choice(&["direct", "broadcast", "topic", "request_response"]), "Who gets a message.")
            .default(r#""direct""#),
        key("schema", Form::Either(&[Form::Flag, Form::Free]), "What a message must fit: a JSON Schema (R15).")
            .judged(),
        key("participants", Form::Map(&PARTICIPANTS), "Who may send and who receives."),
        key("acl", Form::Map(&PARTICIPANTS), "The same under its other name."),
    ],
);

static PARTICIPANTS: Shape = open(
    "participants",
    "Who may send and who receives; `*` is everybody.",
    &[key("publishers", TEXTS, "Who may send."), key("subscribers", TEXTS, "Who receives.")],
);

static OBSERVABILITY: Shape = open(
    "observability",
    "What is recorded and scored.",
    &[
        key("audit", Form::Map(&AUDIT), "The audit log (R18)."),
        key("evaluation", Form::Map(&EVALUATION), "How a run is scored (R27 to R30)."),
        key("metrics", Form::Map(&METRICS), "What is counted (R14)."),
        key("tracing", Form::Free, "What is traced (R14)."),
        key("logging", Form::Free, "What is logged."),
        key("health", Form::Free, "How it is watched."),
    ],
);

static METRICS: Shape = open(
    "metrics",
    "What is counted.",
    &[
        key("custom", Form::List(&Form::Map(&CUSTOM_METRIC)), "Metrics of the workflow's own (R14)."),
        key("custom_metrics", Form::List(&Form::Map(&CUSTOM_METRIC)), "The same, as others spell it."),
    ],
);

static CUSTOM_METRIC: Shape = open(
    "custom_metric",
    "Something that is counted.",
    &[
        key("name", Form::Text, "Its name."),
        key("type", Form::Text, "How it is counted."),
        key("labels", Form::Either(&[TEXTS, Form::Free]), "What tells its values apart (R14)."),
    ],
);

static AUDIT: Shape = open(
    "audit",
    "The audit log.",
    &[
        key("enabled", Form::Flag, "Whether there is one.").default("false"),
        key("integrity", Form::Choice(INTEGRITIES), "What makes changes visible (R18).").judged(),
        key("hash_chain", Form::Flag, "The same under its other name (R18).").judged(),
        key("hash_algorithm", Form::Choice(ALGORITHMS), "How records are hashed (R18).").judged(),
        key("storage", Form::Free, "Where it is kept (R18)."),
        key("path", Form::Text, "The same under its other name."),
        key("retention_days", COUNT, "How long it is kept."),
        key("export", Form::Free, "Where it is written to besides."),
        key("include_fields", TEXTS, "Fields that records show (R14)."),
    ],
);

static EVALUATION: Shape = open(
    "evaluation",
    "How a run is scored.",
    &[
        key("enabled", Form::Flag, "Whether it is.").default("false"),
        key("metrics", Form::List(&Form::Map(&METRIC)), "What is scored (R27, R29)."),
        key("thresholds", Form::Map(&THRESHOLDS), "What a score leads to (R28)."),
        key("step_scores", Form::Map(&STEP_SCORES), "What is scored during a run (R30)."),
        key("retry_policy", Form::Map(&RETRY_POLICY), "What a low score leads to (R30)."),
        key("rubric_judge", RESPONDENT, "Who judges by rubrics: an agent, a command, or a model."),
        key("artifact_path", Form::Text, "Where scores are kept."),
    ],
)
.conditions(
    r#"[
  {"if": {"required": ["enabled"], "properties": {"enabled": {"const": true}}},
   "then": {"properties": {"metrics": {"items": {"required": ["kind"], "properties": {"kind": {"enum": [
     "llm_rubric", "deterministic", "schema", "budget", "policy", "rubric_judge", "deterministic_test",
     "deterministic_assertion", "budget_utility", "policy_score"]}}}}}}}
]"#,
);

static METRIC: Shape = open(
    "metric",
    "One score.",
    &[
        key("name", Form::Text, "Its name, once in a workflow (R27).").judged(),
        key("kind", Form::Text, "How it is found (R27).").judged(),
        key("weight", Form::NotNegative, "How much it counts (R29).").default("1.0").judged(),
        key("params", Form::Free, "What its kind needs: `expr` or `command`, `schema`, `of`, `rules`, `rubric`."),
    ],
);

static THRESHOLDS: Shape = open(
    "thresholds",
    "What a score leads to: each between 0 and 1, none below the next (R28).",
    &[
        key("accept", Form::Fraction, "From here on a run is fine.").default("0.85").judged(),
        key("retry", Form::Fraction, "From here on it is; below it is repaired.").default("0.65").judged(),
        key("fail", Form::Fraction, "Below this it failed.").default("0.4").judged(),
    ],
);

static STEP_SCORES: Shape = open(
    "step_scores",
    "What is scored during a run.",
    &[
        key("enabled", Form::Flag, "Whether anything is.").default("true"),
        key("hooks", Form::List(&Form::Choice(HOOKS)), "When (R30).").judged(),
    ],
);

static RETRY_POLICY: Shape = open(
    "retry_policy",
    "What a low score leads to.",
    &[
        key("enabled", Form::Flag, "Whether it leads to anything.").default("false"),
        key("max_repairs", COUNT, "How often a run is repaired."),
        key("actions", Form::Map(&RETRY_ACTIONS), "What is done (R30)."),
    ],
);

static RETRY_ACTIONS: Shape = open(
    "actions",
    "What is done about a low score.",
    &[
        key("below_retry", Form::Choice(ACTIONS), "Below `retry` (R30).").judged(),
        key("below_fail", Form::Choice(ACTIONS), "Below `fail` (R30).").judged(),
    ],
);

static CAPABILITIES: Shape = open(
    "workflow_capabilities",
    "What a workflow brings along.",
    &[key("custom_tools", Form::Map(&CUSTOM_TOOLS), "Tools of its own (R10, R11).")],
);

static CUSTOM_TOOLS: Shape = open(
    "custom_tools",
    "Tools of a workflow's own.",
    &[
        key("source_dir", Form::Text, "Where Python files register them.").default(r#""mcp""#),
        key("auto_discovery", Form::Flag, "Whether they are looked for."),
        key("auto_inject", Form::Flag, "Whether every agent gets them."),
        key("declarations", Form::List(&Form::Free), "Tools by name (R10, R11)."),
    ],
);

static DYNAMIC_TOOLS: Shape = open(
    "dynamic_tools",
    "Tools that agents make while they run.",
    &[
        key("enabled", Form::Flag, "Whether they may (R26).").default("false"),
        key("allowed_namespaces", Form::List(&Form::Either(&[Form::Text, Form::Free])), "In which namespaces (R25).")
            .default(r#"["dynamic"]"#),
        key("max_total", COUNT, "How many."),
        key("persist", Form::Flag, "Whether they are kept."),
        key("code_review", Form::Flag, "Whether somebody looks at them."),
    ],
);
