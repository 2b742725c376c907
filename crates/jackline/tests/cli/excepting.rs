//! `allow`, `off`, `on` and `status`: at a terminal, without one, and from inside an agent's session.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::{DEFINITION, World};

/// A refused call at a time; without one, now.
fn push(session: &str, at: Option<&str>) -> String {
    let at = at.map(|at| format!(r#","at":"{at}""#)).unwrap_or_default();
    format!(
        r#"{{"event":"call.requested","session":"{session}"{at},"call":{{"tool":"Bash","args":{{"command":"git push"}}}}}}"#
    )
}

/// Allows at the terminal, and gives the exception's id.
#[track_caller]
fn granted(world: &World, arguments: &[&str]) -> String {
    let (code, stdout, stderr) = world.at_terminal(arguments, "y\n");
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    let rest = stdout.split_once("exception ").expect("an exception").1;
    rest.split_once(':').expect("an id").0.to_owned()
}

#[track_caller]
fn verdict(world: &World, event: &str) -> String {
    let (_, stdout, stderr) = world.run(&["eval"], event);
    assert_eq!(stderr, "");
    let answer: Value = serde_json::from_str(&stdout).expect("JSON");
    answer.get("verdict").and_then(Value::as_str).expect("a verdict").to_owned()
}

/// What a command prints at the terminal, with an exception's id and the present times replaced.
#[track_caller]
fn check(world: &World, (arguments, typed): (&[&str], &str), exit: i32, want: (&str, &str)) {
    let (code, stdout, stderr) = world.at_terminal(arguments, typed);
    assert_eq!(masked(&stdout), want.0, "standard output of {arguments:?}; standard error was\n{stderr}");
    assert_eq!(masked(&stderr), want.1, "standard error of {arguments:?}");
    assert_eq!(code, Some(exit), "exit code of {arguments:?}");
}

/// Ids of eight digits and times other than those of the played session.
fn masked(text: &str) -> String {
    let text = crate::replaced(text, 8, |c| c.is_ascii_hexdigit(), "ID");
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find("202") {
        let (before, time) = rest.split_at(at);
        let length = time.find(|c: char| !(c.is_ascii_digit() || "-:.TZ ".contains(c))).unwrap_or(time.len());
        let (time, after) = time.split_at(length);
        out.push_str(before);
        out.push_str(if time.starts_with("2026-03-01") { time } else { "TIME" });
        rest = after;
    }
    out + rest
}

fn files_below(dir: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().map(|entry| entry.expect("readable").path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[test]
fn one_call_is_let_through_and_the_next_is_not() {
    let world = World::played();
    check(
        &world,
        (&["allow", "no-push", "--once", "--reason", "a hotfix"], "y\n"),
        0,
        (
            "Let policy `no-push` pass once, within 24h? [y/N] exception ID: policy `no-push`, once, 24h left; a hotfix (dev)
  recorded in session s1 #19; `jackline on ID` ends it early
",
            "",
        ),
    );
    assert_eq!(verdict(&world, &push("another", None)), "allow", "it holds for every session of the workspace");
    assert_eq!(verdict(&world, &push("s1", None)), "deny");
    assert_eq!(files_below(&world.path("home/.local/state/jackline/exceptions")), [] as [std::path::PathBuf; 0]);
    let (code, stdout, _) = world.run(&["audit", "verify"], "");
    assert_eq!(code, Some(0), "{stdout}");
}

#[test]
fn it_ends_with_its_time_or_earlier() {
    let world = World::played();
    let id = granted(&world, &["allow", "rule", "--for", "10m", "--reason", "x"]);
    assert_eq!(verdict(&world, &push("a", None)), "allow");
    assert_eq!(verdict(&world, &push("b", Some("2099-01-01T00:00:00Z"))), "deny");
    check(
        &world,
        (&["on", "nobody"], ""),
        2,
        ("", "error: there is no exception `nobody` in force here\n  help: `jackline status` lists them\n"),
    );
    let (code, stdout, _) = world.at_terminal(&["on", &id], "");
    assert_eq!(code, Some(0));
    assert!(
        stdout.starts_with(&format!("ended exception {id} (every code `rule/…`); recorded in session b #")),
        "{stdout}"
    );
    assert_eq!(verdict(&world, &push("c", None)), "deny");
    check(&world, (&["on"], ""), 0, ("no exception is in force\n", ""));
}

#[test]
fn a_pause_lifts_everything_but_self_protection() {
    let world = World::played();
    granted(&world, &["off", "--for", "30m", "--reason", "a demo"]);
    assert_eq!(verdict(&world, &push("a", None)), "allow");
    let write =
        r#"{"event":"call.requested","session":"a","call":{"tool":"Write","args":{"file_path":"jackline.yaml"}}}"#;
    assert_eq!(verdict(&world, write), "deny");
    let store = world.path("home/.local/state/jackline/exceptions/x.json");
    let plant = format!(
        r#"{{"event":"call.requested","session":"a","call":{{"tool":"Write","args":{{"file_path":"{}"}}}}}}"#,
        store.display()
    );
    assert_eq!(verdict(&world, &plant), "deny", "nor can an agent write an exception of its own");
    let on = r#"{"event":"call.requested","session":"a","call":{"tool":"Bash","args":{"command":"jackline off --for 24h --reason x --yes"}}}"#;
    assert_eq!(verdict(&world, on), "deny");
    world.at_terminal(&["on"], "");
    assert_eq!(verdict(&world, &push("b", None)), "deny");
}

#[test]
fn they_are_a_persons_acts() {
    let world = World::played();
    let acts: &[&[&str]] = &[
        &["allow", "no-push", "--once", "--reason", "x", "--yes"],
        &["off", "--for", "1m", "--reason", "x", "--yes"],
        &["on"],
    ];
    for act in acts {
        world.check(
            act,
            2,
            "",
            "error: this is for people, and no terminal is attached\n  help: run it in a terminal; `--yes` answers only there\n",
        );
        for mark in ["CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "GEMINI_CLI"] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_jackline"));
            command.args(*act).current_dir(world.path("ws")).env_clear();
            command.env("HOME", world.path("home")).env(mark, "1");
            let (code, stdout, stderr) = world.spawn_at_terminal(command, "y\n");
            assert_eq!((code, stdout.as_str()), (Some(2), ""));
            assert!(stderr.contains(&format!("an agent's session is around (`{mark}` is set)")), "{stderr}");
        }
    }
    for answer in ["n\n", "\n", "yeah\n"] {
        check(
            &world,
            (&["off", "--for", "90s", "--reason", "x"], answer),
            2,
            ("Let everything but self-protection pass for 1m30s? [y/N] ", "error: nothing was changed\n"),
        );
    }
    assert!(!world.path("home/.local/state/jackline/exceptions").exists());
    let (_, log, _) = world.run(&["audit", "export"], "");
    assert!(!log.contains("exception.granted"), "{log}");
}

#[test]
fn what_cannot_be_allowed() {
    let world = World::played();
    let allow = |name: &str, stderr: &str| {
        check(&world, (&["allow", name, "--once", "--reason", "x", "--yes"], ""), 2, ("", stderr));
    };
    allow("nopush", "error: there is no policy or code `nopush` here\n  help: did you mean `no-push`?\n");
    allow(
        "sequence/mising",
        "error: there is no policy or code `sequence/mising` here\n  help: did you mean `sequence/missing`?\n",
    );
    allow(
        "zzz",
        "error: there is no policy or code `zzz` here
  help: policies here: `sequence-1`, `no-push`, `soft`
  help: `jackline log` shows the code of what was refused
",
    );
    allow(
        "self",
        "error: `self` cannot be lifted as a whole\n  help: name a code: `self/protected`, `self/operator-command`\n",
    );
    allow(
        "fault/store",
        "error: `fault/store` cannot be lifted: it says that there was nothing to judge
  help: Free the store's directory or make it writable, then try again.
",
    );
    let off = |lasting: &str, reason: &str, stderr: &str| {
        check(&world, (&["off", "--for", lasting, "--reason", reason, "--yes"], ""), 2, ("", stderr));
    };
    off(
        "25h",
        "x",
        "error: `25h` is longer than the 24h an exception may last\n  help: what is needed for longer belongs into the definition\n",
    );
    off("0s", "x", "error: `0s` is no duration\n  help: write it as in `30s`, `10m` or `1h30m`\n");
    off("soon", "x", "error: `soon` is no duration\n  help: write it as in `30s`, `10m` or `1h30m`\n");
    off("1m", "  ", "error: the reason is empty\n  help: say why: the log keeps it\n");
    off("1m", &"x".repeat(513), "error: the reason has 513 bytes, more than 512\n  help: a sentence will do\n");
    let (code, _, stderr) = world.at_terminal(&["allow", "no-push", "--reason", "x"], "");
    assert_eq!(code, Some(2));
    assert!(stderr.contains("--once"), "{stderr}");
    let empty = World::empty();
    let (code, _, stderr) = empty.at_terminal(&["off", "--for", "1m", "--reason", "x", "--yes"], "");
    assert_eq!(code, Some(2));
    assert!(stderr.contains("there is no jackline.yaml"), "{stderr}");
}

#[test]
fn without_a_session_there_is_nothing_to_record_it_in() {
    let world = World::defined(DEFINITION);
    check(
        &world,
        (&["allow", "no-push", "--once", "--for", "5m", "--reason", "x", "--yes"], ""),
        0,
        (
            "exception ID: policy `no-push`, once, 5m left; x (dev)
  no session is there to record it in; `jackline on ID` ends it early
",
            "",
        ),
    );
    assert_eq!(verdict(&world, &push("later", None)), "allow");
    let (_, log, _) = world.run(&["audit", "export"], "");
    assert!(log.contains(r#""kind":"exception.used""#), "{log}");
}

#[test]
fn one_use_is_one_use_however_many_ask() {
    const PROCESSES: usize = 6;
    let world = World::defined(DEFINITION);
    for round in 0..5 {
        granted(&world, &["allow", "no-push", "--once", "--reason", "x"]);
        let start = |n: usize| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_jackline"));
            command.arg("eval").current_dir(world.path("ws")).env_clear().env("HOME", world.path("home"));
            let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn().expect("started");
            let mut input = child.stdin.take().expect("piped");
            // Half of them in one session: they overtake one another at the commit, too.
            let session = format!("r{round}-{}", if n.is_multiple_of(2) { 0 } else { n });
            // Each another call, so that the loop guard has nothing to say.
            let event = push(&session, None).replace("git push", &format!("git push origin {n}"));
            std::io::Write::write_all(&mut input, event.as_bytes()).expect("sent");
            child
        };
        let children: Vec<_> = (0..PROCESSES).map(start).collect();
        let outputs = children.into_iter().map(|child| child.wait_with_output().expect("ended").stdout);
        let allowed = outputs.filter(|out| String::from_utf8_lossy(out).contains(r#""verdict":"allow""#)).count();
        assert_eq!(allowed, 1, "round {round}");
    }
    let (code, stdout, _) = world.run(&["audit", "verify"], "");
    assert_eq!(code, Some(0), "{stdout}");
}

#[test]
fn a_host_cannot_tell_of_one() {
    let world = World::defined(DEFINITION);
    let exception = r#"{"id":"x","what":"all","once":false,"granted_at":"2026-01-01T00:00:00Z","until":"2026-01-01T01:00:00Z","reason":"x","by":"dev"}"#;
    let told = format!(r#"{{"event":"exception.granted","session":"s","exception":{exception}}}"#);
    let (_, stdout, _) = world.run(&["eval"], &told);
    assert!(stdout.contains(r#""code":"event/invalid""#) && stdout.contains("is a person's"), "{stdout}");
}

#[test]
fn log_and_explain_name_it() {
    let world = World::played();
    granted(&world, &["allow", "no-push", "--for", "10m", "--reason", "a hotfix"]);
    world.run(&["eval"], &push("s1", None));
    let (_, log, _) = world.run(&["log", "-n", "2"], "");
    let log: Vec<String> = masked(&log).lines().map(|line| line.get(9..).unwrap_or_default().to_owned()).collect();
    assert_eq!(
        log,
        [
            "#19    ✓       exception.granted ID: policy `no-push`, until TIME; a hotfix (dev)",
            "#22    + lift  Bash git push",
            "                rule/no-push  a person pushes  (exception ID)",
            "                -- exception ID: policy `no-push`, until TIME; a hotfix (dev) --",
        ]
    );
    let (_, explained, _) = world.run(&["explain", "last"], "");
    let explained = masked(&explained);
    assert!(explained.contains("policy no-push, jackline.yaml line 8 (lifted by exception ID)\n"), "{explained}");
    assert!(explained.contains("exceptions\n  ID: policy `no-push`, until TIME; a hotfix (dev)\n"), "{explained}");
}

#[test]
fn status_of_a_workspace() {
    let world = World::played();
    check(
        &world,
        (&["status"], ""),
        0,
        (
            "workspace   TOP/ws
definition  jackline.yaml (sha256:HASH), accepted, not trusted, mode enforce
hosts       none asks here; run `jackline init`
exceptions  none
session     s1, last event 2026-03-01 09:00:07, stopped: complete, ended
            3 calls, 2 denied, 1 would have been denied
",
            "",
        ),
    );
    granted(&world, &["allow", "no-push", "--for", "10m", "--reason", "a hotfix"]);
    world.run(&["eval"], &push("s1", None));
    let (_, stdout, _) = world.run(&["status"], "");
    let lines: Vec<&str> = stdout.lines().collect();
    assert!(masked(&stdout).contains("exceptions  ID: policy `no-push`, "), "{stdout}");
    assert_eq!(
        lines.last().copied(),
        Some("            4 calls, 2 denied, 1 would have been denied, 1 let through by an exception")
    );
}

#[test]
fn status_tells_budgets_and_halts() {
    let limited = "jackline: 1\nlimits: { steps: 2, tokens: 100 }\npolicies: [{ name: never, rule: { tool: x, verdict: halt, reason: never } }]\n";
    let world = World::defined(limited);
    let at = "2026-03-01T09:00:00Z";
    let call = |tool: &str, n: u8| {
        format!(
            r#"{{"event":"call.requested","session":"s","at":"{at}","call":{{"tool":"{tool}","args":{{"n":{n}}}}}}}"#
        )
    };
    world.run(&["eval"], &[call("a", 1), call("x", 2)].join("\n"));
    check(
        &world,
        (&["status"], ""),
        0,
        (
            "workspace   TOP/ws
definition  jackline.yaml (sha256:HASH), accepted, not trusted, mode enforce
hosts       none asks here; run `jackline init`
exceptions  none
session     s, last event 2026-03-01 09:00:00
            2 calls, 1 denied
            steps 2 of 2, used up (project)
            tokens 0 of 100 (project)
            halted: main, rule/never: never
",
            "",
        ),
    );
    let (_, stdout, _) = world.run(&["status", "--format", "json"], "");
    let status: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(status["session"]["budgets"][0]["exhausted"], true, "{status}");
    assert_eq!(status["session"]["halted"][0]["code"], "rule/never");
    assert_eq!((&status["session"]["calls"], &status["session"]["denied"]), (&2.into(), &1.into()));
    assert_eq!(status["definition"]["layers"][0]["mode"], "enforce");
}

#[test]
fn status_only_reads() {
    let world = World::defined(DEFINITION);
    let (code, stdout, _) = world.run(&["status"], "");
    assert_eq!(code, Some(0), "{stdout}");
    assert!(stdout.contains("session     none yet"), "{stdout}");
    assert_eq!(files_below(&world.path("home")), [] as [std::path::PathBuf; 0]);
    let empty = World::empty();
    let (code, stdout, _) = empty.run(&["status"], "");
    assert_eq!(code, Some(0));
    assert!(
        stdout.contains("definition  none in force: there is no jackline.yaml in `TOP/ws` or above it"),
        "{stdout}"
    );
}

#[test]
fn trust_asks_at_the_terminal() {
    let world = World::defined(DEFINITION);
    let (code, stdout, _) = world.at_terminal(&["trust"], "y\n");
    assert_eq!(code, Some(0));
    assert!(stdout.ends_with("Trust it? [y/N] trusted\n"), "{stdout}");
}

#[test]
fn a_code_of_a_rego_policy_can_be_named() {
    let rego = "package jackline\n\ndeny contains {\"code\": \"no-push\", \"reason\": \"no\"} if input.event.call.args.command == \"git push\"\n";
    let world = World::defined("jackline: 1\nloop: false\npolicies:\n  - rego: { file: p.rego, tool: Bash }\n");
    world.write("ws/p.rego", rego);
    let (_, refused, _) = world.run(&["eval"], &push("s1", None));
    assert!(refused.contains("\"code\":\"rego/no-push\""), "{refused}");
    granted(&world, &["allow", "rego/no-push", "--once", "--reason", "a hotfix"]);
    assert_eq!(verdict(&world, &push("s1", None)), "allow");
    assert_eq!(verdict(&world, &push("s1", None)), "deny");
    let plain = World::played();
    let (code, _, stderr) = plain.at_terminal(&["allow", "rego/no-push", "--once", "--reason", "x"], "y\n");
    assert_eq!(code, Some(2), "no Rego policy is in force: {stderr}");
}
