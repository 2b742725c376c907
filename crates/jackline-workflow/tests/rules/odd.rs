//! Odd places and files: what is no workflow, what cannot be read, what is huge.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

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
    let want = "the file cannot be read: a link on the way to it leads out of the workflow";
    assert_eq!(report.findings.iter().map(|finding| finding.message.as_str()).collect::<Vec<_>>(), [want; 3]);
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
