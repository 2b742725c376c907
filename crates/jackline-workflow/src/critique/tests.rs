//! What becomes of answers that are criticised, and what is learned.

use std::time::Duration;

use serde_json::json;

use super::*;
use crate::ask::Unanswered;
use crate::ask::tests::Scripted;

fn settings() -> Settings {
    Settings::read(&json!({"enabled": true, "critic": "reviewer"})).unwrap().unwrap()
}

fn says(score: f64, defects: &[&str]) -> Result<Value, Unanswered> {
    let defects: Vec<Value> = defects.iter().map(|one| json!({"category": "Incomplete", "description": one})).collect();
    Ok(json!({"score": score, "defects": defects}))
}

/// Lets a critic say these things of a worker that answers first `0`, then `1`, `2` and so on.
fn play(critic: &Scripted, memory: &Mutex<Memory>, repairs: &mut Vec<Value>) -> Improved {
    let settings = settings();
    let critique = Critique { settings: &settings, critic, memory };
    let output = json!({"n": 0});
    let work = Work { agent: "writer", task: "t", instructions: "i", output: &output, contract: None };
    critique.improve(&work, Instant::now() + Duration::from_secs(60), &mut |request| {
        repairs.push(request.clone());
        Ok(json!({"n": repairs.len()}))
    })
}

#[track_caller]
fn check(script: Vec<Result<Value, Unanswered>>, want: (i64, Option<f64>, u32)) -> (Vec<Value>, Improved) {
    let (critic, memory, mut repairs) = (Scripted::new(script), Mutex::default(), Vec::new());
    let improved = play(&critic, &memory, &mut repairs);
    assert_eq!((improved.output["n"].as_i64().unwrap(), improved.score, improved.repairs), want);
    (repairs, improved)
}

#[test]
fn what_is_good_enough_is_left_alone() {
    let (repairs, improved) = check(vec![says(0.6, &["a typo"])], (0, Some(0.6), 0));
    assert!(repairs.is_empty());
    assert_eq!((improved.events.len(), improved.usage.requests), (1, 1));
}

#[test]
fn what_is_weak_is_mended_where_it_is_weak() {
    let (repairs, improved) = check(vec![says(0.2, &["no sources"]), says(0.9, &[])], (1, Some(0.9), 1));
    assert_eq!(repairs[0]["previous_output"], json!({"n": 0}));
    assert_eq!(repairs[0]["defects"][0]["description"], "no sources");
    assert_eq!(repairs[0]["defects"][0]["category"], "incomplete");
    assert_eq!(improved.events[0]["score"], 0.2);
}

#[test]
fn a_repair_that_is_worse_is_dropped() {
    check(vec![says(0.5, &["a"]), says(0.3, &["b"]), says(0.4, &["c"])], (0, Some(0.5), 2));
    check(vec![says(0.1, &["a"]), says(0.5, &["b"]), says(0.4, &["c"])], (1, Some(0.5), 2));
}

#[test]
fn repairs_are_bounded() {
    let script: Vec<_> = (0..9).map(|_| says(0.1, &["still wrong"])).collect();
    let (repairs, _) = check(script, (0, Some(0.1), 2));
    assert_eq!(repairs.len(), 2);
}

#[test]
fn without_a_defect_there_is_nothing_to_mend() {
    check(vec![says(0.1, &[])], (0, Some(0.1), 0));
}

#[test]
fn a_critic_that_gives_no_score_changes_nothing() {
    let late = || Err(Unanswered::late("too slow"));
    let (_, improved) = check(vec![late()], (0, None, 0));
    assert_eq!(improved.events, [json!({"agent": "writer", "attempt": 0, "failed": "too slow"})]);
    check(vec![says(0.2, &["a"]), late()], (0, Some(0.2), 1));
    for odd in [json!({}), json!({"score": 2, "defects": []}), json!({"score": "1"}), json!({"score": null})] {
        check(vec![Ok(odd)], (0, None, 0));
    }
}

#[test]
fn a_worker_that_cannot_mend_keeps_its_answer() {
    let (critic, memory) = (Scripted::new([says(0.2, &["a"])]), Mutex::default());
    let settings = settings();
    let critique = Critique { settings: &settings, critic: &critic, memory: &memory };
    let output = json!({"n": 0});
    let work = Work { agent: "writer", task: "t", instructions: "i", output: &output, contract: None };
    let until = Instant::now() + Duration::from_secs(60);
    let improved = critique.improve(&work, until, &mut |_| Err("it crashed".to_owned()));
    assert_eq!((improved.output, improved.score), (json!({"n": 0}), Some(0.2)));
    assert_eq!(improved.events[1]["failed"], "it crashed");
    let critic = Scripted::new([says(0.2, &["a"])]);
    let critique = Critique { settings: &settings, critic: &critic, memory: &memory };
    assert_eq!(critique.improve(&work, until, &mut |_| Ok(json!({"n": 0}))).score, Some(0.2));
    assert_eq!(critic.asked().len(), 1, "the same answer is not reviewed again");
}

#[test]
fn what_one_worker_did_wrong_is_told_of_the_next() {
    let (memory, mut repairs) = (Mutex::default(), Vec::new());
    play(&Scripted::new([says(0.9, &["No sources!"])]), &memory, &mut repairs);
    let critic = Scripted::new([says(0.9, &["no  SOURCES", "a typo"])]);
    play(&critic, &memory, &mut repairs);
    let (role, input) = critic.asked().remove(0);
    assert_eq!((role, &input["known_defects"][0]["description"]), ("critic", &json!("No sources!")));
    let known = memory.lock().unwrap().known();
    assert_eq!(known.iter().map(|pattern| pattern.seen).collect::<Vec<_>>(), [2, 1]);
}

#[test]
fn the_memory_is_bounded_and_keeps_what_is_frequent() {
    let mut memory = Memory::default();
    let defect =
        |name: &str| Defect { category: "format".to_owned(), description: name.to_owned(), fix: String::new() };
    memory.learn("a", &[defect("often"), defect("often")]);
    for number in 0..500 {
        memory.learn("b", &[defect(&format!("once {number}"))]);
    }
    assert_eq!(memory.known()[0].description, "often");
    assert!(serde_json::to_string(&memory).unwrap().len() < 20_000);
    assert_eq!(memory.known().len(), 8);
}

#[test]
fn defects_are_counted_in_the_answer_that_counts() {
    let (_, improved) = check(vec![says(0.1, &["a", "b", "c"]), says(0.9, &["d"])], (1, Some(0.9), 1));
    assert_eq!(improved.defects.iter().map(|one| one.description.as_str()).collect::<Vec<_>>(), ["d"]);
    let (_, improved) = check(vec![says(0.4, &["a", "b"]), says(0.1, &["c"]), says(0.2, &["e"])], (0, Some(0.4), 2));
    assert_eq!(improved.defects.len(), 2, "those of the answer that is kept");
    let many: Vec<Defect> = improved.defects.iter().cycle().take(6).cloned().collect();
    assert_eq!(over(&many, 5, 1), Some("incomplete"));
    assert_eq!((over(&many, 5, 2), over(&many, 0, 1), over(&[], 5, 1)), (None, None, None));
}

#[test]
fn settings_are_read() {
    assert_eq!(Settings::read(&json!({"critic": "reviewer"})), Ok(None));
    let usual = settings();
    assert_eq!((usual.min_score, usual.repairs_max, usual.category_cap), (0.6, 2, 5));
    assert_eq!(Settings::read(&json!({"enabled": true})).unwrap().unwrap().critic, None);
    let enabled = |key: &str, value: Value| Settings::read(&json!({"enabled": true, key: value}));
    assert_eq!(enabled("min_score_to_complete", json!(-1)), Err(Unusable::Score));
    assert_eq!(enabled("max_repair_attempts", json!(99)), Err(Unusable::Repairs));
    assert_eq!(enabled("timeout", json!(0)), Err(Unusable::Timeout));
    assert!(matches!(enabled("critic", json!([])), Err(Unusable::Unnamed(_))));
    assert!(matches!(enabled("max_repair_attempts", json!(-1)), Err(Unusable::Shape(_))));
}
