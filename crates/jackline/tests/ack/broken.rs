//! The kit finds out an adapter that does not enforce: here the real one's answers are spoilt on their way to the host.

use jackline_rehearsal::install;

use super::judge::{Outcome, judge};
use super::rig::{CLAUDE, CODEX, GEMINI, QWEN, Rig};
use super::scenario;
use super::world::World;

/// Plays a scenario with a spoilt guard.
fn spoilt(rig: &'static Rig, how: &str, name: &str) -> Outcome {
    let scenario = scenario::named(name);
    let world = World::of(&scenario, rig);
    let odd = install::odd_guard().unwrap_or_else(|why| panic!("{why}"));
    world.spoil(how, &odd);
    let run = world.play(&scenario);
    judge(&scenario, &world, &run)
}

#[track_caller]
fn found_out(rig: &'static Rig, how: &str, name: &str, because: &str) {
    let Outcome { word, complaints } = spoilt(rig, how, name);
    assert_eq!(word, "not obeyed", "a guard that {how} came through `{name}` on {}", rig.title);
    assert!(complaints.iter().any(|told| told.contains(because)), "{complaints:#?}");
}

#[test]
fn an_adapter_that_denies_nothing() {
    found_out(&CLAUDE, "denies-nothing", "deny_with_reason", "`forbidden.txt` holds");
}

#[test]
fn an_adapter_that_holds_no_stop() {
    found_out(&CLAUDE, "denies-nothing", "task_completion_blocks_early_stop", "the model was not shown");
}

#[test]
fn an_adapter_that_gives_no_reason() {
    found_out(&CLAUDE, "gives-no-reason", "deny_with_reason", "the model was not told `markers are not left here`");
}

#[test]
fn an_adapter_that_drops_feedback() {
    found_out(
        &CLAUDE,
        "drops-advice",
        "feedback",
        "the model was not shown `the tide turns at six` with the outcome of `second`",
    );
}

/// The kit reads three more languages of models; it finds the same out in each.
#[test]
fn adapters_of_hosts_that_speak_other_languages() {
    for rig in [&CODEX, &GEMINI, &QWEN] {
        found_out(rig, "denies-nothing", "deny_with_reason", "`forbidden.txt` holds");
        found_out(rig, "gives-no-reason", "deny_with_reason", "the model was not told `markers are not left here`");
        found_out(rig, "drops-advice", "feedback", "the model was not shown `the tide turns at six`");
    }
}

/// The spoiling itself changes nothing.
#[test]
fn an_adapter_that_is_passed_on_as_it_is() {
    let outcome = spoilt(&CLAUDE, "nothing", "deny_with_reason");
    assert_eq!((outcome.word, outcome.complaints.as_slice()), ("obeyed", &[][..]));
}
