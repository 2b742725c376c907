//! `jackline init`: what it writes, that it writes it once, and what it refuses to touch.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::json;

use crate::terminal::ran_by_a_person;
use crate::{LOCAL, PROJECT, USER, World, is_there, ran};

#[test]
fn a_project_is_wired_and_defined() {
    let world = World::new();
    world.write("ws/Cargo.toml", "");
    let ran = world.run(&["init"]);
    ran.check(0, &["Claude Code 2.1.325", "wrote jackline.yaml (trusted)", "wrote .claude/settings.local.json"]);
    ran.check(0, &["+    \"PreToolUse\": [", "jackline doctor", "commits after `cargo test`"]);
    let (root, home, store) = (world.path("ws"), world.path("home"), world.path("home/.local/state/jackline"));
    let arguments = json!(["hook", "claude", "--store", store, "--root", root, "--home", home, "--wired", "local"]);
    let hook = &world.settings()["hooks"]["PreToolUse"][0]["hooks"][0];
    assert_eq!(
        *hook,
        json!({"type": "command", "command": world.path("bin/jackline"), "args": arguments, "timeout": 10, "onFailure": "block"})
    );
    assert_eq!(world.run(&["check"]).out, "jackline.yaml: fine\n");
    world.run(&["status"]).check(0, &["hosts       Claude Code (local settings)\n"]);
    let mut trust = world.command(&["trust"]);
    trust.env_remove("PATH");
    assert_eq!(ran_by_a_person(trust, "").out, "jackline.yaml is trusted already\n");
}

#[test]
fn a_second_time_changes_nothing() {
    let world = World::wired();
    let before = (world.files("ws"), world.files("home"));
    world.run(&["init"]).check(0, &["nothing to do"]);
    world.run(&["init", "claude", "--scope", "local"]).check(0, &["nothing to do"]);
    assert_eq!((world.files("ws"), world.files("home")), before);
}

#[test]
fn a_dry_run_shows_and_writes_nothing() {
    let world = World::new();
    let before = (world.files("ws"), world.files("home"));
    world.run(&["init", "--dry-run"]).check(0, &["+jackline: 1", "+  \"hooks\": {", "nothing was written"]);
    assert_eq!((world.files("ws"), world.files("home")), before);
    assert!(!is_there(&world.path("home/.local")), "the state directory was made");
}

#[test]
fn what_is_in_the_settings_stays() {
    let world = World::new();
    let mine =
        "{\r\n\t\"model\" : \"opus\",\r\n\t\"hooks\":{ \"PreToolUse\": [{\"matcher\":\"Bash\",\"hooks\":[]}] }\r\n}";
    world.write(LOCAL, mine);
    fs::set_permissions(world.path(LOCAL), fs::Permissions::from_mode(0o640)).expect("set");
    world.run(&["init"]).check(0, &[" \t\"model\" : \"opus\""]);
    let settings = world.settings();
    assert_eq!(
        (&settings["model"], settings["hooks"]["PreToolUse"].as_array().map(Vec::len)),
        (&json!("opus"), Some(2))
    );
    let mode = fs::metadata(world.path(LOCAL)).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    let left: Vec<_> = world.files("ws/.claude").into_iter().map(|(path, _)| path).collect();
    assert_eq!(left, [world.path(LOCAL)], "something was left beside it");
}

#[test]
fn each_scope_has_its_file_and_its_command() {
    let world = World::new();
    world.run(&["init", "--scope", "user"]).check(0, &["(user)"]);
    let user: serde_json::Value = serde_json::from_str(&world.read(USER)).expect("JSON");
    let store = world.path("home/.local/state/jackline");
    assert_eq!(
        user["hooks"]["Stop"][0]["hooks"][0]["args"],
        json!(["hook", "claude", "--store", store, "--home", world.path("home"), "--wired", "user"])
    );
    let world = World::new();
    world.run(&["init", "--scope", "project"]).check(0, &["(project)", "cannot run any tool until they install it"]);
    let text = world.read(PROJECT);
    let project: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let hook = &project["hooks"]["PreToolUse"][0]["hooks"][0];
    assert_eq!(
        (&hook["command"], &hook["args"]),
        (&json!("jackline"), &json!(["hook", "claude", "--wired", "project"]))
    );
    assert!(!text.contains(&world.path("").display().to_string()), "a path of this machine is shared");
}

#[test]
fn another_home_of_the_clients_is_known() {
    let world = World::new();
    let mut init = world.command(&["init", "claude", "--scope", "user"]);
    init.env("CLAUDE_CONFIG_DIR", world.path("home/elsewhere"));
    ran(init, "").check(0, &["wrote"]);
    assert!(is_there(&world.path("home/elsewhere/settings.json")) && !is_there(&world.path(USER)));
}

#[test]
fn a_file_that_its_owner_made_read_only_is_left_alone_and_nothing_is_written() {
    let world = World::new();
    world.write(USER, "{}\n");
    let path = world.path(USER);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).expect("rights");
    let told = world.run(&["init", "claude", "--scope", "user"]);
    told.check(2, &["settings.json` cannot be written: its owner made it read-only", "chmod u+w"]);
    assert_eq!(world.read(USER), "{}\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("rights");
    world.run(&["init", "claude", "--scope", "user"]).check(0, &["wrote"]);
    assert_eq!(fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o600);
}

#[test]
fn it_is_not_wired_twice() {
    let world = World::wired();
    for scope in ["user", "project"] {
        let told = ["wired already in `.claude/settings.local.json` (local)", "jackline uninit claude --scope local"];
        world.run(&["init", "--scope", scope]).check(2, &told);
    }
    assert!(!is_there(&world.path(USER)) && !is_there(&world.path(PROJECT)));
    let world = World::new();
    world.run(&["init", "--scope", "user"]).check(0, &[]);
    world.run(&["init"]).check(0, &["(user)", "nothing to do"]);
}

#[test]
fn an_older_wiring_is_brought_up_to_date() {
    let world = World::wired();
    world.change(LOCAL, "/bin/jackline", "/old/jackline");
    world.change(LOCAL, "\"onFailure\": \"block\"", "\"async\": false");
    world.run(&["init"]).check(0, &["-", "wrote .claude/settings.local.json"]);
    let hook = &world.settings()["hooks"]["PreToolUse"][0]["hooks"][0];
    assert_eq!((&hook["command"], &hook["onFailure"]), (&json!(world.path("bin/jackline")), &json!("block")));
}

#[test]
fn the_project_is_found_from_below() {
    let world = World::new();
    fs::create_dir_all(world.path("ws/a/b")).expect("made");
    let mut init = world.command(&["init"]);
    init.current_dir(world.path("ws/a/b"));
    ran(init, "").check(0, &[]);
    assert!(is_there(&world.path(LOCAL)) && is_there(&world.path("ws/jackline.yaml")));
    world.run(&["init", "--workspace", "a"]).check(0, &[]);
    assert!(is_there(&world.path("ws/a/.claude/settings.local.json")), "the named one is taken as it is");
}

#[track_caller]
fn check_refused(text: &str, why: &str) {
    let world = World::new();
    world.write(LOCAL, text);
    let before = (world.files("ws"), world.files("home"));
    world.run(&["init"]).check(2, &["is left alone", why, "help: "]);
    assert_eq!((world.files("ws"), world.files("home")), before, "something was written");
}

#[test]
fn settings_that_are_not_understood_are_left_alone() {
    check_refused("{ \"hooks\": ", "not valid JSON");
    check_refused("{\n  // mine\n  \"model\": \"opus\"\n}", "it has comments");
    check_refused("[]", "not a JSON object");
    check_refused("{\"hooks\": []}", "`hooks` is not an object");
    check_refused("{\"hooks\": {\"PreToolUse\": {}}}", "`hooks.PreToolUse` is not an array");
    check_refused("{\"model\": 7}", "the host refuses `model` as it is");
    check_refused("# not settings at all\n", "not valid JSON");
}

#[test]
fn settings_that_cannot_be_read_or_written_are_told() {
    let world = World::new();
    fs::create_dir_all(world.path(LOCAL)).expect("made");
    world.run(&["init"]).check(2, &["it is no regular file"]);
    let world = World::new();
    fs::create_dir_all(world.path("ws/.claude")).expect("made");
    symlink("nowhere", world.path(LOCAL)).expect("linked");
    world.run(&["init"]).check(2, &["a link that leads nowhere"]);
    let world = World::new();
    fs::create_dir_all(world.path("ws/.claude")).expect("made");
    fs::write(world.path(LOCAL), b"{\"a\": \"\xff\"}").expect("written");
    world.run(&["init"]).check(2, &["it is not UTF-8"]);
    let world = World::new();
    world.write("ws/.claude", "a file where a directory should be");
    world.run(&["init"]).check(2, &["cannot be read"]);
    assert!(!is_there(&world.path("ws/jackline.yaml")));
}

#[test]
fn a_linked_settings_file_stays_a_link() {
    let world = World::new();
    world.write("home/dotfiles/claude.json", "{}\n");
    fs::create_dir_all(world.path("ws/.claude")).expect("made");
    symlink(world.path("home/dotfiles/claude.json"), world.path(LOCAL)).expect("linked");
    world.run(&["init"]).check(0, &[]);
    assert!(fs::symlink_metadata(world.path(LOCAL)).expect("there").is_symlink());
    assert!(world.read("home/dotfiles/claude.json").contains("PreToolUse"));
}

#[test]
fn a_definition_that_is_there_is_not_touched_and_not_trusted() {
    let world = World::new();
    world.write("ws/jackline.yaml", "jackline: 1\nmode: observe\n");
    world.run(&["init"]).check(0, &["yours, left as it is"]);
    assert_eq!(world.read("ws/jackline.yaml"), "jackline: 1\nmode: observe\n");
    world.run(&["doctor"]).check(0, &["`mode: observe` counts only after `jackline trust`"]);
    world.run(&["init", "--trust"]).check(2, &["no terminal is attached"]);
    ran_by_a_person(world.command(&["init", "--trust"]), "y\n").check(0, &["Trust it?", "trusted"]);
    world.run(&["doctor"]).check(0, &["only observes"]);
}

#[test]
fn what_cannot_work_is_told_before_anything_is_written() {
    let world = World::new();
    world.run(&["init", "cluade"]).check(2, &["`cluade` is no host", "did you mean `claude`?"]);
    world.run(&["init", "emacs"]).check(2, &["these can: claude"]);
    world.run(&["init", "--scope", "team"]).check(2, &["invalid value"]);
    world.run(&["init", "--workspace", "nowhere"]).check(2, &["no directory"]);
    let mut homeless = world.command(&["init", "claude"]);
    homeless.env_remove("HOME");
    ran(homeless, "").check(2, &["no place for the state", "set HOME"]);
    let mut guarded = world.command(&["init"]);
    guarded.env("CLAUDECODE", "1");
    ran(guarded, "").check(2, &["an agent's session is around"]);
    // A file where the state directory should be: unlike missing rights, it stops root as well.
    world.write("home/.local/state", "");
    world.run(&["init"]).check(3, &["the state directory", "cannot be written", "--store DIR"]);
    assert!(!is_there(&world.path(LOCAL)) && !is_there(&world.path("ws/jackline.yaml")));
}

#[test]
fn without_a_host_it_says_so_and_a_named_one_is_wired_all_the_same() {
    let world = World::new();
    fs::remove_file(world.path("bin/claude")).expect("removed");
    fs::remove_dir(world.path("home/.claude")).expect("removed");
    world.run(&["init"]).check(2, &["no host was found", "jackline init claude"]);
    world.run(&["init", "claude"]).check(0, &["`claude` is not on PATH", "wrote .claude/settings.local.json"]);
    world.run(&["init"]).check(0, &["`claude` is not on PATH"]);
}

#[test]
fn a_definition_with_faults_and_a_store_in_the_project_are_warned_of() {
    let world = World::new();
    world.write("ws/jackline.yaml", "jackline: 1\npolicys: []\n");
    world.run(&["init"]).check(0, &["`jackline.yaml` cannot be used as it is", "help: jackline check"]);
    world.write("ws/jackline.yaml", "jackline: 1\n");
    let told = world.run(&["init", "--store", "kept"]);
    told.check(0, &["records would be kept in the project itself"]);
    assert!(!told.err.contains("cannot be used"), "{}", told.err);
    world.run(&["doctor"]).check(0, &["lies in the project itself"]);
}

#[test]
fn an_old_client_and_a_build_directory_are_warned_of() {
    let world = World::new();
    world.client("2.1.197 (Claude Code)");
    world.run(&["init"]).check(0, &["versions before 2.1.295 let a call pass when its hook fails"]);
    fs::create_dir(world.path("bin/.fingerprint")).expect("made");
    world.run(&["init"]).check(0, &["lies in a build directory"]);
}

#[test]
fn settings_that_git_would_add_are_warned_of() {
    let world = World::new();
    fs::remove_dir_all(world.path("ws/.git")).expect("removed");
    let mut git = std::process::Command::new("git");
    git.args(["init", "-q"]).current_dir(world.path("ws")).env_clear().env("PATH", "/usr/bin:/bin");
    assert!(git.status().expect("git is there").success());
    world.run(&["init"]).check(0, &["git does not ignore `.claude/settings.local.json`", ">> .gitignore"]);
    world.write("ws/.gitignore", "settings.local.json\n");
    let ran = world.run(&["init"]);
    assert!(!ran.err.contains("git does not ignore"), "{}", ran.err);
}

#[test]
fn our_server_is_registered_where_the_scope_is_and_taken_out_again() {
    for (scope, file, pointer, before) in [
        ("local", "home/.claude.json", "/projects/WS/mcpServers/jackline", "{\n  \"numStartups\": 3\n}\n"),
        (
            "user",
            "home/.claude.json",
            "/mcpServers/jackline",
            "{\n  \"mcpServers\": {\n    \"a\": { \"command\": \"b\" }\n  }\n}\n",
        ),
        ("project", "ws/.mcp.json", "/mcpServers/jackline", ""),
    ] {
        let world = World::new();
        if !before.is_empty() {
            world.write(file, before);
        }
        world.run(&["init", "claude", "--scope", scope, "--mcp"]).check(0, &["MCP server:", "wrote"]);
        let settings: serde_json::Value = serde_json::from_str(&world.read(file)).expect("JSON");
        let ws = world.path("ws").to_str().expect("UTF-8").replace('/', "~1");
        let entry = settings.pointer(&pointer.replace("WS", &ws)).unwrap_or_else(|| panic!("{settings}")).clone();
        assert_eq!((&entry["args"][0], &entry["args"][1]), (&"mcp".into(), &"serve".into()), "{entry}");
        assert_eq!(entry["command"] == "jackline", scope == "project", "shared settings name no path: {entry}");
        world.run(&["init", "claude", "--scope", scope, "--mcp"]).check(0, &["nothing to do"]);
        world.run(&["doctor"]).check(0, &["our server offers todos"]);
        ran_by_a_person(world.command(&["uninit", "claude"]), "y\n").check(0, &["the definition and the store"]);
        if before.is_empty() {
            assert!(!is_there(&world.path(file)), "{scope}");
        } else {
            assert_eq!(world.read(file), before, "{scope}");
        }
    }
}

#[test]
fn another_server_of_our_name_is_left_alone() {
    let world = World::new();
    world.write("ws/.mcp.json", r#"{"mcpServers":{"jackline":{"command":"npx"}}}"#);
    world
        .run(&["init", "claude", "--scope", "project", "--mcp"])
        .check(2, &["another server has this name", "give that server another name"]);
    assert!(!is_there(&world.path(PROJECT)), "nothing was written");
}

#[test]
fn settings_that_switch_hooks_off_are_named_while_they_are_wired() {
    let world = World::new();
    world.write(LOCAL, "{ \"disableAllHooks\": true }\n");
    let told = world.run(&["init"]);
    told.check(0, &["wrote .claude/settings.local.json"]);
    assert!(told.err.contains("`disableAllHooks` in these settings switches every hook off"), "{}", told.err);
}
