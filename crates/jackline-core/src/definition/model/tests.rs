//! The model is kept compiled, and its spellings read back.

use super::*;
use crate::time::Timestamp;

#[test]
fn a_model_survives_postcard() {
    let mut model = Model { policies: vec![every_matcher_key()], ..Model::default() };
    model.limits.deadline = Some(Deadline::At(Timestamp(1)));
    model.reads = Some(Bounds::default());
    model.steps.push(Step::new("s", Matcher { tool: vec!["a".into()], ..Matcher::default() }, 3));
    model.tools.declare.insert("x".into(), Declaration { kind: Some(Kind::List), line: 1, ..Declaration::default() });
    let bytes = postcard::to_stdvec(&model).unwrap();
    assert_eq!(postcard::from_bytes::<Model>(&bytes).unwrap(), model);
}

fn every_matcher_key() -> Policy {
    let range = Some(Range { gt: Some(1.5), lt: None });
    let matcher = Matcher {
        tool: vec!["@shell".into()],
        command: Some(CommandMatcher::Parts(CommandParts::default())),
        args: vec![
            ("a.b".into(), ArgMatcher::Compare { gt: None, lt: Some(2.0) }),
            ("c".into(), ArgMatcher::In(vec!["1".into()])),
        ],
        session: Some(SessionMatcher { calls: range, ..SessionMatcher::default() }),
        not: Some(Box::new(Matcher { any: vec![Matcher::default()], ..Matcher::default() })),
        ..Matcher::default()
    };
    let rule = Rule { matcher: matcher.clone(), ..Rule::default() };
    Policy {
        name: "p".into(),
        enforce: Enforce::Warn,
        when: Some(Box::new(matcher)),
        on_fault: OnFault::Allow,
        guard: Guard::Rule(rule.into()),
        line: 9,
    }
}

#[test]
fn a_step_key_depends_on_name_and_matcher() {
    let tool = |name: &str| Matcher { tool: vec![name.into()], ..Matcher::default() };
    let step = Step::new("test", tool("a"), 1);
    assert_eq!(step.key, Step::new("test", tool("a"), 2).key);
    assert_ne!(step.key, Step::new("test", tool("b"), 1).key);
    assert_ne!(step.key, Step::new("tests", tool("a"), 1).key);
}

#[test]
fn spellings_read_back() {
    assert!(Kind::ALL.iter().all(|kind| Kind::parse(kind.name()) == Some(*kind)));
    assert_eq!(Kind::parse("Read"), None);
    assert_eq!(Mode::parse(Mode::default().name()), Some(Mode::Enforce));
}
