//! Existing files are read before they are overwritten.

use super::expanded::{Stands, stands_for};
use crate::call::Touch;
use crate::code;
use crate::decision::Finding;
use crate::definition::model::{ReadBeforeWrite, Stale};
use crate::matcher::Subject;
use crate::path::{self, Role};
use crate::probe::{Fact, Identity, Probe, There};
use crate::session::{Key, Read};
use crate::sha::Digest;
use crate::shell::How;
use crate::stack::Layer;

const GUARD: &str = "read_before_write";

/// Files that a reason names; the others are counted.
const NAMED_MAX: usize = 5;

/// The key a file is remembered by.
#[must_use]
pub(crate) fn file_key(canonical: &str) -> Key {
    Digest::of(canonical.as_bytes()).short()
}

/// The key under which one layer alone remembers it.
pub(crate) fn layer_file_key(canonical: &str, layer: &Layer) -> Key {
    Digest::of_parts([canonical.as_bytes(), layer.digest.0.as_slice()]).short()
}

/// The key under which it is remembered that a file was written, where not every policy takes that for a read.
pub(crate) fn written_key(file: Key) -> Key {
    Digest::of_parts([b"written".as_slice(), file.0.as_slice()]).short()
}

pub(crate) fn needs(settings: &ReadBeforeWrite, subject: &Subject<'_>) -> Vec<Probe> {
    let mut wanted: Vec<Probe> = open_questions(subject).collect();
    let mut known: Vec<&str> = Vec::new();
    for touch in overwritten(subject) {
        match subject.facts.get(&touch.probe()) {
            None => wanted.push(touch.probe()),
            Some(Fact::Identity(identity)) => known.push(&identity.path),
            Some(_) => {}
        }
    }
    for touch in overwritten_by_pattern(subject) {
        match stands_for(touch, subject.facts) {
            Stands::Open(probe) => wanted.push(probe),
            Stands::For { files, .. } => known.extend(files.iter().map(String::as_str)),
            Stands::Untold => {}
        }
    }
    let compared = known.into_iter().filter(|path| settings.stale == Stale::Deny && is_read(settings, subject, path));
    let contents = compared.map(|path| Probe::Fingerprint { path: path.to_owned() });
    wanted.extend(contents.filter(|probe| subject.facts.get(probe).is_none()));
    wanted
}

pub(crate) fn judge(settings: &ReadBeforeWrite, subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    if subject.view.pathless {
        findings.push(no_path("The call writes, but which file cannot be told from its arguments."));
    }
    for touch in subject.view.touches.iter().filter(|touch| overwrites(touch, subject) && untold(touch)) {
        findings.push(no_path(&untellable(touch)));
    }
    findings.extend(overwritten(subject).filter_map(|touch| judge_touch(settings, subject, touch)));
    findings.extend(overwritten_by_pattern(subject).flat_map(|touch| judge_pattern(settings, subject, touch)));
    findings
}

/// What a pattern stands for: every file of it must have been read.
fn judge_pattern(settings: &ReadBeforeWrite, subject: &Subject<'_>, touch: &Touch) -> Vec<Finding> {
    let (files, more) = match stands_for(touch, subject.facts) {
        Stands::For { files, more } => (files, more),
        Stands::Open(_) | Stands::Untold => return vec![no_path(&untellable(touch))],
    };
    let (read, unread): (Vec<&str>, Vec<&str>) =
        files.iter().map(String::as_str).partition(|path| is_read(settings, subject, path));
    let appends = touch.how == How::Appended;
    let shown = |paths: &[&str]| named(subject, touch, paths);
    let unread = (!unread.is_empty() && !appends).then(|| {
        let reason = format!("{} must be read before overwriting.", shown(&unread));
        Finding::deny(GUARD, code::READ_UNREAD, reason).suggest("read it, then write it")
    });
    let judged = read.iter().filter(|_| settings.stale == Stale::Deny);
    let compared = judged.map(|path| (*path, is_current(settings, subject, path)));
    let mut stale = Vec::new();
    let mut faults = Vec::new();
    for (path, current) in compared {
        match current {
            Ok(true) => {}
            Ok(false) => stale.push(path),
            Err(why) => faults.push(fault(touch, why)),
        }
    }
    let stale = (!stale.is_empty()).then(|| {
        let reason = format!("{} changed on disk since it was read; read it again before overwriting.", shown(&stale));
        Finding::deny(GUARD, code::READ_STALE, reason).suggest("read it again, then write it")
    });
    let crowd = (more && unread.is_none() && !appends).then(|| {
        let reason = format!("Pattern '{}' stands for more files than are looked at.", touch.path);
        Finding::deny(GUARD, code::READ_NO_PATH, reason).suggest("change fewer files at once")
    });
    unread.into_iter().chain(stale).chain(faults).chain(crowd).collect()
}

/// Files in a sentence: the first by their names, as seen from where the pattern is, and how many others.
fn named(subject: &Subject<'_>, touch: &Touch, paths: &[&str]) -> String {
    let dir = subject.facts.get(&touch.probe()).and_then(Fact::identity).map_or("", |dir| &dir.path);
    let shown = |path: &str| match (path::below(dir, path), touch.split().0) {
        (Some(rest), ".") => rest.to_owned(),
        (Some(rest), dir) => format!("{}/{rest}", dir.trim_end_matches('/')),
        (None, _) => path.to_owned(),
    };
    let short = |path: &&str| format!("'{}'", shown(path));
    let first: Vec<String> = paths.iter().take(NAMED_MAX).map(short).collect();
    match (paths.len(), paths.len().saturating_sub(NAMED_MAX)) {
        (1, _) => format!("File {}", first.join(", ")),
        (_, 0) => format!("Each of {}", first.join(", ")),
        (_, others) => format!("Each of {} and {others} more", first.join(", ")),
    }
}

fn judge_touch(settings: &ReadBeforeWrite, subject: &Subject<'_>, touch: &Touch) -> Option<Finding> {
    let identity = match subject.facts.get(&touch.probe()) {
        Some(Fact::Identity(identity)) => identity,
        Some(Fact::Unknown(_)) if !touch.readings.is_empty() => {
            return Some(no_path(&untellable(touch)).suggest(touch.remedy()));
        }
        Some(Fact::Unknown(why)) => return Some(fault(touch, why)),
        Some(_) | None => {
            return Some(fault(touch, "it was not looked at"));
        }
    };
    match identity.there {
        There::Nothing | There::Directory => return None,
        There::File | There::Other => {}
    }
    if !is_read(settings, subject, &identity.path) {
        if touch.how == How::Appended {
            // What was there stays there.
            return None;
        }
        let reason = format!("File '{}' must be read before overwriting.", touch.path);
        return Some(Finding::deny(GUARD, code::READ_UNREAD, reason).suggest("read it, then write it"));
    }
    (settings.stale == Stale::Deny).then(|| judge_stale(settings, subject, touch, identity)).flatten()
}

fn judge_stale(
    settings: &ReadBeforeWrite,
    subject: &Subject<'_>,
    touch: &Touch,
    identity: &Identity,
) -> Option<Finding> {
    match is_current(settings, subject, &identity.path) {
        Ok(true) => return None,
        Ok(false) => {}
        Err(why) => return Some(fault(touch, why)),
    }
    let reason = format!("File '{}' changed on disk since it was read; read it again before overwriting.", touch.path);
    Some(Finding::deny(GUARD, code::READ_STALE, reason).suggest("read it again, then write it"))
}

/// Whether a file that was read still has a content that was read; or why nobody knows.
fn is_current<'s>(settings: &ReadBeforeWrite, subject: &Subject<'s>, path: &str) -> Result<bool, &'s str> {
    let now = match subject.facts.get(&Probe::Fingerprint { path: path.to_owned() }) {
        Some(Fact::Content(now)) => now.map(|digest| digest.short()),
        Some(Fact::Unknown(why)) => return Err(why),
        Some(_) | None => return Err("its content was not looked at"),
    };
    Ok(reads(settings, subject, path).any(|read| read.content == now))
}

/// What the agent read of a file: what counts for all layers, and what counts for this one; and what it wrote, where
/// that counts.
fn reads<'s>(settings: &'s ReadBeforeWrite, subject: &'s Subject<'_>, path: &'s str) -> impl Iterator<Item = &'s Read> {
    let of_all = || file_key(path);
    let of_layer = || layer_file_key(path, subject.layer);
    let keys = move || std::iter::once_with(of_all).chain(std::iter::once_with(of_layer));
    let written = std::iter::once_with(keys).flatten().map(written_key).take_while(|_| settings.own_writes);
    let agent = subject.session.agent(subject.event.agent());
    keys().chain(written).filter_map(move |key| agent?.read(&key))
}

fn is_read(settings: &ReadBeforeWrite, subject: &Subject<'_>, path: &str) -> bool {
    reads(settings, subject, path).next().is_some()
}

/// The paths whose content this call replaces and that can be told.
fn overwritten<'a>(subject: &Subject<'a>) -> impl Iterator<Item = &'a Touch> {
    subject.view.touches.iter().filter(|touch| overwrites(touch, subject) && !untold(touch) && !touch.glob)
}

/// The patterns for which this call replaces content.
fn overwritten_by_pattern<'a>(subject: &Subject<'a>) -> impl Iterator<Item = &'a Touch> {
    subject.view.touches.iter().filter(|touch| overwrites(touch, subject) && is_pattern(touch))
}

/// Whether a path is a pattern that a look can tell the files of.
pub(crate) fn is_pattern(touch: &Touch) -> bool {
    touch.glob && !touch.dynamic && touch.readings.is_empty() && !touch.split().1.is_empty()
}

/// Whether a touch changes content that the call itself does not show before; one that happens only if a directory could not be entered counts once that is so.
fn overwrites(touch: &Touch, subject: &Subject<'_>) -> bool {
    let changes = touch.role == Role::Write && matches!(touch.how, How::Whole | How::Appended | How::Restored);
    changes && !touch.seen && !touch.path.is_empty() && touch.happens(subject.facts) == Some(true)
}

/// Whether touches happen at all, where that depends on what is there.
fn open_questions<'a>(subject: &Subject<'a>) -> impl Iterator<Item = Probe> + use<'a> {
    let facts = subject.facts;
    let open = subject.view.touches.iter().filter(move |touch| touch.happens(facts).is_none());
    open.filter_map(|touch| touch.only.as_ref().and_then(|only| only.probe().cloned()))
}

/// A path that depends on a value.
fn untold(touch: &Touch) -> bool {
    touch.dynamic || !touch.readings.is_empty() && !touch.split().1.is_empty()
}

fn untellable(touch: &Touch) -> String {
    format!("Which file '{}' is cannot be told before it is written.", touch.path)
}

fn no_path(reason: &str) -> Finding {
    Finding::deny(GUARD, code::READ_NO_PATH, reason).suggest("name the file literally")
}

fn fault(touch: &Touch, why: &str) -> Finding {
    Finding::fault(GUARD, code::FAULT_PROBE, &format!("where '{}' leads is not known ({why})", touch.path))
}
