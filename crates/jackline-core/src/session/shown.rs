//! The texts of a change from which a secret can go without changing what is decided.

use super::Change;
use crate::files::memory::Step;
use crate::todos::{Author, Todo};

impl Change {
    /// The texts in it that are only ever shown, or held against others that a secret left too: it can go without
    /// changing what is decided.
    pub fn shown_texts(&mut self) -> Vec<&mut String> {
        match self {
            Self::Constrained { constraint, .. } => vec![&mut constraint.action, &mut constraint.target],
            Self::Halted { halt, .. } => vec![&mut halt.reason],
            Self::Extended { extension } => vec![&mut extension.reason],
            Self::Todo { todo } => todo_texts(todo),
            Self::Stated { statement } => vec![&mut statement.text],
            Self::Parked { reason, .. } | Self::Stopped { parked: Some(reason), .. } => vec![reason],
            Self::Invalid { errors, .. } => {
                errors.iter_mut().flat_map(|error| [&mut error.instance_path, &mut error.message]).collect()
            }
            Self::Files { step: Step::Kept { kept } } => {
                std::iter::once(&mut kept.name).chain(&mut kept.files).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// What an owner requires is recognised by its content, which stands in the definition anyway.
fn todo_texts(todo: &mut Todo) -> Vec<&mut String> {
    let content = (todo.author != Author::Owner).then_some(&mut todo.content);
    let results = todo.results.iter_mut().map(|result| &mut result.message);
    let said = todo.rejection.as_mut().map(|rejection| &mut rejection.consent.reason);
    content.into_iter().chain(results).chain(said).chain(todo.state.shown_texts()).collect()
}
