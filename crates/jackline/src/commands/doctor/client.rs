//! Is the host there, and does a failed hook block in it?

use std::path::Path;

use super::report::Report;
use crate::hosts::{AtFailure, Basis, Host, Version};

const GROUP: &str = "client";

pub(super) fn look(host: &Host, report: &mut Report) {
    match (host.found(), host.program) {
        (Some(program), _) => version(host, &program, report),
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
        AtFailure::Blocks { but, .. } => {
            report.note(GROUP, open(but), "wire our program itself, and no other in its place")
        }
    }
}

fn wanted(host: &Host) -> String {
    match (host.at_failure, host.basis) {
        (AtFailure::Blocks { since, .. }, _) => format!("it must be {since} or newer"),
        (AtFailure::Passes { .. }, Basis::Run(version)) => format!("what is said here was seen with {version}"),
        (AtFailure::Passes { .. }, Basis::Documented) => "any version may behave differently".to_owned(),
    }
}

fn version(host: &Host, program: &Path, report: &mut Report) {
    let shown = program.display();
    match (Version::of(program), host.at_failure) {
        (Err(why), _) => {
            let text = format!("the version of {} ({shown}) cannot be told: {why}", host.title);
            report.warn(GROUP, text, wanted(host));
        }
        (Ok(version), AtFailure::Blocks { since, .. }) if version < since => {
            let text = format!("{} {version} ({shown}) lets a call pass when its hook fails", host.title);
            report.fail(GROUP, text, format!("update it to {since} or newer"));
        }
        (Ok(version), AtFailure::Blocks { .. }) => {
            report.ok(GROUP, format!("{} {version} ({shown}) blocks a call whose hook fails", host.title));
        }
        (Ok(version), AtFailure::Passes { .. }) => match host.basis {
            Basis::Run(run) if host.is_older(version) => {
                let text =
                    format!("{} {version} ({shown}) is older than {run}, and may run no hooks at all", host.title);
                report.warn(GROUP, text, "update it, then try a call that your definition refuses");
            }
            Basis::Run(run) if (version.0, version.1) != (run.0, run.1) => {
                let text = format!("{} {version} ({shown}): what is known of it was seen with {run}", host.title);
                report.note(GROUP, text, "try a call that your definition refuses after an update");
            }
            _ => report.ok(GROUP, format!("{} {version} ({shown})", host.title)),
        },
    }
}
