//! Hosts' real messages, captured once: what each is read as, and what is answered where all is allowed and where
//! nothing is.
//!
//! `JACKLINE_UPDATE=1 cargo test -p jackline --test hosts` writes `want/` anew.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on says so by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use jackline_core::time::Timestamp;
use jackline_runtime::Runtime;
use jackline_runtime::adapters::claude::Claude;
use jackline_runtime::adapters::{Adapter, Reply};
use serde_json::{Value, json};

/// Nothing is declared, so everything is allowed.
const FREE: &str = "jackline: 1\nloop: false\n";
/// Every call is refused, and a limit speaks at every other one.
const STRICT: &str = "jackline: 1\npolicies: [ { name: nothing, rule: { tool: \"*\", reason: nothing is allowed here, suggest: [ask the owner] } } ]\n";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn adapter(host: &str) -> Box<dyn Adapter> {
    assert_eq!(host, "claude", "a host without an adapter");
    Box::new(Claude { wired: Some("local_settings") })
}

fn answered(host: &str, definition: &str, native: &[u8]) -> Value {
    let workspace = tempfile::tempdir().unwrap();
    let runtime = Runtime::builder().workspace(workspace.path()).definition_yaml(definition).build().unwrap();
    let Reply { stdout, stderr, exit } = runtime.handle(adapter(host).as_ref(), native);
    let stdout: Value =
        if stdout.is_empty() { Value::Null } else { serde_json::from_str(&without_heads(&stdout)).unwrap() };
    json!({ "exit": exit, "stdout": stdout, "stderr": stderr })
}

/// A head hangs on the time of day.
fn without_heads(text: &str) -> String {
    let hash = |word: &str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let plain = |part: &str| if hash(part) { "HASH".to_owned() } else { part.to_owned() };
    text.split('"')
        .map(|piece| piece.split(' ').map(plain).collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>()
        .join("\"")
}

fn seen(host: &str, native: &[u8]) -> Value {
    let heard = adapter(host).read(native, Timestamp(0));
    let events = heard.messages.expect("a captured message is readable");
    json!({
        "moment": format!("{:?}", heard.asked.moment),
        "events": events.into_iter().map(|message| message.raw).collect::<Vec<_>>(),
        "allowed": answered(host, FREE, native),
        "refused": answered(host, STRICT, native),
    })
}

fn messages(version: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(version).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    found.sort();
    found
}

#[track_caller]
fn check(host: &str, version: &str, at_least: usize) {
    let directory = root().join("conformance/hosts").join(host).join(version);
    let messages = messages(&directory);
    assert!(messages.len() >= at_least, "{} messages of {host} {version}", messages.len());
    for path in messages {
        let want = directory.join("want").join(path.file_name().unwrap());
        let seen = format!("{:#}\n", seen(host, &fs::read(&path).unwrap()));
        if std::env::var_os("JACKLINE_UPDATE").is_some() {
            fs::create_dir_all(want.parent().unwrap()).unwrap();
            fs::write(&want, &seen).unwrap();
        }
        let wanted = fs::read_to_string(&want).unwrap_or_default();
        assert_eq!(seen, wanted, "{host} {version} {}", path.display());
    }
}

#[test]
fn claude_code() {
    check("claude", "2.1.325", 80);
}

#[test]
fn an_older_claude_code() {
    check("claude", "2.1.197", 9);
}

#[test]
fn every_refusal_of_a_claude_gate_is_one_that_the_client_obeys() {
    for path in messages(&root().join("conformance/hosts/claude/2.1.325")) {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if !name.starts_with("PreToolUse.") {
            continue;
        }
        let refused = answered("claude", STRICT, &fs::read(&path).unwrap());
        let specific = &refused["stdout"]["hookSpecificOutput"];
        assert_eq!(refused["exit"], 0, "{name}");
        assert_eq!(specific["hookEventName"], "PreToolUse", "{name}");
        assert_eq!(specific["permissionDecision"], "deny", "{name}");
        let reason = specific["permissionDecisionReason"].as_str().unwrap();
        assert!(reason.starts_with("nothing is allowed here\n→ ask the owner\n"), "{name}: {reason}");
    }
}

#[test]
fn allowing_is_silence_at_every_gate() {
    for path in messages(&root().join("conformance/hosts/claude/2.1.325")) {
        if path.file_name().unwrap().to_str().unwrap().starts_with("PreToolUse.") {
            let allowed = answered("claude", FREE, &fs::read(&path).unwrap());
            assert_eq!(allowed, json!({ "exit": 0, "stdout": null, "stderr": "" }), "{}", path.display());
        }
    }
}
