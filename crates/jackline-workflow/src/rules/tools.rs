//! R10 and R11: tools of the workflow's own, by declaration and by registration in Python.

use std::collections::BTreeMap;

use jackline_core::definition::fault::quoted;
use jackline_core::definition::{Fault, Span, any_of};

use super::{BUILT_IN_TOOLS, MANIFEST, RESERVED_NAMESPACES, Rule, tool_part};
use crate::finding::{Found, Level};
use crate::load::Workflow;
use crate::manifest::Manifest;

pub(super) static NAMESPACE: Rule = Rule {
    id: "R10",
    level: Level::Error,
    category: "Capabilities",
    summary: "Custom tools stay out of reserved namespaces",
    text: "A tool that the manifest declares, or that a Python file under `mcp/`, `tools/` or `custom_tools.source_dir` \
registers, has a namespace of its own. Reserved are `web`, `http`, `file`, `shell`, `agent`, `memory`, `arithmetic`, `numpy`, \
`matplot`, `pandas`, `doc` and `sklearn`; a tool that would stand in for a built-in one breaks the rule too.

Python is parsed: comments and texts do not count, decorators with further arguments and registrations by call do. A name \
that is only begun in the source is judged by what is written; one of which not even the namespace is written is a warning.",
    good: tool_part("@app.tool(\"myns.fetch\", description=\"Fetches a page\")\ndef fetch(url: str) -> dict: ...\n"),
    bad: tool_part("@app.tool(\"web.fetch\")      # `web` is reserved\ndef fetch(url: str) -> dict: ...\n"),
    check: namespace,
};

pub(super) static UNIQUE: Rule = Rule {
    id: "R11",
    level: Level::Error,
    category: "Capabilities",
    summary: "Names of custom tools are unique",
    text: "No two registrations in Python sources have the same full name, and no two declarations in the manifest. A \
declaration may describe a tool that a source registers.",
    good: tool_part(
        "@app.tool(\"myns.fetch\")\ndef fetch(url: str) -> dict: ...\n\n\n@app.tool(\"myns.store\")\ndef store(text: str) -> dict: ...\n",
    ),
    bad: tool_part(
        "@app.tool(\"myns.fetch\")\ndef fetch(url: str) -> dict: ...\n\n\n@app.tool(\"myns.fetch\")      # the second of this name\ndef fetch_again(url: str) -> dict: ...\n",
    ),
    check: unique,
};

/// A tool, the file that names it, and where.
struct Named<'a> {
    name: &'a str,
    /// The end of the name is known only when the source runs.
    computed: bool,
    file: usize,
    span: Span,
}

fn declared(flow: &Workflow) -> impl Iterator<Item = Named<'_>> {
    let tools = flow.manifest().into_iter().flat_map(Manifest::declared_tools);
    tools.map(|(name, span)| Named { name, computed: false, file: MANIFEST, span })
}

fn registered(flow: &Workflow) -> impl Iterator<Item = Named<'_>> {
    flow.tools.iter().flat_map(|source| {
        source.registrations.iter().map(|one| Named {
            name: &one.name,
            computed: one.computed,
            file: source.file,
            span: one.span,
        })
    })
}

fn namespace(flow: &Workflow, out: &mut Found) {
    for tool in declared(flow).chain(registered(flow)) {
        let namespace = match tool.name.split_once('.') {
            Some((namespace, _)) => namespace,
            // What is written may go on.
            None if tool.computed => {
                let fault = Fault::warning("the name of this tool is computed, and its namespace is not known");
                out.put(tool.file, fault.at(tool.span).help("write the name down: `\"myns.fetch\"`"));
                continue;
            }
            None => tool.name,
        };
        if !tool.computed && BUILT_IN_TOOLS.contains(&tool.name) && !RESERVED_NAMESPACES.contains(&namespace) {
            let message = format!("the tool {} would stand in for a built-in one", quoted(tool.name));
            out.put(tool.file, Fault::error(message).at(tool.span).help("use a namespace of your own"));
        }
        if RESERVED_NAMESPACES.contains(&namespace) {
            let message = format!("the tool {} is in the reserved namespace {}", quoted(tool.name), quoted(namespace));
            let help = format!(
                "use a namespace of your own; reserved are {}",
                any_of(RESERVED_NAMESPACES).replace(" or ", " and ")
            );
            out.put(tool.file, Fault::error(message).at(tool.span).help(help));
        }
    }
}

fn unique(flow: &Workflow, out: &mut Found) {
    twice(declared(flow), flow, out);
    twice(registered(flow).filter(|tool| !tool.computed), flow, out);
}

fn twice<'a>(tools: impl Iterator<Item = Named<'a>>, flow: &Workflow, out: &mut Found) {
    let mut seen: BTreeMap<&str, (usize, u32)> = BTreeMap::new();
    for tool in tools {
        match seen.get(tool.name) {
            Some((file, line)) => {
                let path = flow.files.get(*file).map(|file| file.path.as_str()).unwrap_or_default();
                let fault = Fault::error(format!("duplicate tool {}", quoted(tool.name))).at(tool.span);
                out.put(tool.file, fault.help(format!("it is named in {} too, on line {line}", quoted(path))));
            }
            None => drop(seen.insert(tool.name, (tool.file, tool.span.line))),
        }
    }
}
