//! Packs: definitions that ship inside the binary, for others to `use`.
//!
//! A pack is an ordinary definition, read by the same code; `jackline pack show` prints it. Where it is used it
//! becomes a layer of its own beside the layer that names it. It brings its policies along and nothing else: mode,
//! trust, exceptions and how the log is kept are those of the definition that names it. Packs name no packs.

mod compiled;

pub(crate) use compiled::Rules;
pub use compiled::{Compiled, compile};

use crate::definition::model::{
    Checks, FilePolicies, Guard, Limits, Matcher, Mcp, Model, Policy, Rule, Shell, Todos, Tools, Use, Validation,
};
use crate::definition::{self};
use crate::sha::Digest;
use crate::stack::{Layer, Origin};
use crate::tools;

/// A definition inside the binary.
#[derive(Debug, PartialEq, Eq)]
pub struct Pack {
    pub name: &'static str,
    pub text: &'static str,
    /// The digest of its text, written down so that no hook has to work it out.
    sha256: &'static str,
}

/// Every pack, in the order in which they are shown.
pub static PACKS: &[Pack] = &[
    Pack {
        name: "git",
        text: include_str!("git.yaml"),
        sha256: "88b9d60898b6f0c90f868a7f440db2cdb315ef21662e2b0d695ecb3ad3913c96",
    },
    Pack {
        name: "secrets",
        text: include_str!("secrets.yaml"),
        sha256: "75c9ebda207524172f7720238567f68bc579d97d6e654da77b8016a39a953aa1",
    },
    Pack {
        name: "destructive",
        text: include_str!("destructive.yaml"),
        sha256: "734bee871001c6944b53778d171c3010612effc30a1a32914e4a014984407a45",
    },
    Pack {
        name: "supply-chain",
        text: include_str!("supply-chain.yaml"),
        sha256: "76030dd3b6f714a3b13bd88eb1f8dcefbad3088f13bf07e14428b07db2195191",
    },
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

    /// The digest of its text.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::parse(self.sha256).unwrap_or_else(|| Digest::of(self.text.as_bytes()))
    }

    fn broken(&self) -> Model {
        Model { policies: vec![self.refusing()], ..Model::default() }
    }

    /// What stands in for a policy that cannot be read.
    fn refusing(&self) -> Policy {
        let rule = Rule::deny(Matcher::tool("*")).reason(format!("The pack {} cannot be read.", self.name));
        Policy::new(format!("{}/broken", self.name), Guard::Rule(rule.into()))
    }
}

/// A pack's definition, as it was read or as it was compiled.
#[derive(Debug)]
pub enum Content {
    Read(Box<Model>),
    Compiled(Compiled),
}

impl From<Model> for Content {
    fn from(model: Model) -> Self {
        Self::Read(Box::new(model))
    }
}

/// The layers of the packs that a layer uses, each once. `load` gives a pack's definition.
#[must_use]
pub fn layers(of: &Layer, load: &dyn Fn(&'static Pack) -> Content) -> Vec<Layer> {
    let mut found: Vec<Layer> = Vec::new();
    for used in &of.model.packs {
        let Some(pack) = find(&used.pack) else { continue };
        let origin = Origin::Pack(pack.name);
        if !found.iter().any(|layer| layer.origin == origin) {
            let layer = |model| Layer::new(used_by(&of.model, used, model), pack.digest(), origin, of.trusted);
            found.push(match load(pack) {
                Content::Read(model) => layer(*model),
                Content::Compiled(compiled) => layer(compiled.model()).with_rules(Rules::new(compiled, used)),
            });
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
        todos: Todos::default(),
        checks: Checks::default(),
        completion: None,
        feedback: Vec::new(),
        mcp: Mcp::default(),
        file_policies: FilePolicies::default(),
        steps: pack.steps,
        sections: pack.sections,
        policies,
    }
}

#[cfg(test)]
mod tests;
