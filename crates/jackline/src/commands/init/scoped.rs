//! What a scope means beyond this person and this machine, told while it is wired.

use std::path::Path;
use std::process::Command;

use jackline_core::hosts::tells_last_words;
use jackline_runtime::wiring::Scope;

use crate::hosts::{AtMissing, Folder, Host};
use crate::{bounded, place, screen};

/// Milliseconds for git to say whether it ignores a file.
const GIT_MS_MAX: u64 = 3_000;

pub(super) fn note(host: &Host, scope: Scope, root: &Path, path: &Path) {
    match scope {
        Scope::User => {}
        Scope::Local => note_untracked(root, path),
        Scope::Project => {
            note_shared(host);
            note_folder(host, root);
        }
    }
    note_below(host, scope, root);
}

/// Where an agent's last words are not told, it can say by our server alone that it cannot go on.
pub(super) fn note_exit(host: &Host, root: &Path) {
    if tells_last_words(Some(host.name)) || host.serves(root) {
        return;
    }
    screen::complain(&format!(
        "note: {} does not tell its agent's last words: to park, it needs our MCP server",
        host.title
    ));
    screen::complain(&format!("  help: jackline init {} --mcp", host.name));
}

fn note_untracked(root: &Path, path: &Path) {
    if !is_tracked_by_git(root, path) {
        return;
    }
    screen::complain(&format!("warning: git does not ignore `{}`, and it names paths of yours", place::shown(path)));
    let below = path.strip_prefix(root).unwrap_or(path).display();
    // What is excluded elsewhere than in the tree hides nothing from file policies and checks.
    screen::complain(&format!("  help: echo '**/{below}' >> .gitignore"));
}

fn note_shared(host: &Host) {
    screen::complain("note: these settings are shared, and find `jackline` on each one's PATH");
    screen::complain(match host.at_missing {
        AtMissing::Blocks => "  help: who does not have it cannot run any tool until they install it; tell your team",
        AtMissing::Passes => "  help: who does not have it works unguarded; tell your team",
    });
}

/// A host that does not trust the folder passes over its hooks without a word.
fn note_folder(host: &Host, root: &Path) {
    let (what, why, remedy) = match (host.folder)(root) {
        Folder::Trusted => return,
        Folder::Unsaid { why, remedy } => ("may ask before it runs a project's hooks here", why, remedy),
        Folder::Untrusted { why, remedy } => ("does not run a project's hooks here", why, remedy),
    };
    screen::complain(&format!("warning: {} {what}: {why}", host.title));
    screen::complain(&format!("  help: {remedy}"));
}

/// Who starts the host in a package of a larger repository must not believe that it asks there.
fn note_below(host: &Host, scope: Scope, root: &Path) {
    if host.reads_below(scope, root) == Some(false) {
        screen::complain(&format!(
            "note: {} does not read these settings where it is started in a directory below",
            host.title
        ));
        screen::complain(&format!("  help: {}", host.to_count_below(scope, root)));
    }
}

/// Whether git would add the file; where there is no repository, or no git, it would not.
fn is_tracked_by_git(root: &Path, path: &Path) -> bool {
    let mut git = Command::new("git");
    git.current_dir(root).args(["-c", "core.fsmonitor=false", "check-ignore", "-q", "--no-index"]).arg(path);
    bounded::run(git, "", GIT_MS_MAX).is_ok_and(|answered| answered.code == Some(1))
}
