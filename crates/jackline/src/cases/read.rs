//! Reads a file of cases. A key that is not known is a fault, so that a misspelled check is never skipped.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use jackline_core::definition::fault::{Faults, did_you_mean, quoted};
use jackline_core::definition::yaml::{self, Node, Value};
use jackline_core::definition::{Fault, Span};
use jackline_core::time::parse_duration_ms;
use jackline_core::tools::TOOLS;
use serde_json::{Map, json};

use super::{Case, Step};

/// The host whose tools a step means, unless it names another.
const HOST: &str = "claude";
/// What a step says beside the call.
const STEP_KEYS: &[&str] = &["host", "agent", "after", "ok", "want", "says", "args"];
/// What a step is: a short form with its tool and argument, or any tool.
const CALLS: &[(&str, &str, &str)] =
    &[("bash", "Bash", "command"), ("read", "Read", "file_path"), ("write", "Write", "file_path"), ("tool", "", "")];

pub(super) fn cases(text: &str) -> Result<Vec<Case>, Vec<Fault>> {
    let mut faults = Faults::default();
    let tree = yaml::read(text, &mut faults);
    let mut reader = Reader { faults };
    let cases = match &tree {
        Some(tree) => reader.file(tree),
        // Why there is no tree has been told, unless there is nothing.
        None if reader.faults.any_error() => Vec::new(),
        None => reader.wrong(Span { line: 1, column: 1, ..Span::default() }, "the file is empty"),
    };
    if reader.faults.any_error() { Err(reader.faults.into_sorted()) } else { Ok(cases) }
}

struct Reader {
    faults: Faults,
}

impl Reader {
    fn wrong<T: Default>(&mut self, span: Span, message: impl Into<String>) -> T {
        self.faults.push(Fault::error(message).at(span));
        T::default()
    }

    fn known(&mut self, node: &Node, known: &[&str]) {
        if !matches!(node.value, Value::Map(_)) {
            return self.wrong(node.span, "a map is wanted here");
        }
        for entry in node.entries().iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            let help = format!("known are {}", known.iter().map(|key| quoted(key)).collect::<Vec<_>>().join(", "));
            let fault = Fault::error(format!("unknown key {}", quoted(&entry.key))).at(entry.key_span);
            self.faults.push(fault.help(help));
        }
    }

    fn text(&mut self, node: Option<&Node>) -> Option<String> {
        let node = node?;
        node.text().map(str::to_owned).or_else(|| self.wrong(node.span, "a text is wanted here"))
    }

    fn file(&mut self, tree: &Node) -> Vec<Case> {
        self.known(tree, &["cases"]);
        let cases = tree.get("cases").map(Node::items).unwrap_or_default();
        if cases.is_empty() {
            return self.wrong(tree.span, "there are no cases: begin with `cases:` and a list");
        }
        cases.iter().map(|node| self.case(node)).collect()
    }

    fn case(&mut self, node: &Node) -> Case {
        self.known(node, &["note", "workspace", "steps"]);
        let note = self.text(node.get("note"));
        if note.is_none() {
            self.wrong::<()>(node.span, "a case needs a `note` that says what it shows");
        }
        let files = node.get("workspace").map(Node::entries).unwrap_or_default();
        let mut workspace = Vec::new();
        for entry in files {
            let text = self.text(Some(&entry.value)).unwrap_or_default();
            if is_inside(Path::new(&entry.key)) {
                workspace.push((PathBuf::from(&entry.key), text));
            } else {
                self.wrong::<()>(entry.key_span, format!("{} leads out of the workspace", quoted(&entry.key)));
            }
        }
        let steps = node.get("steps").map(Node::items).unwrap_or_default();
        if steps.is_empty() {
            self.wrong::<()>(node.span, "a case needs `steps`");
        }
        let steps = steps.iter().filter_map(|node| self.step(node)).collect();
        Case { note: note.unwrap_or_default(), workspace, steps }
    }

    fn step(&mut self, node: &Node) -> Option<Step> {
        let known: Vec<&str> = CALLS.iter().map(|(key, ..)| *key).chain(STEP_KEYS.iter().copied()).collect();
        self.known(node, &known);
        let calls: Vec<_> = CALLS.iter().filter_map(|call| Some((call, node.get(call.0)?))).collect();
        let [((key, tool, argument), called)] = calls.as_slice() else {
            return self.wrong(node.span, "a step is one of `bash`, `read`, `write` and `tool`");
        };
        let named = self.text(Some(called))?;
        let mut args = node.get("args").map_or_else(|| json!({}), as_json);
        let tool = if tool.is_empty() { named.clone() } else { (*tool).to_owned() };
        if let (false, Some(args)) = (argument.is_empty(), args.as_object_mut()) {
            args.insert((*argument).to_owned(), json!(named));
        }
        self.known_host(node.get("host"));
        if node.entry("want").is_some() && node.get("want").and_then(Node::text).is_none_or(|want| !is_wanted(want)) {
            let message = "`want` is a verdict (`allow`, `ask`, `deny`, `halt`) or a code such as `sequence/missing`";
            self.wrong::<()>(node.get("want").map_or(node.span, |want| want.span), message);
        }
        Some(Step {
            label: format!("{key} {}", quoted(&named)),
            tool,
            args,
            host: self.text(node.get("host")).unwrap_or_else(|| HOST.to_owned()),
            agent: self.text(node.get("agent")),
            after_ms: self.duration(node.get("after")),
            ok: self.flag(node.get("ok")),
            want: self.text(node.get("want")),
            says: self.text(node.get("says")),
        })
    }

    /// A host that we do not know is a program of the owner's own, unless it is nearly one that we know.
    fn known_host(&mut self, node: Option<&Node>) {
        let hosts: BTreeSet<&str> = TOOLS.iter().map(|tool| tool.host).filter(|host| !host.is_empty()).collect();
        let Some((node, name)) = node.and_then(|node| Some((node, node.text()?))) else { return };
        if let Some(help) = did_you_mean(name, hosts.iter().copied()).filter(|_| !hosts.contains(name)) {
            self.faults.push(Fault::error(format!("there is no host {}", quoted(name))).at(node.span).help(help));
        }
    }

    fn duration(&mut self, node: Option<&Node>) -> i64 {
        let Some(node) = node else { return 0 };
        let ms = node.text().and_then(parse_duration_ms);
        ms.unwrap_or_else(|| self.wrong(node.span, "a duration such as `30m` is wanted here"))
    }

    /// A call succeeds unless it is said that it does not.
    fn flag(&mut self, node: Option<&Node>) -> bool {
        match node.map(|node| (&node.value, node.span)) {
            None => true,
            Some((Value::Bool(flag), _)) => *flag,
            Some((_, span)) => self.wrong(span, "`true` or `false` is wanted here"),
        }
    }
}

fn is_wanted(want: &str) -> bool {
    matches!(want, "allow" | "ask" | "deny" | "halt")
        || want.split_once('/').is_some_and(|(guard, _)| !guard.is_empty())
}

fn is_inside(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_))) && path.components().next().is_some()
}

/// A tree as JSON. Recursion is bounded by the tree's depth.
fn as_json(node: &Node) -> serde_json::Value {
    match &node.value {
        Value::Null | Value::Broken => serde_json::Value::Null,
        Value::Bool(flag) => json!(flag),
        Value::Int(number) => json!(number),
        Value::Float(number) => json!(number),
        Value::Text(text) => json!(text),
        Value::List(items) => items.iter().map(as_json).collect(),
        Value::Map(entries) => {
            let fields: Map<_, _> = entries.iter().map(|entry| (entry.key.clone(), as_json(&entry.value))).collect();
            fields.into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refuse(text: &str, want: &str) {
        let faults = cases(text).unwrap_err();
        assert!(faults.iter().any(|fault| fault.message.contains(want)), "{text}: {faults:?}");
    }

    #[test]
    fn short_forms_stand_for_calls() {
        let text = "cases:\n- note: n\n  workspace: {a/b: c}\n  steps:\n  - {bash: ls, want: allow}\n  - {tool: x, args: {n: [1, 2.5, null]}, host: codex, after: 2m, ok: false}\n";
        let cases = cases(text).unwrap();
        let [first, second] = cases[0].steps.as_slice() else { panic!("{cases:?}") };
        assert_eq!((first.tool.as_str(), &first.args, first.ok), ("Bash", &json!({ "command": "ls" }), true));
        assert_eq!((first.host.as_str(), first.want.as_deref()), ("claude", Some("allow")));
        assert_eq!((second.tool.as_str(), &second.args), ("x", &json!({ "n": [1, 2.5, null] })));
        assert_eq!((second.host.as_str(), second.after_ms, second.ok), ("codex", 120_000, false));
        assert_eq!(cases[0].workspace, [(PathBuf::from("a/b"), "c".to_owned())]);
    }

    #[test]
    fn what_is_no_case_is_told() {
        refuse("", "the file is empty");
        refuse("cases: []", "there are no cases");
        refuse("cases: [{note: n}]", "a case needs `steps`");
        refuse("cases: [{steps: [{bash: ls}]}]", "a case needs a `note`");
        refuse("cases: [{note: n, steps: [{bash: ls, wnat: deny}]}]", "unknown key `wnat`");
        refuse("cases: [{note: n, steps: [{bash: ls, read: a}]}]", "a step is one of");
        refuse("cases: [{note: n, steps: [{want: deny}]}]", "a step is one of");
        refuse("cases: [{note: n, steps: [{bash: ls, after: soon}]}]", "a duration");
        refuse("cases: [{note: n, steps: [{bash: ls, want: dney}]}]", "`want` is a verdict");
        refuse("cases: [{note: n, steps: [{bash: ls, host: cluade}]}]", "there is no host `cluade`");
        let broken = cases("cases: [").unwrap_err();
        assert!(broken.iter().all(|fault| !fault.message.contains("empty")), "{broken:?}");
        for path in ["../x", "/etc/x", "a/../../x", ""] {
            let text = format!("cases: [{{note: n, workspace: {{\"{path}\": y}}, steps: [{{bash: ls}}]}}]");
            refuse(&text, "leads out of the workspace");
        }
    }
}
