//! What a manifest may say of those who look at answers: judges, critics, whoever scores.

use jackline_core::definition::form::{Form, Shape, key, open};

use super::{COUNT, NUMBER, TEXTS};

pub(super) static VALIDATION: Shape = open(
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

pub(super) static CRITIQUE: Shape = open(
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
    ],
);
