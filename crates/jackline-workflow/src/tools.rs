//! Where the sources of a workflow's own tools are: Python files below `mcp/`, `tools/` and the directory it names.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use jackline_core::definition::Fault;
use jackline_core::definition::fault::quoted;
use jackline_core::definition::yaml::Node;

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
pub(crate) fn sources(
    root: &Path,
    manifest: Option<Manifest<'_>>,
) -> (BTreeSet<String>, impl Iterator<Item = Fault> + use<>) {
    let named = manifest.into_iter().flat_map(Manifest::custom_tools).filter_map(|tools| tools.get("source_dir"));
    let mut faults = Vec::new();
    let mut directories: BTreeSet<String> = DIRECTORIES.map(str::to_owned).into();
    for (text, node) in named.filter_map(|node: &Node| Some((node.text()?, node))) {
        match inside("", text) {
            Some(directory) => drop(directories.insert(directory)),
            None => {
                let message = format!("the directory of tools {} lies outside the workflow", quoted(text));
                faults.push(Fault::error(message).at(node.span));
            }
        }
    }
    let mut found = BTreeSet::new();
    for directory in directories {
        if !walk(root, &directory, DEPTH_MAX, &mut found) {
            let message = format!("not all Python files in {} are looked at", quoted(&directory));
            faults.push(
                Fault::error(message)
                    .help(format!("at most {SOURCES_MAX} files are read, {DEPTH_MAX} directories deep")),
            );
        }
    }
    (found, faults.into_iter())
}

/// Collects Python files; whether all were.
fn walk(root: &Path, directory: &str, depth: usize, found: &mut BTreeSet<String>) -> bool {
    let Ok(entries) = fs::read_dir(root.join(directory)) else { return true };
    // A link is looked through: what lies outside is refused when it is read, not passed over.
    let is_directory = |entry: &fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_symlink() => entry.path().is_dir(),
        kind => kind.is_ok_and(|kind| kind.is_dir()),
    };
    let named = |entry: fs::DirEntry| (entry.file_name().to_string_lossy().into_owned(), is_directory(&entry));
    let mut names: Vec<(String, bool)> = entries.flatten().map(named).collect();
    names.sort_unstable();
    names.into_iter().all(|(name, is_directory)| {
        let path = if directory.is_empty() { name.clone() } else { format!("{directory}/{name}") };
        match is_directory {
            true if name.starts_with('.') || name == "__pycache__" => true,
            true => depth > 0 && walk(root, &path, depth - 1, found),
            false if name.ends_with(".py") => {
                found.len() < SOURCES_MAX && {
                    found.insert(path);
                    true
                }
            }
            false => true,
        }
    })
}
