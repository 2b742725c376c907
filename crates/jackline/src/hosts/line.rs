//! The command lines that hosts shall run: paths are baked in, so that no variable of their environment leads elsewhere.

use std::path::Path;

use jackline_runtime::wiring::{CommandLine, Scope};

use super::Host;
use crate::error::CommandError;
use crate::place;

/// What a host runs for every event; shared settings name none of this machine's places.
pub(crate) fn hook_line(
    host: &Host,
    scope: Scope,
    program: &Path,
    (store, root): (&Path, &Path),
) -> Result<CommandLine, CommandError> {
    let mut arguments = vec!["hook".to_owned(), host.name.to_owned()];
    arguments.extend(places(scope, store, ("--root", root))?);
    if scope != Scope::Project {
        arguments.extend(user()?);
    }
    arguments.extend(["--wired".to_owned(), scope.name().to_owned()]);
    Ok(CommandLine { program: named(scope, program)?, arguments })
}

/// What a host runs as our MCP server; baked in as for hooks. `workspace` is how it names the project's directory there.
pub(crate) fn server_line(
    workspace: Option<&str>,
    scope: Scope,
    program: &Path,
    (store, root): (&Path, &Path),
) -> Result<CommandLine, CommandError> {
    let mut arguments = vec!["mcp".to_owned(), "serve".to_owned()];
    arguments.extend(places(scope, store, ("--workspace", root))?);
    arguments.extend(workspace.into_iter().flat_map(|named| ["--workspace", named]).map(str::to_owned));
    if scope != Scope::Project {
        arguments.extend(user()?);
    }
    Ok(CommandLine { program: named(scope, program)?, arguments })
}

fn places(scope: Scope, store: &Path, (option, root): (&str, &Path)) -> Result<Vec<String>, CommandError> {
    let mut places = Vec::new();
    if scope != Scope::Project {
        places.extend(["--store".to_owned(), text(store)?.to_owned()]);
    }
    if scope == Scope::Local {
        places.extend([option.to_owned(), text(root)?.to_owned()]);
    }
    Ok(places)
}

/// Where the user is at home, and their settings where a variable says so: what they declared for all their projects is
/// found whatever a host's environment says.
pub(crate) fn user() -> Result<Vec<String>, CommandError> {
    let named = [("--home", place::home()), ("--settings", place::named_settings())];
    let named = named.iter().filter_map(|(option, dir)| Some((option, dir.as_deref()?)));
    named
        .map(|(option, dir)| Ok([(*option).to_owned(), text(dir)?.to_owned()]))
        .collect::<Result<Vec<_>, _>>()
        .map(|all| all.concat())
}

fn named(scope: Scope, program: &Path) -> Result<String, CommandError> {
    if scope == Scope::Project { Ok("jackline".to_owned()) } else { text(program).map(str::to_owned) }
}

/// A path as settings can name it.
pub(crate) fn text(path: &Path) -> Result<&str, CommandError> {
    path.to_str().ok_or_else(|| {
        CommandError::input(format!("`{}` is not UTF-8, and settings are", path.display()))
            .hint("name another place, or rename the directory")
    })
}
