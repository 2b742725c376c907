//! Rules of the house, kept by a test instead of by preaching: heads, sizes, directions, bounds, codes.

#![expect(clippy::expect_used, reason = "a test that cannot go on says so by panicking")]

mod tree;

use std::fs;

use jackline_core::code;

/// Lines of a file. Longer ones have two subjects.
const FILE_LINES_MAX: usize = 600;
/// Lines of a function, its signature included: what fits on a screen.
const FUNCTION_LINES_MAX: usize = 70;
/// Lines of the README: a visitor reads no more.
const README_LINES_MAX: usize = 150;
/// Lines of ARCHITECTURE.md: read in one sitting.
const ARCHITECTURE_LINES_MAX: usize = 250;

/// Codes that no conformance case can bring about, and why.
const NOT_IN_CASES: &[(&str, &str)] = &[
    ("fault/definition", "a case judges by a definition that was read already"),
    ("fault/store", "a case's store works; the crash tests break it"),
    ("fault/policy", "needs a policy of an embedder's that fails"),
    ("todo/full", "needs as many todos as a session holds; a test of the core makes them"),
    ("fact/full", "needs as many facts as a session holds; a test of the core makes them"),
    ("fault/internal", "nothing is known to bring it about"),
    ("mcp/tools-unclear", "only the proxy reads a server's list; what it offers is no event"),
    ("schema/unusable", "as mcp/tools-unclear"),
    ("session/ambiguous", "only what speaks MCP looks for a session; every event of a case names its own"),
    ("workspace/missing", "only tools of our own MCP server say so; every event of a case names what a tool said"),
    ("workspace/unfit", "as workspace/missing"),
    ("workspace/no-match", "as workspace/missing"),
    ("workspace/pattern", "as workspace/missing"),
    ("workspace/failed", "as workspace/missing"),
];

fn sources() -> Vec<(String, String)> {
    tree::files(&[".rs"])
}

#[test]
fn files_have_a_head_and_an_end() {
    let mut complaints = Vec::new();
    for (path, text) in sources() {
        let lines = text.lines().count();
        if !text.starts_with("//! ") {
            complaints.push(format!("{path}: does not open with `//! ` and what it is"));
        }
        if lines > FILE_LINES_MAX {
            complaints.push(format!("{path}: {lines} lines, more than {FILE_LINES_MAX}"));
        }
    }
    tree::no_complaints(&complaints);
}

#[test]
fn functions_fit_on_a_screen() {
    let mut complaints = Vec::new();
    for (path, text) in sources() {
        let lines: Vec<&str> = text.lines().collect();
        for (start, line) in lines.iter().enumerate().filter(|(_, line)| is_function(line)) {
            let length = function_lines(line, &lines[start..]);
            if length > FUNCTION_LINES_MAX {
                complaints.push(format!(
                    "{path}:{}: a function of {length} lines, more than {FUNCTION_LINES_MAX}",
                    start + 1
                ));
            }
        }
    }
    tree::no_complaints(&complaints);
}

fn is_function(line: &str) -> bool {
    let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub") || is_modifier(word));
    words.next() == Some("fn")
}

fn is_modifier(word: &str) -> bool {
    matches!(word, "const" | "async" | "unsafe" | "extern" | "in") || word.ends_with(')') && word.starts_with("crate")
}

/// Lines up to the one that closes the function: formatted code closes at the indentation it opened at.
fn function_lines(first: &str, lines: &[&str]) -> usize {
    let indent = first.len() - first.trim_start().len();
    let closes = |line: &str| {
        let rest = line.get(indent..).unwrap_or_default();
        line.len() - line.trim_start().len() == indent
            && (rest.starts_with('}') || rest.starts_with(')') && rest.ends_with(';'))
    };
    if first.ends_with('}') || first.ends_with(';') {
        return 1;
    }
    1 + lines.iter().skip(1).position(|line| closes(line)).map_or(lines.len(), |at| at + 1)
}

#[test]
fn core_never_looks() {
    const BANNED: &[&str] = &["fs", "env", "process", "time", "net", "thread"];
    let mut complaints = Vec::new();
    for (path, text) in below("crates/jackline-core/src/") {
        for name in std_modules(&text).into_iter().filter(|name| BANNED.contains(&name.as_str())) {
            complaints.push(format!("{path}: core uses `std::{name}`"));
        }
        if text.contains("jackline_runtime") || text.contains("clap::") {
            complaints.push(format!("{path}: core knows what is above it"));
        }
    }
    tree::no_complaints(&complaints);
}

fn below(dir: &str) -> Vec<(String, String)> {
    let found: Vec<_> = sources().into_iter().filter(|(path, _)| path.starts_with(dir)).collect();
    assert!(!found.is_empty(), "nothing is below {dir}");
    found
}

/// The modules of the standard library that a file names, grouped imports included.
fn std_modules(text: &str) -> Vec<String> {
    let head =
        |part: &str| part.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut found = Vec::new();
    for rest in text.split("std::").skip(1) {
        match rest.strip_prefix('{') {
            Some(group) => found.extend(group.split("};").next().unwrap_or_default().split(',').map(head)),
            None => found.push(head(rest)),
        }
    }
    found
}

/// A static program that begins in `entry` has no command line by the standard library's account.
#[test]
fn the_command_line_comes_from_the_entry() {
    let asks = below("crates/jackline/src/").into_iter().filter(|(_, text)| text.contains("env::args"));
    let complaints: Vec<String> = asks.map(|(path, _)| format!("{path}: ask `entry::words`")).collect();
    tree::no_complaints(&complaints);
}

#[test]
fn runtime_knows_no_surface() {
    const BANNED: &[&str] = &["clap::", "tokio::", "axum::", "hyper::", "rmcp::"];
    let mut complaints = Vec::new();
    for (path, text) in below("crates/jackline-runtime/src/") {
        let found = BANNED.iter().filter(|banned| text.contains(**banned));
        complaints.extend(found.map(|banned| format!("{path}: runtime uses `{banned}`")));
    }
    tree::no_complaints(&complaints);
}

#[test]
fn adapters_probes_and_store_are_strangers() {
    const APART: &[&str] = &["adapters", "probes", "store"];
    let mut complaints = Vec::new();
    for own in APART {
        for (path, text) in below(&format!("crates/jackline-runtime/src/{own}/")) {
            for other in APART.iter().filter(|other| *other != own) {
                if text.contains(&format!("crate::{other}")) || text.contains(&format!("super::{other}")) {
                    complaints.push(format!("{path}: `{own}` imports `{other}`"));
                }
            }
        }
    }
    tree::no_complaints(&complaints);
}

#[test]
fn every_bound_says_why() {
    let mut complaints = Vec::new();
    for (path, text) in sources() {
        let lines: Vec<&str> = text.lines().collect();
        for (at, _) in lines.iter().enumerate().filter(|(_, line)| is_bound(line)) {
            let above = lines.iter().take(at).rev().find(|line| !line.trim_start().starts_with("#["));
            if !above.is_some_and(|above| above.trim_start().starts_with("///")) {
                complaints.push(format!("{path}:{}: a bound without a reason above it", at + 1));
            }
        }
    }
    tree::no_complaints(&complaints);
}

fn is_bound(line: &str) -> bool {
    let declared = line
        .trim_start()
        .trim_start_matches("pub ")
        .trim_start_matches("pub(crate) ")
        .trim_start_matches("pub(super) ");
    let name = declared.strip_prefix("const ").and_then(|rest| rest.split(':').next());
    name.is_some_and(|name| name.ends_with("_MAX") || name.contains("_MAX_"))
}

#[test]
fn exceptions_carry_reasons() {
    let allows = [concat!("#[", "allow("), concat!("#![", "allow(")];
    let found = sources().into_iter().filter(|(_, text)| allows.iter().any(|allow| text.contains(allow)));
    let complaints: Vec<String> =
        found.map(|(path, _)| format!("{path}: write `#[expect(.., reason = ..)]`")).collect();
    tree::no_complaints(&complaints);
}

#[test]
fn no_file_names_a_place_of_some_machine() {
    let endings = [".rs", ".md", ".toml", ".yaml", ".yml", ".json", ".jsonl", ".txt", ".sh", "run"];
    // Written in two parts, so that this file does not name them either; made-up homes of fixtures are `/home/dev`.
    let places = [concat!("/wo", "rk/"), concat!("/ro", "ot/."), concat!("/Us", "ers/"), concat!("/tm", "p/wt-")];
    let mut complaints = Vec::new();
    for (path, text) in tree::files(&endings) {
        let found = places.iter().filter(|place| text.contains(**place));
        complaints.extend(found.map(|place| format!("{path}: names `{place}`")));
    }
    tree::no_complaints(&complaints);
}

#[test]
fn every_code_is_documented_and_in_a_case() {
    let page = fs::read_to_string(tree::root().join("docs/reference/codes.md")).expect("it is there");
    let cases: String = tree::files(&[".yaml"])
        .into_iter()
        .filter(|(path, _)| path.starts_with("conformance/"))
        .map(|(_, text)| text)
        .collect();
    let mut complaints = Vec::new();
    for entry in code::ALL {
        let excused = NOT_IN_CASES.iter().any(|(code, _)| *code == entry.code);
        let wanted = cases.contains(&format!("\"code\": \"{}\"", entry.code))
            || cases.contains(&format!("code: {}", entry.code));
        if !page.contains(&format!("| `{}` |", entry.code)) {
            complaints.push(format!("{} is not in docs/reference/codes.md", entry.code));
        }
        if excused == wanted {
            let what = if wanted { "is in a case and excused all the same" } else { "is in no conformance case" };
            complaints.push(format!("{} {what}", entry.code));
        }
    }
    tree::no_complaints(&complaints);
}

#[test]
fn root_pages_stay_short() {
    let mut complaints = Vec::new();
    for (name, max) in [("README.md", README_LINES_MAX), ("ARCHITECTURE.md", ARCHITECTURE_LINES_MAX)] {
        let lines = fs::read_to_string(tree::root().join(name)).expect("it is there").lines().count();
        if lines > max {
            complaints.push(format!("{name}: {lines} lines, more than {max}"));
        }
    }
    tree::no_complaints(&complaints);
}

/// The map of the code names every module of every crate, so that a new one is put on it.
#[test]
fn the_map_is_complete() {
    let map = fs::read_to_string(tree::root().join("ARCHITECTURE.md")).expect("it is there");
    let mut complaints = Vec::new();
    for (path, _) in below("crates/") {
        let Some((_, module)) = path.split_once("/src/") else { continue };
        let name = module.split('/').next().unwrap_or_default().trim_end_matches(".rs");
        let known = ["lib", "main"].contains(&name)
            || map.contains(&format!("`{name}`"))
            || map.contains(&format!("`{name}/`"));
        if !known {
            complaints.push(format!("{path}: `{name}` is not in ARCHITECTURE.md"));
        }
    }
    complaints.dedup();
    tree::no_complaints(&complaints);
}
