//! Commands behind other programs and behind options that hide them.

use super::*;

/// Whether one of the commands is this one, wherever it stands.
#[track_caller]
fn runs(text: &str, pattern: &str) {
    let found = reading(text).commands;
    assert!(found.iter().any(|command| glob_matches(command, pattern)), "{text}: {found:?}");
}

#[test]
fn options_of_gits_own_hide_no_command() {
    for option in [
        "--git-dir x",
        "--git-dir=x",
        "--work-tree x",
        "--work-tree=x",
        "--namespace x",
        "--namespace=x",
        "--super-prefix x",
        "--super-prefix=x",
        "--config-env a=b",
        "--config-env=a=b",
        "--attr-source x",
        "--attr-source=x",
        "--shallow-file x",
        "--shallow-file=x",
        "--exec-path=x",
        "--list-cmds=x",
        "-c a=b",
        "-C x",
    ] {
        runs(&format!("git {option} commit -m x"), "git commit*");
    }
    touches("git --shallow-file x rm a", &["delete a"]);
}

#[test]
fn texts_that_fish_runs_first_are_run() {
    check("fish -C 'rm a' -c true", &["✓fish -C rm a -c true", "rm a", "true"]);
    check("fish --init-command='rm a' -c true", &["✓fish --init-command=rm a -c true", "rm a", "true"]);
    check("fish --init 'rm a' -c true", &["✓fish --init rm a -c true", "rm a", "true"]);
    check("fish -c true -c 'rm a'", &["✓fish -c true -c rm a", "true", "rm a"]);
    check("fish -lc 'rm a'", &["✓fish -lc rm a", "✓rm a"]);
    check("fish -C true <<< 'rm a'", &["✓fish -C true", "rm a", "true"]);
    check("bash -C -c 'rm a'", &["✓bash -C -c rm a", "✓rm a"]);
}

#[test]
fn values_are_filled_in_before_a_command_is_read() {
    runs("parallel git ::: commit", "git commit*");
    runs("parallel ::: 'rm .env'", "rm .env");
    runs("parallel {} off ::: jackline", "jackline off");
    runs("parallel 'rm {1}{2}' ::: jack ::: line.yaml", "rm jackline.yaml");
    runs("parallel 'git {}' ::: status 'commit -m x'", "git commit*");
    runs("parallel -j4 --bar rm {2/.} ::: x y ::: d/a.b e", "rm a");
    runs("parallel rm {1} {2} ::: a :::+ b", "rm a b");
    runs("parallel git commit -m ::: x", "git commit*");
    touches("parallel rm ::: a b", &["delete a", "delete b"]);
    touches("parallel --wd d rm ::: a", &["delete a in d/."]);
    touches("parallel --wd d 'rm {}' ::: a", &["delete a in d/."]);
    touches("parallel rm :::: list", &["delete? $line"]);
    opaque("parallel ::: \"$X\"", true);
    opaque("parallel gzip ::: a b", false);
    opaque("parallel 'grep {} f' ::: \"it's\" 'a; rm b'", false);
    touches("parallel 'echo {} | tee x' ::: 'a; rm b'", &["write x"]);
    opaque(&format!("parallel ::: {}", "a ".repeat(200)), true);
    opaque(&format!("parallel gzip ::: {}", "a ".repeat(2000)), false);
    touches("watch 'ls>a'", &["write a"]);
    drop(reading(&format!("parallel rm {}", "::: a b ".repeat(200))));
}

#[test]
fn programs_that_hand_a_text_to_a_shell() {
    for text in [
        "concurrently 'git commit -m x'",
        "concurrently -k -n a,b 'npm run a' 'git commit'",
        "concurrently --teardown 'git commit' 'npm run a'",
        "nodemon -x 'git commit'",
        "nodemon --exec 'git commit'",
        "nodemon --exec='git commit' a.js",
        "watchexec 'git commit'",
        "watchexec -e rs -- git commit",
        "watchexec -w src git commit",
        "ls | entr -s 'git commit'",
        "sem -j1 'git commit'",
        "pee cat 'git commit' < x",
        "/proc/self/exe -c 'git commit'",
        "/proc/thread-self/exe <<< 'git commit'",
    ] {
        runs(text, "git commit*");
    }
}
