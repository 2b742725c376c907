//! Hosts' real messages, captured once: what each is read as, and what is answered where all is allowed and where
//! nothing is.
//!
//! `JACKLINE_UPDATE=1 cargo test -p jackline --test hosts` writes `want/` anew.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says so by panicking"
)]

use std::fs;
use std::path::{Path, PathBuf};

use jackline_core::time::Timestamp;
use jackline_runtime::Runtime;
use jackline_runtime::adapters::{self, Adapter, Reply};
use serde_json::{Value, json};

/// Nothing is declared, so everything is allowed.
const FREE: &str = "jackline: 1\nloop: false\n";
/// Every call is refused, and a limit speaks at every other one.
const STRICT: &str = "jackline: 1\npolicies: [ { name: nothing, rule: { tool: \"*\", reason: nothing is allowed here, suggest: [ask the owner] } } ]\n";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn adapter(host: &str) -> Box<dyn Adapter> {
    adapters::named(host, Some("local")).expect("a host with an adapter")
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
fn gemini_cli() {
    check("gemini", "0.61.0", 40);
}

#[test]
fn qwen_code() {
    check("qwen", "0.24.4", 37);
}

#[test]
fn copilot_cli() {
    check("copilot", "1.0.102", 30);
}

/// The reason on standard error: one client reads its answer there, too.
fn reasoned(stderr: &str) -> String {
    let answer: Value = serde_json::from_str(stderr).unwrap_or_default();
    answer["reason"].as_str().unwrap_or(stderr).to_owned()
}

/// Another hook's consent stands in the place of our decision there, but `continue` is taken from any.
#[test]
fn a_refusal_of_a_qwen_gate_stands_beside_other_hooks() {
    let message = fs::read(root().join("conformance/hosts/qwen/0.24.4/PreToolUse.run_shell_command.json")).unwrap();
    let refused = answered("qwen", STRICT, &message);
    let answer: Value = serde_json::from_str(refused["stderr"].as_str().unwrap()).unwrap();
    assert_eq!((&answer, &answer["continue"]), (&refused["stdout"], &json!(false)));
    assert_eq!(answer["stopReason"], answer["hookSpecificOutput"]["permissionDecisionReason"]);
}

/// A refusal that each of these hosts obeys in more than one way: JSON, a word on standard error, the exit code.
#[track_caller]
fn said_three_times(version: &str, gate: &str, (verdict, reason): (&str, &str)) {
    let host = version.split('/').next().unwrap();
    let mut gates = messages(&root().join("conformance/hosts").join(version));
    gates.retain(|path| path.file_name().unwrap().to_str().unwrap().starts_with(gate));
    // The file is not there, or it is not told where something is done, which is refused by itself.
    let by_itself = ["BeforeTool.replace.json", "PreToolUse.agent.working_dir.json", "PreToolUse.lsp.rename.json"];
    gates.retain(|path| !by_itself.iter().any(|name| path.ends_with(name)));
    assert!(gates.len() > 5, "{host}");
    for path in gates {
        let refused = answered(host, STRICT, &fs::read(&path).unwrap());
        let told = refused.pointer(reason).and_then(Value::as_str).unwrap_or_default();
        assert_eq!(refused.pointer(verdict), Some(&json!("deny")), "{}", path.display());
        assert!(told.starts_with("nothing is allowed here\n→ ask the owner\n"), "{}: {told}", path.display());
        let stderr = refused["stderr"].as_str().unwrap();
        assert_eq!((&refused["exit"], reasoned(stderr)), (&json!(2), told.to_owned()), "{}", path.display());
        let allowed = answered(host, FREE, &fs::read(&path).unwrap());
        assert_eq!(allowed, json!({ "exit": 0, "stdout": null, "stderr": "" }), "{}", path.display());
    }
}

#[test]
fn codex() {
    check("codex", "0.166.0", 40);
}

#[test]
fn opencode() {
    check("opencode", "1.18.33", 20);
}

#[test]
fn a_cut_read_of_opencode_keeps_what_stands_around_it() {
    let message = fs::read(root().join("conformance/hosts/opencode/1.18.33/tool.execute.after.read.json")).unwrap();
    let cut = answered("opencode", TIGHT, &message)["stdout"]["output"].as_str().unwrap().to_owned();
    let head = "<path>/home/dev/repo/long.txt</path>\n<type>file</type>\n<content>\n1: first\n";
    let note = "[lines_shown: 1, lines_remaining: 2, has_more: true, next_offset: 2]";
    assert_eq!(cut, format!("{head}{note}\n</content>"));
}

#[test]
fn cursor() {
    check("cursor", "documented", 15);
}

#[test]
fn vs_code() {
    check("vscode", "documented", 13);
}

/// What a gate of a host refuses must be said three times: its client drops JSON that it does not like.
#[test]
fn every_refusal_of_a_codex_gate_is_one_that_the_client_obeys() {
    for path in messages(&root().join("conformance/hosts/codex/0.166.0")) {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let refused = answered("codex", STRICT, &fs::read(&path).unwrap());
        if !name.starts_with("PreToolUse.") {
            assert_eq!(refused["exit"], 0, "{name}");
            continue;
        }
        let reason = refused["stderr"].as_str().unwrap();
        assert!(reason.starts_with("nothing is allowed here\n→ ask the owner\n"), "{name}: {reason}");
        let specific = json!({
            "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason,
        });
        let want = json!({ "exit": 2, "stdout": { "hookSpecificOutput": specific }, "stderr": reason });
        assert_eq!(refused, want, "{name}");
    }
}

#[test]
fn every_refusal_of_a_gate_is_said_three_times() {
    said_three_times("gemini/0.61.0", "BeforeTool.", ("/stdout/decision", "/stdout/reason"));
    said_three_times(
        "copilot/1.0.102",
        "PreToolUse.",
        ("/stdout/permissionDecision", "/stdout/permissionDecisionReason"),
    );
    let nested =
        ("/stdout/hookSpecificOutput/permissionDecision", "/stdout/hookSpecificOutput/permissionDecisionReason");
    said_three_times("qwen/0.24.4", "PreToolUse.", nested);
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

/// No outcome is shown beyond one line.
const TIGHT: &str = "jackline: 1\nloop: false\nreads: { lines_max: 1 }\noutputs: { lines_max: 1 }\n";

fn claude_message(name: &str) -> Vec<u8> {
    fs::read(root().join("conformance/hosts/claude/2.1.325").join(name)).unwrap()
}

#[test]
fn a_page_is_asked_for_and_nothing_is_approved() {
    let bounded = answered("claude", TIGHT, &claude_message("PreToolUse.Read.json"));
    let input = json!({ "file_path": "/home/dev/repo/README.md", "limit": 1 });
    let specific = json!({ "hookEventName": "PreToolUse", "updatedInput": input });
    assert_eq!(bounded, json!({ "exit": 0, "stdout": { "hookSpecificOutput": specific }, "stderr": "" }));
    for other in ["PreToolUse.Bash.json", "PreToolUse.Grep.json", "PreToolUse.Write.json"] {
        assert_eq!(answered("claude", TIGHT, &claude_message(other))["stdout"], Value::Null, "{other}");
    }
}

#[test]
fn a_cut_outcome_has_the_shape_that_the_client_takes() {
    let cut = |name: &str, altered: &dyn Fn(&mut Value)| {
        let mut native: Value = serde_json::from_slice(&claude_message(name)).unwrap();
        altered(&mut native["tool_response"]);
        let answer = answered("claude", TIGHT, native.to_string().as_bytes());
        let specific = answer["stdout"]["hookSpecificOutput"].clone();
        assert_eq!(specific["hookEventName"], "PostToolUse", "{name}: {answer}");
        assert_eq!(shape(&specific["updatedToolOutput"]), shape(&native["tool_response"]), "{name}");
        specific["updatedToolOutput"].clone()
    };
    let note = |remaining: u64| format!("[lines_shown: 1, lines_remaining: {remaining}, has_more: true]");
    let bash = cut("PostToolUse.Bash.json", &|_| {});
    assert_eq!(bash["stdout"], format!("hi\n{}", note(1)));
    let read = cut("PostToolUse.Read.json", &|response| response["file"]["content"] = json!("one\ntwo\n"));
    assert_eq!(read["file"]["content"], "one\n[lines_shown: 1, lines_remaining: 1, has_more: true, next_offset: 2]");
    assert_eq!((&read["file"]["numLines"], &read["file"]["startLine"]), (&json!(1), &json!(1)));
    let grep = cut("PostToolUse.Grep.json", &|response| response["content"] = json!("a:1:x\nb:1:x"));
    assert_eq!(grep["content"], format!("a:1:x\n{}", note(1)));
    let glob = cut("PostToolUse.Glob.json", &|_| {});
    assert_eq!(glob["filenames"], json!(["README.md", note(4)]));
    let blocks = cut("PostToolUse.mcp__mini__echo.json", &|response| response[0]["text"] = json!("1\n2"));
    assert_eq!(blocks, json!([{ "type": "text", "text": format!("1\n{}", note(1)) }]));
    let text = cut("PostToolUse.mcp__mini__structured.json", &|response| *response = json!("1\n2"));
    assert_eq!(text, format!("1\n{}", note(1)));
}

/// The members of a value and their types, whatever their values.
fn shape(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), shape(value))).collect(),
        Value::Array(items) => json!([items.first().map(shape)]),
        Value::String(_) => json!("text"),
        Value::Number(_) => json!("number"),
        Value::Bool(_) => json!("flag"),
        Value::Null => Value::Null,
    }
}

#[test]
fn what_a_failed_call_printed_cannot_be_replaced_and_is_not_said_to_be() {
    let failed = answered("claude", TIGHT, &claude_message("PostToolUseFailure.Bash.json"));
    assert_eq!(failed["stdout"], Value::Null);
}

#[test]
fn a_search_that_found_nothing_gets_a_next_step() {
    let guidance = "No matches found; try listing the directory, check alternate naming, or broaden the filters.";
    let answer = |name: &str, altered: &dyn Fn(&mut Value)| {
        let mut native: Value = serde_json::from_slice(&claude_message(name)).unwrap();
        altered(&mut native);
        answered("claude", FREE, native.to_string().as_bytes())["stdout"]["hookSpecificOutput"].clone()
    };
    let found = answer("PostToolUse.Grep.json", &|_| {});
    assert_eq!(found, Value::Null, "it counts no file, and shows a line all the same");
    let glob = answer("PostToolUse.Glob.json", &|native| {
        native["tool_response"] = json!({ "filenames": [], "durationMs": 1, "numFiles": 0, "truncated": false });
    });
    assert_eq!(glob, json!({ "hookEventName": "PostToolUse", "additionalContext": guidance }));
    let shell = answer("PostToolUseFailure.Bash.json", &|native| {
        native["tool_input"]["command"] = json!("grep -rn foo .");
        native["error"] = json!("Exit code 1");
    });
    assert_eq!(shell, json!({ "hookEventName": "PostToolUseFailure", "additionalContext": guidance }));
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
