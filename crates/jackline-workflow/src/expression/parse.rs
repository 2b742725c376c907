//! Words as a tree, what binds most at the leaves.

use serde_json::{Value, json};

use super::lex::Token;
use super::{DEPTH_MAX, ExpressionFault};

/// A part of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    Literal(Value),
    Name(String),
    List(Vec<Self>),
    Member(Box<Self>, String),
    Item(Box<Self>, Box<Self>),
    Not(Box<Self>),
    Minus(Box<Self>),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
    Compared(Box<Self>, Vec<(&'static str, Self)>),
    Reckoned(&'static str, Box<Self>, Box<Self>),
}

type Parsed = Result<Part, ExpressionFault>;

/// The tree of some words.
pub(super) fn parse(tokens: &[Token]) -> Parsed {
    let mut parser = Parser { rest: tokens, depth: 0 };
    let part = parser.or()?;
    match parser.rest.first() {
        None => Ok(part),
        Some(token) => Err(unexpected(token)),
    }
}

fn unexpected(token: &Token) -> ExpressionFault {
    let shown = match token {
        Token::Name(name) => name.clone(),
        Token::Number(number) => number.to_string(),
        Token::Text(text) => format!("'{text}'"),
        Token::Sign(sign) => (*sign).to_owned(),
    };
    ExpressionFault::new(format!("`{shown}` is not expected here"))
}

struct Parser<'a> {
    rest: &'a [Token],
    depth: usize,
}

impl Parser<'_> {
    fn sign(&mut self, signs: &[&'static str]) -> Option<&'static str> {
        let Some(Token::Sign(next)) = self.rest.first() else { return None };
        let found = signs.iter().find(|sign| *sign == next)?;
        self.skip();
        Some(found)
    }

    fn word(&mut self, word: &str) -> bool {
        let is = matches!(self.rest.first(), Some(Token::Name(name)) if name == word);
        if is {
            self.skip();
        }
        is
    }

    fn skip(&mut self) {
        self.rest = self.rest.get(1..).unwrap_or_default();
    }

    /// One level deeper, unless that is too deep.
    fn deeper(&mut self, parse: impl FnOnce(&mut Self) -> Parsed) -> Parsed {
        if self.depth >= DEPTH_MAX {
            return Err(ExpressionFault::new(format!("it is nested more than {DEPTH_MAX} deep")));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn or(&mut self) -> Parsed {
        self.deeper(|parser| {
            let mut left = parser.and()?;
            while parser.word("or") || parser.sign(&["||"]).is_some() {
                left = Part::Or(Box::new(left), Box::new(parser.and()?));
            }
            Ok(left)
        })
    }

    fn and(&mut self) -> Parsed {
        let mut left = self.not()?;
        while self.word("and") || self.sign(&["&&"]).is_some() {
            left = Part::And(Box::new(left), Box::new(self.not()?));
        }
        Ok(left)
    }

    fn not(&mut self) -> Parsed {
        if self.word("not") || self.sign(&["!"]).is_some() {
            return self.deeper(Self::not).map(|part| Part::Not(Box::new(part)));
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Parsed {
        let first = self.sum()?;
        let mut others = Vec::new();
        while let Some(sign) = self.comparing() {
            others.push((sign, self.sum()?));
        }
        Ok(if others.is_empty() { first } else { Part::Compared(Box::new(first), others) })
    }

    fn comparing(&mut self) -> Option<&'static str> {
        if let (Some(Token::Name(not)), Some(Token::Name(within))) = (self.rest.first(), self.rest.get(1))
            && (not.as_str(), within.as_str()) == ("not", "in")
        {
            self.skip();
            self.skip();
            return Some("not in");
        }
        if self.word("in") { Some("in") } else { self.sign(&["==", "!=", "<=", ">=", "<", ">"]) }
    }

    fn sum(&mut self) -> Parsed {
        let mut left = self.product()?;
        while let Some(sign) = self.sign(&["+", "-"]) {
            left = Part::Reckoned(sign, Box::new(left), Box::new(self.product()?));
        }
        Ok(left)
    }

    fn product(&mut self) -> Parsed {
        let mut left = self.signed()?;
        while let Some(sign) = self.sign(&["*", "//", "/", "%"]) {
            left = Part::Reckoned(sign, Box::new(left), Box::new(self.signed()?));
        }
        Ok(left)
    }

    fn signed(&mut self) -> Parsed {
        if self.sign(&["-"]).is_some() {
            return self.deeper(Self::signed).map(|part| Part::Minus(Box::new(part)));
        }
        self.inside()
    }

    fn inside(&mut self) -> Parsed {
        let mut part = self.leaf()?;
        let mut steps = 0;
        while let Some(sign) = self.sign(&[".", "["]) {
            steps += 1;
            if steps > DEPTH_MAX {
                return Err(ExpressionFault::new(format!("it looks more than {DEPTH_MAX} deep into a value")));
            }
            part = if sign == "." {
                Part::Member(Box::new(part), self.name()?)
            } else {
                let item = self.or()?;
                self.close("]")?;
                Part::Item(Box::new(part), Box::new(item))
            };
        }
        Ok(part)
    }

    fn name(&mut self) -> Result<String, ExpressionFault> {
        let Some(Token::Name(name)) = self.rest.first() else {
            return Err(ExpressionFault::new("a name must follow `.`"));
        };
        let name = name.clone();
        self.skip();
        Ok(name)
    }

    fn close(&mut self, sign: &'static str) -> Result<(), ExpressionFault> {
        match self.sign(&[sign]) {
            Some(_) => Ok(()),
            None => Err(ExpressionFault::new(format!("`{sign}` is missing"))),
        }
    }

    fn leaf(&mut self) -> Parsed {
        if self.sign(&["("]).is_some() {
            let part = self.or()?;
            return self.close(")").map(|()| part);
        }
        if self.sign(&["["]).is_some() {
            return self.list();
        }
        let Some(token) = self.rest.first() else { return Err(ExpressionFault::new("it ends too early")) };
        let part = match token {
            Token::Sign(_) => return Err(unexpected(token)),
            Token::Number(number) => Part::Literal(json!(number)),
            Token::Text(text) => Part::Literal(json!(text)),
            Token::Name(name) => match name.as_str() {
                "true" | "True" => Part::Literal(json!(true)),
                "false" | "False" => Part::Literal(json!(false)),
                "null" | "None" | "none" => Part::Literal(Value::Null),
                "and" | "or" | "not" | "in" | "if" | "else" => return Err(unexpected(token)),
                name => Part::Name(name.to_owned()),
            },
        };
        self.skip();
        Ok(part)
    }

    fn list(&mut self) -> Parsed {
        let mut items = Vec::new();
        if self.sign(&["]"]).is_some() {
            return Ok(Part::List(items));
        }
        loop {
            items.push(self.or()?);
            if self.sign(&[","]).is_none() {
                return self.close("]").map(|()| Part::List(items));
            }
        }
    }
}
