//! An agent's day, as data: the calls that agents make most, and what else a host tells.

use std::path::Path;

/// A tool, what it is given, and what it answered once it was run; `~` is the workspace.
pub(super) type Call = (&'static str, &'static str, &'static str);

/// What a shell answers.
const DONE: &str = r#"{"stdout":"done","stderr":"","interrupted":false,"isImage":false}"#;

/// Calls as agents make them all day.
pub(super) const CALLS: &[Call] = &[
    ("Bash", r#"{"command":"cargo fmt && cargo build --release && git status --short","description":"Build"}"#, DONE),
    ("Bash", r#"{"command":"cd src && ls -la | grep rs > /dev/null; cat 'a b.rs'"}"#, r#"{"stdout":"x"}"#),
    ("Bash", r#"{"command":"git push --force origin main"}"#, r#"{"stdout":""}"#),
    ("Bash", r#"{"command":"cd ~ && npm test -- --watch=false 2>&1 | tail -40","timeout":120000}"#, DONE),
    ("Bash", r#"{"command":"grep -rn \"fn main\" src | head -20","description":"Search"}"#, DONE),
    ("Bash", r#"{"command":"git add -A && git commit -m \"$(cat <<'EOF'\nMend it\n\nWhy it broke.\nEOF\n)\""}"#, DONE),
    ("Bash", r#"{"command":"for f in src/*.rs; do echo \"$f\"; wc -l \"$f\"; done"}"#, DONE),
    (
        "Bash",
        r#"{"command":"sed -n '1,40p' src/one.rs; find . -name '*.rs' -not -path './target/*' | xargs wc -l"}"#,
        DONE,
    ),
    ("Bash", r#"{"command":"mkdir -p src/more && cp src/one.rs src/more/ && rm -f src/more/one.rs"}"#, DONE),
    ("Bash", r#"{"command":"python3 -c 'print(1)' && X=1 ./run.sh --port=80 || true","run_in_background":true}"#, DONE),
    ("Read", r#"{"file_path":"~/src/one.rs"}"#, r#"{"type":"text","file":{"filePath":"~/src/one.rs"}}"#),
    ("Read", r#"{"file_path":"~/src/one.rs","offset":10,"limit":50}"#, r#"{"type":"text"}"#),
    ("Edit", r#"{"file_path":"~/src/one.rs","old_string":"a","new_string":"b"}"#, r#"{"filePath":"~/src/one.rs"}"#),
    ("Edit", r#"{"file_path":"~/src/none.rs","old_string":"a","new_string":"b"}"#, r#"{"filePath":"~/src/none.rs"}"#),
    ("Write", r#"{"file_path":"~/src/new.rs","content":"fn f() {}\n"}"#, r#"{"type":"create"}"#),
    ("Write", r#"{"file_path":"~/src/deep/er/new.md","content":"About\n\nA page of text.\n"}"#, r#"{"type":"create"}"#),
    ("Grep", r#"{"pattern":"fn main","path":"~/src"}"#, r#"{"mode":"content","numFiles":1}"#),
    ("Glob", r#"{"pattern":"**/*.rs"}"#, r#"{"filenames":["~/src/one.rs"],"numFiles":1,"truncated":false}"#),
    ("WebFetch", r#"{"url":"https://example.com/","prompt":"What is it?"}"#, r#"{"code":200,"result":"A page."}"#),
    ("Agent", r#"{"description":"Look","prompt":"Find it.","subagent_type":"Explore"}"#, r#"{"status":"completed"}"#),
    ("TaskUpdate", r#"{"taskId":"1","status":"completed"}"#, r#"{"success":true}"#),
    ("mcp__docs__search", r#"{"query":"how to","limit":3}"#, r#"[{"type":"text","text":"a page"}]"#),
];

/// What a host tells besides, once in each round: its name, and the members of the message.
pub(super) const MOMENTS: &[(&str, &str)] = &[
    ("SessionStart", r#""source":"startup","model":"a-model""#),
    ("UserPromptSubmit", r#""prompt":"Mend the tests, please.""#),
    ("Stop", r#""stop_hook_active":false,"last_assistant_message":"It is done.""#),
];

/// How many of the moments come before the calls.
const BEGINNINGS: usize = 2;

/// What is told to the hook.
pub(super) struct Message;

impl Message {
    /// What is asked about a call, in turn.
    pub(super) const OF_CALL: [&str; 2] = ["PreToolUse", "PostToolUse"];

    /// All messages of a round, in order, with the workspace and a home in a place.
    pub(super) fn all(place: &Path, session: &str, round: usize) -> impl Iterator<Item = String> {
        let place = place.display().to_string();
        let at = format!("{place}/workspace");
        let moments = MOMENTS.iter().map(|(event, members)| ((*event).to_owned(), (*members).to_owned()));
        let (before, after): (Vec<_>, Vec<_>) = moments.enumerate().partition(|(number, _)| *number < BEGINNINGS);
        let calls = CALLS.iter().enumerate().flat_map(move |(number, call)| {
            Self::OF_CALL.map(|event| (event.to_owned(), members(event, call, &format!("{round}-{number}"))))
        });
        let moments = |list: Vec<(usize, (String, String))>| list.into_iter().map(|(_, moment)| moment);
        let told = moments(before).chain(calls).chain(moments(after));
        let head = format!(
            r#""session_id":"{session}","transcript_path":"{place}/home/.claude/projects/workspace/{session}.jsonl","cwd":"{at}","permission_mode":"default""#
        );
        told.map(move |(event, members)| {
            format!(r#"{{{head},"hook_event_name":"{event}",{}}}"#, members.replace('~', &at))
        })
    }
}

/// The members of a message about a call.
fn members(event: &str, (tool, input, output): &Call, id: &str) -> String {
    let answered = if event == "PostToolUse" { format!(r#","tool_response":{output}"#) } else { String::new() };
    format!(r#""tool_name":"{tool}","tool_input":{input},"tool_use_id":"toolu_{id}"{answered}"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_is_one_object_and_every_kind_has_a_bit() {
        let messages: Vec<String> = Message::all(Path::new("/w"), "s", 0).collect();
        assert_eq!(messages.len(), CALLS.len() * Message::OF_CALL.len() + MOMENTS.len());
        assert!(messages.len() <= 64, "{} kinds", messages.len());
        for message in messages {
            let quotes = message.replace(r#"\""#, "").matches('"').count();
            assert!(message.starts_with('{') && message.ends_with('}') && quotes.is_multiple_of(2), "{message}");
        }
    }
}
