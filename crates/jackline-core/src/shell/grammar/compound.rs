//! Compound commands: groups, branches, loops, tests, functions.

use std::rc::Rc;

use super::{Fault, Parser};
use crate::shell::tree::{Chain, Item, List, Node, Piece, Pipeline, RawWord, Redir, Simple};

impl Parser {
    /// A compound command, if one begins here.
    pub(super) fn compound(&mut self) -> Result<Option<Node>, Fault> {
        if self.peek() == Some('(') {
            return self.parenthesis().map(Some);
        }
        let reserved = ["{", "if", "while", "until", "for", "select", "case", "[[", "function", "coproc"];
        let Some(word) = reserved.into_iter().find(|word| self.at_reserved(word)) else { return Ok(None) };
        self.eat(word);
        let node = match word {
            "{" => {
                let list = self.list(&["}"])?;
                self.expect_reserved("}")?;
                Node::Group(list, self.redirections()?)
            }
            "if" => self.branches_of_if()?,
            "while" | "until" => {
                let condition = self.list(&["do"])?;
                let body = self.body()?;
                Node::Branches(vec![condition, body], Vec::new(), self.redirections()?)
            }
            "for" | "select" => self.loop_over()?,
            "case" => self.case()?,
            "[[" => self.test()?,
            "function" => return self.function().map(Some),
            _ => self.coprocess()?,
        };
        Ok(Some(node))
    }

    /// `( … )`, or `(( … ))`, which is arithmetic unless it cannot be.
    fn parenthesis(&mut self) -> Result<Node, Fault> {
        let start = self.at;
        if self.looking_at("((")
            && let Some(inside) = self.arithmetic(false)?
        {
            return Ok(Node::Test(inside, self.redirections()?));
        }
        self.at += 1;
        let list = self.list(&[])?;
        if !self.eat(")") {
            return Err("a parenthesis is not closed".to_owned());
        }
        self.no_arithmetic(start)?;
        Ok(Node::Subshell(list, self.redirections()?))
    }

    fn redirections(&mut self) -> Result<Vec<Redir>, Fault> {
        let mut redirs = Vec::new();
        loop {
            self.blanks();
            match self.redirection()? {
                Some(redir) => redirs.push(redir),
                None => return Ok(redirs),
            }
        }
    }

    fn branches_of_if(&mut self) -> Result<Node, Fault> {
        let mut lists = vec![self.list(&["then"])?];
        self.expect_reserved("then")?;
        loop {
            lists.push(self.list(&["elif", "else", "fi"])?);
            self.lines()?;
            if self.eat_reserved("elif") {
                lists.push(self.list(&["then"])?);
                self.expect_reserved("then")?;
            } else if self.eat_reserved("else") {
                lists.push(self.list(&["fi"])?);
            } else {
                self.expect_reserved("fi")?;
                return Ok(Node::Branches(lists, Vec::new(), self.redirections()?));
            }
        }
    }

    fn body(&mut self) -> Result<List, Fault> {
        self.expect_reserved("do")?;
        let body = self.list(&["done"])?;
        self.expect_reserved("done")?;
        Ok(body)
    }

    fn loop_over(&mut self) -> Result<Node, Fault> {
        self.blanks();
        if self.looking_at("((") {
            let inside = self.arithmetic(true)?.ok_or("a loop's arithmetic is not closed")?;
            self.blanks();
            self.eat(";");
            self.lines()?;
            let body = self.body()?;
            return Ok(Node::Branches(vec![body], inside, self.redirections()?));
        }
        let name = self.word()?.bare().map(str::to_owned).ok_or("a loop has no plain variable")?;
        self.lines()?;
        let mut words = Vec::new();
        if self.eat_reserved("in") {
            loop {
                self.blanks();
                if self.ends_word() {
                    break;
                }
                words.push(self.word()?);
            }
        } else {
            // Without a list it goes over the arguments.
            words.push(RawWord { pieces: vec![Piece::argument("@", true)] });
        }
        self.blanks();
        self.eat(";");
        self.lines()?;
        let body = self.body()?;
        Ok(Node::For { name, words, body, redirs: self.redirections()? })
    }

    fn case(&mut self) -> Result<Node, Fault> {
        self.blanks();
        let mut words = vec![self.word()?];
        self.expect_reserved("in")?;
        let mut lists = Vec::new();
        loop {
            self.lines()?;
            if self.eat_reserved("esac") {
                return Ok(Node::Branches(lists, words, self.redirections()?));
            }
            self.eat("(");
            loop {
                self.blanks();
                words.push(self.word()?);
                self.blanks();
                if !self.eat("|") {
                    break;
                }
            }
            if !self.eat(")") {
                return Err("a case has no pattern".to_owned());
            }
            lists.push(self.list(&["esac"])?);
            self.lines()?;
            if !(self.eat(";;&") || self.eat(";;") || self.eat(";&") || self.at_reserved("esac")) {
                return Err("a case is not closed".to_owned());
            }
        }
    }

    /// `[[ … ]]`: its words, operators and all; only what is substituted in them matters.
    fn test(&mut self) -> Result<Node, Fault> {
        let mut words = Vec::new();
        loop {
            self.lines()?;
            if self.eat_reserved("]]") {
                return Ok(Node::Test(words, self.redirections()?));
            }
            match self.peek() {
                None => return Err("`[[` is not closed".to_owned()),
                Some(_) if self.at_process() => words.push(self.word()?),
                Some('(' | ')' | '<' | '>' | '&' | '|' | ';') => self.at += 1,
                Some(_) => words.push(self.word()?),
            }
        }
    }

    /// `coproc [NAME] command`: it runs beside the rest, so what becomes of it is not known.
    fn coprocess(&mut self) -> Result<Node, Fault> {
        self.blanks();
        let start = self.at;
        let node = match self.deeper(Self::compound)? {
            Some(node) => node,
            None => {
                let named = !self.name().is_empty();
                self.blanks();
                match self.deeper(Self::compound)?.filter(|_| named) {
                    Some(node) => node,
                    None => {
                        self.at = start;
                        self.simple()?
                    }
                }
            }
        };
        let chain = Chain { first: Pipeline { negated: false, nodes: vec![node] }, rest: Vec::new() };
        let list = List { items: vec![Item { chain, background: true }] };
        Ok(Node::Branches(vec![list], Vec::new(), self.redirections()?))
    }

    fn function(&mut self) -> Result<Node, Fault> {
        self.blanks();
        let name = self.word()?.bare().map(str::to_owned).ok_or("a function has no plain name")?;
        self.blanks();
        if self.eat("(") {
            self.blanks();
            if !self.eat(")") {
                return Err("a function's parenthesis is not closed".to_owned());
            }
        }
        self.function_body(name)
    }

    /// `name ()`, when a parenthesis follows the first word of a command.
    pub(super) fn function_of(&mut self, simple: &Simple) -> Result<Node, Fault> {
        let name = match (simple.words.as_slice(), simple.assigns.is_empty() && simple.redirs.is_empty()) {
            ([name], true) => name.bare().map(str::to_owned),
            _ => None,
        };
        let Some(name) = name else { return Err(self.unexpected()) };
        self.at += 1;
        self.blanks();
        if !self.eat(")") {
            return Err(self.unexpected());
        }
        self.function_body(name)
    }

    fn function_body(&mut self, name: String) -> Result<Node, Fault> {
        self.lines()?;
        let body = self.deeper(Self::compound)?.ok_or("a function has no body")?;
        Ok(Node::Function { name, body: Rc::new(body) })
    }
}
