//! A workspace with a store and a home of its own, and the program running in it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use serde_json::{Value, json};

pub(crate) const SESSION: &str = "s1";

/// Everything that one test touches.
pub(crate) struct World {
    top: tempfile::TempDir,
}

impl World {
    pub(crate) fn new(definition: &str) -> Self {
        let world = Self { top: tempfile::tempdir().unwrap() };
        fs::create_dir(world.root()).unwrap();
        fs::create_dir(world.home()).unwrap();
        fs::write(world.definition(), definition).unwrap();
        world
    }

    pub(crate) fn top(&self) -> PathBuf {
        self.top.path().canonicalize().unwrap()
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.top().join("workspace")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.top().join("home")
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.top().join("store")
    }

    pub(crate) fn definition(&self) -> PathBuf {
        self.top().join("jackline.yaml")
    }

    /// The directory of the only session in the store.
    pub(crate) fn session_dir(&self) -> PathBuf {
        let mut found = fs::read_dir(self.store().join("sessions")).unwrap().map(|entry| entry.unwrap().path());
        let only = found.next().unwrap();
        assert!(found.next().is_none(), "more than one session");
        only
    }

    /// The program, with nothing of the environment but a home.
    pub(crate) fn jackline(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jackline"));
        command.args(arguments).current_dir(self.root()).env_clear().env("HOME", self.home());
        command.stdin(Stdio::null());
        command
    }

    pub(crate) fn eval_command(&self) -> Command {
        let mut command = self.jackline(&["eval", "--definition"]);
        command.arg(self.definition()).arg("--store").arg(self.store());
        command
    }

    pub(crate) fn eval(&self) -> Eval {
        Eval::start(&mut self.eval_command())
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.jackline(arguments).arg("--store").arg(self.store()).output().unwrap()
    }

    /// The records of a session, which must all be whole and linked.
    #[track_caller]
    pub(crate) fn verified(&self, session: &str) -> Vec<Value> {
        let verified = self.run(&["audit", "verify", "--session", session]);
        assert!(verified.status.success(), "{}", shown(&verified));
        let exported = self.run(&["audit", "export", "--session", session]);
        assert!(exported.status.success(), "{}", shown(&exported));
        let text = String::from_utf8(exported.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Every acknowledged decision is in the verified log, with the hash that was told.
    #[track_caller]
    pub(crate) fn holds(&self, session: &str, told: &[Told]) -> Vec<Value> {
        let records = self.verified(session);
        let kept: BTreeMap<u64, &str> =
            records.iter().map(|record| (record["seq"].as_u64().unwrap(), record["hash"].as_str().unwrap())).collect();
        for told in told {
            assert_eq!(
                kept.get(&told.seq).copied(),
                Some(told.hash.as_str()),
                "decision {} was told and lost",
                told.seq
            );
        }
        records
    }
}

pub(crate) fn shown(output: &Output) -> String {
    format!("{}: {}{}", output.status, String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// An acknowledged decision.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Told {
    pub(crate) seq: u64,
    pub(crate) hash: String,
}

impl Told {
    /// What an answer acknowledges; nothing when it was not kept.
    pub(crate) fn of(answer: &Value) -> Option<Self> {
        Some(Self { seq: answer["seq"].as_u64()?, hash: answer["hash"].as_str()?.to_owned() })
    }
}

/// A running `jackline eval`.
pub(crate) struct Eval {
    pub(crate) child: Child,
    pub(crate) input: Option<ChildStdin>,
    pub(crate) output: BufReader<ChildStdout>,
}

impl Eval {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { input: child.stdin.take(), child, output }
    }

    pub(crate) fn send(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).unwrap();
        input.write_all(b"\n").unwrap();
    }

    pub(crate) fn answer(&mut self) -> Value {
        let mut answer = String::new();
        self.output.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap_or_else(|why| panic!("no decision ({why}): {answer:?}"))
    }

    pub(crate) fn ask(&mut self, event: &Value) -> Value {
        self.send(event.to_string().as_bytes());
        self.answer()
    }

    /// The verdict and code of what is answered, as one word: `allow`, or `deny sequence/missing`.
    pub(crate) fn verdict(&mut self, event: &Value) -> String {
        verdict(&self.ask(event))
    }

    /// Ends the input, and gives the exit code.
    pub(crate) fn end(mut self) -> Option<i32> {
        drop(self.input.take());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Eval {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

pub(crate) fn verdict(answer: &Value) -> String {
    let said = |member: &str| answer[member].as_str().unwrap_or_default().to_owned();
    format!("{} {}", said("verdict"), said("code")).trim_end().to_owned()
}

pub(crate) fn requested(id: &str, tool: &str, args: Value) -> Value {
    json!({ "event": "call.requested", "session": SESSION, "call": { "id": id, "tool": tool, "args": args } })
}

pub(crate) fn finished(id: &str, tool: &str, args: Value) -> Value {
    let call = json!({ "id": id, "tool": tool, "args": args });
    json!({ "event": "call.finished", "session": SESSION, "call": call, "ok": true, "output": "done" })
}

pub(crate) fn count(records: &[Value], kind: &str) -> usize {
    records.iter().filter(|record| record["kind"] == kind).count()
}

/// Every path below a directory, sorted.
pub(crate) fn tree(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        found.push(entry.path());
        if entry.file_type().unwrap().is_dir() {
            found.extend(tree(&entry.path()));
        }
    }
    found.sort();
    found
}
