//! What a change of `completion` loosens. A check may be replaced by one that cannot hold without it.

use super::super::model::{Check, Model};
use super::{Found, fell, rose};

pub(super) fn compare(old: &Model, new: &Model, found: &mut Found) {
    let (Some(old), new) = (&old.completion, &new.completion) else { return };
    let Some(new) = new else { return found.0.push("completion was removed".to_owned()) };
    found.when(!implies(&new.check, &old.check), || "completion asks for less".to_owned());
    // Fewer blocks let an incomplete stop through earlier; more of them keep an agent at work that may spend.
    let (before, after) = (old.blocks_max, new.blocks_max);
    found.when(after < before, || fell("completion.blocks_max", before, after));
    found.when(after > before, || rose("completion.blocks_max", before, after));
    found.when(old.subagents && !new.subagents, || "completion.subagents was switched off".to_owned());
    found.when(new.when > old.when, || format!("completion.when became {}", new.when.name()));
}

/// Whether one check cannot hold without the other. Recursion is bounded by the depth of checks.
fn implies(new: &Check, old: &Check) -> bool {
    let alike = match (new, old) {
        (Check::Files(new), Check::Files(old)) => old.iter().all(|file| new.contains(file)),
        (Check::Command(new), Check::Command(old)) => new.run == old.run && new.timeout_ms <= old.timeout_ms,
        (new, old) => new == old,
    };
    alike
        || match (new, old) {
            (_, Check::All(old)) => old.iter().all(|old| implies(new, old)),
            (Check::Any(new), _) if !new.is_empty() => new.iter().all(|new| implies(new, old)),
            (Check::All(new), _) => new.iter().any(|new| implies(new, old)),
            (_, Check::Any(old)) => old.iter().any(|old| implies(new, old)),
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::super::super::parse;
    use super::super::loosenings;

    #[track_caller]
    fn check(old: &str, new: &str, want: &[&str]) {
        let model = |completion: &str| {
            let line = if completion.is_empty() { String::new() } else { format!("completion: {{{completion}}}\n") };
            parse(&format!("jackline: 1\n{line}"), &[]).unwrap().model
        };
        assert_eq!(loosenings(&model(old), &model(new)), want, "{old} -> {new}");
    }

    #[test]
    fn a_check_that_is_gone_or_weaker_is_looser() {
        const LESS: &[&str] = &["completion asks for less"];
        check("", "files: [a]", &[]);
        check("files: [a]", "", &["completion was removed"]);
        check("files: [a]", "files: [a, b]", &[]);
        check("files: [a, b]", "files: [a]", LESS);
        check("files: [a]", "all: [{files: [a]}, {done: Bash}]", &[]);
        check("all: [{files: [a]}, {done: Bash}]", "all: [{done: Bash}, {files: [a]}]", &[]);
        check("all: [{files: [a]}, {done: Bash}]", "files: [a]", LESS);
        check("any: [{files: [a]}, {done: Bash}]", "files: [a]", &[]);
        check("files: [a]", "any: [{files: [a]}, {done: Bash}]", LESS);
        check("any: [{files: [a]}, {files: [b]}]", "any: [{files: [b]}, {files: [a]}]", &[]);
        check("command: {run: [x], timeout: 2m}", "command: {run: [x], timeout: 1m}", &[]);
        check("command: {run: [x], timeout: 1m}", "command: {run: [x], timeout: 2m}", LESS);
        check("command: {run: [x]}", "command: {run: [y]}", LESS);
    }

    #[test]
    fn the_other_settings_count_too() {
        check("files: [a]", "files: [a], blocks_max: 3", &["completion.blocks_max fell from 6 to 3"]);
        check("files: [a]", "files: [a], blocks_max: 8", &["completion.blocks_max rose from 6 to 8"]);
        check("files: [a], subagents: true", "files: [a]", &["completion.subagents was switched off"]);
        check("files: [a]", "files: [a], when: worked", &["completion.when became worked"]);
        check("files: [a], when: worked", "files: [a], subagents: true", &[]);
    }
}
