//! Runs a command for its answer, if it may: one that a definition names, only where the owner trusted that content.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use jackline_core::definition::model;
use jackline_core::probe::{Fact, Told};
use jackline_core::ran::{Author, Exit, OUTPUT_BYTES_MAX, Ran};
use jackline_core::redact::Redactor;
use jackline_core::stack::Stack;

use crate::definitions::{self, Scripts};
use crate::runner::artifacts::Artifacts;
use crate::runner::{self, Confine, Confined, Environment, Kept, Outcome, Spec};

/// Milliseconds beyond its time after which a command has come to its end, one way or the other.
const GRACE_MS: u64 = 3_000;

/// Runs commands in one workspace, if they may run.
#[derive(Debug, Clone, Copy)]
pub struct Commands<'a> {
    pub stack: &'a Stack,
    pub scripts: &'a Scripts,
    pub redactor: &'a Redactor,
    /// What `~` stands for.
    pub home: Option<&'a Path>,
    /// Where whole outputs are kept, if they are.
    pub state: Option<&'a Path>,
    /// Which variables they get; it is told which others the owner names. Without it they get none.
    pub environment: Option<fn(&[String]) -> Environment>,
    /// Is told before each command how many milliseconds may pass until it has ended.
    pub patience: Option<fn(u64)>,
}

impl Commands<'_> {
    /// What comes of a command.
    #[must_use]
    pub fn answer(&self, argv: &[String], timeout_ms: u64, author: &Author) -> Fact {
        let refused = match author {
            Author::Owner => self.objection(argv).map(Exit::Untrusted),
            Author::Human { scripts } => definitions::objection(scripts, self.root(), argv).map(Exit::Altered),
            Author::Agent => None,
        };
        if let Some(exit) = refused {
            return Fact::Ran(Ran::silent(exit));
        }
        if let Some(patience) = self.patience {
            patience(timeout_ms.min(runner::TIMEOUT_MS_MAX) + GRACE_MS);
        }
        let spec = self.spec(argv, timeout_ms);
        // What the command is given by name it may print, and what it prints is shown and kept.
        let redactor = self.redactor.knowing(spec.environment.secrets());
        Fact::Ran(self.ran(runner::run(&spec, &redactor)))
    }

    /// What comes of a command that its caller knows may run, from this directory.
    #[must_use]
    pub fn run_in(&self, root: &Path, argv: Vec<OsString>, timeout_ms: u64) -> Ran {
        let spec = Spec { workspace: root.to_owned(), argv, ..self.spec(&[], timeout_ms) };
        self.ran(runner::run(&spec, self.redactor))
    }

    /// Why a command of the owner's may not run. Which definition names it does not matter, as long as one that is
    /// trusted does.
    fn objection(&self, argv: &[String]) -> Option<String> {
        let mut trusted = self.stack.layers.iter().filter(|layer| layer.trusted);
        if !trusted.any(|layer| layer.model.commands().contains(&argv)) {
            return Some("the definition that names it is not trusted".to_owned());
        }
        self.scripts.objection(self.root(), argv)
    }

    /// The files that commands run, with what they contain now.
    #[must_use]
    pub fn scripts_of(&self, commands: &[Vec<String>]) -> Fact {
        let all: Result<Vec<_>, String> = commands.iter().map(|argv| definitions::bound(self.root(), argv)).collect();
        match all {
            Ok(all) => Fact::Told(Told::Scripts(all.into_iter().flatten().collect())),
            Err(script) => Fact::Unknown(format!("`{script}` is not there, or cannot be read")),
        }
    }

    fn root(&self) -> &Path {
        Path::new(&self.stack.root)
    }

    fn spec(&self, argv: &[String], timeout_ms: u64) -> Spec {
        let (held, root) = (self.stack.checks(), self.root());
        let environment = self.environment.map(|read| read(&held.environment)).unwrap_or_default();
        let confine = match held.confine.unwrap_or_default() {
            model::Confine::Off => Confine::Off,
            model::Confine::Auto => Confine::Auto,
            model::Confine::Require => Confine::Require,
        };
        Spec {
            timeout_ms,
            confine,
            network: held.network.unwrap_or_default(),
            writable: held.writable.iter().filter_map(|dir| place(dir, root, self.home)).collect(),
            ..Spec::new(argv.to_vec(), root.to_owned(), environment)
        }
    }

    fn ran(&self, outcome: Outcome) -> Ran {
        let Outcome { exit, stdout, stderr, elapsed_ms, confined } = outcome;
        // What cannot be kept whole is shown all the same; its digest would lead nowhere.
        let keep = |kept: &Kept| Artifacts::of(self.state?).keep(kept).ok().map(|artifact| artifact.digest);
        let keep_some = |kept: &Kept| if kept.bytes_total == 0 { None } else { keep(kept) };
        Ran {
            exit: told(exit),
            stdout_kept: keep_some(&stdout),
            stderr_kept: keep_some(&stderr),
            stdout: stdout.short(OUTPUT_BYTES_MAX),
            stderr: stderr.short(OUTPUT_BYTES_MAX),
            elapsed_ms,
            unconfined: match confined {
                Confined::Yes => None,
                Confined::Partly(why) | Confined::No(why) => Some(why),
            },
        }
    }
}

/// A directory as its owner writes it: below the workspace, absolute, or below home.
fn place(dir: &str, root: &Path, home: Option<&Path>) -> Option<PathBuf> {
    match dir.strip_prefix("~/") {
        Some(rest) => home.map(|home| home.join(rest)),
        None => Some(root.join(dir)),
    }
}

fn told(exit: runner::Exit) -> Exit {
    match exit {
        runner::Exit::Code(code) => Exit::Code(code),
        runner::Exit::Signal(signal) => Exit::Signal(signal),
        runner::Exit::TimedOut => Exit::TimedOut,
        runner::Exit::Stopped => Exit::Unknown("it was stopped".to_owned()),
        runner::Exit::NotStarted(why) => Exit::NotStarted(why),
        runner::Exit::NotConfined(why) => Exit::NotConfined(why),
        runner::Exit::Unknown(why) => Exit::Unknown(why),
    }
}
