//! An agent's day, as data: the calls that agents make most, what else a host tells, and what owners want.
//!
//! It is nobody else's: what is measured is not among what is played, or a build would be made for its own benchmark.

use std::path::Path;

/// A tool, what it is given, and what it answered once it was run; `~` is the workspace.
pub(super) type Call = (&'static str, &'static str, &'static str);

/// Twenty policies.
pub(super) const RULES: &str = include_str!("rules.yaml");
/// Ten rules and all packs, to stand behind them.
pub(super) const MORE: &str = include_str!("more.yaml");
/// A file that is there already, below the workspace, and what it contains.
pub(super) const FILE: (&str, &str) = ("lib/one.py", "import sys\n\n\ndef main() -> int:\n    return len(sys.argv)\n");

/// What a shell answers.
const DONE: &str = r#"{"stdout":"14 passed in 0.52s","stderr":"","interrupted":false,"isImage":false}"#;

/// Calls as agents make them all day.
pub(super) const CALLS: &[Call] = &[
    (
        "Bash",
        r#"{"command":"make lint && pytest -q tests/unit && git diff --stat","description":"Lint, test, look"}"#,
        DONE,
    ),
    (
        "Bash",
        r#"{"command":"cd lib && ls -1t | sort -u > /dev/null; head -c 300 'one more.txt'"}"#,
        r#"{"stdout":"x"}"#,
    ),
    ("Bash", r#"{"command":"git push --force origin topic"}"#, r#"{"stdout":""}"#),
    ("Bash", r#"{"command":"cd ~ && npx vitest run --silent 2>&1 | tail -25","timeout":90000}"#, DONE),
    ("Bash", r#"{"command":"grep -rnE \"TODO|HACK\" lib | head -12","description":"What is left"}"#, DONE),
    (
        "Bash",
        r#"{"command":"git add lib tests && git commit -m \"$(cat <<'EOF'\nCount from one\n\nReaders do.\nEOF\n)\""}"#,
        DONE,
    ),
    ("Bash", r#"{"command":"for t in tests/*.py; do echo \"== $t\"; head -5 \"$t\"; done"}"#, DONE),
    (
        "Bash",
        r#"{"command":"sed -n '5,60p' lib/one.py; find . -name '*.py' -not -path './build/*' | xargs grep -l import"}"#,
        DONE,
    ),
    ("Bash", r#"{"command":"mkdir -p lib/parts && cp lib/one.py lib/parts/ && rm -f lib/parts/one.py"}"#, DONE),
    (
        "Bash",
        r#"{"command":"python3 -c 'import json' && LEVEL=2 ./serve.sh --port=8081 || true","run_in_background":true}"#,
        DONE,
    ),
    ("Read", r#"{"file_path":"~/lib/one.py"}"#, r#"{"type":"text","file":{"filePath":"~/lib/one.py"}}"#),
    ("Read", r#"{"file_path":"~/lib/one.py","offset":20,"limit":80}"#, r#"{"type":"text"}"#),
    ("Edit", r#"{"file_path":"~/lib/one.py","old_string":"len","new_string":"max"}"#, r#"{"filePath":"~/lib/one.py"}"#),
    ("Edit", r#"{"file_path":"~/lib/none.py","old_string":"x","new_string":"y"}"#, r#"{"filePath":"~/lib/none.py"}"#),
    (
        "Write",
        r#"{"file_path":"~/lib/two.py","content":"class Two:\n    \"\"\"A pair.\"\"\"\n\n    size = 2\n"}"#,
        r#"{"type":"create"}"#,
    ),
    (
        "Write",
        r#"{"file_path":"~/lib/deep/er/notes.md","content":"Notes\n\nWhat was tried.\n"}"#,
        r#"{"type":"create"}"#,
    ),
    ("Grep", r#"{"pattern":"def main","path":"~/lib"}"#, r#"{"mode":"content","numFiles":1}"#),
    ("Glob", r#"{"pattern":"**/*.py"}"#, r#"{"filenames":["~/lib/one.py"],"numFiles":1,"truncated":false}"#),
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
    use serde_json::Value;

    use super::*;

    /// What the benchmarks tell, and under which policies.
    const MEASURED: [&str; 3] = [
        include_str!("../../../crates/jackline/benches/hook/world.rs"),
        include_str!("../../../crates/jackline/benches/rules.yaml"),
        include_str!("../../../crates/jackline/benches/hook/more.yaml"),
    ];

    fn messages() -> Vec<Value> {
        Message::all(Path::new("/w"), "s", 0).map(|message| serde_json::from_str(&message).unwrap()).collect()
    }

    #[test]
    fn every_message_is_one_object_and_every_kind_has_a_bit() {
        let messages = messages();
        assert_eq!(messages.len(), CALLS.len() * Message::OF_CALL.len() + MOMENTS.len());
        assert!(messages.len() <= 64, "{} kinds", messages.len());
        for message in messages {
            assert_eq!(message["cwd"], "/w/workspace", "{message}");
            let event = message["hook_event_name"].as_str().unwrap();
            assert_eq!(message["tool_input"].is_object(), Message::OF_CALL.contains(&event), "{message}");
            assert_eq!(message.get("tool_response").is_some(), event == "PostToolUse", "{message}");
        }
    }

    #[test]
    fn nothing_is_played_that_is_measured() {
        for message in messages() {
            let given = |name: &str| message["tool_input"][name].as_str().map(str::to_owned);
            let parts =
                given("command").into_iter().flat_map(|text| text.split(" && ").map(str::to_owned).collect::<Vec<_>>());
            let parts = parts.chain(given("content").map(|content| content.escape_debug().to_string()));
            for part in parts {
                assert!(MEASURED.iter().all(|measured| !measured.contains(&part)), "`{part}` is measured");
            }
        }
    }

    #[test]
    fn no_policy_is_one_that_is_measured() {
        let policies = |text: &str| {
            let names = text.split("name: ").skip(1).map(|rest| rest.split(',').next().unwrap().to_owned());
            names.collect::<Vec<_>>()
        };
        let [few, more] = [RULES, MORE].map(policies);
        assert_eq!((few.len(), more.len()), (20, 10));
        for name in few.iter().chain(&more) {
            assert!(MEASURED.iter().all(|measured| !measured.contains(name.as_str())), "`{name}` is measured");
        }
    }
}
