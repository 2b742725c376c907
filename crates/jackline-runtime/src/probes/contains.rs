//! Whether a file holds a text, byte for byte; bounded, and opened as every file of the workspace is.

use std::io::{self, Read};
use std::path::Path;

use jackline_core::probe::{Fact, Told};

use super::fingerprint::{Opened, open};

/// Bytes of a file that are searched. What people write is smaller; a larger file counts as not known.
const SEARCH_BYTES_MAX: u64 = 32 * 1024 * 1024;

pub(super) fn answer(path: &Path, text: &str) -> Fact {
    match search(path, text.as_bytes()) {
        Ok(fact) => fact,
        Err(error) => Fact::Unknown(format!("the file cannot be read: {error}")),
    }
}

fn search(path: &Path, text: &[u8]) -> io::Result<Fact> {
    let file = match open(path)? {
        Opened::File(file, meta) if meta.len() <= SEARCH_BYTES_MAX => file,
        Opened::File(..) => return Ok(Fact::Unknown(format!("the file is larger than {SEARCH_BYTES_MAX} bytes"))),
        Opened::Directory | Opened::Nothing => return Ok(told(false, "there is no such file")),
    };
    let mut bytes = Vec::new();
    file.take(SEARCH_BYTES_MAX).read_to_end(&mut bytes)?;
    let found = !text.is_empty() && holds(&bytes, text);
    Ok(told(found, if found { "it holds the text" } else { "it does not hold the text" }))
}

/// Looks for the first byte quickly, then for the rest. The text is short, so this is fast enough for any file here.
fn holds(bytes: &[u8], text: &[u8]) -> bool {
    let Some(first) = text.first() else { return false };
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| byte == first) {
        let tail = rest.get(at..).unwrap_or_default();
        if tail.starts_with(text) {
            return true;
        }
        rest = tail.get(1..).unwrap_or_default();
    }
    false
}

fn told(holds: bool, seen: &str) -> Fact {
    Fact::Told(Told::Holds { holds, seen: seen.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[track_caller]
    fn check(content: &[u8], text: &str, want: bool) {
        let dir = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(dir.path()).unwrap().join("f");
        fs::write(&path, content).unwrap();
        let Fact::Told(Told::Holds { holds, .. }) = answer(&path, text) else { panic!("not told") };
        assert_eq!(holds, want, "{text}");
    }

    #[test]
    fn a_text_is_found_wherever_it_stands() {
        check(b"aab", "ab", true);
        check(b"abab", "abb", false);
        check("grün\n".as_bytes(), "grün", true);
        check(&[0xff, b'x', b'y'], "xy", true);
        check(b"", "x", false);
    }

    #[test]
    fn what_is_no_file_holds_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(dir.path()).unwrap();
        for path in [top.clone(), top.join("gone")] {
            assert!(matches!(answer(&path, "x"), Fact::Told(Told::Holds { holds: false, .. })));
        }
        std::os::unix::fs::symlink("/etc/hosts", top.join("link")).unwrap();
        assert!(matches!(answer(&top.join("link"), "localhost"), Fact::Unknown(_)), "never through a link");
    }
}
