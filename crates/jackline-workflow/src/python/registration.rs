//! Which tools a source registers: by a decorator (`@app.tool("ns.name")`), or by a call
//! (`registry.register("ns.name", function)`).

use std::collections::BTreeSet;

use jackline_core::definition::Span;

use super::argument::Call;
use super::block::{Statement, scope, split};
use super::said::{Constants, Said, assignment, plain};
use super::token::{Kind, Token};

/// Words that register a tool, whatever they are asked of.
const REGISTERS: &[&str] = &["tool", "register_tool", "add_tool"];
/// Who registers tools with the plain word `register`; so does whatever has `tool` in its name.
const REGISTRARS: &[&str] = &["registry", "app", "mcp", "server"];

/// Arguments that name a tool.
const NAMES: &[&str] = &["name", "fqn"];

/// A tool that a source registers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registration {
    /// The tool's name, or as much of its beginning as is written down.
    pub name: String,
    /// Whether the rest of the name is computed when the program runs.
    pub computed: bool,
    /// Where the name stands.
    pub span: Span,
    /// What registers it, as it is written: `app.tool`.
    pub decorator: String,
}

impl Registration {
    /// The part of the name before its first dot, if the name is known that far.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        self.name.split_once('.').map(|(namespace, _)| namespace)
    }

    fn new(call: &Call<'_>, said: Said) -> Self {
        Self { name: said.text, computed: said.computed, span: said.span, decorator: call.name() }
    }
}

/// All registrations among statements, blocks included, and in the fields of formatted texts.
pub(super) fn find<'t>(statements: &[Statement<'t>], fields: &'t [Vec<Token<'t>>]) -> Vec<Registration> {
    let constants = Constants::of(statements);
    let mut finder = Finder { constants, aliases: BTreeSet::new(), functions: BTreeSet::new(), found: Vec::new() };
    scope(statements, &mut |_, statement| finder.learn(statement));
    finder.block(statements);
    for head in fields {
        finder.calls(head, None);
    }
    finder.found.sort_by_key(|registration| registration.span.start);
    finder.found
}

struct Finder<'t> {
    constants: Constants<'t>,
    /// Names that the module gives to what registers tools: `t = app.tool`.
    aliases: BTreeSet<&'t str>,
    /// Functions of the module.
    functions: BTreeSet<&'t str>,
    found: Vec<Registration>,
}

impl<'t> Finder<'t> {
    fn learn(&mut self, statement: &Statement<'t>) {
        self.functions.extend(statement.defines("def").map(|name| name.text));
        if let Some((targets, value)) = assignment(statement) {
            let whole = Call::leading(value).filter(|call| call.callee.len() * 2 - 1 == value.len());
            if whole.is_some_and(|call| registers(&call)) {
                self.aliases.extend(targets.into_iter().filter_map(plain));
            }
        }
        if statement.begins("from") {
            let renamed = statement.head.windows(3).filter(|three| three.get(1).is_some_and(|word| word.is_name("as")));
            let tools = renamed.filter(|three| three.first().is_some_and(|word| REGISTERS.contains(&word.text)));
            self.aliases.extend(tools.filter_map(|three| three.get(2)).map(|word| word.text));
        }
    }

    fn block(&mut self, statements: &[Statement<'t>]) {
        let mut decorated = None;
        for statement in statements.iter().rev() {
            if statement.decorates() {
                self.decorator(statement, decorated);
            } else {
                decorated = Some(statement);
                self.calls(statement.head, None);
            }
            self.block(&statement.body);
        }
    }

    fn decorator(&mut self, statement: &Statement<'t>, decorated: Option<&Statement<'t>>) {
        let expression = statement.head.get(1..).unwrap_or_default();
        let Some(call) = Call::leading(expression).filter(|call| self.registers(call)) else {
            return self.calls(statement.head, None);
        };
        let own = decorated.and_then(|statement| statement.defines("def").or_else(|| statement.defines("class")));
        let own = own.map(|name| Said { text: name.text.to_owned(), computed: false, span: name.span });
        let named = self.named(&call).unwrap_or_else(|| own.into_iter().collect());
        self.found.extend(named.into_iter().map(|said| Registration::new(&call, said)));
        // Its arguments may register others.
        self.calls(statement.head, Some(call.callee.len() * 2));
    }

    /// Calls anywhere in a statement, but for the one whose bracket was dealt with.
    fn calls(&mut self, head: &'t [Token<'t>], dealt: Option<usize>) {
        let brackets = head.iter().enumerate().filter(|(at, token)| token.is_mark("(") && Some(*at) != dealt);
        for (bracket, _) in brackets {
            let before = |back: usize| bracket.checked_sub(back).and_then(|at| head.get(at));
            let suspect = |last: &Token<'_>| {
                last.text == "register" || REGISTERS.contains(&last.text) || self.aliases.contains(last.text)
            };
            if !before(1).is_some_and(suspect) || before(2).is_some_and(|token| token.is_name("def")) {
                continue;
            }
            let call = Call::around(head, bracket).filter(|call| self.registers(call));
            if let Some(call) = call {
                let said = self.called(&call);
                self.found.extend(said.into_iter().map(|said| Registration::new(&call, said)));
            }
        }
    }

    /// What a call registers: a bare `tool(x)` and a plain `register(x)` may be about anything, so they count only with a
    /// name that is written down.
    fn called(&self, call: &Call<'t>) -> Vec<Said> {
        let telling = call.last() != "register" && call.callee.len() > 1;
        let named = self.named(call).unwrap_or_default();
        named.into_iter().filter(|said| telling || !said.text.is_empty()).collect()
    }

    /// The names that arguments give: `name=` or `fqn=`, the first one, or the `name=` of a tool that is made there; none
    /// when they give no name.
    fn named(&self, call: &Call<'t>) -> Option<Vec<Said>> {
        let keyword = |call: &Call<'t>| NAMES.iter().find_map(|name| call.keyword(name));
        if let Some(value) = keyword(call).or_else(|| call.spread("**").and_then(named_in_map)) {
            return Some(self.constants.readings(value));
        }
        if call.spread("*").is_some() || call.spread("**").is_some() {
            let value = call.spread("*").and_then(first_of_list);
            return Some(value.map_or_else(|| unknown(call), |value| self.constants.readings(value)));
        }
        let first = call.first()?;
        let made = first.first().filter(|token| token.kind == Kind::Name).and_then(|_| Call::leading(first));
        let made = made.as_ref().and_then(keyword);
        if let (None, [function]) = (made, first)
            && function.kind == Kind::Name
            && self.functions.contains(function.text)
            && call.last() != "register"
        {
            return Some(vec![Said { text: function.text.to_owned(), computed: false, span: function.span }]);
        }
        Some(self.constants.readings(made.unwrap_or(first)))
    }

    /// Whether what is called registers tools.
    fn registers(&self, call: &Call<'_>) -> bool {
        registers(call) || matches!(call.callee.as_slice(), [alias] if self.aliases.contains(alias.text))
    }
}

/// A name that arguments give and do not show.
fn unknown(call: &Call<'_>) -> Vec<Said> {
    let place = call.arguments.first().map(|token| token.span).unwrap_or_default();
    vec![Said { text: String::new(), computed: true, span: place }]
}

/// The value of a name in `{"name": value}`.
fn named_in_map<'t>(map: &'t [Token<'t>]) -> Option<&'t [Token<'t>]> {
    let [open, inner @ .., _] = map else { return None };
    let named = |key: &Token<'_>| matches!(&key.kind, Kind::Literal(key) if NAMES.contains(&key.value.as_str()));
    split(inner, ",").filter(|_| open.is_mark("{")).find_map(|entry| match entry {
        [key, colon, value @ ..] if named(key) && colon.is_mark(":") => Some(value),
        _ => None,
    })
}

/// The first item of a list or tuple that is written down.
fn first_of_list<'t>(list: &'t [Token<'t>]) -> Option<&'t [Token<'t>]> {
    let [open, inner @ .., _] = list else { return None };
    let literal = open.is_mark("[") || open.is_mark("(");
    split(inner, ",").next().filter(|first| literal && !first.is_empty())
}

/// Whether what is called registers tools, by its name.
fn registers(call: &Call<'_>) -> bool {
    if call.last() != "register" {
        return REGISTERS.contains(&call.last());
    }
    let receiver = call.callee.iter().rev().nth(1).map(|part| part.text.to_ascii_lowercase());
    receiver.is_some_and(|receiver| receiver.contains("tool") || REGISTRARS.contains(&receiver.as_str()))
}
