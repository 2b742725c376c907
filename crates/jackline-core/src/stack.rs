//! The definitions in force for a session, judged side by side: the strictest wins.
//!
//! A machine's, a user's and a project's definition stand in one stack, and so do an accepted definition and a
//! changed one that is not accepted yet. Each layer is judged by itself, so no layer can loosen another.

use std::sync::Arc;

use crate::catalogue::Catalogue;
use crate::completion::checker::Checker;
use crate::definition::model::{
    Checks, CommandMatcher, Declaration, Enforce, Guard, Matcher, Mode, Policy, Rule, SchemaSource, Section, Step,
};
use crate::definition::{Kind, Model, UnknownTools};
use crate::feedback;
use crate::glob;
use crate::index::Carried;
use crate::matcher::STEP_DEPTH_MAX;
use crate::packs::{self, Pack, Rules};
use crate::path;
use crate::policy;
use crate::schema::Schema;
use crate::sha::Digest;
use crate::tilde;
use crate::tools;

/// Where pull requests are asked for unless a definition says otherwise.
const GITHUB_API: &str = "https://api.github.com";

/// Where a layer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Machine,
    User,
    Project,
    /// The project's last accepted content, while its present content is not accepted.
    Accepted,
    /// A pack of this name, which the layer before it uses.
    Pack(&'static str),
}

/// One definition and how it counts.
#[derive(Debug, Clone)]
pub struct Layer {
    /// Shared by the copies of a stack, few of which change anything in it.
    pub model: Arc<Model>,
    /// Digest of the text it was read from.
    pub digest: Digest,
    pub origin: Origin,
    /// `mode: observe` counts only where the owner trusted it.
    pub trusted: bool,
    /// Where the files it names are looked for; the workspace root when empty.
    pub dir: String,
    looks_inside: bool,
    /// The policies of a compiled pack, which are not in its model.
    rules: Option<Arc<Rules>>,
}

impl Layer {
    #[must_use]
    pub fn new(model: Model, digest: Digest, origin: Origin, trusted: bool) -> Self {
        let looks_inside = looks_inside_commands(&model);
        let model = Arc::new(model);
        Self { model, digest, origin, trusted, dir: String::new(), looks_inside, rules: None }
    }

    /// The same with the policies of a compiled pack.
    #[must_use]
    pub(crate) fn with_rules(self, rules: Rules) -> Self {
        Self { looks_inside: self.looks_inside || rules.looks_inside(), rules: Some(Arc::new(rules)), ..self }
    }

    /// Whether both are of the same text, used in the same way.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        let rules = match (&self.rules, &other.rules) {
            (Some(one), Some(other)) => one.same(other),
            (one, other) => one.is_none() && other.is_none(),
        };
        rules && (self.digest, self.trusted) == (other.digest, other.trusted) && self.model == other.model
    }

    /// The same, read from a file in this directory.
    #[must_use]
    pub fn from_dir(self, dir: impl Into<String>) -> Self {
        Self { dir: dir.into(), ..self }
    }

    /// A file that the definition names: absolute, or seen from the workspace root.
    #[must_use]
    pub fn file(&self, name: &str) -> String {
        if self.dir.is_empty() { path::fold(name) } else { path::join(&self.dir, name) }
    }

    /// Which schema a declaration means.
    #[must_use]
    pub fn schema(&self, source: &SchemaSource, root: &str) -> Schema {
        let dir = if self.dir.is_empty() { root } else { &self.dir };
        match source {
            SchemaSource::Inline(text) => Schema::Inline(SchemaSource::digest(text)),
            SchemaSource::File(file) => Schema::File(path::join(dir, file)),
        }
    }

    /// Whether findings of this layer are only recorded.
    #[must_use]
    pub fn observes(&self) -> bool {
        self.trusted && self.model.mode == Mode::Observe
    }

    /// Whether it is a pack, which speaks only through its policies.
    #[must_use]
    pub const fn is_pack(&self) -> bool {
        matches!(self.origin, Origin::Pack(_))
    }

    /// The pack that it is, if it is one.
    #[must_use]
    pub fn pack(&self) -> Option<&'static Pack> {
        match self.origin {
            Origin::Pack(name) => packs::find(name),
            Origin::Machine | Origin::User | Origin::Project | Origin::Accepted => None,
        }
    }

    /// Whether any policy of it looks inside shell commands.
    #[must_use]
    pub const fn looks_inside(&self) -> bool {
        self.looks_inside
    }

    /// The step of this name.
    #[must_use]
    pub fn step(&self, name: &str) -> Option<&Step> {
        self.model.steps.iter().find(|step| step.name == name)
    }

    /// Every policy with the section it belongs to: sections first, each in declaration order.
    pub fn policies(&self) -> impl Iterator<Item = (Option<&Section>, &Policy)> {
        let compiled = self.rules.iter().flat_map(|rules| rules.all().map(|policy| (None, policy)));
        self.declared().chain(compiled)
    }

    /// The same without those of a compiled pack, which are rules about requested calls and nothing else.
    pub(crate) fn declared(&self) -> impl Iterator<Item = (Option<&Section>, &Policy)> {
        let sections = self.model.sections.iter();
        let of_sections =
            sections.flat_map(|section| section.policies.iter().map(move |policy| (Some(section), policy)));
        of_sections.chain(self.model.policies.iter().map(|policy| (None, policy)))
    }

    /// Whether it is a compiled pack.
    pub(crate) const fn is_compiled(&self) -> bool {
        self.rules.is_some()
    }

    /// The policies of a compiled pack that may have something to say about a call, in their order.
    pub(crate) fn rules_about(&self, carried: &Carried) -> impl Iterator<Item = &Policy> {
        self.rules.iter().flat_map(|rules| rules.about(carried))
    }

    /// Whether a policy of a compiled pack wants to know where the paths of such a call lead.
    pub(crate) fn looks_up_paths(&self, kind: Kind) -> bool {
        self.rules.as_ref().is_some_and(|rules| rules.look_up_paths(kind))
    }

    fn mentions_home(&self) -> bool {
        self.rules.as_ref().is_some_and(|rules| rules.mentions_home()) || tilde::mentioned(&self.model)
    }

    fn put_home(&mut self, home: &Arc<str>) {
        if let Some(rules) = self.rules.as_mut().filter(|rules| rules.mentions_home()) {
            *rules = Arc::new(rules.at_home(home));
        }
        if tilde::mentioned(&self.model) {
            tilde::put(Arc::make_mut(&mut self.model), home);
        }
    }
}

/// The definitions in force for a session.
#[derive(Debug, Clone, Default)]
pub struct Stack {
    /// The workspace root, absolute.
    pub root: String,
    /// Where a session that begins is at home, when it begins in another work tree of the repository.
    pub home: Option<String>,
    /// Where the host goes back to from other work trees, when that is not where the session is at home.
    pub back: Option<String>,
    /// Where the project's definition lies; pinned by the session's first event.
    pub path: Option<String>,
    pub layers: Vec<Layer>,
    /// Policies that the embedding program added.
    pub own: Vec<Arc<dyn policy::Policy>>,
    /// Checks of completion that the embedding program added.
    pub checkers: Vec<Arc<dyn Checker>>,
    /// Providers of feedback that the embedding program added.
    pub feedback: Vec<feedback::Own>,
    /// What becomes of unknown tools where no layer says.
    pub unknown_tools: Option<UnknownTools>,
    /// What the server offers whose calls are judged, where the surface knows it.
    pub catalogue: Option<Arc<Catalogue>>,
}

impl Stack {
    /// A stack of one definition and the packs it uses, trusted as it is given.
    #[must_use]
    pub fn of(root: impl Into<String>, model: Model, digest: Digest) -> Self {
        let layer = Layer::new(model, digest, Origin::Project, true);
        let packs = packs::layers(&layer, &|pack| pack.model().into());
        Self { root: root.into(), layers: std::iter::once(layer).chain(packs).collect(), ..Self::default() }
    }

    /// Where a session that begins is at home.
    #[must_use]
    pub fn home(&self) -> &str {
        self.home.as_deref().unwrap_or(&self.root)
    }

    /// Whether all definitions in force only observe: what belongs to none of them is only recorded then, too.
    #[must_use]
    pub fn observes(&self) -> bool {
        !self.layers.is_empty() && self.layers.iter().all(Layer::observes)
    }

    /// Where pull requests are asked for.
    ///
    /// # Errors
    /// A definition that is not trusted wants it elsewhere: a token would go there.
    pub fn github_api(&self) -> Result<&str, &'static str> {
        let mut named =
            self.layers.iter().filter_map(|layer| Some((layer.trusted, layer.model.checks.github_api.as_deref()?)));
        match named.next() {
            None => Ok(GITHUB_API),
            Some((true, api)) => Ok(api),
            Some((false, _)) => Err("`checks.github_api` is not trusted; the owner runs `jackline trust`"),
        }
    }

    /// The layer whose identity and digest stand in records: the project's, else the last that is no pack.
    #[must_use]
    pub fn face(&self) -> Option<&Layer> {
        let project = self.layers.iter().find(|layer| layer.origin == Origin::Project);
        project.or_else(|| self.layers.iter().rfind(|layer| !layer.is_pack()))
    }

    /// Whether any path pattern begins with `~`.
    #[must_use]
    pub fn mentions_home(&self) -> bool {
        self.layers.iter().any(Layer::mentions_home)
    }

    /// Puts the home directory where a path pattern begins with `~`.
    pub fn put_home(&mut self, home: &str) {
        let home = Arc::from(home);
        self.layers.iter_mut().for_each(|layer| layer.put_home(&home));
    }

    /// One digest for all layers in force.
    #[must_use]
    pub fn digest(&self) -> Digest {
        match self.layers.as_slice() {
            [only] => only.digest,
            layers => Digest::of_parts(layers.iter().map(|layer| layer.digest.0.as_slice())),
        }
    }

    /// What a layer goes by of what is declared of a tool, by any of its names: its own word, else that of a machine's
    /// or a user's before it. A pack goes by what the layer goes by that uses it.
    pub(crate) fn declaration(&self, at: usize, names: &[&str]) -> Option<&Declaration> {
        let upto = self.layers.get(..=at).unwrap_or_default();
        let own = upto.iter().rposition(|layer| !layer.is_pack())?;
        let wider = upto.iter().filter(|layer| matches!(layer.origin, Origin::Machine | Origin::User));
        let mut asked = upto.get(own).into_iter().chain(wider);
        asked.find_map(|layer| names.iter().find_map(|name| layer.model.tools.declared(name)))
    }

    /// How commands are held where these definitions are in force. Of what trusted definitions say, the strictest
    /// counts; one that is not trusted can only tighten that, also where the others are silent.
    #[must_use]
    pub fn checks(&self) -> Checks {
        let said = || self.layers.iter().filter(|layer| !layer.is_pack());
        let trusted = || said().filter(|layer| layer.trusted).map(|layer| &layer.model.checks);
        let others = || said().filter(|layer| !layer.trusted).map(|layer| &layer.model.checks);
        let confine = trusted().filter_map(|checks| checks.confine).max().unwrap_or_default();
        let network = trusted().filter_map(|checks| checks.network).min().unwrap_or_default();
        Checks {
            confine: others().filter_map(|checks| checks.confine).chain([confine]).max(),
            network: others().filter_map(|checks| checks.network).chain([network]).min(),
            writable: trusted().flat_map(|checks| checks.writable.clone()).collect(),
            environment: trusted().flat_map(|checks| checks.environment.clone()).collect(),
            github_api: self.github_api().ok().map(str::to_owned),
        }
    }

    /// The names of the policies that would judge a call of this tool, in the order they are asked.
    #[must_use]
    pub fn policies_for_tool(&self, tool: &str) -> Vec<String> {
        let built_in = self.layers.iter().enumerate().flat_map(|(at, layer)| {
            let kind = self.kind_of(at, tool);
            let named = move |names: &[String]| names.iter().any(|name| may_be(layer, name, tool, kind));
            let meant = move |policy: &Policy| match &policy.guard {
                Guard::Rego(rego) => rego.tool.is_empty() || named(&rego.tool),
                Guard::Sequence(_) | Guard::ReadBeforeWrite(_) | Guard::Paths(_) | Guard::Rule(_) => true,
            };
            let on = layer.policies().filter(move |(_, policy)| policy.enforce != Enforce::Off && meant(policy));
            on.filter(move |(section, _)| section.is_none_or(|section| named(&section.tools)))
        });
        let own = self.own.iter().map(|policy| policy.name().to_owned());
        built_in.map(|(_, policy)| policy.name.clone()).chain(own).collect()
    }
}

impl Stack {
    /// Whether the server that is called offers this tool.
    #[must_use]
    pub fn offers(&self, tool: &str) -> bool {
        self.catalogue.as_ref().is_some_and(|catalogue| catalogue.knows(tool))
    }

    /// The kind of a tool to a layer, as far as its name tells.
    fn kind_of(&self, at: usize, tool: &str) -> Kind {
        let declared = self.declaration(at, &[tool]).and_then(|declaration| declaration.kind);
        declared.or_else(|| tools::lookup(None, tool).map(|row| row.kind)).unwrap_or(Kind::Other)
    }
}

/// Whether a call of this tool may be what `name` (a tool or glob, `@kind`, a step) asks for.
fn may_be(layer: &Layer, name: &str, tool: &str, kind: Kind) -> bool {
    let plain = |name: &str| match name.strip_prefix('@') {
        Some(wanted) => kind.name() == wanted,
        None => glob::text_matches(name, tool),
    };
    match layer.step(name) {
        // A step that names no tool may be proven by any.
        Some(step) => step.matcher.tool.is_empty() || step.matcher.tool.iter().any(|name| plain(name)),
        None => plain(name),
    }
}

pub(crate) fn looks_inside_commands(model: &Model) -> bool {
    let names = |names: &[String]| names.iter().any(|name| step_looks_inside(model, name, STEP_DEPTH_MAX));
    let policies = model.sections.iter().flat_map(|section| &section.policies).chain(&model.policies);
    // Whether a section judges a call may hang on a step, too.
    model.sections.iter().any(|section| names(&section.tools))
        || policies.into_iter().any(|policy| {
            let inside = |matcher| matcher_looks_inside(model, matcher, STEP_DEPTH_MAX);
            policy.when.as_deref().is_some_and(inside)
                || match &policy.guard {
                    Guard::Paths(_) | Guard::ReadBeforeWrite(_) => true,
                    Guard::Rule(rule) => {
                        rule.summary().map_or_else(|| rule_looks_inside(model, rule), |summary| summary.looks_inside)
                    }
                    Guard::Rego(rego) => names(&rego.tool) || may_judge_shells(model, &rego.tool),
                    Guard::Sequence(sequence) => {
                        let all = sequence.requires.iter();
                        all.flat_map(|(name, needs)| std::iter::once(name).chain(needs))
                            .any(|name| step_looks_inside(model, name, STEP_DEPTH_MAX))
                    }
                }
        })
}

pub(crate) fn rule_looks_inside(model: &Model, rule: &Rule) -> bool {
    let tool = rule.overriding.as_ref().and_then(|given| given.demand.tool());
    matcher_looks_inside(model, &rule.matcher, STEP_DEPTH_MAX)
        || tool.is_some_and(|name| step_looks_inside(model, name, STEP_DEPTH_MAX))
}

/// A policy that is told the paths of shell calls relies on texts that can be read.
fn may_judge_shells(model: &Model, names: &[String]) -> bool {
    let declared = |name: &str| model.tools.declared(name).and_then(|declaration| declaration.kind);
    let kind = |name: &str| declared(name).or_else(|| tools::lookup(None, name).map(|row| row.kind));
    names.is_empty()
        || names.iter().any(|name| name == "@shell" || glob::is_pattern(name) || kind(name) == Some(Kind::Shell))
}

fn step_looks_inside(model: &Model, name: &str, depth: u32) -> bool {
    let mut steps = model.steps.iter().filter(|step| step.name == name);
    // Steps made of more steps than are followed are taken for the ones that look.
    steps.any(|step| depth == 0 || matcher_looks_inside(model, &step.matcher, depth - 1))
}

/// Recursion is bounded: matchers nest only so deep, and steps are followed `depth` times.
fn matcher_looks_inside(model: &Model, matcher: &Matcher, depth: u32) -> bool {
    let mut parts = matcher.all.iter().chain(&matcher.any).chain(matcher.not.as_deref());
    matches!(&matcher.command, Some(CommandMatcher::Glob(_) | CommandMatcher::Parts(_)))
        || matcher.opaque
        || !matcher.path.is_empty()
        || matcher.tool.iter().any(|name| step_looks_inside(model, name, depth))
        || parts.any(|part| matcher_looks_inside(model, part, depth))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::model::Confine;

    fn layer(text: &str, origin: Origin) -> Layer {
        let model = crate::definition::parse(text, &tools::names()).expect("fine").model;
        Layer::new(model, Digest::of(text.as_bytes()), origin, true)
    }

    #[track_caller]
    fn check(tool: &str, want: &[&str]) {
        let text = r#"
jackline: 1
tools: { declare: { save: { kind: write } } }
steps: { push: { tool: "@shell", command: "git push*" } }
sections:
  - { name: a, tools: ["@write"], policies: [ { name: writes, read_before_write: {} } ] }
  - { name: b, tools: [push], policies: [ { name: pushes, paths: {} } ] }
  - { name: c, tools: ["mcp__*"], policies: [ { name: servers, paths: {} } ] }
policies:
  - { name: everywhere, paths: {} }
  - { name: switched-off, enforce: off, paths: {} }
"#;
        let stack = Stack { layers: vec![layer(text, Origin::Project)], ..Stack::default() };
        assert_eq!(stack.policies_for_tool(tool), want, "{tool}");
    }

    #[test]
    fn sections_judge_tools_by_name_kind_and_step() {
        check("save", &["writes", "everywhere"]);
        check("Edit", &["writes", "everywhere"]);
        check("Bash", &["pushes", "everywhere"]);
        check("mcp__git__log", &["servers", "everywhere"]);
        check("look", &["everywhere"]);
    }

    #[test]
    fn looking_inside_commands_is_found_behind_steps() {
        let looks = |rest: &str| {
            layer(&format!("jackline: 1\nsteps:\n  push: {{ tool: Bash, command: \"git push*\" }}\n  risky: {{ any: [ {{ tool: push }}, {{ tool: Task }} ] }}\n{rest}\n"), Origin::Project).looks_inside()
        };
        assert!(!looks(""));
        assert!(looks("policies: [ { rule: { tool: push, reason: r } } ]"));
        assert!(looks("policies: [ { rule: { tool: risky, reason: r } } ]"));
        assert!(looks("policies: [ { rule: { tool: Task, not: { tool: risky }, reason: r } } ]"));
        assert!(looks("policies: [ { sequence: { requires: { risky: [Task] } } } ]"));
        assert!(looks("sections: [ { name: s, tools: [push], policies: [ { rule: { tool: \"*\", reason: r } } ] } ]"));
        assert!(!looks("policies: [ { rule: { tool: Bash, reason: r } } ]"));
    }

    #[test]
    fn a_token_goes_only_where_a_trusted_definition_says() {
        let elsewhere = || layer("jackline: 1\nchecks: { github_api: \"https://elsewhere\" }\n", Origin::Project);
        let of = |layers: Vec<Layer>| Stack { layers, ..Stack::default() };
        assert_eq!(of(vec![layer("jackline: 1\n", Origin::Project)]).github_api(), Ok(GITHUB_API));
        assert_eq!(of(vec![elsewhere()]).github_api(), Ok("https://elsewhere"));
        assert!(of(vec![Layer { trusted: false, ..elsewhere() }]).github_api().is_err());
        let user = layer("jackline: 1\nchecks: { github_api: \"https://own\" }\n", Origin::User);
        assert_eq!(of(vec![user, Layer { trusted: false, ..elsewhere() }]).github_api(), Ok("https://own"));
    }

    #[test]
    fn commands_are_held_less_only_where_a_trusted_definition_says_so() {
        let of = |text: &str, origin, trusted| {
            let layer = layer(&format!("jackline: 1\nchecks: {{ {text} }}\n"), origin);
            Layer { trusted, ..layer }
        };
        let held = |layers: Vec<Layer>| {
            let checks = Stack { layers, ..Stack::default() }.checks();
            (checks.confine.map(Confine::name), checks.network)
        };
        let user = |text: &str| of(text, Origin::User, true);
        let loose = |trusted| of("confine: off, network: true", Origin::Project, trusted);
        assert_eq!(held(vec![loose(true)]), (Some("off"), Some(true)));
        assert_eq!(held(vec![loose(false)]), (Some("auto"), Some(false)));
        assert_eq!(held(vec![user(""), loose(false)]), (Some("auto"), Some(false)));
        assert_eq!(held(vec![user(""), loose(true)]), (Some("off"), Some(true)));
        assert_eq!(held(vec![user("confine: require, network: false"), loose(true)]), (Some("require"), Some(false)));
        assert_eq!(held(vec![user("confine: off, network: true"), loose(false)]), (Some("off"), Some(true)));
        let strict = of("confine: require, network: false", Origin::Project, false);
        assert_eq!(held(vec![user("confine: off, network: true"), strict]), (Some("require"), Some(false)));
    }
}
