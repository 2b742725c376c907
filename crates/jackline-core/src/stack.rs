//! The definitions in force for a session, judged side by side: the strictest wins.
//!
//! A machine's, a user's and a project's definition stand in one stack, and so do an accepted definition and a
//! changed one that is not accepted yet. Each layer is judged by itself, so no layer can loosen another.

use std::sync::Arc;

use crate::definition::model::{CommandMatcher, Guard, Matcher, Mode, Policy, Section, Step};
use crate::definition::{Model, UnknownTools};
use crate::policy;
use crate::sha::Digest;

/// Where a layer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Machine,
    User,
    Project,
    /// The project's last accepted content, while its present content is not accepted.
    Accepted,
}

/// One definition and how it counts.
#[derive(Debug, Clone)]
pub struct Layer {
    pub model: Model,
    /// Digest of the text it was read from.
    pub digest: Digest,
    pub origin: Origin,
    /// `mode: observe` counts only where the owner trusted it.
    pub trusted: bool,
    looks_inside: bool,
}

impl Layer {
    #[must_use]
    pub fn new(model: Model, digest: Digest, origin: Origin, trusted: bool) -> Self {
        let looks_inside = looks_inside_commands(&model);
        Self { model, digest, origin, trusted, looks_inside }
    }

    /// Whether findings of this layer are only recorded.
    #[must_use]
    pub fn observes(&self) -> bool {
        self.trusted && self.model.mode == Mode::Observe
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
        let sections = self.model.sections.iter();
        let of_sections =
            sections.flat_map(|section| section.policies.iter().map(move |policy| (Some(section), policy)));
        of_sections.chain(self.model.policies.iter().map(|policy| (None, policy)))
    }
}

/// The definitions in force for a session.
#[derive(Debug, Clone, Default)]
pub struct Stack {
    /// The workspace root, absolute.
    pub root: String,
    /// Where the project's definition lies; pinned by the session's first event.
    pub path: Option<String>,
    pub layers: Vec<Layer>,
    /// Policies that the embedding program added.
    pub own: Vec<Arc<dyn policy::Policy>>,
    /// What becomes of unknown tools where no layer says.
    pub unknown_tools: Option<UnknownTools>,
}

impl Stack {
    /// A stack of one definition, trusted as it is given.
    #[must_use]
    pub fn of(root: impl Into<String>, model: Model, digest: Digest) -> Self {
        let layer = Layer::new(model, digest, Origin::Project, true);
        Self { root: root.into(), layers: vec![layer], ..Self::default() }
    }

    /// The layer whose identity and digest stand in records: the project's, else the last.
    #[must_use]
    pub fn face(&self) -> Option<&Layer> {
        self.layers.iter().find(|layer| layer.origin == Origin::Project).or_else(|| self.layers.last())
    }

    /// One digest for all layers in force.
    #[must_use]
    pub fn digest(&self) -> Digest {
        match self.layers.as_slice() {
            [only] => only.digest,
            layers => Digest::of_parts(layers.iter().map(|layer| layer.digest.0.as_slice())),
        }
    }

    /// The models, the face's first, for looking up declarations.
    #[must_use]
    pub fn models(&self) -> Vec<&Model> {
        self.layers.iter().map(|layer| &layer.model).collect()
    }

    /// The names of the policies that would judge a call of this tool, in the order they are asked.
    #[must_use]
    pub fn policies_for_tool(&self, tool: &str) -> Vec<String> {
        let built_in = self.layers.iter().flat_map(Layer::policies).filter(|(section, _)| {
            section.is_none_or(|section| section.tools.iter().any(|name| crate::glob::text_matches(name, tool)))
        });
        let own = self.own.iter().map(|policy| policy.name().to_owned());
        built_in.map(|(_, policy)| policy.name.clone()).chain(own).collect()
    }
}

fn looks_inside_commands(model: &Model) -> bool {
    let policies = model.sections.iter().flat_map(|section| &section.policies).chain(&model.policies);
    policies.into_iter().any(|policy| {
        let when = policy.when.as_ref().is_some_and(|matcher| matcher_looks_inside(model, matcher));
        when || match &policy.guard {
            Guard::Paths(_) | Guard::ReadBeforeWrite(_) => true,
            Guard::Rule(rule) => matcher_looks_inside(model, &rule.matcher),
            Guard::Sequence(sequence) => sequence
                .requires
                .iter()
                .flat_map(|(name, needs)| std::iter::once(name).chain(needs))
                .any(|name| step_looks_inside(model, name)),
        }
    })
}

fn step_looks_inside(model: &Model, name: &str) -> bool {
    model.steps.iter().any(|step| step.name == name && own_keys_look_inside(&step.matcher))
}

fn matcher_looks_inside(model: &Model, matcher: &Matcher) -> bool {
    own_keys_look_inside(matcher) || matcher.tool.iter().any(|name| step_looks_inside(model, name))
}

fn own_keys_look_inside(matcher: &Matcher) -> bool {
    matches!(&matcher.command, Some(CommandMatcher::Glob(_) | CommandMatcher::Parts(_)))
        || !matcher.path.is_empty()
        || matcher.all.iter().chain(&matcher.any).chain(matcher.not.as_deref()).any(own_keys_look_inside)
}
