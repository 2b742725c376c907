//! Is our MCP server registered, do servers run behind the proxy, and would their calls join the sessions of the hooks?

use std::path::Path;

use jackline_core::hosts::tells_last_words;
use jackline_core::stack::Stack;
use jackline_runtime::wiring::servers::{astray, own, proxied};
use jackline_runtime::wiring::{CommandLine, Scope};

use super::report::Report;
use crate::hosts::{Host, Listed, Settings};
use crate::place;

const GROUP: &str = "mcp";

/// Looks at every place where a host may have it registered; `store` is where its hooks keep their records.
pub(super) fn look(host: &Host, root: &Path, store: Option<&Path>, report: &mut Report) {
    let mut found = 0;
    for (scope, Listed { file, place, .. }) in host.lists(root) {
        let shown = format!("{} ({})", place::shown(&file), scope.name());
        let lines = Settings::read_servers(file).and_then(|settings| {
            let text = settings.text.as_deref().unwrap_or_default();
            let lines = own(text, place).and_then(|own| Ok((own, proxied(text, place)?)));
            lines.map_err(|fault| settings.refused(&fault))
        });
        let (line, proxies) = match lines {
            Err(error) => {
                error_in(error, &shown, report);
                continue;
            }
            Ok(lines) => lines,
        };
        if let Some(line) = line {
            found += 1;
            judge((host, scope), &line, &shown, store, report);
        }
        for (name, line) in proxies {
            let root = root.to_str().unwrap_or_default();
            judge_proxy(&line, (&name, &format!("{shown}: `{name}`")), (store, root), report);
        }
    }
    if found > 1 {
        let text = format!("our server is registered {found} times; the host takes one of them");
        let scopes: Vec<&str> = host.scopes.iter().map(|scope| scope.name()).collect();
        report.warn(GROUP, text, format!("jackline uninit {} --scope {}", host.name, scopes.join("|")));
    }
}

/// A list of servers that cannot be read wires nothing of ours; that is the host's to say.
fn error_in(error: crate::error::CommandError, shown: &str, report: &mut Report) {
    let (why, hints) = error.into_parts();
    report.note(GROUP, format!("{shown}: {why}"), hints.join("; "));
}

/// An agent whose host does not tell its last words has no other way to say that it cannot go on.
pub(super) fn exit(host: &Host, root: &Path, stack: &Stack, report: &mut Report) {
    let holds = stack.layers.iter().any(|layer| layer.model.completion.is_some());
    if !holds || tells_last_words(Some(host.name)) || host.serves(root) {
        return;
    }
    let text = format!(
        "{}: `completion` holds stops, and an agent that cannot go on has no tool to say so: our server is not registered",
        host.title,
    );
    report.warn(GROUP, text, format!("jackline init {} --mcp", host.name));
}

fn judge((host, scope): (&Host, Scope), line: &CommandLine, shown: &str, store: Option<&Path>, report: &mut Report) {
    if place::started(line).is_none() {
        let text = format!("{shown}: our server's program `{}` is not there", line.program);
        return report.fail(GROUP, text, format!("jackline init {} --mcp", host.name));
    }
    if let Some(named) = other_store(line, store) {
        let text = format!("{shown}: our server keeps its records in `{}`, and the hooks elsewhere", named.display());
        return report.fail(GROUP, text, format!("jackline init {} --mcp", host.name));
    }
    if scope != Scope::Project && !is_baked(line) {
        let text =
            format!("{shown}: where our server finds its store and your definition is left to the client's variables");
        return report.warn(GROUP, text, format!("jackline init {} --mcp", host.name));
    }
    report.ok(GROUP, format!("{shown}: our server offers todos, facts and guarded files"));
}

/// Whether a command is told where things are, so that no variable leads it elsewhere.
fn is_baked(line: &CommandLine) -> bool {
    ["--store", "--home"].iter().all(|option| line.arguments.iter().any(|word| word == option))
}

/// Where a command keeps its records, if the hooks keep theirs elsewhere.
fn other_store<'l>(line: &'l CommandLine, store: Option<&Path>) -> Option<&'l Path> {
    let at = line.arguments.iter().position(|word| word == "--store")?;
    let named = Path::new(line.arguments.get(at + 1)?);
    store.filter(|store| named != *store).map(|_| named)
}

/// A proxy that cannot be started leaves its server away; one that keeps its records elsewhere knows no hook's call; one
/// that judges by something else guards something else.
fn judge_proxy(
    line: &CommandLine,
    (name, shown): (&str, &str),
    (store, root): (Option<&Path>, &str),
    report: &mut Report,
) {
    const AGAIN: &str = "jackline mcp wrap --undo && jackline mcp wrap";
    if place::started(line).is_none() {
        return report.fail(GROUP, format!("{shown}: the proxy's program `{}` is not there", line.program), AGAIN);
    }
    match (other_store(line, store), astray(line, name, root)) {
        (Some(named), _) => {
            let text =
                format!("{shown}: the proxy keeps its records in `{}`, and the hooks elsewhere", named.display());
            report.fail(GROUP, text, AGAIN);
        }
        (None, Some(why)) => {
            report.warn(
                GROUP,
                format!("{shown}: behind a proxy, but {why}"),
                "look at who wrote it, or: ".to_owned() + AGAIN,
            );
        }
        (None, None) => report.ok(GROUP, format!("{shown}: behind the proxy")),
    }
}
