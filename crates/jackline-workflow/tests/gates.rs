//! Completion gates over real directories: what each rejects and passes, and that nothing unverified passes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

use std::fs;
use std::path::Path;

use jackline_workflow::gates::{Gate, Run, judge, look};
use serde_json::{Value, json};

/// Judges a run whose directories hold these files; a path ending in `/` is a directory.
fn judged(files: &[(&str, &[u8])], run: Value) -> Value {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path(), files);
    judged_in(dir.path(), run)
}

fn fill(dir: &Path, files: &[(&str, &[u8])]) {
    for (path, bytes) in files {
        let path = dir.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

fn judged_in(dir: &Path, mut run: Value) -> Value {
    for (key, name) in [("output_dir", "out"), ("workspace_dir", "ws")] {
        run.as_object_mut().unwrap().entry(key).or_insert(json!(name));
    }
    let run = Run::read(run.to_string().as_bytes()).unwrap();
    judge(&run, &look(&run, dir)).to_json()
}

fn gate<'a>(judged: &'a Value, name: &str) -> &'a Value {
    judged["gates"].as_array().unwrap().iter().find(|gate| gate["gate"] == name).unwrap()
}

/// Exactly these gates reject, and so the run is complete or not.
#[track_caller]
fn rejects(judged: &Value, wanted: &[&str]) {
    let gates = judged["gates"].as_array().unwrap();
    let rejecting: Vec<&str> =
        gates.iter().filter(|gate| gate["passed"] == json!(false)).map(|gate| gate["gate"].as_str().unwrap()).collect();
    assert_eq!(rejecting, wanted, "{judged:#}");
    assert_eq!(judged["complete"], json!(wanted.is_empty()));
}

fn requiring(paths: &[&str]) -> Value {
    json!({"plan": {"subtasks": [{"id": "s1", "required_outputs": paths}]}})
}

#[test]
fn all_gates_speak_in_their_order() {
    let judged = judged(&[], json!({}));
    let names: Vec<&str> =
        judged["gates"].as_array().unwrap().iter().map(|gate| gate["gate"].as_str().unwrap()).collect();
    let wanted =
        ["critique", "deliverable_presence", "placeholder", "file", "deliverable", "structural_integrity", "eval"];
    assert_eq!(names, wanted);
    assert_eq!(names, Gate::ALL.map(Gate::name));
    rejects(&judged, &[]);
    assert_eq!(gate(&judged, "eval")["applicable"], json!(false));
}

#[test]
fn declared_files_are_there_and_not_empty() {
    let files: &[(&str, &[u8])] =
        &[("out/a.md", b"text"), ("out/b.md", b""), ("out/dir/x.md", b"x"), ("ws/inputs/i.md", b"i")];
    let report = judged(files, requiring(&["a.md", "inputs/i.md", "b.md", "c.md", "dir"]));
    rejects(&report, &["deliverable_presence", "file"]);
    let presence = gate(&report, "deliverable_presence");
    assert_eq!(presence["missing"], json!(["c.md", "dir"]));
    assert_eq!(presence["empty"], json!(["b.md"]));
    assert_eq!(presence["source"], "required_outputs");
    assert_eq!(presence["findings"][0], "`b.md` is empty");
    rejects(&judged(files[..1].iter().as_slice(), requiring(&["a.md"])), &[]);
}

#[test]
fn deliverables_named_in_words_count_when_none_are_listed() {
    let run =
        json!({"plan": {"subtasks": [{"success_criteria": "saves _output_dir/report.md", "required_outputs": []}]}});
    let report = judged(&[], run.clone());
    rejects(&report, &["deliverable_presence"]);
    assert_eq!(gate(&report, "deliverable_presence")["source"], "success_criteria");
    assert_eq!(gate(&report, "deliverable_presence")["missing"], json!(["report.md"]));
    rejects(&judged(&[("out/report.md", b"done")], run), &[]);
}

#[test]
fn nothing_outside_of_the_run_counts() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path(), &[("elsewhere/secret.md", b"there"), ("out/a.md", b"a"), ("other_run/b.md", b"b")]);
    std::os::unix::fs::symlink("../elsewhere/secret.md", dir.path().join("out/link.md")).unwrap();
    std::os::unix::fs::symlink("../other_run", dir.path().join("out/dir")).unwrap();
    let report =
        judged_in(dir.path(), requiring(&["a.md", "../elsewhere/secret.md", "link.md", "dir/b.md", "/etc/passwd"]));
    let presence = gate(&report, "deliverable_presence");
    assert_eq!(presence["missing"], json!(["../elsewhere/secret.md", "link.md", "dir/b.md", "/etc/passwd"]));
    assert!(presence["findings"].to_string().contains("outside of the run's directories"));
    rejects(&report, &["deliverable_presence", "placeholder", "file"]);
    let file = gate(&report, "file")["findings"].to_string();
    assert!(file.contains("`link.md` cannot be verified: it leads out of the run's directories"), "{file}");
}

#[test]
fn placeholders_in_results_and_files_reject() {
    let report =
        judged(&[("out/report.md", b"# Report\n\nGrew by XX%.\n")], json!({"final_result": {"summary": "fine"}}));
    rejects(&report, &["placeholder"]);
    assert_eq!(gate(&report, "placeholder")["files"], json!(["report.md"]));
    assert_eq!(gate(&report, "placeholder")["findings"], json!(["`report.md` line 3: `XX` in `Grew by XX%.`"]));
    rejects(&judged(&[], json!({"final_result": {"summary": "TODO"}})), &["placeholder"]);
    for text in ["# Report\n\n* TODO\n", "# TODO", "#TODO", "* TODO: write summary", "-- TBD", "// TODO"] {
        rejects(&judged(&[], json!({"final_result": {"report_md": text}})), &["placeholder"]);
    }
    rejects(&judged(&[], json!({"final_result": {"code": "# TODO: later\nx = 1"}})), &[]);
    let wide: Vec<u8> = "\u{feff}TODO".encode_utf16().flat_map(u16::to_le_bytes).collect();
    rejects(&judged(&[("out/a.txt", &wide)], requiring(&["a.txt"])), &["placeholder"]);
    rejects(&judged(&[("out/a.txt", &wide[2..])], requiring(&["a.txt"])), &["placeholder", "file"]);
    rejects(&judged(&[("out/ci.yml", b"os: ${{ matrix.os }}\n")], requiring(&["ci.yml"])), &[]);
    rejects(&judged(&[("ws/outputs/a.txt", b"lorem ipsum")], json!({})), &["placeholder"]);
    rejects(&judged(&[("ws/notes.txt", b"TODO")], json!({})), &[]);
    // Code may hold marks of its own in comments, and only declared code is searched.
    rejects(&judged(&[("out/a.py", b"# TODO: later\nx = 1\n")], requiring(&["a.py"])), &[]);
    rejects(&judged(&[("out/a.py", b"x = 'your_value'\n")], requiring(&["a.py"])), &["placeholder"]);
    rejects(&judged(&[("out/a.py", b"x = 'your_value'\n")], json!({})), &[]);
}

#[test]
fn declared_files_of_any_suffix_are_searched() {
    let latin: &[u8] = b"Umsatz: TODO\nna\xefve\n";
    for name in ["report.log", "main.py", "data.xml", "report"] {
        rejects(&judged(&[(&format!("out/{name}"), latin)], requiring(&[name])), &["placeholder"]);
        rejects(&judged(&[(&format!("out/{name}"), b"TODO\0 TODO")], requiring(&[name])), &["placeholder", "file"]);
        rejects(&judged(&[(&format!("out/{name}"), b"na\xefve\n")], requiring(&[name])), &[]);
    }
    let mut long = b"a line of a log\n".repeat(2_200_000);
    long.extend(b"the rest is TODO\n");
    let report = judged(&[("out/report.log", &long)], requiring(&["report.log"]));
    rejects(&report, &["placeholder", "file"]);
    assert!(gate(&report, "file")["findings"].to_string().contains("more than 33554432 bytes"), "{report:#}");
    // What holds no text is what it is; and nobody declared the others.
    rejects(&judged(&[("out/model.bin", b"\0\x01XX \xff{{ a }}")], requiring(&["model.bin"])), &[]);
    rejects(&judged(&[("out/tool", b"\x7fELF\x02\0 XX \xff")], requiring(&["tool"])), &[]);
    rejects(&judged(&[("out/model.bin", b"TODO")], requiring(&["model.bin"])), &["placeholder"]);
    rejects(&judged(&[("out/report.log", &long)], json!({})), &[]);
}

#[test]
fn a_closed_comment_excuses_nothing_behind_it() {
    let html = b"<!-- x --><p>Revenue: TODO</p>\n";
    rejects(&judged(&[("out/a.html", html)], requiring(&["a.html"])), &["placeholder"]);
    rejects(&judged(&[("out/a.html", b"<!-- TODO --><p>Revenue: 7</p>\n")], requiring(&["a.html"])), &[]);
}

#[test]
fn a_run_that_ended_otherwise_is_not_complete() {
    for (status, complete) in [("complete", true), ("partial", false), ("failed", false), ("aborted", false)] {
        let run = json!({"ended": {"status": status, "reason": "why"}});
        let report = judged(&[], run.clone());
        assert_eq!((&report["complete"], &report["ended"]["status"]), (&json!(complete), &json!(status)));
        let run = Run::read(run.to_string().as_bytes()).unwrap();
        let told = judge(&run, &look(&run, Path::new("/"))).human();
        assert_eq!(
            told.contains(&format!("the run ended {status}: why\nthe run is not complete\n")),
            !complete,
            "{told}"
        );
    }
    assert!(Run::read(br#"{"ended": {"status": "fine"}}"#).is_err());
}

#[test]
fn broken_files_reject() {
    let mut tiny = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0".to_vec();
    tiny.resize(2_000, 0);
    tiny.extend(b"IEND\xaeB\x60\x82");
    rejects(&judged(&[("out/chart.png", &tiny)], json!({})), &["file"]);
    rejects(&judged(&[("out/report.pdf", b"")], json!({})), &["file"]);
    rejects(&judged(&[("out/data.csv", b"\n")], json!({})), &["file"]);
    rejects(&judged(&[("out/.hidden", b""), ("out/pkg/__init__.py", b"")], json!({})), &[]);
    let report = judged(&[("out/data.csv", b"id,name\n")], json!({}));
    rejects(&report, &[]);
    assert_eq!(gate(&report, "file")["notes"], json!(["`data.csv`: has a header and no rows"]));
}

#[test]
fn a_task_that_asks_for_a_file_leaves_one() {
    let task = json!({"task": "Draw a chart of the results"});
    rejects(&judged(&[], task.clone()), &["deliverable"]);
    rejects(&judged(&[("out/notes.txt", b"short")], task.clone()), &["deliverable"]);
    rejects(&judged(&[("ws/outputs/long.txt", &[b'x'; 600])], task.clone()), &["deliverable"]);
    rejects(&judged(&[("out/long.txt", &[b'x'; 512])], task), &[]);
    let report = judged(&[], json!({"task": "Draw a chart", "gates": {"deliverable": "warn"}}));
    assert_eq!((&report["complete"], &gate(&report, "deliverable")["passed"]), (&json!(true), &json!(false)));
    assert_eq!(gate(&report, "deliverable")["blocking"], json!(false));
}

#[test]
fn documents_hang_together() {
    let text = format!("{}\n\n**Figure 1:** growth\n", "A sentence of some length. ".repeat(30));
    rejects(&judged(&[("out/report.md", text.as_bytes())], json!({})), &["structural_integrity"]);
    let mended = format!("{text}\nSee Figure 1.\n");
    rejects(&judged(&[("out/report.md", mended.as_bytes())], json!({})), &[]);
}

#[test]
fn critics_and_evaluations_have_their_say() {
    let critique =
        |scores: Value| json!({"critique": {"enabled": true, "min_score_to_complete": 0.6, "scores": scores}});
    rejects(&judged(&[], critique(json!([0.5, 0.6]))), &["critique"]);
    rejects(&judged(&[], critique(json!([0.5, 0.7]))), &[]);
    rejects(&judged(&[], critique(json!([0.9, "good"]))), &["critique"]);
    rejects(&judged(&[], critique(json!([]))), &[]);
    rejects(&judged(&[], critique(json!([0.6, 0.6, 0.6]))), &[]);
    rejects(&judged(&[], critique(json!([3, 2]))), &["critique"]);
    rejects(&judged(&[], critique(json!([5, -3]))), &["critique"]);
    let eval = |score: Value| json!({"evaluation": {"enabled": true, "score": score, "thresholds": {"accept": 0.8, "retry": 0.6, "fail": 0.3}}});
    for (score, wanted, action) in [
        (json!(0.6), &[][..], Value::Null),
        (json!(0.59), &["eval"], json!("retry_with_repair")),
        (json!(0.3), &["eval"], json!("retry_with_repair")),
        (json!(0.29), &["eval"], json!("fail_workflow")),
        (Value::Null, &["eval"], json!("retry_with_repair")),
        (json!("0.9"), &["eval"], json!("retry_with_repair")),
        (json!(7), &["eval"], json!("retry_with_repair")),
    ] {
        let report = judged(&[], eval(score.clone()));
        rejects(&report, wanted);
        assert_eq!(gate(&report, "eval")["action"], action, "{score}");
    }
}

#[test]
fn what_cannot_be_read_is_not_verified() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path(), &[("out/report.md", b"fine"), ("out/sub/a.md", b"fine")]);
    fs::set_permissions(dir.path().join("out/report.md"), fs::Permissions::from_mode(0o000)).unwrap();
    std::os::unix::fs::symlink("nowhere", dir.path().join("out/dangling")).unwrap();
    let report = judged_in(dir.path(), json!({}));
    rejects(&report, &["placeholder", "file"]);
    assert!(gate(&report, "file")["findings"].to_string().contains("`dangling` cannot be verified: it leads nowhere"));
}

#[test]
fn a_run_without_directories_has_no_deliverables() {
    let run = json!({"output_dir": null, "critique": null, "evaluation": {"score": null}, "plan": {"subtasks": [{"required_outputs": ["a.md"]}]}});
    let run = Run::read(run.to_string().as_bytes()).unwrap();
    let report = judge(&run, &look(&run, Path::new("."))).to_json();
    rejects(&report, &["deliverable_presence"]);
}

#[test]
fn runs_that_say_nothing_usable_are_refused() {
    for (text, wanted) in [
        ("[]", "a run is a JSON object"),
        ("{\"task\": 7}", "`task` must be a text, found `7`"),
        (
            "{\"plan\": {\"subtasks\": [{\"required_output\": [\"x.md\"]}]}}",
            "nobody knows `plan.subtasks[0].required_output`; did you mean `required_outputs`?",
        ),
        ("{\"evaluation\": []}", "`evaluation` must be an object, found `[]`"),
        ("{\"evaluation\": {\"thresholds\": []}}", "`evaluation.thresholds` must be an object, found `[]`"),
        (
            "{\"critique\": {\"min_score_to_complete\": \"0.6\"}}",
            "`critique.min_score_to_complete` must be a number, found `\"0.6\"`",
        ),
        ("{\"plan\": {\"subtasks\": [7]}}", "`plan.subtasks[0]` must be an object, found `7`"),
        (
            "{\"critique\": {\"min_score_to_complete\": -1}}",
            "`critique.min_score_to_complete` must lie between 0 and 1",
        ),
        ("{\"evaluaton\": {\"enabled\": true}}", "nobody knows `evaluaton`; did you mean `evaluation`?"),
        (
            "{\"gates\": {\"placeholder\": \"warn\"}}",
            "`gates.placeholder` is `warn`, which no gate of that name can be",
        ),
        ("{\"gates\": {\"plaice\": \"warn\"}}", "`gates.plaice` is `warn`, which no gate of that name can be"),
        (
            "{\"evaluation\": {\"thresholds\": {\"retry\": 0.9}}}",
            "`thresholds` must satisfy 1 >= accept >= retry >= fail >= 0",
        ),
    ] {
        assert_eq!(Run::read(text.as_bytes()).unwrap_err().to_string(), wanted);
    }
}
