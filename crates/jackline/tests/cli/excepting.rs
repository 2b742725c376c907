//! `allow`, `off`, `on`, `status`.

use crate::{DEFINITION, World};

#[test]
fn probe() {
    let world = World::played();
    for (a, typed) in [
        (&["allow", "no-push", "--once", "--reason", "a fix"][..], "y\n"),
        (&["allow", "loop", "--for", "10m", "--reason", "polling"], "n\n"),
        (&["allow", "nopush", "--for", "10m", "--reason", "polling"], "n\n"),
        (&["allow", "zzz", "--for", "10m", "--reason", "polling"], "n\n"),
        (&["allow", "self", "--for", "10m", "--reason", "polling"], "n\n"),
        (&["allow", "event/invalid", "--for", "10m", "--reason", "polling"], "n\n"),
        (&["allow", "fault/store", "--for", "10m", "--reason", "polling"], "n\n"),
        (&["off", "--for", "3d", "--reason", "polling"], "n\n"),
        (&["off", "--for", "3", "--reason", "polling"], "n\n"),
        (&["off", "--for", "3m", "--reason", " "], "n\n"),
        (&["off", "--for", "30m", "--reason", "demo", "--yes"], ""),
        (&["status"], ""),
        (&["status", "--format", "json"], ""),
    ] {
        let (code, out, err) = world.at_terminal(a, typed);
        eprintln!("$ {a:?}\n{out}{err}-> {code:?}");
    }
    let push =
        r#"{"event":"call.requested","session":"s1","call":{"id":"c9","tool":"Bash","args":{"command":"git push"}}}"#;
    eprintln!("{:?}", world.run(&["eval"], push));
    eprintln!("{:?}", world.at_terminal(&["on"], ""));
    eprintln!("{:?}", world.run(&["eval"], push));
    eprintln!("{}", world.run(&["log"], push).1);
    eprintln!("{}", world.run(&["explain", "last", "22"], push).1);
    eprintln!("{:?}", world.run(&["audit", "verify"], push));
    eprintln!("{}", world.run(&["status"], push).1);
    let _ = DEFINITION;
}
