//! Models, judges, critics, scores and accounts in runs of the real program: agents are shell scripts, or models that a
//! server on loopback plays.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says so by panicking"
)]

mod critics;
mod effects;
mod judges;
mod models;
mod scores;
mod shown;
mod stage;
mod terminal;

use stage::Stage;

/// A graph of one node.
const ONE: &str = "orchestration: {graph: [{id: speaker}], execution: {timeout_per_agent: 20}}\n";
/// A manager that delegates to `worker` once and is done.
const MANAGED: &str = "\
orchestration:
  engine: delegation_loop
  delegation_loop:
    manager: boss
    budget: {max_depth: 0, max_loops: 6}
";
const BOSS: &str = r#"case "$input" in
*'"iteration":1,'*) echo '{"decision": "DELEGATE", "delegations": [{"worker_id": "worker", "instructions": "Say something."}]}';;
*) echo '{"decision": "COMPLETE", "final_result": {"text": "done"}}';;
esac"#;

/// A managed workflow with more in its loop, and more behind it.
fn managed(more: &str, behind: &str) -> Stage {
    Stage::new(&format!("{MANAGED}{more}{behind}")).script("boss", BOSS)
}
