//! Runs every case of `conformance/cases` through every engine: the core alone, the runtime on each store, the real binary.
//!
//! A case is a definition, a workspace, and events with what their decisions must show; `conformance/README.md`
//! says how it is written.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says so by panicking"
)]

mod case;
mod core_alone;
mod real_binary;
mod runtime_on_store;
mod want;
mod world;

use std::fs;
use std::path::PathBuf;

use case::Case;
use world::World;

/// Something that takes lines of events and answers with lines of decisions.
trait Engine {
    fn ask(&mut self, line: &str) -> String;
    /// Forgets everything that is not kept durably, as `kill -9` would.
    fn restart(&mut self);
}

type Start = fn(&Case, &World) -> Result<Box<dyn Engine>, String>;

fn cases_dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance/cases")
}

fn run_all(engine: &str, start: Start) {
    let mut failures = Vec::new();
    let mut count = 0;
    for entry in fs::read_dir(cases_dir()).expect("the cases are there") {
        let path = entry.expect("readable").path();
        for case in case::read(&path) {
            count += 1;
            if let Err(why) = run(&case, start) {
                failures.push(format!("{}\n    {why}", case.note));
            }
        }
    }
    assert!(count >= 50, "only {count} cases were found");
    assert!(failures.is_empty(), "{engine}: {} of {count} cases failed:\n{}", failures.len(), failures.join("\n"));
}

fn run(case: &Case, start: Start) -> Result<(), String> {
    let world = World::new(case);
    let mut engine = match start(case, &world) {
        Ok(_) if case.definition_error => return Err("the definition was accepted".to_owned()),
        Err(_) if case.definition_error => return Ok(()),
        started => started?,
    };
    let mut failures = Vec::new();
    for (number, step) in case.steps.iter().enumerate() {
        if step.restart {
            engine.restart();
        }
        world.change(&step.fs);
        let line = world.line(step);
        let answer = engine.ask(&line);
        let answer: serde_json::Value =
            serde_json::from_str(&answer).map_err(|why| format!("step {number}: no JSON ({why}): {answer}"))?;
        world.keep(step, &answer);
        let wanted = world.fill(&step.want);
        if let Err(why) = want::check(&wanted, &answer) {
            failures.push(format!("step {number}: {why}\n    sent {line}\n    got {answer}"));
        }
    }
    if failures.is_empty() { world.check_after(case) } else { Err(failures.join("\n    ")) }
}

#[test]
fn core_alone() {
    run_all("core", core_alone::start);
}

#[test]
fn runtime_on_files() {
    run_all("files", runtime_on_store::on_files);
}

#[test]
fn runtime_on_memory() {
    run_all("memory", runtime_on_store::on_memory);
}

#[test]
fn real_binary() {
    run_all("binary", real_binary::start);
}

/// What agents do all day is not asked about, whichever packs are used; but for what throws commits or changes away.
#[test]
fn everyday_texts_pass_all_packs() {
    const ASKED: &[&str] = &["git reset --hard HEAD~1", "git branch -D x"];
    let packs: Vec<&str> = jackline_core::packs::PACKS.iter().map(|pack| pack.name).collect();
    let mut count = 0;
    for mut case in case::read(&cases_dir().join("shell_everyday.yaml")) {
        case.definition["use"] = serde_json::json!(packs);
        for step in &mut case.steps {
            let text = step.event.as_ref().and_then(|event| event["call"]["args"]["command"].as_str());
            if text.is_some_and(|text| ASKED.contains(&text)) {
                step.want["verdict"] = "ask".into();
            }
            count += 1;
        }
        run(&case, core_alone::start).unwrap_or_else(|why| panic!("{}: {why}", case.note));
    }
    assert!(count >= 200, "only {count} texts were found");
}

#[test]
fn notes_are_unique() {
    let mut notes = std::collections::BTreeSet::new();
    for entry in fs::read_dir(cases_dir()).expect("the cases are there") {
        for case in case::read(&entry.expect("readable").path()) {
            assert!(notes.insert(case.note.clone()), "{} stands twice", case.note);
        }
    }
}
