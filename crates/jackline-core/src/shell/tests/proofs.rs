//! What an exit status proves and what a text shows: tables of texts that do, and of texts that only seem to.

use super::*;

const STEPS: &[&str] = &["cargo test*", "pytest*", "npm test*", "make test*"];

#[track_caller]
fn counts(text: &str, want: bool) {
    let found = match read(text) {
        ShellText::Reading(reading) => {
            let proven = reading.commands.iter().filter(|command| command.proven).collect::<Vec<_>>();
            proven.iter().any(|command| STEPS.iter().any(|step| glob_matches(command, step)))
        }
        ShellText::Unparsable(_) => false,
    };
    assert_eq!(found, want, "{text}");
}

#[track_caller]
fn shows(text: &str, want: bool) {
    let found = reading(text).touches.iter().any(|touch| touch.whole && touch.only.is_none() && touch.path.known());
    assert_eq!(found, want, "{text}");
}

#[test]
fn steps_that_were_not_proven_do_not_count() {
    for text in [
        "cargo test || true",
        "cargo test; true",
        "cargo test | tail",
        "cargo test &",
        "set -e; { cargo test; true; } && echo ok",
        "(set -e; cargo test; true) && echo",
        "set -- -e; cargo test; true",
        "cargo() { :; }; cargo test",
        "eval 'cargo() { :; }'; cargo test",
        "make -sn test",
        "MAKEFLAGS=n make test",
        "env MAKEFLAGS=n make test",
        "make -i test",
        "PATH=.:$PATH cargo test",
        "export \"PATH=.:$PATH\"; cargo test",
        ": $(cargo test)",
        "cargo $(echo test)",
        "enable -n echo; cargo $(echo test)",
        "echo test | xargs cargo",
        "if cargo test; then :; fi",
        "while cargo test; do break; done",
        "true || cargo test",
        "exit 0; cargo test",
        "bash -c 'cargo test; true'",
        "bash -c 'cargo test' || true",
        "xargs cargo test <<< x",
        "find . -exec cargo test \\;",
        "coproc cargo test",
        "pytest --co",
        "PYTEST_ADDOPTS=--co pytest",
        "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=true cargo test",
        "source x.sh; cargo test",
        "alias cargo=true; cargo test",
        "hash -p /bin/true cargo; cargo test",
        "BASH_CMDS[cargo]=/bin/true; cargo test",
        "set -o pipefail; set +o pipefail; cargo test | cat",
        "setsid cargo test",
        "f() { cargo test; }; f || true",
        "for i in; do cargo test; done",
        "[[ -n '' ]] && cargo test; true",
        "cargo test && false || true",
        "sh -c 'exit 0; cargo test'",
        "command -v cargo test",
        "X=$(echo --no-run); cargo test $X",
        "cargo test $(echo --no-run)",
        "read X <<< --no-run; cargo test $X",
        "read X <<< --no-run; cargo test \"$X\"",
        "cargo test -$NOPE-no-run",
        "cargo test \"--no$X-run\"",
        "cargo test ${X:---no-run}",
        "cargo test --no-*",
        "cargo test *-run",
        "cargo test \"$@\"",
        "cargo test tests/$X",
        "cargo test @(--no-run)",
        "pytest --override-ini=\"$X\"",
        "pytest --overr=\"$X\"",
        "timeout $T cargo test",
        "env A=$X cargo test",
    ] {
        counts(text, false);
    }
}

#[test]
fn steps_that_a_program_was_told_not_to_run_do_not_count() {
    for text in [
        "bash -n -c 'cargo test'",
        "sh -nc 'cargo test'",
        "bash -eun -c 'cargo test'",
        "bash -o noexec -c 'cargo test'",
        "bash -D -c 'cargo test'",
        "bash --dump-strings -c 'cargo test'",
        "busybox sh -n -c 'cargo test'",
        "sudo bash -n -c 'cargo test'",
        "bash --rcfile x -ic 'cargo test'",
        "script -c 'cargo test' x",
        "script -qc 'cargo test' /dev/null",
        "script --command 'cargo test' x",
        "SHELL=/bin/true script -ec 'cargo test'",
        "export SHELL=/bin/true; script -ec 'cargo test'",
        "sudo SHELL=/bin/true -s cargo test",
        "sudo -b cargo test",
        "sudo -nb cargo test",
        "sudo --background cargo test",
        "sudo -l cargo test",
        "sudo -v cargo test",
        "doas -C x cargo test",
        "su -s /bin/true -c 'cargo test'",
        "su --shell=/bin/true -c 'cargo test'",
        "runuser -c 'cargo test' -s /bin/true",
        "flock -n -E 0 x cargo test",
        "numactl -H cargo test",
        "choom -p 1 cargo test",
        "script -qec 'cargo test' -c true /dev/null",
        "script -ec 'cargo test' --comm=true x",
        "su -c 'cargo test' -c true root",
        "su -c 'cargo test' --comm true root",
        "runuser -c 'cargo test' -c true root",
        "flock x -c 'cargo test' -c true",
        "npx -c 'cargo test' -c true",
        "npm exec -c 'cargo test' -c true",
        "fish -c 'cargo test' -c true",
        "fish -C 'function cargo; end' -c 'cargo test'",
        "chrt -m cargo test",
        "chrt -p 1 cargo test",
        "fakeroot -v cargo test",
        "fakeroot -h cargo test",
        "firejail --tree cargo test",
        "firejail --list cargo test",
        "firejail --version cargo test",
        "tini -l cargo test",
        "tini --version cargo test",
        "timeout --version 60 cargo test",
        "nice --vers cargo test",
        "flock -V x cargo test",
        "parallel 'cargo test' ::: a",
        "watch 'cargo test -q'",
    ] {
        counts(text, false);
    }
}

#[test]
fn steps_of_which_a_program_only_tells_do_not_count() {
    for text in [
        "cargo -vV test",
        "cargo -Vv test",
        "cargo -Zhelp test",
        "cargo -Z help test",
        "make test -v",
        "/usr/bin/make -n test",
        "pytest --fixtures",
        "npm test --if-present",
        "read X <<< 'exit 0'; $X; cargo test",
        "tar cf x --to-command='cargo test' f",
        "git rebase -x 'cargo test' HEAD",
        "sort --compress-program='cargo test' f",
        "unheard-of cargo test",
        "unheard-of sh -c 'cargo test'",
    ] {
        counts(text, false);
    }
}

#[test]
fn steps_that_were_proven_count() {
    for text in [
        "cargo test 2>&1",
        "RUST_BACKTRACE=1 cargo test",
        "cd sub && cargo test",
        "set -o pipefail; cargo test 2>&1 | tail -50",
        "set -euo pipefail; cargo build; cargo test",
        "cargo fmt && cargo test && echo ok",
        "time cargo test",
        "timeout 60 cargo test",
        "source .venv/bin/activate && pytest",
        ". .venv/bin/activate; pytest -q",
        "uv run pytest -q",
        "export CI=1; npm test",
        "bash -lc \"cd sub && cargo test\"",
        "(cd sub && cargo test)",
        "cargo +nightly test",
        "make -j4 test",
        "test -d x || exit 1; cargo test",
        "if [ -f x ]; then echo; fi; cargo test",
        "env FOO=1 cargo test",
        "X=$(git rev-parse HEAD) && cargo test",
        "cargo test > /dev/null",
        "script -qec 'cargo test' x",
        "script -c 'cargo test' --return x",
        "sudo -E cargo test",
        "sudo -n cargo test",
        "bash -euo pipefail -c 'cargo test | tail'",
        "bash --norc -c 'cargo test'",
        "linux64 cargo test",
        "choom -n 0 -- cargo test",
        "rustup run stable cargo test",
        "conda run -n x pytest",
        "flock /tmp/lock cargo test",
        "flock /tmp/lock -c 'cargo test'",
        "npx -c 'cargo test'",
        "tini -v -- cargo test",
        "firejail --quiet cargo test",
        "chrt -b 0 cargo test",
        "fish -c 'cargo test'",
        "make -kj4 test",
        "cargo -v test -- --nocapture",
        "cargo test -vv -p x",
        "pytest -vv -k have",
        "X=--lib; cargo test $X",
        "pytest tests/test_*.py \"tests/$X\"",
        "cargo test --package=\"$X\" 2>&1",
        "cargo test --manifest-path \"$PWD/Cargo.toml\" ~/x",
        "cd \"$X\" && cargo test",
        "echo $X && cargo test",
        "env A=\"$X\" cargo test",
        "A=$X cargo test",
        "cargo test > \"$X\"",
    ] {
        counts(text, true);
    }
}

/// Commands that test, and words with which they exit well and test nothing, or whatever the tests say.
const IDLE: &[(&str, &[&str])] = &[
    ("cargo test", &["--no-run", "-- --list", "--config x.toml", "--config 'target.x.runner=\"true\"'"]),
    ("cargo nextest run", &["--no-run", "--no-tests=pass"]),
    (
        "npm test",
        &["--if-present", "--if-pres", "--usage", "-- --listTests", "-- --passWithNoTests", "-- --list-files"],
    ),
    ("pnpm test", &["--if-present", "-v", "-- --listTests"]),
    ("yarn test", &["-v", "--listTests"]),
    ("bun run test", &["--if-present", "-v"]),
    ("deno test", &["--no-run", "--permit-no-files"]),
    ("deno task test", &["--help", "--eval"]),
    ("go test", &["-list .", "--list .", "-test.list .", "-args -test.list .", "--exec true", "-n", "-help"]),
    ("pytest", &["--co", "--collectonly", "--fixtures", "--funcargs", "-o addopts=--co", "-oaddopts=--co", "-qh"]),
    ("python -m pytest", &["--co", "--fixtures", "--override-ini=addopts=--co", "--setup-plan"]),
    ("python3 -m unittest", &["-h", "--hel", "-vh"]),
    ("uv run pytest", &["--fixtures", "--markers", "-o addopts=--co"]),
    ("uv run python -m pytest", &["--fixtures"]),
    ("poetry run pytest", &["--co", "--fixtures"]),
    ("hatch test", &["--show", "-s", "--fixtures", "-- --fixtures"]),
    ("tox", &["-l", "list", "l", "config", "exec -- true", "--listenvs", "--notest", "-x a=b", "-- --fixtures"]),
    ("uv run tox", &["-l", "--notest", "list"]),
    ("nox", &["-l", "--list", "--list-sessions", "--lis", "--install-only", "-- --fixtures"]),
    ("uv run nox", &["-l", "--list-sessions"]),
    ("rspec", &["--dry-run", "--dry", "-v", "--failure-exit-code 0"]),
    ("bundle exec rspec", &["--dry-run", "--dry", "-v", "--init"]),
    (
        "mvn test",
        &["-DskipTests", "-D skipTests", "--define=skipTests", "-Dmaven.test.skip.exec", "-fn", "-qv", "--fail-nev"],
    ),
    ("mvnw verify", &["-DskipTests", "-Dmaven.test.skip=true", "-DskipITs"]),
    ("gradle test", &["-m", "--dry-run", "-x test", "--test-dry-run", "-mq", "--stop"]),
    ("gradlew check", &["-x test", "-xtest", "--exclude-task=:app:test", "-m"]),
    ("mix test", &["--help", "--exit-status 0", "--dry-run"]),
    ("swift test", &["list", "--list-tests", "-l", "--show-codecov-path"]),
    ("phpunit", &["--list-tests", "--list-groups", "--list-tests-xml x", "--check-version", "--version"]),
    ("composer test", &["--dry-run", "-l", "-- --list-tests"]),
    (
        "ctest",
        &["-N", "--show-only=json-v1", "-T Start", "-TStart", "-S x.cmake", "--no-tests=ignore", "--print-labels"],
    ),
    ("make test", &["-n", "-q", "-t", "--just-print"]),
    ("just test", &["--dry-run", "-n", "--fixtures", "--summary"]),
];

/// Words with which they do test.
const TESTING: &[&str] = &[
    "npm test -- --config x --exit --ci",
    "npx --no jest",
    "go test -v -count=1 ./...",
    "pytest -o addopts= -x",
    "python3 -m unittest -v",
    "uv run --with x pytest -q",
    "uv run pytest -n 4 -l",
    "hatch test -a -- -s",
    "tox -e py312 -- -n 4 -l -x",
    "nox -s tests -- -x",
    "bundle exec rspec --format doc",
    "mvn -V test -Dtest=A",
    "gradlew check -x lint",
    "mix test --cover",
    "ctest -V --output-on-failure",
    "ctest -T Test",
    "just test -v",
];

#[test]
fn commands_that_list_tests_or_leave_them_out_prove_nothing() {
    let proven = |text: &str, step: &str| {
        reading(text).commands.iter().any(|command| command.proven && glob_matches(command, &format!("{step}*")))
    };
    for (command, told) in IDLE {
        assert!(proven(command, command), "{command}");
        for words in *told {
            assert!(!proven(&format!("{command} {words}"), command), "{command} {words}");
            assert!(!proven(&format!("timeout 60 {command} {words}"), command), "timeout 60 {command} {words}");
        }
    }
    for text in TESTING {
        assert!(reading(text).commands.iter().any(|command| command.proven), "{text}");
    }
}

#[test]
fn variables_that_decide_what_runs_are_seen_however_they_are_set() {
    for text in [
        "read PATH <<< /tmp/e; cargo test",
        "read -r X PATH <<< '1 /tmp/e'; cargo test",
        "command read PATH <<< /tmp/e; cargo test",
        "read \"$X\" <<< /tmp/e; cargo test",
        "for PATH in /tmp/e; do :; done; cargo test",
        "for PATH in /tmp/e; do break; done; cargo test",
        "select PATH in /tmp/e; do break; done; cargo test",
        ": ${PATH:=/tmp/e}; cargo test",
        ": ${PATH=/tmp/e}; cargo test",
        ": ${PATH[0]:=/tmp/e}; cargo test",
        "printf -v PATH /tmp/e; cargo test",
        "printf -vPATH /tmp/e; cargo test",
        "printf -v \"$X\" /tmp/e; cargo test",
        "mapfile -t PATH <<< /tmp/e; cargo test",
        "readarray PATH < f; cargo test",
        "getopts a PATH; cargo test",
        "let PATH=1; cargo test",
        "let 'X = PATH = 1'; cargo test",
        "((PATH=1)); cargo test",
        "((PATH[0] += 1)); cargo test",
        ": $((PATH++)) $((X)); cargo test",
        ": $[--PATH]; cargo test",
        "for ((PATH=1; PATH<2; PATH++)); do :; done; cargo test",
        "unset PATH; cargo test",
        "unset -v X PATH; cargo test",
        "RUSTC=/tmp/e cargo test",
        "export CARGO_BUILD_RUSTC=/tmp/e; cargo test",
        "CARGO_BUILD_RUSTC_WRAPPER=/tmp/e cargo test",
        "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER=/tmp/e cargo test",
        "CARGO_HOME=/tmp/e cargo test",
        "RUSTUP_HOME=/tmp/e cargo test",
        "env RUSTUP_TOOLCHAIN=e cargo test",
        "CARGO_ALIAS_T=check cargo test",
    ] {
        counts(text, false);
    }
    for text in [
        "read -r X <<< y; cargo test",
        "for f in a b; do echo $f; done; cargo test",
        ": ${X:=y}; cargo test",
        "printf -v X '%s' \"$Y\"; cargo test",
        "printf -v X PATH; cargo test",
        "mapfile -t X < f; cargo test",
        "let i+=1; ((i++)); ((PATH == 1)); cargo test",
        "unset X; cargo test",
        "CARGO_INCREMENTAL=0 RUSTFLAGS=-Dwarnings cargo test",
    ] {
        counts(text, true);
    }
    // What a loop or arithmetic sets is not known afterwards.
    touches("X=a; ((X++)); rm $X", &["delete? $X"]);
    touches("X=a; for i in 1 2; do rm \"$X\"; : $((X += 1)); done", &["delete? $X", "delete? $X"]);
}

/// How many processors there are is a number, unless the text says what tells it.
#[test]
fn a_number_of_processors_is_no_option() {
    let proven =
        |text: &str| reading(text).commands.iter().any(|command| command.proven && glob_matches(command, "make*"));
    for text in ["make -j$(nproc) test", "make -j \"$(nproc)\" test", "make --jobs=`nproc` test"] {
        assert!(proven(text), "{text}");
    }
    for text in ["make -j$(nproc --all) test", "make $(nproc)$X test", "nproc() { echo -n; }; make -j $(nproc) test"] {
        assert!(!proven(text), "{text}");
    }
}

#[test]
fn a_message_is_no_option() {
    let proven = |text: &str| {
        reading(text).commands.iter().any(|command| command.proven && glob_matches(command, "git commit*"))
    };
    assert!(proven("git commit -m \"$(cat <<'E'\nx\nE\n)\""));
    assert!(proven("git add -A && git commit -q -am \"$X\""));
    assert!(!proven("git commit -m $X"));
    assert!(!proven("git commit -m x $X"));
}

#[test]
fn only_what_is_printed_was_shown() {
    for text in [
        "cat a > /dev/null",
        "cat a >&-",
        "false && cat a; true",
        "true || cat a",
        "cat() { :; }; cat a",
        "alias cat=true; cat a",
        "PATH=. cat a",
        "cat a | head -0",
        "cat a | cat > /dev/null",
        ": $(cat a)",
        "if false; then cat a; fi",
        "exit 0; cat a",
        "for f in; do cat a; done",
        "exec > /dev/null; cat a",
        "cat a --help",
        "head -1 a",
    ] {
        shows(text, false);
    }
    for text in [
        "cat a b",
        "cat b; cat a; ls",
        "cat a && ls",
        "cd src && cat ../a",
        "cat a | nl",
        "set -e; cat a",
        "cat a 2>/dev/null",
        "source .venv/bin/activate; cat a",
        "for f in a b; do cat $f; done",
        "test -f a || exit 1; cat a",
    ] {
        shows(text, true);
    }
}
