//! A path that a call touches: what becomes of it, and what must hold for that.

use crate::path::Role;
use crate::probe::{Facts, Probe, There};
use crate::shell::{How, Search};
use crate::spelling::Spelling;

/// A path that a call touches, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touch {
    /// As the caller wrote it.
    pub path: String,
    /// What else the program that opens it may understand by it; none for a shell's.
    pub readings: Vec<String>,
    /// Where a relative path starts: absolute, or relative to the workspace root.
    pub dir: String,
    pub role: Role,
    /// A read that shows the caller the whole content.
    pub whole: bool,
    /// A write of what the same text shows whole before, or it does not come so far.
    pub seen: bool,
    /// The path is a pattern of the shell's.
    pub glob: bool,
    /// Its wildcards stand for hidden names, too.
    pub dots: bool,
    /// They stand for names of files that lie elsewhere.
    pub brought: bool,
    /// Another program lists the files that it stands for.
    pub listed: bool,
    /// It chooses them by something else than their names.
    pub chosen: bool,
    /// Where it leads depends on a value that is not known.
    pub dynamic: bool,
    /// What becomes of the file.
    pub how: How,
    /// It is touched only if this holds.
    pub only: Option<Only>,
}

/// What must hold for a touch to happen, as a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Only {
    /// This is no directory, so that it could not be entered.
    Unentered(Probe),
    /// This is there.
    Present(Probe),
    /// Something lies in this directory; it lands below the path.
    Copied(Copied),
    /// Something that the path stands for is come upon by this search.
    Searched(Search),
}

/// A directory that is copied or moved as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    /// The question which directory it is.
    pub source: Probe,
    /// Its name, where it lands under that in a directory that is there.
    pub name: Option<String>,
    /// Which names in it go along; all where there is no pattern.
    pub named: Option<String>,
    /// Whether links in it are followed.
    pub follows: bool,
}

impl Only {
    /// What tells whether it holds, where one answer does.
    #[must_use]
    pub const fn probe(&self) -> Option<&Probe> {
        match self {
            Self::Unentered(probe) | Self::Present(probe) => Some(probe),
            Self::Copied(_) | Self::Searched(_) => None,
        }
    }
}

impl Touch {
    /// A path that an argument holds, as it may be read.
    pub(super) fn plain(Spelling { path, readings }: Spelling, dir: &str, role: Role) -> Self {
        Self {
            path,
            readings,
            dir: dir.to_owned(),
            role,
            whole: false,
            seen: false,
            glob: false,
            dots: false,
            brought: false,
            listed: false,
            chosen: false,
            dynamic: false,
            how: How::Whole,
            only: None,
        }
    }

    /// A touch for each way in which the path may be read.
    pub(crate) fn each(&self) -> impl Iterator<Item = Self> {
        let paths = std::iter::once(&self.path).chain(&self.readings);
        paths.map(|path| Self { path: path.clone(), readings: Vec::new(), ..self.clone() })
    }

    /// What to do about a path that leads nobody knows where.
    pub(crate) fn remedy(&self) -> &'static str {
        let climbs = self.path.split('/').any(|part| part == "..");
        match climbs || !self.readings.is_empty() {
            true => "write the whole path from `/`, without `..`, `~` and escapes",
            false => "write the path out literally",
        }
    }

    /// Whether the text shows that the file is touched, rather than that it may be.
    #[must_use]
    pub const fn is_plain(&self) -> bool {
        self.only.is_none() && !matches!(self.how, How::Named | How::Linked)
    }

    /// Whether it is touched after all where a directory could not be entered; `None` while that is not known.
    #[must_use]
    pub fn happens(&self, facts: &Facts) -> Option<bool> {
        match (&self.only, matches!(self.how, How::Named | How::Linked)) {
            (None, by_name) => Some(!by_name),
            // Nothing is read where nothing is; what is copied there is judged as what it is a copy of.
            (Some(Only::Present(probe)), false) if self.role == Role::Read => {
                Some(facts.get(probe)?.identity().is_none_or(|identity| identity.there != There::Nothing))
            }
            (Some(Only::Present(_) | Only::Copied(_) | Only::Searched(_)), _) | (_, true) => Some(false),
            (Some(Only::Unentered(probe)), false) => {
                Some(facts.get(probe)?.identity().is_none_or(|identity| identity.there != There::Directory))
            }
        }
    }

    /// The question which file this is; for a pattern, which directory it is expanded in.
    #[must_use]
    pub fn probe(&self) -> Probe {
        let (path, dir) = (self.split().0.to_owned(), self.dir.clone());
        match self.readings.as_slice() {
            [] => Probe::Identity { path, dir },
            readings => Probe::Meant { path, dir, readings: readings.to_vec() },
        }
    }

    /// The path and nothing; or for a pattern the directory before its first wildcard, and the rest.
    #[must_use]
    pub fn split(&self) -> (&str, &str) {
        let wild = self.path.find(['*', '?', '[', '{']).filter(|_| self.glob);
        let Some(wild) = wild else { return (&self.path, "") };
        match self.path.get(..wild).and_then(|fixed| fixed.rfind('/')) {
            Some(0) => ("/", self.path.get(1..).unwrap_or_default()),
            Some(end) => (self.path.get(..end).unwrap_or("."), self.path.get(end + 1..).unwrap_or_default()),
            None => (".", &self.path),
        }
    }
}
