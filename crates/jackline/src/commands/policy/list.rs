//! `jackline policy list`: the policies of a workspace, and what is wrong with others.

use jackline_core::files::pattern::Pattern;
use jackline_core::files::policy::{Action, Detection, Policy};
use jackline_core::files::seen::PolicyFault;
use jackline_runtime::files::{self, Folder};
use serde_json::{Value, json};

use super::{Workspace, none_found};
use crate::commands::Format;
use crate::error::CommandError;
use crate::place::Where;
use crate::{screen, timeline};

/// List the file policies
#[derive(Debug, clap::Args)]
pub(crate) struct List {
    /// How the list is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    at: Where,
}

impl List {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        let workspace = Workspace::of(&self.at)?;
        let folders = workspace.folders();
        let missing = workspace.missing();
        workspace.warn_if_undefined();
        let read: Vec<_> = folders.iter().map(|folder| (folder, files::policies(folder))).collect();
        match self.format {
            Format::Json => {
                let all = read.iter().flat_map(|(folder, read)| {
                    read.policies.iter().map(|policy| row(&folder.file(&policy.id), policy))
                });
                let faults = read.iter().flat_map(|(_, read)| &read.faults).chain(&missing).map(|fault| json!(fault));
                screen::line(
                    &json!({ "policies": all.collect::<Vec<_>>(), "faults": faults.collect::<Vec<_>>() }).to_string(),
                )?;
            }
            Format::Human if read.is_empty() && missing.is_empty() => screen::line(&none_found(&workspace))?,
            Format::Human => {
                for (folder, read) in &read {
                    read.policies.iter().try_for_each(|policy| screen::line(&line(policy)))?;
                    read.faults.iter().try_for_each(|fault| screen::line(&told(Some(folder), fault)))?;
                }
                missing.iter().try_for_each(|fault| screen::line(&told(None, fault)))?;
            }
        }
        match !missing.is_empty() || read.iter().any(|(_, read)| read.faults.iter().any(|fault| !fault.warning)) {
            true => Err(CommandError::not_fine()),
            false => Ok(()),
        }
    }
}

/// A policy on one line.
fn line(policy: &Policy) -> String {
    let what = match &policy.action {
        Action::Prompt => "asks the agent".to_owned(),
        Action::Command(command) => format!("runs `{}`", timeline::shown(&command.shown)),
    };
    let named = if policy.name == policy.id { String::new() } else { format!(" ({})", timeline::shown(&policy.name)) };
    let (fires, beside) = policy.sides();
    let beside = match &policy.detection {
        _ if beside.is_empty() => String::new(),
        Detection::Pair { .. } => format!(", expects {}", timeline::shown(&texts(beside).join(", "))),
        _ => format!(", unless {}", timeline::shown(&texts(beside).join(", "))),
    };
    format!(
        "{}{named}: {} {}{beside}; since {}; {what}",
        timeline::shown(&policy.id),
        mode(&policy.detection),
        timeline::shown(&texts(fires).join(", ")),
        policy.compare_to.name()
    )
}

fn texts(patterns: &[Pattern]) -> Vec<&str> {
    patterns.iter().map(Pattern::text).collect()
}

fn mode(detection: &Detection) -> &'static str {
    match detection {
        Detection::Trigger { .. } => "trigger",
        Detection::Set(_) => "set",
        Detection::Pair { .. } => "pair",
        Detection::Created(_) => "created",
    }
}

fn row(file: &str, policy: &Policy) -> Value {
    let command = match &policy.action {
        Action::Prompt => None,
        Action::Command(command) => Some(&command.shown),
    };
    let (fires, beside) = policy.sides();
    let is_pair = matches!(policy.detection, Detection::Pair { .. });
    let (safety, expects) = if is_pair { (Vec::new(), texts(beside)) } else { (texts(beside), Vec::new()) };
    json!({
        "policy": policy.id, "name": policy.name, "file": file, "mode": mode(&policy.detection), "patterns": texts(fires),
        "safety": safety, "expects": expects, "compare_to": policy.compare_to.name(), "command": command,
    })
}

/// A fault with the line it speaks of, or on one line, as compilers tell it.
pub(in crate::commands) fn told(folder: Option<&Folder>, fault: &PolicyFault) -> String {
    if let Some(drawn) = folder.and_then(|folder| files::folder::drawn(folder, fault)) {
        return drawn;
    }
    let level = if fault.warning { "warning" } else { "error" };
    let help = fault.help.as_ref().map(|help| format!("\n  help: {help}")).unwrap_or_default();
    format!("{level}: {}:{}: {}{help}", fault.file, fault.line, fault.message)
}
