//! The processes above this one: whether an agent's host is among them, or one that such a host started.
//!
//! Only Linux shows them, below `/proc`. A process that let go of its parents has none to show: this is one of several
//! looks, and SECURITY.md says what it does not see.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::marks;

/// Processes above one another that are looked at; a person's shell has a dozen.
const LEVELS_MAX: usize = 128;
/// Bytes of a process's words and variables that are read: the kernel gives more only to who asks for it.
const READ_BYTES_MAX: u64 = 256 * 1024;
/// The directory that cargo puts the programs of tests into.
const TESTS_DIR: &str = "deps";

/// What shows that an agent's session is around: the host, or what it left with a process above this one.
pub(crate) fn host() -> Option<String> {
    above(Path::new("/proc"), std::process::id())
}

fn above(proc: &Path, of: u32) -> Option<String> {
    let parents = std::iter::successors(parent(proc, of), |process| parent(proc, *process));
    let places = parents.map(|process| (proc.join(process.to_string()), process));
    places.take(LEVELS_MAX).take_while(|(dir, _)| !is_test(dir)).find_map(|(dir, process)| shows(&dir, process))
}

/// Whether a process is a test of ours. A build for development looks no further: what starts the tests, perhaps in an
/// agent's session, is not what they are about. A build for use knows no tests.
fn is_test(dir: &Path) -> bool {
    let lies_there = |program: PathBuf| program.parent().is_some_and(|dir| dir.ends_with(TESTS_DIR));
    cfg!(debug_assertions) && std::fs::read_link(dir.join("exe")).is_ok_and(lies_there)
}

fn shows(dir: &Path, process: u32) -> Option<String> {
    let words = read(&dir.join("cmdline"));
    let words: Vec<&str> = words.split('\0').filter(|word| !word.is_empty()).collect();
    let name = read(&dir.join("comm"));
    let program = std::fs::read_link(dir.join("exe")).unwrap_or_default();
    let program = program.to_string_lossy();
    let host = marks::host(&words).or_else(|| marks::host(&[name.trim()])).or_else(|| marks::host(&[&program]));
    if let Some(host) = host {
        return Some(format!("process {process} is `{host}`"));
    }
    let variables = read(&dir.join("environ"));
    let set = variables.split('\0').filter_map(|variable| variable.split_once('=')).filter(|(_, it)| !it.is_empty());
    let mark = set.map(|(name, _)| name).find(|name| marks::is_mark(name))?;
    Some(format!("process {process} has `{mark}`"))
}

/// The process that started another. The name in its state may hold anything, so what counts stands after its end.
fn parent(proc: &Path, of: u32) -> Option<u32> {
    let state = read(&proc.join(of.to_string()).join("stat"));
    let (_, rest) = state.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok().filter(|parent| *parent > 0)
}

/// What a file of the kernel's holds; nothing where it may not be read.
fn read(path: &PathBuf) -> String {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(READ_BYTES_MAX).read_to_end(&mut bytes));
    drop(read);
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn process(proc: &Path, (id, parent): (u32, u32), cmdline: &str, environ: &str) {
        let dir = proc.join(id.to_string());
        fs::create_dir(&dir).unwrap();
        fs::write(dir.join("stat"), format!("{id} (a) b) S {parent} 1 1")).unwrap();
        fs::write(dir.join("comm"), "sh\n").unwrap();
        fs::write(dir.join("cmdline"), cmdline).unwrap();
        fs::write(dir.join("environ"), environ).unwrap();
    }

    #[test]
    fn a_host_is_found_above_by_its_name_or_by_its_marks() {
        let dir = tempfile::tempdir().unwrap();
        let proc = dir.path();
        process(proc, (1, 0), "init\0", "");
        process(proc, (10, 1), "node\0/usr/bin/gemini\0", "");
        process(proc, (11, 10), "bash\0", "HOME=/x\0");
        process(proc, (12, 11), "jackline\0trust\0", "");
        assert_eq!(above(proc, 12).as_deref(), Some("process 10 is `gemini`"));
        process(proc, (20, 1), "bash\0", "A=b\0CLAUDE_CODE_ENTRYPOINT=cli\0");
        process(proc, (21, 20), "python3\0", "A=b\0");
        assert_eq!(above(proc, 21).as_deref(), Some("process 20 has `CLAUDE_CODE_ENTRYPOINT`"));
        process(proc, (30, 1), "bash\0", "CLAUDE_CODE_USE_BEDROCK=1\0CLAUDECODE=\0");
        process(proc, (31, 30), "jackline\0", "CLAUDECODE=1\0");
        assert_eq!(above(proc, 31), None);
        assert_eq!(above(proc, 99), None);
    }

    #[test]
    fn builds_for_development_look_no_further_than_their_tests() {
        let dir = tempfile::tempdir().unwrap();
        let proc = dir.path();
        process(proc, (10, 1), "claude\0", "");
        process(proc, (11, 10), "cli\0", "CLAUDECODE=1\0");
        process(proc, (12, 11), "jackline\0", "");
        std::os::unix::fs::symlink("/target/debug/deps/cli-0", proc.join("11/exe")).unwrap();
        assert_eq!(above(proc, 12).is_none(), cfg!(debug_assertions));
        // A host that a test started is found.
        process(proc, (13, 11), "claude\0", "");
        process(proc, (14, 13), "jackline\0", "");
        assert_eq!(above(proc, 14).as_deref(), Some("process 13 is `claude`"));
    }
}
