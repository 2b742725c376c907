//! An agent, `agents/<id>/agent.awp.yaml`, as a view of its tree, beside what else belongs to it. Judges nothing.

use jackline_core::definition::Span;
use jackline_core::definition::yaml::Node;

use crate::contract::Contract;
use crate::manifest::{at, is, texts};
use crate::python::AgentSource;

/// The namespace of tools that an agent makes while it runs, when it names none.
pub const DYNAMIC_NAMESPACE: &str = "dynamic";

/// An agent whose file was read.
#[derive(Debug)]
pub struct Agent {
    /// Its directory as seen from the workflow's.
    pub directory: String,
    /// The number of its file among the workflow's.
    pub file: usize,
    /// What it promises to answer.
    pub contract: Contract,
    /// Its Python source, if there is one.
    pub source: Option<Source>,
}

/// The Python source of an agent.
#[derive(Debug)]
pub struct Source {
    /// The number of its file among the workflow's.
    pub file: usize,
    /// What it defines; none when it cannot be read.
    pub facts: Option<AgentSource>,
}

impl Agent {
    /// The last part of its directory.
    #[must_use]
    pub fn name(&self) -> &str {
        self.directory.rsplit('/').next().unwrap_or_default()
    }
}

/// The tree of an agent's file.
#[derive(Debug, Clone, Copy)]
pub struct Config<'a> {
    pub root: &'a Node,
}

impl<'a> Config<'a> {
    /// What it is called.
    #[must_use]
    pub fn id(self) -> Option<&'a Node> {
        at(self.root, &["identity", "id"])
    }

    /// How it writes code against its tools.
    #[must_use]
    pub fn code_mode(self) -> Option<&'a Node> {
        at(self.root, &["capabilities", "codemode"])
    }

    /// Whether it writes code against its tools.
    #[must_use]
    pub fn writes_code(self) -> bool {
        is(self.root, &["capabilities", "codemode", "enabled"], true)
    }

    /// Whether it makes tools while it runs.
    #[must_use]
    pub fn makes_tools(self) -> bool {
        is(self.root, &["capabilities", "codemode", "tool_creation"], true)
    }

    /// The tools it may use, as patterns.
    pub fn allowed_tools(self) -> impl Iterator<Item = (&'a str, Span)> {
        texts(at(self.root, &["capabilities", "tools", "allowed"]))
    }

    /// Where its code runs.
    #[must_use]
    pub fn sandbox(self) -> Option<&'a Node> {
        at(self.root, &["capabilities", "sandbox"])
    }
}
