//! One audit record, and the line it becomes: the writer's side of the chain.
//!
//! The line is written in one pass, member by member in canonical order; nothing is built and thrown away.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{
    json::{write_canonical, write_string},
    sha::Digest,
    time::Timestamp,
};

/// Who did what a record tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Actor {
    Agent,
    Runtime,
    Human,
    Host,
}

impl Actor {
    /// The word in the record.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Runtime => "runtime",
            Self::Human => "human",
            Self::Host => "host",
        }
    }
}

/// One entry of a session's chain.
///
/// INVARIANT: `seq` and `step` stay below 2^53 and values nest less than
/// [`RECORD_DEPTH_MAX`](crate::audit::RECORD_DEPTH_MAX), else the verifier refuses the line.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    pub seq: u64,
    pub at: Timestamp,
    pub session: String,
    pub workspace: Option<String>,
    pub host: Option<String>,
    pub agent: String,
    pub actor: Actor,
    pub kind: String,
    pub call: Option<String>,
    pub step: u64,
    pub target: Option<String>,
    /// State before a change, else null.
    pub before: Value,
    /// State after a change, else null.
    pub after: Value,
    /// `{ns, key, digest}` of the definition in force, or null.
    pub definition: Value,
    pub data: Value,
    /// What folding needs; the member is left out when null.
    pub changes: Value,
    /// Whether the record holds all its input; the member is written only when it does not.
    pub replayable: bool,
    pub prev_hash: Digest,
}

const HASH_OPENING: &[u8] = b"\"hash\":\"";
const HASH_CLOSING: &[u8] = b"\",";
const HASH_DIGITS: usize = 64;

impl Record {
    /// Appends the record's canonical line, hash and line end included, and gives the hash.
    pub fn link(&self, out: &mut Vec<u8>) -> Digest {
        let start = out.len();
        self.write_before_hash(out);
        let gap = out.len();
        // Room for the hash is left in place, so that the rest of the line never has to move.
        out.extend_from_slice(HASH_OPENING);
        let digits = out.len();
        out.resize(digits + HASH_DIGITS, b'0');
        out.extend_from_slice(HASH_CLOSING);
        let resume = out.len();
        self.write_after_hash(out);
        let mut hasher = Sha256::new();
        hasher.update(out.get(start..gap).unwrap_or_default());
        hasher.update(out.get(resume..).unwrap_or_default());
        let hash = Digest(hasher.finalize().into());
        if let Some(room) = out.get_mut(digits..digits + HASH_DIGITS) {
            room.copy_from_slice(hash.hex().as_bytes());
        }
        out.push(b'\n');
        hash
    }

    // INVARIANT: the members of these two functions are in the order of RFC 8785, `hash` between them.
    fn write_before_hash(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"actor\":");
        write_string(self.actor.word(), out);
        out.extend_from_slice(b",\"after\":");
        write_canonical(&self.after, out);
        out.extend_from_slice(b",\"agent\":");
        write_string(&self.agent, out);
        out.extend_from_slice(b",\"at\":");
        write_string(&self.at.to_string(), out);
        out.extend_from_slice(b",\"before\":");
        write_canonical(&self.before, out);
        out.extend_from_slice(b",\"call\":");
        write_optional(self.call.as_deref(), out);
        if !self.changes.is_null() {
            out.extend_from_slice(b",\"changes\":");
            write_canonical(&self.changes, out);
        }
        out.extend_from_slice(b",\"data\":");
        write_canonical(&self.data, out);
        out.extend_from_slice(b",\"definition\":");
        write_canonical(&self.definition, out);
        out.push(b',');
    }

    fn write_after_hash(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\"host\":");
        write_optional(self.host.as_deref(), out);
        out.extend_from_slice(b",\"kind\":");
        write_string(&self.kind, out);
        out.extend_from_slice(b",\"prev_hash\":");
        write_string(&self.prev_hash.hex(), out);
        if !self.replayable {
            out.extend_from_slice(b",\"replayable\":false");
        }
        out.extend_from_slice(b",\"seq\":");
        write_canonical(&self.seq.into(), out);
        out.extend_from_slice(b",\"session\":");
        write_string(&self.session, out);
        out.extend_from_slice(b",\"step\":");
        write_canonical(&self.step.into(), out);
        out.extend_from_slice(b",\"target\":");
        write_optional(self.target.as_deref(), out);
        out.extend_from_slice(b",\"workspace\":");
        write_optional(self.workspace.as_deref(), out);
        out.push(b'}');
    }
}

fn write_optional(text: Option<&str>, out: &mut Vec<u8>) {
    match text {
        Some(text) => write_string(text, out),
        None => out.extend_from_slice(b"null"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn record() -> Record {
        Record {
            seq: 1,
            at: Timestamp::parse("2026-01-01T00:00:00Z").unwrap(),
            session: "s1".to_owned(),
            workspace: Some("/home/dev/repo".to_owned()),
            host: Some("claude".to_owned()),
            agent: "main".to_owned(),
            actor: Actor::Agent,
            kind: "call.requested".to_owned(),
            call: Some("c1".to_owned()),
            step: 1,
            target: Some("tool:write_file".to_owned()),
            before: Value::Null,
            after: Value::Null,
            definition: json!({"ns": "acme", "key": "release-bot", "digest": "sha256:00"}),
            data: json!({"b": 1.0, "a": "\u{1}"}),
            changes: Value::Null,
            replayable: true,
            prev_hash: Digest::ZERO,
        }
    }

    #[track_caller]
    fn check(record: &Record, want: &str) {
        let mut out = b"earlier line\n".to_vec();
        let hash = record.link(&mut out);
        let line = String::from_utf8(out).unwrap();
        let line = line.strip_prefix("earlier line\n").unwrap().strip_suffix('\n').unwrap();
        let hash_member = format!("\"hash\":\"{hash}\",");
        assert_eq!(line.replacen(&hash_member, "", 1), want);
        assert_eq!(hash, Digest::of(want.as_bytes()));
        let value: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line, serde_json_canonicalizer::to_string(&value).unwrap(), "members are out of order");
    }

    #[test]
    fn a_line_is_canonical_and_hashed_without_its_hash() {
        let zeros = "0".repeat(64);
        check(
            &record(),
            &format!(
                r#"{{"actor":"agent","after":null,"agent":"main","at":"2026-01-01T00:00:00.000Z","before":null,"call":"c1","data":{{"a":"\u0001","b":1}},"definition":{{"digest":"sha256:00","key":"release-bot","ns":"acme"}},"host":"claude","kind":"call.requested","prev_hash":"{zeros}","seq":1,"session":"s1","step":1,"target":"tool:write_file","workspace":"/home/dev/repo"}}"#
            ),
        );
    }

    #[test]
    fn optional_members_are_null_or_left_out() {
        let bare = Record {
            workspace: None,
            host: None,
            call: None,
            target: None,
            definition: Value::Null,
            data: json!({}),
            changes: json!([{"set": 1}]),
            replayable: false,
            actor: Actor::Runtime,
            ..record()
        };
        let zeros = "0".repeat(64);
        check(
            &bare,
            &format!(
                r#"{{"actor":"runtime","after":null,"agent":"main","at":"2026-01-01T00:00:00.000Z","before":null,"call":null,"changes":[{{"set":1}}],"data":{{}},"definition":null,"host":null,"kind":"call.requested","prev_hash":"{zeros}","replayable":false,"seq":1,"session":"s1","step":1,"target":null,"workspace":null}}"#
            ),
        );
    }
}
