//! The examples that the rules show: the good one keeps the rule, the bad one breaks it.

use jackline_workflow::rules::Example;
use jackline_workflow::{Finding, Level, RULES, Report, load, starter, validate};

use crate::{case, report};

fn shown(example: &Example) -> Report {
    let mut files = case::base();
    case::lay(&mut files, example.file, example.text);
    report(&files)
}

#[test]
fn good_examples_are_valid_and_bad_ones_break_their_rule() {
    for rule in RULES {
        let good = shown(&rule.good).findings;
        assert!(good.is_empty(), "{}: {good:#?}", rule.id);
        let bad = shown(&rule.bad).findings;
        assert!(
            bad.iter().any(|finding| finding.rule == rule.id && finding.level == rule.level),
            "{}: {bad:#?}",
            rule.id
        );
        // An agent that makes tools needs the manifest's consent, which an example of one file cannot show.
        let own = |finding: &Finding| finding.rule == rule.id || (rule.id, finding.rule) == ("R25", "R26");
        assert!(bad.iter().all(own), "{}: {bad:#?}", rule.id);
    }
}

#[test]
fn the_table_is_complete_and_in_order() {
    let ids: Vec<String> = RULES.iter().map(|rule| rule.id.to_owned()).collect();
    let want: Vec<String> =
        std::iter::once("load".to_owned()).chain((1..=32).map(|number| format!("R{number}"))).collect();
    assert_eq!(ids, want);
    let warnings: Vec<&str> = RULES.iter().filter(|rule| rule.level == Level::Warning).map(|rule| rule.id).collect();
    assert_eq!(warnings, ["R3", "R4"]);
    for rule in RULES {
        assert!(!rule.summary.ends_with('.') && rule.text.ends_with('.'), "{}", rule.id);
    }
}

#[test]
fn what_new_writes_is_valid() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let files = starter::files("first-steps").into_iter().map(|(path, text)| (path.to_owned(), text)).collect();
    case::write(place.path(), &files);
    let flow = load(place.path()).expect("a workflow");
    assert_eq!(validate(&flow).findings, []);
    assert!(files["workflow.awp.yaml"].contains("name: first-steps"));
}
