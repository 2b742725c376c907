//! Patterns, arrays and arguments: what they stand for, and what options of the shell's make of them.

use super::*;

#[test]
fn arrays_stand_for_their_elements() {
    touches("F=(jack*); rm \"${F[@]}\"", &["delete* jack*"]);
    touches("F=(a 'b c'); rm \"${F[@]}\"", &["delete a", "delete b c"]);
    touches("F=(a 'b c'); rm ${F[@]}", &["delete a", "delete b", "delete c"]);
    touches("F=(a); for f in \"${F[@]}\"; do rm \"$f\"; done", &["delete a"]);
    touches("declare -a F=(a b); rm ${F[*]}", &["delete a", "delete b"]);
    // By its name alone it is the first element or all of them, as the shell has it.
    touches("F=(a b); rm $F", &["delete? a", "delete a", "delete? b", "delete b"]);
    touches("F=(a b); rm ${F[1]}", &["delete? a", "delete a", "delete? b", "delete b"]);
    check("C=(git push -f); \"${C[@]}\"", &["✓git push -f"]);
    // What changed since, or is told by an index, is not known.
    for text in [
        "F=(a); F+=(b); rm \"${F[@]}\"",
        "F=(a); F[1]=b; rm \"${F[@]}\"",
        "F=([0]=a); rm \"${F[@]}\"",
        "F=(a); read -a F; rm \"${F[@]}\"",
        "F=(a); unset F; rm \"${F[@]}\"",
        "F=(a); if x; then F=(b); fi; rm \"${F[@]}\"",
        "declare -A F=(a b); rm \"${F[@]}\"",
        "F=($PWD/a); rm \"${F[@]}\"",
        "F=(a b); rm \"${F[@]:1}\"",
    ] {
        assert!(reading(text).touches.iter().all(|touch| touch.path.dynamic), "{text}: {:?}", reading(text).touches);
    }
}

#[test]
fn arguments_stand_for_what_they_were_set_to() {
    touches("set -- jack*; rm \"$@\"", &["delete* jack*"]);
    touches("set a b; for f; do rm \"$f\"; done", &["delete a", "delete b"]);
    touches("set -- a; rm \"$1\" ${1}", &["delete a", "delete a"]);
    touches("set -- a b; rm \"x/$2\" \"$1\"c", &["delete x/b", "delete ac"]);
    touches("set -- a*; rm \"$2\"", &["delete?* a*"]);
    touches("set -- a; rm \"$2\"", &["delete? a", "delete a"]);
    touches("sh -c 'rm \"$@\"' _ jack*", &["delete* jack*"]);
    touches("rm \"$@\"", &["delete? $@"]);
    touches("set -- a b; shift; rm \"$@\"", &["delete b"]);
    touches("set -- a* b; shift; rm \"$@\"", &["delete? $@"]);
    touches("sh -c 'rm \"$0\" \"$1\"' a b", &["delete a", "delete b"]);
    touches("sh -c 'rm \"$0\"'", &["delete? $0"]);
    touches("set -- a; f() { rm \"$1\"; }", &["delete? $1 somewhere"]);
    touches("set -e; rm \"$1\"", &["delete? $1"]);
}

#[test]
fn alternatives_are_read_as_patterns_that_match_no_less() {
    touches("rm @(a|b).o", &["delete? a.o", "delete a.o", "delete? b.o", "delete b.o"]);
    touches("rm +(j)x", &["delete* j*x"]);
    touches("echo x > @(a|b)", &["write? a", "write a", "write? b", "write b"]);
    touches("F=(a jack*); echo x > $F", &["write? a", "write a", "write?* jack*"]);
    touches("rm !(a)", &["delete* *"]);
    touches("rm ?(.)env", &["delete* *env", "delete* .*env"]);
    touches("rm @(a|+(b|@(c)))", &["delete? a", "delete a", "delete* b*", "delete* c*"]);
    check("echo @($(rm a))", &["rm a", "echo $(…)"]);
    check("[[ $a =~ ^x+(y|(z w))$ ]] && b", &["✓b"]);
    check("case $x in @(a|b)) c;; esac", &["c"]);
    check("f+() { rm a; }", &["rm a"]);
    check("!(rm a)", &["rm a"]);
    unparsable("rm @(a");
    drop(read(&format!("rm {}", "@(a|b)".repeat(2_000))));
    drop(read(&"@(a".repeat(SHELL_BYTES_MAX / 3)));
}

#[test]
fn options_of_the_shell_widen_patterns() {
    for text in
        ["shopt -s dotglob; rm *", "GLOBIGNORE=x; rm ?a/*", "setopt GLOB_DOTS; rm [ab]c", "find . -exec rm {} +"]
    {
        assert!(reading(text).touches.iter().all(|touch| touch.path.dots), "{text}: {:?}", reading(text).touches);
    }
    assert!(reading("rm *").touches.iter().all(|touch| !touch.path.dots));
    touches("shopt -s nocaseglob; rm JACK*/a", &["delete* JACK*/a", "delete* ????*/a"]);
    touches("shopt -s $X; rm *", &["delete?* *"]);
    touches("shopt -s dotglob; rm a", &["delete a"]);
}

#[test]
fn what_a_pattern_listed_is_as_sure_as_the_pattern() {
    touches("echo jack* | xargs rm", &["delete?* jack*"]);
    touches("ls -1 jack* | xargs rm", &["delete* jack*"]);
    touches("rm $(ls jack*)", &["delete* jack*"]);
    touches("ls -l jack* | xargs rm", &["delete? …"]);
    touches("find .c* -exec rm {} +", &["read* .c*", "read* .c*/**", "delete* .c*", "delete* .c*/**"]);
}

#[test]
fn numbers_of_the_shell_are_nothing_but_numbers() {
    touches("echo x > /tmp/log.$$", &["write* /tmp/log.[0-9]*"]);
    touches("rm \"a$?b\" ./x.$#", &["delete* a[0-9]*b", "delete* ./x.[0-9]*"]);
    touches("rm out-$RANDOM.txt \"a/$UID\" b.$!", &["delete* out-*.txt", "delete* a/*", "delete* b.*"]);
    touches("F=/tmp/a.$$; rm \"$F\"", &["delete* /tmp/a.[0-9]*"]);
    // They may be nothing, or split by other letters than blanks, or something else.
    touches("rm $!/etc/x", &["delete? $!/etc/x"]);
    touches("rm a/.$!./x b/$$/../../c", &["delete?* a/.*./x", "delete?* b/[0-9]*/../../c"]);
    touches("IFS=1; rm a$$", &["delete? a$$"]);
    touches("RANDOM=b; rm a$RANDOM", &["delete? a$RANDOM"]);
    touches("RANDOM=b sh -c 'rm a$RANDOM'", &["delete? a$RANDOM"]);
    assert!(reading("rm a.$!env").touches.iter().all(|touch| touch.path.dots), "a name may begin behind it");
    assert!(reading("sh -c \"rm 'a$!'\"").opaque.is_some(), "what is quoted inside is another name");
}
