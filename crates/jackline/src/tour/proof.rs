//! The last part of the tour: the record holds, and a change of one character in a copy of it is found.

use std::fs;

use jackline_core::decision::Verdict;
use serde_json::Value;

use super::scratch::Scratch;
use super::stage::Stage;
use crate::error::CommandError;

/// Verifies the record, tampers with a copy and verifies that.
pub(super) fn show(stage: &Stage, scratch: &Scratch) -> Result<(), CommandError> {
    let whole = verify(stage, scratch, None, 0)?;
    if !whole.contains("1 chain verified") {
        return Err(surprise("verifying the record found another number of chains", &whole));
    }
    let repository = scratch.repository().display().to_string();
    let log = run(scratch, &["audit", "export", "--workspace", &repository], 0)?;
    let unfit = || CommandError::internal("the record holds no denial that could be changed");
    let (changed, seq) = with_a_changed_denial(&log).ok_or_else(unfit)?;
    fs::write(scratch.copy(), changed)?;
    stage.remark(&format!("Now a copy, with one character of record {seq} changed: `deny` became `denx`."))?;
    let said = verify(stage, scratch, Some("copy.jsonl"), 1)?;
    if said.starts_with(&format!("broken at record {seq} ")) {
        Ok(())
    } else {
        Err(surprise(&format!("verifying the copy did not name record {seq}"), &said))
    }
}

/// `jackline audit verify` on the store or on the copy, shown with all it says.
fn verify(stage: &Stage, scratch: &Scratch, copy: Option<&str>, exit: i32) -> Result<String, CommandError> {
    stage.wants(format!("$ jackline audit verify {}", copy.unwrap_or_default()).trim_end())?;
    let file = scratch.copy().display().to_string();
    let arguments = [["audit", "verify"].as_slice(), copy.map(|_| file.as_str()).as_slice()].concat();
    let said = run(scratch, &arguments, exit)?;
    let (verdict, what) = if exit == 0 { (Verdict::Allow, "it holds") } else { (Verdict::Deny, "it does not hold") };
    stage.verdict(verdict, what)?;
    stage.effect("")?;
    said.lines().try_for_each(|line| stage.remark(line))?;
    Ok(said)
}

/// Runs a command of ours that must end with `exit`, and gives what it printed.
fn run(scratch: &Scratch, arguments: &[&str], exit: i32) -> Result<String, CommandError> {
    let output = scratch.jackline(arguments).output()?;
    if output.status.code() == Some(exit) {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let name = arguments.iter().take(2).copied().collect::<Vec<_>>().join(" ");
    let why = format!("`jackline {name}` ended with {} instead of {exit}", output.status);
    Err(surprise(&why, &String::from_utf8_lossy(&output.stderr)))
}

fn surprise(what: &str, said: &str) -> CommandError {
    CommandError::internal(format!("{what}: {}", said.trim_end()))
}

/// The log with one character of its first denial changed, and that record's number.
fn with_a_changed_denial(log: &str) -> Option<(String, u64)> {
    const DENIED: &str = "\"verdict\":\"deny\"";
    let line = log.lines().find(|line| line.contains(DENIED))?;
    let record: Value = serde_json::from_str(line).ok()?;
    let changed = log.replacen(DENIED, "\"verdict\":\"denx\"", 1);
    Some((changed, record.get("seq")?.as_u64()?))
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
