//! Which keys of the state a source writes: `state["key"] = …`, whoever holds the state, in whatever function.

use super::block::Statement;
use super::said::{Constants, Said, assignment};
use super::token::Token;

/// What the state is called.
const STATE: &str = "state";

/// The keys that are written, in the order they stand.
pub(super) fn writes(statements: &[Statement<'_>], constants: &Constants<'_>) -> Vec<Said> {
    let mut found = Vec::new();
    collect(statements, constants, &mut found);
    found
}

/// Recursion is as deep as indentation, which the lexer bounds.
fn collect(statements: &[Statement<'_>], constants: &Constants<'_>, found: &mut Vec<Said>) {
    for statement in statements {
        let targets = assignment(statement).map(|(targets, _)| targets).unwrap_or_default();
        let changed = augmented(statement.head);
        found.extend(targets.into_iter().chain(changed).filter_map(|target| constants.read(key(target)?)));
        collect(&statement.body, constants, found);
    }
}

/// What `target += …` changes, by any operator.
fn augmented<'t>(head: &'t [Token<'t>]) -> Option<&'t [Token<'t>]> {
    let mut depth = 0;
    let at = head.iter().position(|token| {
        depth += token.deeper();
        depth == 0 && super::said::AUGMENTS.iter().any(|augment| token.is_mark(augment))
    })?;
    head.get(..at)
}

/// The key of the state that a target is, or lies below.
fn key<'t>(target: &'t [Token<'t>]) -> Option<&'t [Token<'t>]> {
    let is_state = |pair: &[Token<'_>]| matches!(pair, [name, open] if name.is_name(STATE) && open.is_mark("["));
    let at = target.windows(2).position(is_state)? + 2;
    let mut depth = 1;
    let length = target.iter().skip(at).position(|token| {
        depth += token.deeper();
        depth == 0
    })?;
    target.get(at..at + length)
}

#[cfg(test)]
mod tests {
    #[track_caller]
    fn check(source: &str, want: &[&str]) {
        let found = crate::python::agent(source).unwrap().state_writes;
        assert_eq!(found.iter().map(|said| said.text.as_str()).collect::<Vec<_>>(), want, "{source}");
    }

    #[test]
    fn writes_are_found_and_reads_are_not() {
        check("state[\"_meta\"] = {}\n", &["_meta"]);
        check("class Agent:\n    def run(self):\n        self.state['a']['b'] = ctx.state[\"c\"] = 1\n", &["a", "c"]);
        check("K = '_trace'\nif x:\n    state[K] |= {}\n", &["_trace"]);
        check("state['n'] += 1\n", &["n"]);
        check("x = state['a']\nf(state['b'])\nif state['c'] == 1: pass\n# state['d'] = 1\n", &[]);
        check("y = \"state['a'] = 1\"\nmy_state['a'] = 1\nstate = {}\n", &[]);
    }

    #[test]
    fn a_computed_key_is_not_known() {
        let found = crate::python::agent("state[name()] = 1\n").unwrap().state_writes;
        assert_eq!(found.iter().filter_map(|said| said.known()).count(), 0);
    }
}
