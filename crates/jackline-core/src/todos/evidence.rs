//! What a claim rests on: named by the agent, looked up by the runtime, and kept with what the runtime found.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::check::is_sha;
use crate::sha::{Digest, Key};
use crate::time::Timestamp;

/// Pieces of evidence of one claim: who has more can name the ones that matter.
pub const EVIDENCE_MAX: usize = 8;
/// Bytes of what the agent names: a call's id, a path, a hash or a command.
pub const EVIDENCE_BYTES_MAX: usize = 512;

/// What the agent names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    /// A call by its id.
    Call(String),
    /// A file of the workspace.
    File(String),
    /// A commit by its hash.
    Commit(String),
    /// The latest call that ran this command: models do not see call ids.
    Command(String),
}

impl Named {
    /// Reads one from its JSON form.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(value: &Value) -> Result<Self, String> {
        let form = || "evidence is {call: ID}, {file: PATH}, {commit: SHA} or {command: TEXT}".to_owned();
        let fields = value.as_object().filter(|fields| fields.len() == 1).ok_or_else(form)?;
        let (kind, text) = fields.iter().next().ok_or_else(form)?;
        let text = text.as_str().map(str::trim).filter(|text| !text.is_empty()).ok_or_else(form)?;
        if text.len() > EVIDENCE_BYTES_MAX {
            return Err(format!("a piece of evidence is longer than {EVIDENCE_BYTES_MAX} bytes"));
        }
        match kind.as_str() {
            "call" => Ok(Self::Call(text.to_owned())),
            "file" => Ok(Self::File(text.to_owned())),
            "command" => Ok(Self::Command(text.to_owned())),
            "commit" if is_sha(text) => Ok(Self::Commit(text.to_owned())),
            "commit" => Err("a commit is named by 4 to 64 hexadecimal digits".to_owned()),
            _ => Err(form()),
        }
    }
}

/// A piece of evidence that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    pub at: Timestamp,
    pub what: What,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    Call { id: Option<String>, seq: u64, tool: String, command: Option<String>, exit_code: Option<i64> },
    File { path: String, sha256: Digest },
    Commit { sha: String },
}

impl Evidence {
    /// Bytes of its texts.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match &self.what {
            What::Call { id, tool, command, .. } => {
                let long = |text: &Option<String>| text.as_ref().map_or(0, String::len);
                long(id) + tool.len() + long(command)
            }
            What::File { path, .. } => path.len() + 32,
            What::Commit { sha } => sha.len(),
        }
    }

    /// What a file or commit is known by with its content; a call is known by when it was made.
    #[must_use]
    pub fn content(&self) -> Option<Key> {
        let parts: [&[u8]; 3] = match &self.what {
            What::Call { .. } => return None,
            What::File { path, sha256 } => [b"file", path.as_bytes(), &sha256.0],
            What::Commit { sha } => [b"commit", sha.as_bytes(), b""],
        };
        Some(Digest::of_parts(parts).short())
    }

    /// What it is called by in a reason.
    #[must_use]
    pub fn named(&self) -> String {
        match &self.what {
            What::Call { id, .. } => format!("Call `{}`", id.as_deref().unwrap_or_default()),
            What::File { path, .. } => format!("File `{path}`"),
            What::Commit { sha } => format!("Commit `{sha}`"),
        }
    }

    /// As people read it.
    #[must_use]
    pub fn told(&self) -> String {
        match &self.what {
            What::Call { id, seq, tool, command, exit_code } => {
                let what = command.as_deref().or(id.as_deref()).unwrap_or_default();
                let code = exit_code.map(|code| format!(", exit code {code}")).unwrap_or_default();
                format!("{tool} {what} (record {seq}{code})")
            }
            What::File { path, sha256 } => format!("{path} (sha256 {sha256})"),
            What::Commit { sha } => format!("commit {sha}"),
        }
    }

    /// As lists and records show it.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut value = match &self.what {
            What::Call { id, seq, tool, command, exit_code } => json!({
                "type": "call", "call": id, "record": seq, "tool": tool, "command": command, "exit_code": exit_code,
            }),
            What::File { path, sha256 } => json!({ "type": "file", "file": path, "sha256": sha256.hex() }),
            What::Commit { sha } => json!({ "type": "commit", "commit": sha }),
        };
        if let Value::Object(fields) = &mut value {
            fields.insert("at".to_owned(), json!(self.at.to_string()));
            *fields = std::mem::take(fields).into_iter().filter(|(_, member)| !member.is_null()).collect::<Map<_, _>>();
        }
        value
    }

    /// The texts in it that are only ever shown.
    pub(crate) fn shown_texts(&mut self) -> Option<&mut String> {
        match &mut self.what {
            What::Call { command, .. } => command.as_mut(),
            What::File { .. } | What::Commit { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_is_one_of_four_things() {
        assert_eq!(Named::read(&json!({"call": "c1"})), Ok(Named::Call("c1".into())));
        assert_eq!(Named::read(&json!({"command": " cargo test "})), Ok(Named::Command("cargo test".into())));
        for wrong in [json!({}), json!({"note": "trust me"}), json!({"call": ""}), json!({"call": "a", "file": "b"})] {
            assert!(Named::read(&wrong).is_err_and(|why| why.starts_with("evidence is")), "{wrong}");
        }
        assert!(Named::read(&json!({"commit": "HEAD"})).is_err());
        assert!(Named::read(&json!({"file": "x".repeat(EVIDENCE_BYTES_MAX + 1)})).is_err());
    }
}
