//! Arithmetic, indices and offsets: bash runs what is substituted in them, also in single quotes.

use super::*;

/// Whether what a text hides is seen: the command is read, or the text is not known.
#[track_caller]
fn seen(text: &str, want: bool) {
    let found = match read(text) {
        ShellText::Reading(reading) => {
            let runs = |command: &Command| command.program() == Some("rm");
            reading.opaque.is_some() || reading.commands.iter().any(runs)
        }
        ShellText::Unparsable(_) => true,
    };
    assert_eq!(found, want, "{text}");
}

#[test]
fn quotes_hide_nothing_where_something_is_evaluated() {
    for text in [
        "y=abc; echo ${y:'a[$(rm x)]'}",
        "echo ${y:0:'a[$(rm x)]'}",
        "echo ${y: -1:'a[$(rm x)]'}",
        "echo ${y:'$(rm x)'}",
        "echo ${y:'a[`rm x`]'}",
        "echo ${y:$'a[$(rm x)]'}",
        "echo ${y:$'a[\\x24(rm x)]'}",
        "echo ${y:'a['\"'\"'$(rm x)'\"'\"']'}",
        "echo ${y:a['\\$(rm x)']}",
        "echo ${y:a[\\$(rm x)]}",
        "echo ${y:\"a[\\$(rm x)]\"}",
        "echo \"${y:'a[$(rm x)]'}\"",
        "echo ${@:'a[$(rm x)]'} ${*:1:'2'}",
        "echo ${1:'a[$(rm x)]'}",
        "echo ${?:'a[$(rm x)]'}",
        "echo ${-:'a[$(rm x)]'}",
        "echo ${PWD:'a[$(rm x)]'}",
        "echo ${y['a[$(rm x)]']}",
        "echo \"${y['a[$(rm x)]']}\"",
        "echo ${#y['a[$(rm x)]']}",
        "echo ${!y['a[$(rm x)]']}",
        "echo ${y[a[0]+'b[$(rm x)]']}",
        "echo ${y[0]:'a[$(rm x)]'}",
        "echo ${y[@]:'a[$(rm x)]'}",
        "echo ${y:-${z['a[$(rm x)]']}}",
        "echo ${y/a/${z:'a[$(rm x)]'}}",
        "cat <<< ${y:'a[$(rm x)]'}",
        "[[ -n ${y:'a[$(rm x)]'} ]]",
        "y['a[$(rm x)]']=1",
        "y['$(rm x)']+=1",
        "y[a[0]+'b[$(rm x)]']=1",
        "y=(['$(rm x)']=1)",
        "y=([a['$(rm x)']]=1)",
        "declare y['a[$(rm x)]']=1",
        "declare 'y[a[$(rm x)]]=1'",
        "declare -n r='y[$(rm x)]'",
        ": {y['$(rm x)']}> f",
        "unset 'y[$(rm x)]'",
        "unset y['$(rm x)']",
        "read 'y[$(rm x)]' <<< 1",
        "printf -v 'y[$(rm x)]' 1",
        "[[ -v 'y[$(rm x)]' ]]",
        "[[ 1 -eq 'a['\\$'(rm x)]' ]]",
        "test -v y['$(rm x)']",
        "let 'y[$(rm x)]'",
        "let y='a[$(rm x)]'",
        "\\let y='a[$(rm x)]'",
        "command let 'a[$(rm x)]'",
        "builtin let 'a[$(rm x)]'",
        "X=let; $X 'a[$(rm x)]'",
        "x='a[$('; y='rm x)]'; let \"$x$y\"",
        "x='$(rm x)'; test -v \"a[$x]\"",
        "set -- 'a[$(rm x)]'; echo $(($1))",
        "for i in 'a[$(rm x)]'; do echo $((i)); done",
    ] {
        seen(text, true);
    }
}

#[test]
fn quotes_hide_nothing_in_arithmetic() {
    for text in [
        "(( 'a[$(rm x)]' ))",
        "(( $'a[\\x24(rm x)]' ))",
        "(( 1; 'a[$(rm x)]' ))",
        "echo $(( 'a[$(rm x)]' )) $(( 1 ))",
        "echo $(( $'\\x24(rm x)' ))",
        "echo \"$(( $'\\x24(rm x)' ))\"",
        "echo $[ 'a[$(rm x)]' ]",
        "for ((i='a[$(rm x)]'; i<1; i++)); do :; done",
        // Where a quote ends is where the rest begins.
        "echo ${x:-$'\\''} ; rm x #'}",
        "(( '((' )) || rm x #))",
        "(( \\(\\( )) || rm x #))",
        "(( \\' )) || rm x #' ))",
    ] {
        seen(text, true);
    }
}

#[test]
fn what_is_not_evaluated_stays_text() {
    for text in [
        "echo ${x:-'it$(rm x)'} ${x-'$(rm x)'} ${x:+'$(rm x)'} ${x:='$(rm x)'}",
        "echo ${x/'$(rm a)'/b} ${x#'`rm x`'} ${x%%'$(rm x)'}",
        "echo ${x:?'$(rm x)'} ${#-'$(rm x)'} ${?:-'$(rm x)'}",
        "echo ${y['0']/'$(rm x)'/x} ${y[0]:-'$(rm x)'} ${y[i+1]:1:2} ${y[@]:1}",
        "echo ${y['key']} ${y[\"$k\"]} ${y[$k]} ${y:$i:1} ${y: -1} ${y:'1'}",
        "echo ${x:-$'it\\'s'} ${x//$'\\n'/ }",
        "m['key']=1; m[\"a b\"]=2; m[$k]+=x; y[i+1]=3; y=([0]=a ['b']=c)",
        "unset 'y[0]' 'm[$k]'; read -r 'y[0]' <<< 1; printf -v 'm[a]' %s x",
        "printf 'a[%s]\\n' \"$(date)\"; test -n \"a[$(date)]$((1 + 1))\"",
        "(( i += 1 )); (( x == 'y' )); echo $(( (1 + 2) * '3' )) $[ y[0] + 1 ]",
        "((cd a; ls 'b') | wc); ((a); (b 'c'))",
        "echo 'a[$(rm x)]'; grep 'a[$(rm x)]' f",
    ] {
        seen(text, false);
    }
}
