//! The files that a workflow is: those it was read from, and those that its commands and prompts name. A run goes on only
//! with the same ones.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use jackline_core::definition::tree;
use jackline_core::sha::Digest;
use serde_json::Value;

use crate::load::Workflow;
use crate::within::inside;

/// Bytes of a file that are looked at: programs of agents are far shorter, and of others the length is known.
const FILE_BYTES_MAX: u64 = 16 << 20;
/// Files that are looked at: more than any workflow names.
const FILES_MAX: usize = 10_000;

/// Of every file of a workflow: what a run that is taken up again must still find.
pub(super) fn digest(flow: &Workflow) -> Digest {
    let named: BTreeMap<String, Vec<u8>> = names(flow)
        .into_iter()
        .filter_map(|path| Some((contents(&flow.root.join(&path)).ok()?, path)))
        .map(|(contents, path)| (path, contents))
        .collect();
    let read = flow.files.iter().flat_map(|file| [file.path.as_bytes(), file.text.as_bytes()]);
    Digest::of_parts(read.chain(named.iter().flat_map(|(path, contents)| [path.as_bytes(), contents.as_slice()])))
}

/// Paths that commands and prompts may name, as seen from the workflow's directory.
fn names(flow: &Workflow) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let manifest = flow.manifest().and_then(|manifest| tree(manifest.root));
    manifest.iter().for_each(|root| collect(root, "", &mut words));
    for agent in &flow.agents {
        let root = flow.config(agent).and_then(|config| tree(config.root));
        root.iter().for_each(|root| collect(root, &agent.directory, &mut words));
    }
    words.into_iter().take(FILES_MAX).collect()
}

/// The depth of YAML is bounded where it is read.
fn collect(value: &Value, directory: &str, words: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                match name.as_str() {
                    // Commands run in the workflow's directory; a shell's text has words of its own.
                    "command" => {
                        let texts = value.as_array().into_iter().flatten().chain([value]).filter_map(Value::as_str);
                        let parts = texts.flat_map(|text| text.split_whitespace().chain([text]));
                        words.extend(parts.filter_map(|word| inside("", word.trim_matches(['"', '\'']))));
                    }
                    "system" => words.extend(value.as_str().and_then(|text| inside(directory, text))),
                    _ => {}
                }
                collect(value, directory, words);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, directory, words)),
        _ => {}
    }
}

/// What a file holds, as far as it is looked at, and how long it is.
fn contents(path: &Path) -> io::Result<Vec<u8>> {
    // Looked at before it is opened: a pipe would be waited for.
    let meta = path.metadata()?;
    if !meta.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut contents = meta.len().to_be_bytes().to_vec();
    File::open(path)?.take(FILE_BYTES_MAX).read_to_end(&mut contents)?;
    Ok(contents)
}
