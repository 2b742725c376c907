//! Git's settings as their files have them, read without git: the list that it would print.
//!
//! Read exactly as git would, or not at all: where a file includes another, is a link or is written in an unusual way, or a
//! repository is someone else's, there is no list, and git is asked.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::probes::fingerprint::{Opened, all, open};
use crate::probes::git::{Git, Repository};

/// Bytes of a file of settings; git is asked about a longer one.
const SETTINGS_BYTES_MAX: u64 = 256 * 1024;
/// Sections whose settings decide which files count at all, or how a repository is read.
const UNUSUAL: [&[u8]; 3] = [b"include.", b"includeif.", b"extensions."];
/// How a repository is kept, and how every usual one is.
const FORMAT: &[u8] = b"core.repositoryformatversion";
const USUAL_FORMAT: &[u8] = b"\n0";

/// `key LF value NUL` for each setting of the system, the user and the repository, in git's order.
pub(super) fn list(git: &Git, repository: &Repository) -> Option<Vec<u8>> {
    let system = git.system_settings()?;
    let home = git.home();
    let of_user = [".config/git/config", ".gitconfig"].iter().filter_map(|name| Some(home?.join(name)));
    let files = [system].into_iter().chain(of_user).chain([repository.common.join("config")]);
    let mut settings = Vec::new();
    for file in files.collect::<Vec<PathBuf>>() {
        let text = match open(&file).ok()? {
            Opened::Nothing => continue,
            Opened::Directory => return None,
            Opened::File(file, _) => all(&file, SETTINGS_BYTES_MAX)?,
        };
        read(&text, &mut settings)?;
    }
    let usual = |setting: &[u8]| {
        let format = setting.strip_prefix(FORMAT).is_none_or(|value| value == USUAL_FORMAT);
        format && !UNUSUAL.iter().any(|section| setting.starts_with(section))
    };
    (settings.split(|byte| *byte == 0).all(usual) && is_own(repository)).then_some(settings)
}

/// Whether a repository is ours by everything that git looks at: it reads none of another user's.
fn is_own(repository: &Repository) -> bool {
    let user = rustix::process::geteuid().as_raw();
    let own = |place: &Path| fs::symlink_metadata(place).is_ok_and(|meta| meta.uid() == user);
    own(&repository.top) && own(&repository.top.join(".git")) && own(&repository.dir)
}

/// Adds the settings of a file; nothing where git may read it in another way, or not at all.
fn read(text: &[u8], settings: &mut Vec<u8>) -> Option<()> {
    let mut section: Option<Vec<u8>> = None;
    for line in text.split(|byte| *byte == b'\n') {
        if line.iter().any(|byte| matches!(byte, 0 | b'\r' | 0x0b | 0x0c)) {
            return None;
        }
        let line = line.trim_ascii_start();
        match line.first() {
            None | Some(b'#' | b';') => {}
            Some(b'[') => section = Some(header(line.get(1..)?)?),
            Some(_) => {
                settings.extend_from_slice(section.as_ref()?);
                setting(line, settings)?;
            }
        }
    }
    Some(())
}

/// The beginning of every key of a section, from what follows its bracket.
fn header(line: &[u8]) -> Option<Vec<u8>> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    let name = line.get(..line.iter().position(|byte| !is_plain(byte))?).filter(|name| !name.is_empty())?;
    let rest = line.get(name.len()..)?;
    let mut key = name.to_ascii_lowercase();
    key.push(b'.');
    let rest = match rest.trim_ascii_start().strip_prefix(b"\"") {
        Some(quoted) if rest.len() > quoted.len() + 1 => {
            let below = quoted.get(..quoted.iter().position(|byte| *byte == b'"')?)?;
            if below.contains(&b'\\') {
                return None;
            }
            key.extend_from_slice(below);
            key.push(b'.');
            quoted.get(below.len() + 1..)?
        }
        Some(_) | None => rest,
    };
    let rest = rest.strip_prefix(b"]")?.trim_ascii_start();
    matches!(rest.first(), None | Some(b'#' | b';')).then_some(key)
}

/// Adds the rest of a key and its value, from a line `key` or `key = value`.
fn setting(line: &[u8], settings: &mut Vec<u8>) -> Option<()> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    let name = line.get(..line.iter().position(|byte| !is_plain(byte)).unwrap_or(line.len()))?;
    name.first().filter(|first| first.is_ascii_alphabetic())?;
    settings.extend(name.iter().map(u8::to_ascii_lowercase));
    let rest = line.get(name.len()..)?.trim_ascii_start();
    if let Some(value) = rest.strip_prefix(b"=") {
        settings.push(b'\n');
        self::value(value.trim_ascii(), settings)?;
    } else if !rest.is_empty() {
        return None;
    }
    settings.push(0);
    Some(())
}

/// Adds a value as it is meant: without quotes, and without what follows it as a comment.
fn value(text: &[u8], settings: &mut Vec<u8>) -> Option<()> {
    let (begin, mut quoted, mut spaces) = (settings.len(), false, 0);
    for byte in text {
        match byte {
            // One that ends the line has it go on in the next; and blanks other than spaces are not the same to every git.
            b'\\' | b'\t' => return None,
            b'#' | b';' if !quoted => break,
            b' ' if !quoted => spaces += usize::from(settings.len() > begin),
            _ => {
                settings.extend(std::iter::repeat_n(b' ', std::mem::take(&mut spaces)));
                match byte {
                    b'"' => quoted = !quoted,
                    plain => settings.push(*plain),
                }
            }
        }
    }
    (!quoted).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// What git makes of a file of settings; nothing where it cannot read it.
    fn told(file: &Path) -> Option<Vec<u8>> {
        let words = ["config", "-z", "--list", "--no-includes", "-f"];
        let told = Command::new("git").args(words).arg(file).env_clear().output().unwrap();
        told.status.success().then_some(told.stdout)
    }

    #[track_caller]
    fn check(text: &str, want: bool) {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config");
        fs::write(&file, text).unwrap();
        let mut settings = Vec::new();
        let seen = read(text.as_bytes(), &mut settings).map(|()| settings);
        assert_eq!(seen.is_some(), want, "{text:?}");
        if let Some(seen) = seen {
            let told = told(&file).map(|told| String::from_utf8_lossy(&told).into_owned());
            assert_eq!(Some(String::from_utf8_lossy(&seen).into_owned()), told, "{text:?}");
        }
    }

    #[test]
    fn plain_files_are_read_as_git_reads_them() {
        for text in [
            "",
            "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n",
            "# one\n; two\n\n[Core]\nA = b\n\tc\n[remote \"Or.igin\"]\n url = git@x:y/z.git # why\n",
            "[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n\trequired = true",
            "[a]\nb =\nc = \"\"\nd = \" x \" y  z ; w\ne = \"\" v\nf = a\"b c\"d\n",
            "[a \"\"]\nb = =c\n[x-1] # here\n  y-2   =  z  \n",
        ] {
            check(text, true);
        }
        for text in [
            "a = b\n",
            "[a\nb = c\n",
            "[a.b]\nc = d\n",
            "[a ]\n",
            "[a\"b\"]\n",
            "[a \"b\\\"c\"]\nd = e\n",
            "[a] b = c\n",
            "[a]\nb c\n",
            "[a]\nb # c\n",
            "[a]\n1b = c\n",
            "[a]\nb = c\\\nd\n",
            "[a]\nb = \"c\n",
            "[a]\nb = c\td\n",
            "[a]\r\nb = c\r\n",
            "\u{feff}[a]\nb = c\n",
        ] {
            check(text, false);
        }
    }

    #[test]
    fn random_files_are_read_as_git_reads_them_or_not_at_all() {
        let parts = [
            "[a]",
            "[B-c]",
            "[a \"x Y\"]",
            "[",
            "]",
            "\n",
            "\n",
            "\n",
            "key",
            " = ",
            "=",
            "v",
            "\"",
            " ",
            "\t",
            "#",
            ";",
            "\\",
            "a.b",
            "-",
            "7",
            "\"q r\"",
            "é",
        ];
        let dir = tempfile::tempdir().unwrap();
        let (file, mut read_some) = (dir.path().join("config"), 0);
        let mut dice = 7_u64;
        for _ in 0..400 {
            let mut text = "[s]\n".to_owned();
            for _ in 0..12 {
                dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push_str(parts[(dice >> 33) as usize % parts.len()]);
            }
            fs::write(&file, &text).unwrap();
            let mut settings = Vec::new();
            if read(text.as_bytes(), &mut settings).is_some() {
                read_some += 1;
                assert_eq!(Some(settings), told(&file), "{text:?}");
            }
        }
        assert!(read_some > 20, "{read_some}");
    }
}
