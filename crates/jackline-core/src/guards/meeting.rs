//! What a pattern of the shell's meets: of what its text allows only what is there, which a look can tell.

use crate::call::{Touch, View};
use crate::overlap::{self, Expanded};
use crate::path::Role;
use crate::probe::{Fact, Facts, Identity, Probe, There, Told};

/// A pattern that will be expanded below a directory, and what it had better not meet there.
pub(super) struct Meeting<'a> {
    pub(super) touch: &'a Touch,
    /// The directory, and where it is in the workspace.
    pub(super) dir: &'a Identity,
    pub(super) inside: &'a str,
    /// What is expanded there.
    pub(super) pattern: &'a str,
    /// The patterns of what it had better not meet; without any, what guards the session.
    pub(super) patterns: Option<Vec<String>>,
}

/// What came of it.
pub(super) enum Met<'a> {
    /// That is to be asked first.
    Open(Probe),
    Nothing,
    /// This file, seen from the workspace.
    File(&'a str),
    /// Nobody can tell.
    Untold,
}

impl Meeting<'_> {
    pub(super) fn come_to<'f>(self, view: &View, facts: &'f Facts) -> Met<'f> {
        let makes = self.touch.role == Role::Write && !self.touch.listed;
        // Names that come from elsewhere need not be there, nor does what the same text makes before.
        if self.touch.brought || makes && self.is_made_ready(view, facts) {
            return Met::Untold;
        }
        let probe = self.probe(makes);
        match facts.get(&probe) {
            None => Met::Open(probe),
            Some(Fact::Told(Told::Holds { holds: false, .. })) => Met::Nothing,
            Some(Fact::Told(Told::Holds { holds: true, seen })) => Met::File(seen),
            Some(_) => Met::Untold,
        }
    }

    fn probe(self, makes: bool) -> Probe {
        Probe::Meets {
            dir: self.dir.path.clone(),
            inside: self.inside.to_owned(),
            pattern: self.pattern.to_owned(),
            dots: self.touch.dots,
            makes,
            patterns: self.patterns,
        }
    }

    /// Whether the same call makes something anew that the pattern, or a part of it, may then match.
    fn is_made_ready(&self, view: &View, facts: &Facts) -> bool {
        let mut pattern = self.inside.to_owned();
        let mut begun = Vec::new();
        for segment in self.pattern.split('/') {
            pattern = if pattern.is_empty() { segment.to_owned() } else { format!("{pattern}/{segment}") };
            begun.push(pattern.clone());
        }
        let is_new = |touch: &&Touch| touch.role == Role::Write && !touch.glob;
        let new = view.touches.iter().filter(is_new).map(|touch| facts.get(&touch.probe()).and_then(Fact::identity));
        let matches = |made: &str| {
            let dots = self.touch.dots;
            begun.iter().any(|pattern| overlap::overlaps_from_root(made, Expanded { pattern, dots }))
        };
        new.into_iter().any(|identity| match identity {
            Some(identity) if identity.there == There::Nothing => identity.place().is_some_and(matches),
            Some(_) => false,
            None => true,
        })
    }
}
