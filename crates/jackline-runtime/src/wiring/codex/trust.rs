//! Codex's trust in hooks: it runs one only if a person's settings hold the digest of the very entry.
//!
//! Kept as tables at the end of its `config.toml`, one per entry: `[hooks.state."FILE:event:group:index"]` with
//! `trusted_hash`. The digest is of the entry with its event, as canonical JSON; tried against the client.

use jackline_core::json::canonical;
use jackline_core::sha::Digest;
use serde_json::{Value, json};

use super::super::{Removed, SettingsFault, Trust, TrustedFile, spans};
use super::FORM;
use crate::wiring::Wiring as _;
use crate::wiring::hooks::is_ours;

/// Its trust.
pub const TRUST: Tables = Tables;

/// Trust kept in tables of `config.toml`.
#[derive(Debug, Clone, Copy)]
pub struct Tables;

/// An entry of ours: where its trust is kept, and the digest that is trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    key: String,
    hash: String,
}

impl Trust for Tables {
    fn add(&self, text: Option<&str>, wired: TrustedFile<'_>) -> Result<String, SettingsFault> {
        let before = text.unwrap_or_default();
        let entries = entries(wired)?;
        if entries.iter().all(|entry| is_trusted(before, entry)) {
            return Ok(before.to_owned());
        }
        if let Some(line) = before.lines().find(|line| names_trust_otherwise(line)) {
            return Err(SettingsFault::Refused(line.trim().to_owned()));
        }
        let mut after = without(before, &entries);
        if !after.is_empty() && !after.ends_with('\n') {
            after.push('\n');
        }
        for (at, entry) in entries.iter().enumerate() {
            let space = if at == 0 && after.is_empty() { "" } else { "\n" };
            after.push_str(&format!("{space}{}\ntrusted_hash = \"{}\"\n", header(&entry.key), entry.hash));
        }
        Ok(after)
    }

    fn remove(&self, text: &str, wired: TrustedFile<'_>) -> Result<Removed, SettingsFault> {
        let after = without(text, &entries(wired)?);
        Ok(if after == text {
            Removed::Nothing
        } else if after.is_empty() {
            Removed::All
        } else {
            Removed::Rest(after)
        })
    }

    fn lacks(&self, text: Option<&str>, wired: TrustedFile<'_>) -> Result<Option<String>, SettingsFault> {
        let text = text.unwrap_or_default();
        if is_off(text) {
            return Ok(Some("its settings switch hooks off (`features.hooks = false`)".to_owned()));
        }
        let entries = entries(wired)?;
        let untrusted = entries.iter().filter(|entry| !is_trusted(text, entry)).count();
        Ok((untrusted > 0)
            .then(|| format!("{untrusted} of our {} hooks are not trusted, and so not run", entries.len())))
    }
}

/// Our entries in a file of hooks.
fn entries(wired: TrustedFile<'_>) -> Result<Vec<Entry>, SettingsFault> {
    let settings = spans::settings(wired.text.as_bytes())?;
    // What is of a wrong form is refused here.
    FORM.survey(wired.text.as_bytes())?;
    let mut found = Vec::new();
    for (event, groups) in settings.get("hooks").and_then(Value::as_object).into_iter().flatten() {
        for (group, at) in groups.as_array().into_iter().flatten().zip(0_usize..) {
            let hooks = group.get("hooks").and_then(Value::as_array).into_iter().flatten();
            for (hook, index) in hooks.zip(0_usize..).filter(|(hook, _)| is_ours(&FORM, hook)) {
                let name = snake(event);
                let hash = hash(&name, hook);
                found.push(Entry { key: format!("{}:{name}:{at}:{index}", wired.file), hash });
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

/// Our groups have no matcher, which would be part of it.
fn hash(event: &str, hook: &Value) -> String {
    let entry = json!({
        "type": hook.get("type"), "command": hook.get("command"), "timeout": hook.get("timeout"), "async": false,
    });
    let identity = json!({ "event_name": event, "hooks": [entry] });
    format!("sha256:{}", Digest::of(&canonical(&identity)).hex())
}

fn header(key: &str) -> String {
    format!("[hooks.state.\"{}\"]", key.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The lines of a table, its header included, up to the next one.
fn table<'a>(text: &'a str, key: &str) -> Option<impl Iterator<Item = &'a str>> {
    let header = header(key);
    let mut lines = text.lines().skip_while(move |line| line.trim() != header);
    lines.next()?;
    Some(lines.take_while(|line| !line.trim_start().starts_with('[')))
}

fn is_trusted(text: &str, entry: &Entry) -> bool {
    let wanted = format!("trusted_hash = \"{}\"", entry.hash);
    let off = |line: &str| line.split_whitespace().collect::<String>() == "enabled=false";
    let Some(lines) = table(text, &entry.key) else { return false };
    let lines: Vec<&str> = lines.collect();
    lines.iter().any(|line| line.trim() == wanted) && !lines.iter().any(|line| off(line))
}

/// Whether a line names this trust in a way that a table at the end would contradict.
fn names_trust_otherwise(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("hooks.state") || line.starts_with("hooks =") || line.starts_with("hooks=") && line.contains('{')
}

/// Whether hooks are switched off as a whole.
fn is_off(text: &str) -> bool {
    let mut within = "";
    text.lines().map(str::trim).any(|line| {
        if line.starts_with('[') {
            within = line;
        }
        let said: String = line.split_whitespace().collect();
        within == "[features]" && said.starts_with("hooks=false") || said.starts_with("features.hooks=false")
    })
}

/// The text without the tables of these entries, and without the empty line before each.
fn without(text: &str, entries: &[Entry]) -> String {
    let headers: Vec<String> = entries.iter().map(|entry| header(&entry.key)).collect();
    let mut kept = String::with_capacity(text.len());
    let mut dropping = false;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with('[') {
            dropping = headers.iter().any(|header| line.trim() == header);
            if dropping && kept.ends_with("\n\n") {
                kept.pop();
            }
        }
        // What follows the table's own lines is not ours.
        if dropping && line.trim().is_empty() {
            dropping = false;
        }
        if !dropping {
            kept.push_str(line);
        }
    }
    if kept == "\n" { String::new() } else { kept }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wiring::{CommandLine, Timeouts};

    fn wired() -> String {
        let line = CommandLine::from_shell("/o/jackline hook codex").unwrap();
        FORM.add(None, &line, Timeouts::default()).unwrap()
    }

    #[test]
    fn the_digest_is_the_one_that_the_client_computes() {
        let hook = |seconds: u64| json!({ "type": "command", "command": "jackline hook codex", "timeout": seconds });
        let want = "sha256:bbd7dd39d4a10f19cb9be38f4b3f10430b33d6797ed56ac1009679eeba4f7408";
        assert_eq!(hash(&snake("PreToolUse"), &hook(10)), want);
        let want = "sha256:737be5d5a9d3e00e798ab014e385ced73b7fb52641f29da840785e5a1ada77f0";
        assert_eq!(hash(&snake("Stop"), &hook(20)), want);
    }

    #[track_caller]
    fn check(config: &str) {
        let text = wired();
        let file = TrustedFile { file: "/h/.codex/hooks.json", text: &text };
        assert!(TRUST.lacks(Some(config), file).unwrap().is_some());
        let trusted = TRUST.add(Some(config), file).unwrap();
        assert!(trusted.contains("[hooks.state.\"/h/.codex/hooks.json:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:"));
        assert_eq!(TRUST.lacks(Some(&trusted), file).unwrap(), None, "{trusted}");
        assert_eq!(TRUST.add(Some(&trusted), file).unwrap(), trusted);
        let want = if config.is_empty() { Removed::All } else { Removed::Rest(config.to_owned()) };
        assert_eq!(TRUST.remove(&trusted, file).unwrap(), want);
        let changed = text.replace("/o/jackline", "/p/jackline");
        let changed = TrustedFile { text: &changed, ..file };
        assert!(TRUST.lacks(Some(&trusted), changed).unwrap().unwrap().contains("not trusted"));
        let again = TRUST.add(Some(&trusted), changed).unwrap();
        assert_eq!((TRUST.lacks(Some(&again), changed).unwrap(), again.len()), (None, trusted.len()));
    }

    #[test]
    fn trust_is_added_once_replaced_and_taken_back() {
        check("");
        check("model = \"x\"\n");
        check("[projects.\"/a\"]\ntrust_level = \"trusted\"\n");
        check("[hooks.state.\"/h/.codex/hooks.json:stop:7:0\"]\ntrusted_hash = \"sha256:ab\"\n");
    }

    #[test]
    fn hooks_that_are_off_are_told_and_what_would_be_contradicted_is_left_alone() {
        let text = wired();
        let file = TrustedFile { file: "/h/hooks.json", text: &text };
        let trusted = TRUST.add(None, file).unwrap();
        let off = format!("[features]\nhooks = false\n{trusted}");
        assert!(TRUST.lacks(Some(&off), file).unwrap().unwrap().contains("switch hooks off"));
        let one_off = trusted.replacen("trusted_hash", "enabled = false\ntrusted_hash", 1);
        assert!(TRUST.lacks(Some(&one_off), file).unwrap().is_some());
        assert!(TRUST.add(Some("hooks.state = {}\n"), file).is_err());
    }
}
