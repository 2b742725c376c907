//! What the front matter of a file policy may say.

use super::super::form::{Form, Shape, choice, key, shape};
use super::{ONE_OR_MORE, SOME_TEXTS, TEXTS};
use crate::files::policy::{CompareTo, RunFor};

/// A text, or a list of them that may be empty.
const ANY_TEXTS: Form = Form::Either(&[Form::Text, TEXTS]);

/// The keys that say when a policy fires.
const DETECTIONS: &[&str] = &["trigger", "set", "pair", "created"];

/// The front matter of one policy.
pub(in super::super) static FILE_POLICY: Shape = choice(
    "file policy",
    "One policy over changed files: what fires it, against what, and what then.",
    DETECTIONS,
    &[
        key("name", Form::Text, "What people and promises call it; without it the file's name."),
        key("compare_to", Form::Choice(CompareTo::NAMES), "Since when a file counts as changed.").default(r#""base""#),
        key("trigger", ONE_OR_MORE, "Fires when a changed file matches any of these globs.")
            .example(r#""src/**/*.py""#),
        key("safety", ANY_TEXTS, "With `trigger`: it does not fire when a changed file matches any of these.")
            .example(r#""README.md""#),
        key("set", SOME_TEXTS, "Patterns that share variables: when one changes, all that correspond must.")
            .example(r#"["src/{path}.py", "tests/{path}_test.py"]"#),
        key("pair", Form::Map(&PAIR), "When one changes, the others must; not the other way round."),
        key("created", ONE_OR_MORE, "Fires when a file that matches any of these globs is new."),
        key("action", Form::Map(&ACTION), "A command that is run; without it the body is shown to the agent."),
    ],
);

static PAIR: Shape = shape(
    "pair",
    "What must change along with a file.",
    &[
        key("trigger", Form::Text, "The pattern that asks for it.").required().example(r#""api/{path}.py""#),
        key("expects", ONE_OR_MORE, "What must have changed too, with the same variables.")
            .required()
            .example(r#""docs/api/{path}.md""#),
    ],
);

static ACTION: Shape = shape(
    "action",
    "A command that is run for changed files; running it twice must change nothing more.",
    &[
        key(
            "command",
            Form::Either(&[Form::Text, SOME_TEXTS]),
            "The words, or a text that is split as a shell splits it; no shell runs it. `{file}` is an argument, and never part of a text that is run: `sh -c '… \"$1\" …' sh {file}`.",
        )
        .required()
        .example(r#""ruff format {file}""#),
        key("run_for", Form::Choice(RunFor::NAMES), "Once for each file, or once for all of them.")
            .default(r#""each_match""#),
    ],
);
