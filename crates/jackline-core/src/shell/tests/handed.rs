//! Files that programs are handed, however they are: what is read and sent, packed, taken away, or laid out anew.

use super::*;

#[test]
fn what_is_handed_to_a_program_is_read() {
    for text in [
        "curl -d @a http://x/",
        "curl -sd@a http://x/",
        "curl --json @a http://x/",
        "curl --data-urlencode n@a http://x/",
        "curl -F 'f=@a;type=text/plain' http://x/",
        "curl -F 'f=<a' http://x/",
        "curl -b a http://x/",
        "curl -H @a http://x/",
        "tar cf - a",
        "tar -c a",
        ". a",
        "source a",
        "bash -x a",
        "sh -e a b c",
        "xargs -a a echo",
        "parallel -a a echo",
        "git diff a",
        "git show HEAD:a",
        "git show :a",
        "git log -p -- a",
        "git blame a",
        "openssl base64 -in a",
        "iconv -f latin1 a",
        "logger -f a",
        "aws s3 cp a s3://b/c --profile p",
        "docker cp a c:/x",
        "kubectl apply -f a",
        "unzip -p a b",
    ] {
        let read = |touch: &Touch| touch.role == Role::Read && touch.path.text == "a" && touch.path.known();
        assert!(reading(text).touches.iter().any(read), "{text}: {:?}", reading(text).touches);
    }
    touches("curl file:///etc/x", &["read /etc/x"]);
    touches("curl \"file://$PWD/a\"", &["read? $PWD/a"]);
    touches("wget --post-file=a http://x/", &["write index.html", "read a"]);
    touches("tar -C d -cf t a", &["write t", "read a in d"]);
    touches("tar tf t", &["read t"]);
    touches("aws s3 cp s3://b/c d", &["write d", "write d/c", "name d", "name d/c"]);
}

#[test]
fn what_is_only_said_is_not_read() {
    for text in [
        "curl -d a@b.c http://x/",
        "curl -b n=v http://x/",
        "curl -F n=v http://x/",
        "curl -H 'From: a@b.c' http://x/",
        "bash -c 'x' a",
        "source ~/.cargo/env",
        "source \"$NVM_DIR/nvm.sh\"",
        "git show :/fix",
        "git diff $BASE",
        "git log a",
        "aws s3 ls",
        "docker ps",
        "kubectl get pods -n a",
    ] {
        assert!(reading(text).touches.is_empty(), "{text}: {:?}", reading(text).touches);
    }
}

#[test]
fn programs_that_write_or_take_away_what_they_are_told() {
    touches("zip -m z a", &["read a", "delete a", "write z", "read a"]);
    touches("tar --remove-files -cf t a", &["write t", "read a", "delete a"]);
    touches("zstd --rm a", &["read a", "delete a"]);
    touches("zstd -T0 a -o b", &["write b", "read a"]);
    touches("zstd -d a.zst", &["read a.zst", "write a"]);
    touches("gzip -dc a.gz", &["read a.gz"]);
    touches("socat -u FILE:a,rdonly CREATE:b", &["read a", "write b"]);
    touches("cpp -I d a b", &["read a", "write b"]);
    touches("cpp -MFc a", &["write c", "read a"]);
    touches("ar rcs l.a x.o", &["write l.a", "read x.o"]);
    touches("7z a z a", &["write z", "read a"]);
    touches("script a", &["write a"]);
    touches("script -qc 'rm b' a", &["write a", "delete b"]);
    touches("csplit -f p a 1", &["read a", "write p00"]);
    touches("split a p", &["read a", "write paa"]);
    touches("mkfifo a; mknod b p", &["mark a", "mark b", "mark p"]);
    touches("mktemp -p d; mktemp d/aXXX; mktemp", &["mark d/tmp.mktemp", "mark d/aXXX"]);
    touches("fallocate -l 1 a", &["write a"]);
    touches("uudecode -o a b", &["write a"]);
    touches("git config -f a b.c d", &["write a"]);
    touches("git config -f a --get b.c", &["read a"]);
    touches("history -w a", &["write a"]);
    touches("ssh-keygen -t rsa -f k", &["write k", "write k.pub"]);
    touches("ssh-keygen -yf k", &["read k"]);
    touches("gofmt -l -w a.go", &["format a.go"]);
    touches("gofmt -l a.go", &[]);
    touches("black -l 100 a.py", &["format a.py"]);
    touches("black --check a.py", &[]);
    touches("prettier --config c --write a.ts", &["format a.ts"]);
}

#[test]
fn clusters_of_options_are_taken_apart() {
    touches("sort -uo b a", &["write b", "read a"]);
    touches("sort -uob a", &["write b", "read a"]);
    touches("sort -ko -o b a", &["write b", "read a"]);
    touches("sort -k -o b", &["read b"]);
    touches("sort -k1 -- -o", &["read ./-o"]);
    touches("gcc -Wno-foo -ob a.c", &["write b"]);
    touches("gcc -lfoo a.c", &[]);
    touches("strace -fo a sort -uo c b", &["write a", "write c", "read b"]);
    touches("git restore -Ss HEAD a", &[]);
    touches("git stash -um x", &["delete* ."]);
}

#[test]
fn a_part_of_a_file_is_not_the_whole() {
    touches("bat a", &["show a"]);
    touches("bat --style=plain a", &["show a"]);
    for text in ["bat -r 1:1 a", "bat -r1:1 a", "batcat --line-range=:1 a", "bat -L a", "bat -d a"] {
        touches(text, &["read a"]);
    }
    touches("more +5 a", &["read +5", "read a"]);
}

#[test]
fn programs_that_have_a_shell_run_a_text() {
    for text in [
        "sg g -c 'git push -f'",
        "sg g 'git push -f'",
        "capsh -- -c 'git push -f'",
        "oksh -c 'git push -f'",
        "nu -c 'git push -f'",
        "pwsh -Command 'git push -f'",
        "tmux new-session -d -s x 'git push -f'",
        "tmux neww git push -f",
        "tmux send-keys -t x 'git push -f' Enter",
        "tmux new -d \\; send git Space push ' -f' Enter",
        "screen -S x -X stuff 'git push -f'",
        "hyperfine -w 1 'git push -f'",
        "hyperfine --prepare 'git push -f' ls",
        "expect -c 'spawn git push -f; interact'",
        "nix develop -c git push -f",
        "pnpm dlx git push -f",
        "pipx run git push -f",
    ] {
        let pushes = |command: &Command| command.words.first().is_some_and(|word| word.text == "git");
        let found = reading(text).commands.into_iter().find(pushes);
        assert!(found.is_some_and(|command| joined(&command).contains("push -f")), "{text}");
    }
    opaque("pwsh -c 'Get-Item ('", true);
    opaque("nu -c \"$X\"", true);
    opaque("tmux send-keys \"it's\" Enter", false);
    opaque("hyperfine \"it's\"", false);
}

#[test]
fn files_named_in_a_format_or_by_a_variable_are_written() {
    touches("curl -w '%{http_code}%output{a}x%output{>>b}' http://x", &["write a", "write b"]);
    touches("curl -w '%{http_code}' http://x", &[]);
    touches("NODE_REDIRECT_WARNINGS=a npm test", &["append a"]);
}

#[test]
fn files_that_a_script_of_seds_names_are_written_and_read() {
    touches("sed -n 's@a@b@w a' f", &["read f", "write a"]);
    touches("sed -n '2!w a' f", &["read f", "write a"]);
    touches("sed -n w.env f", &["read f", "write .env"]);
    touches("sed -ne '/a/,+1w a' f", &["read f", "write a"]);
    touches("sed --expr='1w a' f", &["read f", "write a"]);
    touches("sed -e 'a\\' -e 'w a' f", &["read f"]);
    touches("sed -e 'a\\' -f s -e 'w a' f", &["read f", "write a"]);
    touches("sed -i '' 'w a' f", &["write w a", "write f", "write a"]);
    touches("sed 'r a' f", &["read f", "read a"]);
    touches("sed \"s/a/$X/w a\" f", &["read f", "write a"]);
    touches("sed -n \"${N},${M}w a\" f", &["read f", "write a"]);
    touches("sed -n \"\\$w a;s/$X//\" f", &["read f", "write? a;s/$X//"]);
    touches("sed -n \"w $X\" f", &["read f", "write? $…", "write? $X"]);
    for text in ["sed k f", "sed -n \"${X} .env\" f", "sed 1e f", "sed s/a/b/e f", "sed 's/a/b' f"] {
        assert!(reading(text).foreign, "{text}");
    }
    for text in [
        "sed -n '5,60p' f",
        "sed -E 's@(a|b)@\\1@g' f",
        "sed 's/w x/y/;s|w|x|' f",
        "sed -n \"${N}p\" f",
        "sed -n \"${START},${END}p\" f",
        "sed -n \"${row}d\" f",
        "sed -n \"$X\" f",
        "sed -n \"$N,${M}p\" f",
        "sed -n \"$((N-5)),$((N+5))p\" f",
        "sed \"s|$X|$(pwd)|g\" f",
        "sed '1i\\text w a' f",
        "sed -e '/a/{' -e p -e '}' f",
    ] {
        assert!(!reading(text).foreign, "{text}");
        touches(text, &["read f"]);
    }
}
