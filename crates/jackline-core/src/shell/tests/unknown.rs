//! Programs that we do not know: what they may run, and what they are told the name of.

use super::*;

#[test]
fn what_an_unknown_program_may_run_is_a_command() {
    check("foo sh -c 'rm a'", &["✓foo sh -c rm a", "sh -c rm a", "rm a"]);
    check("foo -n 0 -- git push -f", &["✓foo -n 0 -- git push -f", "git push -f"]);
    check("foo python3 -c 'x'", &["✓foo python3 -c x", "python3 -c x"]);
    check("python3 x.py sh -c 'rm a'", &["✓python3 x.py sh -c rm a", "sh -c rm a", "rm a"]);
    check("foo sh <<< 'rm a'", &["✓foo sh", "sh", "rm a"]);
    check("linux64 rm a", &["✓linux64 rm a", "✓rm a"]);
    check("bash-5.2 -c 'rm a'", &["✓bash-5.2 -c rm a", "✓rm a"]);
    check("env python3 <<< 'x'", &["✓env python3", "✓python3"]);
    assert!(reading("env python3 <<< 'x'").foreign);
    check("sort --compress-program='rm a' f", &["✓sort --compress-program=rm a f", "rm a"]);
    check("rsync -ave 'rm a' b c:", &["✓rsync -ave rm a b c:", "rm a"]);
    check("man -P'rm a' ls", &["✓man -Prm a ls", "rm a"]);
    check("ssh -o 'ProxyCommand rm a' h", &["✓ssh -o ProxyCommand rm a h", "rm a"]);
    check("ssh -oproxycommand='rm a' h", &["✓ssh -oproxycommand=rm a h", "rm a"]);
    check("rg --pre rm x", &["✓rg --pre rm x", "rm {}"]);
    check("fd a -x rm", &["✓fd a -x rm", "rm ."]);
}

#[test]
fn what_only_names_a_program_runs_none() {
    for text in [
        "apt-get install -y git zsh",
        "brew install bash",
        "killall node python3",
        "shellcheck -s bash x.sh",
        "pygmentize -l python x.py",
        "rustup completions bash",
        "docker run alpine sh -c 'rm a'",
        "docker compose exec web git push -f",
        "chsh -s /bin/zsh",
        "poetry env use python3",
        "gh search code git push",
        "npm install git",
        "ssh h sh -c 'rm a'",
    ] {
        let read = reading(text);
        assert_eq!(read.commands.len(), 1, "{text}: {:?}", read.commands);
        assert!(read.opaque.is_none() && !read.foreign, "{text}");
    }
}

#[test]
fn what_a_text_names_is_named() {
    touches("foo 'rm -rf .claude x'", &["delete .claude"]);
    touches("foo -c \"rm jackl''ine.yaml x.yaml\"", &["name jackline.yaml"]);
    touches("foo --run='open(r\"jackline.yaml\", 1)'", &["name jackline.yaml"]);
    touches("foo 'rm $HOME/.claude/settings.json'", &["name ~/.claude/settings.json"]);
    touches("foo 'rm -rf /var/store'", &["name /var/store"]);
    touches("foo rm -rf /var/store", &["delete /var/store"]);
    touches("foo <<< 'rm jackline.yaml'", &["name jackline.yaml"]);
    touches("foo 'evil jackline.yaml'", &["name jackline.yaml"]);
    touches("claude -p 'delete jackline.yaml'", &["name jackline.yaml"]);
    touches("claude -p 'explain jackline.yaml; rm jackline.yaml'", &["name jackline.yaml"]);
    touches("claude -p 'explain jackline.yaml'", &[]);
    touches("codex exec \"what is in .claude/settings.json?\"", &[]);
    touches("foo <<< 'explain jackline.yaml'", &[]);
    touches("foo -m 'about jackline.yaml'", &[]);
    touches("foo --body 'about jackline.yaml'", &[]);
    touches("foo --message='about jackline.yaml'", &[]);
    touches("foo --exclude 'dist .claude'", &[]);
    touches("gh pr create --body-file - <<< 'about jackline.yaml'", &[]);
    touches("foo 'jackline config hooks'", &[]);
    touches("docker run x sh -c 'cat jackline.yaml'", &[]);
    touches("npm install rm x", &[]);
}
