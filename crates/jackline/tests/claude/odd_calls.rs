//! Calls that do not go the usual way: unknown, invalid, in the background.

use jackline_rehearsal::Script;
use serde_json::json;

use super::{World, calm, ran, refused, sound};

/// The host shows such calls to no gate; only the batch's end tells of them.
#[test]
fn calls_that_no_gate_saw_are_on_record() {
    let world = World::guarded();
    let run = world.play(
        Script::new()
            .call("unknown", "Teleport", json!({"to": "the moon"}))
            .call("invalid", "Read", json!({"path": 7}))
            .say("done"),
    );
    sound(&run);
    for (name, complaint) in [("unknown", "No such tool available"), ("invalid", "InputValidationError")] {
        refused(&run, name, &[complaint]);
        assert!(world.records_of("call.requested", name).is_empty(), "no gate saw `{name}`");
        let settled = world.records_of("call.settled", name);
        assert_eq!(settled.len(), 1, "`{name}` is on record once");
        assert!(settled[0]["data"]["output"].to_string().contains(complaint), "{}", settled[0]);
    }
    let steps = |name: &str| world.records_of("decision", name)[0]["step"].clone();
    assert_eq!((steps("unknown"), steps("invalid")), (json!(1), json!(2)), "both count as calls");
    let emitted = world.records_of("decision", "unknown")[0]["data"]["emitted"].to_string();
    assert!(emitted.contains("UNKNOWN_TOOL"), "{emitted}");
}

/// A command in the background has only begun when the host calls it finished.
#[test]
fn what_runs_in_the_background_proves_nothing() {
    let world = World::guarded();
    let background = json!({"command": "./check.sh", "run_in_background": true});
    let run = world.play(
        Script::new()
            .call("background", "Bash", background)
            .bash("unproven", "git commit -q --allow-empty -m unproven")
            .bash("test", "./check.sh")
            .bash("proven", "git commit -q --allow-empty -m proven")
            .say("done"),
    );
    // The end of a background task may give the agent one more turn, which the script's default answers.
    calm(&run);
    assert_eq!(run.no_verdicts().len(), 0);
    ran(&run, "background");
    refused(&run, "unproven", &["Tool 'commit' requires: test"]);
    ran(&run, "proven");
    assert_eq!(world.git(&["log", "--format=%s", "-1"]), "proven\n");
}
