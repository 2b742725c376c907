//! Properties of what is kept: random runs through the real runtime on real files, then read back from the log.

use std::fs;
use std::path::{Path, PathBuf};

use jackline_core::audit::{Format, verify};
use jackline_core::decide::decide;
use jackline_core::decision::Step;
use jackline_core::exception::{Exception, What};
use jackline_core::session::Session;
use jackline_core::stack::Stack;
use jackline_core::time::Timestamp;
use jackline_runtime::adapters::lines::Lines;
use jackline_runtime::exceptions::Exceptions;
use jackline_runtime::retention::{self, Done, Fate, Order, Settings};
use jackline_runtime::store::Store as _;
use jackline_runtime::store::files::FileStore;
use jackline_runtime::{Runtime, replay};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::pool::{self, SESSION};
use crate::pure;

/// A workspace with a few files, a store beside it, and the runtime on both.
struct Run {
    dir: tempfile::TempDir,
    text: String,
    runtime: Runtime,
}

impl Run {
    fn new(policies: &[Value]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("workspace");
        fs::create_dir_all(root.join("sub")).unwrap();
        for name in ["a.txt", "b.txt", "sub/c.txt", "x.lock"] {
            fs::write(root.join(name), name).unwrap();
        }
        std::os::unix::fs::symlink("a.txt", root.join("link")).unwrap();
        let text = pool::definition(policies);
        let built = Runtime::builder().workspace(&root).state(dir.path().join("store")).definition_yaml(&text).build();
        Self { dir, text, runtime: built.unwrap() }
    }

    fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("workspace")
    }

    fn store(&self) -> FileStore {
        FileStore::open(self.dir.path().join("store"))
    }

    /// A person's exception, which ends in the middle of the time that events are from.
    fn except(&self, id: &str, what: What, once: bool) {
        let until = Timestamp(pool::MIDDLE_MS);
        let granted_at = Timestamp(until.0 - 60_000);
        let (id, reason, by) = (id.to_owned(), "a test".to_owned(), "dev".to_owned());
        let kept = Exceptions::of(&self.dir.path().join("store"), self.root().to_str().unwrap());
        kept.keep(&Exception { id, what, once, granted_at, until, reason, by }).unwrap();
    }

    /// Sends events; now and then somebody else changes a file in between.
    fn play(&self, events: &[Value]) {
        for (number, event) in events.iter().enumerate() {
            if number % 5 == 4 {
                fs::write(self.root().join("b.txt"), format!("changed {number}")).unwrap();
            }
            let answer: Value =
                serde_json::from_str(&self.runtime.handle(&Lines, event.to_string().as_bytes()).stdout).unwrap();
            let kept = answer["seq"].is_u64();
            assert!(kept, "{event} was not kept: {answer}");
        }
    }

    fn lines(&self) -> Vec<Vec<u8>> {
        self.store().lines(SESSION, 0).unwrap().map(Result::unwrap).collect()
    }

    fn checkpointed(&self) -> Session {
        let loaded = self.store().load(SESSION).unwrap();
        let checkpoint = loaded.checkpoint.unwrap();
        assert_eq!(checkpoint.head, loaded.head, "the checkpoint lags behind");
        Session::decode(&checkpoint.state).unwrap()
    }

    /// Retires the beginning of the log but for so many bytes; the last record that went, if any did.
    fn shorten(&self, tail_bytes: u64) -> Option<u64> {
        let (store, state) = (self.store(), self.dir.path().join("store"));
        let far = Timestamp(pool::MIDDLE_MS + 1_000_000_000_000);
        let settings = Settings { keep: 1, tail_bytes, beginning_bytes: 1, ..Settings::older_than(far, 0) };
        let planned =
            retention::plan(&store, &state, &settings).unwrap().into_iter().find(|one| one.session == SESSION);
        let planned = planned.unwrap();
        let Fate::Shortened(beginning) = planned.fate.clone() else { return None };
        let order = Order { at: far, by: "dev".to_owned(), archive: None };
        let done = retention::carry_out(&store, &store.retiring().unwrap(), &planned, &order).unwrap();
        assert!(matches!(done, Done::Shortened { .. }), "{done:?}");
        Some(beginning.last.seq)
    }

    /// The session as a process finds it that has nothing but the log and what was carried over.
    fn rebuilt(&self) -> Session {
        let copy = tempfile::tempdir().unwrap();
        for session in fs::read_dir(self.dir.path().join("store/sessions")).unwrap() {
            let session = session.unwrap();
            let to = copy.path().join("sessions").join(session.file_name());
            copied(&session.path(), &to);
            fs::remove_file(to.join("state")).unwrap();
        }
        let built = Runtime::builder().workspace(self.root()).state(copy.path()).definition_yaml(&self.text).build();
        built.unwrap().session(SESSION).unwrap()
    }

    fn stack(&self) -> Stack {
        Stack { root: self.root().display().to_string(), layers: vec![pure::layer(&self.text)], ..Stack::default() }
    }
}

/// Copies a directory of plain files and such directories.
fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copied(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Folds one line, from the log alone.
fn fold(folded: &mut replay::Fold, line: &[u8]) {
    folded.line(line, &|_| None).unwrap();
}

/// Decides anew about every event of the log, with the facts that its record keeps; how many could be.
fn decide_anew(run: &Run) -> Result<usize, TestCaseError> {
    let stack = run.stack();
    let (mut folded, mut event, mut replayed) = (replay::Fold::default(), None, 0);
    for line in run.lines() {
        let record = replay::record(&line).unwrap();
        if record["kind"] != "decision" {
            event = event.or(Some(record));
            continue;
        }
        let asked = event.take().unwrap();
        if asked.get("replayable").or(record.get("replayable")).is_none() {
            let event = replay::event(&asked).unwrap();
            let Step::Done(decision) = decide(&stack, &folded.session, &event, &replay::facts(&record)) else {
                return Err(TestCaseError::fail(format!("facts are missing in {record}")));
            };
            prop_assert_eq!(&record["data"]["verdict"], &json!(decision.verdict));
            prop_assert_eq!(&record["data"]["findings"], &json!(decision.findings));
            prop_assert_eq!(&record["data"]["feedback"], &json!(decision.feedback));
            prop_assert_eq!(&record["changes"], &json!(decision.changes));
            replayed += 1;
        }
        fold(&mut folded, &line);
    }
    Ok(replayed)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn replaying_the_log_gives_the_same_decisions(policies in pool::policies(), events in pool::events(24)) {
        let run = Run::new(&policies);
        run.play(&events);
        prop_assert_eq!(decide_anew(&run)?, events.len());
    }

    #[test]
    fn what_exceptions_let_pass_replays_too(policies in pool::policies(), events in pool::events(24)) {
        let run = Run::new(&policies);
        run.except("lasting", What::Family("rule".into()), false);
        run.except("once", What::All, true);
        run.play(&events);
        prop_assert_eq!(decide_anew(&run)?, events.len());
    }

    #[test]
    fn the_log_folds_to_the_checkpointed_state(policies in pool::policies(), events in pool::events(24)) {
        let run = Run::new(&policies);
        run.play(&events);
        let mut folded = replay::Fold::default();
        run.lines().iter().for_each(|line| fold(&mut folded, line));
        prop_assert_eq!(folded.session, run.checkpointed());
    }

    #[test]
    fn what_is_left_of_a_log_verifies_and_folds_to_the_same(
        policies in pool::policies(), before in pool::events(12), between in pool::events(6), after in pool::events(6),
        tails in prop::array::uniform2(0..30_000_u64),
    ) {
        let run = Run::new(&policies);
        run.play(&before);
        run.play(&[json!({ "event": "session.snapshot", "session": SESSION, "name": "kept" })]);
        run.play(&between);
        let mut last = None;
        for tail in tails {
            let want = run.checkpointed();
            last = run.shorten(tail).or(last);
            let left: Vec<u8> = run.lines().into_iter().flat_map(|line| [line, b"\n".to_vec()].concat()).collect();
            let chains = verify(Format::Ours, &left).map_err(|broken| TestCaseError::fail(broken.to_string()))?.sessions;
            prop_assert_eq!(chains[0].retired.as_ref().map(|retired| retired.last), last);
            prop_assert_eq!(&run.checkpointed(), &want);
            prop_assert_eq!(&run.rebuilt(), &want);
            // The runtime that remembers the longer log goes on with the shorter one; back to what is in neither.
            run.play(&[json!({ "event": "session.restore", "session": SESSION, "name": "kept" })]);
            run.play(&[json!({ "event": "session.snapshot", "session": SESSION, "name": "kept" })]);
            run.play(&after);
        }
        let want = run.checkpointed();
        prop_assert_eq!(&run.rebuilt(), &want);
        // Without a word that its beginning was retired, no beginning may be missing.
        let cut: Vec<u8> = run.lines().into_iter().skip(1).flat_map(|line| [line, b"\n".to_vec()].concat()).collect();
        prop_assert!(verify(Format::Ours, &cut).is_err());
    }

    #[test]
    fn any_flipped_byte_of_the_log_fails(
        policies in pool::policies(), events in pool::events(6),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1..=255_u8), 64),
    ) {
        let run = Run::new(&policies);
        run.play(&events);
        let whole: Vec<u8> = run.lines().into_iter().flat_map(|line| [line, b"\n".to_vec()].concat()).collect();
        prop_assert!(verify(Format::Ours, &whole).is_ok());
        for (at, mask) in flips {
            let mut flipped = whole.clone();
            let at = at.index(whole.len());
            flipped[at] ^= mask;
            prop_assert!(verify(Format::Ours, &flipped).is_err(), "byte {at} by {mask:#x}");
        }
    }

    #[test]
    fn a_restored_snapshot_is_the_snapshot(
        policies in pool::policies(), before in pool::events(12), between in pool::events(12),
    ) {
        let run = Run::new(&policies);
        run.play(&before);
        run.play(&[json!({ "event": "session.snapshot", "session": SESSION, "name": "kept" })]);
        let taken = run.checkpointed();
        run.play(&between);
        run.play(&[json!({ "event": "session.restore", "session": SESSION, "name": "kept" })]);
        let restored = run.checkpointed();
        prop_assert_eq!(&restored.memory, &taken.memory);
        // Counts are not memory: going back does not give steps or writes back.
        prop_assert!(restored.steps >= taken.steps && restored.writes >= taken.writes);
    }
}
