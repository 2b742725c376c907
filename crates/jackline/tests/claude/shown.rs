//! What the model is shown: a page of a long file, a cut output, and a next step where a search found nothing.

use jackline_rehearsal::Script;
use jackline_rehearsal::client::Play;
use serde_json::{Value, json};

use super::{World, calm, outcome, ran, sound};

const BOUNDED: &str = "jackline: 1\nreads: { lines_max: 5 }\noutputs: { lines_max: 4 }\n";
const GUIDANCE: &str = "No matches found; try listing the directory, check alternate naming, or broaden the filters.";

fn bounded() -> World {
    let world = World::guarded();
    world.write("jackline.yaml", BOUNDED);
    let lines: String = (1..=12).map(|n| format!("line {n}\n")).collect();
    world.write("long.txt", &lines);
    world
}

fn read(name: &str, more: &Value) -> Value {
    let mut input = json!({ "file_path": format!("{{{{CWD}}}}/{name}") });
    if let (Value::Object(input), Value::Object(more)) = (&mut input, more) {
        input.extend(more.clone());
    }
    input
}

#[test]
fn a_long_file_is_read_page_by_page() {
    let world = bounded();
    world.write("five.txt", "1\n2\n3\n4\n5\n");
    world.write("six.txt", "1\n2\n3\n4\n5\n6");
    let edit = json!({"file_path": "{{CWD}}/long.txt", "old_string": "line 9", "new_string": "line IX"});
    let run = world.play(
        Script::new()
            .call("first", "Read", read("long.txt", &json!({})))
            .call("second", "Read", read("long.txt", &json!({"offset": 6, "limit": 100})))
            .call("last", "Read", read("long.txt", &json!({"offset": 11})))
            .call("five", "Read", read("five.txt", &json!({})))
            .call("six", "Read", read("six.txt", &json!({})))
            .call("edit", "Edit", edit)
            .say("done"),
    );
    sound(&run);
    let shown = |call: &str| outcome(&run, call).text;
    assert!(shown("first").starts_with("1\tline 1\n"), "{}", shown("first"));
    let note = |rest: &str| format!("[lines_shown: 5, lines_remaining: {rest}]");
    assert!(shown("first").ends_with(&note("7, has_more: true, next_offset: 6")), "{}", shown("first"));
    assert!(shown("second").starts_with("6\tline 6\n"), "{}", shown("second"));
    assert!(shown("second").ends_with(&note("2, has_more: true, next_offset: 11")), "{}", shown("second"));
    assert!(!shown("last").contains("lines_shown") && shown("last").contains("line 12"), "{}", shown("last"));
    assert!(!shown("five").contains("lines_shown"), "{}", shown("five"));
    assert!(shown("six").ends_with(&note("1, has_more: true, next_offset: 6")), "{}", shown("six"));
    ran(&run, "edit");
}

#[test]
fn what_is_printed_is_cut_and_an_empty_search_gets_a_next_step() {
    let world = bounded();
    let run = world.play(
        Script::new()
            .bash("printed", "seq 9")
            .bash("grep", "grep -rn absent-text src 2>/dev/null; true")
            .bash("nothing", "grep -n absent-text README.md")
            .bash("found", "grep -n small README.md")
            .say("done"),
    );
    sound(&run);
    let cut = "1\n2\n3\n4\n[lines_shown: 4, lines_remaining: 5, has_more: true]";
    assert_eq!(outcome(&run, "printed").text, cut);
    assert!(!run.model.shown_in(2).contains(GUIDANCE), "a text that does more than search");
    assert!(run.model.shown_in(3).contains(GUIDANCE), "a search and nothing besides");
}

/// Asking for a page must not switch off the person's own permission prompts.
#[test]
fn a_page_is_no_approval() {
    let world = bounded();
    let play = Play { permission_mode: "default".to_owned(), ..Play::default() };
    let script = Script::new().call("outside", "Read", json!({"file_path": "/etc/hostname"})).say("done");
    let run = world.play_with(script, &play);
    calm(&run);
    assert_eq!(run.permission_denials(), ["Read"]);
}
