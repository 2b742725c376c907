//! What an agent promised in its own messages, as its host's transcript tells: JSON lines, so much of their end.

use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use jackline_core::files::promise::{PROMISES_MAX, promised};
use jackline_core::files::seen::Said;
use jackline_core::time::Timestamp;
use serde_json::Value;

use crate::probes::fingerprint::{Opened, open};

/// Bytes of a transcript's end that are read: one turn writes far less.
const READ_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// What every line with a promise holds, in some case.
const MARK: &[u8] = b"promise>";

/// The promises beyond an offset, and where the transcript ends now. Those of sub-agents are their own, not the main
/// agent's; `sub` says whose transcript it is.
///
/// # Errors
/// When it cannot be read.
pub fn read(file: &Path, offset: Option<u64>, sub: bool) -> io::Result<(Vec<Said>, u64)> {
    let (file, size) = match open(file)? {
        Opened::File(file, meta) => (file, meta.len()),
        Opened::Nothing => return Err(io::Error::other("it is not there")),
        Opened::Directory => return Err(io::Error::other("it is a directory")),
    };
    // A transcript that shrank is another one.
    let known = offset.filter(|offset| *offset <= size).unwrap_or_default();
    let from = known.max(size.saturating_sub(READ_BYTES_MAX));
    let mut bytes = vec![0; usize::try_from(size - from).unwrap_or_default()];
    file.read_exact_at(&mut bytes, from)?;
    // The last line may be half written: it is read the next time.
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let lines = bytes.get(..whole).unwrap_or_default().split(|byte| *byte == b'\n');
    let mut said: Vec<Said> = lines.filter(|line| holds_mark(line)).flat_map(|line| promises(line, sub)).collect();
    said.truncate(PROMISES_MAX);
    Ok((said, from + whole as u64))
}

/// Most lines hold none, and are not worth parsing.
fn holds_mark(line: &[u8]) -> bool {
    line.windows(MARK.len()).any(|window| window.eq_ignore_ascii_case(MARK))
}

fn promises(line: &[u8], sub: bool) -> Vec<Said> {
    let Ok(line) = serde_json::from_slice::<Value>(line) else { return Vec::new() };
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    // Codex tells a message as the payload of a line.
    let message = line.get("message").or_else(|| line.get("payload")).unwrap_or(&line);
    let roles = [text(&line, "type"), text(&line, "role"), text(message, "role")];
    let own =
        roles.iter().flatten().any(|role| role == "assistant") && !roles.iter().flatten().any(|role| role == "user");
    let side = line.get("isSidechain").and_then(Value::as_bool).unwrap_or_default();
    if !own || (side && !sub) {
        return Vec::new();
    }
    let at = text(&line, "timestamp").as_deref().and_then(Timestamp::parse);
    let texts: Vec<String> = match message.get("content") {
        Some(Value::String(text)) => vec![text.clone()],
        // Only what it says: what it gives to tools or was given by them is no word of its own.
        Some(Value::Array(blocks)) => {
            let is_said = |kind: &str| matches!(kind, "text" | "output_text");
            let said = blocks.iter().filter(|block| block.get("type").and_then(Value::as_str).is_some_and(is_said));
            said.filter_map(|block| text(block, "text")).collect()
        }
        _ => Vec::new(),
    };
    texts.iter().flat_map(|text| promised(text)).map(|name| Said { name, at }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(line: &Value, sub: bool, want: &[&str]) {
        let seen: Vec<String> = promises(line.to_string().as_bytes(), sub).into_iter().map(|said| said.name).collect();
        assert_eq!(seen, want, "{line}");
    }

    #[test]
    fn only_what_the_agent_itself_says_counts() {
        let content = json!([{ "type": "text", "text": "<promise>source/TEST pairing</promise>" }]);
        let want = ["source/test pairing"];
        check(&json!({"role": "assistant", "message": {"content": content}}), false, &want);
        check(&json!({"type": "assistant", "message": {"role": "assistant", "content": content}}), false, &want);
        check(&json!({"role": "assistant", "content": "<promise>source/TEST pairing</promise>"}), false, &want);
        let spoken = json!([{ "type": "output_text", "text": "<promise>source/TEST pairing</promise>" }]);
        let codex = |role: &str| json!({"type": "response_item", "payload": {"type": "message", "role": role, "content": spoken}});
        check(&codex("assistant"), false, &want);
        check(&codex("user"), false, &[]);
        check(&json!({"type": "user", "message": {"role": "user", "content": content}}), false, &[]);
        check(&json!({"type": "summary", "message": {"content": content}}), false, &[]);
        let tool = json!([{ "type": "tool_use", "input": { "text": "<promise>a</promise>" } },
            { "type": "thinking", "thinking": "<promise>b</promise>", "text": "<promise>c</promise>" }]);
        check(&json!({"type": "assistant", "message": {"role": "assistant", "content": tool}}), false, &[]);
        let side =
            json!({"type": "assistant", "isSidechain": true, "message": {"role": "assistant", "content": content}});
        check(&side, false, &[]);
        check(&side, true, &want);
    }

    #[test]
    fn a_transcript_is_read_on_from_where_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap().join("t.jsonl");
        let line = |name: &str| {
            let content = json!([{ "type": "text", "text": format!("<promise>{name}</promise>") }]);
            let at = "2026-01-01T00:00:01Z";
            json!({"type": "assistant", "timestamp": at, "message": {"role": "assistant", "content": content}})
                .to_string()
        };
        std::fs::write(&path, format!("{}\nnot json <promise>\n{}\n{{\"half", line("a"), line("b"))).unwrap();
        let (said, end) = read(&path, None, false).unwrap();
        assert_eq!(said.iter().map(|said| said.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(said[0].at, Timestamp::parse("2026-01-01T00:00:01Z"));
        let (said, again) = read(&path, Some(end), false).unwrap();
        assert_eq!((said.len(), again), (0, end));
        assert_eq!(read(&path, Some(1 << 30), false).unwrap().0.len(), 2);
        assert!(read(&dir.path().join("gone"), None, false).is_err());
    }
}
