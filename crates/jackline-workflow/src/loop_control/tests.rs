//! Scripted managers for every transition, and what holds for any sequence of decisions.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::gates::{Facts, Run, State, judge};

/// What the gates say of a run whose deliverable is in some state.
fn judgement(run: &Value, facts: &Facts) -> Judgement {
    judge(&Run::read(run.to_string().as_bytes()).unwrap(), facts)
}

/// A COMPLETE without its report: a defect with a path.
fn missing() -> Judgement {
    let run = json!({"plan": {"subtasks": [{"required_outputs": ["report.md"]}]}});
    judgement(&run, &Facts { declared: vec![("report.md".to_owned(), State::Absent)], ..Facts::default() })
}

/// A COMPLETE with a placeholder in its result.
fn placeholder() -> Judgement {
    judgement(&json!({"final_result": {"summary": "TODO"}}), &Facts::default())
}

/// A COMPLETE that critics find weak: nothing says what to repair.
fn weak() -> Judgement {
    judgement(&json!({"critique": {"enabled": true, "scores": [0.1]}}), &Facts::default())
}

fn evaluated(score: f64) -> Judgement {
    judgement(&json!({"evaluation": {"enabled": true, "score": score}}), &Facts::default())
}

fn fine() -> Judgement {
    judgement(&json!({}), &Facts::default())
}

fn plan(ids: &[(&str, &str)]) -> Value {
    let subtasks: Vec<Value> = ids.iter().map(|(id, status)| json!({"id": id, "status": status})).collect();
    json!({"decision": "PLAN", "subtasks": subtasks})
}

fn delegate(subtask: &str) -> Value {
    json!({"decision": "DELEGATE", "delegations": [{"worker_id": "w", "subtask_id": subtask, "instructions": "do"}]})
}

fn complete() -> Value {
    json!({"decision": "COMPLETE", "final_result": {"summary": "done"}})
}

/// Begins a turn and takes a decision.
fn turn(control: &mut Control, answer: &Value) -> Step {
    match control.begin() {
        Step::Turn { .. } => control.take(Decision::read(answer)),
        other => other,
    }
}

fn rejected(control: &mut Control, judgement: &Judgement) -> Step {
    assert!(matches!(turn(control, &complete()), Step::Judge(_)));
    control.judged(judgement)
}

#[track_caller]
fn refused(step: Step, why: &str) {
    assert_eq!(step, Step::Turn { refused: Some(why.to_owned()) });
}

fn ends(status: Status, reason: &str) -> Step {
    Step::End(End { status, reason: reason.to_owned() })
}

/// What came of a subtask that somebody began with.
fn worked(subtask: &str, progress: Progress) -> [Worked; 1] {
    [Worked { subtask_id: Some(subtask.to_owned()), progress, started: true }]
}

fn control() -> Control {
    Control::new(Limits { max_loops: 20, ..Limits::default() })
}

#[test]
fn a_run_that_passes_its_gates_is_complete() {
    let mut control = control();
    assert_eq!(turn(&mut control, &plan(&[("a", "pending")])), Step::Turn { refused: None });
    assert!(matches!(turn(&mut control, &delegate("a")), Step::Delegate(workers) if workers.len() == 1));
    assert_eq!(control.plan().subtasks[0].progress(), Progress::InProgress);
    assert_eq!(control.worked(&worked("a", Progress::Completed)), Step::Turn { refused: None });
    assert_eq!(turn(&mut control, &complete()), Step::Judge(json!({"summary": "done"})));
    assert_eq!(control.judged(&fine()), ends(Status::Complete, "complete"));
    assert_eq!(control.begin(), ends(Status::Complete, "complete"));
}

#[test]
fn the_third_plan_in_a_row_forces_a_delegation() {
    let mut control = control();
    let answer = plan(&[("a", "pending"), ("b", "completed")]);
    turn(&mut control, &answer);
    turn(&mut control, &answer);
    assert!(control.take_events().is_empty());
    refused(turn(&mut control, &answer), "PLAN is refused: the plan is made; delegate its pending subtasks");
    let events = control.take_events();
    assert_eq!(events.len(), 1);
    let wanted = json!({
        "gate": "plan_loop", "triggered": true, "reason": "3 plans in a row without progress",
        "transition": "forced_delegate", "pre_progress_plans": 3, "pending_subtasks": ["a"],
    });
    assert_eq!(events[0], wanted);
    assert_eq!(control.view()["plan_locked"], "the plan is made; delegate its pending subtasks");
}

#[test]
fn a_forced_delegation_is_disobeyed_in_vain_and_obeyed() {
    let mut control = control();
    for _ in 0..3 {
        turn(&mut control, &plan(&[("a", "pending")]));
    }
    let why = "is refused: the plan is made; delegate its pending subtasks";
    refused(turn(&mut control, &plan(&[])), &format!("PLAN {why}"));
    refused(turn(&mut control, &complete()), &format!("COMPLETE {why}"));
    refused(turn(&mut control, &json!({"decision": "FAIL", "reason": "tired"})), &format!("FAIL {why}"));
    refused(
        turn(&mut control, &json!({"decision": "DELEGATE", "delegations": []})),
        "DELEGATE is refused: it names no worker",
    );
    assert!(matches!(turn(&mut control, &delegate("a")), Step::Delegate(_)));
    control.worked(&worked("a", Progress::Failed));
    assert_eq!(control.view()["plan_locked"], Value::Null);
    assert_eq!(turn(&mut control, &plan(&[("a", "pending")])), Step::Turn { refused: None });
}

#[test]
fn a_plan_without_pending_subtasks_ends_the_run() {
    let mut control = control();
    let answer = plan(&[("a", "skipped"), ("b", "completed"), ("c", "failed")]);
    turn(&mut control, &answer);
    turn(&mut control, &answer);
    // The one too many is not taken, whatever it holds.
    assert_eq!(turn(&mut control, &plan(&[("d", "pending")])), ends(Status::Partial, "plan_loop_stall"));
    let event = control.take_events().pop().unwrap();
    assert_eq!((&event["transition"], &event["pending_subtasks"]), (&json!("forced_terminate"), &json!([])));
    assert_eq!(event["pre_progress_plans"], 3);
}

#[test]
fn the_breaker_puts_a_repair_into_the_plan_and_forces_it() {
    let mut control = control();
    refused(rejected(&mut control, &missing()), "COMPLETE is rejected by the gates");
    assert_eq!(control.view()["rejections"][0]["gate"], "deliverable_presence");
    assert_eq!(control.view()["rejections"][0]["payload"]["missing"], json!(["report.md"]));
    refused(rejected(&mut control, &missing()), "COMPLETE is rejected by the gates");
    let event = control.take_events().pop().unwrap();
    assert_eq!(event["gate"], "completion_circuit_breaker");
    assert_eq!((&event["rejected_completions"], &event["repair_subtask_id"]), (&json!(2), &json!("repair_auto_2")));
    let repair = &control.view()["plan"]["subtasks"][0];
    assert_eq!((&repair["id"], &repair["priority"]), (&json!("repair_auto_2"), &json!("critical")));
    assert_eq!((&repair["required_outputs"], &repair["status"]), (&json!(["report.md"]), &json!("pending")));
    refused(turn(&mut control, &complete()), "COMPLETE is refused: delegate the repair `repair_auto_2` first");
    assert!(matches!(turn(&mut control, &delegate("repair_auto_2")), Step::Delegate(_)));
    control.worked(&worked("repair_auto_2", Progress::Completed));
    assert!(matches!(turn(&mut control, &complete()), Step::Judge(_)));
}

#[test]
fn a_delegation_that_nobody_begins_with_is_none() {
    let mut control = control();
    turn(&mut control, &plan(&[("a", "pending")]));
    rejected(&mut control, &missing());
    rejected(&mut control, &missing());
    let why = "delegate the repair `repair_auto_3` first";
    // Other work is no repair.
    refused(turn(&mut control, &delegate("a")), &format!("DELEGATE is refused: {why}"));
    // Neither is one that is handed to nobody, or put off.
    assert!(matches!(turn(&mut control, &delegate("repair_auto_3")), Step::Delegate(_)));
    let nobody = Worked { started: false, ..worked("repair_auto_3", Progress::Failed)[0].clone() };
    refused(control.worked(std::slice::from_ref(&nobody)), "DELEGATE is refused: nobody could begin with any of it");
    assert_eq!(
        (control.view()["plan_locked"].as_str(), control.plan().pending()),
        (Some(why), vec!["a", "repair_auto_3"])
    );
    assert!(matches!(turn(&mut control, &delegate("repair_auto_3")), Step::Delegate(_)));
    let other = worked("a", Progress::Completed)[0].clone();
    refused(control.worked(&[nobody, other]), why);
    refused(turn(&mut control, &complete()), &format!("COMPLETE is refused: {why}"));
    assert!(matches!(turn(&mut control, &delegate("repair_auto_3")), Step::Delegate(_)));
    assert_eq!(control.worked(&worked("repair_auto_3", Progress::Completed)), Step::Turn { refused: None });
    assert_eq!(control.view()["plan_locked"], Value::Null);
}

#[test]
fn a_delegation_to_nobody_resets_no_counter() {
    let mut control = control();
    let nobody = Worked { started: false, ..worked("a", Progress::Failed)[0].clone() };
    rejected(&mut control, &weak());
    turn(&mut control, &delegate("a"));
    control.worked(std::slice::from_ref(&nobody));
    assert_eq!(rejected(&mut control, &weak()), ends(Status::Partial, "max_rejected_completions"));
    let mut control = self::control();
    for answer in [plan(&[("a", "pending")]), plan(&[("a", "pending")]), delegate("a")] {
        turn(&mut control, &answer);
    }
    control.worked(&[nobody]);
    turn(&mut control, &plan(&[("a", "pending")]));
    assert_eq!(control.take_events().pop().unwrap()["transition"], "forced_delegate");
}

#[test]
fn a_breaker_without_a_repair_ends_the_run() {
    let mut control = control();
    rejected(&mut control, &weak());
    assert_eq!(rejected(&mut control, &weak()), ends(Status::Partial, "max_rejected_completions"));
    let event = control.take_events().pop().unwrap();
    assert_eq!((&event["rejected_completions"], event.get("repair_subtask_id")), (&json!(2), None));
}

#[test]
fn alternating_gates_count_as_well() {
    let mut control = control();
    rejected(&mut control, &weak());
    rejected(&mut control, &placeholder());
    assert_eq!(control.plan().pending(), ["repair_auto_2"]);
}

#[test]
fn a_delegation_resets_the_breaker() {
    let mut control = control();
    turn(&mut control, &plan(&[("a", "pending")]));
    for _ in 0..4 {
        refused(rejected(&mut control, &weak()), "COMPLETE is rejected by the gates");
        assert!(matches!(turn(&mut control, &delegate("a")), Step::Delegate(_)));
        control.worked(&worked("a", Progress::Completed));
    }
}

#[test]
fn evaluations_reject_or_fail() {
    let mut control = control();
    refused(rejected(&mut control, &evaluated(0.5)), "COMPLETE is rejected by the gates");
    assert_eq!(rejected(&mut control, &evaluated(0.1)), ends(Status::Failed, "eval_fail"));
}

#[test]
fn the_last_turn_is_judged_like_any_other() {
    let mut control = Control::new(Limits { max_loops: 1, ..Limits::default() });
    rejected(&mut control, &placeholder());
    assert_eq!(control.begin(), ends(Status::Partial, "max_loops"));
}

#[test]
fn a_new_plan_keeps_repairs_and_what_workers_did() {
    let mut control = control();
    turn(&mut control, &plan(&[("a", "pending")]));
    turn(&mut control, &delegate("a"));
    control.worked(&worked("a", Progress::Completed));
    rejected(&mut control, &missing());
    rejected(&mut control, &missing());
    turn(&mut control, &delegate("repair_auto_4"));
    control.worked(&worked("repair_auto_4", Progress::Failed));
    let answer = json!({"decision": "PLAN", "subtasks": [{"id": "a"}, {"id": "repair_auto_4", "status": "skipped"}]});
    turn(&mut control, &answer);
    let stands: Vec<(&str, Progress)> =
        control.plan().subtasks.iter().map(|subtask| (subtask.id.as_str(), subtask.progress())).collect();
    assert_eq!(stands, [("a", Progress::Completed), ("repair_auto_4", Progress::Failed)]);
}

#[test]
fn managers_end_runs_and_mumble() {
    let mut one = control();
    assert_eq!(turn(&mut one, &json!({"decision": "FAIL", "reason": "no"})), ends(Status::Failed, "fail"));
    let mut other = control();
    for (answer, why) in [
        (json!({}), "a decision is an object with `decision`: PLAN, DELEGATE, COMPLETE or FAIL"),
        (json!({"decision": "DANCE"}), "`DANCE` is no decision; PLAN, DELEGATE, COMPLETE and FAIL are"),
        (
            json!({"decision": "PLAN", "subtasks": 7}),
            "`subtasks` cannot be read: invalid type: integer `7`, expected a sequence",
        ),
        (plan(&[("a", "pending"), ("a", "pending")]), "the subtask `a` is there twice"),
        (
            json!({"decision": "PLAN", "subtasks": [{"id": "a", "required_output": ["a.md"]}]}),
            "nobody knows `subtasks[0].required_output`; did you mean `required_outputs`?",
        ),
        (json!({"decision": "PLAN", "subtask": []}), "nobody knows `subtask`; did you mean `subtasks`?"),
        (
            json!({"decision": "DELEGATE", "delegations": [{"worker_id": "w", "instruction": "do"}]}),
            "nobody knows `delegations[0].instruction`; did you mean `instructions`?",
        ),
        (
            json!({"decision": "COMPLETE", "final_results": {}}),
            "nobody knows `final_results`; did you mean `final_result`?",
        ),
    ] {
        refused(turn(&mut other, &answer), why);
    }
    assert_eq!(other.stop(Status::Aborted, "sigterm"), ends(Status::Aborted, "sigterm"));
    assert_eq!(control().stop(Status::Complete, "because"), ends(Status::Partial, "because"));
}

#[test]
fn null_is_absent() {
    let mut control = control();
    let subtask =
        json!({"id": "a", "description": null, "required_outputs": null, "status": null, "success_criteria": null});
    assert_eq!(turn(&mut control, &json!({"decision": "PLAN", "subtasks": [subtask]})), Step::Turn { refused: None });
    assert_eq!(control.plan().pending(), ["a"]);
    let worker =
        json!({"worker_id": "w", "subtask_id": null, "instructions": null, "agent": null, "as_submanager": null});
    let answer = json!({"decision": "DELEGATE", "delegations": [worker]});
    assert!(matches!(turn(&mut control, &answer), Step::Delegate(workers) if workers[0].instructions.is_empty()));
}

#[test]
fn a_loop_is_kept_and_taken_up_again() {
    let mut control = control();
    rejected(&mut control, &missing());
    let kept = serde_json::to_string(&control).unwrap();
    let mut again: Control = serde_json::from_str(&kept).unwrap();
    assert_eq!(rejected(&mut again, &missing()), rejected(&mut control, &missing()));
    assert_eq!(again, control);
}

/// One thing that a manager may do, and what the gates would say.
fn answers() -> impl Strategy<Value = (Value, usize)> {
    let answer = prop_oneof![
        Just(plan(&[("a", "pending")])),
        Just(plan(&[("a", "completed")])),
        Just(json!({"decision": "PLAN", "subtasks": []})),
        Just(delegate("a")),
        Just(delegate("repair_auto_2")),
        Just(json!({"decision": "DELEGATE"})),
        Just(complete()),
        Just(complete()),
        Just(json!({"decision": "nonsense"})),
    ];
    (answer, 0..6_usize)
}

proptest! {
    #[test]
    fn every_run_ends_in_its_budget_and_none_is_complete_with_a_failing_gate(
        script in proptest::collection::vec(answers(), 40),
        max_loops in 1..12_u32,
    ) {
        let says = [fine(), missing(), placeholder(), weak(), evaluated(0.5), evaluated(0.1)];
        let mut control = Control::new(Limits { max_loops, ..Limits::default() });
        let mut last = None;
        for (answer, gates) in script {
            let locked = control.view()["plan_locked"] != Value::Null;
            let mut step = turn(&mut control, &answer);
            if locked {
                prop_assert!(!matches!(step, Step::Judge(_)), "a forced delegation was disobeyed");
            }
            if matches!(step, Step::Judge(_)) {
                last = Some(gates);
                step = control.judged(&says[gates]);
            }
            if matches!(step, Step::Delegate(_)) {
                control.worked(&worked("a", Progress::Completed));
            }
        }
        prop_assert!(control.iteration() <= max_loops);
        let end = control.ended().cloned();
        prop_assert!(end.is_some(), "the run goes on after its turns");
        if end.is_some_and(|end| end.status == Status::Complete) {
            prop_assert_eq!(last, Some(0));
        }
    }
}
