//! The tree of a shell text: only what flow and words need of bash's grammar.

use std::rc::Rc;

/// A whole text, with the bodies of its here-documents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Tree {
    pub(super) list: List,
    pub(super) bodies: Vec<RawWord>,
}

/// Commands one after another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct List {
    pub(super) items: Vec<Item>,
}

/// A chain, and whether it is left running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) chain: Chain,
    pub(super) background: bool,
}

/// Pipelines joined by `&&` and `||`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chain {
    pub(super) first: Pipeline,
    pub(super) rest: Vec<(Joint, Pipeline)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    And,
    Or,
}

/// Commands joined by `|`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pipeline {
    pub(super) negated: bool,
    pub(super) nodes: Vec<Node>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    Simple(Simple),
    /// `{ … }`
    Group(List, Vec<Redir>),
    /// `( … )`
    Subshell(List, Vec<Redir>),
    /// `if`, `while`, `until`, `case`: conditions and bodies, any of which may run.
    Branches(Vec<List>, Vec<RawWord>, Vec<Redir>),
    /// `for` and `select`.
    For {
        name: String,
        words: Vec<RawWord>,
        body: List,
        redirs: Vec<Redir>,
    },
    Function {
        name: String,
        /// Shared with what is known at each point of the text: it is read wherever the function is called.
        body: Rc<Node>,
    },
    /// `[[ … ]]` and `(( … ))`: only what is substituted inside matters.
    Test(Vec<RawWord>, Vec<Redir>),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Simple {
    pub(super) assigns: Vec<Assign>,
    pub(super) words: Vec<RawWord>,
    pub(super) redirs: Vec<Redir>,
}

/// `NAME=value`, `NAME+=value`, `NAME=(…)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Assign {
    pub(super) name: String,
    /// The values of an array, or the one value.
    pub(super) values: Vec<RawWord>,
    /// It replaces the variable by one plain value.
    pub(super) plain: bool,
    /// It replaces the variable by an array of these values.
    pub(super) array: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Redir {
    pub(super) kind: RedirKind,
    /// The file, or the text of a here-string.
    pub(super) word: RawWord,
    /// It concerns standard input or standard output (no other descriptor was named).
    pub(super) standard: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RedirKind {
    Write,
    /// `>>`
    Append,
    Read,
    ReadWrite,
    /// `>&2`, `<&3`, `>&-`
    Duplicate,
    /// A here-string: text on standard input.
    HereString,
    /// A here-document, by the number of its body.
    HereDocument(usize),
}

/// A word before expansion.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RawWord {
    pub(super) pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Text {
        text: String,
        quoted: bool,
    },
    /// `$NAME`, `${NAME}`
    Variable {
        name: String,
        quoted: bool,
    },
    /// `$(…)`, backquotes
    Command {
        list: List,
        quoted: bool,
    },
    /// `<(…)`, `>(…)`
    Process(List),
    /// `${NAME[@]}`, `${NAME[0]}`; for the arguments `$@` and `$1`, under the name [`ARGUMENTS`].
    Elements {
        name: String,
        part: Part,
        written: String,
        quoted: bool,
    },
    /// `@(a|b)` and its kin: a pattern of alternatives, by the character before the parenthesis.
    Choice {
        kind: char,
        alternatives: Vec<RawWord>,
    },
    /// Anything else that is expanded: `${X:-y}`, `$((…))`; with what is substituted inside.
    Other {
        written: String,
        inside: Vec<RawWord>,
        effect: Option<Effect>,
        /// It stands in quotes, so that it is one word.
        quoted: bool,
    },
}

/// The name under which the arguments of a text, or of a function, are kept.
pub(super) const ARGUMENTS: &str = "@";
/// The name under which a text's name for itself is kept.
pub(super) const ITSELF: &str = "0";

/// Which elements of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Each as a word of its own.
    Each,
    /// All in one word, where it stands in quotes.
    Joined,
    /// One of them.
    One,
    /// The argument of this number; they are counted from one.
    At(usize),
}

/// What an expansion does besides giving a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Effect {
    /// `${NAME:=…}`
    Assigns(String),
    /// `${NAME@P}` runs what the value substitutes.
    Runs,
    /// Arithmetic that sets these.
    Calculates(Vec<String>),
    /// It may run a command once it is evaluated as arithmetic.
    Evaluates,
}

impl Piece {
    /// An expansion that only gives a value.
    pub(super) fn other(written: impl Into<String>, inside: Vec<RawWord>) -> Self {
        Self::Other { written: written.into(), inside, effect: None, quoted: false }
    }

    /// Arguments of the text: `@` and `*` for all of them, or a number.
    pub(super) fn argument(which: &str, quoted: bool) -> Self {
        let (name, written) = (ARGUMENTS.to_owned(), format!("${which}"));
        match which {
            "@" => Self::Elements { name, part: Part::Each, written, quoted },
            "*" => Self::Elements { name, part: Part::Joined, written, quoted },
            ITSELF => Self::Variable { name: ITSELF.to_owned(), quoted },
            number => {
                let part = number.parse().ok().filter(|number| *number > 0).map_or(Part::One, Part::At);
                Self::Elements { name, part, written, quoted }
            }
        }
    }
}

impl RawWord {
    /// The text, when nothing of it is quoted or expanded: what a reserved word looks like.
    pub(super) fn bare(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece::Text { text, quoted: false }] => Some(text),
            _ => None,
        }
    }
}
