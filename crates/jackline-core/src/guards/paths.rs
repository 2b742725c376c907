//! Where calls may read and write: inside the workspace, and not where the owner protects.

mod copied;
mod searched;

use super::meeting::{Meeting, Met};
use crate::call::Touch;
use crate::code;
use crate::decision::Finding;
use crate::definition::model::{Outside, Paths};
use crate::glob;
use crate::matcher::Subject;
use crate::overlap::{self, Expanded};
use crate::path::{self, Role};
use crate::probe::{Fact, Identity, Probe, There};
use crate::shell::How;

const GUARD: &str = "paths";

pub(crate) fn needs(settings: &Paths, subject: &Subject<'_>) -> Vec<Probe> {
    let touches = subject.view.touches.iter().filter(|touch| concerned(settings, touch));
    let questions = touches.flat_map(|touch| match touch.happens(subject.facts) {
        None => touch.only.as_ref().and_then(|only| only.probe().cloned()).into_iter().collect(),
        Some(true) if !touch.dynamic => {
            vec![touch.probe()].into_iter().chain(met_below(settings, subject, touch)).collect()
        }
        Some(_) => Vec::new(),
    });
    let open = questions.filter(|probe| subject.facts.get(probe).is_none());
    open.chain(copied::needs(settings, subject)).chain(searched::needs(settings, subject)).collect()
}

/// The question what a pattern meets, once it is known where it is expanded.
fn met_below(settings: &Paths, subject: &Subject<'_>, touch: &Touch) -> Option<Probe> {
    let identity = subject.facts.get(&touch.probe()).and_then(Fact::identity)?;
    let Reach::Below(meeting) = reach(settings, touch, identity) else { return None };
    if copied::covers(subject, touch) {
        return None;
    }
    match meeting.come_to(subject.view, subject.facts) {
        Met::Open(probe) => Some(probe),
        Met::Nothing | Met::File(_) | Met::Untold => None,
    }
}

pub(crate) fn judge(settings: &Paths, subject: &Subject<'_>) -> Vec<Finding> {
    let happening = |touch: &&Touch| concerned(settings, touch) && touch.happens(subject.facts) == Some(true);
    let touches = subject.view.touches.iter().filter(happening);
    let found = touches.filter_map(|touch| judge_touch(settings, subject, touch));
    let copied = copied::judge(settings, subject);
    let searched = searched::judge(settings, subject);
    subject.view.pathless.then(pathless).into_iter().chain(found).chain(copied).chain(searched).collect()
}

/// Whether a touch of this role is anything to this policy.
fn concerned(settings: &Paths, touch: &Touch) -> bool {
    settings.outside == Outside::Deny || guards_role(settings, touch.role)
}

fn guards_role(settings: &Paths, role: Role) -> bool {
    !settings.protect.is_empty() && (role.changes() || settings.protect_reads)
}

fn judge_touch(settings: &Paths, subject: &Subject<'_>, touch: &Touch) -> Option<Finding> {
    if touch.dynamic {
        return Some(unresolvable(touch));
    }
    let Some(identity) = subject.facts.get(&touch.probe()).and_then(Fact::identity) else {
        return Some(unresolvable(touch));
    };
    if is_outside(settings, identity) {
        let reason = format!("Path '{}' is outside the workspace.", touch.path);
        return Some(
            Finding::deny(GUARD, code::PATHS_OUTSIDE, reason).suggest("work inside the workspace").about(&touch.path),
        );
    }
    let shown = identity.place().filter(|path| !path.is_empty()).unwrap_or(&touch.path);
    match reach(settings, touch, identity) {
        Reach::Nothing => None,
        Reach::Itself => Some(protected(shown, touch)),
        Reach::Below(_) if copied::covers(subject, touch) => None,
        Reach::Below(meeting) => match meeting.come_to(subject.view, subject.facts) {
            Met::Nothing => None,
            Met::File(seen) => Some(protected(seen, touch)),
            Met::Open(_) | Met::Untold => Some(protected(shown, touch)),
        },
    }
}

fn protected(shown: &str, touch: &Touch) -> Finding {
    let reason = format!("Path '{shown}' is protected by the owner.");
    Finding::deny(GUARD, code::PATHS_PROTECTED, reason)
        .suggest("leave it as it is, or ask the owner")
        .about(&touch.path)
}

/// Whether a path leads out of the workspace and nowhere that is allowed.
pub(crate) fn is_outside(settings: &Paths, identity: &Identity) -> bool {
    settings.outside == Outside::Deny
        && identity.inside.is_none()
        && !settings.allow.iter().any(|allowed| glob::matches(allowed, &identity.path))
}

/// What of the protected a touch may reach.
enum Reach<'a> {
    Nothing,
    /// The path itself is protected.
    Itself,
    /// Something that a pattern of the shell's may match, or, when a whole directory goes, anything below it: if it is
    /// there.
    Below(Meeting<'a>),
}

fn reach<'a>(settings: &Paths, touch: &'a Touch, identity: &'a Identity) -> Reach<'a> {
    let is_protected = |path: &str| settings.protect.iter().any(|pattern| glob::matches(pattern, path));
    let (inside, plain) = match identity.place() {
        _ if !guards_role(settings, touch.role) => return Reach::Nothing,
        _ if identity.inside.is_none() && is_protected(&identity.path) => return Reach::Itself,
        Some(inside) => (inside, !touch.glob && is_protected(inside)),
        None => return Reach::Nothing,
    };
    match expanded(touch, identity.there) {
        _ if plain => Reach::Itself,
        Some(pattern) => {
            let patterns = may_meet(settings, touch, &below(inside, pattern));
            match patterns.is_empty() {
                true => Reach::Nothing,
                false => Reach::Below(Meeting { touch, dir: identity, inside, pattern, patterns: Some(patterns) }),
            }
        }
        None => Reach::Nothing,
    }
}

/// What is expanded below a directory.
fn expanded(touch: &Touch, there: There) -> Option<&str> {
    let (_, rest) = touch.split();
    match (touch.glob, rest.is_empty(), touch.role) {
        (false, _, Role::Delete) if there == There::Directory => Some("**"),
        (false, ..) => None,
        // To set modes and times right of many files is done all day.
        (true, _, Role::Write) if touch.how == How::Metadata => None,
        // A set that only the program knows, such as what `git stash` rewrites: only deleting is judged.
        (true, true, Role::Delete) => Some("**"),
        (true, true, Role::Read | Role::Write) => None,
        (true, false, _) => Some(rest),
    }
}

/// The patterns that something may match which the shell's pattern matches, too.
fn may_meet(settings: &Paths, touch: &Touch, expanded: &str) -> Vec<String> {
    let counts = |pattern: &str| touch.role != Role::Delete || counts_below(pattern, expanded);
    let from = Expanded { pattern: expanded, dots: touch.dots };
    let meets = |pattern: &&String| counts(pattern) && overlap::overlaps(pattern, from);
    settings.protect.iter().filter(meets).cloned().collect()
}

/// A name that counts in every directory is not looked for in what a build makes anew.
fn counts_below(pattern: &str, dir: &str) -> bool {
    glob::is_placed(pattern) || !path::is_generated(dir)
}

fn below(dir: &str, rest: &str) -> String {
    if dir.is_empty() { rest.to_owned() } else { format!("{dir}/{rest}") }
}

/// A write that does not say where may go anywhere.
fn pathless() -> Finding {
    let reason = "The call writes, but where cannot be told from its arguments.";
    Finding::deny(GUARD, code::PATHS_UNRESOLVABLE, reason)
        .suggest("name the path in an argument that says so; the owner may declare which under `tools.declare`")
}

fn unresolvable(touch: &Touch) -> Finding {
    let reason = format!("Where path '{}' leads cannot be told.", touch.path);
    Finding::deny(GUARD, code::PATHS_UNRESOLVABLE, reason).suggest(touch.remedy()).about(&touch.path)
}
