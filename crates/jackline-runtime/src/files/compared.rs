//! A comparison of a commit with the work tree, as `git diff-index` prints it; the same put together from what differs
//! between commit and index, as git tells, and between index and work tree, as was looked at here.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::changes::Tracked;
use super::index::{LINK, PROGRAM};
use super::names::{self, listed};
use super::tree::{Now, Tree};

/// What git shows where there is nothing.
const NO_MODE: &[u8] = b"000000";
/// How the mode of a submodule is shown.
const SUBMODULE: &[u8] = b"160000";

/// One line of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry<'a> {
    pub(super) modes: (Cow<'a, [u8]>, Cow<'a, [u8]>),
    pub(super) before: Cow<'a, [u8]>,
    /// The index holds what the work tree does.
    held: bool,
    status: u8,
    pub(super) path: &'a [u8],
}

impl Entry<'_> {
    pub(super) fn tracked(&self) -> Tracked {
        Tracked { added: self.status == b'A', staged: self.held }
    }

    /// It was one before, whatever it is now.
    pub(super) fn is_submodule(&self) -> bool {
        *self.modes.0 == *SUBMODULE
    }

    /// It was one, and something else or nothing is there now.
    pub(super) fn was_submodule(&self) -> bool {
        self.is_submodule() && *self.modes.1 != *SUBMODULE
    }

    pub(super) fn may_be_touched(&self) -> bool {
        self.status == b'M' && !self.held && self.modes.0 == self.modes.1
    }
}

/// A mode as git shows it, of those that an index that is read may have.
const fn spelled(mode: u32) -> &'static [u8] {
    match mode {
        PROGRAM => b"100755",
        LINK => b"120000",
        _ => b"100644",
    }
}

/// Reads `:mode mode id id status NUL path NUL`, again and again; `None` when it is something else.
pub(super) fn entries(printed: &[u8]) -> Option<Vec<Entry<'_>>> {
    let mut all = Vec::new();
    let mut parts = listed(printed);
    while let Some(about) = parts.next() {
        let mut words = about.strip_prefix(b":")?.split(|byte| *byte == b' ');
        let (from, to) = (words.next()?, words.next()?);
        let (before, after) = (words.next()?, words.next()?);
        let status = *words.next()?.first()?;
        let held = after.iter().any(|digit| *digit != b'0');
        all.push(Entry { modes: (from.into(), to.into()), before: before.into(), held, status, path: parts.next()? });
    }
    Some(all)
}

/// What git would print of a commit and the work tree, by what it prints of the commit and the index. `holds` tells whether
/// a file contains what an entry of the index says.
pub(super) fn with_tree<'a>(
    staged: Vec<Entry<'a>>,
    tree: &'a Tree,
    holds: impl Fn(&[u8], &[u8]) -> bool,
) -> Option<Vec<Entry<'a>>> {
    let mut staged: BTreeMap<&[u8], Entry<'a>> = staged.into_iter().map(|entry| (entry.path, entry)).collect();
    let mut all = Vec::new();
    for (number, now) in &tree.doubtful {
        let entry = tree.index.get(*number)?;
        // What the index already holds is staged, whatever its stat data say.
        let like = *now == Now::There(entry.mode) && staged.contains_key(entry.path);
        if like && holds(entry.path, &names::hex_of(entry.id)) {
            continue;
        }
        let (mode, before) = match staged.remove(entry.path) {
            None => (spelled(entry.mode).into(), names::hex_of(entry.id).into()),
            Some(known) if known.status == b'A' => (NO_MODE.into(), Cow::Borrowed(NO_MODE)),
            Some(known) => (known.modes.0, known.before),
        };
        let there = *mode != *NO_MODE;
        let (after, status): (Cow<'_, [u8]>, u8) = match now {
            // What is in the index only, and gone, is nowhere.
            Now::Gone if !there => continue,
            Now::Gone => (NO_MODE.into(), b'D'),
            Now::There(now) => {
                let after: Cow<'_, [u8]> = spelled(*now).into();
                let same_kind = after.get(..3) == mode.get(..3);
                (
                    after,
                    if !there {
                        b'A'
                    } else if same_kind {
                        b'M'
                    } else {
                        b'T'
                    },
                )
            }
        };
        all.push(Entry { modes: (mode, after), before, held: false, status, path: entry.path });
    }
    all.extend(staged.into_values());
    all.sort_unstable_by_key(|entry| entry.path);
    Some(all)
}
