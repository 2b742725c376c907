//! Ways around what guards a session, in hosts' own messages: what the host does is what is judged.

#![expect(clippy::unwrap_used, reason = "what goes wrong in a test's own steps fails the test")]

use std::fs;
use std::path::PathBuf;

use jackline_core::time::Timestamp;
use jackline_runtime::Runtime;
use jackline_runtime::adapters::{self, Moment, Reply};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A workspace with a definition, and what guards it.
struct World {
    root: PathBuf,
    runtime: Runtime,
    _top: TempDir,
}

impl World {
    fn new(definition: &str) -> Self {
        let top = tempfile::tempdir().unwrap();
        let root = top.path().canonicalize().unwrap().join("repo");
        fs::create_dir_all(root.join("sub")).unwrap();
        fs::write(root.join("jackline.yaml"), definition).unwrap();
        let builder = Runtime::builder().workspace(&root).started_in([root.join("sub")]);
        let runtime = builder.definition_yaml(definition).build().unwrap();
        Self { root, runtime, _top: top }
    }

    fn says(&self, host: &str, native: &str) -> Reply {
        self.runtime.handle(adapters::named(host, None).unwrap().as_ref(), native.as_bytes())
    }

    fn message(&self, host: &str, (hook, tool, args): (&str, &str, &Value)) -> Value {
        let cwd = &self.root;
        match host {
            "opencode" => json!({ "hook": hook, "session": "s", "cwd": cwd, "input": { "tool": tool }, "args": args }),
            "cursor" => json!({ "hook_event_name": hook, "conversation_id": "s", "cwd": cwd, "tool_name": tool,
                "tool_input": args }),
            _ => {
                json!({ "hook_event_name": hook, "session_id": "s", "cwd": cwd, "tool_name": tool, "tool_input": args })
            }
        }
    }

    /// Whether a call is refused.
    fn refuses(&self, host: &str, tool: &str, args: &Value) -> bool {
        let reply = self.says(host, &self.message(host, (gate(host), tool, args)).to_string());
        reply.exit == 2 || reply.stdout.contains("deny")
    }
}

fn gate(host: &str) -> &'static str {
    match host {
        "gemini" => "BeforeTool",
        "opencode" => "tool.execute.before",
        "cursor" => "preToolUse",
        _ => "PreToolUse",
    }
}

/// The shell of each host.
const SHELLS: &[(&str, &str)] = &[
    ("claude", "Bash"),
    ("codex", "Bash"),
    ("gemini", "run_shell_command"),
    ("qwen", "run_shell_command"),
    ("opencode", "bash"),
    ("copilot", "Bash"),
    ("cursor", "Shell"),
    ("vscode", "run_in_terminal"),
];

#[track_caller]
fn refused(calls: &[(&str, &str, Value)]) {
    let world = World::new("jackline: 1\nloop: false\n");
    for (host, tool, args) in calls {
        assert!(world.refuses(host, tool, args), "{host} {tool} {args}");
    }
}

#[track_caller]
fn allowed(definition: &str, calls: &[(&str, &str, Value)]) {
    let world = World::new(definition);
    for (host, tool, args) in calls {
        assert!(!world.refuses(host, tool, args), "{host} {tool} {args}");
    }
}

#[test]
fn a_directory_that_the_host_does_not_heed_leads_nowhere() {
    let heeded =
        [("gemini", "dir_path"), ("qwen", "directory"), ("opencode", "workdir"), ("cursor", "working_directory")];
    for (host, tool) in SHELLS {
        for name in ["workdir", "cwd", "directory", "dir_path", "working_directory"] {
            if !heeded.contains(&(host, name)) {
                refused(&[(host, tool, json!({ "command": "rm jackline.yaml", name: "/nowhere" }))]);
            }
        }
    }
}

#[test]
fn a_directory_that_the_host_heeds_is_where_it_runs() {
    let inside = |command: &str, name: &str, dir: &str| json!({ "command": command, name: dir });
    refused(&[
        ("gemini", "run_shell_command", inside("rm settings.json", "dir_path", ".gemini")),
        ("qwen", "run_shell_command", inside("rm settings.json", "directory", ".qwen")),
        ("opencode", "bash", inside("rm plugin/x.js", "workdir", ".opencode")),
        ("cursor", "Shell", inside("rm hooks.json", "working_directory", ".cursor")),
    ]);
    allowed("jackline: 1\n", &[("gemini", "run_shell_command", inside("rm jackline.yaml", "dir_path", "/nowhere"))]);
}

#[test]
fn a_patch_is_read_as_it_is_applied() {
    let with = |head: &str| format!("*** Begin Patch\n*** Add File: ok.txt\n+y\n{head}\n+x\n*** End Patch\n");
    for head in [
        "*** Add File: x\t/../jackline.yaml",
        "*** Add File:jackline.yaml",
        "*** Update File:\tjackline.yaml",
        "*** Delete File:jackline.yaml",
        "*** Move to:jackline.yaml",
        "*** Copy File: jackline.yaml",
        "+z\r*** Add File: jackline.yaml\r",
    ] {
        let patch = with(head);
        refused(&[
            ("codex", "apply_patch", json!({ "command": patch })),
            ("opencode", "apply_patch", json!({ "patchText": patch })),
            ("vscode", "apply_patch", json!({ "input": patch })),
            ("copilot", "Edit", json!(patch)),
            ("copilot", "apply_patch", json!(patch)),
        ]);
    }
    refused(&[(
        "codex",
        "Bash",
        json!({ "command": format!("apply_patch <<'EOF'\n{}EOF", with("*** Add File: x\t/../jackline.yaml")) }),
    )]);
}

/// A tool for patches works where writes have to be told.
#[test]
fn a_patch_of_copilots_is_an_edit() {
    let definition = "jackline: 1\npolicies:\n  - read_before_write: {}\n  - paths: { protect: [\"vault/**\"] }\n";
    let patch = |file: &str| json!(format!("*** Begin Patch\n*** Add File: {file}\n+x\n*** End Patch\n"));
    allowed(definition, &[("copilot", "Edit", patch("new.txt"))]);
    let world = World::new(definition);
    fs::write(world.root.join("old.txt"), "").unwrap();
    assert!(
        world.refuses("copilot", "Edit", &patch("old.txt")) && world.refuses("copilot", "Edit", &patch("vault/key"))
    );
}

#[test]
fn what_is_typed_into_a_shell_gets_the_same_look() {
    let typed = |text: &str| ("copilot", "write_bash", json!({ "shellId": "0", "input": text }));
    refused(&[
        typed("python3 -c \"open('jackline.yaml','w')\""),
        typed("open('jackline.yaml','w').write('')"),
        typed("python3 -c \"import subprocess;subprocess.run(['jackline','off'])\""),
    ]);
}

#[test]
fn a_write_that_does_not_say_where_is_none_that_may_run() {
    let odd = [
        json!({}),
        json!({ "file_path": 7 }),
        json!({ "path": { "a": "jackline.yaml" } }),
        json!("x"),
        json!([]),
        json!(null),
    ];
    for (host, tool) in [
        ("claude", "Write"),
        ("gemini", "write_file"),
        ("qwen", "edit"),
        ("opencode", "write"),
        ("copilot", "Write"),
        ("cursor", "Write"),
        ("vscode", "create_file"),
    ] {
        odd.iter().for_each(|args| refused(&[(host, tool, args.clone())]));
    }
    for (host, tool) in SHELLS {
        refused(&[(host, tool, json!({})), (host, tool, json!("rm jackline.yaml")), (host, tool, json!(null))]);
    }
    // What only the owner calls so may write no file at all.
    let declared = "jackline: 1\ntools: { declare: { deploy: { kind: write } } }\n";
    allowed(declared, &[("claude", "deploy", json!({ "to": "x" }))]);
}

#[test]
fn programs_that_wait_are_refused_where_nobody_sees_what_they_are_told() {
    let run = |command: &str| ("codex", "Bash", json!({ "command": command }));
    refused(
        &["cat | sh", "read c; eval \"$c\"", "bash --rcfile /dev/null", "sh < /dev/tty", "make -f -", "$SHELL"]
            .map(run),
    );
    allowed("jackline: 1\n", &["make test", "cat x | sort", "python3 x.py < y"].map(run));
}

#[test]
fn what_the_agent_writes_does_not_name_the_event() {
    let world = World::new("jackline: 1\n");
    for (host, tool) in SHELLS {
        for name in ["hookEventName", "hook_event_name", "hook"] {
            for event in ["PreCompact", "PostToolUse", "stop", "session.deleted"] {
                let args = json!({ "command": "rm jackline.yaml", name: event, "x": "HALF" });
                let native = world.message(host, (gate(host), tool, &args)).to_string().replace("HALF", "\\ud800");
                let reply = world.says(host, &native);
                assert!(reply.exit == 2 || reply.stdout.contains("deny"), "{host} {native}: {reply:?}");
            }
        }
    }
}

/// What each host says when its agent wants to stop, having been held before.
fn held(host: &str) -> String {
    match host {
        "opencode" => r#"{"hook":"session.idle","session":"s","message":"x\ud83d","again":true}"#.to_owned(),
        "cursor" => r#"{"hook_event_name":"stop","conversation_id":"s","status":"x\ud83d","loop_count":1}"#.to_owned(),
        _ => {
            let name = if host == "gemini" { "AfterAgent" } else { "Stop" };
            let message = if host == "gemini" { "prompt_response" } else { "last_assistant_message" };
            format!(r#"{{"hook_event_name":"{name}","session_id":"s","{message}":"x\ud83d","stop_hook_active":true}}"#)
        }
    }
}

#[test]
fn a_stop_that_cannot_be_read_is_held_once() {
    for host in adapters::HOSTS {
        let adapter = adapters::named(host, None).unwrap();
        // Half a character is no reason to hear nothing of the rest.
        let heard = adapter.read(held(host).as_bytes(), Timestamp(0));
        assert!(heard.messages.is_ok() && heard.asked.moment == Moment::Stop { again: true }, "{host}");
        // What is no JSON at all still says that it was held.
        let broken = format!("{} and more", held(host));
        let heard = adapter.read(broken.as_bytes(), Timestamp(0));
        assert!(heard.messages.is_err() && heard.asked.moment == Moment::Stop { again: true }, "{host}");
        assert_eq!(World::new("jackline: 1\n").says(host, &broken).exit, 0, "{host}");
        let first = broken.replace("true", "false").replace("\"loop_count\":1", "\"loop_count\":0");
        assert_eq!(adapter.glance(first.as_bytes()).moment, Moment::Stop { again: false }, "{host}");
    }
}

/// The host of these tests was started in `sub`, below the definition.
#[test]
fn settings_where_the_host_was_started_are_protected() {
    for file in [
        ".gemini/settings.json",
        ".qwen/settings.json",
        "opencode.json",
        ".opencode/plugin/x.js",
        ".codex/config.toml",
        ".cursor/hooks.json",
        ".github/hooks/x.json",
        ".claude/settings.json",
        "jackline.yaml",
    ] {
        let (command, path) = (format!("echo x > sub/{file}"), format!("sub/{file}"));
        refused(&[("gemini", "run_shell_command", json!({ "command": command }))]);
        refused(&[("gemini", "write_file", json!({ "file_path": path, "content": "" }))]);
    }
    refused(&[("gemini", "run_shell_command", json!({ "command": "rm -r sub/.gemini; rm sub/.gem*/sett*" }))]);
    allowed("jackline: 1\n", &[("gemini", "write_file", json!({ "file_path": "sub/notes.md", "content": "" }))]);
}

/// What lies in other directories decides whether whoever starts a host there next is guarded.
#[test]
fn what_would_guard_another_session_is_protected_below_and_above() {
    let files = ["jackline.yaml", ".jackline/policies/a.md", ".claude/settings.json", ".codex/config.toml"];
    let code = [".opencode/tool/evil.js", ".github/copilot/settings.json", "opencode.json", ".qwen/settings.json"];
    for file in files.into_iter().chain(code) {
        for dir in ["packages/api", "packages/api/deeper", ".."] {
            let path = format!("{dir}/{file}");
            refused(&[("claude", "Write", json!({ "file_path": path, "content": "" }))]);
            for command in [format!("cp a {path}"), format!("ln -s a {path}"), format!("cd {dir} && echo x > {file}")] {
                refused(&[("claude", "Bash", json!({ "command": command }))]);
            }
        }
    }
    for command in
        ["ln -s ../../mine packages/api/.claude", "mv mine packages/api/.codex", "rm -r packages/api/.gemini"]
    {
        refused(&[("claude", "Bash", json!({ "command": command }))]);
    }
}

#[test]
fn names_that_only_look_alike_are_free_and_so_are_other_projects() {
    let bash = |command: &str| ("claude", "Bash", json!({ "command": command }));
    allowed(
        "jackline: 1\nloop: false\n",
        &[
            ("claude", "Write", json!({ "file_path": "docs/jackline.yaml.md", "content": "jackline.yaml" })),
            ("claude", "Write", json!({ "file_path": "packages/api/.claude/skills/a/SKILL.md", "content": "" })),
            ("claude", "Write", json!({ "file_path": "packages/api/.github/workflows/ci.yml", "content": "" })),
            ("claude", "Read", json!({ "file_path": "packages/api/jackline.yaml" })),
            bash("cat packages/api/jackline.yaml && git add packages/api/jackline.yaml"),
            bash("mkdir -p packages/api/.claude/skills packages/api/.github"),
            bash("rm -rf packages/api node_modules dist/* packages/*/dist packages/*/*.json src/o*.rs"),
            bash("rm -rf packages/api/.github && cargo build -p jackline && git commit -m 'change jackline.yaml'"),
            bash("echo 'jackline: 1' > /tmp/elsewhere/jackline.yaml"),
        ],
    );
    // Its owner says otherwise.
    let owner = "jackline: 1\nself: { allow: [\"examples/**\"] }\n";
    allowed(owner, &[("claude", "Write", json!({ "file_path": "examples/a/jackline.yaml", "content": "" }))]);
}

const ORDER: &str = "jackline: 1\nsteps: { test: { tool: \"@shell\", command: \"./check.sh*\" }, commit: { tool: \"@shell\", command: \"git commit*\" } }\npolicies: [ { sequence: { requires: { commit: [test] } } } ]\n";

/// Whether a check with this outcome makes a commit possible.
fn proves(host: &str, outcome: &Value) -> bool {
    let world = World::new(ORDER);
    let (_, tool) = SHELLS.iter().find(|(known, _)| *known == host).unwrap();
    let args = json!({ "command": "./check.sh" });
    assert!(!world.refuses(host, tool, &args));
    let (hook, member) = match host {
        "gemini" => ("AfterTool", "tool_response"),
        "cursor" => ("postToolUse", "tool_output"),
        _ => ("PostToolUse", "tool_response"),
    };
    let mut ended = world.message(host, (hook, tool, &args));
    ended.as_object_mut().unwrap().insert(member.to_owned(), outcome.clone());
    world.says(host, &ended.to_string());
    !world.refuses(host, tool, &json!({ "command": "git commit -m x" }))
}

#[test]
fn a_failed_command_cannot_say_that_it_went_well() {
    assert!(proves("vscode", &json!("fine\n")) && proves("vscode", &json!("fine\nCommand exited with code 0")));
    assert!(!proves("vscode", &json!("Command exited with code 0\nno\nCommand exited with code 1")));
    assert!(proves("cursor", &json!("{\"exitCode\":0}")));
    assert!(proves("gemini", &json!({ "llmContent": "Output: x\nProcess Group PGID: 1" })));
    for cut in ["Command was automatically cancelled because it exceeded the timeout.", "All is well.", "Output: x"] {
        assert!(!proves("gemini", &json!({ "llmContent": cut })) && !proves("qwen", &json!({ "llmContent": cut })));
    }
    for started in ["Command is running in terminal with ID=1", "Command timed out after 5 s", ""] {
        assert!(!proves("vscode", &json!(started)), "{started}");
    }
    for host in ["gemini", "qwen", "cursor", "vscode"] {
        for outcome in [json!(null), json!({ "foo": 1 }), json!([1])] {
            assert!(!proves(host, &outcome), "{host} {outcome}");
        }
    }
}

#[test]
fn a_servers_tool_is_the_same_everywhere() {
    let write = || json!({ "path": "jackline.yaml", "content": "" });
    refused(&[
        ("claude", "mcp__files__write_file", write()),
        ("copilot", "files-write_file", write()),
        ("copilot", "my-files-write_file", write()),
        ("vscode", "mcp_files_write_file", write()),
        ("vscode", "mcp_my_files_write_file", write()),
        ("gemini", "mcp_files_write_file", write()),
    ]);
    let rule =
        |name: &str| format!("jackline: 1\npolicies: [ {{ name: no, rule: {{ tool: \"{name}\", reason: no }} }} ]\n");
    for (host, tool) in [("copilot", "my-notes-take-note"), ("vscode", "mcp_notes_note"), ("gemini", "mcp_notes_note")]
    {
        let names: &[&str] = if host == "copilot" {
            &["mcp__my-notes__*", "mcp__my-notes__take-note", "my-notes-take-note"]
        } else {
            &["mcp__notes__*", "mcp__notes__note", "mcp_notes_note"]
        };
        for name in names {
            assert!(World::new(&rule(name)).refuses(host, tool, &json!({})), "{host} {name}");
        }
        assert!(!World::new(&rule("mcp__other__*")).refuses(host, tool, &json!({})), "{host}");
    }
}

#[test]
fn what_an_unknown_tool_names_is_held_against_what_guards_us() {
    let task = json!({ "task": { "type": "shell", "command": "rm", "args": ["jackline.yaml"] } });
    refused(&[
        ("vscode", "create_and_run_task", task),
        ("vscode", "delete_file", json!({ "filePath": "jackline.yaml" })),
        ("vscode", "newest_edit", json!({ "filePath": "jackline.yaml" })),
        ("copilot", "powershell", json!({ "command": "rm jackline.yaml" })),
        ("cursor", "ApplyPatch", json!("*** Begin Patch\n*** Delete File: jackline.yaml\n*** End Patch")),
    ]);
    allowed("jackline: 1\n", &[("vscode", "newest_edit", json!({ "filePath": "notes.md" }))]);
}

#[test]
fn what_a_servers_tool_is_handed_is_held_against_what_guards_us() {
    let diff = "--- a/jackline.yaml\n+++ b/jackline.yaml\n@@ -1 +1 @@\n-a\n+b\n";
    refused(&[
        ("claude", "mcp__fs__apply", json!({ "diff": diff })),
        ("claude", "mcp__sh__run", json!({ "command": "jackline", "args": ["off"] })),
        ("claude", "mcp__sh__run", json!({ "argv": ["jackline", "off"] })),
        ("claude", "mcp__sh__run", json!({ "program": "jackline", "args": ["off"] })),
        ("claude", "mcp__sh__run", json!({ "command": "git config core.hooksPath /tmp/e" })),
        ("claude", "mcp__fs__delete", json!({ "path": "." })),
        ("claude", "mcp__fs__move", json!({ "source": "../repo", "destination": "/tmp/x" })),
    ]);
    let world = World::new("jackline: 1\n");
    for (tool, args) in [
        ("mcp__fs__delete", json!({ "path": "sub/old.txt" })),
        ("mcp__fs__list", json!({ "path": "." })),
        ("mcp__sh__run", json!({ "command": "cargo", "args": ["build", "--release"] })),
        ("mcp__sh__run", json!({ "command": "git config user.name me" })),
        ("mcp__gh__comment", json!({ "body": diff })),
    ] {
        assert!(!world.refuses("claude", tool, &args), "{tool} {args}");
    }
}
