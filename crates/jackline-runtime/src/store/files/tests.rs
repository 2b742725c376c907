//! What is particular to files: crashes, damage, planted things, full disks.

mod journal;
mod left;

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use tempfile::TempDir;

use super::disk::faults::{Fault, plan};
use super::*;
use crate::store::suite::{self, Step, check_chain, check_settled, grow};
use crate::store::{RECORD_BYTES_MAX, Sync, Torn};

/// A store below a directory that is removed afterwards.
struct Fixture {
    dir: TempDir,
    store: FileStore,
}

impl Fixture {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = FileStore::open(dir.path().join("home"));
        Self { dir, store }
    }

    /// Another process, as far as files can tell: nothing is remembered.
    fn other(&self) -> FileStore {
        FileStore::open(self.store.root.clone())
    }

    fn path(&self, file: &str) -> PathBuf {
        let place = Place::new(&self.store.root, "s").unwrap();
        if file.is_empty() { place.directory } else { place.path(file) }
    }

    fn append(&self, bytes: &[u8]) {
        OpenOptions::new().append(true).open(self.path("audit.jsonl")).unwrap().write_all(bytes).unwrap();
    }

    /// Head, checkpoint's number and how many lines follow it, as a fresh process sees them.
    #[track_caller]
    fn check(&self, head: Head, checkpoint: Option<u64>, tail: usize, torn: Option<Torn>) {
        let loaded = self.other().load("s").unwrap();
        assert_eq!((loaded.head, loaded.torn), (head, torn));
        assert_eq!(loaded.checkpoint.map(|checkpoint| checkpoint.head.seq), checkpoint);
        let lines: Vec<_> = loaded.tail.map(Result::unwrap).collect();
        assert_eq!(lines.len(), tail);
    }
}

/// The state as steps have it.
fn state_at(_session: &str, head: Head) -> Option<Vec<u8>> {
    Some(suite::state_at(head))
}

#[track_caller]
fn done(store: &FileStore, step: &Step) {
    assert_eq!(store.commit("s", &step.commit()).unwrap(), Committed::Done);
}

#[test]
fn does_what_every_store_does() {
    let dir = tempfile::tempdir().unwrap();
    let number = std::cell::Cell::new(0);
    suite::run(|| {
        number.set(number.get() + 1);
        Arc::new(FileStore::open(dir.path().join(number.get().to_string())))
    });
}

#[test]
fn stores_of_their_own_lose_nothing_of_one_another() {
    let fixture = Fixture::new();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let store = if writer % 2 == 0 { fixture.other() } else { fixture.other().checkpoints_follow() };
            scope.spawn(move || {
                suite::write_many(&store, "s", writer, 50);
                store.catch_up(&state_at);
            });
        }
    });
    suite::check_writers(&fixture.store, "s", 8, 50);
}

#[test]
fn every_reader_sees_whole_records_while_others_write() {
    let fixture = Fixture::new();
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..2)
            .map(|writer| {
                let store = fixture.other();
                scope.spawn(move || suite::write_many(&store, "s", writer, 100))
            })
            .collect();
        while writers.iter().any(|writer| !writer.is_finished()) {
            let loaded = fixture.store.load("s").unwrap();
            assert_eq!(loaded.torn, None);
            let from = loaded.checkpoint.map_or(0, |checkpoint| checkpoint.head.seq);
            assert_eq!(loaded.tail.map(Result::unwrap).count() as u64, loaded.head.seq - from);
        }
    });
    suite::check_writers(&fixture.store, "s", 2, 100);
}

#[test]
fn a_torn_tail_is_told_and_cut_only_when_allowed() {
    let fixture = Fixture::new();
    let head = grow(&fixture.store, "s", 2, "a");
    fixture.append(b"{\"data\":{\"half");
    let torn = Some(Torn { at: head.offset, bytes: 14 });
    fixture.check(head, Some(2), 0, torn);
    let step = Step::new("s", head, 1, "b");
    for store in [&fixture.store, &fixture.other()] {
        assert_eq!(store.commit("s", &step.commit()).unwrap(), Committed::Moved);
    }
    fixture.check(head, Some(2), 0, torn);
    assert_eq!(fixture.store.commit("s", &Commit { cut: true, ..step.commit() }).unwrap(), Committed::Done);
    check_settled(&fixture.other(), "s", step.head);
    assert_eq!(check_chain(&fixture.store, "s", step.head), ["a", "a", "b"]);
}

#[test]
fn a_torn_first_line_leaves_an_empty_log() {
    let fixture = Fixture::new();
    grow(&fixture.store, "s", 1, "a");
    let log = OpenOptions::new().write(true).open(fixture.path("audit.jsonl")).unwrap();
    log.set_len(20).unwrap();
    fixture.check(Head::EMPTY, None, 0, Some(Torn { at: 0, bytes: 20 }));
    assert_eq!(fixture.store.lines("s", 0).unwrap().count(), 0);
    let step = Step::new("s", Head::EMPTY, 1, "b");
    assert_eq!(fixture.store.commit("s", &Commit { cut: true, ..step.commit() }).unwrap(), Committed::Done);
    check_settled(&fixture.other(), "s", step.head);
}

#[test]
fn a_torn_write_in_progress_is_not_taken_for_a_crash() {
    let fixture = Fixture::new();
    let head = grow(&fixture.store, "s", 1, "a");
    let step = Step::new("s", head, 1, "b");
    let writer = OpenOptions::new().append(true).open(fixture.path("audit.jsonl")).unwrap();
    writer.lock().unwrap();
    let (half, rest) = step.lines.split_at(40);
    (&writer).write_all(half).unwrap();
    std::thread::scope(|scope| {
        let loaded = scope.spawn(|| fixture.other().load("s").unwrap());
        std::thread::sleep(Duration::from_millis(50));
        (&writer).write_all(rest).unwrap();
        writer.unlock().unwrap();
        let loaded = loaded.join().unwrap();
        assert_eq!((loaded.head, loaded.torn), (step.head, None));
        assert_eq!(loaded.tail.count(), 1);
    });
}

#[test]
fn a_lost_or_damaged_state_is_rebuilt_from_what_is_whole() {
    let fixture = Fixture::new();
    let first = grow(&fixture.store, "s", 2, "a");
    let after_first = fs::read(fixture.path("state")).unwrap();
    let head = grow(&fixture.store, "s", 1, "b");
    let whole = fs::read(fixture.path("state")).unwrap();
    fixture.check(head, Some(3), 0, None);
    // Behind: the slot of the last commit was never written.
    fs::write(fixture.path("state"), &after_first).unwrap();
    fixture.check(head, Some(2), 1, None);
    assert_eq!(first.seq, 2);
    // The newer slot is damaged, then both, then there is garbage, then nothing.
    let mut damaged = whole.clone();
    *damaged.last_mut().unwrap() ^= 1;
    fs::write(fixture.path("state"), &damaged).unwrap();
    fixture.check(head, Some(2), 1, None);
    damaged[20] ^= 1;
    fs::write(fixture.path("state"), &damaged).unwrap();
    fixture.check(head, None, 3, None);
    fs::write(fixture.path("state"), vec![0xff; 3 << 20]).unwrap();
    fixture.check(head, None, 3, None);
    fs::remove_file(fixture.path("state")).unwrap();
    fixture.check(head, None, 3, None);
    // And the next commit makes it whole again.
    let head = grow(&fixture.other(), "s", 1, "c");
    check_settled(&fixture.other(), "s", head);
}

#[test]
fn a_state_that_the_log_does_not_back_is_not_believed() {
    let fixture = Fixture::new();
    let foreign = Fixture::new();
    let head = grow(&fixture.store, "s", 2, "a");
    grow(&foreign.store, "s", 2, "b");
    // The same offsets, other hashes.
    fs::copy(foreign.path("state"), fixture.path("state")).unwrap();
    fixture.check(head, None, 2, None);
    // Ahead: the log lost records that the state knows.
    let ahead = grow(&fixture.store, "s", 3, "c");
    fixture.check(ahead, Some(5), 0, None);
    OpenOptions::new().write(true).open(fixture.path("audit.jsonl")).unwrap().set_len(head.offset).unwrap();
    fixture.check(head, None, 2, None);
    let step = Step::new("s", ahead, 1, "d");
    assert_eq!(fixture.store.commit("s", &step.commit()).unwrap(), Committed::Moved);
    let head = grow(&fixture.store, "s", 1, "e");
    check_settled(&fixture.other(), "s", head);
}

#[test]
fn a_crash_between_log_and_state_costs_nothing() {
    let fixture = Fixture::new();
    let head = grow(&fixture.store, "s", 1, "a");
    let step = Step::new("s", head, 2, "b");
    plan(&[Fault::Pass, Fault::Fail(Errno::IO)]);
    done(&fixture.store, &step);
    fixture.check(step.head, Some(1), 2, None);
    let next = Step::new("s", step.head, 1, "c");
    plan(&[Fault::Pass, Fault::Short(30), Fault::Fail(Errno::NOSPC)]);
    done(&fixture.store, &next);
    // The half-written slot is the older one of the two, or was never whole.
    fixture.check(next.head, Some(1), 3, None);
    let head = grow(&fixture.store, "s", 1, "d");
    check_settled(&fixture.other(), "s", head);
    assert_eq!(check_chain(&fixture.store, "s", head), ["a", "b", "b", "c", "d"]);
}

#[track_caller]
fn check_failed_append(faults: &[Fault], sync: Sync, full: bool) {
    let fixture = Fixture::new();
    let head = grow(&fixture.store, "s", 1, "a");
    let step = Step::new("s", head, 2, "b");
    plan(faults);
    let fault = fixture.store.commit("s", &Commit { sync, ..step.commit() }).unwrap_err();
    plan(&[]);
    assert_eq!(matches!(fault, StoreFault::Full { .. }), full, "{fault}");
    assert!(full || matches!(fault, StoreFault::Unwritable { .. }), "{fault}");
    fixture.check(head, Some(1), 0, None);
    done(&fixture.store, &step);
    check_settled(&fixture.other(), "s", step.head);
}

#[test]
fn a_failed_append_leaves_nothing_behind() {
    use Fault::{Fail, Pass, Short};
    check_failed_append(&[Fail(Errno::NOSPC)], Sync::Os, true);
    check_failed_append(&[Fail(Errno::DQUOT)], Sync::Os, true);
    check_failed_append(&[Fail(Errno::IO)], Sync::Os, false);
    check_failed_append(&[Short(0)], Sync::Os, false);
    check_failed_append(&[Short(10), Fail(Errno::NOSPC)], Sync::Os, true);
    // The first of the two lines was written whole.
    check_failed_append(&[Short(400), Fail(Errno::NOSPC)], Sync::Os, true);
    // The checkpoint was there already when the disk failed, and is not believed.
    check_failed_append(&[Pass, Pass, Fail(Errno::IO)], Sync::Full, false);
    check_failed_append(&[Pass, Pass, Fail(Errno::NOSPC)], Sync::Full, true);
}

#[test]
fn a_short_write_is_carried_on() {
    let fixture = Fixture::new();
    let step = Step::new("s", Head::EMPTY, 1, "a");
    grow(&fixture.store, "other", 1, "x");
    plan(&[Fault::Pass, Fault::Short(7), Fault::Fail(Errno::INTR), Fault::Short(9)]);
    done(&fixture.store, &step);
    check_settled(&fixture.other(), "s", step.head);
}

#[test]
fn damage_at_the_end_is_told_not_guessed() {
    let fixture = Fixture::new();
    let head = grow(&fixture.store, "s", 1, "a");
    for garbage in [&b"no record\n"[..], b"\0\0\0\0\n", b"\n", b"{\"seq\":2}\n", &[b'x'; RECORD_BYTES_MAX + (1 << 16)]]
    {
        fixture.append(garbage);
        let fault = fixture.other().load("s").unwrap_err();
        assert!(matches!(fault, StoreFault::Corrupt { at, .. } if at >= head.offset), "{fault}");
        let step = Step::new("s", head, 1, "b");
        let commit = Commit { cut: true, ..step.commit() };
        assert!(matches!(fixture.other().commit("s", &commit), Err(StoreFault::Corrupt { .. })));
        OpenOptions::new().write(true).open(fixture.path("audit.jsonl")).unwrap().set_len(head.offset).unwrap();
    }
    fixture.check(head, Some(1), 0, None);
}

#[test]
fn lines_are_bounded_and_stop_at_the_damage() {
    let fixture = Fixture::new();
    grow(&fixture.store, "s", 2, "a");
    fixture.append(&vec![b'x'; 3 * RECORD_BYTES_MAX]);
    fixture.append(b"\n{}\n");
    let lines: Vec<_> = fixture.store.lines("s", 0).unwrap().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[..2].iter().all(Result::is_ok));
    assert!(matches!(lines[2], Err(StoreFault::Corrupt { .. })));
}

#[test]
fn a_log_that_shrinks_while_it_is_read_is_a_fault() {
    let fixture = Fixture::new();
    grow(&fixture.store, "s", 300, "a");
    fs::remove_file(fixture.path("state")).unwrap();
    let mut tail = fixture.other().load("s").unwrap().tail;
    assert!(tail.next().unwrap().is_ok());
    OpenOptions::new().write(true).open(fixture.path("audit.jsonl")).unwrap().set_len(1000).unwrap();
    let last = tail.last().unwrap();
    assert!(matches!(last, Err(StoreFault::Corrupt { .. })), "{last:?}");
}

#[test]
fn only_the_owner_can_read_what_is_kept() {
    let fixture = Fixture::new();
    grow(&fixture.store, "s", 1, "a");
    let snapshot = fixture.store.snapshot_put("s", b"state").unwrap().hex();
    let sessions = fixture.store.root.join("sessions");
    let directories = [fixture.store.root.clone(), sessions, fixture.path(""), fixture.path("snapshots")];
    let files = ["audit.jsonl", "state", "id", &format!("snapshots/{snapshot}")].map(|file| fixture.path(file));
    let mode = |path: &PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert!(directories.iter().all(|path| mode(path) == 0o700));
    assert!(files.iter().all(|path| mode(path) == 0o600));
    assert_eq!(fs::read_to_string(fixture.path("id")).unwrap(), "\"s\"");
}

/// Puts something where the store keeps `file`, and checks that it is refused and nothing goes through it.
#[track_caller]
fn check_planted(file: &str, plant: impl Fn(&Path, &Path)) {
    let fixture = Fixture::new();
    let head = grow(&fixture.store, "s", 1, "a");
    let target = fixture.dir.path().join("target");
    fs::write(&target, "mine").unwrap();
    let path = if file == "sessions" { fixture.store.root.join(file) } else { fixture.path(file) };
    if path.is_dir() { fs::rename(&path, fixture.dir.path().join("moved")) } else { fs::remove_file(&path) }.unwrap();
    plant(&path, &target);
    let step = Step::new("s", head, 1, "b");
    let first = Step::new("s", Head::EMPTY, 1, "c");
    let other = fixture.other();
    for _ in 0..2 {
        let fault = other.load("s").map(|_| ()).unwrap_err();
        assert!(matches!(fault, StoreFault::Planted { .. }), "{file}: {fault}");
        for step in [&step, &first] {
            assert!(!matches!(other.commit("s", &step.commit()), Ok(Committed::Done)), "{file}");
        }
    }
    // One that holds the true files open may go on with them, but not through what was planted.
    let _ = fixture.store.load("s");
    let _ = fixture.store.commit("s", &step.commit());
    assert_eq!(fs::read_to_string(&target).unwrap(), "mine");
}

fn plant_link(path: &Path, target: &Path) {
    symlink(target, path).unwrap();
}

fn plant_directory_link(path: &Path, target: &Path) {
    let directory = target.with_file_name("moved");
    fs::create_dir_all(&directory).unwrap();
    symlink(directory, path).unwrap();
}

fn plant_directory(path: &Path, _: &Path) {
    fs::create_dir(path).unwrap();
}

fn plant_pipe(path: &Path, _: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn planted_things_are_refused() {
    for file in ["sessions", "", "audit.jsonl", "state"] {
        check_planted(file, plant_link);
    }
    for file in ["sessions", ""] {
        check_planted(file, plant_directory_link);
    }
    for file in ["audit.jsonl", "state"] {
        check_planted(file, plant_directory);
        check_planted(file, plant_pipe);
    }
}

#[test]
fn planted_links_do_not_lead_the_first_commit_elsewhere() {
    for file in ["id", "audit.jsonl", "state", "snapshots"] {
        let fixture = Fixture::new();
        let elsewhere = fixture.dir.path().join("elsewhere");
        fs::create_dir_all(fixture.path("")).unwrap();
        symlink(&elsewhere, fixture.path(file)).unwrap();
        let step = Step::new("s", Head::EMPTY, 1, "a");
        let committed = fixture.store.commit("s", &step.commit());
        let put = fixture.store.snapshot_put("s", b"state");
        let planted = matches!(committed, Err(StoreFault::Planted { .. }));
        assert!(planted || file == "snapshots", "{file}: {committed:?}");
        assert!(put.is_err() || file == "audit.jsonl" || file == "state", "{file}: {put:?}");
        assert!(!elsewhere.exists(), "{file}");
    }
}

#[test]
fn the_root_may_be_reached_through_a_link() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.dir.path().join("real")).unwrap();
    symlink("real", fixture.dir.path().join("home")).unwrap();
    let head = grow(&fixture.store, "s", 1, "a");
    check_settled(&fixture.other(), "s", head);
    assert!(fixture.dir.path().join("real/sessions").is_dir());
}

#[test]
fn a_root_that_cannot_be_made_is_a_fault() {
    let fixture = Fixture::new();
    fs::write(fixture.dir.path().join("home"), "a file").unwrap();
    let step = Step::new("s", Head::EMPTY, 1, "a");
    let below = FileStore::open(fixture.dir.path().join("home/below"));
    for store in [&fixture.store, &below] {
        assert!(store.load("s").is_err());
        assert!(store.sessions().is_err());
        assert!(store.commit("s", &step.commit()).is_err());
        assert!(store.snapshot_put("s", b"x").is_err());
    }
}

#[test]
fn a_session_deleted_in_between_is_moved_and_starts_again() {
    let fixture = Fixture::new();
    let head = grow(&fixture.store, "s", 1, "a");
    let step = Step::new("s", head, 1, "b");
    fs::remove_dir_all(fixture.path("")).unwrap();
    assert_eq!(fixture.store.commit("s", &step.commit()).unwrap(), Committed::Moved);
    assert_eq!(fixture.store.commit("s", &step.commit()).unwrap(), Committed::Moved);
    fixture.check(Head::EMPTY, None, 0, None);
    let head = grow(&fixture.store, "s", 1, "c");
    check_settled(&fixture.other(), "s", head);
    // The whole root, then: a load that remembers the files notices as well.
    fs::remove_dir_all(&fixture.store.root).unwrap();
    assert_eq!(fixture.store.load("s").unwrap().head, Head::EMPTY);
    let head = grow(&fixture.store, "s", 1, "d");
    check_settled(&fixture.other(), "s", head);
}

#[test]
fn a_replaced_log_is_noticed() {
    let fixture = Fixture::new();
    grow(&fixture.store, "s", 1, "a");
    fs::rename(fixture.path(""), fixture.dir.path().join("moved")).unwrap();
    let head = grow(&fixture.other(), "s", 2, "b");
    check_settled(&fixture.store, "s", head);
}

#[test]
fn foreign_things_are_not_listed() {
    let fixture = Fixture::new();
    grow(&fixture.store, "s", 1, "a");
    let sessions = fixture.store.root.join("sessions");
    fs::write(sessions.join("README"), "x").unwrap();
    fs::write(sessions.join("f".repeat(64)), "x").unwrap();
    fs::create_dir(sessions.join("e".repeat(64))).unwrap();
    symlink(fixture.path(""), sessions.join("d".repeat(64))).unwrap();
    // A copy of a session under another name.
    fs::create_dir(sessions.join("c".repeat(64))).unwrap();
    for file in ["id", "audit.jsonl"] {
        fs::copy(fixture.path(file), sessions.join("c".repeat(64)).join(file)).unwrap();
    }
    let ids = || fixture.store.sessions().unwrap().into_iter().map(|entry| entry.id).collect::<Vec<_>>();
    assert_eq!(ids(), ["s"]);
    // A lost or false id is found in the first record.
    fs::write(fixture.path("id"), "\"another\"").unwrap();
    assert_eq!(ids(), ["s"]);
    fs::remove_file(fixture.path("id")).unwrap();
    assert_eq!(ids(), ["s"]);
    plant_pipe(&fixture.path("id"), Path::new(""));
    assert_eq!(ids(), ["s"]);
}

#[test]
fn a_changed_snapshot_is_not_handed_out() {
    let fixture = Fixture::new();
    let digest = fixture.store.snapshot_put("s", b"state").unwrap();
    let path = fixture.path("snapshots").join(digest.hex());
    for content in [&b"stat"[..], b"state and more", b"", &[0; 2 << 20]] {
        fs::write(&path, content).unwrap();
        assert!(matches!(fixture.store.snapshot_get("s", &digest), Err(StoreFault::Corrupt { .. })));
    }
    // Putting it again repairs it; a disk that fills up meanwhile leaves none.
    fixture.store.snapshot_put("s", b"state").unwrap();
    assert_eq!(fixture.store.snapshot_get("s", &digest).unwrap().as_deref(), Some(&b"state"[..]));
    plan(&[Fault::Short(2), Fault::Fail(Errno::NOSPC)]);
    assert!(matches!(fixture.store.snapshot_put("s", b"other"), Err(StoreFault::Full { .. })));
    assert_eq!(fixture.store.snapshots("s").unwrap(), [digest]);
}

#[test]
fn open_files_are_bounded() {
    let fixture = Fixture::new();
    for round in 0..2 {
        for number in 0..3 * SESSIONS_OPEN_MAX {
            grow(&fixture.store, &number.to_string(), 1, &round.to_string());
        }
    }
    assert_eq!(fixture.store.opened().len(), SESSIONS_OPEN_MAX);
    assert!(fixture.store.sessions().unwrap().len() == 3 * SESSIONS_OPEN_MAX);
}

#[test]
fn a_load_reads_as_little_of_a_long_log_as_of_a_short_one() {
    let fixture = Fixture::new();
    grow(&fixture.store, "s", 3, "a");
    let head = grow(&fixture.store, "s", 1, "b");
    // Everything before the last record is unreadable as records, so whoever read it would fail or tell.
    let log = OpenOptions::new().write(true).open(fixture.path("audit.jsonl")).unwrap();
    let last = Step::new("s", Head::EMPTY, 1, "b").lines.len() as u64;
    log.write_all_at(&vec![b'\n'; (head.offset - last) as usize], 0).unwrap();
    fixture.check(head, Some(4), 0, None);
    let step = Step::new("s", head, 1, "c");
    done(&fixture.other(), &step);
    check_settled(&fixture.other(), "s", step.head);
}

#[test]
fn a_store_that_cannot_be_changed_can_be_read() {
    let fixture = Fixture::new();
    let head = grow(&fixture.store, "s", 1, "a");
    fs::set_permissions(fixture.path("audit.jsonl"), fs::Permissions::from_mode(0o400)).unwrap();
    if OpenOptions::new().write(true).open(fixture.path("audit.jsonl")).is_ok() {
        println!("not tested: this user may write what is read-only");
        return;
    }
    fixture.check(head, Some(1), 0, None);
    let fault = fixture.other().commit("s", &Step::new("s", head, 1, "b").commit()).unwrap_err();
    assert!(matches!(fault, StoreFault::Unwritable { .. }), "{fault}");
}
