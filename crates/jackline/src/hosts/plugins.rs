//! Plugins of Claude Code's that bring hooks along: those that its settings enable, and those among its skills, which nobody
//! has to install.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jackline_runtime::wiring::Scope;
use serde_json::Value;

use super::{claude, folder, listing};

/// What makes a directory a plugin.
const MANIFEST: &str = ".claude-plugin/plugin.json";
/// Where a plugin has its hooks, beside those that its manifest names.
const HOOKS: &str = "hooks/hooks.json";
/// What lists the plugins of a directory that offers some.
const OFFERED: &str = ".claude-plugin/marketplace.json";

/// The files by which plugins have it run hooks of theirs.
pub(super) fn hooked(root: &Path) -> Vec<PathBuf> {
    let skills = [Some(root.join(".claude/skills")), claude::home().map(|home| home.join("skills"))];
    let skills = skills.into_iter().flatten().flat_map(|dir| listing(&dir));
    let among_skills = skills.filter(|dir| dir.join(MANIFEST).is_file());
    let mut files: Vec<PathBuf> = among_skills.chain(installed(root)).flat_map(|plugin| hooks_of(&plugin)).collect();
    files.sort();
    files.dedup();
    files
}

/// The files by which a plugin brings hooks along.
fn hooks_of(plugin: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let (usual, manifest) = (plugin.join(HOOKS), plugin.join(MANIFEST));
    let named = folder::object(Some(manifest.clone())).get("hooks").is_some();
    usual.is_file().then_some(usual).into_iter().chain(named.then_some(manifest))
}

/// Where the plugins lie that settings enable.
fn installed(root: &Path) -> Vec<PathBuf> {
    let Some(kept) = claude::home().map(|home| home.join("plugins")) else { return Vec::new() };
    let installed = folder::object(Some(kept.join("installed_plugins.json")));
    let offering = folder::object(Some(kept.join("known_marketplaces.json")));
    let enabled = enabled(root);
    let places = enabled.iter().flat_map(|name| copies(&installed, name).into_iter().chain(offered(&offering, name)));
    places.collect()
}

/// The names of enabled plugins, each with where it is from; the settings nearest to the project decide.
fn enabled(root: &Path) -> Vec<String> {
    let mut known = BTreeMap::new();
    for scope in [Scope::User, Scope::Project, Scope::Local] {
        let settings = folder::object(claude::file(scope, root));
        let named = settings.get("enabledPlugins").and_then(Value::as_object).into_iter().flatten();
        known.extend(named.map(|(name, on)| (name.clone(), *on != Value::Bool(false))));
    }
    known.into_iter().filter(|(_, on)| *on).map(|(name, _)| name).collect()
}

/// Where an installed plugin was copied to.
fn copies(installed: &Value, name: &str) -> Vec<PathBuf> {
    let copies = installed.get("plugins").and_then(|plugins| plugins.get(name)).and_then(Value::as_array);
    let place = |copy: &Value| Some(PathBuf::from(copy.get("installPath")?.as_str()?));
    copies.into_iter().flatten().filter_map(place).collect()
}

/// Where a plugin is read from that a directory offers: there, and not from its copy.
fn offered(offering: &Value, name: &str) -> Option<PathBuf> {
    let (plugin, by) = name.rsplit_once('@')?;
    let by = offering.get(by).filter(|by| by.pointer("/source/source").is_some_and(|kind| kind == "directory"))?;
    let place = PathBuf::from(by.get("installLocation")?.as_str()?);
    let list = folder::object(Some(place.join(OFFERED)));
    let mut offered = list.get("plugins")?.as_array()?.iter();
    let found = offered.find(|offered| offered.get("name").is_some_and(|name| name == plugin))?;
    Some(place.join(found.get("source")?.as_str()?))
}
