//! What `workflow.awp.yaml` may say of scores.

use jackline_core::definition::form::{Form, Shape, key, open};

use super::COUNT;
use super::workflow::RESPONDENT;
use crate::rules::{ACTIONS, HOOKS};

pub(super) static EVALUATION: Shape = open(
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
        key("id", Form::Text, "Its name by another word, read where there is no `name`.").judged(),
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
