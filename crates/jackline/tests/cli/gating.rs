//! `workflow gates`: whether a run is complete, by what it left behind.

use crate::World;

/// A run that declares a report.
const RUN: &str = r##"{"task": "write a report", "output_dir": "out", "workspace_dir": "ws", "final_result": {"summary": "grew by XX%"},
 "plan": {"subtasks": [{"id": "s1", "required_outputs": ["report.md", "data.csv"]}]}}"##;

#[test]
fn a_run_is_complete_when_no_gate_rejects_it() {
    let world = World::empty();
    world.write("ws/runs/run.json", &RUN.replace("XX%", "7%"));
    world.write("ws/runs/out/report.md", &"A sentence that says something of the year. ".repeat(20));
    world.write("ws/runs/out/data.csv", "id,name\n1,a\n");
    let wanted = "\
does not apply critique
passed         deliverable_presence
passed         placeholder
passed         file
passed         deliverable
passed         structural_integrity
does not apply eval
the run is complete
";
    world.check(&["workflow", "gates", "--run", "runs/run.json"], 0, wanted, "");
}

#[test]
fn every_gate_says_what_it_found() {
    let world = World::empty();
    world.write("ws/run.json", RUN);
    world.write("ws/out/data.csv", "");
    let wanted = "\
does not apply critique
rejected       deliverable_presence: declared deliverables are missing or empty
               - `report.md` is not there
               - `data.csv` is empty
rejected       placeholder: placeholders stand where results should be
               - `result.summary` line 1: `XX` in `grew by XX%`
rejected       file: files are broken, or only stand in for the real ones
               - `data.csv`: is empty
rejected       deliverable: the task asks for a file and none was made
               - the task asks for `report`, and no file of the output directory has 512 bytes
does not apply structural_integrity
does not apply eval
the run is not complete
";
    world.check(&["workflow", "gates", "--run", "run.json"], 1, wanted, "");
    let (code, stdout, _) = world.run(&["workflow", "gates", "--run", "run.json", "--format", "json"], "");
    let judged: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!((code, &judged["complete"]), (Some(1), &serde_json::json!(false)));
    let presence = serde_json::json!({
        "gate": "deliverable_presence", "passed": false, "applicable": true, "blocking": true,
        "reason": "declared deliverables are missing or empty", "source": "required_outputs",
        "missing": ["report.md"], "empty": ["data.csv"],
        "findings": ["`report.md` is not there", "`data.csv` is empty"],
    });
    assert_eq!(judged["gates"][1], presence);
}

#[test]
fn a_run_that_cannot_be_read_is_no_judgement() {
    let world = World::empty();
    world.write("ws/run.json", r#"{"gates": {"placeholder": "warn"}}"#);
    let wanted = "\
error: `run.json` says nothing that gates could judge: `gates.placeholder` is `warn`, which no gate of that name can be
  help: it holds `task`, `output_dir`, `workspace_dir`, `plan`, `final_result`, `critique` and `evaluation`
";
    world.check(&["workflow", "gates", "--run", "run.json"], 2, "", wanted);
    let (code, stdout, stderr) = world.run(&["workflow", "gates", "--run", "absent.json"], "");
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    assert!(stderr.starts_with("error: cannot read `absent.json`: "), "{stderr}");
}
