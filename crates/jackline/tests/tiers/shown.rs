//! Accounts of runs, as the program shows them.

use std::fs;

use serde_json::Value;

use crate::managed;
use crate::stage::Stage;

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
