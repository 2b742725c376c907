//! Cases of workflows as data: read from `conformance/workflows`, laid over the base and written to a directory.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// A workflow, and what is found in it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) note: String,
    /// Sections that stand in for those of the base, by file.
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// Files that stand in for those of the base.
    #[serde(default)]
    whole: BTreeMap<String, String>,
    /// Files of the base that are not there.
    #[serde(default)]
    delete: Vec<String>,
    /// Everything that is found, in order.
    pub(crate) want: Vec<Want>,
}

/// A finding.
#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Want {
    pub(crate) rule: String,
    pub(crate) level: String,
    /// File, line and column.
    pub(crate) at: String,
    pub(crate) pointer: String,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

#[derive(Deserialize)]
struct Cases {
    cases: Vec<Case>,
}

/// Where cases are.
pub(crate) fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/workflows")
}

/// All cases of all files.
pub(crate) fn all() -> Vec<Case> {
    let mut paths: Vec<PathBuf> = fs::read_dir(directory().join("cases"))
        .expect("readable")
        .map(|entry| entry.expect("readable").path())
        .collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path).expect("text");
        let cases: Cases = serde_saphyr::from_str(&text).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
        cases.cases
    };
    paths.iter().flat_map(read).collect()
}

/// The base: a small valid workflow, by file.
pub(crate) fn base() -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for path in ["workflow.awp.yaml", "agents/researcher/agent.awp.yaml", "agents/writer/agent.awp.yaml"] {
        let text = fs::read_to_string(directory().join("base").join(path)).expect("the base is there");
        files.insert(path.to_owned(), text);
    }
    files
}

impl Case {
    /// The files of the workflow.
    pub(crate) fn workflow(&self) -> BTreeMap<String, String> {
        let mut files = base();
        for (path, text) in &self.files {
            lay(&mut files, path, text);
        }
        files.extend(self.whole.clone());
        files.retain(|path, _| !self.delete.contains(path));
        files
    }
}

/// Lays sections over those of a file; what is no YAML is taken as a whole.
pub(crate) fn lay(files: &mut BTreeMap<String, String>, path: &str, text: &str) {
    let below = files.get(path).filter(|_| path.ends_with(".yaml"));
    let Some(below) = below else {
        files.insert(path.to_owned(), text.to_owned());
        return;
    };
    let mut laid = sections(below);
    for (key, section) in sections(text) {
        match laid.iter_mut().find(|(other, _)| *other == key) {
            Some(there) => there.1 = section,
            None => laid.push((key, section)),
        }
    }
    files.insert(path.to_owned(), laid.into_iter().map(|(_, section)| section).collect());
}

/// The sections of a file: what stands at the left edge, with the lines below it.
fn sections(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for line in text.split_inclusive('\n') {
        match found.last_mut() {
            Some((_, section)) if line.starts_with([' ', '#', '\n', '-']) => section.push_str(line),
            _ => found.push((line.split(':').next().unwrap_or_default().to_owned(), line.to_owned())),
        }
    }
    found
}

/// Writes files below a directory.
pub(crate) fn write(root: &Path, files: &BTreeMap<String, String>) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("below the root")).expect("made");
        fs::write(path, text).expect("written");
    }
}
