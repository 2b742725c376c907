//! Sources that say in a comment of their first lines that they are not UTF-8.

use crate::read::{Unread, utf8};

/// Names of the encodings in which each byte is the character of its number, or nearly.
const SINGLE: &[&str] =
    &["latin_1", "latin1", "iso_8859_1", "iso8859_1", "l1", "iso_8859_15", "latin_9", "cp1252", "windows_1252"];
/// Lines in which a source may say so.
const LINES_MAX: usize = 2;

/// The text of a source. Names of tools are plain, so the few characters in which the single-byte encodings differ do not
/// matter.
pub(crate) fn decoded(bytes: Vec<u8>) -> Result<String, Unread> {
    if declared(&bytes).is_some_and(|name| SINGLE.contains(&name.as_str())) && std::str::from_utf8(&bytes).is_err() {
        return Ok(bytes.into_iter().map(char::from).collect());
    }
    utf8(bytes)
}

/// The encoding that a source declares, its name as Python compares it.
fn declared(bytes: &[u8]) -> Option<String> {
    let lines = bytes.split(|byte| *byte == b'\n').take(LINES_MAX);
    lines.filter(|line| line.trim_ascii_start().starts_with(b"#")).find_map(|line| {
        let line = String::from_utf8_lossy(line);
        let (_, rest) = line.split_once("coding")?;
        let rest = rest.strip_prefix([':', '='])?.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c)).unwrap_or(rest.len());
        rest.get(..end).map(|name| name.to_ascii_lowercase().replace('-', "_"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declared_encoding_counts() {
        let latin = b"# -*- coding: latin-1 -*-\nx = '\xe9'\n".to_vec();
        assert_eq!(decoded(latin).unwrap(), "# -*- coding: latin-1 -*-\nx = 'é'\n");
        assert_eq!(decoded(b"x = '\xe9'\n".to_vec()), Err(Unread::Binary(5)));
        assert_eq!(decoded("# coding: latin-1\nx = 'é'\n".into()).unwrap(), "# coding: latin-1\nx = 'é'\n");
        assert_eq!(decoded(b"\n\n# coding=latin-1\nx = '\xe9'\n".to_vec()), Err(Unread::Binary(24)));
    }
}
