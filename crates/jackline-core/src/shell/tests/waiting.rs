//! Programs that wait for what they do, and those that are told all of it.

use super::*;

#[track_caller]
fn waits(texts: &[&str]) {
    for text in texts {
        let reading = reading(text);
        assert!(reading.waits.is_some() || reading.opaque.is_some(), "{text}");
    }
}

#[track_caller]
fn goes_on(texts: &[&str]) {
    for text in texts {
        assert_eq!(reading(text).waits, None, "{text}");
    }
}

#[test]
fn shells_and_interpreters_that_are_told_nothing() {
    waits(&[
        "bash",
        "bash -i",
        "sh /dev/stdin",
        "sh <&0",
        "sh <&1",
        "sh 3<<<x",
        "env A=b bash",
        "rlwrap bash",
        "sudo -s",
    ]);
    waits(&["bash --rcfile /dev/null", "bash --init-file x", "bash -O extglob", "bash -o posix", "bash -norc"]);
    waits(&[
        "sh /dev/tty",
        "sh < /dev/tty",
        "sh < /proc/self/fd/0",
        ". /dev/stdin",
        "source /dev/tty",
        "f=/dev/tty; sh < $f",
    ]);
    waits(&[
        "python3",
        "python3 < /dev/tty",
        "python3 -i x.py",
        "python3 -m pdb x.py",
        "perl -de1",
        "node inspect x.js",
    ]);
    waits(&["ipython", "irb", "R", "ghci", "nu", "xonsh", "bun repl", "m4", "socat - EXEC:sh"]);
    goes_on(&[
        "bash x.sh",
        "bash -o pipefail x.sh",
        "bash --rcfile x y.sh",
        "sh < x",
        "python3 x.py",
        "python3 -m pytest",
    ]);
    goes_on(&[
        "perl -pi -e s/a/b/ x",
        "node x.js",
        "R -e 'f()'",
        "ghci -e 1",
        "python3 - <<'E'\nprint(1)\nE",
        "env python3 < x",
    ]);
}

#[test]
fn what_is_typed_is_handed_on() {
    waits(&[
        "cat | sh",
        "cat | tee x | bash",
        "(cat) | sh",
        "head -n 5 | sh",
        "{ read l; echo \"$l\"; } | sh",
        "cat | psql",
    ]);
    waits(&[
        "read c; eval \"$c\"",
        "while read -r l; do sh -c \"$l\"; done",
        "sh -c \"$(cat)\"",
        "sh <(cat)",
        "$SHELL",
    ]);
    goes_on(&[
        "cat x | psql",
        "echo 'select 1' | psql",
        "cat <<'E' | psql\nselect 1\nE",
        "while read -r l; do echo $l; done < x",
    ]);
    goes_on(&["grep -l a x | xargs sed -i s/a/b/", "git commit -m \"$(cat <<'E'\nwhy\nE\n)\""]);
}

#[test]
fn programs_that_do_what_they_read() {
    waits(&[
        "make -f -",
        "make --file=-",
        "awk '{system($0)}'",
        "awk 'BEGIN{while((getline l)>0) system(l)}'",
        "sed e",
    ]);
    waits(&[
        "git apply",
        "git am -3",
        "crontab -",
        "docker exec -it c sh",
        "docker run --rm -it i",
        "cmake -P /dev/stdin",
    ]);
    waits(&["python3 -c 'exec(input())'", "perl -ne 'system $_'", "perl -e 'eval <>'", "ruby -e 'eval gets'"]);
    waits(&[
        "node -e 'eval(require(\"fs\").readFileSync(0,\"utf8\"))'",
        "python3 -c 'import sys; exec(sys.stdin.read())'",
    ]);
    goes_on(&[
        "make -f x all",
        "awk '{print $1}' x",
        "awk 'BEGIN{system(\"ls\")}'",
        "sed -i s/a/b/ x",
        "sed -es/a/b/ x",
    ]);
    goes_on(&["git apply x.patch", "git am --abort", "crontab -l", "docker exec c ls", "docker run --rm i ls"]);
    goes_on(&[
        "python3 -c 'print(targets, open(\"x\").readlines())'",
        "curl -s u | python3 -c 'import sys; print(sys.stdin)'",
    ]);
    goes_on(&[
        "echo hi > /dev/tty",
        "echo hi | tee /dev/tty",
        "perl -ne 'print' x",
        "sqlite3 d 'select a from b where c <> 1'",
    ]);
}
