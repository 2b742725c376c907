//! The other hosts: what `init` writes for each, that `doctor` sees it and each way of breaking it, and that `uninit`
//! leaves everything as it was.

use std::fs;

use crate::terminal::ran_by_a_person;
use crate::{World, is_there, ran};

/// A world in which a host's program is there and Claude Code is not.
pub(crate) fn world(program: &str, version: &str) -> World {
    let world = World::new();
    fs::remove_file(world.path("bin/claude")).expect("removed");
    fs::remove_dir_all(world.path("home/.claude")).expect("removed");
    world.script(&format!("bin/{program}"), &format!("echo '{version}'"));
    world
}

/// Wires a host, looks, wires again, takes it out: nothing but what was there before is left.
#[track_caller]
fn check_round(world: &World, host: &str, files: &[&str], told: &[&str]) {
    let before = world.files("home");
    world.run(&["init", host]).check(0, files);
    files.iter().for_each(|file| assert!(is_there(&world.path(file)), "{file}"));
    world.run(&["doctor"]).check(0, told);
    let wired = world.files("home");
    world.run(&["init", host]).check(0, &["nothing to do"]);
    assert_eq!(world.files("home"), wired);
    ran_by_a_person(world.command(&["uninit", host, "--yes"]), "").check(0, &[]);
    let left = |all: Vec<(std::path::PathBuf, Vec<u8>)>| {
        all.into_iter()
            .filter(|(path, _)| !path.components().any(|part| part.as_os_str() == "state"))
            .collect::<Vec<_>>()
    };
    assert_eq!(left(world.files("home")), left(before), "{host}");
    world.run(&["doctor"]).check(1, &["does not ask"]);
}

#[test]
fn codex_is_wired_with_its_trust() {
    let world = world("codex", "codex-cli 0.166.0");
    world.write("home/.codex/config.toml", "model = \"x\"\n\n[projects.\"/a\"]\ntrust_level = \"trusted\"\n");
    let told =
        ["Codex 0.166.0", "asked about 9 events", "trusts the hooks", "refuses, passes and fails closed", "fails open"];
    check_round(&world, "codex", &["home/.codex/hooks.json", "home/.codex/config.toml"], &told);
}

#[test]
fn opencode_gets_a_plugin() {
    let world = world("opencode", "1.18.33");
    let told = ["OpenCode 1.18.33", "asked about 6 events", "refuses, passes and fails closed", "fails open"];
    check_round(&world, "opencode", &["home/.config/opencode/plugin/jackline.js"], &told);
}

#[test]
fn gemini_cli_is_wired_beside_what_its_settings_hold() {
    let world = world("gemini", "0.61.0");
    world.write("home/.gemini/settings.json", "{\n  \"general\": { \"vimMode\": true }\n}\n");
    let told = ["Gemini CLI 0.61.0", "asked about 6 events", "refuses, passes and fails closed", "fails open"];
    check_round(&world, "gemini", &["home/.gemini/settings.json"], &told);
}

#[test]
fn comments_stay_where_the_host_allows_them() {
    let told = ["refuses, passes and fails closed"];
    for text in [
        "// mine\n{\n  // vim, \"not\" emacs\n  \"general\": { \"vimMode\": true } /* , */\n}\n",
        "{ // nothing yet\n}\n",
        "{\n  \"hooks\": {\n    // my own\n    \"BeforeTool\": [\n      { \"hooks\": [ { \"type\": \"command\", \"command\": \"x\" } ] } // first\n    ]\n  }\n}\n",
    ] {
        let world = world("gemini", "0.61.0");
        world.write("home/.gemini/settings.json", text);
        check_round(&world, "gemini", &["home/.gemini/settings.json"], &told);
        world.run(&["init", "gemini"]).check(0, &[]);
        let wired = world.read("home/.gemini/settings.json");
        let mut comments = text.lines().filter_map(|line| line.split_once("//")).map(|(_, comment)| comment);
        assert!(comments.all(|comment| wired.contains(&format!("//{comment}"))), "{wired}");
    }
}

#[test]
fn qwen_code_is_wired() {
    let world = world("qwen", "0.24.4");
    let told = ["Qwen Code 0.24.4", "asked about 10 events", "refuses, passes and fails closed", "fails open"];
    check_round(&world, "qwen", &["home/.qwen/settings.json"], &told);
}

#[test]
fn copilot_cli_gets_a_file_of_hooks() {
    let world = world("copilot", "1.0.102");
    let told = ["Copilot CLI 1.0.102", "asked about 9 events", "refuses, passes and fails closed", "fails open"];
    check_round(&world, "copilot", &["home/.copilot/hooks/jackline.json"], &told);
}

#[test]
fn what_becomes_of_settings_that_a_host_cannot_read_is_told() {
    let check = |(name, version): (&str, &str), file: &str, change: fn(String) -> String, told: &[&str]| {
        let world = world(name, version);
        world.write("ws/jackline.yaml", "jackline: 1\n");
        world.run(&["init", name]).check(0, &[]);
        let changed = change(world.read(file));
        world.write(file, &changed);
        let wanted = i32::from(!told.is_empty());
        world.run(&["doctor"]).check(wanted, told);
    };
    let (gemini, qwen) = ("home/.gemini/settings.json", "home/.qwen/settings.json");
    let (codex, copilot) = ("home/.codex/hooks.json", "home/.copilot/hooks/jackline.json");
    let broken: fn(String) -> String = |text| format!("{text},");
    let marked: fn(String) -> String = |text| format!("\u{feff}{text}");
    let commented: fn(String) -> String = |text| format!("// mine\n{text}");
    let not_started = "the client does not start with it";
    let passed_over = "the client passes over it, hooks included";
    check(("gemini", "0.61.0"), gemini, broken, &["is not valid JSON", not_started]);
    check(("gemini", "0.61.0"), gemini, marked, &["begins with a byte order mark", not_started, "without that mark"]);
    check(("gemini", "0.61.0"), gemini, commented, &[]);
    check(("qwen", "0.24.4"), qwen, broken, &["is not valid JSON", not_started]);
    check(("qwen", "0.24.4"), qwen, marked, &[]);
    check(("codex", "codex-cli 0.166.0"), codex, broken, &["is not valid JSON", passed_over]);
    check(("codex", "codex-cli 0.166.0"), codex, marked, &["begins with a byte order mark", passed_over]);
    check(("copilot", "1.0.102"), copilot, marked, &["begins with a byte order mark", passed_over]);
    check(("copilot", "1.0.102"), copilot, commented, &["it has comments", passed_over]);
}

#[test]
fn cursor_is_known_from_documentation_alone() {
    let world = world("cursor-agent", "2026.11.01");
    world.write("home/.cursor/hooks.json", "{\n  \"version\": 1,\n  \"hooks\": {}\n}\n");
    let told = ["never run with us", "asked about 10 events", "refuses, passes and fails closed"];
    check_round(&world, "cursor", &["home/.cursor/hooks.json"], &told);
}

#[test]
fn vs_code_is_wired_where_it_is_named() {
    let world = world("other", "1.0.0");
    world.run(&["init"]).check(2, &["no host was found"]);
    world.run(&["init", "vscode"]).check(0, &["jackline-vscode.json", "works unguarded"]);
    world.run(&["doctor"]).check(0, &["never run with us", "asked about 8 events", "fails closed"]);
    world.run(&["init", "vscode", "--scope", "local"]).check(2, &["wired already"]);
}

/// Breaks a wired host in one way; what doctor says then.
#[track_caller]
pub(crate) fn check_red((host, program): (&str, &str), breaking: impl FnOnce(&World), told: &str) {
    let world = world(program, "0.166.0");
    world.run(&["init", host]).check(0, &[]);
    breaking(&world);
    world.run(&["doctor"]).check(1, &[told, "help: ", "not fine"]);
}

#[test]
fn what_would_leave_a_host_unguarded_is_red() {
    let (codex, opencode) = (("codex", "codex"), ("opencode", "opencode"));
    let config = "home/.codex/config.toml";
    check_red(codex, |world| world.write(config, ""), "9 of our 9 hooks are not trusted");
    check_red(codex, |world| world.change(config, "sha256:", "sha256:0"), "are not trusted");
    let off = |world: &World| world.write(config, &format!("[features]\nhooks = false\n\n{}", world.read(config)));
    check_red(codex, off, "`features.hooks` switches every hook off");
    check_red(
        codex,
        |world| world.change("home/.codex/hooks.json", "--wired user\"", "--wired user || true\""),
        "does more",
    );
    check_red(codex, |world| world.change("home/.codex/hooks.json", "/bin/jackline", "/gone/jackline"), "is not there");
    let (gemini, qwen) = (("gemini", "gemini"), ("qwen", "qwen"));
    let put = |file: &'static str, member: &'static str| {
        move |world: &World| world.change(file, "{\n  \"hooks\"", &format!("{{\n  {member},\n  \"hooks\""))
    };
    let settings = "home/.gemini/settings.json";
    check_red(gemini, put(settings, "\"hooksConfig\": { \"enabled\": false }"), "`hooksConfig.enabled` switches");
    check_red(gemini, put(settings, "\"hooksConfig\": { \"disabled\": [\"jackline\"] }"), "`hooksConfig.disabled`");
    check_red(gemini, |world| world.change(settings, "\"timeout\": 10000", "\"timeout\": 1000"), "less than the hook");
    check_red(qwen, put("home/.qwen/settings.json", "\"disableAllHooks\": true"), "`disableAllHooks` switches");
    for (host, file) in [(gemini, settings), (qwen, "home/.qwen/settings.json")] {
        let change = |world: &World| world.change(file, "\"SHLVL\": \"9\"", "\"SHLVL\": \"0\"");
        check_red(host, change, "lacks `env`, so a startup file of the user's shell may answer");
    }
    let plugin = "home/.config/opencode/plugin/jackline.js";
    let change = |from: &'static str, to: &'static str| move |world: &World| world.change(plugin, from, to);
    check_red(opencode, change("throw new Error(answer.deny)", "return"), "is not as this version writes it");
    check_red(opencode, change("\"opencode\"", "\"other\""), "does not ask");
    check_red(opencode, change("/bin/jackline", "/gone/jackline"), "is not there");
}

#[test]
fn a_file_of_someone_else_is_left_alone() {
    let world = world("opencode", "1.18.33");
    world.write("home/.config/opencode/plugin/jackline.js", "export const Mine = async () => ({})\n");
    world.run(&["init", "opencode"]).check(2, &["something else than our plugin"]);
    assert_eq!(world.read("home/.config/opencode/plugin/jackline.js"), "export const Mine = async () => ({})\n");
    let world = self::world("codex", "codex-cli 0.166.0");
    world.write("home/.codex/config.toml", "hooks.state = {}\n");
    let told = ["is left alone", "not trusted yet", "trust them in the host itself (`/hooks`)"];
    world.run(&["init", "codex"]).check(2, &told);
    assert!(is_there(&world.path("home/.codex/hooks.json")), "there is something to trust");
    assert_eq!(world.read("home/.codex/config.toml"), "hooks.state = {}\n");
}

#[test]
fn several_hosts_are_wired_side_by_side_and_one_that_is_not_is_told() {
    let world = World::new();
    world.script("bin/codex", "echo 'codex-cli 0.166.0'");
    world.run(&["init", "claude"]).check(0, &[]);
    world.run(&["doctor"]).check(0, &["Codex does not ask", "jackline init codex"]);
    let mut elsewhere = world.command(&["init"]);
    elsewhere.env("CODEX_HOME", world.path("codex"));
    ran(elsewhere, "").check(0, &["Claude Code 2.1.325", "Codex 0.166.0"]);
    assert!(is_there(&world.path("codex/hooks.json")) && is_there(&world.path("codex/config.toml")));
}

#[test]
fn one_host_with_odd_settings_keeps_no_other_from_being_wired() {
    let world = World::new();
    world.script("bin/codex", "echo 'codex-cli 0.166.0'");
    world.script("bin/gemini", "echo '0.61.0'");
    let odd = "{ \"hooks\": 7 }\n";
    world.write("home/.gemini/settings.json", odd);
    let ran = world.run(&["init"]);
    ran.check(2, &["not wired: Gemini CLI", "`hooks` is not an object"]);
    assert_eq!(ran.err.matches("is left alone").count(), 1, "{}", ran.err);
    assert!(is_there(&world.path("home/.codex/hooks.json")) && is_there(&world.path(crate::LOCAL)));
    assert_eq!(world.read("home/.gemini/settings.json"), odd);
    world.run(&["init", "gemini"]).check(2, &["is left alone"]);
}

#[test]
fn a_host_that_is_named_twice_is_wired_once() {
    let world = world("codex", "codex-cli 0.166.0");
    world.run(&["init", "codex", "gemini", "codex"]).check(0, &["Gemini CLI", "wrote"]);
    assert!(is_there(&world.path("home/.gemini/settings.json")) && is_there(&world.path("home/.codex/hooks.json")));
}

#[test]
fn whoever_lacks_the_program_is_told_what_that_means() {
    let world = world("gemini", "0.61.0");
    for host in ["gemini", "copilot", "opencode"] {
        world.run(&["init", host, "--scope", "project"]).check(0, &["cannot run any tool until they install it"]);
    }
}

#[test]
fn a_users_hooks_wait_for_a_stop_in_every_project_alike() {
    let world = world("codex", "codex-cli 0.166.0");
    world.write("ws/jackline.yaml", "jackline: 1\ncompletion: {command: {run: [make], timeout: 300s}}\n");
    world.run(&["init", "codex"]).check(0, &[]);
    let wired = world.read("home/.codex/hooks.json");
    world.write("other/jackline.yaml", "jackline: 1\n");
    let other = world.path("other").display().to_string();
    world.run(&["init", "codex", "--workspace", &other]).check(0, &["nothing to do"]);
    assert_eq!(world.read("home/.codex/hooks.json"), wired);
    let doctor = world.run(&["doctor"]);
    assert!(!doctor.out.contains("a stop would pass unjudged"), "{}", doctor.out);
}

#[test]
fn every_store_that_hooks_use_is_looked_at() {
    let world = World::new();
    world.script("bin/gemini", "echo '0.61.0'");
    let store = |name: &str| world.path(name).display().to_string();
    world.run(&["init", "claude", "--store", &store("one")]).check(0, &[]);
    world.run(&["init", "gemini", "--store", &store("two")]).check(0, &[]);
    world.run(&["doctor"]).check(0, &[&store("one"), &store("two")]);
    fs::remove_dir_all(world.path("two")).expect("removed");
    world.write("two", "no directory");
    world.run(&["doctor"]).check(1, &["so every call is denied"]);
}

#[test]
fn a_program_is_wired_by_the_link_that_outlives_its_version() {
    let world = world("codex", "codex-cli 0.166.0");
    fs::create_dir_all(world.path("opt/jackline-1")).expect("made");
    fs::rename(world.path("bin/jackline"), world.path("opt/jackline-1/jackline")).expect("moved");
    std::os::unix::fs::symlink(world.path("opt/jackline-1/jackline"), world.path("bin/jackline")).expect("linked");
    world.run(&["init", "codex"]).check(0, &[]);
    let wired = world.read("home/.codex/hooks.json");
    assert!(wired.contains("/bin/jackline") && !wired.contains("jackline-1"), "{wired}");
}
