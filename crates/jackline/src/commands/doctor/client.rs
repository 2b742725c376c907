//! Is the host there, and does a failed hook block in it?

use std::path::Path;

use super::report::Report;
use crate::hosts::{AtFailure, Basis, Host, Oldest, Version};

const GROUP: &str = "client";

pub(super) fn look(host: &Host, root: &Path, report: &mut Report) {
    match (host.found(), host.program) {
        (Some(program), _) => version(host, &program, root, report),
        (None, Some(name)) => {
            let text = format!("{}: `{name}` is not on PATH, so its version is not known", host.title);
            report.warn(GROUP, text, wanted(host));
        }
        (None, None) => {}
    }
    if host.basis == Basis::Documented {
        let text = format!("{}: what is known of it is from its documentation; it was never run with us", host.title);
        report.warn(GROUP, text, "try a call that your definition refuses before you rely on it");
    }
    let open = |when: &str| format!("{} fails open: a call passes when {when}", host.title);
    match host.at_failure {
        AtFailure::Passes { when, remedy } => report.warn(GROUP, open(when), remedy),
        AtFailure::Blocks { but } => {
            report.note(GROUP, open(but), "wire our program itself, and no other in its place")
        }
    }
}

fn wanted(host: &Host) -> String {
    match host.basis {
        Basis::Run { oldest: Some(Oldest { version, .. }), .. } => format!("it must be {version} or newer"),
        Basis::Run { seen, oldest: None } => format!("what is said here was seen with {seen}"),
        Basis::Documented => "any version may behave differently".to_owned(),
    }
}

fn version(host: &Host, program: &Path, root: &Path, report: &mut Report) {
    let version = match Version::of(program) {
        Ok(version) => version,
        Err(why) => {
            let text = format!("the version of {} ({}) cannot be told: {why}", host.title, program.display());
            return report.warn(GROUP, text, wanted(host));
        }
    };
    let shown = format!("{} {version} ({})", host.title, program.display());
    if let Some(oldest) = host.basis.too_old(version) {
        let text = format!("{shown} is too old: versions before {} {}", oldest.version, oldest.before);
        let remedy = format!("update it to {} or newer", oldest.version);
        // One that does not ask us is not guarded anyway, which is said of its wiring.
        return if host.asks_here(root) { report.fail(GROUP, text, remedy) } else { report.warn(GROUP, text, remedy) };
    }
    match (host.at_failure, host.basis) {
        (AtFailure::Blocks { .. }, _) => report.ok(GROUP, format!("{shown} blocks a call whose hook fails")),
        (AtFailure::Passes { .. }, Basis::Run { seen, .. }) if version < seen => {
            let less = host.basis.oldest().map_or("may run no hooks at all", |_| "may do less than what is said here");
            let text = format!("{shown} is older than {seen}, and {less}");
            report.warn(GROUP, text, "update it, or try a call that your definition refuses");
        }
        (AtFailure::Passes { .. }, Basis::Run { seen, .. }) if (version.0, version.1) != (seen.0, seen.1) => {
            let text = format!("{shown}: what is known of it was seen with {seen}");
            report.note(GROUP, text, "try a call that your definition refuses after an update");
        }
        (AtFailure::Passes { .. }, _) => report.ok(GROUP, shown),
    }
}
