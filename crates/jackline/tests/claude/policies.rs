//! File policies at the end of a turn: what is outstanding is shown, done, promised or parked.

use jackline_rehearsal::Script;
use serde_json::{Value, json};

use super::{World, ran, sound};

const PAIRING: &str =
    "---\nname: Source/Test Pairing\nset: ['src/{path}.py', 'tests/{path}_test.py']\n---\nWrite the test.\n";
const README: &str = "---\nname: README Accuracy\ntrigger: src/**\nsafety: README.md\n---\nVerify README.md.\n";

/// A repository with a definition and this policy, all of it committed, and the program as hook.
fn with(name: &str, policy: &str) -> World {
    let world = World::new();
    world.write("jackline.yaml", "jackline: 1\n");
    world.write(&format!(".jackline/policies/{name}.md"), policy);
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "Policies"]);
    world.wire("local");
    world
}

/// The notes about policies, in order: what became of which.
fn notes(world: &World) -> Vec<(String, Value)> {
    let of =
        |record: Value| (record["kind"].as_str().unwrap_or_default().to_owned(), record["data"]["settled_by"].clone());
    let records = world.records().into_iter();
    records.filter(|record| record["kind"].as_str().is_some_and(|kind| kind.starts_with("policy."))).map(of).collect()
}

#[test]
fn a_stop_is_held_for_a_missing_test_until_it_is_written() {
    let world = with("source-tests", PAIRING);
    let script = Script::new()
        .bash("source", "mkdir -p src && echo 'x = 1' > src/calc.py")
        .say("Done.")
        .bash("test", "mkdir -p tests && echo 'import calc' > tests/calc_test.py")
        .say("Now with its test.");
    let run = world.play(script);
    sound(&run);
    ran(&run, "source");
    ran(&run, "test");
    let shown = run.model.shown_in(2);
    assert!(shown.contains("The following policies require attention:"), "{shown}");
    assert!(shown.contains("## Source/Test Pairing\nsrc/calc.py → tests/calc_test.py\n"), "{shown}");
    // The host shows an answer of a hook in two places.
    let once = shown.split("Stop hook feedback:").nth(1).and_then(|rest| rest.split("[jackline:").next());
    assert_eq!(once.map(|text| text.matches('→').count()), Some(2), "one arrow, and the way out: {shown}");
    assert_eq!(once.map(|text| text.matches("calc.py → ").count()), Some(1), "{shown}");
    assert!(world.has("tests/calc_test.py"));
    assert_eq!(
        notes(&world),
        [("policy.fired".to_owned(), json!(null)), ("policy.settled".to_owned(), json!("satisfied"))]
    );
    assert_eq!(world.git(&["diff", "--cached", "--name-only"]), "", "nothing is staged");
}

#[test]
fn a_promise_in_any_message_after_the_firing_lets_it_stop_and_the_owner_sees_it() {
    let world = with("readme", README);
    let script = Script::new()
        .bash("source", "mkdir -p src && echo 'x = 1' > src/calc.py")
        .say("Done. <promise>README Accuracy</promise>")
        .say_and_bash("<promise>README Accuracy</promise> I looked.", "look", "cat README.md")
        .say("It is still right.");
    let run = world.play(script);
    sound(&run);
    ran(&run, "look");
    assert!(run.model.shown_in(2).contains("## README Accuracy\nVerify README.md."), "{}", run.model.shown_in(2));
    assert!(
        run.notices().iter().any(|told| told.contains("the agent promised") && told.contains("README Accuracy")),
        "{:?}",
        run.notices()
    );
    assert_eq!(
        notes(&world),
        [("policy.fired".to_owned(), json!(null)), ("policy.settled".to_owned(), json!("promise"))]
    );
}

#[test]
fn parking_leaves_a_policy_outstanding_for_the_owner() {
    let world = with("readme", README);
    let script = Script::new()
        .bash("source", "mkdir -p src && echo 'x = 1' > src/calc.py")
        .say("Done.")
        .say("<park>I was told not to touch README.md</park>");
    let run = world.play(script);
    sound(&run);
    let status = String::from_utf8(world.jackline(&["policy", "status"]).stdout).expect("UTF-8");
    assert!(status.contains("queued readme: src/calc.py"), "{status}");
}

#[test]
fn only_what_changed_since_the_prompt_counts_where_a_policy_says_so() {
    let world = with("readme", &README.replace("safety: README.md", "compare_to: prompt"));
    world.write("src/before.py", "written by a person\n");
    let run = world.play(Script::new().say("Nothing to do."));
    sound(&run);
    let run =
        world.play(Script::new().bash("more", "echo x >> src/before.py").say("Done.").say("<promise>readme</promise>"));
    sound(&run);
    ran(&run, "more");
    assert!(run.model.shown_in(2).contains("## README Accuracy"), "{}", run.model.shown_in(2));
}

#[test]
fn an_agent_cannot_change_the_policies_or_the_queue() {
    let world = with("readme", README);
    let script = Script::new()
        .bash("edit", "echo '---' > .jackline/policies/readme.md")
        .bash(
            "forge",
            "mkdir -p .jackline/tmp/policy/queue && echo '{}' > .jackline/tmp/policy/queue/0123456789ab.passed.json",
        )
        .bash("clear", "jackline policy clear")
        .say("Done.");
    let run = world.play(script);
    sound(&run);
    for name in ["edit", "forge", "clear"] {
        super::refused(&run, name, &["jackline"]);
    }
    assert!(!world.has(".jackline/tmp"));
}
