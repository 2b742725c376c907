//! Our MCP server on hosts' lists: put there by `init --mcp`, found by `doctor`, taken out by `uninit`; what it is told no
//! variable undoes. And other servers on the same lists, put behind the proxy.

use serde_json::{Value, json};

use crate::others::world;
use crate::terminal::ran_by_a_person;
use crate::{Ran, World, is_there, ran};

/// What a list holds of our server.
fn entry(world: &World, file: &str, key: &str) -> Value {
    let text: String = world.read(file).lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let settings: Value = serde_json::from_str(&text).expect("JSON");
    settings[key]["jackline"].clone()
}

fn words(entry: &Value) -> Vec<String> {
    entry["args"].as_array().expect("words").iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Registers our server in a scope, looks, registers again, takes it out: the list is as it was, byte for byte.
#[track_caller]
fn check((program, host, scope): (&str, &str, &str), (file, key): (&str, &str), before: Option<&str>, told: &[&str]) {
    let world = world(program, "1.0.102");
    before.iter().for_each(|text| world.write(file, text));
    let words_of_init = ["init", host, "--scope", scope, "--mcp"];
    world.run(&[&words_of_init[..], &["--dry-run"]].concat()).check(0, &["MCP server:", "nothing was written"]);
    assert_eq!(is_there(&world.path(file)), before.is_some(), "a dry run writes nothing");
    world.run(&words_of_init).check(0, &["MCP server:", "wrote"]);
    let entry = entry(&world, file, key);
    assert_eq!((&entry["type"], entry["command"] == "jackline"), (&json!("stdio"), scope == "project"), "{entry}");
    assert_eq!(words(&entry)[..2], ["mcp", "serve"]);
    let said = words(&entry).join(" ");
    told.iter().for_each(|part| assert!(said.contains(part), "{part} is not in {said}"));
    let baked = ["--store", "--home"].map(|option| said.contains(option));
    assert_eq!(baked, [scope != "project"; 2], "shared settings name no path of this machine: {said}");
    world.run(&words_of_init).check(0, &["nothing to do"]);
    let doctor = world.run(&["doctor"]);
    assert!(doctor.out.contains("our server offers todos, facts and guarded files"), "{}", doctor.out);
    ran_by_a_person(world.command(&["uninit", host, "--yes"]), "").check(0, &["the definition and the store"]);
    match before {
        Some(text) => assert_eq!(world.read(file), text),
        None => assert!(!is_there(&world.path(file)), "{file} was made for us"),
    }
}

#[test]
fn our_server_is_registered_with_copilot_cursor_and_vs_code() {
    let list = "{\n  \"mcpServers\": {\n    \"a\": { \"command\": \"b\" }\n  }\n}\n";
    let copilot = ("home/.copilot/mcp-config.json", "mcpServers");
    let (user, project) = (("copilot", "copilot", "user"), ("copilot", "copilot", "project"));
    for before in [None, Some(list), Some("{}"), Some("{\"mcpServers\":{}}\n")] {
        check(user, copilot, before, &["--workspace ."]);
        check(project, ("ws/.mcp.json", "mcpServers"), before, &[]);
    }
    let folder = &["--workspace ${workspaceFolder}"];
    for before in [None, Some(list)] {
        check(("cursor-agent", "cursor", "user"), ("home/.cursor/mcp.json", "mcpServers"), before, folder);
        check(("cursor-agent", "cursor", "project"), ("ws/.cursor/mcp.json", "mcpServers"), before, folder);
    }
    let commented =
        "// ours\n{\n  // none yet\n  \"servers\": {\n    \"a\": { \"type\": \"stdio\", \"command\": \"b\" }\n  }\n}\n";
    for before in [None, Some(commented), Some("{\"inputs\":[]}")] {
        check(("other", "vscode", "project"), ("ws/.vscode/mcp.json", "servers"), before, folder);
    }
}

/// Starts a registered server as a client does, with this environment; what it says to one call.
fn served(world: &World, entry: &Value, variables: &[(&str, &str)], call: Value) -> Ran {
    let folder = world.path("ws").display().to_string();
    let words = words(entry).into_iter().map(|word| word.replace("${workspaceFolder}", &folder));
    let mut command = std::process::Command::new(entry["command"].as_str().expect("a program"));
    command.args(words).current_dir(world.path("ws")).env_clear();
    command.env("PATH", world.path("bin")).envs(variables.iter().copied());
    let greeting = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    });
    let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call});
    ran(command, &format!("{greeting}\n{done}\n{call}\n"))
}

#[test]
fn no_variable_of_the_clients_leads_our_server_elsewhere() {
    for (program, host, file) in [
        ("copilot", "copilot", "home/.copilot/mcp-config.json"),
        ("cursor-agent", "cursor", "home/.cursor/mcp.json"),
        ("claude", "claude", "home/.claude.json"),
    ] {
        let world = world(program, "2.1.325");
        world.write("ws/jackline.yaml", "jackline: 1\n");
        world.write(
            "home/.config/jackline/jackline.yaml",
            "jackline: 1\npolicies: [{name: mine, rule: {tool: write_file, reason: not here}}]\n",
        );
        std::fs::create_dir_all(world.path("evil/project")).expect("made");
        world.write("evil/project/jackline.yaml", "jackline: 1\n");
        world.run(&["init", host, "--scope", "user", "--mcp"]).check(0, &[]);
        let entry = entry(&world, file, "mcpServers");
        let evil = world.path("evil").display().to_string();
        let project = world.path("evil/project").display().to_string();
        let mut variables =
            vec![("JACKLINE_HOME", &*evil), ("XDG_STATE_HOME", &*evil), ("XDG_CONFIG_HOME", &*evil), ("HOME", &*evil)];
        if host != "claude" {
            variables.push(("CLAUDE_PROJECT_DIR", &*project));
        }
        let write = json!({"name": "write_file", "arguments": {"path": "a.txt", "content": "x"}});
        let ran = served(&world, &entry, &variables, write);
        assert!(ran.out.contains("rule/mine"), "{host}: {} {}", ran.out, ran.err);
        let sessions = world.run(&["sessions"]);
        assert!(sessions.out.contains("mcp-"), "its records are where the hooks keep theirs: {}", sessions.out);
        let left = world.files("evil");
        assert_eq!(left.len(), 1, "{host}: nothing is kept where the variables lead: {left:?}");
    }
}

#[test]
fn hosts_that_share_a_projects_list_share_our_server() {
    let world = world("copilot", "1.0.102");
    world.script("bin/claude", "echo '2.1.325 (Claude Code)'");
    world.run(&["init", "claude", "copilot", "--scope", "project", "--mcp"]).check(0, &["wrote .mcp.json"]);
    assert_eq!(words(&entry(&world, "ws/.mcp.json", "mcpServers")), ["mcp", "serve"]);
    world.run(&["init", "claude", "copilot", "--scope", "project", "--mcp"]).check(0, &["nothing to do"]);
    ran_by_a_person(world.command(&["uninit", "copilot", "--yes"]), "").check(0, &[]);
    assert_eq!(words(&entry(&world, "ws/.mcp.json", "mcpServers")), ["mcp", "serve"], "Claude Code is still wired");
    ran_by_a_person(world.command(&["uninit", "--yes"]), "").check(0, &["removed .mcp.json"]);
    world.run(&["init", "claude", "copilot", "--scope", "project", "--mcp"]).check(0, &[]);
    ran_by_a_person(world.command(&["uninit", "--yes"]), "").check(0, &["removed .mcp.json"]);
}

#[test]
fn where_last_words_are_not_told_the_way_out_is_named() {
    let world = world("copilot", "1.0.102");
    world.write("ws/jackline.yaml", "jackline: 1\ncompletion: { files: [report.md] }\n");
    world.run(&["init", "copilot"]).check(0, &["to park, it needs our MCP server", "jackline init copilot --mcp"]);
    world.run(&["doctor"]).check(0, &["our server is not registered", "jackline init copilot --mcp"]);
    let registered = world.run(&["init", "copilot", "--mcp"]);
    assert!(registered.code == Some(0) && !registered.err.contains("to park"), "{}", registered.err);
    let doctor = world.run(&["doctor"]);
    assert!(doctor.code == Some(0) && !doctor.out.contains("our server is not registered"), "{}", doctor.out);
    world.write("home/.copilot/mcp-config.json", &world.read("home/.copilot/mcp-config.json").replace("--home", "--x"));
    world.run(&["doctor"]).check(0, &["left to the client's variables"]);
}

#[test]
fn servers_on_every_list_go_behind_the_proxy_and_come_back() {
    let world = world("copilot", "1.0.102");
    let lists = [
        ("ws/.cursor/mcp.json", "{\"mcpServers\":{\"a\":{\"command\":\"srv\"}}}", "${workspaceFolder}"),
        (
            "ws/.vscode/mcp.json",
            "{ // ours\n  \"servers\": { \"a\": { \"type\": \"stdio\", \"command\": \"srv\" } }\n}\n",
            "${workspaceFolder}",
        ),
        ("home/.copilot/mcp-config.json", "{\"mcpServers\":{\"a\":{\"type\":\"local\",\"command\":\"srv\"}}}", "\".\""),
        ("home/.cursor/mcp.json", "{\"mcpServers\":{\"a\":{\"command\":\"srv\"}}}", "${workspaceFolder}"),
    ];
    lists.iter().for_each(|(file, text, _)| world.write(file, text));
    world.write("home/.claude.json", "{ no list");
    world.run(&["mcp", "wrap"]).check(2, &["`a`: behind the proxy", "left alone", ".claude.json"]);
    for (file, text, workspace) in lists {
        let wrapped = world.read(file);
        for part in ["\"mcp\", \"proxy\", \"--name\", \"a\"", "--store", "--home", workspace] {
            assert!(wrapped.contains(part), "{part} is not in {wrapped}");
        }
        let named = world.path(file).display().to_string();
        ran_by_a_person(world.command(&["mcp", "wrap", "--undo", "--yes", "--config", &named]), "").check(0, &[]);
        assert_eq!(world.read(file), text);
    }
}
