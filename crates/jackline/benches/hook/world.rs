//! The workspace, the store with its histories, and the messages that are measured.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use jackline_runtime::Runtime;
use jackline_runtime::adapters::claude::Claude;
use jackline_runtime::definitions::{Found, Places};
use jackline_runtime::store::Store as _;
use jackline_runtime::store::files::FileStore;
use serde_json::{Value, json};

use super::programs::Program;

/// Files that the earlier events read and write in turn: as many as a large change touches.
const FILES: u64 = 200;

/// A kind of message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) event: &'static str,
    pub(crate) tool: &'static str,
}

/// What is asked, in turn: before a shell text of three commands, before a new file, after the shell text.
pub(crate) const KINDS: [Kind; 3] = [
    Kind { event: "PreToolUse", tool: "Bash" },
    Kind { event: "PreToolUse", tool: "Write" },
    Kind { event: "PostToolUse", tool: "Bash" },
];

/// What a workspace is guarded by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guards {
    /// Twenty policies and the loop guard.
    Usual,
    /// Ten rules more, and all packs.
    All,
}

impl Guards {
    fn definition(self) -> String {
        let usual = include_str!("../rules.yaml");
        match self {
            Self::Usual => usual.to_owned(),
            Self::All => usual.replace("\nstore:", concat!("\n", include_str!("more.yaml"), "store:")),
        }
    }
}

/// A place on the disk with a workspace, a home and a store.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) guards: Guards,
    workspace: PathBuf,
    home: PathBuf,
    store: PathBuf,
}

/// The session that has so many earlier events.
fn session(length: u64) -> String {
    format!("after-{length}")
}

impl World {
    pub(crate) fn new(place: &Path, guards: Guards) -> Self {
        let path = |name: &str| place.canonicalize().expect("there").join(format!("{guards:?}")).join(name);
        // Where the program looks by itself: what a variable names is not believed inside a repository, which this one is.
        let store = path("home/.local/state/jackline");
        let world = Self { guards, workspace: path("workspace"), home: path("home"), store };
        fs::create_dir_all(world.workspace.join("src")).expect("made");
        fs::create_dir_all(world.home.join(".claude")).expect("made");
        fs::write(world.home.join(".claude/settings.json"), "{}\n").expect("written");
        world.define(&guards.definition().replace("sync: full", "sync: os"));
        for number in 0..FILES {
            fs::write(world.workspace.join(file(number)), "fn main() {}\n").expect("written");
        }
        world
    }

    fn define(&self, rules: &str) {
        fs::write(self.workspace.join("jackline.yaml"), rules).expect("written");
    }

    /// Gives a session its earlier events, in the words of the host, judged by what a hook finds there.
    pub(crate) fn seed(&self, length: u64) {
        let places = Places { home: self.store.clone(), start: self.workspace.clone(), ..Places::default() };
        let builder = Runtime::builder().definitions(Found::new(places)).state(&self.store).home(&self.home);
        let runtime = builder.build().expect("built");
        let began = Instant::now();
        for number in 0..length {
            let reply = runtime.handle(&Claude { wired: None }, self.earlier(&session(length), number).as_bytes());
            assert_eq!((reply.exit, reply.stdout.as_str()), (0, ""), "the seeded event {number} was allowed");
        }
        println!("  {length:>7} earlier events: {:.1} s", began.elapsed().as_secs_f64());
    }

    /// Lets the disk finish with what was seeded, so that nobody's measured sync pays for it; from now on records are
    /// durable.
    pub(crate) fn settle(&self) {
        self.define(&self.guards.definition());
        let Ok(sessions) = fs::read_dir(self.store.join("sessions")) else { return };
        for entry in sessions {
            let log = entry.expect("readable").path().join("audit.jsonl");
            fs::File::open(log).and_then(|log| log.sync_all()).expect("synced");
        }
    }

    /// Records that the log of a session holds. Every measured event adds two; one that was let pass without a record
    /// would have measured nothing.
    pub(crate) fn records(&self, length: u64) -> usize {
        let store = FileStore::open(self.store.clone());
        store.lines(&session(length), 0).expect("readable").count()
    }

    /// A program, started as the host starts its hooks; every one in the same environment.
    pub(crate) fn command(&self, program: &Program) -> Command {
        let mut command = Command::new(&program.path);
        command.args(&program.arguments).current_dir(&self.workspace).env_clear();
        command.env("HOME", &self.home).env("PATH", "/usr/bin:/bin").env("CLAUDE_PROJECT_DIR", &self.workspace);
        command
    }

    /// What is measured: a message about a call that was not made before.
    pub(crate) fn message(&self, name: &str, length: u64, kind: Kind, round: usize) -> String {
        let number = format!("{}-{round}", name.replace(' ', "-"));
        let input = match kind.tool {
            "Write" => {
                json!({ "file_path": self.workspace.join(format!("src/new-{number}.rs")), "content": "fn f() {}\n" })
            }
            _ => json!({ "command": format!("cargo fmt && cargo build --features f{number} && git status --short"),
                         "description": "format and build" }),
        };
        self.native(&session(length), kind, (&format!("toolu_{}_{number}", kind.tool), input))
    }

    /// What was done before: files read and written in turn.
    fn earlier(&self, session: &str, number: u64) -> String {
        let (turn, id) = (number / 4, format!("toolu_e{}", number / 2));
        let path = self.workspace.join(file(turn % FILES));
        let (tool, input) = match number % 4 {
            0 | 1 => ("Read", json!({ "file_path": path })),
            _ => ("Write", json!({ "file_path": path, "content": format!("fn turn_{turn}() {{}}\n") })),
        };
        let event = if number.is_multiple_of(2) { "PreToolUse" } else { "PostToolUse" };
        self.native(session, Kind { event, tool }, (&id, input))
    }

    fn native(&self, session: &str, kind: Kind, (id, input): (&str, Value)) -> String {
        let mut message = json!({
            "session_id": session,
            "transcript_path": self.home.join(format!(".claude/projects/workspace/{session}.jsonl")),
            "cwd": self.workspace,
            "permission_mode": "default",
            "hook_event_name": kind.event,
            "tool_name": kind.tool,
            "tool_input": input,
            "tool_use_id": id,
        });
        if let (Value::Object(message), "PostToolUse") = (&mut message, kind.event) {
            message.insert("tool_response".to_owned(), json!({ "stdout": "done", "stderr": "", "interrupted": false }));
        }
        message.to_string()
    }
}

fn file(number: u64) -> String {
    format!("src/file-{number}.rs")
}
