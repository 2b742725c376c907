//! Reading whatever comes: no input makes the reader panic, and what it accepts it can decide about.

use jackline_core::event;
use jackline_core::time::Timestamp;
use jackline_runtime::Runtime;
use jackline_runtime::adapters::{Adapter as _, lines::Lines};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::pool;

/// Any JSON value, with the protocol's own member names among its keys.
fn json_value() -> impl Strategy<Value = Value> {
    const KEYS: &[&str] = &[
        "event",
        "session",
        "at",
        "agent",
        "host",
        "cwd",
        "definition",
        "call",
        "id",
        "tool",
        "args",
        "args_text",
        "action",
        "ok",
        "output",
        "usage",
        "input_tokens",
        "output_tokens",
        "cost_usd",
        "name",
        "invariants",
        "path",
        "command",
        "",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        select(vec!["call.requested", "call.finished", "session.restore", "2026-01-01T00:00:00Z", "{\"a\":1}"])
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 8, |inner| {
        let key = prop_oneof![4 => select(KEYS).prop_map(str::to_owned), 1 => any::<String>()];
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..8).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

/// An event with one of its members replaced by anything.
fn bent() -> impl Strategy<Value = Value> {
    let places = vec![
        "/event",
        "/session",
        "/at",
        "/agent",
        "/call",
        "/call/tool",
        "/call/args",
        "/call/id",
        "/ok",
        "/usage",
        "/name",
    ];
    (pool::event(), select(places), json_value()).prop_map(|(mut event, place, value)| {
        if let Some(found) = event.pointer_mut(place) {
            *found = value;
        }
        event
    })
}

fn runtime() -> (tempfile::TempDir, Runtime) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let rules = [json!({ "read_before_write": {} }), json!({ "paths": { "protect": ["*.lock"] } })];
    let built = Runtime::builder().workspace(root).definition_yaml(pool::definition(&rules)).build();
    (dir, built.unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reading_any_json_never_panics(value in prop_oneof![json_value(), bent()]) {
        let read = event::read(&value, Timestamp(0));
        let line = Lines.read(value.to_string().as_bytes(), Timestamp(0));
        // Text can say less than a value (a lone surrogate, a huge number), never more.
        prop_assert!(read.is_ok() || line.messages.is_err(), "{value}");
    }

    #[test]
    fn reading_any_bytes_never_panics(bytes in vec(any::<u8>(), 0..200)) {
        drop(Lines.read(&bytes, Timestamp(0)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_comes_is_answered(lines in vec(prop_oneof![json_value(), bent(), pool::event()], 1..12)) {
        let (_dir, runtime) = runtime();
        for line in &lines {
            let answer: Value = serde_json::from_str(&runtime.handle(&Lines, line.to_string().as_bytes()).stdout).unwrap();
            let known = ["allow", "ask", "deny", "halt"].iter().any(|verdict| answer["verdict"] == *verdict);
            prop_assert!(known, "{line}: {answer}");
        }
    }
}
