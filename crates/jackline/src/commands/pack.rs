//! `jackline pack`: the packs inside the binary, as people read them.

use jackline_core::definition::model::{Guard, Model, Policy, RuleVerdict};
use jackline_core::nearest;
use jackline_core::packs::{self, PACKS};
use jackline_core::sha::Digest;
use serde_json::{Value, json};

use super::Format;
use crate::error::CommandError;
use crate::screen;

/// Packs named to somebody who misspelled one.
const NEAREST_MAX: usize = 1;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Pack {
    List(List),
    Show(Show),
}

/// List the packs and their policies
#[derive(Debug, clap::Args)]
pub(crate) struct List {
    /// How the list is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Print a pack's definition
#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    /// The pack's name
    #[arg(value_name = "NAME")]
    name: String,
}

impl Pack {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        match self {
            Self::List(list) => list.run(),
            Self::Show(show) => show.run(),
        }
    }
}

impl List {
    fn run(&self) -> Result<(), CommandError> {
        match self.format {
            Format::Human => PACKS.iter().try_for_each(|pack| {
                let names: Vec<String> = pack.model().policies.iter().map(row).collect();
                screen::line(&format!("{}\n{}\n", pack.about(), names.join("\n")))
            })?,
            Format::Json => {
                let packs: Vec<Value> = PACKS.iter().map(|pack| as_json(pack, &pack.model())).collect();
                screen::line(&json!({ "packs": packs }).to_string())?;
            }
        }
        Ok(())
    }
}

fn row(policy: &Policy) -> String {
    let (verdict, reason) = says(policy);
    format!("  {verdict:<4}  {:<32}  {reason}", policy.name)
}

/// What a policy of a pack leads to, and what it tells.
fn says(policy: &Policy) -> (&str, &str) {
    match &policy.guard {
        Guard::Rule(rule) => (rule.verdict.map_or("override", RuleVerdict::name), &rule.reason),
        guard => (policy.enforce.name(), guard.name()),
    }
}

fn as_json(pack: &packs::Pack, model: &Model) -> Value {
    let policies: Vec<Value> = model
        .policies
        .iter()
        .map(|policy| {
            let (verdict, reason) = says(policy);
            json!({ "name": policy.name, "verdict": verdict, "reason": reason, "line": policy.line })
        })
        .collect();
    let digest = format!("sha256:{}", Digest::of(pack.text.as_bytes()));
    json!({ "name": pack.name, "about": pack.about(), "digest": digest, "policies": policies })
}

impl Show {
    fn run(&self) -> Result<(), CommandError> {
        let Some(pack) = packs::find(&self.name) else { return Err(unknown(&self.name)) };
        Ok(screen::line(pack.text.trim_end())?)
    }
}

fn unknown(name: &str) -> CommandError {
    let fault = CommandError::input(format!("there is no pack `{name}`"));
    match nearest::names(name, PACKS.iter().map(|pack| pack.name), NEAREST_MAX).first() {
        Some(near) => fault.hint(format!("did you mean `{near}`?")),
        None => fault.hint("`jackline pack list` shows them"),
    }
}
