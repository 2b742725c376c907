//! The one table of settings that a run reads past.

/// A setting that has no effect in a run.
#[derive(Debug)]
pub struct Setting {
    pub place: Place,
    /// Its keys, joined by dots; `[]` stands for every item of a list.
    pub path: &'static str,
    pub(super) when: When,
    /// Whether its author relies on it to limit or protect something. Such a workflow is not run.
    pub protects: bool,
    /// What a run does instead; goes on after a semicolon.
    pub why: &'static str,
}

/// In which file it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Manifest,
    /// The manifest of a workflow with a manager.
    Managed,
    Agent,
    /// The file of an agent that is a command.
    Command,
}

/// Which values of it have no effect.
#[derive(Debug, Clone, Copy)]
pub(super) enum When {
    /// Whatever is given, unless it is empty or `false`.
    Given,
    /// Whatever is given, if this flag stands beside it.
    Beside(&'static str),
    /// `false`.
    Off,
    /// `false`, or an expression.
    Condition,
    /// Any text but these.
    Other(&'static [&'static str]),
    /// Any key but these.
    Keys(&'static [&'static str]),
}

const fn idle(place: Place, path: &'static str, why: &'static str) -> Setting {
    Setting { place, path, when: When::Given, protects: false, why }
}

const fn protects(place: Place, path: &'static str, why: &'static str) -> Setting {
    Setting { place, path, when: When::Given, protects: true, why }
}

const fn only(when: When, setting: Setting) -> Setting {
    Setting { when, ..setting }
}

use Place::{Agent, Command, Managed, Manifest};

/// Every setting that a run reads past, in the order of the two files.
pub static SETTINGS: &[Setting] = &[
    idle(Manifest, "workflow.autonomy", "how far agents decide is in what they are"),
    idle(Manifest, "workflow.dependencies", "nothing is installed"),
    idle(Manifest, "workflow.runtime", "nothing is installed"),
    idle(Manifest, "orchestration.degradation", "`error_handling.fallback_agent` stands in for agents that fail"),
    idle(Manifest, "orchestration.subworkflows", "nodes with a `subworkflow` are refused"),
    protects(Manifest, "orchestration.phases", "only agents are run"),
    idle(Manifest, "orchestration.graph[].config", "a loop inside of a graph is refused"),
    idle(Manifest, "orchestration.execution.scheduler", "nodes run as soon as those they wait for are settled"),
    only(
        When::Other(&["sequential", "parallel"]),
        idle(Manifest, "orchestration.execution.mode", "nodes run side by side, on their conditions"),
    ),
    only(When::Condition, protects(Managed, "orchestration.graph[].enabled", "the manager decides who works")),
    idle(Managed, "orchestration.graph[].when", "the manager decides who works"),
    idle(Managed, "orchestration.graph[].depends_on", "the manager decides who works"),
    idle(Managed, "orchestration.graph[].loop", "the manager decides who works, and how often"),
    idle(Managed, "orchestration.graph[].fan_out", "the manager decides who works"),
    idle(Managed, "orchestration.graph[].fan_in", "the manager is told each result"),
    idle(Managed, "orchestration.execution.mode", "the manager decides who works at once"),
    idle(
        Managed,
        "orchestration.execution.max_parallel_agents",
        "`budget.max_parallel_workers` says how many work at once",
    ),
    idle(Managed, "orchestration.execution.on_error", "a failure is told to the manager"),
    idle(Managed, "orchestration.execution.error_handling.default", "a failure is told to the manager"),
    idle(Managed, "orchestration.execution.error_handling.fallback_agent", "a failure is told to the manager"),
    protects(Manifest, "orchestration.delegation_loop.worker_policy", "workers are held as all agents are"),
    idle(Manifest, "orchestration.delegation_loop.models", "each agent's own file names its model"),
    idle(Manifest, "orchestration.delegation_loop.termination", "the loop's budget and its plan end it"),
    idle(Manifest, "orchestration.delegation_loop.validation.deterministic", "every answer is held to its contract"),
    only(
        When::Keys(&["plan_commit_mode", "max_pre_progress_plans"]),
        idle(Manifest, "orchestration.delegation_loop.planning", "the manager plans as it likes"),
    ),
    idle(Manifest, "orchestration.delegation_loop.diagnosis", "the manager is told each failure as it is"),
    idle(Manifest, "orchestration.delegation_loop.history", "the manager is told the plan and the last results"),
    idle(Manifest, "orchestration.delegation_loop.budget_reservation", "nothing is kept back"),
    idle(Manifest, "orchestration.delegation_loop.decision_journal", "every decision is on record"),
    idle(Manifest, "orchestration.delegation_loop.logging", "everything is on record"),
    idle(Manifest, "orchestration.delegation_loop.budget.min_loops_per_subtask", "turns are not set apart"),
    idle(Manifest, "state.model", "the state is one JSON object"),
    idle(Manifest, "state.persistence", "the state is kept with the run's records"),
    idle(Manifest, "state.limits", "`state.max_state_size_mb` limits it"),
    only(
        When::Keys(&["max_message_size_kb"]),
        idle(Manifest, "communication.bus", "messages go through the runner itself"),
    ),
    only(
        When::Other(&["broadcast"]),
        idle(Manifest, "communication.channels[].type", "a message goes to `to`, else to all subscribers"),
    ),
    idle(Manifest, "communication.patterns", "a message goes to `to`, else to all subscribers"),
    only(When::Off, idle(Manifest, "observability.audit.enabled", "every run is on record")),
    only(
        When::Other(&["sha256"]),
        idle(Manifest, "observability.audit.hash_algorithm", "records are hashed with SHA-256"),
    ),
    idle(Manifest, "observability.audit.storage", "records are in the store"),
    idle(Manifest, "observability.audit.path", "records are in the store"),
    idle(Manifest, "observability.audit.retention_days", "records stay until they are removed"),
    idle(Manifest, "observability.audit.export", "`jackline audit export` writes them out"),
    idle(Manifest, "observability.audit.include_fields", "records have all fields that are not sensitive"),
    idle(Manifest, "observability.evaluation.artifact_path", "scores are on record"),
    idle(Manifest, "observability.metrics", "what a run used is in its result and its records"),
    idle(Manifest, "observability.tracing", "records are the trace"),
    idle(Manifest, "observability.logging", "records are the log"),
    idle(Manifest, "observability.health", "a run is one process"),
    idle(Manifest, "custom_tools", "agents are given no tools"),
    idle(Manifest, "capabilities.custom_tools", "agents are given no tools"),
    idle(Manifest, "dynamic_tools", "no tools are made while a workflow runs"),
    only(
        When::Keys(&["required", "optional", "defaults"]),
        idle(Manifest, "env", "variables are listed, or under `required`, `optional` and `defaults`"),
    ),
    only(
        When::Keys(&["required", "optional", "defaults"]),
        idle(Manifest, "workflow.env", "variables are listed, or under `required`, `optional` and `defaults`"),
    ),
    idle(Manifest, "memory", "nothing is remembered between runs"),
    protects(Manifest, "security", "a run has the limits of the guide, and no others"),
    idle(Agent, "model.reasoning", "`model.parameters` are sent as they are"),
    idle(Agent, "prompt.user_template", "a model is given the agent's input as one JSON object"),
    idle(Agent, "prompt.additional", "a model is told its `prompt.system`"),
    idle(Agent, "prompt.variables", "a prompt is told as it is written"),
    idle(Agent, "prompt.injection_order", "a model is told its `prompt.system`, then given its input"),
    idle(Agent, "output.schema", "`output.contract` is held"),
    idle(Agent, "output.validation", "an answer that does not fit its contract is a failure"),
    idle(Agent, "memory", "nothing is remembered between runs"),
    idle(Agent, "vision", "an agent is given one JSON object"),
    idle(Agent, "preprocessor", "an agent is given its input as it is"),
    idle(Agent, "capabilities.skills", "an agent is given nothing to read"),
    idle(Agent, "capabilities.data_sources", "an agent is given no data beside its input"),
    protects(Command, "capabilities.tools.denied", "a command uses what it likes"),
    protects(
        Command,
        "capabilities.tools.max_calls",
        "a command uses what it likes; `max_tool_calls` counts what it tells",
    ),
    idle(Agent, "capabilities.tools.allowed", "agents are given no tools"),
    idle(Agent, "capabilities.tools.namespaces", "agents are given no tools"),
    idle(Agent, "capabilities.tools.max_parallel", "agents are given no tools"),
    idle(Agent, "capabilities.tools.timeout_per_call", "agents are given no tools"),
    idle(Agent, "capabilities.sandbox.type", "commands are confined by the kernel where it can, whatever is named"),
    only(When::Off, idle(Agent, "capabilities.sandbox.enabled", "commands are confined where the kernel can")),
    only(
        When::Beside("enabled"),
        protects(Command, "capabilities.sandbox.network.allowed_hosts", "a network is there as a whole or not at all"),
    ),
    protects(
        Command,
        "capabilities.sandbox.filesystem",
        "a command writes the run's directories and reads what you may read",
    ),
    protects(Command, "capabilities.sandbox.commands", "a command starts what it likes"),
    protects(Command, "capabilities.sandbox.constraints", "only its time is limited"),
    protects(Agent, "capabilities.codemode.tool_creation", "no tools are made while a workflow runs"),
    idle(Agent, "capabilities.codemode", "an agent is a command or a model"),
];
