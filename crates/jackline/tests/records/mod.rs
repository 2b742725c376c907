//! What a session's log holds, as anybody may ask for it: verified, then exported.

use std::process::Output;

use serde_json::Value;

/// Everything on record, in order; the record must be whole. `jackline` runs the program with these words.
#[track_caller]
pub(crate) fn exported(jackline: impl Fn(&[&str]) -> Output) -> Vec<Value> {
    let verified = jackline(&["audit", "verify"]);
    assert_eq!(verified.status.code(), Some(0), "{}", String::from_utf8_lossy(&verified.stdout));
    let text = String::from_utf8(jackline(&["audit", "export"]).stdout).expect("UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("a record")).collect()
}
