//! Feedback comes with the calls that it should come with, counted by another hand; and it alters no verdict.

use std::collections::BTreeMap;

use jackline_core::decision::Decision;
use jackline_core::session::Session;
use jackline_core::time::Timestamp;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use crate::pool;
use crate::pure::{decided, layer, read, stack};

/// Worlds in which nobody made an exception: the bits by which one is picked are all set.
const NO_EXCEPTIONS: u64 = 0xffff;

/// What a host tells of one call after it was requested, in this order.
const ENDS: &[&[&str]] = &[
    &["call.finished"],
    &["call.finished", "call.settled"],
    &["call.settled"],
    &["call.settled", "call.finished"],
    &["call.finished", "call.finished"],
    &[],
];

/// One call: whether it is denied, what is told of it, and when each of that is told.
fn call() -> impl Strategy<Value = (bool, &'static [&'static str], Vec<u16>)> {
    (prop::bool::weighted(0.3), select(ENDS), vec(any::<u16>(), 3))
}

/// The events of several calls, mixed; those of one call stay in order. Each with its call's number and the time.
fn mixed(calls: &[(bool, &'static [&'static str], Vec<u16>)], gaps: &[u16]) -> Vec<(usize, Value, i64)> {
    let mut told: Vec<(u16, usize, &str)> = Vec::new();
    for (n, (_, ends, times)) in calls.iter().enumerate() {
        let mut times = times.clone();
        times.sort_unstable();
        let names = std::iter::once("call.requested").chain(ends.iter().copied());
        told.extend(times.into_iter().zip(names).map(|(time, name)| (time, n, name)));
    }
    told.sort_by_key(|(time, n, _)| (*time, *n));
    let mut now = pool::MIDDLE_MS;
    let each = |((_, n, name), gap): ((u16, usize, &str), u16)| {
        now += i64::from(gap);
        let tool = if calls[n].0 { "deploy" } else { "test" };
        let call = json!({ "id": format!("c{n}"), "tool": tool, "args": { "n": n } });
        let at = Timestamp(now).to_string();
        (n, json!({ "event": name, "session": pool::SESSION, "at": at, "call": call, "ok": n % 2 == 0 }), now)
    };
    told.into_iter().zip(gaps.iter().copied().cycle()).map(each).collect()
}

/// The same, counted by hand: a call at the first of its events that ends it.
struct Count {
    ended: BTreeMap<usize, ()>,
    calls: u64,
    last: BTreeMap<&'static str, (u64, i64)>,
}

impl Count {
    fn due(&mut self, name: &'static str, now: i64, met: impl Fn(u64, Option<i64>) -> bool) -> bool {
        let last = self.last.get(name).copied();
        let due = met(self.calls - last.map_or(0, |(call, _)| call), last.map(|(_, at)| now - at));
        if due {
            self.last.insert(name, (self.calls, now));
        }
        due
    }
}

fn speakers(decision: &Decision) -> Vec<&str> {
    let given = decision.notes.iter().filter(|note| note.kind == "feedback.given");
    given.filter_map(|note| note.data["provider"].as_str()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn providers_speak_in_their_cadence(
        calls in vec(call(), 1..30), gaps in vec(0..4_000_u16, 1..9), n in 1..5_u64, ms in 1..9_000_i64, salt: u64,
    ) {
        let feedback = json!([
            { "name": "A", "static": "a", "every_n_calls": n },
            { "name": "B", "static": "b", "every_n_seconds": ms as f64 / 1e3 },
            { "name": "C", "static": "c", "every_n_calls": n + 1, "every_n_seconds": ms as f64 / 1e3 },
        ]);
        let more = Map::from_iter([("feedback".to_owned(), feedback), ("loop".to_owned(), json!(false))]);
        let policies = [json!({ "rule": { "tool": "deploy", "reason": "no" } })];
        let stack = stack(vec![layer(&pool::definition_with(&policies, &more))]);
        let mut session = Session::default();
        let mut count = Count { ended: BTreeMap::new(), calls: 0, last: BTreeMap::new() };
        for (call, value, now) in mixed(&calls, &gaps) {
            let event = read(&value);
            let decision = decided(&stack, &session, &event, salt | NO_EXCEPTIONS);
            session.apply(event.at, &decision.changes, &|_| None);
            let ends = value["event"] != "call.requested" || calls[call].0;
            let mut want = Vec::new();
            if ends && count.ended.insert(call, ()).is_none() {
                count.calls += 1;
                let in_time = |gone: Option<i64>| gone.is_none_or(|gone| gone >= ms);
                want.extend(count.due("A", now, |calls, _| calls >= n).then_some("A"));
                want.extend(count.due("B", now, |_, gone| in_time(gone)).then_some("B"));
                want.extend(count.due("C", now, |calls, gone| calls > n || in_time(gone)).then_some("C"));
            }
            prop_assert_eq!(speakers(&decision), want, "{}", value);
            prop_assert_eq!(decision.feedback.is_some(), !speakers(&decision).is_empty());
        }
    }

    #[test]
    fn feedback_alters_no_verdict(policies in pool::policies(), events in pool::events(32), n in 1..4_u8, salt: u64) {
        let feedback = json!([
            { "static": "a", "every_n_calls": n },
            { "static": "b", "on_file_created": "a.txt" },
            { "deadline": {}, "every_n_seconds": 3 },
            { "command": ["hint"], "every_n_calls": 2 },
        ]);
        let told_by = |feedback: Value| {
            let more = Map::from_iter([("feedback".to_owned(), feedback)]);
            stack(vec![layer(&pool::definition_with(&policies, &more))])
        };
        let (with, without) = (told_by(feedback), told_by(json!([])));
        let (mut told, mut untold) = (Session::default(), Session::default());
        for value in &events {
            let event = read(value);
            let one = decided(&with, &told, &event, salt);
            let two = decided(&without, &untold, &event, salt);
            prop_assert_eq!((one.verdict, &one.code, &one.findings), (two.verdict, &two.code, &two.findings), "{}", value);
            told.apply(event.at, &one.changes, &|_| None);
            untold.apply(event.at, &two.changes, &|_| None);
            let kept = Session::decode(&told.encode()).unwrap();
            prop_assert_eq!(&kept, &told);
        }
    }
}
