//! Programs that run a text: where among their words the file stands that holds it.

use jackline_core::shell::Word;

/// How an interpreter is told what to run.
#[derive(Debug)]
pub(super) struct Interpreter {
    names: &'static [&'static str],
    /// Options whose value is the next word.
    valued: &'static [&'static str],
    /// Options whose value, the next word, is a file that runs as well.
    files: &'static [&'static str],
    /// Options after which there is no file: what runs is among the words, or is a module.
    inline: &'static [&'static str],
    /// Words before the file that say what is done with it.
    verbs: &'static [&'static str],
    /// Whether the first word that is no option is the text itself, unless a file was given.
    text_first: bool,
}

const fn interpreter(names: &'static [&'static str], inline: &'static [&'static str]) -> Interpreter {
    Interpreter { names, valued: &[], files: &[], inline, verbs: &[], text_first: false }
}

/// The option by which Python is told a module.
pub(super) const MODULE: &str = "-m";

const INTERPRETERS: &[Interpreter] = &[
    Interpreter {
        valued: &["-o", "+o", "-O", "+O"],
        files: &["--rcfile", "--init-file"],
        ..interpreter(&["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "yash", "fish", "csh", "tcsh"], &["-c"])
    },
    Interpreter {
        valued: &["-W", "-X", "--check-hash-based-pycs"],
        ..interpreter(&["python", "pypy"], &["-c", MODULE])
    },
    Interpreter {
        valued: &["-C", "--conditions", "--stack-trace-limit", "--title"],
        files: &["-r", "--require", "--import", "--loader", "--experimental-loader", "--env-file"],
        ..interpreter(&["node", "nodejs"], &["-e", "-p", "--eval", "--print"])
    },
    Interpreter { verbs: &["run", "test"], ..interpreter(&["bun"], &["-e", "--eval", "-p", "--print"]) },
    Interpreter {
        verbs: &["run", "test", "bench"],
        files: &["-c", "--config", "--import-map"],
        ..interpreter(&["deno"], &["eval"])
    },
    Interpreter { files: &["-r", "-C", "-I"], ..interpreter(&["ruby"], &["-e"]) },
    Interpreter { valued: &["-I", "-M"], ..interpreter(&["perl"], &["-e", "-E"]) },
    Interpreter { valued: &["-d"], files: &["-f", "-c", "-z"], ..interpreter(&["php"], &["-r", "-B", "-R"]) },
    Interpreter { files: &["-l"], ..interpreter(&["lua", "luajit"], &["-e"]) },
    Interpreter { files: &["-f", "-b"], ..interpreter(&["expect", "tclsh", "wish"], &["-c"]) },
    Interpreter { files: &["-File", "-f"], ..interpreter(&["pwsh", "powershell"], &["-Command", "-c"]) },
    Interpreter { files: &["-L", "--load"], ..interpreter(&["julia"], &["-e", "-E"]) },
    interpreter(&["Rscript", "elixir", "groovy"], &["-e"]),
    Interpreter {
        valued: &["-v", "-F", "--assign", "--field-separator"],
        files: &["-f", "--file"],
        text_first: true,
        ..interpreter(&["awk", "gawk", "mawk", "nawk"], &["-e", "--source"])
    },
    Interpreter {
        files: &["-f", "--file"],
        text_first: true,
        ..interpreter(&["sed", "gsed"], &["-e", "--expression"])
    },
    interpreter(&["source", "."], &[]),
];

/// The files that an interpreter's words name, as far as the words tell.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    /// Files that its options name.
    pub(super) files: Vec<Word>,
    /// Words of which the first that is a file is the one that runs.
    pub(super) candidates: Vec<Word>,
    /// A module that Python runs.
    pub(super) module: Option<Word>,
}

/// The interpreter of this name, whatever its version.
pub(super) fn find(program: &str) -> Option<&'static Interpreter> {
    let family = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let is = |interpreter: &&Interpreter| interpreter.names.iter().any(|name| *name == program || *name == family);
    INTERPRETERS.iter().find(is)
}

impl Interpreter {
    /// What of its arguments it runs.
    pub(super) fn named(&self, arguments: &[Word]) -> Named {
        let with = |word: &Word, text: &str| Word { text: text.to_owned(), ..word.clone() };
        let mut named = Named::default();
        let mut rest = arguments.iter();
        while let Some(word) = rest.next() {
            let option = word.text.as_str();
            if self.verbs.contains(&option) && named.candidates.is_empty() {
                continue;
            }
            if !is_option(option) && !self.inline.contains(&option) {
                named.candidates.push(word.clone());
                named.candidates.extend(rest.cloned());
                break;
            }
            if self.is_python() && option.starts_with(MODULE) {
                let attached = option.strip_prefix(MODULE).filter(|name| !name.is_empty());
                named.module = attached.map(|name| with(word, name)).or_else(|| rest.next().cloned());
                break;
            }
            if self.is_inline(option) {
                break;
            }
            match option.split_once('=').filter(|(name, _)| self.files.contains(name)) {
                Some((_, value)) => named.files.push(with(word, value)),
                None if self.files.contains(&option) => named.files.extend(rest.next().cloned()),
                None if self.takes_value(option) => drop(rest.next()),
                None => {}
            }
        }
        if self.text_first {
            named.candidates.clear();
        }
        named
    }

    fn is_python(&self) -> bool {
        self.inline.contains(&MODULE)
    }

    /// A letter of a cluster counts, too: `-ec TEXT`.
    fn is_inline(&self, option: &str) -> bool {
        let letters = option.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
        let letter = |inline: &&str| inline.len() == 2 && inline.chars().next_back() == letters.chars().next_back();
        self.inline.contains(&option) || !letters.is_empty() && self.inline.iter().any(letter)
    }

    /// The last letter of a cluster may have the value: `-euo pipefail`.
    fn takes_value(&self, option: &str) -> bool {
        let last = option.chars().next_back();
        let is_cluster = !option.starts_with("--") && option.len() > 2;
        let letter = |valued: &&str| valued.len() == 2 && valued.chars().next_back() == last;
        self.valued.contains(&option) || is_cluster && self.valued.iter().any(letter)
    }
}

fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with(['-', '+'])
}
