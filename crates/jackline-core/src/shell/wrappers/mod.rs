//! Programs that run other programs: what they run, and whether their exit status speaks for it.

mod git;
mod parallel;
mod shells;
mod table;
mod typed;

use std::borrow::Cow;

use super::{Word, files, programs};
use shells::shell_texts;
pub(super) use shells::{has_text, is_interpreter, is_shell, reads_input, script};
use table::{BARE, Bare, Begins, NAMED_RUNNERS, RUNNERS, SANDBOXES, SSH_COMMANDS, TEXT_OPTIONS, WRAPPERS, Wrapper};

/// Wrappers that take `NAME=value` before the command.
const ASSIGNING: &[&str] = &["env", "sudo", "doas", "cross-env"];

/// Wrappers that hand their words to a shell as one text.
const JOINING: &[&str] = &["entr", "parallel", "sem", "sg", "watch", "watchexec"];

/// Modules of Python's that are programs by the same name.
const MODULES: &[&str] = &["pip", "twine"];

/// What a command runs besides itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Inner {
    /// A command by its words, in a directory of its own if one is named.
    Words { words: Vec<Word>, env: Vec<(String, Word)>, dir: Option<Word>, passes_status: bool },
    /// A shell text, and what it is given as its name for itself and its arguments.
    Text { text: Word, arguments: Vec<Word>, dir: Option<Word>, errexit: bool, pipefail: bool, passes_status: bool },
    /// What is a shell text if it can be read as one; if not, whether nobody knows what runs.
    Likely { text: Word, else_opaque: bool },
    /// Something that cannot be known, and why.
    Unknown(&'static str),
}

impl Inner {
    fn words(words: Vec<Word>, passes_status: bool) -> Self {
        Self::Words { words, env: Vec::new(), dir: None, passes_status }
    }

    const fn text(text: Word) -> Self {
        Self::Text { text, arguments: Vec::new(), dir: None, errexit: false, pipefail: false, passes_status: true }
    }

    /// A text whose success says nothing of the program's that runs it, or may never.
    const fn loose(text: Word) -> Self {
        Self::Text { text, arguments: Vec::new(), dir: None, errexit: false, pipefail: false, passes_status: false }
    }
}

/// Whether this is a program that runs another.
pub(super) fn is_wrapper(program: &str) -> bool {
    is_shell(program) || is_loader(program) || WRAPPERS.iter().any(|wrapper| wrapper.name == program)
}

/// Whether a program runs another with one of its subcommands.
pub(super) fn is_runner(program: &str) -> bool {
    RUNNERS.iter().any(|(name, ..)| *name == program)
}

/// Whether this is Python, whatever its version.
pub(super) fn is_python(program: &str) -> bool {
    shells::is_python(program)
}

/// What a command runs, if it is one that runs others, or may for all we know; `listing` is what stands for the files it
/// is handed, `fed` says that something is on its standard input.
pub(super) fn inner(program: &str, words: &[Word], (listing, fed): (&[Word], bool)) -> Vec<Inner> {
    let arguments = words.get(1..).unwrap_or_default();
    if is_shell(program) {
        return shell_texts(program, arguments);
    }
    if is_loader(program) {
        return vec![Inner::words(without_options(arguments, &["--library-path", "--preload", "--argv0"]), true)];
    }
    match program {
        "find" => return found(arguments, listing),
        "eval" => return vec![evaluated(arguments)],
        "trap" => return trapped(arguments).into_iter().collect(),
        "git" => return git::inner(arguments),
        "tar" | "bsdtar" => return by_tar(arguments),
        "fd" | "fdfind" => return by_fd(arguments, listing),
        "gh" => return by_gh(arguments).into_iter().collect(),
        "ssh" | "scp" | "sftp" => return by_ssh(program, arguments),
        // `command -v git` only looks the program up.
        "command" if arguments.first().is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V")) => {
            return Vec::new();
        }
        "env" => {
            if let Some(inner) = split_string(arguments) {
                return vec![inner];
            }
        }
        _ => {}
    }
    if let Some(git) = program.strip_prefix("git-") {
        let rest = arguments.iter().cloned();
        return vec![Inner::words([Word::literal("git"), Word::literal(git)].into_iter().chain(rest).collect(), true)];
    }
    if let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == program) {
        let beside = by_option(program, arguments).filter(|_| program == "strace");
        return beside.chain(wrapped(wrapper, arguments, listing)).collect();
    }
    if shells::is_python(program) {
        return module(arguments).or_else(|| begun(program, arguments, fed)).into_iter().collect();
    }
    let mut ran = ran(program, arguments);
    ran.extend(typed::inner(program, arguments));
    if !ran.is_empty() {
        return ran;
    }
    by_option(program, arguments).chain(begun(program, arguments, fed)).collect()
}

/// The commands in the options of a program that otherwise runs nothing.
fn by_option(program: &str, arguments: &[Word]) -> impl Iterator<Item = Inner> {
    let options = TEXT_OPTIONS.iter().find(|(name, _)| *name == program);
    let found = options.map(|(_, options)| values(arguments, options)).unwrap_or_default();
    let handed = move |word: &Word| program != "strace" || is_handed_on(program, word);
    found.into_iter().filter(handed).map(move |word| match program {
        // It is handed a file each time.
        "rg" => Inner::words(vec![word, Word::unknown("{}")], false),
        "strace" => Inner::loose(Word { text: word.text.get(1..).unwrap_or_default().to_owned(), ..word }),
        _ => Inner::loose(word),
    })
}

/// Whether what looks like a file to write is a command that is handed what would be written there.
pub(super) fn is_handed_on(program: &str, file: &Word) -> bool {
    program == "strace" && file.text.starts_with(['|', '!'])
}

/// What a program that we do not know may run of its words: a shell or an interpreter that is given a text, or git.
fn begun(program: &str, arguments: &[Word], fed: bool) -> Option<Inner> {
    let at = (0..arguments.len()).find(|at| arguments.get(*at..).is_some_and(|words| begins(words, fed)))?;
    programs::may_run_words(program).then(|| Inner::words(arguments.get(at..).unwrap_or_default().to_vec(), false))
}

fn begins(words: &[Word], fed: bool) -> bool {
    let Some(first) = words.first().filter(|word| word.known()) else { return false };
    match first.text.rsplit('/').next().unwrap_or_default() {
        "git" => words.len() > 1,
        shell if is_shell(shell) => has_text(shell, words) || fed && reads_input(shell, words),
        program if is_interpreter(program) => has_text(program, words),
        _ => false,
    }
}

/// `python -m pip …` is `pip …`.
fn module(arguments: &[Word]) -> Option<Inner> {
    let mut words = arguments.iter().skip_while(|word| word.text.starts_with('-') && !word.text.starts_with("-m"));
    let name = match words.next()?.text.strip_prefix("-m")? {
        "" => words.next()?.text.as_str(),
        attached => attached,
    };
    let rest = words.cloned();
    MODULES.contains(&name).then(|| Inner::words(std::iter::once(Word::literal(name)).chain(rest).collect(), true))
}

/// The dynamic loader, which runs the program that it is given.
fn is_loader(program: &str) -> bool {
    program.starts_with("ld-linux") || program.starts_with("ld-musl") || program.starts_with("ld.so")
}

fn ran(program: &str, arguments: &[Word]) -> Vec<Inner> {
    let runner = RUNNERS
        .iter()
        .find(|(name, sub, _)| *name == program && arguments.first().is_some_and(|word| word.text == *sub));
    let Some((_, sub, valued)) = runner else { return Vec::new() };
    let arguments = arguments.get(1..).unwrap_or_default();
    let texts = values(arguments, &["-c", "--call"]);
    let run = if texts.len() == 1 { Inner::text } else { Inner::loose };
    let text = texts.into_iter().filter(|_| *sub == "exec").map(run);
    let skipped = usize::from(NAMED_RUNNERS.contains(&program));
    let words = without_options(arguments, valued);
    // The kind of a sandbox may stand before further options.
    let words = match words.split_first() {
        Some((kind, rest)) if program == "codex" && SANDBOXES.contains(&kind.text.as_str()) => {
            without_options(rest, valued)
        }
        _ => words,
    };
    let words: Vec<Word> = words.into_iter().skip(skipped).collect();
    let words = Some(words).filter(|words| !words.is_empty()).map(|words| Inner::words(words, true));
    text.chain(words).collect()
}

/// What is left after the options.
fn without_options(arguments: &[Word], valued: &[&str]) -> Vec<Word> {
    let mut rest = arguments.iter().peekable();
    while let Some(word) = rest.next_if(|word| word.text.starts_with('-')) {
        if word.text == "--" {
            break;
        }
        if valued.contains(&ending(&word.text, &[valued])) {
            rest.next();
        }
    }
    rest.cloned().collect()
}

/// The option that a cluster such as `-nu` ends in, if only that one takes a value; of any other word, the word.
fn ending<'w>(word: &'w str, valued: &[&[&'w str]]) -> &'w str {
    let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')) else { return word };
    let of_letter = |letter: char| {
        let is_one = |option: &&&str| option.len() == 2 && option.ends_with(letter);
        valued.iter().copied().flatten().find(is_one).copied()
    };
    let first = letters.char_indices().find_map(|(at, letter)| Some((at + letter.len_utf8(), of_letter(letter)?)));
    first.filter(|(end, _)| *end == letters.len()).map_or(word, |(_, option)| option)
}

/// The values of these options: the next word, or what follows `=`.
fn values(arguments: &[Word], options: &[&str]) -> Vec<Word> {
    let mut found = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let attached = word.text.split_once('=').filter(|(option, _)| options.contains(option));
        // The last letter of a cluster may be the one with the value: `-qc TEXT`.
        let clustered = options.iter().any(|option| {
            let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
            letter.is_some_and(|letter| {
                word.text.starts_with('-') && !word.text.starts_with("--") && word.text.ends_with(letter)
            })
        });
        let letter = |option: &&&str| option.len() == 2 && !option.ends_with('-') && word.text.len() > 2;
        let joined = options.iter().filter(letter).find_map(|option| word.text.strip_prefix(*option));
        if let Some(value) = joined {
            found.push(Word { text: value.to_owned(), ..word.clone() });
        } else if options.contains(&word.text.as_str()) || clustered {
            found.extend(words.next().cloned());
        } else if let Some((_, value)) = attached {
            found.push(Word { text: value.to_owned(), ..word.clone() });
        }
    }
    found
}

/// The arguments with long options of these that are cut short written in full.
fn whole<'a>(arguments: &'a [Word], options: &[&str]) -> Cow<'a, [Word]> {
    let in_full = |word: &Word| {
        let name = word.text.split('=').next().filter(|name| name.len() > "--".len())?;
        let option = options.iter().find(|option| option.starts_with("--") && option.starts_with(name))?;
        Some(format!("{option}{}", word.text.strip_prefix(name)?)).filter(|text| *text != word.text)
    };
    match arguments.iter().any(|word| in_full(word).is_some()) {
        true => {
            arguments
                .iter()
                .map(|word| in_full(word).map_or_else(|| word.clone(), |text| Word { text, ..word.clone() }))
        }
        .collect(),
        false => arguments.into(),
    }
}

/// What a wrapper is told before the command.
struct Told<'w> {
    env: Vec<(String, Word)>,
    dir: Option<Word>,
    /// The command.
    rest: &'w [Word],
    own: &'w [Word],
}

impl<'w> Told<'w> {
    fn new(wrapper: &Wrapper, arguments: &'w [Word]) -> Self {
        let mut rest = arguments.iter().peekable();
        let (mut env, mut dir) = (Vec::new(), None);
        let mut skip = if wrapper.name == "setarch" && begins_with_option(arguments) { 0 } else { wrapper.skip };
        while let Some(word) = rest.peek() {
            let text = word.text.as_str();
            let (option, attached) = match text.split_once('=').filter(|_| text.starts_with("--")) {
                Some((option, value)) => (option, Some(Word { text: value.to_owned(), ..(*word).clone() })),
                None => (ending(text, &[wrapper.valued, wrapper.texts, wrapper.dirs]), None),
            };
            if text == "--" {
                rest.next();
                break;
            } else if attached.is_some() && wrapper.dirs.iter().any(|it| it.strip_suffix('=') == Some(option)) {
                rest.next();
                dir = attached;
            } else if wrapper.dirs.contains(&option) {
                rest.next();
                dir = attached.or_else(|| rest.next().cloned());
            } else if text.starts_with('-') && (text.len() > 1 || wrapper.name == "env") {
                rest.next();
                let value = attached.or_else(|| rest.next_if(|_| takes_value(wrapper, option)).cloned());
                dir = value.as_ref().and_then(working_directory).or(dir);
            } else if let Some((name, value)) = assigned(text).filter(|_| ASSIGNING.contains(&wrapper.name)) {
                env.push((name.to_owned(), Word { text: value.to_owned(), ..(*word).clone() }));
                rest.next();
            } else if skip > 0 {
                skip -= 1;
                rest.next();
            } else {
                break;
            }
        }
        let (own, rest) = arguments.split_at(arguments.len() - rest.len());
        Self { env, dir, rest, own }
    }
}

/// The kind of machine may be left out where an option stands in its place.
fn begins_with_option(arguments: &[Word]) -> bool {
    arguments.first().is_some_and(|first| first.text.starts_with('-'))
}

fn wrapped(wrapper: &Wrapper, arguments: &[Word], listing: &[Word]) -> Vec<Inner> {
    let Told { env, dir, rest, own } = Told::new(wrapper, arguments);
    let texts = match wrapper.texts {
        [] => Vec::new(),
        options => values(&whole(arguments, options), options),
    };
    if !texts.is_empty() {
        // Of several the last one is run.
        let passes_status = texts.len() == 1 && passes_status(wrapper, arguments);
        let dir = dir.or_else(|| beginning(wrapper, arguments));
        let text = |text| Inner::Text {
            text,
            arguments: Vec::new(),
            dir: dir.clone(),
            errexit: false,
            pipefail: false,
            passes_status,
        };
        return texts.into_iter().map(text).collect();
    }
    let dir = dir.or_else(|| beginning(wrapper, own));
    let passes_status = passes_status(wrapper, own);
    if wrapper.name == "parallel"
        && let Some(filled) = parallel::filled(own, rest)
    {
        let run = |words: Vec<Word>| match words.as_slice() {
            [_] => command(wrapper, words, (env.clone(), dir.clone(), passes_status)),
            _ => Some(Inner::Words { words, env: env.clone(), dir: dir.clone(), passes_status }),
        };
        return filled.into_iter().filter(|words| !words.is_empty()).filter_map(run).collect();
    }
    let words = handed(wrapper.name, arguments, rest.to_vec(), listing);
    command(wrapper, words, (env, dir, passes_status)).into_iter().collect()
}

/// Whether a program that runs another one is told none, so that it starts a shell; and where that begins, if elsewhere.
pub(super) fn bare(program: &str, arguments: &[Word]) -> Option<Option<Word>> {
    let wrapper = WRAPPERS.iter().find(|wrapper| wrapper.name == program)?;
    let told = Told::new(wrapper, arguments);
    let starts = match BARE.iter().find(|(name, _)| *name == program)?.1 {
        Bare::Always => true,
        Bare::With(letters, long) => told.own.iter().any(|word| {
            let cut = word.text.len() > 3 && long.iter().any(|option| option.starts_with(&word.text));
            cut || has_letter(&word.text, letters, wrapper)
        }),
    };
    let texts = values(told.own, wrapper.texts);
    (starts && told.rest.is_empty() && texts.is_empty()).then(|| told.dir.or_else(|| beginning(wrapper, told.own)))
}

/// Whether a cluster of short options has one of these letters before one that takes the rest for its value.
fn has_letter(word: &str, letters: &str, wrapper: &Wrapper) -> bool {
    let Some(cluster) = word.strip_prefix('-').filter(|cluster| !cluster.starts_with('-')) else { return false };
    let valued = |letter: char| {
        wrapper.valued.iter().chain(wrapper.dirs).any(|option| option.len() == 2 && option.ends_with(letter))
    };
    cluster.chars().take_while(|letter| !valued(*letter)).any(|letter| letters.contains(letter))
}

/// The directory in which a wrapper begins that is told these words, where it is not this one.
fn beginning(wrapper: &Wrapper, own: &[Word]) -> Option<Word> {
    let has = |options: &[&str]| {
        own.iter().any(|word| options.contains(&word.text.as_str())) || files::has_option(own, options)
    };
    let home = || Word::literal("~");
    match wrapper.begins {
        Begins::Here => None,
        Begins::AtHome(options) => has(options).then(home),
        Begins::AtHomeBut(options) => (!has(options)).then(home),
        Begins::Named => own.iter().find(|word| !word.text.starts_with('-')).cloned(),
    }
}

fn takes_value(wrapper: &Wrapper, option: &str) -> bool {
    wrapper.valued.contains(&option) || wrapper.texts.contains(&option)
}

/// The directory that a unit of systemd's is given as a property.
fn working_directory(value: &Word) -> Option<Word> {
    let dir = value.text.strip_prefix("WorkingDirectory=")?;
    Some(Word { text: dir.to_owned(), ..value.clone() })
}

/// Whether a wrapper that is told these options ends as the command does.
fn passes_status(wrapper: &Wrapper, own: &[Word]) -> bool {
    let has = |options: &[&str]| files::has_option(own, options);
    let shows = own.iter().any(|word| is_question(&word.text));
    (wrapper.passes_status || has(wrapper.told)) && !has(wrapper.idle) && !shows
}

/// Whether an option has a program say what it is, whatever else it is told.
fn is_question(option: &str) -> bool {
    let cut = |whole: &str| option.len() > "--".len() && whole.starts_with(option);
    matches!(option, "-h" | "-V") || cut("--help") || cut("--version")
}

/// What a command in the words of a wrapper is given beside them: variables, a directory, a say in the status.
type Given = (Vec<(String, Word)>, Option<Word>, bool);

fn command(wrapper: &Wrapper, words: Vec<Word>, (env, dir, passes_status): Given) -> Option<Inner> {
    if words.is_empty() {
        return None;
    }
    if JOINING.contains(&wrapper.name) && words.iter().any(is_text) {
        let text = Word::literal(words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "));
        return Some(Inner::Text { text, arguments: Vec::new(), dir, errexit: false, pipefail: false, passes_status });
    }
    Some(Inner::Words { words, env, dir, passes_status })
}

/// Whether a shell that is handed this word sees more than one in it.
fn is_text(word: &Word) -> bool {
    word.text.contains([' ', ';', '|']) || !word.dynamic && word.text.contains(['&', '<', '>', '(', '`', '\n'])
}

/// The words with what the wrapper adds to them: the lines that it reads.
fn handed(program: &str, arguments: &[Word], words: Vec<Word>, listing: &[Word]) -> Vec<Word> {
    let unknown = [Word::unknown("…")];
    // Options of the command are none of the wrapper's.
    let arguments = arguments.get(..arguments.len() - words.len()).unwrap_or_default();
    let files = if listing.is_empty() || reads_elsewhere(arguments) { &unknown } else { listing };
    match (program, replaced(arguments)) {
        (_, _) if words.is_empty() => words,
        ("xargs", Some(mark)) => filled(words, &mark, files),
        ("xargs" | "parallel" | "entr", _) => words.into_iter().chain(files.iter().cloned()).collect(),
        _ => words,
    }
}

fn reads_elsewhere(arguments: &[Word]) -> bool {
    arguments.iter().any(|word| word.text.starts_with("-a") || word.text.starts_with("--arg-file"))
}

/// What `xargs` replaces by a line.
fn replaced(arguments: &[Word]) -> Option<String> {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "-I" => return words.next().map(|word| word.text.clone()),
            "-i" | "--replace" => return Some("{}".to_owned()),
            text => {
                let mark = text.strip_prefix("-I").or(text.strip_prefix("--replace=")).or(text.strip_prefix("-i"));
                if let Some(mark) = mark {
                    return Some(mark.to_owned());
                }
            }
        }
    }
    None
}

/// Words with a mark replaced by files: the mark alone is each of them, a mark inside a word is not known.
fn filled(words: Vec<Word>, mark: &str, files: &[Word]) -> Vec<Word> {
    let fill = |word: Word| match word.text.as_str() {
        text if text == mark => files.to_vec(),
        text if text.contains(mark) => vec![Word::unknown(text)],
        _ => vec![word],
    };
    words.into_iter().flat_map(fill).collect()
}

fn assigned(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once('=')?;
    let plain = !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
    plain.then_some((name, value))
}

/// `env -S TEXT ARGUMENTS`: the text has escapes and variables of its own kind.
fn split_string(arguments: &[Word]) -> Option<Inner> {
    let at = arguments.iter().position(|word| {
        let cluster = word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains('S');
        cluster || word.text.starts_with("--split-string")
    })?;
    let word = arguments.get(at)?;
    let attached = word.text.split_once(if word.text.starts_with("--") { '=' } else { 'S' }).map(|(_, text)| text);
    let (text, rest) = match attached.filter(|text| !text.is_empty()) {
        Some(text) => (Word { text: text.to_owned(), ..word.clone() }, arguments.get(at + 1..)?),
        None => (arguments.get(at + 1)?.clone(), arguments.get(at + 2..)?),
    };
    if text.text.contains(['\\', '$']) || rest.iter().any(|word| !word.known()) {
        return Some(Inner::Unknown("`env -S` is given text that is not known"));
    }
    let quoted = rest.iter().map(|word| format!(" '{}'", word.text.replace('\'', "'\\''")));
    let text = Word { text: quoted.fold(text.text.clone(), |text, word| text + &word), ..text };
    Some(Inner::text(text))
}

fn evaluated(arguments: &[Word]) -> Inner {
    let arguments = match arguments {
        [first, rest @ ..] if first.text == "--" => rest,
        arguments => arguments,
    };
    if arguments.iter().any(|word| !word.known()) {
        return Inner::Unknown("`eval` is given text that is not known");
    }
    let text = arguments.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    Inner::text(Word::literal(text))
}

/// `trap TEXT SIGNAL`.
fn trapped(arguments: &[Word]) -> Option<Inner> {
    let arguments = arguments.iter().skip_while(|word| word.text == "--").collect::<Vec<_>>();
    match arguments.as_slice() {
        [text, _, ..] if !text.text.starts_with('-') => Some(Inner::text((*text).clone())),
        _ => None,
    }
}

/// The commands that `tar` is told to run.
fn by_tar(arguments: &[Word]) -> Vec<Inner> {
    let actions = values(arguments, &["--checkpoint-action"])
        .into_iter()
        .filter_map(|word| word.text.strip_prefix("exec=").map(|text| Word { text: text.to_owned(), ..word.clone() }));
    let running =
        ["--to-command", "-F", "-I", "--info-script", "--new-volume-script", "--use-compress-program", "--rsh-command"];
    let programs = values(arguments, &running);
    actions.chain(programs).map(Inner::loose).collect()
}

/// The command that `fd` runs for each file, or for all of them.
fn by_fd(arguments: &[Word], files: &[Word]) -> Vec<Inner> {
    let runs = |word: &&Word| matches!(word.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch");
    let mut rest = arguments.iter().skip_while(|word| !runs(word)).skip(1).take_while(|word| word.text != ";");
    let Some(first) = rest.next() else { return Vec::new() };
    let words: Vec<Word> = std::iter::once(first).chain(rest).cloned().collect();
    // Without a place for them they stand at the end.
    let marked = words.iter().any(|word| word.text.contains("{}"));
    let words = words.into_iter().chain((!marked).then(|| Word::literal("{}"))).collect();
    vec![Inner::words(filled(words, "{}", files), false)]
}

/// An alias of GitHub's program that is a shell text.
fn by_gh(arguments: &[Word]) -> Option<Inner> {
    let sub: Vec<&str> = arguments.iter().take(2).map(|word| word.text.as_str()).collect();
    let text =
        |word: &Word| word.text.starts_with('!') || matches!(word.text.as_str(), "-s" | "--shell") || word.dynamic;
    let runs = sub == ["alias", "import"] || sub == ["alias", "set"] && arguments.iter().skip(2).any(text);
    runs.then_some(Inner::Unknown("it says what a command of `gh` stands for"))
}

/// The commands that `ssh` and its kin run here.
fn by_ssh(program: &str, arguments: &[Word]) -> Vec<Inner> {
    let settings = values(arguments, &["-o"]).into_iter().filter_map(|word| {
        let (key, value) = word.text.split_once(['=', ' '])?;
        let text = value.trim_start_matches([' ', '=']).to_owned();
        SSH_COMMANDS.contains(&key.to_ascii_lowercase().as_str()).then(|| Inner::loose(Word { text, ..word.clone() }))
    });
    settings.chain(by_option(program, arguments)).collect()
}

/// The commands that `find` runs for each file.
fn found(arguments: &[Word], listing: &[Word]) -> Vec<Inner> {
    let unknown = [Word::unknown("{}")];
    let files = if listing.is_empty() { &unknown } else { listing };
    let mut commands = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
            let command: Vec<Word> =
                words.by_ref().take_while(|word| !matches!(word.text.as_str(), ";" | "+")).cloned().collect();
            let command = filled(command, "{}", files);
            if !command.is_empty() {
                commands.push(Inner::words(command, false));
            }
        }
    }
    commands
}
