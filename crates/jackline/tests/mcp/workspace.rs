//! The workspace's files through our own server: what is refused rather than guessed at, and what is told of the rest.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use serde_json::{Value, json};

use super::World;
use super::client::{code, text};

fn is_error(answer: &Value) -> bool {
    answer["result"]["isError"] == json!(true)
}

#[test]
fn a_text_that_overlaps_itself_stands_more_than_once() {
    let world = World::new("jackline: 1\n");
    let file = world.path("ws/a.txt");
    fs::write(&file, "}\n}\n}\n").expect("written");
    let mut client = world.served(&[]);
    client.call("read_file", json!({"path": "a.txt"}));
    let edit = |all: bool| json!({"path": "a.txt", "old_text": "}\n}\n", "new_text": "X\n", "replace_all": all});
    let refused = client.call("edit_file", edit(false));
    assert_eq!(code(&refused), "workspace/no-match", "{refused}");
    assert!(text(&refused).contains("stands more than once"), "{refused}");
    assert_eq!(fs::read_to_string(&file).expect("there"), "}\n}\n}\n");
    assert!(!is_error(&client.call("edit_file", edit(true))));
    assert_eq!(fs::read_to_string(&file).expect("there"), "X\n}\n");
    client.leave();
}

#[test]
fn a_file_whose_name_is_no_text_is_counted_as_not_searched() {
    let world = World::new("jackline: 1\n");
    fs::write(world.path("ws").join(OsStr::from_bytes(b"bad\xff.txt")), "needle\n").expect("written");
    fs::write(world.path("ws/good.txt"), "needle\n").expect("written");
    let mut client = world.served(&[]);
    let found = client.call("search", json!({"pattern": "needle"}));
    assert_eq!(found["result"]["structuredContent"]["matches"].as_array().map(Vec::len), Some(1), "{found}");
    assert_eq!(found["result"]["structuredContent"]["files_skipped"], json!(1), "{found}");
    let found = client.call("search", json!({"pattern": "needle", "glob": "bad*"}));
    assert!(text(&found).contains("files that could not be searched to their end: 1"), "{found}");
    client.leave();
}

#[test]
fn a_path_that_is_written_as_a_directory_is_no_file() {
    let world = World::new("jackline: 1\n");
    fs::write(world.path("ws/o.txt"), "x\n").expect("written");
    fs::create_dir(world.path("ws/dir")).expect("made");
    let mut client = world.served(&[]);
    assert_eq!(code(&client.call("write_file", json!({"path": "newdir/", "content": "x"}))), "workspace/unfit");
    assert!(!world.path("ws/newdir").exists());
    for path in ["o.txt/", "o.txt/."] {
        assert_eq!(code(&client.call("read_file", json!({"path": path}))), "workspace/unfit", "{path}");
    }
    assert_eq!(code(&client.call("read_file", json!({"path": "none/"}))), "workspace/missing");
    assert!(!is_error(&client.call("list_dir", json!({"path": "dir/"}))));
    assert!(!is_error(&client.call("write_file", json!({"path": "newdir/a.txt", "content": "x"}))));
    client.leave();
}

#[test]
fn a_list_beyond_its_end_is_not_empty() {
    let world = World::new("jackline: 1\n");
    let mut client = world.served(&[]);
    let listed = client.call("list_dir", json!({"offset": 1000}));
    assert_eq!(listed["result"]["structuredContent"]["total"], json!(1), "{listed}");
    assert_eq!(text(&listed), "[none: there are 1 entries, and `offset` is beyond the last]");
    client.leave();
}

#[test]
fn what_to_do_next_is_for_programs_too() {
    let world = World::new("jackline: 1\npolicies: [ { name: no, rule: { tool: park } } ]\n");
    let mut client = world.served(&[]);
    let refused = client.call("park", json!({"reason": "x"}));
    let next = refused["result"]["structuredContent"]["suggestions"][0].as_str().unwrap_or_default();
    assert!(!next.is_empty() && text(&refused).contains(&format!("\n→ {next}\n")), "{refused}");
    client.leave();
}

#[test]
fn typed_events_are_for_programs_too() {
    let world = World::new("jackline: 1\n");
    let mut client = world.served(&[]);
    let emitted = |answer: &Value| answer["result"]["_meta"]["jackline/emitted"][0].clone();
    let nothing = client.call("search", json!({"pattern": "no such text"}));
    assert!(!is_error(&nothing) && text(&nothing) == "No matches found.", "{nothing}");
    assert_eq!(emitted(&nothing)["guidance_code"], json!("search/zero-results"), "{nothing}");
    let unknown = client.call("read_fil", json!({"path": "a"}));
    assert_eq!(
        (&emitted(&unknown)["type"], &emitted(&unknown)["nearest"][0]),
        (&json!("UNKNOWN_TOOL"), &json!("read_file"))
    );
    let unfit = client.call("read_file", json!({"path": 5}));
    assert_eq!((code(&unfit), &emitted(&unfit)["type"]), ("schema/invalid", &json!("VALIDATION_FAILED")));
    assert!(client.call("todo_list", json!({}))["result"].get("_meta").is_none(), "nothing is said of what goes well");
    client.leave();
}
