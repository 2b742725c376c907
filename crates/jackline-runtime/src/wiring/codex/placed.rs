//! The hooks of a file of Codex's by where they stand: Codex trusts a hook under its place, by the digest of its entry.

use std::collections::BTreeSet;

use jackline_core::json::canonical;
use jackline_core::sha::Digest;
use serde_json::{Value, json};

use super::FORM;
use crate::wiring::Wiring as _;
use crate::wiring::hooks::is_ours;
use crate::wiring::{SettingsFault, spans};

/// A hook and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Placed {
    /// The event, as it is named in keys.
    pub(super) event: String,
    group: usize,
    index: usize,
    pub(super) ours: bool,
    /// What is trusted of it; `None` of an entry with anything in it that we do not write, and so cannot answer for.
    pub(super) digest: Option<String>,
}

impl Placed {
    /// The key under which trust in it is kept.
    pub(super) fn key(&self, file: &str) -> String {
        format!("{file}:{}:{}:{}", self.event, self.group, self.index)
    }
}

/// The hooks of a file, in order; of none where there is no file.
pub(super) fn placed(text: Option<&str>) -> Result<Vec<Placed>, SettingsFault> {
    let Some(text) = text.filter(|text| !spans::blank(text.as_bytes())) else { return Ok(Vec::new()) };
    let settings = spans::settings(text.as_bytes())?;
    // What is of a wrong form is refused here.
    FORM.survey(text.as_bytes())?;
    let mut found = Vec::new();
    for (event, groups) in settings.get("hooks").and_then(Value::as_object).into_iter().flatten() {
        for (group, at) in groups.as_array().into_iter().flatten().zip(0_usize..) {
            let hooks = group.get("hooks").and_then(Value::as_array).into_iter().flatten();
            for (hook, index) in hooks.zip(0_usize..) {
                let (event, ours) = (snake(event), is_ours(&FORM, hook));
                let digest = is_plain(group, hook).then(|| digest(&event, hook));
                found.push(Placed { event, group: at, index, ours, digest });
            }
        }
    }
    Ok(found)
}

/// `PreToolUse` as `pre_tool_use`.
fn snake(event: &str) -> String {
    let mut name = String::new();
    for (at, c) in event.chars().enumerate() {
        if c.is_ascii_uppercase() && at > 0 {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

/// Whether nothing is in an entry or its group but what we write; a matcher, for one, would be part of the digest.
fn is_plain(group: &Value, hook: &Value) -> bool {
    let keys = |value: &Value| -> BTreeSet<String> {
        value.as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect()
    };
    let only = |value: &Value, wanted: &[&str]| keys(value) == wanted.iter().map(|&key| key.to_owned()).collect();
    only(group, &["hooks"])
        && only(hook, &["type", "command", "timeout"])
        && hook.get("timeout").is_some_and(Value::is_u64)
}

fn digest(event: &str, hook: &Value) -> String {
    let entry = json!({
        "type": hook.get("type"), "command": hook.get("command"), "timeout": hook.get("timeout"), "async": false,
    });
    let identity = json!({ "event_name": event, "hooks": [entry] });
    format!("sha256:{}", Digest::of(&canonical(&identity)).hex())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(event: &str, group: &Value, want: Option<&str>) {
        let text = json!({ "hooks": { event: [group] } }).to_string();
        assert_eq!(placed(Some(&text)).unwrap()[0].digest.as_deref(), want);
    }

    #[test]
    fn the_digest_is_the_one_that_the_client_computes() {
        let hook = |seconds: u64| json!({ "type": "command", "command": "jackline hook codex", "timeout": seconds });
        let want = "sha256:bbd7dd39d4a10f19cb9be38f4b3f10430b33d6797ed56ac1009679eeba4f7408";
        check("PreToolUse", &json!({ "hooks": [hook(10)] }), Some(want));
        let want = "sha256:737be5d5a9d3e00e798ab014e385ced73b7fb52641f29da840785e5a1ada77f0";
        check("Stop", &json!({ "hooks": [hook(20)] }), Some(want));
    }

    #[test]
    fn an_entry_with_more_in_it_than_we_write_has_no_digest_that_we_know() {
        let hook = json!({ "type": "command", "command": "jackline hook codex", "timeout": 10 });
        for matcher in ["", "*"] {
            check("PreToolUse", &json!({ "matcher": matcher, "hooks": [hook] }), None);
        }
        for (key, value) in [("timeout", json!(10.0)), ("statusMessage", json!("x")), ("async", json!(false))] {
            let mut hook = hook.clone();
            hook[key] = value;
            check("PreToolUse", &json!({ "hooks": [hook] }), None);
        }
    }
}
