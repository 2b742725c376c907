//! `pack`: what ships inside the binary, for people to read.

use crate::World;

#[test]
fn packs_are_listed_with_their_policies() {
    let world = World::empty();
    let (code, text, _) = world.run(&["pack", "list"], "");
    assert_eq!(code, Some(0));
    assert!(text.starts_with("git: nothing that git was given to keep is lost"), "{text}");
    assert!(text.contains("  deny  git/force-push "), "{text}");
    assert!(text.contains("  ask   secrets/env-files "), "{text}");
    let (_, text, _) = world.run(&["pack", "list", "--format", "json"], "");
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let names: Vec<&str> =
        value["packs"].as_array().into_iter().flatten().filter_map(|pack| pack["name"].as_str()).collect();
    assert_eq!(names, ["git", "secrets", "destructive", "supply-chain"]);
    assert_eq!(value.pointer("/packs/0/policies/0/verdict"), Some(&"deny".into()));
}

/// What is shown is a definition of its own, so that people can copy it and change it.
#[test]
fn a_pack_that_is_shown_is_a_definition() {
    let world = World::empty();
    for name in ["git", "secrets", "destructive", "supply-chain"] {
        let (code, text, _) = world.run(&["pack", "show", name], "");
        assert_eq!(code, Some(0));
        world.write("ws/jackline.yaml", &text);
        world.check(&["check"], 0, "jackline.yaml: fine\n", "");
    }
}

#[test]
fn a_pack_that_is_not_there_has_a_near_one() {
    let world = World::empty();
    world.check(
        &["pack", "show", "secret"],
        2,
        "",
        "error: there is no pack `secret`\n  help: did you mean `secrets`?\n",
    );
    world.check(
        &["pack", "show", "kubernetes"],
        2,
        "",
        "error: there is no pack `kubernetes`\n  help: `jackline pack list` shows them\n",
    );
}
