//! Templates in a manifest: `{{settings.custom.depth}}` stands for what the workflow says elsewhere. A text that is nothing
//! but a template becomes the value, of whatever kind; in a longer one it becomes text. What is not known stays as it is.

use jackline_core::definition::yaml::{Entry, Node, Value};
use jackline_core::definition::{Fault, Span};

use crate::manifest::at;

/// Values that templates of one manifest may put in: a template that stands for a large part, a thousand times over, is
/// no way to write a workflow.
const VALUES_MAX: usize = 100_000;
/// Bytes that templates of one manifest may put into longer texts, for the same reason.
const BYTES_MAX: usize = 4 << 20;

/// Fills the templates of a manifest. An error when they make too much of it; those that are left stay as they are.
pub(crate) fn fill(root: &mut Node) -> Option<Fault> {
    let known = Node { value: Value::Map(known(root)), span: root.span };
    let mut filling = Filling { known, values: VALUES_MAX, bytes: BYTES_MAX, full: None };
    filling.node(root);
    let message = format!("templates stand for more than {VALUES_MAX} values or {BYTES_MAX} bytes");
    filling.full.map(|span| Fault::error(message).at(span).help("write less of it as templates"))
}

/// What templates may name: the section `workflow`, and its settings.
fn known(root: &Node) -> Vec<Entry> {
    let settings = at(root, &["workflow", "settings"]).or_else(|| root.get("settings"));
    [("workflow", root.get("workflow")), ("settings", settings)]
        .into_iter()
        .filter_map(|(key, node)| Some(Entry { key: key.to_owned(), key_span: root.span, value: node?.clone() }))
        .collect()
}

struct Filling {
    known: Node,
    values: usize,
    bytes: usize,
    /// Where there was too much of it.
    full: Option<Span>,
}

impl Filling {
    /// Recursion is bounded by the depth that the reader of YAML takes.
    fn node(&mut self, node: &mut Node) {
        match &mut node.value {
            Value::List(items) => items.iter_mut().for_each(|item| self.node(item)),
            Value::Map(entries) => entries.iter_mut().for_each(|entry| self.node(&mut entry.value)),
            Value::Text(text) if text.contains("{{") => {
                if let Some(value) = self.filled(text, node.span) {
                    node.value = value;
                }
            }
            _ => {}
        }
    }

    fn filled(&mut self, text: &str, span: Span) -> Option<Value> {
        if let Some(found) = text.trim().strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}")).and_then(path)
            && let Some(found) = self.known_at(&found)
        {
            let count = count(found);
            let copy = placed(found, span);
            if count > self.values {
                self.full.get_or_insert(span);
                return None;
            }
            self.values -= count;
            return Some(copy.value);
        }
        self.longer(text, span).map(Value::Text)
    }

    fn longer(&mut self, text: &str, span: Span) -> Option<String> {
        let mut made = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("{{") {
            made.push_str(before);
            let told = behind.split_once("}}").and_then(|(inner, after)| Some((self.told(&path(inner)?)?, after)));
            let Some((told, after)) = told else {
                made.push_str("{{");
                rest = behind;
                continue;
            };
            if told.len() > self.bytes {
                self.full.get_or_insert(span);
                return None;
            }
            self.bytes -= told.len();
            made.push_str(&told);
            rest = after;
        }
        made.push_str(rest);
        Some(made)
    }

    fn known_at(&self, path: &[&str]) -> Option<&Node> {
        at(&self.known, path)
    }

    /// A plain value as text.
    fn told(&self, path: &[&str]) -> Option<String> {
        match &self.known_at(path)?.value {
            Value::Text(text) => Some(text.clone()),
            Value::Int(number) => Some(number.to_string()),
            Value::Float(number) => Some(number.to_string()),
            Value::Bool(flag) => Some(flag.to_string()),
            _ => None,
        }
    }
}

/// The names between the dots of a template.
fn path(inner: &str) -> Option<Vec<&str>> {
    let names: Vec<&str> = inner.trim().split('.').collect();
    let plain = |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-".contains(c));
    names.iter().all(plain).then_some(names)
}

fn count(node: &Node) -> usize {
    let inside: usize = node.items().iter().map(count).sum();
    1 + inside + node.entries().iter().map(|entry| count(&entry.value)).sum::<usize>()
}

/// A copy that lies where the template is.
fn placed(node: &Node, span: Span) -> Node {
    let value = match &node.value {
        Value::List(items) => Value::List(items.iter().map(|item| placed(item, span)).collect()),
        Value::Map(entries) => Value::Map(
            entries
                .iter()
                .map(|entry| Entry { key: entry.key.clone(), key_span: span, value: placed(&entry.value, span) })
                .collect(),
        ),
        value => value.clone(),
    };
    Node { value, span }
}

#[cfg(test)]
mod tests {
    use jackline_core::definition::fault::Faults;
    use jackline_core::definition::yaml;

    use super::*;

    fn filled(text: &str) -> (Node, Option<Fault>) {
        let text = format!("workflow: {{name: tides, settings: {{custom: {{n: 2, who: writer, on: true}}}}}}\n{text}");
        let mut tree = yaml::read(&text, &mut Faults::default()).unwrap();
        let fault = fill(&mut tree);
        (tree, fault)
    }

    #[track_caller]
    fn check(written: &str, want: &Value) {
        assert_eq!(&filled(&format!("x: \"{written}\"\n")).0.get("x").unwrap().value, want, "{written}");
    }

    #[test]
    fn a_template_alone_keeps_its_kind() {
        check("{{settings.custom.n}}", &Value::Int(2));
        check("{{ workflow.settings.custom.on }}", &Value::Bool(true));
        check("{{settings.custom.who}}", &Value::Text("writer".to_owned()));
    }

    #[test]
    fn in_a_longer_text_it_is_text() {
        let text = |text: &str| Value::Text(text.to_owned());
        check("agents/{{settings.custom.who}}-{{workflow.name}}", &text("agents/writer-tides"));
        check("{{settings.custom.n}}{{settings.custom.n}}", &text("22"));
        check("{{ nobody.knows }} {{settings.custom}} {{ {{", &text("{{ nobody.knows }} {{settings.custom}} {{ {{"));
    }

    #[test]
    fn templates_cannot_grow_a_manifest_without_end() {
        let many = format!("list: [{}]\n", "\"{{workflow}}\", ".repeat(20_000));
        let (tree, fault) = filled(&many);
        assert!(fault.is_some());
        assert!(count(&tree) < 2 * VALUES_MAX);
    }
}
