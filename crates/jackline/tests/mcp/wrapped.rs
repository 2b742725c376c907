//! `jackline mcp wrap`: a host's servers behind the proxy, and back.

use std::fs;

use serde_json::{Value, json};

use super::client::{Client, code, text};
use super::{World, odd_server};

fn configuration(world: &World) -> Value {
    let text = fs::read_to_string(world.path("ws/.mcp.json")).expect("there");
    serde_json::from_str(&text).expect("JSON")
}

fn said(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn a_wrapped_server_is_guarded_when_the_host_starts_it() {
    let world = World::new("jackline: 1\npolicies: [ { name: no, rule: { tool: mcp__odd__fail } } ]\n");
    let before =
        json!({"mcpServers": {"odd": {"command": odd_server(), "args": ["--log", world.path("log")]}}}).to_string();
    fs::write(world.path("ws/.mcp.json"), &before).expect("written");
    let shown = world.jackline(&["mcp", "wrap", "--dry-run"]);
    assert_eq!(shown.status.code(), Some(0), "{}", said(&shown));
    assert!(
        said(&shown).contains("nothing was written")
            && said(&shown).contains("\"mcp\", \"proxy\", \"--name\", \"odd\"")
    );
    assert_eq!(fs::read_to_string(world.path("ws/.mcp.json")).expect("there"), before);
    let wrapped = world.jackline(&["mcp", "wrap"]);
    assert_eq!(wrapped.status.code(), Some(0), "{}", said(&wrapped));
    let entry = configuration(&world)["mcpServers"]["odd"].clone();
    let words: Vec<&str> = entry["args"].as_array().expect("words").iter().filter_map(Value::as_str).collect();
    let mut command = std::process::Command::new(entry["command"].as_str().expect("a program"));
    command.args(words).current_dir(world.path("ws")).env_clear().env("HOME", world.path("home"));
    let mut client = Client::start(command);
    client.greet();
    assert_eq!(text(&client.call("echo", json!({"text": "x"}))), "x");
    assert_eq!(code(&client.call("fail", json!({}))), "rule/no");
    client.leave();
    assert!(said(&world.jackline(&["mcp", "wrap"])).contains("nothing to do"));
}

#[test]
fn taking_servers_out_is_a_persons_act() {
    let world = World::new("jackline: 1\n");
    fs::write(world.path("ws/.mcp.json"), r#"{"mcpServers": {"a": {"command": "srv"}}}"#).expect("written");
    world.jackline(&["mcp", "wrap"]);
    let wrapped = fs::read_to_string(world.path("ws/.mcp.json")).expect("there");
    let refused = world.jackline(&["mcp", "wrap", "--undo", "--yes"]);
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    let within = world.command(&["mcp", "wrap"]).env("CLAUDECODE", "1").output().expect("run");
    assert_eq!(within.status.code(), Some(2));
    assert_eq!(fs::read_to_string(world.path("ws/.mcp.json")).expect("there"), wrapped);
}

#[test]
fn the_users_own_servers_are_wrapped_too() {
    let world = World::new("jackline: 1\n");
    let project = world.path("ws");
    let text = json!({
        "numStartups": 5,
        "mcpServers": {"a": {"type": "http", "url": "https://example.com/mcp", "headers": {"X-Key": "k"}}},
        "projects": {project.to_str().expect("UTF-8"): {"mcpServers": {"b": {"command": "srv"}}}, "/other": {"mcpServers": {"c": {"command": "srv"}}}},
    });
    fs::write(world.path("home/.claude.json"), format!("{text:#}\n")).expect("written");
    let wrapped = world.jackline(&["mcp", "wrap"]);
    assert_eq!(wrapped.status.code(), Some(0), "{}", said(&wrapped));
    let after: Value =
        serde_json::from_str(&fs::read_to_string(world.path("home/.claude.json")).expect("there")).expect("JSON");
    assert_eq!(after["mcpServers"]["a"]["env"], json!({"JACKLINE_HEADER_1": "k"}));
    assert!(
        after["projects"][project.to_str().expect("UTF-8")]["mcpServers"]["b"]["args"]
            .to_string()
            .contains("--workspace")
    );
    assert_eq!(after["projects"]["/other"], text["projects"]["/other"]);
}

#[test]
fn a_file_that_cannot_be_read_is_left_alone() {
    let world = World::new("jackline: 1\n");
    fs::write(world.path("ws/servers.json"), "{ // mine\n}").expect("written");
    let refused = world.jackline(&["mcp", "wrap", "--config", "servers.json"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(said(&refused).contains("is left alone"), "{}", said(&refused));
    fs::write(world.path("ws/servers.json"), r#"{"mcp": {"a": {"command": "srv"}}}"#).expect("written");
    let elsewhere = world.jackline(&["mcp", "wrap", "--config", "servers.json"]);
    assert_eq!(elsewhere.status.code(), Some(2), "{}", said(&elsewhere));
    assert!(said(&elsewhere).contains("has no list of servers"), "{}", said(&elsewhere));
    let missing = world.jackline(&["mcp", "wrap", "--config", "none.json"]);
    assert_eq!(missing.status.code(), Some(2), "{}", said(&missing));
}

#[test]
fn doctor_looks_at_proxies() {
    let world = World::new("jackline: 1\n");
    fs::create_dir(world.path("home/.claude")).expect("made");
    fs::write(world.path("ws/.mcp.json"), r#"{"mcpServers": {"a": {"command": "srv"}}}"#).expect("written");
    assert!(said(&world.jackline(&["mcp", "wrap"])).contains("names paths of this machine"));
    let doctor = said(&world.jackline(&["doctor"]));
    assert!(doctor.contains("`a`: behind the proxy"), "{doctor}");
    let lax = fs::read_to_string(world.path("ws/.mcp.json"))
        .expect("there")
        .replace("\"--name\"", "\"--definition\", \"lax.yaml\", \"--name\"");
    fs::write(world.path("ws/.mcp.json"), &lax).expect("written");
    let doctor = said(&world.jackline(&["doctor"]));
    assert!(doctor.contains("`a`: behind a proxy, but it judges by `lax.yaml` alone"), "{doctor}");
    assert!(said(&world.jackline(&["mcp", "wrap"])).contains("judges by something else"));
    let gone = r#"{"mcpServers": {"a": {"command": "/opt/old/jackline", "args": ["mcp", "proxy", "--name", "a", "--", "srv"]}}}"#;
    fs::write(world.path("ws/.mcp.json"), gone).expect("written");
    let doctor = world.jackline(&["doctor"]);
    assert!(said(&doctor).contains("`a`: the proxy's program `/opt/old/jackline` is not there"), "{}", said(&doctor));
    assert_eq!(doctor.status.code(), Some(1));
}

#[test]
fn a_project_that_is_named_is_written_for_all_servers() {
    let world = World::new("jackline: 1\npolicies: [ { name: no, rule: { tool: mcp__odd__echo } } ]\n");
    let text = json!({"mcpServers": {"odd": {"command": odd_server()}}}).to_string();
    fs::write(world.path("desk.json"), &text).expect("written");
    let (file, project) = (world.path("desk.json"), world.path("ws"));
    let (file, project) = (file.to_str().expect("UTF-8"), project.to_str().expect("UTF-8"));
    let unsaid = world.jackline(&["mcp", "wrap", "--config", file, "--dry-run"]);
    assert!(said(&unsaid).contains("judge by the directory that they are started in"), "{}", said(&unsaid));
    let wrapped = world.jackline(&["mcp", "wrap", "--config", file, "--workspace", project]);
    assert_eq!(wrapped.status.code(), Some(0), "{}", said(&wrapped));
    assert!(!said(&wrapped).contains("started in"), "{}", said(&wrapped));
    let entry: Value = serde_json::from_str(&fs::read_to_string(file).expect("there")).expect("JSON");
    let entry = &entry["mcpServers"]["odd"];
    let words: Vec<&str> = entry["args"].as_array().expect("words").iter().filter_map(Value::as_str).collect();
    let mut command = std::process::Command::new(entry["command"].as_str().expect("a program"));
    command.args(words).current_dir("/").env_clear().env("HOME", world.path("home"));
    let mut client = Client::start(command);
    client.greet();
    assert_eq!(code(&client.call("echo", json!({"text": "x"}))), "rule/no");
}

#[test]
fn a_server_that_is_started_elsewhere_is_guarded_all_the_same_or_left() {
    let world = World::new("jackline: 1\npolicies: [ { name: no, rule: { tool: mcp__odd__echo } } ]\n");
    let text = json!({"mcpServers": {"odd": {"command": odd_server(), "cwd": world.path("home")}}}).to_string();
    fs::write(world.path("ws/.mcp.json"), &text).expect("written");
    fs::create_dir(world.path("home/.copilot")).expect("made");
    fs::write(world.path("home/.copilot/mcp-config.json"), &text).expect("written");
    fs::write(world.path("home/.claude.json"), &text).expect("written");
    let wrapped = world.jackline(&["mcp", "wrap"]);
    assert_eq!(wrapped.status.code(), Some(0), "{}", said(&wrapped));
    assert_eq!(said(&wrapped).matches("in a directory of its own (`cwd`)").count(), 2, "{}", said(&wrapped));
    for own in ["home/.copilot/mcp-config.json", "home/.claude.json"] {
        assert_eq!(fs::read_to_string(world.path(own)).expect("there"), text, "{own}");
    }
    let entry = configuration(&world)["mcpServers"]["odd"].clone();
    let words: Vec<&str> = entry["args"].as_array().expect("words").iter().filter_map(Value::as_str).collect();
    let mut command = std::process::Command::new(entry["command"].as_str().expect("a program"));
    command.args(words).current_dir(world.path("home")).env_clear().env("HOME", world.path("home"));
    let mut client = Client::start(command);
    client.greet();
    assert_eq!(code(&client.call("echo", json!({"text": "x"}))), "rule/no");
    client.leave();
    let project = world.path("ws");
    let named = world.jackline(&["mcp", "wrap", "--workspace", project.to_str().expect("UTF-8")]);
    assert!(!said(&named).contains("is left as it is"), "{}", said(&named));
}
