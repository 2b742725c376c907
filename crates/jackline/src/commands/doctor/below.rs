//! Does a host that is started in a directory below the project's top read the settings there?

use std::path::Path;

use jackline_runtime::wiring::Scope;

use super::report::Report;
use super::wiring::Wired;
use crate::hosts::Host;

const GROUP: &str = "wiring";

/// Says where settings do not count: here, or wherever somebody may start the host. How many of them count here.
pub(super) fn look(host: &Host, wired: &[Wired], (root, start): (&Path, &Path), report: &mut Report) -> usize {
    let reads = |wired: &Wired| wired.own.is_none_or(|scope| host.reads(scope, root, start) != Some(false));
    let reads_below = |wired: &Wired| wired.own.is_none_or(|scope| host.reads_below(scope, root) != Some(false));
    let (title, counting) = (host.title, wired.iter().filter(|wired| reads(wired)).count());
    for (Wired { shown, .. }, scope) in apart(wired, reads) {
        let text = format!("{shown}: {title} does not read it where it is started in this directory");
        if counting == 0 {
            report.fail(GROUP, format!("{text}, and asks nobody"), host.to_count_below(scope, root));
        } else {
            report.note(GROUP, text, "it counts where the client is started in the project's own directory");
        }
    }
    if start == root && !wired.iter().any(reads_below) {
        for (Wired { shown, .. }, scope) in apart(wired, reads_below) {
            let text =
                format!("{shown}: {title} does not read it where it is started in a directory below, and asks nobody");
            report.note(GROUP, text, host.to_count_below(scope, root));
        }
    }
    counting
}

/// Settings of the project's that do not count.
fn apart(wired: &[Wired], counts: impl Fn(&Wired) -> bool) -> impl Iterator<Item = (&Wired, Scope)> {
    wired.iter().filter(move |wired| !counts(wired)).filter_map(|wired| Some((wired, wired.own?)))
}
