//! Reads the files of a workflow, each bounded; agents on as many threads as there are processors.

use std::fs;
use std::io::Read as _;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use jackline_core::definition::fault::Faults;
use jackline_core::definition::form::Shape;
use jackline_core::definition::yaml::{self, Limits, Node};
use jackline_core::definition::{Fault, hold};

use crate::contract::Contract;
use crate::file::File;
use crate::load::AGENT_FILE;
use crate::python::{self, AgentSource, PYTHON_BYTES_MAX, Unreadable};
use crate::{shape, template};

/// Threads that read agents: more only wait for the disk.
const THREADS_MAX: usize = 8;
/// Agents for which one thread is enough: beginning another costs as much as reading some dozens.
const AGENTS_PER_THREAD: usize = 64;
/// Agents that a thread takes at once: few enough that none is left with much when the others are done.
const AGENTS_AT_ONCE: usize = 16;
/// The Python source of an agent.
const AGENT_SOURCE: &str = "agent.py";
/// A graph of a hundred thousand agents fits.
const MANIFEST: Limits =
    Limits { bytes_max: 64 << 20, nodes_max: 4_000_000, meant: "a manifest names agents: is this the right file?" };
/// An agent is written by hand.
const AGENT: Limits =
    Limits { bytes_max: 1 << 20, nodes_max: 50_000, meant: "an agent is written by hand: is this the right file?" };

/// An agent as it was read.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) directory: String,
    pub(crate) file: File,
    pub(crate) faults: Vec<Fault>,
    pub(crate) contract: Contract,
    pub(crate) source: Option<(File, Option<AgentSource>, Vec<Fault>)>,
}

/// Reads the manifest.
pub(crate) fn manifest(root: &Path, name: &str) -> (File, Vec<Fault>) {
    let text = text(root, name, MANIFEST.bytes_max);
    parsed(name, text, &MANIFEST, (&shape::WORKFLOW, template::fill))
}

/// Reads the agents in some directories, in no order, while something else is done.
pub(crate) fn agents<T>(root: &Path, directories: &[String], meanwhile: impl FnOnce() -> T) -> (T, Vec<Read>) {
    let processors = thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
    let threads = processors.min(directories.len() / AGENTS_PER_THREAD).max(1);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut read = Vec::new();
        loop {
            let from = next.fetch_add(AGENTS_AT_ONCE, Ordering::Relaxed);
            let part = directories.iter().skip(from).take(AGENTS_AT_ONCE);
            if part.len() == 0 {
                return read;
            }
            read.extend(part.filter_map(|directory| agent(root, directory)));
        }
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let done = meanwhile();
        let mut read = work();
        for other in others {
            read.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        (done, read)
    })
}

/// An agent, if there is one in a directory.
fn agent(root: &Path, directory: &str) -> Option<Read> {
    let path = format!("{directory}/{AGENT_FILE}");
    let text = text(root, &path, AGENT.bytes_max);
    if text == Err(Unread::Missing) {
        return None;
    }
    let (file, faults) = parsed(&path, text, &AGENT, (&shape::AGENT, |_| None));
    let contract = file.tree.as_ref().map(|tree| Contract::read(tree, root, directory)).unwrap_or_default();
    let source = format!("{directory}/{AGENT_SOURCE}");
    let source = root.join(&source).is_file().then(|| python(root, &source, python::agent));
    Some(Read { directory: directory.to_owned(), file, faults, contract, source })
}

/// Reads a Python file for what is asked of it.
pub(crate) fn python<T>(
    root: &Path,
    path: &str,
    ask: fn(&str) -> Result<T, Unreadable>,
) -> (File, Option<T>, Vec<Fault>) {
    let file = |text| File { path: path.to_owned(), text, tree: None };
    match bytes(root, path, PYTHON_BYTES_MAX).and_then(python::decoded) {
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

/// A text as its tree, filled and held against its shape.
fn parsed(
    path: &str,
    text: Result<String, Unread>,
    limits: &Limits,
    (shape, fill): (&Shape, fn(&mut Node) -> Option<Fault>),
) -> (File, Vec<Fault>) {
    let text = match text {
        Ok(text) => text,
        Err(why) => {
            let fault = Fault::error(format!("the file cannot be read: {why}"));
            return (File { path: path.to_owned(), text: String::new(), tree: None }, vec![fault]);
        }
    };
    let mut faults = Faults::default();
    let tree = match yaml::read_within(limits, &text, &mut faults) {
        Some(mut tree) if matches!(tree.value, yaml::Value::Map(_)) => {
            fill(&mut tree).into_iter().for_each(|fault| faults.push(fault));
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

/// Why a file's text is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unread {
    #[error("there is none")]
    Missing,
    #[error("it is no regular file")]
    Odd,
    #[error("a link on the way to it leads out of the workflow")]
    Outside,
    #[error("it is longer than {0} bytes")]
    Long(usize),
    #[error("it is not UTF-8 at byte {0}")]
    Binary(usize),
    #[error("{0}")]
    Refused(String),
}

impl From<std::io::Error> for Unread {
    fn from(fault: std::io::Error) -> Self {
        match fault.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Self::Missing,
            _ => Self::Refused(fault.to_string()),
        }
    }
}

/// The text of a regular file below the workflow's directory, if it is one and not too long.
pub(crate) fn text(root: &Path, path: &str, bytes_max: usize) -> Result<String, Unread> {
    bytes(root, path, bytes_max).and_then(utf8)
}

/// Bytes as the text they should be.
pub(crate) fn utf8(bytes: Vec<u8>) -> Result<String, Unread> {
    String::from_utf8(bytes).map_err(|fault| Unread::Binary(fault.utf8_error().valid_up_to()))
}

/// The bytes of a regular file below the workflow's directory, if it is one and not too long.
fn bytes(root: &Path, path: &str, bytes_max: usize) -> Result<Vec<u8>, Unread> {
    let file = root.join(path);
    // Looked at before it is opened: opening a pipe that lies there would wait for ever.
    let length = regular(root, path, &file)?;
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0).min(bytes_max) + 1);
    fs::File::open(file)?.take(bytes_max as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > bytes_max {
        return Err(Unread::Long(bytes_max));
    }
    Ok(bytes)
}

/// The length of a regular file that really lies below the workflow's directory. Whoever validates a stranger's workflow
/// shows lines of its files, and no link may make them lines of another file.
fn regular(root: &Path, path: &str, file: &Path) -> Result<u64, Unread> {
    let mut place = root.to_owned();
    let mut last = None;
    for part in path.split('/') {
        place.push(part);
        let there = fs::symlink_metadata(&place)?;
        if there.is_symlink() {
            let inside = fs::canonicalize(file)?.starts_with(fs::canonicalize(root)?);
            last = Some(fs::metadata(file)?).filter(|_| inside);
            break;
        }
        last = Some(there);
    }
    let there = last.ok_or(Unread::Outside)?;
    if there.is_file() { Ok(there.len()) } else { Err(Unread::Odd) }
}
