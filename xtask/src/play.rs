//! `cargo xtask play`: a scripted agent's first session through the real program, in a scratch directory.
//!
//! Nothing outside the scratch directory is touched. Every decision is compared with what the example expects; at
//! the end one character of the exported log is changed, which verifying must notice.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::script::{self, Line};
use crate::shell::{cargo, root, say};

const EXAMPLE: &str = "examples/first-session";

/// Bytes of a subject that keep the columns in line.
const SUBJECT_WIDTH: usize = 44;

/// Plays the example; an error names the first thing that was not as expected.
pub(crate) fn run(keep: bool) -> Result<(), String> {
    let program = build()?;
    let lines = script::read(&root().join(EXAMPLE))?;
    let scratch = Scratch::new(program)?;
    say(&format!("\n== the agent works in a copy of {EXAMPLE}/workspace, under {EXAMPLE}/jackline.yaml\n"));
    scratch.play(&lines)?;
    say("\n== jackline log: what happened, from the record\n");
    say(&scratch.expect(&["log"], 0)?);
    say("== jackline audit verify: the record is whole\n");
    say(&scratch.expect(&["audit", "verify"], 0)?);
    scratch.tamper()?;
    scratch.end(keep);
    say("everything was as expected");
    Ok(())
}

/// Builds the program and gives its path.
fn build() -> Result<PathBuf, String> {
    let arguments = ["build", "--release", "-p", "jackline", "--message-format=json-render-diagnostics"];
    say(&format!("== cargo {}", arguments.join(" ")));
    let built = cargo(&arguments).stderr(Stdio::inherit()).output();
    let built = built.map_err(|fault| format!("cargo could not be started: {fault}"))?;
    if !built.status.success() {
        return Err("the program could not be built".to_owned());
    }
    let messages = built.stdout.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    let mut programs = messages.filter_map(|message: Value| Some(PathBuf::from(message.get("executable")?.as_str()?)));
    programs.next_back().ok_or_else(|| "cargo built no program".to_owned())
}

/// The scratch directory: a workspace, a home and a state directory of its own.
struct Scratch {
    place: TempDir,
    program: PathBuf,
}

impl Scratch {
    fn new(program: PathBuf) -> Result<Self, String> {
        let place = TempDir::with_prefix("jackline-play-").map_err(|fault| format!("no scratch directory: {fault}"))?;
        let scratch = Self { place, program };
        let example = root().join(EXAMPLE);
        let made = copy(&example.join("workspace"), &scratch.path("workspace"))
            .and_then(|()| fs::copy(example.join("jackline.yaml"), scratch.path("workspace/jackline.yaml")).map(drop))
            .and_then(|()| fs::create_dir(scratch.path("home")));
        made.map_err(|fault| format!("the example could not be copied: {fault}"))?;
        Ok(scratch)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// The program in the workspace, with an environment in which nothing of the user's is in reach.
    fn jackline(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(self.path("workspace")).stdin(Stdio::null());
        command.env_clear().env("HOME", self.path("home")).env("JACKLINE_HOME", self.path("state"));
        command
    }

    /// Runs a command that must exit with `code`, and gives what it printed.
    fn expect(&self, arguments: &[&str], code: i32) -> Result<String, String> {
        let shown = arguments.join(" ");
        let Output { status, stdout, stderr } =
            self.jackline(arguments).output().map_err(|fault| format!("`jackline {shown}` did not start: {fault}"))?;
        if status.code() == Some(code) {
            return Ok(String::from_utf8_lossy(&stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&stderr);
        Err(format!("`jackline {shown}` ended with {status} instead of {code}: {said}"))
    }

    /// Sends one event at a time, as a host would, and waits for each decision.
    fn play(&self, lines: &[Line]) -> Result<(), String> {
        let mut eval = self.jackline(&["eval", "--definition", "jackline.yaml"]);
        let mut child = eval.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(broken)?;
        let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("`jackline eval` has no pipes".to_owned());
        };
        let mut output = BufReader::new(output);
        let mut surprises = 0;
        for line in lines {
            writeln!(input, "{}", line.sent).map_err(broken)?;
            let mut answer = String::new();
            output.read_line(&mut answer).map_err(broken)?;
            let decision: Value =
                serde_json::from_str(&answer).map_err(|fault| format!("no decision: {fault}: {answer}"))?;
            surprises += u32::from(!show(line, &decision));
        }
        drop(input);
        let status = child.wait().map_err(broken)?;
        match surprises {
            0 if status.success() => Ok(()),
            0 => Err(format!("`jackline eval` ended with {status}")),
            count => Err(format!("{count} decision(s) were not the expected ones")),
        }
    }

    /// Changes one character of one record in a copy of the log, and lets verifying find it.
    fn tamper(&self) -> Result<(), String> {
        let whole = self.expect(&["audit", "export"], 0)?;
        let (changed, seq) = with_a_changed_denial(&whole).ok_or("the log has no denial that could be changed")?;
        let (good, bad) = (self.path("exported.jsonl"), self.path("tampered.jsonl"));
        fs::write(&good, whole).and_then(|()| fs::write(&bad, changed)).map_err(broken)?;
        self.expect(&["audit", "verify", &good.display().to_string()], 0)?;
        say(&format!("== one character of record {seq} is changed in a copy: `deny` becomes `denx`\n"));
        let said = self.expect(&["audit", "verify", &bad.display().to_string()], 1)?;
        say(&said);
        if said.contains(&format!("record {seq} ")) {
            Ok(())
        } else {
            Err(format!("verifying did not name record {seq}"))
        }
    }

    fn end(self, keep: bool) {
        if keep {
            say(&format!("the scratch directory stays: {}", self.place.keep().display()));
        }
    }
}

fn broken(fault: std::io::Error) -> String {
    format!("the played session broke off: {fault}")
}

/// Prints an event with its decision; whether it was the expected one.
fn show(line: &Line, decision: &Value) -> bool {
    let said = |member: &str| decision.get(member).and_then(Value::as_str).unwrap_or_default();
    let held = line.want.holds(decision);
    let mark = if said("verdict") == "allow" { "✓" } else { "✗" };
    let subject = script::subject(&line.event);
    let row = format!("  {subject:<SUBJECT_WIDTH$} {mark} {:<5} {}", said("verdict"), said("code"));
    say(row.trim_end());
    if !said("reason").is_empty() {
        say(&format!("  {:SUBJECT_WIDTH$}   {}", "", said("reason")));
    }
    if !held {
        let code = line.want.code.as_deref().unwrap_or_default();
        say(&format!("  {:SUBJECT_WIDTH$}   EXPECTED {} {code}", "", line.want.verdict));
    }
    held
}

/// The log with one character of its first denial changed, and that record's number.
fn with_a_changed_denial(log: &str) -> Option<(String, u64)> {
    const DENIED: &str = "\"verdict\":\"deny\"";
    let at = log.find(DENIED)?;
    let start = log.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
    let line = log.get(start..)?.lines().next()?;
    let record: Value = serde_json::from_str(line).ok()?;
    let changed = log.replacen(DENIED, "\"verdict\":\"denx\"", 1);
    Some((changed, record.get("seq")?.as_u64()?))
}

/// Copies a directory of plain files.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_character_of_one_record_is_changed() {
        let log =
            "{\"seq\":1}\n{\"data\":{\"verdict\":\"deny\"},\"seq\":2}\n{\"data\":{\"verdict\":\"deny\"},\"seq\":3}\n";
        let (changed, seq) = with_a_changed_denial(log).unwrap();
        assert_eq!(seq, 2);
        assert_eq!(changed.bytes().zip(log.bytes()).filter(|(a, b)| a != b).count(), 1);
        assert_eq!(with_a_changed_denial("{\"seq\":1}\n"), None);
    }
}
