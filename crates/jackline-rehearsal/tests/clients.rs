//! Every client by itself: the real program, without any hook, plays a script to its end and reaches nothing but it.

#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

use std::process::Command;

use jackline_rehearsal::client::{self, Play};
use jackline_rehearsal::{
    Claude, Client, Codex, Copilot, Gemini, Lane, Mcp, OpenCode, Qwen, Script, Stage, call, install,
};
use serde_json::{Value, json};

/// A shell call and a call of an MCP server's tool, in the host's words.
#[track_caller]
fn check(client: Result<impl Client, String>, shell: (&str, Value), note: &str) {
    let client = client.unwrap_or_else(|why| panic!("{why}"));
    let stage = Stage::new().expect("a stage");
    let git = Command::new("git").args(["init", "-q"]).current_dir(stage.repo()).status().expect("git is there");
    assert!(git.success());
    let server = Mcp::start().expect("started");
    let script = Script::new()
        .calls([call("touch", shell.0, shell.1)])
        .calls([call("note", note, json!({"text": "hello"}))])
        .say("done");
    let play = Play { servers: vec![("notes".to_owned(), server.url())], ..Play::default() };
    let run = client::play(&client, &stage, script, &play).expect("it runs");
    assert_eq!(run.model.strangers(), [""; 0], "something wanted to leave the machine");
    assert_eq!(run.model.turns_used(Lane::Main), (3, 3), "{:?}\n{}\n{:?}", run.exit, run.stderr, run.events);
    assert!(stage.has("repo/made.txt"), "{}", run.stderr);
    let text = |name: &str| run.model.outcome(name).map(|outcome| outcome.text).unwrap_or_default();
    assert!(text("touch").contains("made it"), "{}", text("touch"));
    assert!(text("note").contains("noted") && server.calls() == [json!({"text": "hello"})], "{}", text("note"));
    assert!(!run.timed_out && run.exit == Some(0), "{:?} {}", run.exit, run.stderr);
}

const RUN: &str = "echo made it; touch made.txt";

#[test]
fn claude_code() {
    let client = install::claude(install::CLAUDE).map(|program| Claude { program });
    check(client, ("Bash", json!({"command": RUN})), "mcp__notes__note");
}

#[test]
fn codex() {
    check(install::CODEX.scripted().map(Codex), ("exec_command", json!({"cmd": RUN})), "mcp__notes/note");
}

#[test]
fn opencode() {
    let shell = ("bash", json!({"command": RUN, "description": "x"}));
    check(install::OPENCODE.scripted().map(OpenCode), shell, "notes_note");
}

#[test]
fn gemini_cli() {
    let shell = ("run_shell_command", json!({"command": RUN}));
    check(install::GEMINI.scripted().map(Gemini), shell, "mcp_notes_note");
}

#[test]
fn qwen_code() {
    let shell = ("run_shell_command", json!({"command": RUN, "is_background": false}));
    check(install::QWEN.scripted().map(Qwen), shell, "mcp__notes__note");
}

#[test]
fn copilot_cli() {
    let client =
        install::COPILOT.scripted().and_then(|program| Ok(Copilot { program, cache: install::COPILOT.cache()? }));
    check(client, ("bash", json!({"command": RUN, "description": "x"})), "notes-note");
}
