//! Exceptions on their way through the pipeline: used up by the decision that is kept, and by nothing else.
#![expect(clippy::unwrap_used, reason = "what goes wrong in a test's own steps fails the test")]

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use jackline_core::audit::{Format, verify};
use jackline_core::decision::Verdict;
use jackline_core::event::{self, Event};
use jackline_core::exception::{Exception, What};
use jackline_core::sha::Digest;
use jackline_core::time::Timestamp;
use jackline_runtime::exceptions::Exceptions;
use jackline_runtime::store::memory::MemoryStore;
use jackline_runtime::store::{Commit, Committed, Lines, Loaded, SessionEntry, Store, StoreFault};
use jackline_runtime::{Answer, Runtime, replay};
use serde_json::{Value, json};

const AT: Timestamp = Timestamp(1_767_225_600_000);
const DEFINITION: &str =
    "jackline: 1\nloop: { window: 2, threshold: 2 }\npolicies: [{ name: no-a, rule: { tool: a, reason: not a } }]\n";

/// A store in memory whose next commits fail, or are overtaken by another process's.
#[derive(Debug, Default)]
struct Shaky {
    kept: Arc<MemoryStore>,
    faults: AtomicU32,
    overtaken: AtomicU32,
    /// What another process does just before the next commit.
    meanwhile: Mutex<Option<(Runtime, Event)>>,
}

fn next(count: &AtomicU32) -> bool {
    count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
}

impl Store for Shaky {
    fn load(&self, session: &str) -> Result<Loaded, StoreFault> {
        self.kept.load(session)
    }

    fn commit(&self, session: &str, commit: &Commit<'_>) -> Result<Committed, StoreFault> {
        if next(&self.faults) {
            return Err(StoreFault::Malformed { why: "it was told to fail" });
        }
        if let Some((other, event)) = self.meanwhile.lock().unwrap().take() {
            other.decide(&event);
        }
        if next(&self.overtaken) { Ok(Committed::Moved) } else { self.kept.commit(session, commit) }
    }

    fn sessions(&self) -> Result<Vec<SessionEntry>, StoreFault> {
        self.kept.sessions()
    }

    fn lines(&self, session: &str, from: u64) -> Result<Lines, StoreFault> {
        self.kept.lines(session, from)
    }

    fn snapshot_put(&self, session: &str, state: &[u8]) -> Result<Digest, StoreFault> {
        self.kept.snapshot_put(session, state)
    }

    fn snapshot_get(&self, session: &str, digest: &Digest) -> Result<Option<Vec<u8>>, StoreFault> {
        self.kept.snapshot_get(session, digest)
    }

    fn snapshot_drop(&self, session: &str, digest: &Digest) -> Result<(), StoreFault> {
        self.kept.snapshot_drop(session, digest)
    }

    fn snapshots(&self, session: &str) -> Result<Vec<Digest>, StoreFault> {
        self.kept.snapshots(session)
    }
}

struct World {
    dir: tempfile::TempDir,
    store: Arc<Shaky>,
    runtime: Runtime,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let store = Arc::new(Shaky::default());
        let built = Runtime::builder().workspace(&root).state(root.join("state")).definition_yaml(DEFINITION);
        let runtime = built.store(Arc::clone(&store) as Arc<dyn Store>).build().unwrap();
        Self { dir, store, runtime }
    }

    fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    fn exceptions(&self) -> Exceptions {
        Exceptions::of(&self.root().join("state"), self.root().to_str().unwrap())
    }

    fn grant(&self, once: bool) -> Exception {
        let (what, until) = (What::Policy("no-a".into()), Timestamp(AT.0 + 60_000));
        let (reason, by) = ("a test".into(), "dev".into());
        let exception = Exception { id: "e1".into(), what, once, granted_at: AT, until, reason, by };
        self.exceptions().keep(&exception).unwrap();
        exception
    }

    fn stands(&self) -> bool {
        !self.exceptions().in_force(AT).unwrap().is_empty()
    }

    fn call(&self, n: u32) -> Answer {
        self.runtime.decide(&called(n))
    }

    fn records(&self) -> Vec<Value> {
        let lines = self.store.lines("s", 0).unwrap();
        lines.map(|line| replay::record(&line.unwrap()).unwrap()).collect()
    }
}

fn called(n: u32) -> Event {
    event(json!({ "event": "call.requested", "call": { "tool": "a", "args": { "n": n } } }))
}

fn event(mut value: Value) -> Event {
    value.as_object_mut().unwrap().insert("session".to_owned(), json!("s"));
    event::read(&value, AT).unwrap()
}

#[test]
fn a_decision_that_is_kept_uses_it_up() {
    let world = World::new();
    world.grant(true);
    assert_eq!(world.call(1).verdict, Verdict::Allow);
    assert!(!world.stands());
    assert_eq!(world.call(2).verdict, Verdict::Deny);
}

#[test]
fn one_that_could_not_be_kept_leaves_it_standing() {
    let world = World::new();
    world.grant(true);
    // Neither the decision nor, instead of it, the fault.
    world.store.faults.store(2, Ordering::SeqCst);
    let answer = world.call(1);
    assert_eq!((answer.verdict, answer.seq), (Verdict::Deny, None));
    assert!(world.stands(), "nothing got through on it");
    assert_eq!(world.call(2).verdict, Verdict::Allow);
}

#[test]
fn a_fault_that_is_on_record_leaves_it_standing() {
    let world = World::new();
    world.grant(true);
    world.store.faults.store(1, Ordering::SeqCst);
    let answer = world.call(1);
    assert_eq!((answer.verdict, answer.seq.is_some()), (Verdict::Deny, true));
    assert!(answer.code.is_some_and(|code| code.as_str().starts_with("fault/")));
    assert!(world.stands(), "nothing got through on it");
    assert_eq!(world.call(2).verdict, Verdict::Allow);
}

#[test]
fn an_event_that_was_overtaken_keeps_its_claim() {
    let world = World::new();
    world.grant(true);
    world.store.overtaken.store(3, Ordering::SeqCst);
    assert_eq!(world.call(1).verdict, Verdict::Allow);
    assert!(!world.stands());
}

#[test]
fn a_claim_that_no_longer_helps_is_given_back() {
    let world = World::new();
    world.grant(true);
    let other = Runtime::builder().workspace(world.root()).definition_yaml(DEFINITION);
    let other = other.store(Arc::clone(&world.store.kept) as Arc<dyn Store>).build().unwrap();
    // The same call, made first by another process: to the loop guard ours is a repeat when it is decided again.
    *world.store.meanwhile.lock().unwrap() = Some((other, called(1)));
    let answer = world.call(1);
    assert_eq!(answer.verdict, Verdict::Deny);
    assert!(answer.findings.iter().all(|finding| finding.exception.is_none()), "{:?}", answer.findings);
    assert!(world.stands());
    assert_eq!(world.call(2).verdict, Verdict::Allow);
}

#[test]
fn its_use_is_on_record_before_the_decision() {
    let world = World::new();
    let granted = world.grant(false);
    world.runtime.decide(&event(json!({ "event": "exception.granted", "exception": granted })));
    world.call(1);
    let records = world.records();
    let kinds: Vec<&str> = records.iter().filter_map(|record| record["kind"].as_str()).collect();
    assert_eq!(kinds, ["exception.granted", "decision", "call.requested", "exception.used", "decision"]);
    assert_eq!((&records[0]["actor"], &records[3]["actor"]), (&json!("human"), &json!("runtime")));
    assert_eq!(records[0]["data"]["exception"], json!(granted));
    assert_eq!(records[3]["data"]["exception"], json!(granted));
    assert_eq!(records[3]["data"]["finding"], json!({ "policy": "no-a", "code": "rule/no-a" }));
    assert_eq!(records[4]["data"]["findings"][0]["exception"], "e1");
    assert_eq!(records[4]["data"]["verdict"], "allow");
    assert_eq!(replay::event(&records[0]).unwrap().body, event::Body::ExceptionGranted(granted));
    let whole: Vec<u8> =
        world.store.lines("s", 0).unwrap().flat_map(|line| [line.unwrap(), b"\n".to_vec()].concat()).collect();
    assert!(verify(Format::Ours, &whole).is_ok());
}

#[test]
fn a_session_that_moved_keeps_the_exceptions_of_its_home() {
    let world = World::new();
    world.grant(false);
    world.call(1);
    let moved = world.root().join("elsewhere");
    std::fs::create_dir(&moved).unwrap();
    world.runtime.decide(&event(json!({ "event": "session.rerooted", "root": moved })));
    assert_eq!(world.call(2).verdict, Verdict::Allow);
}
