//! What makes a host run no hooks: variables, files that set them, folders that nobody trusted. Agents may not write such
//! files, and `doctor` sees them.

use serde_json::json;

use crate::others::world;
use crate::{Ran, World, ran};

/// Asks as a host asks about a file that is to be written.
fn write(world: &World, host: &str, tool: &str, path: &str) -> Ran {
    let message = json!({
        "session_id": "s1", "cwd": world.path("ws"), "hook_event_name": "PreToolUse", "tool_name": tool,
        "tool_input": { "file_path": path, "content": "QWEN_CODE_SIMPLE=1\n" }, "tool_use_id": "t1",
    });
    ran(world.command(&["hook", host]), &message.to_string())
}

#[test]
fn an_agent_on_qwen_code_may_not_write_the_variables_that_switch_its_hooks_off() {
    let world = world("qwen", "0.24.4");
    world.write("ws/jackline.yaml", "jackline: 1\n");
    world.run(&["init", "qwen"]).check(0, &[]);
    for path in [".env", ".qwen/.env", "../.env", "../home/.env", "../home/.qwen/.env"] {
        write(&world, "qwen", "write_file", path).check(2, &["part of what guards this session"]);
    }
    write(&world, "qwen", "write_file", "src/.env.example").check(0, &[]);
    // Elsewhere such a file is the project's own.
    assert_eq!(write(&world, "claude", "Write", ".env").out, "", "allowing is silence");
}

/// A wired host with a variable; what doctor says.
#[track_caller]
fn check_set((host, program): (&str, &str), scope: &str, variable: &str, red: bool) {
    let world = world(program, "0.24.4");
    world.run(&["init", host, "--scope", scope]).check(0, &[]);
    let mut doctor = world.command(&["doctor"]);
    doctor.env(variable, "1");
    let ran = ran(doctor, "");
    let told = format!("`{variable}` is set here");
    assert_eq!((ran.code, ran.out.contains(&told)), (Some(i32::from(red)), red), "{}", ran.out);
}

#[test]
fn a_variable_that_switches_hooks_off_is_red() {
    check_set(("qwen", "qwen"), "user", "QWEN_CODE_SIMPLE", true);
    check_set(("qwen", "qwen"), "user", "QWEN_CODE_SAFE_MODE", true);
    check_set(("opencode", "opencode"), "user", "OPENCODE_PURE", true);
    check_set(("opencode", "opencode"), "project", "OPENCODE_DISABLE_PROJECT_CONFIG", true);
    check_set(("opencode", "opencode"), "user", "OPENCODE_DISABLE_PROJECT_CONFIG", false);
}

#[test]
fn a_file_that_sets_one_is_red_too() {
    for file in ["ws/.env", "ws/.qwen/.env", "home/.qwen/.env"] {
        let world = world("qwen", "0.24.4");
        world.run(&["init", "qwen"]).check(0, &[]);
        world.write(file, "# QWEN_CODE_SIMPLE=1\nOTHER=1\n");
        world.run(&["doctor"]).check(0, &[]);
        world.write(file, "OTHER=1\nexport QWEN_CODE_SAFE_MODE=1\n");
        world.run(&["doctor"]).check(1, &["sets `QWEN_CODE_SAFE_MODE`", "runs no hooks"]);
    }
}

#[test]
fn a_projects_hooks_in_a_folder_that_nobody_trusted_are_red() {
    let world = world("gemini", "0.61.0");
    let here = world.path("ws").display().to_string();
    let trusted = "home/.gemini/trustedFolders.json";
    world.run(&["init", "gemini", "--scope", "project"]).check(0, &["does not run a project's hooks here"]);
    world.run(&["doctor"]).check(1, &["does not run these hooks", "is not trusted"]);
    world.write(trusted, &format!("{{ // mine\n {:?}: \"TRUST_FOLDER\" }}", here));
    world.run(&["doctor"]).check(0, &[]);
    world.write(trusted, &format!("{{ {:?}: \"DO_NOT_TRUST\" }}", here));
    world.run(&["doctor"]).check(1, &["does not run these hooks"]);
    world.write("home/.gemini/settings.json", "{\"security\": {\"folderTrust\": {\"enabled\": false}}}");
    world.run(&["doctor"]).check(0, &[]);
}

#[test]
fn copilot_cli_trusts_folders_too() {
    let world = world("copilot", "1.0.102");
    let here = world.path("ws").display().to_string();
    world.run(&["init", "copilot", "--scope", "project"]).check(0, &["does not run a project's hooks here"]);
    world.run(&["doctor"]).check(1, &["not among the trusted ones"]);
    world.write("home/.copilot/config.json", &format!("// managed\n{{ \"trustedFolders\": [{here:?}] }}"));
    world.run(&["doctor"]).check(0, &[]);
}

#[test]
fn codex_runs_a_projects_hooks_where_it_trusts_the_project() {
    let world = world("codex", "codex-cli 0.166.0");
    let trusted = |level: &str| format!("[projects.{:?}]\ntrust_level = \"{level}\"\n", world.path("ws"));
    world.write("home/.codex/config.toml", &trusted("untrusted"));
    world.run(&["init", "codex", "--scope", "project"]).check(0, &["does not run a project's hooks here"]);
    world.run(&["doctor"]).check(1, &["does not run these hooks", "the project is not trusted"]);
    world.change("home/.codex/config.toml", "\"untrusted\"", "\"trusted\"");
    world.run(&["doctor"]).check(0, &["trusts the hooks"]);
}
