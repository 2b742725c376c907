//! Directories that are searched for a text: whether something that may not be read would be come upon.

use super::{GUARD, below, guards_role};
use crate::call::{Only, Touch};
use crate::code::{self, Code};
use crate::decision::Finding;
use crate::definition::model::Paths;
use crate::matcher::Subject;
use crate::overlap::{self, Expanded};
use crate::path::Role;
use crate::probe::{Fact, Probe, There, Told};
use crate::shell::Search;

pub(super) fn needs(settings: &Paths, subject: &Subject<'_>) -> Vec<Probe> {
    let open = searches(settings, subject).filter_map(|(touch, search)| match way(settings, subject, touch, search) {
        Way::Open(probe) | Way::Through(probe) => Some(probe),
        Way::Lost | Way::Harmless => None,
    });
    open.filter(|probe| subject.facts.get(probe).is_none()).collect()
}

pub(super) fn judge(settings: &Paths, subject: &Subject<'_>) -> Vec<Finding> {
    searches(settings, subject).filter_map(|(touch, search)| judge_search(settings, subject, touch, search)).collect()
}

/// The searches that a policy may have something against.
fn searches<'a>(settings: &Paths, subject: &Subject<'a>) -> impl Iterator<Item = (&'a Touch, &'a Search)> + use<'a> {
    let guarded = guards_role(settings, Role::Read);
    let touches = subject.view.touches.iter().filter(move |touch| guarded && !touch.dynamic);
    touches.filter_map(|touch| match &touch.only {
        Some(Only::Searched(search)) => Some((touch, search)),
        Some(Only::Unentered(_) | Only::Present(_) | Only::Copied(_)) | None => None,
    })
}

/// Where a search leads.
enum Way {
    /// That is to be asked first.
    Open(Probe),
    /// Nobody can tell.
    Lost,
    /// To nothing that is protected, whatever is there.
    Harmless,
    /// Through a directory in which something may be.
    Through(Probe),
}

fn way(settings: &Paths, subject: &Subject<'_>, touch: &Touch, search: &Search) -> Way {
    let Some(fact) = subject.facts.get(&touch.probe()) else { return Way::Open(touch.probe()) };
    let Some(dir) = fact.identity() else { return Way::Lost };
    let Some(inside) = dir.place().filter(|_| dir.there == There::Directory) else { return Way::Harmless };
    let (_, pattern) = touch.split();
    let met = below(inside, pattern);
    let reached = |protected: &&String| overlap::overlaps(protected, Expanded { pattern: &met, dots: true });
    let patterns: Vec<String> = settings.protect.iter().filter(reached).cloned().collect();
    if patterns.is_empty() {
        return Way::Harmless;
    }
    let (dir, inside, pattern) = (dir.path.clone(), inside.to_owned(), pattern.to_owned());
    Way::Through(Probe::Searches { dir, inside, pattern, search: Box::new(search.clone()), patterns })
}

fn judge_search(settings: &Paths, subject: &Subject<'_>, touch: &Touch, search: &Search) -> Option<Finding> {
    let fact = match way(settings, subject, touch, search) {
        Way::Harmless => return None,
        Way::Through(probe) => subject.facts.get(&probe),
        Way::Open(_) | Way::Lost => None,
    };
    let place = touch.path.strip_suffix("/**").unwrap_or(&touch.path);
    match fact {
        Some(Fact::Told(Told::Holds { holds: false, .. })) => None,
        Some(Fact::Told(Told::Holds { holds: true, seen })) => {
            let reason = format!("A search of '{place}' reads '{seen}', which is protected by the owner.");
            Some(finding(code::PATHS_PROTECTED, reason, touch).suggest("leave it out of the search, or ask the owner"))
        }
        _ => {
            let reason = format!("What a search of '{place}' reads cannot be told.");
            Some(finding(code::PATHS_UNRESOLVABLE, reason, touch).suggest("search fewer directories at once"))
        }
    }
}

fn finding(code: Code, reason: String, touch: &Touch) -> Finding {
    Finding::deny(GUARD, code, reason).about(&touch.path)
}
