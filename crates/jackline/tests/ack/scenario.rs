//! A scenario as it is written in `conformance/ack/`: what an agent does, in no host's words, and what must come of it.

use std::collections::BTreeMap;
use std::fs;

use serde::Deserialize;
use serde_json::Value;

use crate::kept;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    pub(crate) name: String,
    pub(crate) about: String,
    /// Whether it is played on hosts that are only tried, not examined.
    #[serde(default)]
    pub(crate) smoke: bool,
    /// Whether another hook stands beside ours and approves every call.
    #[serde(default)]
    pub(crate) approved: bool,
    pub(crate) definition: Value,
    #[serde(default)]
    pub(crate) workspace: BTreeMap<String, String>,
    pub(crate) agent: Vec<Act>,
    pub(crate) want: Want,
}

/// What the agent does in one turn; or what befalls its guard before the next one.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
pub(crate) enum Act {
    Shell {
        name: String,
        run: String,
    },
    Read {
        name: String,
        path: String,
    },
    /// Writes a whole file; `was` is what it holds before, for hosts whose tool wants to know.
    Write {
        name: String,
        path: String,
        content: String,
        #[serde(default)]
        was: Option<String>,
    },
    /// Puts `content` in the place of `was` in a file that was read: by a patch, where the host makes them.
    Edit {
        name: String,
        path: String,
        was: String,
        content: String,
    },
    /// A call of the tool `note` of the MCP server `notes`.
    Note {
        name: String,
        text: String,
    },
    /// A sub-agent is given work.
    Task {
        name: String,
        agent: Vec<Act>,
    },
    Together(Vec<Act>),
    Say(String),
    /// The person says this next, to a host that stays up.
    Prompt(String),
    Guard(Mishap),
}

impl Act {
    /// What a call is called in the scenario.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Shell { name, .. }
            | Self::Read { name, .. }
            | Self::Write { name, .. }
            | Self::Edit { name, .. }
            | Self::Note { name, .. }
            | Self::Task { name, .. } => Some(name),
            Self::Together(_) | Self::Say(_) | Self::Prompt(_) | Self::Guard(_) => None,
        }
    }
}

impl Scenario {
    /// What the person says after the first prompt.
    pub(crate) fn prompts(&self) -> Vec<String> {
        let said =
            self.agent.iter().filter_map(|act| if let Act::Prompt(text) = act { Some(text.clone()) } else { None });
        said.collect()
    }
}

/// How a guard breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mishap {
    Gone,
    Crashes,
    Dies,
    Killed,
    Hangs,
    Babbles,
    Empty,
}

/// What must come of it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Want {
    /// The recorded verdict on each call.
    pub(crate) decided: BTreeMap<String, String>,
    /// Texts that the model was shown as the outcome of each call.
    pub(crate) told: BTreeMap<String, Vec<String>>,
    /// Texts that the model was shown together with the outcome of each call, and not before.
    pub(crate) beside: BTreeMap<String, Vec<String>>,
    /// Texts that the model was shown anywhere.
    pub(crate) shown: Vec<String>,
    /// Texts that the model was never shown.
    pub(crate) hidden: Vec<String>,
    /// Files of the repository: what they begin with, or that they are not there.
    pub(crate) files: BTreeMap<String, Option<String>>,
    /// Files that are as they were.
    pub(crate) unchanged: Vec<String>,
    /// How the stops were decided, in order.
    pub(crate) stops: Vec<String>,
    /// The commits after the first ones, oldest first.
    pub(crate) commits: Option<Vec<String>>,
    /// The notes that the MCP server was given.
    pub(crate) served: Option<Vec<String>>,
    /// The file that is there if a call passed although its guard was broken.
    pub(crate) passes: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    scenarios: Vec<Scenario>,
}

/// Every scenario, by file and then as written.
pub(crate) fn all() -> Vec<Scenario> {
    let mut files: Vec<_> = fs::read_dir(kept()).expect("there").map(|entry| entry.expect("readable").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    files.sort();
    let mut scenarios = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).expect("readable");
        let file: File = serde_saphyr::from_str(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        scenarios.extend(file.scenarios);
    }
    scenarios
}

/// The scenario of a name.
#[track_caller]
pub(crate) fn named(name: &str) -> Scenario {
    all().into_iter().find(|scenario| scenario.name == name).unwrap_or_else(|| panic!("no scenario is called `{name}`"))
}
