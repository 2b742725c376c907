//! Walks the tree of a text in the order it would run, with what is known of variables, directories and options,
//! and collects its commands, what they touch, and which of them the exit status proves.

mod effects;
mod evaluated;
mod fetched;
mod functions;
mod idle;
mod listening;
mod matching;
mod printed;
mod proofs;
mod seen;
mod simple;
mod state;
mod waiting;

use super::grammar;
use super::tree::{Chain, Effect, Item, Joint, List, Node, Piece, Pipeline, RawWord, Redir, RedirKind, Tree};
use super::words;
use super::{COMMANDS_MAX, Command, Dir, How, Only, Reading, Redirect, TEXTS_DEPTH_MAX, Touch, Word};
use crate::path::Role;
use fetched::Fetched;
use functions::Functions;
use seen::Seen;
use state::{State, forget_changed, leaves};

/// Values of a loop that are gone through one by one; with more, its variable is not known.
const LOOP_VALUES_MAX: usize = 16;
/// Parts of a text that are walked, loops counted as often as they are walked: nested loops multiply, people's do not.
const PARTS_MAX: u32 = 16_384;
/// Words of all commands together, for the same reason.
const WORDS_MAX: usize = 128 * 1024;
/// Bytes of all texts inside texts together, for the same reason.
const INNER_BYTES_MAX: usize = 1024 * 1024;

/// Reads a whole text.
pub(super) fn walk(tree: &Tree) -> Result<Reading, String> {
    let mut walker = Walker {
        reading: Reading::default(),
        bodies: &tree.bodies,
        listing: Vec::new(),
        around: Vec::new(),
        fetched: Fetched::default(),
        functions: Functions::default(),
        listener: None,
        bounds: Bounds { texts: 0, parts: 0, words: 0, inner_bytes: 0 },
    };
    let standing = Standing { proves: true, piped: false, fed: false, shown: true, sure: true, guarded: false };
    let mut state = State::default();
    walker.list(&tree.list, &mut state, standing)?;
    walker.uncalled(&state)?;
    walker.reading.leaves = state.left_behind();
    Ok(walker.reading)
}

/// How a part of the text stands in the whole.
#[derive(Debug, Clone, Copy)]
struct Standing {
    /// Exit status 0 of the whole implies exit status 0 of this part.
    proves: bool,
    /// Its standard input comes from a pipe, or from around it.
    piped: bool,
    /// Its standard input is not the terminal, nor what is typed there.
    fed: bool,
    /// Its output reaches the caller uncut.
    shown: bool,
    /// It runs for certain, unless the text ended before.
    sure: bool,
    /// `set -e` does not count here: the part is a condition.
    guarded: bool,
}

impl Standing {
    /// A part that may run or not.
    const fn unsure(self) -> Self {
        Self { proves: false, sure: false, ..self }
    }

    const fn unproven(self) -> Self {
        Self { proves: false, ..self }
    }
}

/// How much was walked so far.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    /// Texts inside texts.
    texts: u32,
    parts: u32,
    words: usize,
    inner_bytes: usize,
}

struct Walker<'a> {
    reading: Reading,
    bodies: &'a [RawWord],
    /// What the command before in the pipe prints, where it lists files.
    listing: Vec<Word>,
    /// Where what is run here is redirected to from around it.
    around: Vec<Redirect>,
    fetched: Fetched,
    functions: Functions,
    /// A command that reads the terminal.
    listener: Option<String>,
    bounds: Bounds,
}

impl Walker<'_> {
    fn list(&mut self, list: &List, state: &mut State, standing: Standing) -> Result<(), String> {
        let last = list.items.len().saturating_sub(1);
        for (number, item) in list.items.iter().enumerate() {
            // With `set -e` a plain command that fails ends the text; one inside `&&` or `||` does not.
            let plain = item.chain.rest.is_empty() && !item.chain.first.negated;
            let ends = state.errexit && plain && !standing.guarded;
            let before = state.clone();
            self.item(item, state, Standing { proves: standing.proves && (number == last || ends), ..standing })?;
            if !ends && !leaves(&item.chain) {
                state.may_have_stayed(&before);
            }
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
        let proves = standing.proves && after_or.is_none();
        let guarded = standing.guarded || !chain.rest.is_empty();
        let mut seen = Seen::default();
        let mut stopped = Vec::new();
        let before = self.reading.touches.len();
        self.pipeline(&chain.first, state, Standing { proves, guarded, ..standing })?;
        seen.follow(&chain.first, self.touched_since(before));
        for (number, (joint, pipeline)) in chain.rest.iter().enumerate() {
            let proves = standing.proves && after_or.is_none_or(|or| number > or);
            let guarded = standing.guarded || number + 1 < chain.rest.len();
            let standing = Standing { proves, guarded, sure: standing.sure && proves, ..standing };
            let touched = self.reading.touches.len();
            match joint {
                Joint::And => {
                    stopped.push(state.variables.clone());
                    self.pipeline(pipeline, state, standing)?;
                    seen.follow(pipeline, self.touched_since(touched));
                }
                Joint::Or => {
                    let before = state.clone();
                    self.pipeline(pipeline, state, standing)?;
                    state.merge(&before);
                    seen = Seen::default();
                }
            }
        }
        // What stands behind `&&` need not have run, unless the text ends where it did not.
        stopped.iter().filter(|_| !leaves(chain)).for_each(|before| state.variables.agree(before));
        Ok(())
    }

    fn touched_since(&mut self, before: usize) -> &mut [Touch] {
        self.reading.touches.get_mut(before..).unwrap_or_default()
    }

    fn pipeline(&mut self, pipeline: &Pipeline, state: &mut State, standing: Standing) -> Result<(), String> {
        let standing = if pipeline.negated { standing.unproven() } else { standing };
        if let [only] = pipeline.nodes.as_slice() {
            return self.node(only, state, standing);
        }
        let last = pipeline.nodes.len().saturating_sub(1);
        let earlier = self.listener.take();
        let fetched = self.fetched.begin();
        for (number, node) in pipeline.nodes.iter().enumerate() {
            let proves = standing.proves && (number == last || state.pipefail);
            let rest = pipeline.nodes.get(number + 1..).unwrap_or_default();
            let shown = standing.shown && rest.iter().all(passes_whole);
            let fed = standing.fed || number > 0 && self.listener.is_none();
            let standing = Standing { proves, piped: number > 0 || standing.piped, fed, shown, ..standing };
            let before = pipeline.nodes.get(..number).unwrap_or_default();
            self.listing = printed::by_nodes(before, state).unwrap_or_default();
            // What all but the last print goes into the pipe.
            let around = if number < last { std::mem::take(&mut self.around) } else { Vec::new() };
            // Each part of a pipeline runs in a shell of its own.
            self.node(node, &mut state.clone(), standing)?;
            self.around.extend(around);
            self.fetched.pass_on();
        }
        self.fetched.end(fetched);
        self.listing.clear();
        self.listener = earlier.or(self.listener.take());
        Ok(())
    }

    fn node(&mut self, node: &Node, state: &mut State, standing: Standing) -> Result<(), String> {
        self.bounds.parts += 1;
        if self.bounds.parts > PARTS_MAX {
            return Err("its loops go too deep".to_owned());
        }
        let outside = self.around.len();
        self.part(node, state, standing)?;
        self.around.truncate(outside);
        Ok(())
    }

    fn part(&mut self, node: &Node, state: &mut State, standing: Standing) -> Result<(), String> {
        match node {
            Node::Simple(simple) => self.simple(simple, state, standing),
            Node::Group(list, redirs) => {
                let standing = self.around(redirs, state, standing)?;
                self.list(list, state, standing)
            }
            Node::Subshell(list, redirs) => {
                let standing = self.around(redirs, state, standing)?;
                self.list(list, &mut state.clone(), standing)
            }
            Node::Branches(lists, words, redirs) => {
                let standing = self.around(redirs, state, standing)?;
                words.iter().try_for_each(|word| self.substituted(word, state))?;
                self.branches(lists, state, standing.unsure())
            }
            Node::For { name, words, body, redirs } => {
                let standing = self.around(redirs, state, standing)?;
                self.loop_over(name, words, body, state, standing.unproven())
            }
            Node::Function { name, body } => self.defined(name, body, state),
            Node::Test(words, redirs) => {
                self.redirected(redirs, state, standing)?;
                self.opened(opened(redirs, state), state)?;
                words.iter().for_each(|word| self.evaluated(word));
                words.iter().try_for_each(|word| self.substituted(word, state))
            }
        }
    }

    /// Redirections around several commands: what they read, the commands inside may read too.
    fn around(&mut self, redirs: &[Redir], state: &mut State, standing: Standing) -> Result<Standing, String> {
        let standing = self.redirected(redirs, state, standing)?;
        let opened = opened(redirs, state);
        self.opened(opened.clone(), state)?;
        self.around.extend(opened.into_iter().map(|redirect| Redirect { around: true, ..redirect }));
        let piped = redirs.iter().any(|redir| !matches!(redir.kind, RedirKind::Write | RedirKind::Duplicate));
        let fed = redirs.iter().any(|redir| feeds(redir, state));
        Ok(Standing { piped: standing.piped || piped, fed: standing.fed || fed, ..standing })
    }

    /// Files that are redirected to where no command says so itself: they are written as if by `:`.
    fn opened(&mut self, redirects: Vec<Redirect>, state: &State) -> Result<(), String> {
        if redirects.iter().any(|redirect| redirect.writes) {
            self.bounded()?;
            let words = vec![Word::literal(":")];
            let dir = state.dir.clone();
            self.reading.commands.push(Command { words, env: Vec::new(), redirects, dir, proven: false, shown: false });
        }
        Ok(())
    }

    /// Parts of which any may run, or run again: afterwards only what none of them changed is known.
    fn branches(&mut self, lists: &[List], state: &mut State, standing: Standing) -> Result<(), String> {
        let mut begin = state.clone();
        for list in lists {
            forget_changed(list, &mut begin);
        }
        for list in lists {
            let mut inside = begin.clone();
            self.list(list, &mut inside, standing)?;
            state.merge(&inside);
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
        words.iter().for_each(|word| self.evaluated(word));
        words.iter().try_for_each(|word| self.substituted(word, state))?;
        let values: Vec<Word> = words.iter().flat_map(|word| printed::or_expanded(word, state)).collect();
        let known = values.len() <= LOOP_VALUES_MAX && values.iter().all(|value| !value.dynamic);
        let standing = Standing { sure: standing.sure && known, ..standing };
        let values = if known { values.into_iter().map(Some).collect() } else { vec![None] };
        effects::set(name, state);
        let mut begin = state.clone();
        forget_changed(body, &mut begin);
        for value in values {
            let mut inside = begin.clone();
            match value {
                Some(value) => inside.variables.assign(name, value),
                None => inside.variables.forget(name),
            }
            self.list(body, &mut inside, standing)?;
            // After `break` the other values are not gone through.
            begin.left |= inside.left;
            state.merge(&inside);
        }
        state.variables.forget(name);
        Ok(())
    }

    /// The commands that are substituted into a word.
    fn substituted(&mut self, word: &RawWord, state: &mut State) -> Result<(), String> {
        let hidden = Standing { proves: false, piped: false, fed: false, shown: false, sure: false, guarded: false };
        let around = std::mem::take(&mut self.around);
        for piece in &word.pieces {
            match piece {
                Piece::Command { list, .. } | Piece::Process(list) => self.list(list, &mut state.clone(), hidden)?,
                Piece::Other { inside, effect, .. } => {
                    inside.iter().try_for_each(|word| self.substituted(word, state))?;
                    match effect {
                        Some(Effect::Assigns(name)) => {
                            effects::set(name, state);
                            state.variables.forget(name);
                        }
                        Some(Effect::Calculates(names)) => names.iter().for_each(|name| {
                            effects::set(name, state);
                            state.variables.forget(name);
                        }),
                        Some(Effect::Runs) => self.opaque("it runs what a variable says"),
                        Some(Effect::Evaluates) => self.opaque(evaluated::INDEX_RUNS),
                        None => {}
                    }
                }
                Piece::Choice { alternatives, .. } => {
                    alternatives.iter().try_for_each(|word| self.substituted(word, state))?;
                }
                Piece::Text { .. } | Piece::Variable { .. } | Piece::Elements { .. } => {}
            }
        }
        self.around = around;
        Ok(())
    }

    /// The files that redirections touch; and whether the output still reaches the caller.
    fn redirected(&mut self, redirs: &[Redir], state: &mut State, standing: Standing) -> Result<Standing, String> {
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
                    self.evaluated(&redir.word);
                    self.substituted(&redir.word, state)?;
                    // `>&-`: nobody sees it.
                    standing.shown &= !(redir.standard && redir.word.bare() == Some("-"));
                    continue;
                }
                _ => self.substituted(&redir.word, state)?,
            }
            if redir.kind != RedirKind::Read {
                standing.shown &= !redir.standard;
            }
            if is_process(&redir.word) {
                continue;
            }
            for path in words::expand_files(&redir.word, &state.variables) {
                self.touch_redirected(path, redir.kind, state);
            }
        }
        Ok(standing)
    }

    fn touch_redirected(&mut self, path: Word, kind: RedirKind, state: &State) {
        if super::files::is_device(&path.text) {
            return;
        }
        let touch = |role, how| Touch { how, ..Touch::plain(path.clone(), role, state.dir.clone()) };
        let touches = match kind {
            RedirKind::Write => vec![touch(Role::Write, How::Whole)],
            RedirKind::Append => vec![touch(Role::Write, How::Appended)],
            RedirKind::Read => vec![touch(Role::Read, How::Whole)],
            RedirKind::ReadWrite => vec![touch(Role::Read, How::Whole), touch(Role::Write, How::Whole)],
            RedirKind::Duplicate | RedirKind::HereString | RedirKind::HereDocument(_) => Vec::new(),
        };
        self.touch(touches, state);
    }

    /// Keeps what is touched, also where the text may be instead.
    fn touch(&mut self, touches: Vec<Touch>, state: &State) {
        for mut touch in touches.into_iter().flat_map(|touch| state.matching.widened(touch)) {
            touch.path.brought |= touch.path.numbered && touch.role == Role::Write;
            let relative = !touch.path.dynamic && !touch.path.text.starts_with(['/', '~']);
            let at = if let Dir::At(place) = &state.dir { Some(place).filter(|_| relative) } else { None };
            self.reading.touches.push(touch.clone());
            let likely = likely(&touch.path).into_iter();
            self.reading.touches.extend(likely.map(|path| Touch { path, whole: false, ..touch.clone() }));
            let elsewhere = at.iter().flat_map(|place| state.astray.iter().map(|dir| (*place, dir.clone())));
            for (place, dir) in elsewhere {
                let below = |only: &Only| matches!(only, Only::Copied { .. } | Only::Searched(_));
                let only = touch.only.clone().filter(below).or(Some(Only::Unentered(place.clone())));
                self.reading.touches.push(Touch { dir, whole: false, only, ..touch.clone() });
            }
        }
    }

    /// A text inside the text: read on its own, as its own shell would.
    fn text(&mut self, text: &Word, state: &mut State, standing: Standing) -> Result<(), String> {
        // What a number makes of it is not known, either.
        if text.dynamic || text.glob {
            self.opaque("a shell is given text that is not known");
            return Ok(());
        }
        let bytes = self.bounds.inner_bytes + text.text.len();
        if self.bounds.texts >= TEXTS_DEPTH_MAX || bytes > INNER_BYTES_MAX {
            return Err("texts are nested too deeply".to_owned());
        }
        let tree = grammar::parse(&text.text)?;
        let bounds = Bounds { texts: self.bounds.texts + 1, inner_bytes: bytes, ..self.bounds };
        let reading = std::mem::take(&mut self.reading);
        let fetched = std::mem::take(&mut self.fetched);
        let listener = self.listener.take();
        let around = self.around.clone();
        let mut functions = std::mem::take(&mut self.functions);
        let begun = functions.begin();
        let mut inner =
            Walker { reading, bodies: &tree.bodies, listing: Vec::new(), around, fetched, functions, listener, bounds };
        let mut walked = inner.list(&tree.list, state, standing);
        if !state.evaluated {
            walked = walked.and_then(|()| inner.uncalled(state));
        }
        inner.functions.end(begun, state.evaluated);
        self.functions = inner.functions;
        self.bounds = Bounds { texts: self.bounds.texts, ..inner.bounds };
        self.reading = inner.reading;
        self.fetched = inner.fetched;
        self.listener = inner.listener;
        walked
    }

    fn opaque(&mut self, why: &str) {
        self.reading.opaque.get_or_insert_with(|| why.to_owned());
    }

    fn bounded(&self) -> Result<(), String> {
        if self.reading.commands.len() >= COMMANDS_MAX {
            return Err(format!("it runs more than {COMMANDS_MAX} commands"));
        }
        if self.bounds.words > WORDS_MAX {
            return Err("its commands have too many words".to_owned());
        }
        Ok(())
    }
}

/// Where a path that is not known for certain most likely leads: as it is written, or to somebody's home.
fn likely(path: &Word) -> Option<Word> {
    let told = |c: char| !"$`…{}()<>*?[".contains(c);
    let one = path.dynamic && !path.listed && !path.glob;
    let text = Some(path.text.as_str()).filter(|text| one && !text.is_empty() && text.chars().all(told))?;
    let user = text.strip_prefix('~').map(|rest| rest.split_once('/').unwrap_or((rest, "")));
    Some(Word::literal(match user {
        Some(("", _)) | None => text.to_owned(),
        Some(("+" | "-", _)) => return None,
        Some(("root", rest)) => format!("/root/{rest}").trim_end_matches('/').to_owned(),
        Some((user, rest)) => format!("/home/{user}/{rest}").trim_end_matches('/').to_owned(),
    }))
}

/// Whether a command in a pipe hands on all it is given.
fn passes_whole(node: &Node) -> bool {
    match node {
        Node::Simple(simple) => {
            simple.words.len() == 1
                && simple.redirs.is_empty()
                && simple.words.first().and_then(RawWord::bare).is_some_and(|word| matches!(word, "cat" | "nl"))
        }
        _ => false,
    }
}

/// Whether a redirection puts something on standard input that is not the terminal.
fn feeds(redir: &Redir, state: &State) -> bool {
    let is_file = || {
        let file = words::expand_file(&redir.word, &state.variables);
        file.known() && !listening::is_terminal(&file.text, false)
    };
    redir.standard
        && match redir.kind {
            RedirKind::HereString | RedirKind::HereDocument(_) => true,
            RedirKind::Read => is_process(&redir.word) || is_file(),
            _ => false,
        }
}

/// The files of redirections.
fn opened(redirs: &[Redir], state: &State) -> Vec<Redirect> {
    let unnamed = |redir: &Redir| {
        matches!(redir.kind, RedirKind::Duplicate | RedirKind::HereString | RedirKind::HereDocument(_))
            || is_process(&redir.word)
    };
    let files = redirs.iter().filter(|redir| !unnamed(redir));
    let file = |word: &RawWord| words::expand_file(word, &state.variables);
    files
        .map(|redir| Redirect { to: file(&redir.word), writes: redir.kind != RedirKind::Read, around: false })
        .collect()
}

fn is_process(word: &RawWord) -> bool {
    matches!(word.pieces.as_slice(), [Piece::Process(_)])
}
