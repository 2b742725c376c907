//! What is read of Python: by tables here, by chance in `property`, beside Python itself in `differential`.

mod differential;
mod property;

use super::{Way, agent, registrations};

/// The names of a source's tools, those that are computed with a `*` behind what is known.
fn names(source: &str) -> Vec<String> {
    let found = registrations(source).unwrap_or_else(|error| panic!("{error} in {source}"));
    found.into_iter().map(|tool| format!("{}{}", tool.name, if tool.computed { "*" } else { "" })).collect()
}

#[track_caller]
fn check(source: &str, wanted: &[&str]) {
    assert_eq!(names(source), wanted, "in {source}");
}

#[track_caller]
fn refused(source: &str, message: &str, line: u32, column: u32) {
    for error in [registrations(source).err(), agent(source).err()] {
        let error = error.unwrap_or_else(|| panic!("was read: {source}"));
        assert_eq!((error.message.as_str(), error.span.line, error.span.column), (message, line, column));
    }
}

#[test]
fn decorators_register_with_whatever_else_they_say() {
    check("@app.tool(\"web.x\")\ndef f(): pass\n", &["web.x"]);
    check("@app.tool('web.x', description=\"a, b\", tags=[1, (2, 3)])\nasync def f(): pass", &["web.x"]);
    check("@mcp.tool(name=\"x.y\")\ndef f(): ...", &["x.y"]);
    check("@mcp.tool(description='no', name='x.y')\ndef f(): ...", &["x.y"]);
    check("@self.server.tool(\n  # the name\n  'a.b'  # says \"web.no\"\n)\ndef f(): ...", &["a.b"]);
    check("@registry.register('a.b')\n@other\nclass Tool: ...", &["a.b"]);
    check("class A:\n  if x:\n    @app . tool ( 'a' '.b' )\n    def f(self): ...", &["a.b"]);
    check("@app.tool \\\n  ('a.b')\ndef f(): ...", &["a.b"]);
}

#[test]
fn a_decorator_without_a_name_takes_that_of_the_function() {
    check("@tool\ndef fetch(): ...", &["fetch"]);
    check("@mcp.tool()\n@cached\nasync def fetch(): ...", &["fetch"]);
    check("@tool(return_direct=True)\ndef fetch(): ...", &["fetch"]);
    check("@toolbox\n@app.route('web.x')\n@my.tools('web.x')\ndef f(): ...", &[]);
}

#[test]
fn calls_register_too() {
    check("registry.register('web.x', f)", &["web.x"]);
    check("def setup(app):\n    app.tool('web.x')(f); app.tool(name='y')(g)\n", &["web.x", "y"]);
    check("x = [server.register_tool('a.b', f) for _ in y]", &["a.b"]);
    check("mcp.add_tool(f, name='a.b')\nmcp.add_tool(Tool(title='t', name='c.d'))", &["a.b", "c.d"]);
    check("mcp.add_tool(Tool.from_function(f, name='a.b'))", &["a.b"]);
    check("tools.register('a.b', f); self.tool_registry.register('c.d', f)", &["a.b", "c.d"]);
    check("atexit.register('web.x'); db_registry.register('web.x'); register('web.x')", &[]);
    check("def tool(name): ...\nclass A:\n  def tool(self, name='web.x'): ...", &[]);
    check("tool(f)\nregistry.register(f)", &[]);
    check("print(f\"{app.tool('web.x')(f)} {f'{app.tool('a.b')}'}\")\n", &["web.x", "a.b"]);
    check("@app.tool('my.y', handler=app.tool('web.x'))\ndef f(): ...", &["my.y", "web.x"]);
    check("t = app.tool\n@t('web.x')\ndef f(): ...\nt('a.b')(g)", &["web.x", "a.b"]);
    check("from m import tool as t\n@t('web.x')\ndef f(): ...", &["web.x"]);
    check("def f(): ...\nmcp.add_tool(f)", &["f"]);
}

#[test]
fn what_is_no_code_registers_nothing() {
    check("# @app.tool('web.x')\n", &[]);
    check("'''\n@app.tool('web.x')\n'''\n", &[]);
    check("s = \"@app.tool('web.x')\"\nt = r'\\'; app.tool(\"web.x\")'\n", &[]);
    check("f'{a[\"web\"]!r:>{width}} {{app.tool(1)}}'\n", &[]);
    check("f\"\"\"{f'{f\"{1}\"}'} app.tool('web.x') \"\"\"\n", &[]);
}

#[test]
fn names_are_known_as_far_as_they_are_written() {
    check("NAME = 'web.x'\n@app.tool(NAME)\ndef f(): ...", &["web.x"]);
    check("P: str = 'web'\n@app.tool(P + '.' + ('x'))\ndef f(): ...", &["web.*"]);
    check("P: str = 'web'\n@app.tool((P + '.x'))\ndef f(): ...", &["web.x"]);
    check("@app.tool(f'web.{x}')\ndef f(): ...", &["web.*"]);
    check("@app.tool('web.' + make())\ndef f(): ...", &["web.*"]);
    check("@app.tool('web.%s' % x)\ndef f(): ...", &["web.*"]);
    check("@app.tool('web.{}'.format(x))\ndef f(): ...", &["web.*"]);
    check("@app.tool('WEB.x'.lower())\ndef f(): ...", &["*"]);
    check("@app.tool('web.x' if y else 'a')\ndef f(): ...", &["web.x", "a"]);
    check("@app.tool('web.' + x or y)\ndef f(): ...", &["web.*", "*"]);
    check("NS = 'web'\n@app.tool(f'{NS}.{x}')\ndef f(): ...", &["web.*"]);
    check("NS = 'web'\n@app.tool(f'{NS}.x')\ndef f(): ...", &["web.x"]);
    check("NS = 'web'\n@app.tool('%s.%s' % (NS, 'x') + 'y')\ndef f(): ...", &["web.xy"]);
    check("@app.tool(NAME := 'web.x')\ndef f(): ...", &["web.x"]);
    check("@app.tool(*['web.x'])\ndef f(): ...", &["web.x"]);
    check("@app.tool(**{'name': 'web.x'})\ndef f(): ...", &["web.x"]);
    check("@app.tool(fqn='web.x')\ndef f(): ...", &["web.x"]);
    check("@app.tool(name)\ndef f(): ...", &["*"]);
    check("@app.tool(b'web.x')\ndef f(): ...", &["*"]);
    check("@app.tool(*names)\ndef f(): ...", &["*"]);
    check("@app.tool(**options)\ndef f(): ...", &["*"]);
    check("N = 'a'\nN = 'b'\napp.tool(N)(f)", &["*"]);
    check("N = 'a'\nN += 'b'\napp.tool(N)(f)", &["*"]);
    check("if x:\n  N = 'a'\nelse:\n  N = 'b'\napp.tool(N)(f)", &["*"]);
    check("@app.tool('\\x77\\145\\u0062\\U0000002e\\N{LATIN SMALL LETTER X}\\N{BULLET}')\ndef f(): ...", &["web.x*"]);
    check("@app.tool('we\\\nb.x')\ndef f(): ...", &["web.x"]);
}

#[test]
fn a_registration_has_its_place_and_its_namespace() {
    let source = "x = 'é'\n\n@app.tool(\n    'web.x', 1)\ndef f(): ...\n";
    let found = registrations(source).unwrap();
    assert_eq!((found[0].span.line, found[0].span.column), (4, 5));
    assert_eq!(&source[found[0].span.start..found[0].span.end], "'web.x'");
    assert_eq!((found[0].namespace(), found[0].decorator.as_str()), (Some("web"), "app.tool"));
    assert_eq!(registrations("@tool\ndef web(): ...").unwrap()[0].namespace(), None);
}

#[test]
fn broken_sources_are_refused_with_their_place() {
    refused("x = 'abc\n", "a text is never closed: ' is missing", 1, 5);
    refused("x = 1\ny = '''abc\n\n", "a text is never closed: ''' is missing", 2, 5);
    refused("f(1,\n  [2)\n", "`)` does not close `[` of line 2", 2, 5);
    refused("x = (1,\n", "`(` is never closed", 1, 5);
    refused("x = 1)\n", "`)` closes nothing", 1, 6);
    refused("if x:\n        y\n    z\n", "the indentation fits no line before it", 3, 1);
    refused("if x:\n\ty\n        z\n", "tabs and blanks are mixed in the indentation", 3, 1);
    refused("x = 1\n  y = 2\n", "a line is indented for no reason", 2, 1);
    refused("def f():\nx = 1\n", "an indented block is missing behind `:`", 1, 8);
    refused("def f():", "an indented block is missing behind `:`", 1, 8);
    refused("x = f'{a'\n", "a text is never closed: ' is missing", 1, 9);
    refused("x = f'a}'\n", "a single `}` in a formatted text", 1, 8);
    refused("x = '\\xZ1'\n", "an escape that needs 2 hexadecimal digits", 1, 6);
    refused("x = a ? b\n", "`?` means nothing here", 1, 7);
    refused("x = a\u{a0}+ b\n", "`\\u{a0}` means nothing here", 1, 6);
    refused("x = \0\n", "`\\0` means nothing here", 1, 5);
    refused("x = \\ 1\n", "a backslash that ends no line", 1, 5);
    refused(&"(".repeat(201), "more than 200 open brackets", 1, 201);
    refused(&"x".repeat((1 << 20) + 1), "the file is longer than 1048576 bytes", 1, 1);
    let deep: String = (0..=101).map(|depth| format!("{}if x:\n", " ".repeat(depth))).collect();
    refused(&deep, "more than 100 levels of indentation", 102, 1);
    let texts = format!("{}1{}", "f'{".repeat(101), "}'".repeat(101));
    refused(&texts, "more than 100 formatted texts in one", 1, 302);
}

/// What a class calls itself.
#[track_caller]
fn named(source: &str, wanted: &[(Way, &str)]) {
    let found = agent(source).unwrap();
    let class = found.class("Agent").unwrap_or_else(|| panic!("no class in {source}"));
    let got: Vec<_> = class.namings.iter().map(|naming| (naming.way, naming.said.known().unwrap_or("*"))).collect();
    assert_eq!(got, wanted, "in {source}");
}

#[test]
fn a_class_gives_its_name_in_several_ways() {
    named("class Agent:\n  @property\n  def name(self):\n    return 'writer'", &[(Way::Property, "writer")]);
    named("class Agent:\n  @property\n  def name(self): return 'writer'", &[(Way::Property, "writer")]);
    named("class Agent:\n  name: str = 'writer'", &[(Way::Attribute, "writer")]);
    named("class Agent: name = 'writer'; x = 1", &[(Way::Attribute, "writer")]);
    named(
        "class Agent(B):\n  def __init__(this):\n    this.name = 'w'\n    self.name = 'x'",
        &[(Way::Assignment, "w")],
    );
    named("class Agent:\n  def __init__(self, n):\n    self.id = self.name = n", &[(Way::Assignment, "*")]);
    named("class Agent(B):\n  def __init__(self):\n    super().__init__(name='w', x=1)", &[(Way::Base, "w")]);
    named("ID = 'w'\nclass Agent:\n  name = ID", &[(Way::Attribute, "w")]);
    let branches =
        "class Agent:\n  @cached_property\n  def name(self):\n    if self.x:\n      return 'a'\n    return 'b'";
    named(branches, &[(Way::Property, "a"), (Way::Property, "b")]);
}

#[test]
fn what_is_not_the_name_of_the_class_is_left_alone() {
    named("class Agent: pass", &[]);
    named("class Agent:\n  def name(self):\n    return 'x'", &[]);
    named("class Agent:\n  @name.setter\n  def name(self, value):\n    return 'x'", &[]);
    named(
        "class Agent:\n  '''name = \"x\"'''\n  # name = 'x'\n  def f(self):\n    name = 'x'\n    other.name = 'y'",
        &[],
    );
    named("class Agent:\n  class Inner:\n    name = 'x'\n  def f(self):\n    def name(): return 'x'", &[]);
    named("class Agent:\n  def f(self):\n    self.name == 'x'\n    self.name.first = 'x'\n    g(name='x')", &[]);
}

#[test]
fn a_module_tells_what_it_binds() {
    let source = "import a.b, c as d\nfrom e import f as g, h\nfrom i import (j,\n  k)\nclass L[T](M, n.O, metaclass=P): pass\n\
                  def q(): r = 1\nasync def s(): ...\nt: int = u = 2\ntry:\n  class V: ...\nexcept X:\n  V = None\n";
    let found = agent(source).unwrap();
    let names: Vec<&str> = found.names.keys().map(String::as_str).collect();
    assert_eq!(names, ["L", "V", "a", "d", "g", "h", "j", "k", "q", "s", "t", "u"]);
    assert_eq!(found.class("L").unwrap().bases, ["M", "n.O"]);
    assert_eq!((found.class("V").unwrap().span.line, found.class("V").unwrap().span.column), (10, 9));
    assert!(!found.imports_all);
    assert!(agent("from x import *").unwrap().imports_all);
}
