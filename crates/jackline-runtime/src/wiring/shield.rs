//! A command line behind words of a shell that refuse where it cannot: for hosts that let a call pass when its hook is
//! missing or fails, and take a shell's text.
//!
//! What hangs is not helped: a host that waited too long has decided already.

use super::CommandLine;

/// The shell that every system has where it is looked for; a person's own may spell things differently.
const SHELL: &str = "/bin/sh";

/// What lets a call pass is told by an exit code that nothing else has: a program that was emptied, cut short or replaced
/// ends with 0 as well, and its silence is no consent. A refusal is 2; anything else becomes one. A program that is not there
/// is not started, so that no complaint of the shell's stands before ours. Ended by a host that waited too long, the shell
/// ends the hook too, which would hold the host's pipes: it knows the hook by `$!`, which is there as soon as the hook is.
/// The hook gets the host's message by another number, because what runs in the background gets no input. Without single
/// quotes, backslashes, or words behind an exclamation mark, so that every shell hands it over as it is.
const GUARD: &str = concat!(
    r#"command -v "$0" >/dev/null || f; t() { kill -9 $! ; exit 2; }; trap t HUP INT TERM; exec 3<&0; "#,
    r#""$0" "$@" --pass 42 <&3 3<&- & exec 3<&-; wait $! ; case $? in 42) exit 0;; 2) exit 2;; esac; f"#,
);

/// Why a call is refused then.
const REASON: &str = "Jackline could not be asked, so this call is refused. Have a person run: jackline doctor";

/// Where the reason goes in an answer.
pub(super) const IN_ANSWER: &str = "REASON";

/// How such words say why a call is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shield {
    /// In plain words.
    Plain,
    /// As an answer of the host's own form, which it takes from standard error: for one that would let another hook's consent
    /// stand in the place of plain words. It hands texts to bash, in which backslashes between single quotes stay.
    Answer(&'static str),
}

impl Shield {
    fn text(self) -> String {
        let said = match self {
            Self::Plain => REASON.to_owned(),
            Self::Answer(answer) => answer.replace(IN_ANSWER, REASON).replace('"', "\\\""),
        };
        format!("f() {{ echo \"{said}\" >&2; exit 2; }}; {GUARD}")
    }

    /// The line behind those words.
    pub(super) fn before(self, line: &CommandLine) -> CommandLine {
        let words = ["-c".to_owned(), self.text(), line.program.clone()].into_iter();
        CommandLine { program: SHELL.to_owned(), arguments: words.chain(line.arguments.iter().cloned()).collect() }
    }
}

/// What is run behind those words, where these are they.
pub(super) fn behind(line: &CommandLine, shield: Option<Shield>) -> Option<CommandLine> {
    let [option, words, program, arguments @ ..] = line.arguments.as_slice() else { return None };
    let is_shield = line.program == SHELL && option == "-c" && *words == shield?.text();
    is_shield.then(|| CommandLine { program: program.clone(), arguments: arguments.to_vec() })
}

/// Our words for a host within others of the same shell, as another version may have written them.
pub(super) fn within(line: &CommandLine, host: &str) -> Option<CommandLine> {
    let mut words = line.arguments.as_slice();
    while let [program, arguments @ ..] = words.get(..).filter(|_| line.program == SHELL)? {
        let inner = CommandLine { program: program.clone(), arguments: arguments.to_vec() };
        if inner.asks_for(host) {
            return Some(inner);
        }
        words = arguments;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    fn line(words: &[&str]) -> CommandLine {
        let arguments = words[1..].iter().map(|&word| word.to_owned()).collect();
        CommandLine { program: words[0].to_owned(), arguments }
    }

    #[test]
    fn what_stands_behind_is_told_from_its_text() {
        let ours = line(&["/o p/jackline", "hook", "codex", "--store", "it's"]);
        let text = Shield::Plain.before(&ours).in_shell();
        let behind = |line: &CommandLine| behind(line, Some(Shield::Plain));
        assert_eq!(behind(&CommandLine::from_shell(&text).unwrap()), Some(ours.clone()));
        let other = text.replace("exit 2", "exit 0");
        let other = CommandLine::from_shell(&other).unwrap();
        assert_eq!((behind(&other), within(&other, "codex")), (None, Some(ours)));
        assert_eq!(within(&other, "qwen"), None);
        let words = Shield::Plain.text();
        assert!(!words.replace("$! ", "").contains(['\'', '\\', '!', '\n']), "some shell would read it differently");
    }

    /// Runs a line as a host does, by a shell's text; its exit code, standard output and standard error.
    #[track_caller]
    fn check(words: &[&str], want: (i32, &str, &str)) {
        let mut shell = Command::new("sh");
        shell.args(["-c", &Shield::Plain.before(&line(words)).in_shell()]);
        let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A program that reads nothing may be gone already.
        drop(child.stdin.take().unwrap().write_all(b"message"));
        let output = child.wait_with_output().unwrap();
        let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!((output.status.code(), out.as_str()), (Some(want.0), want.1), "{err}");
        assert!(err.contains(want.2) && (!want.2.is_empty() || err.is_empty()), "{err}");
    }

    #[test]
    fn answers_pass_and_every_failure_refuses() {
        // As the hook does: what it is told last is the code for consent.
        check(&["/bin/sh", "-c", "cat; exit $3", "x", "hook"], (0, "message", ""));
        check(&["/bin/sh", "-c", "echo '{}'; echo no >&2; exit 2"], (2, "{}\n", "no"));
        let refused = "could not be asked";
        check(&["/bin/sh", "-c", "exit 0"], (2, "", refused));
        check(&["/bin/sh", "-c", "echo all is well"], (2, "all is well\n", refused));
        check(&["/nowhere/jackline", "hook"], (2, "", refused));
        check(&["/bin/sh", "-c", "exit 1"], (2, "", refused));
        check(&["/bin/sh", "-c", "exit 101"], (2, "", refused));
        check(&["/bin/sh", "-c", "kill -9 $$"], (2, "", refused));
    }

    #[test]
    fn a_program_without_content_is_no_consent() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        for (name, content) in [("empty", &b""[..]), ("blank", b"\n"), ("zeros", &[0; 4096])] {
            let program = dir.path().join(name);
            std::fs::write(&program, content).unwrap();
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
            check(&[program.to_str().unwrap(), "hook"], (2, "", "could not be asked"));
        }
    }

    #[test]
    fn a_host_that_waited_too_long_gets_its_pipes_back() {
        let mut shell = Command::new("/bin/sh");
        let line = Shield::Plain.before(&line(&["/bin/sh", "-c", "echo begun; exec sleep 600"]));
        let mut child = shell.args(&line.arguments).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
        let mut begun = String::new();
        std::io::BufRead::read_line(&mut out, &mut begun).unwrap();
        assert_eq!(begun, "begun\n");
        Command::new("kill").arg(child.id().to_string()).status().unwrap();
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut out, &mut rest).unwrap();
        assert_eq!((rest.as_str(), child.wait().unwrap().code()), ("", Some(2)));
    }

    #[test]
    fn a_host_that_ends_it_as_soon_as_it_began_gets_its_pipes_back() {
        const HOLDS_S: u64 = 60;
        let hook = format!("kill $PPID; exec sleep {HOLDS_S}");
        for round in 0..30 {
            let line = Shield::Plain.before(&line(&["/bin/sh", "-c", &hook]));
            let began = std::time::Instant::now();
            let mut shell = Command::new("/bin/sh");
            let output = shell.args(&line.arguments).stdin(Stdio::null()).stderr(Stdio::null()).output().unwrap();
            assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]), "round {round}");
            // Its end is ours as well: nobody waits for the hook that was left behind.
            assert!(began.elapsed().as_secs() < HOLDS_S, "round {round}");
        }
    }
}
