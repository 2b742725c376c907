//! Variables that name a file which a program writes.

use super::super::Word;

/// How the present directory is written.
const HERE: &[&str] = &["$PWD", "~+"];

/// Such variables; those that end in `*` begin so.
const WRITTEN: &[&str] = &[
    "COVERAGE_FILE",
    "GIT_CONFIG",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_INDEX_FILE",
    "GIT_TRACE*",
    "HISTFILE",
    "LESSHISTFILE",
    "LLVM_PROFILE_FILE",
    "MALLOC_TRACE",
    "NODE_REDIRECT_WARNINGS",
    "NODE_REPL_HISTORY",
    "SSLKEYLOGFILE",
];

/// The file that a variable has a program write, and whether it surely is that one.
pub(in crate::shell) fn written(name: &str, value: &Word) -> Option<(Word, bool)> {
    let is_named = |known: &&&str| known.strip_suffix('*').map_or(**known == name, |front| name.starts_with(front));
    let traces = WRITTEN.iter().find(is_named)?.ends_with('*');
    let from_root = value.text.starts_with(['/', '~']);
    match value.dynamic {
        // A trace goes to a file only by its whole path; all else says how loud it is, or where it goes otherwise.
        false if traces && !from_root || value.text.is_empty() || super::is_device(&value.text) => None,
        false => Some((value.clone(), true)),
        true => {
            // What stands before it may be the present directory, and where it is written out, it is.
            let (place, rest) = value.text.split_once('/')?;
            let here = HERE.contains(&place);
            let is_path = here || place.starts_with(['$', '`', '~']);
            (is_path && !rest.contains(['$', '`'])).then(|| (Word::literal(rest), here))
        }
    }
}
