//! What the source of an agent defines, and what its classes call themselves.

use std::collections::BTreeMap;

use jackline_core::definition::Span;

use super::argument::{Call, listed};
use super::block::{Statement, scope, split};
use super::said::{Constants, Said, assignment, plain};
use super::state::writes;
use super::token::{Kind, Token};

/// Decorators that make a method an attribute.
const PROPERTIES: &[&str] = &["property", "cached_property"];

/// What the source of an agent defines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentSource {
    /// The classes at the top, in order.
    pub classes: Vec<Class>,
    /// Every name that the module binds: classes, functions, assignments, imports; with its first place.
    pub names: BTreeMap<String, Span>,
    /// Whether it imports names that it does not write down (`from x import *`).
    pub imports_all: bool,
    /// Keys of the state that it writes, wherever it does.
    pub state_writes: Vec<Said>,
}

impl AgentSource {
    /// The last class of a name: the one that is in force.
    #[must_use]
    pub fn class(&self, name: &str) -> Option<&Class> {
        self.classes.iter().rev().find(|class| class.name == name)
    }
}

/// A class, and what it calls itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class {
    pub name: String,
    /// Where its name stands.
    pub span: Span,
    /// Its bases as they are written, keywords left out.
    pub bases: Vec<String>,
    /// Every place that gives `self.name` a value.
    pub namings: Vec<Naming>,
}

/// A place that gives `self.name` a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Naming {
    pub way: Way,
    pub said: Said,
}

/// How a class gives its instances a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// `name = "…"` in the class.
    Attribute,
    /// `self.name = "…"` in a method.
    Assignment,
    /// `return "…"` in a property `name`.
    Property,
    /// `super().__init__(name="…")`.
    Base,
}

/// Looks at the statements of a module.
pub(super) fn look(statements: &[Statement<'_>]) -> AgentSource {
    let constants = Constants::of(statements);
    let state_writes = writes(statements, &constants);
    let mut source = AgentSource { state_writes, ..AgentSource::default() };
    scope(statements, &mut |_, statement| {
        if let Some(name) = statement.defines("class") {
            source.classes.push(class(statement, name, &constants));
        }
        bind(statement, &mut source);
    });
    source
}

fn bind(statement: &Statement<'_>, source: &mut AgentSource) {
    let mut add = |token: &Token<'_>| {
        source.names.entry(token.text.to_owned()).or_insert(token.span);
    };
    if let Some(name) = statement.defines("def").or_else(|| statement.defines("class")) {
        return add(name);
    }
    if statement.begins("from") || statement.begins("import") {
        let from = statement.head.iter().position(|token| token.is_name("import")).map_or(0, |at| at + 1);
        let listed = statement.head.get(from..).unwrap_or_default();
        source.imports_all |= listed.first().is_some_and(|token| token.is_mark("*"));
        return imported(listed).for_each(|token| {
            source.names.entry(token.text.to_owned()).or_insert(token.span);
        });
    }
    if let Some((targets, _)) = assignment(statement) {
        targets.iter().filter_map(|target| target.first()).filter(|token| token.kind == Kind::Name).for_each(&mut add);
    }
}

/// The names that the list of an import binds: the last of `a as b`, the first of `a.b`.
fn imported<'t>(listed: &'t [Token<'t>]) -> impl Iterator<Item = &'t Token<'t>> {
    let names = listed.split(|token| token.is_mark(","));
    names.filter_map(|name| {
        let mut words = name.iter().filter(|token| token.kind == Kind::Name);
        let renamed = name.iter().rev().nth(1).is_some_and(|token| token.is_name("as"));
        if renamed { words.next_back() } else { words.next() }
    })
}

fn class(statement: &Statement<'_>, name: &Token<'_>, constants: &Constants<'_>) -> Class {
    let bases = split(listed(statement.head), ",")
        .filter(|base| !base.is_empty() && !base.iter().any(|token| token.is_mark("=")));
    let bases = bases.map(|base| base.iter().map(|token| token.text).collect()).collect();
    let mut namings = Vec::new();
    scope(&statement.body, &mut |before, member| match member.defines("def") {
        Some(method) => in_method(before, member, method, constants, &mut namings),
        None => {
            let own =
                assignment(member).filter(|(targets, _)| targets.iter().any(|target| plain(target) == Some("name")));
            namings.extend(own.and_then(|(_, value)| naming(Way::Attribute, value, constants)));
        }
    });
    Class { name: name.text.to_owned(), span: name.span, bases, namings }
}

fn naming(way: Way, value: &[Token<'_>], constants: &Constants<'_>) -> Option<Naming> {
    constants.read(value).map(|said| Naming { way, said })
}

fn in_method(
    before: &[Statement<'_>],
    member: &Statement<'_>,
    method: &Token<'_>,
    constants: &Constants<'_>,
    namings: &mut Vec<Naming>,
) {
    let decorators = before.iter().rev().take_while(|statement| statement.decorates());
    let property = method.text == "name" && decorators.into_iter().any(is_property);
    let own = parameter(member);
    scope(&member.body, &mut |_, statement| {
        if property && statement.begins("return") {
            namings.extend(naming(Way::Property, statement.head.get(1..).unwrap_or_default(), constants));
        }
        if let Some(value) = own.and_then(|own| assigned(statement, own)) {
            namings.extend(naming(Way::Assignment, value, constants));
        }
        if let Some(value) = to_base(statement) {
            namings.extend(naming(Way::Base, value, constants));
        }
    });
}

fn is_property(decorator: &Statement<'_>) -> bool {
    let expression = decorator.head.get(1..).unwrap_or_default();
    Call::leading(expression).is_some_and(|call| PROPERTIES.contains(&call.last()))
}

/// The name of a method's first parameter: `self`, for most.
fn parameter<'t>(method: &Statement<'t>) -> Option<&'t str> {
    listed(method.head).first().filter(|token| token.kind == Kind::Name).map(|token| token.text)
}

/// The value of `self.name = …`.
fn assigned<'t>(statement: &Statement<'t>, own: &str) -> Option<&'t [Token<'t>]> {
    let (targets, value) = assignment(statement)?;
    let hit = targets.into_iter().any(|target| match target {
        [receiver, dot, name] => receiver.is_name(own) && dot.is_mark(".") && name.is_name("name"),
        _ => false,
    });
    hit.then_some(value)
}

/// The `name=` of `super().__init__(…)`.
fn to_base<'t>(statement: &Statement<'t>) -> Option<&'t [Token<'t>]> {
    let init = statement.head.iter().position(|token| token.is_name("__init__"))?;
    let on_super = statement.begins("super") && statement.token(init + 1).is_some_and(|next| next.is_mark("("));
    Call::around(statement.head, init + 1).filter(|_| on_super)?.keyword("name")
}
