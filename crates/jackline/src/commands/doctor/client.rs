//! Is the host there, and does a failed hook block in it?

use super::report::Report;
use crate::hosts::Host;
use crate::hosts::claude::{self, Version};
use crate::place;

const GROUP: &str = "client";

pub(super) fn look(host: Host, report: &mut Report) {
    if place::claude_is_simple() {
        let text = "`CLAUDE_CODE_SIMPLE` is set here, and a client that is started with it runs no hooks";
        report.fail(GROUP, text, "unset CLAUDE_CODE_SIMPLE");
    }
    let Some(program) = host.program() else {
        let text = format!("{}: `{}` is not on PATH, so its version is not known", host.title(), host.name());
        return report.warn(GROUP, text, format!("it must be {} or newer", Version::needed()));
    };
    let shown = program.display();
    match claude::version(&program) {
        Ok(version) if version.honours_on_failure() => {
            report.ok(GROUP, format!("{} {version} ({shown}) blocks a call whose hook fails", host.title()));
        }
        Ok(version) => {
            let text = format!("{} {version} ({shown}) lets a call pass when its hook fails", host.title());
            report.fail(GROUP, text, format!("update it to {} or newer", Version::needed()));
        }
        Err(why) => {
            let text = format!("the version of {} ({shown}) cannot be told: {why}", host.title());
            report.warn(GROUP, text, format!("it must be {} or newer", Version::needed()));
        }
    }
}
