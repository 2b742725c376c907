//! Hosts on which one terminal runs every command: what a command leaves behind there is refused, because the next one
//! is judged as if it began in the workspace.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

use jackline_runtime::Runtime;
use jackline_runtime::adapters;
use serde_json::json;

fn said(host: &str, tool: &str, definition: &str, command: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let runtime = Runtime::builder().workspace(dir.path()).definition_yaml(definition).build().unwrap();
    let message = json!({ "hook_event_name": "PreToolUse", "session_id": "s", "cwd": dir.path(), "tool_name": tool,
        "tool_input": { "command": command }, "tool_use_id": "c", "timestamp": "2026-11-15T22:20:11Z" });
    let reply = runtime.handle(adapters::named(host, None).unwrap().as_ref(), message.to_string().as_bytes());
    format!("{}{}", reply.stdout, reply.stderr)
}

#[test]
fn a_terminal_that_is_kept_is_left_as_it_was() {
    let vscode = |command: &str| said("vscode", "run_in_terminal", "jackline: 1\n", command);
    for command in ["cd infra", "cd infra && make", "pushd infra", "alias ls=rm", "ls() { rm \"$@\"; }", "cd -"] {
        assert!(vscode(command).contains("shell/left-behind"), "{command}: {}", vscode(command));
    }
    for command in ["(cd infra && make)", "make -C infra", "ls infra", "X=1 make", "cargo test | tail"] {
        assert!(!vscode(command).contains("deny"), "{command}: {}", vscode(command));
    }
}

#[test]
fn elsewhere_every_command_begins_anew_and_the_owner_may_allow_it() {
    let moves = "cd infra && make";
    assert!(!said("copilot", "Bash", "jackline: 1\n", moves).contains("left-behind"));
    let free = "jackline: 1\nshell: { opaque: allow }\n";
    assert!(!said("vscode", "run_in_terminal", free, moves).contains("left-behind"));
}

#[test]
fn a_message_without_a_name_is_refused_unless_it_is_a_persons_word() {
    let dir = tempfile::tempdir().unwrap();
    let runtime = Runtime::builder().workspace(dir.path()).definition_yaml("jackline: 1\n").build().unwrap();
    let copilot = adapters::named("copilot", None).unwrap();
    let told = |message: serde_json::Value| runtime.handle(copilot.as_ref(), message.to_string().as_bytes());
    let gate = told(json!({ "sessionId": "s", "toolName": "bash", "toolArgs": { "command": "ls" } }));
    assert!(gate.exit == 2 && gate.stderr.contains("names no event"), "{gate:?}");
    let prompt = told(json!({ "sessionId": "s", "prompt": "go on" }));
    assert_eq!((prompt.exit, prompt.stdout.as_str()), (0, ""), "{prompt:?}");
}
