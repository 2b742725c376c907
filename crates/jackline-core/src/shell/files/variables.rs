//! Variables that name a file which a program writes.

use super::super::Word;

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
    "NODE_REPL_HISTORY",
    "SSLKEYLOGFILE",
];

/// Whether a variable has a program write the file that it names.
pub(in crate::shell) fn is_written(name: &str, value: &Word) -> bool {
    let is_named = |known: &&&str| known.strip_suffix('*').map_or(**known == name, |front| name.starts_with(front));
    let known = WRITTEN.iter().find(is_named);
    // A trace goes to a file only by its whole path; all else says how loud it is, or where it goes otherwise.
    let placed = |known: &&str| !known.ends_with('*') || value.text.starts_with('/');
    known.is_some_and(placed) && !value.dynamic && !value.text.is_empty() && !super::is_device(&value.text)
}
