//! What is really there. Gathered by [`super::look`]; gates only read it.

/// What was seen of a run's files.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Facts {
    /// Each declared deliverable, in the order of the plan, and what is at its path.
    pub declared: Vec<(String, State)>,
    /// Every file that was looked into.
    pub files: Vec<Examined>,
    /// What could not be looked at, and why. Gates that would have needed it reject.
    pub unverified: Vec<String>,
}

/// What is at the path of a deliverable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    Absent,
    /// It would be outside of the run's directories.
    Outside,
    /// No file is named at all.
    Nameless,
    Empty,
    There,
    /// Why it could not be told.
    Unknown(String),
}

/// A file, and what each gate would say of its content.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Examined {
    /// Its path in its directory.
    pub path: String,
    pub bytes: u64,
    /// How the plan declares it, if it does.
    pub declared: Option<String>,
    /// Whether it is in the output directory.
    pub in_output: bool,
    /// Why it cannot be what its name says.
    pub broken: Option<String>,
    /// What is odd and may be meant so.
    pub note: Option<String>,
    /// Where it still has placeholders.
    pub placeholders: Vec<String>,
    /// What is wrong with its structure, if it is a Markdown document.
    pub structure: Vec<String>,
    /// Whether its structure was judged at all.
    pub document: bool,
}
