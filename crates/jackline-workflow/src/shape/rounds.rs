//! What a node may say of how often it is tried, and how often and for how many it runs.

use jackline_core::definition::form::{Form, Shape, key, open};

use super::{COUNT, NUMBER, TEXTS};

pub(super) static RETRY: Shape = open(
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

pub(super) static LOOP: Shape = open(
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

pub(super) static FAN_OUT: Shape = open(
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

pub(super) static FAN_IN: Shape = open(
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
