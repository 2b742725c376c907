//! Where a path leads: links resolved before `..`, as the kernel walks; never outside the workspace.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use jackline_core::code;

use super::{failed, missing, unfit};
use crate::serve::said::Refused;

/// Links on the way to a path; kernels follow no more.
const LINKS_MAX: usize = 40;

/// A place in the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// Absolute, without links; nothing need be there.
    pub(super) path: PathBuf,
    /// As it is shown: from the root.
    pub(super) shown: String,
}

impl Place {
    /// The place that a path names, seen from the root.
    pub(super) fn of(root: &Path, written: &str) -> Result<Self, Refused> {
        let path = walk(&root.join(written)).map_err(|fault| failed(written, &fault))?;
        let Ok(inside) = path.strip_prefix(root) else {
            let reason = format!("Path '{written}' leads outside the workspace.");
            return Err(Refused::new(&code::PATHS_OUTSIDE, reason, "work inside the workspace"));
        };
        let shown = match inside.to_str() {
            Some("") => ".".to_owned(),
            Some(inside) => inside.to_owned(),
            None => return Err(unfit(written, "is not UTF-8", "rename it")),
        };
        Ok(Self { path, shown })
    }

    /// What is there.
    pub(super) fn there(&self) -> Result<Metadata, Refused> {
        fs::metadata(&self.path).map_err(|fault| failed(&self.shown, &fault))
    }

    /// The content of the text file there, of at most so many bytes.
    pub(super) fn content(&self, bytes_max: u64) -> Result<Vec<u8>, Refused> {
        // Looked at before it is opened: a pipe that was planted there would be waited for.
        let there = self.there()?;
        if there.is_dir() {
            return Err(unfit(&self.shown, "is a directory", "list it with `list_dir`"));
        }
        if !there.is_file() {
            return Err(unfit(&self.shown, "is no regular file", "use another path"));
        }
        let mut content = Vec::new();
        let read = File::open(&self.path).and_then(|file| file.take(bytes_max + 1).read_to_end(&mut content));
        read.map_err(|fault| failed(&self.shown, &fault))?;
        if content.len() as u64 > bytes_max {
            let why = format!("has more than {bytes_max} bytes");
            return Err(unfit(&self.shown, &why, "search it with `search`"));
        }
        Ok(content)
    }

    /// The same as UTF-8.
    pub(super) fn text(&self, bytes_max: u64) -> Result<String, Refused> {
        String::from_utf8(self.content(bytes_max)?)
            .map_err(|_| unfit(&self.shown, "is no UTF-8 text", "use another tool"))
    }

    /// Whether nothing is there; what cannot be told is a refusal.
    pub(super) fn is_free(&self) -> Result<bool, Refused> {
        match fs::symlink_metadata(&self.path) {
            Ok(_) => Ok(false),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(true),
            Err(fault) => Err(failed(&self.shown, &fault)),
        }
    }

    /// Something must be there.
    pub(super) fn must_exist(&self) -> Result<(), Refused> {
        if self.is_free()? { Err(missing(&self.shown)) } else { Ok(()) }
    }
}

/// Follows a path component by component. What is not there yet is where it would be made.
fn walk(path: &Path) -> io::Result<PathBuf> {
    let mut left: Vec<PathBuf> = vec![path.to_owned()];
    let (mut at, mut links) = (PathBuf::from("/"), 0);
    while let Some(next) = left.pop() {
        let mut parts = next.components();
        let Some(part) = parts.next() else { continue };
        left.push(parts.as_path().to_owned());
        match part {
            Component::Prefix(_) | Component::RootDir => at = PathBuf::from("/"),
            Component::CurDir => {}
            Component::ParentDir => {
                at.pop();
            }
            Component::Normal(name) => {
                let step = at.join(name);
                match fs::read_link(&step) {
                    Ok(target) => {
                        links += 1;
                        if links > LINKS_MAX {
                            return Err(io::Error::other("too many links lead there"));
                        }
                        left.push(target);
                    }
                    Err(_) => at = step,
                }
            }
        }
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_and_none_leads_outside() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let root = top.join("ws");
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(top.join("secret"), "x").unwrap();
        symlink("a/b", root.join("in")).unwrap();
        symlink(&top, root.join("out")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        let shown = |written: &str| Place::of(&root, written).map(|place| place.shown).map_err(|refused| refused.code);
        assert_eq!(shown("in/new"), Ok("a/b/new".to_owned()));
        assert_eq!(shown("in/../x"), Ok("a/x".to_owned()));
        assert_eq!(shown("."), Ok(".".to_owned()));
        assert_eq!(shown(root.join("a").to_str().unwrap()), Ok("a".to_owned()));
        assert_eq!(shown("out/ws/a"), Ok("a".to_owned()));
        for outside in ["..", "../secret", "out/secret", "/etc/passwd", "a/../../secret"] {
            assert_eq!(shown(outside), Err("paths/outside".to_owned()), "{outside}");
        }
        assert_eq!(shown("loop"), Err("workspace/failed".to_owned()));
        assert_eq!(Place::of(&root, "none").unwrap().content(9).unwrap_err().code, "workspace/missing");
    }
}
