//! `jackline policy`: the file policies of a workspace: what they are, what is outstanding, and new ones.

mod annotated;
mod check;
mod clear;
mod import;
mod list;
mod new;
mod status;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use jackline_core::event::{Body, Event};
use jackline_core::files::seen::PolicyFault;
use jackline_core::files::settings;
use jackline_core::session::Pin;
use jackline_core::sha::Digest;
use jackline_runtime::definitions::{Accepted, DefinitionFault, Definitions, Scripts, Standing};
use jackline_runtime::files::{self, Folder};
use jackline_runtime::{Answer, CHECKING_SESSION, Runtime, clock};

use crate::error::CommandError;
use crate::place::{self, Where};
use crate::screen;
pub(super) use list::told;

/// Hexadecimal digits of a workspace's place that its session is named by.
const PLACE_DIGITS: usize = 12;
/// What judges a workspace that has no definition of its own: nothing but its file policies.
const BARE_DEFINITION: &str = "jackline: 1\n";

/// Check what must change together with what changed; list, write and convert file policies
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Policy {
    Check(check::Check),
    List(list::List),
    Status(status::Status),
    Clear(clear::Clear),
    New(new::New),
    Import(import::Import),
}

impl Policy {
    pub(crate) fn run(&self) -> Result<ExitCode, CommandError> {
        let done = match self {
            Self::Check(command) => return command.run(),
            Self::List(command) => command.run(),
            Self::Status(command) => command.run(),
            Self::Clear(command) => command.run(),
            Self::New(command) => command.run(),
            Self::Import(command) => command.run(),
        };
        done.map(|()| ExitCode::SUCCESS)
    }
}

/// The workspace as these commands look at it.
struct Workspace {
    at: Where,
    standing: Arc<Standing>,
    /// There is a definition.
    defined: bool,
}

impl Workspace {
    /// The project around the present directory, with or without a definition.
    fn of(at: &Where) -> Result<Self, CommandError> {
        let project = at.project()?;
        let at = Where { workspace: Some(project.clone()), ..at.clone() };
        let (standing, defined) = match at.definitions_read_only()?.stack(None, None) {
            Ok(standing) => (standing, true),
            Err(DefinitionFault::Missing(_)) => {
                let scripts = Accepted::below(&at.state()?).without_definition(&project);
                (Arc::new(Standing { scripts, ..bare(project)? }), false)
            }
            Err(fault) => return Err(fault.into()),
        };
        Ok(Self { at, standing, defined })
    }

    /// Says so where policies hold nobody, since hooks heed only a workspace with a definition.
    fn warn_if_undefined(&self) {
        if !self.defined && !self.folders().is_empty() {
            let help = "write `jackline: 1` into `jackline.yaml`";
            screen::complain(&format!(
                "warning: no agent is held to policies where there is no definition\n  help: {help}"
            ));
        }
    }

    /// The folders that count, as the definitions say.
    fn folders(&self) -> Vec<Folder> {
        files::folders(&self.standing.stack)
    }

    /// Folders that a definition names and that are not there.
    fn missing(&self) -> Vec<PolicyFault> {
        files::missing(&self.standing.stack)
    }

    /// Whether the definitions switch file policies off.
    fn is_off(&self) -> bool {
        settings::folders(&self.standing.stack).is_empty()
    }

    /// Where a new policy goes.
    fn home(&self) -> PathBuf {
        let there = self.folders().into_iter().next().map(|folder| folder.dir);
        let named = settings::folders(&self.standing.stack).into_iter().find_map(|folder| folder.dir);
        let root = PathBuf::from(&self.standing.stack.root);
        there.unwrap_or_else(|| root.join(named.as_deref().unwrap_or(files::folder::DIRS[0])))
    }

    /// The session in which a person's looks are recorded: one for each workspace.
    fn session(&self) -> String {
        let place = Digest::of(self.standing.stack.root.as_bytes()).hex();
        format!("{CHECKING_SESSION}{}", place.get(..PLACE_DIGITS).unwrap_or_default())
    }

    fn runtime(&self, trusts: bool) -> Result<Runtime, CommandError> {
        let mut builder = Runtime::builder().state(self.at.state()?).environment(place::environment);
        if let Some(home) = place::home() {
            builder = builder.home(home);
        }
        let definitions = Standings { standing: Arc::clone(&self.standing), trusts };
        builder.definitions(definitions).build().map_err(|fault| CommandError::internal(fault.to_string()))
    }

    /// Has the runtime decide about something in that session.
    fn decide(&self, trusts: bool, transcript: Option<String>, body: Body) -> Result<Answer, CommandError> {
        let event = Event { transcript, ..Event::new(self.session(), clock::now(), body) };
        let answer = self.runtime(trusts)?.decide(&event);
        match (&answer.seq, &answer.reason) {
            (None, Some(reason)) => Err(CommandError::internal(reason.clone())),
            _ => Ok(answer),
        }
    }
}

fn bare(root: PathBuf) -> Result<Standing, CommandError> {
    let standing = Standing::given(&root, BARE_DEFINITION);
    standing.map_err(|_| CommandError::internal("the empty definition has a fault"))
}

/// Judges by one standing, whatever a session is pinned to: it is always the same workspace.
#[derive(Debug)]
struct Standings {
    standing: Arc<Standing>,
    /// Commands run without the owner's trust: whoever looks says so.
    trusts: bool,
}

impl Definitions for Standings {
    fn stack(&self, _: Option<&Pin>, _: Option<&str>) -> Result<Arc<Standing>, DefinitionFault> {
        Ok(match self.trusts {
            true => Arc::new(Standing { scripts: Scripts::Given, ..self.standing.as_ref().clone() }),
            false => Arc::clone(&self.standing),
        })
    }
}

/// A folder as people are shown it.
fn none_found(workspace: &Workspace) -> String {
    if workspace.is_off() {
        return "file policies are switched off here (`file_policies: {enabled: false}`)".to_owned();
    }
    let root = PathBuf::from(&workspace.standing.stack.root);
    if files::look_for(&root, None) == files::Place::Off {
        return "file policies are switched off here (`policy: {enabled: false}` in `.deepwork/config.yml`)".to_owned();
    }
    "there are no file policies here; `jackline policy new` writes one".to_owned()
}
