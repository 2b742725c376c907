//! The edges of a session: what the agent is told at its start, and how it ends.

use jackline_rehearsal::Script;

use super::{World, sound};

#[test]
fn a_session_begins_with_a_briefing_and_ends_on_record() {
    let world = World::guarded();
    let run = world.play(Script::new().say("nothing to do"));
    sound(&run);
    let first = run.model.shown_in(0);
    for policy in ["tested", "no-force-push"] {
        assert!(first.contains(policy), "the first request does not name `{policy}`");
    }
    let kinds: Vec<String> =
        world.records().iter().filter_map(|record| record["kind"].as_str().map(str::to_owned)).collect();
    for kind in ["session.started", "prompt.submitted", "stop.requested", "session.ended"] {
        assert_eq!(kinds.iter().filter(|found| *found == kind).count(), 1, "{kind}: {kinds:?}");
    }
    assert!(world.records().iter().all(|record| record["session"] == run.session()));
}
