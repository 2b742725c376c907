//! A validated tree to the model. Where the tree is faulty it reads defaults: the faults decide, not the result.

mod completion;

use std::collections::BTreeMap;

use super::bounds;
use super::fault::{Fault, Faults, quoted};
use super::feedback;
use super::model::{
    ArgMatcher, Audit, ChangedTools, Checks, CommandMatcher, CommandParts, Computed, Confine, Deadline, Declaration,
    Enforce, FilePolicies, FilesOutput, Guard, Identity, Kind, Limits, Loop, Matcher, Mcp, Missing, Mode, Model,
    OnFault, Opaque, Outside, OwnFiles, Paths, Per, Policy, Range, ReadBeforeWrite, Rego, Rule, RuleVerdict,
    SchemaSource, Section, Sequence, SessionMatcher, Shell, Stale, Step, Steps, StoreSettings, Sync, Tools,
    UnknownTools, Use, Validation,
};
use super::overriding;
use super::todos;
use super::yaml::{Entry, Node, Value};
use crate::path::Role;
use crate::time::{Timestamp, parse_duration_ms};

/// Reads a whole definition. Items keep their positions, so that a place in the model is one in the tree.
pub(super) fn model(root: &Node, faults: &mut Faults) -> Model {
    Model {
        agent: identity(root.get("agent")),
        mode: named(root.get("mode"), Mode::parse),
        tools: tools(root.get("tools"), faults),
        steps: entries(root.get("steps")).map(|entry| step(entry, faults)).collect(),
        policies: policies(root.get("policies"), faults),
        sections: items(root.get("sections")).map(|node| section(node, faults)).collect(),
        repeat: repeat(root.get("loop")),
        limits: limits(root.get("limits")),
        shell: Shell {
            opaque: named(field(root.get("shell"), "opaque"), Opaque::parse),
            computed: named(field(root.get("shell"), "computed"), Computed::parse),
        },
        own: OwnFiles { allow: texts(field(root.get("self"), "allow")) },
        audit: audit(root.get("audit")),
        store: StoreSettings { sync: named(field(root.get("store"), "sync"), Sync::parse) },
        reads: bounds::read(root.get("reads")),
        outputs: bounds::read(root.get("outputs")),
        validation: validation(root.get("schema")),
        packs: items(root.get("use")).map(used).collect(),
        todos: todos::read(root.get("todos"), faults),
        checks: checks(root.get("checks")),
        completion: root.entry("completion").map(completion::read),
        feedback: items(root.get("feedback")).map(feedback::read).collect(),
        mcp: Mcp { changed_tools: named(field(root.get("mcp"), "changed_tools"), ChangedTools::parse) },
        file_policies: files(root.get("file_policies")),
    }
}

fn files(node: Option<&Node>) -> FilePolicies {
    FilePolicies {
        dir: text(field(node, "dir")),
        enabled: flag(field(node, "enabled")),
        output: field(node, "output").and_then(Node::text).and_then(FilesOutput::parse),
    }
}

fn used(node: &Node) -> Use {
    let enforced = |entry: &Entry| (entry.key.clone(), named(Some(&entry.value), Enforce::parse));
    Use {
        pack: text(Some(node)).or_else(|| text(node.get("pack"))).unwrap_or_default(),
        enforce: entries(node.get("enforce")).map(enforced).collect(),
    }
}

fn field<'a>(node: Option<&'a Node>, key: &str) -> Option<&'a Node> {
    node?.get(key)
}

fn items<'a>(node: Option<&'a Node>) -> impl Iterator<Item = &'a Node> + use<'a> {
    node.map(Node::items).unwrap_or_default().iter()
}

fn entries<'a>(node: Option<&'a Node>) -> impl Iterator<Item = &'a Entry> + use<'a> {
    node.map(Node::entries).unwrap_or_default().iter()
}

fn text(node: Option<&Node>) -> Option<String> {
    node?.text().map(str::to_owned)
}

/// One text or a list of them.
fn texts(node: Option<&Node>) -> Vec<String> {
    match node.map(|node| &node.value) {
        Some(Value::Text(text)) => vec![text.clone()],
        Some(Value::List(items)) => items.iter().filter_map(|item| text(Some(item))).collect(),
        _ => Vec::new(),
    }
}

fn flag(node: Option<&Node>) -> Option<bool> {
    match node?.value {
        Value::Bool(value) => Some(value),
        _ => None,
    }
}

fn whole(node: Option<&Node>) -> Option<i64> {
    match node?.value {
        Value::Int(value) => Some(value),
        _ => None,
    }
}

fn number(node: Option<&Node>) -> Option<f64> {
    match node?.value {
        Value::Int(value) => Some(value as f64),
        Value::Float(value) => Some(value),
        _ => None,
    }
}

fn count(node: Option<&Node>) -> Option<u64> {
    whole(node).and_then(|value| u64::try_from(value).ok())
}

fn named<T: Default>(node: Option<&Node>, parse: impl Fn(&str) -> Option<T>) -> T {
    node.and_then(Node::text).and_then(parse).unwrap_or_default()
}

fn identity(node: Option<&Node>) -> Identity {
    Identity { ns: text(field(node, "ns")), key: text(field(node, "key")) }
}

fn tools(node: Option<&Node>, faults: &mut Faults) -> Tools {
    let declare: BTreeMap<String, Declaration> =
        entries(field(node, "declare")).map(|entry| (entry.key.clone(), declaration(entry, faults))).collect();
    Tools { unknown: field(node, "unknown").and_then(Node::text).and_then(UnknownTools::parse), declare }
}

fn declaration(entry: &Entry, faults: &mut Faults) -> Declaration {
    Declaration {
        kind: entry.value.get("kind").and_then(Node::text).and_then(Kind::parse),
        path: texts(entry.value.get("path")),
        line: entry.key_span.line,
        schema: entry.value.get("schema").and_then(|node| schema(node, faults)),
        output_schema: entry.value.get("output_schema").and_then(|node| schema(node, faults)),
    }
}

fn schema(node: &Node, faults: &mut Faults) -> Option<SchemaSource> {
    if let Value::Text(file) = &node.value {
        return Some(SchemaSource::File(file.clone()));
    }
    let inline = tree(node).map(|schema| SchemaSource::inline(&schema));
    if inline.is_none() && !faults.error_inside(&node.span) {
        let message = "a schema holds a value that JSON does not have";
        faults.push(Fault::error(message).at(node.span).help("numbers must be finite"));
    }
    inline
}

/// A whole tree as JSON. Recursion is bounded by the tree's depth.
#[must_use]
pub fn tree(node: &Node) -> Option<serde_json::Value> {
    match &node.value {
        Value::Map(entries) => entries.iter().map(|entry| Some((entry.key.clone(), tree(&entry.value)?))).collect(),
        Value::List(items) => items.iter().map(tree).collect(),
        _ => json(node),
    }
}

fn validation(node: Option<&Node>) -> Validation {
    let attempts = whole(field(node, "repair_attempts")).and_then(|attempts| u32::try_from(attempts).ok());
    Validation {
        repair_attempts: attempts.unwrap_or_else(|| Validation::default().repair_attempts),
        missing: named(field(node, "missing"), Missing::parse),
    }
}

fn step(entry: &Entry, faults: &mut Faults) -> Step {
    Step::new(&entry.key, matcher(&entry.value, faults), entry.key_span.line)
}

fn policies(node: Option<&Node>, faults: &mut Faults) -> Vec<Policy> {
    items(node).map(|node| policy(node, faults)).collect()
}

fn policy(node: &Node, faults: &mut Faults) -> Policy {
    let name = node.get("name").or_else(|| field(node.get("rule"), "name"));
    both_names(node, faults);
    Policy {
        name: text(name).unwrap_or_default(),
        enforce: named(node.get("enforce"), Enforce::parse),
        when: node.get("when").map(|when| Box::new(matcher(when, faults))),
        on_fault: named(node.get("on_fault"), OnFault::parse),
        guard: guard(node, faults),
        line: node.span.line,
    }
}

fn both_names(node: &Node, faults: &mut Faults) {
    if let (Some(_), Some(inner)) = (node.get("name"), node.get("rule").and_then(|rule| rule.entry("name"))) {
        faults.push(Fault::error("`name` is given twice").at(inner.key_span).help("keep the one beside `rule`"));
    }
}

/// The guard of a policy. One that has none is a fault already; what stands in for it is never judged.
fn guard(node: &Node, faults: &mut Faults) -> Guard {
    if let Some(node) = node.get("sequence") {
        return Guard::Sequence(sequence(node));
    }
    if let Some(node) = node.get("paths") {
        return Guard::Paths(paths(node));
    }
    if let Some(node) = node.get("rule") {
        return Guard::Rule(rule(node, faults).into());
    }
    if let Some(node) = node.get("rego") {
        return Guard::Rego(rego(node));
    }
    Guard::ReadBeforeWrite(read_before_write(node.get("read_before_write")))
}

fn sequence(node: &Node) -> Sequence {
    Sequence {
        requires: entries(node.get("requires")).map(|entry| (entry.key.clone(), texts(Some(&entry.value)))).collect(),
        fresh: flag(node.get("fresh")).unwrap_or_default(),
    }
}

fn read_before_write(node: Option<&Node>) -> ReadBeforeWrite {
    let default = ReadBeforeWrite::default();
    ReadBeforeWrite {
        own_writes: flag(field(node, "own_writes")).unwrap_or(default.own_writes),
        stale: named(field(node, "stale"), Stale::parse),
    }
}

fn paths(node: &Node) -> Paths {
    Paths {
        outside: named(node.get("outside"), Outside::parse),
        allow: texts(node.get("allow")),
        protect: texts(node.get("protect")),
        protect_reads: flag(node.get("protect_reads")).unwrap_or_default(),
    }
}

fn rule(node: &Node, faults: &mut Faults) -> Rule {
    let overriding = overriding::read(node.get("override"));
    let silent = overriding.is_some() && node.get("verdict").is_none();
    Rule {
        matcher: matcher(node, faults),
        verdict: (!silent).then(|| named(node.get("verdict"), RuleVerdict::parse)),
        overriding,
        reason: text(node.get("reason")).unwrap_or_else(|| Rule::default().reason),
        suggest: texts(node.get("suggest")),
    }
}

fn rego(node: &Node) -> Rego {
    Rego { file: text(node.get("file")).unwrap_or_default(), tool: texts(node.get("tool")) }
}

fn section(node: &Node, faults: &mut Faults) -> Section {
    Section {
        name: text(node.get("name")).unwrap_or_default(),
        tools: texts(node.get("tools")),
        policies: policies(node.get("policies"), faults),
    }
}

/// Recursion is bounded by the tree's depth.
fn matcher(node: &Node, faults: &mut Faults) -> Matcher {
    if let Some(args) = node.get("args").filter(|args| matches!(&args.value, Value::Map(given) if given.is_empty())) {
        faults.push(Fault::error("`args` names nothing").at(args.span).help("name an argument, or remove the key"));
    }
    Matcher {
        tool: texts(node.get("tool")),
        command: node.get("command").map(command),
        path: texts(node.get("path")),
        args: entries(node.get("args")).filter_map(|entry| argument(entry, faults)).collect(),
        session: node.get("session").map(session),
        agent: text(node.get("agent")),
        host: text(node.get("host")),
        all: items(node.get("all")).map(|node| matcher(node, faults)).collect(),
        any: items(node.get("any")).map(|node| matcher(node, faults)).collect(),
        not: node.get("not").map(|node| Box::new(matcher(node, faults))),
        access: texts(node.get("access")).iter().filter_map(|name| Role::parse(name)).collect(),
        opaque: flag(node.get("opaque")).unwrap_or_default(),
    }
}

fn command(node: &Node) -> CommandMatcher {
    if !matches!(node.value, Value::Map(_) | Value::Null) {
        return CommandMatcher::Glob(texts(Some(node)));
    }
    CommandMatcher::Parts(CommandParts {
        program: texts(node.get("program")),
        args: texts(node.get("args")),
        flags: texts(node.get("flags")),
        env: texts(node.get("env")),
        redirects_to: texts(node.get("redirects_to")),
        subcommand: texts(node.get("subcommand")),
        without: texts(node.get("without")),
        statement: texts(node.get("statement")),
    })
}

fn session(node: &Node) -> SessionMatcher {
    SessionMatcher {
        calls: node.get("calls").map(range),
        minutes: node.get("minutes").map(range),
        written: node.get("written").map(range),
        done: texts(node.get("done")),
        not_done: texts(node.get("not_done")),
    }
}

fn range(node: &Node) -> Range {
    Range { gt: number(node.get("gt")), lt: number(node.get("lt")) }
}

fn argument(entry: &Entry, faults: &mut Faults) -> Option<(String, ArgMatcher)> {
    let matcher = match &entry.value.value {
        Value::Map(_) | Value::Null => comparison(entry, faults)?,
        _ => ArgMatcher::Literal(json(&entry.value)?.to_string()),
    };
    Some((entry.key.clone(), matcher))
}

/// The one comparison of an argument; `gt` and `lt` are one together.
fn comparison(entry: &Entry, faults: &mut Faults) -> Option<ArgMatcher> {
    let node = &entry.value;
    let mut found: Vec<ArgMatcher> = Vec::new();
    found.extend(text(node.get("glob")).map(ArgMatcher::Glob));
    found.extend(text(node.get("regex")).map(ArgMatcher::Regex));
    let (gt, lt) = (number(node.get("gt")), number(node.get("lt")));
    found.extend((gt.is_some() || lt.is_some()).then_some(ArgMatcher::Compare { gt, lt }));
    let values = node.get("in").map(|list| list.items().iter().filter_map(json).map(|json| json.to_string()).collect());
    found.extend(values.map(ArgMatcher::In));
    found.extend(flag(node.get("absent")).map(|_| ArgMatcher::Absent));
    if found.len() != 1 && !faults.error_inside(&node.span) {
        faults.push(not_one_comparison(entry, found.len()));
    }
    found.pop()
}

fn not_one_comparison(entry: &Entry, found: usize) -> Fault {
    let name = quoted(&entry.key);
    if found == 0 {
        return Fault::error(format!("argument {name} has no condition"))
            .at(entry.key_span)
            .help("give a value, or one of `glob`, `regex`, `gt`, `lt`, `in`, `absent`; for null say `in: [null]`");
    }
    Fault::error(format!("argument {name} has more than one condition"))
        .at(entry.key_span)
        .help("put each into a matcher of its own, under `all` or `any`")
}

/// A literal as JSON; whole numbers without a fraction, so that `5` and `5.0` are one text.
fn json(node: &Node) -> Option<serde_json::Value> {
    /// Up to here a float holds every whole number.
    const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;
    Some(match &node.value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(value) => (*value).into(),
        Value::Int(value) => (*value).into(),
        Value::Float(value) if value.fract() == 0.0 && value.abs() <= WHOLE_MAX => (*value as i64).into(),
        Value::Float(value) => serde_json::Number::from_f64(*value)?.into(),
        Value::Text(text) => text.clone().into(),
        Value::List(items) => items.iter().map(json).collect::<Option<Vec<_>>>()?.into(),
        Value::Map(_) | Value::Broken => return None,
    })
}

fn repeat(node: Option<&Node>) -> Option<Loop> {
    if flag(node) == Some(false) {
        return None;
    }
    let default = Loop::default();
    let small =
        |key: &str, default: u32| whole(field(node, key)).and_then(|n| u32::try_from(n).ok()).unwrap_or(default);
    Some(Loop {
        window: small("window", default.window),
        threshold: small("threshold", default.threshold),
        override_retries: small("override_retries", default.override_retries),
        ttl_steps: small("ttl_steps", default.ttl_steps),
        progress_aware: flag(field(node, "progress_aware")).unwrap_or(default.progress_aware),
        cycles: flag(field(node, "cycles")).unwrap_or(default.cycles),
        exempt: texts(field(node, "exempt")),
    })
}

fn limits(node: Option<&Node>) -> Limits {
    Limits {
        steps: field(node, "steps").and_then(steps),
        deadline: field(node, "deadline").and_then(Node::text).and_then(deadline),
        tokens: count(field(node, "tokens")),
        cost_usd: number(field(node, "cost_usd")),
        per: named(field(node, "per"), Per::parse),
    }
}

fn steps(node: &Node) -> Option<Steps> {
    let max = count(Some(node)).or_else(|| count(node.get("max")))?;
    Some(Steps { max, soft: flag(node.get("soft")).unwrap_or_default() })
}

fn deadline(text: &str) -> Option<Deadline> {
    parse_duration_ms(text).map(Deadline::After).or_else(|| Timestamp::parse(text).map(Deadline::At))
}

fn audit(node: Option<&Node>) -> Audit {
    Audit {
        redact: texts(field(node, "redact")),
        checkpoint: flag(field(node, "checkpoint")).unwrap_or_else(|| Audit::default().checkpoint),
    }
}

fn checks(node: Option<&Node>) -> Checks {
    Checks {
        confine: field(node, "confine").and_then(Node::text).and_then(Confine::parse),
        network: flag(field(node, "network")),
        writable: texts(field(node, "writable")),
        environment: texts(field(node, "environment")),
        github_api: text(field(node, "github_api")),
    }
}
