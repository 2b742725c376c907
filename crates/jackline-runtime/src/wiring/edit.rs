//! Adds to a JSON text and takes away from it; every other byte stays as it is.
//!
//! INVARIANT: what is added to an empty container follows its bracket directly, and a container that is made here opens
//! with whitespace. So taking away can tell the two apart, and is the exact opposite of adding.

use std::ops::Range;

use serde_json::Value;

use super::Removed;
use super::spans::{Kind, Node};

/// Something to be written, in this order of keys.
#[derive(Debug, Clone)]
pub(super) enum Shape<'k> {
    Object(Vec<(&'k str, Shape<'k>)>),
    Array(Vec<Shape<'k>>),
    /// All of it on one line.
    Line(Box<Shape<'k>>),
    Leaf(Value),
}

impl Shape<'_> {
    /// What is read back from it.
    pub(super) fn value(&self) -> Value {
        match self {
            Self::Object(members) => members.iter().map(|(key, value)| ((*key).to_owned(), value.value())).collect(),
            Self::Array(items) => items.iter().map(Self::value).collect(),
            Self::Line(shape) => shape.value(),
            Self::Leaf(value) => value.clone(),
        }
    }
}

/// How a part of a text is laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Layout {
    /// The line break and the indentation of what is written; `None` for all on one line.
    line: Option<(&'static str, String)>,
    /// One step of indentation.
    step: String,
}

impl Layout {
    /// What stands before an item, `depth` steps further in.
    fn space(&self, depth: usize) -> String {
        match &self.line {
            Some((line_end, indent)) => format!("{line_end}{indent}{}", self.step.repeat(depth)),
            None => " ".to_owned(),
        }
    }

    fn write(&self, shape: &Shape<'_>, depth: usize) -> String {
        match shape {
            Shape::Leaf(value) => one_line(value),
            Shape::Line(shape) => on_one_line(shape),
            Shape::Array(items) => {
                self.bracketed(("[", "]"), items.iter().map(|item| self.write(item, depth + 1)), depth)
            }
            Shape::Object(members) => {
                let written = members.iter().map(|(key, value)| self.member(key, value, depth + 1));
                self.bracketed(("{", "}"), written, depth)
            }
        }
    }

    fn member(&self, key: &str, value: &Shape<'_>, depth: usize) -> String {
        format!("{}: {}", Value::from(key), self.write(value, depth))
    }

    fn bracketed(&self, (open, close): (&str, &str), items: impl Iterator<Item = String>, depth: usize) -> String {
        let inner = self.space(depth + 1);
        let written: Vec<String> = items.map(|item| format!("{inner}{item}")).collect();
        format!("{open}{}{}{close}", written.join(","), self.space(depth))
    }
}

fn one_line(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(one_line).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// A shape as it is written on one line.
pub(super) fn on_one_line(shape: &Shape<'_>) -> String {
    Layout { line: None, step: String::new() }.write(shape, 0)
}

/// A text of its own that holds these members.
pub(super) fn fresh(members: &[(&str, Shape<'_>)]) -> String {
    let layout = Layout { line: Some(("\n", String::new())), step: "  ".to_owned() };
    let written = members.iter().map(|(key, value)| format!("{}{}", layout.space(1), layout.member(key, value, 1)));
    format!("{{{}\n}}", written.collect::<Vec<_>>().join(","))
}

/// Edits of one text, made all at once.
#[derive(Debug)]
pub(super) struct Edits<'a> {
    /// What is looked at: comments are blanks in it.
    text: &'a str,
    /// What is edited: the same with its comments.
    onto: &'a str,
    root: &'a Node,
    list: Vec<(Range<usize>, String)>,
}

impl<'a> Edits<'a> {
    pub(super) fn new(text: &'a str, root: &'a Node) -> Self {
        Self { text, onto: text, root, list: Vec::new() }
    }

    /// The same edits, made on a text with comments where the one looked at has blanks.
    pub(super) fn onto(self, onto: &'a str) -> Self {
        debug_assert!(onto.len() == self.text.len(), "everything else stands where it stood");
        Self { onto, ..self }
    }

    /// Whether comments stand in a part of the text.
    fn is_commented(&self, span: &Range<usize>) -> bool {
        self.text.get(span.clone()) != self.onto.get(span.clone())
    }

    /// Adds members to the end of an object.
    pub(super) fn add_members(&mut self, object: &Node, members: &[(&str, Shape<'_>)]) {
        debug_assert!(object.kind == Kind::Object, "only an object has members");
        let layout = self.layout(object);
        self.add(object, &layout, members.iter().map(|(key, value)| layout.member(key, value, 0)).collect());
    }

    /// Adds an element to the end of an array.
    pub(super) fn add_element(&mut self, array: &Node, element: &Shape<'_>) {
        debug_assert!(array.kind == Kind::Array, "only an array has elements");
        let layout = self.layout(array);
        self.add(array, &layout, vec![layout.write(element, 0)]);
    }

    fn add(&mut self, container: &Node, layout: &Layout, written: Vec<String>) {
        if written.is_empty() {
            return;
        }
        let between = format!(",{}", self.before_last(container).map_or_else(|| layout.space(0), str::to_owned));
        let joined = written.join(&between);
        match container.items.last() {
            Some(last) => self.list.push((last.end()..last.end(), format!("{between}{joined}"))),
            None => self.list.push((container.span.start + 1..container.span.start + 1, joined)),
        }
    }

    /// Takes items out of a container; `dropped` says of each whether it goes.
    pub(super) fn drop_items(&mut self, container: &Node, dropped: &[bool]) {
        let items = &container.items;
        if dropped.iter().all(|gone| *gone) {
            if let Some(last) = items.last() {
                self.list.push((container.span.start + 1..last.end(), String::new()));
            }
            return;
        }
        let first_kept = dropped.iter().position(|gone| !gone).unwrap_or_default();
        for (at, item) in items.iter().enumerate().filter(|(at, _)| dropped.get(*at).copied().unwrap_or_default()) {
            let before = at.checked_sub(1).and_then(|before| items.get(before)).filter(|_| at > first_kept);
            let after = items.get(at + 1);
            let span = match (before, after) {
                (Some(before), _) => before.end()..item.end(),
                (None, Some(after)) => item.start..after.start,
                (None, None) => item.start..item.end(),
            };
            self.list.push((span, String::new()));
        }
    }

    /// What is left once a member of the root goes as a whole.
    pub(super) fn left(mut self, root: &Node, key: &str) -> Removed {
        let gone: Vec<bool> = root.items.iter().map(|item| item.key.as_deref() == Some(key)).collect();
        if !self.emptied(root, &gone) {
            return Removed::Rest(self.done());
        }
        let around = [self.onto.get(..root.span.start), self.onto.get(root.span.end..)];
        let around = around.map(Option::unwrap_or_default).concat();
        if around == "\n" { Removed::All } else { Removed::Rest(around) }
    }

    /// Drops items of a container, or says that it goes as a whole: nothing is left in it, and it was made for us.
    pub(super) fn emptied(&mut self, container: &Node, gone: &[bool]) -> bool {
        let made_for_us = container.opens_wide(self.text) && !self.is_commented(&container.span);
        let whole = gone.iter().all(|gone| *gone) && made_for_us;
        if !whole && gone.contains(&true) {
            self.drop_items(container, gone);
        }
        whole
    }

    /// Puts a text in the place of another; an empty place only gains it.
    pub(super) fn put(&mut self, span: Range<usize>, text: impl Into<String>) {
        self.list.push((span, text.into()));
    }

    /// The text with all edits in it.
    pub(super) fn done(mut self) -> String {
        self.list.sort_by_key(|(span, _)| span.start);
        let mut text = String::with_capacity(self.text.len());
        let mut copied = 0;
        for (span, new) in &self.list {
            text.push_str(self.onto.get(copied..span.start).unwrap_or_default());
            text.push_str(new);
            copied = span.end;
        }
        text.push_str(self.onto.get(copied..).unwrap_or_default());
        text
    }

    /// The whitespace before the last item of a container.
    fn before_last(&self, container: &Node) -> Option<&'a str> {
        let start = container.items.last()?.start;
        let before = self.text.get(..start)?;
        let from = before.trim_end_matches(|c: char| c.is_ascii_whitespace()).len();
        // Behind a comment only its line counts.
        let line = before.rfind('\n').filter(|at| *at >= from && self.is_commented(&(from..start)));
        before.get(line.unwrap_or(from)..)
    }

    /// How new items of a container are laid out: as those that are there, else as the rest of the text.
    fn layout(&self, container: &Node) -> Layout {
        let line_end = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        let indent = match self.before_last(container) {
            Some(space) => indent(space),
            None if self.on_one_line() => None,
            None => Some(self.opening_indent(container)),
        };
        Layout { line: indent.map(|indent| (line_end, indent.to_owned())), step: self.step().to_owned() }
    }

    /// Whether the text has things in it, and all of them on one line.
    fn on_one_line(&self) -> bool {
        !self.root.items.is_empty() && !self.text.get(self.root.span.clone()).unwrap_or_default().contains('\n')
    }

    /// The indentation of the line in which a container opens.
    fn opening_indent(&self, container: &Node) -> &'a str {
        let before = self.text.get(..container.span.start).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        line.get(..line.len() - line.trim_start_matches([' ', '\t']).len()).unwrap_or_default()
    }

    fn step(&self) -> &'a str {
        let first = self.root.items.first().and_then(|first| self.text.get(self.root.span.start + 1..first.start));
        first.and_then(indent).unwrap_or("  ")
    }
}

/// The indentation after the last line break.
fn indent(space: &str) -> Option<&str> {
    space.rsplit_once('\n').map(|(_, indent)| indent)
}
