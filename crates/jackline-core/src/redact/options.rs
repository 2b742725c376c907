//! Passwords that a program is told by an option whose name says nothing: `curl -u me:secret`, `sshpass -p secret`.

use std::ops::Range;

use super::{Scan, assign::is_placeholder, names::is_flag_byte};

/// Bytes of an option with what is attached to it that are looked at.
const OPTION_BYTES_MAX: usize = 64;

/// Bytes before an option in which its program is looked for; a refusal must stay cheap.
const COMMAND_BYTES_MAX: usize = 512;

/// Blanks that may stand between an option and its value.
const GAP_BYTES_MAX: usize = 16;

/// How a program is told a password.
pub(super) struct Telling {
    programs: &'static [&'static str],
    options: &'static [&'static str],
    /// What stands between a name and the password, where both are told at once.
    after: Option<u8>,
    /// Only what is attached to the option is one.
    attached: bool,
}

const fn telling(
    programs: &'static [&'static str],
    options: &'static [&'static str],
    after: Option<u8>,
    attached: bool,
) -> Telling {
    Telling { programs, options, after, attached }
}

const TELLING: &[Telling] = &[
    telling(&["curl"], &["-u", "-U", "--user", "--proxy-user"], Some(b':'), false),
    telling(&["http", "https", "xh"], &["-a", "--auth"], Some(b':'), false),
    telling(&["lftp"], &["-u", "--user"], Some(b','), false),
    telling(&["mysql", "mysqladmin", "mysqldump", "mariadb"], &["-p"], None, true),
    telling(&["redis-cli"], &["-a"], None, false),
    telling(&["smbclient"], &["-U", "--user"], Some(b'%'), false),
    telling(&["sshpass"], &["-p"], None, false),
];

/// How the program of this name, or at this path, is told a password.
pub(super) fn of_program(path: &str) -> Option<&'static Telling> {
    let name = path.rsplit('/').next()?;
    TELLING.iter().find(|telling| telling.programs.contains(&name))
}

impl Telling {
    /// Whether a password is told in the word after this one.
    pub(super) fn announces(&self, word: &str) -> bool {
        !self.attached && self.options.iter().any(|option| is_option(word.as_bytes(), option.as_bytes()))
    }
}

/// Whether a word is this option, or a cluster of short ones that ends with it.
fn is_option(word: &[u8], option: &[u8]) -> bool {
    let cluster = |letter: &u8| match word {
        [b'-', letters @ .., last] => last == letter && letters.iter().all(u8::is_ascii_alphabetic),
        _ => false,
    };
    word == option || matches!(option, [b'-', letter] if cluster(letter))
}

impl Scan<'_> {
    /// The password behind the option that stands here.
    pub(super) fn told(&self) -> Option<Range<usize>> {
        let before = self.at.checked_sub(1).and_then(|before| self.byte(before));
        if !self.at_word_start() || before == Some(b'-') {
            return None;
        }
        let end = self.run_within(self.at, OPTION_BYTES_MAX, is_flag_byte);
        let word = self.slice(self.at..end);
        TELLING.iter().find_map(|telling| {
            let value = telling.options.iter().find_map(|option| self.value_of(telling, option.as_bytes(), word))?;
            self.is_of(telling).then_some(value)
        })
    }

    fn value_of(&self, telling: &Telling, option: &[u8], word: &[u8]) -> Option<Range<usize>> {
        let end = self.at + word.len();
        let start = if !telling.attached && is_option(word, option) {
            let separated = self.run_within(end, GAP_BYTES_MAX, |byte| matches!(byte, b' ' | b'\t'));
            if self.byte(end) == Some(b'=') && option.starts_with(b"--") { end + 1 } else { separated }
        } else if option.len() == 2 && word.starts_with(option) {
            self.at + option.len()
        } else {
            return None;
        };
        let gone = start == end && self.byte(end).is_none_or(|byte| byte.is_ascii_whitespace());
        let value = self.shell_word(start);
        let secret = match telling.after {
            Some(sign) => {
                let at = self.slice(value.clone()).iter().position(|byte| *byte == sign)?;
                value.start + at + 1..value.end
            }
            None => value,
        };
        let content = self.slice(secret.clone());
        (!gone && !content.starts_with(b"-") && !is_placeholder(content)).then_some(secret)
    }

    /// The word of a shell's that begins here, without its quotes.
    fn shell_word(&self, start: usize) -> Range<usize> {
        let quote = self.byte(start).filter(|byte| matches!(byte, b'"' | b'\''));
        let inside = start + usize::from(quote.is_some());
        let ends = |byte: u8| match quote {
            Some(quote) => byte == quote || byte == b'\n',
            None => byte.is_ascii_whitespace() || b"\"'`;|&<>()\\".contains(&byte),
        };
        inside..self.run(inside, |byte| !ends(byte))
    }

    /// Whether the command that the option belongs to, as far as it is looked back, is of such a program.
    fn is_of(&self, telling: &Telling) -> bool {
        let window = self.slice(self.at.saturating_sub(COMMAND_BYTES_MAX)..self.at);
        let begins = window.iter().rposition(|byte| b"\n;|&".contains(byte)).map_or(0, |at| at + 1);
        let command = window.get(begins..).unwrap_or_default();
        let mut words = command.split(|byte| byte.is_ascii_whitespace() || b"\"'/\\(`".contains(byte));
        words.any(|word| telling.programs.iter().any(|program| word == program.as_bytes()))
    }
}
