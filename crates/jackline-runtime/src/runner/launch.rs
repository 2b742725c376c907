//! Starts a command: on a thread of its own, which gives up its rights first.

use std::fs;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use super::{Confine, Confined, Exit, Spec, confine, descriptors, program};

/// A command that runs, and what it prints.
#[derive(Debug)]
pub(super) struct Launched {
    pub(super) child: Child,
    /// Its standard output and its standard error; reading them never waits.
    pub(super) pipes: [PipeReader; 2],
    /// What it reads, where it may read anything; writing to it never waits.
    pub(super) input: Option<PipeWriter>,
    pub(super) confined: Confined,
}

/// Starts what is specified, or says why not; `listens` when there is something for it to read.
pub(super) fn launch(spec: &Spec, listens: bool) -> Result<Launched, Exit> {
    let workspace = workspace(&spec.workspace).map_err(Exit::NotStarted)?;
    let word = spec.argv.first().and_then(|word| word.to_str()).unwrap_or_default();
    let search = spec.environment.search(&workspace);
    let program = program::find(word, &workspace, &search).map_err(Exit::NotStarted)?;
    let ((stdout, to_stdout), (stderr, to_stderr)) = (pipe().map_err(unstarted)?, pipe().map_err(unstarted)?);
    let (stdin, input) = if listens { feed().map(|(end, input)| (Some(end), Some(input))) } else { Ok((None, None)) }
        .map_err(unstarted)?;
    let ends = [&to_stdout, &to_stderr];
    let plan = Plan { spec, workspace: &workspace, program: &program, stdin: stdin.as_ref(), ends };
    let (child, confined) = on_a_thread(&plan)?;
    no_core(&child);
    Ok(Launched { child, pipes: [stdout, stderr], input, confined })
}

fn unstarted(fault: io::Error) -> Exit {
    Exit::NotStarted(format!("it cannot be started: {fault}"))
}

/// The workspace as the kernel knows it, so that paths can be compared.
fn workspace(named: &Path) -> Result<PathBuf, String> {
    let complain = |why: String| format!("the workspace `{}` cannot be used: {why}", named.display());
    let real = named.canonicalize().map_err(|fault| complain(fault.to_string()))?;
    if fs::metadata(&real).is_ok_and(|there| there.is_dir()) {
        Ok(real)
    } else {
        Err(complain("it is no directory".to_owned()))
    }
}

fn pipe() -> io::Result<(PipeReader, PipeWriter)> {
    let (reader, writer) = io::pipe()?;
    fcntl_setfl(&reader, fcntl_getfl(&reader)? | OFlags::NONBLOCK)?;
    Ok((reader, writer))
}

/// A pipe to write to without waiting.
fn feed() -> io::Result<(PipeReader, PipeWriter)> {
    let (reader, writer) = io::pipe()?;
    fcntl_setfl(&writer, fcntl_getfl(&writer)? | OFlags::NONBLOCK)?;
    Ok((reader, writer))
}

/// All that is known before the command starts.
struct Plan<'a> {
    spec: &'a Spec,
    workspace: &'a Path,
    program: &'a Path,
    /// What it reads from; nothing, when it is told nothing.
    stdin: Option<&'a PipeReader>,
    /// What it gets as standard output and standard error.
    ends: [&'a PipeWriter; 2],
}

type Started = Result<(Child, Confined), Exit>;

fn on_a_thread(plan: &Plan<'_>) -> Started {
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("launch".to_owned()).spawn_scoped(scope, || start(plan));
        let failed = |_| Err(Exit::NotStarted("the thread that starts it failed".to_owned()));
        thread.map_err(unstarted)?.join().unwrap_or_else(failed)
    })
}

/// INVARIANT: runs on a thread that ends right after. Its open files and its rights are not those of the others, so
/// the pipes' ends are borrowed: the caller closes its own.
fn start(plan: &Plan<'_>) -> Started {
    let kept = descriptors::keep();
    let confined = held(plan, kept).map_err(Exit::NotConfined)?;
    let child = command(plan).and_then(|mut command| command.spawn()).map_err(unstarted)?;
    Ok((child, confined))
}

/// How far the thread is held; why that is not enough, where it has to be.
fn held(plan: &Plan<'_>, kept: Result<(), String>) -> Result<Confined, String> {
    if plan.spec.confine == Confine::Off {
        return Ok(Confined::No("nobody asked for it".to_owned()));
    }
    let temp = plan.spec.environment.temp(plan.workspace);
    let declared = plan.spec.writable.iter().map(PathBuf::as_path);
    let own = Some(plan.workspace).filter(|_| !plan.spec.read_only);
    let writable: Vec<&Path> = own.into_iter().chain([temp.as_path()]).chain(declared).collect();
    let unreadable: Vec<&Path> = plan.spec.unreadable.iter().map(PathBuf::as_path).collect();
    let rights = confine::Rights { writable: &writable, unreadable: &unreadable, network: plan.spec.network };
    let held = match (confine::hold(&rights), kept) {
        // An inherited file is a way past every rule about paths.
        (Confined::Yes, Err(fault)) => Confined::Partly(format!("our open files cannot be kept from it: {fault}")),
        (held, _) => held,
    };
    match held {
        Confined::Partly(why) | Confined::No(why) if plan.spec.confine == Confine::Require => Err(why),
        held => Ok(held),
    }
}

fn command(plan: &Plan<'_>) -> io::Result<Command> {
    let [stdout, stderr] = plan.ends;
    let mut command = Command::new(plan.program);
    command.args(plan.spec.argv.iter().skip(1));
    command.env_clear().envs(plan.spec.environment.of(plan.workspace)).current_dir(plan.workspace);
    command.stdin(match plan.stdin {
        Some(stdin) => stdin.as_fd().try_clone_to_owned()?.into(),
        None => Stdio::null(),
    });
    command.stdout(stdout.as_fd().try_clone_to_owned()?).stderr(stderr.as_fd().try_clone_to_owned()?);
    // A group of its own, so that all it starts can be ended at once.
    command.process_group(0);
    Ok(command)
}

/// No image of its memory is left behind when it crashes: it may hold secrets.
#[cfg(target_os = "linux")]
fn no_core(child: &Child) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    // It fails only when the command has ended already.
    let _ = prlimit(Some(Pid::from_child(child)), Resource::Core, none);
}

/// Elsewhere only a process can set this for itself; there, images of memory are off unless someone switched them on.
#[cfg(not(target_os = "linux"))]
fn no_core(_child: &Child) {}
