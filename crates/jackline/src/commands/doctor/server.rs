//! Is our MCP server registered, and would its calls join the sessions of the hooks?

use std::path::Path;

use jackline_runtime::wiring::CommandLine;
use jackline_runtime::wiring::servers::own;

use super::report::Report;
use crate::hosts::{Host, Settings};
use crate::place;

const GROUP: &str = "mcp";

/// Looks at every place where it may be registered; `store` is where the hooks keep their records.
pub(super) fn look(used: &[&Host], root: &Path, store: Option<&Path>, report: &mut Report) {
    used.iter().for_each(|host| look_at(host, root, store, report));
}

fn look_at(host: &Host, root: &Path, store: Option<&Path>, report: &mut Report) {
    let Some(servers) = host.servers else { return };
    let mut found = 0;
    for scope in host.scopes {
        let Ok((path, place)) = servers(*scope, root) else { continue };
        let shown = format!("{} ({})", place::shown(&path), scope.name());
        let line = Settings::read(path).and_then(|settings| {
            let text = settings.text.as_deref().unwrap_or_default();
            own(text, place).map_err(|fault| settings.refused(&fault))
        });
        match line {
            Err(error) => error_in(error, &shown, report),
            Ok(None) => {}
            Ok(Some(line)) => {
                found += 1;
                judge(host, &line, &shown, store, report);
            }
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

fn judge(host: &Host, line: &CommandLine, shown: &str, store: Option<&Path>, report: &mut Report) {
    if place::started(line).is_none() {
        let text = format!("{shown}: our server's program `{}` is not there", line.program);
        return report.fail(GROUP, text, format!("jackline init {} --mcp", host.name));
    }
    let at = line.arguments.iter().position(|word| word == "--store");
    let named = at.and_then(|at| line.arguments.get(at + 1)).map(Path::new);
    if let (Some(named), Some(store)) = (named, store)
        && named != store
    {
        let text = format!("{shown}: our server keeps its records in `{}`, and the hooks elsewhere", named.display());
        return report.fail(GROUP, text, format!("jackline init {} --mcp", host.name));
    }
    report.ok(GROUP, format!("{shown}: our server offers todos, facts and guarded files"));
}
