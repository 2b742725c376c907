//! Completion gates: what must hold before a run may call itself complete.
//!
//! A manager says COMPLETE. [`Run`] is what it says and was asked for; [`Facts`] are what is really there, gathered by
//! [`look`], the one part that touches files. Each gate is a file with a pure `judge(run, facts)`; [`judge`] asks all of them
//! in their order. Nothing here skips a gate: what cannot be verified is rejected.

mod critique;
mod decoded;
mod deliverable;
mod deliverable_presence;
mod eval;
mod facts;
mod file;
mod format;
mod look;
mod outcome;
mod picture;
mod placeholder;
mod required;
mod run;
mod score;
mod structural_integrity;

use serde::{Deserialize, Serialize};

pub use facts::{Examined, Facts, State};
pub use look::look;
pub use outcome::{Action, Judgement, Outcome, Payload};
pub use required::Source;
pub use run::{Critique, Evaluation, Run, Thresholds, Unusable};
pub(crate) use score::reaches;

/// A completion gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Gate {
    Critique,
    DeliverablePresence,
    Placeholder,
    File,
    Deliverable,
    StructuralIntegrity,
    Eval,
}

impl Gate {
    /// All gates, in the order they are asked.
    pub const ALL: [Self; 7] = [
        Self::Critique,
        Self::DeliverablePresence,
        Self::Placeholder,
        Self::File,
        Self::Deliverable,
        Self::StructuralIntegrity,
        Self::Eval,
    ];

    /// Its name in events and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Critique => "critique",
            Self::DeliverablePresence => "deliverable_presence",
            Self::Placeholder => "placeholder",
            Self::File => "file",
            Self::Deliverable => "deliverable",
            Self::StructuralIntegrity => "structural_integrity",
            Self::Eval => "eval",
        }
    }

    /// Whether an owner may let it only warn: gates that SHOULD hold, not those that MUST.
    #[must_use]
    pub const fn may_warn(self) -> bool {
        matches!(self, Self::Deliverable | Self::StructuralIntegrity)
    }

    fn judge(self, run: &Run, facts: &Facts) -> Outcome {
        match self {
            Self::Critique => critique::judge(run),
            Self::DeliverablePresence => deliverable_presence::judge(run, facts),
            Self::Placeholder => placeholder::judge(run, facts),
            Self::File => file::judge(facts),
            Self::Deliverable => deliverable::judge(run, facts),
            Self::StructuralIntegrity => structural_integrity::judge(facts),
            Self::Eval => eval::judge(run),
        }
    }
}

/// Asks every gate, also when one before it rejected: a manager that is sent back should hear everything at once.
#[must_use]
pub fn judge(run: &Run, facts: &Facts) -> Judgement {
    let outcomes = Gate::ALL.iter().map(|gate| {
        let outcome = gate.judge(run, facts);
        Outcome { blocking: !run.only_warns(*gate), ..outcome }
    });
    Judgement { outcomes: outcomes.collect(), ended: run.ended.clone() }
}
