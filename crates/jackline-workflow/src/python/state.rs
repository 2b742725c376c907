//! Which keys of the state a source writes: `state["key"] = …`, whoever holds the state, in whatever function.

use super::argument::enclosed;
use super::block::{Statement, split};
use super::said::{Constants, Said, assignment};
use super::token::Token;

/// What the state is called.
const STATE: &str = "state";
/// Methods that change what they are asked of.
const CHANGING: &[&str] = &[
    "append",
    "extend",
    "insert",
    "update",
    "setdefault",
    "pop",
    "popitem",
    "clear",
    "remove",
    "add",
    "discard",
    "sort",
    "reverse",
];

/// The keys that are written, in the order they stand.
pub(super) fn writes(statements: &[Statement<'_>], constants: &Constants<'_>) -> Vec<Said> {
    let mut found = Vec::new();
    collect(statements, constants, &mut found);
    found
}

/// Recursion is as deep as indentation, which the lexer bounds.
fn collect(statements: &[Statement<'_>], constants: &Constants<'_>, found: &mut Vec<Said>) {
    for statement in statements {
        let head = statement.head;
        let targets = assignment(statement).map(|(targets, _)| targets).unwrap_or_default();
        let all = targets.into_iter().chain(augmented(head)).chain(bound(head));
        let mut keys: Vec<Key<'_>> = all.flat_map(parts).filter_map(key).map(Key::Said).collect();
        methods(head, &mut keys);
        found.extend(keys.into_iter().filter_map(|key| key.read(constants)));
        collect(&statement.body, constants, found);
    }
}

/// A key as it is written: an expression, or the name of an argument.
enum Key<'t> {
    Said(&'t [Token<'t>]),
    Name(&'t Token<'t>),
}

impl Key<'_> {
    fn read(&self, constants: &Constants<'_>) -> Option<Said> {
        match self {
            Self::Said(expression) => constants.read(expression),
            Self::Name(name) => Some(Said { text: name.text.to_owned(), computed: false, span: name.span }),
        }
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

/// The targets of `for … in`, `with … as …` and `del …`.
fn bound<'t>(head: &'t [Token<'t>]) -> Vec<&'t [Token<'t>]> {
    let skipped = usize::from(head.first().is_some_and(|first| first.is_name("async")));
    let Some((word, rest)) = head.get(skipped..).and_then(<[_]>::split_first) else { return Vec::new() };
    match word.text {
        "del" => vec![rest],
        "for" => vec![split_at_name(rest, "in").0],
        "with" => {
            let rest = match rest {
                [open, inner @ .., close] if open.is_mark("(") && close.is_mark(")") => inner,
                rest => rest,
            };
            split(rest, ",").map(|item| split_at_name(item, "as").1).collect()
        }
        _ => Vec::new(),
    }
}

/// What stands before and behind a keyword outside of brackets; all before it, when it is not there.
fn split_at_name<'t>(tokens: &'t [Token<'t>], name: &str) -> (&'t [Token<'t>], &'t [Token<'t>]) {
    let mut depth = 0;
    let at = tokens.iter().position(|token| {
        depth += token.deeper();
        depth == 0 && token.is_name(name)
    });
    let (before, behind) = tokens.split_at(at.unwrap_or(tokens.len()));
    (before, behind.get(1..).unwrap_or_default())
}

/// The single targets of a target: those of a tuple or list, however nested.
fn parts<'t>(target: &'t [Token<'t>]) -> Vec<&'t [Token<'t>]> {
    let (mut waiting, mut found) = (vec![target], Vec::new());
    while let Some(target) = waiting.pop() {
        match target {
            [open, inner @ .., close]
                if open.deeper() > 0 && close.deeper() < 0 && enclosed(target).len() == inner.len() =>
            {
                waiting.push(inner);
            }
            target if split(target, ",").nth(1).is_some() => waiting.extend(split(target, ",")),
            target => found.push(target),
        }
    }
    found.reverse();
    found
}

/// The key of the state that a target is, or lies below.
fn key<'t>(target: &'t [Token<'t>]) -> Option<&'t [Token<'t>]> {
    let mut depth = 0;
    let at = target.windows(2).position(|pair| {
        let [name, open] = pair else { return false };
        let here = depth == 0 && name.is_name(STATE) && open.is_mark("[");
        depth += name.deeper();
        here
    })?;
    target.get(at + 1..).map(enclosed)
}

/// The keys that methods write: `state.update(…)`, `state["key"].append(…)`.
fn methods<'t>(head: &'t [Token<'t>], keys: &mut Vec<Key<'t>>) {
    for (at, _) in head.iter().enumerate().filter(|(_, token)| token.is_name(STATE)) {
        let behind = head.get(at + 1..).unwrap_or_default();
        match behind {
            [open, ..] if open.is_mark("[") => keys.extend(changed(behind).map(Key::Said)),
            [dot, method, open, ..] if dot.is_mark(".") && open.is_mark("(") => {
                let arguments = enclosed(behind.get(2..).unwrap_or_default());
                called(method.text, arguments, keys);
            }
            [mark, open, ..] if mark.is_mark("|=") && open.is_mark("{") => {
                keys.extend(map_keys(behind.get(1..).unwrap_or_default()).map(Key::Said));
            }
            _ => {}
        }
    }
}

/// The key in the first brackets, if a method changes what is below it.
fn changed<'t>(behind: &'t [Token<'t>]) -> Option<&'t [Token<'t>]> {
    let key = enclosed(behind);
    let mut rest = behind;
    while rest.first().is_some_and(|open| open.is_mark("[")) {
        rest = rest.get(enclosed(rest).len() + 2..).unwrap_or_default();
    }
    let changes = matches!(rest, [dot, method, open, ..]
        if dot.is_mark(".") && CHANGING.contains(&method.text) && open.is_mark("("));
    changes.then_some(key)
}

/// The keys that a method of the state writes.
fn called<'t>(method: &str, arguments: &'t [Token<'t>], keys: &mut Vec<Key<'t>>) {
    match method {
        "setdefault" | "pop" | "__setitem__" | "__delitem__" => {
            keys.extend(split(arguments, ",").next().map(Key::Said))
        }
        "update" => {
            for argument in split(arguments, ",") {
                match argument {
                    [open, ..] if open.is_mark("{") => keys.extend(map_keys(argument).map(Key::Said)),
                    [spread, open, ..] if spread.is_mark("**") && open.is_mark("{") => {
                        keys.extend(map_keys(argument.get(1..).unwrap_or_default()).map(Key::Said));
                    }
                    [name, equals, ..] if equals.is_mark("=") => keys.push(Key::Name(name)),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

/// The keys of a map that is written down.
fn map_keys<'t>(map: &'t [Token<'t>]) -> impl Iterator<Item = &'t [Token<'t>]> {
    let entries = split(enclosed(map), ",");
    entries.filter_map(|entry| split(entry, ":").next().filter(|key| key.len() < entry.len()))
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
        check("state['x'], (state['y'], [state['z']]) = 1, (2, [3])\n", &["x", "y", "z"]);
        check("for state['a'] in y: pass\nwith b as state['c'], d as (state['e'], f): pass\n", &["a", "c", "e"]);
        check("del state['a'], x[state['b']]\n", &["a"]);
        check("state.update({'a': 1, 'b': state['c']})\nself.state.update(d=2, **{'e': 3})\n", &["a", "b", "d", "e"]);
        check("state.setdefault('a', {})\nstate['b'].append(1)\nf(state['c']['d'].update(x))\n", &["a", "b", "c"]);
        check("state |= {'a': 1}\nx[state['b']] = 1\nstate['c'].get(1)\nstate.get('d')\n", &["a"]);
        check("x = state['a']\nf(state['b'])\nif state['c'] == 1: pass\n# state['d'] = 1\n", &[]);
        check("y = \"state['a'] = 1\"\nmy_state['a'] = 1\nstate = {}\n", &[]);
    }

    #[test]
    fn a_computed_key_is_not_known() {
        let found = crate::python::agent("state[name()] = 1\n").unwrap().state_writes;
        assert_eq!(found.iter().filter_map(|said| said.known()).count(), 0);
    }
}
