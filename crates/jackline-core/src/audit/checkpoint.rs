//! The format of a signed checkpoint: a head of a chain that somebody with a key vouches for.
//!
//! Signing and checking the signature need a key and are the runtime's business.

use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::{
    json::{canonical, decode},
    sha::{Digest, hex, parse_hex},
    time::Timestamp,
};

/// Bytes of one checkpoint; a session id of 1 KiB, escaped, fits with room to spare.
pub const CHECKPOINT_BYTES_MAX: usize = 8 * 1024;

/// Members of a checkpoint, all of them needed.
const MEMBERS: usize = 6;

/// Begins every signed message, so that a signature can never be taken for one over something else.
const DOMAIN: &[u8] = b"jackline audit checkpoint 1\n";

/// A head, who signed it, and the signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    pub session: String,
    /// Number of the head's record.
    pub seq: u64,
    /// Hash of the head's record.
    pub hash: Digest,
    /// When it was signed.
    pub at: Timestamp,
    /// Ed25519 public key of the signer.
    pub public_key: [u8; 32],
    /// Ed25519 signature of [`Checkpoint::message`].
    pub signature: [u8; 64],
}

/// Why a text is not a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CheckpointFault {
    #[error("checkpoint is longer than {CHECKPOINT_BYTES_MAX} bytes")]
    TooLong,
    #[error("checkpoint is not JSON: {0}")]
    NotJson(String),
    #[error("checkpoint is not an object of session, seq, hash, at, public_key and signature")]
    WrongMembers,
    #[error("`{0}` of the checkpoint is not in its form")]
    WrongMember(&'static str),
}

impl Checkpoint {
    /// The bytes that are signed: everything but the signature.
    #[must_use]
    pub fn message(&self) -> Vec<u8> {
        let mut message = DOMAIN.to_vec();
        message.extend(canonical(&Value::Object(self.unsigned())));
        message
    }

    /// The canonical line, without a line end.
    #[must_use]
    pub fn render(&self) -> Vec<u8> {
        let mut members = self.unsigned();
        members.insert("signature".to_owned(), hex(&self.signature).into());
        canonical(&Value::Object(members))
    }

    /// Reads a checkpoint; white space and the order of members do not matter, the form of each member does.
    pub fn parse(text: &[u8]) -> Result<Self, CheckpointFault> {
        if text.len() > CHECKPOINT_BYTES_MAX {
            return Err(CheckpointFault::TooLong);
        }
        let value = decode(text).map_err(|fault| CheckpointFault::NotJson(fault.to_string()))?;
        let members = value.as_object().filter(|members| members.len() == MEMBERS);
        let members = members.ok_or(CheckpointFault::WrongMembers)?;
        Ok(Self {
            session: member(members, "session", |text| Some(text.to_owned()))?,
            seq: members.get("seq").and_then(Value::as_u64).ok_or(CheckpointFault::WrongMember("seq"))?,
            hash: member(members, "hash", Digest::parse)?,
            at: member(members, "at", exact_time)?,
            public_key: member(members, "public_key", parse_hex)?,
            signature: member(members, "signature", parse_hex)?,
        })
    }

    fn unsigned(&self) -> Map<String, Value> {
        let members = json!({
            "session": self.session, "seq": self.seq, "hash": self.hash.hex(), "at": self.at.to_string(),
            "public_key": hex(&self.public_key),
        });
        match members {
            Value::Object(members) => members,
            _ => Map::new(),
        }
    }
}

fn member<T>(
    members: &Map<String, Value>,
    name: &'static str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<T, CheckpointFault> {
    members.get(name).and_then(Value::as_str).and_then(read).ok_or(CheckpointFault::WrongMember(name))
}

/// Only the one spelling that we print: another would be a second text for the same signature.
fn exact_time(text: &str) -> Option<Timestamp> {
    Timestamp::parse(text).filter(|at| at.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint() -> Checkpoint {
        Checkpoint {
            session: "s\"1".to_owned(),
            seq: 12,
            hash: Digest::of(b"head"),
            at: Timestamp(1_767_225_600_000),
            public_key: [0xab; 32],
            signature: [0x01; 64],
        }
    }

    #[track_caller]
    fn check(from: &str, to: &str, want: &str) {
        let text = String::from_utf8(checkpoint().render()).unwrap().replace(from, to);
        assert_eq!(Checkpoint::parse(text.as_bytes()).map_err(|fault| fault.to_string()), Err(want.to_owned()));
    }

    #[test]
    fn rendering_reads_back() {
        let line = checkpoint().render();
        assert_eq!(Checkpoint::parse(&line), Ok(checkpoint()));
        assert_eq!(serde_json_canonicalizer::pipe(&String::from_utf8(line.clone()).unwrap()).unwrap().as_bytes(), line);
    }

    #[test]
    fn the_message_has_its_domain_and_all_but_the_signature() {
        let text = String::from_utf8(checkpoint().message()).unwrap();
        let json = text.strip_prefix("jackline audit checkpoint 1\n").unwrap();
        let mut members: Map<String, Value> = serde_json::from_slice(&checkpoint().render()).unwrap();
        members.remove("signature");
        assert_eq!(serde_json::from_str::<Map<String, Value>>(json).unwrap(), members);
    }

    #[test]
    fn other_forms_are_refused() {
        check("\"seq\":12", "\"seq\":\"12\"", "`seq` of the checkpoint is not in its form");
        check("\"seq\":12", "\"seq\":-1", "`seq` of the checkpoint is not in its form");
        check(":00.000Z", ":00.0001Z", "`at` of the checkpoint is not in its form");
        check("abab", "ABAB", "`public_key` of the checkpoint is not in its form");
        check("0101\"", "01+1\"", "`signature` of the checkpoint is not in its form");
        check("\"session\"", "\"sitting\"", "`session` of the checkpoint is not in its form");
        check("{", "{\"more\":1,", "checkpoint is not an object of session, seq, hash, at, public_key and signature");
        check("{", "{\"seq\":12,", "checkpoint is not JSON: key `seq` occurs twice in one object (line 1, column 201)");
        assert_eq!(Checkpoint::parse(&[b' '; CHECKPOINT_BYTES_MAX + 1]), Err(CheckpointFault::TooLong));
        assert_eq!(Checkpoint::parse(b"[]"), Err(CheckpointFault::WrongMembers));
    }
}
