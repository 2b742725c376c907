//! The edges of a session: what the agent is told at its start, and how it ends.

use jackline_rehearsal::Script;
use jackline_rehearsal::client::Play;

use super::{World, calm, ran, refused, sound};

#[test]
fn a_session_begins_with_a_briefing_and_ends_on_record() {
    let world = World::guarded();
    let run = world.play(Script::new().say("nothing to do"));
    sound(&run);
    let first = run.model.shown_in(0);
    for line in ["commit requires: test", "no-force-push: force-push rewrites shared history"] {
        assert!(first.contains(line), "the first request does not say `{line}`");
    }
    let kinds: Vec<String> =
        world.records().iter().filter_map(|record| record["kind"].as_str().map(str::to_owned)).collect();
    for kind in ["session.started", "prompt.submitted", "stop.requested", "session.ended"] {
        assert_eq!(kinds.iter().filter(|found| *found == kind).count(), 1, "{kind}: {kinds:?}");
    }
    assert!(world.records().iter().all(|record| record["session"] == run.session()));
}

/// Wherever the hooks stand, what `init` writes is what the host obeys, and `doctor` agrees.
#[test]
fn every_wiring_guards() {
    for scope in ["local", "user", "project"] {
        let world = World::defined();
        let before = world.jackline(&["doctor"]);
        assert_eq!(before.status.code(), Some(1), "{scope}: nothing is wired yet");
        world.wire(scope);
        let doctor = world.jackline(&["doctor"]);
        assert_eq!(doctor.status.code(), Some(0), "{scope}: {}", String::from_utf8_lossy(&doctor.stdout));
        let run = world.play(Script::new().bash("secret", "echo KEY=1 > .env").bash("fine", "touch fine").say("done"));
        sound(&run);
        refused(&run, "secret", &["Path '.env' is protected by the owner."]);
        ran(&run, "fine");
        assert!(!world.has(".env") && world.has("fine"), "{scope}");
        assert_eq!(world.decided("fine"), "allow", "{scope}");
        assert_eq!(world.records_of("call.requested", "fine").len(), 1, "{scope}: judged once");
    }
}

/// The head of the record is kept where the agent cannot change it: on the person's screen.
#[test]
fn the_person_is_shown_the_records_head() {
    let world = World::guarded();
    let run = world.play(Script::new().bash("work", "touch done").say("done"));
    sound(&run);
    let shown = run.notices().join("\n");
    let stopped = world
        .records()
        .into_iter()
        .rfind(|record| record["kind"] == "decision" && record["data"]["stopped"] == "complete");
    let hash = stopped.expect("the stop was decided")["hash"].as_str().expect("a hash").to_owned();
    assert!(shown.contains(&hash), "`{shown}` does not name the head {hash}");
    assert!(!run.model.shown_to_model().contains(&hash));
}

/// A halt ends the turn; a person's next prompt lifts it.
#[test]
fn a_run_that_goes_in_circles_is_halted_until_a_person_speaks() {
    let world = World::guarded();
    let rounds =
        (1..=5).fold(Script::new(), |script, round| script.bash(&format!("round-{round}"), "echo x >> rounds"));
    let run = world.play(rounds);
    calm(&run);
    refused(&run, "round-3", &["loop/override"]);
    assert_eq!(world.decided("round-5"), "halt");
    assert_eq!(run.terminal_reason(), "hook_stopped");
    assert_eq!(world.stage.read("repo/rounds").as_deref(), Some("x\nx\n"));
    let play = Play::default().with(&["--resume", run.session()]);
    let resumed = world.play_with(Script::new().bash("other", "touch other").say("done"), &play);
    sound(&resumed);
    assert_eq!(resumed.session(), run.session());
    ran(&resumed, "other");
    assert!(world.has("other"));
}
