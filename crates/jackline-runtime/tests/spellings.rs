//! One file, however its path is written: hosts fold `..` by the text, take `~` for a name and resolve escapes, and what
//! guards us or what the owner protects is the same file to each of them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use jackline_runtime::Runtime;
use jackline_runtime::adapters::{self, Reply};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The tool of each host that writes a file, and the argument that names it.
const WRITERS: &[(&str, &str, &str)] = &[
    ("claude", "Write", "file_path"),
    ("codex", "apply_patch", "command"),
    ("gemini", "write_file", "file_path"),
    ("qwen", "write_file", "file_path"),
    ("opencode", "write", "filePath"),
    ("copilot", "Edit", "path"),
    ("cursor", "Write", "file_path"),
    ("vscode", "create_file", "filePath"),
];

const PLAIN: &str = "jackline: 1\nloop: false\n";

/// A workspace `ws` with a link that leads two levels down, and a home beside it.
struct World {
    dir: TempDir,
    runtime: Runtime,
}

impl World {
    fn new(definition: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (root, home) = (dir.path().join("ws"), dir.path().join("home"));
        for made in [&root.join("sub/deep"), &root.join("infra"), &home] {
            fs::create_dir_all(made).unwrap();
        }
        fs::write(root.join("jackline.yaml"), definition).unwrap();
        fs::write(root.join("infra/x"), "x").unwrap();
        symlink("sub/deep", root.join("ln")).unwrap();
        let runtime = Runtime::builder().workspace(&root).home(&home).definition_yaml(definition).build().unwrap();
        Self { dir, runtime }
    }

    fn root(&self) -> std::path::PathBuf {
        fs::canonicalize(self.dir.path().join("ws")).unwrap()
    }

    fn asked(&self, host: &str, tool: &str, input: &Value) -> Reply {
        let message = message(host, &self.root(), tool, input);
        let adapter = adapters::named(host, Some("local")).unwrap();
        self.runtime.handle(adapter.as_ref(), message.to_string().as_bytes())
    }

    #[track_caller]
    fn check(&self, host: &str, tool: &str, input: Value, want: Option<&str>) {
        let reply = self.asked(host, tool, &input);
        let said = format!("{}{}", reply.stdout, reply.stderr);
        match want {
            Some(want) => assert!(said.contains(want) && said.contains("deny"), "{host} {tool} {input}: {said}"),
            None => assert!(!said.contains("deny"), "{host} {tool} {input}: {said}"),
        }
    }
}

fn message(host: &str, root: &Path, tool: &str, input: &Value) -> Value {
    match host {
        "opencode" => json!({ "hook": "tool.execute.before", "session": "s", "cwd": root,
            "input": { "tool": tool, "callID": "c" }, "args": input }),
        "cursor" => json!({ "hook_event_name": "preToolUse", "conversation_id": "s", "cwd": root,
            "tool_name": tool, "tool_input": input, "tool_use_id": "c" }),
        host => {
            let event = if host == "gemini" { "BeforeTool" } else { "PreToolUse" };
            json!({ "hook_event_name": event, "session_id": "s", "cwd": root, "tool_name": tool,
                "tool_input": input, "tool_use_id": "c", "timestamp": "2026-11-15T22:20:11Z" })
        }
    }
}

fn writes(argument: &str, path: &str) -> Value {
    match argument {
        "command" => json!({ "command": format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n") }),
        argument => json!({ argument: path, "content": "x" }),
    }
}

#[test]
fn what_guards_us_is_not_written_under_another_spelling() {
    let world = World::new(PLAIN);
    for (host, tool, argument) in WRITERS {
        for path in ["ln/../jackline.yaml", "~/../jackline.yaml", "sub/../jackline.yaml", "~/../ws/jackline.yaml"] {
            world.check(host, tool, writes(argument, path), Some("guards this session"));
        }
        // Both readings are nobody's.
        for path in ["ln/../a", "~/a", "@a", "a%2Eb", "sub/../a"] {
            world.check(host, tool, writes(argument, path), None);
        }
    }
}

#[test]
fn one_host_takes_marks_and_escapes_off() {
    let world = World::new(PLAIN);
    let marked = ["@jackline.yaml", "@/jackline.yaml", "@//jackline.yaml", "@\\jackline.yaml", "@%2Fjackline.yaml"];
    let escaped = ["jackline%2Eyaml", "%2e/jackline.yaml", "@jackline%2Eyaml", "%40jackline.yaml", "%40/jackline.yaml"];
    for path in marked.into_iter().chain(escaped) {
        world.check("gemini", "write_file", writes("file_path", path), Some("guards this session"));
        world.check("copilot", "Edit", writes("path", path), None);
    }
}

#[test]
fn an_address_is_one_only_to_who_takes_it_for_one() {
    let world = World::new(PLAIN);
    let at = format!("file://{}/jackline.yaml", world.root().display());
    world.check("vscode", "create_file", writes("filePath", &at), Some("guards this session"));
    let patch = json!({ "input": format!("*** Begin Patch\n*** Update File: {at}\n@@\n-a\n+b\n*** End Patch\n") });
    world.check("vscode", "apply_patch", patch, Some("guards this session"));
    symlink(".", world.root().join("file:")).unwrap();
    world.check("copilot", "Edit", writes("path", "file:/jackline.yaml"), Some("guards this session"));
}

#[test]
fn what_the_owner_protects_is_not_written_under_another_spelling() {
    let definition = format!("{PLAIN}policies: [ {{ paths: {{ protect: [\"infra/**\"] }} }} ]\n");
    let world = World::new(&definition);
    for (host, tool, argument) in WRITERS {
        for path in ["ln/../infra/x", "~/../infra/x"] {
            world.check(host, tool, writes(argument, path), Some("paths/unresolvable"));
        }
        world.check(host, tool, writes(argument, "sub/../infra/x"), Some("paths/protected"));
        world.check(host, tool, writes(argument, "sub/../a"), None);
    }
}

#[test]
fn a_read_of_one_file_is_none_of_another() {
    let world = World::new(&format!("{PLAIN}policies: [ {{ read_before_write: {{}} }} ]\n"));
    for (host, tool, argument) in WRITERS {
        world.check(host, tool, writes(argument, "ln/../infra/x"), Some("read-before-write"));
    }
}

#[test]
fn what_a_host_runs_at_its_start_is_its_settings() {
    let world = World::new(PLAIN);
    for path in [".opencode/tool/extra.js", ".opencode/tools/bash.ts"] {
        world.check("opencode", "write", writes("filePath", path), Some("OpenCode's settings"));
        let shell = json!({ "command": format!("mkdir -p $(dirname {path}); echo x > {path}"), "description": "" });
        world.check("opencode", "bash", shell, Some("OpenCode's settings"));
    }
    let home = fs::canonicalize(world.dir.path().join("home")).unwrap().join(".opencode/plugin/x.js");
    world.check("opencode", "write", writes("filePath", home.to_str().unwrap()), Some("OpenCode's settings"));
    world.check("opencode", "write", writes("filePath", ".opencode/agent/a.md"), None);
}

#[test]
fn a_pattern_that_begins_outside_searches_outside() {
    let world = World::new(&format!("{PLAIN}policies: [ {{ paths: {{ outside: deny }} }} ]\n"));
    for (host, tool, argument) in [
        ("claude", "Glob", "pattern"),
        ("gemini", "glob", "pattern"),
        ("qwen", "glob", "pattern"),
        ("opencode", "glob", "pattern"),
        ("copilot", "Glob", "pattern"),
        ("cursor", "Glob", "glob_pattern"),
        ("vscode", "grep_search", "includePattern"),
    ] {
        world.check(host, tool, json!({ argument: "/etc/*", "query": "root" }), Some("outside the workspace"));
        world.check(host, tool, json!({ argument: "sub/**/*.rs", "query": "root" }), None);
    }
}

#[test]
fn a_name_that_a_host_looks_for_everywhere_is_no_place() {
    for policies in ["", "policies: [ { paths: { protect: [\"infra/**\"] } } ]\n"] {
        let world = World::new(&format!("{PLAIN}{policies}"));
        let replaces = |path: &str| json!({ "file_path": path, "old_string": "x", "new_string": "y" });
        // Nothing is there, and the client would edit the only file of that name.
        for path in ["x", "jackline.yml", "sub/x", "./x"] {
            world.check("gemini", "replace", replaces(path), Some("any file of that name"));
        }
        let whole = world.root().join("new.txt");
        world.check("gemini", "replace", replaces(whole.to_str().unwrap()), None);
        fs::write(world.root().join("here.txt"), "x").unwrap();
        world.check("gemini", "replace", replaces("here.txt"), None);
        world.check("gemini", "write_file", writes("file_path", "new.txt"), None);
        world.check("claude", "Edit", replaces("new.txt"), None);
    }
}

#[test]
fn a_patch_in_a_shells_text_is_taken_apart_by_the_host() {
    let world = World::new(PLAIN);
    for path in ["~/../jackline.yaml", "ln/../jackline.yaml", "sub/../jackline.yaml"] {
        let patch = format!("apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: {path}\n+evil\n*** End Patch\nEOF");
        world.check("codex", "Bash", json!({ "command": patch }), Some("guards this session"));
    }
    let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: sub/a.txt\n+x\n*** End Patch\nEOF";
    world.check("codex", "Bash", json!({ "command": patch }), None);
}

#[test]
fn settings_of_hosts_are_their_settings_in_every_directory_of_the_repository() {
    let dir = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(dir.path()).unwrap();
    for made in ["repo/.git", "repo/pkg/sub", "home"] {
        fs::create_dir_all(top.join(made)).unwrap();
    }
    fs::write(top.join("repo/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let root = top.join("repo/pkg");
    fs::write(root.join("jackline.yaml"), PLAIN).unwrap();
    let runtime = Runtime::builder().workspace(&root).home(top.join("home")).definition_yaml(PLAIN).build().unwrap();
    let asked = |path: &str| {
        let message = message("codex", &root, "Bash", &json!({ "command": format!("echo x > {path}") }));
        let adapter = adapters::named("codex", Some("local")).unwrap();
        runtime.handle(adapter.as_ref(), message.to_string().as_bytes()).stderr
    };
    for path in ["../.codex/config.toml", "../.opencode/tool/evil.js", "../opencode.json", "sub/.gemini/settings.json"]
    {
        assert!(asked(path).contains("guards this session"), "{path}");
    }
    assert_eq!(asked("sub/a.txt"), "");
}

#[test]
fn a_directory_to_run_in_is_walked_and_folded() {
    let world = World::new(PLAIN);
    symlink("../infra", world.root().join("sub/l")).unwrap();
    let runs =
        |directory: &str| json!({ "command": "rm jackline.yaml", "is_background": false, "directory": directory });
    for directory in ["sub/l/..".to_owned(), format!("{}/sub/l/..", world.root().display()), "sub/..".to_owned()] {
        world.check("qwen", "run_shell_command", runs(&directory), Some("guards this session"));
    }
    world.check("qwen", "run_shell_command", runs("sub/deep"), None);
}
