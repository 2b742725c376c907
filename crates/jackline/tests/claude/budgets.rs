//! Tokens of a real session, counted from the transcript that the host writes.

use jackline_rehearsal::Script;

use super::{World, ran, refused, sound};

#[test]
fn a_sessions_tokens_are_counted_once_a_message_and_run_out() {
    let world = World::guarded();
    world.write("jackline.yaml", "jackline: 1\nlimits: { tokens: 50 }\n");
    // The host writes its transcript in its own time: enough calls, each long enough, for it to have done so.
    let calls = ["one", "two", "three", "four", "five", "six", "seven", "eight"];
    let script = calls.iter().fold(Script::new(), |script, call| script.bash(call, &format!("sleep 0.4; echo {call}")));
    let run = world.play(script.say("done"));
    sound(&run);
    ran(&run, "one");
    refused(&run, "eight", &["Token budget exhausted"]);
    let records = world.records();
    let told: Vec<u64> = records
        .iter()
        .flat_map(|record| record["changes"].as_array().into_iter().flatten())
        .filter_map(|change| change.pointer("/metered/usage/tokens")?.as_u64())
        .filter(|tokens| *tokens > 0)
        .collect();
    // A message has 10 tokens in and up to 10 out, and several lines of the transcript carry the same message.
    let (total, messages) = (told.iter().sum::<u64>(), calls.len() as u64 + 1);
    assert!((50..=messages * 20).contains(&total), "{total} tokens of {messages} messages: {told:?}");
}
