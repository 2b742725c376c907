//! What the protocol's own tools say of our server: the conformance suite, and the inspector's command line.
//!
//! Most of the suite's scenarios are about tools, prompts and resources of a server that was written for it. Those that
//! are run here are the ones about what every server must have.

use std::io::{Read, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Command, Output};
use std::thread;

use jackline_rehearsal::install::{self, Package};
use serde_json::{Value, json};

use super::listening::{Listening, TOKEN};
use super::{JACKLINE, World};

/// What every server must have, as far as the suite looks at it.
const SCENARIOS: [&str; 8] = [
    "server-initialize",
    "ping",
    "tools-list",
    "tools-call-error",
    "completion-complete",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
];

fn path(package: Package) -> String {
    package.path().unwrap_or_else(|why| panic!("{why}")).to_str().expect("UTF-8").to_owned()
}

/// Runs one of the tools, in the workspace.
fn run(world: &World, tool: Package, arguments: &[&str]) -> Output {
    let mut command = Command::new(path(install::NODE));
    command.arg(path(tool)).args(arguments).current_dir(world.path("ws")).env_clear();
    command.env("HOME", world.path("home")).env("PATH", "/usr/local/bin:/usr/bin:/bin").output().expect("it starts")
}

/// Passes connections on to the server, with the token in every request: the suite has no option for it.
fn with_token(server: &Listening) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("bound");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    let target = server.authority().to_owned();
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let server = TcpStream::connect(&target).expect("connected");
            thread::spawn(move || carry(client, server));
        }
    });
    url
}

/// One request there, and its answer back.
fn carry(mut client: TcpStream, mut server: TcpStream) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && client.read_exact(&mut byte).is_ok() {
        head.extend(byte);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let (first, rest) = head.split_once("\r\n").unwrap_or_default();
    let rest: Vec<&str> = rest.lines().filter(|line| !line.to_ascii_lowercase().starts_with("connection:")).collect();
    let head = format!(
        "{first}\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close\r\n{}\r\n\r\n",
        rest.join("\r\n").trim_end()
    );
    drop(server.write_all(head.as_bytes()));
    let (mut from, mut to) = (client.try_clone().expect("cloned"), server.try_clone().expect("cloned"));
    let up = thread::spawn(move || drop(std::io::copy(&mut from, &mut to)));
    drop(std::io::copy(&mut server, &mut client));
    drop(client.shutdown(Shutdown::Both));
    drop(up.join());
}

#[test]
fn the_conformance_suite_passes_for_what_every_server_must_have() {
    let world = World::new("jackline: 1\nloop: false\n");
    let server = Listening::start(&world, &[], Some(TOKEN));
    let url = with_token(&server);
    for scenario in SCENARIOS {
        let ran = run(&world, install::CONFORMANCE, &["server", "--url", &url, "--scenario", scenario]);
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert_eq!(ran.status.code(), Some(0), "{scenario}: {said}{}", String::from_utf8_lossy(&ran.stderr));
        assert!(said.contains("0 failed") && !said.contains("Passed: 0/"), "{scenario}: {said}");
    }
}

/// What the inspector shows of a request.
#[track_caller]
fn inspected(world: &World, target: &[&str], asked: &[&str]) -> Value {
    let ran = run(world, install::INSPECTOR, &[&["--cli"], target, asked].concat());
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    serde_json::from_str(&said)
        .unwrap_or_else(|fault| panic!("{fault}: {said}{}", String::from_utf8_lossy(&ran.stderr)))
}

#[test]
fn no_client_has_trouble_with_our_schemas() {
    let world = World::new("jackline: 1\n");
    let asked = ["--cli", "--strict", JACKLINE, "mcp", "serve", "--method", "tools/list"];
    let ran = run(&world, install::INSPECTOR, &asked);
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!((ran.status.code(), said.contains("Warning")), (Some(0), false), "{said}");
}

#[test]
fn the_inspector_lists_and_calls_tools_of_server_and_proxy() {
    let world = World::new("jackline: 1\n");
    std::fs::write(world.path("ws/a.txt"), "one\n").expect("written");
    let server = Listening::start(&world, &[], Some(TOKEN));
    let bearer = format!("Authorization: Bearer {TOKEN}");
    let proxied = [JACKLINE, "mcp", "proxy", "--name", "jackline", "--", JACKLINE, "mcp", "serve"];
    let targets: [&[&str]; 3] = [&[JACKLINE, "mcp", "serve"], &proxied, &[&server.url, "--header", &bearer]];
    for target in targets {
        let listed = inspected(&world, target, &["--method", "tools/list"]);
        assert_eq!(listed["tools"].as_array().map(Vec::len), Some(17), "{target:?}");
        let call = ["--method", "tools/call", "--tool-name", "read_file", "--tool-arg", "path=a.txt"];
        let read = inspected(&world, target, &call);
        assert_eq!(
            (&read["structuredContent"]["content"], &read["isError"]),
            (&json!("one\n"), &json!(false)),
            "{read}"
        );
    }
}
