//! Odd places and files: what is no workflow, what cannot be read, what is huge.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use jackline_workflow::report::Validated;
use jackline_workflow::{Absent, load, picture, validate};

use crate::{case, report};

#[test]
fn nothing_at_a_path_is_told_apart() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let manifest = place.path().join("workflow.awp.yaml");
    assert_eq!(load(place.path()).err(), Some(Absent { path: manifest.clone() }));
    assert_eq!(load(&manifest).err(), Some(Absent { path: manifest }));
}

#[test]
fn a_manifest_may_be_named_itself() {
    let place = tempfile::tempdir().expect("a temporary directory");
    case::write(place.path(), &case::base());
    fs::rename(place.path().join("workflow.awp.yaml"), place.path().join("other.yaml")).expect("renamed");
    let flow = load(&place.path().join("other.yaml")).expect("a workflow");
    assert_eq!(validate(&flow).findings, []);
    assert_eq!(flow.files[0].path, "other.yaml");
}

#[test]
fn what_is_no_text_is_told() {
    let place = tempfile::tempdir().expect("a temporary directory");
    case::write(place.path(), &case::base());
    fs::write(place.path().join("agents/writer/agent.awp.yaml"), b"identity: \xff\n").expect("written");
    fs::create_dir_all(place.path().join("mcp")).expect("made");
    let pipe = Command::new("mkfifo").arg(place.path().join("mcp/pipe.py")).status().expect("started");
    assert!(pipe.success());
    let flow = load(place.path()).expect("a workflow");
    let messages: Vec<String> = validate(&flow).findings.into_iter().map(|finding| finding.message).collect();
    assert_eq!(
        messages,
        ["the file cannot be read: it is not UTF-8 at byte 10", "the file cannot be read: it is no regular file"]
    );
}

#[test]
fn links_show_nothing_from_outside() {
    let outside = tempfile::tempdir().expect("a temporary directory");
    fs::write(outside.path().join("secret"), "key: hunter2: x\n").expect("written");
    let place = tempfile::tempdir().expect("a temporary directory");
    case::write(place.path(), &case::base());
    case::write(outside.path(), &case::base());
    let at = |path: &str| place.path().join(path);
    fs::create_dir_all(at("mcp")).expect("made");
    fs::remove_file(at("agents/researcher/agent.awp.yaml")).expect("removed");
    fs::remove_dir_all(at("agents/writer")).expect("removed");
    symlink(outside.path().join("secret"), at("agents/researcher/agent.awp.yaml")).expect("linked");
    symlink(outside.path().join("agents/writer"), at("agents/writer")).expect("linked");
    fs::create_dir_all(outside.path().join("more")).expect("made");
    fs::write(outside.path().join("more/tools.py"), "@app.tool('web.x')\ndef f(): ...\n").expect("written");
    symlink(outside.path().join("more"), at("mcp/more")).expect("linked");
    let report = validate(&load(place.path()).expect("a workflow"));
    let file = "the file cannot be read: a link on the way to it leads out of the workflow";
    let directory = "`mcp/more` is not looked at: the link leads out of the workflow";
    let messages: Vec<&str> = report.findings.iter().map(|finding| finding.message.as_str()).collect();
    assert_eq!(messages, [directory, file, file]);
}

#[test]
fn names_that_are_no_text_are_told() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let place = tempfile::tempdir().expect("a temporary directory");
    case::write(place.path(), &case::base());
    for (parent, file) in [("mcp", "t.py"), ("agents", "agent.awp.yaml")] {
        let directory = place.path().join(parent).join(OsStr::from_bytes(b"\xff"));
        fs::create_dir_all(&directory).expect("made");
        fs::write(directory.join(file), "@app.tool('web.x')\ndef f(): ...\n").expect("written");
    }
    let report = validate(&load(place.path()).expect("a workflow"));
    let messages: Vec<&str> = report.findings.iter().map(|finding| finding.message.as_str()).collect();
    let want = |parent: &str| format!("`{parent}/\u{fffd}` is not looked at: its name is not UTF-8");
    assert_eq!(messages, [want("agents"), want("mcp")]);
}

#[test]
fn a_link_to_what_is_read_anyway_is_not_read_twice() {
    let place = tempfile::tempdir().expect("a temporary directory");
    case::write(place.path(), &case::base());
    fs::create_dir_all(place.path().join("mcp/real")).expect("made");
    fs::write(place.path().join("mcp/real/a.py"), "@app.tool('my.x')\ndef f(): ...\n").expect("written");
    symlink("real/a.py", place.path().join("mcp/b.py")).expect("linked");
    symlink("..", place.path().join("mcp/real/around")).expect("linked");
    let flow = load(place.path()).expect("a workflow");
    assert_eq!(validate(&flow).findings, []);
    assert_eq!(flow.tools.len(), 1);
}

/// What compares every unknown name with every known one takes minutes here.
#[test]
fn a_graph_of_broken_names_is_judged_in_time() {
    let graph: String =
        (0..3_000).map(|at| format!("    - {{id: n{at}, agent: writer, depends_on: [m{at}]}}\n")).collect();
    let fields: String = (0..3_000).map(|at| format!("    field_{at}: {{type: string}}\n")).collect();
    let shared: String = (0..3_000).map(|at| format!("no_field_{at}, ")).collect();
    let mut files = case::base();
    let first = format!("    - {{id: writer, share_output: [{shared}]}}\n");
    case::lay(&mut files, "workflow.awp.yaml", &format!("orchestration:\n  graph:\n{first}{graph}"));
    case::lay(&mut files, "agents/writer/agent.awp.yaml", &format!("output:\n  contract:\n{fields}"));
    let begun = std::time::Instant::now();
    let report = report(&files);
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
    assert_eq!(report.errors, 6_000);
    let near =
        report.findings.iter().filter(|finding| finding.help.as_ref().is_some_and(|help| help.contains("did you")));
    assert!((1..100).contains(&near.count()));
}

#[test]
fn workflows_inside_are_judged_too() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let mut files = case::base();
    let graph = "orchestration:\n  graph:\n    - id: writer\n    - {id: deep, subworkflow: workflows/deep}\n    \
                 - {id: own, subworkflow: .}\n  subworkflows:\n    - {name: x, ref: workflows/nope}\n    \
                 - {name: y, ref: \"https://example.com/y\"}\n";
    case::lay(&mut files, "workflow.awp.yaml", graph);
    let mut inner = case::base();
    case::lay(&mut inner, "workflow.awp.yaml", "awp: one\n");
    case::write(place.path(), &files);
    case::write(&place.path().join("workflows/deep"), &inner);
    let flow = load(place.path()).expect("a workflow");
    let report = validate(&flow);
    let told: Vec<(&str, &str, &str)> =
        report.findings.iter().map(|finding| (finding.rule, finding.file.as_str(), finding.message.as_str())).collect();
    let want = [
        ("R8", "workflow.awp.yaml", "the subworkflow is this workflow, or holds it"),
        ("R8", "workflow.awp.yaml", "there is no `workflows/nope/workflow.awp.yaml`"),
        ("R1", "workflows/deep/workflow.awp.yaml", "`awp` must be a semantic version, found `one`"),
    ];
    assert_eq!(told, want);
    let drawn = picture(&flow, &report).expect("drawn").to_dot();
    assert!(drawn.lines().any(|line| line.contains("label=\"deep") && line.contains("R1")), "{drawn}");
}

#[test]
fn links_inside_are_followed() {
    let place = tempfile::tempdir().expect("a temporary directory");
    case::write(place.path(), &case::base());
    fs::rename(place.path().join("agents/writer"), place.path().join("team")).expect("moved");
    symlink("../team", place.path().join("agents/writer")).expect("linked");
    fs::write(place.path().join("agents/README.md"), "no agent").expect("written");
    assert_eq!(validate(&load(place.path()).expect("a workflow")).findings, []);
}

#[test]
fn a_manifest_that_cannot_be_read_has_no_picture() {
    let place = tempfile::tempdir().expect("a temporary directory");
    fs::write(place.path().join("workflow.awp.yaml"), "[").expect("written");
    let flow = load(place.path()).expect("a workflow");
    assert!(picture(&flow, &validate(&flow)).is_none());
}

#[test]
fn findings_are_drawn_at_their_agents() {
    let mut files = case::base();
    case::lay(&mut files, "agents/writer/agent.awp.yaml", "output: {}\n");
    let place = tempfile::tempdir().expect("a temporary directory");
    case::write(place.path(), &files);
    let flow = load(place.path()).expect("a workflow");
    let drawn = picture(&flow, &validate(&flow)).expect("drawn").to_dot();
    let line = drawn.lines().find(|line| line.contains("label=\"writer")).expect("the writer is drawn");
    assert!(line.contains("R9"), "{line}");
    assert!(!drawn.lines().find(|line| line.contains("label=\"researcher")).expect("drawn").contains("R9"));
}

#[test]
fn more_findings_than_help_are_counted() {
    let graph: String = (0..10_020).map(|at| format!("    - {{id: n{at}, agent: writer, timeout: 0}}\n")).collect();
    let mut files = case::base();
    case::lay(&mut files, "workflow.awp.yaml", &format!("orchestration:\n  graph:\n{graph}"));
    let report = report(&files);
    assert_eq!((report.findings.len(), report.errors, report.omitted), (10_000, 10_020, 20));
    assert!(!report.valid());
}

/// What reads the whole line for each finding takes minutes here.
#[test]
fn many_findings_of_one_long_line_are_shown_in_time() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let mut files = case::base();
    let graph = "{id: writer}, ".repeat(9_000);
    case::lay(&mut files, "workflow.awp.yaml", &format!("orchestration:\n  graph: [{graph}]\n"));
    case::write(place.path(), &files);
    let flow = load(place.path()).expect("a workflow");
    let report = validate(&flow);
    let begun = std::time::Instant::now();
    let shown = Validated { path: "flow".to_owned(), flow, report }.human();
    assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
    assert_eq!(shown.matches("duplicate agent id `writer`").count(), 8_999);
}
