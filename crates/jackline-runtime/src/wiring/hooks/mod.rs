//! Hooks in a host's JSON settings: how an entry looks, adding and removing ours. What differs between hosts is data.
//!
//! An entry is ours when its program's file name is `jackline` and its arguments begin with `hook` and the host's name.

mod survey;

use std::borrow::Cow;

use serde_json::{Value, json};

use super::edit::{Edits, Shape, fresh, on_one_line};
use super::shield::Shield;
use super::spans::{self, Kind, Node};
use super::timeouts::{TIMEOUT_S, Timeouts};
use super::{CommandLine, Removed, SettingsFault, Wiring, comments};

pub(super) use survey::disabled;
pub(super) use survey::is_ours;
pub use survey::{Entry, Flaw, HOOK_S_MAX, Survey};

/// An event that asks us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookEvent {
    pub event: &'static str,
    /// Whether a failed hook must block: where passing would let something through. A person's prompt, a compaction or
    /// the end of a turn is not held up by a broken guard.
    pub gate: bool,
    /// Whether an agent wants to stop, where commands may run.
    pub stops: bool,
}

impl HookEvent {
    /// A tool, or a change of settings, waits for the answer.
    #[must_use]
    pub const fn gate(event: &'static str) -> Self {
        Self { event, gate: true, stops: false }
    }

    /// An agent wants to stop.
    #[must_use]
    pub const fn stop(event: &'static str) -> Self {
        Self { event, gate: false, stops: true }
    }

    /// Anything else.
    #[must_use]
    pub const fn other(event: &'static str) -> Self {
        Self { event, gate: false, stops: false }
    }
}

/// How a host's settings name hooks.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// The host's name on our command line.
    pub host: &'static str,
    /// Every event that asks us.
    pub events: &'static [HookEvent],
    /// Numbers that a file of hooks begins with: `version`, where a host wants one.
    pub head: &'static [(&'static str, u64)],
    /// Whether entries stand in groups, `{"hooks": [entry]}`, or directly in the event's list.
    pub grouped: bool,
    /// Whether an entry has a `type`.
    pub typed: bool,
    /// Whether an entry has a `name` of its own.
    pub named: bool,
    /// The member that says what is run.
    pub command: &'static str,
    /// Whether that is a program, with its arguments in `args`; a shell's text otherwise.
    pub exec: bool,
    /// How the text of a gate refuses by itself when our program cannot be run or fails: for hosts that would let the call
    /// pass then.
    pub shield: Option<Shield>,
    /// Variables that an entry sets for what it runs, where the host's shell would read files by others.
    pub env: &'static [(&'static str, &'static str)],
    /// The member that says how long the host waits, and what of it makes a second.
    pub timeout: (&'static str, u64),
    /// The member of a gate by which a failed hook blocks, where the host knows one.
    pub on_failure: Option<(&'static str, Word)>,
    /// Whether the host allows comments in its settings.
    pub comments: bool,
    /// Whether it takes a byte order mark in front of them.
    pub marked: bool,
    /// What the settings beside our entries do to them.
    pub beside: fn(&Value, &mut Survey),
}

/// What entries shall run, and how long the host waits for it.
#[derive(Debug, Clone, Copy)]
struct Wanted<'a> {
    line: &'a CommandLine,
    timeouts: Timeouts,
}

/// A bash that is given a socket and takes itself for the first of its kind reads the user's startup file, and one that is
/// told to another: what stands there could answer in our place. Clients that run on Node hand hooks a socket.
pub(super) const NO_STARTUP_FILES: &[(&str, &str)] = &[("SHLVL", "9"), ("BASH_ENV", "")];

/// A value that never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    Text(&'static str),
    Yes,
}

impl Word {
    fn value(self) -> Value {
        match self {
            Self::Text(text) => json!(text),
            Self::Yes => json!(true),
        }
    }
}

impl Wiring for Form {
    fn add(&self, text: Option<&str>, line: &CommandLine, timeouts: Timeouts) -> Result<String, SettingsFault> {
        let Some(text) = text else { return Ok(format!("{}\n", self.fresh(line, timeouts))) };
        if spans::blank(text.as_bytes()) {
            return Ok(format!("{}{text}", self.fresh(line, timeouts)));
        }
        if let Some(key) = self.survey(text.as_bytes())?.refused {
            return Err(SettingsFault::Refused(key));
        }
        if self.holds_exactly(text, line, timeouts)? {
            return Ok(text.to_owned());
        }
        let wanted = Wanted { line, timeouts };
        let text = self.renewed(text, wanted)?;
        match self.without(&text, Some(wanted))? {
            Removed::Nothing => self.insert(&text, wanted),
            Removed::Rest(rest) => self.insert(&rest, wanted),
            Removed::All => self.add(None, line, timeouts),
        }
    }

    fn remove(&self, text: &str) -> Result<Removed, SettingsFault> {
        self.without(text, None)
    }

    fn shielded(&self, line: &CommandLine) -> Option<CommandLine> {
        self.shield.map(|shield| shield.before(line))
    }

    fn survey(&self, text: &[u8]) -> Result<Survey, SettingsFault> {
        survey::survey(self, text)
    }
}

impl Form {
    /// As most hosts have it, and nothing more: each row names what it has otherwise.
    pub(super) const fn usual(host: &'static str, events: &'static [HookEvent]) -> Self {
        Self {
            host,
            events,
            head: &[],
            grouped: true,
            typed: true,
            named: false,
            command: "command",
            exec: false,
            shield: None,
            env: &[],
            timeout: ("timeout", 1),
            on_failure: None,
            comments: false,
            marked: false,
            beside: |_, _| {},
        }
    }

    /// The settings as the host reads them, where they stand: comments are blanks, if it allows them.
    fn plain<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.comments { Cow::Owned(comments::blanked(text)) } else { Cow::Borrowed(text) }
    }

    /// The settings in which the first entry of ours for each event is as it is wanted, in the place where it stood: the
    /// entries behind it may be known by their places.
    fn renewed(&self, text: &str, wanted: Wanted<'_>) -> Result<String, SettingsFault> {
        let plain = self.plain(text);
        let (root, _) = spans::read(&plain)?;
        let Some(hooks) = hooks(&root)? else { return Ok(text.to_owned()) };
        let mut edits = Edits::new(&plain, &root).onto(text);
        for asked in self.events {
            let Some(list) = hooks.member(asked.event) else { continue };
            let list = list_of(asked.event, list)?;
            let element = self.element(asked, wanted);
            let ours = list.items.iter().map(|item| &item.node).filter(|node| self.is_whole(&plain, node));
            let ours: Vec<&Node> = ours.collect();
            if let [first, ..] = ours.as_slice()
                && !ours.iter().any(|node| node.value(&plain) == element.value())
            {
                edits.put(first.span.clone(), on_one_line(&element));
            }
        }
        Ok(edits.done())
    }

    /// Whether an element holds entries of ours, and none of anybody else.
    fn is_whole(&self, text: &str, element: &Node) -> bool {
        let value = element.value(text);
        if !self.grouped {
            return survey::is_ours(self, &value);
        }
        let entries = value.get("hooks").and_then(Value::as_array);
        entries.is_some_and(|all| !all.is_empty() && all.iter().all(|entry| survey::is_ours(self, entry)))
    }

    /// The settings without our entries, but for the first of each event that is as it is wanted.
    fn without(&self, text: &str, spared: Option<Wanted<'_>>) -> Result<Removed, SettingsFault> {
        if spans::blank(text.as_bytes()) {
            return Ok(Removed::Nothing);
        }
        let plain = self.plain(text);
        let (root, _) = spans::read(&plain)?;
        let Some(hooks) = hooks(&root)? else { return Ok(Removed::Nothing) };
        let mut edits = Edits::new(&plain, &root).onto(text);
        let mut found = false;
        let mut gone = Vec::new();
        for item in &hooks.items {
            let event = item.key.as_deref().unwrap_or_default();
            let asked = self.events.iter().find(|asked| asked.event == event);
            let spared = spared.zip(asked).map(|(wanted, asked)| self.element(asked, wanted).value());
            let (any, whole) = self.remove_event((&plain, spared), &mut edits, event, &item.node)?;
            found |= any;
            gone.push(whole);
        }
        if !found {
            return Ok(Removed::Nothing);
        }
        if !edits.emptied(hooks, &gone) {
            return Ok(Removed::Rest(edits.done()));
        }
        Ok(match edits.left(&root, "hooks") {
            Removed::Rest(rest) if self.is_bare(&rest) => Removed::All,
            left => left,
        })
    }

    /// What stands in an event's list for us; without a matcher it is asked for every tool.
    fn element(&self, asked: &HookEvent, wanted: Wanted<'_>) -> Shape<'static> {
        let Wanted { line, timeouts } = wanted;
        let mut hook: Vec<(&str, Shape<'_>)> = Vec::new();
        let mut put = |key: &'static str, value: Value| hook.push((key, Shape::Leaf(value)));
        if self.typed {
            put("type", json!("command"));
        }
        if self.named {
            put("name", json!("jackline"));
        }
        if self.exec {
            put(self.command, json!(line.program));
            put("args", json!(line.arguments));
        } else {
            let shielded = self.shielded(line).filter(|_| asked.gate);
            put(self.command, json!(shielded.as_ref().unwrap_or(line).in_shell()));
        }
        let seconds = if asked.stops { timeouts.stop_s } else { TIMEOUT_S };
        put(self.timeout.0, json!(seconds * self.timeout.1));
        if let Some((key, value)) = self.on_failure.filter(|_| asked.gate) {
            put(key, value.value());
        }
        if !self.env.is_empty() {
            let env = self.env.iter().map(|(name, value)| (*name, Shape::Leaf(json!(value))));
            hook.push(("env", Shape::Object(env.collect())));
        }
        let hook = Shape::Object(hook);
        let element = if self.grouped { Shape::Object(vec![("hooks", Shape::Array(vec![hook]))]) } else { hook };
        // On one line, because a person reads a dozen of them in a diff.
        Shape::Line(Box::new(element))
    }

    fn fresh(&self, line: &CommandLine, timeouts: Timeouts) -> String {
        let mut members = self.head();
        members.push(("hooks", self.all(Wanted { line, timeouts })));
        fresh(&members)
    }

    fn head(&self) -> Vec<(&'static str, Shape<'static>)> {
        self.head.iter().map(|(key, number)| (*key, Shape::Leaf(json!(number)))).collect()
    }

    /// Whether nothing is in a text but what a new file begins with.
    fn is_bare(&self, text: &str) -> bool {
        !self.head.is_empty() && text == format!("{}\n", fresh(&self.head()))
    }

    fn all(&self, wanted: Wanted<'_>) -> Shape<'static> {
        let list = |asked: &HookEvent| Shape::Array(vec![self.element(asked, wanted)]);
        Shape::Object(self.events.iter().map(|asked| (asked.event, list(asked))).collect())
    }

    /// Takes our entries out of one event; whether there were any, and whether the event goes as a whole.
    fn remove_event(
        &self,
        (text, mut spared): (&str, Option<Value>),
        edits: &mut Edits<'_>,
        event: &str,
        list: &Node,
    ) -> Result<(bool, bool), SettingsFault> {
        let list = list_of(event, list)?;
        let mut gone = Vec::new();
        let mut found = false;
        for item in &list.items {
            if spared.take_if(|spared| item.node.value(text) == *spared).is_some() {
                gone.push(false);
                continue;
            }
            let (any, whole) = self.remove_element(text, edits, &item.node);
            found |= any;
            gone.push(whole);
        }
        let whole = gone.contains(&true) && edits.emptied(list, &gone);
        Ok((found, whole))
    }

    /// The same of one element: a group, where the host has them, or an entry.
    fn remove_element(&self, text: &str, edits: &mut Edits<'_>, element: &Node) -> (bool, bool) {
        if !self.grouped {
            let ours = survey::is_ours(self, &element.value(text));
            return (ours, ours);
        }
        let Some(entries) = element.member("hooks").filter(|entries| entries.kind == Kind::Array) else {
            return (false, false);
        };
        let ours: Vec<bool> = entries.items.iter().map(|item| survey::is_ours(self, &item.node.value(text))).collect();
        let any = ours.contains(&true);
        let whole = any && ours.iter().all(|ours| *ours);
        if any && !whole {
            edits.drop_items(entries, &ours);
        }
        (any, whole)
    }

    /// Adds the entries that are not there yet.
    fn insert(&self, text: &str, wanted: Wanted<'_>) -> Result<String, SettingsFault> {
        let plain = self.plain(text);
        let (root, _) = spans::read(&plain)?;
        let mut edits = Edits::new(&plain, &root).onto(text);
        let mut at_root: Vec<(&str, Shape<'_>)> = self.head();
        at_root.retain(|(key, _)| root.member(key).is_none());
        let Some(hooks) = hooks(&root)? else {
            at_root.push(("hooks", self.all(wanted)));
            edits.add_members(&root, &at_root);
            return Ok(edits.done());
        };
        edits.add_members(&root, &at_root);
        let mut missing = Vec::new();
        for asked in self.events {
            let element = self.element(asked, wanted);
            let is_there = |list: &Node| list.items.iter().any(|item| item.node.value(&plain) == element.value());
            match hooks.member(asked.event) {
                Some(list) if is_there(list) => {}
                Some(list) => edits.add_element(list_of(asked.event, list)?, &element),
                None => missing.push((asked.event, Shape::Array(vec![element]))),
            }
        }
        edits.add_members(hooks, &missing);
        Ok(edits.done())
    }

    /// Whether our entries stand there as they would be written now, once each, and no other of ours.
    fn holds_exactly(&self, text: &str, line: &CommandLine, timeouts: Timeouts) -> Result<bool, SettingsFault> {
        let settings = spans::settings(self.plain(text).as_bytes())?;
        let list =
            |event: &str| settings.pointer("/hooks").and_then(|hooks| hooks.get(event)).and_then(Value::as_array);
        let once = |asked: &HookEvent| {
            let wanted = self.element(asked, Wanted { line, timeouts }).value();
            list(asked.event).is_some_and(|list| list.iter().filter(|element| **element == wanted).count() == 1)
        };
        Ok(self.events.iter().all(once) && self.survey(text.as_bytes())?.entries.len() == self.events.len())
    }
}

fn hooks(root: &Node) -> Result<Option<&Node>, SettingsFault> {
    let wrong = || SettingsFault::WrongType { place: "hooks".to_owned(), wanted: "an object" };
    match root.member("hooks") {
        Some(hooks) if hooks.kind != Kind::Object => Err(wrong()),
        hooks => Ok(hooks),
    }
}

fn list_of<'a>(event: &str, list: &'a Node) -> Result<&'a Node, SettingsFault> {
    let wrong = || SettingsFault::WrongType { place: format!("hooks.{event}"), wanted: "an array" };
    if list.kind == Kind::Array { Ok(list) } else { Err(wrong()) }
}
