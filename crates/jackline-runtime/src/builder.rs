//! Builds a runtime in code: what judges, what is kept where, and the embedder's own policies and feedback.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use jackline_core::completion::checker::Checker;
use jackline_core::definition::{Fault, Model};
use jackline_core::feedback::{FeedbackProvider, Own, Trigger};
use jackline_core::policy::Policy;
use thiserror::Error;

use crate::definitions::{Definitions, Given, Kept, Standing};
use crate::probes::OwnPath;
use crate::runner::Environment;
use crate::runtime::Runtime;
use crate::store::Store;
use crate::store::files::FileStore;
use crate::store::memory::MemoryStore;
use crate::web::Web;
use crate::wiring::CommandLine;

/// Bytes of a provider's name: it stands in texts and records.
const NAME_BYTES_MAX: usize = 128;

/// Why a runtime could not be built.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BuildFault {
    #[error("the workspace `{0}` is no absolute path of a directory")]
    Workspace(PathBuf),
    #[error("the definition has {} fault(s): {}", .0.len(), .0.first().map(|fault| fault.message.as_str()).unwrap_or_default())]
    Definition(Vec<Fault>),
    #[error("no definition was given")]
    NoDefinition,
    #[error("the feedback provider `{0}` {1}")]
    Feedback(String, &'static str),
}

/// Builds a [`Runtime`].
#[derive(Debug, Default)]
pub struct RuntimeBuilder {
    workspace: Option<PathBuf>,
    source: Option<Source>,
    state: Option<PathBuf>,
    store: Option<Arc<dyn Store>>,
    home: Option<PathBuf>,
    host_settings: Vec<OwnPath>,
    started_in: Vec<PathBuf>,
    policies: Vec<Arc<dyn Policy>>,
    checkers: Vec<Arc<dyn Checker>>,
    feedback: Vec<Own>,
    idles: bool,
    outcomes_follow: bool,
    checkpoints_follow: bool,
    line: Option<CommandLine>,
    web: Option<Arc<dyn Web>>,
    environment: Option<fn(&[String]) -> Environment>,
    patience: Option<fn(u64)>,
}

#[derive(Debug)]
enum Source {
    Model(Box<Model>),
    Yaml(String),
    Definitions(Box<dyn Definitions>),
}

impl RuntimeBuilder {
    /// The workspace root; the present directory's absolute path, for instance.
    #[must_use]
    pub fn workspace(mut self, root: impl Into<PathBuf>) -> Self {
        self.workspace = Some(root.into());
        self
    }

    /// A definition built in code; it is trusted as it is.
    #[must_use]
    pub fn definition(mut self, model: Model) -> Self {
        self.source = Some(Source::Model(Box::new(model)));
        self
    }

    /// A definition as YAML text; it is trusted as it is.
    #[must_use]
    pub fn definition_yaml(mut self, text: impl Into<String>) -> Self {
        self.source = Some(Source::Yaml(text.into()));
        self
    }

    /// Another source of definitions, such as [`Found`](crate::definitions::Found).
    #[must_use]
    pub fn definitions(mut self, definitions: impl Definitions + 'static) -> Self {
        self.source = Some(Source::Definitions(Box::new(definitions)));
        self
    }

    /// Keeps sessions in plain files below this state directory; without it nothing outlives the process.
    #[must_use]
    pub fn state(mut self, directory: impl Into<PathBuf>) -> Self {
        self.state = Some(directory.into());
        self
    }

    /// Keeps sessions in a store of the embedder's.
    #[must_use]
    pub fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.store = Some(store);
        self
    }

    /// What `~` stands for in paths.
    #[must_use]
    pub fn home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// A host's settings that are not where that host usually keeps them; the agent may not change them either.
    #[must_use]
    pub fn host_settings(mut self, files: impl IntoIterator<Item = impl Into<OwnPath>>) -> Self {
        self.host_settings.extend(files.into_iter().map(Into::into));
        self
    }

    /// Directories in which a host was started. One below the workspace's root may hold settings of its own.
    #[must_use]
    pub fn started_in(mut self, dirs: impl IntoIterator<Item = PathBuf>) -> Self {
        self.started_in.extend(dirs);
        self
    }

    /// Allows everything, and keeps nothing, where no definition is found: for a hook that stands ready everywhere.
    /// Without it such a place is refused.
    #[must_use]
    pub fn idle_without_definition(mut self) -> Self {
        self.idles = true;
        self
    }

    /// Hands the record of a call's outcome to the operating system before the answer, and presses it to disk with the
    /// session's next record only. It survives the end of the process as ever; a loss of power may take the last
    /// outcome, never the request of a call that was made.
    #[must_use]
    pub fn outcomes_follow(mut self) -> Self {
        self.outcomes_follow = true;
        self
    }

    /// Leaves the checkpoints of sessions that are kept in files for [`Runtime::catch_up`], to be called once an answer is
    /// given. The log has everything before; should the process end first, whoever loads the session folds a few records.
    #[must_use]
    pub fn checkpoints_follow(mut self) -> Self {
        self.checkpoints_follow = true;
        self
    }

    /// What the host ran to ask us: a change of the settings that hold it must not put another in its place.
    #[must_use]
    pub fn started_by(mut self, line: CommandLine) -> Self {
        self.line = Some(line);
        self
    }

    /// Asks addresses for checks of todos; without it such checks do not pass.
    #[must_use]
    pub fn web(mut self, web: impl Web + 'static) -> Self {
        self.web = Some(Arc::new(web));
        self
    }

    /// The variables that commands of checks get: `read` is called when the first of them runs, with the names that the
    /// definitions add. Without it they get none.
    #[must_use]
    pub fn environment(mut self, read: fn(&[String]) -> Environment) -> Self {
        self.environment = Some(read);
        self
    }

    /// Is told, before a command runs, how many milliseconds may pass until it has ended: for who keeps a deadline.
    #[must_use]
    pub fn patience(mut self, patience: fn(u64)) -> Self {
        self.patience = Some(patience);
        self
    }

    /// Adds a policy of the embedder's own.
    #[must_use]
    pub fn policy(mut self, policy: impl Policy + 'static) -> Self {
        self.policies.push(Arc::new(policy));
        self
    }

    /// Adds a check of the embedder's own that must hold before an agent may stop.
    #[must_use]
    pub fn checker(mut self, checker: impl Checker + 'static) -> Self {
        self.checkers.push(Arc::new(checker));
        self
    }

    /// Adds a provider of feedback of the embedder's own, asked when its trigger is met.
    #[must_use]
    pub fn feedback(mut self, provider: impl FeedbackProvider + 'static, trigger: Trigger) -> Self {
        self.feedback.push(Own { name: provider.name().to_owned(), provider: Arc::new(provider), trigger });
        self
    }

    /// The runtime.
    ///
    /// # Errors
    /// What is missing or cannot be used.
    pub fn build(self) -> Result<Runtime, BuildFault> {
        usable(&self.feedback)?;
        let workspace = self.workspace.unwrap_or_default();
        let definitions: Box<dyn Definitions> = match self.source.ok_or(BuildFault::NoDefinition)? {
            Source::Definitions(definitions) => definitions,
            Source::Yaml(text) => {
                let root = absolute(&workspace)?;
                Box::new(Given::new(Standing::given(root, &text).map_err(BuildFault::Definition)?))
            }
            Source::Model(model) => {
                let standing = Standing::built(absolute(&workspace)?, *model);
                Box::new(Given::new(standing.map_err(BuildFault::Definition)?))
            }
        };
        let store: Arc<dyn Store> = match (self.store, &self.state) {
            (Some(store), _) => store,
            (None, Some(state)) if self.checkpoints_follow => {
                Arc::new(FileStore::open(state.clone()).checkpoints_follow())
            }
            (None, Some(state)) => Arc::new(FileStore::open(state.clone())),
            (None, None) => Arc::new(MemoryStore::default()),
        };
        Ok(Runtime {
            store,
            definitions,
            policies: self.policies,
            checkers: self.checkers,
            feedback: self.feedback,
            kept: self.state.as_deref().map(Kept::below),
            home: self.home,
            host_settings: self.host_settings,
            started_in: self.started_in,
            state: self.state,
            idles: self.idles,
            outcomes_follow: self.outcomes_follow,
            line: self.line,
            web: self.web,
            environment: self.environment,
            patience: self.patience,
            catalogue: Mutex::new(None),
            held: Mutex::new(BTreeMap::new()),
            ground: Mutex::new(None),
        })
    }
}

/// Holds the embedder's providers to what a definition's are held to.
fn usable(feedback: &[Own]) -> Result<(), BuildFault> {
    for (index, own) in feedback.iter().enumerate() {
        let Trigger { every_n_calls, every_n_ms, on_file_created } = &own.trigger;
        let wrong = [
            (own.name.is_empty() || own.name.len() > NAME_BYTES_MAX, "needs a name of 1 to 128 bytes"),
            (feedback.iter().take(index).any(|other| other.name == own.name), "is there twice"),
            (own.trigger == Trigger::default(), "has no trigger"),
            (*every_n_calls == Some(0) || every_n_ms.is_some_and(|ms| ms <= 0), "has a trigger of 0 or less"),
            (on_file_created.as_ref().is_some_and(String::is_empty), "is triggered by a file without a name"),
        ];
        if let Some((_, why)) = wrong.into_iter().find(|(wrong, _)| *wrong) {
            return Err(BuildFault::Feedback(own.name.clone(), why));
        }
    }
    Ok(())
}

fn absolute(workspace: &Path) -> Result<&Path, BuildFault> {
    if workspace.is_absolute() && workspace.is_dir() {
        Ok(workspace)
    } else {
        Err(BuildFault::Workspace(workspace.to_owned()))
    }
}
