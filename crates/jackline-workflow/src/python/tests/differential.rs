//! Beside Python itself: what it takes, we take; its tokens are ours, at the same places, and its texts say the same.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::super::lex::Lexer;
use super::super::token::{Kind, Token};
use super::super::{PYTHON_BYTES_MAX, agent, registrations};

/// Reads a list of sources, writes for each its tokens, or null when Python refuses it.
const SCRIPT: &str = include_str!("tokens.py");
/// Modules of Python's own library that try texts and tokens hardest.
const TELLING: &[&str] = &[
    "test_fstring",
    "test_string_literals",
    "test_grammar",
    "test_tokenize",
    "test_decorators",
    "test_patma",
    "test_lambda",
    "test_syntax",
    "test_bytes",
    "test_textwrap",
    "test_generators",
    "test_type_params",
];
/// Every so manieth module of the library's root is read; all of them take too long.
const STRIDE: usize = 5;

/// Sources that no module may hold.
const SNIPPETS: &[&str] = &[
    "",
    "\n\n",
    "x",
    "x\\\n",
    "if x:\n  y\n# z\n  z\n",
    "\u{feff}x = 1\n",
    "x = f\"{a[\"b\"]}\"\n",
    "x = f'{f'{f'{1}'}'}' 'b'\n",
    "x = f'''{\n3 # c }\n}'''\n",
    "x = f'{x:{y}>{z}} {{}} \\{6} \\N{DIGIT ONE}'\n",
    "x = f'{x!r:^{width}.{precision}}' rf'\\{x}\\'' f'{x:%H:%M}' f'{lambda_x=}'\n",
    "x = f'{a:{b:{c}}}'\n",
    "x = f'{(lambda x: {1: x})(2)}' f'{ {1: 2}[1] }' f'{x != y}' f'{x:=5}' f'{(y := 3)}'\n",
    "if 1:\n\tx\n\n\ty\n",
    "x = 1if y else 0x1f|0b1_0|0o17|1e-5|1.5j|.5|1.|1_0.0_1E+3\n",
    "def f():\n  pass\n \n\n  # c\nx = [\n1,\n  2]\n",
    "class A:\n    x = (1,\n2)\n    def f(self): return 'a' \"b\" b'' u'c' Rb'\\x'\n",
    "é = 'ü' ; ñandú = é\n",
    "\x0cx = 1\n",
    "x = '''a\\\nb''' + \"\\\"\\'\\a\\b\\f\\n\\r\\t\\v\\0\\012\\xe9\\u00e9\\U0001f600\\q\" + r'\\n\\''\n",
    "@a.b(c)\nasync def f(): ...\n",
    "match x:\n  case [1, *_]: y\n  case {'a': 1}: pass\n",
    "x: int = lambda: (yield)\ny = x[1:2, ::3] if x else ...\n",
];

#[test]
fn tokens_and_texts_are_those_of_python() {
    let Some(library) = library() else { return };
    let mut sources: Vec<String> = SNIPPETS.iter().map(|text| (*text).to_owned()).collect();
    sources.extend(modules(&library).iter().filter_map(|path| fs::read_to_string(path).ok()));
    sources.retain(|source| source.len() <= PYTHON_BYTES_MAX);
    let theirs = ask(&sources);
    assert_eq!(theirs.len(), sources.len());
    let read = sources.iter().zip(&theirs).filter(|(source, theirs)| compare(source, theirs)).count();
    assert!(read > SNIPPETS.len(), "Python took only {read} of {} sources", sources.len());
}

/// Where Python's own library is; says aloud when there is no Python.
#[expect(clippy::print_stderr, reason = "no test is skipped in silence")]
fn library() -> Option<PathBuf> {
    let ask = "import sysconfig; print(sysconfig.get_paths()['stdlib'])";
    match Command::new("python3").args(["-c", ask]).output() {
        Ok(output) if output.status.success() => Some(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())),
        _ => {
            eprintln!("skipped: there is no python3 here to compare with");
            None
        }
    }
}

fn modules(library: &Path) -> Vec<PathBuf> {
    let mut root: Vec<PathBuf> = fs::read_dir(library).unwrap().map(|entry| entry.unwrap().path()).collect();
    root.retain(|path| path.extension().is_some_and(|end| end == "py"));
    root.sort();
    let telling = TELLING.iter().map(|name| library.join("test").join(format!("{name}.py")));
    root.into_iter().step_by(STRIDE).chain(telling.filter(|path| path.exists())).collect()
}

fn ask(sources: &[String]) -> Vec<Value> {
    let mut child =
        Command::new("python3").args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, text) = (child.stdin.take().unwrap(), serde_json::to_vec(sources).unwrap());
    let writer = std::thread::spawn(move || input.write_all(&text));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success());
    output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(parse).collect()
}

fn parse(line: &[u8]) -> Value {
    serde_json::from_slice(line).unwrap()
}

/// Holds our tokens against Python's; whether Python takes the source at all.
fn compare(source: &str, theirs: &Value) -> bool {
    let Some(theirs) = theirs.as_array() else { return false };
    let start: String = source.chars().take(60).collect();
    let ours = Lexer::new(source).run().unwrap_or_else(|error| panic!("{error} at {:?} in {start:?}", error.span)).code;
    for (at, (our, their)) in ours.iter().zip(theirs).enumerate() {
        let (want, value) = (&their[0], &their[1]);
        let got = told(our, value);
        assert_eq!(&got, want, "token {at}, {our:?}, of {start:?}");
    }
    assert_eq!(ours.len(), theirs.len(), "the number of tokens of {start:?}");
    assert!(registrations(source).is_ok() && agent(source).is_ok(), "{start:?}");
    true
}

/// A token in the script's words. `value` is what Python says a text is.
fn told(token: &Token<'_>, value: &Value) -> Value {
    let place = (token.span.line, token.span.column);
    match &token.kind {
        Kind::Newline => serde_json::json!(["newline"]),
        Kind::Indent => serde_json::json!(["indent"]),
        Kind::Dedent => serde_json::json!(["dedent"]),
        Kind::Literal(literal) => {
            if let Some(value) = value.as_str() {
                // Characters by name are not looked up.
                let same =
                    if literal.holes.is_empty() { value == literal.value } else { value.starts_with(&literal.value) };
                assert!(same, "{:?} is {value:?}", token.text);
            }
            serde_json::json!(["text", place.0, place.1])
        }
        Kind::Name | Kind::Number | Kind::Mark => serde_json::json!([token.text, place.0, place.1]),
    }
}
