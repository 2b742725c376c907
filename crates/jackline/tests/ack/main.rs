//! The conformance kit: one set of scenarios, played on every real host, with the real program as its guard.
//!
//! What each host does is compared with what was measured before (`conformance/ack/measured/`). `cargo xtask ack` plays
//! all scenarios on all hosts, or one (`JACKLINE_ACK=full`, or its name); a plain run plays all of them on some hosts and a
//! smoke on the others.
//! `JACKLINE_UPDATE=1` keeps what is measured. How it works: `docs/internals/rehearsal.md`.

#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]
#![expect(clippy::indexing_slicing, reason = "records are JSON: a missing member is null")]

mod broken;
mod judge;
#[path = "../records/mod.rs"]
mod records;
mod rig;
mod scenario;
mod table;
mod world;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

use judge::{Outcome, judge};
use rig::{RIGS, Rig};
use scenario::Scenario;
use table::Outcomes;
use world::World;

/// Scenarios of one host at a time; how many programs run at all is the rehearsal's to say.
const WORKERS: usize = 3;

/// Where the scenarios are, and what was measured.
fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/ack")
}

/// Plays one scenario on a host.
fn played(scenario: &Scenario, rig: &'static Rig) -> Outcome {
    let world = World::of(scenario, rig);
    let run = world.play(scenario);
    judge(scenario, &world, &run)
}

/// Plays scenarios side by side.
fn all_played(scenarios: Vec<Scenario>, rig: &'static Rig) -> Vec<(Scenario, Outcome)> {
    let (left, done) = (Mutex::new(scenarios), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(scenario) = { left.lock().expect("whole").pop() } {
                    let outcome = played(&scenario, rig);
                    done.lock().expect("whole").push((scenario, outcome));
                }
            });
        }
    });
    done.into_inner().expect("whole")
}

/// Examines a host: everything that must be obeyed is, and everything measured is as it was.
#[track_caller]
fn examine(host: &str) {
    let rig = RIGS.iter().find(|rig| rig.host == host).expect("a rig");
    let mut scenarios = scenario::all();
    scenarios.retain(|scenario| match std::env::var("JACKLINE_ACK").as_deref() {
        Ok("full") => true,
        Ok(name) => scenario.name == name,
        Err(_) => rig.in_full || scenario.smoke,
    });
    assert!(!scenarios.is_empty(), "no scenario of that name");
    scenarios.retain(|scenario| rig.stays || scenario.prompts().is_empty());
    scenarios.retain(|scenario| rig.approving.is_some() || !scenario.approved);
    let played = all_played(scenarios, rig);
    let outcomes: Outcomes =
        played.iter().map(|(scenario, outcome)| (scenario.name.clone(), outcome.word.to_owned())).collect();
    if std::env::var_os("JACKLINE_UPDATE").is_some() {
        table::write(rig, &outcomes);
    }
    let before = table::read(rig);
    let mut complaints = Vec::new();
    for (scenario, outcome) in &played {
        let was = before.get(&scenario.name).map_or("nothing", String::as_str);
        let excused = rig.cannot.iter().any(|(name, _)| *name == scenario.name);
        let as_it_must = if excused { outcome.word == "not obeyed" } else { outcome.complaints.is_empty() };
        if was != outcome.word || !as_it_must {
            let told = outcome.complaints.join("\n    ");
            complaints.push(format!("{}: {}, and `{was}` was kept\n    {told}", scenario.name, outcome.word));
        }
    }
    assert!(complaints.is_empty(), "{} {}:\n  {}", rig.title, rig.version, complaints.join("\n  "));
}

/// One test for each host, called by its name on our command line.
mod examined {
    #[test]
    fn claude() {
        super::examine("claude");
    }

    #[test]
    fn codex() {
        super::examine("codex");
    }

    #[test]
    fn opencode() {
        super::examine("opencode");
    }

    #[test]
    fn gemini() {
        super::examine("gemini");
    }

    #[test]
    fn qwen() {
        super::examine("qwen");
    }

    #[test]
    fn copilot() {
        super::examine("copilot");
    }
}

/// What may befall a guard, and the word by which doctor tells it.
const MISHAPS: [(&str, &str); 7] = [
    ("guard_gone", "missing"),
    ("guard_crashes", "crashes"),
    ("guard_dies", "crashes"),
    ("guard_killed", "crashes"),
    ("guard_hangs", "hangs"),
    ("guard_babbles", "no answer"),
    ("guard_empty", "empty"),
];

/// What doctor says of a host's failing hooks is what was measured of them.
#[test]
fn doctor_foretells_what_becomes_of_a_call_whose_guard_broke() {
    for rig in RIGS {
        let world = World::of(&scenario::named("guard_gone"), rig);
        let told = String::from_utf8(world.jackline(&["doctor"]).stdout).expect("UTF-8");
        let open = told.split(&format!("{} fails open: ", rig.title)).nth(1).unwrap_or_default();
        let when = open.split([';', '\n']).next().unwrap_or_default();
        let measured = table::read(rig);
        for (scenario, word) in MISHAPS {
            let passed = measured.get(scenario).map(|outcome| outcome == "passed");
            assert_eq!(passed, Some(when.contains(word)), "{}: {scenario}; doctor says `{when}`", rig.title);
        }
    }
}

/// Where a project's own hooks are passed over, nobody is asked: doctor must say so there, and nowhere else.
#[test]
fn doctor_foretells_whether_the_projects_settings_count_where_the_host_is_started_below() {
    let mut scenario = scenario::named("deny_with_reason");
    scenario.workspace.insert(format!("{BELOW}/.keep"), String::new());
    let wirings = RIGS.iter().map(|rig| (rig, "project")).chain([(&RIGS[0], "local")]);
    let seen = wirings.map(|(rig, scope)| {
        let world = World::wired(&scenario, rig, &["init", rig.host, "--scope", scope]);
        world.trust_folder();
        let told = String::from_utf8(world.jackline_in(BELOW, &["doctor"]).stdout).expect("UTF-8");
        let run = world.play_in(&scenario, Some(BELOW));
        assert!(!run.timed_out, "{}: {}", rig.title, run.stderr);
        let asks = !world.stage.has(&format!("repo/{BELOW}/forbidden.txt"));
        assert!(world.stage.has(&format!("repo/{BELOW}/allowed.txt")), "{}: {}", rig.title, run.stderr);
        assert_eq!(told.contains("does not read it where it is started in this directory"), !asks, "{told}");
        (rig.host, scope, asks)
    });
    let want = [
        ("claude", "project", false),
        ("codex", "project", true),
        ("opencode", "project", true),
        ("gemini", "project", false),
        ("copilot", "project", true),
        ("qwen", "project", false),
        ("claude", "local", true),
    ];
    assert_eq!(seen.collect::<Vec<_>>(), want);
}

/// A directory of the repository.
const BELOW: &str = "pkg";

#[test]
fn scenarios_are_called_by_different_names() {
    let all = scenario::all();
    let names: BTreeSet<&str> = all.iter().map(|scenario| scenario.name.as_str()).collect();
    assert_eq!(names.len(), all.len());
    assert!(all.iter().any(|scenario| scenario.smoke) && all.iter().all(|scenario| !scenario.about.is_empty()));
}
