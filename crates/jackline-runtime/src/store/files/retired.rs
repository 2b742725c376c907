//! Retiring on files: what is left is whole, whatever fails, whoever writes meanwhile, wherever it is killed.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use rustix::io::Errno;
use serde_json::Value;
use tempfile::TempDir;

use super::disk::faults::{Fault, plan};
use super::*;
use crate::store::suite::{self, Step, check_settled, grow};

const CARRIED: &[u8] = b"what is carried over";

struct Fixture {
    _dir: TempDir,
    store: FileStore,
}

impl Fixture {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = FileStore::open(dir.path().join("home"));
        Self { _dir: dir, store }
    }

    /// Another process, as far as files can tell.
    fn other(&self) -> FileStore {
        FileStore::open(self.store.root.clone())
    }

    fn path(&self, file: &str) -> PathBuf {
        Place::new(&self.store.root, "s").unwrap().path(file)
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.path(""))
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// The head of record `seq`, as the log has it now.
fn head_of(store: &FileStore, seq: u64) -> Head {
    let mut offset = 0;
    for line in store.lines("s", 0).unwrap() {
        let line = line.unwrap();
        offset += line.len() as u64 + 1;
        let head = super::super::link::head(&line, offset).unwrap();
        if head.seq == seq {
            return head;
        }
    }
    panic!("record {seq} is not in the log");
}

/// The right to retire. Another test's process may hold it for a moment, from its fork until it is another program.
fn right(store: &FileStore) -> Retiring<'_> {
    for _ in 0..1_000 {
        match store.retiring() {
            Err(StoreFault::Retiring) => std::thread::sleep(Duration::from_millis(2)),
            right => return right.unwrap(),
        }
    }
    panic!("somebody retires for ever");
}

fn retire(store: &FileStore, last: Head) -> Result<Option<Head>, StoreFault> {
    let word = |head: Head| Step::new("s", head, 1, "word").lines;
    right(store).records("s", &Retirement { last, carried: CARRIED, word: &word })
}

/// Checks that the log is a chain that begins after `before` and ends at `head`; its salts in order.
#[track_caller]
fn check_left(store: &FileStore, before: Head, head: Head) -> Vec<String> {
    let (mut at, mut salts) = (Head { offset: 0, ..before }, Vec::new());
    for line in store.lines("s", 0).unwrap() {
        let line = line.unwrap();
        let value: Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(value["prev_hash"], at.hash.hex());
        at = super::super::link::head(&line, at.offset + line.len() as u64 + 1)
            .filter(|it| it.seq == at.seq + 1)
            .unwrap();
        salts.push(value["data"]["salt"].as_str().unwrap().to_owned());
    }
    assert_eq!(at, head);
    salts
}

#[test]
fn a_beginning_goes_and_all_else_stays() {
    let fixture = Fixture::new();
    grow(&fixture.store, "s", 3, "old");
    let full = grow(&fixture.store, "s", 2, "new");
    let last = head_of(&fixture.store, 3);
    let state = fixture.other().load("s").unwrap().checkpoint.unwrap().state;
    let head = retire(&fixture.other(), last).unwrap().unwrap();
    assert_eq!((head.seq, full.seq), (6, 5));
    assert_eq!(check_left(&fixture.store, last, head), ["new", "new", "word"]);
    assert_eq!(fixture.store.carried("s", 3).unwrap().as_deref(), Some(CARRIED));
    assert_eq!(fixture.store.carried("s", 2).unwrap(), None);
    // The state is there at once, for who knows the session and who does not.
    for store in [&fixture.store, &fixture.other()] {
        let loaded = store.load("s").unwrap();
        assert_eq!((loaded.head, loaded.torn, loaded.tail.count()), (head, None, 0));
        assert_eq!(loaded.checkpoint.unwrap(), crate::store::Checkpoint { head, state: state.clone() });
    }
    let head = grow(&fixture.store, "s", 1, "later");
    check_settled(&fixture.other(), "s", head);
    assert_eq!(fixture.names(), ["audit.jsonl", "carried-3", "id", "state"]);
    // And once more, over the record that told of the first time.
    let last = head_of(&fixture.store, 6);
    let head = retire(&fixture.other(), last).unwrap().unwrap();
    assert_eq!(check_left(&fixture.store, last, head), ["later", "word"]);
    assert_eq!(fixture.names(), ["audit.jsonl", "carried-6", "id", "state"]);
}

#[test]
fn a_commit_on_the_old_log_is_moved() {
    let fixture = Fixture::new();
    let head = grow(&fixture.store, "s", 4, "a");
    let late = Step::new("s", head, 1, "late");
    let last = head_of(&fixture.store, 2);
    retire(&fixture.other(), last).unwrap().unwrap();
    // It holds the old log open, another opens the new one: neither takes what was decided before.
    for store in [&fixture.store, &fixture.other()] {
        assert_eq!(store.commit("s", &late.commit()).unwrap(), Committed::Moved);
    }
    let head = grow(&fixture.store, "s", 1, "b");
    assert_eq!(check_left(&fixture.store, last, head), ["a", "a", "word", "b"]);
    check_settled(&fixture.other(), "s", head);
}

#[test]
fn what_is_not_there_is_not_retired() {
    let fixture = Fixture::new();
    let head = grow(&fixture.store, "s", 3, "a");
    let known = head_of(&fixture.store, 2);
    for last in [
        Head::EMPTY,
        Head { hash: Digest::of(b"x"), ..known },
        Head { seq: 1, ..known },
        Head { offset: known.offset - 1, ..known },
    ] {
        assert!(matches!(retire(&fixture.store, last), Ok(None) | Err(StoreFault::Corrupt { .. })), "{last:?}");
    }
    let place = Retirement { last: known, carried: CARRIED, word: &|_| b"no record\n".to_vec() };
    let fault = right(&fixture.store).records("s", &place).unwrap_err();
    assert!(matches!(fault, StoreFault::Malformed { .. }), "{fault}");
    assert_eq!(right(&fixture.store).records("none", &place).unwrap(), None);
    assert_eq!(suite::check_chain(&fixture.store, "s", head).len(), 3);
    assert_eq!(fixture.names(), ["audit.jsonl", "id", "state"]);
}

#[test]
fn a_torn_tail_is_left_for_the_next_event() {
    let fixture = Fixture::new();
    grow(&fixture.store, "s", 3, "a");
    let last = head_of(&fixture.store, 2);
    let log = fs::OpenOptions::new().append(true).open(fixture.path("audit.jsonl")).unwrap();
    std::io::Write::write_all(&mut &log, b"{\"half").unwrap();
    assert_eq!(retire(&fixture.store, last).unwrap(), None);
    assert!(fixture.other().load("s").unwrap().torn.is_some());
}

#[test]
fn whatever_fails_before_the_rename_leaves_everything() {
    // Removing, copying, carrying over, appending, making durable, renaming: each of them in turn.
    let mut failures = 0;
    for step in 0..32 {
        let fixture = Fixture::new();
        let head = grow(&fixture.store, "s", 4, "a");
        let last = head_of(&fixture.store, 2);
        let mut faults = vec![Fault::Pass; step];
        faults.push(Fault::Fail(Errno::NOSPC));
        plan(&faults);
        let retired = retire(&fixture.other(), last);
        plan(&[]);
        match retired {
            Err(fault) => {
                failures += 1;
                assert!(matches!(fault, StoreFault::Full { .. }), "{step}: {fault}");
                assert_eq!(suite::check_chain(&fixture.store, "s", head).len(), 4, "{step}");
                check_settled(&fixture.other(), "s", head);
                let head = retire(&fixture.other(), last).unwrap().unwrap();
                assert_eq!(check_left(&fixture.store, last, head), ["a", "a", "word"], "{step}");
            }
            // A state or a removal that failed afterwards costs some lines to fold, nothing else.
            Ok(retired) => {
                assert_eq!(check_left(&fixture.store, last, retired.unwrap()), ["a", "a", "word"], "{step}");
            }
        }
        let head = grow(&fixture.other(), "s", 1, "b");
        check_settled(&fixture.other(), "s", head);
    }
    assert!((7..16).contains(&failures), "{failures}");
}

#[test]
fn one_process_at_a_time_retires() {
    let fixture = Fixture::new();
    grow(&fixture.store, "s", 1, "a");
    let held = right(&fixture.store);
    assert!(matches!(fixture.other().retiring(), Err(StoreFault::Retiring)));
    // Nobody else waits for it.
    grow(&fixture.other(), "s", 1, "b");
    drop(held);
    right(&fixture.other());
}

#[test]
fn eight_writers_lose_nothing_to_one_who_retires() {
    let fixture = Fixture::new();
    grow(&fixture.store, "s", 1, "first");
    let mut gone: Vec<String> = Vec::new();
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..8)
            .map(|writer| {
                let store = fixture.other();
                scope.spawn(move || suite::write_many(&store, "s", writer, 50))
            })
            .collect();
        while writers.iter().any(|writer| !writer.is_finished()) {
            gone.extend(retire_all_but(&fixture.other(), 3));
        }
    });
    let head = fixture.other().load("s").unwrap().head;
    check_settled(&fixture.other(), "s", grow(&fixture.other(), "s", 1, "last"));
    let left = fixture.other().lines("s", 0).unwrap().map(|line| salt(&line.unwrap()));
    let all: Vec<String> = gone.into_iter().chain(left).filter(|salt| salt != "word").collect();
    assert_eq!(all.len(), 8 * 50 + 2, "head {head:?}");
    for writer in 0..8 {
        let prefix = format!("{writer}/");
        let own: Vec<&str> = all.iter().filter_map(|salt| salt.strip_prefix(&prefix)).collect();
        assert_eq!(own, (0..50).map(|number| number.to_string()).collect::<Vec<_>>(), "writer {writer}");
    }
}

fn salt(line: &[u8]) -> String {
    let value: Value = serde_json::from_slice(line).unwrap();
    value["data"]["salt"].as_str().unwrap().to_owned()
}

/// Retires all records but some; what was retired.
fn retire_all_but(store: &FileStore, kept: usize) -> Vec<String> {
    let lines: Vec<Vec<u8>> = store.lines("s", 0).unwrap().map(Result::unwrap).collect();
    let Some(gone) = lines.len().checked_sub(kept).filter(|gone| *gone > 0) else { return Vec::new() };
    let lines = &lines[..gone];
    let offset = lines.iter().map(|line| line.len() as u64 + 1).sum();
    let last = super::super::link::head(lines.last().unwrap(), offset).unwrap();
    match retire(store, last) {
        Ok(Some(_)) => lines.iter().map(|line| salt(line)).collect(),
        Ok(None) => Vec::new(),
        Err(fault) => panic!("{fault}"),
    }
}

#[test]
fn a_whole_session_goes_and_may_begin_anew() {
    let fixture = Fixture::new();
    grow(&fixture.store, "s", 3, "a");
    grow(&fixture.store, "other", 1, "x");
    retire(&fixture.other(), head_of(&fixture.store, 1)).unwrap().unwrap();
    fixture.store.snapshot_put("s", b"snapshot").unwrap();
    let head = fixture.store.load("s").unwrap().head;
    let late = Step::new("s", head, 1, "late");
    let mut said = 0;
    let other = fixture.other();
    let retiring = right(&other);
    let gone = retiring.session("s", Head { seq: 2, ..head }, &mut || panic!("another head was told of"));
    assert!(!gone.unwrap());
    let stopped = retiring.session("s", head, &mut || Err(StoreFault::Retiring));
    assert!(matches!(stopped, Err(StoreFault::Retiring)));
    check_settled_names(&fixture, head);
    let gone = retiring.session("s", head, &mut || {
        said += 1;
        Ok(())
    });
    assert!(gone.unwrap() && said == 1 && !fixture.path("").exists());
    // One that held it open is told to load again, and finds nothing.
    assert_eq!(fixture.store.commit("s", &late.commit()).unwrap(), Committed::Moved);
    assert_eq!(fixture.store.load("s").unwrap().head, Head::EMPTY);
    assert!(fixture.store.snapshots("s").unwrap().is_empty());
    let ids: Vec<String> = fixture.store.sessions().unwrap().into_iter().map(|entry| entry.id).collect();
    assert_eq!(ids, ["other"]);
    let head = grow(&fixture.store, "s", 1, "anew");
    check_settled(&fixture.other(), "s", head);
}

#[track_caller]
fn check_settled_names(fixture: &Fixture, head: Head) {
    assert_eq!(fixture.other().load("s").unwrap().head, head);
    assert_eq!(fixture.names(), ["audit.jsonl", "carried-1", "id", "snapshots", "state"]);
}

#[test]
fn sessions_that_come_and_go_lose_no_answer() {
    let fixture = Fixture::new();
    grow(&fixture.store, "other", 1, "x");
    let (mut gone, mut told): (Vec<String>, usize) = (Vec::new(), 0);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let store = fixture.other();
                scope.spawn(move || suite::write_many(&store, "s", writer, 50))
            })
            .collect();
        while writers.iter().any(|writer| !writer.is_finished()) {
            let store = fixture.other();
            let head = store.load("s").unwrap().head;
            let mut lines = Vec::new();
            let retiring = right(&store);
            let went = retiring.session("s", head, &mut || {
                lines = store.lines("s", 0)?.map(Result::unwrap).map(|line| salt(&line)).collect();
                Ok(())
            });
            if head != Head::EMPTY && went.unwrap() {
                told += 1;
                gone.extend(lines);
            }
        }
    });
    gone.extend(fixture.other().lines("s", 0).unwrap().map(|line| salt(&line.unwrap())));
    gone.sort();
    gone.dedup();
    assert_eq!(gone.len(), 4 * 50, "{told} times retired");
}

#[test]
fn what_killed_processes_left_is_swept_up() {
    let fixture = Fixture::new();
    grow(&fixture.store, "s", 3, "a");
    let head = retire(&fixture.other(), head_of(&fixture.store, 1)).unwrap().unwrap();
    for name in ["audit.jsonl.next", "carried-2", "carried-0"] {
        fs::write(fixture.path(name), "half").unwrap();
    }
    // A session whose log went, and one that is about to begin.
    let sessions = fixture.store.records();
    for (name, age) in [("a".repeat(64), 3600), ("b".repeat(64), 0)] {
        fs::create_dir(sessions.join(&name)).unwrap();
        fs::write(sessions.join(&name).join("id"), "x").unwrap();
        let long_ago = SystemTime::now() - Duration::from_secs(age);
        File::open(sessions.join(&name)).unwrap().set_modified(long_ago).unwrap();
    }
    right(&fixture.store).sweep().unwrap();
    assert_eq!(fixture.names(), ["audit.jsonl", "carried-1", "id", "state"]);
    assert!(!sessions.join("a".repeat(64)).exists() && sessions.join("b".repeat(64)).join("id").exists());
    check_left(&fixture.other(), Head { seq: 1, ..head_before(&fixture) }, head);
}

/// What the first record that is left links to.
fn head_before(fixture: &Fixture) -> Head {
    let first = fixture.store.lines("s", 0).unwrap().next().unwrap().unwrap();
    let (_, hash) = super::super::link::before(&first).unwrap();
    Head { hash, ..Head::EMPTY }
}

const RETIRER_ROOT: &str = "JACKLINE_TEST_RETIRER";
/// What it says: that it goes to work, and that it has retired something.
const BEGUN: &str = "it begins";
const RETIRED: &str = "it has retired";

#[test]
#[ignore = "a part of the test below, which starts it as a process"]
fn retires_as_a_process_of_its_own() {
    let store = FileStore::open(std::env::var_os(RETIRER_ROOT).unwrap().into());
    println!("{BEGUN}");
    retire_all_but(&store, 5);
    println!("{RETIRED}");
    loop {
        retire_all_but(&store, 5);
    }
}

fn retirer(root: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "store::files::retired::retires_as_a_process_of_its_own", "--ignored", "--nocapture"])
        .env(RETIRER_ROOT, root)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Waits until it says so: how long a process takes to begin is nothing to build on. It goes on while what is given back
/// is kept, to which it speaks.
#[track_caller]
fn wait_for(retirer: &mut Child, word: &str) -> impl Sized + use<> {
    let mut said = BufReader::new(retirer.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(said.any(|line| line.ends_with(word)), "it ended before: {word}");
    said
}

#[test]
fn killed_anywhere_it_leaves_a_chain_that_goes_on() {
    let fixture = Fixture::new();
    let mut head = grow(&fixture.store, "s", 8, "a");
    let mut shortened = 0;
    for round in 0..40_u64 {
        let mut retirer = retirer(&fixture.store.root);
        let _said = wait_for(&mut retirer, if round % 4 == 0 { RETIRED } else { BEGUN });
        let alive = Instant::now();
        let life = Duration::from_micros(round * 700 % 9_000);
        // Somebody writes all the while, and at least once.
        loop {
            let store = fixture.other();
            suite::write_many(&store, "s", usize::try_from(round).unwrap(), 1);
            if alive.elapsed() >= life {
                break;
            }
        }
        retirer.kill().unwrap();
        retirer.wait().unwrap();
        let loaded = fixture.other().load("s").unwrap();
        assert!(loaded.torn.is_none() && loaded.head.seq > head.seq, "{loaded:?}");
        head = loaded.head;
        let before = head_before(&fixture);
        let first = fixture.store.lines("s", 0).unwrap().next().unwrap().unwrap();
        let (seq, _) = super::super::link::before(&first).unwrap();
        let salts = check_left(&fixture.other(), Head { seq: seq - 1, ..before }, head);
        assert_eq!(salts.len() as u64, head.seq - (seq - 1));
        if seq > 1 {
            shortened += 1;
            assert_eq!(fixture.store.carried("s", seq - 1).unwrap().as_deref(), Some(CARRIED), "round {round}");
        }
    }
    assert!(shortened > 30, "{shortened}");
    right(&fixture.store).sweep().unwrap();
    assert!(!fixture.path("audit.jsonl.next").exists());
}
