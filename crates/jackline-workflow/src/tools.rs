//! Where the sources of a workflow's own tools are: Python files below `mcp/`, `tools/` and the directory it names.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, FileType};
use std::path::{Path, PathBuf};

use jackline_core::definition::Fault;
use jackline_core::definition::fault::quoted;
use jackline_core::definition::yaml::Node;

use crate::load::{is_nothing, misnamed};
use crate::manifest::Manifest;
use crate::python::Registration;
use crate::within::inside;

/// Directories that are looked into without being named.
const DIRECTORIES: [&str; 2] = ["mcp", "tools"];
/// Python files of one workflow that are read.
const SOURCES_MAX: usize = 10_000;
/// Directories inside directories that are looked into: a package of tools is flat.
const DEPTH_MAX: usize = 8;

/// A Python file, and the tools it registers.
#[derive(Debug)]
pub struct ToolSource {
    /// The number of its file among the workflow's.
    pub file: usize,
    pub registrations: Vec<Registration>,
}

/// The Python files, as seen from the workflow's directory; and why not all of them.
pub(crate) fn sources(root: &Path, manifest: Option<Manifest<'_>>) -> (BTreeSet<String>, Vec<Fault>) {
    let named = manifest.into_iter().flat_map(Manifest::custom_tools).filter_map(|tools| tools.get("source_dir"));
    let mut faults = Vec::new();
    let mut directories: BTreeSet<String> = DIRECTORIES.map(str::to_owned).into();
    for (text, node) in named.filter_map(|node: &Node| Some((node.text()?, node))) {
        match inside("", text) {
            Some(directory) => {
                if !root.join(&directory).is_dir() && !DIRECTORIES.contains(&directory.as_str()) {
                    let message = format!("there is no directory of tools {}", quoted(text));
                    faults.push(Fault::warning(message).at(node.span));
                }
                directories.insert(directory);
            }
            None => {
                let message = format!("the directory of tools {} lies outside the workflow", quoted(text));
                faults.push(Fault::error(message).at(node.span));
            }
        }
    }
    let mut walk = Walk::new(root, faults);
    for directory in &directories {
        walk.directory(directory, DEPTH_MAX);
    }
    for (text, span) in manifest.into_iter().flat_map(Manifest::tool_files) {
        match inside("", text) {
            Some(path) if !root.join(&path).exists() => {
                let message = format!("there is no file of a tool {}", quoted(text));
                walk.faults.push(Fault::warning(message).at(span));
            }
            Some(path) if is_python(&path) => walk.file(path),
            Some(_) => {}
            None => {
                let message = format!("the file of a tool {} lies outside the workflow", quoted(text));
                walk.faults.push(Fault::error(message).at(span));
            }
        }
    }
    walk.links();
    (walk.found, walk.faults)
}

/// A walk through directories of tools.
struct Walk<'a> {
    root: &'a Path,
    /// The same without links.
    real_root: PathBuf,
    found: BTreeSet<String>,
    /// Files and directories that were seen, without links: nothing is read twice under two names.
    seen: BTreeSet<PathBuf>,
    /// Links that are followed when everything else was seen, and how deep they may lead.
    links: Vec<(String, usize)>,
    crowded: bool,
    faults: Vec<Fault>,
}

impl<'a> Walk<'a> {
    fn new(root: &'a Path, faults: Vec<Fault>) -> Self {
        let real_root = fs::canonicalize(root).unwrap_or_default();
        let (found, seen, links) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        Self { root, real_root, found, seen, links, crowded: false, faults }
    }

    /// Collects the Python files of a directory. Recursion is bounded by `depth`.
    fn directory(&mut self, directory: &str, depth: usize) {
        let place = self.root.join(directory);
        let entries = match fs::read_dir(&place) {
            Ok(entries) => entries,
            Err(fault) if is_nothing(&fault) => return,
            Err(fault) => {
                let message = format!("the directory {} cannot be read: {fault}", quoted(directory));
                return self.faults.push(Fault::error(message));
            }
        };
        let real = fs::canonicalize(&place).unwrap_or_default();
        if !real.starts_with(&self.real_root) {
            let message = format!("{} is not looked at: the link leads out of the workflow", quoted(directory));
            return self.faults.push(Fault::error(message));
        }
        if !self.seen.insert(real) || self.found.len() >= SOURCES_MAX && self.crowded {
            return;
        }
        let mut names: Vec<(OsString, Option<FileType>)> =
            entries.flatten().map(|entry| (entry.file_name(), entry.file_type().ok())).collect();
        names.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        for (name, kind) in names {
            match name.to_str() {
                Some(name) => self.entry(directory, name, kind, depth),
                None if kind.is_some_and(|kind| kind.is_dir()) || is_python(&name.to_string_lossy()) => {
                    self.faults.push(misnamed(directory, &name));
                }
                None => {}
            }
        }
    }

    fn entry(&mut self, directory: &str, name: &str, kind: Option<FileType>, depth: usize) {
        let path = if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") };
        match kind {
            Some(kind) if kind.is_dir() && is_left_out(name) => {}
            Some(kind) if kind.is_dir() && depth == 0 => self.crowded(directory),
            Some(kind) if kind.is_dir() => self.directory(&path, depth - 1),
            Some(kind) if kind.is_symlink() => self.links.push((path, depth)),
            _ if is_python(name) => self.file(path),
            _ => {}
        }
    }

    fn file(&mut self, path: String) {
        if self.found.len() < SOURCES_MAX {
            self.found.insert(path);
        } else {
            self.crowded(path.rsplit_once('/').map_or("", |(directory, _)| directory));
        }
    }

    /// Says once that not all Python files are looked at.
    fn crowded(&mut self, directory: &str) {
        if !self.crowded {
            let message = format!("not all Python files in {} are looked at", quoted(directory));
            let help = format!("at most {SOURCES_MAX} files are read, {DEPTH_MAX} directories deep");
            self.faults.push(Fault::error(message).help(help));
        }
        self.crowded = true;
    }

    /// Looks through links to what was not seen. A file that lies outside is refused when it is read, not passed over.
    fn links(&mut self) {
        if self.links.is_empty() {
            return;
        }
        self.seen.extend(self.found.iter().filter_map(|path| fs::canonicalize(self.root.join(path)).ok()));
        while let Some((path, depth)) = self.links.pop() {
            let real = fs::canonicalize(self.root.join(&path));
            let name = path.rsplit('/').next().unwrap_or_default();
            match real {
                Ok(real) if self.seen.contains(&real) => {}
                Ok(real) if real.is_dir() && is_left_out(name) => {}
                Ok(real) if real.is_dir() && depth == 0 => self.crowded(&path),
                Ok(real) if real.is_dir() => self.directory(&path, depth - 1),
                _ if is_python(name) => self.file(path),
                _ => {}
            }
        }
    }
}

fn is_python(name: &str) -> bool {
    name.ends_with(".py")
}

/// Directories that belong to tools of Python, not to the workflow.
fn is_left_out(name: &str) -> bool {
    name.starts_with('.') || name == "__pycache__"
}
