//! File policies in an agent's session, through the real hook.

use std::fs;

use serde_json::{Value, json};

use super::World;

/// A policy about what changed since the prompt.
pub(super) const PROMPT: &str = "---\nname: Rule\ntrigger: src/**\ncompare_to: prompt\n---\nDo it.\n";
pub(super) const RULE: &str = "---\nname: Rule\ntrigger: src/**\n---\nDo it.\n";

pub(super) fn world(policy: &str) -> World {
    let world = World::new();
    world.write("jackline.yaml", "jackline: 1\n");
    world.policy("rule", policy);
    world.commit("policy");
    world
}

/// What the hook answers to a message of a session.
#[track_caller]
pub(super) fn hook(world: &World, session: &str, event: &str, more: Value) -> Value {
    let mut message = json!({
        "session_id": session, "transcript_path": world.path("t.jsonl"), "cwd": world.path("repo"),
        "hook_event_name": event,
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        message[key] = value.clone();
    }
    let ran = world.run_in(&world.path("repo"), &["hook", "claude"], &message.to_string());
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    if ran.stdout.trim().is_empty() { json!({}) } else { serde_json::from_str(&ran.stdout).expect("JSON") }
}

pub(super) fn stop(world: &World, session: &str) -> Value {
    hook(world, session, "Stop", json!({ "stop_hook_active": false, "last_assistant_message": "done" }))
}

pub(super) fn prompt(world: &World, session: &str) -> Value {
    hook(world, session, "UserPromptSubmit", json!({ "prompt": "go" }))
}

#[track_caller]
pub(super) fn blocked(world: &World, session: &str) {
    let answer = stop(world, session);
    assert_eq!(answer["decision"], "block", "{answer}");
}

#[track_caller]
pub(super) fn allowed(world: &World, session: &str) {
    let answer = stop(world, session);
    assert_eq!(answer["decision"], Value::Null, "{answer}");
}

#[test]
fn a_baseline_that_is_lost_makes_no_less_count() {
    let world = world(PROMPT);
    prompt(&world, "s1");
    world.write("src/a.py", "1\n");
    world.commit("the agent commits");
    fs::remove_dir_all(world.repo(".jackline/tmp/policy/baselines")).expect("removed");
    blocked(&world, "s1");
}

#[test]
fn prompts_of_others_drive_no_baseline_out() {
    let world = world(PROMPT);
    world.write("src/dirty.py", "before\n");
    prompt(&world, "s1");
    for n in 0..6 {
        prompt(&world, &format!("other{n}"));
    }
    for _ in 0..6 {
        world.run(&["policy", "check", "--event", "prompt"]);
    }
    let kept = fs::read_dir(world.repo(".jackline/tmp/policy/baselines")).expect("baselines").count();
    assert!(kept <= 1 + 6 + 2, "{kept} are kept");
    allowed(&world, "s1");
    world.write("src/a.py", "1\n");
    world.commit("the agent commits");
    blocked(&world, "s1");
}

#[test]
fn a_baseline_that_cannot_be_kept_is_told_and_its_commit_counts() {
    let world = world(PROMPT);
    world.write(".jackline/tmp", "no directory\n");
    let answer = prompt(&world, "s1");
    assert!(answer.to_string().contains("could not be kept"), "{answer}");
    let ran = world.run(&["policy", "check", "--event", "prompt"]);
    assert_eq!(ran.exit, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("could not be kept"), "{ran:?}");
    world.write("src/a.py", "1\n");
    world.commit("the agent commits");
    blocked(&world, "s1");
}

#[test]
fn committing_does_not_end_what_is_outstanding() {
    for compare_to in ["base", "default_tip"] {
        let world = world(&RULE.replace("trigger", &format!("compare_to: {compare_to}\ntrigger")));
        world.write("src/a.py", "1\n");
        blocked(&world, "s1");
        world.write("docs/b.md", "1\n");
        world.commit("the agent commits");
        blocked(&world, "s1");
        world.write("src/unrelated.py", "1\n");
        world.commit("another file");
        blocked(&world, "s1");
        // Taking it back ends it.
        fs::remove_file(world.repo("src/a.py")).expect("removed");
        world.commit("taken back");
        allowed(&world, "s1");
    }
}

#[test]
fn what_is_committed_along_with_it_satisfies_it() {
    let world = world("---\nname: Rule\nset: ['src/{path}.py', 'tests/{path}_test.py']\n---\nWrite the test.\n");
    world.write("src/a.py", "1\n");
    blocked(&world, "s1");
    world.commit("the agent commits");
    blocked(&world, "s1");
    world.write("tests/a_test.py", "1\n");
    world.commit("and its test");
    allowed(&world, "s1");
}

#[test]
fn an_agent_may_not_keep_baselines_or_make_folders_of_policies() {
    let world = world(PROMPT);
    for command in [
        "jackline policy check --event prompt",
        "jackline policy check --event=prompt",
        "install -d .jackline/policies",
        "install -m 755 -d x .jackline/tmp",
    ] {
        let call = json!({ "tool_name": "Bash", "tool_input": { "command": command }, "tool_use_id": "t1" });
        let answer = hook(&world, "s1", "PreToolUse", call);
        let verdict = &answer["hookSpecificOutput"]["permissionDecision"];
        assert_eq!(*verdict, "deny", "{command}: {answer}");
    }
    let call =
        json!({ "tool_name": "Bash", "tool_input": { "command": "jackline policy check" }, "tool_use_id": "t2" });
    assert!(!hook(&world, "s1", "PreToolUse", call).to_string().contains("deny"));
}

#[test]
fn an_agent_that_begins_is_told_of_policies_and_the_way_out() {
    let world = world(RULE);
    let told = hook(&world, "s1", "SessionStart", json!({ "source": "startup" })).to_string();
    assert!(told.contains("file policies look at what you changed: Rule"), "{told}");
    assert!(told.contains("<promise>") && told.contains("<park>"), "{told}");
}

/// A stop at which the agent says this.
fn stop_saying(world: &World, session: &str, said: &str) -> Value {
    hook(world, session, "Stop", json!({ "stop_hook_active": false, "last_assistant_message": said }))
}

#[test]
fn one_at_a_time_is_no_way_past_the_last_ones() {
    let world = World::new();
    world.write("jackline.yaml", "jackline: 1\nfile_policies: {output: individual}\n");
    for number in 0..10 {
        world.policy(&format!("p{number}"), &format!("---\nname: Look{number}\ntrigger: src/**\n---\nDo it.\n"));
    }
    world.commit("policies");
    prompt(&world, "s1");
    world.write("src/a.py", "1\n");
    let mut said = "done".to_owned();
    for _ in 0..6 {
        let answer = stop_saying(&world, "s1", &said);
        assert_eq!(answer["decision"], "block", "{answer}");
        let shown = answer["reason"].as_str().expect("a reason");
        let names = shown.lines().filter_map(|line| line.strip_prefix("## "));
        said = names.map(|name| format!("<promise>{name}</promise>\n")).collect();
        assert!(!said.is_empty(), "{shown}");
    }
    assert_eq!(stop_saying(&world, "s1", &said)["decision"], Value::Null);
    assert_eq!(world.queued(), ["passed.json"; 10]);
}

#[test]
fn a_quoted_promise_is_nobodys_word() {
    let world = world(RULE);
    prompt(&world, "s1");
    world.write("src/a.py", "1\n");
    blocked(&world, "s1");
    for said in
        ["I was told to write:\n```\n<promise>Rule</promise>\n```\nand will not.", "> <promise>Rule</promise>\nhm"]
    {
        let answer = stop_saying(&world, "s1", said);
        assert_eq!(answer["decision"], "block", "{said}");
        assert!(answer["reason"].as_str().is_some_and(|told| told.contains("A promise that is quoted")), "{answer}");
    }
    assert_eq!(stop_saying(&world, "s1", "`<promise>Rule</promise>`")["decision"], Value::Null);
}

#[test]
fn what_is_open_when_the_agent_parks_stays_open() {
    let world = world(PROMPT);
    prompt(&world, "s1");
    world.write("src/a.py", "1\n");
    let parked = json!({ "stop_hook_active": false, "last_assistant_message": "<park>later</park>" });
    let answer = hook(&world, "s1", "Stop", parked);
    assert_eq!(answer["decision"], Value::Null, "{answer}");
    assert_eq!(world.queued(), ["queued.json"], "it is on record, and shown to people");
    prompt(&world, "s1");
    blocked(&world, "s1");
}

#[test]
fn a_prompt_before_the_stop_takes_nothing_away() {
    let world = world(PROMPT);
    prompt(&world, "s1");
    let call = json!({ "tool_name": "Bash", "tool_input": { "command": "echo 1 > src/a.py" }, "tool_use_id": "t1" });
    hook(&world, "s1", "PreToolUse", call);
    world.write("src/a.py", "1\n");
    prompt(&world, "s1");
    blocked(&world, "s1");
}
