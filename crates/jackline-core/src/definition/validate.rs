//! Holds a tree against the table of shapes and collects every fault. Knows forms, not what they are for.

use super::fault::{Fault, Faults, Span, did_you_mean, quoted};
use super::form::{Form, Key, Shape};
use super::semantics::compile_regex;
use super::shape::ROOT;
use super::shape::file_policy::FILE_POLICY;
use super::yaml::{Entry, Node, Value};
use crate::nearest;
use crate::time::{Timestamp, parse_duration_ms};

/// Unknown keys of one map among which a missing one is looked for.
const SLIPS_MAX: usize = 100;

/// Checks a whole definition.
pub(super) fn validate(root: &Node, faults: &mut Faults) {
    match &root.value {
        Value::Map(_) => map(&ROOT, root, faults),
        _ => {
            let message = format!("a definition must be a map, found {}", root.noun());
            faults.push(Fault::error(message).at(root.span).help("begin the file with `jackline: 1`"));
        }
    }
}

/// Checks the front matter of a file policy.
pub(super) fn front_matter(root: &Node, faults: &mut Faults) {
    match &root.value {
        Value::Map(_) => map(&FILE_POLICY, root, faults),
        _ => {
            let message = format!("the front matter must be a map, found {}", root.noun());
            faults.push(Fault::error(message).at(root.span).help("say what fires it: `trigger: src/**`"));
        }
    }
}

/// Holds a map against its shape, and all that is in it.
pub fn hold(shape: &Shape, root: &Node, faults: &mut Faults) {
    map(shape, root, faults);
}

/// What a fault says when the version is not there.
pub(super) fn version_missing(span: Span) -> Fault {
    Fault::error("`jackline: 1` is missing").at(span).help("begin the file with `jackline: 1`")
}

/// A value that is being checked, and how to speak of it.
struct Subject<'a> {
    label: String,
    node: &'a Node,
    /// Its key may not be left out.
    required: bool,
}

impl Subject<'_> {
    fn wrong(&self, form: &Form) -> Fault {
        let message = format!("{} must be {}, found {}", self.label, expected(form), found(self.node));
        let fault = Fault::error(message).at(self.node.span);
        match (form, &self.node.value) {
            (Form::Text | Form::Many(_), Value::Int(_) | Value::Float(_) | Value::Bool(_)) => {
                fault.help("put it in quotes to make it a text")
            }
            (Form::Flag, Value::Text(text)) => fault.help_if(flag_meant(text)),
            (Form::Whole { .. }, Value::Float(number)) if number.fract() == 0.0 => {
                fault.help(format!("write it out: `{number}`"))
            }
            (Form::Whole { .. }, Value::Text(text)) if text.parse::<i64>().is_ok() => {
                fault.help(format!("write it without quotes: `{text}`"))
            }
            _ => fault,
        }
    }

    fn item<'a>(&self, node: &'a Node) -> Subject<'a> {
        Subject { label: format!("an item of {}", self.label.trim_start_matches("an item of ")), node, required: false }
    }
}

/// The flag that older YAML, or quotes, made of a word.
#[must_use]
pub fn flag_meant(text: &str) -> Option<String> {
    let flag = match text.to_ascii_lowercase().as_str() {
        "yes" | "on" | "y" | "true" => true,
        "no" | "off" | "n" | "false" => false,
        _ => return None,
    };
    Some(format!("write `{flag}`, without quotes"))
}

fn check(form: &Form, subject: &Subject<'_>, faults: &mut Faults) {
    let node = subject.node;
    if node.value == Value::Broken {
        return;
    }
    match (form, &node.value) {
        (Form::Either(forms), _) => match forms.iter().find(|form| takes(form, node)) {
            Some(form) => check(form, subject, faults),
            None => faults.push(subject.wrong(form)),
        },
        (Form::Map(shape), Value::Map(_) | Value::Null) => map(shape, node, faults),
        (Form::Named(form), Value::Map(entries)) => entries.iter().for_each(|entry| named(form, entry, faults)),
        (Form::List(form), Value::List(_)) => items(form, subject, faults),
        (Form::Some(form) | Form::Many(form), Value::List(list)) => {
            if list.is_empty() {
                faults.push(empty(subject));
            }
            items(form, subject, faults);
        }
        (Form::Many(form), _) if takes(form, node) => check(form, subject, faults),
        (Form::Some(_), Value::Null) => faults.push(empty(subject)),
        (Form::List(_) | Form::Named(_), Value::Null) => {}
        (Form::Literal, Value::List(_)) => items(&Form::Literal, subject, faults),
        (form, _) => scalar(form, subject, faults),
    }
}

/// Whether a form is meant for this kind of value, whatever its content.
fn takes(form: &Form, node: &Node) -> bool {
    match form {
        Form::Flag | Form::Yes => matches!(node.value, Value::Bool(_)),
        Form::Whole { .. } | Form::Number | Form::Positive | Form::NotNegative | Form::Fraction => {
            matches!(node.value, Value::Int(_) | Value::Float(_))
        }
        Form::Text | Form::Matching(_) | Form::Choice(_) | Form::Duration | Form::Moment => {
            matches!(node.value, Value::Text(_))
        }
        Form::Literal => !matches!(node.value, Value::Map(_)),
        Form::Map(_) | Form::Named(_) | Form::Free => matches!(node.value, Value::Map(_) | Value::Null),
        Form::List(_) | Form::Some(_) => matches!(node.value, Value::List(_)),
        Form::Many(form) => matches!(node.value, Value::List(_)) || takes(form, node),
        Form::Either(forms) => forms.iter().any(|form| takes(form, node)),
    }
}

fn items(form: &Form, subject: &Subject<'_>, faults: &mut Faults) {
    for item in subject.node.items().iter().map(|node| subject.item(node)) {
        // A key that is left empty has its defaults; an item that is left empty says nothing.
        let empty = item.node.value == Value::Null && !matches!(form, Form::Literal);
        if empty { faults.push(item.wrong(form)) } else { check(form, &item, faults) }
    }
}

fn empty(subject: &Subject<'_>) -> Fault {
    let help = if subject.required { "name at least one" } else { "name at least one, or remove the key" };
    Fault::error(format!("{} is empty", subject.label)).at(subject.node.span).help(help)
}

fn named(form: &Form, entry: &Entry, faults: &mut Faults) {
    if entry.key.is_empty() {
        faults.push(Fault::error("a name must not be empty").at(entry.key_span));
    }
    check(form, &Subject { label: quoted(&entry.key), node: &entry.value, required: false }, faults);
}

fn map(shape: &Shape, node: &Node, faults: &mut Faults) {
    for entry in node.entries() {
        match shape.keys.iter().find(|key| key.name == entry.key) {
            Some(key) if key.judged && !matches!(key.form, Form::Map(_)) => {}
            Some(key) => {
                let subject = Subject { label: quoted(key.name), node: &entry.value, required: key.required };
                check(&key.form, &subject, faults);
            }
            None if shape.open && !faults.may_compare() => {}
            None if shape.open => slip(shape, entry, faults),
            None => faults.error_with(|| unknown(shape, entry)),
        }
    }
    let unknown = |entry: &&Entry| shape.keys.iter().all(|key| key.name != entry.key);
    // A misspelled one has been told already, with the name that was meant.
    let misspelled = |key: &Key| {
        let mut slips = node.entries().iter().filter(unknown).take(SLIPS_MAX);
        slips.any(|entry| did_you_mean(&entry.key, std::iter::once(key.name)).is_some())
    };
    let absent = |key: &&Key| key.required && !key.judged && node.entry(key.name).is_none() && !misspelled(key);
    for key in shape.keys.iter().filter(absent) {
        faults.push(missing(shape, key, node));
    }
    one_of(shape, node, faults);
}

fn unknown(shape: &Shape, entry: &Entry) -> Fault {
    let names = || shape.keys.iter().map(|key| key.name);
    let all = names().map(quoted).collect::<Vec<_>>().join(", ");
    let help = did_you_mean(&entry.key, names()).or_else(|| (!all.is_empty()).then(|| format!("known keys: {all}")));
    Fault::error(format!("unknown key {}", quoted(&entry.key))).at(entry.key_span).help_if(help)
}

/// A key that may be there, and looks like one that is known.
fn slip(shape: &Shape, entry: &Entry, faults: &mut Faults) {
    if let Some(near) = nearest::slip(&entry.key, shape.keys.iter().map(|key| key.name)) {
        let message = format!("nobody knows the key {}", quoted(&entry.key));
        faults.push(Fault::warning(message).at(entry.key_span).help(format!("did you mean `{near}`?")));
    }
}

fn missing(shape: &Shape, key: &Key, node: &Node) -> Fault {
    let start = Span { end: node.span.start, ..node.span };
    if std::ptr::eq(shape, &raw const ROOT) {
        return version_missing(start);
    }
    let help = match key.example {
        Some(example) => format!("for example `{}: {example}`", key.name),
        None => key.doc.trim_end_matches('.').to_lowercase(),
    };
    Fault::error(format!("`{}` is missing in `{}`", key.name, shape.name)).at(start).help(help)
}

fn misspells(shape: &Shape, entry: &Entry) -> bool {
    let unknown = shape.keys.iter().all(|key| key.name != entry.key);
    unknown && did_you_mean(&entry.key, shape.one_of.iter().copied()).is_some()
}

fn one_of(shape: &Shape, node: &Node, faults: &mut Faults) {
    if shape.one_of.is_empty() || node.value == Value::Broken {
        return;
    }
    let given: Vec<&Entry> = node.entries().iter().filter(|entry| shape.one_of.contains(&entry.key.as_str())).collect();
    let all = shape.one_of.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
    match given.as_slice() {
        [_] => {}
        // A misspelled one has been told already, with the name that was meant.
        [] if node.entries().iter().any(|entry| misspells(shape, entry)) => {}
        [] => {
            let start = Span { end: node.span.start, ..node.span };
            faults.push(Fault::error(format!("`{}` needs one of {all}", shape.name)).at(start));
        }
        [first, rest @ ..] => {
            for second in rest {
                let message = format!("`{}` has both {} and {}", shape.name, quoted(&first.key), quoted(&second.key));
                faults.push(Fault::error(message).at(second.key_span).help("make two of it: each has exactly one"));
            }
        }
    }
}

fn scalar(form: &Form, subject: &Subject<'_>, faults: &mut Faults) {
    let holds = match (form, &subject.node.value) {
        (Form::Flag, Value::Bool(_)) | (Form::Yes, Value::Bool(true)) => true,
        (Form::Free, Value::Map(_)) => return,
        (Form::Whole { min, max }, Value::Int(number)) => return whole(*number, (*min, *max), subject, faults),
        (Form::Number | Form::Positive | Form::NotNegative | Form::Fraction, Value::Int(_) | Value::Float(_)) => {
            return number(form, subject, faults);
        }
        (Form::Text, Value::Text(text)) if text.is_empty() => {
            faults.push(Fault::error(format!("{} must not be empty", subject.label)).at(subject.node.span));
            return;
        }
        (Form::Text, Value::Text(_)) => true,
        (Form::Matching(pattern), Value::Text(text)) => return matching(pattern, text, subject, faults),
        (Form::Choice(names), Value::Text(text)) => return one_name(names, text, subject, faults),
        (Form::Duration, Value::Text(text)) => duration(text),
        (Form::Moment, Value::Text(text)) => duration(text) || Timestamp::parse(text).is_some(),
        (Form::Literal, Value::Float(number)) => number.is_finite(),
        (Form::Literal, Value::Map(_)) => false,
        (Form::Literal, _) => true,
        _ => false,
    };
    if !holds {
        faults.push(subject.wrong(form));
    }
}

fn duration(text: &str) -> bool {
    parse_duration_ms(text).is_some_and(|ms| ms > 0)
}

fn whole(number: i64, (min, max): (i64, i64), subject: &Subject<'_>, faults: &mut Faults) {
    let label = &subject.label;
    let message = match number {
        number if (min..=max).contains(&number) => return,
        number if min == max => format!("{label} must be {min}, found {number}"),
        number if number < min => format!("{label} must be at least {min}, found {number}"),
        number => format!("{label} must be at most {max}, found {number}"),
    };
    faults.push(Fault::error(message).at(subject.node.span));
}

fn number(form: &Form, subject: &Subject<'_>, faults: &mut Faults) {
    let value = match subject.node.value {
        Value::Int(number) => number as f64,
        Value::Float(number) => number,
        _ => return,
    };
    if !value.is_finite() {
        faults.push(Fault::error(format!("{} must be finite", subject.label)).at(subject.node.span));
        return;
    }
    let demand = match form {
        Form::Positive if value <= 0.0 => "greater than 0",
        Form::NotNegative if value < 0.0 => "at least 0",
        Form::Fraction if !(0.0..=1.0).contains(&value) => "from 0 to 1",
        _ => return,
    };
    let message = format!("{} must be {demand}, found {value}", subject.label);
    faults.push(Fault::error(message).at(subject.node.span));
}

fn matching(pattern: &str, text: &str, subject: &Subject<'_>, faults: &mut Faults) {
    if !compile_regex(pattern).is_ok_and(|regex| regex.is_match(text)) {
        let message = format!("{} must match {}, found {}", subject.label, quoted(pattern), quoted(text));
        faults.push(Fault::error(message).at(subject.node.span));
    }
}

fn one_name(names: &[&'static str], text: &str, subject: &Subject<'_>, faults: &mut Faults) {
    if !names.contains(&text) {
        let message = format!("{} must be {}, found {}", subject.label, any_of(names), quoted(text));
        let help = did_you_mean(text, names.iter().copied());
        faults.push(Fault::error(message).at(subject.node.span).help_if(help));
    }
}

/// `a`, `b` or `c`, in backticks.
#[must_use]
pub fn any_of(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => quoted(one),
        [most @ .., last] => {
            format!("{} or {}", most.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", "), quoted(last))
        }
    }
}

fn expected(form: &Form) -> String {
    match form {
        Form::Flag => "`true` or `false`".to_owned(),
        Form::Yes => "`true`".to_owned(),
        Form::Whole { .. } => "a whole number".to_owned(),
        Form::Number | Form::Positive | Form::NotNegative => "a number".to_owned(),
        Form::Fraction => "a number from 0 to 1".to_owned(),
        Form::Text | Form::Matching(_) => "a text".to_owned(),
        Form::Choice(names) => any_of(names),
        Form::Duration => "a duration such as `10m`".to_owned(),
        Form::Moment => "a duration such as `30m` or a time such as `2026-01-01T00:00:00Z`".to_owned(),
        Form::Literal => "a value".to_owned(),
        Form::Free | Form::Map(_) | Form::Named(_) => "a map".to_owned(),
        Form::List(_) | Form::Some(_) => "a list".to_owned(),
        Form::Many(form) => format!("{} or a list", expected(form)),
        Form::Either(forms) => forms.iter().map(expected).collect::<Vec<_>>().join(" or "),
    }
}

/// A value as a fault tells it.
#[must_use]
pub fn found(node: &Node) -> String {
    match &node.value {
        Value::Text(text) => quoted(text),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => format!("{number:?}"),
        _ => node.noun().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::yaml;
    use super::*;

    fn faults_of(source: &str) -> Vec<Fault> {
        let mut faults = Faults::default();
        let node = yaml::read(&format!("jackline: 1\n{source}"), &mut faults).unwrap();
        validate(&node, &mut faults);
        faults.into_sorted()
    }

    #[track_caller]
    fn check(source: &str, message: &str, help: &str) {
        let faults = faults_of(source);
        let [fault] = faults.as_slice() else { panic!("{source}: {faults:#?}") };
        assert_eq!(fault.message, message, "{source}");
        assert_eq!(fault.help.as_deref().unwrap_or_default(), help, "{source}");
        assert!(fault.span.is_some());
    }

    #[test]
    fn keys_and_forms_are_held_against_the_table() {
        check("polices: []", "unknown key `polices`", "did you mean `policies`?");
        check("agent: {name: x}", "unknown key `name`", "known keys: `ns`, `key`");
        check("mode: enforced", "`mode` must be `enforce` or `observe`, found `enforced`", "did you mean `enforce`?");
        check("mode: 1", "`mode` must be `enforce` or `observe`, found 1", "");
        check("agent: {ns: 7}", "`ns` must be a text, found 7", "put it in quotes to make it a text");
        check("agent: {ns: ''}", "`ns` must not be empty", "");
        check("agent: x", "`agent` must be a map, found `x`", "");
        check("policies: {}", "`policies` must be a list, found a map", "");
        check(
            "audit: {redact: [1]}",
            "an item of `redact` must be a text, found 1",
            "put it in quotes to make it a text",
        );
        check("use: [null]", "an item of `use` must be a text or a map, found nothing", "");
        check("use: [1]", "an item of `use` must be a text or a map, found 1", "");
        check("loop: 3", "`loop` must be `true` or `false` or a map, found 3", "");
        check("loop: {window: 0}", "`window` must be at least 1, found 0", "");
        check("loop: {window: 1000}", "`window` must be at most 100, found 1000", "");
        check("loop: {window: 1.5}", "`window` must be a whole number, found 1.5", "");
        check("limits: {tokens: -1}", "`tokens` must be at least 1, found -1", "");
        check("limits: {cost_usd: 0}", "`cost_usd` must be greater than 0, found 0", "");
        check("limits: {cost_usd: .inf}", "`cost_usd` must be finite", "");
        check("limits: {steps: {soft: true}}", "`max` is missing in `steps`", "the number of calls");
        check("feedback: [{static: x, every_n_calls: 0}]", "`every_n_calls` must be at least 1, found 0", "");
        check("feedback: [{static: x, every_n_seconds: 0}]", "`every_n_seconds` must be greater than 0, found 0", "");
        check("completion: {all: [{files: []}]}", "`files` is empty", "name at least one, or remove the key");
        check("todos: {native: x}", "`native` must be `record` or `deny`, found `x`", "");
        check(
            "limits: {deadline: 30}",
            "`deadline` must be a duration such as `30m` or a time such as `2026-01-01T00:00:00Z`, found 30",
            "",
        );
        check(
            "completion: {command: {run: [x], timeout: 0s}}",
            "`timeout` must be a duration such as `10m`, found `0s`",
            "",
        );
        check("limits: {tokens: 1e6}", "`tokens` must be a whole number, found 1000000.0", "write it out: `1000000`");
        check("limits: {tokens: '7'}", "`tokens` must be a whole number, found `7`", "write it without quotes: `7`");
        check("use: [{pak: git}]", "unknown key `pak`", "did you mean `pack`?");
        check("sections: [{name: s, tools: [], policies: [{paths: {}}]}]", "`tools` is empty", "name at least one");
        check("steps: {x: {tool: []}}", "`tool` is empty", "name at least one, or remove the key");
        check("steps: {x: {args: {n: {absent: false}}}}", "`absent` must be `true`, found `false`", "");
        check("steps: {'': {tool: a}}", "a name must not be empty", "");
        check(
            "policies: [{sequence: {}}]",
            "`requires` is missing in `sequence`",
            "for example `requires: {\"deploy\": [\"test\", \"build\"]}`",
        );
    }

    #[test]
    fn a_policy_has_exactly_one_guard() {
        check(
            "policies: [{name: x}]",
            "`policy` needs one of `sequence`, `read_before_write`, `paths`, `rule`, `rego`",
            "",
        );
        check("policies: [{sequnce: {}}]", "unknown key `sequnce`", "did you mean `sequence`?");
        check(
            "policies: [{paths: {}, rego: {file: x}}]",
            "`policy` has both `paths` and `rego`",
            "make two of it: each has exactly one",
        );
    }

    #[test]
    fn every_fault_is_told() {
        let source = "mode: x\nlimits: {tokens: 0, cost_usd: -1, nope: 1}\npolicies: [1, {}]\n";
        assert_eq!(faults_of(source).len(), 6);
    }

    #[test]
    fn maps_and_lists_may_be_left_empty() {
        assert_eq!(faults_of("policies:\nsteps:\nagent:\nloop:\nuse:\naudit: {redact: []}\n"), []);
        assert_eq!(faults_of("policies:\n- read_before_write:\n"), []);
    }

    #[test]
    fn the_version_must_be_there() {
        let mut faults = Faults::default();
        let node = yaml::read("mode: enforce\n", &mut faults).unwrap();
        validate(&node, &mut faults);
        assert_eq!(faults.into_sorted()[0].message, "`jackline: 1` is missing");
        let mut faults = Faults::default();
        let node = yaml::read("jackline: 2\n", &mut faults).unwrap();
        validate(&node, &mut faults);
        assert_eq!(faults.into_sorted()[0].message, "`jackline` must be 1, found 2");
    }
}
