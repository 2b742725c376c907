//! Feedback in a real session: the model is shown it with the call that it belongs to, and not before.

use jackline_rehearsal::Script;
use serde_json::json;

use super::{World, ran, refused, sound};

const DEFINITION: &str = r#"jackline: 1
policies: [ { rule: { tool: "@shell", command: "rm*", reason: "keep it" } } ]
feedback:
  - { static: "Stay on course.", every_n_calls: 3 }
  - { name: Guide, static: "Follow the conventions.", on_file_created: AGENTS.md, suggestions: ["read it first"] }
"#;
const COURSE: &str = "<feedback provider='Static'>\nStay on course.\n</feedback>";
const GUIDE: &str = "<feedback provider='Guide'>\nFollow the conventions.\n\n→ read it first\n</feedback>";

#[test]
fn the_model_is_shown_feedback_after_the_nth_call_and_not_before() {
    let world = World::guarded();
    world.write("jackline.yaml", DEFINITION);
    let run = world.play(
        Script::new()
            .bash("one", "echo one")
            .call("two", "Write", json!({"file_path": "{{CWD}}/AGENTS.md", "content": "be kind"}))
            .bash("three", "echo three; exit 3")
            .bash("four", "echo four")
            .call("five", "Teleport", json!({"to": "the moon"}))
            .bash("six", "rm README.md")
            .bash("seven", "echo seven")
            .say("done"),
    );
    sound(&run);
    ran(&run, "one");
    refused(&run, "six", &["keep it"]);
    assert!(world.has("README.md"));
    // A request holds the whole conversation, so the texts add up from one to the next.
    let shown = |text: &str| (0..8).map(|n| run.model.shown_in(n).matches(text).count()).collect::<Vec<_>>();
    assert_eq!(shown(COURSE), [0, 0, 0, 1, 1, 1, 2, 2], "with the failed third and the denied sixth call");
    assert_eq!(shown(GUIDE), [0, 0, 1, 1, 1, 1, 1, 1], "with the call that made the file");
    let given = |name: &str| world.records_of("feedback.given", name).len();
    assert_eq!(["one", "two", "three", "four", "five", "six", "seven"].map(given), [0, 1, 1, 0, 0, 1, 0]);
}
