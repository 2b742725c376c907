//! Commands of hosts' own that switch hooks off, put something beside them, or start a session that asks none: one table.
//!
//! Only what the host itself calls so: any program may start another agent, and which of those ask nobody is not known here.

use serde_json::{Map, Value as Json};

use crate::shell::{self, Command, Reading, ShellText, Word};

/// A host's program and what an agent may not do with it.
struct Row {
    /// The names of its program, and of the package that has it.
    programs: &'static [&'static str],
    /// Its options that take a value, as far as they may stand before a subcommand.
    valued: &'static [&'static str],
    /// Options with which it runs no hooks of ours.
    bare: &'static [&'static str],
    /// Options whose value may have it run none.
    told: &'static [(&'static str, Value)],
    /// Subcommands, with the words that may follow.
    subs: &'static [Sub],
    /// Variables with which it runs none, or none of the user's.
    variables: &'static [&'static str],
}

/// Which values of an option matter.
#[derive(Clone, Copy)]
enum Value {
    /// Any: it names what is loaded.
    Any,
    /// A name that is one of these.
    Names(&'static [&'static str]),
    /// A setting whose key begins with one of these, and has this in it or in its value.
    Sets(&'static [&'static str], &'static str),
    /// Settings as JSON that name one of these, or a file of which nobody knows what it says.
    Settings(&'static [&'static str]),
    /// JSON of which a member names one of these, or anything else, of which nobody knows what it says.
    Members(&'static [&'static str]),
    /// A list that lacks one of these.
    Lacks(&'static [&'static str]),
}

/// A subcommand by its first words.
struct Sub {
    words: &'static [&'static str],
    /// How the next word begins where it matters; empty where any does.
    about: &'static [&'static str],
    /// How many words must follow: a setting that is only named is read.
    follow: usize,
}

const fn sub(words: &'static [&'static str]) -> Sub {
    Sub { words, about: &[], follow: 0 }
}

const ROWS: &[Row] = &[
    Row {
        programs: &["claude", "claude-code"],
        valued: &[
            "--model",
            "--settings",
            "--setting-sources",
            "--managed-settings",
            "--permission-mode",
            "--agent",
            "--agents",
            "--plugin-dir",
            "--plugin-dir-no-mcp",
            "--plugin-url",
        ],
        bare: &["--bare", "--safe-mode", "--restricted", SETTINGS_LATER],
        told: &[
            ("--plugin-dir", Value::Any),
            ("--plugin-dir-no-mcp", Value::Any),
            ("--plugin-url", Value::Any),
            // What is told here, or over the pipe of whoever starts it, counts as the administrator's word.
            ("--managed-settings", Value::Any),
            (SETTINGS_LATER, Value::Any),
            ("--settings", Value::Settings(SETTINGS_OF_CLAUDE)),
            ("--agents", Value::Members(&["hooks"])),
            ("--setting-sources", Value::Lacks(&["user", "project", "local"])),
        ],
        subs: &[
            sub(&["plugin", "install"]),
            sub(&["plugin", "i"]),
            sub(&["plugin", "enable"]),
            sub(&["plugin", "update"]),
            sub(&["plugin", "init"]),
            sub(&["plugin", "new"]),
            sub(&["plugins", "install"]),
            sub(&["plugins", "i"]),
            sub(&["plugins", "enable"]),
            sub(&["plugins", "update"]),
            sub(&["plugins", "init"]),
            sub(&["plugins", "new"]),
        ],
        variables: &[
            "CLAUDE_CODE_SIMPLE",
            "CLAUDE_CODE_SAFE_MODE",
            "CLAUDE_CODE_RESTRICTED",
            "CLAUDE_CODE_PLUGIN_DIRS",
            "CLAUDE_CONFIG_DIR",
        ],
    },
    Row {
        programs: &["codex"],
        valued: &[
            "-c",
            "--config",
            "--enable",
            "--disable",
            "-m",
            "--model",
            "-p",
            "--profile",
            "-s",
            "--sandbox",
            "-C",
        ],
        bare: &["--ignore-user-config"],
        told: &[
            ("--disable", Value::Names(HOOKS_OF_CODEX)),
            ("-c", Value::Sets(&["features", "hooks"], "hooks")),
            ("--config", Value::Sets(&["features", "hooks"], "hooks")),
        ],
        subs: &[Sub { words: &["features", "disable"], about: HOOKS_OF_CODEX, follow: 1 }, sub(&["plugin", "add"])],
        variables: &["CODEX_HOME"],
    },
    Row {
        programs: &["gemini", "gemini-cli"],
        valued: &["-m", "--model", "-o", "--output-format", "--approval-mode"],
        // There it asks no hook about calls.
        bare: &["--acp", "--experimental-acp"],
        told: &[],
        subs: &[
            sub(&["hooks"]),
            sub(&["hook"]),
            sub(&["extensions", "install"]),
            sub(&["extensions", "link"]),
            sub(&["extensions", "enable"]),
            sub(&["extension", "install"]),
            sub(&["extension", "link"]),
            sub(&["extension", "enable"]),
        ],
        variables: &["GEMINI_CLI_HOME", "GEMINI_CLI_SYSTEM_SETTINGS_PATH"],
    },
    Row {
        programs: &["qwen", "qwen-code"],
        valued: &["-m", "--model", "-o", "--output-format", "--approval-mode", "--auth-type"],
        bare: &["--bare", "--safe-mode"],
        told: &[],
        subs: &[sub(&["extensions", "install"]), sub(&["extensions", "link"]), sub(&["extensions", "enable"])],
        variables: &[
            "QWEN_CODE_SIMPLE",
            "QWEN_CODE_SAFE_MODE",
            "QWEN_HOME",
            "QWEN_CODE_SYSTEM_SETTINGS_PATH",
            "QWEN_CODE_SYSTEM_DEFAULTS_PATH",
        ],
    },
    Row {
        programs: &["copilot"],
        valued: &["-C", "--model", "--log-dir", "--log-level"],
        bare: &[],
        told: &[],
        subs: &[
            Sub { words: &["config"], about: SETTINGS_OF_COPILOT, follow: 2 },
            sub(&["plugin", "install"]),
            sub(&["plugin", "enable"]),
        ],
        variables: &["COPILOT_HOME"],
    },
    Row {
        programs: &["opencode", "opencode-ai"],
        valued: &["--log-level", "-m", "--model", "--agent"],
        bare: &["--pure"],
        told: &[],
        subs: &[sub(&["plugin"]), sub(&["plug"]), sub(&["uninstall"])],
        variables: &[
            "OPENCODE_CONFIG_DIR",
            "OPENCODE_CONFIG",
            "OPENCODE_CONFIG_CONTENT",
            "OPENCODE_PURE",
            "XDG_CONFIG_HOME",
        ],
    },
];

/// It takes no value; one that is attached is refused with it.
const SETTINGS_LATER: &str = "--managed-settings-in-initialize";
/// What puts hooks beside ours, switches them off, or sets a variable that does.
const SETTINGS_OF_CLAUDE: &[&str] = &["hooks", "disableAllHooks", "allowManagedHooksOnly", "enabledPlugins", "env"];
const HOOKS_OF_CODEX: &[&str] = &["hooks", "codex_hooks"];
const SETTINGS_OF_COPILOT: &[&str] =
    &["disableAllHooks", "disabledHooks", "hooks", "extensions", "enabledPlugins", "extraKnownMarketplaces"];

/// The variable by which every one of them finds the user's settings.
const HOME: &str = "HOME";
/// Words with which a host, told nothing else, only says something.
const TELLING: &[&str] = &["--help", "--version", "-h", "-v", "-V"];
/// What makes a subcommand only say how it is used.
const HELP: &[&str] = &["--help", "-h"];
/// Builtins that set a variable for what the same text starts later.
const SETTING: &[&str] = &["export", "declare", "typeset", "local", "readonly", "set", "setenv"];

/// What the commands of a text do to a host's hooks, as reasons tell it.
pub(super) fn undone(reading: &Reading) -> Vec<String> {
    let commands = || reading.commands.iter();
    let handed: Vec<Reading> = commands().flat_map(texts_of).collect();
    let handed = handed.iter().flat_map(|reading| reading.commands.iter());
    let mut told: Vec<String> = commands().chain(handed).filter_map(by_itself).collect();
    told.extend(commands().filter_map(row_of).find_map(|row| set_before(row, reading)));
    told
}

/// The texts that a command hands to a program which may run them.
fn texts_of(command: &Command) -> Vec<Reading> {
    let runs = command.program().is_some_and(shell::may_run_texts);
    let texts = if runs { shell::texts(command) } else { Vec::new() };
    let named = |text: &&str| ROWS.iter().flat_map(|row| row.programs).any(|name| text.contains(name));
    let read = |text: &str| match shell::read(text) {
        ShellText::Reading(reading) => Some(reading),
        ShellText::Unparsable(_) => None,
    };
    texts.into_iter().filter(named).filter_map(read).collect()
}

fn row_of(command: &Command) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.programs.iter().any(|name| is_named(command, name)))
}

fn by_itself(command: &Command) -> Option<String> {
    let row = row_of(command)?;
    let (name, words) = (row.programs.first()?, command.words.get(1..).unwrap_or_default());
    if matches!(words, [word] if TELLING.contains(&word.text.as_str())) {
        return None;
    }
    if let Some((variable, _)) = command.env.iter().find(|(set, _)| row.moves(set)) {
        return Some(elsewhere(name, variable));
    }
    let option = words.iter().enumerate().find_map(|(at, word)| row.option(word, words.get(at + 1)));
    let option = option.map(|option| {
        format!("`{name} {option}` starts a session that may run none of its hooks, or others beside them.")
    });
    option.or_else(|| {
        row.sub(words).map(|sub| format!("`{name} {sub}` changes what the host runs beside its hooks, or its hooks."))
    })
}

/// A variable that the text sets for all that it starts.
fn set_before(row: &Row, reading: &Reading) -> Option<String> {
    let setting = |command: &&Command| command.program().is_some_and(|program| SETTING.contains(&program));
    let words = reading.commands.iter().filter(setting).flat_map(|command| command.words.iter().skip(1));
    let mut names = words.map(|word| word.text.split('=').next().unwrap_or_default());
    let variable = names.find(|name| row.moves(name))?;
    Some(elsewhere(row.programs.first()?, variable))
}

fn elsewhere(name: &str, variable: &str) -> String {
    format!("`{name}` with the variable `{variable}` may start without the settings that hold its hooks.")
}

/// Whether a command's program has this name, of any version of its package.
fn is_named(command: &Command, name: &str) -> bool {
    let program = command.program().unwrap_or_default();
    program.split_once('@').filter(|(front, _)| !front.is_empty()).map_or(program, |(front, _)| front) == name
}

impl Row {
    /// Whether a variable leads it away from the user's settings, or from hooks.
    fn moves(&self, variable: &str) -> bool {
        self.variables.contains(&variable) || variable == HOME
    }

    /// The option of a word, with its value or the next word's, where the host runs no hooks with it.
    fn option<'w>(&self, word: &'w Word, next: Option<&Word>) -> Option<&'w str> {
        let text = word.text.as_str();
        let (option, attached) = text.split_once('=').map_or((text, None), |(option, value)| (option, Some(value)));
        if self.bare.contains(&option) && attached.is_none_or(|value| value != "false") {
            return Some(option);
        }
        let known = self.told.iter().find(|(name, _)| *name == option || is_attached(text, name))?;
        let value = match attached.filter(|_| known.0 == option) {
            Some(value) => Word { text: value.to_owned(), ..word.clone() },
            None if known.0 == text => next?.clone(),
            // `-cfeatures.hooks=false`
            None => Word { text: text.get(known.0.len()..)?.to_owned(), ..word.clone() },
        };
        known.1.matters(&value).then_some(known.0)
    }

    /// The subcommand among the words, where it is one that changes hooks.
    fn sub(&self, words: &[Word]) -> Option<String> {
        let ended = words.iter().position(|word| word.text == "--").unwrap_or(words.len());
        if words.iter().take(ended).any(|word| HELP.contains(&word.text.as_str())) {
            return None;
        }
        // Which options take a value is not known of all: what precedes may be one.
        let (plain, removes) = (self.plain(words), words.iter().any(|word| word.text == "--rm"));
        let found = |sub: &&Sub| (0..plain.len()).any(|at| sub.is(plain.get(at..).unwrap_or_default(), removes));
        self.subs.iter().find(found).map(|sub| sub.words.join(" "))
    }

    /// The words that are neither options nor their values.
    fn plain<'w>(&self, words: &'w [Word]) -> Vec<&'w Word> {
        let mut plain = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if self.valued.contains(&word.text.as_str()) {
                words.next();
            } else if !word.text.starts_with('-') || !word.known() {
                plain.push(word);
            }
        }
        plain
    }
}

/// Whether a word is a short option with its value in one.
fn is_attached(text: &str, option: &str) -> bool {
    option.len() == 2 && text.len() > 2 && text.starts_with(option) && !text.starts_with("--")
}

impl Value {
    fn matters(self, value: &Word) -> bool {
        let text = value.text.trim();
        match self {
            Self::Any => true,
            Self::Names(names) => !value.known() || names.contains(&text),
            Self::Sets(keys, about) => {
                let key = text.split('=').next().unwrap_or_default().trim_matches(['"', '\'', ' ']);
                let open = !value.known() && (key.contains('$') || !text.contains('='));
                open || keys.iter().any(|front| key.starts_with(front)) && text.contains(about)
            }
            // What is no JSON is a file.
            Self::Settings(keys) => object(value).is_none_or(|settings| names(&settings, keys)),
            Self::Members(keys) => object(value).is_none_or(|all| all.values().any(|member| has(member, keys))),
            Self::Lacks(wanted) => {
                !value.known() || !wanted.iter().all(|name| text.split(',').any(|it| it.trim() == *name))
            }
        }
    }
}

/// A value as a JSON object, where it is one and known as a whole.
fn object(value: &Word) -> Option<Map<String, Json>> {
    serde_json::from_str(value.text.trim()).ok().filter(|_| value.known())
}

fn has(member: &Json, keys: &[&str]) -> bool {
    member.as_object().is_some_and(|member| names(member, keys))
}

fn names(object: &Map<String, Json>, keys: &[&str]) -> bool {
    keys.iter().any(|key| object.contains_key(*key))
}

impl Sub {
    fn is(&self, words: &[&Word], removes: bool) -> bool {
        let (front, rest) = words.split_at(self.words.len().min(words.len()));
        let same = |(word, name): (&&Word, &&str)| word.text == *name;
        let about = |word: &&Word| !word.known() || self.about.iter().any(|front| word.text.starts_with(front));
        front.len() == self.words.len()
            && front.iter().zip(self.words).all(same)
            && (rest.len() >= self.follow || removes)
            && (self.about.is_empty() || rest.first().is_some_and(about))
    }
}
