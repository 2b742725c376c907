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
