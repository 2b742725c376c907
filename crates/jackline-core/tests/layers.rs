//! Several definitions in force at once: none of them loosens another, and each keeps what it grants by itself.
#![expect(clippy::unwrap_used, clippy::panic, reason = "what goes wrong in a test's own steps fails the test")]

mod played;

use jackline_core::session::CONSTRAINTS_MAX;
use jackline_core::stack::Origin;
use played::{Played, SETTINGS};
use serde_json::{Value, json};

/// A session that counts its calls.
struct Run {
    played: Played,
    calls: u32,
}

impl Run {
    fn new(layers: &[(Origin, &str)]) -> Self {
        Self { played: Played::new(layers), calls: 0 }
    }

    /// Asks for a call; what came of it, as its code.
    fn ask(&mut self, tool: &str, args: &Value) -> String {
        self.calls += 1;
        let call = json!({ "id": self.calls.to_string(), "tool": tool, "args": args });
        let event = json!({ "event": "call.requested", "session": "s", "host": "claude", "call": call });
        self.played.code(&event)
    }

    /// The same for a call that then succeeds with this result.
    fn does(&mut self, tool: &str, args: &Value, output: &str) -> String {
        let asked = self.ask(tool, args);
        let call = json!({ "id": self.calls.to_string(), "tool": tool, "args": args });
        let event = json!({
            "event": "call.finished", "session": "s", "host": "claude", "call": call,
            "ok": true, "output": output,
        });
        self.played.send(&event);
        asked
    }
}

#[test]
fn what_one_definition_declares_loosens_no_other() {
    let strict = "tools: {unknown: deny}\npolicies: [{paths: {protect: [secret]}}]";
    let loose = [
        "tools: {declare: {evil: {}, mcp__fs__write_file: {kind: other}}}",
        "tools: {declare: {evil: {kind: read}, mcp__fs__write_file: {kind: write, path: nothing}}}",
        "tools: {unknown: allow, declare: {evil: {kind: list}, mcp__fs__write_file: {kind: read, path: nothing}}}",
    ];
    for (wide, loose) in
        [Origin::Machine, Origin::User, Origin::Accepted].into_iter().flat_map(|wide| loose.map(|loose| (wide, loose)))
    {
        let mut run = Run::new(&[(wide, strict), (Origin::Project, loose)]);
        assert_eq!(run.ask("evil", &json!({"q": 1})), "tools/unknown", "{wide:?} {loose}");
        let write = |path: &str| json!({"path": path, "nothing": "ok.txt"});
        // Without an exact name nobody knows the tool, so that comes first; it is denied for each reason.
        assert_eq!(run.ask("mcp__fs__write_file", &write("secret")), "tools/unknown");
        let mut run = Run::new(&[(wide, "policies: [{paths: {protect: [secret]}}]"), (Origin::Project, loose)]);
        assert_eq!(run.ask("mcp__fs__write_file", &write("secret")), "paths/protected", "{wide:?} {loose}");
        assert_eq!(run.ask("mcp__fs__write_file", &write(SETTINGS)), "self/protected", "{wide:?} {loose}");
        assert_eq!(run.ask("evil", &json!({"file_path": SETTINGS})), "self/protected", "{wide:?} {loose}");
    }
}

#[test]
fn a_declaration_keeps_its_worth_beside_a_wider_definition() {
    let project = "tools: {unknown: deny, declare: {read_doc: {kind: read, path: uri}, save_doc: {kind: write, path: uri}, run: {kind: shell}}}
steps: {test: {tool: '@shell', command: 'cargo test*'}, commit: {tool: '@shell', command: 'git commit*'}}
policies: [{paths: {protect: [secret]}}, {read_before_write: {}}, {sequence: {requires: {commit: [test]}}}]";
    // A user's that says nothing of those tools, and one that has the same policies for its own.
    let users = [
        "use: [git]",
        "policies: [{read_before_write: {}}]",
        "steps: {test: {tool: '@shell', command: 'cargo test*'}, commit: {tool: '@shell', command: 'git commit*'}}
policies: [{sequence: {requires: {commit: [test]}}}, {read_before_write: {}}]",
    ];
    for user in users {
        let mut run = Run::new(&[(Origin::User, user), (Origin::Project, project)]);
        let doc = json!({"uri": "a.md"});
        assert_eq!(run.ask("save_doc", &doc), "read-before-write/unread", "{user}");
        assert_eq!(run.does("read_doc", &doc, "text"), "allow", "{user}");
        assert_eq!(run.does("save_doc", &doc, "saved"), "allow", "{user}");
        assert_eq!(run.ask("save_doc", &json!({"uri": "secret"})), "paths/protected", "{user}");
        let (test, commit) = (json!({"command": "cargo test"}), json!({"command": "git commit -m x"}));
        assert_eq!(run.ask("run", &commit), "sequence/missing", "{user}");
        assert_eq!(run.does("run", &test, "ok"), "allow", "{user}");
        assert_eq!(run.ask("run", &commit), "allow", "{user}");
        // The host's own tools count for both.
        assert_eq!(run.does("Bash", &test, "ok"), "allow", "{user}");
        assert_eq!(run.ask("Bash", &commit), "allow", "{user}");
    }
}

#[test]
fn what_a_project_declares_is_held_against_its_users_policies_too() {
    let user =
        "use: [git]\npolicies: [{paths: {protect: [secret]}}, {rule: {tool: '@shell', command: 'rm*', reason: no}}]";
    let project = "tools: {declare: {run: {kind: shell}, save_doc: {kind: write, path: uri}}}";
    let mut run = Run::new(&[(Origin::User, user), (Origin::Project, project)]);
    assert!(run.ask("run", &json!({"command": "rm a"})).starts_with("rule/"));
    assert_eq!(run.ask("save_doc", &json!({"uri": "secret"})), "paths/protected");
    assert_eq!(run.ask("save_doc", &json!({"uri": "a.md"})), "allow");
}

#[test]
fn nothing_counts_as_done_or_read_for_a_definition_that_does_not_know_the_tool() {
    let strict =
        "steps: {test: {tool: '@shell', command: 'cargo test*'}, commit: {tool: '@shell', command: 'git commit*'}}
policies: [{sequence: {requires: {commit: [test], Task: ['@shell']}}}, {read_before_write: {}}]";
    // The change has the very same steps, so that it proves them by the same names.
    let loose = format!("tools: {{declare: {{fake: {{kind: shell}}, look: {{kind: read, path: file}}}}}}\n{strict}");
    for wide in [Origin::User, Origin::Accepted] {
        let mut run = Run::new(&[(wide, strict), (Origin::Project, &loose)]);
        assert_eq!(run.does("fake", &json!({"command": "cargo test"}), "ok"), "allow");
        assert_eq!(run.ask("Bash", &json!({"command": "git commit -m x"})), "sequence/missing", "{wide:?}");
        assert_eq!(run.ask("Task", &json!({"prompt": "x"})), "sequence/missing", "{wide:?}");
        assert_eq!(run.does("look", &json!({"file": "/ws/a"}), "text"), "allow");
        assert_eq!(run.ask("Write", &json!({"file_path": "/ws/a", "content": ""})), "read-before-write/unread");
        assert_eq!(run.does("Read", &json!({"file_path": "/ws/a"}), "text"), "allow");
        assert_eq!(run.ask("Write", &json!({"file_path": "/ws/a", "content": ""})), "allow");
    }
}

#[test]
fn of_several_loop_guards_the_strictest_counts() {
    let call = json!({"q": 1});
    let codes = |layers: &[(Origin, &str)], calls: usize| -> Vec<String> {
        let mut run = Run::new(layers);
        (0..calls).map(|_| run.ask("look", &call)).collect()
    };
    let halting = ["allow", "allow", "loop/override", "loop/persisted"];
    let (user, project) = (Origin::User, Origin::Project);
    assert_eq!(codes(&[(user, ""), (project, "loop: {override_retries: 0}")], 4), halting);
    assert_eq!(codes(&[(user, "loop: {override_retries: 0}"), (project, "loop: {override_retries: 5}")], 4), halting);
    for (one, other) in [("1", "10"), ("10", "1")] {
        let of = |steps: &str| format!("loop: {{ttl_steps: {steps}}}");
        let mut run = Run::new(&[(user, &of(one)), (project, &of(other))]);
        (0..3).for_each(|_| drop(run.ask("look", &call)));
        (2..5).for_each(|other| assert_eq!(run.ask("look", &json!({"q": other})), "allow"));
        assert_eq!(run.ask("look", &call), "loop/forbidden", "{one} {other}");
    }
}

#[test]
fn who_observes_a_loop_forbids_nothing_to_who_enforces() {
    let observing = "mode: observe\nloop: {window: 2, threshold: 2}";
    let enforcing = "loop: {window: 5, threshold: 5}";
    let mut run = Run::new(&[(Origin::User, observing), (Origin::Project, enforcing)]);
    let codes: Vec<String> = (0..6).map(|_| run.ask("look", &json!({"q": 1}))).collect();
    assert_eq!(codes, ["allow", "allow", "allow", "allow", "loop/override", "loop/forbidden"]);
}

#[test]
fn what_may_repeat_is_named_by_tool_step_or_kind() {
    let poll = |id: u64| json!({"command": format!("gh run view {id}")});
    let steps = "steps: {poll: {tool: Bash, command: 'gh run view*'}}";
    for exempt in ["Bash", "poll", "'@shell'", "'B*'"] {
        let mut run = Run::new(&[(Origin::Project, &format!("{steps}\nloop: {{exempt: [{exempt}]}}"))]);
        (0..6).for_each(|_| assert_eq!(run.ask("Bash", &poll(1)), "allow", "{exempt}"));
    }
    let mut run = Run::new(&[(Origin::Project, &format!("{steps}\nloop: {{exempt: [poll]}}"))]);
    let codes: Vec<String> = (0..3).map(|_| run.ask("Bash", &json!({"command": "gh run list"}))).collect();
    assert_eq!(codes, ["allow", "allow", "loop/override"], "another command of the same tool");
}

#[test]
fn no_loop_is_forgotten_for_another_while_it_is_forbidden() {
    let mut run = Run::new(&[(Origin::Project, "loop: {ttl_steps: 1000000}")]);
    for call in 0..CONSTRAINTS_MAX {
        let codes: Vec<String> = (0..3).map(|_| run.ask("look", &json!({ "q": call }))).collect();
        assert_eq!(codes, ["allow", "allow", "loop/override"], "{call}");
    }
    assert_eq!(run.ask("look", &json!({"q": 0})), "loop/forbidden", "the first stands");
    let codes: Vec<String> = (0..3).map(|_| run.ask("look", &json!({"q": "one more"}))).collect();
    assert_eq!(codes, ["allow", "allow", "loop/persisted"]);
    assert_eq!(run.ask("look", &json!({"q": 1})), "run/halted");
}

#[test]
fn progress_counts_for_each_call_by_itself_and_for_who_asks_for_it() {
    let aware = "loop: {window: 5, threshold: 3, progress_aware: true}";
    let (a, b) = (json!({"q": "a"}), json!({"q": "b"}));
    let mut run = Run::new(&[(Origin::Project, aware)]);
    for round in 0..6 {
        // Something else is called in between, and what comes of `a` is another thing each time.
        assert_eq!(run.does("look", &a, &round.to_string()), "allow", "{round}");
        assert_eq!(run.does("look", &json!({"q": round}), "x"), "allow", "{round}");
    }
    // What makes progress does not wash away what makes none.
    let mut run = Run::new(&[(Origin::Project, aware)]);
    let codes: Vec<String> = (0..3)
        .map(|round| {
            assert_eq!(run.does("look", &a, &round.to_string()), "allow", "{round}");
            run.does("look", &b, "same")
        })
        .collect();
    assert_eq!(codes, ["allow", "allow", "loop/override"]);
    // Nor does a project's loop guard speak for its user's.
    let mut run = Run::new(&[(Origin::User, "loop: {window: 5, threshold: 3}"), (Origin::Project, aware)]);
    let codes: Vec<String> = (0..3).map(|round| run.does("look", &a, &round.to_string())).collect();
    assert_eq!(codes, ["allow", "allow", "loop/override"]);
}

#[test]
fn a_limit_that_is_only_observed_frees_no_stop() {
    let observing = "mode: observe\nlimits: {steps: 1}";
    let stop = json!({ "event": "stop.requested", "session": "s", "message": "Done." });
    let stopped = |layers: &[(Origin, &str)]| {
        let mut run = Run::new(layers);
        (0..2).for_each(|n| assert_eq!(run.ask("Read", &json!({"file_path": n.to_string()})), "allow"));
        run.played.send(&stop).code.map(|code| code.to_string())
    };
    let completion = "completion: {done: test}\nsteps: {test: {tool: '@shell', command: 'cargo test*'}}";
    assert_eq!(
        stopped(&[(Origin::User, observing), (Origin::Project, completion)]).as_deref(),
        Some("completion/incomplete")
    );
    assert_eq!(stopped(&[(Origin::User, observing)]), None);
}

#[test]
fn a_forbidden_call_is_told_how_often_it_may_be_repeated() {
    let mut run = Run::new(&[(Origin::Project, "loop: {override_retries: 2}")]);
    (0..3).for_each(|_| drop(run.ask("look", &json!({"q": 1}))));
    let mut told = || {
        run.calls += 1;
        let call = json!({ "id": run.calls.to_string(), "tool": "look", "args": {"q": 1} });
        let event = json!({ "event": "call.requested", "session": "s", "host": "claude", "call": call });
        run.played.send(&event).reason.unwrap_or_default()
    };
    assert!(told().ends_with("repeating it 2 more times ends the run."));
    assert!(told().ends_with("repeating it again ends the run."));
    assert!(told().ends_with("the run is halted."));
}

#[test]
fn the_fewest_repairs_count_whoever_has_the_schema() {
    let project = "schema: {repair_attempts: 5}\ntools: {declare: {d: {schema: {type: object, required: [a]}}}}";
    let asked = |user: &str| {
        let mut run = Run::new(&[(Origin::User, user), (Origin::Project, project)]);
        [run.ask("d", &json!({})), run.ask("d", &json!({"b": 1}))]
    };
    let (invalid, exhausted) = ("schema/invalid", "schema/exhausted");
    assert_eq!(asked("schema: {repair_attempts: 1}"), [invalid, exhausted]);
    assert_eq!(asked("schema: {repair_attempts: 0}")[0], exhausted);
    assert_eq!(asked("schema: {repair_attempts: 9}"), [invalid, invalid]);
    // What only observes halts nobody else.
    assert_eq!(asked("mode: observe\nschema: {repair_attempts: 0}"), [invalid, invalid]);
}

#[test]
fn a_pattern_declares_all_tools_that_match_it_and_have_no_longer_one() {
    let declared = "tools: {unknown: deny, declare: {'mcp__files__*': {kind: write, path: uri}, \
                    'mcp__files__get_*': {kind: read, path: uri}, mcp__files__noop: {kind: other}}}
policies: [{paths: {protect: [secret]}}]";
    let mut run = Run::new(&[(Origin::Project, declared)]);
    let secret = json!({"uri": "secret"});
    assert_eq!(run.ask("mcp__files__put", &secret), "paths/protected");
    assert_eq!(run.ask("mcp__files__get_one", &secret), "allow");
    assert_eq!(run.ask("mcp__files__noop", &secret), "allow");
    assert_eq!(run.ask("mcp__other__put", &secret), "tools/unknown");
    // It is the word of its own definition, as any other.
    let mut run = Run::new(&[(Origin::User, "tools: {unknown: deny}"), (Origin::Project, declared)]);
    assert_eq!(run.ask("mcp__files__get_one", &secret), "tools/unknown");
}
