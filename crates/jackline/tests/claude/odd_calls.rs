//! Calls that do not go the usual way: unknown, invalid, in the background.

use jackline_core::tools;
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
    let watch = |command: &str| json!({"command": command, "description": "watch", "timeout_ms": 2000});
    let run = world.play(
        Script::new()
            .call("background", "Bash", background)
            .call("watch", "Monitor", watch("./check.sh"))
            .call("secret", "Monitor", watch("echo KEY=1 > .env"))
            .bash("unproven", "git commit -q --allow-empty -m unproven")
            .bash("test", "./check.sh")
            .bash("proven", "git commit -q --allow-empty -m proven")
            .say("done"),
    );
    // The end of a background task may give the agent one more turn, which the script's default answers.
    calm(&run);
    assert_eq!(run.no_verdicts().len(), 0);
    ran(&run, "background");
    ran(&run, "watch");
    refused(&run, "secret", &["Path '.env' is protected by the owner."]);
    assert!(!world.has(".env"));
    refused(&run, "unproven", &["Tool 'commit' requires: test"]);
    ran(&run, "proven");
    assert_eq!(world.git(&["log", "--format=%s", "-1"]), "proven\n");
}

/// A tool that the table does not know has no kind, no path and no shell text: it would go by every guard.
#[test]
fn every_tool_of_the_host_is_in_the_table() {
    let world = World::guarded();
    let run = world.play(Script::new().say("done"));
    sound(&run);
    let offered = run.model.asked()[0].body["tools"].as_array().expect("tools").clone();
    let offered = offered.iter().filter_map(|tool| tool["name"].as_str()).map(str::to_owned);
    let unknown: Vec<String> = run.tools().into_iter().chain(offered).filter(|name| !is_known(name)).collect();
    assert_eq!(unknown, [""; 0], "add them to `tools::TOOLS`, with what they run, read and write");
}

fn is_known(name: &str) -> bool {
    // What the host offers in place of tools that it describes only on request.
    name == "DeferredToolPlaceholder" || tools::lookup(Some("claude"), name).is_some()
}
