//! Reads a workflow's directory: the manifest, every agent, every source of tools. Bounded, and on as many threads as
//! there are processors; what cannot be read is kept as a fault, and reading goes on.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

use jackline_core::definition::fault::Faults;
use jackline_core::definition::form::Shape;
use jackline_core::definition::yaml::{self, Limits, Node};
use jackline_core::definition::{Fault, hold};

use crate::agent::{Agent, Config, Source};
use crate::contract::Contract;
use crate::dag::{Dag, Edge};
use crate::file::File;
use crate::manifest::Manifest;
use crate::python::{self, AgentSource, PYTHON_BYTES_MAX, Unreadable};
use crate::shape;
use crate::tools::{self, ToolSource};

/// The file that makes a directory a workflow.
pub const MANIFEST_FILE: &str = "workflow.awp.yaml";
/// The file that makes a directory an agent.
pub const AGENT_FILE: &str = "agent.awp.yaml";
/// The Python source of an agent.
const AGENT_SOURCE: &str = "agent.py";
/// Where agents are.
const AGENTS: &str = "agents";

/// Agents of one workflow: five times the largest that is measured.
const AGENTS_MAX: usize = 100_000;
/// Threads that read agents: more only wait for the disk.
const THREADS_MAX: usize = 8;
/// Agents for which one thread is enough: beginning another costs as much as reading some dozens.
const AGENTS_PER_THREAD: usize = 64;

/// A graph of a hundred thousand agents fits.
const MANIFEST: Limits =
    Limits { bytes_max: 64 << 20, nodes_max: 4_000_000, meant: "a manifest names agents: is this the right file?" };
/// An agent is written by hand.
const AGENT: Limits =
    Limits { bytes_max: 1 << 20, nodes_max: 50_000, meant: "an agent is written by hand: is this the right file?" };

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
    if !manifest.is_file() {
        return Err(Absent { path: manifest });
    }
    let parent = manifest.parent().filter(|parent| !parent.as_os_str().is_empty());
    let root = parent.unwrap_or(Path::new(".")).to_owned();
    let name = manifest.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (file, faults) = read_yaml(&root, &name, &MANIFEST, &shape::WORKFLOW);
    let mut flow = Workflow {
        root,
        files: vec![file],
        agents: Vec::new(),
        tools: Vec::new(),
        faults: faults.into_iter().map(|fault| (0, fault)).collect(),
        dag: Dag::default(),
        nodes: BTreeMap::new(),
        homes: Vec::new(),
    };
    flow.read_graph();
    flow.read_agents();
    flow.read_tools();
    Ok(flow)
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
        let edges = manifest
            .graph()
            .map(|node| node.depends_on().filter_map(|dependency| edge((dependency.name, dependency.span))).collect());
        self.dag = Dag::new(edges.collect());
        self.homes = manifest.graph().map(|node| node.directory()?.0).collect();
        self.nodes = nodes;
    }

    fn read_agents(&mut self) {
        let mut directories = self.directories();
        if directories.len() > AGENTS_MAX {
            let message = format!("there are more than {AGENTS_MAX} agents; the rest is not looked at");
            self.faults.push((0, Fault::error(message)));
            directories.truncate(AGENTS_MAX);
        }
        for read in read_all(&self.root, &directories) {
            let Some(read) = read else { continue };
            let file = self.keep(read.file, read.faults);
            let source = read.source.map(|(text, facts, faults)| Source { file: self.keep(text, faults), facts });
            self.agents.push(Agent { directory: read.directory, file, contract: read.contract, source });
        }
    }

    fn read_tools(&mut self) {
        let (sources, lost) = tools::sources(&self.root, self.manifest());
        self.faults.extend(lost.map(|fault| (0, fault)));
        for path in sources {
            let (file, registrations, faults) = read_python(&self.root, &path, python::registrations);
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

    /// The directories of agents: those in `agents/`, and those that the graph names elsewhere. Sorted, each once.
    fn directories(&self) -> Vec<String> {
        let entries = fs::read_dir(self.root.join(AGENTS)).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut found: Vec<String> = names.map(|name| format!("{AGENTS}/{name}")).collect();
        found.extend(self.homes.iter().flatten().cloned());
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// An agent as one thread read it.
struct Read {
    directory: String,
    file: File,
    faults: Vec<Fault>,
    contract: Contract,
    source: Option<(File, Option<AgentSource>, Vec<Fault>)>,
}

fn read_all(root: &Path, directories: &[String]) -> Vec<Option<Read>> {
    let processors = thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
    let threads = processors.min(directories.len() / AGENTS_PER_THREAD).max(1);
    if threads == 1 {
        return directories.iter().map(|directory| read_agent(root, directory)).collect();
    }
    let share = directories.len().div_ceil(threads);
    thread::scope(|scope| {
        let work = |part| {
            move || -> Vec<Option<Read>> {
                <[String]>::iter(part).map(|directory| read_agent(root, directory)).collect()
            }
        };
        let threads: Vec<_> = directories.chunks(share).map(|part| scope.spawn(work(part))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

/// An agent, if there is one in a directory.
fn read_agent(root: &Path, directory: &str) -> Option<Read> {
    let path = format!("{directory}/{AGENT_FILE}");
    if !root.join(&path).is_file() {
        return None;
    }
    let (file, faults) = read_yaml(root, &path, &AGENT, &shape::AGENT);
    let contract = file.tree.as_ref().map(|tree| Contract::read(tree, root, directory)).unwrap_or_default();
    let source = format!("{directory}/{AGENT_SOURCE}");
    let source = root.join(&source).is_file().then(|| read_python(root, &source, python::agent));
    Some(Read { directory: directory.to_owned(), file, faults, contract, source })
}

/// Reads a Python file for what is asked of it.
fn read_python<T>(root: &Path, path: &str, ask: fn(&str) -> Result<T, Unreadable>) -> (File, Option<T>, Vec<Fault>) {
    let file = |text| File { path: path.to_owned(), text, tree: None };
    match read_text(&root.join(path), PYTHON_BYTES_MAX) {
        Err(why) => (file(String::new()), None, vec![Fault::error(format!("the file cannot be read: {why}"))]),
        Ok(text) => match ask(&text) {
            Ok(answer) => (file(text), Some(answer), Vec::new()),
            Err(why) => {
                let fault = Fault::error(format!("the file is not Python: {}", why.message)).at(why.span);
                (file(text), None, vec![fault])
            }
        },
    }
}

/// Reads a file into its tree, and holds it against its shape.
fn read_yaml(root: &Path, path: &str, limits: &Limits, shape: &Shape) -> (File, Vec<Fault>) {
    let text = match read_text(&root.join(path), limits.bytes_max) {
        Ok(text) => text,
        Err(why) => {
            let fault = Fault::error(format!("the file cannot be read: {why}"));
            return (File { path: path.to_owned(), text: String::new(), tree: None }, vec![fault]);
        }
    };
    let mut faults = Faults::default();
    let tree = yaml::read_within(limits, &text, &mut faults);
    let tree = match tree {
        Some(tree) if matches!(tree.value, yaml::Value::Map(_)) => {
            hold(shape, &tree, &mut faults);
            Some(tree)
        }
        Some(other) => {
            faults.push(Fault::error(format!("the file must be a map, found {}", other.noun())).at(other.span));
            None
        }
        None if faults.any_error() => None,
        None => {
            faults.push(Fault::error("the file is empty"));
            None
        }
    };
    (File { path: path.to_owned(), text, tree }, faults.into_sorted())
}

/// The text of a regular file, if it is one and not too long.
pub(crate) fn read_text(path: &Path, bytes_max: usize) -> Result<String, String> {
    // Looked at before it is opened: opening a pipe that lies there would wait for ever.
    let there = fs::metadata(path).map_err(|fault| told(&fault))?;
    if !there.is_file() {
        return Err("it is no regular file".to_owned());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(there.len()).unwrap_or(0).min(bytes_max) + 1);
    let file = fs::File::open(path).map_err(|fault| told(&fault))?;
    file.take(bytes_max as u64 + 1).read_to_end(&mut bytes).map_err(|fault| told(&fault))?;
    if bytes.len() > bytes_max {
        return Err(format!("it is longer than {bytes_max} bytes"));
    }
    String::from_utf8(bytes).map_err(|fault| format!("it is not UTF-8 at byte {}", fault.utf8_error().valid_up_to()))
}

fn told(fault: &std::io::Error) -> String {
    match fault.kind() {
        std::io::ErrorKind::NotFound => "there is none".to_owned(),
        _ => fault.to_string(),
    }
}
