//! `jackline doctor`: green where all is well, red for each way of breaking it, and no trace of its own.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use serde_json::{Value, json};

use crate::terminal::ran_by_a_person;
use crate::{LOCAL, PROJECT, USER, World, ran};

#[test]
fn a_wired_project_is_fine() {
    let world = World::wired();
    let before = (world.files("ws"), world.files("home"));
    let told = world.run(&["doctor"]);
    told.check(
        0,
        &["2.1.325", "asked about 12 events", "refuses, passes and fails closed", "3 policies, trusted", "all is fine"],
    );
    assert_eq!(told.err, "");
    assert_eq!((world.files("ws"), world.files("home")), before, "it changed something");
    assert_eq!(fs::read_dir(world.path("tmp")).expect("listed").count(), 0, "it left something behind");
    let told: Value = serde_json::from_str(&world.run(&["doctor", "--format", "json"]).out).expect("JSON");
    assert_eq!(told["fine"], json!(true));
    assert!(told["findings"].as_array().expect("a list").iter().all(|found| found["level"] != "fail"));
}

#[test]
fn every_scope_can_be_fine() {
    for scope in ["user", "project"] {
        let world = World::new();
        world.run(&["init", "--scope", scope]).check(0, &[]);
        world.run(&["doctor"]).check(0, &[&format!("({scope}): asked about 12 events"), "fails closed", "all is fine"]);
    }
}

/// Wires a project by these words and looks at it from a package in it: the exit code, what is told there, and at the top.
#[track_caller]
fn check_below(is_repository: bool, init: &[&str], code: i32, below: &str, top: &str) {
    let world = World::new();
    fs::create_dir_all(world.path("ws/pkg")).expect("made");
    if is_repository {
        world.write("ws/.git/HEAD", "ref: refs/heads/main\n");
    } else {
        fs::remove_dir_all(world.path("ws/.git")).expect("it was one");
    }
    let wired = world.run(init);
    wired.check(0, &[]);
    let mut doctor = world.command(&["doctor"]);
    doctor.current_dir(world.path("ws/pkg"));
    ran(doctor, "").check(code, &[below]);
    world.run(&["doctor"]).check(0, &[top, "all is fine"]);
    let passed_over = "does not read these settings where it is started in a directory below";
    assert_eq!(wired.err.contains(passed_over), code == 1, "{}", wired.err);
    let status = |words: &[&str]| {
        let mut status = world.command(words);
        status.current_dir(world.path("ws/pkg"));
        ran(status, "").out
    };
    assert_eq!(status(&["status"]).contains("which it does not read where you are"), code == 1);
    let told: Value = serde_json::from_str(&status(&["status", "--format", "json"])).expect("JSON");
    assert_eq!(told["hosts"][0]["here"], json!(code == 0), "{told}");
}

/// What the client does is measured where the real one is played (`ack`).
#[test]
fn settings_that_do_not_count_in_a_package_are_red_there() {
    let (here, below) = ("where it is started in this directory", "where it is started in a directory below");
    check_below(true, &["init", "--scope", "project"], 1, here, below);
    check_below(true, &["init", "--scope", "local"], 0, "all is fine", "asked about 12 events");
    check_below(false, &["init", "--scope", "local"], 1, here, below);
    check_below(true, &["init", "--scope", "user"], 0, "all is fine", "asked about 12 events");
    check_below(true, &["init", "--scope", "project"], 1, "then `jackline init claude --scope local`", below);
    check_below(false, &["init", "--scope", "project"], 1, "then `jackline init claude --scope user`", below);
}

/// As the real client was seen to take the values.
#[test]
fn a_switch_that_is_off_silences_nobody() {
    let world = World::wired();
    for variable in ["CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE", "CLAUDE_CODE_RESTRICTED"] {
        for (value, code) in
            [("1", 1), ("true", 1), ("", 0), ("0", 0), ("false", 0), ("FALSE", 0), ("no", 0), ("off", 0)]
        {
            let mut doctor = world.command(&["doctor"]);
            doctor.env(variable, value);
            assert_eq!(ran(doctor, "").code, Some(code), "{variable}={value}");
        }
    }
}

/// The client takes another repository inside for a project of its own, while definitions are found from there upwards.
#[test]
fn a_repository_inside_is_not_asked_by_the_settings_around_it() {
    let world = World::wired();
    world.write("ws/.git/HEAD", "ref: refs/heads/main\n");
    world.write("ws/inner/.git/HEAD", "ref: refs/heads/main\n");
    let there = |words: &[&str]| {
        let mut command = world.command(words);
        command.current_dir(world.path("ws/inner"));
        ran(command, "")
    };
    there(&["doctor"]).check(1, &["no settings hold our hooks"]);
    there(&["status"]).check(0, &["which it does not read where you are"]);
}

#[test]
fn exceptions_that_cannot_be_listed_are_named() {
    let world = World::wired();
    world.write("home/.local/state/jackline/exceptions", "");
    let told = world.run(&["status"]);
    assert!(
        told.code != Some(0) && told.err.contains("jackline/exceptions/") && told.err.contains("cannot be listed"),
        "{}",
        told.err
    );
}

/// Breaks a wired project in one way; the failure that must be told.
#[track_caller]
fn check_red(breaking: impl FnOnce(&World), told: &str) {
    let world = World::wired();
    breaking(&world);
    let seen = world.run(&["doctor"]);
    seen.check(1, &[told, "help: ", "not fine"]);
    let seen: Value = serde_json::from_str(&world.run(&["doctor", "--format", "json"]).out).expect("JSON");
    assert_eq!(seen["fine"], json!(false));
    let failed = |found: &&Value| found["level"] == "fail" && found["text"].as_str().unwrap_or_default().contains(told);
    let failed = seen["findings"].as_array().expect("a list").iter().find(failed).expect("it is a failure");
    assert!(failed["remedy"].as_str().is_some_and(|remedy| !remedy.is_empty()), "{failed}");
}

/// The same by a replacement in the settings.
#[track_caller]
fn check_red_settings(from: &str, to: &str, told: &str) {
    check_red(|world| world.change(LOCAL, from, to), told);
}

#[test]
fn settings_that_let_something_pass_are_red() {
    check_red(|world| world.write(LOCAL, "{}"), "no settings hold our hooks");
    check_red_settings(", \"onFailure\": \"block\"", "", "lacks `onFailure");
    check_red_settings("\"timeout\": 10", "\"timeout\": 1", "less than the hook may take");
    check_red_settings("\"PostToolBatch\"", "\"Other\"", "not asked about PostToolBatch");
    check_red_settings("{ \"hooks\": [", "{ \"matcher\": \"Bash\", \"hooks\": [", "only for some calls (`matcher`)");
    check_red_settings("\"type\": \"command\"", "\"type\": \"command\", \"async\": true", "runs in the background");
    check_red_settings(
        "\"type\": \"command\"",
        "\"type\": \"command\", \"if\": \"Bash(ls)\"",
        "only for some calls (`if`)",
    );
    check_red_settings("{\n  \"hooks\"", "{\n  \"disableAllHooks\": true,\n  \"hooks\"", "`disableAllHooks` switches");
    check_red_settings("{\n  \"hooks\"", "{\n  \"permissions\": 5,\n  \"hooks\"", "the client refuses `permissions`");
    check_red_settings("\"Stop\": [", "\"Stop\": [ 7,", "`hooks.Stop[].hooks` is not an array");
}

#[test]
fn a_hook_in_a_shell_is_red() {
    check_red(
        |world| {
            let (root, home) = (world.path("ws"), world.path("home"));
            let store = home.join(".local/state/jackline");
            let args = json!(["hook", "claude", "--store", store, "--root", root, "--home", home, "--wired", "local"]);
            let args = format!(", \"args\": {}", args.to_string().replace("\",\"", "\", \""));
            world.change(LOCAL, &args, "");
            world.change(LOCAL, "/bin/jackline\"", "/bin/jackline hook claude\"");
        },
        "runs in a shell",
    );
}

#[test]
fn other_settings_that_switch_hooks_off_or_are_broken_are_red() {
    check_red(|world| world.write(USER, "{\"disableAllHooks\": true}"), "(user): `disableAllHooks` switches");
    check_red(|world| world.write(PROJECT, "{\"disableAllHooks\": 1}"), "(project): `disableAllHooks` switches");
    check_red(|world| world.write(LOCAL, "{ oops"), "the client passes over it");
    check_red(|world| world.write(USER, "// mine\n{}"), "it has comments");
    check_red(|world| world.write(USER, &world.read(LOCAL)), "everything is judged 2 times");
}

#[test]
fn hooks_of_a_form_that_the_client_may_leave_out_are_red() {
    for (from, to, member) in [
        ("\"timeout\": 10", "\"timeout\": \"10\"", "timeout"),
        ("\"timeout\": 10", "\"timeout\": 10, \"statusMessage\": 7", "statusMessage"),
        ("\"timeout\": 10", "\"timeout\": 10, \"shell\": \"zork\"", "shell"),
    ] {
        check_red(
            |world| world.change(LOCAL, from, to),
            &format!("has a `{member}` of a form that the client may refuse"),
        );
    }
    check_red_settings("\"--wired\", \"local\"", "\"--wired\", \"user\"", "our hooks lack `--wired local`");
}

#[test]
fn a_program_that_does_not_guard_is_red() {
    check_red(|world| world.change(LOCAL, "/bin/jackline", "/old/jackline"), "is not there or cannot be run");
    check_red_settings("\"--root\"", "\"--rot\"", "does not refuse what it must");
    check_red(
        |world| {
            world.script("other/jackline", "exit 0");
            world.change(LOCAL, "/bin/jackline", "/other/jackline");
        },
        "does not refuse what it must: exit code 0, no words",
    );
    check_red(
        |world| {
            let deny = r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}'"#;
            world.script("other/jackline", deny);
            world.change(LOCAL, "/bin/jackline", "/other/jackline");
        },
        "refuses what it should pass",
    );
    check_red(
        |world| {
            let real = world.path("bin/jackline");
            let text = format!("{} \"$@\" || exit 0", real.display());
            world.script("other/jackline", &text);
            world.change(LOCAL, "/bin/jackline", "/other/jackline");
        },
        "does not refuse a message that it cannot read",
    );
}

#[test]
fn a_wiring_for_another_project_is_red() {
    check_red(
        |world| {
            let root = world.path("ws").display().to_string();
            world.change(LOCAL, &format!("{root}\""), &format!("{root}/moved\""));
        },
        "wired for another project",
    );
    check_red(
        |world| {
            let text = world.read(LOCAL).replacen("state/jackline", "state/elsewhere", 1);
            world.write(LOCAL, &text);
        },
        "do not all run the same command",
    );
}

#[test]
fn a_client_that_passes_what_fails_is_red() {
    check_red(|world| world.client("2.1.197 (Claude Code)"), "let a call pass when its hook fails");
    let world = World::wired();
    for variable in ["CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE", "CLAUDE_CODE_RESTRICTED"] {
        let mut silent = world.command(&["doctor"]);
        silent.env(variable, "1");
        ran(silent, "").check(1, &[&format!("`{variable}` is set")]);
    }
}

#[test]
fn a_missing_or_broken_definition_is_red() {
    let forget = |world: &World| fs::remove_dir_all(world.path("home/.local/state/jackline")).expect("forgotten");
    check_red(
        |world| {
            fs::remove_file(world.path("ws/jackline.yaml")).expect("removed");
            forget(world);
        },
        "so nothing is judged",
    );
    check_red(
        |world| {
            world.write("ws/jackline.yaml", "jackline: 1\npolices: []\n");
            forget(world);
        },
        "so every call is denied",
    );
}

#[test]
fn file_policies_are_told_of() {
    let broken = |world: &World| world.write("ws/.jackline/policies/bad.md", "---\ntriger: a\n---\nDo it.\n");
    check_red(broken, ".jackline/policies/bad.md:2: unknown key `triger`");
    let waiting = "---\ntrigger: a\naction: {command: 'true {file}'}\n---\n";
    check_warned(
        |world| world.write("ws/.jackline/policies/run.md", waiting),
        ".jackline/policies/run.md: its command does not run before it is trusted",
    );
}

#[test]
fn a_store_that_cannot_be_written_is_red() {
    check_red(
        |world| {
            fs::remove_dir_all(world.path("home/.local/state/jackline")).expect("removed");
            world.write("home/.local/state/jackline", "a file where a directory should be");
        },
        "cannot be written",
    );
}

#[test]
fn a_log_that_was_changed_is_red() {
    let play = |world: &World| {
        let cwd = world.path("ws");
        let message = json!({"session_id": "s1", "transcript_path": "/none", "cwd": cwd, "hook_event_name": "PreToolUse",
            "tool_name": "Bash", "tool_input": {"command": "git push --force"}, "tool_use_id": "t1"});
        let hook = &world.settings()["hooks"]["PreToolUse"][0]["hooks"][0];
        let mut command = std::process::Command::new(hook["command"].as_str().expect("a program"));
        command.args(hook["args"].as_array().expect("arguments").iter().map(|word| word.as_str().expect("text")));
        command.current_dir(world.path("ws")).env_clear();
        ran(command, &message.to_string()).check(0, &["\"permissionDecision\":\"deny\"", "rule/no-force-push"]);
    };
    let world = World::wired();
    play(&world);
    world.run(&["doctor"]).check(0, &["1 chain holds"]);
    let check_broken = |change: &dyn Fn(&Path), told: &str| {
        let broken = |world: &World| {
            play(world);
            let sessions = world.files("home/.local/state/jackline/sessions");
            let (log, _) = sessions.iter().find(|(path, _)| path.ends_with("audit.jsonl")).expect("a log");
            change(log);
        };
        let world = World::wired();
        broken(&world);
        world.run(&["audit", "verify"]).check(1, &[told]);
        check_red(broken, told);
    };
    let rewrite = |log: &Path, from: &str, to: &str| {
        let text = fs::read_to_string(log).expect("UTF-8");
        fs::write(log, text.replacen(from, to, 1)).expect("written");
    };
    check_broken(&|log| rewrite(log, "push --force", "push --farce"), "broken at record");
    check_broken(&|log| rewrite(log, "{", "garbage"), "broken at line 1");
    check_broken(&|log| fs::write(log, "garbage\n").expect("written"), "broken at line 1");
    check_broken(
        &|log| {
            fs::write(log, "garbage\n").expect("written");
            fs::remove_file(log.with_file_name("id")).expect("removed");
        },
        "neither its log nor its `id` tells whose it is",
    );
    check_broken(
        &|log| {
            fs::remove_file(log).expect("removed");
            fs::create_dir(log).expect("made");
        },
        "its log is no plain file",
    );
    check_broken(
        &|log| {
            fs::rename(log, log.with_file_name("elsewhere")).expect("moved");
            symlink(log.with_file_name("elsewhere"), log).expect("linked");
        },
        "its log is no plain file",
    );
}

/// What deserves a look and lets nothing pass.
#[track_caller]
fn check_warned(change: impl FnOnce(&World), told: &str) {
    let world = World::wired();
    change(&world);
    world.run(&["doctor"]).check(0, &[told, "fine, with"]);
}

#[test]
fn what_lets_nothing_pass_is_only_warned_of() {
    check_warned(|world| world.change(LOCAL, "\"timeout\": 3600", "\"timeout\": 7200"), "holds the agent up that long");
    check_warned(|world| world.change(LOCAL, ", \"timeout\": 3600", ""), "has no `timeout`");
    check_warned(|world| fs::remove_file(world.path("bin/claude")).expect("removed"), "is not on PATH");
    check_warned(|world| world.client("who knows"), "cannot be told");
    check_warned(|world| fs::remove_file(world.path("ws/jackline.yaml")).expect("removed"), "stays in force");
    check_warned(|world| world.write("ws/app/jackline.yaml", "jackline: 1\n"), "is not used");
    check_warned(|world| world.change("ws/jackline.yaml", "# mode: observe", "mode: observe"), "looser than");
    check_warned(
        |world| {
            let off = world.command(&["off", "--for", "10m", "--reason", "a trial", "--yes"]);
            ran_by_a_person(off, "").check(0, &[]);
        },
        "exception ",
    );
    let open = fs::Permissions::from_mode(0o755);
    let state = "home/.local/state/jackline";
    check_warned(|world| fs::set_permissions(world.path(state), open).expect("set"), "others may look into");
}

#[test]
fn hooks_with_a_store_of_their_own_are_looked_at_there() {
    let world = World::new();
    let store = world.path("elsewhere");
    world.run(&["init", "--store", store.to_str().expect("UTF-8")]).check(0, &[]);
    world.run(&["doctor"]).check(0, &["export JACKLINE_HOME=", "trusted"]);
}

#[test]
fn nothing_but_a_directory_is_a_workspace() {
    let world = World::new();
    world.run(&["doctor"]).check(1, &["no settings hold our hooks", "jackline init claude"]);
    world.run(&["doctor", "--workspace", "nowhere"]).check(2, &["is no directory"]);
    world.run(&["doctor", "--format", "xml"]).check(2, &["invalid value"]);
}

#[test]
fn a_stop_that_waits_too_short_for_its_commands_is_told() {
    let world = World::new();
    world.write(
        "ws/jackline.yaml",
        "jackline: 1\ncompletion: {all: [{command: {run: [make]}}, {command: {run: [x], timeout: 90s}}]}\n",
    );
    world.run(&["init"]).check(0, &["wrote .claude/settings.local.json"]);
    world.run(&["doctor"]).check(0, &["asked about 12 events"]);
    world.change(LOCAL, "\"timeout\": 3600", "\"timeout\": 20");
    world.run(&["doctor"]).check(1, &["the hook for Stop has a `timeout` of 20 s", "may take 716 s"]);
    world.run(&["init"]).check(0, &["3600"]);
    world.run(&["doctor"]).check(0, &["asked about 12 events"]);
}
