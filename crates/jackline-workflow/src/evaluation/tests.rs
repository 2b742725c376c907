//! What metrics find, what they add up to, and what that leads to.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::*;
use crate::ask::Unanswered;
use crate::ask::tests::Scripted;
use crate::respondent::Respondent;

fn settings(metrics: Value) -> Settings {
    Settings::read(&json!({"enabled": true, "metrics": metrics})).unwrap().unwrap()
}

fn names() -> Value {
    json!({
        "task": "write", "result": {"text": "fine", "n": 3}, "state": {}, "violations": 0,
        "budget": {"tokens": {"used": 30, "limit": 100}, "loops": {"used": 1, "limit": 2}, "free": {"used": 9, "limit": 0}},
    })
}

fn referees<'a>(judge: Option<&'a dyn crate::ask::Ask>) -> Referees<'a> {
    let test = &|command: &[String], _: &Value, _: Instant| match command.first().map(String::as_str) {
        Some("true") => Ok(true),
        Some("false") => Ok(false),
        _ => Err("it cannot be started".to_owned()),
    };
    Referees { judge, test, until: Instant::now() + Duration::from_secs(60) }
}

fn one(kind: &str, params: Value, names: &Value) -> Score {
    settings(json!([{"name": "m", "kind": kind, "params": params}])).score(names, referees(None))
}

#[track_caller]
fn check(kind: &str, params: Value, want: Result<f64, &str>) {
    let score = one(kind, params.clone(), &names());
    assert_eq!(score.metrics[0].score.as_ref().map(|score| *score).map_err(String::as_str), want, "{kind} {params}");
    assert_eq!(score.total, want.ok(), "{kind} {params}");
}

#[test]
fn each_kind_scores_in_its_way() {
    check("deterministic", json!({"expr": "result.n == 3"}), Ok(1.0));
    check("deterministic_test", json!({"expression": "result.n > 3"}), Ok(0.0));
    check(
        "deterministic_assertion",
        json!({"assertions": ["result.n > 0", "result.n > 9", "task == 'write'", "1"]}),
        Ok(0.75),
    );
    check("deterministic", json!({"command": ["true"]}), Ok(1.0));
    check("deterministic", json!({"command": ["false"]}), Ok(0.0));
    check("deterministic", json!({"command": ["gone"]}), Err("it cannot be started"));
    let schema = json!({"type": "object", "required": ["text"]});
    check("schema", json!({ "schema": schema }), Ok(1.0));
    check("schema", json!({"schema": {"type": "string"}}), Ok(0.0));
    check("schema", json!({"schema": {"type": "string"}, "of": "result.text"}), Ok(1.0));
    check("budget", json!({}), Ok(0.5));
    check("budget_utility", json!({"of": ["tokens"]}), Ok(0.7));
    check("budget", json!({"of": ["free"]}), Err("no budget that it looks at has a limit"));
    check("policy", json!({}), Ok(1.0));
    check("policy_score", json!({"rules": ["result.n < 9", "result.secret == null"]}), Ok(1.0));
    check("llm_rubric", json!({"rubric": "is it fine?"}), Err("no judge is configured under `rubric_judge`"));
}

#[test]
fn what_cannot_be_told_does_not_hold() {
    let score = one("deterministic", json!({"expr": ["misspelt", "result.text > 1"]}), &names());
    assert_eq!(score.total, Some(0.0));
    assert!(
        score.findings()[0].contains("`misspelt` cannot be told: there is no `misspelt`"),
        "{:?}",
        score.findings()
    );
}

#[test]
fn violations_cost_the_whole_policy() {
    let mut names = names();
    names["violations"] = json!(2);
    let score = one("policy", json!({}), &names);
    assert_eq!(
        (score.total, score.findings()),
        (Some(0.0), vec!["`m` is 0.00: 2 violations of the workflow's rules".to_owned()])
    );
    names.as_object_mut().unwrap().remove("violations");
    assert_eq!(one("policy", json!({}), &names).total, None);
}

#[test]
fn rubrics_are_judged_and_judges_may_fail() {
    let rubric = settings(json!([{"name": "m", "kind": "llm_rubric", "params": {"criteria": ["clear", "true"]}}]));
    let judge = Scripted::new([Ok(json!({"score": 0.7, "reason": "mostly"}))]);
    let score = rubric.score(&names(), referees(Some(&judge)));
    assert_eq!((score.total, score.usage.requests), (Some(0.7), 1));
    assert_eq!(judge.asked()[0].1["rubric"], "clear\ntrue");
    for says in [Ok(json!({"score": 7})), Ok(json!({})), Err(Unanswered::new("down"))] {
        let score = rubric.score(&names(), referees(Some(&Scripted::new([says]))));
        assert_eq!(score.total, None);
    }
}

#[test]
fn weights_count_and_what_has_no_score_is_nothing() {
    let metrics = json!([
        {"name": "a", "kind": "deterministic", "weight": 3, "params": {"expr": "true"}},
        {"name": "b", "kind": "deterministic", "weight": 1, "params": {"expr": "false"}},
        {"name": "c", "kind": "deterministic", "weight": 0, "params": {"expr": "false"}},
    ]);
    assert_eq!(settings(metrics).score(&names(), referees(None)).total, Some(0.75));
    let half = json!([
        {"name": "a", "kind": "deterministic", "params": {"expr": "true"}},
        {"name": "b", "kind": "llm_rubric", "params": {"rubric": "x"}},
    ]);
    let score = settings(half).score(&names(), referees(None));
    assert_eq!(score.total, Some(0.5));
    assert_eq!(score.findings(), ["`b` has no score: no judge is configured under `rubric_judge`"]);
    assert_eq!(score.to_json()["metrics"][1]["score"], Value::Null);
    assert_eq!(settings(json!([])).score(&names(), referees(None)).total, None);
}

#[test]
fn every_part_that_is_named_must_fit() {
    let fits = |of: Value| {
        let metric = json!([{"kind": "schema", "params": {"schema": {"type": "number"}, "of": of}}]);
        settings(metric).score(&json!({"result": {}, "a": 1, "b": "x"}), referees(None)).total
    };
    assert_eq!((fits(json!("a")), fits(json!(["a"])), fits(json!(["a", "b"]))), (Some(1.0), Some(1.0), Some(0.0)));
}

#[test]
fn the_budgets_of_a_loop_count_too() {
    let left = |params: Value| {
        let metric = json!([{"kind": "budget", "params": params}]);
        let meter = |used: f64, limit: Value| json!({"used": used, "limit": limit});
        let budget = json!({"tokens": meter(900.0, Value::Null), "loop_tokens": meter(900.0, json!(1000)), "loops": meter(3.0, json!(3))});
        settings(metric).score(&json!({ "budget": budget }), referees(None)).total
    };
    assert!((left(json!({"of": ["tokens"]})).unwrap() - 0.1).abs() < 1e-9);
    assert_eq!(left(json!({})), Some(0.0), "no turn is left");
}

#[test]
fn the_mean_of_equal_scores_is_their_score() {
    let three = (0.7 + 0.7 + 0.7) / 3.0;
    let read = json!({"enabled": true, "thresholds": {"accept": 0.7, "retry": 0.7}, "retry_policy": {"enabled": true}});
    assert_eq!(Settings::read(&read).unwrap().unwrap().act(Some(three), 0), Act::Accept);
}

#[test]
fn metrics_that_cannot_be_used_are_refused() {
    let refused = |metric: Value| {
        Settings::read(&json!({"enabled": true, "metrics": [metric]})).map(|_| ()).unwrap_err().to_string()
    };
    for (kind, params, want) in [
        ("vibes", json!({}), "`vibes` is no kind of metric"),
        ("deterministic", json!({}), "it has neither `params.expr` nor `params.command`"),
        (
            "deterministic",
            json!({"expr": "true", "command": ["false"]}),
            "it has both `params.expr` and `params.command`; make two metrics of it",
        ),
        ("deterministic", json!({"expr": []}), "its `params.expr` must be 1 to 100 expressions"),
        ("deterministic", json!({"expr": "a b"}), "its expression `a b` cannot be read: "),
        ("schema", json!({}), "it has no `params.schema`"),
        ("schema", json!({"schema": {"type": "nope"}}), "its `params.schema` cannot be used: "),
        ("llm_rubric", json!({}), "it has no `params.rubric`"),
        ("budget", json!({"of": 1}), "its `params.of` must be texts"),
    ] {
        let why = refused(json!({"name": "m", "kind": kind, "params": params}));
        assert!(why.starts_with(&format!("the metric `m` cannot be used: {want}")), "{why}");
    }
    assert!(
        refused(json!({"kind": "policy", "weight": -1}))
            .starts_with("the metric `metric_1` cannot be used: its `weight`")
    );
}

#[test]
fn low_scores_lead_to_what_the_policy_says() {
    let read = |policy: Value| Settings::read(&json!({"enabled": true, "retry_policy": policy})).unwrap().unwrap();
    let lenient = read(json!({}));
    for (score, want) in [
        (Some(0.85), Act::Accept),
        (Some(0.65), Act::AcceptWithWarning),
        (Some(0.1), Act::AcceptWithWarning),
        (None, Act::AcceptWithWarning),
    ] {
        assert_eq!(lenient.act(score, 0), want, "{score:?}");
    }
    let strict = read(json!({"enabled": true, "max_repairs": 1}));
    for (score, repairs, want) in [
        (Some(0.9), 9, Act::Accept),
        (Some(0.5), 0, Act::RetryWithRepair),
        (Some(0.5), 1, Act::FailWorkflow),
        (Some(0.3), 0, Act::FailWorkflow),
        (None, 0, Act::FailWorkflow),
    ] {
        assert_eq!(strict.act(score, repairs), want, "{score:?} {repairs}");
    }
    let going_on = read(
        json!({"enabled": true, "actions": {"below_retry": "accept_with_warning", "below_fail": "retry_with_repair"}}),
    );
    assert_eq!(
        (going_on.act(Some(0.5), 9), going_on.act(Some(0.1), 0)),
        (Act::AcceptWithWarning, Act::RetryWithRepair)
    );
}

#[test]
fn a_policy_never_lowers_what_a_run_must_reach() {
    let read = |policy: Value| Settings::read(&json!({"enabled": true, "retry_policy": policy})).unwrap().unwrap();
    for policy in [
        json!({}),
        json!({"enabled": true}),
        json!({"enabled": true, "actions": {"below_retry": "accept_with_warning", "below_fail": "accept_with_warning"}}),
        json!({"enabled": true, "actions": {"below_retry": "fail_workflow", "below_fail": "retry_with_repair"}}),
    ] {
        for repairs in 0..4 {
            let thresholds = read(policy.clone()).gate_thresholds(repairs);
            assert_eq!((thresholds.accept, thresholds.retry), (0.85, 0.65), "{policy}");
            assert!(thresholds.fail <= thresholds.retry);
        }
    }
    assert_eq!(read(json!({"enabled": true, "max_repairs": 1})).gate_thresholds(1).fail, 0.65);
    assert_eq!(read(json!({"enabled": true})).gate_thresholds(0).fail, 0.4);
}

#[test]
fn settings_are_read() {
    assert!(Settings::read(&json!({"metrics": [{"kind": "vibes"}]})).unwrap().is_none());
    let judge =
        |judge: Value| Settings::read(&json!({"enabled": true, "rubric_judge": judge})).map(|it| it.unwrap().judge);
    assert_eq!(judge(json!("reviewer")), Ok(Some(Respondent::Agent("reviewer".to_owned()))));
    assert_eq!(
        judge(json!({"model": "reviewer", "temperature": 0})),
        Ok(Some(Respondent::Agent("reviewer".to_owned())))
    );
    assert_eq!(judge(json!({"command": ["judge"]})), Ok(Some(Respondent::Command(vec!["judge".to_owned()]))));
    assert_eq!(judge(json!({"temperature": 0})), Ok(None));
    let command = Respondent::Command(vec!["judge".to_owned()]);
    assert_eq!(judge(json!({"command": ["judge"], "temperature": 0})), Ok(Some(command)));
    let model = json!({"provider": "openai", "name": "m", "temperature": 0});
    let Ok(Some(Respondent::Model(model))) = judge(model) else { panic!("a model is named") };
    assert_eq!((&model["name"], &model["parameters"]), (&json!("m"), &json!({"temperature": 0})));
    assert!(judge(json!(7)).is_err());
    let hooks = Settings::read(&json!({"enabled": true, "step_scores": {"enabled": false}})).unwrap().unwrap();
    assert!(!hooks.scores_at(Hook::WorkerResult));
    assert!(settings(json!([])).scores_at(Hook::FinalAnswer));
}
