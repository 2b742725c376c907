//! Starts a program with its input ready and takes the time until it has ended, or the memory it needed.
#![expect(
    unsafe_code,
    reason = "the memory of a child that has ended is told by `wait4` alone, which has no safe form"
)]

use std::io::{PipeReader, Read as _, Write as _, pipe};
use std::process::{Command, Stdio};
use std::time::Instant;

/// The argument with which this benchmark starts itself to look at a program's memory.
const MEMORY: &str = "--memory-of";

/// A program about to be started: its message is in the pipe, and nobody has to write or read while it runs.
#[derive(Debug)]
pub(crate) struct Prepared {
    command: Command,
    output: PipeReader,
}

/// A program that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) seconds: f64,
    pub(crate) code: Option<i32>,
    pub(crate) said: String,
}

impl Prepared {
    pub(crate) fn new(mut command: Command, message: &str) -> Self {
        let (input, mut sender) = pipe().expect("a pipe");
        // Short against a pipe's buffer, so nobody needs to take it out yet.
        sender.write_all(message.as_bytes()).expect("written");
        let (output, answer) = pipe().expect("a pipe");
        command.stdin(input).stdout(answer).stderr(Stdio::inherit());
        Self { command, output }
    }

    /// From before the program is started until it has ended.
    pub(crate) fn run(mut self) -> Ended {
        let began = Instant::now();
        let mut child = self.command.spawn().expect("started");
        let status = child.wait().expect("ended");
        let seconds = began.elapsed().as_secs_f64();
        drop(self.command);
        let mut said = String::new();
        self.output.read_to_string(&mut said).expect("an answer in UTF-8");
        Ended { seconds, code: status.code(), said }
    }
}

/// Bytes of memory that a program had at most. It is started by a fresh process of ours: Linux counts what the starter
/// had as the program's own, and this process has seen much.
pub(crate) fn memory(command: &Command, message: &str) -> u64 {
    let mut probe = Command::new(std::env::current_exe().expect("known"));
    probe.arg(MEMORY).arg(command.get_program()).args(command.get_args()).env_clear();
    probe.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    probe.current_dir(command.get_current_dir().expect("named"));
    let ended = Prepared::new(probe, message).run();
    ended.said.trim().parse().expect("a number of bytes")
}

/// Whether this process was started to look at another's memory; then it has done so and printed it.
#[expect(clippy::zombie_processes, reason = "`wait4` waits for it")]
pub(crate) fn was_memory_probe() -> bool {
    let mut words = std::env::args_os().skip(1);
    if words.next().is_none_or(|word| word != MEMORY) {
        return false;
    }
    let program = words.next().expect("a program");
    let child = Command::new(program).args(words).stdout(Stdio::null()).spawn().expect("started");
    println!("{}", peak_bytes(&child));
    true
}

fn peak_bytes(child: &std::process::Child) -> u64 {
    let id = libc::pid_t::try_from(child.id()).expect("an id");
    // SAFETY: all bits zero are a valid `rusage`, and `wait4` writes to it and to the status it is given.
    let (waited, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        let mut status = 0;
        (libc::wait4(id, &raw mut status, 0, &raw mut usage), usage)
    };
    assert_eq!(waited, id, "the program was waited for");
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    u64::try_from(usage.ru_maxrss).expect("positive") * unit
}
