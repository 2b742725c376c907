//! Why a run could not be begun, or could not go on.

use jackline_runtime::store::StoreFault;

/// Why a run could not be begun, or could not go on.
#[derive(Debug, thiserror::Error)]
pub enum RunFault {
    #[error("the workflow cannot be run")]
    Unrunnable(Vec<String>),
    #[error("the input cannot be used: {0}")]
    Input(String),
    #[error("the input cannot be used: `{0}` is a reserved key of the state")]
    Reserved(String),
    #[error("there is a run `{0}` already")]
    Exists(String),
    #[error("there is no run `{0}`")]
    Unknown(String),
    #[error("the run `{id}` has ended: {status}, {reason}")]
    Over { id: String, status: String, reason: String },
    #[error("the run `{id}` is at work{}", process.map(|process| format!(" (process {process})")).unwrap_or_default())]
    AtWork { id: String, process: Option<u32> },
    #[error("the sensitive variable `{name}` is not what it was when the run `{id}` began")]
    Variable { id: String, name: String },
    #[error("the workflow changed since the run `{0}` began")]
    Changed(String),
    #[error("the record of the run `{id}` cannot be followed: {why}")]
    Unreadable { id: String, why: String },
    #[error("somebody else writes the record of this run")]
    Moved,
    #[error("`{path}` cannot be written: {why}")]
    Disk { path: String, why: String },
    #[error(transparent)]
    Store(#[from] StoreFault),
}

/// Why a step of a run leads to no next one.
#[derive(Debug)]
pub(super) enum Halt {
    /// The run is over: [`Watch`](super::watch::Watch) knows why.
    Over,
    /// Nothing can be recorded any more.
    Fault(Box<RunFault>),
}

impl From<RunFault> for Halt {
    fn from(fault: RunFault) -> Self {
        Self::Fault(Box::new(fault))
    }
}
