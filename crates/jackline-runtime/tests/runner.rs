//! Commands that behave badly, and what the runner makes of them: on real processes.
#![expect(clippy::unwrap_used, clippy::panic, reason = "what goes wrong in a test's own steps fails the test")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use jackline_core::redact::Redactor;
use jackline_runtime::runner::{self, Confine, Confined, Dialogue, Environment, Exit, Outcome, Spec, Spoken};
use tempfile::TempDir;

/// A generous upper bound for anything that must not hang.
const SOON: Duration = Duration::from_secs(60);

/// A workspace, and a directory beside it that is neither the workspace nor temporary.
struct Place {
    top: TempDir,
}

impl Place {
    fn new() -> Self {
        let top = tempfile::tempdir().unwrap();
        for dir in ["workspace", "temp", "elsewhere"] {
            fs::create_dir(top.path().join(dir)).unwrap();
        }
        Self { top }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.top.path().canonicalize().unwrap().join(name)
    }

    fn spec(&self, argv: &[&str]) -> Spec {
        let mut variables: Vec<(OsString, OsString)> = vec![("TMPDIR".into(), self.at("temp").into())];
        variables.extend(env::var_os("PATH").map(|path| ("PATH".into(), path)));
        let argv = argv.iter().map(|word| (*word).to_owned()).collect();
        Spec::new(argv, self.at("workspace"), Environment::filtered(variables, &[]))
    }

    fn shell(&self, script: &str) -> Spec {
        self.spec(&["/bin/sh", "-c", script])
    }
}

#[track_caller]
fn run(spec: &Spec) -> Outcome {
    let began = Instant::now();
    let outcome = runner::run(spec, &Redactor::new([]));
    assert!(began.elapsed() < SOON, "took {:?}: {outcome:?}", began.elapsed());
    outcome
}

#[track_caller]
fn not_started(spec: &Spec) -> String {
    match run(spec).exit {
        Exit::NotStarted(why) => why,
        other => panic!("{other:?}"),
    }
}

/// Waits until no process has its directory in the workspace any more.
#[cfg(target_os = "linux")]
#[track_caller]
fn nobody_left(workspace: &Path) {
    let at_home = |entry: &fs::DirEntry| fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == workspace);
    let until = Instant::now() + SOON;
    loop {
        let left = fs::read_dir("/proc").unwrap().filter(|entry| entry.as_ref().is_ok_and(at_home)).count();
        if left == 0 {
            return;
        }
        assert!(Instant::now() < until, "{left} processes are left");
        thread::sleep(Duration::from_millis(20));
    }
}

#[cfg(not(target_os = "linux"))]
fn nobody_left(_workspace: &Path) {}

#[test]
fn codes_signals_and_both_streams_are_told() {
    let place = Place::new();
    let outcome = run(&place.shell("echo out; echo oh >&2; exit 3"));
    assert_eq!(outcome.exit, Exit::Code(3));
    assert_eq!((outcome.stdout.text.as_str(), outcome.stderr.text.as_str()), ("out\n", "oh\n"));
    assert_eq!(run(&place.shell("kill -SEGV $$")).exit, Exit::Signal(11));
    assert_eq!(run(&place.spec(&["true"])).exit, Exit::Code(0));
}

#[test]
fn no_shell_reads_the_words() {
    let place = Place::new();
    let words = ["$HOME", "; touch planted", "`id`", "a b", "", "*", "\"'\\"];
    let outcome = run(&place.spec(&[&["printf", "%s|"], words.as_slice()].concat()));
    assert_eq!(outcome.stdout.text, words.map(|word| format!("{word}|")).concat());
    assert!(!place.at("workspace/planted").exists());
}

#[test]
fn it_runs_in_the_workspace_with_nothing_to_read() {
    let place = Place::new();
    let outcome = run(&place.shell("pwd -P; cat"));
    assert_eq!(outcome.exit, Exit::Code(0));
    assert_eq!(outcome.stdout.text.trim_end(), place.at("workspace").to_str().unwrap());
}

#[test]
fn only_listed_and_named_variables_pass() {
    let place = Place::new();
    let all =
        [("PATH", "/usr/bin:/bin"), ("LC_ALL", "C"), ("GITHUB_TOKEN", "x"), ("CLAUDECODE", "1"), ("MY_FLAG", "on")];
    let all = all.map(|(name, value)| (name.into(), value.into()));
    let environment = Environment::filtered(all, &["MY_FLAG".to_owned()]);
    let outcome = run(&Spec { environment, ..place.spec(&["env"]) });
    let mut lines: Vec<&str> = outcome.stdout.text.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["LC_ALL=C", "MY_FLAG=on", "PATH=/usr/bin:/bin", "TERM=dumb"]);
}

#[test]
fn programs_that_cannot_be_run_are_told() {
    let place = Place::new();
    fs::write(place.at("workspace/text"), "x").unwrap();
    let why = |argv: &[&str]| not_started(&place.spec(argv));
    assert!(why(&["no-such-program"]).contains("`no-such-program` is in no directory of PATH"));
    assert!(why(&["/no/such/program"]).contains("`/no/such/program` cannot be run"));
    assert!(why(&["./text"]).contains("not executable"));
    assert!(why(&["/"]).contains("it is no file"));
    assert!(why(&[]).contains("no program"));
    assert!(why(&[""]).contains("no program"));
    assert!(why(&["echo", "a\0b"]).contains("cannot be started"));
    assert!(why(&vec!["x"; 5000]).contains("words"));
    assert!(why(&["echo", &"x".repeat(300_000)]).contains("bytes"));
    assert!(not_started(&Spec { timeout_ms: 0, ..place.spec(&["true"]) }).contains("`0` ms"));
    assert!(not_started(&Spec { timeout_ms: u64::MAX, ..place.spec(&["true"]) }).contains("ms"));
    assert!(not_started(&Spec { workspace: place.at("gone"), ..place.spec(&["true"]) }).contains("workspace"));
}

#[test]
fn the_workspace_supplies_a_program_only_by_path() {
    let place = Place::new();
    let bin = place.at("workspace/bin");
    fs::create_dir(&bin).unwrap();
    for planted in [bin.join("cargo-planted"), place.at("elsewhere/other")] {
        fs::write(&planted, "#!/bin/sh\necho planted\n").unwrap();
        fs::set_permissions(&planted, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let path = format!(".:bin:{}:/usr/bin:/bin", bin.display());
    let spec = |word: &str| Spec {
        environment: Environment::filtered([("PATH".into(), path.as_str().into())], &[]),
        ..place.spec(&[word])
    };
    assert!(not_started(&spec("cargo-planted")).contains("no directory of PATH"));
    assert_eq!(run(&spec("bin/cargo-planted")).stdout.text, "planted\n");
    assert!(not_started(&spec("../elsewhere/other")).contains("leads out of the workspace"));
    std::os::unix::fs::symlink(place.at("elsewhere/other"), bin.join("link")).unwrap();
    assert!(not_started(&spec("bin/link")).contains("leads out of the workspace"));
    std::os::unix::fs::symlink(bin.join("cargo-planted"), place.at("elsewhere/back")).unwrap();
    let environment = Environment::filtered([("PATH".into(), place.at("elsewhere").into())], &[]);
    assert!(not_started(&Spec { environment, ..place.spec(&["back"]) }).contains("no directory of PATH"));
}

#[test]
fn a_flood_of_a_gigabyte_is_drained_and_bounded() {
    let place = Place::new();
    let outcome = runner::run(
        &Spec { timeout_ms: 300_000, ..place.shell("yes 'a line of the flood' | head -c 1000000000; echo; echo end") },
        &Redactor::new([]),
    );
    assert_eq!((outcome.exit, outcome.stdout.bytes_total), (Exit::Code(0), 1_000_000_005));
    assert!(outcome.stdout.truncated && outcome.stdout.text.len() <= runner::SHOWN_BYTES_MAX);
    assert!(outcome.stdout.whole().len() <= runner::KEPT_BYTES_MAX);
    assert!(outcome.stdout.text.starts_with("a line of the flood\n") && outcome.stdout.text.ends_with("\nend\n"));
}

#[test]
fn an_endless_flood_ends_in_time() {
    let place = Place::new();
    let outcome = run(&Spec { timeout_ms: 500, ..place.shell("yes & yes >&2 & yes") });
    assert_eq!(outcome.exit, Exit::TimedOut);
    assert!(outcome.stdout.bytes_total > 0);
    nobody_left(&place.at("workspace"));
}

#[test]
fn what_hangs_is_asked_and_then_ended() {
    let place = Place::new();
    let asked = "trap 'echo tidied; exit 0' TERM; while :; do sleep 0.05; done";
    let outcome = run(&Spec { timeout_ms: 2000, ..place.shell(asked) });
    assert_eq!((outcome.exit, outcome.stdout.text.as_str()), (Exit::TimedOut, "tidied\n"));
    let deaf = "trap '' TERM; exec >&- 2>&-; while :; do sleep 600; done";
    let outcome = run(&Spec { timeout_ms: 300, ..place.shell(deaf) });
    assert_eq!(outcome.exit, Exit::TimedOut);
    nobody_left(&place.at("workspace"));
}

#[track_caller]
fn converse(spec: &Spec, input: &[u8], stop: &dyn Fn() -> bool) -> Spoken {
    let began = Instant::now();
    let spoken = runner::converse(spec, Dialogue { input, stop }, &Redactor::new(["password"]));
    assert!(began.elapsed() < SOON, "took {:?}: {spoken:?}", began.elapsed());
    spoken
}

#[test]
fn a_command_that_is_told_something_is_heard_to_the_letter() {
    let place = Place::new();
    let long = "password=hunter2-secret ".repeat(20_000).into_bytes();
    let spoken = converse(&place.spec(&["cat"]), &long, &|| false);
    assert_eq!((spoken.outcome.exit, spoken.answer), (Exit::Code(0), Some(long.clone())));
    assert!(!spoken.outcome.stdout.text.contains("hunter2-secret"));
    // One that reads nothing, or prints more than is kept, holds nobody up.
    let spoken = converse(&place.shell("echo deaf"), &long.repeat(10), &|| false);
    assert_eq!(spoken.answer.as_deref(), Some(b"deaf\n".as_slice()));
    let spoken = converse(&place.shell("cat; cat /dev/zero | head -c 3000000"), b"x", &|| false);
    assert_eq!((spoken.outcome.exit, spoken.answer), (Exit::Code(0), None));
}

#[test]
fn a_command_that_nobody_wants_any_more_is_ended() {
    let place = Place::new();
    let began = Instant::now();
    let late = || began.elapsed() > Duration::from_millis(300);
    let spoken = converse(&place.shell("cat > /dev/null; sleep 600 & sleep 600"), b"go", &late);
    assert_eq!(spoken.outcome.exit, Exit::Stopped);
    nobody_left(&place.at("workspace"));
}

#[test]
fn whoever_holds_the_pipe_does_not_hold_us() {
    let place = Place::new();
    let outcome = run(&place.shell("echo before; sleep 600 & echo after; exit 7"));
    assert_eq!((outcome.exit, outcome.stdout.text.as_str()), (Exit::Code(7), "before\nafter\n"));
    nobody_left(&place.at("workspace"));
}

/// Who leaves the group is not ended with it; it holds the pipe, and us it does not hold.
#[cfg(target_os = "linux")]
#[test]
fn whoever_leaves_the_group_does_not_hold_us() {
    let place = Place::new();
    let outcome = run(&place.shell("setsid sh -c 'echo $$ > left; exec sleep 600' & while [ ! -s left ]; do :; done"));
    assert_eq!(outcome.exit, Exit::Code(0), "{outcome:?}");
    let left: i32 = fs::read_to_string(place.at("workspace/left")).unwrap().trim().parse().unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_raw(left).unwrap(), rustix::process::Signal::KILL)
        .unwrap();
    nobody_left(&place.at("workspace"));
}

#[test]
fn a_fork_bomb_ends_with_its_group() {
    let place = Place::new();
    let bomb = "bomb() { trap '' TERM; [ $1 = 0 ] || { bomb $(($1 - 1)) & bomb $(($1 - 1)) & }; sleep 600; }; bomb 5";
    let outcome = run(&Spec { timeout_ms: 1500, ..place.shell(bomb) });
    assert_eq!(outcome.exit, Exit::TimedOut);
    nobody_left(&place.at("workspace"));
}

#[test]
fn other_bytes_and_secrets_do_not_get_out() {
    let place = Place::new();
    let outcome = run(&place.shell("printf 'a\\377b token=ghp_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2 c'"));
    assert!(outcome.stdout.lossy && outcome.stdout.redacted && !outcome.stdout.truncated);
    assert!(outcome.stdout.text.starts_with("a\u{fffd}b ") && !outcome.stdout.text.contains("a1B2"));
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::net::{Ipv4Addr, TcpListener};
    use std::process::Command;

    use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};

    use super::*;

    /// Whether this kernel can confine; if not, says aloud that the test was skipped.
    #[expect(clippy::print_stderr, reason = "no test is skipped in silence")]
    fn can_confine(place: &Place) -> bool {
        match run(&Spec { confine: Confine::Require, ..place.spec(&["true"]) }).exit {
            Exit::Code(0) => true,
            Exit::NotConfined(why) => {
                eprintln!("SKIPPED: {why}");
                false
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn our_open_files_are_not_inherited() {
        let place = Place::new();
        let open = File::create(place.at("elsewhere/open")).unwrap();
        fcntl_setfd(&open, FdFlags::empty()).unwrap();
        let script = "readlink /proc/self/fd/*";
        let plainly = Command::new("/bin/sh").args(["-c", script]).output().unwrap();
        assert!(String::from_utf8_lossy(&plainly.stdout).contains("elsewhere/open"), "else this shows nothing");
        for confine in [Confine::Off, Confine::Auto] {
            let outcome = run(&Spec { confine, ..place.shell(script) });
            assert!(outcome.stdout.text.contains("/dev/null"), "{outcome:?}");
            assert!(!outcome.stdout.text.contains("elsewhere/open"), "{outcome:?}");
        }
        assert_eq!(fcntl_getfd(&open).unwrap(), FdFlags::empty(), "nothing changes for us");
    }

    #[test]
    fn nothing_of_ours_stays_open() {
        let place = Place::new();
        let open = || fs::read_dir("/proc/self/fd").unwrap().count();
        let before = open();
        (0..64).for_each(|_| assert_eq!(run(&place.spec(&["true"])).exit, Exit::Code(0)));
        // Other tests open files meanwhile; 64 runs that leak would leave more.
        assert!(open() < before + 60, "{} before, {} now", before, open());
    }

    #[test]
    fn no_image_of_memory_is_left() {
        let place = Place::new();
        // The bound is set while the command starts; it is given a moment.
        let outcome = run(&place
            .shell("for _ in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1; [ \"$(ulimit -Hc)\" = 0 ] && exit 0; done; exit 1"));
        assert_eq!(outcome.exit, Exit::Code(0));
    }

    #[test]
    fn a_confined_command_writes_only_where_it_may() {
        let place = Place::new();
        if !can_confine(&place) {
            return;
        }
        fs::write(place.at("elsewhere/kept"), "kept").unwrap();
        fs::create_dir(place.at("elsewhere/cache")).unwrap();
        let denied = [
            "echo x > $E/new",
            "echo x >> $E/kept",
            ": > $E/kept",
            "rm $E/kept",
            "mkdir $E/d",
            "ln -s x $E/l",
            "mv $E/kept .",
            "ln $E/kept hard",
        ];
        let allowed = [
            "echo x > here",
            "mkdir d && mv here d/",
            "echo x > $TMPDIR/t && mv $TMPDIR/t back",
            "echo x > $E/cache/f",
            "cat $E/kept",
            "echo x > /dev/null",
            "ls / > list",
        ];
        let script = |line: &str| line.replace("$E", place.at("elsewhere").to_str().unwrap());
        let spec = |line: &str, confine| Spec {
            confine,
            writable: vec![place.at("elsewhere/cache"), place.at("no-such")],
            ..place.shell(&script(line))
        };
        for line in denied {
            let outcome = run(&spec(line, Confine::Require));
            assert!(matches!(outcome.exit, Exit::Code(1..)), "{line}: {outcome:?}");
            assert_eq!(fs::read_to_string(place.at("elsewhere/kept")).unwrap(), "kept", "{line}");
        }
        assert_eq!(fs::read_dir(place.at("elsewhere")).unwrap().count(), 2);
        for line in allowed {
            let outcome = run(&spec(line, Confine::Require));
            assert_eq!((&outcome.exit, &outcome.confined), (&Exit::Code(0), &Confined::Yes), "{line}: {outcome:?}");
        }
        let outcome = run(&spec("echo x > $E/new", Confine::Off));
        assert_eq!((outcome.exit, place.at("elsewhere/new").exists()), (Exit::Code(0), true));
        assert!(matches!(outcome.confined, Confined::No(_)));
        assert!(fs::write(place.at("elsewhere/ours"), "x").is_ok(), "we are not confined");
    }

    #[test]
    fn what_it_leaves_behind_stays_confined() {
        let place = Place::new();
        if !can_confine(&place) {
            return;
        }
        let late = format!(
            "setsid sh -c 'sleep 0.2; echo x > {}/late; echo > over' >&- 2>&- & sleep 0.1",
            place.at("elsewhere").display()
        );
        assert_eq!(run(&place.shell(&late)).exit, Exit::Code(0));
        let until = Instant::now() + SOON;
        while !place.at("workspace/over").exists() {
            assert!(Instant::now() < until);
            thread::sleep(Duration::from_millis(20));
        }
        assert!(!place.at("elsewhere/late").exists());
    }

    #[test]
    fn a_confined_command_reaches_no_port_and_no_process() {
        let place = Place::new();
        if !can_confine(&place) {
            return;
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{port}");
        let spec = |network| Spec { network, confine: Confine::Require, ..place.spec(&["bash", "-c", &connect]) };
        let outcome = run(&spec(false));
        assert!(matches!(outcome.exit, Exit::Code(1..)) && outcome.stderr.text.contains("denied"), "{outcome:?}");
        assert_eq!(run(&spec(true)).exit, Exit::Code(0));
        let signal = |confine| run(&Spec { confine, ..place.shell(&format!("kill -0 {}", std::process::id())) }).exit;
        assert_eq!(signal(Confine::Off), Exit::Code(0));
        if linux() >= (6, 12) {
            assert_eq!(signal(Confine::Auto), Exit::Code(1));
        } else {
            eprintln!("SKIPPED: signals are held since Linux 6.12");
        }
    }

    fn linux() -> (u32, u32) {
        let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
        let mut numbers = release.split('.').map(|part| part.parse().unwrap_or(0));
        (numbers.next().unwrap(), numbers.next().unwrap())
    }

    #[test]
    fn required_confinement_is_had_or_nothing_runs() {
        let place = Place::new();
        let outcome = run(&Spec { confine: Confine::Require, ..place.shell("echo x > ran") });
        match outcome.exit {
            Exit::Code(0) => assert_eq!((outcome.confined, place.at("workspace/ran").exists()), (Confined::Yes, true)),
            Exit::NotConfined(why) => assert!(!why.is_empty() && !place.at("workspace/ran").exists()),
            other => panic!("{other:?}"),
        }
    }
}
