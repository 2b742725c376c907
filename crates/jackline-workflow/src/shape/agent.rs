//! What `agent.awp.yaml` may say.

use jackline_core::definition::form::{Form, Shape, key, open};

use super::{COUNT, FLAG_OR_TEXT, NUMBER, TEXTS};
use crate::rules::{AGENT_ID, LANGUAGES, SANDBOXES};
use crate::semver;

/// The whole file.
pub(crate) static AGENT: Shape = open(
    "agent",
    "One agent of a workflow: who it is, how it is run, what it promises to answer.",
    &[
        key("awp_agent", Form::Matching(semver::PATTERN), "The version of this format (R1).")
            .example(r#""1.0.0""#)
            .judged(),
        key("identity", Form::Map(&IDENTITY), "Who it is.").required().judged(),
        key("runtime", Form::Map(&RUNTIME), "How it is run."),
        key("model", Form::Map(&MODEL), "Which model answers."),
        key("prompt", Form::Map(&PROMPT), "What the model is told."),
        key("output", Form::Map(&OUTPUT), "What it answers.").required().judged(),
        key("capabilities", Form::Map(&CAPABILITIES), "What it may use."),
        key("memory", Form::Free, "What it remembers between runs."),
        key("vision", Form::Free, "Images it may be given."),
        key("preprocessor", Form::Free, "What happens to its input before it."),
    ],
);

static IDENTITY: Shape = open(
    "identity",
    "Who an agent is.",
    &[
        key("id", Form::Matching(AGENT_ID), "Its name, as its directory is called (R12).")
            .required()
            .example(r#""research_analyst""#)
            .judged(),
        key("role", Form::Text, "What it is for, in a word or two."),
        key("description", Form::Text, "What it does."),
        key("version", Form::Matching(semver::PATTERN), "The version of this agent (R1).").judged(),
        key("tags", TEXTS, "Words to find it by."),
    ],
);

static RUNTIME: Shape = open(
    "runtime",
    "How an agent is run.",
    &[
        key("class_name", Form::Text, "The Python class of the agent (R3).").default(r#""Agent""#),
        key("strategy_folder", Form::Text, "Where its prompts and schemas are."),
        key("command", Form::Some(&Form::Text), "The command that is the agent: JSON in, JSON out.")
            .example(r#"["python3", "agents/writer/run.py"]"#),
    ],
);

static MODEL: Shape = open(
    "model",
    "Which model answers.",
    &[
        key("provider", Form::Text, "How it is asked: as `openai` or as `anthropic`.").example(r#""openai""#),
        key("base_url", Form::Text, "Where it is served, if not by its provider.")
            .example(r#""http://127.0.0.1:11434/v1""#),
        key("name", Form::Literal, "Its name; a run needs one."),
        key("fallback", Form::Literal, "Names of models that answer when it does not."),
        key("token_env", Form::Text, "The environment variable with the token that goes along.")
            .example(r#""OPENAI_API_KEY""#),
        key("parameters", Form::Free, "What it is asked with; null leaves out what would be sent."),
        key("price", Form::Map(&PRICE), "What it costs, so that costs can be counted."),
        key("reasoning", Form::Free, "Whether and how it reasons."),
    ],
);

static PRICE: Shape = open(
    "price",
    "Dollars for a million tokens.",
    &[key("input", NUMBER, "That are read."), key("output", NUMBER, "That are written.")],
);

static PROMPT: Shape = open(
    "prompt",
    "What a model is told.",
    &[
        key("system", Form::Text, "The system prompt, or the file it is in."),
        key("user_template", Form::Text, "The prompt, or the file it is in."),
        key("additional", TEXTS, "Further prompts."),
        key("variables", Form::Free, "Values for the templates."),
        key("injection_order", TEXTS, "In which order parts come."),
    ],
);

static OUTPUT: Shape = open(
    "output",
    "What an agent answers.",
    &[
        key("format", Form::Choice(&["json", "text", "markdown"]), "In which form.").default(r#""json""#),
        key(
            "contract",
            Form::Either(&[Form::Text, Form::Free]),
            "The fields of the answer with their types, a JSON Schema, or a file with one (R9).",
        )
        .required()
        .judged(),
        key("schema", Form::Text, "The file of a schema, beside the contract."),
        key("validation", Form::Free, "What becomes of an answer that does not fit."),
    ],
)
.conditions(
    r#"[
  {"if": {"required": ["contract"], "properties": {
     "format": {"const": "json"},
     "contract": {"type": "object", "minProperties": 1, "patternProperties": {
       "^(\\$schema|\\$ref|\\$id|format|pattern)$": {"not": {"type": "string"}},
       "^type$": {"not": {"type": ["string", "array"]}},
       "^(required|enum|allOf|anyOf|oneOf)$": {"not": {"type": "array"}},
       "^additionalProperties$": {"not": {"type": "boolean"}},
       "^properties$": {"anyOf": [{"not": {"type": "object"}},
         {"required": ["type"], "properties": {"type": {"type": "string"}}}]}}}}},
   "then": {"properties": {"contract": {"additionalProperties": {
     "type": "object", "required": ["type"], "properties": {
       "type": {"anyOf": [
         {"enum": ["array", "boolean", "integer", "null", "number", "object", "string"]},
         {"type": "array", "minItems": 1, "items": {
           "enum": ["array", "boolean", "integer", "null", "number", "object", "string"]}}]},
       "shareable": {"type": ["boolean", "null"]}, "sensitive": {"type": ["boolean", "null"]}}}}}}}
]"#,
);

static CAPABILITIES: Shape = open(
    "capabilities",
    "What an agent may use.",
    &[
        key("tools", Form::Map(&TOOLS), "Its tools."),
        key("skills", Form::Free, "What it has read."),
        key("data_sources", Form::List(&Form::Either(&[Form::Text, Form::Free])), "Where it may get data."),
        key("sandbox", Form::Map(&SANDBOX), "Where its code runs."),
        key("codemode", Form::Map(&CODE_MODE), "Whether it writes code against its tools instead of calling them."),
    ],
)
.conditions(
    r#"[
  {"if": {"required": ["codemode"], "properties": {"codemode": {
     "type": "object", "required": ["enabled"], "properties": {"enabled": {"const": true}}}}},
   "then": {"required": ["tools", "sandbox"], "properties": {
     "tools": {"type": "object", "required": ["enabled"], "properties": {"enabled": {"const": true}}},
     "sandbox": {"type": "object", "required": ["type"], "properties": {"type": {"not": {"const": "none"}}}}}}}
]"#,
);

static TOOLS: Shape = open(
    "tools",
    "The tools of an agent.",
    &[
        key("enabled", Form::Flag, "Whether it may use any (R19)."),
        key("max_calls", COUNT, "Calls in one run."),
        key("allowed", TEXTS, "Full names of tools, or patterns with `*` (R23).")
            .example(r#"["web.search", "file.*"]"#),
        key("denied", TEXTS, "Tools it may not use, whatever is allowed."),
        key("namespaces", TEXTS, "Namespaces it may use."),
        key("max_parallel", COUNT, "Calls at once."),
        key("timeout_per_call", Form::Positive, "Seconds that a call may take."),
    ],
);

static SANDBOX: Shape = open(
    "sandbox",
    "Where an agent's code runs.",
    &[
        key("enabled", Form::Flag, "Whether there is one."),
        key("type", Form::Choice(SANDBOXES), "Its kind (R20).").judged(),
        key("network", Form::Either(&[Form::Flag, Form::Map(&NETWORK)]), "What it may reach (R24).").judged(),
        key("constraints", Form::Free, "How much it may use."),
        key("filesystem", Form::Free, "Which files it may read and write."),
        key("commands", Form::Free, "Which commands it may run."),
        key("timeout", Form::Positive, "Seconds that it may take."),
    ],
)
.conditions(
    r#"[
  {"if": {"required": ["type"], "properties": {"type": {"const": "isolate"}}},
   "then": {"required": ["network"], "properties": {"network": {"type": "object", "required": ["enabled"]}}}}
]"#,
);

static NETWORK: Shape = open(
    "network",
    "What a sandbox may reach.",
    &[
        key("enabled", Form::Flag, "Whether it may reach anything.").required(),
        key("allowed_hosts", TEXTS, "What it may reach."),
    ],
);

static CODE_MODE: Shape = open(
    "codemode",
    "How an agent writes code against its tools.",
    &[
        key("enabled", Form::Flag, "Whether it does (R19, R20).").default("false"),
        key("language", Form::Choice(LANGUAGES), "In which language (R21).").judged(),
        key("sdk_surface", Form::Map(&SURFACE), "Which tools its code sees."),
        key("tool_creation", Form::Flag, "Whether it may make tools while it runs (R25, R26).").default("false"),
        key("tool_creation_namespace", Form::Text, "The namespace of the tools it makes (R25).")
            .default(r#""dynamic""#)
            .judged(),
        key("max_tools", COUNT, "Tools it may make."),
        key("execution", Form::Free, "How its code is run."),
        key("state", Form::Free, "What its code may keep."),
        key("network", FLAG_OR_TEXT, "Whether its code may reach the network."),
    ],
);

static SURFACE: Shape = open(
    "sdk_surface",
    "Which tools an agent's code sees.",
    &[
        key("mode", Form::Choice(&["auto", "explicit"]), "All that are allowed, or those that are listed (R22).")
            .default(r#""auto""#),
        key("include", TEXTS, "The tools it sees, with `mode: explicit` (R22)."),
        key("exclude", TEXTS, "Allowed tools that it does not see (R23)."),
    ],
)
.conditions(
    r#"[
  {"if": {"required": ["mode"], "properties": {"mode": {"const": "explicit"}}},
   "then": {"required": ["include"], "properties": {"include": {"type": "array", "minItems": 1}}}}
]"#,
);
