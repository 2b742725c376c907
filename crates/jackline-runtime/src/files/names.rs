//! Names of files as git gives them, and as texts: any byte may stand in a name, and records are UTF-8.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

/// A name as a text: what is no UTF-8 is spelled `\xNN`.
pub(super) fn shown(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        text.push_str(chunk.valid());
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
        let spelled = rest.strip_prefix(b"\\x").and_then(|rest| rest.get(..2)).and_then(hex);
        // Only what could not be a text itself was spelled.
        match spelled.filter(|byte| *byte >= 0x80) {
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
        for name in [&b"a b"[..], "é".as_bytes(), b"x\xffy", b"\xc3", b"a\nb", b"q\\x41"] {
            let text = shown(name);
            assert_eq!(path(&text).as_os_str().as_bytes(), name, "{text}");
        }
        assert_eq!(shown(b"x\xffy"), "x\\xffy");
    }
}
