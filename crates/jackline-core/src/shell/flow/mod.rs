//! Walks the tree of a text in the order it would run, with what is known of variables, directories and options,
//! and collects its commands, what they touch, and which of them the exit status proves.

mod simple;

use std::collections::BTreeSet;

use super::grammar;
use super::tree::{Assign, Chain, Item, Joint, List, Node, Piece, Pipeline, RawWord, Redir, RedirKind, Tree};
use super::words::{self, Variables};
use super::{COMMANDS_MAX, Dir, Reading, TEXTS_DEPTH_MAX, Touch, Word};
use crate::path::Role;

/// Values of a loop that are gone through one by one; with more, its variable is not known.
const LOOP_VALUES_MAX: usize = 16;

/// Reads a whole text.
pub(super) fn walk(tree: &Tree) -> Result<Reading, String> {
    let mut walker = Walker { reading: Reading::default(), bodies: &tree.bodies, texts: 0 };
    walker.list(&tree.list, &mut State::default(), Standing { proves: true, piped: false, shown: true })?;
    Ok(walker.reading)
}

/// What is known at a point of the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct State {
    variables: Variables,
    dir: Dir,
    errexit: bool,
    pipefail: bool,
    /// Functions defined so far: a command of that name is not the program.
    functions: BTreeSet<String>,
    /// From here on the exit status proves nothing: the text may have ended early with success, a trap may change
    /// it, or names may lead to other programs.
    unproven: bool,
}

/// How a part of the text stands in the whole.
#[derive(Debug, Clone, Copy)]
struct Standing {
    /// Exit status 0 of the whole implies exit status 0 of this part.
    proves: bool,
    /// Its standard input comes from a pipe.
    piped: bool,
    /// Its output reaches the caller uncut.
    shown: bool,
}

impl Standing {
    const fn unproven(self) -> Self {
        Self { proves: false, ..self }
    }
}

struct Walker<'a> {
    reading: Reading,
    bodies: &'a [RawWord],
    /// Texts inside texts so far.
    texts: u32,
}

impl Walker<'_> {
    fn list(&mut self, list: &List, state: &mut State, standing: Standing) -> Result<(), String> {
        let last = list.items.len().saturating_sub(1);
        for (number, item) in list.items.iter().enumerate() {
            // With `set -e` a plain command that fails ends the text; one inside `&&` or `||` does not.
            let plain = item.chain.rest.is_empty() && !item.chain.first.negated;
            let carried = number == last || state.errexit && plain;
            self.item(item, state, Standing { proves: standing.proves && carried, ..standing })?;
        }
        Ok(())
    }

    fn item(&mut self, item: &Item, state: &mut State, standing: Standing) -> Result<(), String> {
        if !item.background {
            return self.chain(&item.chain, state, standing);
        }
        self.reading.background = true;
        self.chain(&item.chain, &mut state.clone(), standing.unproven())
    }

    fn chain(&mut self, chain: &Chain, state: &mut State, standing: Standing) -> Result<(), String> {
        // Read from the end: what stands after the last `||` must have succeeded, what stands before need not have.
        let after_or = chain.rest.iter().rposition(|(joint, _)| *joint == Joint::Or);
        let first_proves = standing.proves && after_or.is_none();
        self.pipeline(&chain.first, state, Standing { proves: first_proves, ..standing })?;
        for (number, (joint, pipeline)) in chain.rest.iter().enumerate() {
            let proves = standing.proves && after_or.is_none_or(|or| number > or);
            let standing = Standing { proves, ..standing };
            match joint {
                Joint::And => self.pipeline(pipeline, state, standing)?,
                Joint::Or => {
                    let before = state.clone();
                    self.pipeline(pipeline, state, standing)?;
                    merge(state, &before);
                }
            }
        }
        Ok(())
    }

    fn pipeline(&mut self, pipeline: &Pipeline, state: &mut State, standing: Standing) -> Result<(), String> {
        let standing = if pipeline.negated { standing.unproven() } else { standing };
        if let [only] = pipeline.nodes.as_slice() {
            return self.node(only, state, standing);
        }
        let last = pipeline.nodes.len().saturating_sub(1);
        for (number, node) in pipeline.nodes.iter().enumerate() {
            let proves = standing.proves && (number == last || state.pipefail);
            let rest = pipeline.nodes.get(number + 1..).unwrap_or_default();
            let shown = standing.shown && rest.iter().all(passes_whole);
            let standing = Standing { proves, piped: number > 0 || standing.piped, shown };
            // Each part of a pipeline runs in a shell of its own.
            self.node(node, &mut state.clone(), standing)?;
        }
        Ok(())
    }

    fn node(&mut self, node: &Node, state: &mut State, standing: Standing) -> Result<(), String> {
        match node {
            Node::Simple(simple) => self.simple(simple, state, standing),
            Node::Group(list, redirs) => {
                let standing = self.redirected(redirs, state, standing)?;
                self.list(list, state, standing)
            }
            Node::Subshell(list, redirs) => {
                let standing = self.redirected(redirs, state, standing)?;
                self.list(list, &mut state.clone(), standing)
            }
            Node::Branches(lists, words, redirs) => {
                let standing = self.redirected(redirs, state, standing)?;
                words.iter().try_for_each(|word| self.substituted(word, state))?;
                self.branches(lists, state, standing.unproven())
            }
            Node::For { name, words, body, redirs } => {
                let standing = self.redirected(redirs, state, standing)?;
                self.loop_over(name, words, body, state, standing.unproven())
            }
            Node::Function { name, body } => {
                state.functions.insert(name.clone());
                // Where and with what it will be called is not known.
                let mut inside = State { dir: Dir::Unknown, functions: state.functions.clone(), ..State::default() };
                self.node(body, &mut inside, standing.unproven())?;
                state.unproven |= inside.unproven;
                Ok(())
            }
            Node::Test(words, redirs) => {
                self.redirected(redirs, state, standing)?;
                words.iter().try_for_each(|word| self.substituted(word, state))
            }
        }
    }

    /// Parts of which any may run, or run again: afterwards only what none of them changed is known.
    fn branches(&mut self, lists: &[List], state: &mut State, standing: Standing) -> Result<(), String> {
        let mut begin = state.clone();
        for list in lists {
            forget_assigned(list, &mut begin);
        }
        for list in lists {
            let mut inside = begin.clone();
            self.list(list, &mut inside, standing)?;
            merge(state, &inside);
        }
        Ok(())
    }

    fn loop_over(
        &mut self,
        name: &str,
        words: &[RawWord],
        body: &List,
        state: &mut State,
        standing: Standing,
    ) -> Result<(), String> {
        words.iter().try_for_each(|word| self.substituted(word, state))?;
        let values: Vec<Word> = words.iter().flat_map(|word| words::expand(word, &state.variables)).collect();
        let known = values.len() <= LOOP_VALUES_MAX && values.iter().all(|value| !value.dynamic);
        let values = if known { values.into_iter().map(Some).collect() } else { vec![None] };
        let mut begin = state.clone();
        forget_assigned(body, &mut begin);
        for value in values {
            let mut inside = begin.clone();
            inside.variables.insert(name.to_owned(), value);
            self.list(body, &mut inside, standing)?;
            merge(state, &inside);
        }
        state.variables.insert(name.to_owned(), None);
        Ok(())
    }

    /// The commands that are substituted into a word.
    fn substituted(&mut self, word: &RawWord, state: &State) -> Result<(), String> {
        let hidden = Standing { proves: false, piped: false, shown: false };
        for piece in &word.pieces {
            match piece {
                Piece::Command(list) | Piece::Process(list) => self.list(list, &mut state.clone(), hidden)?,
                Piece::Other { inside, .. } => inside.iter().try_for_each(|word| self.substituted(word, state))?,
                Piece::Text { .. } | Piece::Variable { .. } => {}
            }
        }
        Ok(())
    }

    /// The files that redirections touch; and whether the output still reaches the caller.
    fn redirected(&mut self, redirs: &[Redir], state: &State, standing: Standing) -> Result<Standing, String> {
        let mut standing = standing;
        for redir in redirs {
            match redir.kind {
                RedirKind::HereDocument(number) => {
                    if let Some(body) = self.bodies.get(number) {
                        self.substituted(body, state)?;
                    }
                    continue;
                }
                RedirKind::HereString | RedirKind::Duplicate => {
                    self.substituted(&redir.word, state)?;
                    continue;
                }
                RedirKind::Write | RedirKind::Read | RedirKind::ReadWrite => self.substituted(&redir.word, state)?,
            }
            if is_process(&redir.word) {
                continue;
            }
            let path = words::expand_whole(&redir.word, &state.variables);
            if redir.kind != RedirKind::Read {
                standing.shown &= !redir.standard;
            }
            self.touch_redirected(path, redir.kind, state);
        }
        Ok(standing)
    }

    fn touch_redirected(&mut self, path: Word, kind: RedirKind, state: &State) {
        if super::files::is_device(&path.text) {
            return;
        }
        let touch = |role| Touch { path: path.clone(), role, whole: false, metadata: false, dir: state.dir.clone() };
        match kind {
            RedirKind::Write => self.reading.touches.push(touch(Role::Write)),
            RedirKind::Read => self.reading.touches.push(touch(Role::Read)),
            RedirKind::ReadWrite => self.reading.touches.extend([touch(Role::Read), touch(Role::Write)]),
            RedirKind::Duplicate | RedirKind::HereString | RedirKind::HereDocument(_) => {}
        }
    }

    /// A text inside the text: read on its own, as its own shell would.
    fn text(&mut self, text: &Word, mut state: State, standing: Standing) -> Result<(), String> {
        if text.dynamic {
            self.opaque("a shell is given text that is not known");
            return Ok(());
        }
        if self.texts >= TEXTS_DEPTH_MAX {
            return Err("texts are nested too deeply".to_owned());
        }
        let tree = grammar::parse(&text.text)?;
        let mut inner =
            Walker { reading: std::mem::take(&mut self.reading), bodies: &tree.bodies, texts: self.texts + 1 };
        let walked = inner.list(&tree.list, &mut state, standing);
        self.reading = inner.reading;
        walked
    }

    fn opaque(&mut self, why: &str) {
        self.reading.opaque.get_or_insert_with(|| why.to_owned());
    }

    fn bounded(&self) -> Result<(), String> {
        if self.reading.commands.len() >= COMMANDS_MAX {
            return Err(format!("it runs more than {COMMANDS_MAX} commands"));
        }
        Ok(())
    }
}

/// Whether a command in a pipe hands on all it is given.
fn passes_whole(node: &Node) -> bool {
    match node {
        Node::Simple(simple) => {
            simple.words.len() == 1
                && simple.words.first().and_then(RawWord::bare).is_some_and(|word| matches!(word, "cat" | "nl"))
        }
        _ => false,
    }
}

fn is_process(word: &RawWord) -> bool {
    matches!(word.pieces.as_slice(), [Piece::Process(_)])
}

/// Keeps of `state` only what `other` agrees with.
fn merge(state: &mut State, other: &State) {
    let differs = |name: &String| state.variables.get(name) != other.variables.get(name);
    let names: Vec<String> =
        state.variables.keys().chain(other.variables.keys()).filter(|name| differs(name)).cloned().collect();
    for name in names {
        state.variables.insert(name, None);
    }
    if state.dir != other.dir {
        state.dir = Dir::Unknown;
    }
    state.errexit &= other.errexit;
    state.pipefail &= other.pipefail;
    state.functions.extend(other.functions.iter().cloned());
    state.unproven |= other.unproven;
}

/// Variables that a part assigns are not known when it may run more than once.
fn forget_assigned(list: &List, state: &mut State) {
    for item in &list.items {
        let pipelines = std::iter::once(&item.chain.first).chain(item.chain.rest.iter().map(|(_, pipeline)| pipeline));
        for node in pipelines.flat_map(|pipeline| &pipeline.nodes) {
            match node {
                Node::Simple(simple) => forget_names(&simple.assigns, state),
                Node::Group(list, _) | Node::Subshell(list, _) => forget_assigned(list, state),
                Node::Branches(lists, ..) => lists.iter().for_each(|list| forget_assigned(list, state)),
                Node::For { name, body, .. } => {
                    state.variables.insert(name.clone(), None);
                    forget_assigned(body, state);
                }
                Node::Function { .. } | Node::Test(..) => {}
            }
        }
    }
}

fn forget_names(assigns: &[Assign], state: &mut State) {
    for assign in assigns {
        state.variables.insert(assign.name.clone(), None);
    }
}
