//! What a model must mean beyond its form: patterns that compile, names that exist, orders that can be met.
//!
//! Works on the model, so a definition built in code is held to the same; a tree only lends the places.

mod completion;
mod cycle;
mod feedback;
mod matching;
mod proofs;
mod sense;

use std::collections::{BTreeMap, BTreeSet};

use super::bounds::Bounds;
use super::expansion::{self, MATCHERS_MAX};
use super::fault::{Fault, Faults, did_you_mean, nearest, quoted};
use super::model::{
    Deadline, FilePolicies, Guard, Kind, Limits, Loop, Matcher, Missing, Model, Paths, Policy, Rego, Section, Sequence,
    Step, Tools, Use,
};
use super::overriding;
use super::place::At;
use super::uses;
use super::yaml::Node;
use crate::glob;
use crate::overrides::{OVERRIDES_MAX, Override};
use cycle::{Graph, arrows, cycle, requirements};

/// Matchers inside matchers: as deep as a file may nest.
pub(super) const MATCHER_DEPTH_MAX: usize = 32;
/// Characters of a name: it stands in codes, reasons and records.
pub(super) const NAME_CHARS_MAX: usize = 128;
/// Regular expressions of a definition: each may take a millisecond to compile.
pub(super) const REGEXES_MAX: usize = 256;
/// Bytes of one compiled regular expression: enough for any pattern over an argument, and quick to compile.
const REGEX_BYTES_MAX: usize = 256 * 1024;
/// Near misses looked for: beyond this, a definition names tools of a host we were not told of.
const SUGGESTIONS_MAX: usize = 20;
/// Names compared for a near miss.
const SUGGESTION_NAMES_MAX: usize = 2_000;

/// Compiles a regular expression within our bounds; guards use this too, so that what was checked is what runs.
pub fn compile_regex(pattern: &str) -> Result<regex_lite::Regex, String> {
    regex_lite::RegexBuilder::new(pattern)
        .size_limit(REGEX_BYTES_MAX)
        .build()
        .map_err(|error| error.to_string().replace('\n', " "))
}

/// Checks a model and names every fault.
pub(super) fn check(model: &Model, tree: Option<&Node>, known_tools: &[&str], faults: &mut Faults) {
    let names = Names::new(model, known_tools);
    let mut check = Check { tree, faults, names, owner: String::new(), regexes: 0, suggestions: 0 };
    let root = At::Root;
    check.declarations(model, &root.key("tools").key("declare"));
    check.steps(model, &root.key("steps"));
    check.policies(model);
    check.expansion(model, &root.key("steps"));
    check.shared_cycle(model);
    if let Some(repeat) = &model.repeat {
        check.repeat(repeat, &root.key("loop"));
    }
    check.limits(&model.limits, &root.key("limits"));
    check.bounds("reads", model.reads, &root.key("reads"));
    check.bounds("outputs", model.outputs, &root.key("outputs"));
    check.globs(&model.own.allow, &root.key("self").key("allow"));
    check.uses(&model.packs, &root.key("use"));
    if let Some(completion) = &model.completion {
        check.completion(completion, &root.key("completion"));
    }
    check.required(model, &root.key("todos").key("require"));
    check.checks(&model.checks, &root.key("checks"));
    check.feedback(model, &root.key("feedback"));
    check.file_policies(&model.file_policies, &root.key("file_policies"));
    // What is broken is not looked at for sense.
    if !check.faults.any_error() {
        check.futile(model);
    }
}

/// Every name a definition may use for a tool.
struct Names<'a> {
    steps: BTreeSet<&'a str>,
    tools: BTreeSet<&'a str>,
    /// What is declared, patterns included.
    declared: &'a Tools,
}

impl<'a> Names<'a> {
    fn new(model: &'a Model, known_tools: &[&'a str]) -> Self {
        Self {
            steps: model.steps.iter().map(|step| step.name.as_str()).collect(),
            tools: model.tools.named().chain(known_tools.iter().copied()).collect(),
            declared: &model.tools,
        }
    }

    fn has(&self, name: &str) -> bool {
        self.steps.contains(name) || self.tools.contains(name) || self.declared.declared(name).is_some()
    }

    fn all(&self) -> impl Iterator<Item = &'a str> {
        self.steps.iter().chain(&self.tools).copied().take(SUGGESTION_NAMES_MAX)
    }
}

/// Where a name stands: a tool name may be a pattern in some places and not in others.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Pattern,
    Exact,
}

struct Check<'a> {
    tree: Option<&'a Node>,
    faults: &'a mut Faults,
    names: Names<'a>,
    /// Whose faults these are, as faults begin: `policy "x": `.
    owner: String,
    regexes: usize,
    suggestions: usize,
}

impl<'a> Check<'a> {
    fn put(&mut self, fault: Fault, at: &At<'_>) {
        let (tree, owner) = (self.tree, &self.owner);
        let placed = || {
            let span = tree.map(|tree| at.span(tree));
            Fault { message: format!("{owner}{}", fault.message), span, ..fault.clone() }
        };
        // Looking a place up costs a walk through the tree: only for faults that are kept.
        if fault.warning { self.faults.warn_with(placed) } else { self.faults.error_with(placed) }
    }

    fn error(&mut self, message: String, help: Option<&str>, at: &At<'_>) {
        self.put(Fault::error(message).help_if(help.map(str::to_owned)), at);
    }

    fn warn(&mut self, message: String, help: Option<String>, at: &At<'_>) {
        self.put(Fault::warning(message).help_if(help), at);
    }

    /// An error that only repeats another one if the tree has a fault there already.
    fn echo(&mut self, message: String, help: Option<&str>, at: &At<'_>) {
        let told = self.tree.is_some_and(|tree| self.faults.error_inside(&at.span(tree)));
        if !told {
            self.error(message, help, at);
        }
    }

    fn own_name(&mut self, what: &str, name: &str, at: &At<'_>) {
        if name.is_empty() {
            self.echo(format!("a {what} has no name"), None, at);
        } else if name.chars().nth(NAME_CHARS_MAX).is_some() {
            self.error(format!("the name {} is longer than {NAME_CHARS_MAX} characters", quoted(name)), None, at);
        } else if name.chars().any(char::is_control) {
            self.error(format!("the name {} has control characters", quoted(name)), None, at);
        }
    }

    fn uses(&mut self, packs: &[Use], at: &At<'_>) {
        for (index, found) in uses::faults(packs) {
            let item = at.item(index);
            match &found.policy {
                Some(policy) => self.put(found.fault, &item.key("enforce").name(policy)),
                None => self.put(found.fault, &item),
            }
        }
    }

    fn declarations(&mut self, model: &Model, at: &At<'_>) {
        for (name, declaration) in &model.tools.declare {
            self.own_name("tool", name, &at.name(name));
            if name.starts_with('@') {
                let message = format!("tool {} cannot be declared: no tool is called that", quoted(name));
                self.error(message, Some("name a tool, or several with `*`; `@` is for matchers"), &at.name(name));
            }
            if name.contains('*') {
                self.glob(name, glob::check_text(name), &at.name(name));
            }
            if declaration.schema.is_none() && model.validation.missing == Missing::Deny {
                let message = format!("tool {} has no schema, so every call of it is refused", quoted(name));
                let help = "give it a `schema`, or let `schema.missing` be `allow`".to_owned();
                self.warn(message, Some(help), &at.name(name));
            }
            if declaration.path.iter().any(String::is_empty) {
                self.echo(format!("tool {}: an argument name is empty", quoted(name)), None, &at.key(name));
            }
        }
    }

    fn steps(&mut self, model: &'a Model, at: &At<'_>) {
        let mut seen = BTreeSet::new();
        for step in &model.steps {
            self.owner = format!("step {:?}: ", clip(&step.name));
            self.step_name(step, model, &at.name(&step.name));
            if !seen.insert(&step.name) {
                self.error("the name is used twice".to_owned(), None, &at.name(&step.name));
            }
            self.matcher(&step.matcher, &at.key(&step.name), 0);
        }
        self.owner.clear();
        self.step_cycle(model, at);
    }

    fn step_name(&mut self, step: &Step, model: &Model, at: &At<'_>) {
        self.own_name("step", &step.name, at);
        if step.name.starts_with('@') {
            self.error("a step's name may not begin with `@`".to_owned(), Some("`@` is for kinds of tools"), at);
        }
        if step.name.contains('*') {
            self.error("a step's name may not contain `*`".to_owned(), Some("`*` is for patterns"), at);
        }
        let help = "rename the step: a name must mean one thing";
        if model.tools.declare.contains_key(&step.name) {
            self.error("it has the name of a declared tool".to_owned(), Some(help), at);
        } else if self.names.tools.contains(step.name.as_str()) {
            let message =
                format!("it has the name of a tool, so what names {} means the step alone", quoted(&step.name));
            self.warn(message, Some(help.to_owned()), at);
        }
    }

    /// Steps that are made of one another could never be told apart from a call.
    fn step_cycle(&mut self, model: &'a Model, at: &At<'_>) {
        let mut graph: Graph<'a> = BTreeMap::new();
        for step in &model.steps {
            let mut used = Vec::new();
            tools_of(&step.matcher, &mut used, 0);
            used.retain(|name| self.names.steps.contains(name));
            graph.insert(&step.name, used);
        }
        if let Some(cycle) = cycle(&graph) {
            let first = cycle.first().copied().unwrap_or_default();
            let message = format!("steps are made of one another: {}", arrows(&cycle));
            self.error(message, Some("name the tools instead"), &at.name(first));
        }
    }

    fn expansion(&mut self, model: &Model, at: &At<'_>) {
        if expansion::matchers(model) > MATCHERS_MAX {
            let message =
                format!("the definition has more than {MATCHERS_MAX} matchers once its steps are written out");
            self.error(message, Some("let steps name tools instead of one another"), at);
        }
    }

    fn policies(&mut self, model: &Model) {
        let root = At::Root;
        if overriding::too_many(model) {
            self.error(format!("more than {OVERRIDES_MAX} rules put an override"), None, &root.name("policies"));
        }
        let mut names = BTreeMap::new();
        for (index, policy) in model.policies.iter().enumerate() {
            self.policy(policy, &root.key("policies").item(index), &mut names);
        }
        let mut sections = BTreeSet::new();
        for (index, section) in model.sections.iter().enumerate() {
            self.section(section, &root.key("sections").item(index), &mut names);
            if !sections.insert(section.name.as_str()) && !section.name.is_empty() {
                let message = format!("section name {} is used twice", quoted(&section.name));
                self.error(message, None, &root.key("sections").item(index).key("name"));
            }
        }
    }

    fn section(&mut self, section: &Section, at: &At<'_>, names: &mut BTreeMap<String, u32>) {
        self.owner = format!("section {:?}: ", clip(&section.name));
        self.own_name("section", &section.name, &at.key("name"));
        if section.tools.is_empty() {
            self.echo("it is about no tool".to_owned(), Some("name its tools"), &at.key("tools"));
        }
        if section.policies.is_empty() {
            self.echo("it has no policy".to_owned(), None, &at.key("policies"));
        }
        self.tools(&section.tools, Place::Pattern, &at.key("tools"));
        for (index, policy) in section.policies.iter().enumerate() {
            self.policy(policy, &at.key("policies").item(index), names);
        }
        self.owner.clear();
    }

    fn policy(&mut self, policy: &Policy, at: &At<'_>, names: &mut BTreeMap<String, u32>) {
        self.owner = format!("policy {:?}: ", clip(&policy.name));
        self.own_name("policy", &policy.name, &at.key("name"));
        if let Some(line) = names.insert(policy.name.clone(), policy.line) {
            let help = if line == 0 { None } else { Some(format!("it was used before, on line {line}")) };
            self.error("the name is used twice".to_owned(), help.as_deref(), &at.key("name"));
        }
        if let Some(when) = &policy.when {
            self.matcher(when, &at.key("when"), 0);
        }
        let at = at.key(policy.guard.name());
        match &policy.guard {
            Guard::Sequence(sequence) => self.sequence(sequence, &at),
            Guard::ReadBeforeWrite(_) => {}
            Guard::Paths(paths) => self.paths(paths, &at),
            Guard::Rule(rule) => {
                self.matcher(&rule.matcher, &at, 0);
                rule.overriding.iter().for_each(|given| self.overriding(given, &at.key("override")));
            }
            Guard::Rego(rego) => self.rego(rego, &at),
        }
        self.owner.clear();
    }

    fn overriding(&mut self, given: &Override, at: &At<'_>) {
        let demand = at.key(given.demand.key());
        if let Some((key, must)) = given.fault() {
            let place = match key {
                "" => *at,
                "ttl" | "ttl_steps" => at.key(key),
                key => demand.key(key),
            };
            self.echo(format!("an override must be {must}"), None, &place);
        }
        if let Some(tool) = given.demand.tool() {
            self.tool(tool, Place::Pattern, &demand.key("tool"));
        }
    }

    fn sequence(&mut self, sequence: &Sequence, at: &At<'_>) {
        let requires = at.key("requires");
        if sequence.requires.is_empty() {
            self.echo("it requires nothing".to_owned(), Some("name a tool and what it needs"), &requires);
        }
        for (tool, needs) in &sequence.requires {
            self.tool(tool, Place::Exact, &requires.name(tool));
            if needs.is_empty() {
                self.echo(format!("{} requires nothing", quoted(tool)), None, &requires.key(tool));
            }
            self.tools(needs, Place::Exact, &requires.key(tool));
        }
        if let Some(cycle) = cycle(&requirements([sequence])) {
            let first = cycle.first().copied().unwrap_or_default();
            let help = "none of them could ever run: take one requirement out";
            self.error(format!("requirements run in a circle: {}", arrows(&cycle)), Some(help), &requires.name(first));
        }
    }

    /// Policies that are fine alone may still wait for one another.
    fn shared_cycle(&mut self, model: &Model) {
        let sequences: Vec<&Sequence> = model
            .policies
            .iter()
            .filter(|policy| policy.when.is_none())
            .filter_map(|policy| match &policy.guard {
                Guard::Sequence(sequence) => Some(sequence),
                _ => None,
            })
            .collect();
        if sequences.iter().any(|sequence| cycle(&requirements([*sequence])).is_some()) {
            return;
        }
        if let Some(cycle) = cycle(&requirements(sequences)) {
            let message = format!("policies wait for one another: {}", arrows(&cycle));
            let help = "none of them could ever run: take one requirement out".to_owned();
            self.warn(message, Some(help), &At::Root.name("policies"));
        }
    }

    fn paths(&mut self, paths: &Paths, at: &At<'_>) {
        self.globs(&paths.allow, &at.key("allow"));
        self.globs(&paths.protect, &at.key("protect"));
        for (index, pattern) in paths.allow.iter().enumerate() {
            if pattern.contains('/') && !pattern.starts_with(['/', '~', '*', '{']) {
                let message = format!("{} never matches outside the workspace", quoted(pattern));
                self.warn(message, Some("begin it with `/`".to_owned()), &at.key("allow").item(index));
            }
        }
    }

    /// What is kept about policies is written beside them, and that must be in the workspace.
    fn file_policies(&mut self, files: &FilePolicies, at: &At<'_>) {
        let Some(dir) = files.dir.as_deref() else { return };
        if !is_below(dir) {
            let message = format!("{} is not a folder below the workspace", quoted(dir));
            self.error(message, Some("name one from the definition's directory, without `..`"), &at.key("dir"));
        }
    }

    fn rego(&mut self, rego: &Rego, at: &At<'_>) {
        if rego.file.trim().is_empty() {
            self.echo("it names no file".to_owned(), Some("name the Rego file"), &at.key("file"));
        }
        self.tools(&rego.tool, Place::Pattern, &at.key("tool"));
    }

    fn globs(&mut self, patterns: &[String], at: &At<'_>) {
        for (index, pattern) in patterns.iter().enumerate() {
            self.glob(pattern, glob::check(pattern), &at.item(index));
        }
    }

    fn glob(&mut self, pattern: &str, result: Result<(), String>, at: &At<'_>) {
        if let Err(why) = result {
            self.echo(format!("pattern {} {why}", quoted(pattern)), None, at);
        }
    }

    fn tools(&mut self, names: &[String], used: Place, at: &At<'_>) {
        for (index, name) in names.iter().enumerate() {
            self.tool(name, used, &at.item(index));
        }
    }

    fn tool(&mut self, name: &str, used: Place, at: &At<'_>) {
        if let Some(kind) = name.strip_prefix('@') {
            if Kind::parse(kind).is_none() {
                self.error(format!("there is no kind {}", quoted(name)), Some(&kind_help(kind)), at);
            }
        } else if used == Place::Pattern && glob::is_pattern(name) {
            self.glob(name, glob::check_text(name), at);
        } else if name.is_empty() {
            self.echo("a tool's name is empty".to_owned(), None, at);
        } else if !self.names.has(name) && !name.starts_with("mcp__") {
            let help = self.suggest(name);
            self.warn(format!("no host, step or declaration knows {}", quoted(name)), Some(help), at);
        }
    }

    fn suggest(&mut self, name: &str) -> String {
        self.suggestions += 1;
        let near = if self.suggestions > SUGGESTIONS_MAX { None } else { did_you_mean(name, self.names.all()) };
        near.unwrap_or_else(|| "declare it under `tools.declare`, or make it a step".to_owned())
    }

    fn repeat(&mut self, repeat: &Loop, at: &At<'_>) {
        if repeat.threshold == 0 || repeat.window == 0 {
            self.echo("`loop`: window and threshold must be at least 1".to_owned(), None, at);
        } else if repeat.window < repeat.threshold {
            let message =
                format!("`loop.window` is {} and smaller than the threshold {}", repeat.window, repeat.threshold);
            self.echo(message, Some("a window that small never holds enough equal calls"), at);
        } else if repeat.threshold == 1 {
            let message = "`loop.threshold` is 1, so every call is a loop".to_owned();
            self.warn(message, Some("the default is 3".to_owned()), &at.key("threshold"));
        }
        self.tools(&repeat.exempt, Place::Pattern, &at.key("exempt"));
    }

    fn limits(&mut self, limits: &Limits, at: &At<'_>) {
        let wrong = [
            ("steps", limits.steps.is_some_and(|steps| steps.max == 0)),
            ("tokens", limits.tokens == Some(0)),
            ("cost_usd", limits.cost_usd.is_some_and(|cost| !cost.is_finite() || cost <= 0.0)),
            ("deadline", matches!(limits.deadline, Some(Deadline::After(ms)) if ms <= 0)),
        ];
        for (name, _) in wrong.iter().filter(|(_, wrong)| *wrong) {
            self.echo(format!("`limits.{name}` must be greater than 0"), None, &at.key(name));
        }
    }

    fn bounds(&mut self, what: &str, bounds: Option<Bounds>, at: &At<'_>) {
        for (key, wrong) in bounds.into_iter().flat_map(Bounds::faults) {
            self.echo(format!("`{what}.{key}` {wrong}"), None, &at.key(key));
        }
    }
}

/// Whether a path leads to something below where it is seen from, as far as its text tells.
#[must_use]
pub fn is_below(path: &str) -> bool {
    let named = path.split('/').any(|part| !matches!(part, "" | "."));
    named && !path.starts_with(['/', '~']) && !path.split('/').any(|part| part == "..")
}

fn kind_help(kind: &str) -> String {
    match nearest(kind, Kind::NAMES.iter().copied()) {
        Some(name) => format!("did you mean `@{name}`?"),
        None => {
            let kinds: Vec<String> = Kind::NAMES.iter().map(|name| format!("`@{name}`")).collect();
            format!("kinds are {}", kinds.join(", "))
        }
    }
}

/// A name for the beginning of a fault.
fn clip(name: &str) -> String {
    name.chars().take(NAME_CHARS_MAX).collect()
}

/// The tool names a matcher looks at, at any depth within the bound.
fn tools_of<'a>(matcher: &'a Matcher, into: &mut Vec<&'a str>, depth: usize) {
    if depth >= MATCHER_DEPTH_MAX {
        return;
    }
    into.extend(matcher.tool.iter().map(String::as_str));
    let inner = matcher.all.iter().chain(&matcher.any).chain(matcher.not.as_deref());
    inner.for_each(|inner| tools_of(inner, into, depth + 1));
}
