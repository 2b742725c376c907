//! Odd places and hostile hands: no home, links, names that are no text, cut logs, closed pipes, terminals.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::{DEFINITION, EVENTS, World};

/// How long a followed log may take to show what was appended; generous, for a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

fn jackline(world: &World, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jackline"));
    command.args(arguments).current_dir(world.path("ws")).env_clear().env("HOME", world.path("home"));
    command
}

fn push(session: &str) -> String {
    let call = r#"{"id":"c1","tool":"Bash","args":{"command":"git push"}}"#;
    format!("{{\"event\":\"call.requested\",\"session\":\"{session}\",\"call\":{call}}}\n")
}

#[test]
fn an_export_verifies_and_a_changed_one_does_not() {
    let world = World::played();
    let export = jackline(&world, &["audit", "export"]).output().expect("ran").stdout;
    let text = String::from_utf8(export).expect("UTF-8");
    let (code, ..) = world.run(&["audit", "verify", "-"], &text);
    assert_eq!(code, Some(0));
    let (code, stdout, _) = world.run(&["audit", "verify", "-"], &text.replace("git commit -m x", "git commit -m y"));
    assert_eq!(code, Some(1));
    assert!(stdout.starts_with("broken at record 5 of session s1 (line 5): "), "{stdout}");
}

#[test]
fn a_cut_log_is_found_by_the_head_signed_at_the_end() {
    let world = World::played();
    let log = world.stored("audit.jsonl");
    let text = fs::read_to_string(&log).expect("read");
    let cut: String = text.lines().take(6).map(|line| format!("{line}\n")).collect();
    fs::write(&log, cut).expect("written");
    let (code, stdout, _) = world.run(&["audit", "verify"], "");
    assert_eq!(code, Some(1));
    assert!(stdout.starts_with("broken at record 17 of session s1"), "{stdout}");
    fs::remove_dir_all(log.parent().expect("a parent")).expect("removed");
    let (code, stdout, _) = world.run(&["audit", "verify"], "");
    assert_eq!(code, Some(1), "a log that is gone altogether");
    assert!(stdout.starts_with("broken at record 17 of session s1"), "{stdout}");
}

#[test]
fn the_last_line_end_is_part_of_the_log() {
    let world = World::defined("jackline: 1\naudit: { checkpoint: false }\n");
    world.run(&["eval"], EVENTS);
    let log = world.stored("audit.jsonl");
    let whole = fs::read(&log).expect("read");
    let kept = &whole[..whole.len() - 1];
    for last in [b"".as_slice(), b"\x0b", b" ", b"x"] {
        fs::write(&log, [kept, last].concat()).expect("written");
        let broken = "broken at record 17 of session s1 (line 17): it is not ended by a line end\n";
        world.check(&["audit", "verify"], 1, broken, "");
    }
    fs::write(&log, [whole.as_slice(), b"{\"actor\":\"ag"].concat()).expect("written");
    let note = "note: s1: 12 bytes of an unfinished record follow; the next event cuts them off and records it\n";
    world.check(&["audit", "verify"], 0, "s1: 17 records, head #17 HASH\n1 chain verified\n", note);
}

#[test]
fn a_checkpoint_of_another_key_is_not_believed() {
    let world = World::played();
    let signed = jackline(&world, &["audit", "checkpoint"]).output().expect("ran").stdout;
    fs::write(world.path("ws/head"), signed).expect("written");
    let key = "0".repeat(64);
    world.check(
        &["audit", "verify", "--checkpoint", "head"],
        0,
        "s1: 17 records, head #17 HASH\n1 chain verified\n",
        "",
    );
    world.check(
        &["audit", "verify", "--checkpoint", "head", "--public-key", &key],
        1,
        "",
        "error: a checkpoint in `head` does not hold: checkpoint was signed by another key than the trusted one\n",
    );
}

#[test]
fn json_shows_the_same_events_as_the_timeline() {
    let world = World::played();
    let (_, stdout, _) = world.run(&["log", "--format", "json", "--would-deny"], "");
    assert_eq!(stdout.lines().count(), 2, "an event and its decision: {stdout}");
    assert!(stdout.contains("WebFetch") && !stdout.contains("git commit"), "{stdout}");
    let (_, stdout, _) = world.run(&["log", "--format", "json", "-n", "2"], "");
    assert_eq!(stdout.lines().count(), 5, "a stop has a record more: {stdout}");
}

#[test]
fn nothing_shown_steers_a_terminal() {
    let world = World::defined("jackline: 1\npolicies: [ { paths: {} } ]\n");
    let odd = r#"{"event":"call.requested","session":"s1","host":"\u001bh","agent":"\u001b]0;t\u0007","call":{"tool":"Write","args":{"file_path":"/etc/\u001b[2Jx\u009b31m"}}}
{"event":"call.requested","session":"s1","call":{"tool":"x\u001b[31m\u007f","args":{}}}
"#;
    world.run(&["eval"], odd);
    for arguments in [
        vec!["log"],
        vec!["explain", "s1", "2"],
        vec!["explain", "s1", "4"],
        vec!["sessions", "--all"],
        vec!["audit", "show", "s1"],
        vec!["audit", "verify"],
    ] {
        let (code, stdout, stderr) = world.run(&arguments, "");
        assert_eq!(code, Some(0), "{arguments:?}");
        let steering = stdout.chars().chain(stderr.chars()).find(|c| c.is_control() && *c != '\n');
        assert_eq!(steering, None, "{arguments:?}: {stdout:?}");
    }
}

#[test]
fn without_a_home_what_needs_none_works() {
    let world = World::defined(DEFINITION);
    let homeless = |arguments: &[&str], input: &str| {
        let mut command = jackline(&world, arguments);
        command.env_remove("HOME");
        world.spawn(command, input)
    };
    let (code, _, stderr) = homeless(&["eval"], &push("s1"));
    assert_eq!((code, stderr.lines().next()), (Some(2), Some("error: there is no place for the state")));
    let (code, stdout, _) = homeless(&["eval", "--store", "none"], &push("s1"));
    assert!(code == Some(0) && stdout.contains("rule/no-push"), "{stdout}");
    assert_eq!(homeless(&["check"], "").0, Some(0));
}

#[test]
fn a_store_of_none_keeps_nothing() {
    let world = World::defined(DEFINITION);
    assert_eq!(world.run(&["eval", "--store", "none"], EVENTS).0, Some(0));
    assert_eq!(fs::read_dir(world.path("home")).expect("there").count(), 0);
}

#[test]
fn the_environment_and_the_option_name_the_same_store() {
    let world = World::defined(DEFINITION);
    let mut command = jackline(&world, &["eval"]);
    command.env("JACKLINE_HOME", world.path("elsewhere"));
    assert_eq!(world.spawn(command, EVENTS).0, Some(0));
    let listed = "s1                                    2026-03-01 09:00:00  claude         17 records  complete\n";
    world.check(&["sessions", "--store", "../elsewhere"], 0, listed, "");
    world.check(&["sessions"], 0, "no sessions here yet\n", "");
}

#[test]
fn a_workspace_behind_a_link_is_the_workspace() {
    let world = World::defined(DEFINITION);
    std::os::unix::fs::symlink(world.path("ws"), world.path("link")).expect("linked");
    assert_eq!(world.run(&["eval", "--workspace", "../link"], EVENTS).0, Some(0));
    let (_, stdout, _) = world.run(&["sessions", "--all"], "");
    assert!(stdout.ends_with("TOP/ws\n"), "{stdout}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_workspace_whose_name_is_no_text_is_refused() {
    let world = World::defined(DEFINITION);
    let name = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"w\xff");
    let odd = world.path("").join(Path::new(name));
    fs::create_dir(&odd).expect("made");
    fs::copy(world.path("ws/jackline.yaml"), odd.join("jackline.yaml")).expect("copied");
    let mut command = jackline(&world, &["eval"]);
    command.current_dir(&odd);
    let (code, stdout, stderr) = world.spawn(command, &push("s1"));
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    assert!(stderr.contains("is not UTF-8\n  help: rename the directory"), "{stderr}");
}

#[test]
fn a_persons_command_is_refused_inside_an_agents_session() {
    let world = World::defined(DEFINITION);
    let mut command = jackline(&world, &["trust", "--yes"]);
    command.env("CLAUDECODE", "1");
    let (code, _, stderr) = world.spawn(command, "");
    assert_eq!(code, Some(2));
    assert!(stderr.starts_with("error: this is for people, and an agent's session is around"), "{stderr}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let world = World::played();
    let mut child =
        jackline(&world, &["audit", "export"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("ended");
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()));
}

#[test]
fn a_followed_log_waits_for_the_first_session() {
    let world = World::defined(DEFINITION);
    let mut child =
        jackline(&world, &["log", "--follow"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("started");
    let mut output = child.stdout.take().expect("piped");
    thread::sleep(Duration::from_millis(300));
    world.run(&["eval"], &push("s1"));
    let reading = thread::spawn(move || {
        let mut shown = [0; 64];
        output.read(&mut shown).map(|length| String::from_utf8_lossy(&shown[..length]).into_owned())
    });
    let began = Instant::now();
    while !reading.is_finished() && began.elapsed() < PATIENCE {
        thread::sleep(Duration::from_millis(20));
    }
    child.kill().expect("killed");
    child.wait().expect("ended");
    let shown = reading.join().expect("read").expect("readable");
    assert!(shown.contains("deny"), "{shown:?}");
}

#[test]
fn many_sessions_in_one_process_are_kept_apart() {
    let world = World::defined("jackline: 1\npolicies: [ { sequence: { requires: { ship: [test] } } } ]\n");
    let event = |kind: &str, session: u32, tool: &str| {
        let call = format!("{{\"id\":\"{tool}\",\"tool\":\"{tool}\",\"args\":{{}}}}");
        format!("{{\"event\":\"{kind}\",\"session\":\"s{session}\",\"call\":{call},\"ok\":true}}\n")
    };
    let tested = (0..100).map(|session| event("call.finished", session * 2, "test"));
    let shipped = (0..200).map(|session| event("call.requested", session, "ship"));
    let (code, stdout, _) = world.run(&["eval"], &tested.chain(shipped).collect::<String>());
    assert_eq!(code, Some(0));
    let denied = stdout.lines().skip(100).map(|line| line.starts_with(r#"{"verdict":"deny""#));
    assert!(denied.enumerate().all(|(session, denied)| denied == (session % 2 == 1)), "{stdout}");
}

#[test]
fn no_secret_reaches_the_store() {
    let world = World::defined("jackline: 1\naudit: { redact: [pin] }\n");
    // Put together here, so that the source holds nothing that looks like a secret.
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let call = |args: String| {
        format!(
            "{{\"event\":\"call.requested\",\"session\":\"s1\",\"call\":{{\"tool\":\"read_file\",\"args\":{args}}}}}\n"
        )
    };
    let repeated = call(format!("{{\"path\":\"/x/{token}\",\"pin\":\"98765\"}}"));
    let prompt = format!("{{\"event\":\"prompt.submitted\",\"session\":\"s1\",\"prompt\":\"use {token}\"}}\n");
    let (_, stdout, _) = world.run(&["eval"], &(repeated.repeat(6) + &prompt));
    assert!(stdout.contains("loop/persisted") && stdout.contains("run/halted"), "{stdout}");
    for file in ["audit.jsonl", "state"] {
        let bytes = fs::read(world.stored(file)).expect("read");
        for secret in [token.as_str(), "98765"] {
            assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "{secret} in {file}");
        }
    }
}
