//! What `workflow.awp.yaml` may say.

use jackline_core::definition::form::{Form, Shape, key, open};

use super::evaluation::EVALUATION;
use super::rounds::{FAN_IN, FAN_OUT, LOOP, RETRY};
use super::{COUNT, FLAG_OR_TEXT, NUMBER, TEXTS};
use crate::rules::{AGENT_ID, ALGORITHMS, FAILURES, INTEGRITIES, STRATEGIES, WORKFLOW_NAME};
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
        key("default", Form::Literal, "Its value where it is not set."),
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
        key("phases", Form::List(&Form::Free), "Steps beside the agents."),
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
        key("planning", Form::Map(&PLANNING), "How work is planned."),
        key("diagnosis", Form::Free, "How failures are explained."),
        key("history", Form::Free, "What the manager is told of earlier rounds."),
        key("gates", Form::Free, "Completion gates that only warn."),
        key("budget_reservation", Form::Free, "What is kept back for later phases."),
        key("decision_journal", Form::Free, "What is kept of decisions."),
        key("logging", Form::Free, "What is logged."),
    ],
);

static PLANNING: Shape = open(
    "planning",
    "How work is planned.",
    &[
        key("enabled", Form::Flag, "Whether it is planned."),
        key("max_subtasks", COUNT, "Subtasks of a plan."),
        key("plan_commit_mode", Form::Text, "How soon a plan must be followed; `strict` bears one plan less."),
        key("max_pre_progress_plans", COUNT, "Plans in a row without any work that are borne.").default("2"),
    ],
);

static VALIDATION: Shape = open(
    "validation",
    "How answers are validated that have the right form.",
    &[
        key("llm", Form::Map(&JUDGING), "By a judge."),
        key("deterministic", Form::Free, "By what can be computed; the contract is always held."),
    ],
);

static JUDGING: Shape = open(
    "llm",
    "Who judges whether answers do what was asked. Without a judge nothing is judged.",
    &[
        key("enabled", Form::Flag, "Whether answers are judged.").default("true"),
        key("judge", RESPONDENT, "Who judges: an agent, a command, or a model."),
        key("model", RESPONDENT, "The same, as others spell it."),
        key("skip_when_confidence_above", NUMBER, "How sure an agent must be of an answer that is not judged.")
            .default("0.95"),
        key("timeout", Form::Positive, "Seconds for one verdict.").default("120"),
    ],
);

static CRITIQUE: Shape = open(
    "critique",
    "How answers are criticised and mended.",
    &[
        key("enabled", Form::Flag, "Whether they are.").default("false"),
        key("critic", RESPONDENT, "Who criticises: an agent, a command, or a model."),
        key("model", RESPONDENT, "The same, as others spell it."),
        key("min_score_to_complete", NUMBER, "The mean score that lets a run be complete.").default("0.6"),
        key("max_repair_attempts", COUNT, "How often an answer is mended.").default("2"),
        key("defect_categories", TEXTS, "What defects are sorted into."),
        key("defect_category_hard_cap", COUNT, "Defects of one category for each worker of a turn; 0 for any number.")
            .default("5"),
        key("timeout", Form::Positive, "Seconds for one review.").default("120"),
    ],
);

/// Whoever can be asked.
pub(super) const RESPONDENT: Form = Form::Either(&[Form::Text, Form::Map(&ASKED)]);

static ASKED: Shape = open(
    "asked",
    "A command or a model that is asked.",
    &[
        key("command", Form::Some(&Form::Text), "The words of a command: JSON in, JSON out."),
        key("provider", Form::Text, "How a model is asked: as `openai` or as `anthropic`."),
        key("base_url", Form::Text, "Where it is served."),
        key("name", Form::Text, "Its name."),
        key("token_env", Form::Text, "The environment variable with its token."),
        key("parameters", Form::Free, "What it is asked with."),
        key("price", Form::Free, "Dollars for a million tokens: `input`, `output`."),
        key("timeout", Form::Positive, "Seconds for one answer."),
        key("temperature", NUMBER, "The temperature of a model that judges by rubrics."),
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
