//! What a host's transcript says was used: JSON lines, read from where the last look ended, so much per event.
//!
//! Counted are lines of an assistant's message that carry its `usage`, or of a response's (`payload`); everything else
//! in it is passed over unread.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;

use jackline_core::probe::Fact;
use jackline_core::usage::{Counted, Mark, Metering, key};
use serde::Deserialize;

use super::fingerprint::{Opened, open};

/// Bytes read per event: a turn writes far less, and a session that was long before it was guarded catches up within
/// a few events.
const READ_BYTES_MAX: usize = 4 << 20;

pub(super) fn answer(file: &str, mark: Option<&Mark>, from_end: bool) -> Fact {
    match look(Path::new(file), file, mark, from_end) {
        Ok(fact) => fact,
        Err(fault) => Fact::Unknown(format!("it cannot be read: {fault}")),
    }
}

fn look(path: &Path, name: &str, mark: Option<&Mark>, from_end: bool) -> io::Result<Fact> {
    let (file, meta) = match open(path)? {
        Opened::File(file, meta) => (file, meta),
        Opened::Nothing if mark.is_none() => return Ok(Fact::Absent),
        Opened::Nothing => return Err(io::Error::other("it was there and is gone")),
        Opened::Directory => return Err(io::Error::other("it is a directory")),
    };
    let (device, inode, size) = (meta.dev(), meta.ino(), meta.len());
    let fresh = || {
        let offset = if from_end { size } else { 0 };
        // The rest of a line that was being written is no JSON and counts nothing.
        Mark { file: key(name), offset, device, inode, skipping: false, counted: Vec::new() }
    };
    let mark = match mark {
        None => fresh(),
        Some(mark) if (mark.device, mark.inode) == (device, inode) && mark.offset <= size => mark.clone(),
        // Another file in its place, or one that shrank: its beginning is new. Messages just counted are known.
        Some(mark) => Mark { device, inode, offset: 0, skipping: false, ..mark.clone() },
    };
    read(&file, mark, size).map(Fact::Usage)
}

/// Reads on from a mark, whole lines only: the last may be half written.
fn read(file: &File, mark: Mark, size: u64) -> io::Result<Metering> {
    let left = usize::try_from(size.saturating_sub(mark.offset)).unwrap_or(usize::MAX);
    let mut bytes = vec![0; left.min(READ_BYTES_MAX)];
    let got = fill(file, &mut bytes, mark.offset)?;
    bytes.truncate(got);
    let full = got == READ_BYTES_MAX;
    let mut metering = Metering { more: full && left > READ_BYTES_MAX, ..Metering::from(mark) };
    let whole = match bytes.iter().rposition(|byte| *byte == b'\n') {
        Some(end) => end + 1,
        // A line longer than that is passed over; no message of an assistant is.
        None if full => {
            metering.mark.skipping = true;
            metering.mark.offset += got as u64;
            return Ok(metering);
        }
        None => return Ok(metering),
    };
    let lines = bytes.get(..whole).unwrap_or_default().split(|byte| *byte == b'\n');
    for line in lines.skip(usize::from(metering.mark.skipping)) {
        if let Some(counted) = used(line) {
            metering.count(counted);
        }
    }
    metering.mark.skipping = false;
    metering.mark.offset += whole as u64;
    Ok(metering)
}

fn fill(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut got = 0;
    while let Some(rest) = bytes.get_mut(got..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, offset + got as u64) {
            Ok(0) => break,
            Ok(read) => got += read,
            Err(fault) if fault.kind() == io::ErrorKind::Interrupted => {}
            Err(fault) => return Err(fault),
        }
    }
    Ok(got)
}

/// The members that are looked at; all others are skipped without being kept.
#[derive(Deserialize)]
struct Line {
    message: Option<Message>,
    /// Another host's: each response is told once, in a line with its number.
    payload: Option<Response>,
    ordinal: Option<u64>,
    uuid: Option<String>,
    #[serde(rename = "costUSD")]
    cost_usd: Option<f64>,
}

#[derive(Deserialize)]
struct Message {
    id: Option<String>,
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Tokens {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
    #[serde(default)]
    cache_creation_input_tokens: u64,
}

#[derive(Deserialize)]
struct Response {
    response_id: Option<String>,
    usage: Option<ResponseTokens>,
}

#[derive(Deserialize)]
struct ResponseTokens {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    cached_input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
}

impl Response {
    fn counted(self, ordinal: Option<u64>) -> Option<Counted> {
        let (id, tokens) = (self.response_id?, self.usage?);
        let fresh = tokens.input_tokens.saturating_sub(tokens.cached_input_tokens);
        let message = key(&format!("{id} {}", ordinal.unwrap_or_default()));
        Some(Counted { message, tokens: fresh.saturating_add(tokens.output_tokens), cost_micro_usd: 0 })
    }
}

/// What a line counts, if it is a message with its usage.
fn used(line: &[u8]) -> Option<Counted> {
    const MEMBER: &[u8] = b"\"usage\"";
    // Most lines are prompts and outcomes: they are not worth parsing.
    if !line.windows(MEMBER.len()).any(|window| window == MEMBER) {
        return None;
    }
    let line: Line = serde_json::from_slice(line).ok()?;
    if let Some(response) = line.payload {
        return response.counted(line.ordinal);
    }
    let message = line.message?;
    let tokens = message.usage?;
    let id = message.id.or(line.uuid).unwrap_or_default();
    let sum = tokens.input_tokens.saturating_add(tokens.output_tokens);
    Some(Counted {
        message: key(&id),
        tokens: sum.saturating_add(tokens.cache_creation_input_tokens),
        cost_micro_usd: micro(line.cost_usd.unwrap_or_default()),
    })
}

fn micro(usd: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "what is no positive number saturates at zero, and too large a one at the most"
    )]
    let micro = (usd * 1e6).ceil() as u64;
    micro
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, OpenOptions};
    use std::io::Write as _;
    use std::path::PathBuf;

    fn line(id: &str, output: u64) -> String {
        let usage = serde_json::json!({
            "input_tokens": 10, "output_tokens": output, "cache_creation_input_tokens": 100,
            "cache_read_input_tokens": 5000, "service_tier": "standard",
        });
        let content = serde_json::json!([{ "type": "text", "text": "the \"usage\" of words" }]);
        let message = serde_json::json!({ "id": id, "role": "assistant", "content": content, "usage": usage });
        format!("{}\n", serde_json::json!({ "type": "assistant", "message": message, "uuid": "u" }))
    }

    struct Transcript {
        _dir: tempfile::TempDir,
        path: PathBuf,
        mark: Option<Mark>,
    }

    impl Transcript {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            Self { path: dir.path().join("t.jsonl"), _dir: dir, mark: None }
        }

        fn append(&self, text: &str) {
            let mut file = OpenOptions::new().create(true).append(true).open(&self.path).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        }

        /// The tokens found beyond the last look.
        #[track_caller]
        fn look(&mut self) -> u64 {
            match answer(self.path.to_str().unwrap(), self.mark.as_ref(), false) {
                Fact::Usage(metering) => {
                    self.mark = Some(metering.mark);
                    metering.tokens
                }
                fact => panic!("{fact:?}"),
            }
        }
    }

    #[test]
    fn responses_count_once_each() {
        let mut transcript = Transcript::new();
        let line = |ordinal: u64, output: u64| {
            let usage = serde_json::json!({
                "input_tokens": 110, "cached_input_tokens": 100, "output_tokens": output, "total_tokens": 1,
            });
            let payload = serde_json::json!({ "thread_id": "t", "response_id": "r", "usage": usage });
            let line = serde_json::json!({ "ordinal": ordinal, "type": "token_usage_record", "payload": payload });
            format!("{line}\n")
        };
        let sums = "{\"type\":\"event_msg\",\"payload\":{\"type\":\"token_count\",\"info\":{\"usage\":{}}}}\n";
        transcript.append(&(line(1, 5) + sums + &line(2, 7)));
        assert_eq!(transcript.look(), 32);
        assert_eq!(transcript.look(), 0);
    }

    #[test]
    fn each_message_counts_once_without_what_was_cached() {
        let mut transcript = Transcript::new();
        assert_eq!(answer(transcript.path.to_str().unwrap(), None, false), Fact::Absent);
        transcript.append("{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"hello\"}}\n");
        transcript.append(&(line("m1", 1) + &line("m1", 7)));
        assert_eq!(transcript.look(), 117);
        assert_eq!(transcript.look(), 0);
        transcript.append(&(line("m1", 9) + &line("m2", 1)));
        assert_eq!(transcript.look(), 2 + 111, "a later part of the same message adds what is more");
    }

    #[test]
    fn a_torn_last_line_is_read_once_it_is_whole() {
        let mut transcript = Transcript::new();
        let whole = line("m1", 1);
        let (head, tail) = whole.split_at(40);
        transcript.append(head);
        assert_eq!(transcript.look(), 0);
        transcript.append(tail);
        assert_eq!(transcript.look(), 111);
        transcript.append("no JSON, and \"usage\" in it\n{\"usage\":\n");
        assert_eq!(transcript.look(), 0);
    }

    #[test]
    fn another_file_in_its_place_is_read_from_its_beginning() {
        let mut transcript = Transcript::new();
        transcript.append(&(line("m1", 1) + &line("m2", 1)));
        assert_eq!(transcript.look(), 222);
        fs::write(transcript.path.with_extension("new"), line("m2", 1) + &line("m3", 1)).unwrap();
        fs::rename(transcript.path.with_extension("new"), &transcript.path).unwrap();
        assert_eq!(transcript.look(), 111, "the one just counted is known");
        fs::write(&transcript.path, "").unwrap();
        assert_eq!(transcript.look(), 0);
        transcript.append(&line("m4", 1));
        assert_eq!(transcript.look(), 111);
        fs::remove_file(&transcript.path).unwrap();
        let gone = answer(transcript.path.to_str().unwrap(), transcript.mark.as_ref(), false);
        assert_eq!(gone, Fact::Unknown("it cannot be read: it was there and is gone".into()));
    }

    #[test]
    fn a_long_transcript_is_read_in_parts_and_a_long_line_is_passed_over() {
        let mut transcript = Transcript::new();
        let long = "x".repeat(READ_BYTES_MAX + 5);
        transcript.append(&(line("m1", 1) + &long + "\"usage\"\n" + &line("m2", 1)));
        let looks: Vec<u64> = (0..4).map(|_| transcript.look()).collect();
        assert_eq!(looks.iter().sum::<u64>(), 222, "{looks:?}");
        assert_eq!(transcript.mark.unwrap().offset, fs::metadata(&transcript.path).unwrap().len());
    }

    #[test]
    fn what_was_there_before_a_session_is_not_its_own() {
        let mut transcript = Transcript::new();
        transcript.append(&line("m1", 1));
        let Fact::Usage(first) = answer(transcript.path.to_str().unwrap(), None, true) else { panic!("unread") };
        assert_eq!(first.tokens, 0);
        transcript.mark = Some(first.mark);
        transcript.append(&line("m2", 1));
        assert_eq!(transcript.look(), 111);
    }

    #[test]
    fn only_files_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let unread = |path: &Path| matches!(answer(path.to_str().unwrap(), None, false), Fact::Unknown(_));
        assert!(unread(dir.path()));
        assert!(unread(Path::new("relative.jsonl")));
        let pipe = dir.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        assert!(unread(&pipe));
    }

    #[test]
    fn an_older_clients_cost_is_counted() {
        let text = r#"{"type":"assistant","costUSD":0.25,"message":{"id":"a","usage":{"output_tokens":3}}}"#;
        let counted = used(text.as_bytes()).unwrap();
        assert_eq!((counted.tokens, counted.cost_micro_usd), (3, 250_000));
        assert_eq!((micro(f64::NAN), micro(-1.0)), (0, 0));
    }
}
