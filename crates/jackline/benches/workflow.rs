//! `jackline workflow validate`, from the start of the process to its end, on generated workflows of up to 20,000 agents;
//! beside the Python original where it is installed.
//!
//! `cargo bench -p jackline --bench workflow [-- --quick]`. Sizes are measured in turn, round after round, so that the
//! machine's moods fall on all alike. Every agent has a file of its own, and five others that it waits for.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "a benchmark prints, and ends when its own steps fail")]

#[path = "hook/spawn.rs"]
mod spawn;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use spawn::Prepared;

/// Agents of the workflow that the budgets are about; it has five times as many edges.
const AGENTS: usize = 1_000;
/// Milliseconds that it may take, from nothing.
const MS_TARGET: f64 = 50.0;
/// Mebibytes that it may need.
const MIB_TARGET: f64 = 40.0;
/// How much more time an agent may take in the largest workflow than in that one: linear, with room for colder caches.
const GROWTH_TARGET: f64 = 1.5;
/// The version of the original that is compared with.
const ORIGINAL: &str = "1.0.56";
/// Agents that one waits for.
const EDGES: usize = 5;

fn main() {
    if spawn::was_memory_probe() {
        return;
    }
    let quick = std::env::args().any(|argument| argument == "--quick");
    let sizes: &[usize] = if quick { &[10, 100, AGENTS, 5_000] } else { &[10, 100, AGENTS, 5_000, 20_000] };
    let rounds = if quick { 11 } else { 31 };
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory on the disk");
    let flows: Vec<PathBuf> = sizes.iter().map(|size| generate(place.path(), *size)).collect();
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); sizes.len()];
    for round in 0..=rounds {
        for (flow, times) in flows.iter().zip(&mut times) {
            let ended = Prepared::new(ours(flow), "").run();
            assert_eq!((ended.code, ended.said.ends_with(": valid\n")), (Some(0), true), "{}", ended.said);
            // The first round fills the system's caches.
            if round > 0 {
                times.push(ended.seconds * 1e3);
            }
        }
    }
    println!("jackline workflow validate, {rounds} rounds, from start to end of the process");
    println!("{:>8} {:>8} {:>9} {:>9} {:>11} {:>8}", "agents", "edges", "min ms", "median", "µs / agent", "MiB");
    for ((size, flow), times) in sizes.iter().zip(&flows).zip(&mut times) {
        times.sort_by(f64::total_cmp);
        let (least, median) = (times.first().expect("measured"), middle(times));
        let mib = spawn::memory(&ours(flow), "") as f64 / f64::from(1 << 20);
        let each = median * 1e3 / *size as f64;
        println!("{size:>8} {:>8} {least:>9.2} {median:>9.2} {each:>11.1} {mib:>8.1}", edges(*size));
    }
    verdict(sizes, &times, &flows);
    original(&flows, sizes);
}

fn middle(sorted: &[f64]) -> f64 {
    sorted.get(sorted.len() / 2).copied().expect("measured")
}

fn verdict(sizes: &[usize], times: &[Vec<f64>], flows: &[PathBuf]) {
    let at = sizes.iter().position(|size| *size == AGENTS).expect("it is among them");
    let (Some(own), Some(largest)) = (times.get(at), times.last()) else { return };
    let mib = spawn::memory(&ours(flows.get(at).expect("generated")), "") as f64 / f64::from(1 << 20);
    let kept = |kept: bool| if kept { "kept" } else { "NOT KEPT" };
    let most = *sizes.last().expect("some");
    let growth = middle(largest) / most as f64 / (middle(own) / AGENTS as f64);
    println!("at most {MS_TARGET} ms for {AGENTS} agents: {}", kept(middle(own) <= MS_TARGET));
    println!("at most {MIB_TARGET} MiB: {}", kept(mib <= MIB_TARGET));
    println!("linear up to {most} agents (× {growth:.2} an agent): {}", kept(growth <= GROWTH_TARGET));
}

fn ours(flow: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jackline"));
    command.args(["workflow", "validate"]).arg(flow).current_dir(flow);
    command
}

/// The original on the same workflows, where it is installed.
fn original(flows: &[PathBuf], sizes: &[usize]) {
    let version = Command::new("python3")
        .args(["-c", "import importlib.metadata as m; print(m.version('awp-agents'))"])
        .output()
        .ok()
        .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    if version.as_deref() != Some(ORIGINAL) {
        println!("the original is not compared: `pip install awp-agents=={ORIGINAL}` installs it");
        return;
    }
    println!("the original, awp-agents {ORIGINAL}, once each, in the same run");
    for (flow, size) in flows.iter().zip(sizes).filter(|(_, size)| **size <= AGENTS) {
        // It misses files that only its own runtime needs, and says so at length.
        let mut command = Command::new("sh");
        command.args(["-c", "exec python3 -m awp validate \"$0\" >/dev/null 2>&1"]).arg(flow).current_dir(flow);
        let ended = Prepared::new(command, "").run();
        let code = ended.code.map_or_else(|| "a signal".to_owned(), |code| format!("exit {code}"));
        println!("{size:>8} {:>8} {:>9.0} ms, {code}", edges(*size), ended.seconds * 1e3);
    }
}

fn edges(size: usize) -> usize {
    (0..size).map(|at| at.min(EDGES)).sum()
}

/// Writes a valid workflow of so many agents.
fn generate(place: &Path, size: usize) -> PathBuf {
    let flow = place.join(format!("flow-{size}"));
    let mut manifest = format!(
        "awp: \"1.0.0\"\nworkflow:\n  name: flow-{size}\n  version: \"1.0.0\"\n  description: A generated workflow.\norchestration:\n  engine: dag\n  graph:\n"
    );
    for at in 0..size {
        // Neighbours and far ones, always earlier: no cycle.
        let depends: Vec<String> = (1..=EDGES.min(at)).map(|step| name(at - step)).collect();
        let _ = writeln!(
            manifest,
            "    - id: {0}\n      agent: {0}\n      depends_on: [{1}]\n      share_output: [summary]",
            name(at),
            depends.join(", ")
        );
        let directory = flow.join("agents").join(name(at));
        fs::create_dir_all(&directory).expect("made");
        fs::write(directory.join("agent.awp.yaml"), agent(at)).expect("written");
    }
    manifest.push_str("  execution:\n    mode: parallel\n    timeout:\n      per_agent: 120\n      total: 600\nstate:\n  sharing:\n    strategy: selective\n");
    fs::write(flow.join("workflow.awp.yaml"), manifest).expect("written");
    flow
}

fn name(at: usize) -> String {
    format!("agent_{at:05}")
}

fn agent(at: usize) -> String {
    format!(
        "awp_agent: \"1.0.0\"
identity:
  id: {}
  role: worker
  description: Worker number {at} of a generated workflow.
  version: \"1.0.0\"
  tags: [generated, worker]
runtime:
  class_name: Agent
  strategy_folder: workflow
model:
  provider: openrouter
  name: example/model
  parameters:
    temperature: 0.2
    max_tokens: 4096
prompt:
  system: instructions/SYSTEM_PROMPT.md
  user_template: prompt/00_INTRO.md
output:
  format: json
  contract:
    summary:
      type: string
      description: What was found by worker {at}.
      shareable: true
      required: true
    confidence:
      type: number
      minimum: 0.0
      maximum: 1.0
      required: true
  validation:
    mode: strict
    max_retries: 2
capabilities:
  tools:
    enabled: true
    max_calls: 10
    allowed: [web.search, file.read]
",
        name(at)
    )
}
