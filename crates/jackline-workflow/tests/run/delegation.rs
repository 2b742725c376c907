//! The engine of managers, by scripted ones: every way a decision can go.

use jackline_workflow::gates;
use serde_json::{Value, json};

use crate::case::{Case, end, words};

/// Prose that is long enough for every gate, without a word that asks for more.
const PROSE: &str = "for i in 1 2 3 4 5 6 7 8 9; do echo Line $i of a text about tides and why they come and go, with enough words to count.; done";

pub(crate) fn flow(budget: &str, more: &str) -> Case {
    Case::new(&format!(
        "orchestration:\n  engine: delegation_loop\n  delegation_loop:\n    manager: boss\n    worker: hand\n    budget: {{max_depth: 2, max_loops: 12{budget}}}\n{more}"
    ))
    .worker("hand")
}

pub(crate) fn plan(subtasks: &[Value]) -> Value {
    json!({"decision": "PLAN", "subtasks": subtasks})
}

pub(crate) fn subtask(id: &str, outputs: &[&str]) -> Value {
    json!({"id": id, "description": "a part of the work", "required_outputs": outputs})
}

pub(crate) fn delegate(works: &[(&str, &str)]) -> Value {
    let works =
        works.iter().map(|(subtask, told)| json!({"worker_id": "hand", "subtask_id": subtask, "instructions": told}));
    json!({"decision": "DELEGATE", "delegations": works.collect::<Vec<_>>()})
}

pub(crate) fn complete() -> Value {
    json!({"decision": "COMPLETE", "final_result": {"summary": "all is done"}})
}

/// The gates that rejected anything, in order.
fn rejected(case: &Case) -> Vec<String> {
    let events = case.told("gate.event").into_iter().filter(|event| event["triggered"] == json!(true));
    events.map(|event| event["gate"].as_str().unwrap().to_owned()).collect()
}

/// What the manager was given in a turn.
pub(crate) fn given(case: &Case, turn: u32) -> Value {
    case.seen(&format!("boss-{turn}"))
}

#[test]
fn a_manager_plans_delegates_and_completes() {
    let write = format!("({PROSE}) > text.md");
    let case =
        flow("", "").manager("boss", &[plan(&[subtask("s1", &["text.md"])]), delegate(&[("s1", &write)]), complete()]);
    let ended = case.run(json!({"task": "tell about tides"}));
    assert_eq!(end(&ended), words("complete", "complete"));
    assert_eq!((ended.iterations, &ended.output), (3, &json!({"summary": "all is done"})));
    let seen = given(&case, 3);
    assert_eq!(seen["plan"]["subtasks"][0]["status"], "completed");
    assert_eq!(seen["results"][0]["output"], json!({"done": true}));
    assert_eq!((&seen["role"], &seen["budget"]["loops"]), (&json!("manager"), &json!(9)));
    assert_eq!(seen["workers"][0]["agent"], "hand");
    let decided: Vec<_> = case.told("manager.decided").iter().map(|data| data["decision"].clone()).collect();
    assert_eq!(decided, ["PLAN", "DELEGATE", "COMPLETE"]);
    let run = std::fs::read(case.state().join("runs/r1/run.json")).unwrap();
    let run = gates::Run::read(&run).unwrap();
    assert!(gates::judge(&run, &gates::look(&run, std::path::Path::new("/"))).complete());
}

#[test]
fn every_gate_rejects_until_it_passes() {
    let long = format!("({PROSE}) > text.md");
    for (task, outputs, before, after, gate) in [
        ("tell", vec!["text.md"], "true", long.as_str(), "deliverable_presence"),
        ("tell", vec!["text.md"], ": > text.md", long.as_str(), "deliverable_presence"),
        ("tell", vec!["text.md"], "echo TODO write this > text.md", long.as_str(), "placeholder"),
        ("tell", vec![], "echo no picture > chart.png", "rm chart.png", "file"),
        ("write a report", vec![], "true", long.as_str(), "deliverable"),
    ] {
        let case = flow("", "").manager(
            "boss",
            &[
                plan(&[subtask("s1", &outputs)]),
                delegate(&[("s1", before)]),
                complete(),
                delegate(&[("s1", after)]),
                complete(),
            ],
        );
        let ended = case.run(json!({"task": task}));
        assert_eq!(end(&ended), words("complete", "complete"), "{gate}: {:?}", rejected(&case));
        assert!(rejected(&case).contains(&gate.to_owned()), "{gate}: {:?}", rejected(&case));
        assert_eq!(ended.iterations, 5);
        let told = given(&case, 4);
        assert_eq!(told["refused"], "COMPLETE is rejected by the gates");
        assert!(told["rejections"].as_array().unwrap().iter().any(|one| one["gate"] == gate));
    }
}

#[test]
fn structure_is_judged_too() {
    let case = flow("", "");
    let words =
        "and then no heading but words about the sea, and more of them, and more again, until the text is long enough";
    let bad: String = (0..6).map(|at| format!("<a id=\"x{at}\"></a> {at} {words} {at}\n\n")).collect();
    case.write("bad.md", &bad);
    let copy = format!("cp {}/bad.md text.md", case.root().display());
    let good = format!("({PROSE}) > text.md");
    let case = case.manager(
        "boss",
        &[
            plan(&[subtask("s1", &["text.md"])]),
            delegate(&[("s1", &copy)]),
            complete(),
            delegate(&[("s1", &good)]),
            complete(),
        ],
    );
    let ended = case.run(json!({"task": "tell"}));
    assert_eq!(end(&ended), ("complete".to_owned(), "complete".to_owned()));
    assert_eq!(rejected(&case), ["structural_integrity"]);
}

#[test]
fn the_breaker_forces_a_repair_that_is_in_the_plan() {
    let write = format!("({PROSE}) > text.md");
    let repair = json!({"decision": "DELEGATE", "delegations": [{"worker_id": "hand", "subtask_id": "repair_auto_3", "instructions": write}]});
    let case = flow("", "").manager(
        "boss",
        &[plan(&[subtask("s1", &["text.md"])]), complete(), complete(), complete(), plan(&[]), repair, complete()],
    );
    let ended = case.run(json!({"task": "tell"}));
    assert_eq!(end(&ended), words("complete", "complete"));
    let breaker: Vec<Value> =
        case.told("gate.event").into_iter().filter(|event| event["gate"] == "completion_circuit_breaker").collect();
    assert_eq!(breaker.len(), 1);
    assert_eq!(
        (&breaker[0]["rejected_completions"], &breaker[0]["repair_subtask_id"]),
        (&json!(2), &json!("repair_auto_3"))
    );
    let forced = given(&case, 4);
    let repair =
        forced["plan"]["subtasks"].as_array().unwrap().iter().find(|one| one["id"] == "repair_auto_3").unwrap().clone();
    assert_eq!((&repair["priority"], &repair["required_outputs"]), (&json!("critical"), &json!(["text.md"])));
    assert!(forced["plan_locked"].as_str().unwrap().contains("repair_auto_3"));
    // COMPLETE and PLAN are refused, and neither is judged.
    assert!(given(&case, 5)["refused"].as_str().unwrap().starts_with("COMPLETE is refused"));
    assert!(given(&case, 6)["refused"].as_str().unwrap().starts_with("PLAN is refused"));
    assert_eq!(case.told("gates.judged").len(), 3);
    assert_eq!(given(&case, 7)["plan_locked"], Value::Null);
}

/// The run's file, asked again.
fn asked_again(case: &Case) -> gates::Judgement {
    let run = std::fs::read(case.state().join("runs/r1/run.json")).unwrap();
    let run = gates::Run::read(&run).unwrap();
    gates::judge(&run, &gates::look(&run, std::path::Path::new("/")))
}

#[test]
fn a_delegation_to_nobody_lifts_no_lock() {
    let nobody = json!({"decision": "DELEGATE", "delegations": [{"worker_id": "x", "agent": "nobody", "subtask_id": "repair_auto_3"}]});
    let elsewhere = delegate(&[("s1", "true")]);
    let case = flow("", "").manager(
        "boss",
        &[plan(&[subtask("s1", &["text.md"])]), complete(), complete(), nobody.clone(), elsewhere, nobody],
    );
    let ended = case.run(json!({"task": "tell"}));
    assert_eq!(end(&ended), words("partial", "max_loops"));
    assert_eq!(given(&case, 5)["refused"], "DELEGATE is refused: nobody could begin with any of it");
    assert_eq!(given(&case, 6)["refused"], "DELEGATE is refused: delegate the repair `repair_auto_3` first");
    assert_eq!(given(&case, 12)["plan_locked"], "delegate the repair `repair_auto_3` first");
    let fired = rejected(&case).into_iter().filter(|gate| gate == "completion_circuit_breaker").count();
    assert_eq!((fired, case.text("worked").as_str()), (1, ""));
    assert_eq!(case.told("manager.refused").len(), 8);
    assert_eq!(ended.budgets["workers"]["used"], 0);
}

#[test]
fn plans_without_progress_are_borne_as_often_as_is_said() {
    for max in [1, 4] {
        let case = Case::new(&format!(
            "orchestration:\n  engine: delegation_loop\n  delegation_loop:\n    manager: boss\n    planning: {{max_pre_progress_plans: {max}}}\n    budget: {{max_depth: 2, max_loops: 8}}\n"
        ));
        let case = case.manager("boss", &[plan(&[])]);
        let ended = case.run(json!({"task": "tell"}));
        assert_eq!(end(&ended), words("partial", "plan_loop_stall"));
        assert_eq!(ended.gate_events[0]["pre_progress_plans"], max + 1);
    }
}

#[test]
fn a_run_that_is_stopped_tells_how_far_it_came() {
    let case = flow("", "  run_budget: {max_agent_runs: 4}\n")
        .manager("boss", &[plan(&[subtask("s1", &["text.md"])]), complete(), delegate(&[("s1", "true")]), complete()]);
    let ended = case.run(json!({"task": "tell"}));
    assert_eq!(end(&ended), words("partial", "max_agent_runs"));
    assert_eq!((ended.iterations, &ended.budgets["loops"]["used"]), (4, &json!(4)));
    assert_eq!((&ended.budgets["workers"]["used"], &ended.output), (&json!(1), &json!({"summary": "all is done"})));
    assert!(!asked_again(&case).complete());
}

#[test]
fn a_repair_asks_for_nothing_that_nobody_can_bring() {
    let write = format!("({PROSE}) > text.md");
    let repair = |told: &str| delegate(&[("repair_auto_3", told)]);
    // A plan that declares what is outside of the run is mended by another plan.
    let case = flow("", "").manager(
        "boss",
        &[
            plan(&[subtask("s1", &["../text.md", ""])]),
            complete(),
            complete(),
            repair(&write),
            plan(&[subtask("s1", &["text.md"])]),
            complete(),
        ],
    );
    assert_eq!(end(&case.run(json!({"task": "tell"}))), words("complete", "complete"), "{:?}", rejected(&case));
    assert_eq!(given(&case, 4)["plan"]["subtasks"][1]["required_outputs"], json!([]));
    // A file that nobody asked for is mended by taking it away.
    let case = flow("", "").manager(
        "boss",
        &[delegate(&[("s1", ": > stray.tmp")]), complete(), complete(), repair("rm stray.tmp"), complete()],
    );
    assert_eq!(end(&case.run(json!({"task": "tell"}))), words("complete", "complete"), "{:?}", rejected(&case));
}

#[test]
fn a_repair_names_what_the_plan_names() {
    let write = |text: &str| format!("echo {text} > ../workspace/notes.txt");
    let case = flow("", "").manager(
        "boss",
        &[
            plan(&[subtask("s1", &["_workspace_dir/notes.txt"])]),
            delegate(&[("s1", &write("TODO"))]),
            complete(),
            complete(),
            delegate(&[("repair_auto_4", &write("fine"))]),
            complete(),
        ],
    );
    assert_eq!(end(&case.run(json!({"task": "tell"}))), words("complete", "complete"), "{:?}", rejected(&case));
    assert_eq!(given(&case, 5)["plan"]["subtasks"][1]["required_outputs"], json!(["_workspace_dir/notes.txt"]));
}

#[test]
fn the_file_of_a_run_is_about_the_run() {
    let below = json!({"worker_id": "under", "agent": "under", "as_submanager": true, "instructions": "tell"});
    let below = json!({"decision": "DELEGATE", "delegations": [below]});
    let fail = json!({"decision": "FAIL", "reason": "no use"});
    let case = flow("", "")
        .manager("boss", &[plan(&[subtask("s1", &["text.md"])]), complete(), below, fail.clone()])
        .manager("under", &[complete()]);
    assert_eq!(end(&case.run(json!({"task": "tell"}))), words("failed", "fail"));
    let again = asked_again(&case);
    assert!(!again.complete());
    assert_eq!(again.rejections().next().unwrap().payload.missing, ["text.md"]);
    // Nothing was ever called complete, and nothing was asked for: it is not complete all the same.
    let case = flow("", "").manager("boss", &[fail]);
    assert_eq!(end(&case.run(json!({"task": "tell"}))), words("failed", "fail"));
    let again = asked_again(&case);
    assert_eq!((again.complete(), again.rejections().count()), (false, 0));
}

#[test]
fn the_end_shows_what_is_open_and_not_what_was() {
    let write = format!("({PROSE}) > text.md");
    let begin = [plan(&[subtask("s1", &["text.md"])]), complete(), delegate(&[("s1", &write)])];
    let todo = json!({"decision": "COMPLETE", "final_result": {"summary": "TODO"}});
    let case = flow("", "").manager("boss", &[begin.as_slice(), &[complete()]].concat());
    assert!(!case.run(json!({"task": "tell"})).human().contains("gate"));
    let fail = json!({"decision": "FAIL", "reason": "no use"});
    let case = flow("", "").manager("boss", &[begin.as_slice(), &[todo, fail]].concat());
    let told = case.run(json!({"task": "tell"})).human();
    assert!(told.contains("gate placeholder") && !told.contains("gate deliverable_presence"), "{told}");
}

#[test]
fn the_breaker_ends_a_run_that_nothing_can_repair() {
    // Between `fail` and `retry`: too weak, and nothing says what to make.
    let metric = |name: &str, expr: &str| {
        format!("{{name: {name}, kind: deterministic, weight: 0.5, params: {{expr: '{expr}'}}}}")
    };
    let metrics = format!("[{}, {}]", metric("met", "true"), metric("unmet", "false"));
    let more = &format!("observability:\n  evaluation: {{enabled: true, metrics: {metrics}}}\n");
    let case = flow("", more).manager("boss", &[complete()]);
    let ended = case.run(json!({"task": "tell"}));
    assert_eq!(end(&ended), words("partial", "max_rejected_completions"));
    assert_eq!(rejected(&case), ["eval", "eval", "completion_circuit_breaker"]);
    assert!(ended.gate_events.last().unwrap().get("repair_subtask_id").is_none());
}

#[test]
fn gates_that_reject_in_turn_trip_the_breaker_too() {
    let todo = json!({"decision": "COMPLETE", "final_result": {"summary": "TODO"}});
    let case = flow(", max_rejected_completions: 3", "").manager(
        "boss",
        &[
            plan(&[subtask("s1", &["text.md"])]),
            complete(),
            todo,
            complete(),
            json!({"decision": "FAIL", "reason": "no use"}),
        ],
    );
    let ended = case.run(json!({"task": "tell"}));
    let fired: Vec<String> = rejected(&case).into_iter().filter(|gate| gate == "completion_circuit_breaker").collect();
    assert_eq!(fired.len(), 1);
    // Forced to delegate, the manager may not even fail; its turns run out.
    assert_eq!(end(&ended), words("partial", "max_loops"));
}

#[test]
fn a_manager_that_only_plans_is_made_to_delegate() {
    let again = plan(&[subtask("s1", &[])]);
    let case = flow("", "").manager(
        "boss",
        &[again.clone(), again.clone(), again.clone(), again, complete(), delegate(&[("s1", "true")]), complete()],
    );
    let ended = case.run(json!({"task": "tell"}));
    assert_eq!(end(&ended), words("complete", "complete"));
    let event = &case.told("gate.event")[0];
    assert_eq!((&event["gate"], &event["transition"]), (&json!("plan_loop"), &json!("forced_delegate")));
    assert_eq!((&event["pre_progress_plans"], &event["pending_subtasks"]), (&json!(3), &json!(["s1"])));
    for turn in [5, 6] {
        let told = given(&case, turn);
        assert!(told["refused"].as_str().unwrap().contains("is refused"), "{told}");
        assert!(told["plan_locked"].is_string());
    }
    assert_eq!(case.told("gates.judged").len(), 1, "a COMPLETE that is refused is not judged");
}

#[test]
fn a_manager_that_plans_nothing_is_ended() {
    let done = plan(&[json!({"id": "s1", "status": "skipped"})]);
    let case = flow("", "").manager("boss", &[done]);
    assert_eq!(end(&case.run(json!({}))), words("partial", "plan_loop_stall"));
    assert_eq!(case.told("gate.event")[0]["transition"], "forced_terminate");
}

#[test]
fn completion_on_the_last_turn_is_judged_like_any_other() {
    let todo = json!({"decision": "COMPLETE", "final_result": {"summary": "TODO"}});
    let case = flow("", "").manager("boss", &[todo]);
    let text = case.text("workflow.awp.yaml").replace("max_loops: 12", "max_loops: 1");
    case.write("workflow.awp.yaml", &text);
    let ended = case.run(json!({"task": "tell"}));
    assert_eq!(end(&ended), words("partial", "max_loops"));
    assert_eq!((ended.iterations, rejected(&case)), (1, vec!["placeholder".to_owned()]));
}

#[test]
fn a_manager_may_fail_and_may_be_unreadable() {
    let case = flow("", "").manager("boss", &[json!({"decision": "FAIL", "reason": "cannot be done"})]);
    assert_eq!(end(&case.run(json!({}))), words("failed", "fail"));
    let case = flow("", "").manager("boss", &[json!({"decision": "DANCE"}), json!({}), complete()]);
    assert!(case.run(json!({})).complete());
    assert!(given(&case, 2)["refused"].as_str().unwrap().contains("`DANCE` is no decision"));
    let case = flow("", "").agent("boss", "exit 7");
    let ended = case.run(json!({}));
    assert_eq!(end(&ended), words("failed", "manager_failed"));
    assert_eq!(case.told("agent.failed").len(), 3);
}

#[test]
fn workers_are_counted_deferred_and_looked_for() {
    let all: Vec<(&str, &str)> = vec![("s1", "true"), ("s2", "true"), ("s3", "true")];
    let subtasks = ["s1", "s2", "s3"].map(|id| subtask(id, &[]));
    let case = flow(", max_workers_per_iteration: 2", "")
        .manager("boss", &[plan(&subtasks), delegate(&all), delegate(&[("s3", "true")]), complete()]);
    assert!(case.run(json!({})).complete());
    let results = given(&case, 3)["results"].clone();
    let statuses: Vec<_> = results.as_array().unwrap().iter().map(|one| one["status"].clone()).collect();
    assert_eq!(statuses, ["completed", "completed", "deferred"]);
    assert_eq!(given(&case, 3)["plan"]["subtasks"][2]["status"], "pending");
    assert_eq!(case.text("worked").lines().count(), 3);

    let case = flow(", max_total_workers: 2", "").manager("boss", &[delegate(&all)]);
    assert_eq!(end(&case.run(json!({}))), words("partial", "max_total_workers"));
    assert_eq!(case.text("worked").lines().count(), 2);

    let unknown = json!({"decision": "DELEGATE", "delegations": [{"worker_id": "x", "agent": "nobody", "subtask_id": "s1"}, {"worker_id": "hand", "subtask_id": "s2", "instructions": "exit 4"}]});
    let case = flow("", "").manager("boss", &[plan(&subtasks), unknown, complete()]);
    assert!(case.run(json!({})).complete());
    let results = given(&case, 3)["results"].clone();
    assert_eq!(results[0]["error"], "there is no agent `nobody`");
    assert_eq!((&results[1]["status"], &results[1]["error"]), (&json!("failed"), &json!("it ended with code 4")));
    assert_eq!(given(&case, 3)["plan"]["subtasks"][1]["status"], "failed");
}

#[test]
fn managers_below_managers_have_a_part_of_the_budget_and_give_back_what_is_left() {
    let below = json!({"decision": "DELEGATE", "delegations": [
        {"worker_id": "lead", "subtask_id": "s1", "instructions": "do the part", "as_submanager": true, "budget_fraction": 0.5}]});
    let case = flow("", "")
        .manager("boss", &[plan(&[subtask("s1", &[])]), below, complete()])
        .manager("lead", &[delegate(&[("t1", "true")]), complete()]);
    let ended = case.run(json!({"task": "all"}));
    assert!(ended.complete());
    let lead = case.seen("lead-1");
    assert_eq!(
        (&lead["task"], &lead["depth"], &lead["budget"]["loops"]),
        (&json!("do the part"), &json!(1), &json!(4))
    );
    let told = given(&case, 3);
    assert_eq!(told["results"][0]["status"], "completed");
    // Twelve turns: three of the boss, of which this is the third, and two of the lead.
    assert_eq!(told["budget"]["loops"], 12 - 3 - 2);
    assert_eq!(told["budget"]["workers"], 500 - 2);
}

#[test]
fn managers_are_no_deeper_than_they_may_be() {
    let deeper = json!({"decision": "DELEGATE", "delegations": [{"worker_id": "lead", "instructions": "on", "as_submanager": true}]});
    let case = flow("", "").manager("boss", &[deeper.clone(), complete()]).manager("lead", &[deeper, complete()]);
    assert!(case.run(json!({})).complete());
    let depths: Vec<_> = case.told("manager.decided").iter().map(|data| data["depth"].as_u64().unwrap()).collect();
    assert_eq!(depths.iter().max(), Some(&2));
    assert!(case.seen("lead")["results"].as_array().is_some());
    let refused =
        case.records().iter().any(|record| record.to_string().contains("managers may not be more than 2 deep"));
    assert!(refused);
}

#[test]
fn one_chain_holds_both_engines_and_what_workers_say_is_shared_as_the_strategy_has_it() {
    let case = flow("", "state: {sharing: {strategy: isolated}}\n")
        .manager("boss", &[delegate(&[("s1", "true")]), complete()]);
    assert!(case.run(json!({})).complete());
    // A reply to a delegation is no state.
    assert_eq!(given(&case, 2)["results"][0]["output"], json!({"done": true}));
    assert_eq!(given(&case, 2)["state"].get("hand"), None);
    case.verify();
}

#[test]
fn scores_reject_until_they_pass() {
    // A critic that knows what it likes.
    let critique = "    critique: {enabled: true, critic: critic, max_repair_attempts: 0}\n";
    let critic = "if grep -q '\"instructions\":\"echo well'; then echo '{\"score\": 0.9, \"defects\": []}'; else echo '{\"score\": 0.2, \"defects\": []}'; fi";
    let weak = delegate(&[("s1", "echo badly > text.md")]);
    let good = delegate(&[("s1", "echo well > text.md")]);
    let case = flow("", critique).agent("critic", critic).manager("boss", &[weak, complete(), good, complete()]);
    assert_eq!(end(&case.run(json!({"task": "tell"}))), words("complete", "complete"), "{:?}", rejected(&case));
    assert_eq!(rejected(&case), ["critique"]);
    assert_eq!(given(&case, 3)["rejections"][0]["gate"], "critique");

    let metric = |name: &str, expr: &str| {
        format!("{{name: {name}, kind: deterministic, weight: 0.5, params: {{expr: \"{expr}\"}}}}")
    };
    let metrics = format!("[{}, {}]", metric("met", "true"), metric("said", "result.summary == 'better'"));
    let more = format!("observability:\n  evaluation: {{enabled: true, metrics: {metrics}}}\n");
    let better = json!({"decision": "COMPLETE", "final_result": {"summary": "better"}});
    let case = flow("", &more).manager("boss", &[complete(), better]);
    assert_eq!(end(&case.run(json!({"task": "tell"}))), words("complete", "complete"), "{:?}", rejected(&case));
    assert_eq!(rejected(&case), ["eval"]);
    assert_eq!(given(&case, 2)["rejections"][0]["payload"]["action"], "retry_with_repair");
}

#[test]
fn an_agent_that_cannot_be_asked_is_nobody() {
    let ghost = json!({"decision": "DELEGATE", "delegations": [{"worker_id": "ghost", "subtask_id": "repair_auto_3"}]});
    let case = flow("", "").manager("boss", &[plan(&[subtask("s1", &["text.md"])]), complete(), complete(), ghost]);
    case.write(
        "agents/ghost/agent.awp.yaml",
        "awp_agent: \"1.0.0\"\nidentity: {id: ghost, role: r, description: d}\noutput: {contract: {type: object}}\n",
    );
    let ended = case.run(json!({"task": "tell"}));
    assert_eq!(end(&ended), words("partial", "max_loops"));
    assert_eq!(given(&case, 5)["refused"], "DELEGATE is refused: nobody could begin with any of it");
    assert_eq!(given(&case, 12)["plan_locked"], "delegate the repair `repair_auto_3` first");
    assert_eq!(
        given(&case, 5)["results"][0]["error"],
        "the agent `ghost` names neither `runtime.command` nor a `model`"
    );
}

#[test]
fn a_repair_takes_away_nothing_that_the_plan_declares_in_its_words() {
    let told = |criteria: &str| plan(&[json!({"id": "s1", "description": "a part", "success_criteria": criteria})]);
    // What was there before the repair is looked for after it.
    let case = flow("", "").manager(
        "boss",
        &[
            told("writes _output_dir/a.md and _output_dir/b.md"),
            delegate(&[("s1", "echo fine > a.md")]),
            complete(),
            complete(),
            delegate(&[("repair_auto_4", "rm a.md; echo fine > b.md")]),
            complete(),
            json!({"decision": "FAIL", "reason": "no use"}),
        ],
    );
    assert_eq!(end(&case.run(json!({"task": "tell"}))), words("failed", "fail"), "{:?}", rejected(&case));
    assert_eq!(given(&case, 7)["rejections"][0]["payload"]["missing"], json!(["a.md"]));
    // And searched.
    let case = flow("", "").manager(
        "boss",
        &[
            told("writes _output_dir/report.log and _output_dir/b.md"),
            delegate(&[("s1", "echo Revenue: TODO > report.log")]),
            complete(),
            complete(),
            delegate(&[("repair_auto_4", "echo fine > b.md")]),
            complete(),
            json!({"decision": "FAIL", "reason": "no use"}),
        ],
    );
    assert_eq!(end(&case.run(json!({"task": "tell"}))), words("failed", "fail"), "{:?}", rejected(&case));
    assert_eq!(given(&case, 7)["rejections"][0]["gate"], "placeholder");
    // In the directory where it belongs.
    let case = flow("", "").manager(
        "boss",
        &[
            told("writes _workspace_dir/notes.json"),
            complete(),
            complete(),
            delegate(&[("repair_auto_3", "echo [1] > ../workspace/notes.json")]),
            complete(),
        ],
    );
    assert_eq!(end(&case.run(json!({"task": "tell"}))), words("complete", "complete"), "{:?}", rejected(&case));
    assert_eq!(given(&case, 4)["plan"]["subtasks"][1]["required_outputs"], json!(["_workspace_dir/notes.json"]));
}
