//! Functions: what they do is read with what they are given where they are called.

use super::*;

#[test]
fn arguments_of_a_function_are_what_it_is_called_with() {
    touches("f() { rm \"$1\"; }; f a", &["delete a"]);
    touches("f() { rm -rf \"$@\"; }; f /a b*", &["delete /a", "delete* b*", "delete* b*/**"]);
    touches("f() { rm $*; }; f 'a b'", &["delete a", "delete b"]);
    touches("f() { rm \"$1/$2\"; }; f a b", &["delete a/b"]);
    touches("f() { local d=$1; shift; rm \"$d\" \"$@\"; }; f a b", &["delete a", "delete b"]);
    touches("f() { rm \"${1:?}\"; }; f a", &["delete a"]);
    touches("f() { g \"$1\"; }; g() { rm \"$1\"; }; f a", &["delete a"]);
    touches("f() { rm $X; }; X=a f", &["delete a"]);
    touches("f() { rm a; }; (cd b && f)", &["delete a in b"]);
    touches("f() { rm \"$1\"; }; eval 'f a'", &["delete a"]);
    touches("eval 'f() { rm \"$1\"; }'; f a", &["delete a somewhere"]);
    touches("f() { rm \"$1\"; }; export -f f; bash -c 'f a'", &["delete a"]);
    touches("for x in a b; do f() { rm \"$1\"; }; f $x; done", &["delete a", "delete b"]);
}

#[test]
fn a_function_whose_calls_are_not_all_seen_may_be_given_anything() {
    touches("f() { rm \"$1\"; }", &["delete? $1 somewhere"]);
    touches("f() { rm \"$1\"; }; $X a", &["delete? $1 somewhere"]);
    touches("f() { rm \"$1\"; }; f a; $X b", &["delete a", "delete? $1 somewhere"]);
    let handles = "command_not_found_handle() { rm \"$1\"; }; a";
    touches(handles, &["delete? $1 somewhere", "delete? $1 somewhere"]);
    // It calls itself: with what, is not followed.
    let again = reading("f() { f \"$1/x\"; rm \"$1\"; }; f a");
    assert!(again.touches.iter().any(|touch| touch.role == Role::Delete && touch.path.dynamic));
    assert!(again.touches.iter().any(|touch| touch.role == Role::Delete && touch.path.text == "a"));
    // Either may be meant.
    let two = "if x; then f() { rm \"$1\"; }; else f() { cat \"$1\"; }; fi; f a";
    touches(two, &["delete a", "read a"]);
}

#[test]
fn what_a_function_leaves_is_known_where_it_came_to_its_end() {
    touches("f() { echo \"$@\"; }; f x; rm a", &["delete a"]);
    touches("f() { cd a; }; f; rm b", &["delete b somewhere"]);
    touches("f() { return; cd a; }; cd b; f; rm c", &["delete c somewhere"]);
    touches("X=a; f() { X=b; }; f; rm $X", &["delete? $X"]);
    touches("X=a; f() { local X=b; rm $X; }; f; rm $X", &["delete b", "delete? $X"]);
    touches("set -- a; f() { shift; }; f; rm \"$1\"", &["delete a"]);
}

#[test]
fn calls_are_followed_within_bounds() {
    let many = format!("f() {{ rm \"$1\"; }}; {}", "f a; ".repeat(600));
    assert!(reading(&many).touches.iter().any(|touch| touch.role == Role::Delete && touch.path.dynamic));
    let names: Vec<String> = (0..40).map(|n| format!("f{n}() {{ f{}; f{}; }}", n + 1, n + 1)).collect();
    drop(reading(&format!("{}; f0", names.join("; "))));
}

#[test]
fn commands_in_braces_are_run() {
    unparsable("echo ${ rm a; }");
    unparsable("echo \"${| rm a; }\"");
    unparsable("cat <<E\n${\nrm a\n}\nE");
    assert!(reading("echo ${(e)X}").opaque.is_some());
    assert!(reading("echo ${(f)X}").opaque.is_none());
}

#[test]
fn what_stands_behind_and_need_not_have_run() {
    touches("X=a; b && X=c; rm $X", &["delete? $X"]);
    touches("X=a && rm $X", &["delete a"]);
    touches("X=a; b && X=c && rm $X", &["delete c"]);
    touches("X=a; b && X=c || exit; rm $X", &["delete c"]);
}

#[test]
fn what_is_done_again_begins_with_what_it_did() {
    touches("cd s; for i in 1 2; do rm a; \"cd\" ..; done", &["delete a somewhere", "delete a somewhere"]);
    touches("X=cd; for i in 1; do rm a; $X ..; done", &["delete a somewhere"]);
    touches("f() { cd ..; }; for i in 1; do rm a; f; done", &["delete a somewhere"]);
    touches("f() { echo x; }; for i in 1; do rm a; f; done", &["delete a"]);
    touches("f() { f; g; }; g() { f; X=b; }; X=a; for i in 1; do rm $X; f; done", &["delete? $X"]);
}
