//! What is copied or moved: where it lands, and what of whole directories lands with it.

use super::super::{Only, Word};
use super::arguments::{below, has_option, inside};
use super::{Found, same};
use crate::own_files;
use crate::path::Role;

/// Nothing at all, where a command names nothing.
static NO_WORD: Word = Word {
    text: String::new(),
    dynamic: false,
    glob: false,
    dots: false,
    listed: false,
    files: false,
    chosen: false,
    brought: false,
    numbered: false,
    several: false,
};

impl Found<'_> {
    pub(super) fn copy(&mut self, program: &str, arguments: &[Word], paths: &[Word], into: Option<&Word>) {
        self.transfer(paths, into, Role::Read);
        // Links to the sources are new names for them.
        if program == "cp" && has_option(arguments, &["-l", "-s", "--link", "--symbolic-link"]) {
            self.foreign = true;
            self.link_to(paths);
        }
        let merges = |source: &Word| match program {
            "rsync" => source.text.ends_with('/'),
            _ => {
                source.text.ends_with("/.")
                    || source.text == "."
                    || has_option(arguments, &["-T", "--no-target-directory"])
            }
        };
        let deep = has_option(arguments, &["-r", "-R", "-a", "--recursive", "--archive"]);
        let follows = has_option(arguments, &["-L", "--dereference", "--copy-links"]);
        let (sources, target) = ends(paths, into);
        let elsewhere = program == "scp" || program == "rsync" && is_remote(&target.text);
        for source in sources.iter().filter(|_| !elsewhere) {
            if merges(source) {
                self.merge(source, target);
            } else if deep {
                self.merge_own(source, &inside(target, source));
            }
            match program {
                // Which names a pattern brings along is seen where they are.
                _ if !deep && source.glob => self.carry((source, target), false, false),
                _ if !deep => {}
                // It makes the directory that is not there, and puts the source into it.
                "rsync" if !merges(source) => self.carry((source, &inside(target, source)), true, follows),
                _ => self.carry((source, target), merges(source), follows),
            }
        }
    }

    /// What lies in a directory lands elsewhere, by its names below the target or, in a directory, below the source's own
    /// name. Which files that are only a look can tell; of a file there is nothing to tell.
    pub(super) fn carry(&mut self, (source, target): (&Word, &Word), onto: bool, follows: bool) {
        let text = source.text.trim_end_matches('/');
        let (dir, last) = text.rsplit_once('/').unwrap_or((".", text));
        let apart = matches!(last, "" | "." | "..") || onto;
        let only = match source.glob {
            true => Only::Copied { source: dir.to_owned(), name: None, named: Some(last.to_owned()), follows },
            false => {
                let (source, name) = (if last == "." { dir } else { &source.text }, Some(last).filter(|_| !apart));
                Only::Copied { source: source.to_owned(), name: name.map(str::to_owned), named: None, follows }
            }
        };
        if source.dynamic || source.listed || !target.known() || source.glob && dir.contains(['*', '?', '[', '{']) {
            return;
        }
        let before = self.touches.len();
        self.push(target, Role::Write);
        self.touches.iter_mut().skip(before).for_each(|touch| touch.only = Some(only.clone()));
    }

    /// A directory that is copied to where one of a host's or git's is.
    fn merge_own(&mut self, source: &Word, target: &Word) {
        let named = target.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        if own_files::PARTS.iter().any(|own| own.starts_with('.') && same(own, named)) {
            self.merge(source, target);
        }
    }

    /// The content of one directory is copied over another: what it holds of what guards the session goes with it.
    fn merge(&mut self, source: &Word, target: &Word) {
        self.foreign = true;
        let named = target.text.trim_end_matches(['/', '.']).rsplit('/').next().unwrap_or_default();
        let inside = |own: &'static str| own.split_once('/').filter(|(dir, _)| same(dir, named)).map(|(_, rest)| rest);
        let all = own_files::in_workspace().chain(own_files::in_workspace().filter_map(inside));
        for own in all.chain([own_files::VARIABLES]) {
            let before = self.touches.len();
            self.push(&below(target, own, source), Role::Write);
            let present = Only::Present(below(source, own, source).text);
            self.touches.iter_mut().skip(before).for_each(|touch| touch.only = Some(present.clone()));
        }
    }

    /// Sources and a target; where the target may be a directory, the file inside it counts too.
    pub(super) fn transfer(&mut self, paths: &[Word], into: Option<&Word>, source_role: Role) {
        let (sources, target) = match ends(paths, into) {
            ([], _) => return self.push_each(paths, source_role),
            ends => ends,
        };
        self.push_each(sources, source_role);
        if source_role == Role::Delete {
            self.push_below(sources);
        }
        let directory = into.is_some()
            || sources.len() > 1
            || target.text.ends_with('/')
            || matches!(target.text.as_str(), "." | "..");
        if !directory {
            self.push(target, Role::Write);
        }
        for source in sources {
            self.push(&inside(target, source), Role::Write);
            // On another machine it stands behind the machine's name.
            let name = source.text.rsplit('/').next().unwrap_or_default();
            if let Some((_, name)) = name.rsplit_once(':') {
                self.push(&below(target, name, source), Role::Write);
            }
        }
    }
}

/// The sources and the target of a copy; no sources where one of both is missing.
pub(super) fn ends<'w>(paths: &'w [Word], into: Option<&'w Word>) -> (&'w [Word], &'w Word) {
    match (into, paths) {
        (Some(into), _) => (paths, into),
        (None, [sources @ .., target]) => (sources, target),
        (None, []) => (&[], &NO_WORD),
    }
}

/// Whether a place is on another machine: `host:path`.
pub(super) fn is_remote(place: &str) -> bool {
    place.split('/').next().is_some_and(|first| first.contains(':'))
}
