//! Workflows inside a workflow: which directories they are in, and what is there. Each is read as any other is.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use jackline_core::definition::yaml::Node;

use crate::load::{self, MANIFEST_FILE, Workflow};
use crate::manifest::{Manifest, at};
use crate::within::inside;

/// Workflows inside one another: reading and judging them is recursive, and nobody follows a deeper nesting.
pub(crate) const INNER_DEPTH_MAX: usize = 8;
/// Workflows inside a workflow, all depths together: each may have as many files as the one around it.
pub(crate) const INNER_MAX: usize = 100;

/// What is in a directory that should hold a workflow.
#[derive(Debug)]
pub(crate) enum Inner {
    Read(Box<Workflow>),
    Missing,
    /// A link leads out of the workflow.
    Outside,
    /// The workflow itself, or one around it.
    Itself,
    /// There are too many, or they are too deep.
    Beyond,
}

/// The workflows inside a workflow, by directory.
#[derive(Debug, Default)]
pub(crate) struct Inners {
    /// Names in `orchestration.subworkflows`, and what they stand for.
    names: BTreeMap<String, String>,
    pub(crate) found: BTreeMap<String, Inner>,
}

/// What was read so far, around a workflow and beside it.
#[derive(Debug)]
pub(crate) struct Nest {
    /// The directories of the workflows around, without links.
    around: Vec<PathBuf>,
    left: usize,
}

impl Nest {
    pub(crate) const fn new() -> Self {
        Self { around: Vec::new(), left: INNER_MAX }
    }
}

impl Inners {
    /// Reads what a manifest names.
    pub(crate) fn read(root: &Path, manifest: Manifest<'_>, nest: &mut Nest) -> Self {
        let listed = at(manifest.root, &["orchestration", "subworkflows"]).into_iter().flat_map(Node::items);
        let text = |one: &Node, key: &str| one.get(key).and_then(Node::text).map(str::to_owned);
        let names = listed.filter_map(|one| Some((text(one, "name")?, text(one, "ref")?))).collect();
        let mut inners = Self { names, found: BTreeMap::new() };
        let nodes = manifest.graph().filter_map(|node| node.node.get("subworkflow"));
        let directories: Vec<String> =
            nodes.chain(manifest.listed_workflows()).filter_map(|node| inners.directory(node.text()?)).collect();
        nest.around.extend(fs::canonicalize(root).ok());
        for directory in directories {
            inners.found.entry(directory).or_insert_with_key(|directory| look(root, directory, nest));
        }
        nest.around.pop();
        inners
    }

    /// The directory of a workflow inside, by its directory, its manifest, or its name in the list; none when it leads
    /// out.
    pub(crate) fn directory(&self, named: &str) -> Option<String> {
        let place = self.names.get(named).map_or(named, String::as_str);
        inside("", place.strip_suffix(MANIFEST_FILE).unwrap_or(place))
    }

    /// Those that were read.
    pub(crate) fn workflows(&self) -> impl Iterator<Item = (&str, &Workflow)> {
        self.found.iter().filter_map(|(directory, inner)| match inner {
            Inner::Read(flow) => Some((directory.as_str(), &**flow)),
            _ => None,
        })
    }
}

fn look(root: &Path, directory: &str, nest: &mut Nest) -> Inner {
    let place = root.join(directory);
    let (Ok(real), Ok(outer)) = (fs::canonicalize(&place), fs::canonicalize(root)) else { return Inner::Missing };
    match () {
        () if !real.starts_with(outer) => Inner::Outside,
        () if nest.around.contains(&real) => Inner::Itself,
        () if !place.join(MANIFEST_FILE).is_file() => Inner::Missing,
        () if nest.left == 0 || nest.around.len() > INNER_DEPTH_MAX => Inner::Beyond,
        () => {
            nest.left -= 1;
            Inner::Read(Box::new(load::read(&place.join(MANIFEST_FILE), nest)))
        }
    }
}
