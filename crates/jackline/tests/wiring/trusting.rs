//! `jackline trust` for a definition with commands: what will run is shown, and its scripts are remembered.

use crate::terminal::ran_by_a_person;
use crate::{Ran, World, ran};

const DEFINITION: &str = "jackline: 1\ncompletion: {command: {run: [sh, scripts/check.sh]}}\n";

fn stop(world: &World) -> Ran {
    let stop = r#"{"event":"stop.requested","session":"s","message":"Done."}"#;
    ran(world.command(&["eval"]), &format!("{stop}\n"))
}

fn trust(world: &World) -> Ran {
    ran_by_a_person(world.command(&["trust"]), "y\n")
}

#[test]
fn what_will_run_is_shown_and_runs_as_it_was_shown() {
    let world = World::new();
    world.write("ws/jackline.yaml", DEFINITION);
    world.write("ws/scripts/check.sh", "touch ran\n");
    stop(&world).check(0, &["\"verdict\":\"deny\"", "the definition that names it is not trusted", "jackline trust"]);
    trust(&world)
        .check(0, &["  runs: sh scripts/check.sh\n", "  with: scripts/check.sh (sha256:", "Trust it?", "trusted"]);
    assert!(!world.path("ws/ran").exists(), "it ran before its time");
    stop(&world).check(0, &["\"verdict\":\"allow\"", "\"stopped\":\"complete\""]);
    assert!(world.path("ws/ran").exists());
    trust(&world).check(0, &["is trusted already"]);
    world.write("ws/scripts/check.sh", "true\n");
    stop(&world).check(0, &["\"verdict\":\"deny\"", "`scripts/check.sh` changed since it was trusted"]);
    trust(&world).check(0, &["Trust it?", "trusted"]);
    stop(&world).check(0, &["\"stopped\":\"complete\""]);
}

#[test]
fn init_asks_for_trust_in_commands_that_would_not_run() {
    let world = World::new();
    world.write("ws/jackline.yaml", DEFINITION);
    world.write("ws/scripts/check.sh", "true\n");
    world.run(&["init"]).check(0, &["do not run: nobody trusted it", "jackline trust", "wrote"]);
    ran_by_a_person(world.command(&["init"]), "n\n").check(0, &["Trust it?", "nothing to do"]);
    ran_by_a_person(world.command(&["init"]), "y\n").check(0, &["Trust it?", "trusted", "nothing to do"]);
    let again = world.run(&["init"]);
    again.check(0, &["nothing to do"]);
    assert!(!again.err.contains("nobody trusted"), "{}", again.err);
    stop(&world).check(0, &["\"stopped\":\"complete\""]);
}
