//! `jackline eval` on a durable store: the cost of one event in sessions that already have up to 1,000,000.
//!
//! `cargo bench -p jackline --bench eval [-- --quick]`. Sessions are seeded through the runtime itself with `sync: os`,
//! each is verified record by record, and all are measured in turn, round after round, so that the machine's moods
//! fall on all alike. Two ways: one process that stays, and one process for each event, as a hook is run.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "a benchmark prints, and ends when its own steps fail")]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use jackline_core::audit::{Format, Verifier};
use jackline_runtime::Runtime;
use jackline_runtime::adapters::lines::Lines;
use jackline_runtime::store::Store as _;
use jackline_runtime::store::files::FileStore;
use serde_json::{Value, json};

/// How much dearer an event may be than in a session without earlier ones.
const TARGET_RATIO: f64 = 1.05;
/// Events of each session that are not measured: they open files and fill what has bounds.
const WARM: usize = 200;
/// Files that the earlier events read in turn.
const FILES: u64 = 40;

fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let lengths: &[u64] = if quick { &[0, 1_000, 10_000] } else { &[0, 10_000, 100_000, 1_000_000] };
    let (kept, spawned) = if quick { (500, 50) } else { (4_000, 400) };
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory on the disk");
    let bench = Bench::new(place.path());
    println!("seeding through the runtime (store: sync os), then verifying every record:");
    lengths.iter().for_each(|length| bench.seed(*length));
    println!();
    bench.settle();
    bench.resident(lengths, kept);
    bench.spawned(lengths, spawned);
}

struct Bench {
    workspace: PathBuf,
    store: PathBuf,
    definition: PathBuf,
}

/// The name of the session that has so many earlier events.
fn name(length: u64) -> String {
    format!("after-{length}")
}

fn event(session: &str, kind: &str, id: &str, call: (&str, Value)) -> Value {
    let (tool, args) = call;
    let call = json!({ "id": id, "tool": tool, "args": args });
    json!({ "event": kind, "session": session, "at": "2026-01-01T00:00:00Z", "call": call, "ok": true, "output": "done" })
}

impl Bench {
    fn new(place: &Path) -> Self {
        let path = |name: &str| place.canonicalize().expect("there").join(name);
        let bench = Self { workspace: path("workspace"), store: path("store"), definition: path("rules.yaml") };
        fs::create_dir(&bench.workspace).expect("made");
        for number in 0..FILES {
            fs::write(bench.workspace.join(format!("file-{number}.rs")), "fn main() {}\n").expect("written");
        }
        fs::write(&bench.definition, include_str!("rules.yaml")).expect("written");
        bench
    }

    /// Gives a session its earlier events.
    fn seed(&self, length: u64) {
        let rules = include_str!("rules.yaml").replace("sync: full", "sync: os");
        let builder = Runtime::builder().workspace(&self.workspace).state(&self.store).definition_yaml(rules);
        let runtime = builder.build().expect("built");
        let began = Instant::now();
        for number in 0..length {
            let event = earlier(&name(length), number).to_string();
            let answer = runtime.handle(&Lines, event.as_bytes()).stdout;
            assert!(answer.starts_with("{\"verdict\":\"allow\""), "{answer}");
        }
        let seconds = began.elapsed().as_secs_f64();
        let (records, bytes) = self.verify(&name(length), 2 * length);
        println!("  {length:>9} events: {seconds:>6.1} s, {records} records, {:.1} MB", bytes as f64 / 1e6);
    }

    /// The records of a session, all of them linked; how many, and how long the log is.
    fn verify(&self, session: &str, want: u64) -> (u64, u64) {
        let store = FileStore::open(self.store.clone());
        let mut verifier = Verifier::new(Format::Ours);
        let mut bytes = 0;
        for line in store.lines(session, 0).expect("readable") {
            let line = line.expect("readable");
            bytes += line.len() as u64 + 1;
            verifier.line(&line).expect("a whole chain");
        }
        let chains = verifier.finish().expect("a whole chain").sessions;
        let records = chains.first().map_or(0, |chain| chain.records);
        assert!(records >= want, "{records} records where {want} were written");
        (records, bytes)
    }

    /// Lets the disk finish with what was seeded, so that nobody's measured sync pays for it.
    fn settle(&self) {
        for entry in fs::read_dir(self.store.join("sessions")).expect("seeded") {
            let log = entry.expect("readable").path().join("audit.jsonl");
            fs::File::open(log).and_then(|log| log.sync_all()).expect("synced");
        }
    }

    fn eval(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jackline"));
        command.arg("eval").arg("--definition").arg(&self.definition);
        command.arg("--workspace").arg(&self.workspace).arg("--store").arg(&self.store);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command
    }

    /// One process for each session, all of them kept running and asked in turn.
    fn resident(&self, lengths: &[u64], rounds: usize) {
        let mut evals: Vec<(String, Eval)> =
            lengths.iter().map(|length| (name(*length), Eval::start(&mut self.eval()))).collect();
        let mut times = vec![Vec::with_capacity(rounds); lengths.len()];
        for round in 0..WARM + rounds {
            for turn in 0..evals.len() {
                // Who goes first changes, so that nobody always follows the same neighbour.
                let at = (round + turn) % lengths.len();
                let Some(((session, eval), times)) = evals.get_mut(at).zip(times.get_mut(at)) else { continue };
                let line = asked(session, "r", round);
                let began = Instant::now();
                eval.ask(&line);
                times.extend((round >= WARM).then(|| began.elapsed().as_secs_f64() * 1e6));
            }
        }
        print("one process that stays: from an event on its input to the durable answer", lengths, times);
    }

    /// A process for each event: it starts, loads the session, decides, makes the record durable, answers, ends.
    fn spawned(&self, lengths: &[u64], rounds: usize) {
        let mut times = vec![Vec::with_capacity(rounds); lengths.len()];
        for round in 0..rounds {
            for turn in 0..lengths.len() {
                let at = (round + turn) % lengths.len();
                let Some((length, times)) = lengths.get(at).zip(times.get_mut(at)) else { continue };
                let line = asked(&name(*length), "p", round);
                let began = Instant::now();
                let mut eval = Eval::start(&mut self.eval());
                eval.ask(&line);
                eval.end();
                times.push(began.elapsed().as_secs_f64() * 1e6);
            }
        }
        print("one process for each event: from its start to its end", lengths, times);
    }
}

/// What was done before: files read in turn, and calls that differ.
fn earlier(session: &str, number: u64) -> Value {
    let (turn, id) = (number / 4, format!("e{}", number / 2));
    let read = || ("read_file", json!({ "path": format!("file-{}.rs", turn % FILES) }));
    let look = || ("look", json!({ "turn": turn }));
    match number % 4 {
        0 => event(session, "call.requested", &id, read()),
        1 => event(session, "call.finished", &id, read()),
        2 => event(session, "call.requested", &id, look()),
        _ => event(session, "call.finished", &id, look()),
    }
}

/// The event that is measured.
fn asked(session: &str, way: &str, round: usize) -> String {
    event(session, "call.requested", &format!("{way}{round}"), ("look", json!({ "way": way, "round": round })))
        .to_string()
}

struct Eval {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    answer: String,
}

impl Eval {
    fn start(command: &mut Command) -> Self {
        let mut child = command.spawn().expect("started");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        Self { input: child.stdin.take(), child, output, answer: String::new() }
    }

    fn ask(&mut self, line: &str) {
        let input = self.input.as_mut().expect("open");
        input.write_all(format!("{line}\n").as_bytes()).expect("sent");
        self.answer.clear();
        self.output.read_line(&mut self.answer).expect("answered");
        assert!(self.answer.starts_with("{\"verdict\":\"allow\""), "{}", self.answer);
    }

    fn end(&mut self) {
        drop(self.input.take());
        assert!(self.child.wait().expect("ended").success());
    }
}

impl Drop for Eval {
    fn drop(&mut self) {
        self.end();
    }
}

fn print(title: &str, lengths: &[u64], times: Vec<Vec<f64>>) {
    println!("{title}");
    let heads = ["earlier events", "min µs", "p10", "median", "p99", "events/s", "ratio"];
    let [first, least, quiet, median, worst, rate, ratio] = heads;
    println!("{first:>15} {least:>9} {quiet:>9} {median:>11} {worst:>9} {rate:>10} {ratio:>7}");
    let base = times.first().cloned().unwrap_or_default();
    for (length, times) in lengths.iter().zip(times) {
        let ratio = share(times.iter().zip(&base).map(|(time, base)| time / base), 0.5);
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        let of = |part| share(times.iter().copied(), part);
        let met = if ratio <= TARGET_RATIO { "met" } else { "MISSED" };
        let (least, quiet, median, worst) = (of(0.0), of(0.1), of(0.5), of(0.99));
        print!("{length:>15} {least:>9.0} {quiet:>9.0} {median:>11.0} {worst:>9.0}");
        println!(" {:>10.0} {ratio:>7.3}  {met}", 1e6 / mean);
    }
    println!(
        "ratio: median of each round's time over the same round's time without earlier events; target {TARGET_RATIO}\n"
    );
}

/// The value below which this share of all values lies.
fn share(values: impl Iterator<Item = f64>, part: f64) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get((values.len() as f64 * part) as usize).copied().unwrap_or_default()
}
