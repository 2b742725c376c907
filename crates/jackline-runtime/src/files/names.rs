//! Names of files as git gives them, and as texts: any byte may stand in a name, and records are UTF-8.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// A name as a text: what is no UTF-8 is spelled `\xNN`, and so is a backslash that would read like such a spelling, so
/// that no two names are one text.
pub(super) fn shown(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        for (at, letter) in chunk.valid().char_indices() {
            match chunk.valid().as_bytes().get(at..).and_then(spelled) {
                Some(_) => text.push_str("\\x5c"),
                None => text.push(letter),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

/// The file that a text of [`shown`] stands for.
pub(super) fn path(text: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        match spelled(rest) {
            Some(byte) => {
                bytes.push(byte);
                rest = rest.get(4..).unwrap_or_default();
            }
            None => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    PathBuf::from(OsStr::from_bytes(&bytes))
}

/// Whether the way to a file from the root, or the file itself, is a link: it is another file then.
pub(super) fn is_linked(root: &Path, text: &str) -> bool {
    let path = path(text);
    path.ancestors().filter(|part| !part.as_os_str().is_empty()).any(|part| root.join(part).is_symlink())
}

/// The words of a command as a program is given them: names of files in them are the files' own bytes.
pub(super) fn words(words: &[String], files: &[&str]) -> Vec<OsString> {
    let odd: Vec<&str> = files.iter().copied().filter(|file| path(file).as_os_str() != *file).collect();
    words.iter().map(|word| as_given(word, &odd)).collect()
}

/// A word with the names that were spelled in it as they are.
fn as_given(word: &str, odd: &[&str]) -> OsString {
    let found = odd
        .iter()
        .filter_map(|name| Some((word.find(name)?, *name)))
        .min_by_key(|(at, name)| (*at, usize::MAX - name.len()));
    let Some((at, name)) = found else { return word.into() };
    let mut given = OsString::from(word.get(..at).unwrap_or_default());
    given.push(path(name));
    given.push(as_given(word.get(at + name.len()..).unwrap_or_default(), odd));
    given
}

/// The byte that is spelled at the beginning: only what could not be a text itself, and the backslash.
fn spelled(text: &[u8]) -> Option<u8> {
    let digits = text.strip_prefix(b"\\x")?.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
    hex(digits).filter(|byte| *byte >= 0x80 || *byte == b'\\')
}

/// The path that these bytes are.
pub(super) fn from_bytes(name: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(name))
}

/// An id as git spells it.
pub(super) fn hex_of(id: &[u8]) -> Vec<u8> {
    let digit = |half: u8| if half < 10 { b'0' + half } else { b'a' + half - 10 };
    id.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn hex(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}

/// The parts of a list that NUL ends.
pub(super) fn listed(printed: &[u8]) -> impl Iterator<Item = &[u8]> {
    printed.split(|byte| *byte == 0).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_given_the_names_themselves() {
        let name = shown(b"x\xffy");
        let given = words(&["--in={}".replace("{}", &name), "\\xfe".to_owned(), "plain".to_owned()], &[&name, "plain"]);
        let bytes: Vec<&[u8]> = given.iter().map(|word| word.as_bytes()).collect();
        assert_eq!(bytes, [&b"--in=x\xffy"[..], b"\\xfe", b"plain"], "what is no file's name is left alone");
    }

    #[test]
    fn a_name_of_any_bytes_is_a_text_and_back() {
        for name in
            [&b"a b"[..], "é".as_bytes(), b"x\xffy", b"\xc3", b"a\nb", b"q\\x41", b"x\\xffy", b"\\x5cxff", b"\\\\xff"]
        {
            let text = shown(name);
            assert_eq!(path(&text).as_os_str().as_bytes(), name, "{text}");
        }
        assert_eq!(shown(b"x\xffy"), "x\\xffy");
        assert_eq!(shown(b"x\\xffy"), "x\\x5cxffy", "another name is another text");
    }
}
