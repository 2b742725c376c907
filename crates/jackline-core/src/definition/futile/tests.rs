//! Which rules are told to be futile, and which are not although they look it.

use super::super::parse;

const KNOWN: &[&str] = &["Bash", "Read", "Write", "a", "b"];

/// The warnings of a definition.
fn warnings(source: &str) -> Vec<String> {
    let source = format!("jackline: 1\n{source}");
    let parsed = parse(&source, KNOWN).unwrap_or_else(|faults| panic!("{source}: {faults:#?}"));
    assert!(parsed.warnings.iter().all(|warning| warning.span.is_some()), "{:?}", parsed.warnings);
    parsed.warnings.into_iter().map(|warning| warning.message).collect()
}

#[track_caller]
fn check(rule: &str, want: Option<&str>) {
    let found = warnings(&format!("policies: [{{name: r, rule: {{{rule}}}}}]"));
    let want: Vec<String> = want.map(|why| format!("policy \"r\": it can never fire: {why}")).into_iter().collect();
    assert_eq!(found, want, "{rule}");
}

#[test]
fn tools_that_no_call_has_are_told() {
    let none = Some("no tool fits all its conditions");
    check("all: [{tool: a}, {tool: b}]", none);
    check("tool: a, all: [{tool: 'b*'}]", none);
    check("tool: [a, b], any: [{tool: Read}, {tool: Write}]", none);
    check("all: [{tool: '@read'}, {tool: '@write'}]", none);
    check("tool: Read, all: [{tool: '@shell'}]", none);
    check("tool: [a, b], all: [{tool: b}]", None);
    check("tool: 'a*', all: [{tool: '*b'}]", None);
    check("tool: a, all: [{tool: '@shell'}]", None);
    check("tool: Read, command: ls", Some("it looks into shell texts, and none of its tools has one"));
    check("tool: [Read, Bash], command: ls", None);
    check("tool: a, not: {tool: 'a*'}", Some("its `not` excludes every tool it is about"));
    check("tool: [a, b], not: {tool: a}", None);
    check("tool: a, not: {tool: a, args: {x: 1}}", None);
}

#[test]
fn a_not_of_everything_is_told() {
    check("tool: a, not: {tool: '*'}", Some("its `not` excludes every tool it is about"));
    check("command: ls, not: {any: [{tool: '*'}, {tool: a}]}", Some("its `not` excludes every call"));
    check("tool: a, not: {not: {all: [{tool: a}, {tool: b}]}}", Some("its `not` excludes every call"));
    check("tool: a, not: {tool: '*', args: {x: 1}}", None);
}

#[test]
fn arguments_that_no_value_fits_are_told() {
    let apart = Some("its conditions on argument `n` contradict one another");
    check("args: {n: 1}, all: [{args: {n: 2}}]", apart);
    check("args: {n: {absent: true}}, all: [{args: {n: 2}}]", apart);
    check("args: {n: {in: [1, 2]}}, all: [{args: {n: {in: [3]}}}]", apart);
    check("args: {n: 7}, all: [{args: {n: {gt: 9}}}]", apart);
    check("args: {n: x}, all: [{args: {n: {glob: 'y*'}}}]", apart);
    check("args: {n: x}, all: [{args: {n: {regex: '^y'}}}]", apart);
    check("args: {n: 1}, all: [{args: {n: 1.0}}]", None);
    check("args: {n: {in: [1, 2]}}, all: [{args: {n: 2}}]", None);
    check("args: {n: 1}, all: [{args: {m: 2}}]", None);
    // A text is neither, and counts as a match.
    check("args: {n: {gt: 9}}, all: [{args: {n: {lt: 3}}}]", None);
    check("args: {n: x}, all: [{args: {n: {gt: 3}}}]", None);
}

#[test]
fn sessions_agents_and_hosts_that_never_are_are_told() {
    check("tool: a, session: {done: b, not_done: b}", Some("`b` cannot be both done and not done"));
    check("tool: a, session: {calls: {gt: 3, lt: 4}}", Some("no session ever has such a number of `calls`"));
    check("tool: a, session: {written: {lt: 0}}", Some("no session ever has such a number of `written`"));
    check("tool: a, session: {calls: {gt: 3, lt: 5}}", None);
    check("tool: a, session: {minutes: {gt: 3, lt: 4}}", None);
    check("agent: main, all: [{agent: sub}]", Some("no agent is both `main` and `sub`"));
    check("agent: helper, all: [{agent: sub}]", None);
    check("host: claude, all: [{host: codex}]", Some("no host is both `claude` and `codex`"));
}

#[test]
fn steps_sections_and_when_are_looked_at() {
    let two = "{all: [{tool: a}, {tool: b}]}";
    assert_eq!(
        warnings(&format!("steps: {{s: {two}}}\npolicies: [{{name: r, rule: {{tool: s}}}}]")),
        [
            "step \"s\": no call can ever be one: no tool fits all its conditions",
            "policy \"r\": it can never fire: no tool fits all its conditions",
        ]
    );
    assert_eq!(
        warnings("steps: {s: {tool: Read, command: ls}}"),
        ["step \"s\": no call can ever be one: it looks into shell texts, and none of its tools has one"]
    );
    assert_eq!(
        warnings("policies: [{name: p, when: {tool: a, not: {tool: a}}, paths: {}}]"),
        ["policy \"p\": it can never fire: its `not` excludes every tool it is about"]
    );
    assert_eq!(
        warnings("sections: [{name: s, tools: [a], policies: [{name: r, rule: {tool: b}}]}]"),
        ["policy \"r\": it can never fire: no tool fits all its conditions"]
    );
    assert_eq!(warnings("policies: [{name: r, enforce: off, rule: {all: [{tool: a}, {tool: b}]}}]"), [""; 0]);
}

#[test]
fn what_an_earlier_halt_covers_is_told() {
    let halt = "{name: h, rule: {tool: [a, b], verdict: halt}}";
    let shadowed = ["policy \"r\": it never has a say: policy \"h\" before it halts every such call"];
    assert_eq!(warnings(&format!("policies: [{halt}, {{name: r, rule: {{tool: a, args: {{x: 1}}}}}}]")), shadowed);
    for other in [
        format!("{{name: r, rule: {{tool: a}}}}, {halt}"),
        format!("{halt}, {{name: r, rule: {{tool: Read}}}}"),
        "{name: h, rule: {tool: a, verdict: ask}}, {name: r, rule: {tool: a}}".to_owned(),
        "{name: h, enforce: warn, rule: {tool: a, verdict: halt}}, {name: r, rule: {tool: a}}".to_owned(),
        "{name: h, when: {args: {x: 1}}, rule: {tool: a, verdict: halt}}, {name: r, rule: {tool: a}}".to_owned(),
    ] {
        assert_eq!(warnings(&format!("policies: [{other}]")), [""; 0], "{other}");
    }
}

#[test]
fn every_kind_has_a_tool_of_some_host() {
    use super::super::model::Kind;
    for kind in Kind::ALL {
        assert!(crate::tools::TOOLS.iter().any(|tool| tool.kind == *kind), "{}", kind.name());
    }
}
