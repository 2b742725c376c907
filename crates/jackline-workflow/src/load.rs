//! A workflow as it is read from its directory: the manifest, every agent, every source of tools. What cannot be read is
//! kept as a fault, and reading goes on.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use jackline_core::definition::Fault;
use jackline_core::definition::fault::quoted;
use jackline_core::definition::yaml::Node;

use crate::agent::{Agent, Config, Source};
use crate::dag::{Dag, Edge};
use crate::file::File;
use crate::inner::{Inners, Nest};
use crate::manifest::{Manifest, home};
use crate::python;
use crate::read::{self, Read};
use crate::tools::{self, ToolSource};

/// The file that makes a directory a workflow.
pub const MANIFEST_FILE: &str = "workflow.awp.yaml";
/// The file that makes a directory an agent.
pub const AGENT_FILE: &str = "agent.awp.yaml";
/// Where agents are.
const AGENTS: &str = "agents";

/// Agents of one workflow: five times the largest that is measured.
const AGENTS_MAX: usize = 100_000;

/// A workflow as it was read.
#[derive(Debug)]
pub struct Workflow {
    /// Its directory.
    pub root: PathBuf,
    /// Every file that was read; the first is the manifest.
    pub files: Vec<File>,
    /// By directory, in the order of their names.
    pub agents: Vec<Agent>,
    /// Python files in which tools are registered.
    pub tools: Vec<ToolSource>,
    /// Workflows inside this one.
    pub(crate) inner: Inners,
    /// What could not be read, by file.
    pub(crate) faults: Vec<(usize, Fault)>,
    /// The graph by its nodes' order; a dependency on nobody is no edge.
    pub dag: Dag,
    /// The node of each name; the first, where a name is given twice.
    pub(crate) nodes: BTreeMap<String, usize>,
    /// The directory of each node's agent.
    homes: Vec<Option<String>>,
}

/// Why there is nothing to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Absent {
    pub path: PathBuf,
}

impl Workflow {
    /// The manifest, if it can be read.
    #[must_use]
    pub fn manifest(&self) -> Option<Manifest<'_>> {
        self.files.first()?.tree.as_ref().map(|root| Manifest { root })
    }

    /// An agent's file, if it can be read.
    #[must_use]
    pub fn config(&self, agent: &Agent) -> Option<Config<'_>> {
        self.files.get(agent.file)?.tree.as_ref().map(|root| Config { root })
    }

    /// The directory of the agent of a node of the graph.
    #[must_use]
    pub fn home(&self, node: usize) -> Option<&str> {
        self.homes.get(node)?.as_deref()
    }

    /// The agent in a directory.
    #[must_use]
    pub fn agent_in(&self, directory: &str) -> Option<&Agent> {
        let at = self.agents.binary_search_by(|agent| agent.directory.as_str().cmp(directory)).ok()?;
        self.agents.get(at)
    }

    /// The agent of a name: the graph's, else the one whose directory is called so.
    #[must_use]
    pub fn agent(&self, name: &str) -> Option<&Agent> {
        match self.nodes.get(name).and_then(|at| self.homes.get(*at)?.as_ref()) {
            Some(directory) => self.agent_in(directory),
            None => self.agent_in(&format!("{AGENTS}/{name}")),
        }
    }

    /// Whether the graph or a directory knows a name.
    #[must_use]
    pub fn knows(&self, name: &str) -> bool {
        self.nodes.contains_key(name) || self.agent_in(&format!("{AGENTS}/{name}")).is_some()
    }
}

/// Reads the workflow in a directory, or of a manifest.
pub fn load(path: &Path) -> Result<Workflow, Absent> {
    let manifest = if path.is_dir() { path.join(MANIFEST_FILE) } else { path.to_owned() };
    if manifest.is_file() { Ok(read(&manifest, &mut Nest::new())) } else { Err(Absent { path: manifest }) }
}

/// Reads the workflow of a manifest, which may lie inside others.
pub(crate) fn read(manifest: &Path, nest: &mut Nest) -> Workflow {
    let parent = manifest.parent().filter(|parent| !parent.as_os_str().is_empty());
    let root = parent.unwrap_or(Path::new(".")).to_owned();
    let name = manifest.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (usual, crowded) = usual_directories(&root);
    let ((file, faults), agents) = read::agents(&root, &usual, || read::manifest(&root, &name));
    let mut flow = Workflow {
        root,
        files: vec![file],
        agents: Vec::new(),
        tools: Vec::new(),
        inner: Inners::default(),
        faults: faults.into_iter().chain(crowded).map(|fault| (0, fault)).collect(),
        dag: Dag::default(),
        nodes: BTreeMap::new(),
        homes: Vec::new(),
    };
    flow.read_graph();
    flow.take_agents(agents, &usual);
    flow.read_tools();
    flow.inner = flow.manifest().map(|manifest| Inners::read(&flow.root, manifest, nest)).unwrap_or_default();
    flow
}

/// The directories in `agents/`, sorted; and why not all of them.
fn usual_directories(root: &Path) -> (Vec<String>, Vec<Fault>) {
    let mut faults = Vec::new();
    let entries = match fs::read_dir(root.join(AGENTS)) {
        Ok(entries) => Some(entries),
        Err(fault) if is_nothing(&fault) => None,
        Err(fault) => {
            faults.push(Fault::error(format!("the directory `{AGENTS}` cannot be read: {fault}")));
            None
        }
    };
    let mut found = Vec::new();
    for entry in entries.into_iter().flatten().flatten().take(AGENTS_MAX + 1) {
        match entry.file_name().into_string() {
            Ok(name) => found.push(format!("{AGENTS}/{name}")),
            Err(name) => faults.push(misnamed(AGENTS, &name)),
        }
    }
    found.sort_unstable();
    if found.len() > AGENTS_MAX {
        faults.push(Fault::error(format!("there are more than {AGENTS_MAX} agents, and not all are looked at")));
    }
    (found, faults)
}

/// Whether a directory is not there, which is fine.
pub(crate) fn is_nothing(fault: &std::io::Error) -> bool {
    matches!(fault.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// A name that no file of a workflow can say.
pub(crate) fn misnamed(directory: &str, name: &OsStr) -> Fault {
    let shown = quoted(&format!("{directory}/{}", name.to_string_lossy()));
    Fault::error(format!("{shown} is not looked at: its name is not UTF-8")).help("give it another name")
}

impl Workflow {
    fn read_graph(&mut self) {
        let Some(manifest) = self.files.first().and_then(|file| file.tree.as_ref()).map(|root| Manifest { root })
        else {
            return;
        };
        let mut nodes = BTreeMap::new();
        for (at, node) in manifest.graph().enumerate() {
            if let Some(id) = node.id().and_then(Node::text) {
                nodes.entry(id.to_owned()).or_insert(at);
            }
        }
        let edge = |(name, span)| nodes.get(name).map(|to| Edge { to: *to, span });
        let mut edges: Vec<Vec<Edge>> = manifest.graph().map(|_| Vec::new()).collect();
        for (at, node) in manifest.graph().enumerate() {
            // What the second of a name waits for, the first waits for: else a cycle would show only when R5 is mended.
            let of = node.id().and_then(Node::text).and_then(|id| nodes.get(id)).copied().unwrap_or(at);
            let own = node.depends_on().filter_map(|dependency| edge((dependency.name, dependency.span)));
            if let Some(edges) = edges.get_mut(of) {
                edges.extend(own);
            }
        }
        self.dag = Dag::new(edges);
        self.homes = manifest.graph().map(|node| node.directory()?.0).collect();
        self.nodes = nodes;
    }

    /// Takes the agents of the usual directories, and reads those that the graph has elsewhere.
    fn take_agents(&mut self, mut read: Vec<Read>, usual: &[String]) {
        let unusual = |home: &&String| usual.binary_search(home).is_err();
        let manager = self.manifest().and_then(|manifest| home(manifest.manager()?.text()?));
        let named = self.homes.iter().flatten().chain(&manager);
        let elsewhere: BTreeSet<String> = named.filter(unusual).take(AGENTS_MAX).cloned().collect();
        let elsewhere: Vec<String> = elsewhere.into_iter().collect();
        read.extend(read::agents(&self.root, &elsewhere, || ()).1);
        read.sort_unstable_by(|one, other| one.directory.cmp(&other.directory));
        for read in read {
            let file = self.keep(read.file, read.faults);
            let source = read.source.map(|(text, facts, faults)| Source { file: self.keep(text, faults), facts });
            self.agents.push(Agent { directory: read.directory, file, contract: read.contract, source });
        }
    }

    fn read_tools(&mut self) {
        let (sources, lost) = tools::sources(&self.root, self.manifest());
        self.faults.extend(lost.into_iter().map(|fault| (0, fault)));
        for path in sources {
            let (file, registrations, faults) = read::python(&self.root, &path, python::registrations);
            let file = self.keep(file, faults);
            self.tools.push(ToolSource { file, registrations: registrations.unwrap_or_default() });
        }
    }

    /// Keeps a file with its faults; its number.
    fn keep(&mut self, file: File, faults: Vec<Fault>) -> usize {
        let at = self.files.len();
        self.faults.extend(faults.into_iter().map(|fault| (at, fault)));
        self.files.push(file);
        at
    }
}
