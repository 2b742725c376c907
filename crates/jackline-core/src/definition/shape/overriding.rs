//! The part of the table that is about `override` of a rule.

use crate::definition::form::{Form, Shape, choice, key, shape};
use crate::overrides::{OVERRIDE_COUNT_MAX, OVERRIDE_FACTOR_MAX};

pub(super) static OVERRIDE: Shape = choice(
    "override",
    "A constraint put on the agent for a while: exactly one kind, and at least one time to live.",
    &["tool_budget", "force_action", "widen_retrieval"],
    &[
        key("tool_budget", Form::Map(&TOOL_BUDGET), "No more than so many calls of a tool."),
        key("force_action", Form::Map(&FORCE_ACTION), "No call but those of a tool."),
        key("widen_retrieval", Form::Map(&WIDEN_RETRIEVAL), "Reads and outputs may show so many times more."),
        key(
            "ttl_steps",
            Form::Whole { min: 1, max: OVERRIDE_COUNT_MAX as i64 },
            "Calls let through after which it lapses, the one that put it not counted.",
        ),
        key("ttl", Form::Duration, "Time after which it lapses, at most 24h.").example(r#""10m""#),
    ],
);

static TOOL_BUDGET: Shape = shape(
    "tool_budget",
    "No more than so many calls of a tool.",
    &[
        key("tool", Form::Text, "Tool name or glob, step name, or `@kind`.").required(),
        key(
            "max_calls",
            Form::Whole { min: 0, max: OVERRIDE_COUNT_MAX as i64 },
            "Calls that may be let through, the one that put it included.",
        )
        .required(),
    ],
);

static FORCE_ACTION: Shape = shape(
    "force_action",
    "No call but those of a tool.",
    &[key("tool", Form::Text, "Tool name or glob, step name, or `@kind`.").required()],
);

static WIDEN_RETRIEVAL: Shape = shape(
    "widen_retrieval",
    "Reads and outputs may show so many times more.",
    &[key("factor", Form::Whole { min: 2, max: OVERRIDE_FACTOR_MAX as i64 }, "How many times.").required()],
);
