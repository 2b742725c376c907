//! How a run goes, on a terminal and elsewhere.

use std::io::Read as _;
use std::process::Stdio;
use std::thread;

use crate::stage::Stage;
use crate::{BOSS, MANAGED};

/// Goes to the line's beginning and clears it.
const REDRAWN: &str = "\r\u{1b}[2K";

/// Runs a workflow with a terminal as its standard error; what the terminal was shown.
fn on_a_terminal(stage: &Stage) -> String {
    shown_to(stage, &["--task", "Say something.", "--run-id", "run-1"])
}

fn shown_to(stage: &Stage, arguments: &[&str]) -> String {
    let (mut screen, terminal) = jackline_rehearsal::terminal().unwrap();
    let reading = thread::spawn(move || {
        let (mut shown, mut part) = (Vec::new(), [0; 4096]);
        // A terminal that nobody holds any more cannot be read: that is its end.
        while let Ok(read @ 1..) = screen.read(&mut part) {
            shown.extend_from_slice(&part[..read]);
        }
        String::from_utf8_lossy(&shown).into_owned()
    });
    let mut command = stage.command(&[&["workflow", "run", "flow"], arguments].concat());
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::from(terminal)).status().unwrap();
    drop(command);
    assert_eq!(status.code(), Some(0), "{}", stage.log());
    reading.join().unwrap()
}

#[test]
fn a_terminal_shows_levels_and_who_works() {
    let graph = "orchestration: {graph: [{id: first}, {id: second, depends_on: [first]}]}\n";
    let says = "echo '{\"text\": \"x\"}'";
    let stage = Stage::new(graph).script("first", says).script("second", says);
    let shown = on_a_terminal(&stage);
    for text in ["level 1 of 2 · first", "level 2 of 2 · second", "  first finished", "  second finished"] {
        assert!(shown.contains(text), "{text}\n{shown:?}");
    }
    assert!(shown.contains(REDRAWN) && !shown.contains("first started"), "{shown:?}");
    assert!(shown.ends_with(REDRAWN), "nothing is left of what was drawn: {shown:?}");
}

#[test]
fn a_terminal_shows_what_a_manager_has_left() {
    let stage = Stage::new(MANAGED).script("boss", BOSS).script("worker", "echo '{\"text\": \"x\"}'");
    let shown = on_a_terminal(&stage);
    assert!(shown.contains(" · 5 turns and 500 workers left"), "{shown:?}");
    assert!(shown.contains("  boss decided DELEGATE"), "{shown:?}");
}

#[test]
fn elsewhere_there_are_plain_lines() {
    let graph = "orchestration: {graph: [{id: first}, {id: second, depends_on: [first]}]}\n";
    let says = "echo '{\"text\": \"x\"}'";
    let stage = Stage::new(graph).script("first", says).script("second", says);
    let ran = stage.jackline(&["workflow", "run", "flow", "--task", "x"]);
    let lines: Vec<&str> = ran.err.lines().collect();
    let want = [
        "run of tiers started",
        "  first started, level 1",
        "  first finished",
        "  second started, level 2",
        "  second finished",
    ];
    assert_eq!(lines, want);
}

#[test]
fn a_terminal_shows_the_time_and_what_a_run_used() {
    let graph = "orchestration: {graph: [{id: first}, {id: second, depends_on: [first]}], run_budget: {max_agent_runs: 3, max_total_tokens: 900}}\n";
    let says = "echo '{\"text\": \"x\", \"usage\": {\"input_tokens\": 40}}'";
    let stage = Stage::new(graph).script("first", says).script("second", &format!("sleep 2.5; {says}"));
    let shown = on_a_terminal(&stage);
    assert!(shown.contains("first · 0 of 3 agent runs · 0 of 900 tokens"), "{shown:?}");
    // Nothing is recorded while the second one is at work, and the clock goes on.
    for seconds in ["   1s", "   2s"] {
        let line = format!("{seconds}  level 2 of 2 · second · 1 of 3 agent runs · 40 of 900 tokens");
        assert!(shown.contains(&line), "{line}\n{shown:?}");
    }
}

#[test]
fn a_terminal_shows_what_was_used_before_a_run_was_taken_up() {
    let boss = r#"used='"usage": {"input_tokens": 40}'
case "$input" in
*'"iteration":1,'*) echo "{\"decision\": \"DELEGATE\", \"delegations\": [{\"worker_id\": \"worker\"}], $used}";;
*) [ -e go ] && sleep 1.5; while [ ! -e go ]; do sleep 0.05; done; echo "{\"decision\": \"COMPLETE\", \"final_result\": {}, $used}";;
esac"#;
    let stage = Stage::new(&format!("{MANAGED}  run_budget: {{max_total_tokens: 900}}\n"))
        .script("boss", boss)
        .script("worker", "sleep 2; echo '{\"text\": \"x\"}'");
    stage.kill_after(stage.start(), "agent.started", 3);
    stage.file("go", "");
    let shown = shown_to(&stage, &["--resume", "run-1"]);
    let line = "  boss · 5 turns and 500 workers left · 40 of 900 tokens";
    let seconds =
        shown.split(REDRAWN).filter_map(|drawn| drawn.strip_suffix(line)?.trim().strip_suffix('s')?.parse().ok());
    let seconds: Vec<u64> = seconds.collect();
    assert!(seconds.first().is_some_and(|first| *first >= 2), "{seconds:?}\n{shown:?}");
    assert!(shown.contains(" left · 80 of 900 tokens"), "{shown:?}");
}
