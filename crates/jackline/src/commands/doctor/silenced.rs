//! Is a variable set, here or in a file that the host reads, with which it would run no hooks, or hooks elsewhere?

use std::fs;
use std::io::Read as _;
use std::path::Path;

use super::report::Report;
use crate::hosts::Host;
use crate::place;

const GROUP: &str = "client";

/// Bytes of a file of variables that are looked through; real ones have a few hundred.
const VARIABLES_BYTES_MAX: u64 = 256 * 1024;

pub(super) fn look(host: &Host, root: &Path, report: &mut Report) {
    let counts = host.silenced_by.iter().filter(|by| by.only_in.is_none_or(|scope| host.is_wired_in(scope, root)));
    for by in counts {
        if place::is_set(by.variable) && place::named_variable(by.variable).is_none_or(|value| by.silences(&value)) {
            let text =
                format!("`{}` is set here, and a client that is started with it runs no hooks of ours", by.variable);
            report.fail(GROUP, text, format!("unset {}", by.variable));
        }
        for file in place::variables(host.name, root).iter().filter(|file| sets(file, by.variable)) {
            let shown = place::shown(file);
            let text = format!("`{shown}` sets `{}`: {} reads it and runs no hooks", by.variable, host.title);
            report.fail(GROUP, text, format!("take `{}` out of `{shown}`", by.variable));
        }
    }
    for file in place::variables(host.name, root) {
        for variable in host.diverted_by.iter().filter(|variable| sets(&file, variable)) {
            let shown = place::shown(&file);
            let text =
                format!("`{shown}` sets `{variable}`: {} hands it on to hooks, which it leads elsewhere", host.title);
            report.fail(GROUP, text, format!("take `{variable}` out of `{shown}`"));
        }
    }
}

/// Whether a file gives a variable a value. One that cannot be read sets nothing for the host either.
fn sets(file: &Path, variable: &str) -> bool {
    // Looked at before it is opened: a pipe that was planted there would be waited for.
    if !fs::metadata(file).is_ok_and(|there| there.is_file()) {
        return false;
    }
    let mut bytes = Vec::new();
    let read = fs::File::open(file).and_then(|file| file.take(VARIABLES_BYTES_MAX).read_to_end(&mut bytes));
    read.is_ok() && String::from_utf8_lossy(&bytes).lines().any(|line| gives(line, variable))
}

fn gives(line: &str, variable: &str) -> bool {
    let line = line.trim_start();
    let line = line.strip_prefix("export").filter(|rest| rest.starts_with(char::is_whitespace)).unwrap_or(line);
    let value = line.trim_start().strip_prefix(variable).map(str::trim_start);
    let value =
        value.and_then(|rest| rest.strip_prefix(['=', ':'])).map(|value| value.trim().trim_matches(['"', '\'']));
    value.is_some_and(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_set_by_a_line_of_its_own() {
        let given = |line| gives(line, "SIMPLE");
        assert!(given("SIMPLE=1") && given("  export SIMPLE = \"true\"") && given("SIMPLE: yes"));
        assert!(!given("# SIMPLE=1") && !given("SIMPLER=1") && !given("SIMPLE=") && !given("X=SIMPLE"));
    }
}
