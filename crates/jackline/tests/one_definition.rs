//! One definition, every host: the same acts in each host's own messages lead to the same decisions and records.
//!
//! The real program is asked as each host asks it. Of the records only what is the host's own may differ: its name, its
//! ids, its tools' names and arguments, and what hangs on them.

#![expect(clippy::expect_used, reason = "a test that cannot go on says so by panicking")]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Map, Value, json};
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
    "call",
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
    "target",
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

/// How a host tells of acts.
struct Host {
    name: &'static str,
    events: Events,
    shell: &'static str,
    read: &'static str,
    write: &'static str,
    path: &'static str,
    /// What it tells of a call that has ended: whether it went well, and whether it was a shell's.
    ended: fn(bool, bool) -> (&'static str, Value),
}

struct Events {
    start: &'static str,
    prompt: &'static str,
    before: &'static str,
    stop: &'static str,
}

const CLAUDE_LIKE: Events =
    Events { start: "SessionStart", prompt: "UserPromptSubmit", before: "PreToolUse", stop: "Stop" };

const HOSTS: &[Host] = &[
    Host {
        name: "claude",
        events: CLAUDE_LIKE,
        shell: "Bash",
        read: "Read",
        write: "Write",
        path: "file_path",
        ended: |well, _| match well {
            true => ("PostToolUse", json!({"tool_response": {"stdout": "done", "interrupted": false}})),
            false => ("PostToolUseFailure", json!({"error": "Exit code 1"})),
        },
    },
    Host {
        name: "gemini",
        events: Events { start: "SessionStart", prompt: "BeforeAgent", before: "BeforeTool", stop: "AfterAgent" },
        shell: "run_shell_command",
        read: "read_file",
        write: "write_file",
        path: "file_path",
        ended: |well, _| {
            let shown = if well { "Output: done" } else { "Output: (empty)\nExit Code: 1" };
            ("AfterTool", json!({"tool_response": {"llmContent": shown, "returnDisplay": ""}}))
        },
    },
    Host {
        name: "qwen",
        events: CLAUDE_LIKE,
        shell: "run_shell_command",
        read: "read_file",
        write: "write_file",
        path: "file_path",
        ended: |well, shell| match well {
            true if shell => ("PostToolUse", json!({"tool_response": {"llmContent": "Output: done\nExit Code: 0"}})),
            true => ("PostToolUse", json!({"tool_response": {"llmContent": "done"}})),
            false => ("PostToolUseFailure", json!({"error": "Exit Code: 1"})),
        },
    },
    Host {
        name: "copilot",
        events: CLAUDE_LIKE,
        shell: "Bash",
        read: "Read",
        write: "Write",
        path: "path",
        ended: |well, shell| {
            let code = if well { 0 } else { 1 };
            let shown =
                if shell { format!("done\n<shellId: 0 completed with exit code {code}>") } else { "done".into() };
            ("PostToolUse", json!({"tool_result": {"result_type": "success", "text_result_for_llm": shown}}))
        },
    },
];

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
        let refused = answered.status.code() == Some(2) || said.contains("\"deny\"") || said.contains("\"block\"");
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
    fn message(&self, root: &Path, event: &str, more: Value) -> Value {
        let mut message = Map::from_iter([
            ("session_id".to_owned(), json!("s1")),
            ("cwd".to_owned(), json!(root)),
            ("hook_event_name".to_owned(), json!(event)),
        ]);
        message.extend(more.as_object().cloned().unwrap_or_default());
        Value::Object(message)
    }

    fn call(&self, act: Act, number: usize) -> Option<Value> {
        let (tool, input) = match act {
            Act::Shell(run, _) => (self.shell, json!({"command": run})),
            Act::Read(path) => (self.read, Map::from_iter([(self.path.to_owned(), json!(path))]).into()),
            Act::Write(path) => (self.write, json!({self.path: path, "content": "written\n"})),
            Act::Start | Act::Prompt | Act::Stop | Act::Appears(_) => return None,
        };
        let id = format!("toolu_{number}");
        Some(json!({"tool_name": tool, "tool_input": input, "tool_use_id": id, "tool_call_id": id}))
    }

    /// Plays all acts; what was refused, by number.
    fn play(&self, world: &World) -> Vec<usize> {
        let mut refused = Vec::new();
        for (number, act) in ACTS.iter().enumerate() {
            let say = |event: &str, more: Value| world.ask(self, &self.message(&world.root, event, more)).0;
            let no = match act {
                Act::Start => say(self.events.start, json!({"source": "startup"})),
                Act::Prompt => say(self.events.prompt, json!({"prompt": "go", "submitted_prompt": "go"})),
                Act::Stop => say(
                    self.events.stop,
                    json!({"stop_hook_active": false, "last_assistant_message": "Done.", "prompt_response": "Done."}),
                ),
                act => match self.call(*act, number) {
                    Some(call) => say(self.events.before, call),
                    None => false,
                },
            };
            if no {
                refused.push(number);
                continue;
            }
            world.carry_out(*act);
            if let Some(Value::Object(mut call)) = self.call(*act, number) {
                let (shell, well) = if let Act::Shell(_, well) = act { (true, *well) } else { (false, true) };
                let (event, more) = (self.ended)(well, shell);
                call.extend(more.as_object().cloned().unwrap_or_default());
                say(event, Value::Object(call));
            }
        }
        refused
    }
}

/// A record without what is the host's own.
fn shared(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.iter().filter(|(key, _)| !OWN.contains(&key.as_str()));
            kept.map(|(key, value)| (key.clone(), shared(value))).collect()
        }
        Value::Array(items) => items.iter().map(shared).collect(),
        Value::String(text) if text.starts_with("tool:") => json!("tool"),
        other => other.clone(),
    }
}

#[test]
fn the_same_acts_lead_to_the_same_decisions_and_records() {
    let place = TempDir::with_prefix("one-definition-").expect("made");
    let top = place.path().canonicalize().expect("there");
    let mut first: Option<(Vec<usize>, Vec<Value>)> = None;
    for host in HOSTS {
        let world = World::at(&top);
        let refused = host.play(&world);
        let records: Vec<Value> = world.records().iter().map(shared).collect();
        let decided = records.iter().filter(|record| record["kind"] == "decision").count();
        assert!(decided > ACTS.len(), "{}: {decided} decisions", host.name);
        let Some((refused_first, records_first)) = &first else {
            assert_eq!(refused, [2, 3, 5, 8, 11, 12, 13], "{}", host.name);
            first = Some((refused, records));
            continue;
        };
        assert_eq!(refused, *refused_first, "{}", host.name);
        for (record, wanted) in records.iter().zip(records_first) {
            assert_eq!(record, wanted, "{}", host.name);
        }
        assert_eq!(records.len(), records_first.len(), "{}", host.name);
    }
}
