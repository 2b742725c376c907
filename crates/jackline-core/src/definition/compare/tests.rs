//! What loosens a definition, key by key, and that tightening never does.

use super::super::model::CommandMatcher;
use super::super::parse;
use super::*;
use proptest::prelude::*;

fn model(source: &str) -> Model {
    parse(&format!("jackline: 1\n{source}"), &[]).unwrap_or_else(|faults| panic!("{source}: {faults:#?}")).model
}

#[track_caller]
fn check(old: &str, new: &str, want: &[&str]) {
    assert_eq!(loosenings(&model(old), &model(new)), want, "{old} -> {new}");
}

#[test]
fn settings_that_loosen_are_named() {
    check("", "mode: observe", &["mode became observe"]);
    check("mode: observe", "", &[]);
    check("agent: {ns: a}", "agent: {ns: b}", &["agent changed its identity"]);
    check("tools: {unknown: deny}", "", &["tools.unknown loosened"]);
    check("", "tools: {unknown: allow}", &["tools.unknown loosened"]);
    check("tools: {unknown: allow}", "tools: {unknown: deny}", &[]);
    check("", "tools: {declare: {x: {}}}", &["tools.declare.x was added"]);
    check("tools: {declare: {x: {}}}", "", &["tools.declare.x was removed"]);
    check(
        "tools: {declare: {x: {kind: write, path: a}}}",
        "tools: {declare: {x: {kind: read, path: b}}}",
        &["tools.declare.x changed its kind", "tools.declare.x changed its path"],
    );
    check("", "loop: false", &["loop was switched off"]);
    check("loop: false", "", &[]);
    check("", "loop: {window: 4, threshold: 4}", &["loop.threshold rose from 3 to 4"]);
    check("loop: {window: 5}", "loop: {window: 4}", &["loop.window fell from 5 to 4"]);
    check("", "loop: {window: 5, threshold: 2, override_retries: 0, ttl_steps: 9}", &[]);
    check(
        "",
        "loop: {override_retries: 2, ttl_steps: 2, progress_aware: true, exempt: [a]}",
        &[
            "loop.override_retries rose from 1 to 2",
            "loop.ttl_steps fell from 3 to 2",
            "loop.progress_aware was switched on",
            "loop.exempt gained \"a\"",
        ],
    );
    check("shell: {opaque: deny}", "", &["shell.opaque loosened from deny to ask"]);
    check("", "shell: {opaque: deny}", &[]);
    check("", "self: {allow: [a]}", &["self.allow gained \"a\""]);
    check("audit: {redact: [a, b]}", "audit: {redact: [b, c]}", &["audit.redact lost \"a\""]);
    check("", "audit: {checkpoint: false}", &["audit.checkpoint was switched off"]);
    check("", "store: {sync: os}", &["store.sync became os"]);
}

#[test]
fn limits_may_only_fall() {
    check("limits: {steps: 100}", "limits: {steps: 200}", &["limits.steps rose from 100 to 200"]);
    check("limits: {steps: 100}", "limits: {steps: 50}", &[]);
    check("limits: {steps: 100}", "limits: {steps: {max: 100, soft: true}}", &["limits.steps became soft"]);
    check("limits: {steps: {max: 100, soft: true}}", "limits: {steps: 100}", &[]);
    check("limits: {steps: 100, tokens: 1}", "", &["limits.steps was removed", "limits.tokens was removed"]);
    check("", "limits: {steps: 1, tokens: 1, cost_usd: 1, deadline: 1m, per: prompt}", &[]);
    check("limits: {cost_usd: 1.5}", "limits: {cost_usd: 2}", &["limits.cost_usd rose from 1.5 to 2"]);
    check("limits: {deadline: 1m}", "limits: {deadline: 2m}", &["limits.deadline rose from 60000 ms to 120000 ms"]);
    check("limits: {deadline: 1m}", "limits: {deadline: 2026-01-01T00:00:00Z}", &["limits.deadline changed"]);
    check("limits: {deadline: 2026-01-02T00:00:00Z}", "limits: {deadline: 2026-01-01T00:00:00Z}", &[]);
    check("limits: {tokens: 1}", "limits: {tokens: 1, per: prompt}", &["limits.per became prompt"]);
    check("limits: {tokens: 1, per: prompt}", "limits: {tokens: 1}", &[]);
}

#[test]
fn policies_may_be_added_and_tightened() {
    let rule = |rule: &str| format!("policies: [{{name: r, rule: {{{rule}}}}}]");
    check("", &rule("tool: a"), &[]);
    check(&rule("tool: a"), "", &["policy \"r\" was removed"]);
    check(&rule("tool: a"), &rule("tool: b"), &["policy \"r\" changed what it matches"]);
    check(&rule("tool: a"), &rule("tool: [b, a]"), &[]);
    check(&rule("tool: a, command: x"), &rule("tool: a"), &[]);
    check(&rule("tool: a"), &rule("tool: a, command: x"), &["policy \"r\" changed what it matches"]);
    check(&rule("command: x"), &rule("command: [x, y]"), &[]);
    check(
        &rule("tool: a, not: {tool: b}"),
        &rule("tool: a, not: {tool: c}"),
        &["policy \"r\" changed what it matches"],
    );
    check(&rule("tool: a, args: {x: 1, y: 2}"), &rule("tool: a, args: {x: 1}"), &[]);
    check(&rule("tool: a, args: {x: 1}"), &rule("tool: a, args: {x: 2}"), &["policy \"r\" changed what it matches"]);
    check(&rule("tool: a, verdict: halt"), &rule("tool: a"), &["policy \"r\" lowered its verdict from halt to deny"]);
    check(&rule("tool: a, reason: x"), &rule("tool: a, reason: y, suggest: [z]"), &[]);
    check(&rule("tool: a"), "policies: [{name: r, paths: {}}]", &["policy \"r\" changed its guard"]);
    let common = |more: &str| format!("policies: [{{name: r, {more} paths: {{}}}}]");
    check(&common(""), &common("enforce: warn,"), &["policy \"r\" lowered enforce from deny to warn"]);
    check(&common("enforce: off,"), &common("enforce: ask,"), &[]);
    check(&common(""), &common("on_fault: allow,"), &["policy \"r\" allows on a fault"]);
    check(&common(""), &common("when: {tool: a},"), &["policy \"r\" gained a when"]);
    check(&common("when: {tool: a},"), &common("when: {tool: b},"), &["policy \"r\" changed its when"]);
    check(&common("when: {tool: a},"), &common(""), &[]);
}

#[test]
fn guards_may_be_tightened() {
    let paths = |paths: &str| format!("policies: [{{paths: {{{paths}}}}}]");
    check(&paths(""), &paths("allow: ['/tmp/**']"), &["policy \"paths-1\": paths.allow gained \"/tmp/**\""]);
    check(&paths("protect: [a]"), &paths("protect: [b]"), &["policy \"paths-1\": paths.protect lost \"a\""]);
    check(&paths(""), &paths("outside: allow"), &["policy \"paths-1\": paths.outside became allow"]);
    check(&paths("protect_reads: true"), &paths(""), &["policy \"paths-1\" no longer protects reads"]);
    check(&paths("outside: allow, allow: ['/a']"), &paths("protect: [x], protect_reads: true"), &[]);
    let order = |order: &str| format!("policies: [{{name: s, sequence: {{{order}}}}}]");
    check(
        &order("requires: {d: [t, b]}, fresh: true"),
        &order("requires: {d: [t]}"),
        &["policy \"s\" is no longer fresh", "policy \"s\" no longer requires \"b\" before \"d\""],
    );
    check(&order("requires: {d: [t]}"), &order("requires: {d: [b, t], e: [t]}, fresh: true"), &[]);
    let reads = |reads: &str| format!("policies: [{{read_before_write: {{{reads}}}}}]");
    check(
        &reads("own_writes: false"),
        &reads("stale: allow"),
        &[
            "policy \"read_before_write-1\" counts own writes as reads",
            "policy \"read_before_write-1\" allows stale writes",
        ],
    );
}

#[test]
fn steps_and_sections_are_held_fast() {
    check("steps: {t: {tool: a}}", "steps: {t: {tool: b}}", &["step \"t\" changed"]);
    check("steps: {t: {tool: a}}", "", &["step \"t\" was removed"]);
    check("", "steps: {t: {tool: a}}", &[]);
    let used = "policies: [{name: s, sequence: {requires: {d: [t]}}}]";
    check(used, &format!("{used}\nsteps: {{t: {{tool: a}}}}"), &["step \"t\" was added under a name in use"]);
    let pattern = "policies: [{name: s, rule: {tool: 't*'}}]";
    check(pattern, &format!("{pattern}\nsteps: {{tx: {{tool: a}}}}"), &["step \"tx\" was added under a name in use"]);
    let section =
        |tools: &str, policy: &str| format!("sections: [{{name: s, tools: [{tools}], policies: [{policy}]}}]");
    check(&section("a", "{paths: {}}"), "", &["section \"s\" was removed"]);
    check(&section("a", "{paths: {}}"), &section("a, b", "{paths: {}}"), &[]);
    check(&section("a, b", "{paths: {}}"), &section("b", "{paths: {}}"), &["section \"s\": tools lost \"a\""]);
    check(
        &section("a", "{name: p, paths: {}}"),
        &section("a", "{name: q, paths: {}}"),
        &["section \"s\": policy \"p\" was removed"],
    );
}

fn some_matcher() -> impl Strategy<Value = Matcher> {
    (prop::collection::vec("[a-c]", 1..3), prop::option::of("[a-c]\\*"), any::<bool>()).prop_map(
        |(tool, command, nested)| {
            let mut matcher = Matcher { tool, ..Matcher::default() };
            matcher.command = command.map(|glob| CommandMatcher::Glob(vec![glob]));
            if nested { Matcher::tool("x").any([matcher]) } else { matcher }
        },
    )
}

fn some_guard() -> impl Strategy<Value = Guard> {
    prop_oneof![
        some_matcher().prop_map(|matcher| Guard::Rule(Rule { matcher, ..Rule::default() }.into())),
        any::<bool>().prop_map(|own_writes| {
            Guard::ReadBeforeWrite(ReadBeforeWrite { own_writes, ..ReadBeforeWrite::default() })
        }),
        prop::collection::vec("[a-c]", 0..3).prop_map(|protect| Guard::Paths(Paths { protect, ..Paths::default() })),
        any::<bool>()
            .prop_map(|fresh| { Guard::Sequence(Sequence { requires: vec![("d".into(), vec!["t".into()])], fresh }) }),
    ]
}

fn some_model() -> impl Strategy<Value = Model> {
    let policies = prop::collection::vec((some_guard(), prop::option::of(some_matcher())), 1..5);
    (policies, any::<bool>(), 1_u64..9).prop_map(|(guards, named, tokens)| {
        let mut model = Model::default();
        for (index, (guard, when)) in guards.into_iter().enumerate() {
            let name = if named { format!("p{index}") } else { String::new() };
            let policy = Policy { when: when.map(Box::new), ..Policy::new(name, guard) };
            if index == 3 {
                let section = Section { name: "s".into(), tools: vec!["a".into()], policies: vec![policy] };
                model.sections.push(section);
            } else {
                model.policies.push(policy);
            }
        }
        model.limits.tokens = Some(tokens);
        model
    })
}

fn named(mut model: Model) -> Model {
    super::super::name_policies(&mut model);
    model
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn equal_models_never_loosen(model in some_model()) {
        let model = named(model);
        let mut moved = model.clone();
        moved.policies.iter_mut().for_each(|policy| policy.line += 7);
        prop_assert_eq!(loosenings(&model, &moved), Vec::<String>::new());
    }

    #[test]
    fn removing_a_policy_always_loosens(model in some_model(), which in any::<prop::sample::Index>()) {
        let mut less = model.clone();
        let count = model.policies.len() + model.sections.len();
        match which.index(count) {
            index if index < model.policies.len() => drop(less.policies.remove(index)),
            _ => less.sections.clear(),
        }
        prop_assert!(!loosenings(&named(model), &named(less)).is_empty());
    }

    #[test]
    fn adding_a_policy_never_loosens(model in some_model(), guard in some_guard()) {
        let mut more = named(model.clone());
        more.policies.insert(0, Policy::new("another", guard));
        prop_assert_eq!(loosenings(&named(model), &more), Vec::<String>::new());
    }

    /// If neither way loosens, nothing that decides can be different.
    #[test]
    fn both_ways_tight_is_equal(a in some_model(), b in some_model()) {
        let (a, b) = (named(a), named(b));
        if loosenings(&a, &b).is_empty() && loosenings(&b, &a).is_empty() {
            prop_assert_eq!(a.limits, b.limits);
            prop_assert_eq!(a.policies.len(), b.policies.len());
        }
    }
}

#[test]
fn what_a_project_declares_anew_is_told_where_it_would_loosen() {
    let anew = |wider: &str, narrower: &str| !attempts(&model(wider), &model(narrower)).is_empty();
    let declare = |what: &str| format!("tools: {{declare: {{{what}}}}}");
    assert!(anew("tools: {unknown: deny}", &declare("x: {}")));
    assert!(!anew("", &declare("x: {kind: shell}")));
    assert!(anew("", &declare("mcp__fs__write_file: {kind: other}")));
    assert!(anew("", &declare("Bash: {kind: other}")));
    assert!(!anew("", &declare("mcp__fs__write_file: {kind: write}, Bash: {schema: {type: object}}")));
    assert!(anew(&declare("x: {kind: write, path: a}"), &declare("x: {kind: write, path: b}")));
    assert!(!anew(&declare("x: {kind: write, path: a}"), &declare("x: {kind: write, path: a}")));
}
