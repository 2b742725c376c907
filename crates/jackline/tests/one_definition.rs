//! One definition, every host: the same acts in each host's own messages lead to the same decisions and records.
//!
//! The real program is asked as each host asks it. Of the records only what is the host's own may differ: its name, its
//! ids, its tools' names and arguments, and what hangs on them.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says so by panicking"
)]

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use jackline_runtime::adapters;
use serde_json::{Value, json};
use tempfile::TempDir;

const DEFINITION: &str = r#"jackline: 1
steps:
  test: { tool: "@shell", command: "./check.sh*" }
  commit: { tool: "@shell", command: "git commit*" }
policies:
  - name: tested
    sequence: { requires: { commit: [test] } }
  - read_before_write: {}
  - paths: { outside: allow, protect: ["vault/**"] }
feedback: [{ static: the tide turns at six, every_n_calls: 3 }]
completion: { files: [report.md] }
"#;

/// Members of records that are a host's own, or of the moment.
const OWN: &[&str] = &[
    "args",
    "at",
    "again",
    "background",
    "fixed",
    "hash",
    "host",
    "id",
    "model",
    "native",
    "output",
    "permission_mode",
    "prev_hash",
    "raw_hash",
    "signature",
    "source",
    "tool",
    "transcript",
];

/// What an agent does, in no host's words.
#[derive(Clone, Copy)]
enum Act {
    Start,
    Prompt,
    /// A call is asked for; if it is allowed it is carried out, and its end is told.
    Shell(&'static str, bool),
    Read(&'static str),
    Write(&'static str),
    Stop,
    /// What happens meanwhile.
    Appears(&'static str),
}

const ACTS: &[Act] = &[
    Act::Start,
    Act::Prompt,
    Act::Shell("touch vault/key", true),
    Act::Shell("git commit -m early", true),
    Act::Shell("./check.sh", false),
    Act::Shell("git commit -m failed", true),
    Act::Shell("./check.sh --again", true),
    Act::Shell("git commit -m late", true),
    Act::Write("notes.txt"),
    Act::Read("notes.txt"),
    Act::Write("notes.txt"),
    Act::Write("jackline.yaml"),
    Act::Shell("jackline off --for 1h", true),
    Act::Stop,
    Act::Appears("report.md"),
    Act::Stop,
];

/// What a host tells of.
#[derive(Clone, Copy)]
enum Told {
    Start,
    Prompt,
    Asked(Call),
    /// A call has ended, well or not.
    Ended(Call, bool),
    Stop,
}

/// A call by its number among the acts.
#[derive(Clone, Copy)]
struct Call(usize, Act);

impl Call {
    fn id(self) -> String {
        format!("toolu_{}", self.0)
    }

    fn is_shell(self) -> bool {
        matches!(self.1, Act::Shell(..))
    }
}

/// How a host tells of acts.
struct Host {
    name: &'static str,
    /// Its message; the workspace and what is told.
    message: fn(&Path, Told) -> Value,
}

/// The names that a host of Claude Code's kind has for events and tools.
struct Names {
    events: [&'static str; 4],
    tools: [&'static str; 3],
    path: &'static str,
    content: &'static str,
    /// What it tells of a call that has ended: whether it went well, and whether it was a shell's.
    ended: fn(bool, bool) -> (&'static str, Value),
}

const CLAUDE_LIKE: [&str; 4] = ["SessionStart", "UserPromptSubmit", "PreToolUse", "Stop"];

/// The event, and what is told beside what every message holds.
fn told(names: &Names, told: Told) -> (&'static str, Value) {
    let [start, prompt, before, stop] = names.events;
    match told {
        Told::Start => (start, json!({"source": "startup"})),
        Told::Prompt => (prompt, json!({"prompt": "go", "submitted_prompt": "go"})),
        Told::Stop => (
            stop,
            json!({"stop_hook_active": false, "last_assistant_message": "Done.", "prompt_response": "Done.",
                   "status": "completed", "loop_count": 0}),
        ),
        Told::Asked(call) => (before, called(names, call)),
        Told::Ended(call, well) => {
            let (event, more) = (names.ended)(well, call.is_shell());
            (event, joined(called(names, call), more))
        }
    }
}

fn called(names: &Names, call: Call) -> Value {
    let [shell, read, write] = names.tools;
    let (tool, input) = match call.1 {
        Act::Shell(run, _) => (shell, json!({"command": run})),
        Act::Read(path) => (read, json!({names.path: path})),
        Act::Write(path) => (write, json!({names.path: path, names.content: "written\n"})),
        Act::Start | Act::Prompt | Act::Stop | Act::Appears(_) => panic!("no call"),
    };
    json!({"tool_name": tool, "tool_input": input, "tool_use_id": call.id(), "tool_call_id": call.id()})
}

fn joined(mut one: Value, other: Value) -> Value {
    one.as_object_mut().expect("an object").extend(other.as_object().cloned().unwrap_or_default());
    one
}

/// A message of a host of Claude Code's kind.
fn like_claude(names: &Names, root: &Path, what: Told) -> Value {
    let (event, more) = told(names, what);
    joined(json!({"session_id": "s1", "cwd": root, "hook_event_name": event}), more)
}

const HOSTS: &[Host] = &[
    Host {
        name: "claude",
        message: |root, what| {
            let ended = |well, _| match well {
                true => ("PostToolUse", json!({"tool_response": {"stdout": "done", "interrupted": false}})),
                false => ("PostToolUseFailure", json!({"error": "Exit code 1"})),
            };
            let tools = ["Bash", "Read", "Write"];
            let names = Names { events: CLAUDE_LIKE, tools, path: "file_path", content: "content", ended };
            like_claude(&names, root, what)
        },
    },
    Host {
        name: "gemini",
        message: |root, what| {
            let ended = |well, _| {
                let shown = if well { "Output: done" } else { "Output: (empty)\nExit Code: 1" };
                let shown = format!("{shown}\nProcess Group PGID: 17");
                ("AfterTool", json!({"tool_response": {"llmContent": shown, "returnDisplay": ""}}))
            };
            let events = ["SessionStart", "BeforeAgent", "BeforeTool", "AfterAgent"];
            let tools = ["run_shell_command", "read_file", "write_file"];
            like_claude(&Names { events, tools, path: "file_path", content: "content", ended }, root, what)
        },
    },
    Host {
        name: "qwen",
        message: |root, what| {
            let ended = |well, shell| match well {
                true if shell => {
                    let ended = "Error: (none)\nExit Code: 0\nSignal: (none)\nProcess Group PGID: (none)";
                    let shown = format!("Command: x\nDirectory: (root)\nOutput: done\n{ended}");
                    ("PostToolUse", json!({"tool_response": {"llmContent": shown}}))
                }
                true => ("PostToolUse", json!({"tool_response": {"llmContent": "done"}})),
                false => ("PostToolUseFailure", json!({"error": "Exit Code: 1"})),
            };
            let tools = ["run_shell_command", "read_file", "write_file"];
            let names = Names { events: CLAUDE_LIKE, tools, path: "file_path", content: "content", ended };
            like_claude(&names, root, what)
        },
    },
    Host {
        name: "copilot",
        message: |root, what| {
            let ended = |well, shell| {
                let code = if well { 0 } else { 1 };
                let shown =
                    if shell { format!("done\n<shellId: 0 completed with exit code {code}>") } else { "done".into() };
                ("PostToolUse", json!({"tool_result": {"result_type": "success", "text_result_for_llm": shown}}))
            };
            let tools = ["Bash", "Read", "Write"];
            let names = Names { events: CLAUDE_LIKE, tools, path: "path", content: "content", ended };
            like_claude(&names, root, what)
        },
    },
    Host { name: "codex", message: codex },
    Host { name: "opencode", message: opencode },
    Host {
        name: "cursor",
        message: |root, what| {
            let ended = |well, shell| {
                let code = if well { 0 } else { 1 };
                let output = if shell { json!({"exitCode": code, "stdout": "done"}) } else { json!({"ok": true}) };
                ("postToolUse", json!({"tool_output": output.to_string()}))
            };
            let events = ["sessionStart", "beforeSubmitPrompt", "preToolUse", "stop"];
            let names =
                Names { events, tools: ["Shell", "Read", "Write"], path: "file_path", content: "contents", ended };
            let common = json!({"conversation_id": "s1", "generation_id": "g", "workspace_roots": [root]});
            joined(like_claude(&names, root, what), common)
        },
    },
    Host {
        name: "vscode",
        message: |root, what| {
            let ended = |well, _| {
                let shown = if well { "done\n" } else { "no\nCommand exited with code 1" };
                ("PostToolUse", json!({"tool_response": shown}))
            };
            let tools = ["run_in_terminal", "read_file", "create_file"];
            let names = Names { events: CLAUDE_LIKE, tools, path: "filePath", content: "content", ended };
            let (event, more) = told(&names, what);
            joined(json!({"sessionId": "s1", "cwd": root, "hookEventName": event}), more)
        },
    },
];

/// It has no tool that reads, writes by patches, and says only in its transcript how a command ended.
fn codex(root: &Path, what: Told) -> Value {
    let names = |ended| Names { events: CLAUDE_LIKE, tools: ["Bash"; 3], path: "", content: "", ended };
    let ended = |_, shell: bool| {
        let shown = if shell { "done\n" } else { "Exit code: 0\nOutput:\nSuccess. Updated the following files:\n" };
        ("PostToolUse", json!({"tool_response": shown}))
    };
    let spelled = |Call(number, act)| match act {
        Act::Read(path) => Call(number, Act::Shell(if path == "notes.txt" { "cat notes.txt" } else { "" }, true)),
        act => Call(number, act),
    };
    let transcript = root.with_file_name("transcript.jsonl");
    let mut message = match what {
        Told::Asked(call) => like_claude(&names(ended), root, Told::Asked(spelled(call))),
        Told::Ended(call, well) => {
            let code = if well { 0 } else { 1 };
            let item = json!({"type": "CommandExecution", "id": call.id(), "exit_code": code});
            fs::write(&transcript, format!("{}\n", json!({"payload": {"item": item}}))).expect("written");
            like_claude(&names(ended), root, Told::Ended(spelled(call), well))
        }
        what => like_claude(&names(ended), root, what),
    };
    if let Told::Asked(Call(_, Act::Write(path))) | Told::Ended(Call(_, Act::Write(path)), _) = what {
        let patch = format!("*** Begin Patch\n*** Update File: {path}\n@@\n-precious\n+written\n*** End Patch\n");
        message = joined(message, json!({"tool_name": "apply_patch", "tool_input": {"command": patch}}));
    }
    joined(message, json!({"transcript_path": transcript, "turn_id": "t", "permission_mode": "default"}))
}

/// Our plugin asks, in a language of its own.
fn opencode(root: &Path, what: Told) -> Value {
    let about = |call: Call| {
        let (tool, args) = match call.1 {
            Act::Shell(run, _) => ("bash", json!({"command": run})),
            Act::Read(path) => ("read", json!({"filePath": path})),
            Act::Write(path) => ("write", json!({"filePath": path, "content": "written\n"})),
            Act::Start | Act::Prompt | Act::Stop | Act::Appears(_) => panic!("no call"),
        };
        json!({"input": {"tool": tool, "callID": call.id()}, "args": args})
    };
    let (hook, more) = match what {
        Told::Start => ("session.created", json!({})),
        Told::Prompt => ("chat.message", json!({"prompt": "go"})),
        Told::Stop => ("session.idle", json!({"message": "Done.", "again": false})),
        Told::Asked(call) => ("tool.execute.before", about(call)),
        Told::Ended(call, well) => {
            let metadata = if call.is_shell() { json!({"exit": if well { 0 } else { 1 }}) } else { json!({}) };
            let output = json!({"output": {"title": "x", "metadata": metadata, "output": "done"}});
            ("tool.execute.after", joined(about(call), output))
        }
    };
    joined(json!({"hook": hook, "session": "s1", "cwd": root, "servers": []}), more)
}

/// A workspace at the same place for every host, because records know files by where they are; and a store.
struct World {
    root: PathBuf,
    store: PathBuf,
}

impl World {
    /// Everything anew.
    fn at(top: &Path) -> Self {
        let world = Self { root: top.join("repo"), store: top.join("store") };
        for dir in [&world.root, &world.store] {
            if dir.exists() {
                fs::remove_dir_all(dir).expect("removed");
            }
        }
        fs::create_dir_all(world.root.join("vault")).expect("made");
        fs::write(world.root.join("jackline.yaml"), DEFINITION).expect("written");
        fs::write(world.root.join("notes.txt"), "precious\n").expect("written");
        world
    }

    /// Asks as the host asks; whether it was refused, and all that was answered.
    fn ask(&self, host: &Host, message: &Value) -> (bool, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jackline"));
        command.args(["hook", host.name]).arg("--store").arg(&self.store).arg("--root").arg(&self.root);
        command.env_clear().env("HOME", &self.root).current_dir(&self.root);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("runs");
        child.stdin.take().expect("piped").write_all(message.to_string().as_bytes()).expect("taken");
        let answered = child.wait_with_output().expect("ends");
        let said = String::from_utf8(answered.stdout).expect("UTF-8");
        let refused = answered.status.code() == Some(2)
            || said.contains("\"deny\"")
            || said.contains("\"block\"")
            || said.contains("\"followup");
        (refused, said)
    }

    fn carry_out(&self, act: Act) {
        let there = |name: &str, text: &str| fs::write(self.root.join(name), text).expect("written");
        match act {
            Act::Write(name) => there(name, "written\n"),
            Act::Appears(name) => there(name, "there\n"),
            Act::Start | Act::Prompt | Act::Shell(..) | Act::Read(_) | Act::Stop => {}
        }
    }

    fn records(&self) -> Vec<Value> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jackline"));
        command.args(["audit", "export", "--store"]).arg(&self.store).current_dir(&self.root).env_clear();
        let exported = command.env("HOME", &self.root).output().expect("runs").stdout;
        let text = String::from_utf8(exported).expect("UTF-8");
        text.lines().map(|line| serde_json::from_str(line).expect("a record")).collect()
    }
}

impl Host {
    /// Plays all acts; what was refused, by number.
    fn play(&self, world: &World) -> Vec<usize> {
        let mut refused = Vec::new();
        for (number, act) in ACTS.iter().copied().enumerate() {
            let say = |what: Told| world.ask(self, &(self.message)(&world.root, what)).0;
            let call = Call(number, act);
            let no = match act {
                Act::Start => say(Told::Start),
                Act::Prompt => say(Told::Prompt),
                Act::Stop => say(Told::Stop),
                Act::Appears(_) => false,
                Act::Shell(..) | Act::Read(_) | Act::Write(_) => say(Told::Asked(call)),
            };
            if no {
                refused.push(number);
                continue;
            }
            world.carry_out(act);
            match act {
                Act::Shell(_, well) => say(Told::Ended(call, well)),
                Act::Read(_) | Act::Write(_) => say(Told::Ended(call, true)),
                Act::Start | Act::Prompt | Act::Stop | Act::Appears(_) => false,
            };
        }
        refused
    }
}

/// A stop without what the agent said last and how the host calls it, which some do not tell.
fn unsaid(mut record: Value) -> Value {
    if record["kind"] == "stop.requested"
        && let Some(data) = record["data"].as_object_mut()
    {
        data.retain(|key, _| key != "message" && key != "reason");
    }
    record
}

/// A record without what is the host's own.
fn shared(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            // A call by its id is the host's own; some have none.
            let is_id = |key: &str, value: &Value| key == "call" && !value.is_object();
            let kept = members.iter().filter(|(key, value)| !OWN.contains(&key.as_str()) && !is_id(key, value));
            kept.map(|(key, value)| (key.clone(), shared(value))).collect()
        }
        Value::Array(items) => items.iter().map(shared).collect(),
        Value::String(text) if text.starts_with("tool:") => json!("tool"),
        other => other.clone(),
    }
}

/// What a host without a tool that reads is remembered to have done is a shell's command; that it read the file as well.
fn as_it_counts(host: &Host, record: &Value) -> Value {
    if host.name != "codex" {
        return record.clone();
    }
    serde_json::from_str(&record.to_string().replace("\"@read\"", "\"@shell\"")).expect("JSON")
}

#[test]
fn every_adapter_is_compared() {
    let compared: BTreeSet<&str> = HOSTS.iter().map(|host| host.name).collect();
    assert_eq!(compared, adapters::HOSTS.iter().copied().collect());
}

#[test]
fn the_same_acts_lead_to_the_same_decisions_and_records() {
    let place = TempDir::with_prefix("one-definition-").expect("made");
    let top = place.path().canonicalize().expect("there");
    let mut first: Option<(Vec<usize>, Vec<Value>)> = None;
    for host in HOSTS {
        let world = World::at(&top);
        let refused = host.play(&world);
        let records: Vec<Value> = world.records().into_iter().map(unsaid).map(|record| shared(&record)).collect();
        let decided = records.iter().filter(|record| record["kind"] == "decision").count();
        assert!(decided > ACTS.len(), "{}: {decided} decisions", host.name);
        let Some((refused_first, records_first)) = &first else {
            assert_eq!(refused, [2, 3, 5, 8, 11, 12, 13], "{}", host.name);
            first = Some((refused, records));
            continue;
        };
        assert_eq!(refused, *refused_first, "{}", host.name);
        for (record, wanted) in records.iter().zip(records_first) {
            assert_eq!(*record, as_it_counts(host, wanted), "{}", host.name);
        }
        assert_eq!(records.len(), records_first.len(), "{}", host.name);
    }
}
