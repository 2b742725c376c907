//! In-process cost of one decision after 0 to 1,000,000 earlier events, under twenty policies. Parsing is not in it.
//!
//! `cargo bench -p jackline --bench decide [-- --quick]`. The state is built by folding real decisions, so it is as
//! full as its bounds allow. All cells are measured in turn, round after round, in one process.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "a benchmark prints, and ends when its own steps fail")]

use std::hint::black_box;
use std::time::Instant;

use jackline_core::decide::decide;
use jackline_core::decision::{Decision, Step};
use jackline_core::definition;
use jackline_core::event::{self, Event};
use jackline_core::path;
use jackline_core::probe::{Fact, Facts, Identity, Probe, There};
use jackline_core::session::Session;
use jackline_core::sha::Digest;
use jackline_core::stack::Stack;
use jackline_core::time::Timestamp;
use serde_json::{Value, json};

const ROOT: &str = "/ws";
const AT: Timestamp = Timestamp(1_767_225_600_000);
/// The question whose answer includes reading a text, and the row that times the reading alone.
const SHELL: &str = "run a shell text";
const READING: &str = "shell text: reading it";
/// What a decision may cost, in nanoseconds.
const TARGET_NS: f64 = 10_000.0;
/// Decisions that are timed together: long against the clock's own cost.
const BATCH: u32 = 100;
/// Files that the earlier events read and write in turn: more than are remembered.
const FILES: u64 = 3_000;
/// Three commands, one of them gated, as agents write them.
const SHELL_TEXT: &str = "cargo test --workspace && git commit -am 'fix the parser' && git status --short";

fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let lengths: &[u64] = if quick { &[0, 1_000, 10_000] } else { &[0, 1_000, 10_000, 100_000, 1_000_000] };
    let rounds = if quick { 20 } else { 100 };
    let stack = stack();
    let sessions = sessions(&stack, lengths);
    let questions = questions();
    let mut nanoseconds = vec![vec![Vec::new(); lengths.len()]; questions.len() + 2];
    for _ in 0..rounds {
        for (row, times) in nanoseconds.iter_mut().enumerate() {
            for (session, times) in sessions.iter().zip(times) {
                times.push(match questions.get(row) {
                    Some((_, event)) => time_decision(&stack, session, event),
                    None if row == questions.len() => time_reading(),
                    None => time_remembering(&stack, session),
                });
            }
        }
    }
    let names = questions.iter().map(|(name, _)| *name).chain([READING, "state: fold and encode"]);
    print(lengths, &sessions, names.zip(nanoseconds).collect());
}

fn stack() -> Stack {
    let text = include_str!("rules.yaml");
    let model = definition::parse(text, &jackline_core::tools::names()).expect("the definition is sound").model;
    assert_eq!(model.policies.len(), 20);
    Stack::of(ROOT, model, Digest::of(text.as_bytes()))
}

fn requested(id: &str, tool: &str, args: Value) -> Event {
    let call = json!({ "id": id, "tool": tool, "args": args });
    event::read(&json!({ "event": "call.requested", "session": "s", "call": call }), AT).expect("an event")
}

fn finished(id: &str, tool: &str, args: Value) -> Event {
    let call = json!({ "id": id, "tool": tool, "args": args });
    let value = json!({ "event": "call.finished", "session": "s", "call": call, "ok": true, "output": "done" });
    event::read(&value, AT).expect("an event")
}

fn questions() -> Vec<(&'static str, Event)> {
    let write = json!({ "path": "src/file-7.rs", "content": "fn main() {}\n" });
    let shell = json!({ "command": SHELL_TEXT });
    vec![
        ("write a file", requested("q", "write_file", write)),
        (SHELL, requested("q", "Bash", shell)),
        ("call an unknown tool", requested("q", "frobnicate", json!({ "n": 1 }))),
        ("read a file", requested("q", "read_file", json!({ "path": "src/file-7.rs" }))),
        ("deploy", requested("q", "deploy", json!({ "target": "staging", "count": 3 }))),
    ]
}

/// The answer of a work tree in which nothing changes.
fn answer(probe: &Probe) -> Fact {
    match probe {
        Probe::Identity { path, dir } | Probe::Meant { path, dir, .. } => {
            let path = path::join(&path::join(ROOT, dir), path);
            let inside = path::below(ROOT, &path).map(str::to_owned);
            Fact::Identity(Identity {
                path,
                inside,
                there: There::File,
                ours: None,
                holds: None,
                leads: Vec::new(),
                began: None,
                instructs: false,
            })
        }
        Probe::Fingerprint { path } | Probe::LastByte { path } => Fact::Content(Some(Digest::of(path.as_bytes()))),
        Probe::WorkTree => Fact::Content(Some(Digest::of(b"tree"))),
        Probe::Settings { .. }
        | Probe::Rego { .. }
        | Probe::Schema { .. }
        | Probe::Exceptions { .. }
        | Probe::Usage { .. }
        | Probe::Counts
        | Probe::Files { .. }
        | Probe::Calls { .. }
        | Probe::Contains { .. }
        | Probe::Lands { .. }
        | Probe::Meets { .. }
        | Probe::Expands { .. }
        | Probe::Searches { .. }
        | Probe::Git { .. }
        | Probe::Web { .. }
        | Probe::Scripts { .. }
        | Probe::Run { .. } => Fact::Absent,
    }
}

/// All facts that an event leads to, and its decision.
fn settle(stack: &Stack, session: &Session, event: &Event) -> (Facts, Decision) {
    let mut facts = Facts::default();
    loop {
        match decide(stack, session, event, &facts) {
            Step::Done(decision) => return (facts, *decision),
            Step::Need(probes) => probes.into_iter().for_each(|probe| {
                let fact = answer(&probe);
                facts.keep(probe, fact);
            }),
        }
    }
}

/// The session after each of the given numbers of events.
fn sessions(stack: &Stack, lengths: &[u64]) -> Vec<Session> {
    let mut session = Session::default();
    let mut kept = Vec::new();
    let last = lengths.last().copied().unwrap_or_default();
    for number in 0..=last {
        if lengths.contains(&number) {
            kept.push(session.clone());
        }
        let event = earlier(number);
        let (_, decision) = settle(stack, &session, &event);
        session.apply(event.at, &decision.changes, &|_| None);
    }
    kept
}

/// What an agent does all day: it reads a file, then writes it; each is requested, then finished.
fn earlier(number: u64) -> Event {
    let (turn, step) = (number / 4, number % 4);
    let id = format!("c{turn}-{}", step / 2);
    let args = json!({ "path": format!("src/file-{}.rs", turn % FILES) });
    match step {
        0 => requested(&id, "read_file", args),
        1 => finished(&id, "read_file", args),
        2 => requested(&id, "write_file", args),
        _ => finished(&id, "write_file", args),
    }
}

fn per_piece(began: Instant) -> f64 {
    began.elapsed().as_nanos() as f64 / f64::from(BATCH)
}

/// Deciding with all facts in hand.
fn time_decision(stack: &Stack, session: &Session, event: &Event) -> f64 {
    let (facts, _) = settle(stack, session, event);
    let began = Instant::now();
    for _ in 0..BATCH {
        black_box(decide(black_box(stack), black_box(session), black_box(event), black_box(&facts)));
    }
    per_piece(began)
}

/// Reading the shell text, which a decision about it includes.
fn time_reading() -> f64 {
    let began = Instant::now();
    for _ in 0..BATCH {
        black_box(jackline_core::shell::read(black_box(SHELL_TEXT)));
    }
    per_piece(began)
}

/// Folding the changes of a decision into the state and encoding it, as every commit does.
fn time_remembering(stack: &Stack, session: &Session) -> f64 {
    let event = requested("q", "read_file", json!({ "path": "src/file-7.rs" }));
    let (_, decision) = settle(stack, session, &event);
    let began = Instant::now();
    for _ in 0..BATCH {
        let mut next = black_box(session).clone();
        next.apply(event.at, black_box(&decision.changes), &|_| None);
        black_box(next.encode());
    }
    per_piece(began)
}

fn print(lengths: &[u64], sessions: &[Session], rows: Vec<(&str, Vec<Vec<f64>>)>) {
    println!("ns per decision, median (minimum); target {TARGET_NS:.0} ns at any history length, besides parsing\n");
    print!("{:<24}", "earlier events");
    lengths.iter().for_each(|length| print!("{length:>20}"));
    print!("\n{:<24}", "bytes of state");
    sessions.iter().for_each(|session| print!("{:>20}", session.encode().len()));
    println!();
    let reading = rows.iter().find(|(name, _)| *name == READING).map_or(0.0, |(_, cells)| least_median(cells));
    for (name, cells) in rows {
        print!("{name:<24}");
        let parsing = if name == SHELL { reading } else { 0.0 };
        let mut met = true;
        for mut times in cells {
            times.sort_by(f64::total_cmp);
            let (median, least) = (times.get(times.len() / 2).copied().unwrap_or_default(), times.first().copied());
            print!("{:>20}", format!("{median:.0} ({:.0})", least.unwrap_or_default()));
            met &= median - parsing <= TARGET_NS;
        }
        println!("  {}", if met { "met" } else { "MISSED" });
    }
}

/// The least of the cells' medians.
fn least_median(cells: &[Vec<f64>]) -> f64 {
    let median = |times: &Vec<f64>| {
        let mut sorted = times.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    };
    cells.iter().map(median).min_by(f64::total_cmp).unwrap_or_default()
}
