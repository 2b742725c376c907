//! Hostile input on standard input: each line is answered, quickly and in bounded memory, and the next one works.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::world::{Eval, SESSION, World, requested, tree, verdict};

/// How long an answer to a huge line may take, in a build without optimisation.
const ANSWER_MAX: Duration = Duration::from_secs(2);
/// Kibibytes that the program may have had in memory at its peak.
const PEAK_KIB_MAX: u64 = 200 * 1024;

fn peak_kib(eval: &Eval) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", eval.child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

fn good() -> Value {
    requested("good", "look", json!({}))
}

/// Sends a line that is no event; it must be refused as such, and the next one must work.
#[track_caller]
fn check_invalid(eval: &mut Eval, name: &str, line: &[u8]) {
    let began = Instant::now();
    eval.send(line);
    let answer = eval.answer();
    let took = began.elapsed();
    assert_eq!(verdict(&answer), "deny event/invalid", "{name}");
    assert!(answer["seq"].is_null(), "{name}: {answer}");
    assert!(answer.to_string().len() < 4_096, "{name}: the answer repeats the input");
    assert!(took < ANSWER_MAX, "{name}: answered after {took:?}");
    let next = json!({ "event": "prompt.submitted", "session": SESSION });
    assert_eq!(eval.verdict(&next), "allow", "after {name}");
}

#[test]
fn lines_that_are_no_events() {
    let world = World::new("jackline: 1\n");
    let mut eval = world.eval();
    let long_id = json!({ "event": "prompt.submitted", "session": "s".repeat(1 << 20) }).to_string();
    let deep = "[".repeat(1 << 20);
    let deep_object = "{\"a\":".repeat(200_000);
    let deep_args = format!(
        r#"{{"event":"call.requested","session":"s1","call":{{"tool":"t","args":{}1{}}}}}"#,
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    let lines: &[(&str, &[u8])] = &[
        ("an empty line", b""),
        ("blanks", b"   \t "),
        ("no JSON", b"hello"),
        ("half an object", b"{\"event\":\"prompt.submitted\""),
        ("two objects", b"{} {}"),
        ("no object", b"[1,2]"),
        ("no UTF-8", b"{\"event\":\"prompt.submitted\",\"session\":\"\xff\xfe\"}"),
        ("a NUL", b"{\"event\":\"prompt.submitted\",\"session\":\"s1\"}\0"),
        ("only NULs", b"\0\0\0\0"),
        ("half a surrogate", b"{\"event\":\"prompt.submitted\",\"session\":\"\\ud800\"}"),
        ("a key twice", b"{\"event\":\"prompt.submitted\",\"session\":\"a\",\"session\":\"b\"}"),
        ("an empty session id", b"{\"event\":\"prompt.submitted\",\"session\":\"\"}"),
        ("a session id of a mebibyte", long_id.as_bytes()),
        ("a mebibyte of brackets", deep.as_bytes()),
        ("objects without end", deep_object.as_bytes()),
        ("deep arguments", deep_args.as_bytes()),
        ("a huge number", b"{\"event\":\"prompt.submitted\",\"session\":\"s1\",\"x\":1e999999999}"),
    ];
    for (name, line) in lines {
        check_invalid(&mut eval, name, line);
    }
    assert!(peak_kib(&eval) < PEAK_KIB_MAX, "{} KiB", peak_kib(&eval));
    assert_eq!(eval.end(), Some(0));
    world.verified(SESSION);
}

#[test]
fn a_line_of_fifty_megabytes() {
    let world = World::new("jackline: 1\n");
    let mut eval = world.eval();
    let line = json!({ "event": "prompt.submitted", "session": SESSION, "prompt": "x".repeat(50 << 20) }).to_string();
    check_invalid(&mut eval, "fifty megabytes", line.as_bytes());
    check_invalid(&mut eval, "fifty megabytes of brackets", "[".repeat(50 << 20).as_bytes());
    assert!(peak_kib(&eval) < PEAK_KIB_MAX, "{} KiB", peak_kib(&eval));
}

#[test]
fn the_last_line_needs_no_end() {
    let world = World::new("jackline: 1\n");
    let mut eval = world.eval();
    std::io::Write::write_all(eval.input.as_mut().unwrap(), good().to_string().as_bytes()).unwrap();
    drop(eval.input.take());
    assert_eq!(verdict(&eval.answer()), "allow");
    assert_eq!(eval.end(), Some(0));
}

#[test]
fn long_members_are_kept_short() {
    let world = World::new("jackline: 1\n");
    let mut eval = world.eval();
    let long = "x".repeat(4 << 20);
    assert_eq!(eval.verdict(&requested("a", "look", json!({ "text": long }))), "allow");
    assert_eq!(eval.verdict(&requested("b", "look", json!({ "list": vec![1; 1 << 20] }))), "allow");
    let log = fs::metadata(world.session_dir().join("audit.jsonl")).unwrap().len();
    assert!(log < 256 << 10, "{log} bytes");
    let records = world.verified(SESSION);
    assert_eq!(records[0]["replayable"], false);
}

#[test]
fn names_that_are_too_long_refuse_themselves_and_nobody_else() {
    let world = World::new("jackline: 1\n");
    let mut eval = world.eval();
    let long = "x".repeat(2 << 20);
    for (member, event) in [
        ("agent", json!({ "event": "prompt.submitted", "session": SESSION, "agent": long })),
        ("host", json!({ "event": "prompt.submitted", "session": SESSION, "host": long })),
        ("cwd", json!({ "event": "prompt.submitted", "session": SESSION, "cwd": long })),
        ("call.id", requested(&long, "look", json!({}))),
        ("call.tool", requested("c", &long, json!({}))),
        ("name", json!({ "event": "session.snapshot", "session": SESSION, "name": long })),
    ] {
        assert_eq!(eval.verdict(&event), "deny event/invalid", "{member}");
        assert_eq!(
            eval.verdict(&json!({ "event": "prompt.submitted", "session": SESSION })),
            "allow",
            "after {member}"
        );
    }
    world.verified(SESSION);
}

#[test]
fn many_long_names_do_not_wear_a_session_out() {
    let world = World::new("jackline: 1\n");
    let mut eval = world.eval();
    for number in 0..200 {
        let agent = format!("{number}{}", "x".repeat(1_000));
        let call = json!({ "id": agent, "tool": "look", "args": {} });
        let event = json!({ "event": "call.requested", "session": SESSION, "agent": agent, "call": call });
        assert_eq!(eval.verdict(&event), "allow");
    }
    assert_eq!(eval.verdict(&good()), "allow", "the state has grown beyond what can be kept");
    world.verified(SESSION);
}

#[test]
fn session_ids_lead_nowhere() {
    let world = World::new("jackline: 1\n");
    let outside = |world: &World| -> Vec<_> {
        tree(&world.top()).into_iter().filter(|path| !path.starts_with(world.store())).collect()
    };
    let before = outside(&world);
    let mut eval = world.eval();
    let ids = ["../../x", "/etc/x", "..", ".", "a/b", "a\0b", "\u{202e}x", "-rf", "~", "$(touch x)", "con\n{}"];
    for id in ids {
        assert_eq!(eval.verdict(&json!({ "event": "prompt.submitted", "session": id })), "allow", "{id:?}");
    }
    assert_eq!(outside(&world), before);
    let kept = fs::read_dir(world.store().join("sessions")).unwrap().count();
    assert_eq!(kept, ids.len());
    assert_eq!(eval.end(), Some(0));
    assert!(world.run(&["audit", "verify"]).status.success());
}

#[test]
fn a_clock_that_goes_backwards_extends_no_deadline() {
    let world = World::new("jackline: 1\nlimits: { deadline: 30s }\n");
    let at = |second: u32, id: &str| {
        let mut event = requested(id, "look", json!({ "id": id }));
        event["at"] = json!(format!("2026-01-01T00:00:{second:02}Z"));
        event
    };
    let mut eval = world.eval();
    assert_eq!(eval.verdict(&at(0, "a")), "allow");
    assert_eq!(eval.verdict(&at(29, "b")), "allow");
    assert_eq!(eval.verdict(&at(31, "c")), "deny budget/deadline");
    assert_eq!(eval.verdict(&at(1, "d")), "deny budget/deadline", "the clock went back");
    drop(eval);
    let mut eval = world.eval();
    assert_eq!(eval.verdict(&at(2, "e")), "deny budget/deadline", "in another process too");
    world.verified(SESSION);
}
