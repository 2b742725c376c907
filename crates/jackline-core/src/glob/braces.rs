//! Braces: `{a,b}` stands for two patterns. Written out before anything is matched, for globs of every kind.

use super::{ALTERNATIVES_MAX, TOKENS_MAX};

/// What makes up braces.
pub(crate) enum Brace {
    Open,
    Comma,
    Close,
}

/// A piece of a pattern that may be part of braces.
pub(crate) trait Token: Clone {
    /// What it is to braces, if anything.
    fn brace(&self) -> Option<Brace>;
}

/// Replaces braces by the patterns they stand for. Each round adds at least one pattern, so the bound ends it.
pub(crate) fn expand<T: Token>(tokens: Vec<T>) -> Result<Vec<Vec<T>>, String> {
    let mut waiting = vec![tokens];
    let mut done: Vec<Vec<T>> = Vec::new();
    let mut size = 0;
    while let Some(tokens) = waiting.pop() {
        match first(&tokens) {
            Some(brace) => waiting.extend(brace.into_iter().rev()),
            None => {
                size += tokens.len();
                done.push(tokens);
            }
        }
        if waiting.len() + done.len() > ALTERNATIVES_MAX {
            return Err(format!("stands for more than {ALTERNATIVES_MAX} patterns"));
        }
        if size > TOKENS_MAX {
            return Err(format!("stands for patterns of more than {TOKENS_MAX} characters together"));
        }
    }
    Ok(done)
}

/// The patterns that the first brace stands for, if there is one.
fn first<T: Token>(tokens: &[T]) -> Option<Vec<Vec<T>>> {
    let start = tokens.iter().position(|token| matches!(token.brace(), Some(Brace::Open)))?;
    let (before, rest) = tokens.split_at(start);
    let mut depth = 0_usize;
    let mut parts: Vec<Vec<T>> = vec![Vec::new()];
    for (at, token) in rest.iter().enumerate().skip(1) {
        match token.brace() {
            Some(Brace::Close) if depth == 0 => {
                let after = rest.get(at + 1..).unwrap_or_default();
                return Some(parts.iter().map(|part| [before, part.as_slice(), after].concat()).collect());
            }
            Some(Brace::Comma) if depth == 0 => {
                parts.push(Vec::new());
                continue;
            }
            Some(Brace::Open) => depth += 1,
            Some(Brace::Close) => depth -= 1,
            Some(Brace::Comma) | None => {}
        }
        parts.last_mut()?.push(token.clone());
    }
    None
}
