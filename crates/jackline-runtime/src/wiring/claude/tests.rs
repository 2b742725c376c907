//! Adding and removing as exact opposites, over many ways of writing settings; what counts as unguarded.

use serde_json::{Value, json};

use super::*;
use crate::wiring::{Removed, Timeouts};

fn line() -> CommandLine {
    let arguments = ["hook", "claude", "--store", "/home/dev/st ate", "--wired", "local"].map(str::to_owned).to_vec();
    CommandLine { program: "/opt/jackline/bin/jackline".to_owned(), arguments }
}

fn value(text: &str) -> Value {
    serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap()
}

/// Adds, looks, adds again, removes: the bytes are those of the beginning.
#[track_caller]
fn check_round(text: &str) {
    let added = FORM.add(Some(text), &line(), Timeouts::default()).unwrap();
    let seen = FORM.survey(added.as_bytes()).unwrap();
    assert_eq!((seen.missing(), seen.open().count()), (vec![], 0), "of {text:?}:\n{added}");
    assert_eq!(FORM.add(Some(&added), &line(), Timeouts::default()).unwrap(), added, "adding twice to {text:?}");
    assert_eq!(FORM.remove(&added).unwrap(), Removed::Rest(text.to_owned()), "removing from\n{added}");
    assert_eq!(FORM.remove(text).unwrap(), Removed::Nothing, "{text:?}");
    let mut rest = value(&added);
    for asked in &EVENTS {
        rest["hooks"][asked.event].as_array_mut().unwrap().pop();
    }
    let before = if text.trim().is_empty() { json!({}) } else { value(text) };
    assert_eq!(without_empty_events(rest), without_empty_events(before), "something else changed in {text:?}");
}

fn without_empty_events(mut settings: Value) -> Value {
    let hooks = settings.as_object_mut().unwrap().entry("hooks").or_insert(json!({}));
    hooks.as_object_mut().unwrap().retain(|_, groups| groups != &json!([]));
    settings
}

#[test]
fn removing_is_the_opposite_of_adding() {
    for text in [
        "",
        " ",
        "\n\n",
        "{}",
        "{}\n",
        "{ }",
        "{\n}",
        "{\n}\n",
        "{\r\n}\r\n",
        "\n{}\n\n",
        "{\t}",
        "\u{feff}{}\n",
        r#"{"hooks":{}}"#,
        r#"{"hooks": { }, "model": "opus"}"#,
        "{\"hooks\": {\n}\n}",
        r#"{"hooks":{"PreToolUse":[]}}"#,
        r#"{ "hooks" : { "PreToolUse" : [ ] , "Stop": [] } }"#,
        "{\n  \"hooks\": {\n    \"PreToolUse\": [],\n    \"Other\": []\n  }\n}\n",
        "{\n\"a\": 1\n}",
        "{\"a\":\"}],\\\"\\\\\",\"b\":[1,2.50,-1e5,null,true],\"schlüssel ✓\":\"\\u00e9\"}",
        "{\n\n\t\"env\" : {\"A\":\"b\"} ,\n\n\t\"z\":[ ]\n\n}\n\n\n",
        "{\"hooks\":{\"PreToolUse\":[{\"matcher\":\"Bash\",\"hooks\":[{\"type\":\"command\",\"command\":\"x\"}]}]}}",
    ] {
        check_round(text);
    }
}

#[test]
fn every_layout_survives_a_round() {
    let others = r#"{"matcher":"Bash|Read","hooks":[{"type":"command","command":"jackline-like hook claude"}]}"#;
    for (newline, step) in [("\n", "  "), ("\n", "\t"), ("\r\n", "    "), ("\n", ""), ("", ""), (" ", "")] {
        for end in ["", "\n", "\r\n", "\n\n"] {
            for hooks in ["", r#""Stop":[]"#, &format!("\"PreToolUse\":[{others}]"), &format!("\"Mine\":[{others}]")] {
                let (one, two) = (format!("{newline}{step}"), format!("{newline}{step}{step}"));
                let inner = if hooks.is_empty() { String::new() } else { format!("{two}{hooks}{one}") };
                check_round(&format!("{{{one}\"a\": 1,{one}\"hooks\": {{{inner}}}{newline}}}{end}"));
                check_round(&format!("{{{one}\"hooks\": {{{inner}}},{one}\"a\":[1,{two}2]{newline}}}{end}"));
            }
        }
    }
}

#[test]
fn a_file_made_for_us_goes_with_us() {
    let added = FORM.add(None, &line(), Timeouts::default()).unwrap();
    assert!(added.starts_with("{\n  \"hooks\": {\n    \"PreToolUse\": [\n      { \"hooks\": [ { \"type\""), "{added}");
    assert!(added.ends_with("\n  }\n}\n"), "{added}");
    assert_eq!(FORM.remove(&added).unwrap(), Removed::All);
    assert_eq!(FORM.add(Some(&added), &line(), Timeouts::default()).unwrap(), added);
}

#[test]
fn an_entry_is_run_without_a_shell_and_blocks_where_it_must() {
    let settings = value(&FORM.add(None, &line(), Timeouts::default()).unwrap());
    let hook = |event: &str| settings["hooks"][event][0]["hooks"][0].clone();
    assert_eq!(
        hook("PreToolUse"),
        json!({ "type": "command", "command": line().program, "args": line().arguments, "timeout": 10, "onFailure": "block" })
    );
    assert_eq!(hook("ConfigChange")["onFailure"], "block");
    assert_eq!((&hook("Stop")["timeout"], hook("Stop").get("onFailure")), (&json!(3600), None));
    assert_eq!(settings["hooks"].as_object().unwrap().len(), EVENTS.len());
}

#[test]
fn older_and_other_entries_of_ours_are_replaced_and_those_of_others_stay() {
    let text = r#"{"hooks":{"PreToolUse":[
      {"matcher":"Bash","hooks":[{"type":"command","command":"/old/jackline hook claude"},{"type":"command","command":"mine"}]},
      {"hooks":[{"type":"command","command":"jackline","args":["hook","claude"]}]}],
      "Notification":[{"hooks":[{"type":"command","command":"'/a/jackline' hook claude --store /x"}]}]}}"#;
    let added = FORM.add(Some(text), &line(), Timeouts::default()).unwrap();
    let settings = value(&added);
    assert_eq!(
        settings["hooks"]["PreToolUse"][0],
        json!({"matcher":"Bash","hooks":[{"type":"command","command":"mine"}]})
    );
    assert_eq!(settings["hooks"]["PreToolUse"].as_array().unwrap().len(), 2);
    assert_eq!(FORM.survey(added.as_bytes()).unwrap().entries.len(), EVENTS.len());
    assert!(FORM.survey(added.as_bytes()).unwrap().entries.iter().all(|entry| entry.line == line()));
}

#[track_caller]
fn check_refused(text: &str, why: &str) {
    let told = FORM.add(Some(text), &line(), Timeouts::default()).unwrap_err().to_string();
    assert!(told.contains(why), "{text:?}: {told}");
    assert_eq!(FORM.remove(text).unwrap_err().to_string(), told, "{text:?}");
    assert!(breach(Some(text.as_bytes()), false).is_some(), "{text:?}");
}

#[test]
fn what_the_host_would_not_read_is_left_alone() {
    check_refused("{", "not valid JSON");
    check_refused("{\"a\": 1,}", "not valid JSON");
    check_refused("{} {}", "not valid JSON");
    check_refused("{\"a\": 1, \"a\": 2}", "not valid JSON");
    check_refused("// mine\n{}", "comments");
    check_refused("{\n  // mine\n  \"a\": 1\n}", "comments");
    check_refused("{\"a\": 1 /* one */}", "comments");
    check_refused("[]", "not a JSON object");
    check_refused("\"hooks\"", "not a JSON object");
    check_refused("{\"hooks\": []}", "`hooks` is not an object");
    check_refused("{\"hooks\": null}", "`hooks` is not an object");
    check_refused("{\"hooks\": {\"Stop\": {}}}", "`hooks.Stop` is not an array");
    check_refused(&"[".repeat(100_000), "not valid JSON");
    check_refused(&format!("{{\"a\": \"{}\"}}", "x".repeat(1 << 20)), "bytes, more than");
}

#[test]
fn settings_that_leave_a_session_unguarded_are_told() {
    #[track_caller]
    fn check(text: Option<&str>, must: bool, want: Option<&str>) {
        let told = breach(text.map(str::as_bytes), must);
        let fits = told.as_deref().zip(want).is_some_and(|(told, want)| told.contains(want)) || told.as_deref() == want;
        assert!(fits, "{text:?}: {told:?}");
    }
    let whole = FORM.add(None, &line(), Timeouts::default()).unwrap();
    check(Some(&whole), true, None);
    check(None, false, None);
    check(Some(""), false, None);
    check(Some("{}"), false, None);
    check(Some("{\"disableAllHooks\": false}"), false, None);
    check(None, true, Some("`PreToolUse` is gone"));
    check(Some("{}"), true, Some("`PreToolUse` is gone"));
    for off in ["true", "1", "null", "\"false\"", "0", "[]"] {
        check(Some(&format!("{{\"disableAllHooks\": {off}}}")), false, Some("`disableAllHooks` switches"));
        check(Some(&whole.replacen('{', &format!("{{\"disableAllHooks\": {off},"), 1)), true, Some("disableAllHooks"));
    }
    let beside = |setting: &str| whole.replacen('{', &format!("{{{setting},"), 1);
    check(Some(&beside("\"model\": \"opus\", \"permissions\": {\"allow\": [\"Bash(ls)\"]}")), true, None);
    check(Some(&beside("\"permissions\": 5")), true, Some("the client refuses `permissions`"));
    check(Some(&beside("\"somethingNew\": 5")), true, Some("takes `somethingNew` is not known"));
    check(Some("{\"model\": 7, \"somethingNew\": 5}"), false, None);
    check(Some("{\"env\": {\"CLAUDE_CODE_SIMPLE\": \"1\"}}"), false, Some("CLAUDE_CODE_SIMPLE"));
    check(Some("{\"env\": {\"CLAUDE_CODE_SAFE_MODE\": \"1\"}}"), false, Some("CLAUDE_CODE_SAFE_MODE"));
    check(Some("{\"env\": {\"CLAUDE_CODE_RESTRICTED\": \"1\"}}"), false, Some("CLAUDE_CODE_RESTRICTED"));
    check(Some(&whole.replace("\"onFailure\": \"block\"", "\"x\": 1")), true, Some("lacks `onFailure"));
    check(Some(&whole.replace("\"ConfigChange\"", "\"Other\"")), true, Some("`ConfigChange` is gone"));
    check(Some(&whole.replace("\"timeout\": 10", "\"timeout\": 0.1")), true, Some("0.1 s"));
    check(Some(&whole.replace("\"type\": \"command\"", "\"type\": \"command\", \"async\": true")), true, Some("async"));
    check(Some(&whole.replace("\"hooks\": [", "\"matcher\": \"Read\", \"hooks\": [")), true, Some("only for some"));
    check(Some(&whole.replace("/jackline\"", "/true\"")), true, Some("is gone"));
    check(Some(&whole.replace("\"hook\", ", "\"--version\", \"hook\", ")), true, Some("is gone"));
    check(Some(&whole.replace("\"command\": \"/opt", "\"if\": \"Bash(x)\", \"command\": \"/opt")), true, Some("`if`"));
    check(Some("{\"hooks\": {\"Stop\": [{\"hooks\": [7]}]}}"), false, Some("is not an object"));
}

#[test]
fn another_program_in_our_place_is_told() {
    let whole = FORM.add(None, &line(), Timeouts::default()).unwrap();
    assert_eq!(diverted(Some(whole.as_bytes()), &line()), None);
    for (from, to) in [("/opt/jackline/bin", "/home/dev/bin"), ("st ate", "elsewhere"), ("\"local\"", "\"user\"")] {
        let other = whole.replacen(from, to, 1);
        assert!(diverted(Some(other.as_bytes()), &line()).unwrap().contains("PreToolUse"), "{from}");
    }
    let by_name = whole.replace("/opt/jackline/bin/jackline", "jackline");
    assert_eq!(diverted(Some(by_name.as_bytes()), &line()), None);
}
