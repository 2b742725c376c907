//! Packs: definitions that ship inside the binary, for others to `use`.
//!
//! A pack is an ordinary definition, read by the same code; `jackline pack show` prints it. Where it is used it
//! becomes a layer of its own beside the layer that names it. It brings its policies along and nothing else: mode,
//! trust, exceptions and how the log is kept are those of the definition that names it. Packs name no packs.

use crate::definition::model::{Guard, Limits, Matcher, Model, Policy, Rule, Shell, Tools, Use, Validation};
use crate::definition::{self};
use crate::sha::Digest;
use crate::stack::{Layer, Origin};
use crate::tools;

/// A definition inside the binary.
#[derive(Debug, PartialEq, Eq)]
pub struct Pack {
    pub name: &'static str,
    pub text: &'static str,
}

/// Every pack, in the order in which they are shown.
pub static PACKS: &[Pack] = &[
    Pack { name: "git", text: include_str!("git.yaml") },
    Pack { name: "secrets", text: include_str!("secrets.yaml") },
    Pack { name: "destructive", text: include_str!("destructive.yaml") },
    Pack { name: "supply-chain", text: include_str!("supply-chain.yaml") },
];

/// The pack of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Pack> {
    PACKS.iter().find(|pack| pack.name == name)
}

impl Pack {
    /// What it is for, in a few words: the first line of its text.
    #[must_use]
    pub fn about(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches("# ")
    }

    /// Its checked model. One that cannot be read refuses everything, so that it is noticed.
    #[must_use]
    pub fn model(&self) -> Model {
        definition::parse(self.text, &tools::names()).map_or_else(|_| self.broken(), |parsed| parsed.model)
    }

    /// Its model, and the digest of its text.
    #[must_use]
    pub fn load(&self) -> (Model, Digest) {
        (self.model(), Digest::of(self.text.as_bytes()))
    }

    fn broken(&self) -> Model {
        let rule = Rule::deny(Matcher::tool("*")).reason(format!("The pack {} cannot be read.", self.name));
        Model { policies: vec![Policy::new(format!("{}/broken", self.name), Guard::Rule(rule))], ..Model::default() }
    }
}

/// The layers of the packs that a layer uses, each once. `load` gives a pack's model and digest.
#[must_use]
pub fn layers(of: &Layer, load: &dyn Fn(&'static Pack) -> (Model, Digest)) -> Vec<Layer> {
    let mut found: Vec<Layer> = Vec::new();
    for used in &of.model.packs {
        let Some(pack) = find(&used.pack) else { continue };
        let origin = Origin::Pack(pack.name);
        if !found.iter().any(|layer| layer.origin == origin) {
            let (model, digest) = load(pack);
            found.push(Layer::new(used_by(&of.model, used, model), digest, origin, of.trusted));
        }
    }
    found
}

/// A pack's model as a definition uses it.
fn used_by(definition: &Model, used: &Use, pack: Model) -> Model {
    let mut policies = pack.policies;
    for policy in &mut policies {
        if let Some((_, enforce)) = used.enforce.iter().find(|(name, _)| *name == policy.name) {
            policy.enforce = *enforce;
        }
    }
    Model {
        agent: definition.agent.clone(),
        mode: definition.mode,
        tools: Tools { unknown: definition.tools.unknown, ..Tools::default() },
        repeat: None,
        limits: Limits::default(),
        shell: Shell { opaque: definition.shell.opaque, computed: pack.shell.computed },
        own: definition.own.clone(),
        audit: definition.audit.clone(),
        store: definition.store.clone(),
        reads: None,
        outputs: None,
        validation: Validation::default(),
        packs: Vec::new(),
        steps: pack.steps,
        sections: pack.sections,
        policies,
    }
}

#[cfg(test)]
mod tests;
