//! Which file a path is: where it leads, whether that is inside the workspace, and whether it is ours.
//!
//! Names lie (links, hard links, bind mounts, case), so files are compared by place *and* by device and inode.

mod leads;

use std::fs;
use std::path::{Path, PathBuf};

use jackline_core::probe::{Fact, Identity, There};

use super::walk::{FileId, Lost, Place, Walker, file_id};
use super::{Ground, OwnPath, fold, own};
use leads::leads;

/// Entries of our own directories looked at to recognise a hard link to one of their files; only files with several
/// names pay for it. A store of a few thousand sessions stays below.
const OWN_ENTRIES_MAX: usize = 16_384;

/// Why a path has no identity that can be told.
#[derive(Debug, thiserror::Error)]
enum Unclear {
    #[error(transparent)]
    Lost(#[from] Lost),
    #[error("the path leads to a name that is not UTF-8")]
    Text,
    #[error("one of the files with several names may be ours: more than {OWN_ENTRIES_MAX} entries to compare")]
    Entries,
}

/// One of our own paths and where it leads now.
struct Own<'a> {
    label: &'a str,
    like: Option<&'static str>,
    /// As it was given, when it could not be walked: then nobody can walk it, but its name still counts.
    place: Result<Place, PathBuf>,
}

pub(super) fn answer(ground: &Ground, folds: bool, dir: &str, path: &str) -> Fact {
    match identify(ground, folds, dir, path) {
        Ok(identity) => Fact::Identity(identity),
        Err(unclear) => Fact::Unknown(unclear.to_string()),
    }
}

/// The same for a path of which nobody knows how it will be read: what its readings agree on.
pub(super) fn meant(ground: &Ground, folds: bool, dir: &str, (path, readings): (&str, &[String])) -> Fact {
    let first = answer(ground, folds, dir, path);
    let Some(place) = first.identity().map(|identity| identity.path.as_str()) else { return first };
    let same = |reading: &String| {
        answer(ground, folds, dir, reading).identity().is_some_and(|identity| identity.path == place)
    };
    if readings.iter().all(same) {
        first
    } else {
        Fact::Unknown("programs read this path in different ways".to_owned())
    }
}

fn identify(ground: &Ground, folds: bool, dir: &str, path: &str) -> Result<Identity, Unclear> {
    let mut walker = Walker::new(ground.home.as_deref(), folds);
    let root = walker.absolute(&ground.root)?;
    let dir = walker.dir(&root, dir)?;
    let place = walker.path(&dir, path)?;
    let owns = owns(&mut walker, ground, &root);
    let inside = place.path.strip_prefix(&root.path).ok().map(text).transpose()?;
    let began = match &ground.first_root {
        Some(first) if inside.is_none() => walker.below(first, &place)?.as_deref().map(text).transpose()?,
        _ => None,
    };
    let (held, by_its_name) = (holds(&place, &owns, folds), holding_by_name(&place, &root, folds));
    // Where names are all alike, or others than ours are meant, they tell nothing.
    let tells = held.is_some() && by_its_name.is_none() && inside.is_none() && !folds;
    Ok(Identity {
        path: text(&place.path)?,
        instructs: ground.instructing.iter().any(|dir| walker.absolute(dir).is_ok_and(|dir| dir.has(&place, folds))),
        leads: if tells { leads(&place, &owns).unwrap_or_default() } else { Vec::new() },
        inside,
        there: place.there,
        ours: ours(&place, &owns, folds)?.or_else(|| by_name(&place, &root, folds)),
        holds: held.or(by_its_name),
        began,
    })
}

/// What the place is by its names, or a link on the way to it.
fn by_name(place: &Place, root: &Place, folds: bool) -> Option<String> {
    let mut spots = std::iter::once(&place.path).chain(&place.links);
    spots.find_map(|spot| own::by_name(spot, &root.path, folds)).map(str::to_owned)
}

fn holding_by_name(place: &Place, root: &Place, folds: bool) -> Option<String> {
    match place.there {
        There::Directory | There::Nothing => own::holding_by_name(&place.path, &root.path, folds).map(str::to_owned),
        There::File | There::Other => None,
    }
}

fn text(path: &Path) -> Result<String, Unclear> {
    path.to_str().map(str::to_owned).ok_or(Unclear::Text)
}

/// Where our own paths lead now. Nearly all lie in the workspace or at home, so the way there is walked once.
fn owns<'a>(walker: &mut Walker<'_>, ground: &'a Ground, root: &Place) -> Vec<Own<'a>> {
    let home = ground.home.as_deref().and_then(|home| Some((home, walker.absolute(home).ok()?)));
    let mut starts = vec![(ground.root.as_path(), root)];
    starts.extend(home.as_ref().map(|(home, place)| (*home, place)));
    let mut walk = |own: &Path| {
        let start = starts.iter().find_map(|(top, place)| Some((*place, fold::rest(own, top)?)));
        match start {
            Some((place, rest)) => walker.onward(place, rest),
            None => walker.absolute(own),
        }
    };
    let own = |own: &'a OwnPath| {
        let place = walk(&own.path).map_err(|_| own.path.clone());
        Own { label: &own.label, like: own.like, place }
    };
    ground.own.iter().map(own).collect()
}

impl Own<'_> {
    fn path(&self) -> &Path {
        self.place.as_ref().map_or_else(PathBuf::as_path, |place| &place.path)
    }

    /// The own path and the links on its way: removing one of them takes it away.
    fn spots(&self) -> impl Iterator<Item = &Path> {
        let links = self.place.iter().flat_map(|place| &place.links);
        std::iter::once(self.path()).chain(links.map(PathBuf::as_path))
    }

    fn id(&self) -> Option<FileId> {
        self.place.as_ref().ok().and_then(Place::id)
    }

    /// Whether a place is this path or lies below it, or was reached through a link that does.
    fn has(&self, place: &Place, folds: bool) -> bool {
        let mut spots = std::iter::once(&place.path).chain(&place.links);
        if let Some(like) = self.like {
            return spots.any(|spot| own::is_like(spot, self.path(), like, folds));
        }
        let by_file = self.id().is_some_and(|id| place.passed.contains(&id));
        by_file || spots.any(|spot| fold::within(spot, self.path(), folds))
    }

    /// Whether what is meant in this directory itself has this file under another name.
    fn lists_like(&self, like: &str, id: FileId) -> bool {
        let entries = fs::read_dir(self.path()).into_iter().flatten().filter_map(Result::ok);
        let mut meant =
            entries.take(OWN_ENTRIES_MAX).filter(|entry| own::is_like(&entry.path(), self.path(), like, false));
        meant.any(|entry| entry.metadata().is_ok_and(|meta| file_id(&meta) == id))
    }

    /// Whether this path lies below a directory.
    fn lies_below(&self, place: &Place, folds: bool) -> bool {
        let above = self.place.as_ref().map_or(&[][..], Place::above);
        let by_file = place.id().is_some_and(|id| above.contains(&id));
        by_file || self.spots().any(|spot| spot != place.path && fold::within(spot, &place.path, folds))
    }
}

/// What the file is to us, if it is one of ours.
fn ours(place: &Place, owns: &[Own<'_>], folds: bool) -> Result<Option<String>, Unclear> {
    if let Some(own) = owns.iter().find(|own| own.has(place, folds)) {
        return Ok(Some(own.label.to_owned()));
    }
    match place.id() {
        Some(id) if matches!(place.there, There::File) && place.names > 1 => hard_linked(id, owns),
        Some(_) | None => Ok(None),
    }
}

/// Which own directory lists this file under another name.
fn hard_linked(id: FileId, owns: &[Own<'_>]) -> Result<Option<String>, Unclear> {
    let mut left = OWN_ENTRIES_MAX;
    for own in owns {
        let Ok(place) = &own.place else { continue };
        let device = place.id().map(|id| id.device);
        if !matches!(place.there, There::Directory) || device != Some(id.device) {
            continue;
        }
        let listed = match own.like {
            None => lists(&place.path, id, &mut left)?,
            Some(like) => own.lists_like(like, id),
        };
        if listed {
            return Ok(Some(own.label.to_owned()));
        }
    }
    Ok(None)
}

/// Looks for a file in a directory and those below it, without following links.
fn lists(top: &Path, id: FileId, left: &mut usize) -> Result<bool, Unclear> {
    let mut open = vec![top.to_owned()];
    while let Some(dir) = open.pop() {
        // A directory that cannot be read is one the agent cannot link from either.
        let Ok(entries) = fs::read_dir(dir) else { continue };
        for entry in entries.filter_map(Result::ok) {
            *left = left.checked_sub(1).ok_or(Unclear::Entries)?;
            match entry.metadata() {
                Ok(meta) if meta.is_dir() => open.push(entry.path()),
                Ok(meta) if file_id(&meta) == id => return Ok(true),
                Ok(_) | Err(_) => {}
            }
        }
    }
    Ok(false)
}

/// Which of our paths lies below the directory, or would if one were made there: a directory or a link put where
/// nothing is brings its own settings with it.
fn holds(place: &Place, owns: &[Own<'_>], folds: bool) -> Option<String> {
    match place.there {
        There::Directory | There::Nothing => {
            owns.iter().find(|own| own.lies_below(place, folds)).map(|own| own.label.to_owned())
        }
        There::File | There::Other => None,
    }
}

#[cfg(test)]
mod tests;
