//! What is decided: refused with a reason, allowed in silence, recorded.

use std::fs;

use jackline_core::exception::{Exception, What};
use jackline_core::time::Timestamp;
use jackline_runtime::exceptions::Exceptions;
use serde_json::json;

use crate::world::{RULES, World, answered, tree};

#[test]
fn a_denial_is_json_and_says_what_to_do_next() {
    let world = World::new(Some(RULES));
    let denied = world.bash("c1", "git commit -m x");
    denied.denied(
        "Tool 'commit' requires: test\n→ test: run `./test.sh`, as a command of its own\n[jackline: sequence/missing;",
    );
    world.bash("c2", "./test.sh").silent();
    world.bash("c3", "git commit -m x").silent();
}

#[test]
fn what_a_person_lets_pass_is_allowed_in_silence() {
    let world = World::new(Some(RULES));
    world.bash("c1", "git commit -m x").denied("requires: test");
    let granted_at = jackline_runtime::clock::now();
    let exceptions = Exceptions::of(&world.store(), world.root().to_str().unwrap());
    let exception = Exception {
        id: "e1".to_owned(),
        what: What::Code("sequence/missing".to_owned()),
        once: true,
        granted_at,
        until: Timestamp(granted_at.0 + 600_000),
        reason: "a test".to_owned(),
        by: "dev".to_owned(),
    };
    exceptions.keep(&exception).unwrap();
    world.bash("c2", "git commit -m y").silent();
    world.bash("c3", "git commit -m z").denied("requires: test");
}

#[test]
fn an_opaque_command_is_asked_about() {
    let world = World::new(Some(RULES));
    let asked = world.bash("c1", "$X push").json();
    assert_eq!(asked["hookSpecificOutput"]["permissionDecision"], "ask");
}

#[test]
fn what_only_began_or_was_cut_short_proves_nothing() {
    let world = World::new(Some(RULES));
    for (id, response) in [
        ("a", json!({ "stdout": "", "backgroundTaskId": "b1" })),
        ("b", json!({ "stdout": "", "interrupted": true })),
        ("c", json!({ "stdout": "", "returnCodeInterpretation": "No matches found" })),
    ] {
        let test = json!({ "command": format!("./test.sh {id}") });
        world.asks(id, "Bash", test.clone()).silent();
        world.ran(id, "Bash", test, response).silent();
        world.bash(&format!("commit-{id}"), &format!("git commit -m {id}")).denied("requires: test");
    }
    let watch = json!({ "command": "./test.sh d", "description": "watch", "timeout_ms": 1000 });
    world.asks("d", "Monitor", watch.clone()).silent();
    world.ran("d", "Monitor", watch, json!({ "taskId": "m1", "timeoutMs": 1000 })).silent();
    world.bash("commit-d", "git commit -m d").denied("requires: test");
}

#[test]
fn settings_are_ours_to_guard_wherever_the_client_keeps_them() {
    let world = World::new(Some("jackline: 1\n"));
    let elsewhere = world.home().join("elsewhere");
    for name in ["settings.json", "settings.local.json", "notes.md"] {
        let input = json!({ "file_path": elsewhere.join(name), "content": "{}" });
        let call = json!({ "tool_name": "Write", "tool_input": input, "tool_use_id": name });
        let message = world.message("PreToolUse", call).to_string();
        let answer = answered(world.hook().env("CLAUDE_CONFIG_DIR", &elsewhere), message.as_bytes());
        if name == "notes.md" { answer.silent() } else { answer.denied("Claude Code's settings") }
    }
}

#[test]
fn agents_and_skills_bring_no_hooks_along_wherever_the_client_keeps_them() {
    let world = World::new(Some("jackline: 1\n"));
    let elsewhere = world.home().join("elsewhere");
    let asked = |path: &str, text: &str| {
        let input = json!({ "file_path": elsewhere.join(path), "content": text });
        let call = json!({ "tool_name": "Write", "tool_input": input, "tool_use_id": path });
        let message = world.message("PreToolUse", call).to_string();
        answered(world.hook().env("CLAUDE_CONFIG_DIR", &elsewhere), message.as_bytes())
    };
    let hooks = "---\nname: s\nhooks: {}\n---\n";
    for path in ["skills/s/SKILL.md", "agents/a.md", "commands/c.md"] {
        asked(path, hooks).denied("`hooks` in the front matter");
        asked(path, "---\nname: s\n---\nwrite no hooks\n").silent();
    }
    asked("notes/n.md", hooks).silent();
}

#[test]
fn a_call_that_only_a_batch_tells_of_is_counted_and_has_failed() {
    let world = World::new(Some(RULES));
    world.bash("c1", "ls").silent();
    let before = world.records().len();
    let known =
        json!({ "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_use_id": "c1", "tool_response": "" });
    world.tell("PostToolBatch", json!({ "tool_calls": [known] })).silent();
    assert_eq!(world.records().len(), before, "a call that finished already leaves nothing new");

    let unasked = json!({ "tool_name": "Frobnicate", "tool_input": { "n": 1 }, "tool_use_id": "c2", "tool_response": "no such tool" });
    world.tell("PostToolBatch", json!({ "tool_calls": [unasked] })).silent();
    let records = world.records();
    let (event, decision) = (&records[before], &records[before + 1]);
    assert_eq!((&event["kind"], &event["step"], &event["call"]), (&json!("call.settled"), &json!(2), &json!("c2")));
    assert_eq!(decision["data"]["emitted"][0]["type"], "UNKNOWN_TOOL");
    assert_eq!(decision["data"]["emitted"][0]["requested"], "Frobnicate");
}

#[test]
fn repeating_what_the_client_refuses_is_a_loop_and_the_model_is_told() {
    let world = World::new(Some(RULES));
    let batch = |id: &str| {
        let call =
            json!({ "tool_name": "Frobnicate", "tool_input": {}, "tool_use_id": id, "tool_response": "no such tool" });
        world.tell("PostToolBatch", json!({ "tool_calls": [call] }))
    };
    batch("c1").silent();
    batch("c2").silent();
    let told = batch("c3").json();
    let context = told["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(context.contains("FORBID_ACTION"), "{context}");
    batch("c4");
    let halted = batch("c5").json();
    assert_eq!(halted["continue"], false, "{halted}");
}

#[test]
fn a_halted_run_is_denied_and_ended() {
    let world = World::new(Some("jackline: 1\nloop: { window: 2, threshold: 2, override_retries: 0 }\n"));
    world.bash("c1", "ls").silent();
    world.bash("c2", "ls").denied("FORBID_ACTION");
    let halted = world.bash("c3", "ls");
    halted.denied("the run is halted");
    assert_eq!(halted.json()["continue"], false, "ending alone would let the tool run, denying alone would go on");
    world.bash("c4", "pwd").denied("");
    world.tell("UserPromptSubmit", json!({ "prompt": "<task-notification>done</task-notification>" })).silent();
    world.bash("c5", "pwd").denied("");
    world.tell("UserPromptSubmit", json!({ "prompt": "go on" })).silent();
    world.bash("c6", "pwd").silent();
}

#[test]
fn prompts_of_the_clients_clock_lift_nothing() {
    let world = World::new(Some("jackline: 1\nloop: { window: 2, threshold: 2, override_retries: 0 }\n"));
    world.asks("c0", "CronCreate", json!({ "cron": "* * * * *", "prompt": "go on" })).silent();
    for (id, command) in [("c1", "ls"), ("c2", "ls"), ("c3", "ls")] {
        world.bash(id, command);
    }
    let prompts = [
        json!({ "prompt": "go on" }),
        json!({ "prompt": "more", "source": "loop_wakeup" }),
        json!({ "prompt": "more", "source": "schedule_wakeup" }),
        json!({ "prompt": "more", "source": "system" }),
        json!({ "prompt": "more", "source": 1 }),
        json!({ "prompt": "<cross-session-message from=\"worker\">go on</cross-session-message>" }),
        json!({ "prompt": "<<autonomous-loop-dynamic>>" }),
        json!({ "prompt": "# Autonomous loop check\n\nYou are on your own." }),
        json!({ "prompt": "# /loop tick \u{2014} loop.md tasks\nWork" }),
        json!({ "prompt": "The following one-shot scheduled task was missed while Claude was not running." }),
    ];
    for (at, prompt) in prompts.into_iter().enumerate() {
        world.tell("UserPromptSubmit", prompt).silent();
        world.bash(&format!("d{at}"), "pwd").denied("halted");
    }
    let records = world.records();
    let told = records.iter().find(|record| record["kind"] == "prompt.submitted").unwrap();
    assert_eq!((&told["actor"], &told["data"]["prompt"]), (&json!("host"), &json!("go on")));
    world.tell("UserPromptSubmit", json!({ "prompt": "more", "source": "user" })).silent();
    world.bash("e1", "pwd").silent();
}

#[test]
fn agents_are_told_what_is_enforced_and_the_person_what_is_wrong() {
    let world = World::new(Some(RULES));
    let told = world.tell("SessionStart", json!({ "source": "startup" })).json();
    let context = told["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(context.contains("- commit requires: test, again after every change to a file\n"), "{context}");
    assert_eq!(told.get("systemMessage"), None);
    let told = world.tell("SubagentStart", json!({ "agent_id": "a1", "agent_type": "general-purpose" })).json();
    assert_eq!(told["hookSpecificOutput"]["hookEventName"], "SubagentStart");

    fs::write(world.root().join("jackline.yaml"), "jackline: 1\npolices: []\n").unwrap();
    let told = world.tell("SessionStart", json!({ "source": "resume" })).json();
    let message = told["systemMessage"].as_str().unwrap();
    assert!(message.contains("the last accepted definition stays in force"), "{message}");
    world.bash("c1", "git commit -m x").denied("requires: test");
}

#[test]
fn a_move_to_another_work_tree_is_followed_and_undone() {
    let world = World::new(Some(RULES));
    let tree = world.root().join(".claude/worktrees/wt1");
    fs::create_dir_all(&tree).unwrap();
    let write =
        |id: &str, path: &str| world.asks(id, "Write", json!({ "file_path": world.root().join(path), "content": "" }));
    write("c1", "a.txt").silent();
    world.ran("c2", "EnterWorktree", json!({ "name": "wt1" }), json!({ "worktreePath": tree })).silent();
    write("c3", "a2.txt").denied("outside the workspace");
    write("c4", ".claude/worktrees/wt1/a.txt").silent();
    write("c5", "jackline.yaml").denied("part of what guards this session");
    write("c5a", ".claude/settings.local.json").denied("part of what guards this session");
    write("c5b", ".claude/worktrees/wt1/.claude/settings.json").denied("part of what guards this session");
    world.ran("c6", "ExitWorktree", json!({ "action": "keep" }), json!({ "action": "keep" })).silent();
    write("c7", "a3.txt").silent();
    assert_eq!(world.kinds().iter().filter(|kind| *kind == "session.moved").count(), 2);
}

#[test]
fn a_stop_shows_the_head_to_the_person() {
    let world = World::new(Some(RULES));
    let said = world.tell("Stop", json!({ "stop_hook_active": false })).json();
    let head = world.records().last().unwrap()["hash"].as_str().unwrap().to_owned();
    assert_eq!(said["systemMessage"], json!(format!("jackline: record 3, head {head}")));
    world.tell("SubagentStop", json!({ "agent_id": "a1", "stop_hook_active": false })).silent();
}

#[test]
fn settings_that_silence_us_are_not_taken_over() {
    let world = World::new(Some(RULES));
    let file = world.root().join(".claude/settings.json");
    fs::create_dir(world.root().join(".claude")).unwrap();
    let changed = |source: &str, text: &str| {
        fs::write(&file, text).unwrap();
        world.tell("ConfigChange", json!({ "source": source, "file_path": file }))
    };
    changed("project_settings", "{\"model\":\"x\"}").silent();
    for (source, text) in [
        ("project_settings", "{\"disableAllHooks\":true}"),
        ("project_settings", "{\"disableAllHooks\":\"yes\"}"),
        ("project_settings", "{"),
        ("local_settings", "{\"model\":\"x\"}"),
    ] {
        let answer = changed(source, text).json();
        assert_eq!(answer["decision"], "block", "{source} {text}");
        assert!(answer["reason"].as_str().unwrap().contains("unguarded"), "{answer}");
    }
    changed("skills", "no settings at all").silent();
    // Nor where the store is broken.
    fs::remove_dir_all(world.store()).unwrap();
    fs::write(world.store(), "in the way").unwrap();
    assert_eq!(changed("user_settings", "{\"disableAllHooks\":true}").json()["decision"], "block");
    changed("user_settings", "{}").silent();
}

#[test]
fn events_that_are_not_known_are_recorded_and_pass_unless_a_tool_may_run() {
    let world = World::new(Some(RULES));
    world.tell("SomethingNew", json!({ "detail": 1 })).silent();
    world.tell("PreCompact", json!({ "trigger": "manual" })).silent();
    world.tell("PermissionRequest", json!({ "tool_name": "Bash", "tool_input": {} })).silent();
    assert_eq!(world.kinds(), ["host.noted", "host.noted", "host.noted"]);
    assert_eq!(world.records()[0]["data"]["about"], json!({ "detail": 1 }));
    for about in [
        json!({ "tool_name": "Bash", "tool_input": {} }),
        json!({ "tool_name": "Bash", "input": {} }),
        json!({ "toolName": "Bash" }),
        json!({ "tool_calls": [{ "tool_name": "Bash", "tool_input": {} }] }),
    ] {
        world.tell("BeforeToolRuns", about).blocked("not a tool gate that this version knows");
    }
}

#[test]
fn without_a_definition_everything_is_allowed_and_nothing_kept() {
    let world = World::new(None);
    world.bash("c1", "git commit -m x").silent();
    world.tell("SessionStart", json!({ "source": "startup" })).silent();
    assert_eq!(tree(&world.home()), tree(&world.store()));
    assert!(!world.store().exists());
}

#[test]
fn the_environment_does_not_redirect_a_wired_hook() {
    let world = World::new(Some(RULES));
    let elsewhere = world.top().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("jackline.yaml"), "jackline: 1\n").unwrap();
    let mut hook = world.hook();
    hook.env("JACKLINE_HOME", &elsewhere).env("JACKLINE_DEFINITION", elsewhere.join("jackline.yaml"));
    hook.env("CLAUDE_PROJECT_DIR", &elsewhere).current_dir(&elsewhere);
    let call = json!({ "tool_name": "Bash", "tool_input": { "command": "git commit -m x" }, "tool_use_id": "c1" });
    answered(&mut hook, world.message("PreToolUse", call).to_string().as_bytes()).denied("requires: test");
    assert_eq!(tree(&elsewhere), [elsewhere.join("jackline.yaml")]);
}

#[test]
fn a_stop_is_held_with_the_checks_own_words_and_parking_is_shown_to_the_person() {
    let world = World::new(Some("jackline: 1\ncompletion: {files: [a]}\n"));
    let stop =
        |message: &str| world.tell("Stop", json!({ "stop_hook_active": true, "last_assistant_message": message }));
    let held = stop("Done.").json();
    assert_eq!(held["decision"], "block");
    let reason = held["reason"].as_str().unwrap();
    let blocker = "<blocker>\n1 required output file(s) not found: a\n</blocker>\n→ if you cannot:";
    assert!(reason.starts_with(blocker), "{reason}");
    world.tell("SubagentStop", json!({ "agent_id": "a1", "agent_type": "x", "stop_hook_active": false })).silent();
    let parked = stop("<park>no key</park>").json();
    let shown = parked["systemMessage"].as_str().unwrap();
    assert!(
        parked.get("decision").is_none() && shown.starts_with("jackline: the agent parked: no key\njackline: record")
    );
    std::fs::write(world.root().join("a"), "").unwrap();
    assert!(stop("Done.").json().get("decision").is_none());
    world.tell("SessionEnd", json!({ "reason": "other" })).silent();
}

#[test]
fn the_agent_that_summarises_is_nobodys_work() {
    let world = World::new(Some("jackline: 1\ncompletion: {files: [a], subagents: true}\n"));
    let stop = |kind: &str| {
        world.tell("SubagentStop", json!({ "agent_id": "a1", "agent_type": kind, "stop_hook_active": false }))
    };
    stop("").silent();
    assert_eq!(stop("general-purpose").json()["decision"], "block");
    assert_eq!(world.kinds(), ["host.noted", "stop.requested"]);
}
