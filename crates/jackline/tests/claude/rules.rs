//! Policies as the agent meets them: refused with a reason and a next step, and let through once they are kept.

use jackline_rehearsal::Script;
use jackline_rehearsal::client::Play;
use serde_json::json;

use super::{World, calm, ran, refused, sound};

#[test]
fn what_is_refused_says_why_and_what_satisfies_it_is_let_through() {
    let world = World::guarded();
    let run = world.play(
        Script::new()
            .bash("early", "git commit -q --allow-empty -m early")
            .bash("blind", "echo blind > README.md")
            .call("unread", "Write", json!({"file_path": "{{CWD}}/README.md", "content": "blind"}))
            .call("secret", "Write", json!({"file_path": "{{CWD}}/.env", "content": "KEY=1"}))
            .bash("infra", "mkdir -p infra && touch infra/prod.tf")
            .bash("forced", "git push --force origin main")
            .call("read", "Read", json!({"file_path": "{{CWD}}/README.md"}))
            .call("known", "Write", json!({"file_path": "{{CWD}}/README.md", "content": "# Known\n"}))
            .bash("untested", "git commit -qam untested")
            .bash("test", "./check.sh")
            .bash("tested", "git commit -qam tested")
            .say("done"),
    );
    sound(&run);
    refused(&run, "early", &["Tool 'commit' requires: test", "sequence/missing"]);
    refused(&run, "blind", &["File 'README.md' must be read before overwriting."]);
    refused(&run, "unread", &["/README.md' must be read before overwriting.", "read it, then write it"]);
    refused(&run, "secret", &["Path '.env' is protected by the owner."]);
    refused(&run, "infra", &["protected by the owner"]);
    refused(&run, "forced", &["force-push rewrites shared history", "push to a new branch"]);
    refused(&run, "untested", &["Tool 'commit' requires: test"]);
    for call in ["read", "known", "test", "tested"] {
        ran(&run, call);
        assert_eq!(world.decided(call), "allow", "{call}");
    }
    for call in ["early", "blind", "unread", "secret", "infra", "forced", "untested"] {
        assert_eq!(world.decided(call), "deny", "{call}");
    }
    assert!(!world.has(".env") && !world.has("infra"));
    assert_eq!(world.git(&["log", "--format=%s"]), "tested\nGuard it\nBegin\n");
    assert_eq!(world.git(&["show", "HEAD:README.md"]), "# Known\n");
}

/// Letting a call pass must not switch off the person's own permission prompts.
#[test]
fn allowing_is_silence() {
    let world = World::guarded();
    let play = Play { permission_mode: "default".to_owned(), ..Play::default() };
    let run = world.play_with(Script::new().bash("asked", "touch asked").say("done"), &play);
    calm(&run);
    assert_eq!(world.decided("asked"), "allow");
    assert!(!world.has("asked"), "the host would have asked a person, and there is none");
    assert_eq!(run.permission_denials(), ["Bash"]);
    assert!(run.hooks("PreToolUse").iter().all(|hook| hook["stdout"] == "" && hook["exit_code"] == 0));
}

/// Where nobody can be asked, asking is refusing, even in the mode that asks nothing.
#[test]
fn what_a_person_should_decide_is_refused_without_one() {
    let world = World::guarded();
    let run = world.play(Script::new().bash("opaque", "$(cat README.md) && touch hidden").say("done"));
    sound(&run);
    assert_eq!(world.decided("opaque"), "ask");
    refused(&run, "opaque", &["shell/opaque"]);
    assert!(!world.has("hidden"));
}
