//! What a change of `checks` loosens: how commands that are run for their answer are held.

use super::super::model::{Checks, Confine};
use super::{Found, Model};

pub(super) fn compare(old: &Model, new: &Model, found: &mut Found) {
    let (old, new) = (&old.checks, &new.checks);
    let confined = |checks: &Checks| checks.confine.unwrap_or_default();
    let (before, after) = (confined(old), confined(new));
    found.when(after < before, || format!("checks.confine loosened from {} to {}", before.name(), after.name()));
    // What is not said is left to the others, who may say no.
    found.when(new.network == Some(true) && old.network != Some(true), || "checks.network was switched on".to_owned());
    found.when(old.network == Some(false) && new.network.is_none(), || "checks.network was removed".to_owned());
    found.when(old.confine.is_some_and(|said| said > Confine::Off) && new.confine.is_none(), || {
        "checks.confine was removed".to_owned()
    });
    found.gained("checks.writable", &old.writable, &new.writable);
    found.gained("checks.environment", &old.environment, &new.environment);
    // A token goes there, and what it answers is believed.
    found.when(old.github_api != new.github_api, || "checks.github_api changed".to_owned());
}

/// What a definition says that commands are to be held less by than by default; it counts once it is trusted.
#[must_use]
pub fn held_less(model: &Model) -> Vec<String> {
    let mut found = Found::default();
    compare(&Model::default(), model, &mut found);
    found.0
}

/// What a narrower definition says where a wider one has said something already.
pub(super) fn said(wider: &Model, narrower: &Model) -> Checks {
    let (wide, narrow) = (&wider.checks, &narrower.checks);
    Checks {
        confine: wide.confine.map(|said| narrow.confine.unwrap_or(said)),
        network: wide.network.map(|said| narrow.network.unwrap_or(said)),
        ..wide.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::parse;
    use super::super::{attempts, loosenings};

    #[track_caller]
    fn check(old: &str, new: &str, want: &[&str]) {
        let model = |checks: &str| parse(&format!("jackline: 1\nchecks: {{{checks}}}"), &[]).unwrap().model;
        assert_eq!(loosenings(&model(old), &model(new)), want, "{old} -> {new}");
    }

    #[test]
    fn less_confinement_more_network_and_more_places_are_looser() {
        check("", "", &[]);
        check("", "confine: off", &["checks.confine loosened from auto to off"]);
        check("confine: require", "confine: auto", &["checks.confine loosened from require to auto"]);
        check("confine: auto", "", &["checks.confine was removed"]);
        check("confine: off", "confine: require, network: false", &[]);
        check("", "network: true", &["checks.network was switched on"]);
        check("network: false", "", &["checks.network was removed"]);
        check("writable: [a]", "writable: [b]", &["checks.writable gained \"b\""]);
        check("", "environment: [KEY]", &["checks.environment gained \"KEY\""]);
        check("writable: [a], environment: [KEY]", "", &[]);
        check("", "github_api: \"http://x\"", &["checks.github_api changed"]);
    }

    #[test]
    fn what_a_wider_definition_said_is_not_unsaid() {
        let model = |checks: &str| parse(&format!("jackline: 1\nchecks: {{{checks}}}"), &[]).unwrap().model;
        let tried = attempts(&model("confine: require, network: false"), &model("confine: off, network: true"));
        assert_eq!(tried, ["checks.confine loosened from require to off", "checks.network was switched on"]);
        assert!(attempts(&model(""), &model("confine: off, network: true")).is_empty());
        assert!(attempts(&model("confine: auto"), &model("confine: require")).is_empty());
    }
}
