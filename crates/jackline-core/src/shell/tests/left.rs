//! What a shell is left with that a later command would be read otherwise by.

use super::*;

#[test]
fn what_a_shell_is_left_with() {
    for text in [
        "cd x",
        "f() { ls; }",
        "alias ls=rm",
        "PROMPT_COMMAND='rm x'",
        "PS1='$(rm x)'",
        "export PATH=/tmp/evil:$PATH",
        "HOME=infra",
        "CDPATH=infra",
        "trap ls DEBUG",
        "exec > x.out",
        "hash -p /bin/rm ls",
        "bind -x '\"x\":rm y'",
        "shopt -s autocd",
        "IFS=x",
        "read PATH <<< /tmp/e",
        ": ${PROMPT_COMMAND:=ls}",
        "unset PATH",
    ] {
        assert!(reading(text).leaves.is_some(), "{text}");
    }
    for text in [
        "cd .",
        "cd ./ && ls",
        "ls",
        "(cd x && ls)",
        "PATH=x ls",
        "A=b",
        "export A=b",
        "(PS1=x; ls)",
        "IFS=, read -r a b",
        "unset IFS CDPATH",
    ] {
        assert!(reading(text).leaves.is_none(), "{text}");
    }
}
