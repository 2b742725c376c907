//! Existing files are read before they are overwritten.

use crate::call::Touch;
use crate::code;
use crate::decision::Finding;
use crate::definition::model::{ReadBeforeWrite, Stale};
use crate::matcher::Subject;
use crate::path::Role;
use crate::probe::{Fact, Identity, Probe, There};
use crate::session::{Key, Read};
use crate::sha::Digest;
use crate::shell::How;
use crate::stack::Layer;

const GUARD: &str = "read_before_write";

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
    for touch in overwritten(subject) {
        match subject.facts.get(&touch.probe()) {
            None => wanted.push(touch.probe()),
            Some(Fact::Identity(identity)) if settings.stale == Stale::Deny && is_read(settings, subject, identity) => {
                let probe = Probe::Fingerprint { path: identity.path.clone() };
                wanted.extend(subject.facts.get(&probe).is_none().then_some(probe));
            }
            Some(_) => {}
        }
    }
    wanted
}

pub(crate) fn judge(settings: &ReadBeforeWrite, subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    if subject.view.pathless {
        findings.push(no_path("The call writes, but which file cannot be told from its arguments."));
    }
    for touch in subject.view.touches.iter().filter(|touch| overwrites(touch, subject) && untold(touch)) {
        findings.push(no_path(&format!("Which file '{}' is cannot be told before it is written.", touch.path)));
    }
    findings.extend(overwritten(subject).filter_map(|touch| judge_touch(settings, subject, touch)));
    findings
}

fn judge_touch(settings: &ReadBeforeWrite, subject: &Subject<'_>, touch: &Touch) -> Option<Finding> {
    let identity = match subject.facts.get(&touch.probe()) {
        Some(Fact::Identity(identity)) => identity,
        Some(Fact::Unknown(_)) if !touch.readings.is_empty() => {
            let reason = format!("Which file '{}' is cannot be told before it is written.", touch.path);
            return Some(no_path(&reason).suggest(touch.remedy()));
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
    if !is_read(settings, subject, identity) {
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
    let now = match subject.facts.get(&Probe::Fingerprint { path: identity.path.clone() }) {
        Some(Fact::Content(now)) => now.map(|digest| digest.short()),
        Some(Fact::Unknown(why)) => return Some(fault(touch, why)),
        Some(_) | None => {
            return Some(fault(touch, "its content was not looked at"));
        }
    };
    if reads(settings, subject, identity).any(|read| read.content == now) {
        return None;
    }
    let reason = format!("File '{}' changed on disk since it was read; read it again before overwriting.", touch.path);
    Some(Finding::deny(GUARD, code::READ_STALE, reason).suggest("read it again, then write it"))
}

/// What the agent read of a file: what counts for all layers, and what counts for this one; and what it wrote, where
/// that counts.
fn reads<'s>(
    settings: &'s ReadBeforeWrite,
    subject: &'s Subject<'_>,
    identity: &'s Identity,
) -> impl Iterator<Item = &'s Read> {
    let of_all = || file_key(&identity.path);
    let of_layer = || layer_file_key(&identity.path, subject.layer);
    let keys = move || std::iter::once_with(of_all).chain(std::iter::once_with(of_layer));
    let written = std::iter::once_with(keys).flatten().map(written_key).take_while(|_| settings.own_writes);
    let agent = subject.session.agent(subject.event.agent());
    keys().chain(written).filter_map(move |key| agent?.read(&key))
}

fn is_read(settings: &ReadBeforeWrite, subject: &Subject<'_>, identity: &Identity) -> bool {
    reads(settings, subject, identity).next().is_some()
}

/// The paths whose content this call replaces and that can be told.
fn overwritten<'a>(subject: &Subject<'a>) -> impl Iterator<Item = &'a Touch> {
    subject.view.touches.iter().filter(|touch| overwrites(touch, subject) && !untold(touch) && !touch.glob)
}

/// Whether a touch changes content; one that happens only if a directory could not be entered counts once that is so.
fn overwrites(touch: &Touch, subject: &Subject<'_>) -> bool {
    let changes = touch.role == Role::Write && matches!(touch.how, How::Whole | How::Appended | How::Restored);
    changes && !touch.path.is_empty() && touch.happens(subject.facts) == Some(true)
}

/// Whether touches happen at all, where that depends on what is there.
fn open_questions<'a>(subject: &Subject<'a>) -> impl Iterator<Item = Probe> + use<'a> {
    let facts = subject.facts;
    let open = subject.view.touches.iter().filter(move |touch| touch.happens(facts).is_none());
    open.filter_map(|touch| touch.only.as_ref().and_then(|only| only.probe().cloned()))
}

/// A path that depends on a value, or a pattern: a directory named as a whole is neither.
fn untold(touch: &Touch) -> bool {
    touch.dynamic || !touch.split().1.is_empty()
}

fn no_path(reason: &str) -> Finding {
    Finding::deny(GUARD, code::READ_NO_PATH, reason).suggest("name the file literally")
}

fn fault(touch: &Touch, why: &str) -> Finding {
    Finding::fault(GUARD, code::FAULT_PROBE, &format!("where '{}' leads is not known ({why})", touch.path))
}
