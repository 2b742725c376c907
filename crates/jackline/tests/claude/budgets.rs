//! Tokens of a real session, counted from the transcript that the host writes.

use jackline_rehearsal::Script;

use super::{World, ran, refused, sound};

#[test]
fn a_sessions_tokens_are_counted_once_a_message_and_run_out() {
    let world = World::guarded();
    world.write("jackline.yaml", "jackline: 1\nlimits: { tokens: 50 }\n");
    let run = world.play(
        Script::new()
            .bash("one", "echo 1")
            .bash("two", "echo 2")
            .bash("six", "echo 6")
            .bash("ten", "echo 9")
            .say("done"),
    );
    sound(&run);
    ran(&run, "one");
    refused(&run, "ten", &["Token budget exhausted"]);
    let records = world.records();
    let told: Vec<u64> = records
        .iter()
        .flat_map(|record| record["changes"].as_array().into_iter().flatten())
        .filter_map(|change| change.pointer("/metered/usage/tokens")?.as_u64())
        .filter(|tokens| *tokens > 0)
        .collect();
    assert!(told.len() >= 3, "the transcript grew and was read: {told:?}");
    assert!(
        told.iter().all(|tokens| (11..=40).contains(tokens)),
        "a message has 10 tokens in and up to 10 out: {told:?}"
    );
}
