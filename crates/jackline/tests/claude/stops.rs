//! The end of a turn: held until it is proven, left honestly, and never for ever.

use jackline_rehearsal::{Run, Script};
use serde_json::{Value, json};

use super::{World, ran, sound};

/// How the stops of a session were decided, in order.
fn stops(world: &World, run: &Run) -> Vec<Value> {
    let mut records = world.records();
    records.retain(|record| record["session"] == run.session());
    let mut asked = false;
    let mut stops = Vec::new();
    for record in records {
        match record["kind"].as_str() {
            Some("stop.requested") => asked = true,
            Some("decision") if asked => {
                asked = false;
                let data = &record["data"];
                stops.push(data.get("stopped").unwrap_or(&data["verdict"]).clone());
            }
            _ => {}
        }
    }
    stops
}

fn told(run: &Run, text: &str) -> bool {
    run.notices().iter().any(|notice| notice.contains(text))
}

#[test]
fn a_stop_is_held_until_the_file_is_there() {
    let world = World::new();
    world.write("jackline.yaml", "jackline: 1\ncompletion: { files: [report.md] }\n");
    world.wire("local");
    let run = world.play(Script::new().say("Done.").bash("write", "echo findings > report.md").say("Now it is done."));
    sound(&run);
    ran(&run, "write");
    let briefing = run.model.shown_in(0);
    assert!(briefing.contains("before you stop: report.md must exist"), "{briefing}");
    assert!(briefing.contains("<park>why</park>"), "{briefing}");
    let shown = run.model.shown_in(1);
    assert!(shown.contains("<blocker>\n1 required output file(s) not found: report.md\n</blocker>"), "{shown}");
    assert!(shown.contains("end your turn with `<park>why</park>`"), "{shown}");
    assert!(world.has("report.md"));
    assert_eq!(stops(&world, &run), [json!("deny"), json!("complete")]);
    let listed = String::from_utf8(world.jackline(&["sessions"]).stdout).expect("UTF-8");
    assert!(listed.contains("complete"), "{listed}");
}

#[test]
fn a_parked_session_ends_at_once_and_says_so() {
    let world = World::new();
    world.write("jackline.yaml", "jackline: 1\ncompletion: { files: [report.md] }\n");
    world.wire("local");
    let run = world.play(Script::new().say("I cannot. <park>the deploy key is missing</park>"));
    sound(&run);
    assert!(!world.has("report.md"));
    assert_eq!(stops(&world, &run), [json!("parked")]);
    assert!(told(&run, "the agent parked: the deploy key is missing"), "{:?}", run.notices());
    let log = String::from_utf8(world.jackline(&["log"]).stdout).expect("UTF-8");
    assert!(log.contains("parked: the deploy key is missing"), "{log}");
}

#[test]
fn an_agent_that_never_gets_there_is_let_go_before_the_host_gives_up() {
    let world = World::new();
    world.write("jackline.yaml", "jackline: 1\ncompletion: { files: [report.md] }\n");
    world.wire("local");
    let script = (0..7).fold(Script::new(), |script, turn| script.say(&format!("Done, I say ({turn}).")));
    let run = world.play(script);
    sound(&run);
    let mut want = vec![json!("deny"); 6];
    want.push(json!("incomplete"));
    assert_eq!(stops(&world, &run), want);
    assert!(told(&run, "it is incomplete: 1 required output file(s) not found: report.md"), "{:?}", run.notices());
}

#[test]
fn a_command_that_fails_holds_the_stop_and_one_that_passes_lets_it_go() {
    let world = World::new();
    // Longer than the hook gives itself: the deadline comes later while a command runs.
    let run_it = "sh, -c, 'sleep 6; grep fixed state.txt'";
    let definition = format!("jackline: 1\ncompletion: {{ command: {{ run: [{run_it}], timeout: 30s }} }}\n");
    world.write("jackline.yaml", &definition);
    world.write("state.txt", "broken\n");
    world.wire("local");
    let untrusted = world.play(Script::new().say("Done.").say("<park>the command is not trusted</park>"));
    sound(&untrusted);
    let shown = untrusted.model.shown_in(1);
    assert!(shown.contains("it was skipped: the definition that names it is not trusted"), "{shown}");
    world.trust();
    let run = world.play(Script::new().say("Done.").bash("fix", "echo fixed > state.txt").say("Done."));
    sound(&run);
    ran(&run, "fix");
    let shown = run.model.shown_in(1);
    assert!(shown.contains("does not pass: it exited with 1."), "{shown}");
    assert_eq!(stops(&world, &run), [json!("deny"), json!("complete")]);
}

#[test]
fn a_sub_agents_stop_is_held_only_where_the_definition_says_so() {
    let world = World::new();
    world.write("jackline.yaml", "jackline: 1\ncompletion: { files: [sub.md], subagents: true }\n");
    world.wire("local");
    let task = json!({"description": "write", "prompt": "write", "subagent_type": "general-purpose",
                      "run_in_background": false});
    let sub = Script::new().say("sub done").bash("sub-write", "echo x > sub.md").say("sub really done");
    let run = world.play(Script::new().call("task", "Agent", task).say("done").subagent(sub));
    sound(&run);
    ran(&run, "sub-write");
    assert_eq!(stops(&world, &run), [json!("deny"), json!("complete"), json!("complete")]);
}
