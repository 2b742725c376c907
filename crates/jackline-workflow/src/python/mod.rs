//! Reads Python as far as rules ask about it: which tools a source registers, what an agent's class says of itself.
//!
//! A source becomes tokens (`lex`, literals in `literal`), tokens become statements in blocks (`block`), and the
//! questions are answered from those (`registration`, `agent`). Comments and texts are never mistaken for code. What
//! only a full parser would refuse (`x = = 1`) is not noticed; broken texts, brackets and indentation are. Nothing is run.

mod agent;
mod argument;
mod block;
mod cursor;
mod encoding;
mod lex;
mod literal;
mod number;
mod registration;
mod said;
mod state;
#[cfg(test)]
mod tests;
mod token;

use jackline_core::definition::Span;

pub(crate) use encoding::decoded;

pub use agent::{AgentSource, Class, Naming, Way};
pub use registration::Registration;
pub use said::Said;

/// Bytes of a source: the longest hand-written module of Python's own library has a quarter of this.
pub const PYTHON_BYTES_MAX: usize = 1 << 20;

/// Why a source could not be read, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Unreadable {
    /// Lowercase, one line, no final period.
    pub message: String,
    pub span: Span,
}

/// The tools that a source registers, by decorator or by call, in the order they stand.
///
/// # Errors
/// When the source is too long, or its texts, brackets or indentation are broken.
pub fn registrations(source: &str) -> Result<Vec<Registration>, Unreadable> {
    let tokens = tokens(source)?;
    Ok(registration::find(&block::read(&tokens.code)?, &tokens.fields))
}

/// What the source of an agent defines, and what its classes call themselves.
///
/// # Errors
/// When the source is too long, or its texts, brackets or indentation are broken.
pub fn agent(source: &str) -> Result<AgentSource, Unreadable> {
    let tokens = tokens(source)?;
    Ok(agent::look(&block::read(&tokens.code)?))
}

fn tokens(source: &str) -> Result<lex::Tokens<'_>, Unreadable> {
    if source.len() > PYTHON_BYTES_MAX {
        let message = format!("the file is longer than {PYTHON_BYTES_MAX} bytes");
        return Err(Unreadable { message, span: Span { line: 1, column: 1, ..Span::default() } });
    }
    lex::Lexer::new(source).run()
}
