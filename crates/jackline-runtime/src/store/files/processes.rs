//! Several processes on one session, some of them killed: nothing that was answered may be lost.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::FileStore;
use crate::store::suite::{self, Step};
use crate::store::{Commit, Committed, Store, StoreFault, Sync};

/// Records that one process writes.
const RECORDS: usize = 50;
const WORKER_ROOT: &str = "JACKLINE_TEST_STORE";
const WORKER_NAME: &str = "JACKLINE_TEST_WRITER";

/// This test program again, as a writer in a process of its own.
fn worker(root: &Path, name: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "store::files::processes::writes_as_a_process_of_its_own", "--ignored", "--nocapture"])
        .env(WORKER_ROOT, root)
        .env(WORKER_NAME, name.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "a part of the tests below, which start it as a process"]
fn writes_as_a_process_of_its_own() {
    let store = FileStore::open(std::env::var_os(WORKER_ROOT).unwrap().into());
    let name = std::env::var(WORKER_NAME).unwrap();
    for number in 0..RECORDS {
        let salt = format!("{name}/{number}");
        loop {
            match commit(&store, &salt) {
                Ok(Committed::Done) => break,
                // On a busy machine one of eight may be passed over for longer than a writer waits: it was told so.
                Ok(_) | Err(StoreFault::Locked { .. }) => {}
                Err(fault) => panic!("{fault}"),
            }
        }
        // On a line of its own: the test program prints without line ends as well.
        println!("\nanswered {salt}");
    }
}

fn commit(store: &FileStore, salt: &str) -> Result<Committed, StoreFault> {
    let loaded = store.load("s")?;
    let step = Step::new("s", loaded.head, 1, salt);
    store.commit("s", &Commit { cut: loaded.torn.is_some(), sync: Sync::Full, ..step.commit() })
}

/// What a writer was told, as it is told.
fn answers(worker: &mut Child) -> impl Iterator<Item = String> + use<> {
    let lines = BufReader::new(worker.stdout.take().unwrap()).lines();
    lines.map_while(Result::ok).filter_map(|line| line.strip_prefix("answered ").map(str::to_owned))
}

#[test]
fn eight_processes_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut workers: Vec<Child> = (0..8).map(|name| worker(dir.path(), name)).collect();
    for worker in &mut workers {
        assert_eq!(answers(worker).count(), RECORDS);
        assert!(worker.wait().unwrap().success());
    }
    suite::check_writers(&FileStore::open(dir.path().to_owned()), "s", 8, RECORDS);
}

#[test]
fn what_was_answered_survives_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    let mut told = Vec::new();
    for name in 0..12 {
        let mut worker = worker(dir.path(), name);
        let mut answers = answers(&mut worker);
        // At different points of their lives, and anywhere between two answers.
        told.extend(answers.by_ref().take(name * 3));
        worker.kill().unwrap();
        told.extend(answers);
        worker.wait().unwrap();
    }
    let store = FileStore::open(dir.path().to_owned());
    let loaded = store.load("s").unwrap();
    let step = Step::new("s", loaded.head, 1, "last");
    let commit = Commit { cut: loaded.torn.is_some(), ..step.commit() };
    assert_eq!(store.commit("s", &commit).unwrap(), Committed::Done);
    let kept = suite::check_chain(&store, "s", step.head);
    for salt in &told {
        assert_eq!(kept.iter().filter(|kept| *kept == salt).count(), 1, "{salt}");
    }
    assert!(told.len() >= 3 * (1..12).sum::<usize>());
}
