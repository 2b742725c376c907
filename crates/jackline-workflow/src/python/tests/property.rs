//! Whatever the source: no panic, no place outside of it, time in proportion to it; and decoys never count.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::super::{PYTHON_BYTES_MAX, agent, lex::Lexer, registrations};

/// Time for a long source, by far: what is not linear takes many minutes.
const READ_SECONDS_MAX: u64 = 10;

/// Pieces that texts, brackets, lines and indentation are made of.
const PIECES: &[&str] = &[
    "'",
    "\"",
    "'''",
    "\"\"\"",
    "f'",
    "rb\"",
    "F\"\"\"",
    "\\",
    "\n",
    "\r\n",
    "\r",
    "    ",
    "\t",
    "{",
    "}",
    "{{",
    "(",
    ")",
    "[",
    "]",
    ":",
    ";",
    "@",
    "#",
    "=",
    "+",
    "%",
    ".",
    ",",
    "tool",
    "app.tool",
    "name",
    "def ",
    "class ",
    "self",
    "return ",
    "lambda ",
    "if ",
    "1e5",
    "0x_f",
    "é",
    "\u{a0}",
    "\0",
    "\u{c}",
    "\\N{",
    "\\x4",
    "!r",
    "web.x",
    "super()",
    ".__init__(",
    "case ",
    "register(",
    "\u{feff}",
    "async ",
];

fn sources() -> impl Strategy<Value = String> {
    let pieces = proptest::collection::vec(proptest::sample::select(PIECES), 0..60).prop_map(|pieces| pieces.concat());
    prop_oneof![pieces, any::<String>()]
}

/// One line group of a program that may register a tool, and its name if it does.
fn items() -> impl Strategy<Value = (String, Option<String>)> {
    (0..12usize, "[a-z]{1,6}\\.[a-z]{1,6}").prop_map(|(form, name)| {
        let texts = [
            format!("@app.tool('{name}')\ndef f(): ...\n"),
            format!("@a.b.tool(x={{'k': \"v\"}}, name=r\"{name}\")\nasync def f(a: int = 1) -> None:\n\treturn\n"),
            format!("if x:\n    for y in z: registry.register('''{name}''', f)\n"),
            format!("class A(B):\n  @tool('{name}', 'web.no')\n  @other('web.no')\n  def f(self):\n    pass\n"),
            format!("server.add_tool(f,\n# web.no )\nname = '{name}')\n"),
            format!("lambda: app.tool(\"{name}\")\n"),
            format!("# @app.tool('{name}')\n"),
            format!("x = '''\n@app.tool(\"{name}\")\n'''\n"),
            format!("x = \"\\\"; app.tool('{name}')\" # '\n"),
            format!("x = rf'{{y!r:{{z}}}} \\' app.tool(\"{name}\")'\n"),
            format!("def tool(x='{name}'): return x\n"),
            format!("print('{name}', app.tools('{name}'), tool_for('{name}'))\n"),
        ];
        let counts = form < 6;
        (texts[form].clone(), counts.then_some(name))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn nothing_makes_it_panic_and_every_place_is_inside(source in sources()) {
        for error in [registrations(&source).err(), agent(&source).err()].into_iter().flatten() {
            prop_assert!(error.span.end <= source.len() && error.span.start <= error.span.end);
            prop_assert!(error.span.line >= 1 && error.span.column >= 1);
        }
        for found in registrations(&source).unwrap_or_default() {
            prop_assert!(source.get(found.span.start..found.span.end).is_some());
        }
    }

    #[test]
    fn indents_and_dedents_are_even(source in sources()) {
        if let Ok(tokens) = Lexer::new(&source).run().map(|tokens| tokens.code) {
            let depth = |token: &super::super::token::Token<'_>| match token.kind {
                super::super::token::Kind::Indent => 1,
                super::super::token::Kind::Dedent => -1,
                _ => 0,
            };
            prop_assert_eq!(tokens.iter().map(depth).sum::<i32>(), 0);
        }
    }

    #[test]
    fn what_registers_is_found_and_what_does_not_is_not(items in proptest::collection::vec(items(), 0..8)) {
        let source: String = items.iter().map(|(text, _)| text.as_str()).collect();
        let wanted: Vec<String> = items.iter().filter_map(|(_, name)| name.clone()).collect();
        let found = registrations(&source);
        prop_assert!(found.is_ok(), "{:?} in {}", found, source);
        let names: Vec<String> = found.unwrap_or_default().into_iter().map(|tool| tool.name).collect();
        prop_assert_eq!(names, wanted, "in {}", source);
    }
}

#[test]
fn long_sources_are_read_in_time() {
    let shapes = [
        "@tool\n",
        "a=",
        "x.tool(1);",
        "N=N+N\n",
        "f'{1}'",
        "((()))",
        "a.",
        "\\\n",
        "\"\"",
        "if x:y;",
        "lambda:",
        "#\n",
        "x.tool('a'+b)+",
        "self.name=",
        "class A:name='x'\n",
        "@property\ndef name(self):return 1\n",
        "'a'",
        "{1:",
        "tool(",
    ];
    for shape in shapes {
        let source = shape.repeat(PYTHON_BYTES_MAX / 4 / shape.len());
        let begun = Instant::now();
        let _ = (registrations(&source), agent(&source));
        assert!(begun.elapsed() < Duration::from_secs(READ_SECONDS_MAX), "{shape} took {:?}", begun.elapsed());
    }
}
