//! What a definition may say about feedback, and what it may not.

use super::super::model::{Advice, Model, Severity, Trigger};
use super::super::{DefinitionBuilder, loosenings, parse};
use super::*;

fn model(feedback: &str) -> Model {
    let text = format!("jackline: 1\nlimits: {{deadline: 1h}}\nfeedback:\n{feedback}\n");
    parse(&text, &[]).unwrap_or_else(|faults| panic!("{text}: {faults:#?}")).model
}

#[test]
fn a_provider_is_read_with_all_it_says() {
    let read = model(
        "- {name: Coach, static: Slow down., severity: caution, suggestions: [breathe], every_n_calls: 3}\n\
         - {deadline: {warning_threshold_seconds: 0.5}, every_n_seconds: 1.5}\n\
         - {deadline: {}, on_file_created: a/b}",
    );
    let [coach, soon, plain] = read.feedback.as_slice() else { panic!("{read:?}") };
    assert_eq!(coach.advice, Advice::Fixed("Slow down.".into()));
    assert_eq!((coach.severity, coach.signature()), (Severity::Caution, "Coach"));
    assert_eq!(
        (coach.suggestions.as_slice(), coach.trigger.every_n_calls),
        (["breathe".to_owned()].as_slice(), Some(3))
    );
    assert_eq!((soon.advice.clone(), soon.signature()), (Advice::Deadline { warning_threshold_ms: 500 }, "Deadline"));
    assert_eq!(soon.trigger, Trigger::every_n_seconds(1.5));
    assert_eq!(plain.advice, Advice::Deadline { warning_threshold_ms: 120_000 });
    assert_eq!(plain.trigger, Trigger::on_file_created("a/b"));
}

#[test]
fn each_provider_is_remembered_by_its_name_or_by_its_place_and_content() {
    let keys = |text: &str| model(text).feedback.iter().map(|provider| provider.key).collect::<Vec<_>>();
    let (twice, once) = (
        keys("- {static: x, every_n_calls: 2}\n- {static: x, every_n_calls: 2}"),
        keys("- {static: x, every_n_calls: 2}"),
    );
    assert_ne!(twice[0], twice[1], "two of a kind");
    assert_eq!(twice[0], once[0], "the same at the same place");
    assert_ne!(keys("- {static: y, every_n_calls: 2}"), once, "another text");
    assert_eq!(keys("- {name: n, static: y, every_n_calls: 2}"), keys("- {name: n, static: z, every_n_calls: 9}"));
    let built = DefinitionBuilder::new().feedback(Provider::new(Advice::Fixed("x".into()), Trigger::every_n_calls(2)));
    assert_eq!(built.build().unwrap().feedback[0].key, once[0], "built in code or read from a file");
}

#[track_caller]
fn check(provider: &str, line: u32, want: &str) {
    let text = format!(
        "jackline: 1\nlimits: {{deadline: 1h}}\nfeedback:\n- static: first\n  every_n_calls: 1\n- {provider}\n"
    );
    let faults = parse(&text, &[]).unwrap_err();
    let found: Vec<&str> = faults.iter().map(|fault| fault.message.as_str()).collect();
    assert_eq!(found, [want], "{text}");
    assert_eq!(faults[0].span.map(|span| span.line), Some(line), "{text}");
}

#[test]
fn faults_are_told_with_their_place() {
    check("static: x", 6, "feedback \"Static\": nothing makes it speak");
    check("static: x\n  every_n_calls: 0", 7, "`every_n_calls` must be at least 1, found 0");
    check("static: x\n  every_n_calls: -3", 7, "`every_n_calls` must be at least 1, found -3");
    check("static: x\n  every_n_seconds: 0", 7, "`every_n_seconds` must be greater than 0, found 0");
    check(
        "name: a\n  static: x\n  every_n_calls: 1\n- name: a\n  static: y\n  every_n_calls: 1",
        9,
        "feedback \"a\": the name is used twice",
    );
    check(
        "deadline: {}\n  severity: warning\n  every_n_calls: 1",
        7,
        "feedback \"Deadline\": `severity` does not go with `deadline`, which has its own",
    );
    let long = "x".repeat(SUMMARY_BYTES_MAX + 1);
    check(&format!("every_n_calls: 1\n  static: {long}"), 7, "feedback \"Static\": `static` is longer than 4096 bytes");
    let texts = ["x"; SUGGESTIONS_MAX + 1].join(", ");
    check(
        &format!("static: x\n  every_n_calls: 1\n  suggestions: [{texts}]"),
        8,
        "feedback \"Static\": there are more than 8 suggestions",
    );
}

#[test]
fn too_many_providers_are_refused() {
    let many = "- {static: x, every_n_calls: 1}\n".repeat(PROVIDERS_MAX + 1);
    let faults = parse(&format!("jackline: 1\nfeedback:\n{many}"), &[]).unwrap_err();
    assert_eq!(faults[0].message, "more than 32 providers give feedback");
}

#[track_caller]
fn check_warned(text: &str, want: &str) {
    let parsed = parse(text, &[]).unwrap();
    let found: Vec<&str> = parsed.warnings.iter().map(|fault| fault.message.as_str()).collect();
    assert_eq!(found, [want], "{text}");
}

#[test]
fn what_never_speaks_is_warned_of() {
    check_warned(
        "jackline: 1\nfeedback: [{deadline: {}, every_n_calls: 1}]",
        "feedback \"Deadline\": it never speaks: this definition has no `limits.deadline`",
    );
    check_warned(
        "jackline: 1\nfeedback: [{static: x, on_file_created: '*.md'}]",
        "feedback \"Static\": `*.md` is taken as one file's name, not as a pattern",
    );
}

#[test]
fn what_is_built_in_code_is_held_to_the_same() {
    let wrong = [
        Provider::new(Advice::Fixed("x".into()), Trigger::default()),
        Provider::new(Advice::Fixed("x".into()), Trigger::every_n_calls(0)),
        Provider::new(Advice::Fixed("x".into()), Trigger::every_n_seconds(-1.0)),
        Provider::new(Advice::Fixed("x".into()), Trigger::on_file_created("")),
        Provider::new(Advice::Fixed(" ".into()), Trigger::every_n_calls(1)),
        Provider::new(Advice::Command(Vec::new()), Trigger::every_n_calls(1)),
    ];
    for provider in wrong {
        assert!(DefinitionBuilder::new().feedback(provider.clone()).build().is_err(), "{provider:?}");
    }
}

/// Feedback alters no verdict, so no change of it waits for trust. Commands wait by themselves.
#[test]
fn no_change_of_feedback_loosens() {
    let (some, none) = (model("- {static: x, every_n_calls: 1}"), model("  []"));
    assert_eq!(loosenings(&some, &none), [""; 0]);
    assert_eq!(loosenings(&none, &some), [""; 0]);
}
