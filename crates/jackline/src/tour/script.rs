//! What the tour's agent does, as data: five lessons, each step with the decision it must get.

use jackline_core::code::{self, Code};

/// What the person asks for.
pub(super) const PROMPT: &str = "Commit the first version, then greet Ada by name.";

/// The definition that the agent works under.
pub(super) const DEFINITION: &str = include_str!("definition.yaml");

/// What lies in the repository when the agent comes.
pub(super) const FILES: [(&str, &str); 5] = [
    ("jackline.yaml", DEFINITION),
    ("test.sh", include_str!("test.sh")),
    ("greeting.txt", "Hello!\n"),
    (".env", "MODE=production\n"),
    (".gitignore", ".env*\n.claude/\n"),
];

/// A few steps that show one thing.
pub(super) struct Lesson {
    pub(super) title: &'static str,
    pub(super) steps: &'static [Step],
}

/// One thing the agent wants, and what must become of it.
pub(super) struct Step {
    pub(super) act: Act,
    pub(super) want: Want,
}

/// What the agent wants to do. Paths are seen from the repository's root.
#[derive(Debug, Clone, Copy)]
pub(super) enum Act {
    /// A shell text, and the file it writes, if it does.
    Shell(&'static str, Option<&'static str>),
    Read(&'static str),
    Write(&'static str, &'static str),
    Edit(&'static str, &'static str, &'static str),
    /// The agent says that it is done.
    Stop(&'static str),
}

/// The expected decision.
pub(super) enum Want {
    /// Allowed; the words are shown beside what the call did.
    Allow(&'static str),
    Deny(Code),
}

pub(super) static LESSONS: [Lesson; 5] = [
    Lesson {
        title: "Order: no commit before the tests have passed",
        steps: &[
            Step { act: Act::Shell("git commit -qm 'First version'", None), want: Want::Deny(code::SEQUENCE_MISSING) },
            Step {
                act: Act::Shell("sh test.sh || true", None),
                want: Want::Allow("(no proof: it ends with 0 whatever the tests do)"),
            },
            Step { act: Act::Shell("git commit -qm 'First version'", None), want: Want::Deny(code::SEQUENCE_MISSING) },
            Step { act: Act::Shell("sh test.sh", None), want: Want::Allow("") },
            Step { act: Act::Shell("git commit -qm 'First version'", None), want: Want::Allow("") },
        ],
    },
    Lesson {
        title: "No file is overwritten unread",
        steps: &[
            Step { act: Act::Write("greeting.txt", "Hello, Ada!\n"), want: Want::Deny(code::READ_UNREAD) },
            Step { act: Act::Read("greeting.txt"), want: Want::Allow("") },
            Step { act: Act::Write("greeting.txt", "Hello, Ada!\n"), want: Want::Allow("") },
        ],
    },
    Lesson {
        title: "A protected path, by a file tool and by the shell",
        steps: &[
            Step { act: Act::Write(".env.local", "MODE=debug\n"), want: Want::Deny(code::PATHS_PROTECTED) },
            Step { act: Act::Shell("echo MODE=debug >> .env", Some(".env")), want: Want::Deny(code::PATHS_PROTECTED) },
        ],
    },
    Lesson {
        title: "Switching the guard off",
        steps: &[
            Step { act: Act::Read("jackline.yaml"), want: Want::Allow("") },
            Step {
                act: Act::Edit("jackline.yaml", "commit: [test]", "commit: []"),
                want: Want::Deny(code::SELF_PROTECTED),
            },
            Step {
                act: Act::Shell("echo '{}' > .claude/settings.json", Some(".claude/settings.json")),
                want: Want::Deny(code::SELF_PROTECTED),
            },
            Step { act: Act::Shell("jackline off --for 30m", None), want: Want::Deny(code::SELF_OPERATOR_COMMAND) },
        ],
    },
    Lesson {
        title: "The way through",
        steps: &[
            Step { act: Act::Shell("sh test.sh", None), want: Want::Allow("(again: a file was written since)") },
            Step { act: Act::Shell("git commit -qam 'Greet Ada'", None), want: Want::Allow("") },
            Step { act: Act::Stop("Ada is greeted, tested and committed."), want: Want::Allow("") },
        ],
    },
];
