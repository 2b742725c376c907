//! Whether a host trusts a folder: where it does not, it passes over the hooks of the folder's own settings.

use std::path::{Path, PathBuf};

use jackline_core::json;
use jackline_runtime::wiring::comments;
use serde_json::Value;

use super::Settings;

/// Whether a host runs the hooks in a folder's own settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Folder {
    /// It does; or it asks nobody.
    Trusted,
    /// Nobody has said: some of its modes run them, others ask first.
    Unsaid { why: String, remedy: String },
    /// It does not, for this reason.
    Untrusted { why: String, remedy: String },
}

/// A host's answer where it trusts every folder.
pub(super) fn always(_: &Path) -> Folder {
    Folder::Trusted
}

/// The JSON object in one of a host's own files; nothing where there is none that can be read.
pub(super) fn object(path: Option<PathBuf>) -> Value {
    let text = path.and_then(|path| Settings::read(path).ok()).and_then(|settings| settings.text).unwrap_or_default();
    json::decode(comments::blanked(&text).as_bytes()).unwrap_or_default()
}

/// Entries of one directory that are looked at; real ones have a handful.
const LISTED_MAX: usize = 1024;

/// What lies in a directory, in order of names.
pub(crate) fn listing(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok).take(LISTED_MAX);
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The longest rule that covers the folder, as `Some(trusted)`. A rule names a folder and says whether it counts; one
/// about a parent names a child of it.
pub(super) fn ruled(rules: &Value, root: &Path) -> Option<bool> {
    let rules = rules.as_object()?.iter().filter_map(|(path, level)| {
        let named = Path::new(path);
        let (covers, trusted) = match level.as_str()? {
            "TRUST_FOLDER" => (named, true),
            "TRUST_PARENT" => (named.parent().unwrap_or(named), true),
            "DO_NOT_TRUST" => (named, false),
            _ => return None,
        };
        let covers = covers.canonicalize().unwrap_or_else(|_| covers.to_owned());
        root.starts_with(covers).then_some((path.len(), trusted))
    });
    rules.max_by_key(|(length, _)| *length).map(|(_, trusted)| trusted)
}

/// Whether a list of folders holds this one or one around it.
pub(super) fn listed(list: Option<&Value>, root: &Path) -> bool {
    let named = list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let real = named.map(|path| Path::new(path).canonicalize().unwrap_or_else(|_| path.into()));
    real.into_iter().any(|folder| root.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_longest_rule_about_a_folder_counts() {
        let rules = json!({"/a": "TRUST_FOLDER", "/a/b": "DO_NOT_TRUST", "/c/x": "TRUST_PARENT", "/d": "other"});
        let check = |root: &str| ruled(&rules, Path::new(root));
        assert_eq!((check("/a"), check("/a/x"), check("/a/b/c")), (Some(true), Some(true), Some(false)));
        assert_eq!((check("/c/y"), check("/d"), check("/ab")), (Some(true), None, None));
        assert!(listed(Some(&json!(["/e"])), Path::new("/e/f")) && !listed(Some(&json!(["/e"])), Path::new("/ef")));
    }
}
