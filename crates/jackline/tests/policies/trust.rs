//! Commands of policies run only after the owner trusted them as they are.

use super::World;

fn with_command() -> World {
    let world = World::new();
    world.write("jackline.yaml", "jackline: 1\n");
    world.write("mark.sh", "#!/bin/sh\ntouch marked\n");
    world.write(".gitignore", "marked\n");
    world.policy("mark", "---\nname: Mark\ntrigger: src/**\naction: {command: 'sh mark.sh'}\n---\n");
    world.commit("policy");
    world.write("src/a.py", "1\n");
    world
}

/// What `jackline trust` remembers once a person agreed.
fn trust(world: &World) -> String {
    at_terminal(world, &["trust", "--yes"])
}

/// What a command prints that asks on a terminal.
pub(crate) fn at_terminal(world: &World, words: &[&str]) -> String {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_jackline"));
    command.args(words).current_dir(world.path("repo")).env_clear().env("HOME", world.path("home")).env("USER", "dev");
    let (_person, terminal) = jackline_rehearsal::terminal().expect("a terminal");
    let output = command.stdin(terminal).output().expect("ran");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn an_untrusted_command_is_skipped_aloud_and_runs_once_it_is_trusted() {
    let world = with_command();
    let seen = world.check(&[]);
    let text = seen["text"].as_str().expect("a text");
    assert!(text.contains("it was skipped: `.jackline/policies/mark.md` is not trusted"), "{text}");
    assert!(!world.repo("marked").exists());
    let told = trust(&world);
    assert!(told.contains("runs: sh mark.sh") && told.contains(".jackline/policies/mark.md"), "{told}");
    assert_eq!(world.check(&[])["settled"][0]["settled_by"], "command");
    assert!(world.repo("marked").exists());
}

#[test]
fn what_changed_since_is_not_trusted() {
    let world = with_command();
    trust(&world);
    world.write("mark.sh", "#!/bin/sh\ntouch marked # more\n");
    let text = world.check(&[])["text"].as_str().expect("a text").to_owned();
    assert!(text.contains("`mark.sh` changed since it was trusted"), "{text}");
    world.write("mark.sh", "#!/bin/sh\ntouch marked\n");
    world.policy("mark", "---\nname: Mark\ntrigger: src/**\naction: {command: 'sh mark.sh x'}\n---\n");
    let text = world.check(&[])["text"].as_str().expect("a text").to_owned();
    assert!(text.contains("`.jackline/policies/mark.md` changed since it was trusted"), "{text}");
    assert!(!world.repo("marked").exists());
}

#[test]
fn a_script_below_the_root_is_trusted_by_its_place() {
    for command in ["{repo_root}/tools/mark.sh {file}", "sh {repo_root}/tools/mark.sh {file}"] {
        let world = with_command();
        world.write("tools/mark.sh", "#!/bin/sh\ntouch marked\n");
        let runnable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(world.repo("tools/mark.sh"), runnable).expect("set");
        world.policy("mark", &format!("---\nname: Mark\ntrigger: src/**\naction: {{command: '{command}'}}\n---\n"));
        world.commit("a script");
        world.write("src/b.py", "1\n");
        let told = trust(&world);
        assert!(told.contains("with: tools/mark.sh (sha256:"), "{told}");
        assert_eq!(world.check(&[])["settled"][0]["settled_by"], "command", "{command}");
        assert!(world.repo("marked").exists());
        world.write("tools/mark.sh", "#!/bin/sh\ntouch marked # more\n");
        world.write("src/b.py", "2\n");
        let text = world.check(&[])["text"].as_str().expect("a text").to_owned();
        assert!(text.contains("`tools/mark.sh` changed since it was trusted"), "{text}");
    }
}

#[test]
fn a_file_that_an_option_names_is_trusted_by_its_content() {
    let world = with_command();
    world.write("tools/lint.sed", "s/a/a/\n");
    world.policy("mark", "---\nname: Mark\ntrigger: src/**\naction: {command: 'cat --config tools/lint.sed'}\n---\n");
    world.policy("make", "---\nname: Make\ntrigger: src/**\naction: {command: 'make -f tools/Makefile lint'}\n---\n");
    world.write("tools/Makefile", "lint:\n\ttrue\n");
    world.commit("policies");
    world.write("src/b.py", "1\n");
    let told = trust(&world);
    assert!(told.contains("with: tools/Makefile (sha256:") && told.contains("with: tools/lint.sed (sha256:"), "{told}");
    world.write("tools/Makefile", "lint:\n\ttouch marked\n");
    let text = world.check(&[])["text"].as_str().expect("a text").to_owned();
    assert!(text.contains("`tools/Makefile` changed since it was trusted"), "{text}");
    assert!(!world.repo("marked").exists());
    let call = serde_json::json!({ "tool_name": "Bash", "tool_input": { "command": "echo > tools/Makefile" }, "tool_use_id": "t1" });
    let answer = super::sessions::hook(&world, "s1", "PreToolUse", call);
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{answer}");
}
