//! `jackline policy import`: the older single file of policies becomes one file for each.

use std::fs;
use std::path::PathBuf;

use jackline_core::definition::{Fault, render};
use jackline_runtime::files::legacy::{LEGACY_FILE, convert};
use jackline_runtime::replace;

use super::Workspace;
use crate::error::CommandError;
use crate::place::{self, Where};
use crate::{person, screen};

/// Convert the older single file of policies
///
/// Reads `.deepwork.policy.yml` and writes one file for each of its policies. Nothing is overwritten.
#[derive(Debug, clap::Args)]
pub(crate) struct Import {
    /// The file (default: `.deepwork.policy.yml` of the workspace)
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    at: Where,
}

impl Import {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        person::outside_a_session()?;
        let workspace = Workspace::of(&self.at)?;
        let root = PathBuf::from(&workspace.standing.stack.root);
        let file = self.file.clone().unwrap_or_else(|| root.join(LEGACY_FILE));
        let shown = place::shown(&file);
        let text = fs::read_to_string(&file)
            .map_err(|fault| CommandError::input(format!("`{shown}` cannot be read: {fault}")))?;
        let all = convert(&text, &root).map_err(|faults| {
            CommandError::found(format!(
                "`{shown}` has {} fault(s)\n\n{}",
                faults.len(),
                render(&faults, &text, &shown).trim_end()
            ))
        })?;
        let home = workspace.home();
        if let Some(there) = all.iter().map(|policy| home.join(format!("{}.md", policy.id))).find(|path| path.exists())
        {
            return Err(CommandError::input(format!(
                "`{}` is there already, and nothing was written",
                place::shown(&there)
            ))
            .hint("move it away first, or rename the policy"));
        }
        for policy in &all {
            let path = home.join(format!("{}.md", policy.id));
            if !self.dry_run {
                replace::write(&path, &policy.text)?;
            }
            let verb = if self.dry_run { "would write" } else { "wrote" };
            screen::line(&format!("{verb} {}", place::shown(&path)))?;
            if let Some(Fault { message, help, .. }) = &policy.warning {
                let help = help.as_deref().unwrap_or_default();
                screen::complain(&format!("warning: {}.md: {message}\n  help: {help}", policy.id));
            }
        }
        if !self.dry_run {
            screen::line("look them over, commit them, and remove the old file")?;
        }
        Ok(())
    }
}
