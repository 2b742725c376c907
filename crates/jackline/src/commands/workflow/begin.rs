//! `jackline workflow new`: a valid, commented workflow to begin with.

use std::fs;
use std::path::{Path, PathBuf};

use jackline_core::definition::compile_regex;
use jackline_runtime::replace;
use jackline_workflow::rules::WORKFLOW_NAME;
use jackline_workflow::starter;

use crate::error::CommandError;
use crate::place;
use crate::screen;

/// Write a valid, commented workflow into a new directory
#[derive(Debug, clap::Args)]
pub(crate) struct New {
    /// Its name, and the directory that is made for it
    #[arg(value_name = "NAME")]
    name: String,
    /// Where the directory is made (default: here)
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
}

impl New {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        if !compile_regex(WORKFLOW_NAME).is_ok_and(|regex| regex.is_match(&self.name)) {
            let error = CommandError::input(format!("`{}` is no name of a workflow", self.name));
            return Err(error.hint("use 2 to 64 lowercase letters, digits, `-` and `_`, beginning with a letter"));
        }
        let directory = self.into.clone().unwrap_or_default().join(&self.name);
        if directory.symlink_metadata().is_ok() {
            return Err(CommandError::input(format!("`{}` is there already", place::shown(&directory)))
                .hint("choose another name"));
        }
        for (path, text) in starter::files(&self.name) {
            write(&directory.join(path), &text).inspect_err(|_| self.undo(&directory))?;
        }
        let shown = place::shown(&directory);
        Ok(screen::line(&format!("\nnow: jackline workflow validate {shown}"))?)
    }
}

impl New {
    /// Takes away what was written, so that the name can be used again. What is not ours stays.
    fn undo(&self, directory: &Path) {
        let files: Vec<PathBuf> =
            starter::files(&self.name).into_iter().map(|(path, _)| directory.join(path)).collect();
        files.iter().for_each(|path| drop(fs::remove_file(path)));
        for path in &files {
            let inside = path.ancestors().skip(1).take_while(|parent| parent.starts_with(directory));
            inside.for_each(|parent| drop(fs::remove_dir(parent)));
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), CommandError> {
    let failed = |fault| CommandError::internal(format!("`{}` cannot be written: {fault}", place::shown(path)));
    replace::write(path, text).map_err(failed)?;
    Ok(screen::line(&format!("wrote {}", place::shown(path)))?)
}
