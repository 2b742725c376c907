//! Bash's grammar, read by recursive descent over characters; the depth is bounded before the stack is.

mod compound;
mod evaluated;
mod expansion;
mod word;

use super::tree::{Assign, Chain, Item, Joint, List, Node, Piece, Pipeline, RawWord, Redir, RedirKind, Simple, Tree};

/// Constructs inside constructs; people write five.
const DEPTH_MAX: u32 = 48;

/// Characters of an index (`NAME[index]=…`); what is longer is read as a word, and what it substitutes with it.
const SUBSCRIPT_CHARS_MAX: usize = 256;

/// Words that are grammar where a command begins. One that is read as a command came about in a way that we do not
/// follow, such as a line that goes on in its middle.
const RESERVED: &[&str] = &[
    "if", "then", "elif", "else", "fi", "do", "done", "case", "esac", "while", "until", "for", "select", "function",
    "{", "}", "[[", "coproc", "!",
];

/// Why a text is no shell text: short, lowercase.
pub(super) type Fault = String;

/// Reads a whole text.
pub(super) fn parse(text: &str) -> Result<Tree, Fault> {
    if text.contains('\0') {
        return Err("it has a NUL byte".to_owned());
    }
    // A shell takes it for a letter, a host may take it for a line end: what runs would depend on who is right.
    if text.contains('\r') {
        return Err("it has a carriage return".to_owned());
    }
    let mut parser = Parser::new(text);
    let list = parser.list(&[])?;
    if let Some(document) = parser.pending.first() {
        return Err(format!("the here-document `{}` is not closed", document.delimiter));
    }
    if parser.at_end() { Ok(Tree { list, bodies: parser.bodies }) } else { Err(parser.unexpected()) }
}

struct Parser {
    chars: Vec<char>,
    at: usize,
    depth: u32,
    /// Here-documents whose body comes after the present line.
    pending: Vec<HereDocument>,
    /// Bodies that were read, by number.
    bodies: Vec<RawWord>,
}

struct HereDocument {
    number: usize,
    delimiter: String,
    literal: bool,
    strip_tabs: bool,
}

impl Parser {
    fn new(text: &str) -> Self {
        Self { chars: text.chars().collect(), at: 0, depth: 0, pending: Vec::new(), bodies: Vec::new() }
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn peek_at(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn at_end(&self) -> bool {
        self.at >= self.chars.len()
    }

    fn looking_at(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(ahead, c)| self.peek_at(ahead) == Some(c))
    }

    /// Takes `text` if it comes next.
    fn eat(&mut self, text: &str) -> bool {
        let found = self.looking_at(text);
        if found {
            self.at += text.chars().count();
        }
        found
    }

    fn unexpected(&self) -> Fault {
        match self.peek() {
            Some('\n') => "a line ends where a command should go on".to_owned(),
            Some(c) => format!("unexpected `{c}`"),
            None => "it ends too early".to_owned(),
        }
    }

    /// Goes one construct deeper, or refuses.
    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        if self.depth >= DEPTH_MAX {
            return Err("it is nested too deeply".to_owned());
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    /// Skips blanks, line continuations and a comment, not line ends.
    fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t') => self.at += 1,
                Some('\\') if self.peek_at(1) == Some('\n') => self.at += 2,
                Some('#') => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    /// Skips blanks and line ends, reading the here-documents that are due.
    fn lines(&mut self) -> Result<(), Fault> {
        loop {
            self.blanks();
            if self.peek() != Some('\n') {
                return Ok(());
            }
            self.line_end()?;
        }
    }

    fn line_end(&mut self) -> Result<(), Fault> {
        self.at += 1;
        for document in std::mem::take(&mut self.pending) {
            let body = self.here_body(&document)?;
            if let Some(place) = self.bodies.get_mut(document.number) {
                *place = body;
            }
        }
        Ok(())
    }

    /// A list up to the end, a closing character, or one of the reserved words in `until`.
    fn list(&mut self, until: &[&str]) -> Result<List, Fault> {
        self.deeper(|parser| {
            let mut list = List::default();
            loop {
                parser.lines()?;
                if parser.at_end() || parser.closes(until) {
                    return Ok(list);
                }
                let chain = parser.chain(until)?;
                parser.blanks();
                let background = parser.peek() == Some('&') && parser.peek_at(1) != Some('&');
                list.items.push(Item { chain, background });
                match parser.peek() {
                    Some(';') if parser.peek_at(1) == Some(';') || parser.peek_at(1) == Some('&') => return Ok(list),
                    Some(';' | '&') => parser.at += 1,
                    Some('\n') | None => {}
                    Some(_) if parser.closes(until) => return Ok(list),
                    Some(_) => return Err(parser.unexpected()),
                }
            }
        })
    }

    /// Whether what comes next ends a list.
    fn closes(&self, until: &[&str]) -> bool {
        self.peek() == Some(')') || self.looking_at(";;") || until.iter().any(|word| self.at_reserved(word))
    }

    /// Whether this reserved word comes next, as a word of its own.
    fn at_reserved(&self, word: &str) -> bool {
        let after = self.peek_at(word.chars().count());
        self.looking_at(word) && after.is_none_or(separates)
    }

    fn eat_reserved(&mut self, word: &str) -> bool {
        self.at_reserved(word) && self.eat(word)
    }

    fn expect_reserved(&mut self, word: &str) -> Result<(), Fault> {
        self.lines()?;
        if self.eat_reserved(word) { Ok(()) } else { Err(format!("`{word}` is missing")) }
    }

    fn chain(&mut self, until: &[&str]) -> Result<Chain, Fault> {
        let first = self.pipeline(until)?;
        let mut rest = Vec::new();
        loop {
            self.blanks();
            let joint = if self.eat("&&") {
                Joint::And
            } else if self.eat("||") {
                Joint::Or
            } else {
                return Ok(Chain { first, rest });
            };
            self.lines()?;
            rest.push((joint, self.pipeline(until)?));
        }
    }

    fn pipeline(&mut self, until: &[&str]) -> Result<Pipeline, Fault> {
        let mut negated = false;
        loop {
            self.blanks();
            if self.eat_reserved("!") {
                negated = !negated;
            } else if !self.eat_time() {
                break;
            }
        }
        let mut nodes = vec![self.node(until)?];
        loop {
            self.blanks();
            if self.looking_at("||") || !(self.eat("|&") || self.eat("|")) {
                return Ok(Pipeline { negated, nodes });
            }
            self.lines()?;
            nodes.push(self.node(until)?);
        }
    }

    /// `time` before a pipeline; with options other than `-p` it is the program of that name.
    fn eat_time(&mut self) -> bool {
        let start = self.at;
        if !self.eat_reserved("time") {
            return false;
        }
        self.blanks();
        if self.eat_reserved("-p") {
            self.blanks();
        }
        let stands_alone = self.ends_word() && self.peek() != Some('(') || self.peek() == Some('-');
        if stands_alone {
            self.at = start;
        }
        !stands_alone
    }

    fn node(&mut self, until: &[&str]) -> Result<Node, Fault> {
        self.blanks();
        if self.at_end() || self.closes(until) || self.peek().is_some_and(|c| "|&;\n".contains(c)) {
            return Err(self.unexpected());
        }
        self.deeper(|parser| match parser.compound()? {
            Some(node) => Ok(node),
            None => parser.simple(),
        })
    }

    fn simple(&mut self) -> Result<Node, Fault> {
        let mut simple = Simple::default();
        loop {
            self.blanks();
            if let Some(redir) = self.redirection()? {
                simple.redirs.push(redir);
                continue;
            }
            match self.peek() {
                None | Some(';' | '&' | '|' | '\n' | ')') => break,
                Some('(') => return self.function_of(&simple),
                Some(_) => {}
            }
            match self.assignment(simple.words.is_empty(), &simple)? {
                Some(assign) => simple.assigns.push(assign),
                None => simple.words.push(self.word()?),
            }
        }
        if simple == Simple::default() { Err(self.unexpected()) } else { in_place(simple) }
    }

    /// `NAME=…` in front of a command, or among the arguments of `export` and its kin.
    fn assignment(&mut self, in_front: bool, simple: &Simple) -> Result<Option<Assign>, Fault> {
        let declares = simple
            .words
            .first()
            .and_then(RawWord::bare)
            .is_some_and(|word| matches!(word, "export" | "declare" | "local" | "readonly" | "typeset"));
        let start = self.at;
        let mut name = String::new();
        while let Some(c) =
            self.peek().filter(|c| *c == '_' || c.is_ascii_alphabetic() || (!name.is_empty() && c.is_ascii_digit()))
        {
            name.push(c);
            self.at += 1;
        }
        if name.is_empty() || !(in_front || declares) {
            self.at = start;
            return Ok(None);
        }
        let subscript = self.subscript()?;
        let appends = self.looking_at("+=");
        if !(self.eat("+=") || self.eat("=")) {
            self.at = start;
            return Ok(None);
        }
        let replaces = !appends && subscript.is_empty();
        let array = replaces && self.peek() == Some('(');
        let plain = replaces && !array;
        let mut values = match self.peek() {
            Some('(') => self.array()?,
            _ if self.ends_word() => vec![RawWord::default()],
            _ => vec![self.word()?],
        };
        values.extend(subscript);
        Ok(Some(Assign { name, values, plain, array }))
    }

    /// `[…]` after a name, with what is substituted inside; nothing when it is none.
    fn subscript(&mut self) -> Result<Vec<RawWord>, Fault> {
        let closes = self.chars.iter().skip(self.at).take(SUBSCRIPT_CHARS_MAX).any(|c| *c == ']');
        if self.peek() != Some('[') || !closes {
            return Ok(Vec::new());
        }
        self.at += 1;
        self.index(false)
    }

    fn array(&mut self) -> Result<Vec<RawWord>, Fault> {
        self.at += 1;
        let mut values = Vec::new();
        loop {
            self.lines()?;
            match self.peek() {
                Some(')') => {
                    self.at += 1;
                    return Ok(values);
                }
                Some(_) => values.push(self.word()?),
                None => return Err("an array is not closed".to_owned()),
            }
        }
    }

    /// A redirection, if one comes next.
    fn redirection(&mut self) -> Result<Option<Redir>, Fault> {
        let start = self.at;
        let mut descriptor = String::new();
        if self.peek() == Some('{') {
            // `{name}>file` opens a descriptor of its own; as a word it would begin with a brace.
            let is_name = |c: &&char| **c == '_' || c.is_ascii_alphanumeric();
            let length = self.chars.iter().skip(self.at + 1).take_while(is_name).count();
            let opens = self.peek_at(length + 1) == Some('}') && matches!(self.peek_at(length + 2), Some('<' | '>'));
            if !opens || length == 0 {
                return Ok(None);
            }
            self.at += length + 2;
            descriptor.push('{');
        }
        while let Some(c) = self.peek().filter(char::is_ascii_digit) {
            descriptor.push(c);
            self.at += 1;
        }
        let both = descriptor.is_empty() && (self.looking_at("&>")) && self.eat("&");
        match self.peek() {
            Some('<' | '>') if !self.at_process() => self.redirection_at(&descriptor, both).map(Some),
            _ => {
                self.at = start;
                Ok(None)
            }
        }
    }

    fn at_process(&self) -> bool {
        matches!(self.peek(), Some('<' | '>')) && self.peek_at(1) == Some('(')
    }

    fn redirection_at(&mut self, descriptor: &str, both: bool) -> Result<Redir, Fault> {
        let standard = both || matches!(descriptor, "" | "0" | "1");
        if self.looking_at("<<") && !self.looking_at("<<<") {
            return self.here_document(standard);
        }
        let kind = if self.eat("<<<") {
            RedirKind::HereString
        } else if self.eat(">&") || self.eat("<&") {
            RedirKind::Duplicate
        } else if self.eat("<>") {
            RedirKind::ReadWrite
        } else if self.eat(">>") {
            RedirKind::Append
        } else if self.eat(">|") || self.eat(">") {
            RedirKind::Write
        } else {
            self.at += 1;
            RedirKind::Read
        };
        self.blanks();
        if self.ends_word() && !self.at_process() {
            return Err("a redirection leads nowhere".to_owned());
        }
        let word = self.word()?;
        if word.bare() == Some("!") {
            return Err("`>!` means something else to each shell".to_owned());
        }
        // `>&file` writes a file; `>&2` and `>&-` do not.
        let duplicates = word
            .bare()
            .is_some_and(|text| text == "-" || text.trim_end_matches('-').chars().all(|c| c.is_ascii_digit()));
        let kind = if kind == RedirKind::Duplicate && !duplicates { RedirKind::Write } else { kind };
        Ok(Redir { kind, word, standard })
    }

    fn here_document(&mut self, standard: bool) -> Result<Redir, Fault> {
        self.at += 2;
        let strip_tabs = self.eat("-");
        self.blanks();
        if self.ends_word() {
            return Err("a here-document has no delimiter".to_owned());
        }
        let word = self.word()?;
        let mut delimiter = String::new();
        let mut literal = false;
        for piece in &word.pieces {
            match piece {
                Piece::Text { text, quoted } => {
                    delimiter.push_str(text);
                    literal |= quoted;
                }
                _ => return Err("the delimiter of a here-document must be plain".to_owned()),
            }
        }
        let number = self.bodies.len();
        self.bodies.push(RawWord::default());
        self.pending.push(HereDocument { number, delimiter, literal, strip_tabs });
        Ok(Redir { kind: RedirKind::HereDocument(number), word: RawWord::default(), standard })
    }

    /// A line of a here-document; one that is not literal goes on after a backslash, before its end is looked for.
    fn here_line(&mut self, literal: bool) -> String {
        let mut line = String::new();
        while let Some(c) = self.next().filter(|c| *c != '\n') {
            if c != '\\' || literal {
                line.push(c);
            } else if !self.eat("\n") {
                line.push(c);
                line.extend(self.peek().filter(|c| *c != '\n'));
                self.at += 1;
            }
        }
        line
    }

    fn here_body(&mut self, document: &HereDocument) -> Result<RawWord, Fault> {
        let mut body = String::new();
        loop {
            if self.at_end() {
                return Err(format!("the here-document `{}` is not closed", document.delimiter));
            }
            let line = self.here_line(document.literal);
            let line = if document.strip_tabs { line.trim_start_matches('\t').to_owned() } else { line };
            if line == document.delimiter {
                break;
            }
            body.push_str(&line);
            body.push('\n');
        }
        if document.literal {
            return Ok(RawWord { pieces: vec![Piece::Text { text: body, quoted: true }] });
        }
        let mut inner = Self::new(&body);
        inner.depth = self.depth;
        // Numbers of bodies run on, so that a document inside a document finds its own.
        inner.bodies = std::mem::take(&mut self.bodies);
        let pieces = inner.deeper(|inner| inner.quoted_text(None));
        self.bodies = inner.bodies;
        pieces.map(|pieces| RawWord { pieces })
    }
}

/// Whether a character ends a word.
fn separates(c: char) -> bool {
    " \t\n;&|()<>".contains(c)
}

/// A simple command, unless its first word is grammar out of place.
fn in_place(simple: Simple) -> Result<Node, Fault> {
    match simple.words.first().and_then(RawWord::bare).filter(|word| RESERVED.contains(word)) {
        Some(word) => Err(format!("`{word}` is out of place")),
        None => Ok(Node::Simple(simple)),
    }
}
