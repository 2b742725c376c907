//! Which names in a directory outside the workspace lead to what guards the session.

use super::{Own, Place};

/// Names in a directory that lead to what it holds; most have one, home a dozen.
const LEADS_MAX: usize = 64;

/// The names in a directory that lead to what it holds; nothing where one of them cannot be told, or they are many.
pub(super) fn leads(place: &Place, owns: &[Own<'_>]) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for own in owns.iter().filter(|own| own.lies_below(place, false)) {
        let before = names.len();
        let below = own.spots().filter_map(|spot| spot.strip_prefix(&place.path).ok());
        names.extend(below.filter_map(|rest| rest.components().next()?.as_os_str().to_str()).map(str::to_owned));
        if names.len() == before {
            return None;
        }
    }
    names.sort_unstable();
    names.dedup();
    Some(names).filter(|names| names.len() <= LEADS_MAX)
}
