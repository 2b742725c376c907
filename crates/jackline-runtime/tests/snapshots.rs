//! What guards remember can be kept under names, gone back to, and forgotten; the newest sixteen names are kept.
#![expect(clippy::unwrap_used, reason = "what goes wrong in a test's own steps fails the test")]

use jackline_core::decision::Verdict;
use jackline_core::event;
use jackline_core::time::Timestamp;
use jackline_runtime::Runtime;
use serde_json::json;

const DEFINITION: &str = r#"
jackline: 1
loop: false
policies: [ { sequence: { requires: { ship: ["step-*"] } } }, { sequence: { requires: { first: [step-1] } } } ]
"#;

struct Run {
    runtime: Runtime,
    calls: u32,
}

impl Run {
    fn finish(&mut self, tool: &str) {
        self.send("call.finished", tool);
    }

    fn send(&mut self, kind: &str, tool: &str) -> Verdict {
        self.calls += 1;
        let call = json!({ "id": self.calls.to_string(), "tool": tool, "args": {} });
        let sent = json!({ "event": kind, "session": "s", "call": call, "ok": true });
        self.runtime.decide(&event::read(&sent, Timestamp(i64::from(self.calls))).unwrap()).verdict
    }
}

#[test]
fn the_newest_sixteen_names_lead_to_what_was_remembered() {
    let state = tempfile::tempdir().unwrap();
    let root = state.path().canonicalize().unwrap();
    let runtime = Runtime::builder().workspace(&root).state(root.join("state")).definition_yaml(DEFINITION);
    let mut run = Run { runtime: runtime.build().unwrap(), calls: 0 };
    for number in 1..=20 {
        run.finish(&format!("step-{number}"));
        assert_eq!(run.runtime.snapshot("s", &format!("n{number}")).verdict, Verdict::Allow, "{number}");
    }
    // Again under a name that is taken: it pushes no other out.
    assert_eq!(run.runtime.snapshot("s", "n20").verdict, Verdict::Allow);
    for number in 1..=4 {
        let answer = run.runtime.restore("s", &format!("n{number}"));
        assert_eq!(answer.verdict, Verdict::Deny, "n{number} was pushed out");
    }
    for number in 5..=20 {
        run.runtime.reset("s");
        assert_eq!(run.send("call.requested", "first"), Verdict::Deny, "forgotten");
        assert_eq!(run.runtime.restore("s", &format!("n{number}")).verdict, Verdict::Allow);
        assert_eq!(run.send("call.requested", "first"), Verdict::Allow, "n{number} remembers");
    }
}

/// A snapshot is gone back to, then its name is taken again: the store keeps only the newer content.
#[test]
fn a_lost_state_is_rebuilt_though_its_snapshot_was_replaced() {
    let state = tempfile::tempdir().unwrap();
    let root = state.path().canonicalize().unwrap();
    let start = || Runtime::builder().workspace(&root).state(root.join("state")).definition_yaml(DEFINITION).build();
    let mut run = Run { runtime: start().unwrap(), calls: 0 };
    run.finish("step-1");
    run.runtime.snapshot("s", "one");
    run.finish("step-2");
    run.runtime.restore("s", "one");
    run.finish("step-3");
    run.runtime.snapshot("s", "one");
    for session in std::fs::read_dir(root.join("state/sessions")).unwrap() {
        std::fs::remove_file(session.unwrap().path().join("state")).unwrap();
    }
    run.runtime = start().unwrap();
    assert_eq!(run.send("call.requested", "first"), Verdict::Allow, "step-1 was restored and is forgotten");
}
