//! Accounts of runs, as the program shows them.

use std::fs;

use serde_json::{Value, json};

use crate::stage::Stage;
use crate::{MANAGED, managed};

fn ran() -> Stage {
    let worker = r#"dir=$(printf '%s' "$input" | sed 's/.*"output_dir":"\([^"]*\)".*/\1/')
printf '# Report\n\nTides are <b>regular</b>.\n' > "$dir/report.md"
echo '{"text": "<script>alert(1)</script>"}'"#;
    let stage = managed("", "").script("worker", worker);
    stage.ends("complete", "complete");
    stage
}

#[test]
fn a_run_is_shown_in_every_form() {
    let stage = ran();
    let shown = stage.jackline(&["workflow", "show", "run-1"]);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    assert!(shown.out.starts_with("run run-1 of tiers: complete\n"), "{}", shown.out);
    for text in ["worker done", "DELEGATE", "COMPLETE", "passed file", "report.md (", "loops", "task: Say something."] {
        assert!(shown.out.contains(text), "{text}\n{}", shown.out);
    }
    let json: Value =
        serde_json::from_str(&stage.jackline(&["workflow", "show", "run-1", "--format", "json"]).out).unwrap();
    assert_eq!((&json["end"]["status"], &json["engine"]), (&Value::from("complete"), &Value::from("delegation_loop")));
    assert_eq!(json["deliverables"][0]["path"], "report.md");
    let steps = json["steps"].as_array().unwrap();
    assert!(steps.iter().all(|step| step["outcome"] == "done" && step["to_ms"].is_u64()), "{steps:?}");
    let svg = stage.jackline(&["workflow", "show", "run-1", "--format", "svg"]).out;
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
}

#[test]
fn a_page_is_written_to_a_file() {
    let stage = ran();
    let page = stage.flow().join("run.html");
    let file = page.display().to_string();
    let shown = stage.jackline(&["workflow", "show", "run-1", "--format", "html", "-o", &file]);
    assert_eq!((shown.code, shown.out.starts_with("wrote ")), (Some(0), true), "{}", shown.err);
    let html = fs::read_to_string(page).unwrap();
    assert!(html.starts_with("<!doctype html>") && html.contains("report.md") && !html.contains("<script"));
}

#[test]
fn runs_that_are_not_there_are_not_shown() {
    let stage = ran();
    for run in ["run-2", "../run-1", ""] {
        let shown = stage.jackline(&["workflow", "show", run]);
        assert_eq!(shown.code, Some(2), "{run}");
        assert!(shown.err.contains(&format!("there is no run `{run}`")), "{}", shown.err);
    }
}

#[test]
fn a_record_that_was_changed_is_not_shown() {
    let stage = ran();
    let mut open = vec![stage.home()];
    let mut changed = 0;
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap().flatten() {
            if entry.path().is_dir() {
                open.push(entry.path());
            } else if entry.file_name() == "audit.jsonl" {
                let text = fs::read_to_string(entry.path()).unwrap();
                fs::write(entry.path(), text.replacen("\"status\":\"complete\"", "\"status\":\"failedxx\"", 1))
                    .unwrap();
                changed += 1;
            }
        }
    }
    assert_eq!(changed, 1);
    for format in ["text", "json", "svg", "html"] {
        let shown = stage.jackline(&["workflow", "show", "run-1", "--format", format]);
        assert_eq!((shown.code, shown.out.as_str()), (Some(2), ""), "{format}");
        assert!(shown.err.contains("the record of the run `run-1` was changed"), "{}", shown.err);
    }
}

#[test]
fn names_of_files_command_no_terminal() {
    let worker = r#"dir=$(printf '%s' "$input" | sed 's/.*"output_dir":"\([^"]*\)".*/\1/')
echo some words > "$dir/$(printf 'a\302\233\342\200\256b.md')"; echo '{"text": "x"}'"#;
    let stage = managed("", "").script("worker", worker);
    stage.ends("complete", "complete");
    let shown = stage.jackline(&["workflow", "show", "run-1", "--format", "json"]).out;
    assert!(shown.contains(r"a\u009b\u202eb.md") && !shown.contains(['\u{9b}', '\u{202e}']), "{shown}");
}

#[test]
fn a_run_that_was_killed_shows_what_it_used() {
    let boss = r#"case "$input" in
*'"iteration":1,'*) echo '{"decision": "DELEGATE", "delegations": [{"worker_id": "worker"}], "usage": {"input_tokens": 10}}';;
*) while [ ! -e go ]; do sleep 0.05; done; echo '{"decision": "COMPLETE", "final_result": {"text": "done"}}';;
esac"#;
    let stage = Stage::new(&format!("{MANAGED}  run_budget: {{max_total_tokens: 900}}\n"))
        .script("boss", boss)
        .script("worker", "echo '{\"text\": \"x\", \"usage\": {\"output_tokens\": 30, \"cost_usd\": 0.25}}'");
    let budgets = || {
        let shown = stage.jackline(&["workflow", "show", "run-1", "--format", "json"]);
        let json: Value = serde_json::from_str(&shown.out).unwrap();
        let of = |name: &str| {
            let found = json["budgets"].as_array().unwrap().iter().find(|budget| budget["name"] == name).cloned();
            found.map(|budget| json!([budget["used"], budget["limit"]])).unwrap_or_default()
        };
        let names = ["agent_runs", "tokens", "cost_usd", "loops", "workers", "loop_tokens"];
        (json["end"]["status"].clone(), json["iterations"].clone(), names.map(of))
    };
    let killed = [
        json!([2.0, null]),
        json!([40.0, 900.0]),
        json!([0.25, null]),
        json!([2.0, 6.0]),
        json!([1.0, 500.0]),
        json!([40.0, 10_000_000.0]),
    ];
    stage.kill_after(stage.start(), "agent.started", 3);
    assert_eq!(budgets(), (json!(null), json!(1), killed.clone()));
    let text = stage.jackline(&["workflow", "show", "run-1"]).out;
    assert!(text.contains("not ended") && text.contains("loops                    2 of 6"), "{text}");
    // Taken up and killed once more: nothing is counted twice.
    stage.kill_after(stage.start_again(), "agent.started", 4);
    assert_eq!(budgets(), (json!(null), json!(1), killed.clone()));
    stage.file("go", "");
    assert_eq!(stage.jackline(&["workflow", "run", "flow", "--resume", "run-1"]).code, Some(0));
    // What the end says is what was counted on the way.
    let mut ended = killed;
    ended[0] = json!([3.0, null]);
    assert_eq!(budgets(), (json!("complete"), json!(2), ended));
}
