//! Which functions a process runs. The first byte of each is made a trap; whoever steps on it has run the function, and the
//! byte is put back, so each function costs one stop and the rest runs at full speed on the processor as it is.

#![expect(unsafe_code, reason = "the kernel lets one process watch another by calls that have no safe form")]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_int;
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::ptr;
use std::{io, mem};

use crate::elf;

/// The instruction that stops a process.
const TRAP: u8 = 0xcc;

/// A program's functions, where they begin.
pub(super) struct Functions {
    names: BTreeMap<u64, Vec<String>>,
    /// The first byte of each.
    bytes: BTreeMap<u64, u8>,
}

impl Functions {
    pub(super) fn of(program: &Path) -> Result<Self, String> {
        let broken = |why: String| format!("`{}` {why}", program.display());
        let file = fs::read(program).map_err(|fault| broken(format!("cannot be read: {fault}")))?;
        let mut functions = Self { names: BTreeMap::new(), bytes: BTreeMap::new() };
        for function in elf::functions(&file).map_err(broken)? {
            if let Some(byte) = file.get(function.offset) {
                functions.bytes.insert(function.address, *byte);
                functions.names.entry(function.address).or_default().push(function.name);
            }
        }
        if functions.names.is_empty() {
            return Err(broken("has no names".to_owned()));
        }
        Ok(functions)
    }

    /// Whether a process can be watched here at all: some systems let nobody look into another, or write to its code.
    pub(super) fn can_watch() -> io::Result<()> {
        let mut child = Self::start(&mut Command::new(std::env::current_exe()?))?;
        let process = c_int::try_from(child.id()).map_err(io::Error::other)?;
        let written = wait(process).and_then(|_| {
            let place = registers(process)?.rip;
            memory(process)?.write_all_at(&[TRAP], place)
        });
        // It waits before its first instruction, and has none of its own left to run.
        child.kill().and_then(|()| child.wait())?;
        written
    }

    /// Starts a program that waits for [`Self::watch`].
    pub(super) fn start(command: &mut Command) -> io::Result<Child> {
        // SAFETY: between `fork` and `exec` one call into the kernel is made, which allocates nothing.
        unsafe {
            command.pre_exec(|| match libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) {
                -1 => Err(io::Error::last_os_error()),
                _ => Ok(()),
            });
        }
        command.spawn()
    }

    /// Lets a program run to its end, and tells what of it was run, by it and by what it begins; what that starts in its place
    /// is another program, and goes on unwatched. The thread that started it must ask.
    pub(super) fn watch(&self, child: &Child) -> io::Result<(ExitStatus, BTreeSet<String>)> {
        let main = c_int::try_from(child.id()).map_err(io::Error::other)?;
        let mut ran = BTreeSet::new();
        wait(main)?;
        self.set(main)?;
        let begun = libc::PTRACE_O_TRACECLONE | libc::PTRACE_O_TRACEFORK | libc::PTRACE_O_TRACEVFORK;
        let options = begun | libc::PTRACE_O_TRACEEXEC | libc::PTRACE_O_EXITKILL;
        ask(libc::PTRACE_SETOPTIONS, main, u64::from(options.cast_unsigned()))?;
        ask(libc::PTRACE_CONT, main, 0)?;
        loop {
            let (stopped, status) = wait(-1)?;
            if !libc::WIFSTOPPED(status) {
                if stopped == main {
                    return Ok((ExitStatus::from_raw(status), ran));
                }
                continue;
            }
            let signal = libc::WSTOPSIG(status);
            match (signal, status >> 16) {
                (libc::SIGTRAP, libc::PTRACE_EVENT_EXEC) => ask(libc::PTRACE_DETACH, stopped, 0)?,
                (libc::SIGTRAP, 0) => match self.stepped_on(stopped)? {
                    Some(names) => {
                        ran.extend(names.iter().cloned());
                        ask(libc::PTRACE_CONT, stopped, 0)?;
                    }
                    None => ask(libc::PTRACE_CONT, stopped, u64::from(signal.cast_unsigned()))?,
                },
                // What is begun stops once before it runs.
                (libc::SIGTRAP | libc::SIGSTOP, _) => ask(libc::PTRACE_CONT, stopped, 0)?,
                (other, _) => ask(libc::PTRACE_CONT, stopped, u64::from(other.cast_unsigned()))?,
            }
        }
    }

    fn set(&self, process: c_int) -> io::Result<()> {
        let memory = memory(process)?;
        self.bytes.keys().try_for_each(|address| memory.write_all_at(&[TRAP], *address))
    }

    /// The names of the function that a thread was about to run, if it stands behind a trap; it is put before it again, with
    /// the trap gone.
    fn stepped_on(&self, thread: c_int) -> io::Result<Option<&Vec<String>>> {
        let mut registers = registers(thread)?;
        let address = registers.rip.wrapping_sub(1);
        let Some(byte) = self.bytes.get(&address) else { return Ok(None) };
        memory(thread)?.write_all_at(&[*byte], address)?;
        registers.rip = address;
        // SAFETY: the thread is stopped, and the structure is the kernel's.
        done(unsafe { libc::ptrace(libc::PTRACE_SETREGS, thread, 0, ptr::from_ref(&registers)) })?;
        Ok(self.names.get(&address))
    }
}

/// The registers of a stopped thread.
fn registers(thread: c_int) -> io::Result<libc::user_regs_struct> {
    // SAFETY: the structure is numbers alone.
    let mut registers: libc::user_regs_struct = unsafe { mem::zeroed() };
    // SAFETY: the thread is stopped, and the structure is as large as the kernel has it.
    done(unsafe { libc::ptrace(libc::PTRACE_GETREGS, thread, 0, ptr::from_mut(&mut registers)) })?;
    Ok(registers)
}

/// The memory of a stopped process, code included.
fn memory(process: c_int) -> io::Result<File> {
    File::options().write(true).open(format!("/proc/{process}/mem"))
}

/// Waits for whatever happens to a process, or to any that this thread watches.
fn wait(process: c_int) -> io::Result<(c_int, c_int)> {
    let mut status = 0;
    // SAFETY: the status is a number of ours.
    let stopped = unsafe { libc::waitpid(process, &raw mut status, libc::__WALL | libc::__WNOTHREAD) };
    if stopped == -1 { Err(io::Error::last_os_error()) } else { Ok((stopped, status)) }
}

/// Asks the kernel for something that takes one number.
fn ask(request: libc::c_uint, thread: c_int, number: u64) -> io::Result<()> {
    // SAFETY: requests of this form read no memory of ours.
    match done(unsafe { libc::ptrace(request, thread, 0, number) }) {
        // It was ended meanwhile, and that is told by the next wait.
        Err(gone) if gone.raw_os_error() == Some(libc::ESRCH) => Ok(()),
        other => other,
    }
}

fn done(answer: libc::c_long) -> io::Result<()> {
    if answer == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls one function by itself, one in a process that it begins, and another program in a third.
    const PROGRAM: &str = r#"
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) int by_itself(void) { return 0; }
__attribute__((noinline)) int in_another(void) { return 0; }
__attribute__((noinline)) int never(void) { return 0; }
int main(int count, char **words) {
    if (fork() == 0) _exit(in_another());
    if (fork() == 0) return execl("/bin/true", "true", (char *)0);
    while (wait(0) > 0) {}
    return count > 5 ? never() : by_itself() + 7;
}
"#;

    #[test]
    fn what_a_program_runs_is_told_and_what_it_does_not_run_is_not() {
        let place = std::env::temp_dir().join(format!("jackline-traps-{}", std::process::id()));
        fs::create_dir_all(&place).unwrap();
        let (source, program) = (place.join("program.c"), place.join("program"));
        fs::write(&source, PROGRAM).unwrap();
        let built = Command::new("cc").args(["-no-pie", "-O1", "-o"]).arg(&program).arg(&source).status().unwrap();
        assert!(built.success());
        let functions = Functions::of(&program).unwrap();
        let (ended, ran) = functions.watch(&Functions::start(&mut Command::new(&program)).unwrap()).unwrap();
        fs::remove_dir_all(&place).unwrap();
        assert_eq!(ended.code(), Some(7));
        assert!(["main", "by_itself", "in_another"].iter().all(|name| ran.contains(*name)), "{ran:?}");
        assert!(!ran.contains("never"), "{ran:?}");
    }

    #[test]
    fn a_process_can_be_watched_where_the_others_are() {
        Functions::can_watch().unwrap();
    }

    #[test]
    fn a_program_without_names_is_told() {
        assert!(Functions::of(Path::new("/bin/true")).is_err_and(|why| why.contains("has no names")));
    }
}
