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

#[test]
fn shells_by_another_name() {
    waits(&["unshare -r", "newgrp", "chroot /", "fakeroot", "nsenter -t 1", "runuser -l root", "sg root", "login"]);
    waits(&["poetry shell", "pipenv shell", "nix-shell", "flask shell", "rails console", "python3 manage.py shell"]);
    waits(&["ssh -p 22 localhost", "ssh -l root localhost", "ssh -o X=y localhost", "sqlite3 -init /dev/null x.db"]);
    waits(&["psql -f -", "crontab -e", "visudo", "mc", "micro x", "docker compose exec c sh", "docker attach c"]);
    waits(&[
        "awk 'BEGIN{system(\"sh\")}'",
        "perl -e \"exec 'bash'\"",
        "ruby -e 'exec \"bash\"'",
        "ruby -e 'binding.irb'",
    ]);
    waits(&[
        "python3 -c \"import pty; pty.spawn('/bin/bash')\"",
        "python3 -c 'breakpoint()'",
        "python3 -c 'import code; code.interact()'",
        "python3 -c 'import os; exec(os.read(0,999))'",
        "python3 -c 'import pdb; pdb.set_trace()'",
        "python3 -c \"import subprocess; subprocess.call('bash')\"",
        "python3 -m pty",
        "node -e \"require('repl').start()\"",
        "node -e \"require('child_process').spawnSync('bash', {stdio: 'inherit'})\"",
        "ruby -e 'eval $<.read'",
        "lua -e 'load(io.read())()'",
        "expect -c 'spawn bash; interact'",
        "lua -e 'dofile()'",
    ]);
    waits(&[
        "sudo -u root -s",
        "sudo -Hs",
        "doas -u root -s",
        "chroot --userspec 0:0 /",
        "setarch x86_64",
        "linux64",
        "pkexec",
    ]);
    goes_on(&["sudo -v -uadmin", "sudo -nl", "sudo -u root -s ls", "setarch -R ls", "sg root -c ls", "pkexec ls"]);
    goes_on(&[
        "unshare -r ls",
        "chroot / ls",
        "nsenter -t 1 -m ls",
        "sg root ls",
        "nix-shell --run ls",
        "poetry run x",
    ]);
    goes_on(&["ssh -p 22 localhost ls", "sqlite3 -init x y.db 'select 1'", "python3 manage.py migrate", "rails test"]);
    goes_on(&["python3 -c \"import subprocess; subprocess.run(['bash', '-c', 'ls'])\"", "python3 -c 'audio.read()'"]);
    goes_on(&["python3 -c \"print('a'.replace('a', 'b'))\"", "python3 -c \"import os; os.system('bash x.sh')\""]);
}

#[test]
fn programs_that_are_told_all_of_it() {
    goes_on(&[
        "patch -p1 -i p.diff",
        "patch --input=p.diff",
        "redis-cli ping",
        "redis-cli -h x get y",
        "xargs -a list rm",
    ]);
    goes_on(&["parallel echo ::: a b", "expect x.exp", "gdb -batch -ex bt ./x core", "lldb --batch -o run ./x"]);
    goes_on(&["emacs --batch -l x.el", "su -c ls root", "tmux ls", "screen -ls", "at -l"]);
    waits(&["patch -p1", "redis-cli", "redis-cli -h x", "xargs rm", "parallel echo", "expect", "gdb ./x", "emacs x"]);
    waits(&["su root", "tmux", "tmux new -s ls", "screen -S x", "at now", "iex -e 1"]);
    goes_on(&["tmux new -d 'npm start'", "tmux new-session -d -s x 'npm start'", "screen -dmS x npm start"]);
    goes_on(&["lynx -dump x.html", "vagrant ssh -c ls", "sbt test", "expect -c 'spawn ls; expect eof'"]);
}

#[test]
fn containers_wait_where_what_runs_in_them_does() {
    waits(&[
        "docker run -it -v a:b ubuntu",
        "docker run -it --name x -p 1:2 ubuntu bash",
        "docker exec -uroot -it c sh",
    ]);
    waits(&["docker compose exec c sh", "docker-compose exec -u root c bash", "docker compose run --rm web python3"]);
    waits(&[
        "kubectl exec -it pod -n x -- sh",
        "kubectl attach -it pod",
        "docker exec -it c /bin/bash",
        "docker exec -itu root c sh",
        "kubectl exec pod -it bash",
    ]);
    goes_on(&[
        "docker exec -i c psql -c 'select 1'",
        "docker exec -it -w /x c npm test",
        "docker run --rm -it i pytest -q",
    ]);
    goes_on(&[
        "docker compose exec web pytest",
        "docker compose run --rm test",
        "docker compose run -e A=b web npm test",
    ]);
    goes_on(&["docker compose up -d", "docker compose exec -T db psql", "kubectl exec -it pod -n x -- ls -la"]);
}

#[test]
fn git_opens_an_editor() {
    waits(&["git commit", "git commit -a", "git -C x commit --amend", "git rebase -i HEAD~2", "git -C x apply"]);
    goes_on(&[
        "git commit -m x",
        "git commit -am x",
        "git commit --amend --no-edit",
        "git commit -F x",
        "git rebase main",
    ]);
    goes_on(&["git commit --fixup HEAD", "GIT_EDITOR=true git rebase -i HEAD~2", "export GIT_EDITOR=true; git commit"]);
    goes_on(&["git -c core.editor=true commit", "GIT_SEQUENCE_EDITOR='sed -i s/pick/drop/' git rebase -i HEAD~2"]);
    goes_on(&["GIT_SSH_COMMAND='ssh -i key' git push", "GIT_PAGER=cat git log"]);
    waits(&["EDITOR=$X git commit", "EDITOR=vi git commit", "PAGER=cat git commit"]);
}

#[test]
fn what_is_typed_into_a_file_and_run() {
    waits(&["cat > s.sh; sh s.sh", "tee s.sh; sh ./s.sh", "dd of=s.sh; . s.sh", "head -1 > s.sh && bash s.sh"]);
    for text in
        ["cat x > s.sh; sh s.sh", "cat > s.sh <<'E'\nls\nE\nsh s.sh", "echo ls | tee s.sh; sh s.sh", "cat > a.txt"]
    {
        let reading = reading(text);
        assert!(reading.waits.is_none() && reading.opaque.is_none(), "{text}");
    }
}
