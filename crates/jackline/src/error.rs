//! The one error of the command line: its kind decides the exit code, its hints say what to do next.

use std::io;
use std::process::ExitCode;

use jackline_runtime::definitions::DefinitionFault;
use jackline_runtime::store::StoreFault;

use crate::screen;

/// What a failed command is to the shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The checked thing is not fine: exit 1.
    NotFine,
    /// Usage or unreadable input: exit 2.
    Input,
    /// A fault of ours or of the machine: exit 3.
    Internal,
    /// A signal ended what was going on: exit 130.
    Interrupted,
    /// The reader of our output went away: nobody is there to be told.
    BrokenPipe,
}

/// Why a command failed.
#[derive(Debug)]
pub(crate) struct CommandError {
    kind: Kind,
    message: String,
    hints: Vec<String>,
}

impl CommandError {
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self { kind: Kind::Input, message: message.into(), hints: Vec::new() }
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self { kind: Kind::Internal, message: message.into(), hints: Vec::new() }
    }

    /// The checked thing is not fine, for this reason.
    pub(crate) fn found(message: impl Into<String>) -> Self {
        Self { kind: Kind::NotFine, message: message.into(), hints: Vec::new() }
    }

    /// The checked thing is not fine, and the command has said so itself.
    pub(crate) fn not_fine() -> Self {
        Self { kind: Kind::NotFine, message: String::new(), hints: Vec::new() }
    }

    /// A signal ended what was going on.
    pub(crate) fn interrupted(message: impl Into<String>) -> Self {
        Self { kind: Kind::Interrupted, message: message.into(), hints: Vec::new() }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The same, with what follows from it.
    pub(crate) fn so(mut self, consequence: &str) -> Self {
        self.message = format!("{}; {consequence}", self.message);
        self
    }

    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.kind == Kind::BrokenPipe
    }

    pub(crate) fn show(&self) {
        self.tell("error");
    }

    /// Shows it as something that does not end the command.
    pub(crate) fn warn(&self) {
        self.tell("warning");
    }

    /// What went wrong, and what to do next.
    pub(crate) fn into_parts(self) -> (String, Vec<String>) {
        (self.message, self.hints)
    }

    fn tell(&self, level: &str) {
        if !self.message.is_empty() {
            screen::complain(&format!("{level}: {}", self.message));
        }
        for hint in &self.hints {
            screen::complain(&format!("  help: {hint}"));
        }
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self.kind {
            Kind::BrokenPipe => 0,
            Kind::NotFine => 1,
            Kind::Input => 2,
            Kind::Internal => 3,
            Kind::Interrupted => 130,
        })
    }
}

impl From<io::Error> for CommandError {
    fn from(fault: io::Error) -> Self {
        let kind = if fault.kind() == io::ErrorKind::BrokenPipe { Kind::BrokenPipe } else { Kind::Internal };
        Self { kind, message: fault.to_string(), hints: Vec::new() }
    }
}

impl From<StoreFault> for CommandError {
    fn from(fault: StoreFault) -> Self {
        let cause = std::error::Error::source(&fault).map(|source| format!(": {source}")).unwrap_or_default();
        Self::internal(format!("{fault}{cause}")).hint(fault.help())
    }
}

impl From<DefinitionFault> for CommandError {
    fn from(fault: DefinitionFault) -> Self {
        let error = Self::input(fault.to_string());
        match &fault {
            DefinitionFault::Missing(_) => {
                error.hint("write one that begins with `jackline: 1`, or name one with `--definition FILE`")
            }
            DefinitionFault::Faulty { path, source_text, faults } => {
                let shown = jackline_core::definition::render(faults, source_text, &path.display().to_string());
                Self::input(format!("{fault}\n\n{}", shown.trim_end()))
                    .hint("`jackline schema` prints what may stand in it")
            }
            _ => error,
        }
    }
}
