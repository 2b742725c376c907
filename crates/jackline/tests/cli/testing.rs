//! `test`: an owner's cases, what is printed of them, and what `check` says of rules that none of them tries.

use std::fs;

use crate::World;

const DEFINITION: &str = r#"jackline: 1
steps:
  test: { tool: "@shell", command: "cargo test*" }
policies:
  - name: no-force-push
    rule: { tool: "@shell", command: { program: git, args: [push], flags: ["--force"] }, reason: "rewrites history" }
  - name: late
    rule: { tool: deploy, session: { minutes: { gt: 60 } }, verdict: ask, reason: "it is late" }
  - name: order
    sequence: { requires: { deploy: [test] } }
  - name: envs
    rego: { file: policies/env.rego, tool: deploy }
tools: { declare: { deploy: {} } }
"#;

const REGO: &str = "package jackline\n\ndeny contains {\"code\": \"env\", \"reason\": \"no such environment\"} if not input.event.call.args.env in {\"staging\", \"live\"}\n";

const CASES: &str = r#"cases:
  - note: a force-push is refused, a push is not
    steps:
      - { bash: "git push --force", want: rule/no-force-push, says: history }
      - { bash: "git push", want: allow }
  - note: deploying needs tests that passed, and an environment
    workspace: { src/main.rs: "fn main() {}" }
    steps:
      - { tool: deploy, args: { env: live }, want: sequence/missing }
      - { bash: "cargo test", ok: false }
      - { tool: deploy, args: { env: live }, want: deny }
      - { bash: "cargo test --all" }
      - { tool: deploy, args: { env: live }, want: allow }
      - { tool: deploy, args: { env: moon }, want: rego/env }
      - { read: src/main.rs, want: allow }
"#;

fn world() -> World {
    let world = World::defined(DEFINITION);
    world.write("ws/policies/env.rego", REGO);
    world.write("ws/.jackline/tests/deploy.yaml", CASES);
    world
}

#[test]
fn cases_that_are_decided_as_wanted_pass_and_nothing_is_kept() {
    let world = world();
    world.check(&["test"], 0, "2 cases, all as wanted\n", "");
    world.check(&["test", ".jackline/tests/deploy.yaml"], 0, "2 cases, all as wanted\n", "");
    assert!(!world.path("home/.local").exists(), "something was kept");
    assert!(!world.path("ws/src").exists(), "the real workspace was written to");
}

#[test]
fn a_case_that_is_not_shows_what_was_wanted_and_what_was_decided() {
    let world = world();
    let failing = "cases:\n  - note: everything goes\n    steps:\n      - { bash: ls, want: allow }\n      - { bash: \"git push --force\", want: allow }\n  - note: nothing goes\n    steps: [ { bash: ls, want: deny } ]\n";
    world.write("ws/more.yaml", failing);
    world.check(
        &["test", "more.yaml"],
        1,
        "more.yaml: everything goes: step 2 (bash `git push --force`)\n  - want allow\n  + got  deny rule/no-force-push: rewrites history\n\nmore.yaml: nothing goes: step 1 (bash `ls`)\n  - want deny\n  + got  allow\n\n2 cases, 2 not as wanted\n",
        "",
    );
}

#[test]
fn what_cannot_be_run_is_told() {
    let world = world();
    world.write("ws/broken.yaml", "cases:\n  - note: n\n    steps: [ { bahs: ls } ]\n");
    let shown = "error: `broken.yaml` holds no cases that can be run\n\nerror: a step is one of `bash`, `read`, `write` and `tool`\n  --> broken.yaml:3:14\n   |\n 3 |     steps: [ { bahs: ls } ]\n   |              ^^^^^^^^^^^^\n\nerror: unknown key `bahs`\n  --> broken.yaml:3:16\n   |\n 3 |     steps: [ { bahs: ls } ]\n   |                ^^^^\n   = help: known are `bash`, `read`, `write`, `tool`, `host`, `agent`, `after`, `ok`, `want`, `says`, `args`\n\n2 errors\n";
    world.check(&["test", "broken.yaml"], 2, "", shown);
    fs::remove_dir_all(world.path("ws/.jackline")).expect("removed");
    world.check(
        &["test"],
        2,
        "",
        "error: there are no cases in `.jackline/tests` beside `jackline.yaml`\n  help: write some, or name a file: `jackline test FILE`\n",
    );
}

#[test]
fn check_names_rules_that_no_case_tries_once_there_are_cases() {
    let world = world();
    let warned = "warning: no case makes these rules fire: `late`\n  = help: add cases for them in `.jackline/tests`\n\n1 warning\njackline.yaml: fine\n";
    world.check(&["check"], 0, warned, "");
    let late = "cases:\n  - note: late deployments are asked about\n    steps:\n      - { bash: \"cargo test\" }\n      - { tool: deploy, args: { env: live }, after: 61m, want: ask }\n";
    world.write("ws/.jackline/tests/late.yaml", late);
    world.check(&["check"], 0, "jackline.yaml: fine\n", "");
    world.check(&["test"], 0, "3 cases, all as wanted\n", "");
    fs::remove_dir_all(world.path("ws/.jackline")).expect("removed");
    world.check(&["check"], 0, "jackline.yaml: fine\n", "");
}

#[test]
fn check_shows_where_a_rego_policy_is_broken() {
    let world = world();
    world.write("ws/policies/env.rego", "package jackline\n\ndeny contains x if {\n  http.send({})\n}\n");
    world.check(
        &["check"],
        1,
        "error: policy \"envs\": `policies/env.rego:4:3` cannot be used: there is no `http.send` here\n   --> jackline.yaml:12:19\n    |\n 12 |     rego: { file: policies/env.rego, tool: deploy }\n    |                   ^^^^^^^^^^^^^^^^^\n    = help: a policy sees the event and nothing else, so that a decision can be taken again\n\n1 error\n",
        "",
    );
}

#[test]
fn check_names_a_rule_that_never_fires() {
    let world = World::defined(
        "jackline: 1\npolicies:\n  - name: both\n    rule: { tool: Read, command: \"ls*\", reason: r }\n",
    );
    world.check(
        &["check"],
        0,
        "warning: policy \"both\": it can never fire: it looks into shell texts, and none of its tools has one\n  --> jackline.yaml:4:11\n   |\n 4 |     rule: { tool: Read, command: \"ls*\", reason: r }\n   |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n   = help: change its conditions, or take the policy out\n\n1 warning\njackline.yaml: fine\n",
        "",
    );
}

#[test]
fn a_broken_rego_policy_that_is_tolerated_stops_nothing_else() {
    let definition = "jackline: 1
policies:
  - { name: env, on_fault: allow, rego: { file: policies/env.rego } }
  - { name: no-push, rule: { command: \"git push*\" } }
";
    let world = World::defined(definition);
    world.write("ws/policies/env.rego", "package jackline\n\ndeny contains x if {\n");
    let ask = |command: &str| {
        let event = format!(
            r#"{{"event":"call.requested","session":"s1","call":{{"tool":"Bash","args":{{"command":"{command}"}}}}}}"#
        );
        let (code, stdout, stderr) = world.run(&["eval", "--definition", "jackline.yaml"], &event);
        assert_eq!(code, Some(0), "{stderr}");
        assert!(stderr.contains("policy \"env\": ") && stderr.contains("; calls pass it by"), "{stderr}");
        serde_json::from_str::<serde_json::Value>(&stdout).unwrap()
    };
    assert_eq!(ask("ls")["verdict"], "allow");
    assert_eq!(ask("git push")["code"], "rule/no-push");
}
