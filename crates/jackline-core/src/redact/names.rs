//! Which names of fields, variables and flags stand for secrets.

use std::borrow::Cow;

/// Names that hold secrets everywhere, in any spelling of their words; written as they are compared, without
/// what separates words.
const ALWAYS: [&str; 19] = [
    "password",
    "passwords",
    "passwd",
    "pwd",
    "passphrase",
    "secret",
    "secrets",
    "token",
    "apikey",
    "authorization",
    "privatekey",
    "accesskey",
    "accountkey",
    "secretkey",
    "signingkey",
    "encryptionkey",
    "cookie",
    "credential",
    "credentials",
];

/// Last words that make a name one about a secret (`token_count`, `private_key_path`), unless the owner named it.
const ABOUT: [&str; 18] = [
    "count", "counts", "type", "limit", "usage", "length", "size", "total", "budget", "name", "path", "file", "url",
    "uri", "endpoint", "ttl", "expiry", "ref",
];

/// Letters from which on a name is found at the end of a longer word (`PGPASSWORD`); shorter ones need a word of
/// their own, else `pin` would be in `shopping`.
const INSIDE_WORD_LETTERS_MIN: usize = 5;

/// Bytes of a name that are looked at, from its end; longer ones are not names.
pub(super) const NAME_BYTES_MAX: usize = 128;

/// The sensitive names.
#[derive(Debug, Clone)]
pub(super) struct Names {
    names: Vec<Name>,
    /// The last letters of all names, one bit each: most words are ruled out by it.
    last_letters: u128,
}

#[derive(Debug, Clone)]
struct Name {
    /// Lowercase, without what separates its words.
    letters: Cow<'static, [u8]>,
    always: bool,
}

impl Names {
    pub(super) fn new<'a>(fields: impl IntoIterator<Item = &'a str>) -> Self {
        let configured = fields.into_iter().map(Name::configured).filter(|name| !name.letters.is_empty());
        let always = ALWAYS.iter().map(|name| Name { letters: Cow::Borrowed(name.as_bytes()), always: true });
        let names: Vec<_> = configured.chain(always).collect();
        let last_letters = names.iter().filter_map(|name| name.letters.last()).fold(0, |all, last| all | bit(*last));
        Self { names, last_letters }
    }

    /// Whether a field of this name holds a secret: one of the names is the whole of it or some of its words.
    pub(super) fn field(&self, field: &str) -> bool {
        let field = tail(field.as_bytes());
        let is_about = || ABOUT.iter().any(|word| ends_with_word(field, word.as_bytes()));
        // Most are one word in lowercase, which ends where they do.
        let first = if field.iter().all(u8::is_ascii_lowercase) { field.len().max(1) } else { 1 };
        (first..=field.len()).filter(|end| is_word_end(field, *end)).any(|end| {
            let found = self.name_at_end(field.get(..end).unwrap_or_default());
            found.is_some_and(|name| !name.always || end == field.len() || !is_about())
        })
    }

    /// Whether a variable or key in a text ends with one of the names.
    pub(super) fn ends(&self, word: &[u8]) -> bool {
        self.name_at_end(tail(word)).is_some()
    }

    /// Whether an argument is a flag whose value follows as the next argument.
    pub(super) fn is_flag(&self, argument: &[u8]) -> bool {
        argument.len() <= NAME_BYTES_MAX
            && argument.strip_prefix(b"--").is_some_and(|name| {
                name.iter().all(|byte| is_flag_byte(*byte)) && !name.starts_with(b"no-") && self.ends(name)
            })
    }

    fn name_at_end(&self, word: &[u8]) -> Option<&Name> {
        let trailing = word.iter().rev().take_while(|byte| is_separator(**byte)).count();
        let word = word.get(..word.len() - trailing).unwrap_or_default();
        let last = word.last()?.to_ascii_lowercase();
        if self.last_letters & bit(last) == 0 {
            return None;
        }
        self.names.iter().find(|name| name.letters.last() == Some(&last) && name.is_at_end_of(word))
    }
}

impl Name {
    fn configured(name: &str) -> Self {
        let letters = name.bytes().filter(|byte| !is_separator(*byte));
        Self { letters: letters.map(|byte| byte.to_ascii_lowercase()).collect(), always: false }
    }

    fn is_at_end_of(&self, word: &[u8]) -> bool {
        let mut start = word.len();
        for letter in self.letters.iter().rev() {
            let before = word.get(..start).unwrap_or_default();
            let separators = before.iter().rev().take_while(|byte| is_separator(**byte)).count();
            start -= separators;
            match start.checked_sub(1).and_then(|at| word.get(at)) {
                Some(byte) if byte.to_ascii_lowercase() == *letter => start -= 1,
                _ => return false,
            }
        }
        self.letters.len() >= INSIDE_WORD_LETTERS_MIN || is_word_start(word, start)
    }
}

/// A letter's bit; bytes beyond ASCII share those of their low bits, which only costs a closer look.
const fn bit(byte: u8) -> u128 {
    1 << (byte & 0x7f)
}

fn tail(name: &[u8]) -> &[u8] {
    name.get(name.len().saturating_sub(NAME_BYTES_MAX)..).unwrap_or(name)
}

const fn is_separator(byte: u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_alphanumeric()
}

pub(super) const fn is_flag_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

/// Whether a word begins at `at`: after a separator, or where the case changes (`dbPassword`, `DBPassword`).
fn is_word_start(name: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|before| name.get(before)) else { return true };
    let (here, after) = (name.get(at), name.get(at + 1));
    let upper = here.is_some_and(u8::is_ascii_uppercase);
    is_separator(*before) || upper && !before.is_ascii_uppercase() || upper && after.is_some_and(u8::is_ascii_lowercase)
}

fn is_word_end(name: &[u8], at: usize) -> bool {
    name.get(at).is_none_or(|byte| is_separator(*byte)) || is_word_start(name, at)
}

fn ends_with_word(name: &[u8], word: &[u8]) -> bool {
    let start = name.len().saturating_sub(word.len());
    name.get(start..).is_some_and(|end| end.eq_ignore_ascii_case(word)) && is_word_start(name, start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(field: &str, want: bool) {
        assert_eq!(Names::new(["pin", "Customer-Number"]).field(field), want, "{field}");
    }

    #[test]
    fn sensitive_fields() {
        for field in [
            "password",
            "Password",
            "db_password",
            "DB_PASSWORD",
            "dbPassword",
            "DBPassword",
            "pgpassword",
            "X-Authorization",
            "authorization",
            "api_key",
            "apikey",
            "apiKey",
            "X-API-Key",
            "API Key",
            "OPENAI_APIKEY",
            "client_secret",
            "clientSecret",
            "secretValue",
            "accessToken",
            "token",
            "refresh-token",
            "aws_secret_access_key",
            "Set-Cookie",
            "credentials",
            "private_key_pem",
            "password_hash",
            "pin",
            "card.pin",
            "customer_number",
            "customerNumber",
            "customer-number-type",
            "userPwd",
            "AccountKey",
            "access_token_",
        ] {
            check(field, true);
        }
    }

    #[test]
    fn ordinary_fields() {
        for field in [
            "",
            "_",
            "input_tokens",
            "output_tokens",
            "max_tokens",
            "tokens",
            "token_count",
            "tokenCount",
            "token_type",
            "secretary",
            "tokenizer",
            "author",
            "shopping",
            "spinner",
            "path",
            "key",
            "keys",
            "public_key",
            "cookiecutter",
            "private_key_path",
            "passwordless",
            "token_url",
            "customer",
            "monkey",
            "sha256",
        ] {
            check(field, false);
        }
    }

    #[test]
    fn flags() {
        let names = Names::new([]);
        for (flag, want) in [
            ("--password", true),
            ("--db-password", true),
            ("--token", true),
            ("--no-password", false),
            ("-p", false),
            ("--password=x", false),
            ("--token-file", false),
            ("--", false),
            ("password", false),
            ("--pass word", false),
        ] {
            assert_eq!(names.is_flag(flag.as_bytes()), want, "{flag}");
        }
    }
}
