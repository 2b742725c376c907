//! File tools of our own server while other calls and other programs change the same files.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};

use super::World;
use super::client::{code, text};

#[test]
fn edits_at_once_are_all_made() {
    let world = World::new("jackline: 1\n");
    let lines: String = (0..16).map(|n| format!("line {n:02}\n")).collect();
    fs::write(world.path("ws/f.txt"), lines).expect("written");
    let mut client = world.served(&[]);
    let edit =
        |n: usize| json!({"path": "f.txt", "old_text": format!("line {n:02}\n"), "new_text": format!("done {n:02}\n")});
    (0..16).for_each(|n| drop(client.ask("tools/call", json!({"name": "edit_file", "arguments": edit(n)}))));
    for _ in 0..16 {
        assert_eq!(text(&client.message()), "Replaced 1 in f.txt.");
    }
    let after = fs::read_to_string(world.path("ws/f.txt")).expect("there");
    assert_eq!(after.lines().filter(|line| line.starts_with("done")).count(), 16, "{after}");
}

/// Puts a link in the place of a directory and takes it away again, as fast as it goes.
fn swapping(world: &World, target: &str) -> (Arc<AtomicBool>, thread::JoinHandle<()>) {
    let (dir, link, stop) = (world.path("ws/d"), world.path("ws/link"), Arc::new(AtomicBool::new(false)));
    symlink(world.path(target), &link).expect("linked");
    let stopped = Arc::clone(&stop);
    let swap = thread::spawn(move || {
        while !stopped.load(Ordering::Relaxed) {
            renameat_with(CWD, &dir, CWD, &link, RenameFlags::EXCHANGE).expect("exchanged");
            thread::sleep(Duration::from_micros(300));
        }
    });
    (stop, swap)
}

/// Calls of one tool that are made while a link comes and goes.
const CALLS: usize = 150;

#[track_caller]
fn check(target: &str, tool: &str, args: impl Fn(usize) -> Value) {
    let world = World::new(
        "jackline: 1\npolicies:\n  - paths: { outside: deny, protect: [\"prot/**\"], protect_reads: true }\nloop: false\n",
    );
    for dir in ["ws/d", "ws/prot", "outside"] {
        fs::create_dir(world.path(dir)).expect("made");
        let said = if dir == "ws/d" { "mine xx\n" } else { "secret xx\n" };
        fs::write(world.path(dir).join("f.txt"), said).expect("written");
    }
    let mut client = world.served(&[]);
    let (stop, swap) = swapping(&world, target);
    let shown: Vec<String> = (0..CALLS).map(|n| client.call(tool, args(n)).to_string()).collect();
    stop.store(true, Ordering::Relaxed);
    swap.join().expect("swapped");
    assert!(!shown.iter().any(|answer| answer.contains("secret")), "{target} was shown");
    let there = fs::read_to_string(world.path(target).join("f.txt")).expect("there");
    assert_eq!(there, "secret xx\n", "{target} was written to");
    assert!(shown.iter().any(|answer| answer.contains("\"isError\":false")), "{shown:?}");
}

#[test]
fn a_link_that_comes_and_goes_leads_no_tool_astray() {
    for target in ["outside", "ws/prot"] {
        check(target, "read_file", |n| json!({"path": "d/f.txt", "limit": n + 1}));
        check(target, "write_file", |n| json!({"path": "d/f.txt", "content": format!("agent {n} xx\n")}));
        check(target, "edit_file", |n| {
            let (old, new) = if n % 2 == 0 { ("xx", "yy") } else { ("yy", "xx") };
            json!({"path": "d/f.txt", "old_text": old, "new_text": new})
        });
        check(target, "search", |n| json!({"pattern": "xx", "limit": n + 1}));
    }
}

#[test]
fn a_glob_does_not_bring_back_what_is_hidden_or_ignored() {
    let world = World::new("jackline: 1\n");
    for dir in [".git", "src"] {
        fs::create_dir(world.path("ws").join(dir)).expect("made");
    }
    fs::write(world.path("ws/.gitignore"), "*.log\n").expect("written");
    for file in [".git/config", ".env", "a.log", "src/a.rs", "src/a.txt"] {
        fs::write(world.path("ws").join(file), "needle\n").expect("written");
    }
    let mut client = world.served(&[]);
    for glob in [".env", "*.log", ".git/**", "**/config", ".*"] {
        let found = client.call("search", json!({"pattern": "needle", "glob": glob}));
        assert_eq!(found["result"]["structuredContent"]["matches"], json!([]), "{glob}: {found}");
    }
    for (glob, want) in
        [("*.rs", "src/a.rs:1:needle"), ("src/*.txt", "src/a.txt:1:needle"), ("!*.txt", "src/a.rs:1:needle")]
    {
        let found = client.call("search", json!({"pattern": "needle", "glob": glob}));
        assert_eq!(text(&found), want, "{glob}: {found}");
    }
    assert_eq!(code(&client.call("search", json!({"pattern": "x", "glob": "{"}))), "workspace/pattern");
}
