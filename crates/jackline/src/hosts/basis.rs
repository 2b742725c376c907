//! How we know what each host does with our hooks: the version that was run with us, and the oldest that runs them as we
//! rely on it. One table, so that whoever looks at a host anew finds what to bring up to date.

use jackline_runtime::wiring::claude::ON_FAILURE_SINCE;

use super::Version;

/// How we know what a host does with our answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Basis {
    /// It was run against our hooks.
    Run {
        /// The version that was, in full.
        seen: Version,
        /// Since when it runs them, where that is known.
        oldest: Option<Oldest>,
    },
    /// Its documentation says so, and not since when.
    Documented,
}

/// The oldest version of a host that runs our hooks as we rely on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Oldest {
    pub(crate) version: Version,
    /// What versions before it do.
    pub(crate) before: &'static str,
}

impl Basis {
    /// The oldest version that will do, where it is known.
    pub(crate) fn oldest(self) -> Option<Oldest> {
        match self {
            Self::Run { oldest, .. } => oldest,
            Self::Documented => None,
        }
    }

    /// The oldest version that will do, if this one will not.
    pub(crate) fn too_old(self, version: Version) -> Option<Oldest> {
        self.oldest().filter(|oldest| version < oldest.version)
    }

    /// The version that was run with us, if this one is older.
    pub(crate) fn older_than(self, version: Version) -> Option<Version> {
        match self {
            Self::Run { seen, .. } if version < seen => Some(seen),
            Self::Run { .. } | Self::Documented => None,
        }
    }
}

/// Why most hosts have an oldest version.
const NO_HOOKS: &str = "run no hooks unless a person switches an experiment on, so every call passes";

/// `onFailure` is documented since then; 2.1.197 was run, and passes over it.
pub(super) const CLAUDE: Basis = Basis::Run {
    seen: Version(2, 1, 325),
    oldest: Some(Oldest {
        version: Version(ON_FAILURE_SINCE.0, ON_FAILURE_SINCE.1, ON_FAILURE_SINCE.2),
        before: "let a call pass when its hook fails",
    }),
};

/// Hooks are stable since then, by its release notes; run: 0.122.0 asks nobody, 0.124.0, 0.128.0 and 0.132.0 are held.
pub(super) const CODEX: Basis =
    Basis::Run { seen: Version(0, 166, 0), oldest: Some(Oldest { version: Version(0, 124, 0), before: NO_HOOKS }) };

/// Run: 0.24.5 asks nobody, 0.26.0 is held; 0.25.0 has hooks switched off unless told otherwise, by its source.
pub(super) const GEMINI: Basis =
    Basis::Run { seen: Version(0, 61, 0), oldest: Some(Oldest { version: Version(0, 26, 0), before: NO_HOOKS }) };

/// No experiment any more since then, by its release notes; run: 0.12.0 asks nobody, 0.15.6 is held.
pub(super) const QWEN: Basis =
    Basis::Run { seen: Version(0, 24, 4), oldest: Some(Oldest { version: Version(0, 14, 0), before: NO_HOOKS }) };

/// Run: 1.0.20 asks in messages that name no event, which are refused; 1.0.22, 1.0.24, 1.0.30, 1.0.35, 1.0.63 and 1.0.71 are
/// held. Up to 1.0.3 the name of our gate is not in the program at all.
pub(super) const COPILOT: Basis = Basis::Run {
    seen: Version(1, 0, 102),
    oldest: Some(Oldest {
        version: Version(1, 0, 22),
        before: "do not ask as we are wired, so every call is refused or, before 1.0.6, passes",
    }),
};

/// Run: 1.1.16 is held. 1.0.0 loads the plugin and tells it of prompts; whether it asks before a call was not to be seen.
pub(super) const OPENCODE: Basis = Basis::Run { seen: Version(1, 18, 33), oldest: None };

/// Its versions are dates, and neither its documentation nor its notes say which was the first with `preToolUse` and
/// `failClosed`.
pub(super) const CURSOR: Basis = Basis::Documented;

/// A preview, and no program of it is asked for its version.
pub(super) const VSCODE: Basis = Basis::Documented;
