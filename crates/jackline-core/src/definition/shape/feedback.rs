//! The part of the table that is about `feedback`.

use super::{COUNT, SOME_TEXTS, TEXTS};
use crate::definition::form::{Form, Shape, choice, key, shape};
use crate::definition::model::Severity;

pub(super) static FEEDBACK: Shape = choice(
    "feedback",
    "Advice of one provider, and its triggers: at least one, and any of them makes it speak.",
    &["deadline", "static", "command"],
    &[
        key("deadline", Form::Map(&DEADLINE), "How much time is left until `limits.deadline`."),
        key("static", Form::Text, "A fixed text.").example(r#""Follow the conventions in AGENTS.md.""#),
        key(
            "command",
            SOME_TEXTS,
            "A command whose output is the advice: a text, or JSON with `summary`, `severity`, `observations`, `suggestions`.",
        )
        .example(r#"["scripts/hint.sh"]"#),
        key("name", Form::Text, "What the advice is signed with; without it `Deadline`, `Static` or `Command`."),
        key("severity", Form::Choice(Severity::NAMES), "How urgent a static or command advice is.")
            .default(r#""info""#),
        key("suggestions", TEXTS, "What the agent may do, with a static or command advice.").default("[]"),
        key("every_n_calls", COUNT, "After so many calls since this provider's last turn."),
        key("every_n_seconds", Form::Positive, "After so many seconds since this provider's last turn; the first time at once."),
        key("on_file_created", Form::Text, "Once, when this file of the workspace is there.").example(r#""AGENTS.md""#),
    ],
);

static DEADLINE: Shape = shape(
    "feedback_deadline",
    "How much time is left.",
    &[key("warning_threshold_seconds", Form::Positive, "Seconds left from which on it warns.").default("120")],
);
