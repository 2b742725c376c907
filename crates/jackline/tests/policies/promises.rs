//! The agent's word: when it counts, and for what.

use super::{README, World};

fn fired() -> World {
    let world = World::with("readme", README);
    world.write("src/a.py", "1\n");
    world
}

#[test]
fn a_promise_settles_what_fired_before_it() {
    let world = fired();
    assert_eq!(world.outstanding(), ["readme"]);
    let file = world.transcript("I looked. <promise>readme accuracy</promise>", None);
    let seen = world.check(&["--transcript", &file]);
    assert_eq!(seen["settled"][0]["settled_by"], "promise", "{seen}");
    assert_eq!(world.queued(), ["passed.json"]);
    assert_eq!(world.outstanding(), [""; 0], "it stays settled");
    world.write("src/a.py", "2\n");
    assert_eq!(
        super::names(&world.check(&["--transcript", &file])["outstanding"]),
        ["readme"],
        "for that content only"
    );
}

#[test]
fn a_promise_before_the_firing_is_none() {
    let world = fired();
    let file = world.transcript("<promise>readme</promise>", Some("2020-01-01T00:00:00Z"));
    for _ in 0..2 {
        assert_eq!(super::names(&world.check(&["--transcript", &file])["outstanding"]), ["readme"]);
    }
    world.transcript("<promise>readme</promise>", Some("2999-01-01T00:00:00Z"));
    assert_eq!(super::names(&world.check(&["--transcript", &file])["outstanding"]), [""; 0]);
}

#[test]
fn a_transcript_that_is_not_there_is_told() {
    let ran = fired().run(&["policy", "check", "--transcript", "gone.jsonl"]);
    assert_eq!(ran.exit, Some(2));
    assert!(ran.stderr.contains("there is no transcript"), "{ran:?}");
}
