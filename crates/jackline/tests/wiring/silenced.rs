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

#[test]
fn a_directory_that_brings_such_variables_along_is_not_copied_there() {
    let world = world("qwen", "0.24.4");
    world.write("ws/jackline.yaml", "jackline: 1\n");
    world.write("ws/new/.env", "QWEN_CODE_SIMPLE=1\n");
    world.write("ws/plain/a.txt", "a\n");
    world.run(&["init", "qwen"]).check(0, &[]);
    let asks = |host: &str, tool: &str, text: &str| {
        let message = json!({
            "session_id": "s1", "cwd": world.path("ws"), "hook_event_name": "PreToolUse", "tool_name": tool,
            "tool_input": { "command": text }, "tool_use_id": "t1",
        });
        ran(world.command(&["hook", host]), &message.to_string())
    };
    for text in ["cp -r new/. .", "cp -rT new .", "rsync -a new/ ."] {
        asks("qwen", "run_shell_command", text).check(2, &["part of what guards this session"]);
        asks("claude", "Bash", text).check(0, &[]);
    }
    asks("qwen", "run_shell_command", "cp -r plain/. .").check(0, &[]);
    asks("qwen", "run_shell_command", "cp -r new copy").check(0, &[]);
}

#[test]
fn nor_may_agents_on_other_hosts_write_variables_that_lead_hooks_elsewhere() {
    let world = world("codex", "codex-cli 0.166.0");
    world.write("ws/jackline.yaml", "jackline: 1\n");
    let gate = |host: &str, event: &str, tool: &str, input: serde_json::Value| {
        let message = json!({
            "session_id": "s1", "cwd": world.path("ws"), "hook_event_name": event, "tool_name": tool, "tool_input": input,
            "tool_use_id": "t1", "timestamp": "2026-11-15T22:20:11Z",
        });
        ran(world.command(&["hook", host]), &message.to_string())
    };
    let run = json!({ "command": "echo BASH_ENV=x > ~/.codex/.env" });
    gate("codex", "PreToolUse", "Bash", run).check(2, &["part of what guards this session"]);
    for path in [".env", "../.env", ".gemini/.env"] {
        let written = json!({ "file_path": path, "content": "XDG_CONFIG_HOME=/nowhere\n" });
        gate("gemini", "BeforeTool", "write_file", written).check(2, &["part of what guards this session"]);
    }
}

#[test]
fn a_variable_takes_no_definition_of_the_users_away() {
    let world = world("gemini", "0.61.0");
    world.write(
        "home/.config/jackline/jackline.yaml",
        "jackline: 1\npolicies: [{name: mine, rule: {tool: \"@shell\", command: \"touch forbidden*\", reason: not here}}]\n",
    );
    let message = json!({
        "session_id": "s1", "cwd": world.path("ws"), "hook_event_name": "BeforeTool", "tool_name": "run_shell_command",
        "tool_input": { "command": "touch forbidden.txt" }, "timestamp": "2026-11-15T22:20:11Z",
    });
    for elsewhere in ["/nowhere".into(), world.path("home/.config")] {
        let mut hook = world.command(&["hook", "gemini"]);
        hook.env("XDG_CONFIG_HOME", elsewhere);
        ran(hook, &message.to_string()).check(2, &["not here"]);
    }
}

#[test]
fn a_host_that_starts_hooks_at_the_top_is_guarded_where_it_was_started() {
    let world = world("copilot", "1.0.102");
    world.write(
        "ws/pkg/jackline.yaml",
        "jackline: 1\npolicies: [{name: none, rule: {tool: \"@shell\", reason: not in here}}]\n",
    );
    let asks = |cwd: &str| {
        let message = json!({
            "session_id": cwd, "cwd": world.path(cwd), "hook_event_name": "PreToolUse", "tool_name": "bash",
            "tool_input": { "command": "touch x" },
        });
        ran(world.command(&["hook", "copilot"]), &message.to_string())
    };
    asks("ws/pkg").check(2, &["not in here"]);
    asks("ws").check(0, &[]);
    asks("home").check(0, &[]);
}

#[test]
fn settings_where_a_host_may_be_started_are_looked_at_too() {
    for (host, program, file, text) in [
        ("codex", "codex", ".codex/config.toml", "[features]\nhooks = false\n"),
        ("gemini", "gemini", ".gemini/settings.json", "{\"hooksConfig\": {\"enabled\": false}}"),
        ("qwen", "qwen", ".qwen/settings.json", "{\"disableAllHooks\": true}"),
    ] {
        let world = world(program, "0.166.0");
        world.write("ws/pkg/jackline.yaml", "jackline: 1\n");
        world.write("ws/pkg/sub/a.txt", "");
        let doctor = |from: &str| {
            let mut doctor = world.command(&["doctor"]);
            doctor.current_dir(world.path(from));
            ran(doctor, "")
        };
        world.run(&["init", host]).check(0, &[]);
        doctor("ws/pkg/sub").check(0, &[]);
        world.write(&format!("ws/pkg/sub/{file}"), text);
        doctor("ws/pkg/sub").check(1, &["switches every hook off"]);
        doctor("ws/pkg").check(0, &[]);
        world.write(&format!("ws/{file}"), text);
        doctor("ws/pkg").check(1, &["switches every hook off"]);
    }
}

#[test]
fn a_projects_settings_that_switch_copilots_hooks_off_are_red_and_no_agents() {
    for file in [".github/copilot/settings.json", ".github/copilot/settings.local.json", ".claude/settings.json"] {
        let world = world("copilot", "1.0.102");
        world.write("ws/jackline.yaml", "jackline: 1\n");
        world.run(&["init", "copilot"]).check(0, &[]);
        world.run(&["doctor"]).check(0, &[]);
        let message = json!({
            "session_id": "s1", "cwd": world.path("ws"), "hook_event_name": "PreToolUse", "tool_name": "bash",
            "tool_input": { "command": format!("mkdir -p $(dirname {file}) && echo '{{}}' > {file}") },
        });
        ran(world.command(&["hook", "copilot"]), &message.to_string()).check(2, &["part of what guards this session"]);
        // Another client's file has hooks of its own form in it.
        let hooks = "\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"true\"}]}]}";
        let hooks = if file.starts_with(".claude") { format!(", {hooks}") } else { String::new() };
        world.write(&format!("ws/{file}"), &format!("{{\"disableAllHooks\": true{hooks}}}"));
        world.run(&["doctor"]).check(1, &["`disableAllHooks` switches every hook off"]);
    }
}

#[test]
fn a_file_of_variables_that_lead_hooks_elsewhere_is_red() {
    let world = world("codex", "codex-cli 0.166.0");
    world.run(&["init", "codex"]).check(0, &[]);
    world.write("home/.codex/.env", "OPENAI_KEY=x\n");
    world.run(&["doctor"]).check(0, &[]);
    world.write("home/.codex/.env", "OPENAI_KEY=x\nBASH_ENV=/tmp/x.sh\n");
    world.run(&["doctor"]).check(1, &["sets `BASH_ENV`", "which it leads elsewhere"]);
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
    // Of a project of which nothing is said it asks, or runs them.
    world.change("home/.codex/config.toml", "trust_level = \"trusted\"\n", "");
    world.run(&["doctor"]).check(0, &["trusts the hooks", "may ask before it runs these hooks"]);
}

#[test]
fn a_variable_that_leads_into_the_project_moves_no_records_there() {
    let world = world("gemini", "0.61.0");
    world.write(
        "ws/jackline.yaml",
        "jackline: 1\npolicies: [{name: no, rule: {tool: \"@shell\", command: \"touch x*\"}}]\n",
    );
    world.write("home/.gemini/settings.json", "{\"security\": {\"folderTrust\": {\"enabled\": false}}}");
    world.run(&["init", "gemini", "--scope", "project"]).check(0, &[]);
    let message = json!({
        "session_id": "s1", "cwd": world.path("ws"), "hook_event_name": "BeforeTool", "tool_name": "run_shell_command",
        "tool_input": { "command": "touch x.txt" }, "timestamp": "2026-11-15T22:20:11Z",
    });
    // A person's exception, as the project would have it.
    let inside = world.path("ws/fs");
    world.run(&["doctor"]).check(0, &["keep their records where `JACKLINE_HOME` or `XDG_STATE_HOME` says"]);
    let link = world.path("link");
    std::fs::create_dir_all(&inside).expect("made");
    std::os::unix::fs::symlink(&inside, &link).expect("linked");
    for (variable, value) in [("JACKLINE_HOME", &inside), ("XDG_STATE_HOME", &inside), ("JACKLINE_HOME", &link)] {
        let mut hook = world.command(&["hook", "gemini", "--wired", "project"]);
        hook.env(variable, value);
        ran(hook, &message.to_string()).check(2, &["rule/no"]);
        assert_eq!(world.files("ws/fs").len(), 0, "{variable}: nothing is kept there");
        let mut doctor = world.command(&["doctor"]);
        doctor.env(variable, value);
        ran(doctor, "").check(0, &[&format!("`{variable}` leads into the project"), "pass it over"]);
    }
    assert!(world.run(&["sessions"]).out.contains("s1"), "the records are where they always are");
    let elsewhere = world.path("other");
    let mut hook = world.command(&["hook", "gemini", "--wired", "project"]);
    hook.env("JACKLINE_HOME", &elsewhere);
    ran(hook, &message.to_string()).check(2, &["rule/no"]);
    assert!(!world.files("other").is_empty(), "one outside counts");
}

#[test]
fn copilots_own_settings_extensions_and_codexs_profiles_are_out_of_reach() {
    let world = world("copilot", "1.0.102");
    world.write("ws/jackline.yaml", "jackline: 1\n");
    world.write("home/.codex/work.config.toml", "model = \"x\"\n");
    let home = |name: &str| world.path(&format!("home/{name}")).display().to_string();
    for path in [
        home(".copilot/settings.json"),
        home(".copilot/config.json"),
        home(".copilot/extensions/x/extension.mjs"),
        home(".copilot/session-state/1/extensions/x/extension.mjs"),
        home(".copilot/installed-plugins/x/hooks.json"),
        home(".codex/work.config.toml"),
        home(".codex/new.config.toml"),
        home(".local/share/opencode/auth.json"),
        home(".cache/opencode/packages/x@latest/node_modules/x/index.js"),
        "tui.json".to_owned(),
        ".opencode/tui.jsonc".to_owned(),
        ".github/extensions/x/extension.mjs".to_owned(),
    ] {
        write(&world, "claude", "Write", &path).check(0, &["deny", "part of what guards this session"]);
    }
    for path in
        [home(".copilot/session-state/1/plan.md"), home(".codex/notes.md"), ".github/workflows/a.yml".to_owned()]
    {
        assert_eq!(write(&world, "claude", "Write", &path).out, "", "{path}");
    }
}

#[test]
fn and_where_they_are_kept_elsewhere() {
    let world = world("copilot", "1.0.102");
    world.write("ws/jackline.yaml", "jackline: 1\n");
    for (variable, name) in [
        ("CLAUDE_CONFIG_DIR", "shell-snapshots/snapshot-bash-x.sh"),
        ("CLAUDE_CONFIG_DIR", "session-env/s1/hook-1.sh"),
        ("CLAUDE_CONFIG_DIR", "daemon.json"),
        ("COPILOT_HOME", "settings.json"),
        ("COPILOT_HOME", "extensions/x/extension.mjs"),
        ("COPILOT_HOME", "session-state/1/extensions/x/extension.mjs"),
        ("CODEX_HOME", "work.config.toml"),
        ("XDG_DATA_HOME", "opencode/auth.json"),
        ("XDG_CACHE_HOME", "opencode/packages/x/index.js"),
        ("COPILOT_HOME", "lsp-config.json"),
        ("QWEN_HOME", ".env"),
        ("QWEN_HOME", "extensions/x/qwen-extension.json"),
        ("QWEN_CODE_SYSTEM_SETTINGS_PATH", ""),
        ("QWEN_CODE_SYSTEM_DEFAULTS_PATH", ""),
        ("GEMINI_CLI_HOME", ".gemini/.env"),
        ("GEMINI_CLI_HOME", ".gemini/extensions/x/gemini-extension.json"),
        ("OPENCODE_CONFIG_DIR", "node_modules/x/index.js"),
        ("OPENCODE_TUI_CONFIG", ""),
    ] {
        let elsewhere = world.path("elsewhere");
        let at = if name.is_empty() { elsewhere.clone() } else { elsewhere.join(name) };
        let message = json!({
            "session_id": "s1", "cwd": world.path("ws"), "hook_event_name": "PreToolUse", "tool_name": "Write",
            "tool_input": { "file_path": at, "content": "x" }, "tool_use_id": "t1",
        });
        let mut command = world.command(&["hook", "claude"]);
        command.env(variable, elsewhere);
        ran(command, &message.to_string()).check(0, &["deny", "part of what guards this session"]);
    }
}

#[test]
fn what_claude_code_has_its_shell_read_before_a_command_is_out_of_reach() {
    let world = world("copilot", "1.0.102");
    world.write("ws/jackline.yaml", "jackline: 1\n");
    world.write("home/.claude/settings.json", "{}");
    world.write("home/.claude/shell-snapshots/snapshot-bash-x.sh", "");
    let bash = |command: &str| {
        let message = json!({
            "session_id": "s1", "cwd": world.path("ws"), "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": { "command": command }, "tool_use_id": "t1",
        });
        ran(world.command(&["hook", "claude"]), &message.to_string())
    };
    for command in [
        "echo 'cargo() { true; }' >> ~/.claude/shell-snapshots/snapshot-bash-x.sh",
        "echo 'cargo() { true; }' | tee -a ~/.claude/shell-*/snapshot-bash-x.sh",
        "python3 -c \"open('$HOME/.claude/shell-snapshots/snapshot-bash-x.sh', 'a').write('x')\"",
        "mkdir -p ~/.claude/session-env/s1 && echo x > ~/.claude/session-env/s1/hook-1.sh",
        "rm -r ~/.claude/shell-snapshots",
        "echo '{}' > ~/.claude/daemon.json",
        "echo '{}' > ~/.claude/jobs/0a1b2c3d/state.json",
    ] {
        bash(command).check(0, &["deny", "guards this session"]);
    }
    for command in [
        "ls ~/.claude/shell-snapshots",
        "cat ~/.claude/shell-snapshots/*",
        "echo x > ~/.claude/notes.md",
        "mkdir -p ~/.claude/jobs/0a1b2c3d/tmp && echo '{}' > ~/.claude/jobs/0a1b2c3d/tmp/a.json",
    ] {
        assert_eq!(bash(command).out, "", "{command}");
    }
}

#[test]
fn doctor_names_what_runs_beside_our_hooks() {
    let world = world("copilot", "1.0.102");
    world.write("ws/jackline.yaml", "jackline: 1\n");
    world.run(&["init", "copilot"]).check(0, &[]);
    world.run(&["doctor"]).check(0, &[]);
    let hook = r#"{"hooks":{"preToolUse":[{"type":"command","bash":"true"}]}}"#;
    world.write("home/.copilot/settings.json", &format!("// mine\n{hook}"));
    world.write("home/.copilot/extensions/x/extension.mjs", "");
    world.write("ws/.github/extensions/y/extension.mjs", "");
    world.write("ws/.claude/skills/s/SKILL.md", "---\nname: s\nhooks: {}\n---\n");
    world.write("ws/.claude/skills/t/SKILL.md", "---\nname: t\n---\nhooks:\n");
    let told = world.run(&["doctor"]);
    told.check(
        0,
        &[
            "settings.json: 1 other hooks are asked before a call",
            "home/.copilot/extensions/x/extension.mjs: Copilot CLI runs it beside our hooks",
            "y/extension.mjs: Copilot CLI runs it beside our hooks",
            "skills/s/SKILL.md: `hooks` in its front matter",
        ],
    );
    assert!(!told.out.contains("skills/t"), "{}", told.out);
    world.write("home/else/agents/a.md", "---\nname: a\nhooks: {}\n---\n");
    let mut elsewhere = world.command(&["doctor"]);
    elsewhere.env("CLAUDE_CONFIG_DIR", world.path("home/else"));
    ran(elsewhere, "").check(0, &["home/else/agents/a.md: `hooks` in its front matter"]);
    world.write("home/.copilot/settings.json", r#"{"disableAllHooks":true}"#);
    world.run(&["doctor"]).check(1, &[".copilot/settings.json: `disableAllHooks` switches every hook off"]);
}

#[test]
fn doctor_names_plugins_of_claude_code_that_bring_hooks() {
    let world = World::wired();
    let hooks = r#"{"hooks":{"SessionStart":[]}}"#;
    // Among skills nobody has to install them; without a manifest a directory is none.
    world.write("ws/.claude/skills/p/.claude-plugin/plugin.json", r#"{"name":"p","hooks":"./h.json"}"#);
    world.write("ws/.claude/skills/p/hooks/hooks.json", hooks);
    world.write("ws/.claude/skills/none/hooks/hooks.json", hooks);
    world.write("home/.claude/skills/q/.claude-plugin/plugin.json", r#"{"name":"q","hooks":"./h.json"}"#);
    world.write("home/.claude/skills/quiet/.claude-plugin/plugin.json", r#"{"name":"quiet"}"#);
    // Others are installed and enabled; those of a directory are read from there.
    let place = |name: &str| world.path(name).display().to_string();
    world.write("home/.claude/settings.json", r#"{"enabledPlugins":{"a@far":true,"off@far":true,"b@near":true}}"#);
    world.write("ws/.claude/settings.json", r#"{"enabledPlugins":{"off@far":false}}"#);
    let copies = format!(
        r#"{{"version":2,"plugins":{{"a@far":[{{"installPath":"{}"}}],"off@far":[{{"installPath":"{}"}}]}}}}"#,
        place("home/.claude/plugins/cache/far/a/1"),
        place("home/.claude/plugins/cache/far/off/1"),
    );
    world.write("home/.claude/plugins/installed_plugins.json", &copies);
    let offering =
        format!(r#"{{"near":{{"source":{{"source":"directory"}},"installLocation":"{}"}}}}"#, place("market"));
    world.write("home/.claude/plugins/known_marketplaces.json", &offering);
    world.write("market/.claude-plugin/marketplace.json", r#"{"plugins":[{"name":"b","source":"./plugins/b"}]}"#);
    for plugin in ["home/.claude/plugins/cache/far/a/1", "home/.claude/plugins/cache/far/off/1", "market/plugins/b"] {
        world.write(&format!("{plugin}/hooks/hooks.json"), hooks);
    }

    let told = world.run(&["doctor"]);
    let beside = |file: &str| format!("{file}: Claude Code runs it beside our hooks");
    let named = [
        "skills/p/hooks/hooks.json",
        "skills/p/.claude-plugin/plugin.json",
        "skills/q/.claude-plugin/plugin.json",
        "far/a/1/hooks/hooks.json",
        "plugins/b/hooks/hooks.json",
    ];
    let named = named.map(beside);
    told.check(0, &named.each_ref().map(String::as_str));
    assert_eq!(told.out.matches("runs it beside our hooks").count(), named.len(), "{}", told.out);
}

#[test]
fn doctor_looks_at_codexs_profiles() {
    let world = world("codex", "codex-cli 0.166.0");
    world.write("ws/jackline.yaml", "jackline: 1\n");
    world.run(&["init", "codex"]).check(0, &[]);
    world.run(&["doctor"]).check(0, &[]);
    world.write("home/.codex/bare.config.toml", "[features]\nhooks = false\n");
    world.run(&["doctor"]).check(1, &["bare.config.toml: `features.hooks` switches every hook off"]);
}

#[test]
fn doctor_tells_where_opencode_fetches_settings_from() {
    let world = world("opencode", "1.18.33");
    world.write("ws/jackline.yaml", "jackline: 1\n");
    world.run(&["init", "opencode"]).check(0, &[]);
    world.write("home/.local/share/opencode/auth.json", r#"{"openai":{"type":"api","key":"k"}}"#);
    assert!(!world.run(&["doctor"]).out.contains("auth.json"));
    let entry = r#"{"https://example.org":{"type":"wellknown","key":"K","token":"t"}}"#;
    world.write("home/.local/share/opencode/auth.json", entry);
    world.run(&["doctor"]).check(0, &["fetches settings, plugins among them, from an address in its `auth.json`"]);
}

#[test]
fn settings_for_everyone_that_a_variable_names_are_looked_at() {
    let world = world("qwen", "0.24.4");
    world.write("ws/jackline.yaml", "jackline: 1\n");
    world.run(&["init", "qwen"]).check(0, &[]);
    world.write("elsewhere.json", r#"{"disableAllHooks":true}"#);
    let mut doctor = world.command(&["doctor"]);
    doctor.env("QWEN_CODE_SYSTEM_DEFAULTS_PATH", world.path("elsewhere.json"));
    ran(doctor, "").check(1, &["elsewhere.json: `disableAllHooks` switches every hook off"]);
}

#[test]
fn a_client_that_is_too_old_is_red_where_it_asks_us() {
    let too_old = |(program, name, version): (&str, &str, &str), oldest: &str| {
        let world = world(program, version);
        world.write("ws/jackline.yaml", "jackline: 1\n");
        let told = format!("it is too old: versions before {oldest} ");
        world.run(&["init", name]).check(0, &[&told, "; update it"]);
        let told = format!("is too old: versions before {oldest} ");
        let number = version.split(' ').next_back().unwrap_or_default();
        world.run(&["doctor"]).check(1, &[number, &told, &format!("help: update it to {oldest} or newer")]);
        // One that was never told to ask is none of ours.
        let world = self::world(program, version);
        world.write("ws/jackline.yaml", "jackline: 1\n");
        world.client("2.1.325 (Claude Code)");
        world.run(&["init", "claude"]).check(0, &[]);
        world.run(&["doctor"]).check(0, &[&told]);
    };
    too_old(("gemini", "gemini", "0.10.0"), "0.26.0");
    too_old(("gemini", "gemini", "0.25.9"), "0.26.0");
    too_old(("qwen", "qwen", "0.12.0"), "0.14.0");
    too_old(("codex", "codex", "codex-cli 0.122.0"), "0.124.0");
    too_old(("copilot", "copilot", "1.0.20"), "1.0.22");
}

#[test]
fn a_client_that_is_older_than_what_was_tried_is_warned_of() {
    for (program, version, seen) in [("gemini", "0.26.0", "0.61.0"), ("copilot", "1.0.101", "1.0.102")] {
        let world = world(program, version);
        world.write("ws/jackline.yaml", "jackline: 1\n");
        world.run(&["init", program]).check(0, &["it is older than what was tried, and may do less; update it"]);
        world.run(&["doctor"]).check(0, &[version, &format!("is older than {seen}, and may do less")]);
    }
    // Since when this one runs them nobody found out.
    let world = world("opencode", "1.0.0");
    world.write("ws/jackline.yaml", "jackline: 1\n");
    world.run(&["init", "opencode"]).check(0, &["it is older than what was tried, and may run no hooks at all"]);
    world.run(&["doctor"]).check(0, &["is older than 1.18.33, and may run no hooks at all"]);
}
