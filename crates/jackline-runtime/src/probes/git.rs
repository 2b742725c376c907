//! The one place that runs git: a program the workspace cannot supply, a clean environment, settings of the
//! repository that would run something switched off, bounded time and output, nothing ever written.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};

use super::fingerprint::small;
use super::fold;

/// Milliseconds for all git calls of one answer; a tool call waits for them.
pub(crate) const GIT_MS_MAX: u64 = 5000;

/// Bytes of a listing: some 200,000 files with their stat data.
const OUTPUT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Bytes of complaints; only the first line or two are kept.
const ERROR_BYTES_MAX: u64 = 64 * 1024;

/// Characters of a complaint that go into the record.
const COMPLAINT_CHARS_MAX: usize = 200;

/// Between two looks at a program that closed its output and has not ended yet: it mostly does at once.
const POLL_MIN: Duration = Duration::from_micros(20);
/// The same once it did not: nobody waits for less.
const POLL_MAX: Duration = Duration::from_millis(1);

/// Filters that are switched off by name; a repository has one or two, and a word of the command line for each.
const FILTERS_MAX: usize = 64;

/// Bytes of a list of packed references that is looked through.
pub(crate) const PACKED_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Bytes of the files that name a git directory, or a commit: one path.
const POINTER_BYTES_MAX: u64 = 8 * 1024;

/// Where git is looked for first: directories that an agent's user cannot usually write.
const SYSTEM_DIRS: [&str; 4] = ["/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin"];

/// Those of them whose git comes from the system's packages.
const PACKAGED_DIRS: [&str; 2] = ["/usr/bin", "/bin"];

/// Settings that would make git run a program, ask a network, write, or take a changed file for an unchanged one,
/// overridden on every call.
const NEUTRAL: [&str; 11] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "diff.external=",
    "protocol.allow=never",
    "credential.helper=",
    "core.trustctime=true",
    "core.checkStat=default",
    "core.ignoreStat=false",
];

/// Variables every call gets besides `HOME`; nothing of our own environment is passed on.
const VARIABLES: [(&str, &str); 12] = [
    ("PATH", "/usr/bin:/bin"),
    ("LC_ALL", "C"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    // We look for the repository without regard to mounts, so git shall too.
    ("GIT_DISCOVERY_ACROSS_FILESYSTEM", "1"),
    // A user's settings may ask for a trace to be written or sent.
    ("GIT_TRACE2", "0"),
    ("GIT_TRACE2_EVENT", "0"),
    ("GIT_TRACE2_PERF", "0"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    // Commits are what they were when they were made, whatever was put in their place since.
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_GRAFT_FILE", "/dev/null"),
];

/// Why git gave no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GitFault {
    #[error("git cannot be run: {0}")]
    Unusable(#[from] io::Error),
    #[error("git took longer than it may")]
    Late,
    #[error("git printed more than {0} bytes")]
    Long(u64),
    #[error("git failed: {0}")]
    Failed(String),
}

/// What git printed.
pub(crate) type Printed = Result<Vec<u8>, GitFault>;

/// A git program that may be trusted as far as the system is.
#[derive(Debug, Clone)]
pub(crate) struct Git {
    program: PathBuf,
    home: Option<PathBuf>,
}

impl Git {
    /// Searches the system's directories, then those of `PATH` that are absolute and outside the workspace.
    pub(crate) fn find(root: &Path, home: Option<&Path>) -> Option<Self> {
        let search = env::var_os("PATH").unwrap_or_default();
        let program = program(&SYSTEM_DIRS.map(PathBuf::from), &search, root)?;
        Some(Self { program, home: home.map(Path::to_owned) })
    }

    /// The settings of the user that git reads are below it.
    pub(crate) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// The settings of the system that git reads; nothing where a program of another make may read others.
    pub(crate) fn system_settings(&self) -> Option<PathBuf> {
        let packaged =
            cfg!(target_os = "linux") && PACKAGED_DIRS.iter().any(|dir| self.program.parent() == Some(Path::new(dir)));
        packaged.then(|| PathBuf::from("/etc/gitconfig"))
    }

    /// Runs git in a directory of the repository below `top`; what it printed, if it was content.
    pub(crate) fn run(&self, at: &At<'_>, words: &[&str], input: Vec<u8>) -> Printed {
        self.heard(at, words, input).map(|(printed, _)| printed)
    }

    /// The same, and what it complained of while it was content.
    pub(crate) fn heard(&self, at: &At<'_>, words: &[&str], input: Vec<u8>) -> Result<(Vec<u8>, Vec<u8>), GitFault> {
        let mut command = self.command(at, words);
        command.stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() });
        let mut child = command.spawn()?;
        let printed = attend(&mut child, &input, at.until);
        if printed.is_err() {
            end(&mut child);
        }
        printed
    }

    fn command(&self, at: &At<'_>, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().envs(VARIABLES).envs(self.home.iter().map(|home| ("HOME", home)));
        // Else a broken nested repository would be taken for a part of the one around it.
        command.envs(at.top.parent().map(|above| ("GIT_CEILING_DIRECTORIES", above)));
        // A repository may say that its work tree is elsewhere, or that it has none: what lies here would go unseen.
        command.env("GIT_WORK_TREE", at.top);
        command.arg("--no-optional-locks").args(NEUTRAL.iter().flat_map(|setting| ["-c", setting]));
        // Else a new file would be taken for one that has the same name in other letters.
        command.args(Some(["-c", "core.ignorecase=false"]).filter(|_| !fold::folds(at.top)).into_iter().flatten());
        command.args(words);
        command.current_dir(at.dir).process_group(0);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

/// Where and until when git is run.
#[derive(Debug)]
pub(crate) struct At<'a> {
    pub(crate) dir: &'a Path,
    pub(crate) top: &'a Path,
    pub(crate) until: Instant,
}

fn program(system: &[PathBuf], search: &OsString, root: &Path) -> Option<PathBuf> {
    let root = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
    let outside = |path: &Path| fs::canonicalize(path).is_ok_and(|path| !path.starts_with(&root));
    let others = env::split_paths(search).filter(|dir| dir.is_absolute()).map(|dir| dir.join("git"));
    let others = others.filter(|git| git.parent().is_some_and(outside) && outside(git));
    system.iter().map(|dir| dir.join("git")).chain(others).find(|git| executable(git))
}

fn executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Feeds and drains a child until it ends well or its time is up.
fn attend(child: &mut Child, input: &[u8], until: Instant) -> Result<(Vec<u8>, Vec<u8>), GitFault> {
    let (printed, complaints) = Pipes::of(child, input)?.attend(until)?;
    if exit(child, until)?.success() {
        return Ok((printed, complaints));
    }
    Err(GitFault::Failed(complaint(&String::from_utf8_lossy(&complaints))))
}

/// The first line of what git complained; one that only announces the next, with that.
fn complaint(all: &str) -> String {
    // Hints come with whatever git does, and say nothing of why it failed.
    let mut lines = all.lines().filter(|line| !line.starts_with("hint:"));
    let first = lines.next().unwrap_or_default();
    let next = lines.next().filter(|_| first.ends_with(':')).map(|next| format!(" {}", next.trim()));
    format!("{first}{}", next.unwrap_or_default()).chars().take(COMPLAINT_CHARS_MAX).collect()
}

/// Both ways to a child at once, without a thread: none of them waits for another, and a program that keeps one open does
/// not keep us.
struct Pipes<'a> {
    printed: Drain<ChildStdout>,
    complaints: Drain<ChildStderr>,
    fed: Option<ChildStdin>,
    input: &'a [u8],
}

impl<'a> Pipes<'a> {
    fn of(child: &mut Child, input: &'a [u8]) -> io::Result<Self> {
        let printed = Drain::of(child.stdout.take(), OUTPUT_BYTES_MAX)?;
        let complaints = Drain::of(child.stderr.take(), ERROR_BYTES_MAX)?;
        let fed = child.stdin.take();
        fed.iter().try_for_each(at_once)?;
        Ok(Self { printed, complaints, fed, input })
    }

    /// What was printed and complained of, once the child has closed both.
    fn attend(mut self, until: Instant) -> Result<(Vec<u8>, Vec<u8>), GitFault> {
        while self.printed.pipe.is_some() || self.complaints.pipe.is_some() {
            self.wait(until)?;
            self.feed();
            self.printed.take()?;
            self.complaints.take()?;
        }
        Ok((self.printed.bytes, self.complaints.bytes))
    }

    /// Until one of them can be read or written.
    fn wait(&self, until: Instant) -> Result<(), GitFault> {
        let mut ready: Vec<PollFd<'_>> = Vec::with_capacity(3);
        ready.extend(self.printed.pipe.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        ready.extend(self.complaints.pipe.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        ready.extend(self.fed.iter().map(|pipe| PollFd::new(pipe, PollFlags::OUT)));
        let left = until.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).map_err(io::Error::other)?;
        match poll(&mut ready, Some(&left)) {
            Ok(0) => Err(GitFault::Late),
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(fault) => Err(GitFault::Unusable(fault.into())),
        }
    }

    /// A child that stops reading ends the write with an error; its exit code says the rest.
    fn feed(&mut self) {
        let Some(pipe) = &mut self.fed else { return };
        match pipe.write(self.input) {
            Ok(taken) => self.input = self.input.get(taken..).unwrap_or_default(),
            Err(fault) if is_early(&fault) => {}
            Err(_) => self.input = &[],
        }
        if self.input.is_empty() {
            self.fed = None;
        }
    }
}

/// What comes out of a pipe, until it is closed.
struct Drain<R> {
    pipe: Option<R>,
    bytes: Vec<u8>,
    bytes_max: u64,
}

impl<R: Read + AsFd> Drain<R> {
    fn of(pipe: Option<R>, bytes_max: u64) -> io::Result<Self> {
        pipe.iter().try_for_each(at_once)?;
        Ok(Self { pipe, bytes: Vec::new(), bytes_max })
    }

    /// All that is there by now.
    fn take(&mut self) -> Result<(), GitFault> {
        let Some(pipe) = &mut self.pipe else { return Ok(()) };
        let room = (self.bytes_max + 1).saturating_sub(self.bytes.len() as u64);
        match pipe.take(room).read_to_end(&mut self.bytes) {
            Ok(_) => self.pipe = None,
            Err(fault) if is_early(&fault) => {}
            Err(fault) => return Err(fault.into()),
        }
        if self.bytes.len() as u64 > self.bytes_max { Err(GitFault::Long(self.bytes_max)) } else { Ok(()) }
    }
}

/// Has a pipe say that there is nothing, or no room, instead of waiting.
fn at_once(pipe: impl AsFd) -> io::Result<()> {
    Ok(rustix::fs::fcntl_setfl(&pipe, rustix::fs::fcntl_getfl(&pipe)? | OFlags::NONBLOCK)?)
}

fn is_early(fault: &io::Error) -> bool {
    matches!(fault.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn exit(child: &mut Child, until: Instant) -> Result<ExitStatus, GitFault> {
    let mut pause = POLL_MIN;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() >= until {
            return Err(GitFault::Late);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(POLL_MAX);
    }
}

/// Ends a child and all it started; it is not reaped yet, so its number is still its own.
fn end(child: &mut Child) {
    if matches!(child.try_wait(), Ok(None)) {
        if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
            // It may have ended by itself in this moment; then there is nothing to end.
            let _ = kill_process_group(pid, Signal::KILL);
        }
        let _ = child.wait();
    }
}

/// Settings that keep git from running the repository's own filter programs over changed files, from a list of its
/// settings: `key NUL`, or `key LF value NUL`.
pub(crate) fn without_filters(listed: &[u8]) -> Result<Vec<String>, GitFault> {
    let mut drivers: Vec<String> = Vec::new();
    let keys = listed.split(|byte| *byte == 0).filter_map(|setting| setting.split(|byte| *byte == b'\n').next());
    for key in keys.map(String::from_utf8_lossy) {
        let driver = key.strip_prefix("filter.").and_then(|rest| rest.rsplit_once('.')).map(|(name, _)| name);
        drivers.extend(driver.filter(|name| !drivers.iter().any(|known| known == name)).map(str::to_owned));
    }
    if drivers.len() > FILTERS_MAX || drivers.iter().any(|name| name.contains('=')) {
        return Err(GitFault::Failed("the repository has filters that cannot be switched off".to_owned()));
    }
    let off = |name: &String| ["clean=", "process=", "required=false"].map(|rest| format!("filter.{name}.{rest}"));
    Ok(drivers.iter().flat_map(off).collect())
}

/// Where a repository keeps its things.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Repository {
    /// The top of its work tree.
    pub(crate) top: PathBuf,
    /// `.git`, or what a `.git` file names: the index of this work tree.
    pub(crate) dir: PathBuf,
    /// What all its work trees share: settings, hooks.
    pub(crate) common: PathBuf,
    /// Whether `.git` is a file that names `dir`, as in submodules and linked work trees.
    pub(crate) linked: bool,
}

impl Repository {
    /// The repository around a directory, found upwards as git does.
    pub(crate) fn around(dir: &Path) -> Option<Self> {
        dir.ancestors().find_map(Self::at)
    }

    /// The repository whose work tree begins exactly here.
    pub(crate) fn at(top: &Path) -> Option<Self> {
        // Most directories have none, and one look tells.
        let dot = top.join(".git");
        fs::symlink_metadata(&dot).ok()?;
        let dot = crate::canonical(&dot).ok()?;
        let linked = !dot.is_dir();
        let dir = if linked { pointed(&dot, top, b"gitdir: ")? } else { dot };
        // Like git, pass over a directory that merely has the name.
        fs::symlink_metadata(dir.join("HEAD")).ok()?;
        let common = pointed(&dir.join("commondir"), &dir, b"").unwrap_or_else(|| dir.clone());
        Some(Self { top: top.to_owned(), dir, common, linked })
    }
}

impl Repository {
    /// Whether the repository knows a linked work tree where it is found: a link to it alone may have been put anywhere.
    pub(crate) fn is_known(&self) -> bool {
        let back = pointed(&self.dir.join("gitdir"), &self.dir, b"").and_then(|link| crate::canonical(&link).ok());
        !self.linked || back.is_some_and(|link| link == self.top.join(".git"))
    }

    /// The commit that is checked out, as far as plain files tell; git knows other ways to keep it.
    pub(crate) fn checked_out(&self) -> Option<String> {
        let head = small(&self.dir.join("HEAD"), POINTER_BYTES_MAX)?;
        let head = str::from_utf8(&head).ok()?.strip_suffix('\n')?;
        let Some(name) = head.strip_prefix("ref: ") else { return is_id(head).then(|| head.to_owned()) };
        let plain = name.starts_with("refs/heads/") && !name.contains("..") && !name.contains(char::is_whitespace);
        let loose = self.common.join(Some(name).filter(|_| plain)?);
        if let Some(text) = small(&loose, POINTER_BYTES_MAX) {
            let id = str::from_utf8(&text).ok()?.strip_suffix('\n')?;
            return is_id(id).then(|| id.to_owned());
        }
        if fs::symlink_metadata(&loose).is_ok() {
            return None;
        }
        let packed = small(&self.common.join("packed-refs"), PACKED_BYTES_MAX)?;
        let packed = packed.split(|byte| *byte == b'\n').filter_map(|line| str::from_utf8(line).ok()?.split_once(' '));
        packed.filter(|(id, known)| *known == name && is_id(id)).map(|(id, _)| id.to_owned()).next()
    }
}

/// Whether a text is an id of either kind.
fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The path that a one-line file names, seen from `base`.
fn pointed(file: &Path, base: &Path, prefix: &[u8]) -> Option<PathBuf> {
    let text = small(file, POINTER_BYTES_MAX)?;
    let mut path = text.strip_prefix(prefix)?;
    while let Some(rest) = path.strip_suffix(b"\n").or_else(|| path.strip_suffix(b"\r")) {
        path = rest;
    }
    (!path.is_empty()).then(|| base.join(OsStr::from_bytes(path)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

    /// Writes a program from another process: a file this one has open for writing could not be run.
    fn script(path: &Path, text: &str) {
        let mut child = Command::new("sh")
            .args(["-c", "cat > \"$0\" && chmod 755 \"$0\""])
            .arg(path)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
    }

    /// Runs a stand-in for git and says what came of it.
    fn run(dir: &TempDir, text: &str, input: &[u8], ms: u64) -> Printed {
        let program = dir.path().join("git");
        script(&program, &format!("#!/bin/sh\n{text}\n"));
        let git = Git { program, home: Some("/home/dev".into()) };
        let until = Instant::now() + Duration::from_millis(ms);
        git.run(&At { dir: dir.path(), top: dir.path(), until }, &["ls-files", "-z"], input.to_vec())
    }

    #[track_caller]
    fn check(search: &str, want: Option<&str>) {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        for place in ["ws/bin", "tools", "plain", "links"] {
            fs::create_dir_all(at(place)).unwrap();
        }
        script(&at("ws/bin/git"), "#!/bin/sh\n");
        script(&at("tools/git"), "#!/bin/sh\n");
        fs::write(at("plain/git"), "").unwrap();
        symlink(at("ws/bin/git"), at("links/git")).unwrap();
        symlink(at("ws/bin"), at("bin")).unwrap();
        let search = search.replace('@', dir.path().to_str().unwrap());
        let found = program(&[at("nowhere")], &search.clone().into(), &at("ws"));
        assert_eq!(found, want.map(at), "{search}");
    }

    #[test]
    fn git_never_comes_from_the_workspace() {
        check("@/tools", Some("tools/git"));
        check("@/ws/bin:@/tools", Some("tools/git"));
        check("bin:.::@/plain:@/links:@/bin:@/tools", Some("tools/git"));
        check("@/ws/../ws/bin", None);
        check("", None);
    }

    #[test]
    fn the_system_comes_first() {
        let dir = tempfile::tempdir().unwrap();
        for place in ["system", "tools"] {
            fs::create_dir(dir.path().join(place)).unwrap();
            script(&dir.path().join(place).join("git"), "#!/bin/sh\n");
        }
        let search = dir.path().join("tools").into_os_string();
        let found = program(&[dir.path().join("system")], &search, &dir.path().join("ws"));
        assert_eq!(found, Some(dir.path().join("system/git")));
    }

    #[test]
    fn a_call_is_neutral_and_its_environment_clean() {
        let dir = tempfile::tempdir().unwrap();
        let printed = String::from_utf8(run(&dir, "echo \"$@\"; env; cat", b"fed", 5000).unwrap()).unwrap();
        let words = printed.lines().next().unwrap();
        assert!(words.starts_with("--no-optional-locks -c core.fsmonitor=false"), "{words}");
        assert!(words.ends_with("ls-files -z"), "{words}");
        assert!(printed.ends_with("fed"), "{printed}");
        for line in ["HOME=/home/dev", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C"] {
            assert!(printed.lines().any(|seen| seen == line), "{line}: {printed}");
        }
        // Cargo sets this one for every test.
        assert!(env::var_os("CARGO_MANIFEST_DIR").is_some());
        assert!(!printed.contains("CARGO"), "{printed}");
    }

    #[test]
    fn a_failure_is_told_by_its_first_line() {
        let dir = tempfile::tempdir().unwrap();
        match run(&dir, "echo 'fatal: one' >&2; echo two >&2; exit 128", b"", 5000) {
            Err(GitFault::Failed(text)) => assert_eq!(text, "fatal: one"),
            other => panic!("{other:?}"),
        }
        assert_eq!(
            complaint(
                "hint: something is deprecated.\nhint: Use another.\nfatal: unknown extension found:\n\trefstorage\n"
            ),
            "fatal: unknown extension found: refstorage"
        );
        let gone = Git { program: dir.path().join("gone"), home: None };
        let at = At { dir: dir.path(), top: dir.path(), until: Instant::now() };
        assert!(matches!(gone.run(&at, &[], Vec::new()), Err(GitFault::Unusable(_))));
    }

    #[test]
    fn output_is_bounded() {
        let dir = tempfile::tempdir().unwrap();
        for (bytes, want) in [(&b"abc"[..], true), (b"abcd", false)] {
            fs::write(dir.path().join("a"), bytes).unwrap();
            let mut drain = Drain::of(fs::File::open(dir.path().join("a")).ok(), 3).unwrap();
            assert_eq!(drain.take().is_ok(), want);
        }
        let noisy = run(&dir, "while :; do echo complaint complaint complaint >&2; done", b"", 5000);
        assert!(matches!(noisy, Err(GitFault::Long(_) | GitFault::Late)), "{noisy:?}");
    }

    #[test]
    fn unread_input_does_not_hang() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(run(&dir, "echo done", &vec![b'x'; 4 << 20], 5000).unwrap(), b"done\n");
    }

    #[test]
    fn a_late_call_ends_with_all_it_started() {
        let dir = tempfile::tempdir().unwrap();
        let start = Instant::now();
        let late = run(&dir, "sleep 77 & echo $! > pid; echo $$ > leader; wait", b"", 1500);
        assert!(matches!(late, Err(GitFault::Late)), "{late:?}");
        assert!(start.elapsed() < Duration::from_secs(20));
        for file in ["pid", "leader"] {
            let pid = fs::read_to_string(dir.path().join(file)).unwrap();
            // Orphans are reaped by someone else, in a moment.
            let gone = (0..200).any(|_| {
                thread::sleep(Duration::from_millis(10));
                !running(pid.trim())
            });
            assert!(gone, "{file}");
        }
    }

    fn running(pid: &str) -> bool {
        let state = Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap();
        let state = String::from_utf8(state.stdout).unwrap();
        !state.trim().is_empty() && !state.starts_with('Z')
    }

    #[test]
    fn closing_the_output_is_not_ending() {
        let dir = tempfile::tempdir().unwrap();
        let late = run(&dir, "exec >&- 2>&-; sleep 77", b"", 300);
        assert!(matches!(late, Err(GitFault::Late)), "{late:?}");
    }

    #[test]
    fn repositories_are_found_as_git_finds_them() {
        let dir = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(dir.path()).unwrap();
        for place in ["repo/.git/worktrees/w", "repo/src/deep", "repo/fake/.git", "linked/src", "broken"] {
            fs::create_dir_all(top.join(place)).unwrap();
        }
        let git = top.join("repo/.git");
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(git.join("worktrees/w/HEAD"), "ref: refs/heads/w\n").unwrap();
        fs::write(git.join("worktrees/w/commondir"), "../..\n").unwrap();
        fs::write(top.join("linked/.git"), "gitdir: ../repo/.git/worktrees/w\n").unwrap();
        fs::write(top.join("broken/.git"), "no pointer\n").unwrap();
        let around = |place: &str| Repository::around(&top.join(place));
        let main = Repository { top: top.join("repo"), dir: git.clone(), common: git, linked: false };
        assert_eq!(around("repo/src/deep").unwrap(), main);
        assert_eq!(around("repo/fake").unwrap(), main);
        assert_eq!(around("broken"), None);
        let linked = around("linked/src").unwrap();
        assert!(linked.linked);
        assert_eq!(fs::canonicalize(linked.common).unwrap(), main.common);
        assert_eq!(fs::canonicalize(linked.dir).unwrap(), main.dir.join("worktrees/w"));
    }
}
