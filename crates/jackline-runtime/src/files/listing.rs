//! What git lists of a work tree in one call: files it knows with the marks they carry, files it does not know, and
//! repositories that lie inside.
//!
//! Only the tree's own `.gitignore` files say what is ignored: a list of excludes outside of it, or beside the index, is
//! nowhere to be seen for the people who look at a change, and an agent can write it. A new one is listed even where it
//! ignores itself: it is all that tells of what it hides.

use super::names::listed;

/// A file that says what git ignores.
pub(super) const IGNORING: &str = ".gitignore";

/// The words that have git print it. What is excluded by a word comes before what files say; where we keep things
/// ourselves, the one that lies there is ours.
pub(super) const WORDS: [&str; 13] = [
    "ls-files",
    "-z",
    "-v",
    "-s",
    "-c",
    "-o",
    "--exclude-per-directory=.gitignore",
    "-x",
    "!.gitignore",
    "-x",
    "**/.jackline/tmp/policy/",
    "-x",
    "**/.deepwork/tmp/policy/",
];

/// What was listed; names as git gave them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Listing {
    pub(super) tracked: Vec<Vec<u8>>,
    /// Known files that git is told not to look at.
    pub(super) unwatched: Vec<Unwatched>,
    pub(super) submodules: Vec<Submodule>,
    pub(super) untracked: Vec<Vec<u8>>,
    /// Repositories that git does not know: it names each of them once.
    pub(super) nested: Vec<Vec<u8>>,
}

/// A file marked `assume-unchanged` or `skip-worktree`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unwatched {
    pub(super) path: Vec<u8>,
    pub(super) mode: Vec<u8>,
    pub(super) id: Vec<u8>,
    /// It may be left out of the work tree on purpose.
    pub(super) sparse: bool,
}

/// A repository that the index names by a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Submodule {
    pub(super) path: Vec<u8>,
    pub(super) id: Vec<u8>,
}

/// How git complains of a directory that it cannot list; it is content all the same.
const CLOSED: &[u8] = b"warning: could not open directory '";

/// The directories that git could not list, from the top; all of the tree where a name cannot be told.
pub(super) fn closed(complaints: &[u8]) -> Vec<Vec<u8>> {
    let named = complaints.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(CLOSED));
    let name = |rest: &[u8]| {
        let end = rest.windows(3).rposition(|window| window == b"': ");
        let name = end.and_then(|end| rest.get(..end)).unwrap_or_default();
        name.strip_suffix(b"/").unwrap_or(name).to_owned()
    };
    named.map(name).collect()
}

/// Reads `? path` and `tag mode id stage TAB path`, each ended by NUL; `None` when it is something else.
pub(super) fn read(printed: &[u8]) -> Option<Listing> {
    let mut listing = Listing::default();
    for line in listed(printed) {
        let (tag, rest) = (*line.first()?, line.get(2..)?);
        if tag == b'?' {
            match rest.strip_suffix(b"/") {
                Some(nested) => listing.nested.push(nested.to_owned()),
                None => listing.untracked.push(rest.to_owned()),
            }
            continue;
        }
        let tab = rest.iter().position(|byte| *byte == b'\t')?;
        let (about, path) = (rest.get(..tab)?, rest.get(tab + 1..)?.to_owned());
        let mut words = about.split(|byte| *byte == b' ');
        let (mode, id) = (words.next()?.to_owned(), words.next()?.to_owned());
        if mode == b"160000" {
            listing.submodules.push(Submodule { path: path.clone(), id });
        } else if tag.is_ascii_lowercase() || tag == b'S' {
            let sparse = tag.eq_ignore_ascii_case(&b'S');
            listing.unwatched.push(Unwatched { path: path.clone(), mode, id, sparse });
        }
        listing.tracked.push(path);
    }
    Some(listing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line_is_read() {
        let printed =
            b"? new\0? inner/\0H 100644 aa 0\tplain\0h 100644 bb 0\tassumed\0S 100755 cc 0\ta\tb\0H 160000 dd 0\tsub\0";
        let listing = read(printed).unwrap();
        assert_eq!(listing.untracked, [b"new"]);
        assert_eq!(listing.nested, [b"inner"]);
        assert_eq!(listing.tracked, [&b"plain"[..], b"assumed", b"a\tb", b"sub"]);
        let marked: Vec<(&[u8], bool)> = listing.unwatched.iter().map(|file| (&file.path[..], file.sparse)).collect();
        assert_eq!(marked, [(&b"assumed"[..], false), (b"a\tb", true)]);
        assert_eq!(listing.submodules, [Submodule { path: b"sub".to_vec(), id: b"dd".to_vec() }]);
        assert_eq!(read(b"H what is this"), None);
    }

    #[test]
    fn what_could_not_be_listed_is_read() {
        let complaints = b"warning: could not open directory 'src/a': b/': Permission denied\nwarning: other\n\
            warning: could not open directory 'odd\nname/': Permission denied\n";
        assert_eq!(closed(complaints), [&b"src/a': b"[..], b""]);
    }
}
