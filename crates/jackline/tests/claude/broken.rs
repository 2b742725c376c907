//! What the host does when its guard is broken: the reason for `onFailure: "block"` and for never answering garbage.
//!
//! The guards here are stand-ins that break in every known way; the outcomes are the host's, asserted so that a new
//! version which changes them is noticed.

use jackline_rehearsal::{Run, Script, install};
use serde_json::{Value, json};

use super::{World, calm, hooked, ran, refused};

/// Breaks as the call's text says.
const GUARD: &str = r#"#!/bin/sh
case "$(cat)" in
  *exits*) exit 1 ;;
  *killed*) kill -9 $$ ;;
  *hangs*) sleep 60 ;;
  *misshapen*) echo '{"hookSpecificOutput":{"hookEventName":"Other","permissionDecision":7}}' ;;
  *babbles*) echo 'INFO: all is well' ;;
  *denies*) echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"not on my watch"}}' ;;
esac
"#;

/// Ways to break that `onFailure` is meant for.
const BREAKS: &[&str] = &["exits", "killed", "hangs", "misshapen"];

/// A session in which every kind of broken guard is asked once.
fn played(version: &str, on_failure: Option<&str>) -> (World, Run) {
    let world = World::on(version);
    let guard = world.stage.write_program("guard.sh", GUARD).expect("written");
    let hook = |program: &str| {
        let mut hook = json!({"type": "command", "command": program, "args": [], "timeout": 2});
        hook["onFailure"] = on_failure.map_or(Value::Null, Value::from);
        hook.as_object_mut().expect("an object").retain(|_, value| !value.is_null());
        hook
    };
    let missing = world.stage.top().join("gone").display().to_string();
    world.settings(&hooked(&[("Bash", hook(&guard.display().to_string())), ("Write", hook(&missing))]));
    let mut script = Script::new().bash("denies", "touch denies").bash("babbles", "touch babbles");
    for how in BREAKS {
        script = script.bash(how, &format!("touch {how}"));
    }
    let script = script.call("gone", "Write", json!({"file_path": "{{CWD}}/gone", "content": "x"})).say("done");
    let run = world.play(script);
    calm(&run);
    refused(&run, "denies", &["not on my watch"]);
    assert!(!world.has("denies"));
    (world, run)
}

#[test]
fn a_broken_guard_blocks_where_the_host_was_told_so() {
    let (world, run) = played(install::CLAUDE, Some("block"));
    for how in BREAKS.iter().chain(&["gone"]) {
        assert!(!world.has(how), "the call went through although the guard {how}");
        refused(&run, how, &[]);
    }
    // Text that is no JSON and exit code 0 count as success on this host, so our hook must never print such.
    assert!(world.has("babbles"));
    ran(&run, "babbles");
}

#[test]
fn a_broken_guard_lets_everything_through_where_it_was_not() {
    let (world, run) = played(install::CLAUDE, None);
    for how in BREAKS.iter().chain(&["gone", "babbles"]) {
        assert!(world.has(how), "the call was blocked although nobody asked for it: {how}");
        ran(&run, how);
    }
    assert_eq!(run.broken_hooks().len(), BREAKS.len() + 1, "every broken gate is in the host's own stream");
    let warned = run
        .no_verdicts()
        .iter()
        .filter_map(|event| event["hook_no_verdict"]["tool_use_id"].as_str())
        .collect::<Vec<_>>();
    assert_eq!(warned, ["toolu_killed", "toolu_gone"], "its warning to people names only some of them");
}

#[test]
fn an_older_host_does_not_know_how_to_block() {
    let (world, run) = played(install::CLAUDE_OLD, Some("block"));
    for how in BREAKS.iter().chain(&["gone"]) {
        assert!(world.has(how), "this version was taken for one that fails open: {how}");
        ran(&run, how);
    }
}

/// The real program with a place it cannot write to: calls are blocked, a prompt is not, and the agent may end.
#[test]
fn a_guard_without_a_store_blocks_calls_and_swallows_no_prompt() {
    let world = World::guarded();
    let store = world.store();
    std::fs::remove_dir_all(&store).expect("`init` made it");
    std::fs::write(&store, "no directory").expect("written");
    let run = world.play(Script::new().bash("work", "touch work").say("I cannot work").say("I really cannot"));
    calm(&run);
    refused(&run, "work", &["Jackline"]);
    assert!(!world.has("work"));
    assert_eq!((run.exit, run.terminal_reason()), (Some(0), "completed"));
}
