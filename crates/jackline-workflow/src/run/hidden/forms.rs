//! The forms in which somebody may quote a secret: as it is, escaped as in JSON, line by line; and short ones as words.

use std::collections::BTreeSet;

use serde_json::Value;

use super::marker;

/// How often a text may have been put into JSON: a text in JSON in a text of JSON.
const ESCAPES_MAX: usize = 2;
/// Bytes of a secret that the redactor finds anywhere; what is shorter counts only as a word of its own.
pub(super) const ANYWHERE_BYTES_MIN: usize = 6;
/// Bytes of a secret that counts as a word: one or two letters are in every sentence.
const WORD_BYTES_MIN: usize = 3;

/// A secret in all its forms.
pub(super) fn of(secret: &str) -> BTreeSet<String> {
    let lines = secret.lines().map(str::trim).filter(|line| line.len() >= ANYWHERE_BYTES_MIN);
    let mut forms: BTreeSet<String> = lines.chain([secret]).map(str::to_owned).collect();
    let mut last = forms.clone();
    for _ in 0..ESCAPES_MAX {
        last = last.iter().flat_map(|form| [escaped(form), ascii(&escaped(form))]).collect();
        forms.extend(last.iter().cloned());
    }
    forms
}

/// As JSON spells it, without its quotes.
fn escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default().to_owned()
}

/// As JSON spells it that is written in ASCII alone.
fn ascii(text: &str) -> String {
    let mut units = [0; 2];
    let mut out = String::new();
    for letter in text.chars() {
        if letter.is_ascii() {
            out.push(letter);
        } else {
            out.extend(letter.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    out
}

/// The text without the short secrets that are words of it, if there was one.
pub(super) fn without_words(text: &str, secrets: &BTreeSet<String>) -> Option<String> {
    let short = secrets.iter().filter(|secret| (WORD_BYTES_MIN..ANYWHERE_BYTES_MIN).contains(&secret.len()));
    short.fold(None, |rest, secret| without_word(rest.as_deref().unwrap_or(text), secret).or(rest))
}

fn without_word(text: &str, secret: &str) -> Option<String> {
    let mut out = String::new();
    let mut kept = 0;
    for (at, found) in text.match_indices(secret) {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + found.len()..).and_then(|after| after.chars().next());
        if !before.into_iter().chain(after).any(char::is_alphanumeric) {
            out.push_str(text.get(kept..at).unwrap_or_default());
            out.push_str(marker(&Value::from(secret)).as_str().unwrap_or_default());
            kept = at + found.len();
        }
    }
    (kept > 0).then(|| out + text.get(kept..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_known_in_every_form() {
        let forms = of("pä\"ss\nword one\nx");
        for form in ["pä\"ss\nword one\nx", "pä\\\"ss\\nword one\\nx", "p\\u00e4\\\"ss\\nword one\\nx", "word one"] {
            assert!(forms.contains(form), "{form} in {forms:?}");
        }
        assert!(forms.contains("p\\\\u00e4\\\\\\\"ss\\\\nword one\\\\nx"), "{forms:?}");
        assert!(!forms.contains("x"));
        assert_eq!(of("plain-secret").len(), 1);
    }

    #[test]
    fn a_short_secret_is_a_word() {
        let secrets = BTreeSet::from(["4711", "ab"].map(str::to_owned));
        let shown = without_words("the pin is 4711, not 47110 or ab", &secrets).unwrap();
        assert!(!shown.contains("4711,") && shown.contains("47110 or ab"), "{shown}");
        assert_eq!(without_words("x4711", &secrets), None);
        assert_eq!(without_words(&shown, &secrets), None);
    }
}
