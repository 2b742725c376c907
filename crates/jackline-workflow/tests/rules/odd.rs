//! Odd places and files: what is no workflow, what cannot be read, what is huge.

use std::fs;
use std::os::unix::fs::symlink;

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
    symlink("/dev/zero", place.path().join("mcp/endless.py")).expect("linked");
    let flow = load(place.path()).expect("a workflow");
    let messages: Vec<String> = validate(&flow).findings.into_iter().map(|finding| finding.message).collect();
    assert_eq!(
        messages,
        ["the file cannot be read: it is not UTF-8 at byte 10", "the file cannot be read: it is no regular file"]
    );
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
