//! Whatever a manager decides, in whatever order: the run ends within its budget, and never complete with a failing gate.

use jackline_workflow::gates;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::case::Case;
use crate::delegation::{complete, delegate, flow, plan, subtask};

fn decision() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(plan(&[subtask("s1", &["text.md"])])),
        Just(plan(&[json!({"id": "s1", "status": "completed"})])),
        Just(plan(&[])),
        Just(delegate(&[("s1", "echo some words about tides > text.md")])),
        Just(delegate(&[("s1", "echo TODO > text.md"), ("s2", "exit 1")])),
        Just(delegate(&[("s1", "rm -f text.md")])),
        Just(delegate(&[])),
        Just(
            json!({"decision": "DELEGATE", "delegations": [{"worker_id": "boss", "as_submanager": true, "instructions": "on"}]})
        ),
        Just(complete()),
        Just(json!({"decision": "COMPLETE", "final_result": {"summary": "TODO"}})),
        Just(json!({"decision": "FAIL"})),
        Just(json!({"decision": 7})),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn every_run_ends_in_its_budget_and_none_is_complete_with_a_failing_gate(
        decisions in proptest::collection::vec(decision(), 1..8),
        loops in 1_usize..7,
    ) {
        let case: Case = flow("", "").manager("boss", &decisions);
        let text = case.text("workflow.awp.yaml").replace("max_loops: 12", &format!("max_loops: {loops}"));
        case.write("workflow.awp.yaml", &text);
        let ended = case.run(json!({"task": "tell"}));
        prop_assert!(case.told("manager.decided").len() <= loops, "{:?}", ended);
        prop_assert!(ended.iterations as usize <= loops);
        prop_assert_eq!(case.kinds().pop(), Some("run.ended".to_owned()));
        if ended.complete() {
            let judged = case.told("gates.judged");
            prop_assert_eq!(&judged.last().unwrap()["passed"], &json!(true));
            let run = gates::Run::read(&std::fs::read(case.state().join("runs/r1/run.json")).unwrap()).unwrap();
            prop_assert!(gates::judge(&run, &gates::look(&run, std::path::Path::new("/"))).complete());
        }
    }
}
