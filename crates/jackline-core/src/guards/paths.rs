//! Where calls may read and write: inside the workspace, and not where the owner protects.

mod copied;

use crate::call::Touch;
use crate::code;
use crate::decision::Finding;
use crate::definition::model::{Outside, Paths};
use crate::glob;
use crate::matcher::Subject;
use crate::overlap;
use crate::path::{self, Role};
use crate::probe::{Fact, Identity, Probe, There};

const GUARD: &str = "paths";

pub(crate) fn needs(settings: &Paths, subject: &Subject<'_>) -> Vec<Probe> {
    let touches = subject.view.touches.iter().filter(|touch| concerned(settings, touch));
    let questions = touches.filter_map(|touch| match touch.happens(subject.facts) {
        None => touch.only.as_ref().and_then(|only| only.probe().cloned()),
        Some(happens) => (happens && !touch.dynamic).then(|| touch.probe()),
    });
    let open = questions.filter(|probe| subject.facts.get(probe).is_none());
    open.chain(copied::needs(settings, subject)).collect()
}

pub(crate) fn judge(settings: &Paths, subject: &Subject<'_>) -> Vec<Finding> {
    let happening = |touch: &&Touch| concerned(settings, touch) && touch.happens(subject.facts) == Some(true);
    let touches = subject.view.touches.iter().filter(happening);
    let found = touches.filter_map(|touch| judge_touch(settings, subject, touch));
    let copied = copied::judge(settings, subject);
    subject.view.pathless.then(pathless).into_iter().chain(found).chain(copied).collect()
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
    let is_protected = guards_role(settings, touch.role) && is_protected(settings, touch, identity);
    let shown = identity.inside.as_deref().filter(|path| !path.is_empty()).unwrap_or(&touch.path);
    is_protected.then(|| protected(shown, touch))
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

fn is_protected(settings: &Paths, touch: &Touch, identity: &Identity) -> bool {
    settings.protect.iter().any(|pattern| match &identity.inside {
        Some(inside) => reaches(pattern, touch, inside, identity.there),
        None => glob::matches(pattern, &identity.path),
    })
}

/// Whether touching `inside` touches something that `pattern` protects: the file itself, what a pattern of the
/// shell's may match, or, when a whole directory goes, anything below it.
fn reaches(pattern: &str, touch: &Touch, inside: &str, there: There) -> bool {
    if !touch.glob {
        let whole_directory = there == There::Directory && touch.role == Role::Delete;
        let below_counts = || counts_below(pattern, inside) && overlap::overlaps(pattern, &below(inside, "**"));
        return glob::matches(pattern, inside) || whole_directory && below_counts();
    }
    let (_, rest) = touch.split();
    match (rest.is_empty(), touch.role) {
        (false, Role::Delete) if !counts_below(pattern, rest) => false,
        // A set that only the program knows, such as what `git stash` rewrites: only deleting is judged.
        (true, Role::Delete) => overlap::overlaps(pattern, &below(inside, "**")),
        (true, Role::Read | Role::Write) => false,
        (false, _) => overlap::overlaps(pattern, &below(inside, rest)),
    }
}

/// A name that counts in every directory is not looked for in what a build makes anew.
fn counts_below(pattern: &str, dir: &str) -> bool {
    pattern.contains('/') || !path::is_generated(dir)
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
