//! Directories that are copied or moved as a whole: whether something in them would land where the owner protects.

use super::{GUARD, below, counts_below, guards_role, protected, unresolvable};
use crate::call::{Copied, Only, Touch};
use crate::code;
use crate::decision::Finding;
use crate::definition::model::Paths;
use crate::glob;
use crate::matcher::Subject;
use crate::overlap;
use crate::path::Role;
use crate::probe::{Fact, Identity, Probe, There, Told};

pub(super) fn needs(settings: &Paths, subject: &Subject<'_>) -> Vec<Probe> {
    copies(settings, subject)
        .flat_map(|(touch, copied)| match way(settings, subject, touch, copied) {
            Way::Open(probes) => probes,
            Way::Lands { into, patterns, source: Some(source) } => vec![lands(source, copied, into, patterns)],
            Way::Lands { source: None, .. } | Way::Lost | Way::Harmless => Vec::new(),
        })
        .filter(|probe| subject.facts.get(probe).is_none())
        .collect()
}

pub(super) fn judge(settings: &Paths, subject: &Subject<'_>) -> Vec<Finding> {
    copies(settings, subject).filter_map(|(touch, copied)| judge_copy(settings, subject, touch, copied)).collect()
}

/// Whether what a pattern of the shell's brings to a directory is judged here, by the names that are there.
pub(super) fn covers(subject: &Subject<'_>, touch: &Touch) -> bool {
    let Some((target, names)) = touch.path.rsplit_once('/').filter(|_| touch.brought) else { return false };
    let is_of = |other: &Touch| other.dir == touch.dir && other.path.trim_end_matches('/') == target;
    let brings =
        |other: &Touch| matches!(&other.only, Some(Only::Copied(copied)) if copied.named.as_deref() == Some(names));
    subject.view.touches.iter().any(|other| is_of(other) && brings(other))
}

/// The copies that a policy may have something against.
fn copies<'a>(settings: &Paths, subject: &Subject<'a>) -> impl Iterator<Item = (&'a Touch, &'a Copied)> + use<'a> {
    let guarded = guards_role(settings, Role::Write);
    let touches = subject.view.touches.iter().filter(move |touch| guarded && !touch.dynamic);
    touches.filter_map(|touch| match &touch.only {
        Some(Only::Copied(copied)) => Some((touch, copied)),
        Some(Only::Unentered(_) | Only::Present(_) | Only::Searched(_)) | None => None,
    })
}

/// Where a copy leads.
enum Way<'a> {
    /// That is to be asked first.
    Open(Vec<Probe>),
    /// Nobody can tell.
    Lost,
    /// To a place below which nothing is protected, or it is no directory that is copied.
    Harmless,
    /// To a directory below which these patterns protect something. A source that is not there may be made meanwhile.
    Lands { source: Option<&'a Identity>, into: String, patterns: Vec<String> },
}

fn way<'a>(settings: &Paths, subject: &Subject<'a>, touch: &Touch, copied: &Copied) -> Way<'a> {
    let probes = [touch.probe(), copied.source.clone()];
    let [Some(target), Some(source)] = probes.each_ref().map(|probe| subject.facts.get(probe)) else {
        return Way::Open(probes.into_iter().collect());
    };
    let (Some(target), Some(source)) = (target.identity(), source.identity()) else { return Way::Lost };
    let from = match source.there {
        There::Directory => Some(source),
        There::Nothing => None,
        There::File | There::Other => return Way::Harmless,
    };
    let outside = Some(target.path.as_str()).filter(|_| target.inside.is_none());
    let bases = [target.place(), outside];
    let lands = |base: &str| {
        let named = copied.name.as_deref().filter(|_| target.there == There::Directory);
        let into = named.map_or_else(|| base.to_owned(), |name| below(base, name));
        let patterns = reached(settings, &into);
        (!patterns.is_empty()).then_some(Way::Lands { source: from, into, patterns })
    };
    bases.into_iter().flatten().find_map(lands).unwrap_or(Way::Harmless)
}

/// The patterns that protect something below a directory.
fn reached(settings: &Paths, into: &str) -> Vec<String> {
    // A name that counts in every directory counts in those of the workspace.
    let counts = |pattern: &String| match into.starts_with('/') {
        false => counts_below(pattern, into),
        true => glob::is_placed(pattern),
    };
    let reached = |pattern: &&String| counts(pattern) && overlap::overlaps(pattern, &below(into, "**"));
    settings.protect.iter().filter(reached).cloned().collect()
}

fn lands(source: &Identity, copied: &Copied, into: String, patterns: Vec<String>) -> Probe {
    let (named, follows) = (copied.named.clone(), copied.follows);
    Probe::Lands { from: source.path.clone(), named, follows, into, patterns }
}

fn judge_copy(settings: &Paths, subject: &Subject<'_>, touch: &Touch, copied: &Copied) -> Option<Finding> {
    let (source, into, patterns) = match way(settings, subject, touch, copied) {
        Way::Harmless => return None,
        Way::Open(_) | Way::Lost => return Some(unresolvable(touch)),
        Way::Lands { source, into, patterns } => (source, into, patterns),
    };
    let made = made_below(subject, copied).map(|name| below(&into, name));
    let mut reached = made.filter(|path| patterns.iter().any(|pattern| glob::matches(pattern, path)));
    if let Some(path) = reached.next() {
        return Some(protected(&path, touch));
    }
    match subject.facts.get(&lands(source?, copied, into, patterns)) {
        Some(Fact::Told(Told::Holds { holds: false, .. })) => None,
        Some(Fact::Told(Told::Holds { holds: true, seen })) => Some(protected(seen, touch)),
        _ => Some(untold(touch)),
    }
}

/// What the same call writes below the source: it is not there yet to be seen.
fn made_below<'a>(subject: &Subject<'a>, copied: &Copied) -> impl Iterator<Item = &'a str> {
    let (path, dir) = match &copied.source {
        Probe::Identity { path, dir } => (path.trim_end_matches('/').to_owned(), dir.clone()),
        _ => (String::new(), String::new()),
    };
    let writes = subject.view.touches.iter().filter(|touch| touch.role == Role::Write && touch.is_plain());
    writes.filter(move |touch| touch.dir == dir).filter_map(move |touch| {
        let rest = touch.path.strip_prefix(path.as_str())?.strip_prefix('/')?;
        Some(rest).filter(|rest| !rest.is_empty())
    })
}

fn untold(touch: &Touch) -> Finding {
    let reason = format!("What of a directory would be written to '{}' cannot be told.", touch.path);
    Finding::deny(GUARD, code::PATHS_UNRESOLVABLE, reason).suggest("copy fewer files at once").about(&touch.path)
}
