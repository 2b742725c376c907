//! What a pattern of the shell's stands for: the files that are there, which a look can tell.

use crate::call::Touch;
use crate::probe::{Fact, Facts, Probe, Told};

/// What came of looking.
pub(crate) enum Stands<'f> {
    /// That is to be asked first.
    Open(Probe),
    /// These files, by their canonical absolute paths, and `more` than those.
    For { files: &'f [String], more: bool },
    /// Nobody can tell.
    Untold,
}

/// What the pattern that is written to stands for at this moment. What is not there yet has no content to lose.
pub(crate) fn stands_for<'f>(touch: &Touch, facts: &'f Facts) -> Stands<'f> {
    let dir = match facts.get(&touch.probe()) {
        None => return Stands::Open(touch.probe()),
        Some(Fact::Identity(dir)) => dir.path.clone(),
        Some(_) => return Stands::Untold,
    };
    let probe = Probe::Expands { dir, pattern: touch.split().1.to_owned(), dots: touch.dots };
    match facts.get(&probe) {
        None => Stands::Open(probe),
        Some(Fact::Told(Told::Files { files, more })) => Stands::For { files, more: *more },
        Some(_) => Stands::Untold,
    }
}
