//! A short agent loop that embeds Jackline: a scripted model, three tools, a policy of its own.
//!
//! `cargo run -p jackline-runtime --example agent_loop` prints what the model tried and what became of it, and fails
//! if a refused call was carried out all the same.
#![expect(clippy::print_stdout, reason = "the transcript is what an example is for")]
#![expect(clippy::indexing_slicing, reason = "a JSON value answers null for a member that it does not have")]

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use jackline_runtime::core::decision::Verdict;
use jackline_runtime::core::definition::model::{Declaration, Paths, ReadBeforeWrite};
use jackline_runtime::core::definition::{DefinitionBuilder, Kind, Model};
use jackline_runtime::core::event::{Body, Call, Event, Outcome, StopAsk};
use jackline_runtime::core::probe::{Fact, Probe};
use jackline_runtime::{Answer, Asked, Keep, Objection, Policy, Runtime, clock};
use serde_json::{Value, json};

const SESSION: &str = "agent-loop";

/// The embedder's own policy: what was published may not be written any more.
#[derive(Debug)]
struct PublishedStays;

impl PublishedStays {
    /// The files that a call touches, by identity: `./notes.md` and `notes.md` are one file.
    fn files(asked: &Asked<'_>) -> Result<Vec<String>, String> {
        let file = |probe: Probe| match asked.facts.get(&probe) {
            Some(Fact::Identity(identity)) => Ok(identity.path.clone()),
            // Whatever a policy cannot tell, it must not allow: an error denies.
            _ => Err("where the path leads is not known".to_owned()),
        };
        asked.view.touches.iter().map(|touch| file(touch.probe())).collect()
    }
}

impl Policy for PublishedStays {
    fn name(&self) -> &str {
        "published-stays"
    }

    fn needs(&self, asked: &Asked<'_>) -> Vec<Probe> {
        asked.view.touches.iter().map(|touch| touch.probe()).collect()
    }

    fn judge(&self, asked: &Asked<'_>) -> Result<Option<Objection>, String> {
        if asked.view.kind != Kind::Write {
            return Ok(None);
        }
        let published = Self::files(asked)?.into_iter().find_map(|file| asked.kept(&file).map(str::to_owned));
        Ok(published.map(|call| Objection::deny(format!("Call {call} published this file; write a new one instead."))))
    }

    fn on_result(&self, asked: &Asked<'_>) -> Result<Vec<Keep>, String> {
        if asked.view.call.tool != "publish" {
            return Ok(Vec::new());
        }
        let keep = |file| Keep { key: file, value: asked.view.call.id.clone() };
        Ok(Self::files(asked)?.into_iter().map(keep).collect())
    }
}

/// The same as a `jackline.yaml`, built in code and held to the same checks.
fn definition() -> Result<Model, Box<dyn Error>> {
    let publish = Declaration { kind: Some(Kind::Read), path: vec!["path".to_owned()], ..Declaration::default() };
    let built = DefinitionBuilder::new()
        .agent("example", "agent-loop")
        .declare_with("publish", publish)
        .sequence("write-then-publish", [("publish", ["write_file"])])
        .read_before_write("look-first", ReadBeforeWrite::default())
        .paths("stay-inside", Paths::default())
        .build();
    Ok(built?)
}

/// The agent: what it may use, what it did, what it was refused.
struct Agent {
    runtime: Runtime,
    workspace: PathBuf,
    carried_out: Vec<String>,
    refused: Vec<String>,
}

impl Agent {
    /// Asks first, obeys, and reports what came of it. This is all there is to embedding.
    fn call(&mut self, tool: &str, args: Value) -> Verdict {
        let id = format!("c{}", self.carried_out.len() + self.refused.len() + 1);
        let call = Call { id: Some(id.clone()), ..Call::new(tool, args) };
        let answer = self.tell(Body::CallRequested(call.clone()));
        if answer.verdict != Verdict::Allow {
            // A real loop puts this text where the model reads the tool's result.
            println!("  {id} {tool} {}  ✗ {}", call.args["path"], answer.reason.unwrap_or_default());
            self.refused.push(id);
            return answer.verdict;
        }
        println!("  {id} {tool} {}  ✓", call.args["path"]);
        let (ok, output) = match self.carry_out(&call) {
            Ok(output) => (true, output),
            Err(fault) => (false, fault.to_string()),
        };
        self.carried_out.push(id);
        self.tell(Body::CallFinished(call, Outcome::new(ok, output.into())));
        Verdict::Allow
    }

    fn tell(&self, body: Body) -> Answer {
        let (session, at) = (SESSION.to_owned(), clock::now());
        self.runtime.decide(&Event::new(session, at, body))
    }

    /// The tools themselves; they know nothing of any rule.
    fn carry_out(&self, call: &Call) -> std::io::Result<String> {
        let path = self.workspace.join(call.args["path"].as_str().unwrap_or_default());
        match call.tool.as_str() {
            "write_file" => {
                fs::write(path, call.args["content"].as_str().unwrap_or_default()).map(|()| "written".to_owned())
            }
            "read_file" | "publish" => fs::read_to_string(path),
            unknown => Err(std::io::Error::other(format!("there is no tool {unknown}"))),
        }
    }
}

/// What the model tries, in this order, and what each try must lead to.
fn script() -> Vec<(&'static str, Value, Verdict)> {
    let write = |path: &str, content: &str| json!({ "path": path, "content": content });
    vec![
        ("publish", json!({ "path": "notes.md" }), Verdict::Deny), // nothing was written yet
        ("write_file", write("notes.md", "rewritten unread"), Verdict::Deny), // it exists and was not read
        ("read_file", json!({ "path": "notes.md" }), Verdict::Allow),
        ("write_file", write("notes.md", "version 2"), Verdict::Allow),
        ("publish", json!({ "path": "notes.md" }), Verdict::Allow),
        ("write_file", write("./notes.md", "version 3"), Verdict::Deny), // our own policy: it was published
        ("write_file", write("../escaped.md", "outside"), Verdict::Deny),
        ("write_file", write("notes-2.md", "version 3"), Verdict::Allow),
    ]
}

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = tempfile::tempdir()?;
    let workspace = scratch.path().canonicalize()?.join("workspace");
    fs::create_dir(&workspace)?;
    fs::write(workspace.join("notes.md"), "version 1")?;
    let builder = Runtime::builder().workspace(&workspace).definition(definition()?).policy(PublishedStays);
    let runtime = builder.state(scratch.path().join("state")).build()?;
    let mut agent = Agent { runtime, workspace, carried_out: Vec::new(), refused: Vec::new() };

    println!("asked for publish: {}", agent.runtime.policies_for_tool("publish")?.join(", "));
    agent.tell(Body::SessionStarted { invariants: None });
    let mut surprises = Vec::new();
    for (tool, args, want) in script() {
        let got = agent.call(tool, args);
        surprises.extend((got != want).then(|| format!("{tool}: {} instead of {}", got.name(), want.name())));
    }

    println!("snapshot, reset, restore: what guards remember can be put aside and taken back");
    agent.runtime.snapshot(SESSION, "published");
    agent.runtime.reset(SESSION);
    let forgotten = agent.call("publish", json!({ "path": "notes-2.md" }));
    agent.runtime.restore(SESSION, "published");
    let remembered = agent.call("publish", json!({ "path": "notes-2.md" }));
    surprises.extend((forgotten != Verdict::Deny).then(|| "reset forgot nothing".to_owned()));
    surprises.extend((remembered != Verdict::Allow).then(|| "restore brought nothing back".to_owned()));

    let stopped = agent.tell(Body::StopRequested(StopAsk::default()));
    println!("stop: {}, record #{} of the audit log", stopped.verdict.name(), stopped.seq.unwrap_or_default());
    check(&agent, surprises)
}

/// Fails if anything that was refused happened: by what the loop did, and by what lies on the disk.
fn check(agent: &Agent, mut surprises: Vec<String>) -> Result<(), Box<dyn Error>> {
    surprises.extend(agent.refused.iter().filter(|id| agent.carried_out.contains(id)).map(|id| format!("{id} ran")));
    let notes = fs::read_to_string(agent.workspace.join("notes.md"))?;
    surprises.extend((notes != "version 2").then(|| format!("notes.md holds {notes:?}")));
    surprises.extend(agent.workspace.join("../escaped.md").exists().then(|| "a file was written outside".to_owned()));
    if surprises.is_empty() { Ok(()) } else { Err(surprises.join("; ").into()) }
}
