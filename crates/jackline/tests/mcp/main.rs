//! The real program between a scripted client and MCP servers: one that is odd on purpose, and public ones.
//!
//! Every scenario asserts what the client is shown, what reached the server, and what is on record.

#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]
#![expect(clippy::indexing_slicing, reason = "messages and records are JSON: a missing member is null")]

mod address;
mod addressed;
mod babble;
mod changed;
mod client;
mod continued;
mod joined;
mod judged;
mod listening;
mod lists;
mod odd;
mod passed;
mod public;
mod raced;
#[path = "../records/mod.rs"]
mod records;
mod served;
mod suites;
mod workspace;
mod wrapped;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::OnceLock;

use client::Client;
use jackline_rehearsal::install;
use serde_json::Value;

/// The program under test.
const JACKLINE: &str = env!("CARGO_BIN_EXE_jackline");

/// The odd server's program.
fn odd_server() -> String {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let built = BUILT.get_or_init(install::odd_mcp_server).as_ref().unwrap_or_else(|why| panic!("{why}"));
    built.to_str().expect("UTF-8").to_owned()
}

/// A workspace and a home of their own.
struct World {
    top: tempfile::TempDir,
}

impl World {
    /// A workspace with this definition; without one where it is empty.
    fn new(definition: &str) -> Self {
        let world = Self { top: tempfile::tempdir().expect("a temporary directory") };
        fs::create_dir(world.path("ws")).expect("made");
        fs::create_dir(world.path("home")).expect("made");
        if !definition.is_empty() {
            fs::write(world.path("ws/jackline.yaml"), definition).expect("written");
        }
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.top.path().canonicalize().expect("there").join(name)
    }

    /// What the odd server read, line by line.
    fn reached(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.path("log")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    /// The tools whose calls reached the odd server.
    fn called(&self) -> Vec<String> {
        let calls = self.reached().into_iter().filter(|message| message["method"] == "tools/call");
        calls.map(|call| call["params"]["name"].as_str().expect("a name").to_owned()).collect()
    }

    /// Runs the program as a person would.
    fn jackline(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program starts")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(JACKLINE);
        command.args(arguments).current_dir(self.path("ws")).env_clear();
        command.env("HOME", self.path("home")).env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command
    }

    /// A proxy with these options before a server.
    fn proxy(&self, options: &[&str], server: &[&str]) -> Client {
        let arguments = [&["mcp", "proxy"], options, &["--"], server].concat();
        Client::start(self.command(&arguments))
    }

    /// A proxy before the odd server, greeted.
    fn odd(&self, options: &[&str]) -> Client {
        let mut client = self.ungreeted(options, &[]);
        client.greet();
        client
    }

    /// The same, with options of the server's own, and nothing said yet.
    fn ungreeted(&self, options: &[&str], own: &[&str]) -> Client {
        let (server, log) = (odd_server(), self.path("log"));
        let server = [&[server.as_str(), "--log", log.to_str().expect("UTF-8")], own].concat();
        self.proxy(options, &server)
    }

    /// Everything on record, in order; the record must be whole.
    #[track_caller]
    fn records(&self) -> Vec<Value> {
        records::exported(|words| self.jackline(words))
    }

    /// The records of one kind.
    #[track_caller]
    fn records_of(&self, kind: &str) -> Vec<Value> {
        self.records().into_iter().filter(|record| record["kind"] == kind).collect()
    }

    /// Tells the store of events, as a host's hook would.
    fn eval(&self, events: &[Value]) -> Vec<Value> {
        use std::io::Write as _;
        use std::process::Stdio;
        let mut eval = self.command(&["eval"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("started");
        let mut input = eval.stdin.take().expect("piped");
        events.iter().for_each(|event| writeln!(input, "{event}").expect("written"));
        drop(input);
        let output = eval.wait_with_output().expect("ended");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        text.lines().map(|line| serde_json::from_str(line).expect("a decision")).collect()
    }
}
