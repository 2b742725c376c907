//! `jackline trust`: a person accepts the workspace's definition as it is now.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use jackline_core::definition::{Model, loosenings};
use jackline_core::sha::Digest;
use jackline_core::stack::Stack;
use jackline_runtime::clock;
use jackline_runtime::definitions::{
    Acceptance, Accepted, DefinitionFault, Definitions as _, Found, Kept, Runs, Standing, discover, present_scripts,
    read_text,
};
use jackline_runtime::files::{self, actions::trusted};

use crate::error::CommandError;
use crate::place::{self, Where};
use crate::{hosts, person, screen, timeline};

/// Accept the workspace's definition as it is now
///
/// A change that only tightens needs no trust. One that loosens, `mode: observe`, and commands named in the
/// definition or in file policies count only after this.
#[derive(Debug, clap::Args)]
pub(crate) struct Trust {
    /// Do not ask (a terminal must be attached all the same)
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    at: Where,
}

impl Trust {
    /// Trust in what is there, asked for.
    pub(crate) fn of(at: Where) -> Self {
        Self { yes: false, at }
    }

    pub(crate) fn run(&self) -> Result<(), CommandError> {
        let found = self.at.definitions()?;
        let gone = found.gone();
        if !gone.is_empty() {
            return self.let_go(&gone);
        }
        self.note_home(&found)?;
        let Some(path) = found.project(None, None) else { return self.policies_alone() };
        let state = self.at.state()?;
        let (kept, accepted) = (Kept::below(&state), Accepted::below(&state));
        let text = read_text(&path).map_err(|why| DefinitionFault::Unreadable { path: path.clone(), why })?;
        let (model, digest) = kept.model(&text).map_err(|faults| DefinitionFault::Faulty {
            path: path.clone(),
            source_text: text,
            faults,
        })?;
        let before = accepted.of(&path);
        let standing = self.at.definitions_read_only()?.stack(None, None)?;
        let scripts = present_scripts(&standing.stack);
        let same = |known: &Acceptance| known.trusted && known.digest() == Some(digest) && known.scripts == scripts;
        if before.as_ref().is_some_and(same) {
            return Ok(screen::line(&format!("{} is trusted already", place::shown(&path)))?);
        }
        describe(&path, &model, &digest, before.as_ref().and_then(Acceptance::digest), &kept)?;
        describe_commands(&standing.stack, &scripts)?;
        person::agrees("Trust it?", self.yes)?;
        accepted.remember(&path, &Acceptance::new(&path, &digest, true, clock::now()).with_scripts(scripts))?;
        Ok(screen::line("trusted")?)
    }
}

impl Trust {
    /// Says where another definition than the one that is found here judges the sessions that begin here.
    fn note_home(&self, found: &Found) -> Result<(), CommandError> {
        let home = hosts::at_home_in(&self.at.workspace()?);
        let Some(home) = home.filter(|home| discover(home) != found.project(None, None)) else { return Ok(()) };
        let shown = place::shown(&home);
        screen::complain(&format!(
            "note: sessions that begin here are judged by what is declared in `{shown}`, which is wired for all of the repository"
        ));
        screen::complain(&format!("  help: to trust that: `jackline trust --workspace {shown}`"));
        Ok(())
    }

    /// Lets go of definitions that count for all projects and are gone.
    fn let_go(&self, gone: &[PathBuf]) -> Result<(), CommandError> {
        for path in gone {
            screen::line(&format!("{} is gone; what it said last is still in force", place::shown(path)))?;
        }
        person::agrees("Let it go, for all projects?", self.yes)?;
        let accepted = Accepted::below(&self.at.state()?);
        gone.iter().try_for_each(|path| accepted.forget(path))?;
        Ok(screen::line("it is in force no longer; `jackline trust` again looks at this project's definition")?)
    }

    /// Trust in the commands of file policies, where the workspace has no definition of its own.
    fn policies_alone(&self) -> Result<(), CommandError> {
        let workspace = self.at.workspace()?;
        let stack = match self.at.definitions_read_only()?.stack(None, None) {
            Ok(standing) => standing.stack.clone(),
            Err(DefinitionFault::Missing(_)) => {
                let given = Standing::given(&workspace, "jackline: 1\n");
                given.map_err(|_| CommandError::internal("the empty definition has a fault"))?.stack
            }
            Err(fault) => return Err(fault.into()),
        };
        let scripts = present_scripts(&stack);
        if scripts.is_empty() {
            return Err(missing(&workspace));
        }
        let accepted = Accepted::below(&self.at.state()?);
        let path = Accepted::place_without_definition(Path::new(&stack.root));
        if accepted.of(&path).is_some_and(|known| known.trusted && known.scripts == scripts) {
            return Ok(screen::line("the commands of the file policies are trusted already")?);
        }
        screen::line(&format!("the file policies of {}", place::shown(Path::new(&stack.root))))?;
        describe_commands(&stack, &scripts)?;
        person::agrees("Trust it?", self.yes)?;
        accepted.remember(&path, &Acceptance::new(&path, &Digest::ZERO, true, clock::now()).with_scripts(scripts))?;
        Ok(screen::line("trusted")?)
    }
}

fn missing(workspace: &Path) -> CommandError {
    CommandError::input(DefinitionFault::Missing(workspace.to_owned()).to_string())
        .hint("there is nothing to trust; write one that begins with `jackline: 1`")
}

fn describe(
    path: &Path,
    model: &Model,
    digest: &Digest,
    before: Option<Digest>,
    kept: &Kept,
) -> Result<(), CommandError> {
    screen::line(&format!("{} (sha256:{digest})", place::shown(path)))?;
    let known = before.and_then(|before| kept.text(&before)).and_then(|text| kept.model(&text).ok());
    let Some((known, _)) = known else {
        return Ok(screen::line("  the first definition seen here")?);
    };
    let looser = loosenings(&known, model);
    if looser.is_empty() {
        screen::line("  not looser than what was accepted")?;
    }
    for change in looser {
        screen::line(&format!("  looser: {change}"))?;
    }
    Ok(())
}

/// What will run once it is trusted, and which files of the workspace each command runs.
fn describe_commands(stack: &Stack, scripts: &BTreeMap<String, String>) -> Result<(), CommandError> {
    let root = PathBuf::from(&stack.root);
    let named = stack.layers.iter().flat_map(|layer| layer.model.commands());
    let mut commands: BTreeSet<(PathBuf, Vec<String>)> = named.map(|argv| (root.clone(), argv.to_vec())).collect();
    for folder in files::folders(stack) {
        let policies = trusted(&folder).into_iter();
        commands.extend(policies.map(|(_, _, words)| (folder.root.clone(), words)));
    }
    let mut shown = BTreeSet::new();
    for (root, argv) in &commands {
        screen::line(&format!("  runs: {}", timeline::shown(&argv.join(" "))))?;
        let runs = Runs::of(root, argv);
        describe_scripts(&runs, scripts)?;
        shown.extend(runs.files);
    }
    for (policy, content) in scripts.iter().filter(|(file, _)| !shown.contains(*file)) {
        screen::line(&format!("  with: {} ({content})", timeline::shown(policy)))?;
    }
    Ok(())
}

/// Which files of the workspace a command runs, as far as it can be told.
fn describe_scripts(runs: &Runs, scripts: &BTreeMap<String, String>) -> Result<(), CommandError> {
    for script in &runs.files {
        match scripts.get(script) {
            Some(content) => screen::line(&format!("  with: {} ({content})", timeline::shown(script)))?,
            None => screen::line(&format!("  with: {}, which cannot be read", timeline::shown(script)))?,
        }
    }
    for script in &runs.missing {
        let script = timeline::shown(script);
        screen::line(&format!("  with: {script}, which is not there: the command is skipped until you trust it"))?;
    }
    if runs.untold {
        screen::line("  note: what else of the workspace it runs cannot be told, and is not protected")?;
    } else if runs.files.is_empty() && runs.missing.is_empty() {
        screen::line("  with: nothing of the workspace; what the program reads there by itself is not protected")?;
    }
    Ok(())
}
