//! `jackline check`: reads a definition and shows all its faults at once.

use std::fs;
use std::path::{Path, PathBuf};

use jackline_core::definition::fault::quoted;
use jackline_core::definition::{self, Fault, Model};
use jackline_core::files::seen::PolicyFault;
use jackline_core::files::settings;
use jackline_core::sha::Digest;
use jackline_core::stack::Stack;
use jackline_core::tools;
use jackline_runtime::definitions::{DEFINITION_FILE, discover, read_text, rego_faults, schema_faults};
use jackline_runtime::files::{self, Folder};
use serde_json::json;

use super::Format;
use super::policy::told;
use crate::cases::{self, DIRECTORY};
use crate::error::CommandError;
use crate::place::{self, Where};
use crate::screen;

/// Directories looked through for nested definitions; a larger tree is looked at in part, and said so.
const DIRECTORIES_MAX: usize = 20_000;
/// Names of rules without a case that are told; whoever has more begins with these.
const UNTRIED_NAMES_MAX: usize = 20;

/// Check a definition and show all its faults
///
/// Exits with 0 when it is fine, 1 when it has faults, 2 when there is nothing to read.
#[derive(Debug, clap::Args)]
pub(crate) struct Check {
    /// The definition (default: the workspace's)
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The same, as other commands spell it
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    definition: Option<PathBuf>,
    /// How faults are printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    at: Where,
}

impl Check {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        let path = self.path()?;
        // One that a person names may be a pipe; one that was found may have been planted.
        let text = match &self.file {
            Some(named) => fs::read_to_string(named).map_err(|fault| fault.to_string()),
            None => read_text(&path),
        };
        let text =
            text.map_err(|why| CommandError::input(format!("`{}` cannot be read: {why}", place::shown(&path))))?;
        let (mut faults, fine) = match definition::parse(&text, &tools::names()) {
            Ok(parsed) => with_files(parsed, &path, &text),
            Err(faults) => (faults, false),
        };
        if fine && self.file.is_none() {
            faults.extend(nested(&path));
        }
        let (folders, policies) = policies(&path, &text);
        match self.format {
            Format::Human => {
                show(&path, &text, &faults, fine)?;
                for fault in &policies {
                    let folder = folders.iter().find(|folder| fault.file.starts_with(&folder.shown));
                    screen::line(&told(folder, fault))?;
                }
            }
            Format::Json => screen::line(&as_json(&path, &faults, fine, &policies).to_string())?,
        }
        let fine = fine && policies.iter().all(|fault| fault.warning);
        if fine { Ok(()) } else { Err(CommandError::not_fine()) }
    }

    fn path(&self) -> Result<PathBuf, CommandError> {
        if let Some(named) = self.file.as_ref().or(self.definition.as_ref()) {
            return Ok(named.clone());
        }
        let places = self.at.places_but_home()?;
        places.named.or_else(|| discover(&places.start)).ok_or_else(|| {
            CommandError::input(format!(
                "there is no {DEFINITION_FILE} in `{}` or above it",
                place::shown(&places.start)
            ))
            .hint("write one that begins with `jackline: 1`, or name one: `jackline check FILE`")
        })
    }
}

/// The folders of policies that a definition judges by, and what is wrong with them.
fn policies(path: &Path, text: &str) -> (Vec<Folder>, Vec<PolicyFault>) {
    let Ok(parsed) = definition::parse(text, &tools::names()) else { return (Vec::new(), Vec::new()) };
    let root = path.canonicalize().ok().and_then(|path| path.parent().map(Path::to_owned)).unwrap_or_default();
    let stack = Stack::of(root.display().to_string(), parsed.model, Digest::ZERO);
    let named = settings::folders(&stack);
    let missing = |named: &settings::Folder| {
        let dir = named.demanded().filter(|dir| !root.join(dir).is_dir())?;
        let message = "there is no such folder, and `file_policies.dir` names it".to_owned();
        Some(PolicyFault { file: dir.clone(), line: 1, message, help: None, warning: false })
    };
    let folders = files::folders(&stack);
    let faults = folders.iter().flat_map(|folder| files::policies(folder).faults);
    let faults = faults.chain(named.iter().filter_map(missing)).collect();
    (folders, faults)
}

/// The warnings of a definition together with the faults of the files it names.
fn with_files(parsed: definition::Parsed, path: &Path, text: &str) -> (Vec<Fault>, bool) {
    let dir = path.parent().unwrap_or(path);
    let mut faults = schema_faults(&parsed.model, Some(text), dir);
    faults.extend(rego_faults(&parsed.model, Some(text), dir));
    faults.sort_by_key(|fault| fault.span);
    let fine = faults.is_empty();
    let untried = if fine { untried(&parsed.model, path, text) } else { Vec::new() };
    let more = uncounted(&parsed.model).into_iter().chain(untried);
    (faults.into_iter().chain(parsed.warnings).chain(more).collect(), fine)
}

/// What the owner's cases, if there are any, leave open: rules that none of them makes fire, and cases that fail.
fn untried(model: &Model, path: &Path, text: &str) -> Vec<Fault> {
    let files = cases::beside(path);
    if files.is_empty() {
        return Vec::new();
    }
    let Ok(ran) = cases::load(&files).and_then(|files| cases::run(path, text, &files)) else {
        return vec![Fault::warning(format!("the cases in `{DIRECTORY}` cannot be run")).help("run `jackline test`")];
    };
    let mut found = Vec::new();
    let names = cases::unexercised(model, &ran.fired);
    if !names.is_empty() {
        let shown: Vec<String> = names.iter().take(UNTRIED_NAMES_MAX).map(|name| quoted(name)).collect();
        let more = if names.len() > UNTRIED_NAMES_MAX { ", …" } else { "" };
        let message = format!("no case makes these rules fire: {}{more}", shown.join(", "));
        found.push(Fault::warning(message).help(format!("add cases for them in `{DIRECTORY}`")));
    }
    if !ran.failures.is_empty() {
        let message = format!("{} of {} cases are not decided as wanted", ran.failures.len(), ran.cases);
        found.push(Fault::warning(message).help("run `jackline test`"));
    }
    found
}

fn show(path: &Path, text: &str, faults: &[Fault], fine: bool) -> std::io::Result<()> {
    let name = place::shown(path);
    if !faults.is_empty() {
        screen::line(definition::render(faults, text, &name).trim_end())?;
    }
    if fine { screen::line(&format!("{name}: fine")) } else { Ok(()) }
}

fn as_json(path: &Path, faults: &[Fault], fine: bool, policies: &[PolicyFault]) -> serde_json::Value {
    let faults: Vec<_> = faults
        .iter()
        .map(|fault| {
            json!({
                "level": if fault.warning { "warning" } else { "error" },
                "message": fault.message,
                "help": fault.help,
                "line": fault.span.map(|span| span.line),
                "column": fault.span.map(|span| span.column),
            })
        })
        .collect();
    let valid = fine && policies.iter().all(|fault| fault.warning);
    let mut value = json!({ "file": path.display().to_string(), "valid": valid, "faults": faults });
    if let (serde_json::Value::Object(value), false) = (&mut value, policies.is_empty()) {
        value.insert("policies".to_owned(), json!(policies));
    }
    value
}

/// Definitions below the workspace root, which are never used.
pub(super) fn nested(path: &Path) -> Vec<Fault> {
    let Some(root) = path.parent() else { return Vec::new() };
    let mut found = Vec::new();
    let mut waiting = vec![root.to_owned()];
    let mut looked = 0;
    while let Some(dir) = waiting.pop() {
        looked += 1;
        if looked > DIRECTORIES_MAX {
            let message = format!("only {DIRECTORIES_MAX} directories were looked through for nested definitions");
            found.push(Fault { message, help: None, span: None, warning: true });
            break;
        }
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            if is_dir && !hidden && entry.file_name() != "target" && entry.file_name() != "node_modules" {
                waiting.push(entry.path());
            } else if entry.file_name() == DEFINITION_FILE && dir != root {
                found.push(not_used(root, &entry.path()));
            }
        }
    }
    found
}

/// A limit that no host whose hooks are wired reports anything about.
fn uncounted(model: &Model) -> Option<Fault> {
    model.limits.cost_usd?;
    Some(Fault {
        message: "`limits.cost_usd` has no source on Claude Code, which reports no cost".to_owned(),
        help: Some("limit `tokens`; cost counts where a host or the embedding program reports it".to_owned()),
        span: None,
        warning: true,
    })
}

fn not_used(root: &Path, path: &Path) -> Fault {
    let shown = path.strip_prefix(root).unwrap_or(path).display();
    Fault {
        message: format!("`{shown}` is a definition below this one and is not used"),
        help: Some("move its policies here; where this directory is not wired with `--scope local`, it counts for sessions that begin there".to_owned()),
        span: None,
        warning: true,
    }
}
