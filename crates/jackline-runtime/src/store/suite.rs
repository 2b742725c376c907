//! What every store must do, as cases over the trait; each store's tests run all of them on a fresh store.

use std::sync::Arc;
use std::thread;

use jackline_core::sha::Digest;

use super::{
    COMMIT_BYTES_MAX, Commit, Committed, Head, RECORD_BYTES_MAX, SESSION_BYTES_MAX, SNAPSHOTS_MAX, STATE_BYTES_MAX,
    Store, StoreFault, Sync,
};

/// Runs every case, each on a store of its own.
pub(super) fn run(fresh: impl Fn() -> Arc<dyn Store>) {
    let cases: &[fn(&dyn Store)] = &[
        an_unknown_session_is_empty,
        commits_follow_one_another,
        lines_begin_at_or_after_an_offset,
        a_commit_on_an_old_head_writes_nothing,
        a_vanished_or_foreign_head_is_moved,
        malformed_commits_are_refused,
        bounds_hold,
        odd_session_ids_are_kept_apart,
        sessions_are_listed_sorted,
        snapshots_are_kept_by_content,
    ];
    cases.iter().for_each(|case| case(&*fresh()));
    many_threads_lose_nothing(&fresh());
}

/// Record lines and the head they lead to: what a caller hands to a commit.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) from: Head,
    pub(super) lines: Vec<u8>,
    pub(super) head: Head,
    pub(super) state: Vec<u8>,
}

impl Step {
    /// `count` linked records of `session` on top of `from`; `salt` tells two writers apart.
    pub(super) fn new(session: &str, from: Head, count: u64, salt: &str) -> Self {
        let (mut lines, mut head) = (Vec::new(), from);
        for _ in 0..count {
            head = record(session, head, salt, &mut lines);
        }
        let state = state_at(head);
        Self { from, lines, head, state }
    }

    pub(super) fn commit(&self) -> Commit<'_> {
        let Self { from, lines, head, state } = self;
        Commit { expected: *from, cut: false, restored: None, lines, head: *head, state, sync: Sync::Os }
    }
}

/// The state that a step leads to.
pub(super) fn state_at(head: Head) -> Vec<u8> {
    format!("state after {}", head.seq).into_bytes()
}

fn record(session: &str, from: Head, salt: &str, lines: &mut Vec<u8>) -> Head {
    let seq = from.seq + 1;
    // The data holds what an agent could put there to be taken for the record's own members.
    let data =
        serde_json::json!({"hash": Digest::of(b"lie").hex(), "salt": salt, "seq": 0, "text": "\"hash\":\"00\"\n"});
    let mut line = serde_json::json!({ "data": data, "prev_hash": from.hash.hex(), "seq": seq, "session": session });
    let hash = Digest::of(&serde_json::to_vec(&line).unwrap());
    line["hash"] = hash.hex().into();
    lines.extend(serde_json::to_vec(&line).unwrap());
    lines.push(b'\n');
    Head { seq, hash, offset: from.offset + (lines.len() as u64 - written(lines)) }
}

/// Bytes before the last line.
fn written(lines: &[u8]) -> u64 {
    let body = &lines[..lines.len() - 1];
    body.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at as u64 + 1)
}

/// Commits `count` records on the current head, which must be quiet; returns the head afterwards.
#[track_caller]
pub(super) fn grow(store: &dyn Store, session: &str, count: u64, salt: &str) -> Head {
    let step = Step::new(session, store.load(session).unwrap().head, count, salt);
    assert_eq!(store.commit(session, &step.commit()).unwrap(), Committed::Done);
    step.head
}

/// Checks that the lines of a session are a chain from the first record to `head`; returns the salts in order.
#[track_caller]
pub(super) fn check_chain(store: &dyn Store, session: &str, head: Head) -> Vec<String> {
    let (mut at, mut salts) = (Head::EMPTY, Vec::new());
    for line in store.lines(session, 0).unwrap() {
        let line = line.unwrap();
        let value: serde_json::Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(value["seq"], at.seq + 1);
        assert_eq!(value["prev_hash"], at.hash.hex());
        let hash = Digest::parse(value["hash"].as_str().unwrap()).unwrap();
        at = Head { seq: at.seq + 1, hash, offset: at.offset + line.len() as u64 + 1 };
        salts.push(value["data"]["salt"].as_str().unwrap().to_owned());
    }
    assert_eq!(at, head);
    salts
}

/// Checks head, checkpoint and state of a session without a tail.
#[track_caller]
pub(super) fn check_settled(store: &dyn Store, session: &str, head: Head) {
    let loaded = store.load(session).unwrap();
    assert_eq!((loaded.head, loaded.torn), (head, None));
    let checkpoint = loaded.checkpoint.expect("a checkpoint");
    assert_eq!(checkpoint.head, head);
    assert_eq!(checkpoint.state, format!("state after {}", head.seq).into_bytes());
    assert_eq!(loaded.tail.count(), 0);
}

fn an_unknown_session_is_empty(store: &dyn Store) {
    let loaded = store.load("s").unwrap();
    assert_eq!((loaded.head, loaded.checkpoint, loaded.torn), (Head::default(), None, None));
    assert_eq!(loaded.tail.count() + store.lines("s", 0).unwrap().count(), 0);
    assert!(store.sessions().unwrap().is_empty());
    assert!(store.snapshots("s").unwrap().is_empty());
}

fn commits_follow_one_another(store: &dyn Store) {
    for (count, salt) in [(1, "a"), (3, "b"), (1, "c"), (1, "d")] {
        let head = grow(store, "s", count, salt);
        check_settled(store, "s", head);
    }
    let head = store.load("s").unwrap().head;
    assert_eq!(head.seq, 6);
    assert_eq!(check_chain(store, "s", head), ["a", "b", "b", "b", "c", "d"]);
}

fn lines_begin_at_or_after_an_offset(store: &dyn Store) {
    let heads: Vec<Head> = (0..3).map(|_| grow(store, "from", 1, "x")).collect();
    let count = |from: u64| store.lines("from", from).unwrap().map(Result::unwrap).count();
    assert_eq!((count(0), count(1)), (3, 2), "of a line that began before, nothing is shown");
    assert_eq!((count(heads[0].offset), count(heads[0].offset + 1)), (2, 1));
    assert_eq!((count(heads[1].offset - 1), count(heads[2].offset), count(u64::MAX)), (1, 0, 0));
}

fn a_commit_on_an_old_head_writes_nothing(store: &dyn Store) {
    let late = Step::new("s", Head::EMPTY, 1, "late");
    let first = grow(store, "s", 1, "first");
    assert_eq!(store.commit("s", &late.commit()).unwrap(), Committed::Moved);
    let later = Step::new("s", first, 1, "later");
    let second = grow(store, "s", 1, "second");
    assert_eq!(store.commit("s", &later.commit()).unwrap(), Committed::Moved);
    check_settled(store, "s", second);
    assert_eq!(check_chain(store, "s", second), ["first", "second"]);
}

fn a_vanished_or_foreign_head_is_moved(store: &dyn Store) {
    let elsewhere = Step::new("s", Head::EMPTY, 1, "x");
    let ahead = Step::new("s", elsewhere.head, 1, "x");
    assert_eq!(store.commit("s", &ahead.commit()).unwrap(), Committed::Moved);
    assert!(store.sessions().unwrap().is_empty());
    let head = grow(store, "s", 1, "y");
    // The same length, another record.
    assert_eq!(ahead.from.offset, head.offset);
    assert_eq!(store.commit("s", &ahead.commit()).unwrap(), Committed::Moved);
    check_settled(store, "s", head);
}

fn malformed_commits_are_refused(store: &dyn Store) {
    let step = Step::new("s", Head::EMPTY, 2, "a");
    let good = step.commit();
    let other = Head { hash: Digest::of(b"other"), ..step.head };
    let ahead = Head { seq: 3, ..step.head };
    let beyond = Head { offset: step.head.offset + 1, ..step.head };
    let bad = [
        Commit { lines: b"", head: Head::EMPTY, ..good },
        Commit { lines: &step.lines[..step.lines.len() - 1], ..good },
        Commit { lines: b"{}\n", head: Head { offset: 3, ..step.head }, ..good },
        Commit { head: other, ..good },
        Commit { head: ahead, ..good },
        Commit { head: beyond, ..good },
        Commit { expected: Head { offset: u64::MAX, ..Head::EMPTY }, ..good },
        Commit { expected: Head { seq: u64::MAX, ..Head::EMPTY }, ..good },
    ];
    for (at, commit) in bad.iter().enumerate() {
        let fault = store.commit("s", commit).unwrap_err();
        assert!(matches!(fault, StoreFault::Malformed { .. }), "{at}: {fault}");
    }
    assert!(store.sessions().unwrap().is_empty());
}

fn bounds_hold(store: &dyn Store) {
    #[track_caller]
    fn check(result: Result<Committed, StoreFault>, want: &str) {
        assert!(matches!(&result, Err(StoreFault::TooLarge { what, .. }) if *what == want), "{result:?}");
    }
    let mut step = Step::new("s", Head::EMPTY, 1, &"x".repeat(RECORD_BYTES_MAX));
    check(store.commit("s", &step.commit()), "record");
    step = Step::new("s", Head::EMPTY, 1, "x");
    step.state = vec![0; STATE_BYTES_MAX + 1];
    check(store.commit("s", &step.commit()), "state");
    let lines = vec![b'\n'; COMMIT_BYTES_MAX + 1];
    check(store.commit("s", &Commit { lines: &lines, ..step.commit() }), "commit");
    assert!(matches!(store.snapshot_put("s", &step.state), Err(StoreFault::TooLarge { .. })));
    assert!(store.sessions().unwrap().is_empty());
    // Just within them.
    step = Step::new("s", Head::EMPTY, 2, &"x".repeat(RECORD_BYTES_MAX - 600));
    step.state = vec![7; STATE_BYTES_MAX];
    assert_eq!(store.commit("s", &step.commit()).unwrap(), Committed::Done);
    let loaded = store.load("s").unwrap();
    assert_eq!((loaded.head, loaded.checkpoint.unwrap().state.len()), (step.head, STATE_BYTES_MAX));
    assert_eq!(check_chain(store, "s", step.head).len(), 2);
}

fn odd_session_ids_are_kept_apart(store: &dyn Store) {
    let long = "x".repeat(SESSION_BYTES_MAX);
    let odd = ["", ".", "..", "../../x", "/etc/passwd", "a/b", "\0", "é", "e\u{301}", "\u{202e}\n", "A", "a", &long];
    for (count, session) in (1..).zip(odd) {
        grow(store, session, count, "x");
    }
    for (count, session) in (1..).zip(odd) {
        assert_eq!(store.load(session).unwrap().head.seq, count, "{session:?}");
    }
    let mut want = odd.to_vec();
    want.sort_unstable();
    let listed: Vec<String> = store.sessions().unwrap().into_iter().map(|entry| entry.id).collect();
    assert_eq!(listed, want);
    for long in ["x".repeat(SESSION_BYTES_MAX + 1), "x".repeat(1 << 20)] {
        assert!(matches!(store.load(&long), Err(StoreFault::TooLarge { what: "session id", .. })));
        let step = Step::new("x", Head::EMPTY, 1, "x");
        assert!(matches!(store.commit(&long, &step.commit()), Err(StoreFault::TooLarge { .. })));
    }
}

fn sessions_are_listed_sorted(store: &dyn Store) {
    let before = super::timestamp(std::time::SystemTime::now());
    let heads: Vec<Head> = ["b", "c", "a"].iter().map(|session| grow(store, session, 2, "x")).collect();
    let listed = store.sessions().unwrap();
    let ids: Vec<&str> = listed.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(ids, ["a", "b", "c"]);
    assert!(listed.iter().all(|entry| entry.bytes == heads[0].offset));
    // File systems keep times in ticks of a few milliseconds.
    assert!(listed.iter().all(|entry| (-1_000..60_000).contains(&(entry.modified.0 - before.0))), "{listed:?}");
}

fn snapshots_are_kept_by_content(store: &dyn Store) {
    let digests: Vec<Digest> =
        (0..SNAPSHOTS_MAX).map(|number| store.snapshot_put("s", &[number as u8]).unwrap()).collect();
    assert_eq!(digests[3], Digest::of(&[3]));
    assert_eq!(store.snapshot_get("s", &digests[3]).unwrap().as_deref(), Some(&[3][..]));
    assert_eq!(store.snapshot_get("s", &Digest::ZERO).unwrap(), None);
    assert_eq!(store.snapshot_get("other", &digests[3]).unwrap(), None);
    assert!(matches!(store.snapshot_put("s", b"one more"), Err(StoreFault::TooMany { .. })));
    assert_eq!(store.snapshot_put("s", &[3]).unwrap(), digests[3]);
    store.snapshot_drop("s", &digests[3]).unwrap();
    store.snapshot_drop("s", &digests[3]).unwrap();
    store.snapshot_drop("other", &digests[3]).unwrap();
    assert_eq!(store.snapshot_get("s", &digests[3]).unwrap(), None);
    store.snapshot_put("s", b"one more").unwrap();
    let mut want: Vec<Digest> = digests.iter().copied().filter(|digest| *digest != digests[3]).collect();
    want.push(Digest::of(b"one more"));
    want.sort_unstable();
    assert_eq!(store.snapshots("s").unwrap(), want);
    // A snapshot is not a record.
    assert_eq!(store.load("s").unwrap().head, Head::EMPTY);
    assert!(store.sessions().unwrap().is_empty());
    grow(store, "s", 1, "x");
    assert_eq!(store.snapshots("s").unwrap(), want);
}

fn many_threads_lose_nothing(store: &Arc<dyn Store>) {
    thread::scope(|scope| {
        for writer in 0..8 {
            scope.spawn(move || write_many(&**store, "s", writer, 50));
        }
    });
    check_writers(&**store, "s", 8, 50);
}

/// Commits `count` records as one of several writers, loading again whenever another was faster.
pub(super) fn write_many(store: &dyn Store, session: &str, writer: usize, count: usize) {
    for number in 0..count {
        while store.commit(session, &next(store, session, &format!("{writer}/{number}")).commit()).unwrap()
            == Committed::Moved
        {}
    }
}

fn next(store: &dyn Store, session: &str, salt: &str) -> Step {
    Step::new(session, store.load(session).unwrap().head, 1, salt)
}

/// Checks that every record of every writer is there once, and each writer's in order.
#[track_caller]
pub(super) fn check_writers(store: &dyn Store, session: &str, writers: usize, count: usize) {
    let head = store.load(session).unwrap().head;
    assert_eq!(head.seq, (writers * count) as u64);
    check_settled(store, session, head);
    let salts = check_chain(store, session, head);
    for writer in 0..writers {
        let prefix = format!("{writer}/");
        let own: Vec<&str> = salts.iter().filter_map(|salt| salt.strip_prefix(&prefix)).collect();
        let want: Vec<String> = (0..count).map(|number| number.to_string()).collect();
        assert_eq!(own, want, "writer {writer}");
    }
}
