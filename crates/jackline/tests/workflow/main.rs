//! `jackline workflow` as people and programs meet it: exit codes, what is printed, what is on disk afterwards.

#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

#[path = "../../../jackline-workflow/tests/rules/case.rs"]
mod case;
mod running;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use case::Want;
use serde_json::Value;

fn run(place: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jackline"));
    command.arg("workflow").args(arguments).current_dir(place).env_clear().output().expect("started")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

#[track_caller]
fn check(place: &Path, arguments: &[&str], code: i32, out: &str, err: &str) {
    let output = run(place, arguments);
    assert_eq!((text(&output.stdout), text(&output.stderr)), (out.to_owned(), err.to_owned()), "{arguments:?}");
    assert_eq!(output.status.code(), Some(code), "{arguments:?}");
}

/// A directory with the base of the cases in `flow`, changed by some sections.
fn world(changed: &[(&str, &str)]) -> tempfile::TempDir {
    let place = tempfile::tempdir().expect("a temporary directory");
    let mut files = case::base();
    changed.iter().for_each(|(path, text)| case::lay(&mut files, path, text));
    case::write(&place.path().join("flow"), &files);
    place
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn told(finding: &Value) -> Want {
    let part = |key: &str| finding[key].as_str().map(str::to_owned);
    let shown = |key: &str| part(key).unwrap_or_default();
    Want {
        rule: shown("rule"),
        level: shown("level"),
        at: format!("{}:{}:{}", shown("file"), finding["line"], finding["column"]),
        pointer: shown("pointer"),
        message: shown("message"),
        help: part("help"),
    }
}

#[test]
fn every_case_finds_what_it_wants() {
    let mut complaints = Vec::new();
    for case in case::all() {
        let place = tempfile::tempdir().expect("a temporary directory");
        case::write(place.path(), &case.workflow());
        let output = run(place.path(), &["validate", ".", "--format", "json"]);
        let report = json(&output);
        let found: Vec<Want> = report["findings"].as_array().expect("a list").iter().map(told).collect();
        let valid = case.want.iter().all(|want| want.level == "warning");
        let fine = found == case.want && report["valid"] == valid && output.status.code() == Some(i32::from(!valid));
        if !fine {
            complaints.push(case.note);
        }
    }
    assert!(complaints.is_empty(), "{complaints:#?}");
}

#[test]
fn people_are_shown_the_lines() {
    let place = world(&[("workflow.awp.yaml", "awp: \"1.0\"\n"), ("agents/writer/agent.awp.yaml", "output: {}\n")]);
    check(
        place.path(),
        &["validate", "flow"],
        1,
        "error[R1]: `awp` must be a semantic version, found `1.0`
  --> flow/workflow.awp.yaml:1:6
   |
 1 | awp: \"1.0\"
   |      ^^^^^
   = help: write `1.0.0`

error[R9]: the agent has no `output.contract`
  --> flow/agents/writer/agent.awp.yaml:4:1
   |
 4 | output: {}
   | ^^^^^^
   = help: add `contract:` with the fields of the answer, each with its `type`, or with a JSON Schema

flow: not valid, 2 errors
",
        "",
    );
}

#[test]
fn what_is_valid_is_said_in_a_line() {
    let place = world(&[]);
    check(place.path(), &["validate", "flow"], 0, "flow: valid\n", "");
    check(place.path(), &["validate", "flow/workflow.awp.yaml"], 0, "flow/workflow.awp.yaml: valid\n", "");
    check(&place.path().join("flow"), &["validate"], 0, ".: valid\n", "");
    let warned = world(&[("workflow.awp.yaml", "state: {sharng: {}}\n")]);
    let output = run(warned.path(), &["validate", "flow"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).ends_with("flow: valid, 1 warning\n"), "{}", text(&output.stdout));
}

#[test]
fn where_there_is_nothing_is_told() {
    let place = world(&[]);
    check(
        place.path(),
        &["validate", "nowhere"],
        2,
        "",
        "error: there is no workflow at `nowhere`\n  help: `nowhere` is not there\n",
    );
    check(
        place.path(),
        &["validate", "flow/agents"],
        2,
        "",
        "error: there is no workflow at `flow/agents`\n  help: a workflow is a directory with a `workflow.awp.yaml`; `jackline workflow new NAME` writes one\n",
    );
}

#[test]
fn several_workflows_are_told_together() {
    let place = world(&[("workflow.awp.yaml", "awp: x\n")]);
    case::write(&place.path().join("other"), &case::base());
    let output = run(place.path(), &["validate", "other", "flow"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).starts_with("other: valid\n\nerror[R1]"), "{}", text(&output.stdout));
    let report = json(&run(place.path(), &["validate", "other", "flow", "--format", "json"]));
    assert_eq!((&report["valid"], &report["findings"][0]["workflow"]), (&false.into(), &"flow".into()));
}

#[test]
fn code_hosts_are_given_sarif() {
    let place =
        world(&[("workflow.awp.yaml", "awp: \"1\"\n"), ("mcp/odd name.py", "@app.tool(\"web.x\")\ndef f(): ...\n")]);
    let output = run(place.path(), &["validate", "flow", "--format", "sarif"]);
    assert_eq!(output.status.code(), Some(1));
    let log = json(&output);
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    assert_eq!(rules.len(), 33);
    let results = run["results"].as_array().expect("results");
    assert_eq!(results.len(), 2);
    for result in results {
        let rule = &rules[result["ruleIndex"].as_u64().expect("a number") as usize];
        assert_eq!(rule["id"], result["ruleId"]);
        assert_eq!(result["level"], "error");
    }
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "flow/workflow.awp.yaml");
    assert_eq!((&place["region"]["startLine"], &place["region"]["startColumn"]), (&1.into(), &6.into()));
    assert_eq!(results[1]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "flow/mcp/odd%20name.py");
    assert_eq!(results[0]["message"]["text"], "`awp` must be a semantic version, found `1`. Help: write `1.0.0`");
}

#[test]
fn rules_are_explained() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let output = run(place.path(), &["explain", "r6"]);
    let shown = text(&output.stdout);
    assert!(shown.starts_with("R6: The graph has no cycle\nOrchestration, error\n"), "{shown}");
    assert!(shown.contains("Good, in workflow.awp.yaml:") && shown.contains("Bad, in workflow.awp.yaml:"), "{shown}");
    assert_eq!(text(&run(place.path(), &["explain"]).stdout).lines().count(), 33);
    check(
        place.path(),
        &["explain", "R33"],
        2,
        "",
        "error: there is no rule `R33`\n  help: rules are R1 to R32, and `load`\n",
    );
}

#[test]
fn a_new_workflow_is_valid_and_nothing_is_overwritten() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let wrote = "wrote first-steps/workflow.awp.yaml\nwrote first-steps/agents/researcher/agent.awp.yaml\nwrote first-steps/agents/writer/agent.awp.yaml\n\nnow: jackline workflow validate first-steps\n";
    check(place.path(), &["new", "first-steps"], 0, wrote, "");
    check(place.path(), &["validate", "first-steps"], 0, "first-steps: valid\n", "");
    let manifest = place.path().join("first-steps/workflow.awp.yaml");
    fs::write(&manifest, "mine").expect("written");
    let again = "error: `first-steps` is there already\n  help: choose another name\n";
    check(place.path(), &["new", "first-steps"], 2, "", again);
    assert_eq!(fs::read_to_string(manifest).expect("there"), "mine");
    let output = run(place.path(), &["new", "../Up"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(!place.path().join("../Up").exists());
}

#[test]
fn the_schemas_catch_what_a_schema_can() {
    let place = tempfile::tempdir().expect("a temporary directory");
    for (file, required) in [("workflow", "awp"), ("agent", "identity")] {
        let schema = json(&run(place.path(), &["schema", file]));
        assert!(schema["required"].as_array().expect("a list").contains(&required.into()), "{file}");
    }
    let schema = json(&run(place.path(), &["schema"]));
    assert_eq!(schema["$defs"]["budget"]["properties"]["max_depth"]["maximum"], 10);
    assert_eq!(schema["$defs"]["workflow"]["properties"]["name"]["pattern"], "^[a-z][a-z0-9_-]{0,62}[a-z0-9]$");
}

#[test]
fn graphs_are_drawn_in_three_ways() {
    let place = world(&[(
        "workflow.awp.yaml",
        "orchestration:\n  graph:\n    - id: researcher\n    - {id: writer, depends_on: [{agent: researcher, when: \"x > 1\"}, nobody]}\n",
    )]);
    let drawn = |format: &str| {
        let output = run(place.path(), &["graph", "flow", "--format", format]);
        assert_eq!(output.status.code(), Some(0), "{format}");
        text(&output.stdout)
    };
    assert!(drawn("mermaid").starts_with("flowchart") && drawn("mermaid").contains("R7"));
    assert!(drawn("dot").starts_with("digraph") && drawn("dot").contains("x > 1"));
    assert!(drawn("svg").starts_with("<svg") && drawn("svg").contains("R7"));
    fs::write(place.path().join("flow/workflow.awp.yaml"), "[").expect("written");
    let output = run(place.path(), &["graph", "flow"]);
    assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(1), true));
    assert!(text(&output.stderr).contains("error[load]"));
}

#[test]
fn files_are_left_as_they_are() {
    let place = world(&[("agents/writer/agent.awp.yaml", "output: {}\n")]);
    let before = snapshot(place.path());
    for arguments in [&["validate", "flow"][..], &["graph", "flow"], &["validate", "flow", "--format", "sarif"]] {
        run(place.path(), arguments);
    }
    assert_eq!(snapshot(place.path()), before);
}

fn snapshot(place: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![place.to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(directory).expect("readable") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                found.insert(path.display().to_string(), fs::read_to_string(&path).expect("text"));
            }
        }
    }
    found
}

#[test]
fn a_path_without_a_workflow_hides_nothing_of_the_others() {
    let place = world(&[("workflow.awp.yaml", "awp: one\n")]);
    let output = run(place.path(), &["validate", "nope", "flow", "none", "--format", "json"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(json(&output)["findings"][0]["rule"], "R1");
    let told = text(&output.stderr);
    assert!(told.contains("there is no workflow at `nope`") && told.contains("nor is there one at `none`"), "{told}");
}

#[test]
fn a_pipe_is_no_run() {
    let place = tempfile::tempdir().expect("a temporary directory");
    assert!(Command::new("mkfifo").arg(place.path().join("p.json")).status().expect("started").success());
    let output = run(place.path(), &["gates", "--run", "p.json"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("it is no regular file"), "{}", text(&output.stderr));
}
