//! How a shell's command ended, for a host that says so only in its transcript: JSON lines, looked through from the end.

use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::fingerprint::{Opened, open};

/// Bytes of the transcript's end that are looked through: what a command printed stands in the same line.
const TAIL_BYTES_MAX: u64 = 4 << 20;
/// Milliseconds until a line that is not there is given up; the host writes it before it asks us.
const WAIT_MS_MAX: u64 = 500;
/// Milliseconds between two looks.
const LOOK_MS: u64 = 20;

/// The exit code of a call. The last line about it counts: what an agent may have written there came before.
pub(crate) fn code(transcript: &Path, call: &str) -> Option<i64> {
    let began = Instant::now();
    loop {
        match tail(transcript) {
            Ok(text) => {
                if let Some(code) = last(&text, call) {
                    return Some(code);
                }
            }
            Err(_) => return None,
        }
        if began.elapsed() >= Duration::from_millis(WAIT_MS_MAX) {
            return None;
        }
        thread::sleep(Duration::from_millis(LOOK_MS));
    }
}

fn tail(path: &Path) -> io::Result<Vec<u8>> {
    let Opened::File(file, meta) = open(path)? else { return Err(io::Error::other("it is no file")) };
    let length = meta.len().min(TAIL_BYTES_MAX);
    let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
    file.read_exact_at(&mut bytes, meta.len() - length)?;
    Ok(bytes)
}

#[derive(Deserialize)]
struct Line {
    payload: Payload,
}

#[derive(Deserialize)]
struct Payload {
    item: Item,
}

#[derive(Deserialize)]
struct Item {
    r#type: String,
    id: String,
    exit_code: Option<i64>,
}

fn last(text: &[u8], call: &str) -> Option<i64> {
    const KIND: &[u8] = b"\"CommandExecution\"";
    // Most lines are messages: they are not worth parsing.
    let told = |line: &&[u8]| line.windows(KIND.len()).any(|window| window == KIND);
    let mut items = text.rsplit(|byte| *byte == b'\n').filter(told).filter_map(|line| {
        let line: Line = serde_json::from_slice(line).ok()?;
        Some(line.payload.item).filter(|item| item.r#type == "CommandExecution" && item.id == call)
    });
    items.next()?.exit_code
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn line(id: &str, exit: i64) -> String {
        let item = json!({ "type": "CommandExecution", "id": id, "status": "x", "aggregated_output": "a\"b", "exit_code": exit });
        format!("{}\n", json!({ "type": "event_msg", "payload": { "type": "item_completed", "item": item } }))
    }

    #[test]
    fn the_last_line_about_a_call_counts() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rollout.jsonl");
        let message =
            format!("{}\n", json!({ "type": "response_item", "payload": { "text": "\"CommandExecution\"" } }));
        std::fs::write(&path, line("a", 0) + &line("b", 3) + &message + &line("a", 1) + "{ half").unwrap();
        assert_eq!((code(&path, "a"), code(&path, "b"), code(&path, "c")), (Some(1), Some(3), None));
        assert_eq!(code(&dir.path().join("none"), "a"), None);
        assert_eq!(code(dir.path(), "a"), None);
    }

    #[test]
    fn only_the_end_of_a_long_transcript_is_looked_through() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rollout.jsonl");
        let long = "x".repeat(usize::try_from(TAIL_BYTES_MAX).unwrap());
        std::fs::write(&path, line("a", 0) + &long + "\n" + &line("b", 0)).unwrap();
        assert_eq!((code(&path, "a"), code(&path, "b")), (None, Some(0)));
    }
}
