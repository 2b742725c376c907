//! The scripted agent together with its client: asks the hook before each call, obeys, acts, and reports.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use jackline_core::decision::Verdict;
use serde_json::{Value, json};

use super::scratch::Scratch;
use super::script::{Act, PROMPT};
use super::told::Told;
use crate::error::CommandError;

/// The session's name in the record.
const SESSION: &str = "tour";

pub(super) struct Agent<'a> {
    scratch: &'a Scratch,
    /// Calls so far; each has a number of its own.
    calls: u32,
}

/// What a call that was allowed did.
pub(super) struct Effect {
    pub(super) ok: bool,
    /// In a few words, for people.
    pub(super) said: String,
    /// What the client tells the hook about it.
    response: Value,
}

impl<'a> Agent<'a> {
    /// A session begins, and a person asks for something.
    pub(super) fn begin(scratch: &'a Scratch) -> Result<Self, CommandError> {
        let agent = Self { scratch, calls: 0 };
        agent.send("SessionStart", json!({ "source": "startup" }))?;
        agent.send("UserPromptSubmit", json!({ "prompt": PROMPT }))?;
        Ok(agent)
    }

    pub(super) fn end(&self) -> Result<(), CommandError> {
        self.send("SessionEnd", json!({ "reason": "other" })).map(drop)
    }

    /// Asks whether it may; a stop is asked for too.
    pub(super) fn ask(&mut self, act: &Act) -> Result<Told, CommandError> {
        if let Act::Stop(message) = act {
            return self.send("Stop", json!({ "stop_hook_active": false, "last_assistant_message": message }));
        }
        self.calls += 1;
        self.send("PreToolUse", self.call(act))
    }

    /// Does what was allowed, and tells the hook how it went.
    pub(super) fn act(&self, act: &Act) -> Result<Effect, CommandError> {
        let effect = self.perform(act)?;
        let mut call = self.call(act);
        let (event, member) =
            if effect.ok { ("PostToolUse", "tool_response") } else { ("PostToolUseFailure", "error") };
        if let Value::Object(call) = &mut call {
            call.insert(member.to_owned(), effect.response.clone());
        }
        let told = self.send(event, call)?;
        if told.verdict == Verdict::Allow {
            Ok(effect)
        } else {
            Err(CommandError::internal("the hook refused what had happened already"))
        }
    }

    fn perform(&self, act: &Act) -> Result<Effect, CommandError> {
        let done = |said: String, response: Value| Ok(Effect { ok: true, said, response });
        match *act {
            Act::Shell(text, _) => self.run(text),
            Act::Read(path) => {
                let content = fs::read_to_string(self.scratch.file(path))?;
                let file = json!({ "filePath": self.scratch.file(path), "content": content });
                done(format!("{path} was read"), json!({ "type": "text", "file": file }))
            }
            Act::Write(path, content) => {
                fs::write(self.scratch.file(path), content)?;
                done(format!("{path} was written"), json!({ "filePath": self.scratch.file(path), "content": content }))
            }
            Act::Edit(path, old, new) => {
                let content = fs::read_to_string(self.scratch.file(path))?;
                fs::write(self.scratch.file(path), content.replacen(old, new, 1))?;
                done(format!("{path} was changed"), json!({ "filePath": self.scratch.file(path) }))
            }
            Act::Stop(_) => Err(CommandError::internal("a stop is no call")),
        }
    }

    fn run(&self, text: &str) -> Result<Effect, CommandError> {
        let output = self.scratch.shell(text).output()?;
        let said = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
        if output.status.success() {
            let shown = if said.is_empty() { "it ran".to_owned() } else { format!("it ran: {said}") };
            let response = json!({ "stdout": said, "stderr": "", "interrupted": false, "isImage": false });
            return Ok(Effect { ok: true, said: shown, response });
        }
        let why = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
        let shown = format!("it failed: {}", why.lines().next().unwrap_or_default());
        Ok(Effect { ok: false, said: shown, response: json!(format!("{}\n{said}{why}", output.status)) })
    }

    /// The members of a message that describe the present call.
    fn call(&self, act: &Act) -> Value {
        let file = |path: &str| self.scratch.file(path).display().to_string();
        let (tool, input) = match *act {
            Act::Shell(text, _) => ("Bash", json!({ "command": text })),
            Act::Read(path) => ("Read", json!({ "file_path": file(path) })),
            Act::Write(path, content) => ("Write", json!({ "file_path": file(path), "content": content })),
            Act::Edit(path, old, new) => {
                ("Edit", json!({ "file_path": file(path), "old_string": old, "new_string": new, "replace_all": false }))
            }
            Act::Stop(_) => return json!({}),
        };
        json!({ "tool_name": tool, "tool_input": input, "tool_use_id": format!("toolu_{:04}", self.calls) })
    }

    /// One message to the hook, in a process of its own, as the client sends it.
    fn send(&self, event: &str, members: Value) -> Result<Told, CommandError> {
        let mut message = json!({
            "session_id": SESSION,
            "cwd": self.scratch.repository(),
            "permission_mode": "bypassPermissions",
            "hook_event_name": event,
        });
        if let (Value::Object(message), Value::Object(members)) = (&mut message, members) {
            message.extend(members);
        }
        let mut hook = self.scratch.hook();
        let mut child = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        if let Some(mut input) = child.stdin.take() {
            input.write_all(message.to_string().as_bytes())?;
        }
        Told::read(&child.wait_with_output()?)
    }
}
