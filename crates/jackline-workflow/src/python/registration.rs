//! Which tools a source registers: by a decorator (`@app.tool("ns.name")`), or by a call
//! (`registry.register("ns.name", function)`).

use jackline_core::definition::Span;

use super::argument::Call;
use super::block::Statement;
use super::said::{Constants, Said};
use super::token::Kind;

/// Words that register a tool, whatever they are asked of.
const REGISTERS: &[&str] = &["tool", "register_tool", "add_tool"];
/// Who registers tools with the plain word `register`; so does whatever has `tool` in its name.
const REGISTRARS: &[&str] = &["registry", "app", "mcp", "server"];

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

/// All registrations among statements, blocks included.
pub(super) fn find(statements: &[Statement<'_>]) -> Vec<Registration> {
    let mut finder = Finder { constants: Constants::of(statements), found: Vec::new() };
    finder.block(statements);
    finder.found.sort_by_key(|registration| registration.span.start);
    finder.found
}

struct Finder<'t> {
    constants: Constants<'t>,
    found: Vec<Registration>,
}

impl<'t> Finder<'t> {
    fn block(&mut self, statements: &[Statement<'t>]) {
        let mut decorated = None;
        for statement in statements.iter().rev() {
            if statement.decorates() {
                self.decorator(statement, decorated);
            } else {
                decorated = Some(statement);
                self.calls(statement);
            }
            self.block(&statement.body);
        }
    }

    fn decorator(&mut self, statement: &Statement<'t>, decorated: Option<&Statement<'t>>) {
        let expression = statement.head.get(1..).unwrap_or_default();
        let Some(call) = Call::leading(expression).filter(registers) else {
            return self.calls(statement);
        };
        let own = decorated.and_then(|statement| statement.defines("def").or_else(|| statement.defines("class")));
        let own = own.map(|name| Said { text: name.text.to_owned(), computed: false, span: name.span });
        if let Some(said) = self.named(&call).or(own) {
            self.found.push(Registration::new(&call, said));
        }
    }

    /// Calls anywhere in a statement.
    fn calls(&mut self, statement: &Statement<'t>) {
        let brackets = statement.head.iter().enumerate().filter(|(_, token)| token.is_mark("("));
        for (bracket, _) in brackets {
            let suspect = bracket.checked_sub(1).and_then(|last| statement.token(last));
            if !suspect.is_some_and(|last| last.text == "register" || REGISTERS.contains(&last.text)) {
                continue;
            }
            let defined = bracket.checked_sub(2).and_then(|at| statement.token(at)).is_some_and(|t| t.is_name("def"));
            let call = Call::around(statement.head, bracket).filter(|call| !defined && registers(call));
            if let Some((call, said)) = call.and_then(|call| self.called(&call).map(|said| (call, said))) {
                self.found.push(Registration::new(&call, said));
            }
        }
    }

    /// What a call registers: a bare `tool(x)` and a plain `register(x)` may be about anything, so they count only with a
    /// name that is written down.
    fn called(&self, call: &Call<'t>) -> Option<Said> {
        let said = self.named(call)?;
        let telling = call.last() != "register" && call.callee.len() > 1;
        (telling || !said.text.is_empty()).then_some(said)
    }

    /// The name that arguments give: `name=`, the first one, or the `name=` of a tool that is made there.
    fn named(&self, call: &Call<'t>) -> Option<Said> {
        if let Some(value) = call.keyword("name") {
            return self.constants.read(value);
        }
        let first = call.first()?;
        let made = first.first().filter(|token| token.kind == Kind::Name).and_then(|_| Call::leading(first));
        self.constants.read(made.and_then(|made| made.keyword("name")).unwrap_or(first))
    }
}

/// Whether what is called registers tools.
fn registers(call: &Call<'_>) -> bool {
    if call.last() != "register" {
        return REGISTERS.contains(&call.last());
    }
    let receiver = call.callee.iter().rev().nth(1).map(|part| part.text.to_ascii_lowercase());
    receiver.is_some_and(|receiver| receiver.contains("tool") || REGISTRARS.contains(&receiver.as_str()))
}
