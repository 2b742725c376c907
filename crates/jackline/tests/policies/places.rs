//! Where policies are found, and where we write: nowhere else, and never through a link.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::World;
use super::queue::{event, stop};
use super::trust::at_terminal;

const RULE: &str = "---\nname: Rule\ntrigger: src/**\n---\nDo it.\n";

fn faults(seen: &Value) -> Vec<String> {
    let text = |fault: &Value, key: &str| fault[key].as_str().unwrap_or_default().to_owned();
    let all = seen["faults"].as_array().into_iter().flatten();
    all.map(|fault| format!("{}: {}", text(fault, "file"), text(fault, "message"))).collect()
}

#[test]
fn an_empty_folder_switches_no_other_off() {
    let world = World::new();
    world.write(".deepwork/policies/rule.md", RULE);
    world.commit("policy");
    world.write("src/a.py", "1\n");
    assert_eq!(world.outstanding(), ["rule"]);
    fs::create_dir_all(world.repo(".jackline/policies")).expect("made");
    assert_eq!(world.outstanding(), ["rule"]);
    world.policy("other", "---\nname: Other\ntrigger: nowhere\n---\nDo it.\n");
    let told = faults(&world.check(&[]));
    assert!(told.iter().any(|line| line.starts_with(".deepwork/policies: the policies here are not read")), "{told:?}");
}

#[test]
fn nothing_is_made_or_taken_away_through_a_link() {
    let world = World::with("rule", RULE);
    let elsewhere = world.path("elsewhere");
    fs::create_dir_all(elsewhere.join("policy")).expect("made");
    fs::write(elsewhere.join("policy/precious"), "1").expect("written");
    symlink(&elsewhere, world.repo(".jackline/tmp")).expect("linked");
    world.write("src/a.py", "1\n");
    assert_eq!(world.outstanding(), ["rule"]);
    let there = || fs::read_dir(elsewhere.join("policy")).expect("there").count();
    assert_eq!(there(), 1, "nothing was made");
    let ran = world.run(&["policy", "clear"]);
    assert!(ran.exit != Some(0) && ran.stderr.contains("is a link"), "{ran:?}");
    assert!(elsewhere.join("policy/precious").exists());
}

#[test]
fn a_folder_outside_of_the_workspace_is_refused() {
    let world = World::new();
    fs::create_dir_all(world.path("victim/policies")).expect("made");
    for dir in ["../victim/policies".to_owned(), world.path("victim/policies").display().to_string(), ".".to_owned()] {
        world.write("jackline.yaml", &format!("jackline: 1\nfile_policies: {{dir: \"{dir}\"}}\n"));
        let ran = world.run(&["check"]);
        assert_eq!(ran.exit, Some(1), "{ran:?}");
        assert!(ran.stdout.contains("is not a folder below the workspace"), "{ran:?}");
    }
    assert!(!world.path("victim/tmp").exists());
}

#[test]
fn the_directory_around_what_we_keep_stays_its_owners() {
    let world = World::new();
    world.write("jackline.yaml", "jackline: 1\nfile_policies: {dir: pol}\n");
    world.write("pol/rule.md", "---\nname: Rule\ntrigger: 'tmp/**'\n---\nDo it.\n");
    world.commit("policy");
    world.write("tmp/mine.txt", "1\n");
    for _ in 0..2 {
        assert_eq!(world.check(&[])["outstanding"][0]["trigger_files"], json!(["tmp/mine.txt"]));
    }
    assert!(!world.repo("tmp/.gitignore").exists());
    assert!(world.git(&["status", "--porcelain", "-uall"]).contains("tmp/mine.txt"));
    assert!(!world.git(&["status", "--porcelain", "-uall"]).contains("tmp/policy"));
}

#[test]
fn patterns_are_told_from_the_top_of_the_repository() {
    let world = World::new();
    world.write("sub/jackline.yaml", "jackline: 1\n");
    world.write("sub/.jackline/policies/rule.md", "---\nname: Rule\ntrigger: [sub/src/**, docs/**]\n---\nDo it.\n");
    world.commit("policy");
    world.write("sub/src/a.py", "1\n");
    world.write("docs/a.md", "1\n");
    let ran = world.run_in(&world.repo("sub"), &["policy", "check", "--format", "json"], "");
    let seen: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    assert_eq!(seen["outstanding"][0]["trigger_files"], json!(["docs/a.md", "sub/src/a.py"]), "{seen}");
    assert!(world.repo("sub/.jackline/tmp/policy/queue").is_dir(), "what is kept lies beside the policies");
}

#[test]
fn settings_of_the_older_layout_that_are_broken_are_told() {
    let world = World::new();
    world.write(".deepwork/policies/rule.md", RULE);
    world.write("src/a.py", "1\n");
    for (text, want) in [
        ("policy: [\n", ".deepwork/config.yml: "),
        ("policy: {policies_dir: ../x}\n", "`policies_dir` names no folder of the workspace: `../x`"),
        ("policy: {output_mode: loud}\n", "`output_mode` must be `batched` or `individual`, found `loud`"),
        ("policy: {enabled: perhaps}\n", "`enabled` must be `true` or `false`"),
    ] {
        world.write(".deepwork/config.yml", text);
        let seen = world.check(&[]);
        assert!(faults(&seen).iter().any(|line| line.contains(want)), "{text}: {seen}");
        assert_eq!(super::names(&seen["outstanding"]), ["rule"], "{text}: the policies stay on");
    }
    world.write(".deepwork/config.yml", "policy: {enabled: false}\n");
    let ran = world.run(&["policy", "list"]);
    assert!(ran.stdout.contains("switched off here (`policy: {enabled: false}` in `.deepwork/config.yml`)"), "{ran:?}");
}

#[test]
fn a_policy_that_is_passed_over_for_its_name_is_told() {
    use std::os::unix::ffi::OsStrExt as _;
    let world = World::with("rule", RULE);
    world.policy("x", RULE);
    fs::rename(world.repo(".jackline/policies/x.md"), world.repo(".jackline/policies/UP.MD")).expect("renamed");
    let odd = world.repo(".jackline/policies").join(std::ffi::OsStr::from_bytes(b"bad\xff.md"));
    fs::write(odd, RULE).expect("written");
    let ran = world.run(&["policy", "list"]);
    assert_eq!(ran.exit, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("UP.MD") && ran.stdout.contains("must end in `.md`"), "{ran:?}");
    assert!(ran.stdout.contains("its name is not UTF-8"), "{ran:?}");
}

#[test]
fn policies_in_a_folder_below_are_told_of() {
    let world = World::with("rule", RULE);
    world.write(".jackline/policies/team/a.md", RULE);
    let ran = world.run(&["policy", "list"]);
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    assert!(
        ran.stdout.contains("warning: .jackline/policies/team:1: the policies in this folder are not read"),
        "{ran:?}"
    );
}

#[test]
fn a_folder_that_older_settings_name_is_protected_as_every_other() {
    let world = World::new();
    world.write("jackline.yaml", "jackline: 1\n");
    world.write(".deepwork/config.yml", "policy: {policies_dir: other}\n");
    world.write("other/rule.md", RULE);
    world.commit("policy");
    world.write("src/a.py", "1\n");
    assert_eq!(world.outstanding(), ["rule"]);
    for command in ["rm other/rule.md", "mv other z", "echo x > other/new.md", "rm -rf tmp/policy"] {
        let call = json!({ "tool_name": "Bash", "tool_input": { "command": command }, "tool_use_id": "t1" });
        let answer = super::sessions::hook(&world, "s1", "PreToolUse", call);
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{command}: {answer}");
    }
    let call = json!({ "tool_name": "Bash", "tool_input": { "command": "rm -rf tmp/mine" }, "tool_use_id": "t2" });
    let answer = super::sessions::hook(&world, "s1", "PreToolUse", call);
    assert!(!answer.to_string().contains("deny"), "{answer}");
}

#[test]
fn a_named_folder_that_is_not_there_is_told_everywhere() {
    let world = World::new();
    world.write("jackline.yaml", "jackline: 1\nfile_policies: {dir: nowhere}\n");
    for words in [&["policy", "list"], &["policy", "check"]] {
        let ran = world.run(words);
        assert_eq!(ran.exit, Some(1), "{ran:?}");
        assert!(ran.stdout.contains("nowhere:1: there is no such folder"), "{ran:?}");
        assert!(!ran.stdout.contains("no file policies here"), "{ran:?}");
    }
}

#[test]
fn policies_of_the_user_add_up_with_those_of_a_project() {
    let world = World::new();
    let settings = world.path("home/.config/jackline");
    fs::create_dir_all(&settings).expect("made");
    fs::write(settings.join("jackline.yaml"), "jackline: 1\nfile_policies: {dir: teampol}\n").expect("written");
    world.write("teampol/team.md", "---\nname: Team\ntrigger: src/**\n---\nDo it.\n");
    world.policy("own", RULE);
    world.commit("policies");
    world.write("src/a.py", "1\n");
    assert_eq!(world.outstanding(), ["team"]);
    world.write("jackline.yaml", "jackline: 1\n");
    let mut all = world.outstanding();
    all.sort();
    assert_eq!(all, ["own", "team"]);
}

#[test]
fn a_project_composes_its_own_policies_and_not_those_of_its_user() {
    let world = World::new();
    let settings = world.path("home/.config/jackline");
    fs::create_dir_all(&settings).expect("made");
    fs::write(settings.join("jackline.yaml"), "jackline: 1\nfile_policies: {dir: teampol}\n").expect("written");
    let composed =
        "jackline: 1\ncompletion: {blocks_max: 1, any: [{files: [jackline.yaml]}, {file_policies: satisfied}]}\n";
    world.write("jackline.yaml", composed);
    world.write("teampol/team.md", "---\nname: Team\ntrigger: src/**\n---\nDo it.\n");
    world.policy("own", RULE);
    world.commit("policies");
    world.write("src/a.py", "1\n");
    // Nor does it say how often theirs may hold a stop.
    for second in 0..3 {
        let stopped = event(&world, &stop("s1", second, "Done."));
        assert_eq!((&stopped["verdict"], &stopped["code"]), (&"deny".into(), &"files/outstanding".into()), "{stopped}");
        assert!(!stopped["reason"].as_str().unwrap_or_default().contains("## Rule"), "{stopped}");
    }
    let promised = event(&world, &stop("s1", 3, "<promise>team</promise>"));
    assert_eq!(promised["verdict"], "allow", "{promised}");
}

#[test]
fn commands_can_be_trusted_where_the_workspace_has_no_definition() {
    for of_user in [true, false] {
        let world = World::new();
        if of_user {
            let settings = world.path("home/.config/jackline");
            fs::create_dir_all(&settings).expect("made");
            fs::write(settings.join("jackline.yaml"), "jackline: 1\n").expect("written");
        }
        world.policy("mark", "---\nname: Mark\ntrigger: src/**\naction: {command: 'touch {repo_root}/marked'}\n---\n");
        world.write(".gitignore", "marked\n");
        world.commit("policy");
        world.write("src/a.py", "1\n");
        assert_eq!(world.outstanding(), ["mark"]);
        assert!(!world.repo("marked").exists());
        let told = at_terminal(&world, &["trust", "--yes"]);
        assert!(told.contains("runs: touch") && told.ends_with("trusted\n"), "{told}");
        assert_eq!(world.outstanding(), [""; 0]);
        assert!(world.repo("marked").exists());
        let again = at_terminal(&world, &["trust", "--yes"]);
        assert!(again.contains("trusted already"), "{again}");
    }
}

#[test]
fn a_folder_that_a_link_or_a_setting_leads_to_is_protected() {
    let denied = |world: &World, command: &str| {
        let call = json!({ "tool_name": "Bash", "tool_input": { "command": command }, "tool_use_id": "t1" });
        let answer = super::sessions::hook(world, "s1", "PreToolUse", call);
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{command}: {answer}");
    };
    let world = World::new();
    world.write("jackline.yaml", "jackline: 1\n");
    world.write("shared/rule.md", RULE);
    std::fs::create_dir(world.repo(".jackline")).expect("made");
    std::os::unix::fs::symlink("../shared", world.repo(".jackline/policies")).expect("linked");
    world.commit("policy");
    world.write("src/a.py", "1\n");
    assert_eq!(world.outstanding(), ["rule"]);
    for command in ["rm shared/rule.md", "sed -i s/a/b/ shared/rule.md", "mv shared z", "echo x > shared/new.md"] {
        denied(&world, command);
    }
    let world = World::new();
    world.write("jackline.yaml", "jackline: 1\n");
    world.write(".deepwork/config.yml", "policy: {policies_dir: other}\n");
    world.write(".deepwork/policies/rule.md", RULE);
    world.commit("policy");
    denied(&world, "mkdir other");
}

#[test]
fn a_named_folder_stays_protected_when_the_session_moves_to_another_work_tree() {
    let world = World::new();
    world.write("jackline.yaml", "jackline: 1\nfile_policies: {dir: pol}\n");
    world.write("pol/rule.md", RULE);
    world.commit("policy");
    let tree = world.path("tree");
    world.git(&["worktree", "add", "-q", &tree.display().to_string()]);
    super::sessions::hook(&world, "s1", "UserPromptSubmit", json!({ "prompt": "go" }));
    let moved = json!({
        "tool_name": "EnterWorktree", "tool_input": {}, "tool_use_id": "t1", "tool_response": { "worktreePath": tree },
    });
    super::sessions::hook(&world, "s1", "PostToolUse", moved);
    for file in [world.repo("pol/rule.md"), tree.join("pol/rule.md")] {
        let command = format!("rm {}", file.display());
        let call = json!({ "tool_name": "Bash", "tool_input": { "command": command }, "tool_use_id": "t2" });
        let answer = super::sessions::hook(&world, "s1", "PreToolUse", call);
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{command}: {answer}");
    }
}
