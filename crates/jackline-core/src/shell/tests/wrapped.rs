//! Commands behind other programs and behind options that hide them.

use super::*;

/// Whether one of the commands is this one, wherever it stands.
#[track_caller]
fn runs(text: &str, pattern: &str) {
    let found = reading(text).commands;
    assert!(found.iter().any(|command| glob_matches(command, pattern)), "{text}: {found:?}");
}

#[test]
fn options_of_gits_own_hide_no_command() {
    for option in [
        "--git-dir x",
        "--git-dir=x",
        "--work-tree x",
        "--work-tree=x",
        "--namespace x",
        "--namespace=x",
        "--super-prefix x",
        "--super-prefix=x",
        "--config-env a=b",
        "--config-env=a=b",
        "--attr-source x",
        "--attr-source=x",
        "--shallow-file x",
        "--shallow-file=x",
        "--exec-path=x",
        "--list-cmds=x",
        "-c a=b",
        "-C x",
    ] {
        runs(&format!("git {option} commit -m x"), "git commit*");
    }
    touches("git --shallow-file x rm a", &["delete a"]);
}
