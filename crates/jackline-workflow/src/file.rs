//! One file of a workflow: its text, its tree if it is YAML, and where in the tree a place is.

use jackline_core::definition::Span;
use jackline_core::definition::yaml::Node;

/// Values beside one another that may begin at one place: an empty one, and the one behind it.
const BESIDE: usize = 2;

/// A file that was read.
#[derive(Debug)]
pub struct File {
    /// As seen from the workflow's directory, with `/`.
    pub path: String,
    pub text: String,
    /// None when it is no YAML, or cannot be read.
    pub tree: Option<Node>,
}

impl File {
    /// The JSON pointer of a place: of a key or value that lies just there, else of what holds it.
    #[must_use]
    pub fn pointer(&self, span: Span) -> String {
        let mut pointer = String::new();
        let mut node = self.tree.as_ref();
        while let Some((step, inside)) = node.and_then(|node| below(node, span)) {
            pointer.push('/');
            pointer.push_str(&step.replace('~', "~0").replace('/', "~1"));
            node = inside;
        }
        pointer
    }
}

/// The key or number under which a place lies in a node, and the node in which to look on.
fn below(node: &Node, span: Span) -> Option<(String, Option<&Node>)> {
    let further = |inside| (inside != span).then_some(());
    // Both stand in the order of the source; the last that begins before a place holds it, or one left empty does.
    let near = |after: usize| after.saturating_sub(BESIDE)..after;
    let after = node.entries().partition_point(|entry| entry.key_span.start <= span.start);
    let entries = node.entries().get(near(after)).unwrap_or_default().iter();
    let entries = entries.filter(|entry| entry.key_span == span || entry.value.span.contains(&span));
    let after = node.items().partition_point(|item| item.span.start <= span.start);
    let items = node.items().iter().enumerate().skip(near(after).start).take(BESIDE);
    let items = items.filter(|(_, item)| item.span.contains(&span));
    let entry = entries.map(|entry| {
        let on = if entry.key_span == span { None } else { further(entry.value.span).map(|()| &entry.value) };
        (entry.key.clone(), on)
    });
    let item = items.map(|(at, item)| (at.to_string(), further(item.span).map(|()| item)));
    entry.chain(item).next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jackline_core::definition::fault::Faults;
    use jackline_core::definition::yaml;

    #[track_caller]
    fn check(text: &str, word: &str, want: &str) {
        let tree = yaml::read(text, &mut Faults::default());
        let start = text.find(word).unwrap();
        let span = Span { start, end: start + word.len(), line: 1, column: 1 };
        let found =
            spans(tree.as_ref().unwrap()).into_iter().find(|other| (other.start, other.end) == (start, span.end));
        let file = File { path: "f".to_owned(), text: text.to_owned(), tree };
        assert_eq!(file.pointer(found.unwrap_or(span)), want, "{word}");
    }

    fn spans(node: &Node) -> Vec<Span> {
        let entries = node.entries().iter().flat_map(|entry| [vec![entry.key_span], spans(&entry.value)].concat());
        let items = node.items().iter().flat_map(spans);
        std::iter::once(node.span).chain(entries).chain(items).collect()
    }

    #[test]
    fn places_have_pointers() {
        let text = "a:\n  - b: one\n    c/d: [x, two]\ne~f: {}\n";
        check(text, "one", "/a/0/b");
        check(text, "two", "/a/0/c~1d/1");
        check(text, "c/d", "/a/0/c~1d");
        check(text, "e~f", "/e~0f");
        check(text, "{}", "/e~0f");
        check(text, "a", "/a");
    }

    #[test]
    fn what_is_nowhere_is_the_root() {
        let file = File { path: "f".to_owned(), text: "x".to_owned(), tree: None };
        assert_eq!(file.pointer(Span::default()), "");
    }
}
