//! Commands of policies: run without a shell, twice where they change something, again only for new content.

use serde_json::json;

use super::sessions::stop;
use super::trust::at_terminal;
use super::{World, names};

fn with_command(command: &str, more: &str) -> World {
    let command = serde_json::Value::String(command.to_owned());
    let text = format!("---\nname: Format\ntrigger: src/**\naction: {{command: {command}{more}}}\n---\n");
    World::with("format", &text)
}

/// How often a command ran, as it noted outside of the repository.
fn runs(world: &World) -> usize {
    std::fs::read_to_string(world.path("runs")).map(|text| text.lines().count()).unwrap_or_default()
}

#[test]
fn a_command_that_passes_settles_and_runs_again_for_new_content_only() {
    let world = World::new();
    world.write("note.sh", "#!/bin/sh\necho \"$@\" >> runs.log\n");
    world.write(".gitignore", "runs.log\n");
    world.policy("format", "---\ntrigger: src/**\naction: {command: 'sh note.sh {file}'}\n---\n");
    world.commit("policy");
    world.write("src/a b.py", "1\n");
    let seen = world.check(&["--trust"]);
    assert_eq!(
        (seen["settled"][0]["status"].as_str(), seen["settled"][0]["settled_by"].as_str()),
        (Some("passed"), Some("command"))
    );
    assert_eq!(world.read("runs.log"), "src/a b.py\n");
    world.check(&["--trust"]);
    assert_eq!(world.read("runs.log").lines().count(), 1, "nothing changed");
    world.write("src/a b.py", "2\n");
    world.check(&["--trust"]);
    assert_eq!(world.read("runs.log").lines().count(), 2);
}

#[test]
fn a_command_that_changes_files_is_run_twice_and_its_result_stands() {
    let world = World::new();
    world.write("fmt.sh", "#!/bin/sh\nsed -i 's/ *$//' \"$1\"\necho x >> runs.log\n");
    world.write(".gitignore", "runs.log\n");
    world.policy("format", "---\ntrigger: src/**\naction: {command: 'sh fmt.sh {file}'}\n---\n");
    world.commit("policy");
    world.write("src/a.py", "x   \n");
    let seen = world.check(&["--trust"]);
    assert_eq!(seen["settled"][0]["settled_by"], "command", "{seen}");
    assert_eq!((world.read("src/a.py").as_str(), world.read("runs.log").lines().count()), ("x\n", 2));
    world.check(&["--trust"]);
    assert_eq!(world.read("runs.log").lines().count(), 2, "it is settled for what it left behind");
    assert_eq!(world.git(&["diff", "--cached", "--name-only"]), "", "nothing is staged");
}

#[test]
fn what_a_command_changed_is_told_though_it_passed() {
    let world = World::new();
    world.write("jackline.yaml", "jackline: 1\n");
    world.write("fmt.sh", "#!/bin/sh\nsed -i s/foo/bar/ \"$1\"\ncat src/*.py > made.txt\n");
    world.policy("format", "---\nname: Format\ntrigger: src/**\naction: {command: 'sh fmt.sh {file}'}\n---\n");
    world.policy("idle", "---\nname: Idle\ntrigger: other/**\naction: {command: 'true {file}'}\n---\n");
    world.write("src/a.py", "0\n");
    world.commit("policy");
    let branch = |name: &str| {
        world.git(&["checkout", "-q", "-f", "-b", name, "main"]);
        drop(std::fs::remove_file(world.repo("made.txt")));
        world.write("src/a.py", "foo\n");
        world.write("other/a", name);
        world.commit(name);
    };
    branch("json");
    let seen = world.check(&["--base", "main", "--trust"]);
    assert_eq!((names(&seen["outstanding"]).len(), names(&seen["settled"]).len()), (0, 2), "{seen}");
    let both = |files: &str| json!({ "policies": ["format", "idle"], "names": ["Format", "Idle"], "files": [files], "left_out": 0 });
    let own = |files: &str| json!({ "policies": ["format"], "names": ["Format"], "files": [files], "left_out": 0 });
    assert_eq!(seen["rewritten"], json!([own("src/a.py"), both("made.txt")]), "{seen}");
    branch("human");
    let ran = world.run(&["policy", "check", "--base", "main", "--trust"]);
    let told = "warning: Format: its command changed src/a.py: commit that\nwarning: Format, Idle: one of their commands changed \
                made.txt: commit that\n";
    assert!(ran.stdout.contains(told) && ran.stdout.ends_with("nothing is outstanding (2 settled)\n"), "{ran:?}");
    assert_eq!(ran.exit, Some(0));
    branch("github");
    let ran = world.run(&["policy", "check", "--base", "main", "--trust", "--format", "github"]);
    let line = "::warning file=src/a.py,title=Format::a command changed it: commit that";
    assert!(ran.stdout.lines().any(|told| told == line), "{ran:?}");
    at_terminal(&world, &["trust", "--yes"]);
    world.git(&["checkout", "-q", "-f", "main"]);
    std::fs::remove_file(world.repo("made.txt")).expect("removed");
    world.write("src/a.py", "foo\n");
    let answer = stop(&world, "s1");
    assert!(answer.to_string().contains("commands of file policies (Format) changed made.txt, src/a.py"), "{answer}");
}

#[test]
fn a_command_that_does_not_come_to_rest_fails() {
    let world = World::new();
    world.write("grow.sh", "#!/bin/sh\necho more >> \"$1\"\n");
    world.policy("format", "---\ntrigger: src/**\naction: {command: 'sh grow.sh {file}'}\n---\n");
    world.commit("policy");
    world.write("src/a.py", "x\n");
    let seen = world.check(&["--trust"]);
    assert_eq!(seen["outstanding"][0]["status"], "failed", "{seen}");
    let text = seen["text"].as_str().expect("a text");
    let told = "Command: sh grow.sh {file}\nRunning it again changed files once more, and it must not: src/a.py";
    assert!(text.contains(told), "{text}");
}

#[test]
fn commands_that_undo_each_other_do_not_come_to_rest() {
    let world = World::new();
    for (name, from, to) in [("bar", "foo", "bar"), ("foo", "bar", "foo")] {
        world.write(&format!("{name}.sh"), &format!("#!/bin/sh\nsed -i s/{from}/{to}/ \"$1\"\n"));
        world.policy(name, &format!("---\ntrigger: src/**\naction: {{command: 'sh {name}.sh {{file}}'}}\n---\n"));
    }
    world.commit("policies");
    world.write("src/a.py", "foo\n");
    let seen = world.check(&["--trust"]);
    let failed = seen["outstanding"].as_array().expect("a list").iter().filter(|entry| entry["status"] == "failed");
    assert!(failed.count() >= 1, "{seen}");
    assert!(seen["text"].as_str().is_some_and(|text| text.contains("Running it again changed files")), "{seen}");
}

#[test]
fn a_failure_is_told_with_command_code_and_output_and_not_repeated() {
    let world = World::new();
    world.write("lint.sh", "#!/bin/sh\necho x >> runs.log\necho \"bad $1\"; echo worse >&2; exit 3\n");
    world.write(".gitignore", "runs.log\n");
    world.policy("lint", "---\nname: Lint\ntrigger: src/**\naction: {command: 'sh lint.sh {file}'}\n---\n");
    world.commit("policy");
    world.write("src/a.py", "1\n");
    world.write("src/b.py", "1\n");
    let seen = world.check(&["--trust"]);
    let text = seen["text"].as_str().expect("a text");
    assert!(text.contains("## Lint\nCommand: sh lint.sh src/a.py\nIt did not pass: it exited with 3\nStdout:\nbad src/a.py\nStderr:\nworse\n"), "{text}");
    assert!(text.contains("Command: sh lint.sh src/b.py"), "{text}");
    let result = &seen["outstanding"][0]["action_result"];
    assert_eq!((result["type"].as_str(), result["exit_code"].as_i64()), (Some("command"), Some(3)));
    assert_eq!(world.entry("failed")["action_result"]["stderr"], "worse\n");
    let again = world.check(&["--trust"]);
    assert_eq!(again["outstanding"][0]["status"], "failed");
    assert_eq!(&again["outstanding"][0]["action_result"], result, "what came of it is told again");
    let told = again["text"].as_str().expect("a text");
    assert!(told.contains("It did not pass: it exited with 3\nStdout:\nbad src/a.py\nStderr:\nworse\n"), "{told}");
    let file = again["text"].as_str().and_then(|text| text.split("What it printed is in `").nth(1)?.split('`').next());
    assert!(world.read(file.expect("a file")).contains("bad src/a.py"), "an agent that forgot it can read it again");
    assert_eq!(world.read("runs.log").lines().count(), 2, "it is not run again for the same content");
    let file = world.transcript("<promise>✓ Lint</promise>", None);
    let promised = world.check(&["--trust", "--transcript", &file]);
    assert_eq!(promised["settled"][0]["settled_by"], "promise", "{promised}");
    assert_eq!(world.entry("passed")["action_result"]["exit_code"], json!(null));
}

#[test]
fn no_file_name_reaches_a_shell_or_becomes_an_option() {
    let world = World::new();
    world.write("show.sh", "#!/bin/sh\nfor word in \"$@\"; do echo \"[$word]\"; done\nexit 1\n");
    world.policy(
        "show",
        "---\ntrigger: '**/*.py'\naction: {command: 'sh show.sh {files} {repo_root}', run_for: all_matches}\n---\n",
    );
    world.commit("policy");
    for name in ["$(touch pwned).py", "-rf.py", "a;b.py"] {
        world.write(name, "1\n");
    }
    let seen = world.check(&["--trust"]);
    let root = world.path("repo");
    let want = format!("[$(touch pwned).py]\n[./-rf.py]\n[a;b.py]\n[{}]\n", root.display());
    assert_eq!(seen["outstanding"][0]["action_result"]["stdout"], json!(want), "{seen}");
    assert!(!world.repo("pwned").exists());
}

#[test]
fn no_command_is_led_elsewhere_by_a_link() {
    use std::os::unix::fs::symlink;
    let world = World::new();
    world.write("end.sh", "#!/bin/sh\nfor file in \"$@\"; do echo end >> \"$file\"; done\n");
    world.write("docs/x.py", "x\n");
    world.write("src/sub/x.py", "x\n");
    let action = "{command: 'sh end.sh {files}', run_for: all_matches}";
    world.policy("end", &format!("---\nname: End\ntrigger: src/**\naction: {action}\n---\n"));
    world.commit("policy");
    symlink("../docs/x.py", world.repo("src/link.py")).expect("linked");
    std::fs::remove_dir_all(world.repo("src/sub")).expect("removed");
    symlink("../docs", world.repo("src/sub")).expect("linked");
    let seen = world.check(&["--trust"]);
    assert_eq!(world.read("docs/x.py"), "x\n", "{seen}");
    assert_eq!(seen["settled"][0]["action_result"]["output"], "it was not run: its files are deleted, or links");
    let told = "a link, or behind one: the command of `End` is not run on it, nor on 2 more";
    assert_eq!((&seen["faults"][0]["file"], &seen["faults"][0]["message"]), (&json!("src/link.py"), &json!(told)));
    world.write("src/a.py", "a\n");
    world.check(&["--trust"]);
    assert_eq!((world.read("docs/x.py").as_str(), world.read("src/a.py").as_str()), ("x\n", "a\nend\nend\n"));
}

#[test]
fn a_name_inside_a_text_that_a_shell_runs_is_refused_and_the_form_that_is_told_is_safe() {
    let world = with_command("sh -c 'cat {file} | wc -l'", "");
    world.write("src/$(touch pwned)", "1\n");
    let ran = world.run(&["policy", "list"]);
    assert!(ran.stdout.contains("`cat {file} | wc -l` is run by a shell"), "{ran:?}");
    let seen = world.check(&["--trust"]);
    assert!(seen["faults"].to_string().contains(r#"sh -c '… \"$1\" …' sh {file}"#), "{seen}");
    assert!(!world.repo("pwned").exists(), "{seen}");
    let world = with_command("sh -c 'cat \"$1\" | wc -l' sh {file}", "");
    world.write("src/$(touch pwned)", "1\n");
    let seen = world.check(&["--trust"]);
    assert_eq!(seen["settled"][0]["settled_by"], "command", "{seen}");
    assert!(!world.repo("pwned").exists(), "{seen}");
}

#[test]
fn a_command_that_is_not_there_or_hangs_fails() {
    let world = with_command("no-such-program-at-all {file}", "");
    world.write("src/a.py", "1\n");
    let seen = world.check(&["--trust"]);
    assert!(seen["text"].as_str().is_some_and(|text| text.contains("it did not start")), "{seen}");
    assert_eq!(runs(&world), 0);
}

#[test]
fn deleted_files_are_not_given_to_commands() {
    let world = World::new();
    world.write("src/a.py", "1\n");
    world.write("src/b.py", "1\n");
    world.policy("cat", "---\ntrigger: src/**\naction: {command: 'cat {file}'}\n---\n");
    world.commit("policy");
    std::fs::remove_file(world.repo("src/a.py")).expect("removed");
    world.write("src/b.py", "2\n");
    assert_eq!(world.check(&["--trust"])["settled"][0]["settled_by"], "command");
}

#[test]
fn much_of_what_a_command_printed_is_kept_for_people() {
    let world = World::new();
    world.write("long.sh", "#!/bin/sh\nyes 0123456789 | head -c 300000\nexit 5\n");
    world.policy("long", "---\ntrigger: src/**\naction: {command: 'sh long.sh {file}'}\n---\n");
    world.commit("policy");
    world.write("src/a.py", "1\n");
    let seen = world.check(&["--trust"]);
    let result = &seen["outstanding"][0]["action_result"];
    assert!(result["stdout_kept"].is_string(), "{result}");
    let kept = world.entry("failed")["action_result"]["stdout"].as_str().expect("a text").len();
    assert!((60_000..=65_536).contains(&kept), "{kept}");
}

#[test]
fn commands_wait_for_those_of_another_session() {
    let world = with_command("true {file}", "");
    world.write("src/a.py", "1\n");
    world.check(&[]);
    let lock = std::fs::File::open(world.repo(".jackline/tmp/policy/lock")).expect("a lock");
    lock.lock().expect("held");
    let seen = world.check(&["--trust"]);
    let text = seen["text"].as_str().expect("a text");
    assert!(text.contains("It was not run: another session runs the policies' commands."), "{text}");
    assert!(text.ends_with("Nothing is asked of you: stop again."), "{text}");
    drop(lock);
    assert_eq!(world.check(&["--trust"])["settled"][0]["settled_by"], "command");
}

#[test]
fn what_a_command_printed_gives_a_terminal_no_orders() {
    let world = World::new();
    world.write("loud.sh", "#!/bin/sh\nprintf '\\033]0;title\\007red\\n  ::stop-commands::x\\n'\nexit 3\n");
    world.policy("loud", "---\nname: Loud\ntrigger: src/**\naction: {command: 'sh loud.sh {file}'}\n---\n");
    world.commit("policy");
    world.write("src/a.py", "1\n");
    let ran = world.run(&["policy", "check", "--trust"]);
    assert!(ran.stdout.contains("red") && !ran.stdout.contains(['\u{1b}', '\u{7}']), "{ran:?}");
    assert!(ran.stdout.contains("\n  ::stop-commands::x"), "{ran:?}");
    let mut look = std::process::Command::new(env!("CARGO_BIN_EXE_jackline"));
    look.args(["policy", "check", "--trust"]).current_dir(world.path("repo")).env_clear();
    look.env("HOME", world.path("home")).env("PATH", "/usr/bin:/bin").env("GITHUB_ACTIONS", "true");
    let printed = String::from_utf8(look.output().expect("ran").stdout).expect("UTF-8");
    let orders: Vec<&str> = printed.lines().filter(|line| line.trim_start().starts_with("::")).collect();
    assert!(orders.len() == 1 && orders[0].starts_with("::error file=src/a.py"), "{printed}");
}

#[test]
fn what_somebody_else_writes_meanwhile_is_not_held_against_a_command() {
    let world = with_command("sleep 0.3", "");
    world.write("src/a.py", "1\n");
    let log = world.repo("dev.log");
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let writer = std::thread::spawn(move || {
        let mut text = String::new();
        while stopped.recv_timeout(std::time::Duration::from_millis(20)).is_err() {
            text.push_str("line\n");
            std::fs::write(&log, &text).expect("written");
        }
    });
    let seen = world.check(&["--trust"]);
    stop.send(()).expect("it listens");
    writer.join().expect("it ended");
    assert_eq!(seen["settled"][0]["settled_by"], "command", "{seen}");
}

#[test]
fn files_that_a_command_goes_on_changing_are_named() {
    let world = with_command("sh -c 'echo x >> \"other file.txt\"'", "");
    world.write("src/a.py", "1\n");
    let seen = world.check(&["--trust"]);
    let text = seen["text"].as_str().expect("a text");
    assert!(text.contains("Running it again changed files once more, and it must not: other file.txt"), "{text}");
}

#[test]
fn a_command_is_given_more_files_than_a_program_takes_in_several_runs() {
    let world = World::new();
    world.write("count.sh", "#!/bin/sh\necho $# >> runs.log\n");
    world.write(".gitignore", "runs.log\n");
    world.policy(
        "format",
        "---\ntrigger: src/**\naction: {command: 'sh count.sh {files}', run_for: all_matches}\n---\n",
    );
    world.commit("policy");
    for number in 0..4200 {
        world.write(&format!("src/f{number}.py"), "");
    }
    let seen = world.check(&["--trust"]);
    assert_eq!(seen["settled"][0]["settled_by"], "command", "{seen}");
    let mut counts: Vec<usize> = world.read("runs.log").lines().map(|line| line.parse().expect("a number")).collect();
    counts.sort_unstable();
    assert_eq!(counts, [200, 4000]);
}

#[test]
fn a_failed_command_is_shown_as_it_can_be_run() {
    let world = World::with("no", "---\ntrigger: src/**\naction: {command: ['false', '{file}']}\n---\n");
    world.write("src/a b.py", "1\n");
    let text = world.check(&["--trust"])["text"].to_string();
    assert!(text.contains("Command: false 'src/a b.py'"), "{text}");
}
