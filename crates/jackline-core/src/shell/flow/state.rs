//! What is known at a point of a text, and how it becomes less when parts may run, run again, or fail.

use std::collections::{BTreeMap, BTreeSet};

use super::super::tree::{ARGUMENTS, Chain, Effect, Joint, List, Node, Piece, RawWord, Simple};
use super::super::variables::Variables;
use super::super::{Dir, Left, Word};
use super::functions::{self, Bodies};
use super::matching::Matching;

/// Directories that a text may be in instead; with more it is nowhere known.
const ASTRAY_MAX: usize = 8;

/// What is known at a point of the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct State {
    pub(super) variables: Variables,
    pub(super) dir: Dir,
    /// Where it may be instead: a `cd` may have failed, and the text went on.
    pub(super) astray: Vec<Dir>,
    pub(super) errexit: bool,
    pub(super) pipefail: bool,
    /// Functions defined so far, with what they may do: a command of that name is not the program.
    pub(super) functions: BTreeMap<String, Bodies>,
    /// What is defined here stays when the text ends.
    pub(super) evaluated: bool,
    /// Aliases defined so far: what a command of that name runs is not read.
    pub(super) aliases: BTreeSet<String>,
    /// Variables that every command from here on is given.
    pub(super) exported: BTreeSet<String>,
    /// A program stands between that may have taken their values away.
    pub(super) stripped: bool,
    /// Whatever is assigned is exported.
    pub(super) allexport: bool,
    /// From here on the exit status proves nothing: the text may have ended early with success, a trap may change
    /// it, or names may lead to other programs.
    pub(super) unproven: bool,
    /// The text may have ended before this point.
    pub(super) left: bool,
    /// What wildcards match besides.
    pub(super) matching: Matching,
    /// The shell itself does something else from here on: names lead elsewhere, or something runs by itself.
    pub(super) rewired: bool,
}

impl State {
    /// Something ran here that may have changed anything.
    pub(super) fn forget_all(&mut self) {
        self.variables.forget_all();
        self.lose();
    }

    /// A program is started that is told to work in this directory.
    pub(super) fn start(&mut self, dir: &Word) {
        self.dir = self.dir.start(dir);
        self.astray = self.astray.iter().map(|astray| astray.start(dir)).collect();
    }

    /// The same, where what is said of this directory is to hold as well.
    pub(super) fn start_beside(&mut self, dir: &Word) {
        let here = self.dir.clone();
        self.start(dir);
        self.stray(here);
    }

    /// A program runs something else with these variables, and with those that were exported.
    pub(super) fn hand_on(&mut self, env: &[(String, Word)], whole: bool) {
        for (name, value) in env {
            self.exported.insert(name.clone());
            match whole {
                true => self.variables.assign(name, value.clone()),
                false => self.variables.forget(name),
            }
        }
        self.stripped |= !whole;
    }

    /// What was handed on so counts no longer, as it was `before`.
    pub(super) fn take_back(&mut self, env: &[(String, Word)], before: &Self) {
        for (name, _) in env {
            self.variables.forget(name);
            if !before.exported.contains(name) {
                self.exported.remove(name);
            }
        }
    }

    /// The directory is not known any more.
    pub(super) fn lose(&mut self) {
        self.dir = Dir::Unknown;
        self.astray.clear();
    }

    /// What a shell is left with that a later command would be read otherwise by.
    pub(super) fn left_behind(&self) -> Option<Left> {
        let dirs = std::iter::once(&self.dir).chain(&self.astray).map(Dir::folded);
        let dirs: Vec<Dir> = dirs.filter(|dir| *dir != Dir::Here).collect();
        let names = self.rewired || !self.functions.is_empty() || !self.aliases.is_empty();
        (names || !dirs.is_empty()).then_some(Left { dirs, names })
    }

    /// Where and with what a function will be called is not known.
    pub(super) fn inside_function(&self) -> Self {
        let mut inside = Self {
            functions: self.functions.clone(),
            aliases: self.aliases.clone(),
            exported: self.exported.clone(),
            ..Self::default()
        };
        inside.forget_all();
        inside
    }

    /// If something failed since `before`, the text may still be where it was.
    pub(super) fn may_have_stayed(&mut self, before: &Self) {
        if self.dir == Dir::Unknown || self.dir == before.dir {
            return;
        }
        let stayed = std::iter::once(&before.dir).chain(&before.astray).cloned();
        for dir in stayed.collect::<Vec<_>>() {
            self.stray(dir);
        }
    }

    fn stray(&mut self, dir: Dir) {
        if dir == self.dir || self.astray.contains(&dir) {
            return;
        }
        self.astray.push(dir);
        if self.astray.len() > ASTRAY_MAX {
            self.lose();
        }
    }

    /// Keeps only what `other` agrees with.
    pub(super) fn merge(&mut self, other: &Self) {
        self.variables.agree(&other.variables);
        if self.dir == other.dir {
            other.astray.iter().for_each(|dir| self.stray(dir.clone()));
        } else {
            self.lose();
        }
        self.errexit &= other.errexit;
        self.pipefail &= other.pipefail;
        functions::merge(self, other);
        self.aliases.extend(other.aliases.iter().cloned());
        self.exported.extend(other.exported.iter().cloned());
        self.stripped |= other.stripped;
        self.allexport |= other.allexport;
        self.unproven |= other.unproven;
        self.left |= other.left;
        self.matching.merge(other.matching);
        self.rewired |= other.rewired;
    }
}

/// Whether a chain ends the text, or the loop, when something before its last `||` failed.
pub(super) fn leaves(chain: &Chain) -> bool {
    let Some((Joint::Or, pipeline)) = chain.rest.last() else { return false };
    let [node] = pipeline.nodes.as_slice() else { return false };
    let last = match node {
        Node::Simple(_) => Some(node),
        Node::Group(list, _) => list
            .items
            .last()
            .filter(|item| item.chain.rest.is_empty() && !item.background)
            .and_then(|item| match item.chain.first.nodes.as_slice() {
                [node] => Some(node),
                _ => None,
            }),
        _ => None,
    };
    matches!(last, Some(Node::Simple(simple)) if matches!(name(simple), Some("exit" | "return" | "break" | "continue")))
}

/// The plain name of a simple command, `command` and `builtin` looked through.
fn name(simple: &Simple) -> Option<&str> {
    simple.words.iter().filter_map(RawWord::bare).find(|word| !matches!(*word, "command" | "builtin"))
}

/// The name of a simple command that is written with quotes or by a variable, where it is known.
fn spelled(simple: &Simple, state: &State) -> Option<String> {
    let first = simple.words.iter().find(|word| !matches!(word.bare(), Some("command" | "builtin")))?;
    let written = Some(first).filter(|word| word.bare().is_none())?;
    let words = super::words::expand(written, &state.variables);
    words.into_iter().next().filter(Word::known).map(|word| word.text)
}

/// What a part changes is not known when it may run more than once, or not at all.
pub(super) fn forget_changed(list: &List, state: &mut State) {
    let mut called = Vec::new();
    forget_list(list, state, &mut called);
    for (name, bodies) in called {
        functions::put_back(state, name, bodies);
    }
}

/// Functions that were called meanwhile: what each changes is forgotten once.
type Called = Vec<(String, Bodies)>;

fn forget_list(list: &List, state: &mut State, called: &mut Called) {
    for item in &list.items {
        let pipelines = std::iter::once(&item.chain.first).chain(item.chain.rest.iter().map(|(_, pipeline)| pipeline));
        pipelines.flat_map(|pipeline| &pipeline.nodes).for_each(|node| forget_node(node, state, called));
    }
}

fn forget_node(node: &Node, state: &mut State, called: &mut Called) {
    match node {
        Node::Simple(simple) => forget_simple(simple, state, called),
        Node::Group(list, _) => forget_list(list, state, called),
        Node::Subshell(..) => {}
        Node::Branches(lists, words, _) => {
            forget_defaults(words.iter(), state);
            lists.iter().for_each(|list| forget_list(list, state, called));
        }
        Node::For { name, body, .. } => {
            state.variables.forget(name);
            forget_list(body, state, called);
        }
        Node::Function { name, body } => functions::define(state, name, body),
        Node::Test(words, _) => forget_defaults(words.iter(), state),
    }
}

/// What a function changes that is called, as far as it is known what it does.
fn forget_called(name: &str, state: &mut State, called: &mut Called) {
    let Some(bodies) = state.functions.remove(name) else { return };
    if bodies.is_empty() {
        state.forget_all();
    }
    bodies.iter().for_each(|body| forget_node(body, state, called));
    called.push((name.to_owned(), bodies));
}

fn forget_simple(simple: &Simple, state: &mut State, called: &mut Called) {
    simple.assigns.iter().for_each(|assign| state.variables.forget(&assign.name));
    forget_defaults(simple.words.iter(), state);
    let spelled = spelled(simple, state);
    match spelled.as_deref().or_else(|| name(simple)) {
        Some("cd" | "pushd" | "popd") => state.lose(),
        Some("eval" | "source" | ".") => state.forget_all(),
        Some("set" | "shift") => state.variables.forget(ARGUMENTS),
        Some("alias") => {
            let words = simple.words.iter().skip(1).flat_map(|word| super::words::expand(word, &state.variables));
            let names: Vec<String> = words.map(|word| name_in(&word.text).to_owned()).collect();
            state.functions.extend(names.iter().map(|name| (name.clone(), Bodies::new())));
            state.aliases.extend(names);
        }
        Some(
            "read" | "mapfile" | "readarray" | "getopts" | "unset" | "let" | "printf" | "export" | "declare" | "local"
            | "readonly" | "typeset",
        ) => {
            let words: Vec<_> = simple.words.iter().map(RawWord::bare).collect();
            if words.contains(&None) {
                return state.variables.forget_all();
            }
            words.into_iter().flatten().for_each(|word| state.variables.forget(name_in(word)));
        }
        Some(name) => forget_called(name, state, called),
        None => {}
    }
}

fn forget_defaults<'a>(words: impl Iterator<Item = &'a RawWord>, state: &mut State) {
    for piece in words.flat_map(|word| &word.pieces) {
        match piece {
            Piece::Other { inside, effect, .. } => {
                match effect {
                    Some(Effect::Assigns(name)) => state.variables.forget(name),
                    Some(Effect::Calculates(names)) => names.iter().for_each(|name| state.variables.forget(name)),
                    Some(Effect::Runs | Effect::Evaluates) | None => {}
                }
                forget_defaults(inside.iter(), state);
            }
            Piece::Choice { alternatives, .. } => forget_defaults(alternatives.iter(), state),
            _ => {}
        }
    }
}

/// The variable that a word names: `X`, `X=…`, `-vX`, `X[1]`.
pub(super) fn name_in(word: &str) -> &str {
    let word = word.strip_prefix('-').and_then(|option| option.get(1..)).unwrap_or(word);
    let end = word.find(|c: char| !(c == '_' || c.is_ascii_alphanumeric())).unwrap_or(word.len());
    word.get(..end).unwrap_or_default()
}
