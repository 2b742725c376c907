//! `jackline mcp proxy` before a server that does nothing but answer: what it adds to a call, what it weighs when idle,
//! and what eight clients get through at once.
//!
//! `cargo bench -p jackline --bench mcp [-- --quick] [--beside PROGRAM]…`. The bare server and the proxied ones are asked in
//! turn, round after round, so that the machine's moods fall on all alike; so are proxies of other builds (`--beside`).
//! Every call is judged by the same twenty policies as the other benchmarks' and has its durable records.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "a benchmark prints, and ends when its own steps fail")]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use jackline_rehearsal::install;

/// Microseconds that a durable record may add to a call, as a median.
const ADDED_US_TARGET: f64 = 300.0;
/// Mebibytes that an idle proxy may weigh.
const IDLE_MIB_TARGET: f64 = 10.0;
/// Clients at once.
const CLIENTS: usize = 8;
/// Calls that are not measured: they open files and compile schemas.
const WARM: usize = 50;

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let rounds = if words.iter().any(|word| word == "--quick") { 300 } else { 3_000 };
    let beside = words.iter().zip(words.iter().skip(1)).filter(|(word, _)| *word == "--beside");
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory on the disk");
    let bench = Bench::new(place.path(), beside.map(|(_, program)| PathBuf::from(program)).collect());
    bench.latency(rounds);
    bench.weight();
    bench.throughput(rounds / 3);
}

struct Bench {
    top: PathBuf,
    server: PathBuf,
    /// The programs that are measured: this one first.
    programs: Vec<PathBuf>,
}

/// A client of one server.
struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    sent: u64,
}

impl Client {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("started");
        let (input, output) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        let mut client = Self { child, input, output: BufReader::new(output), sent: 0 };
        client.ask(
            "initialize",
            r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"b","version":"1"}}"#,
        );
        writeln!(client.input, r#"{{"jsonrpc":"2.0","method":"notifications/initialized"}}"#).expect("written");
        client.ask("tools/list", "{}");
        client
    }

    fn ask(&mut self, method: &str, params: &str) -> String {
        self.sent += 1;
        let line =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"{method}\",\"params\":{params}}}\n", self.sent);
        self.input.write_all(line.as_bytes()).expect("written");
        let mut answer = String::new();
        self.output.read_line(&mut answer).expect("an answer");
        answer
    }

    /// One call that is like no other; microseconds until its answer.
    fn call(&mut self) -> f64 {
        let params = format!("{{\"name\":\"echo\",\"arguments\":{{\"text\":\"call {}\"}}}}", self.sent);
        let began = Instant::now();
        let answer = self.ask("tools/call", &params);
        let took = began.elapsed().as_secs_f64() * 1e6;
        assert!(answer.contains("\"call "), "{answer}");
        took
    }

    fn calls(&mut self, count: usize) {
        for _ in 0..count {
            self.call();
        }
    }

    fn mebibytes(&self) -> f64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|kib| kib.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1024.0
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Bench {
    fn new(place: &Path, beside: Vec<PathBuf>) -> Self {
        let top = place.canonicalize().expect("there");
        fs::create_dir(top.join("workspace")).expect("made");
        fs::write(top.join("rules.yaml"), include_str!("rules.yaml")).expect("written");
        let programs = [PathBuf::from(env!("CARGO_BIN_EXE_jackline"))].into_iter().chain(beside).collect();
        Self { top, server: install::odd_mcp_server().expect("built"), programs }
    }

    fn bare(&self) -> Client {
        Client::start(Command::new(&self.server))
    }

    /// A proxied server; `session` is to be another for each.
    fn proxied(&self, program: &Path, session: &str) -> Client {
        let mut command = Command::new(program);
        command.args(["mcp", "proxy", "--name", "odd", "--session", session, "--definition"]);
        command.arg(self.top.join("rules.yaml"));
        command.arg("--workspace").arg(self.top.join("workspace")).arg("--store").arg(self.top.join("store"));
        command.arg("--").arg(&self.server);
        Client::start(command)
    }

    /// Calls the bare server and each program's proxy once in every round, another one first each time.
    fn latency(&self, rounds: usize) {
        let proxied = self.programs.iter().enumerate();
        let proxied = proxied.map(|(at, program)| self.proxied(program, &format!("latency-{at}")));
        let mut clients: Vec<Client> = [self.bare()].into_iter().chain(proxied).collect();
        let mut times = vec![Vec::with_capacity(rounds); clients.len()];
        clients.iter_mut().for_each(|client| client.calls(WARM));
        for round in 0..rounds {
            for turn in 0..clients.len() {
                let at = (round + turn) % clients.len();
                if let (Some(client), Some(times)) = (clients.get_mut(at), times.get_mut(at)) {
                    times.push(client.call());
                }
            }
        }
        println!("one call and its answer, microseconds, {rounds} rounds in turn");
        println!("| | min | p10 | median | p99 |");
        println!("|---|---|---|---|---|");
        let (bare, proxied) = times.split_first().expect("the bare server's");
        row("bare", &sorted(bare.clone()));
        for (program, times) in self.programs.iter().zip(proxied) {
            let added = sorted(times.iter().zip(bare).map(|(proxied, bare)| proxied - bare).collect());
            row(&format!("behind {}", program.display()), &sorted(times.clone()));
            row("added", &added);
            verdict("median added, microseconds", at(&added, 0.5), ADDED_US_TARGET);
        }
    }

    fn weight(&self) {
        for (at, program) in self.programs.iter().enumerate() {
            let mut proxied = self.proxied(program, &format!("weight-{at}"));
            thread::sleep(Duration::from_millis(500));
            let fresh = proxied.mebibytes();
            proxied.calls(WARM);
            thread::sleep(Duration::from_millis(500));
            println!("\n{}", program.display());
            verdict("idle, tools listed and none called, MiB resident", fresh, IDLE_MIB_TARGET);
            verdict("idle, after calls, MiB resident", proxied.mebibytes(), IDLE_MIB_TARGET);
        }
    }

    fn throughput(&self, calls: usize) {
        println!("\n{CLIENTS} clients at once, each with a server and a session of its own");
        println!("bare: {:.0} calls/s", together((0..CLIENTS).map(|_| self.bare()).collect(), calls));
        for (at, program) in self.programs.iter().enumerate() {
            let clients = (0..CLIENTS).map(|client| self.proxied(program, &format!("crowd-{at}-{client}")));
            println!("behind {}: {:.0} calls/s", program.display(), together(clients.collect(), calls));
        }
    }
}

/// Calls each second of clients that all call at once.
fn together(clients: Vec<Client>, calls: usize) -> f64 {
    let total = clients.len() * calls;
    let began = Instant::now();
    let threads: Vec<_> = clients.into_iter().map(|mut client| thread::spawn(move || client.calls(calls))).collect();
    threads.into_iter().for_each(|thread| thread.join().expect("went well"));
    total as f64 / began.elapsed().as_secs_f64()
}

fn sorted(mut times: Vec<f64>) -> Vec<f64> {
    times.sort_by(f64::total_cmp);
    times
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place within the list")]
fn at(times: &[f64], part: f64) -> f64 {
    times.get((part * (times.len().saturating_sub(1)) as f64) as usize).copied().unwrap_or(f64::NAN)
}

fn row(name: &str, times: &[f64]) {
    let [min, p10, median, p99] = [0.0, 0.1, 0.5, 0.99].map(|part| at(times, part));
    println!("| {name} | {min:.0} | {p10:.0} | {median:.0} | {p99:.0} |");
}

fn verdict(what: &str, got: f64, wanted: f64) {
    let kept = if got <= wanted { "kept" } else { "NOT KEPT" };
    println!("{what}: {got:.1}, {wanted:.0} wanted: {kept}");
}
