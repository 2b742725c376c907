//! YAML text to a tree of nodes, each with its place. Bounds come first; nothing here knows what keys mean.
//!
//! YAML 1.2 scalars (`no` is a text). Duplicate keys, merge keys, anchors, aliases, tags and further documents are faults.

use std::collections::BTreeMap;

use granit_parser::{Event, Marker, Parser, ScalarStyle, options};

use super::fault::{Fault, Faults, Span, quoted};
use super::unreadable::{self, too_deep};

/// A definition is written by people: the longest we know of is a hundredth of this.
pub const DEFINITION_BYTES_MAX: usize = 1 << 20;
/// Deeper nesting than any section needs, shallow enough for recursion over the tree.
pub const DEPTH_MAX: usize = 32;
/// Bounds the tree's memory to some tens of megabytes, whatever the text.
pub const NODES_MAX: usize = 50_000;

/// Keys that are compared one by one sooner than looked up.
const KEYS_FEW: usize = 16;

/// How much of a text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub bytes_max: usize,
    pub nodes_max: usize,
    /// What a file that is longer probably is not.
    pub meant: &'static str,
}

/// The limits of a definition.
pub const DEFINITION: Limits = Limits {
    bytes_max: DEFINITION_BYTES_MAX,
    nodes_max: NODES_MAX,
    meant: "a definition is written by hand: is this the right file?",
};

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    pub value: Value,
    pub span: Span,
}

/// A YAML value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
    /// Already a fault (an alias). Accepted everywhere, so that one mistake is reported once.
    Broken,
}

/// One key of a map and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub key: String,
    pub key_span: Span,
    pub value: Node,
}

impl Node {
    /// The value under a key, if this is a map that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The entry of a key, if this is a map that has it.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// The entries of a map; none for anything else.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The items of a list; none for anything else.
    #[must_use]
    pub fn items(&self) -> &[Self] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// The text, if it is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What kind of value this is, in the words of a fault.
    #[must_use]
    pub const fn noun(&self) -> &'static str {
        match self.value {
            Value::Null => "nothing",
            Value::Bool(true) => "`true`",
            Value::Bool(false) => "`false`",
            Value::Int(_) | Value::Float(_) => "a number",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
            Value::Broken => "a fault",
        }
    }
}

/// Reads a text into its tree; `None` when there is no tree to speak of. Faults say why, or what else is wrong.
pub fn read(source: &str, faults: &mut Faults) -> Option<Node> {
    read_within(&DEFINITION, source, faults)
}

/// The same for a text of other limits.
pub fn read_within(limits: &Limits, source: &str, faults: &mut Faults) -> Option<Node> {
    if source.len() > limits.bytes_max {
        let message = format!("the file is longer than {} bytes", limits.bytes_max);
        faults.push(Fault::error(message).help(limits.meant));
        return None;
    }
    let mut builder = Builder::new(faults, limits.nodes_max);
    let limits = options! {
        flow_nesting_limit: DEPTH_MAX, block_nesting_limit: DEPTH_MAX,
        emit_comments: false, emit_anchor_events: true, emit_unresolved_aliases: true,
    };
    for event in Parser::new_from_str_with_options(source, limits) {
        let step = match event {
            Ok((event, span)) => builder.take(event, place(span.start, span.end)),
            Err(error) => Err(unreadable::fault(source, &error)),
        };
        if let Err(fault) = step {
            builder.faults.push(fault);
            return None;
        }
    }
    builder.root
}

pub(super) fn place(start: Marker, end: Marker) -> Span {
    let byte = |marker: Marker| marker.byte_offset().unwrap_or_else(|| marker.index());
    let small = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Span {
        start: byte(start),
        end: byte(end).max(byte(start)),
        line: small(start.line()),
        column: small(start.col()).saturating_add(1),
    }
}

/// A list or map that is still open.
struct Open {
    span: Span,
    kind: Kind,
}

enum Kind {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, seen: BTreeMap<String, u32>, key: Option<Key> },
}

/// A key that waits for its value.
struct Key {
    text: Option<String>,
    span: Span,
}

/// Puts events together. Keeps its own stack, so the text's depth is never the program's.
struct Builder<'a> {
    faults: &'a mut Faults,
    open: Vec<Open>,
    root: Option<Node>,
    documents: usize,
    nodes: usize,
    nodes_max: usize,
}

impl<'a> Builder<'a> {
    const fn new(faults: &'a mut Faults, nodes_max: usize) -> Self {
        Self { faults, open: Vec::new(), root: None, documents: 0, nodes: 0, nodes_max }
    }

    /// Takes one event; an `Err` ends the reading.
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), Fault> {
        match event {
            Event::DocumentStart(_, version) => {
                let older = version.is_some_and(|version| (version.major, version.minor) != (1, 2));
                self.document(older, span)?;
            }
            Event::Scalar(text, style, _, tag) => {
                self.refuse_tag(tag.is_some(), span);
                // A key is a name as it is written: `1.0` and `yes` stay what they are.
                let named = self.awaits_key() && span.start < span.end;
                // Older YAML mixes what stands behind this key into the map.
                let merges = named && style == ScalarStyle::Plain && text == "<<";
                let value = match named {
                    _ if merges => Value::Broken,
                    true => Value::Text(text.into_owned()),
                    false => scalar(&text, style),
                };
                if merges {
                    self.refuse("merge keys", span);
                }
                self.node(Node { value, span })?;
            }
            Event::SequenceStart(_, _, tag) => {
                self.refuse_tag(tag.is_some(), span);
                self.start(Open { span, kind: Kind::List(Vec::new()) })?;
            }
            Event::MappingStart(_, _, tag) => {
                self.refuse_tag(tag.is_some(), span);
                self.start(Open { span, kind: Kind::Map { entries: Vec::new(), seen: BTreeMap::new(), key: None } })?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(span)?,
            Event::Anchor(..) => self.refuse("anchors", span),
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                let fault = Fault::error("aliases are not supported").at(span);
                self.faults
                    .push(fault.help("quote a value that begins with `*`; write any other out where it is needed"));
                self.node(Node { value: Value::Broken, span })?;
            }
            _ => {}
        }
        Ok(())
    }

    fn awaits_key(&self) -> bool {
        matches!(self.open.last(), Some(Open { kind: Kind::Map { key: None, .. }, .. }))
    }

    fn document(&mut self, older: bool, span: Span) -> Result<(), Fault> {
        if older {
            let fault = Fault::error("the file is said to be of another version of YAML than 1.2").at(span);
            self.faults.push(fault.help("remove the line `%YAML`: it is read as 1.2, in which `yes` is a text"));
        }
        self.documents += 1;
        if self.documents > 1 {
            return Err(Fault::error("the file has more than one document").at(span).help("remove the second `---`"));
        }
        Ok(())
    }

    fn refuse_tag(&mut self, tagged: bool, span: Span) {
        if tagged {
            self.faults.push(Fault::error("tags are not supported").at(span).help("quote the value to make it a text"));
        }
    }

    fn refuse(&mut self, what: &str, span: Span) {
        let message = format!("{what} are not supported");
        self.faults.push(Fault::error(message).at(span).help("write the value out where it is needed"));
    }

    fn count(&mut self, span: Span) -> Result<(), Fault> {
        self.nodes += 1;
        if self.nodes > self.nodes_max {
            return Err(Fault::error(format!("the file has more than {} values", self.nodes_max)).at(span));
        }
        Ok(())
    }

    fn start(&mut self, open: Open) -> Result<(), Fault> {
        self.count(open.span)?;
        if self.open.len() >= DEPTH_MAX {
            return Err(too_deep().at(open.span));
        }
        self.open.push(open);
        Ok(())
    }

    fn end(&mut self, span: Span) -> Result<(), Fault> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let value = match open.kind {
            Kind::List(items) => Value::List(items),
            Kind::Map { entries, .. } => Value::Map(entries),
        };
        self.put(Node { value, span: Span { end: span.end.max(open.span.end), ..open.span } })
    }

    fn node(&mut self, node: Node) -> Result<(), Fault> {
        self.count(node.span)?;
        self.put(node)
    }

    /// Puts a finished node where it belongs.
    fn put(&mut self, node: Node) -> Result<(), Fault> {
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match &mut open.kind {
            Kind::List(items) => items.push(node),
            Kind::Map { entries, seen, key } => match key.take() {
                None => *key = Some(key_of(node, self.faults)),
                Some(key) => put_entry(entries, seen, (key, node), self.faults),
            },
        }
        Ok(())
    }
}

/// Takes a node as a key.
fn key_of(node: Node, faults: &mut Faults) -> Key {
    let text = match node.value {
        Value::Text(text) => Some(text),
        Value::Broken => None,
        _ => {
            faults.push(Fault::error(format!("a key must be a text, found {}", node.noun())).at(node.span));
            None
        }
    };
    Key { text, span: node.span }
}

fn put_entry(entries: &mut Vec<Entry>, seen: &mut BTreeMap<String, u32>, pair: (Key, Node), faults: &mut Faults) {
    let (key, value) = pair;
    let Some(text) = key.text else { return };
    if let Some(line) = line_of(&text, entries, seen) {
        let message = format!("duplicate key {}", quoted(&text));
        faults.push(Fault::error(message).at(key.span).help(format!("it was given before, on line {line}")));
        return;
    }
    if !seen.is_empty() {
        seen.insert(text.clone(), key.span.line);
    }
    entries.push(Entry { key: text, key_span: key.span, value });
}

/// The line on which a map has a key already. Only a map of many keys keeps book of them.
fn line_of(text: &str, entries: &[Entry], seen: &mut BTreeMap<String, u32>) -> Option<u32> {
    if entries.len() < KEYS_FEW {
        return entries.iter().find(|entry| entry.key == text).map(|entry| entry.key_span.line);
    }
    if seen.is_empty() {
        seen.extend(entries.iter().map(|entry| (entry.key.clone(), entry.key_span.line)));
    }
    seen.get(text).copied()
}

/// Reads a scalar by the core schema of YAML 1.2; only plain ones can be anything but a text.
fn scalar(text: &str, style: ScalarStyle) -> Value {
    if style != ScalarStyle::Plain {
        return Value::Text(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        text => number(text).unwrap_or_else(|| Value::Text(text.to_owned())),
    }
}

fn number(text: &str) -> Option<Value> {
    let radix = |prefix: &str, radix: u32| {
        let digits = text.strip_prefix(prefix)?;
        let plain = digits.chars().all(|c| c.is_digit(radix));
        plain.then(|| i64::from_str_radix(digits, radix).ok()).flatten()
    };
    if let Some(value) = radix("0x", 16).or_else(|| radix("0o", 8)) {
        return Some(Value::Int(value));
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Some(Value::Float(f64::NAN));
    }
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Some(Value::Float(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY }));
    }
    if !unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().map(Value::Int).ok().or_else(|| text.parse().map(Value::Float).ok());
    }
    is_float(unsigned).then(|| text.parse().map(Value::Float).ok()).flatten()
}

/// `1.5`, `.5`, `1.`, `1e3`: what Rust reads and the core schema means, without Rust's `inf` and `nan`.
fn is_float(text: &str) -> bool {
    let (mantissa, exponent) = text.split_once(['e', 'E']).map_or((text, None), |(m, e)| (m, Some(e)));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent_holds = exponent.is_none_or(|text| {
        let text = text.strip_prefix(['-', '+']).unwrap_or(text);
        !text.is_empty() && digits(text)
    });
    digits(whole) && digits(part) && !(whole.is_empty() && part.is_empty()) && exponent_holds
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fmt::Write as _;

    fn show(node: &Node) -> String {
        match &node.value {
            Value::Null => "null".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Int(value) => value.to_string(),
            Value::Float(value) => format!("{value:?}"),
            Value::Text(text) => format!("{text:?}"),
            Value::List(items) => format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(",")),
            Value::Map(entries) => {
                entries.iter().fold(String::from("{"), |mut text, entry| {
                    let _ = write!(text, "{}:{};", entry.key, show(&entry.value));
                    text
                }) + "}"
            }
            Value::Broken => "broken".to_owned(),
        }
    }

    fn read_all(source: &str) -> (Option<Node>, Vec<Fault>) {
        let mut faults = Faults::default();
        let node = read(source, &mut faults);
        (node, faults.into_sorted())
    }

    #[track_caller]
    fn check(source: &str, want: &str) {
        let (node, faults) = read_all(source);
        assert_eq!(faults, [], "{source}");
        assert_eq!(node.map(|node| show(&node)).unwrap_or_default(), want, "{source}");
    }

    #[track_caller]
    fn check_fault(source: &str, want: &str) {
        let (_, faults) = read_all(source);
        let near: String = source.chars().take(60).collect();
        assert!(faults.iter().any(|fault| fault.message.contains(want)), "{near}: {faults:?}");
    }

    #[test]
    fn scalars_are_those_of_yaml_1_2() {
        for (text, want) in [
            ("no", "\"no\""),
            ("yes", "\"yes\""),
            ("on", "\"on\""),
            ("True", "true"),
            ("tRue", "\"tRue\""),
            ("~", "null"),
            ("0o17", "15"),
            ("017", "17"),
            ("0x1F", "31"),
            ("0b1", "\"0b1\""),
            ("1_000", "\"1_000\""),
            ("+12", "12"),
            ("-3", "-3"),
            ("1.5", "1.5"),
            (".5", "0.5"),
            ("1.", "1.0"),
            ("1e3", "1000.0"),
            (".", "\".\""),
            ("-", "[null]"),
            ("e3", "\"e3\""),
            ("inf", "\"inf\""),
            ("nan", "\"nan\""),
            (".inf", "inf"),
            ("+.inf", "inf"),
            (".nan", "NaN"),
            ("-.nan", "\"-.nan\""),
            ("-.inf", "-inf"),
            ("12:30:45", "\"12:30:45\""),
            ("2026-01-01", "\"2026-01-01\""),
            ("99999999999999999999", "1e20"),
            ("'12'", "\"12\""),
            ("\"true\"", "\"true\""),
            ("|\n  12\n", "\"12\\n\""),
        ] {
            check(text, want);
        }
    }

    #[test]
    fn trees_are_put_together() {
        check("a: 1\nb: [x, {c: d}]\n", "{a:1;b:[\"x\",{c:\"d\";}];}");
        check("a:\n- 1\n- 2\n", "{a:[1,2];}");
        check("{}", "{}");
        check("1.0: a\ntrue: b\n0x10: c\n", "{1.0:\"a\";true:\"b\";0x10:\"c\";}");
        check("\u{feff}a: 1\r\nb: 2\r\n", "{a:1;b:2;}");
        check("", "");
        check("# only a comment\n", "");
        check("---\na: 1\n...\n", "{a:1;}");
    }

    #[test]
    fn places_are_bytes_lines_and_columns() {
        let source = "é: 1\nlong:\n  - { key: 'value' }\n";
        let (node, _) = read_all(source);
        let node = node.unwrap();
        let map = &node.get("long").unwrap().items()[0];
        let value = map.get("key").unwrap();
        assert_eq!(&source[value.span.start..value.span.end], "'value'");
        assert_eq!((value.span.line, value.span.column), (3, 12));
        assert_eq!(&source[map.span.start..map.span.end], "{ key: 'value' }");
        let marked = "\u{feff}key: 1\n";
        let place = read_all(marked).0.unwrap().entry("key").unwrap().key_span;
        assert_eq!(&marked[place.start..place.end], "key");
        let key = node.entry("é").unwrap().key_span;
        assert_eq!(&source[key.start..key.end], "é");
    }

    #[test]
    fn what_is_refused_is_named() {
        check_fault("a: 1\nb: 2\na: 3\n", "duplicate key `a`");
        check_fault("a: &x 1\nb: *x\n", "anchors are not supported");
        check_fault("a: &x 1\nb: *x\n", "aliases are not supported");
        check_fault("a: *nowhere\n", "aliases are not supported");
        check_fault("a: {<<: {b: 1}}\n", "merge keys are not supported");
        check_fault("%YAML 1.1\n---\na: yes\n", "of another version of YAML");
        check_fault("a: !!str 1\n", "tags are not supported");
        check_fault("a: !ruby/object {}\n", "tags are not supported");
        check_fault("a: 1\n---\nb: 1\n", "more than one document");
        check_fault("? [a, b]\n: 1\n", "a key must be a text, found a list");
        check_fault(": 1\n", "a key must be a text, found nothing");
        check_fault("a: [1\n", "not YAML");
        check_fault("a: 'x\n", "not YAML");
        check_fault("a:\n\tb: 1\n", "a tab indents this line");
        check_fault(&" ".repeat(DEFINITION_BYTES_MAX + 1), "longer than 1048576 bytes");
        check_fault(&"[".repeat(40), "deeper than 32");
        check_fault(&(0..40).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect::<String>(), "deeper than 32");
        check_fault(&"- ".repeat(40), "deeper than 32");
        check_fault(&"- 1\n".repeat(NODES_MAX), "more than 50000 values");
    }

    #[test]
    fn duplicates_are_found_among_few_keys_and_among_many() {
        for count in [1, KEYS_FEW - 1, KEYS_FEW, KEYS_FEW + 1, 5 * KEYS_FEW] {
            for again in [0, count / 2, count - 1] {
                let keys: String = (0..count).map(|n| format!("k{n}: 1\n")).collect();
                let (_, faults) = read_all(&format!("{keys}k{again}: 2\nlast: 1\n"));
                let [fault] = faults.as_slice() else { panic!("{count} {again}: {faults:?}") };
                assert_eq!(fault.message, format!("duplicate key `k{again}`"));
                assert_eq!(fault.help.as_deref(), Some(&*format!("it was given before, on line {}", again + 1)));
            }
        }
    }

    #[test]
    fn all_faults_of_a_file_are_told() {
        let (_, faults) = read_all("a: 1\na: 2\nb: *x\nc: !t 1\nc: 2\n");
        assert_eq!(faults.len(), 4, "{faults:?}");
        assert!(faults.is_sorted_by_key(|fault| fault.span));
    }

    /// Hostile texts near the size bound must end in bounded time: the test would hang, not fail, on a parser that
    /// takes quadratic time.
    #[test]
    fn hostile_texts_end_soon() {
        let bomb = (1..40).fold(String::from("a0: &a0 [x, x]\n"), |mut text, n| {
            let _ = writeln!(text, "a{n}: &a{n} [{0}, {0}, {0}]", format!("*a{}", n - 1));
            text
        });
        check_fault(&bomb, "anchors are not supported");
        for unit in
            ["[", "{", "? ", "- ", "a: ", "\"", "'", "&a ", "*a ", "!a ", "|\n", "a:\n ", "[]", "{a: ", "\\", "%", ","]
        {
            let text = unit.repeat(DEFINITION_BYTES_MAX / unit.len());
            let _ = read_all(&text);
        }
        let _ = read_all(&format!("a: {}", "x ".repeat(500_000)));
        let _ = read_all(&format!("a: |\n{}", " \n".repeat(500_000)));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_text_makes_it_panic(text in "[ab:\\-\\[\\]{},&*!|>'\"%@`#\n\t ~1é\u{0}\u{feff}]{0,60}") {
            let (node, _) = read_all(&text);
            if let Some(node) = node {
                prop_assert!(node.span.start <= node.span.end && node.span.end <= text.len());
            }
        }
    }
}
