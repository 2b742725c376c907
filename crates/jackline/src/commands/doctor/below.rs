//! Does a host that is started in a directory below the project's top read the settings there?

use std::path::Path;

use jackline_runtime::wiring::Scope;

use super::report::Report;
use crate::hosts::Host;

const GROUP: &str = "wiring";

/// Says where these settings do not count: here, or wherever somebody may start the host.
pub(super) fn look((host, scope): (&Host, Scope), (root, start): (&Path, &Path), shown: &str, report: &mut Report) {
    if host.reads_below(scope, root) != Some(false) {
        return;
    }
    let (title, remedy) = (host.title, host.to_count_below(scope, root));
    if start == root {
        let text =
            format!("{shown}: {title} does not read it where it is started in a directory below, and asks nobody");
        report.note(GROUP, text, remedy);
    } else if start.starts_with(root) {
        let text = format!("{shown}: {title} does not read it where it is started in this directory, and asks nobody");
        report.fail(GROUP, text, remedy);
    }
}
