//! Whether one matcher is at least as wide as another: it surely matches every call that the other matches.

use super::super::model::{CommandMatcher, Matcher};

/// Whether `new` provably matches every call that `old` matches: each condition is gone, equal, or has more choices.
pub(in super::super) fn wider(old: &Matcher, new: &Matcher) -> bool {
    more_choices(&old.tool, &new.tool)
        && more_choices(&old.path, &new.path)
        && command_wider(old.command.as_ref(), new.command.as_ref())
        && new.args.iter().all(|condition| old.args.contains(condition))
        && gone_or_equal(old.session.as_ref(), new.session.as_ref())
        && gone_or_equal(old.agent.as_ref(), new.agent.as_ref())
        && gone_or_equal(old.host.as_ref(), new.host.as_ref())
        && new.all.iter().all(|condition| old.all.contains(condition))
        && more_choices(&old.any, &new.any)
        && gone_or_equal(old.not.as_ref(), new.not.as_ref())
        && more_choices(&old.access, &new.access)
        && (old.opaque || !new.opaque)
}

/// Of a list of which any must hold, and which says nothing when empty.
pub(super) fn more_choices<T: PartialEq>(old: &[T], new: &[T]) -> bool {
    new.is_empty() || (!old.is_empty() && old.iter().all(|choice| new.contains(choice)))
}

fn gone_or_equal<T: PartialEq>(old: Option<&T>, new: Option<&T>) -> bool {
    new.is_none() || old == new
}

fn command_wider(old: Option<&CommandMatcher>, new: Option<&CommandMatcher>) -> bool {
    match (old, new) {
        (Some(CommandMatcher::Glob(before)), Some(CommandMatcher::Glob(after))) => more_choices(before, after),
        (old, new) => gone_or_equal(old, new),
    }
}
