//! What policies answer, what they are refused, and that all of them end.

use super::*;
use serde_json::json;
use std::time::Instant;

/// A policy with this body.
fn policy(body: &str) -> String {
    format!("package jackline\n\n{body}\n")
}

#[track_caller]
fn judge(body: &str, input: serde_json::Value) -> Result<Judged, String> {
    Compiled::new(&policy(body)).unwrap_or_else(|fault| panic!("{body}: {fault:?}")).judge(input, Timestamp(1_500))
}

#[track_caller]
fn check(body: &str, input: serde_json::Value, want: &[(&str, &str)]) {
    let judged = judge(body, input).unwrap();
    let got: Vec<(&str, &str)> = judged.denials.iter().map(|denial| (&*denial.code, &*denial.reason)).collect();
    assert_eq!(got, want, "{body}");
}

#[track_caller]
fn refuse(text: &str, message: &str, place: Option<(u32, u32)>) {
    let fault = Compiled::new(text).unwrap_err();
    assert!(fault.message.contains(message), "{fault:?}");
    assert_eq!(fault.place, place, "{fault:?}");
}

#[test]
fn texts_and_objects_are_denials() {
    check(r#"deny contains "no" if input.tool == "deploy""#, json!({ "tool": "deploy" }), &[("deny", "no")]);
    check(r#"deny contains "no" if input.tool == "deploy""#, json!({ "tool": "build" }), &[]);
    let both = r#"
deny contains {"code": "friday", "reason": "not today", "more": [1]} if input.day == 5
deny contains {"code": "No Code", "reason": "b"} if input.day == 5
deny contains {"code": "bare"} if input.day == 5"#;
    let want = [("bare", "Denied by policy."), ("deny", "b"), ("friday", "not today")];
    check(both, json!({ "day": 5 }), &want);
    check("deny := [x | some x in input.list]", json!({ "list": ["a", "a", "b"] }), &[("deny", "a"), ("deny", "b")]);
    check("deny := {} if false", json!({}), &[]);
}

#[test]
fn denials_are_bounded_in_number() {
    let judged = judge(
        "deny contains sprintf(\"%d\", [n]) if some n in input.list",
        json!({ "list": (0..50).collect::<Vec<_>>() }),
    );
    let judged = judged.unwrap();
    assert_eq!((judged.denials.len(), judged.omitted), (DENIALS_MAX, 30));
}

#[test]
fn an_answer_that_is_no_set_is_a_fault() {
    assert!(judge("deny := true if input.x", json!({ "x": 1 })).unwrap_err().contains("no set"));
    assert!(judge("deny contains 1 if input.x", json!({ "x": 1 })).unwrap_err().contains("neither a text"));
}

#[test]
fn an_error_inside_a_function_is_a_fault_and_not_a_condition_that_fails() {
    let body = "deny contains \"no\" if to_number(input.n) > 5";
    check(body, json!({ "n": "7" }), &[("deny", "no")]);
    assert!(judge(body, json!({ "n": "seven" })).is_err());
    let turned = "deny contains \"no\" if not to_number(input.n) > 5";
    assert!(judge(turned, json!({ "n": "seven" })).is_err());
}

#[test]
fn what_cannot_be_used_is_told_with_its_place() {
    refuse("package jackline\n\ndeny contains x if {\n", "expecting", Some((4, 1)));
    refuse("package other\ndeny contains \"x\" if true\n", "its package is `other`", None);
    refuse("package jackline\nallow := true\n", "it has no rule `deny`", None);
    refuse(&policy("deny contains x if true"), "x", Some((3, 15)));
    refuse(
        &policy("deny contains \"x\" if http.send({\"url\": \"a\"})"),
        "there is no `http.send` here",
        Some((3, 22)),
    );
    refuse(&policy("deny contains \"x\" if nobody(1)"), "could not find function nobody", Some((3, 28)));
    // Rego v1: `if` and `contains` are not optional.
    assert!(Compiled::new("package jackline\ndeny[x] { x := \"a\" }\n").is_err());
}

#[test]
fn the_only_clock_is_the_events_and_there_is_no_chance() {
    check("deny contains sprintf(\"%d\", [time.now_ns()]) if input.x", json!({ "x": 1 }), &[("deny", "1500000000")]);
    refuse(&policy("deny contains \"x\" if rand.intn(\"a\", 9) > 1"), "there is no `rand.intn` here", Some((3, 22)));
    // Spelled so that reading words does not find it.
    let hidden = "deny contains \"x\" if { input.x; rand[\"intn\"](\"a\", 9) >= 0 }";
    let answer = Compiled::new(&policy(hidden)).map_err(|fault| fault.message);
    let answer = answer.and_then(|policy| policy.judge(json!({ "x": 1 }), Timestamp(0)));
    assert!(answer.is_err(), "{answer:?}");
}

#[test]
fn ranges_are_bounded_before_they_are_made() {
    let body = "deny contains \"no\" if count(numbers.range(0, input.n)) > 2";
    check(body, json!({ "n": 2 }), &[("deny", "no")]);
    check(body, json!({ "n": -1 }), &[]);
    for huge in [json!(1_000_000_000_000_i64), json!(i64::MAX), json!(i64::MIN)] {
        assert!(judge(body, json!({ "n": huge })).unwrap_err().contains("more than 10000 elements"));
    }
    check(
        "deny contains concat(\"\", [format_int(n, 10) | some n in numbers.range_step(7, 1, 3)]) if input.x",
        json!({ "x": 1 }),
        &[("deny", "741")],
    );
}

#[test]
fn numbers_do_not_grow_out_of_a_few_characters() {
    let body = "deny contains sprintf(\"%v\", [to_number(input.n)]) if true";
    for (n, want) in
        [(json!("12"), "12"), (json!("-1.5"), "-1.5"), (json!(true), "1"), (json!(null), "0"), (json!(3), "3")]
    {
        check(body, json!({ "n": n }), &[("deny", want)]);
    }
    for n in [json!("1e2000000000"), json!("inf"), json!("9".repeat(100)), json!("x"), json!([1])] {
        let began = Instant::now();
        assert!(judge(body, json!({ "n": n })).is_err(), "{n}");
        assert!(began.elapsed() < Duration::from_millis(WORK_MS_MAX));
    }
    let shift = "deny contains sprintf(\"%d\", [bits.lsh(1, input.n)]) if true";
    check(shift, json!({ "n": 40 }), &[("deny", "1099511627776")]);
    assert!(judge(shift, json!({ "n": 4_000_000_000_u64 })).is_err());
}

#[test]
fn a_policy_that_does_not_end_is_not_waited_for() {
    let body = "deny contains \"no\" if { some a in input.l; some b in input.l; some c in input.l; some d in input.l; a + b + c + d < 0 }";
    let began = Instant::now();
    let list: Vec<u32> = (0..1_000).collect();
    let why = judge(body, json!({ "l": list })).unwrap_err();
    assert!(began.elapsed() < Duration::from_millis(4 * WORK_MS_MAX), "{why}");
    assert!(why.contains("time") || why.contains("longer"), "{why}");
}

#[test]
fn what_is_printed_and_nested_deeply_does_no_harm() {
    check(
        "deny contains \"no\" if { print(\"hello\", input); trace(\"x\"); input.x }",
        json!({ "x": 1 }),
        &[("deny", "no")],
    );
    let deep = format!("deny contains \"no\" if x == {}1{}", "[".repeat(5_000), "]".repeat(5_000));
    assert!(Compiled::new(&policy(&deep)).is_err());
    refuse(&policy("deny contains f(1) if true\nf(x) := f(x)"), "function `f` calls itself", None);
    refuse(&policy("deny contains x if x := a\na := b\nb := a"), "recursion", Some((4, 1)));
}
