//! What becomes of answers that are judged, and of judges that do not.

use std::time::Duration;

use serde_json::json;

use super::*;
use crate::ask::Unanswered;
use crate::ask::tests::Scripted;
use crate::respondent::Respondent;

fn settings() -> Settings {
    Settings { judge: Respondent::Agent("judge".to_owned()), skip_above: 0.95, timeout: Duration::from_secs(5) }
}

#[track_caller]
fn check(output: &Value, says: Result<Value, Unanswered>, want: &Verdict) -> Judged {
    let asked = Scripted::new([says]);
    let work = Work { agent: "writer", task: "write", instructions: "a poem", output, contract: None };
    let judged = judge(&settings(), &asked, &work, Instant::now() + Duration::from_secs(60));
    assert_eq!(&judged.verdict, want, "{output}");
    let nobody = matches!(want, Verdict::Skipped(_));
    assert_eq!(asked.asked().len(), usize::from(!nobody), "{output}");
    judged
}

#[test]
fn verdicts_are_the_judges() {
    let accepted = Verdict::Accepted { reason: "fine".to_owned() };
    let judged = check(&json!({}), Ok(json!({"accepted": true, "reason": " fine\n"})), &accepted);
    assert!(judged.accepted() && judged.objection().is_none());

    let rejected = Verdict::Rejected { reason: "no poem".to_owned(), findings: vec!["it is prose".to_owned()] };
    let says = json!({"accepted": false, "reason": "no poem", "findings": ["it is prose", 7]});
    let judged = check(&json!({"confidence": 0.9}), Ok(says), &rejected);
    assert!(!judged.accepted());
    assert_eq!(judged.objection().unwrap(), "the judge rejects it: no poem (it is prose)");
    let event = judged.event("writer");
    assert_eq!((&event["verdict"], &event["triggered"]), (&json!("rejected"), &json!(true)));
}

#[test]
fn who_is_sure_enough_is_believed() {
    check(&json!({"confidence": 0.96}), Ok(json!({})), &Verdict::Skipped(0.96));
    for confidence in [json!(0.95), json!(0.1), json!("1"), json!(2), json!(-1), json!(null)] {
        let accepted = Verdict::Accepted { reason: String::new() };
        check(&json!({ "confidence": confidence }), Ok(json!({"accepted": true})), &accepted);
    }
}

#[test]
fn a_judge_that_gives_no_verdict_does_not_accept() {
    let late = Unanswered::late("it did not answer in time");
    let judged = check(&json!({}), Err(late), &Verdict::Unjudged("it did not answer in time".to_owned()));
    assert_eq!(judged.objection().unwrap(), "it could not be judged: it did not answer in time");
    let nothing = Verdict::Unjudged("the judge's answer has no `accepted` that is true or false".to_owned());
    for says in [json!({}), json!({"accepted": "yes"}), json!({"accepted": 1}), json!([true])] {
        assert!(!check(&json!({}), Ok(says), &nothing).accepted());
    }
}

#[test]
fn what_a_judge_says_is_kept_short() {
    let says = json!({"accepted": false, "reason": "x".repeat(9_000), "findings": vec!["\u{202e}y\nz"; 90]});
    let work = Work { agent: "a", task: "", instructions: "", output: &json!({}), contract: None };
    let judged = judge(&settings(), &Scripted::new([Ok(says)]), &work, Instant::now() + Duration::from_secs(60));
    let Verdict::Rejected { reason, findings } = judged.verdict else { panic!("rejected") };
    assert_eq!((reason.chars().count(), findings.len()), (REASON_CHARS_MAX + 1, FINDINGS_MAX));
    assert_eq!(findings[0], "\\u{202e}y z");
}

#[test]
fn settings_name_a_judge_or_nobody() {
    let read = |section: Value| Settings::read(&section);
    assert_eq!(read(json!({})), Ok(None));
    assert_eq!(read(json!({"enabled": true})), Ok(None));
    assert_eq!(read(json!({"enabled": false, "judge": "critic"})), Ok(None));
    let read_one = read(json!({"judge": "critic", "skip_when_confidence_above": 1, "timeout": 2.5})).unwrap().unwrap();
    assert_eq!((read_one.skip_above, read_one.timeout), (1.0, Duration::from_millis(2500)));
    assert_eq!(read(json!({"judge": "c", "skip_when_confidence_above": 1.5})), Err(Unusable::Threshold));
    for timeout in [json!(0), json!(-1), json!(1e9)] {
        assert_eq!(read(json!({"judge": "c", "timeout": timeout})), Err(Unusable::Timeout));
    }
    assert!(matches!(read(json!({"judge": 1})), Err(Unusable::Unnamed(_))));
    assert!(matches!(read(json!({"judge": "c", "enabled": "yes"})), Err(Unusable::Shape(_))));
}
