//! The audit log from outside: ready-made logs, and chains that are written, damaged and verified.

use jackline_core::{
    audit::{Actor, Broken, Format, Record, Summary, Verifier, verify},
    sha::Digest,
    time::Timestamp,
};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Cases {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    note: String,
    log: Option<Vec<String>>,
    want: Option<Want>,
}

#[derive(Deserialize)]
struct Want {
    exit: i32,
    names: Option<Vec<u64>>,
}

#[test]
fn ready_made_logs_verify_as_wanted() {
    let text = include_str!("../../../conformance/cases/audit.yaml");
    let cases: Cases = serde_saphyr::from_str(text).unwrap();
    let mut logs = 0;
    for case in cases.cases {
        let Some(lines) = case.log else { continue };
        logs += 1;
        let want = case.want.unwrap();
        let got = verify(Format::Foreign, lines.join("\n").as_bytes());
        assert_eq!(i32::from(got.is_err()), want.exit, "{}: {got:?}", case.note);
        if let (Err(broken), Some(names)) = (got, want.names) {
            assert!(broken.seq.is_some_and(|seq| names.contains(&seq)), "{}: {broken}", case.note);
        }
    }
    assert_eq!(logs, 6);
}

/// Record `seq` of a session, linked to `head`.
fn record(session: &str, seq: u64, head: Digest, data: &Value) -> Record {
    Record {
        seq,
        at: Timestamp(1_767_225_600_000 + seq as i64),
        session: session.to_owned(),
        workspace: seq.is_multiple_of(2).then(|| "/home/dev/repo".to_owned()),
        host: None,
        agent: "main".to_owned(),
        actor: Actor::Agent,
        kind: "call.requested".to_owned(),
        call: Some(format!("c{seq}")),
        step: seq,
        target: None,
        before: Value::Null,
        after: Value::Null,
        definition: Value::Null,
        data: data.clone(),
        changes: if seq.is_multiple_of(3) { json!([{"step": seq}]) } else { Value::Null },
        replayable: !seq.is_multiple_of(4),
        prev_hash: head,
    }
}

/// Records `from..=to` of a session, linked to `head`.
fn chain(session: &str, head: &mut Digest, numbers: std::ops::RangeInclusive<u64>, data: &[Value]) -> Vec<u8> {
    let mut log = Vec::new();
    for (seq, data) in numbers.zip(data.iter().cycle()) {
        *head = record(session, seq, *head, data).link(&mut log);
    }
    log
}

fn whole_chain(session: &str, count: u64, data: &[Value]) -> (Vec<u8>, Digest) {
    let mut head = Digest::ZERO;
    let log = chain(session, &mut head, 1..=count, data);
    (log, head)
}

fn sample() -> (Vec<u8>, Digest) {
    whole_chain("s1", 4, &[json!({"a": 1.5}), json!({"\u{1f600}": "\"\n", "\u{fb33}": [1e21]})])
}

#[track_caller]
fn check(got: Result<Summary, Broken>, want: Result<&[(&str, u64)], &str>) {
    let got =
        got.map(|summary| summary.sessions.into_iter().map(|chain| (chain.session, chain.records)).collect::<Vec<_>>());
    let want = want.map(|chains| chains.iter().map(|(id, records)| ((*id).to_owned(), *records)).collect());
    assert_eq!(got.map_err(|broken| broken.to_string()), want.map_err(str::to_owned));
}

fn fed(verifier: Verifier, log: &[u8]) -> Result<Summary, Broken> {
    let mut verifier = verifier;
    log.split_inclusive(|byte| *byte == b'\n').try_for_each(|line| verifier.line(line))?;
    verifier.finish()
}

#[test]
fn whole_chains_hold_one_after_another_or_interleaved() {
    let (one, head) = sample();
    let (two, _) = whole_chain("s2", 2, &[json!({})]);
    check(verify(Format::Ours, b""), Ok(&[]));
    check(verify(Format::Ours, &one), Ok(&[("s1", 4)]));
    check(verify(Format::Ours, &[two.clone(), one.clone()].concat()), Ok(&[("s1", 4), ("s2", 2)]));
    let lines = |log: &[u8]| log.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
    let (a, b) = (lines(&one), lines(&two));
    let mixed = [&a[0], &b[0], &a[1], &a[2], &b[1], &a[3]].map(Vec::as_slice).concat();
    check(verify(Format::Ours, &mixed), Ok(&[("s1", 4), ("s2", 2)]));
    assert_eq!(verify(Format::Ours, &one).unwrap().sessions[0].head, head);
}

#[test]
fn broken_records_are_named() {
    let (log, _) = sample();
    let text = String::from_utf8(log).unwrap();
    let doubled = format!("{text}{}", text.lines().last().unwrap());
    check(verify(Format::Ours, doubled.as_bytes()), Err("line 5: `seq` is 4 where 5 comes next"));
    let broken = verify(Format::Ours, text.replacen("\"step\":2", "\"step\":9", 1).as_bytes()).unwrap_err();
    assert_eq!((broken.line, broken.seq, broken.session.as_deref()), (2, Some(2), Some("s1")));
    let key_twice = text.replacen("{\"actor\"", "{\"actor\":\"human\",\"actor\"", 1);
    check(
        verify(Format::Foreign, key_twice.as_bytes()),
        Err("line 1: record is not JSON: key `actor` occurs twice in one object (column 24)"),
    );
    check(verify(Format::Ours, b"[]\n"), Err("line 1: record is not a JSON object"));
    check(verify(Format::Ours, b"{}\n"), Err("line 1: `session` is not a short text"));
    check(verify(Format::Ours, b"{\"session\":\"s\",\"seq\":1.5}"), Err("line 1: `seq` is not a record number"));
    check(
        verify(Format::Ours, b"{\"session\":\"s\",\"seq\":9007199254740993}"),
        Err("line 1: `seq` is not a record number"),
    );
    check(
        verify(Format::Ours, b"{\"session\":\"s\",\"seq\":1,\"prev_hash\":\"00\"}"),
        Err("line 1: `prev_hash` is not 64 lowercase hexadecimal digits"),
    );
    check(verify(Format::Ours, b"\n"), Err("line 1: record is not JSON: text ends before the value does (column 1)"));
    assert!(verify(Format::Ours, "[".repeat(1_000_000).as_bytes()).is_err());
}

#[test]
fn our_store_allows_one_spelling_and_exports_any() {
    let (log, _) = sample();
    let text = String::from_utf8(log).unwrap();
    for (from, to) in
        [("\"seq\":1,", "\"seq\": 1,"), ("\"step\":1,", "\"step\":1.0,"), ("\"agent\"", "\"\\u0061gent\"")]
    {
        let other = text.replacen(from, to, 1);
        check(verify(Format::Ours, other.as_bytes()), Err("line 1: line is not in canonical form"));
        check(verify(Format::Foreign, other.as_bytes()), Ok(&[("s1", 4)]));
    }
    check(verify(Format::Foreign, format!("\n{}\r\n", text.replace('\n', "\r\n")).as_bytes()), Ok(&[("s1", 4)]));
}

#[test]
fn a_known_head_finds_a_cut_tail() {
    let (log, head) = sample();
    let cut: Vec<u8> = log.split_inclusive(|byte| *byte == b'\n').take(3).flatten().copied().collect();
    let third = verify(Format::Ours, &cut).unwrap().sessions[0].head;
    let new = || Verifier::new(Format::Ours);
    check(fed(new(), &cut), Ok(&[("s1", 3)]));
    let missing = Err("line 4: record 4 of session `s1` is known to exist and is not in the log");
    check(fed(new().expecting("s1", 4, head), &cut), missing);
    check(fed(new().expecting("s1", 4, head), &log), Ok(&[("s1", 4)]));
    check(fed(new().expecting("s1", 3, third), &log), Ok(&[("s1", 4)]));
    check(fed(new().expecting("s1", 3, head), &log), Err("line 3: `hash` is not the one known from elsewhere"));
    check(
        fed(new().expecting("s9", 1, head), &log),
        Err("line 5: record 1 of session `s9` is known to exist and is not in the log"),
    );
}

#[test]
fn a_retained_segment_starts_where_it_is_told() {
    let mut head = Digest::ZERO;
    chain("s1", &mut head, 1..=2, &[json!({})]);
    let retired = head;
    let kept = chain("s1", &mut head, 3..=5, &[json!({})]);
    let new = || Verifier::new(Format::Ours);
    check(
        fed(new(), &kept),
        Err("line 1: `seq` is 3 where 1 comes next, and no record says that those before it were retired"),
    );
    check(fed(new().starting("s1", 2, retired), &kept), Ok(&[("s1", 3)]));
    check(fed(new().starting("s1", 2, head), &kept), Err("line 1: `prev_hash` is not the hash of record 2"));
    check(fed(new().starting("s1", 2, retired).expecting("s1", 5, head), &kept), Ok(&[("s1", 3)]));
    check(fed(new().starting("s1", 2, retired).expecting("s1", 2, retired), b""), Ok(&[("s1", 0)]));
    check(fed(new().starting("s1", 2, retired).expecting("s1", 2, retired), &kept), Ok(&[("s1", 3)]));
    assert!(fed(new().starting("s1", 2, retired).expecting("s1", 2, head), b"").is_err());
    assert!(fed(new().starting("s1", u64::MAX, retired), &kept).is_err());
    let known = fed(new().starting("s1", 2, retired).expecting("s1", 1, head), &kept).unwrap();
    let gone = known.sessions[0].retired.clone().unwrap();
    assert_eq!((gone.last, gone.hash, gone.heads, gone.said), (2, retired, vec![1], None));
    // Who knows the head that it goes on from needs no other word.
    check(fed(new().expecting("s1", 2, retired), &kept), Ok(&[("s1", 3)]));
}

/// A chain whose first two records were retired, as its last record says.
fn retired_chain(said: &Value) -> (Vec<u8>, [Digest; 2]) {
    let mut head = Digest::ZERO;
    chain("s1", &mut head, 1..=2, &[json!({})]);
    let gone = head;
    let mut kept = chain("s1", &mut head, 3..=4, &[json!({})]);
    let member = |name: &str, usual: Value| said.get(name).cloned().unwrap_or(usual);
    let data = json!({
        "last": member("last", json!(2)), "hash": member("hash", json!(gone.hex())),
        "carried": Digest::of(b"state").hex(),
    });
    let word = Record { kind: "records.retired".to_owned(), ..record("s1", 5, head, &data) };
    let head = word.link(&mut kept);
    (kept, [gone, head])
}

#[test]
fn a_retired_beginning_is_told_and_vouched_for_by_later_heads_alone() {
    let (log, [gone, head]) = retired_chain(&json!({}));
    let new = || Verifier::new(Format::Ours);
    let retired = |verifier: Verifier| fed(verifier, &log).unwrap().sessions[0].retired.clone().unwrap();
    let plain = retired(new());
    let said = plain.said.unwrap();
    assert_eq!((plain.last, plain.hash, said.record, plain.vouched), (2, gone, 5, false));
    assert_eq!(said.carried, Some(Digest::of(b"state")));
    // An older head is among the retired, and says nothing about who retired them.
    let older = retired(new().expecting("s1", 1, head));
    assert_eq!((older.heads, older.vouched), (vec![1], false));
    assert!(!retired(new().expecting("s1", 2, gone)).vouched);
    let newer = retired(new().expecting("s1", 1, head).expecting("s1", 5, head));
    assert_eq!((newer.heads, newer.vouched), (vec![1], true));
    check(
        fed(new().expecting("s1", 2, head), &log),
        Err("line 4: record 2 of session `s1` is retired, and its hash is not the one known from elsewhere"),
    );
}

#[test]
fn a_beginning_that_another_record_was_said_to_end_is_missing() {
    for said in
        [json!({"last": 1}), json!({"last": 3}), json!({"hash": Digest::of(b"other").hex()}), json!({"last": "2"})]
    {
        let (log, _) = retired_chain(&said);
        check(
            fed(Verifier::new(Format::Ours), &log),
            Err("line 1: `seq` is 3 where 1 comes next, and no record says that those before it were retired"),
        );
    }
    // What was retired and is put before it again makes it whole.
    let (log, _) = retired_chain(&json!({}));
    let mut head = Digest::ZERO;
    let whole = [chain("s1", &mut head, 1..=2, &[json!({})]), log].concat();
    assert_eq!(fed(Verifier::new(Format::Ours), &whole).unwrap().sessions[0].retired, None);
}

fn values() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    scalar.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(".{0,4}", inner, 0..4)
                .prop_map(|object| Value::Object(object.into_iter().collect())),
        ]
    })
}

/// The same value spelled otherwise: members backwards, white space, whole numbers as fractions.
fn respelled(value: &Value) -> String {
    match value {
        Value::Array(elements) => {
            let elements: Vec<_> = elements.iter().map(respelled).collect();
            format!("[ {} ]", elements.join(" ,\t"))
        }
        Value::Object(members) => {
            let members = members.iter().rev();
            let members: Vec<_> =
                members.map(|(key, value)| format!("{} :  {}", Value::from(key.as_str()), respelled(value))).collect();
            format!("{{ {} }}", members.join(",  "))
        }
        Value::Number(number) if number.is_i64() && number.as_i64().is_some_and(|n| n.abs() < 1 << 53) => {
            format!("{number}.0e0")
        }
        scalar => scalar.to_string(),
    }
}

proptest! {
    #[test]
    fn a_changed_byte_is_found(
        data in prop::collection::vec(values(), 1..4),
        count in 1_u64..4,
        at in any::<prop::sample::Index>(),
        flip in 1_u8..=255,
    ) {
        let (mut log, _) = whole_chain("s1", count, &data);
        let held = verify(Format::Ours, &log);
        prop_assert!(held.is_ok(), "{:?}", held);
        let at = at.index(log.len());
        log[at] ^= flip;
        prop_assert!(verify(Format::Ours, &log).is_err());
    }

    #[test]
    fn a_dropped_line_is_found(
        data in prop::collection::vec(values(), 1..3),
        count in 2_u64..6,
        at in any::<prop::sample::Index>(),
    ) {
        let (log, head) = whole_chain("s1", count, &data);
        let mut lines: Vec<_> = log.split_inclusive(|byte| *byte == b'\n').collect();
        let at = at.index(lines.len());
        lines.remove(at);
        let cut = lines.concat();
        prop_assert_eq!(verify(Format::Ours, &cut).is_err(), at + 1 < usize::try_from(count).unwrap());
        prop_assert!(fed(Verifier::new(Format::Ours).expecting("s1", count, head), &cut).is_err());
    }

    #[test]
    fn another_spelling_means_the_same(data in prop::collection::vec(values(), 1..3), count in 1_u64..4) {
        let (log, _) = whole_chain("s1", count, &data);
        let text = String::from_utf8(log).unwrap();
        let other: Vec<_> = text.lines().map(|line| respelled(&serde_json::from_str(line).unwrap())).collect();
        let held = verify(Format::Foreign, other.join("\n").as_bytes());
        prop_assert!(held.is_ok(), "{:?}", held);
        prop_assert!(verify(Format::Ours, other.join("\n").as_bytes()).is_err());
    }
}
