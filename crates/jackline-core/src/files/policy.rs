//! One file policy: front matter and body, read with places, every fault found at once.

use serde::{Deserialize, Serialize};

use super::command::{Command, Spliced};
use super::pattern::{self, Pattern};
use super::promise::folded_name;
use super::text::INSTRUCTIONS_BYTES_MAX;
use crate::definition::fault::{Faults, quoted};
use crate::definition::model::spelled;
use crate::definition::yaml::{Node, Value};
use crate::definition::{self, Fault, Span};
use crate::sha::Digest;

/// Bytes of one policy's file: instructions that an agent is to read, not a book.
pub const POLICY_BYTES_MAX: usize = 64 * 1024;
/// Policies of one folder: each is held against every changed file.
pub const POLICIES_MAX: usize = 1000;
/// Patterns of one policy.
pub const PATTERNS_MAX: usize = 64;
/// Bytes of a policy's name: it stands in a promise, which an agent spells out.
pub const NAME_BYTES_MAX: usize = 200;
/// The line around the front matter.
const FENCE: &str = "---";

/// One policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// The file's name without its ending.
    pub id: String,
    /// What people and promises call it.
    pub name: String,
    pub detection: Detection,
    pub compare_to: CompareTo,
    pub action: Action,
    /// The instructions.
    pub body: String,
    /// Of the whole file, to be trusted by.
    pub digest: Digest,
    /// Why it may not do what its owner thinks.
    pub warnings: Vec<Fault>,
}

/// When a policy fires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detection {
    Trigger { trigger: Vec<Pattern>, safety: Vec<Pattern> },
    Set(Vec<Pattern>),
    Pair { trigger: Pattern, expects: Vec<Pattern> },
    Created(Vec<Pattern>),
}

/// What happens when it fires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// The body is shown to the agent.
    Prompt,
    Command(Command),
}

/// Since when a file counts as changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompareTo {
    /// Since the branch left the remote's default branch.
    #[default]
    Base,
    /// Against the tip of the remote's default branch.
    DefaultTip,
    /// Since the last prompt.
    Prompt,
}

spelled!(CompareTo { Base = "base", DefaultTip = "default_tip", Prompt = "prompt" });

/// How often a command is run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunFor {
    #[default]
    EachMatch,
    AllMatches,
}

spelled!(RunFor { EachMatch = "each_match", AllMatches = "all_matches" });

impl Policy {
    /// Reads a policy's file; `id` is its name without the ending.
    ///
    /// # Errors
    /// Every fault of it, in the order of the source.
    pub fn parse(id: &str, source: &str) -> Result<Self, Vec<Fault>> {
        let text = source.strip_prefix('\u{feff}').unwrap_or(source);
        let (front, body) = split(text).map_err(|fault| vec![fault])?;
        let mut faults = Faults::default();
        let tree = definition::front_matter(front, &mut faults);
        let read = tree.as_ref().and_then(|tree| Reader { tree, faults: &mut faults }.policy(id, body));
        match read {
            Some(policy) if !faults.any_error() => {
                Ok(Self { digest: Digest::of(source.as_bytes()), warnings: faults.into_sorted(), ..policy })
            }
            _ => {
                if !faults.any_error() {
                    faults.push(Fault::error("the front matter is empty").at(begin()).help(BEGIN_HELP));
                }
                Err(faults.into_sorted())
            }
        }
    }

    /// All its patterns.
    pub fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        let (fires, beside) = self.sides();
        fires.iter().chain(beside)
    }

    /// The patterns it fires by, and those that keep it from firing: `safety`, or what is expected.
    #[must_use]
    pub fn sides(&self) -> (&[Pattern], &[Pattern]) {
        match &self.detection {
            Detection::Trigger { trigger, safety } => (trigger, safety),
            Detection::Set(patterns) | Detection::Created(patterns) => (patterns, &[]),
            Detection::Pair { trigger, expects } => (std::slice::from_ref(trigger), expects),
        }
    }
}

/// What a file that says nothing is told.
const BEGIN_HELP: &str = "begin it with a line `---`, the keys, another line `---`, and then the instructions";

fn begin() -> Span {
    Span { line: 1, column: 1, ..Span::default() }
}

/// The front matter, with its opening line so that places in it are places in the file, and the body.
fn split(text: &str) -> Result<(&str, &str), Fault> {
    if text.len() > POLICY_BYTES_MAX {
        return Err(Fault::error(format!("the policy is longer than {POLICY_BYTES_MAX} bytes")));
    }
    let mut at = 0;
    if text.trim().is_empty() {
        return Err(Fault::error("the front matter is missing").at(begin()).help(BEGIN_HELP));
    }
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let fence = line.trim_end() == FENCE;
        if number == 0 && !fence {
            return Err(Fault::error("the front matter is missing").at(begin()).help(BEGIN_HELP));
        }
        if number > 0 && fence {
            let body = text.get(at + line.len()..).unwrap_or_default();
            return Ok((text.get(..at).unwrap_or_default(), body.trim()));
        }
        at += line.len();
    }
    Err(Fault::error("the front matter does not end").at(begin()).help("close it with a line `---`"))
}

/// A tree on its way to a policy. What its shape forbids is a fault already.
struct Reader<'a> {
    tree: &'a Node,
    faults: &'a mut Faults,
}

impl Reader<'_> {
    fn policy(&mut self, id: &str, body: &str) -> Option<Policy> {
        let tree = self.tree;
        let detection = self.detection();
        let action = self.action(body);
        let name = tree.get("name").and_then(Node::text).unwrap_or(id).trim().to_owned();
        self.name(&name);
        let compare_to = tree.get("compare_to").and_then(Node::text).and_then(CompareTo::parse).unwrap_or_default();
        let (id, body, digest, warnings) = (id.to_owned(), body.to_owned(), Digest::ZERO, Vec::new());
        Some(Policy { id, name, detection: detection?, compare_to, action: action?, body, digest, warnings })
    }

    /// A name that no promise could say would leave only one way out.
    fn name(&mut self, name: &str) {
        let node = self.tree.get("name").unwrap_or(self.tree);
        if folded_name(name).is_empty() || name.len() > NAME_BYTES_MAX || name.contains(['<', '>', '\n', '\r']) {
            let message = format!("the name {} cannot stand in a promise", quoted(name));
            let help = format!("use 1 to {NAME_BYTES_MAX} bytes on one line, without `<` and `>`");
            self.faults.push(Fault::error(message).at(node.span).help(help));
        }
    }

    fn detection(&mut self) -> Option<Detection> {
        let tree = self.tree;
        if tree.get("safety").is_some() && tree.get("trigger").is_none() {
            let at = tree.entry("safety").map(|entry| entry.key_span).unwrap_or_default();
            // The older layout accepts it there, and does not look at it either.
            self.faults.push(Fault::warning("`safety` is only looked at with `trigger`").at(at).help("remove it"));
        }
        if let Some(node) = tree.get("trigger") {
            let safety = tree.get("safety").map(|node| self.globs(node)).unwrap_or_default();
            let trigger = self.globs(node);
            self.safe_always(&trigger, &safety);
            return Some(Detection::Trigger { trigger, safety });
        }
        if let Some(node) = tree.get("created") {
            return Some(Detection::Created(self.globs(node)));
        }
        if let Some(node) = tree.get("set") {
            return self.set(node);
        }
        self.pair(tree.get("pair")?)
    }

    /// What fires a policy must not be all that keeps it from firing.
    fn safe_always(&mut self, trigger: &[Pattern], safety: &[Pattern]) {
        let safe = |pattern: &Pattern| safety.iter().any(|other| other.is_same(pattern));
        if !trigger.is_empty() && trigger.iter().all(safe) {
            let at = self.tree.entry("safety").map(|entry| entry.key_span).unwrap_or_default();
            let fault = Fault::warning("`safety` has all that `trigger` has, so the policy never fires").at(at);
            self.faults.push(fault.help("name other files: those that need not be looked at where they changed too"));
        }
    }

    fn globs(&mut self, node: &Node) -> Vec<Pattern> {
        self.patterns(node, Pattern::glob).into_iter().map(|(pattern, _)| pattern).collect()
    }

    /// One pattern or a list of them, each with its place; one that cannot be read is a fault.
    fn patterns(&mut self, node: &Node, read: fn(&str) -> Result<Pattern, String>) -> Vec<(Pattern, Span)> {
        let nodes = if node.text().is_some() { std::slice::from_ref(node) } else { node.items() };
        if nodes.len() > PATTERNS_MAX {
            let message = format!("there are {} patterns, more than {PATTERNS_MAX}", nodes.len());
            self.faults.push(Fault::error(message).at(node.span));
        }
        let mut all = Vec::new();
        for node in nodes.iter().take(PATTERNS_MAX) {
            let Some(text) = node.text() else { continue };
            if let Some((what, help)) = pattern::odd(text) {
                let message = format!("pattern {} {what}", quoted(text));
                self.faults.push(Fault::warning(message).at(node.span).help(help));
            }
            match read(text) {
                Ok(pattern) => all.push((pattern, node.span)),
                Err(why) => {
                    let message = format!("pattern {} {why}", quoted(text));
                    self.faults.push(Fault::error(message).at(node.span).help_if(closed(text, &why)));
                }
            }
        }
        all
    }

    fn set(&mut self, node: &Node) -> Option<Detection> {
        let patterns = self.patterns(node, Pattern::capturing);
        if node.items().len() < 2 {
            let message = "a set has at least two patterns";
            self.faults.push(Fault::error(message).at(node.span).help("name what must change along with it"));
        }
        for (at, (pattern, span)) in patterns.iter().enumerate() {
            if patterns.iter().take(at).any(|(earlier, _)| earlier.is_same(pattern)) {
                let message = format!("the set has {} twice, which asks for nothing", quoted(pattern.text()));
                self.faults.push(Fault::error(message).at(*span).help("name what must change along with it"));
            }
            let others = patterns.iter().enumerate().filter(|(other, _)| *other != at);
            for (_, (other, _)) in others {
                self.resolvable(pattern, other, *span);
            }
        }
        Some(Detection::Set(patterns.into_iter().map(|(pattern, _)| pattern).collect()))
    }

    fn pair(&mut self, node: &Node) -> Option<Detection> {
        let trigger = self.patterns(node.get("trigger")?, Pattern::capturing);
        let expects = self.patterns(node.get("expects")?, Pattern::capturing);
        let (trigger, _) = trigger.into_iter().next()?;
        for (expected, span) in &expects {
            self.resolvable(expected, &trigger, *span);
            if expected.is_same(&trigger) {
                let message = format!("{} asks for itself, which asks for nothing", quoted(expected.text()));
                self.faults.push(Fault::error(message).at(*span).help("name what must change along with it"));
            }
        }
        Some(Detection::Pair { trigger, expects: expects.into_iter().map(|(pattern, _)| pattern).collect() })
    }

    /// Every variable of an expected pattern is captured by the one that asks for it.
    fn resolvable(&mut self, expected: &Pattern, by: &Pattern, span: Span) {
        for name in expected.variables().iter().filter(|name| !by.variables().contains(name)) {
            let message = format!("the variable `{name}` is not captured by {}", quoted(by.text()));
            let help = format!("let both have `{{{name}}}`, or use `*`, which may be any name");
            self.faults.push(Fault::error(message).at(span).help(help));
        }
    }

    fn action(&mut self, body: &str) -> Option<Action> {
        if body.len() > INSTRUCTIONS_BYTES_MAX {
            let message = format!("only the first {INSTRUCTIONS_BYTES_MAX} bytes of the instructions are shown");
            let help = "say there what is to be done, and name a file to read on in";
            self.faults.push(Fault::warning(message).at(self.tree.span).help(help));
        }
        let Some(node) = self.tree.get("action") else {
            if body.is_empty() {
                let help = "write below the front matter what the agent is to do, or give it an `action`";
                self.faults.push(Fault::error("the policy has no instructions").at(self.tree.span).help(help));
            }
            return Some(Action::Prompt);
        };
        let given = node.get("command")?;
        let run_for = node.get("run_for").and_then(Node::text).and_then(RunFor::parse).unwrap_or_default();
        let command = match &given.value {
            Value::Text(text) => Command::parse(text, run_for),
            _ => Command::of(given.items().iter().filter_map(Node::text).map(str::to_owned).collect(), run_for),
        };
        if let (Ok(command), true) = (&command, given.text().is_some()) {
            let warned = command.odd().map(|(what, help)| Fault::warning(what).at(given.span).help(help));
            warned.into_iter().for_each(|fault| self.faults.push(fault));
        }
        let run = command.as_ref().ok().and_then(Command::spliced).map(run_name);
        run.into_iter().for_each(|fault| self.faults.push(fault.at(given.span)));
        command.map(Action::Command).map_err(|why| self.faults.push(Fault::error(why).at(given.span))).ok()
    }
}

/// That a file's name would be run: whoever names a file would say what the owner's command does.
fn run_name(Spliced { word, by }: Spliced) -> Fault {
    let help = "give it as an argument of its own: `sh -c '… \"$1\" …' sh {file}`";
    match by {
        Some(by) => {
            Fault::error(format!("{} is run by {by}, and a file's name would be run with it", quoted(&word))).help(help)
        }
        None => Fault::warning(format!("the program may run {}, and a file's name with it", quoted(&word))).help(help),
    }
}

/// The remedy for a brace that was not closed, where it can be guessed: in front of the ending.
fn closed(text: &str, why: &str) -> Option<String> {
    let (before, ending) = text.rsplit_once('.').filter(|_| why.contains("unclosed brace") && !text.contains(','))?;
    Some(format!("close it: `{before}}}.{ending}`"))
}

#[cfg(test)]
mod tests;
