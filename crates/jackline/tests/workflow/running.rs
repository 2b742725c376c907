//! `jackline workflow run` as people and programs meet it: exit codes, what is printed, what is on disk; signals and kills.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::text;

/// How long anything is waited for here: far longer than it takes.
const PATIENCE: Duration = Duration::from_secs(60);

fn jackline(store: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jackline"));
    command
        .args(arguments)
        .arg("--store")
        .arg(store)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
}

fn example(name: &str) -> String {
    format!("{}/../../examples/workflows/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[track_caller]
fn run(store: &Path, arguments: &[&str], code: i32) -> Output {
    let output = jackline(store, &[&["workflow", "run"], arguments].concat()).output().expect("started");
    assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{}{}", text(&output.stdout), text(&output.stderr));
    output
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

#[track_caller]
fn verified(store: &Path, records: &str) {
    let output = jackline(store, &["audit", "verify"]).output().expect("started");
    assert!(text(&output.stdout).contains(records), "{}{}", text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0));
}

/// A workflow of two agents: the second waits until it may go on, and says so in a file.
struct Waiting {
    dir: tempfile::TempDir,
}

impl Waiting {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let flow = dir.path().join("flow");
        let manifest = "awp: \"1.0.0\"\nworkflow: {name: two-steps, version: \"1.0.0\", description: waits}\n\
            orchestration:\n  graph:\n    - {id: first}\n    - {id: second, depends_on: [first]}\n";
        let scripts = [
            ("first", "cat > /dev/null; echo x >> ran-first; echo '{\"n\": 7}'"),
            (
                "second",
                "cat > seen; echo x >> ran-second; touch waits; while [ ! -f go ]; do sleep 0.05; done; echo '{}'",
            ),
        ];
        for (name, script) in scripts {
            let agent = format!(
                "awp_agent: \"1.0.0\"\nidentity: {{id: {name}, role: r, description: d}}\n\
                runtime: {{command: [sh, agents/{name}/run.sh]}}\noutput: {{contract: {{type: object}}}}\n"
            );
            let home = flow.join("agents").join(name);
            fs::create_dir_all(&home).expect("made");
            fs::write(home.join("agent.awp.yaml"), agent).expect("written");
            fs::write(home.join("run.sh"), script).expect("written");
        }
        fs::write(flow.join("workflow.awp.yaml"), manifest).expect("written");
        Self { dir }
    }

    fn flow(&self) -> PathBuf {
        self.dir.path().join("flow")
    }

    fn store(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    /// A run that has come to the second agent.
    fn begun(&self) -> Child {
        let flow = self.flow();
        let mut command = jackline(&self.store(), &["workflow", "run", &flow.display().to_string(), "--run-id", "r1"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
        let until = Instant::now() + PATIENCE;
        while !flow.join("waits").exists() && Instant::now() < until {
            thread::sleep(Duration::from_millis(10));
        }
        child
    }

    #[track_caller]
    fn resumed(&self) -> Value {
        fs::write(self.flow().join("go"), "").expect("written");
        let flow = self.flow().display().to_string();
        let output = run(&self.store(), &[&flow, "--resume", "r1", "--json"], 0);
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    fn ran(&self, name: &str) -> usize {
        read(&self.flow().join(format!("ran-{name}"))).lines().count()
    }
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().expect("started");
    assert!(sent.success());
}

#[test]
fn the_examples_run() {
    let store = tempfile::tempdir().expect("a temporary directory");
    let input = r#"{"task": "count", "text": "the tide comes and goes"}"#;
    run(store.path(), &[&example("word-count"), "--input", input, "--run-id", "w1"], 0);
    let report = read(&store.path().join("runs/w1/output/report.md"));
    assert_eq!(report, "# Report\n\nThe text has 5 words and 19 letters.\n");
    let output = run(store.path(), &[&example("tide-notes"), "--task", "collect notes", "--run-id", "t1"], 0);
    assert!(text(&output.stdout).starts_with("t1: complete\nfiles: "), "{}", text(&output.stdout));
    assert!(text(&output.stderr).contains("planner decided COMPLETE"));
    assert!(read(&store.path().join("runs/t1/output/moon.md")).contains("# The moon"));
    let output = run(
        store.path(),
        &[&example("many-drafts"), "--input", r#"{"topics": ["moon", "sun", "wind"]}"#, "--format", "json"],
        0,
    );
    let ended: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(ended["output"]["editor"], json!({"quality": 0.9}));
    assert_eq!(ended["output"]["drafts"]["lines"].as_array().map(Vec::len), Some(3));
    verified(store.path(), "3 chains verified");
    let log = jackline(store.path(), &["log", "t1"]).output().expect("started");
    assert!(text(&log.stdout).contains("manager.decided   planner manager@5 COMPLETE"), "{}", text(&log.stdout));
    let gates = jackline(store.path(), &[]);
    drop(gates);
    let file = store.path().join("runs/t1/run.json").display().to_string();
    let gates = Command::new(env!("CARGO_BIN_EXE_jackline"))
        .args(["workflow", "gates", "--run", &file])
        .output()
        .expect("started");
    assert_eq!(gates.status.code(), Some(0));
}

#[test]
fn what_cannot_be_begun_is_refused_and_leaves_nothing() {
    let store = tempfile::tempdir().expect("a temporary directory");
    let words = example("word-count");
    let pipe = store.path().join("pipe").display().to_string();
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("started").success());
    for (arguments, wanted) in [
        (vec!["nowhere"], "there is no workflow"),
        (vec![words.as_str()], "`text` is missing"),
        (vec![words.as_str()], "help: give it with `--input`"),
        (vec![words.as_str(), "--input", "{oops"], "no JSON"),
        (vec![words.as_str(), "--input", "/nowhere.json"], "cannot read"),
        (vec![words.as_str(), "--input", r#"{"_meta": 1}"#], "`_meta` is a reserved key"),
        (vec![words.as_str(), "--input", r#"{"_meta": 1}"#], "help: leave it out"),
        (vec![words.as_str(), "--input", r#"{"task": 5, "text": "x"}"#], "`task` is `5`, and a task is a text"),
        (vec![words.as_str(), "--input", "[1]"], "it is neither an object nor a text"),
        (vec![words.as_str(), "--input", pipe.as_str()], "it is no regular file"),
        (vec![words.as_str(), "--json", "--format", "json"], "cannot be used with"),
        (vec![words.as_str(), "--run-id", "../x"], "no name of a run"),
        (vec![words.as_str(), "--resume", "gone"], "there is no run `gone`"),
    ] {
        let output = run(store.path(), &arguments, 2);
        assert!(text(&output.stderr).contains(wanted), "{arguments:?}: {}", text(&output.stderr));
    }
    assert!(!store.path().join("runs").exists());
    let place = Waiting::new();
    let manifest = read(&place.flow().join("workflow.awp.yaml")).replace("[first]", "[nobody]");
    fs::write(place.flow().join("workflow.awp.yaml"), manifest).expect("written");
    let output = run(&place.store(), &[&place.flow().display().to_string()], 2);
    assert!(text(&output.stderr).contains("error[R7]"), "{}", text(&output.stderr));
    assert_eq!(place.ran("first"), 0);
}

#[test]
fn a_run_that_fails_says_so_in_its_exit_code() {
    let place = Waiting::new();
    fs::write(place.flow().join("agents/second/run.sh"), "exit 1").expect("written");
    let output = run(&place.store(), &[&place.flow().display().to_string(), "--run-id", "r1"], 1);
    assert!(text(&output.stdout).starts_with("r1: failed (agent_failed: second)"), "{}", text(&output.stdout));
    let output = run(&place.store(), &[&place.flow().display().to_string(), "--resume", "r1"], 2);
    assert!(text(&output.stderr).contains("has ended: failed"), "{}", text(&output.stderr));
}

#[test]
fn why_nothing_could_be_fanned_out_is_told() {
    let place = Waiting::new();
    let manifest = read(&place.flow().join("workflow.awp.yaml"))
        .replace("{id: first}", "{id: first, fan_out: {source: state.xs}}");
    fs::write(place.flow().join("workflow.awp.yaml"), manifest).expect("written");
    let flow = place.flow().display().to_string();
    let output = run(&place.store(), &[&flow, "--input", r#"{"xs": 7}"#], 1);
    let told = text(&output.stderr);
    assert!(told.contains("first gave up (stop): `state.xs` is no list"), "{told}");
    // A reason that was told is not told again.
    let place = Waiting::new();
    fs::write(place.flow().join("agents/first/run.sh"), "echo broken >&2; exit 1").expect("written");
    let output = run(&place.store(), &[&place.flow().display().to_string()], 1);
    assert_eq!(text(&output.stderr).matches("broken").count(), 1, "{}", text(&output.stderr));
}

#[test]
fn warnings_are_told_before_a_run() {
    let place = Waiting::new();
    fs::write(place.flow().join("go"), "").expect("written");
    let manifest =
        format!("{}state: {{sharing: {{stategy: isolated}}}}\n", read(&place.flow().join("workflow.awp.yaml")));
    fs::write(place.flow().join("workflow.awp.yaml"), manifest).expect("written");
    let output = run(&place.store(), &[&place.flow().display().to_string(), "--run-id", "r1"], 0);
    assert!(text(&output.stderr).contains("`strategy`"), "{}", text(&output.stderr));
    assert!(text(&output.stdout).starts_with("r1: complete"));
}

#[test]
fn an_account_is_written_to_a_file_where_there_is_a_place() {
    let place = Waiting::new();
    fs::write(place.flow().join("go"), "").expect("written");
    run(&place.store(), &[&place.flow().display().to_string(), "--run-id", "r1"], 0);
    let directory = place.dir.path().display().to_string();
    for (file, code) in
        [(directory.clone(), 2), (format!("{directory}/no/such/x.svg"), 2), (format!("{directory}/x.svg"), 0)]
    {
        let shown = jackline(&place.store(), &["workflow", "show", "r1", "--format", "svg", "-o", &file]).output();
        let shown = shown.expect("started");
        assert_eq!(shown.status.code(), Some(code), "{file}: {}", text(&shown.stderr));
    }
    assert!(place.dir.path().join("x.svg").is_file() && !place.dir.path().join("no").exists());
}

#[test]
fn a_signal_ends_everybody_and_leaves_a_last_record() {
    for (name, reason) in [("-INT", "sigint"), ("-TERM", "sigterm")] {
        let place = Waiting::new();
        let child = place.begun();
        signal(&child, name);
        let output = child.wait_with_output().expect("ended");
        assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
        // The command line that it names is one that does it.
        let again = format!("--resume r1 --store {}`", place.store().display());
        assert!(text(&output.stderr).contains(&again), "{}", text(&output.stderr));
        let result: Value = serde_json::from_str(&read(&place.store().join("runs/r1/result.json"))).expect("JSON");
        assert_eq!((&result["status"], &result["reason"]), (&json!("aborted"), &json!(reason)));
        verified(&place.store(), "1 chain verified");
        assert_eq!(place.resumed()["status"], "complete");
        assert_eq!((place.ran("first"), place.ran("second")), (1, 2));
    }
}

#[test]
fn a_run_that_was_killed_is_taken_up_without_losing_a_record() {
    let place = Waiting::new();
    let mut child = place.begun();
    child.kill().expect("killed");
    child.wait().expect("ended");
    let before = jackline(&place.store(), &["log", "r1", "--format", "json"]).output().expect("started");
    let before = text(&before.stdout);
    assert_eq!(before.lines().count(), 4, "{before}");
    assert!(!before.contains("run.ended"));
    let ended = place.resumed();
    assert_eq!((&ended["status"], &ended["output"]["first"]["n"]), (&json!("complete"), &json!(7)));
    let after = jackline(&place.store(), &["log", "r1", "-n", "0", "--format", "json"]).output().expect("started");
    assert!(text(&after.stdout).starts_with(&before), "{}", text(&after.stdout));
    assert_eq!((place.ran("first"), place.ran("second")), (1, 2));
    let seen: Value = serde_json::from_str(&read(&place.flow().join("seen"))).expect("JSON");
    assert_eq!(seen["inputs"], json!({"first": {"n": 7}}));
    verified(&place.store(), "1 chain verified");
}
