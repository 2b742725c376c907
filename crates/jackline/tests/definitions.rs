//! Which definition judges: found, pinned, accepted, trusted, merged; all with the real binary.

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a test that cannot go on says so by panicking")]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

struct Place {
    top: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { top: tempfile::tempdir().expect("a temporary directory") };
        fs::create_dir_all(place.path("ws/sub")).expect("made");
        fs::create_dir(place.path("home")).expect("made");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.top.path().canonicalize().expect("there").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jackline"));
        command.args(arguments).current_dir(self.path("ws")).env_clear().env("HOME", self.path("home"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).stdin(Stdio::null()).output().expect("ran")
    }

    /// Sends events through `jackline eval` and gives the decisions.
    fn eval(&self, arguments: &[&str], events: &[Value]) -> Vec<Value> {
        let arguments: Vec<&str> = std::iter::once("eval").chain(arguments.iter().copied()).collect();
        let mut child = self
            .command(&arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("started");
        let mut input = child.stdin.take().expect("piped");
        for event in events {
            writeln!(input, "{event}").expect("sent");
        }
        drop(input);
        let output = child.wait_with_output().expect("ended");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    #[track_caller]
    fn check(&self, session: &str, tool: &str, want: &str) {
        let decisions = self.eval(&[], &[call(session, tool)]);
        assert_eq!(decisions[0]["verdict"], want, "{}", decisions[0]);
    }

    /// What `jackline trust` remembers once a person agreed.
    fn trust(&self) {
        let accepted = fs::read_dir(self.path("home/.local/state/jackline/accepted")).expect("there");
        let file = accepted.map(|entry| entry.expect("readable").path()).next().expect("one");
        let mut kept: Value = serde_json::from_slice(&fs::read(&file).expect("read")).expect("JSON");
        let text = fs::read(self.path("ws/jackline.yaml")).expect("read");
        kept["digest"] = json!(format!("sha256:{}", jackline_core::sha::Digest::of(&text)));
        kept["trusted"] = json!(true);
        fs::write(&file, kept.to_string()).expect("written");
    }

    /// What it remembers of the scripts that commands run.
    fn trust_scripts(&self, scripts: &[&str]) {
        let accepted = fs::read_dir(self.path("home/.local/state/jackline/accepted")).expect("there");
        let file = accepted.map(|entry| entry.expect("readable").path()).next().expect("one");
        let mut kept: Value = serde_json::from_slice(&fs::read(&file).expect("read")).expect("JSON");
        for script in scripts {
            let text = fs::read(self.path("ws").join(script)).expect("read");
            kept["scripts"][*script] = json!(format!("sha256:{}", jackline_core::sha::Digest::of(&text)));
        }
        fs::write(&file, kept.to_string()).expect("written");
    }
}

/// A call that differs from all others, so that the loop guard stays out of it.
fn call(session: &str, tool: &str) -> Value {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    json!({"event": "call.requested", "session": session, "call": {"tool": tool, "args": {"n": number}}})
}

fn denying(tools: &[&str]) -> String {
    let rules: Vec<Value> = tools
        .iter()
        .map(|tool| json!({"name": format!("no-{tool}"), "rule": {"tool": tool, "verdict": "deny", "reason": "no"}}))
        .collect();
    json!({"jackline": 1, "policies": rules}).to_string()
}

#[test]
fn it_is_found_by_walking_up() {
    let place = Place::new();
    place.write("ws/jackline.yaml", &denying(&["a"]));
    let sub = place.path("ws/sub");
    let decisions = place.eval(&["--workspace", sub.to_str().expect("UTF-8")], &[call("s", "a"), call("s", "b")]);
    assert_eq!((&decisions[0]["verdict"], &decisions[1]["verdict"]), (&json!("deny"), &json!("allow")));
}

#[test]
fn without_one_there_is_a_clear_error() {
    let place = Place::new();
    let output = place.run(&["eval"]);
    let shown = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{shown}");
    assert!(shown.contains("there is no jackline.yaml in") && shown.contains("--definition FILE"), "{shown}");
}

#[test]
fn it_is_pinned_for_the_session() {
    let place = Place::new();
    place.write("ws/jackline.yaml", &denying(&["a"]));
    place.write("ws/sub/jackline.yaml", &denying(&["b"]));
    place.check("s", "a", "deny");
    let sub = place.path("ws/sub");
    let there = ["--workspace", sub.to_str().expect("UTF-8")];
    let moved =
        json!({"event": "call.requested", "session": "s", "cwd": sub, "call": {"id": "d", "tool": "b", "args": {}}});
    assert_eq!(place.eval(&there, &[moved, call("s", "a")])[0]["verdict"], "allow", "the nested one changes nothing");
    assert_eq!(place.eval(&there, &[call("new", "b")])[0]["verdict"], "deny", "a session that begins there uses it");
}

#[test]
fn one_that_appears_nearer_by_is_weighed_against_the_one_above() {
    let place = Place::new();
    place.write("ws/jackline.yaml", &denying(&["a"]));
    place.check("s", "a", "deny");
    let verdicts = |session: &str, sub: &str, tools: &[&str]| -> Vec<Value> {
        let sub = place.path(sub);
        let calls: Vec<Value> = tools.iter().map(|tool| call(session, tool)).collect();
        let decisions = place.eval(&["--workspace", sub.to_str().expect("UTF-8")], &calls);
        decisions.iter().map(|decision| decision["verdict"].clone()).collect()
    };
    place.write("ws/sub/jackline.yaml", &denying(&["b"]));
    assert_eq!(verdicts("planted", "ws/sub", &["a", "b", "c"]), ["deny", "deny", "allow"]);
    assert_eq!(verdicts("again", "ws/sub", &["a", "b"]), ["deny", "deny"], "until a person says so");
    let status = place.command(&["status", "--workspace", "sub"]).output().expect("ran");
    let shown = String::from_utf8_lossy(&status.stdout).into_owned() + &String::from_utf8_lossy(&status.stderr);
    assert!(shown.contains("is looser than what was accepted"), "{shown}");
    // One that only adds is taken at once, and where nothing was accepted above, there is nothing to weigh it against.
    place.write("ws/strict/jackline.yaml", &denying(&["a", "b"]));
    assert_eq!(verdicts("strict", "ws/strict", &["a", "b"]), ["deny", "deny"]);
    place.write("other/sub/jackline.yaml", &denying(&["b"]));
    place.write("other/jackline.yaml", &denying(&["a"]));
    assert_eq!(verdicts("other", "other/sub", &["a", "b"]), ["allow", "deny"]);
}

#[test]
fn a_session_may_name_its_own_and_keeps_it() {
    let place = Place::new();
    place.write("ws/jackline.yaml", &denying(&["a"]));
    place.write("ws/strict.yaml", &denying(&["b"]));
    let mut begins = call("s", "b");
    begins["definition"] = json!("strict.yaml");
    let mut strays = call("s", "a");
    strays["definition"] = json!("jackline.yaml");
    for arguments in [vec![], vec!["--definition", "jackline.yaml", "--store", "other"]] {
        let decisions = place.eval(&arguments, &[begins.clone(), call("s", "b"), call("s", "a"), strays.clone()]);
        let verdicts: Vec<&Value> = decisions.iter().map(|decision| &decision["verdict"]).collect();
        assert_eq!(verdicts, ["deny", "deny", "allow", "deny"], "{arguments:?}");
        assert_eq!(decisions[3]["code"], "event/invalid");
    }
}

#[test]
fn tightening_applies_at_once_and_loosening_waits_for_trust() {
    let place = Place::new();
    place.write("ws/jackline.yaml", &denying(&["a"]));
    place.check("s", "b", "allow");
    place.write("ws/jackline.yaml", &denying(&["a", "b"]));
    place.check("s", "b", "deny");
    place.write("ws/jackline.yaml", &denying(&["a"]));
    place.check("s", "b", "deny");
    place.check("t", "b", "deny");
    place.trust();
    place.check("s", "b", "allow");
    place.check("s", "a", "deny");
    let log = place.run(&["audit", "export", "--session", "s"]);
    let changes = String::from_utf8_lossy(&log.stdout).matches("\"kind\":\"definition.changed\"").count();
    assert_eq!(changes, 3, "each change is a record of its own");
}

#[test]
fn a_broken_or_missing_file_leaves_the_accepted_one_in_force() {
    let place = Place::new();
    place.write("ws/jackline.yaml", &denying(&["a"]));
    place.check("s", "b", "allow");
    place.write("ws/jackline.yaml", "jackline: [");
    place.check("s", "a", "deny");
    place.check("s", "b", "allow");
    place.check("new", "a", "deny");
    fs::remove_file(place.path("ws/jackline.yaml")).expect("removed");
    place.check("s", "a", "deny");
    place.check("newer", "a", "deny");
    place.check("newer", "b", "allow");
}

#[test]
fn one_that_never_was_readable_denies_or_refuses() {
    let place = Place::new();
    place.write("ws/jackline.yaml", "polices: []\n");
    let output = place.run(&["eval"]);
    let shown = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{shown}");
    assert!(shown.contains("unknown key `polices`") && shown.contains("did you mean `policies`?"), "{shown}");
    assert!(output.stdout.is_empty());
}

#[test]
fn the_users_own_adds_up_and_cannot_be_loosened() {
    let place = Place::new();
    place.write("home/.config/jackline/jackline.yaml", &denying(&["a"]));
    place.write(
        "ws/jackline.yaml",
        &json!({"jackline": 1, "mode": "observe", "tools": {"declare": {"x": {}}}}).to_string(),
    );
    place.check("s", "a", "deny");
    let shown = String::from_utf8_lossy(&place.run(&["eval"]).stderr).into_owned();
    assert!(shown.contains("cannot loosen a wider one (mode became observe)"), "{shown}");
    place.write("ws/jackline.yaml", &denying(&["b"]));
    place.check("s", "a", "deny");
    place.check("s", "b", "deny");
    place.check("s", "c", "allow");
}

/// A call of a tool with a path, by a host that is known.
fn with_path(session: &str, tool: &str, path: &str) -> Value {
    let call = json!({"tool": tool, "args": {"path": path}});
    json!({"event": "call.requested", "session": session, "host": "claude", "call": call})
}

#[test]
fn what_a_project_declares_does_not_count_for_its_user() {
    let place = Place::new();
    let users = "jackline: 1\ntools: {unknown: deny}\npolicies: [{paths: {protect: [secret]}}]\n";
    place.write("home/.config/jackline/jackline.yaml", users);
    place.write("ws/secret", "1");
    place.write(
        "ws/jackline.yaml",
        "jackline: 1\ntools: {declare: {evil: {}, mcp__fs__write_file: {kind: other}, helper: {kind: other}}}\n",
    );
    let settings = place.path("home/.claude/settings.json");
    let decided = place.eval(
        &[],
        &[
            with_path("s", "evil", "q"),
            with_path("s", "mcp__fs__write_file", "secret"),
            with_path("s", "mcp__fs__write_file", settings.to_str().expect("UTF-8")),
        ],
    );
    let codes = |decision: &Value| -> Vec<String> {
        let findings = decision["findings"].as_array().expect("a list");
        findings.iter().map(|finding| finding["code"].as_str().expect("a code").to_owned()).collect()
    };
    assert_eq!(codes(&decided[0]), ["tools/unknown"]);
    assert!(codes(&decided[1]).contains(&"paths/protected".to_owned()), "{}", decided[1]);
    assert!(codes(&decided[2]).contains(&"self/protected".to_owned()), "{}", decided[2]);
    assert!(decided.iter().all(|decision| decision["verdict"] == "deny"), "{decided:?}");
    let shown = String::from_utf8_lossy(&place.run(&["eval"]).stderr).into_owned();
    assert!(shown.contains("tools.declare.evil counts for the project's own policies only"), "{shown}");
}

#[test]
fn what_a_change_declares_waits_for_trust() {
    let place = Place::new();
    let definition = |declared: &str| {
        format!("jackline: 1\ntools: {{unknown: deny{declared}}}\npolicies: [{{paths: {{protect: [secret]}}}}]\n")
    };
    place.write("ws/secret", "1");
    place.write("ws/jackline.yaml", &definition(""));
    place.check("s", "deploy", "deny");
    place.write("ws/jackline.yaml", &definition(", declare: {deploy: {}, mcp__fs__write_file: {kind: other}}"));
    place.check("s", "deploy", "deny");
    let write = || with_path("s", "mcp__fs__write_file", "secret");
    assert_eq!(place.eval(&[], &[write()])[0]["verdict"], "deny");
    place.trust();
    place.check("s", "deploy", "allow");
    assert_eq!(place.eval(&[], &[write()])[0]["verdict"], "allow");
}

#[test]
fn the_users_own_stays_in_force_when_it_is_broken_or_gone() {
    let place = Place::new();
    let mine = "home/.config/jackline/jackline.yaml";
    place.write("ws/jackline.yaml", "jackline: 1\n");
    place.write(mine, &denying(&["a"]));
    place.check("s", "a", "deny");
    place.write(mine, "jackline: [");
    place.check("s", "a", "deny");
    place.check("new", "b", "allow");
    fs::remove_file(place.path(mine)).expect("removed");
    place.check("s", "a", "deny");
    place.check("newer", "a", "deny");
    let shown = String::from_utf8_lossy(&place.run(&["eval"]).stderr).into_owned();
    assert!(shown.contains("what it said last stays in force; `jackline trust` lets it go"), "{shown}");
    place.write(mine, &denying(&["b"]));
    place.check("s", "a", "allow");
    place.check("s", "b", "deny");
}

#[test]
fn what_a_clone_allows_of_itself_waits_for_trust() {
    let place = Place::new();
    place.write(
        "ws/jackline.yaml",
        "jackline: 1\nself: {allow: ['**']}\ntools: {declare: {w: {kind: write, path: p}}}\n",
    );
    let write = |session: &str| {
        let call = json!({"tool": "w", "args": {"p": ".claude/settings.json"}});
        let event = json!({"event": "call.requested", "session": session, "call": call});
        place.eval(&[], &[event])[0]["verdict"].clone()
    };
    assert_eq!(write("s"), "deny");
    let shown = String::from_utf8_lossy(&place.run(&["eval"]).stderr).into_owned();
    assert!(shown.contains("`self.allow` counts only after `jackline trust`"), "{shown}");
    place.trust();
    assert_eq!(write("t"), "allow");
}

#[test]
fn observing_needs_the_owners_trust() {
    let place = Place::new();
    let mut definition: Value = serde_json::from_str(&denying(&["a"])).expect("JSON");
    definition["mode"] = json!("observe");
    place.write("ws/jackline.yaml", &definition.to_string());
    place.check("s", "a", "deny");
    place.trust();
    place.check("s", "a", "allow");
    let shown = place.run(&["log", "s", "--would-deny"]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("rule/no-a"), "{shown:?}");
}

#[test]
fn trust_is_a_persons_act() {
    let place = Place::new();
    place.write("ws/jackline.yaml", &denying(&["a"]));
    let output = place.run(&["trust", "--yes"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no terminal is attached"), "{output:?}");
    let output = place.command(&["trust", "--yes"]).env("CLAUDECODE", "1").stdin(Stdio::null()).output().expect("ran");
    assert!(String::from_utf8_lossy(&output.stderr).contains("CLAUDECODE"), "{output:?}");
    assert!(!Path::new(&place.path("home/.local/state/jackline/accepted")).exists(), "nothing was accepted");
}

/// What a session is told with each of so many calls.
fn advice(place: &Place, session: &str, calls: usize) -> Vec<Value> {
    let finished = |_| {
        let mut event = call(session, "work");
        event["event"] = json!("call.finished");
        event["ok"] = json!(true);
        event
    };
    let events: Vec<Value> = (0..calls).map(finished).collect();
    place.eval(&[], &events).into_iter().map(|decision| decision["feedback"].clone()).collect()
}

#[test]
fn a_command_gives_feedback_only_once_it_is_trusted() {
    let place = Place::new();
    place.write("ws/hint.sh", "echo . >> ran; echo hint\n");
    let feedback = json!([{ "command": ["sh", "hint.sh"], "every_n_calls": 1 }, { "static": "x", "every_n_calls": 1 }]);
    place.write("ws/jackline.yaml", &json!({ "jackline": 1, "feedback": feedback }).to_string());
    let fixed = "<feedback provider='Static'>\nx\n</feedback>";
    assert_eq!(advice(&place, "before", 1), [json!(fixed)], "it is skipped, and silences nobody");
    assert!(!place.path("ws/ran").exists(), "it ran");
    let log = place.run(&["log", "before"]);
    let log = String::from_utf8_lossy(&log.stdout);
    assert!(log.contains("feedback of Command failed: it was skipped") && log.contains("`jackline trust`"), "{log}");
    place.trust();
    assert_eq!(advice(&place, "script", 1), [json!(fixed)], "its script is not trusted yet");
    place.trust_scripts(&["hint.sh"]);
    let hint = format!("<feedback provider='Command'>\nhint\n</feedback>\n\n{fixed}");
    assert_eq!(advice(&place, "after", 2), [json!(hint), json!(hint)]);
    place.write("ws/hint.sh", "echo other\n");
    assert_eq!(advice(&place, "changed", 1), [json!(fixed)], "its script changed since");
    assert_eq!(fs::read_to_string(place.path("ws/ran")).expect("read"), ".\n.\n");
}

#[test]
fn a_named_definition_is_used_by_every_command() {
    let place = Place::new();
    place.write("ws/other.yaml", &denying(&["a"]));
    let mut command = place.command(&["check"]);
    let output = command.env("JACKLINE_DEFINITION", "other.yaml").output().expect("ran");
    assert!(String::from_utf8_lossy(&output.stdout).ends_with("other.yaml: fine\n"), "{output:?}");
    let decisions = place.eval(&["--definition", "other.yaml"], &[call("s", "a")]);
    assert_eq!(decisions[0]["verdict"], "deny");
}

#[test]
fn nested_definitions_are_reported() {
    let place = Place::new();
    place.write("ws/jackline.yaml", "jackline: 1\n");
    place.write("ws/sub/jackline.yaml", "jackline: 1\n");
    let output = place.run(&["check"]);
    assert_eq!(output.status.code(), Some(0));
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("`sub/jackline.yaml` is a definition below this one and is not used"), "{shown}");
}

#[test]
fn files_that_a_definition_names_lie_beside_it_and_are_protected() {
    let place = Place::new();
    place.write("ws/jackline.yaml", "jackline: 1\ntools: {declare: {x: {schema: s/x.json}, y: {}}}\n");
    place.write("ws/s/x.json", r#"{"required": ["n"]}"#);
    let asked = |id: &str, tool: &str, args: Value| json!({"event": "call.requested", "session": "s", "call": {"id": id, "tool": tool, "args": args}});
    let events = [
        asked("1", "x", json!({})),
        asked("2", "write_file", json!({"path": "s/x.json", "content": "{}"})),
        asked("3", "x", json!({"n": 1})),
    ];
    let sub = place.path("ws/sub").display().to_string();
    let codes = |decisions: &[Value]| decisions.iter().map(|decision| decision["code"].clone()).collect::<Vec<_>>();
    let decisions = place.eval(&["--workspace", &sub], &events);
    assert_eq!(codes(&decisions), [json!("schema/invalid"), json!("self/protected"), Value::Null]);
    // Gone, it refuses calls of its own tool and nothing else, and people are told.
    fs::remove_file(place.path("ws/s/x.json")).expect("removed");
    let decisions = place.eval(&[], &[asked("4", "x", json!({"n": 1})), asked("5", "y", json!({}))]);
    assert_eq!(codes(&decisions), [json!("fault/probe"), Value::Null]);
    let told = String::from_utf8(place.run(&["eval"]).stderr).expect("UTF-8");
    assert!(told.contains("`s/x.json`, the `schema` of tool `x`, is not there"), "{told}");
}

#[test]
fn a_schema_that_is_none_leaves_the_accepted_definition_in_force() {
    let place = Place::new();
    place.write("ws/jackline.yaml", "jackline: 1\ntools: {declare: {x: {schema: {required: [m]}}}}\n");
    place.check("s", "x", "deny");
    place.write("ws/jackline.yaml", "jackline: 1\ntools: {declare: {x: {schema: {type: objct}}}}\n");
    place.check("s", "y", "allow");
    place.check("t", "x", "deny");
    let told = String::from_utf8(place.run(&["eval"]).stderr).expect("UTF-8");
    assert!(told.contains("the last accepted definition stays in force"), "{told}");
}

fn shell(session: &str, text: &str) -> Value {
    json!({"event": "call.requested", "session": session, "call": {"tool": "Bash", "args": {"command": text}}})
}

#[test]
fn a_pack_judges_beside_the_definition_and_is_on_record() {
    let place = Place::new();
    place.write("ws/jackline.yaml", "jackline: 1\nuse: [git]\n");
    let decisions = place.eval(&[], &[shell("s", "git push --force"), shell("s", "git push")]);
    assert_eq!((&decisions[0]["verdict"], &decisions[0]["code"]), (&json!("deny"), &json!("rule/git/force-push")));
    assert_eq!(decisions[1]["verdict"], "allow");
    let pack = jackline_core::packs::find("git").expect("there");
    let digest = jackline_core::sha::Digest::of(pack.text.as_bytes());
    let export = String::from_utf8(place.run(&["audit", "export", "--session", "s"]).stdout).expect("UTF-8");
    let records: Vec<Value> = export.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let decided = records.iter().find(|record| record["kind"] == "decision").expect("a decision");
    let layers = decided["definition"]["layers"].as_array().expect("layers");
    assert_eq!(layers.get(1), Some(&json!(format!("sha256:{digest}"))));
    assert_eq!(layers.len(), 2);
    let asked = decided["data"]["consulted"].as_array().expect("who was asked");
    assert!(asked.contains(&json!("pack git")) && !asked.contains(&json!("git/force-push")), "{asked:?}");
    let kept = place.path("home/.local/state/jackline/definitions");
    let text = fs::read_to_string(kept.join(format!("{digest}.yaml"))).expect("the pack's text is kept");
    assert_eq!(text, pack.text);
    let explained = String::from_utf8(place.run(&["explain", "last"]).stdout).expect("UTF-8");
    assert!(explained.contains("of `jackline pack show git`"), "{explained}");
}

/// What is kept of a pack is its own: the mode of one definition must not reach another through the cache.
#[test]
fn a_pack_is_kept_as_it_is_whoever_uses_it() {
    let place = Place::new();
    place.write("ws/jackline.yaml", "jackline: 1\nmode: observe\nuse: [{pack: git, enforce: {git/force-push: off}}]\n");
    place.check("a", "Task", "allow");
    place.trust();
    let observed = place.eval(&[], &[shell("b", "git commit --no-verify -m x"), shell("b", "git push --force")]);
    assert_eq!((&observed[0]["verdict"], &observed[1]["verdict"]), (&json!("allow"), &json!("allow")));
    assert_eq!(observed[0]["findings"][0]["code"], "rule/git/skip-hooks");
    place.write("other/jackline.yaml", "jackline: 1\nuse: [git]\n");
    let other = place.path("other/jackline.yaml").display().to_string();
    let strict = place.eval(&["--definition", &other], &[shell("c", "git push --force")]);
    assert_eq!(strict[0]["code"], "rule/git/force-push", "{}", strict[0]);
}

#[test]
fn a_pack_that_goes_waits_for_trust_and_one_that_comes_does_not() {
    let place = Place::new();
    place.write("ws/jackline.yaml", "jackline: 1\n");
    place.check("a", "Task", "allow");
    place.write("ws/jackline.yaml", "jackline: 1\nuse: [git]\n");
    assert_eq!(place.eval(&[], &[shell("b", "git push --force")])[0]["verdict"], "deny");
    for softer in ["jackline: 1\n", "jackline: 1\nuse: [{pack: git, enforce: {git/force-push: warn}}]\n"] {
        place.write("ws/jackline.yaml", softer);
        assert_eq!(place.eval(&[], &[shell("c", "git push --force")])[0]["verdict"], "deny", "{softer}");
    }
    place.write("ws/jackline.yaml", "jackline: 1\n");
    place.trust();
    assert_eq!(place.eval(&[], &[shell("d", "git push --force")])[0]["verdict"], "allow");
}

#[test]
fn a_project_does_not_soften_the_packs_of_its_user() {
    let place = Place::new();
    place.write("home/.config/jackline/jackline.yaml", "jackline: 1\nuse: [git]\n");
    place.write("ws/jackline.yaml", "jackline: 1\nuse: [{pack: git, enforce: {git/force-push: off}}]\n");
    let decision = &place.eval(&[], &[shell("a", "git push --force")])[0];
    assert_eq!(decision["code"], "rule/git/force-push", "{decision}");
}

#[test]
fn commands_run_only_once_a_person_trusted_them_with_their_scripts() {
    let place = Place::new();
    let definition = "jackline: 1\ncompletion: {command: {run: [sh, scripts/check.sh]}, blocks_max: 100}\n";
    place.write("ws/jackline.yaml", definition);
    place.write("ws/scripts/check.sh", "echo ran >> trail\n");
    let stop = || {
        let stop = json!({"event": "stop.requested", "session": "s", "message": "Done."});
        place.eval(&[], &[stop])[0].clone()
    };
    let held = |why: &str| {
        let decision = stop();
        let reason = decision["reason"].as_str().expect("a reason").to_owned();
        assert!(
            decision["verdict"] == "deny" && reason.contains(why) && reason.contains("`jackline trust`"),
            "{reason}"
        );
    };
    held("the definition that names it is not trusted");
    place.trust();
    held("`scripts/check.sh` is not trusted");
    place.trust_scripts(&["scripts/check.sh"]);
    assert_eq!((&stop()["verdict"], &stop()["stopped"]), (&json!("allow"), &json!("complete")));
    assert_eq!(fs::read_to_string(place.path("ws/trail")).expect("it ran"), "ran\nran\n");
    place.write("ws/scripts/check.sh", "true\n");
    held("`scripts/check.sh` changed since it was trusted");
    place.write("ws/jackline.yaml", &definition.replace("100", "100, when: always"));
    held("the definition that names it is not trusted");
    assert_eq!(fs::read_to_string(place.path("ws/trail")).expect("there"), "ran\nran\n", "nothing ran since");
}

#[test]
fn what_the_users_own_and_the_projects_definition_want_must_both_hold() {
    let place = Place::new();
    place.write("home/.config/jackline/jackline.yaml", "jackline: 1\ncompletion: {files: [a]}\n");
    place.write("ws/jackline.yaml", "jackline: 1\ncompletion: {files: [b]}\n");
    let stop = || {
        let stop = json!({"event": "stop.requested", "session": "s", "message": "Done."});
        place.eval(&[], &[stop])[0].clone()
    };
    let both = stop();
    assert_eq!(both["findings"].as_array().expect("a list").len(), 2, "{both}");
    place.write("ws/a", "");
    assert!(stop()["reason"].as_str().is_some_and(|reason| reason.contains("not found: b")));
    place.write("ws/b", "");
    assert_eq!(stop()["stopped"], "complete");
}

#[test]
fn what_only_a_project_calls_a_shell_is_no_evidence_for_its_users_todo() {
    let place = Place::new();
    place.write("home/.config/jackline/jackline.yaml", "jackline: 1\ntodos: {require: [{content: users}]}\n");
    let own = "jackline: 1\ntools: {declare: {go: {kind: shell}}}\ntodos: {require: [{content: projects}]}\n";
    place.write("ws/jackline.yaml", own);
    let event = |name: &str, about: Value| json!({"event": name, "session": "s", "todo": about});
    let listed = place.eval(&[], &[call("s", "x"), event("todo.list", json!({}))]).remove(1);
    let call = json!({"id": "c", "tool": "go", "args": {"command": "cargo test"}});
    for (content, want) in [("users", "deny"), ("projects", "allow")] {
        let todos = listed["result"]["todos"].as_array().expect("todos");
        let id = &todos.iter().find(|todo| todo["content"] == content).expect("required")["id"];
        let claim = json!({
            "id": id, "explanation": "all tests of the workspace pass now", "evidence": [{"command": "cargo test"}],
        });
        let decided = place.eval(
            &[],
            &[
                event("todo.start", json!({"id": id})),
                json!({"event": "call.requested", "session": "s", "call": call}),
                json!({"event": "call.finished", "session": "s", "call": call, "ok": true, "output": "ok"}),
                event("todo.claim", claim),
            ],
        );
        assert_eq!(decided[3]["verdict"], want, "{content}: {}", decided[3]);
    }
}
