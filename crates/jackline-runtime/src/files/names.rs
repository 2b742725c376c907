//! Names of files as git gives them, and as texts: any byte may stand in a name, and records are UTF-8.

use std::ffi::OsStr;
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

/// The byte that is spelled at the beginning: only what could not be a text itself, and the backslash.
fn spelled(text: &[u8]) -> Option<u8> {
    let digits = text.strip_prefix(b"\\x")?.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
    hex(digits).filter(|byte| *byte >= 0x80 || *byte == b'\\')
}

/// The path that these bytes are.
pub(super) fn from_bytes(name: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(name))
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
