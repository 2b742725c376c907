//! The real binary as people meet it: exit code, standard output and standard error of every command.
//!
//! Hashes, signatures, the present time and temporary paths are replaced before texts are compared.

#![expect(clippy::expect_used, reason = "a test that cannot go on says so by panicking")]

mod asking;
mod authorities;
mod checking;
mod deciding;
mod excepting;
mod extending;
mod gating;
mod judges;
mod odd;
mod packing;
mod proving;
mod reading;
mod retiring;
mod testing;
mod todos;
mod touring;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A definition with one policy of each kind that the sessions here run into.
const DEFINITION: &str = r#"jackline: 1
agent: { ns: acme, key: bot }
steps:
  test: { tool: "@shell", command: "cargo test*" }
  commit: { tool: "@shell", command: "git commit*" }
policies:
  - sequence: { requires: { commit: [test] } }
  - name: no-push
    rule: { tool: "@shell", command: "git push*", reason: "a person pushes" }
  - name: soft
    enforce: warn
    rule: { tool: WebFetch, reason: "stay at home" }
"#;

/// A session that is denied, warned, halts nowhere and stops.
const EVENTS: &str = r#"{"event":"session.started","session":"s1","at":"2026-03-01T09:00:00Z","host":"claude"}
{"event":"prompt.submitted","session":"s1","at":"2026-03-01T09:00:01Z","host":"claude","prompt":"ship it"}
{"event":"call.requested","session":"s1","at":"2026-03-01T09:00:02Z","host":"claude","call":{"id":"c1","tool":"Bash","args":{"command":"git commit -m x"}}}
{"event":"call.requested","session":"s1","at":"2026-03-01T09:00:03Z","host":"claude","call":{"id":"c2","tool":"WebFetch","args":{"url":"http://x"}}}
{"event":"call.finished","session":"s1","at":"2026-03-01T09:00:04Z","host":"claude","call":{"id":"c2","tool":"WebFetch","args":{"url":"http://x"}},"ok":false}
{"event":"call.requested","session":"s1","at":"2026-03-01T09:00:05Z","host":"claude","agent":"reviewer","call":{"id":"c3","tool":"Write","args":{"file_path":"jackline.yaml"}}}
{"event":"stop.requested","session":"s1","at":"2026-03-01T09:00:06Z","host":"claude","message":"done"}
{"event":"session.ended","session":"s1","at":"2026-03-01T09:00:07Z","host":"claude"}
"#;

/// A workspace and a home of their own.
struct World {
    top: tempfile::TempDir,
}

impl World {
    /// A workspace without a definition.
    fn empty() -> Self {
        let world = Self { top: tempfile::tempdir().expect("a temporary directory") };
        fs::create_dir(world.path("ws")).expect("made");
        fs::create_dir(world.path("home")).expect("made");
        world
    }

    /// A workspace with this definition.
    fn defined(text: &str) -> Self {
        let world = Self::empty();
        world.write("ws/jackline.yaml", text);
        world
    }

    /// A workspace in which the session above has happened.
    fn played() -> Self {
        let world = Self::defined(DEFINITION);
        world.run(&["eval"], EVENTS);
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.top.path().canonicalize().expect("there").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().expect("a parent")).expect("made");
        fs::write(self.path(name), text).expect("written");
    }

    /// The files of the session's store, by the name of the file.
    fn stored(&self, name: &str) -> PathBuf {
        let sessions = fs::read_dir(self.path("home/.local/state/jackline/sessions")).expect("there");
        sessions.map(|entry| entry.expect("readable").path()).next().expect("one session").join(name)
    }

    /// Exit code, standard output and standard error, filtered.
    fn run(&self, arguments: &[&str], input: &str) -> (Option<i32>, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jackline"));
        command.args(arguments).current_dir(self.path("ws")).env_clear().env("HOME", self.path("home"));
        self.spawn(command, input)
    }

    /// The same with a terminal attached, at which a person types.
    fn at_terminal(&self, arguments: &[&str], typed: &str) -> (Option<i32>, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jackline"));
        command.args(arguments).current_dir(self.path("ws")).env_clear();
        command.env("HOME", self.path("home")).env("USER", "dev");
        self.spawn_at_terminal(command, typed)
    }

    fn spawn_at_terminal(&self, mut command: Command, typed: &str) -> (Option<i32>, String, String) {
        let (mut person, terminal) = jackline_rehearsal::terminal().expect("a terminal");
        person.write_all(typed.as_bytes()).expect("typed");
        let output = command.stdin(terminal).output().expect("ran");
        let text = |bytes: Vec<u8>| filtered(&String::from_utf8(bytes).expect("UTF-8"), &self.path(""));
        (output.status.code(), text(output.stdout), text(output.stderr))
    }

    fn spawn(&self, mut command: Command, input: &str) -> (Option<i32>, String, String) {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("started");
        // A command that reads nothing may be gone already.
        drop(child.stdin.take().expect("piped").write_all(input.as_bytes()));
        let output = child.wait_with_output().expect("ended");
        let text = |bytes: Vec<u8>| filtered(&String::from_utf8(bytes).expect("UTF-8"), &self.path(""));
        (output.status.code(), text(output.stdout), text(output.stderr))
    }

    /// What a command prints, all of it.
    #[track_caller]
    fn check(&self, arguments: &[&str], exit: i32, stdout: &str, stderr: &str) {
        self.check_with(arguments, "", exit, (stdout, stderr));
    }

    #[track_caller]
    fn check_with(&self, arguments: &[&str], input: &str, exit: i32, want: (&str, &str)) {
        let (code, stdout, stderr) = self.run(arguments, input);
        assert_eq!(stdout, want.0, "standard output of {arguments:?}; standard error was\n{stderr}");
        assert_eq!(stderr, want.1, "standard error of {arguments:?}");
        assert_eq!(code, Some(exit), "exit code of {arguments:?}");
    }
}

/// The text without what differs from run to run.
fn filtered(text: &str, top: &Path) -> String {
    let top = top.display().to_string();
    let text = text.replace(top.trim_end_matches('/'), "TOP");
    let text = replaced(&text, 128, |c| c.is_ascii_hexdigit(), "SIGNATURE");
    let text = replaced(&text, 64, |c| c.is_ascii_hexdigit(), "HASH");
    let year = "202";
    let at = format!("\"at\":\"{year}");
    // Only checkpoints carry the present time; records carry the events'.
    match text.split_once(&at) {
        Some((before, after)) if text.contains("SIGNATURE") => {
            let rest = after.split_once('"').map_or(after, |(_, rest)| rest);
            format!("{before}\"at\":\"TIME\"{rest}")
        }
        _ => text,
    }
}

/// Every run of exactly `length` such characters replaced.
fn replaced(text: &str, length: usize, is: fn(char) -> bool, name: &str) -> String {
    let mut out = String::new();
    let mut run = String::new();
    for c in text.chars().chain(['\0']) {
        if is(c) {
            run.push(c);
            continue;
        }
        out.push_str(if run.len() == length { name } else { &run });
        run.clear();
        out.push(c);
    }
    out.trim_end_matches('\0').to_owned()
}
