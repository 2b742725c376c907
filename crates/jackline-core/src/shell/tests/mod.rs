//! Shell texts and what is read in them.

mod evaluated;
mod functions;
mod handed;
mod left;
mod patterns;
mod proofs;
mod unknown;
mod waiting;
mod wrapped;

use super::*;

fn reading(text: &str) -> Reading {
    match read(text) {
        ShellText::Reading(reading) => reading,
        ShellText::Unparsable(why) => panic!("{text}: {why}"),
    }
}

fn joined(command: &Command) -> String {
    command.words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// The commands of a text; those that the exit status proves carry a `✓`.
#[track_caller]
fn check(text: &str, want: &[&str]) {
    let found: Vec<String> = reading(text)
        .commands
        .iter()
        .map(|command| format!("{}{}", if command.proven { "✓" } else { "" }, joined(command)))
        .collect();
    assert_eq!(found, want, "{text}");
}

#[track_caller]
fn touches(text: &str, want: &[&str]) {
    let shown = |touch: &Touch| {
        let role = match (touch.role, touch.whole, touch.how) {
            (Role::Read, true, _) => "show",
            (Role::Read, false, _) => "read",
            (Role::Write, _, How::Metadata) => "mark",
            (Role::Write, _, How::Appended) => "append",
            (Role::Write, _, How::Named) => "name",
            (Role::Write, _, How::Linked) => "link",
            (Role::Write, _, How::Locked) => "lock",
            (Role::Write, _, How::Restored) => "restore",
            (Role::Write, _, How::Formatted) => "format",
            (Role::Write, _, How::Whole | How::Measured | How::Loaded) => "write",
            (Role::Delete, ..) => "delete",
        };
        let mark = format!("{}{}", if touch.path.dynamic { "?" } else { "" }, if touch.path.glob { "*" } else { "" });
        let place = match &touch.dir {
            Dir::Here => String::new(),
            Dir::At(dir) => format!(" in {dir}"),
            Dir::Unknown => " somewhere".to_owned(),
        };
        let only = match &touch.only {
            None => String::new(),
            Some(Only::Unentered(dir)) => format!(" unless {dir}"),
            Some(Only::Present(path)) => format!(" if {path}"),
            Some(Only::Searched(search)) => {
                let (only, without) = (search.only.join(" "), search.without.join(" "));
                let hidden = if search.hidden { " hidden" } else { "" };
                format!(" by search {:?}{hidden} {only}!{without}", search.among)
            }
            Some(Only::Copied { source, name, named, .. }) => {
                let named = named.as_ref().map(|named| format!("/{named}")).unwrap_or_default();
                let name = name.as_ref().map(|name| format!(" or {}/{name}", touch.path.text)).unwrap_or_default();
                format!("{name} from {source}{named}")
            }
        };
        format!("{role}{mark} {}{place}{only}", touch.path.text)
    };
    let found: Vec<String> = reading(text).touches.iter().map(shown).collect();
    assert_eq!(found, want, "{text}");
}

#[track_caller]
fn unparsable(text: &str) {
    assert!(matches!(read(text), ShellText::Unparsable(_)), "{text}: {:?}", read(text));
}

#[track_caller]
fn opaque(text: &str, want: bool) {
    assert_eq!(reading(text).opaque.is_some(), want, "{text}: {:?}", reading(text).opaque);
}

#[test]
fn commands_are_found_wherever_they_stand() {
    check("git commit -m z", &["✓git commit -m z"]);
    check("cd x && GIT_DIR=y git commit -m z", &["✓cd x", "✓git commit -m z"]);
    check("echo \"git commit\"", &["✓echo git commit"]);
    check("echo 'a; rm -rf b' # rm c", &["✓echo a; rm -rf b"]);
    check("(cd a; make)", &["cd a", "✓make"]);
    check("{ a; b; }", &["a", "✓b"]);
    check("if a; then b; elif c; then d; else e; fi", &["a", "b", "c", "d", "e"]);
    check("while a; do b; done", &["a", "b"]);
    check("for f in 1 2; do rm $f; done", &["rm 1", "rm 2"]);
    check("case $x in a|b) c;; *) d;; esac", &["c", "d"]);
    check("f() { rm a; }; f", &["f", "rm a"]);
    check("function g { rm b; }", &["rm b"]);
    check("echo $(rm a) `rm b` <(rm c)", &["rm a", "rm b", "rm c", "echo $(…) $(…) <(…)"]);
    check("echo ${x:-$(rm a)} $((1 + $(rm b)))", &["rm a", "rm b", "echo ${x…} $((…))"]);
    check("echo \"$(rm 'a b')\"", &["rm a b", "echo $(…)"]);
    check("a | b |& c", &["a", "b", "✓c"]);
    check("a\nb\n", &["a", "✓b"]);
    check("a \\\n b", &["✓a b"]);
    check("[[ -f $(x) ]] && b", &["x", "✓b"]);
    check("((i++)); b", &["✓b"]);
    check("((a); (b))", &["a", "✓b"]);
    check("for ((i=0;i<3;i++)); do b; done", &["b"]);
    check("x=(a $(rm b)); c", &["rm b", "✓c"]);
    check("cat <<EOF\n$(rm a)\nEOF\nb", &["rm a", "cat", "✓b"]);
    check("cat <<'EOF'\n$(rm a)\nEOF\nb", &["cat", "✓b"]);
    check("cat <<-A <<B\n\tone\n\tA\ntwo\nB\nc", &["cat", "✓c"]);
    check("! a", &["a"]);
    check("a;b;", &["a", "✓b"]);
    check("rm${IFS}-rf$IFS\"$IFS\"", &["rm -rf $IFS"]);
    check("IFS=,; a${IFS}b", &["✓a$IFSb"]);
    check("a 2>&1 >/dev/null", &["✓a"]);
    check("$'\\x72m' a", &["✓rm a"]);
    check("r\\m a; 'r'm b; \"r\"\"m\" c", &["rm a", "rm b", "✓rm c"]);
    check("time { a; }; time -p b | c", &["a", "b", "✓c"]);
    check("time (a && b)", &["✓a", "✓b"]);
    check("time -f %e a", &["✓time -f %e a", "✓a"]);
    check("coproc a b; coproc N { c; }", &["a b", "c"]);
    check("[[ -f <(a) ]] && b", &["a", "✓b"]);
    check("x[$(a)]=1; b", &["a", "✓b"]);
    check("echo ${x:-<(a)} ${x:-'}'} b", &["a", "echo ${x…} ${x…} b"]);
    check("echo \"`: \\\"'\\\"; a; : \\\"'\\\"`\"", &[": '", "a", ": '", "echo $(…)"]);
    check("cat <<E\na\\\nE\nb\nE\nc", &["cat", "✓c"]);
    check("[ -f x ] && b", &["✓[ -f x ]", "✓b"]);
    check("echo a#b", &["✓echo a#b"]);
    check("echo {a,b}{1,2}", &["✓echo a1 a2 b1 b2"]);
    check("echo {1..3} {} {x", &["✓echo 1 2 3 {} {x"]);
}

#[test]
fn wrappers_are_looked_through() {
    check("sudo -u root rm a", &["✓sudo -u root rm a", "✓rm a"]);
    check("env -i A=b rm a", &["✓env -i A=b rm a", "✓rm a"]);
    // Options that stand together, of which the last takes a value.
    check("sudo -nu root rm a", &["✓sudo -nu root rm a", "✓rm a"]);
    check("strace -fo t rm a", &["✓strace -fo t rm a", "✓rm a"]);
    check("stdbuf -oL rm a", &["✓stdbuf -oL rm a", "✓rm a"]);
    check("timeout -vk 5 10 rm a", &["✓timeout -vk 5 10 rm a", "✓rm a"]);
    check("timeout -k 5 10 cargo test", &["✓timeout -k 5 10 cargo test", "✓cargo test"]);
    check("nohup nice -n 5 make", &["✓nohup nice -n 5 make", "✓nice -n 5 make", "✓make"]);
    check("bash -c 'rm a && rm b'", &["✓bash -c rm a && rm b", "✓rm a", "✓rm b"]);
    check("bash -lc 'cd a; rm b'", &["✓bash -lc cd a; rm b", "cd a", "✓rm b"]);
    check("bash -ec 'a; b'", &["✓bash -ec a; b", "✓a", "✓b"]);
    check("bash -o pipefail -c 'a | b'", &["✓bash -o pipefail -c a | b", "✓a", "✓b"]);
    check("sh -c \"bash -c 'rm x'\"", &["✓sh -c bash -c 'rm x'", "✓bash -c rm x", "✓rm x"]);
    check("ls | xargs -n1 rm -f", &["ls", "✓xargs -n1 rm -f", "rm -f *"]);
    check("find . -name xy -exec rm -f {} \\;", &["✓find . -name xy -exec rm -f {} ;", "rm -f ./**/xy"]);
    check("find . -exec sh -c 'rm {}' \\;", &["✓find . -exec sh -c rm {} ;", "sh -c rm {}"]);
    check("eval 'rm a'", &["✓eval rm a", "✓rm a"]);
    check("bash <<EOF\nrm a\nEOF", &["✓bash", "rm a"]);
    check("bash <<< 'rm a'", &["✓bash", "rm a"]);
    check("command -v git", &["✓command -v git"]);
    check("command git push", &["✓command git push", "✓git push"]);
    check("exec git push", &["✓exec git push", "git push"]);
    check("uv run pytest -q", &["✓uv run pytest -q", "✓pytest -q"]);
    check("npx -y tsc", &["✓npx -y tsc", "✓tsc"]);
    check("env -S 'rm a'", &["✓env -S rm a", "✓rm a"]);
    check("time -p make", &["✓make"]);
    check("env - rm a", &["✓env - rm a", "✓rm a"]);
    check("env -S 'rm -f' 'a b'", &["✓env -S rm -f a b", "✓rm -f a b"]);
    check("bash -c -- 'rm a'", &["✓bash -c -- rm a", "✓rm a"]);
    check("bash -norc -c 'rm a'", &["✓bash -norc -c rm a", "✓rm a"]);
    check("bash -cO extglob 'rm a'", &["✓bash -cO extglob rm a", "✓rm a"]);
    check("ls | xargs -i rm {}", &["ls", "✓xargs -i rm {}", "rm *"]);
    check("script -qc 'rm a' /dev/null", &["✓script -qc rm a /dev/null", "rm a"]);
    check("script -qec 'rm a' /dev/null", &["✓script -qec rm a /dev/null", "✓rm a"]);
    check("flock f rm a", &["✓flock f rm a", "✓rm a"]);
    check("npx -c 'rm a'", &["✓npx -c rm a", "✓rm a"]);
    check("trap 'rm a' EXIT", &["✓trap rm a EXIT", "rm a"]);
    check("eval -- 'rm a'", &["✓eval -- rm a", "✓rm a"]);
    check("/usr/lib/git-core/git-push -f", &["✓/usr/lib/git-core/git-push -f", "✓git push -f"]);
    check("git bisect run rm a", &["✓git bisect run rm a", "rm a"]);
    check("git rebase -x 'rm a' HEAD", &["✓git rebase -x rm a HEAD", "rm a"]);
    check("uv run --with x pytest -q", &["✓uv run --with x pytest -q", "✓pytest -q"]);
}

#[test]
fn exit_status_proves_only_what_it_proves() {
    check("cargo test || true", &["cargo test", "true"]);
    check("cargo test | tail", &["cargo test", "✓tail"]);
    check("cargo test; true", &["cargo test", "✓true"]);
    check("cargo test &", &["cargo test"]);
    check("cargo test & wait", &["cargo test", "✓wait"]);
    check("cargo test --help", &["cargo test --help"]);
    check("cargo test --no-run", &["cargo test --no-run"]);
    check("a || b && c", &["a", "b", "✓c"]);
    check("a && b || c", &["a", "b", "c"]);
    check("set -e; a; b", &["set -e", "✓a", "✓b"]);
    check("set -e; a && b; c", &["set -e", "a", "b", "✓c"]);
    check("set -o pipefail; a | b", &["set -o pipefail", "✓a", "✓b"]);
    check("set -eo pipefail; a | b; c", &["set -eo pipefail", "✓a", "✓b", "✓c"]);
    check("set -e; set +e; a; b", &["set -e", "✓set +e", "a", "✓b"]);
    check("exit 0; cargo test", &["exit 0", "cargo test"]);
    check("test -f x || exit 1; cargo test", &["test -f x", "exit 1", "✓cargo test"]);
    check("test -f x && exit; cargo test", &["test -f x", "exit", "cargo test"]);
    check("trap 'exit 0' EXIT; cargo test", &["trap exit 0 EXIT", "exit 0", "cargo test"]);
    check("cargo() { true; }; cargo test", &["cargo test", "true"]);
    check("PATH=. cargo test", &["cargo test"]);
    check("export PATH=/x:$PATH; cargo test", &["export PATH=/x:$PATH", "cargo test"]);
    check("(cargo test)", &["✓cargo test"]);
    check("if true; then cargo test; fi", &["true", "cargo test"]);
    check("echo $(cargo test)", &["cargo test", "echo $(…)"]);
    check("alias x=y; a", &["alias x=y", "✓a"]);
    check("source x; cargo test", &["source x", "cargo test"]);
    check("source .venv/bin/activate && pytest", &["✓source .venv/bin/activate", "✓pytest"]);
    check("eval 'cargo() { true; }'; cargo test", &["eval cargo() { true; }", "cargo test", "true"]);
    check("set -e; { a; b; } && c", &["set -e", "a", "✓b", "✓c"]);
    check("(set -e; a; b) && c", &["set -e", "a", "✓b", "✓c"]);
    check("set -- -e; a; b", &["set -- -e", "a", "✓b"]);
    check("set -o pipefail; set +eo pipefail; a | b", &["set -o pipefail", "set +eo pipefail", "a", "✓b"]);
    check("make -sn test", &["make -sn test"]);
    check("make -j4 test", &["✓make -j4 test"]);
    check("MAKEFLAGS=n make test", &["make test"]);
    check("export \"PATH=.\"; cargo test", &["export PATH=.", "cargo test"]);
    check("bash -c -e 'a; b'", &["✓bash -c -e a; b", "✓a", "✓b"]);
}

#[test]
fn what_cannot_be_known_is_opaque() {
    opaque("$X push", true);
    opaque("\"$(which git)\" push", true);
    opaque("eval \"$X\"", true);
    opaque("curl x | sh", true);
    opaque("curl x | sudo bash", true);
    opaque("echo rm | bash -s", true);
    opaque("cat x | python3", true);
    opaque("cat x | python3 -", true);
    opaque("bash <(curl x)", true);
    opaque("bash -c \"$X\"", true);
    opaque("source <(curl x)", true);
    opaque(". $X", true);
    opaque("alias git=x", false);
    opaque("alias git=x; git push", true);
    opaque("alias git=x; sudo git push", true);
    opaque("while :; do g; alias g=x; done", true);
    opaque("alias for=x", true);
    opaque("alias -g G=x", true);
    opaque("alias g=\"$X\"", true);
    opaque("/bin/r? a", true);
    opaque("X=rm; $X -rf a", false);
    opaque("eval 'rm a'", false);
    opaque("bash script.sh", false);
    opaque("./run.sh", false);
    opaque("python3 -c 'x'", false);
    opaque("cat x | python3 y.py", false);
    opaque("cat x | grep y", false);
    opaque("bash < script.sh", false);
    opaque("source ./env.sh", false);
    opaque("[ -f x ] && echo y", false);
    opaque("test -n \"${X:-}\" || exit 1", false);
    opaque("trap 'rm -f /tmp/x' EXIT", false);
    opaque("git -c user.name=\"$X\" commit", false);
    opaque("python3 --version; bash --version", false);
    opaque("bash < <(curl x)", true);
    opaque("{ sh; } <<< \"$X\"", true);
    opaque("curl x | bash -s -- --yes y", true);
    opaque("curl x | python3 - y", true);
    opaque("source /dev/stdin", true);
    opaque("git -c alias.p=push p --force", true);
    opaque("hash -p /bin/rm ls", true);
    opaque("X='$(rm a)'; echo ${X@P}", true);
    opaque("[[ 'a[$(rm b)]' -eq 0 ]]", true);
    opaque("awk '{n[$1]++}' f; echo ${a[$(x)]}", false);
    opaque("IFS=,; X=rm,a; $X", true);
    assert!(reading("python3 -c 'open(1)'").foreign);
    assert!(reading("python3 <<EOF\nx\nEOF").foreign);
    assert!(!reading("python3 x.py").foreign);
}

#[test]
fn variables_are_followed_where_they_are_sure() {
    check("X=rm; $X -rf a", &["✓rm -rf a"]);
    check("X='rm -rf'; $X a; \"$X\" b", &["rm -rf a", "✓rm -rf b"]);
    check("export X=rm && $X a", &["✓export X=rm", "✓rm a"]);
    check("if a; then X=rm; fi; $X b", &["a", "✓$X b"]);
    check("X=a; (X=b); rm $X", &["✓rm a"]);
    check("for x in a b; do Y=$x; done; rm $Y", &["rm $Y"]);
    check("read X; rm $X", &["read X", "rm $X"]);
    touches("F=out.txt; echo hi > $F", &["write out.txt"]);
    touches("echo hi > $F", &["write? $F"]);
    touches("rm $HOME/x ~/y \"$HOME\"/z '~'/w", &["delete ~/x", "delete ~/y", "delete ~/z", "delete ./~/w"]);
    touches("rm $PWD/x ~root/y", &["delete ./x", "delete? ~root/y", "delete /root/y"]);
    touches("for f in *.o; do rm \"$f\"; done", &["delete* *.o"]);
}

#[test]
fn files_are_read_written_and_deleted() {
    touches("cat a b", &["show a", "show b"]);
    touches("cat a | nl", &["show a"]);
    touches("cat a | head -1", &["read a"]);
    touches("cat a > b", &["write b", "read a"]);
    touches("head -1 a", &["read a"]);
    touches("echo x > a", &["write a"]);
    touches("echo x >> a 2>> b", &["append a", "append b"]);
    touches("x &> a", &["write a"]);
    touches("x >| a < b", &["write a", "read b"]);
    touches("x <> a", &["read a", "write a"]);
    touches("x > /dev/null 2>&1", &[]);
    touches("x >&2 3>&-", &[]);
    touches("x >& a", &["write a"]);
    touches("tee -a a b < c", &["read c", "append a", "append b"]);
    touches("sed -i s/a/b/ f g", &["write f", "write g"]);
    touches("sed -i.bak -e s/a/b/ f", &["write f"]);
    touches("sed -n 1p f", &["read f"]);
    touches("cp x/s* b/", &["read* x/s*", "write* b/s*", "write b/ from x/s*"]);
    touches("cp a b", &["read a", "write b", "write b/a"]);
    touches("cp a b c/", &["read a", "read b", "write c/a", "write c/b"]);
    touches("cp -t d a", &["read a", "write d/a"]);
    touches("mv x/a b", &["delete x/a", "write b", "write b/a", "write b or b/a from x/a"]);
    touches("ln -s a b", &["write b", "write b/a", "link a"]);
    touches("ln -s ../a c/b", &["write c/b", "write c/b/a", "link ../a", "link c/../a"]);
    touches("rm -rf -- -a b", &["delete -a", "delete b"]);
    touches("touch a; mkdir -p b/c; chmod +x d", &["mark a", "mark b/c", "mark d"]);
    touches("truncate -s 0 a", &["write a"]);
    touches("dd if=a of=b bs=1", &["read a", "write b"]);
    touches("curl -o a http://x", &["write a"]);
    touches("curl -oa http://x", &["write a"]);
    touches("git checkout -- a b", &["restore a", "restore b"]);
    touches("git checkout main", &["name main"]);
    touches("git checkout main a", &["name main", "restore a"]);
    touches("git -C x checkout -- a", &["restore a in x"]);
    touches("git restore --staged a", &[]);
    touches("git restore a", &["restore a"]);
    touches("git clean --help", &[]);
    touches("wget -qO- http://x/a", &[]);
    touches("wget -U O http://x/a", &["write a"]);
    touches("curl -sSLO http://x/b/a?c", &["write a"]);
    touches("chmod -x a; chmod 0 b; chmod 755 c; chmod u=rw d", &["lock a", "lock b", "mark c", "lock d"]);
    touches("rsync -a --delete a b", &["delete b/a", "read a", "write b", "write b/a", "write b/a from a"]);
    touches("git rm a", &["delete a"]);
    touches("git reset --hard", &["write* ."]);
    touches("git clean -fdx", &["delete* ."]);
    touches("git stash list", &[]);
}

#[test]
fn files_that_a_program_chooses_are_as_sure_as_what_it_was_told() {
    touches("find a -delete", &["delete* a"]);
    touches("find a* -delete", &["delete* a*", "delete* a*/**"]);
    touches("find a -name '*.o' -delete", &["delete* a/**/*.o"]);
    touches("find a -name '*' -delete", &["delete* a/**/*"]);
    touches("find a -name '*.o' -o -name x -delete", &["delete* a/**/*.o", "delete* a/**/x"]);
    touches("find a -name '*.o' -not -path 'a/b/*' -delete", &["delete* a/**/*.o"]);
    touches("find a -not -name '*.o' -delete; find -L a -name x -delete", &["delete* a", "delete* a"]);
    touches("find a ! \\( -name x -o -name y \\) -delete", &["delete* a"]);
    touches("find a -path a/b -prune -o -name '*.o' -exec rm {} +", &["read* a/**/*.o", "delete* a/**/*.o"]);
    touches("find a -name x -o -type f -exec rm {} +", &["read* a", "delete* a/**"]);
    touches("find a -type d -empty -delete; find a -type d -delete", &[]);
    touches("find a -name '*.o' -exec rm {} +", &["read* a/**/*.o", "delete* a/**/*.o"]);
    touches("find a -name '*.o' -execdir rm {} +", &["read* a/**/*.o", "delete* a/**/*.o"]);
    touches("fd -e o -x rm; fd -g 'x*' a -X rm {}", &["delete* ./**/*.o", "delete* a/**/x*"]);
    touches("fd x -x rm", &["delete* ./**"]);
    touches("ls | xargs rm; ls *.o | xargs rm", &["delete* *", "delete* *.o"]);
    touches("git clean -fd a; git clean -fdx -e b", &["delete a", "delete* ."]);
    touches("git stash push a", &["write a"]);
    touches("find a | xargs wc", &["read* a", "read* a/**"]);
    touches("find a | xargs rm", &["read* a", "delete* a/**"]);
    touches("rg -l x | xargs sed -i s/a/b/", &["read* ./** by search Known !", "write* ./**"]);
    touches("for f in $(git ls-files '*.rs'); do wc $f; done", &["read* **/*.rs"]);
    touches("git ls-files | xargs wc", &["read* ."]);
    touches("git diff --name-only HEAD -- '*.py' | xargs rm", &["read HEAD", "read *.py", "delete* **/*.py"]);
    touches("diff <(a) <(b)", &[]);
    touches("F=$(mktemp); echo x > $F", &["write /tmp/tmp.mktemp"]);
    touches("perl -pi -e 's/a/b/' f", &["write f"]);
    touches("tar -xzf a.tgz", &["read a.tgz", "write* ."]);
    touches("sort -o a b", &["write a", "read b"]);
    touches("grep x a b", &["read a", "read b"]);
    touches("grep -r x a", &["read* a/** by search All hidden !", "read a"]);
}

#[test]
fn directories_and_patterns_are_followed() {
    touches("cd a && rm b", &["delete b in a"]);
    touches(
        "cd a; cd ../c; rm b",
        &[
            "delete b in a/../c",
            "delete b in ../c unless a/../c",
            "delete b in a unless a/../c",
            "delete b unless a/../c",
        ],
    );
    touches("cd a && cd b && rm c", &["delete c in a/b"]);
    touches("set -e; cd a; rm b", &["delete b in a"]);
    touches("D=$PWD; cd a; rm $D/b", &["delete? $D/b in a"]);
    touches("cd $X && rm b", &["delete b somewhere"]);
    touches("cd $X && rm /b", &["delete /b somewhere"]);
    touches("(cd a && rm b); rm c", &["delete b in a", "delete c"]);
    touches("cd a || exit 1; rm b", &["delete b in a"]);
    touches("if x; then cd a; fi; rm b", &["delete b somewhere"]);
    touches("f() { cd a; }; f; rm b", &["delete b somewhere"]);
    touches("env -C a rm b", &["delete b in a/."]);
    touches("unshare --wd=a rm b; unshare -w a rm b", &["delete b in a/.", "delete b in a/."]);
    touches("systemd-run -p WorkingDirectory=a rm b", &["delete b in a/."]);
    touches("patch -d a <<< '--- x\n+++ x'", &["write x in a", "write x in a"]);
    touches("git -c core.worktree=a checkout -- b", &["restore b in a"]);
    touches("GIT_WORK_TREE=a git checkout -- b", &["restore b in a"]);
    touches("export GIT_WORK_TREE=a; git checkout -- b", &["restore b in a"]);
    touches("curl --output-dir a -o b http://x", &["write a/b", "write b"]);
    touches("scp h:x/b a/", &["read h:x/b", "write a/b"]);
    touches("scp h:b a/", &["read h:b", "write a/h:b", "write a/b"]);
    touches("valgrind --log-file=a ls", &["write a"]);
    touches("rm *.o", &["delete* *.o"]);
    touches("rm -rf *", &["delete* *", "delete* */**"]);
    touches("mv * d/", &["delete* *", "delete* */**", "write* d/*", "write d/ from ./*"]);
    touches("cp -r a b", &["read a", "write b", "write b/a", "write b or b/a from a"]);
    touches("cp -a x/s* b", &["read* x/s*", "write b", "write* b/s*", "write b from x/s*"]);
    touches("cp a b", &["read a", "write b", "write b/a"]);
    touches("bash -c 'rm a'", &["delete a"]);
    touches("sudo rm a", &["delete a"]);
    touches("{ echo a; } > b", &["write b"]);
}

#[test]
fn what_is_no_shell_text_is_refused() {
    for text in [
        "echo 'open",
        "echo \"open",
        "echo $(open",
        "echo `open",
        "a |",
        "a &&",
        "| a",
        "(a",
        "a)",
        "if a; then b",
        "for",
        "case x in",
        "{ a",
        "a;;b",
        "cat <<EOF\nx",
        "echo ${x",
        "[[ a",
        "while a; do b",
        "a\0b",
        "> ",
        "f() ",
        "echo \\",
        "fi",
        "do a; done",
        "} a",
    ] {
        match read(text) {
            ShellText::Unparsable(_) => {}
            // A reserved word out of place is read as a command of that name: never as nothing.
            ShellText::Reading(reading) => assert!(!reading.commands.is_empty(), "{text}"),
        }
    }
    unparsable("echo 'open");
    unparsable("a && ");
    unparsable("cat <<EOF\nx");
}

#[test]
fn hostile_texts_end_soon() {
    drop(read(&format!("A=xxxxxxxx;{}rm $A", "A=$A$A;".repeat(40))));
    for part in [
        "(",
        "$(",
        "{ ",
        "`",
        "\"$(",
        "${x:-",
        "((",
        "$((",
        "[[ ",
        "if a; then ",
        "bash -c '",
        "a <<X\n",
        "! ",
        "x=(",
        "case a in b) ",
    ] {
        let text = part.repeat(SHELL_BYTES_MAX / part.len());
        drop(read(&text));
    }
    unparsable(&"a;".repeat(SHELL_BYTES_MAX));
    unparsable(&"a;".repeat(COMMANDS_MAX + 1));
    unparsable(&format!("echo {}", "{a,b}".repeat(20)).repeat(2000));
    drop(read(&format!("echo {}", "{a,b}".repeat(200))));
    // Loops in loops are walked as often as they say, texts in them as often as they are run.
    let loops =
        |body: &str, depth: usize| format!("{}{body}{}", "for x in {1..16}; do ".repeat(depth), "; done".repeat(depth));
    unparsable(&loops("X=1", 10));
    unparsable(&loops(&format!("bash -c '{}'", "X=1;".repeat(12_000)), 3));
    unparsable(&loops(&format!("find . {}", "-name a ".repeat(3_000)), 2));
    for part in
        ["w x;", "time ", "coproc ", "a[", "-c a=b ", "cd a;", "{a,b}", "ln a ", "$(find . | ", "((a[", "((a ", "${a["]
    {
        drop(read(&format!("sed '{}' f", part.repeat(SHELL_BYTES_MAX / part.len() - 8))));
        drop(read(&part.repeat(SHELL_BYTES_MAX / part.len())));
    }
    let nested = (0..9).fold("rm a".to_owned(), |text, _| format!("bash -c {}", quote(&text)));
    drop(read(&nested));
}

fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[test]
fn patterns_name_commands_through_options() {
    let named = |text: &str, pattern: &str| reading(text).commands.iter().any(|command| glob_matches(command, pattern));
    let may = |text: &str, pattern: &str| reading(text).commands.iter().any(|command| glob_may_match(command, pattern));
    for text in [
        "git commit -m z",
        "/usr/bin/git commit",
        "git  commit",
        "git -C dir commit",
        "git -c a=b --no-pager commit -q",
        "cd x && GIT_DIR=y git commit -m z",
        "bash -c 'git commit'",
        "git commit -m \"$MESSAGE\"",
        "sudo git commit",
    ] {
        assert!(named(text, "git commit*"), "{text}");
    }
    for text in ["echo git commit", "git log --grep commit", "git $X", "gitx commit", "$X commit"] {
        assert!(!named(text, "git commit*"), "{text}");
    }
    assert!(named("cargo +nightly test --all", "cargo test*"));
    assert!(may("git $X", "git commit*"));
    assert!(may("rm $FLAGS x", "rm -rf*"));
    assert!(!may("echo $X", "git commit*"));
    assert!(!may("$X -rf", "rm -rf*"));
}

mod random {
    use super::*;
    use proptest::prelude::*;

    const BITS: &[&str] = &[
        "a", "rm", "git", " ", " ", "\n", ";", "&&", "||", "|", "&", "(", ")", "{", "}", "$(", "`", "'", "\"", "$x",
        "${x", "<<E", "E", ">", "<", "2>&1", "if", "then", "fi", "for", "in", "do", "done", "case", "esac", ";;", "[[",
        "]]", "((", "))", "\\", "#", "=", "*", "!", "é", "\t", "bash -c ", "eval ", "cd ", "..", "/",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn reading_never_panics(bits in prop::collection::vec(prop::sample::select(BITS), 0..60)) {
            drop(read(&bits.concat()));
        }

        #[test]
        fn arbitrary_text_never_panics(text in "\\PC{0,200}") {
            drop(read(&text));
        }

        #[test]
        fn no_command_is_empty(bits in prop::collection::vec(prop::sample::select(BITS), 0..40)) {
            if let ShellText::Reading(reading) = read(&bits.concat()) {
                prop_assert!(reading.commands.iter().all(|command| !command.words.is_empty()));
            }
        }
    }
}
