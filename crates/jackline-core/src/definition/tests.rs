//! Whole definitions through the front door: what they mean, and every fault they can have.

use proptest::prelude::*;

use super::model::*;
use super::*;
use crate::time::Timestamp;

/// What the format's description shows, without what this version refuses.
const EXAMPLE: &str = r#"jackline: 1
agent: { ns: acme, key: release-bot }
mode: enforce
tools:
  unknown: allow
  declare:
    deploy:    {}
    build:     {}
    lint:      {}
    read_doc:  { kind: read, path: uri }
steps:
  test:   { tool: "@shell", command: "cargo test*" }
  commit: { tool: "@shell", command: "git commit*" }
policies:
  - name: ship-order
    sequence: { requires: { deploy: [test, build], build: [lint] }, fresh: false }
  - sequence: { requires: { commit: [test] }, fresh: true }
  - read_before_write: { own_writes: true, stale: deny }
  - paths: { outside: deny, allow: ["/tmp/**"], protect: [".env*", "infra/prod/**"] }
  - name: no-force-push
    rule:
      tool: "@shell"
      command: { program: git, args: [push], flags: ["--force", "-f"] }
      verdict: deny
      reason: "force-push rewrites shared history"
      suggest: ["push to a new branch and open a pull request"]
  - rego: { file: policies/deploy.rego, tool: [deploy] }
sections:
  - { name: files, tools: [read_file, write_file], policies: [ { read_before_write: {} } ] }
loop:   { window: 3, threshold: 3, override_retries: 1, ttl_steps: 3, progress_aware: false, cycles: false }
reads:  { lines_max: 500, bytes_max: 262144 }
outputs: { lines_max: 200 }
limits: { steps: 200, deadline: 30m, tokens: 1000000, cost_usd: 5.0, per: session }
shell:  { opaque: ask }
feedback:
  - { deadline: { warning_threshold_seconds: 120 }, every_n_seconds: 30 }
  - { static: "AGENTS.md detected.", on_file_created: AGENTS.md, severity: caution, suggestions: [a] }
  - { command: ["scripts/hint.sh"], every_n_calls: 10, name: Hint }
completion:
  all:
    - files: [report.md, results.json]
    - any: [ { done: test }, { all: [ { files: [a] } ] } ]
    - todos: verified
    - file_policies: satisfied
    - command: { run: ["cargo", "test"], timeout: 10m }
  blocks_max: 6
  subagents: false
  when: always
audit: { redact: [ "password", "authorization" ], checkpoint: true }
store: { sync: full }
todos:
  agent_commands: deny
  native: record
  require:
    - content: "tests pass"
      checks:
        - command_exit_zero: ["cargo", "test"]
        - file_exists: a
        - file_absent: b
        - file_contains: { path: a, text: b }
        - git_commit_exists: { sha: abcd }
        - git_clean: {}
        - git_branch_pushed: { branch: main, remote: origin }
        - pr_exists: { repo: a/b, number: 1 }
        - pr_merged: { repo: a/b, number: 1 }
        - http_status: { url: "https://a", status: 200 }
        - call_succeeded: { tool: deploy }
file_policies: { dir: .jackline/policies, enabled: true, output: batched }
checks: { github_api: "https://api.github.com", confine: auto }
"#;

const KNOWN: &[&str] = &["read_file", "write_file", "Bash", "Edit"];

#[track_caller]
fn good(source: &str) -> Model {
    match parse(&format!("jackline: 1\n{source}"), KNOWN) {
        Ok(parsed) if parsed.warnings.is_empty() => parsed.model,
        Ok(parsed) => panic!("{source}: {:#?}", parsed.warnings),
        Err(faults) => panic!("{source}: {faults:#?}"),
    }
}

/// The faults of a definition, each as `line:column message`.
fn told(source: &str) -> Vec<String> {
    let faults = match parse(&format!("jackline: 1\n{source}"), KNOWN) {
        Ok(parsed) => parsed.warnings,
        Err(faults) => faults,
    };
    let line = |fault: &Fault| {
        let span = fault.span.unwrap();
        let level = if fault.warning { "warning: " } else { "" };
        format!("{}:{} {level}{}", span.line, span.column, fault.message)
    };
    faults.iter().map(line).collect()
}

#[track_caller]
fn check(source: &str, want: &str) {
    assert_eq!(told(source), [want], "{source}");
}

#[test]
fn the_example_reads_as_it_is_written() {
    let parsed = parse(EXAMPLE, KNOWN).unwrap_or_else(|faults| panic!("{}", render(&faults, EXAMPLE, "f")));
    assert_eq!(parsed.warnings, []);
    let model = parsed.model;
    assert_eq!(model.agent, Identity { ns: Some("acme".into()), key: Some("release-bot".into()) });
    assert_eq!(
        model.tools.declare["read_doc"],
        Declaration { kind: Some(Kind::Read), path: vec!["uri".into()], line: 10, ..Declaration::default() }
    );
    assert_eq!(model.steps[0].matcher, Matcher::tool("@shell").command("cargo test*"));
    assert_eq!(model.steps[0].line, 12);
    let names: Vec<&str> = model.policies.iter().map(|policy| policy.name.as_str()).collect();
    assert_eq!(names, ["ship-order", "sequence-1", "read_before_write-1", "paths-1", "no-force-push", "rego-1"]);
    assert_eq!(model.sections[0].policies[0].name, "read_before_write-2");
    let Guard::Sequence(sequence) = &model.policies[0].guard else { panic!() };
    let want = [("deploy".into(), vec!["test".into(), "build".into()]), ("build".into(), vec!["lint".into()])];
    assert_eq!(sequence.requires, want);
    let Guard::Rule(rule) = &model.policies[4].guard else { panic!() };
    let Some(CommandMatcher::Parts(parts)) = &rule.matcher.command else { panic!() };
    assert_eq!((parts.program.as_slice(), parts.flags.len()), (["git".to_owned()].as_slice(), 2));
    assert_eq!(model.limits.deadline, Some(Deadline::After(1_800_000)));
    assert_eq!(model.limits.steps, Some(Steps { max: 200, soft: false }));
    assert_eq!(model.repeat, Some(Loop::default()));
    assert_eq!(model.reads, Some(Bounds::default()));
    assert_eq!(model.outputs, Some(Bounds { lines_max: 200, ..Bounds::default() }));
}

#[test]
fn defaults_are_those_of_the_format() {
    assert_eq!(good(""), Model::default());
    assert_eq!(good("loop: true").repeat, Some(Loop::default()));
    assert_eq!(good("loop: false").repeat, None);
    assert_eq!(good("loop: {window: 5, exempt: [Bash]}").repeat.unwrap().window, 5);
    assert_eq!(good("limits: {steps: {max: 9, soft: true}}").limits.steps, Some(Steps { max: 9, soft: true }));
    let at = Timestamp::parse("2020-01-01T00:00:00Z").unwrap();
    assert_eq!(good("limits: {deadline: 2020-01-01T00:00:00Z}").limits.deadline, Some(Deadline::At(at)));
    let policy = good("policies: [{paths: {}}]").policies.remove(0);
    assert_eq!(policy.guard, Guard::Paths(Paths::default()));
    assert_eq!((policy.enforce, policy.on_fault, policy.line), (Enforce::Deny, OnFault::Deny, 2));
    let rule = good("policies: [{rule: {name: r, tool: Bash}}]").policies.remove(0);
    assert_eq!(rule.name, "r");
    assert_eq!(rule.guard, Guard::Rule(Rule { matcher: Matcher::tool("Bash"), ..Rule::default() }.into()));
}

/// The defaults the table shows are the defaults the model has.
#[test]
fn the_table_tells_the_true_defaults() {
    let spelled = "mode: enforce
tools: {declare: {}}
loop: {window: 3, threshold: 3, override_retries: 1, ttl_steps: 3, progress_aware: false, cycles: false, exempt: []}
limits: {per: session}
shell: {opaque: ask}
audit: {redact: [], checkpoint: true}
store: {sync: full}
self: {allow: []}
";
    assert_eq!(good(spelled), Model::default());
    let schema = json_schema();
    for (place, want) in [
        ("loop/properties/window", "3"),
        ("loop/properties/ttl_steps", "3"),
        ("shell/properties/opaque", "\"ask\""),
        ("audit/properties/checkpoint", "true"),
        ("store/properties/sync", "\"full\""),
        ("read_before_write/properties/own_writes", "true"),
        ("paths/properties/outside", "\"deny\""),
        ("rule/properties/reason", "\"Denied by policy.\""),
    ] {
        let found = schema.pointer(&format!("/$defs/{place}/default")).unwrap();
        assert_eq!(found.to_string(), want, "{place}");
    }
}

#[test]
fn arguments_are_matched_by_literal_or_comparison() {
    let source = "steps:
  s:
    args:
      a: text
      b: 5.0
      c: [1, null, true]
      d: {glob: 'x*'}
      e: {regex: '^a'}
      f: {gt: 1, lt: 2.5}
      g: {in: [a, 1]}
      h: {absent: true}
      i.j: false
";
    let model = good(source);
    let args: Vec<(&str, &ArgMatcher)> =
        model.steps[0].matcher.args.iter().map(|(name, matcher)| (name.as_str(), matcher)).collect();
    let want = [
        ("a", ArgMatcher::Literal("\"text\"".into())),
        ("b", ArgMatcher::Literal("5".into())),
        ("c", ArgMatcher::Literal("[1,null,true]".into())),
        ("d", ArgMatcher::Glob("x*".into())),
        ("e", ArgMatcher::Regex("^a".into())),
        ("f", ArgMatcher::Compare { gt: Some(1.0), lt: Some(2.5) }),
        ("g", ArgMatcher::In(vec!["\"a\"".into(), "1".into()])),
        ("h", ArgMatcher::Absent),
        ("i.j", ArgMatcher::Literal("false".into())),
    ];
    assert_eq!(args, want.iter().map(|(name, matcher)| (*name, matcher)).collect::<Vec<_>>());
}

#[test]
fn broken_arguments_are_named() {
    check("steps: {s: {args: {a: {glob: x, regex: y}}}}", "2:20 argument `a` has more than one condition");
    check("steps: {s: {args: {a: }}}", "2:20 argument `a` has no condition");
    check("steps: {s: {args: {a: {}}}}", "2:20 argument `a` has no condition");
    check("steps: {s: {args: {a: {in: []}}}}", "2:28 `in` is empty");
    check("steps: {s: {args: {a: {glob: '[x'}}}}", "2:30 step \"s\": pattern `[x` has an unclosed bracket");
    check("steps: {s: {session: {calls: {}}}}", "2:30 step \"s\": a comparison needs `gt` or `lt`");
    check("steps: {s: {session: {}}}", "2:22 step \"s\": `session` names nothing");
    check(
        "steps: {s: {session: {calls: {gt: 5, lt: 5}}}}",
        "2:30 step \"s\": nothing is greater than 5 and smaller than 5",
    );
    let regex = told("steps: {s: {args: {a: {regex: '('}}}}");
    assert!(regex[0].starts_with("2:31 step \"s\": regular expression `(` does not compile: "), "{regex:?}");
    let huge = told("steps: {s: {args: {a: {regex: '(a{900}){900}'}}}}");
    assert!(huge[0].contains("does not compile"), "{huge:?}");
}

#[test]
fn patterns_are_checked_where_they_stand() {
    check(
        "policies:\n- paths: {protect: [a, 'src/{x']}",
        "3:24 policy \"paths-1\": pattern `src/{x` has an unclosed brace",
    );
    check(
        "policies: [{paths: {allow: ['/a/../b']}}]",
        "2:29 policy \"paths-1\": pattern `/a/../b` has a segment `..`, which no path has",
    );
    check(
        "policies: [{paths: {allow: ['a/b']}}]",
        "2:29 warning: policy \"paths-1\": `a/b` never matches outside the workspace",
    );
    check("self: {allow: ['[']}", "2:16 pattern `[` has an unclosed bracket");
    check("policies: [{rule: {path: '{a'}}]", "2:26 policy \"rule-1\": pattern `{a` has an unclosed brace");
    check("policies: [{rule: {tool: 'mcp__[a'}}]", "2:26 policy \"rule-1\": pattern `mcp__[a` has an unclosed bracket");
    check(
        "policies: [{rule: {command: {redirects_to: ['a/']}}}]",
        "2:45 policy \"rule-1\": pattern `a/` ends with `/`, where `/**` would match what is below",
    );
    good("policies: [{rule: {path: outside}}]");
}

#[test]
fn a_matcher_that_matches_everything_says_so() {
    let want = "it matches every call";
    check("policies: [{rule: {reason: x}}]", &format!("2:19 policy \"rule-1\": {want}"));
    check("steps: {s: {}}", &format!("2:12 step \"s\": {want}"));
    check("policies: [{when: {}, paths: {}}]", &format!("2:19 policy \"paths-1\": {want}"));
    check("steps: {s: {tool: Bash, not: {}}}", &format!("2:30 step \"s\": {want}"));
    // The mistake is the key, not the emptiness it leaves.
    check("policies: [{rule: {tol: Bash}}]", "2:20 unknown key `tol`");
    check("policies: [{rule: {tool: []}}]", "2:26 `tool` is empty");
    check("policies: [{rule: {command: {}}}]", "2:29 policy \"rule-1\": `command` names nothing");
    good("policies: [{rule: {tool: '*'}}]");
}

#[test]
fn names_mean_one_thing() {
    check("policies: [{name: a, paths: {}}, {name: a, paths: {}}]", "2:41 policy \"a\": the name is used twice");
    check(
        "policies: [{name: a, paths: {}}]\nsections: [{name: s, tools: [Bash], policies: [{name: a, paths: {}}]}]",
        "3:55 policy \"a\": the name is used twice",
    );
    check("policies: [{name: a, rule: {name: b, tool: Bash}}]", "2:29 `name` is given twice");
    check("tools: {declare: {x: {}}}\nsteps: {x: {tool: Bash}}", "3:9 step \"x\": it has the name of a declared tool");
    good("tools: {declare: {\"x*\": {}}}\nsteps: {xy: {tool: Bash}}");
    check("tools: {declare: {\"x*[\": {}}}", "2:19 pattern `x*[` has an unclosed bracket");
    check(
        "steps: {Bash: {tool: '@shell', command: 'ls*'}}",
        "2:9 warning: step \"Bash\": it has the name of a tool, so what names `Bash` means the step alone",
    );
    check("steps: {'@x': {tool: Bash}}", "2:9 step \"@x\": a step's name may not begin with `@`");
    check("steps: {'x*': {tool: Bash}}", "2:9 step \"x*\": a step's name may not contain `*`");
    check("steps: {a: {tool: Bash}, a: {tool: Edit}}", "2:26 duplicate key `a`");
    check(
        "sections:\n- {name: s, tools: [Bash], policies: [{paths: {}}]}\n- {name: s, tools: [Bash], policies: [{paths: {}}]}",
        "4:10 section name `s` is used twice",
    );
    let long = "x".repeat(200);
    assert!(told(&format!("policies: [{{name: {long}, paths: {{}}}}]"))[0].contains("longer than 128 characters"));
}

#[test]
fn conditions_that_no_command_meets_are_refused() {
    let rule = |command: &str| format!("policies: [{{name: r, rule: {{command: {{{command}}}}}}}]");
    let of = |command: &str, want: &str| check(&rule(command), want);
    of("program: git, flags: [force]", "2:61 policy \"r\": flag `force` has no dash, so no command has it");
    of("program: git push", "2:48 policy \"r\": program `git push` has a blank, so no command is it");
    of("program: /usr/bin/git", "2:48 policy \"r\": program `/usr/bin/git` is a path, so no command is it");
    of("program: git, env: ['A B']", "2:59 policy \"r\": no variable is called `A B`");
    of(
        "program: git, subcommand: '--hard'",
        "2:65 policy \"r\": subcommand `--hard` is an option, so no command has it",
    );
    of("program: '{git,hg'", "2:48 policy \"r\": pattern `{git,hg` has an unclosed brace");
    of("args: ['[push']", "2:45 policy \"r\": pattern `[push` has an unclosed bracket");
    check(
        "policies: [{name: r, rule: {command: 'git {push,fetch'}}]",
        "2:38 policy \"r\": pattern `{push,fetch` has an unclosed brace",
    );
    good(&rule("program: '[', args: ['-f', 'a{b,c}']"));
    of("program: psql, statement: 'drop*'", "2:65 policy \"r\": no statement begins with `drop*`");
    good(&rule("program: [git, 'python*'], flags: ['-f', '--force', '+x'], env: ['GIT_*']"));
    check(
        "policies: [{name: r, rule: {tool: Bash, host: cluade}}]",
        "2:47 warning: policy \"r\": no host that we know is called `cluade`",
    );
    check("policies: [{name: r, rule: {tool: Bash, args: {}}}]", "2:47 `args` names nothing");
}

#[test]
fn policies_that_say_the_same_are_told() {
    check(
        "policies: [{name: a, rule: {tool: Bash}}, {name: b, rule: {tool: Bash}}]",
        "2:43 warning: policy \"b\": it says what policy \"a\" says",
    );
    good("policies: [{name: a, rule: {tool: Bash}}, {name: b, enforce: ask, rule: {tool: Bash}}]");
    check(
        "policies: [{name: git/force-push, rule: {tool: Bash}}]\nuse: [git]",
        "2:19 warning: policy \"git/force-push\": it is called like a policy of the pack `git`",
    );
}

#[test]
fn a_fault_of_an_override_is_placed_at_its_key() {
    let source = "policies: [{name: r, rule: {tool: Bash, override: {force_action: {tool: Bash}, ttl: 25h}}}]";
    check(source, "2:85 policy \"r\": an override must be given a `ttl` of at most 24h");
}

#[test]
fn names_nobody_knows_are_warned_of() {
    check(
        "policies: [{rule: {tool: Bsh}}]",
        "2:26 warning: policy \"rule-1\": no host, step or declaration knows `Bsh`",
    );
    check("loop: {exempt: [poll]}", "2:17 warning: no host, step or declaration knows `poll`");
    check(
        "policies: [{sequence: {requires: {Edit: [tests]}}}]\nsteps: {test: {tool: Bash}}",
        "2:42 warning: policy \"sequence-1\": no host, step or declaration knows `tests`",
    );
    check("steps: {s: {session: {done: nope}}}", "2:29 warning: step \"s\": no host, step or declaration knows `nope`");
    check("policies: [{rule: {tool: '@shel'}}]", "2:26 policy \"rule-1\": there is no kind `@shel`");
    good("policies: [{rule: {tool: ['mcp__*', mcp__git__push, '@shell', Bash]}}]");
    let help = |source: &str| match parse(source, KNOWN) {
        Ok(parsed) => parsed.warnings[0].help.clone().unwrap(),
        Err(faults) => faults[0].help.clone().unwrap(),
    };
    assert_eq!(help("jackline: 1\npolicies: [{rule: {tool: Bsh}}]"), "did you mean `Bash`?");
    assert_eq!(help("jackline: 1\npolicies: [{rule: {tool: '@shel'}}]"), "did you mean `@shell`?");
    assert!(help("jackline: 1\npolicies: [{rule: {tool: '@qqqqq'}}]").starts_with("kinds are `@read`"));
}

#[test]
fn orders_that_cannot_be_met_are_named() {
    let circle = |requires: &str| format!("policies:\n- sequence:\n    requires: {requires}");
    check(&circle("{Bash: [Bash]}"), "4:16 policy \"sequence-1\": requirements run in a circle: `Bash` → `Bash`");
    check(
        &circle("{Edit: [Bash], Bash: [read_file, write_file], write_file: [Bash]}"),
        "4:30 policy \"sequence-1\": requirements run in a circle: `Bash` → `write_file` → `Bash`",
    );
    check(&circle("{Bash: []}"), "4:22 `Bash` is empty");
    check(&circle("{}"), "4:15 policy \"sequence-1\": it requires nothing");
    check(
        "policies:\n- sequence: {requires: {Bash: [Edit]}}\n- sequence: {requires: {Edit: [Bash]}}",
        "2:1 warning: policies wait for one another: `Bash` → `Edit` → `Bash`",
    );
    check("steps: {a: {any: [{tool: b}]}, b: {tool: a}}", "2:9 steps are made of one another: `a` → `b` → `a`");
    good("steps: {a: {tool: b}, b: {tool: Bash}}");
    good(&circle("{Bash: [Edit, read_file], Edit: [read_file]}"));
}

#[test]
fn settings_that_cannot_work_are_named() {
    check("loop: {window: 2}", "2:7 `loop.window` is 2 and smaller than the threshold 3");
    check("loop: {window: 0}", "2:16 `window` must be at least 1, found 0");
    check("loop: {threshold: 1}", "2:19 warning: `loop.threshold` is 1, so every call is a loop");
    check("limits: {cost_usd: -1}", "2:20 `cost_usd` must be greater than 0, found -1");
    check(
        "limits: {deadline: 0m}",
        "2:20 `deadline` must be a duration such as `30m` or a time such as `2026-01-01T00:00:00Z`, found `0m`",
    );
    check("sections: [{name: s, tools: [], policies: [{paths: {}}]}]", "2:29 `tools` is empty");
    check("sections: [{name: s, tools: [Bash], policies: []}]", "2:47 `policies` is empty");
    check("file_policies: {output: some}", "2:25 `output` must be `batched` or `individual`, found `some`");
}

#[test]
fn all_faults_come_at_once_and_in_order() {
    let source = "polices: []
steps: {'@a': {tool: Bash}}
policies:
  - {paths: {protect: ['{']}, rego: {file: x}}
  - {rule: {tool: nobody}}
limits: {tokens: x}
";
    let told = told(source);
    assert_eq!(told.len(), 6, "{told:#?}");
    let lines: Vec<&str> = told.iter().filter_map(|fault| fault.split(':').next()).collect();
    assert!(lines.is_sorted(), "{told:#?}");
}

#[test]
fn an_empty_file_lacks_its_version() {
    for source in ["", "\n\n", "# nothing\n", "---\n"] {
        let faults = parse(source, &[]).unwrap_err();
        assert!(
            faults.iter().any(|fault| fault.help.as_deref() == Some("begin the file with `jackline: 1`")),
            "{source}"
        );
    }
    assert_eq!(parse("", &[]).unwrap_err()[0].message, "`jackline: 1` is missing");
    assert!(render(&parse("", &[]).unwrap_err(), "", "jackline.yaml").contains("--> jackline.yaml:1:1"));
}

#[test]
fn hostile_definitions_end_soon() {
    let many = |line: &dyn Fn(usize) -> String, count: usize| (0..count).map(line).collect::<String>();
    let sources = [
        many(&|n| format!("key{n}: 1\n"), 20_000),
        format!("steps:\n{}", many(&|n| format!("  s{n}: {{tool: t{n}}}\n"), 12_000)),
        format!("policies:\n- sequence:\n    requires:\n{}", many(&|n| format!("      a{n}: [a{}]\n", n + 1), 15_000)),
        format!("steps:\n{}", many(&|n| format!("  s{n}: {{tool: s{}}}\n", n + 1), 14_000)),
        format!("policies:\n{}", many(&|_| "- paths: {}\n".to_owned(), 15_000)),
        format!(
            "steps:\n  a:\n    args:\n{}",
            many(&|n| format!("      k{n}: {{regex: '(a{{900}}){{900}}'}}\n"), 10_000)
        ),
        format!(
            "steps: {{a: {{all: [{}]}}}}",
            many(&|n| format!("{{args: {{n: {{in: [{n}, a{n}, b{n}]}}}}}}, "), 5_000)
        ),
        format!("steps: {{a: {{all: [{}]}}}}", many(&|n| format!("{{agent: a{n}, tool: [x{n}, y{n}]}}, "), 4_000)),
        format!("policies: [{}]", many(&|_| "{rule: {tool: x, verdict: halt}}, ".to_owned(), 4_000)),
        format!("steps: {{a: {}{{tool: x}}{}}}", "{not: ".repeat(28), "}".repeat(28)),
    ];
    for source in sources {
        let _ = parse(&format!("jackline: 1\n{source}"), KNOWN);
    }
}

#[test]
fn finer_conditions_loosen() {
    #[track_caller]
    fn check(old: &str, new: &str, want: &[&str]) {
        assert_eq!(loosenings(&good(old), &good(new)), want, "{old} -> {new}");
    }
    let rule = |rest: &str| format!("policies: [{{name: r, rule: {{tool: Bash, {rest}}}}}]");
    let changed = &["policy \"r\" changed what it matches"];
    check("", "shell: {computed: pass}", &["shell.computed became pass"]);
    check("shell: {computed: pass}", "", &[]);
    check(&rule("path: a, access: [read, write]"), &rule("path: a, access: read"), changed);
    check(&rule("path: a, access: read"), &rule("path: a"), &[]);
    check(&rule("path: a"), &rule("path: a, access: read"), changed);
    check(&rule("path: a"), &rule("path: a, opaque: true"), changed);
    check(&rule("path: a, opaque: true"), &rule("path: a"), &[]);
    check(&rule("command: {program: a}"), &rule("command: {program: a, without: x}"), changed);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Cutting, doubling or replacing parts of a good file never panics, and what is accepted can be kept.
    #[test]
    fn no_damage_makes_it_panic(
        at in 0..EXAMPLE.len(), len in 0_usize..40, with in "[\\[\\]{}:,\\-\"'&*!#|> \na1]{0,6}",
    ) {
        let end = (at + len).min(EXAMPLE.len());
        let source = format!("{}{with}{}", &EXAMPLE[..at], &EXAMPLE[end..]);
        match parse(&source, KNOWN) {
            Ok(parsed) => {
                let bytes = postcard::to_stdvec(&parsed.model).unwrap();
                prop_assert_eq!(postcard::from_bytes::<Model>(&bytes).unwrap(), parsed.model);
            }
            Err(faults) => {
                prop_assert!(faults.iter().any(|fault| !fault.warning));
                let text = render(&faults, &source, "jackline.yaml");
                let last = text.lines().last().unwrap_or_default();
                prop_assert!(last.contains(" error"), "{}", last);
            }
        }
    }
}

#[test]
fn schemas_are_read_as_json_or_as_a_file() {
    let source = "tools: {declare: {x: {schema: {type: object, n: [1, 2.5, null, {a: true}]}, output_schema: a.json}}}";
    let model = good(&format!("{source}\nschema: {{repair_attempts: 0, missing: deny}}"));
    let tool = &model.tools.declare["x"];
    let inline = r#"{"n":[1,2.5,null,{"a":true}],"type":"object"}"#;
    assert_eq!(tool.schema, Some(SchemaSource::Inline(inline.to_owned())));
    assert_eq!(tool.output_schema, Some(SchemaSource::File("a.json".to_owned())));
    assert_eq!(model.validation, Validation { repair_attempts: 0, missing: Missing::Deny });
    assert_eq!(good("").validation, Validation { repair_attempts: 2, missing: Missing::Allow });
}

#[test]
fn a_schema_is_never_dropped_in_silence() {
    check("tools: {declare: {x: {schema: {maximum: .inf}}}}", "2:31 a schema holds a value that JSON does not have");
    check("tools: {declare: {x: {schema: 5}}}", "2:31 `schema` must be a text or a map, found 5");
    check("schema: {repair_attempts: 101}", "2:27 `repair_attempts` must be at most 100, found 101");
    check(
        "tools: {declare: {x: {}}}\nschema: {missing: deny}",
        "2:19 warning: tool `x` has no schema, so every call of it is refused",
    );
}

#[test]
fn completion_is_read_with_its_defaults_and_bounds() {
    let model = good("completion: { files: [a, b] }\n");
    let completion = model.completion.unwrap();
    let files = Check::Files(vec!["a".to_owned(), "b".to_owned()]);
    assert_eq!(completion, Completion { line: 2, ..Completion::new(files) });
    let model = good(
        "completion: { any: [ { done: Bash }, { command: { run: [x, y] } } ], blocks_max: 2, subagents: true, when: worked }\n",
    );
    assert_eq!(model.commands(), [["x".to_owned(), "y".to_owned()].as_slice()]);
    let completion = model.completion.unwrap();
    assert_eq!((completion.blocks_max, completion.subagents, completion.when), (2, true, When::Worked));
    assert_eq!(completion.check.done().collect::<Vec<_>>(), ["Bash"]);
    let many =
        |count: usize, one: &str| format!("jackline: 1\ncompletion: {{ all: [{}] }}\n", vec![one; count].join(", "));
    let refused = |text: &str| parse(text, KNOWN).is_err();
    assert!(!refused(&many(32, "{files: [a]}")) && refused(&many(33, "{files: [a]}")));
    let quick = "{command: {run: [x], timeout: 1s}}";
    assert!(!refused(&many(8, quick)) && refused(&many(9, quick)));
    let warned = parse("jackline: 1\ncompletion: {files: [a], blocks_max: 9}\n", KNOWN).unwrap().warnings;
    assert!(warned.first().is_some_and(|fault| fault.message.contains("after 8 blocks")), "{warned:?}");
}
