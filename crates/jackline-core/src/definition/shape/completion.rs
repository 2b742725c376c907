//! What `completion` may say.

use super::super::form::{Form, Shape, choice, key, shape};
use super::super::model::When;
use super::{COUNT, SOME_TEXTS};

/// The keys that are a completion check.
const COMPLETION_CHECKS: &[&str] = &["all", "any", "files", "todos", "file_policies", "done", "command"];

/// The keys of a completion check, in one macro so that `completion` can have them too.
macro_rules! completion_keys {
    ($($more:expr),* $(,)?) => {
        &[
            key("all", Form::Some(&Form::Map(&COMPLETION_CHECK)), "All of these hold."),
            key("any", Form::Some(&Form::Map(&COMPLETION_CHECK)), "Any of these holds."),
            key("files", SOME_TEXTS, "These files exist.").example(r#"["report.md"]"#),
            key("todos", Form::Choice(&["verified"]), "All todos are verified."),
            key("file_policies", Form::Choice(&["satisfied"]), "No file policy is outstanding."),
            key("done", Form::Text, "This step is done and nothing was written since."),
            key("command", Form::Map(&COMPLETION_COMMAND), "This command exits with 0."),
            $($more),*
        ]
    };
}

pub(super) static COMPLETION: Shape = choice(
    "completion",
    "What must hold before the agent may stop.",
    COMPLETION_CHECKS,
    completion_keys!(
        key("blocks_max", COUNT, "Consecutive blocked stops, after which the stop is let through as incomplete.")
            .default("6"),
        key("subagents", Form::Flag, "Judge the stops of sub-agents too.").default("false"),
        key("when", Form::Choice(When::NAMES), "Every turn, or only those in which something was done.")
            .default(r#""always""#),
    ),
);

static COMPLETION_CHECK: Shape =
    choice("completion_check", "One condition, or a combination.", COMPLETION_CHECKS, completion_keys!());

static COMPLETION_COMMAND: Shape = shape(
    "completion_command",
    "A command that must succeed.",
    &[
        key("run", SOME_TEXTS, "Program and arguments.").required().example(r#"["cargo", "test"]"#),
        key("timeout", Form::Duration, "How long it may take.").default(r#""10m""#),
    ],
);
