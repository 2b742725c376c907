//! What git lists of a work tree in one call: files it knows with the marks they carry, files it does not know, and
//! repositories that lie inside.
//!
//! Only the tree's own `.gitignore` files say what is ignored: a list of excludes outside of it, or beside the index, is
//! nowhere to be seen for the people who look at a change, and an agent can write it. A new one is listed even where it
//! ignores itself: it is all that tells of what it hides.

use super::names::listed;

/// A file that says what git ignores.
pub(super) const IGNORING: &str = ".gitignore";

/// Where we keep things ourselves: the file that lies there and says what is ignored is ours.
pub(super) const OWN_PLACES: [&str; 2] = [".jackline/tmp/policy", ".deepwork/tmp/policy"];

/// The words that have git print it. What is excluded by a word comes before what files say; these are our own places.
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

/// What was listed; names as git gave them, and of a work tree that was looked at without git only what it does not know.
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

/// A file marked `assume-unchanged` or `skip-worktree`, or one whose stat data are not believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unwatched {
    pub(super) path: Vec<u8>,
    pub(super) mode: Vec<u8>,
    pub(super) id: Vec<u8>,
    /// It may be left out of the work tree on purpose.
    pub(super) sparse: bool,
    /// Git looks at it, and its stat data are those of the index.
    pub(super) believed: bool,
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

/// Reads `? path` and `tag mode id stage TAB path`, each ended by NUL; `None` when it is something else. What is `late` is
/// looked at whatever its stat data say.
pub(super) fn read(printed: &[u8], late: impl Fn(&[u8]) -> bool) -> Option<Listing> {
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
        } else {
            let marked = tag.is_ascii_lowercase() || tag == b'S';
            let sparse = tag.eq_ignore_ascii_case(&b'S');
            let unwatched = (marked || (tag == b'H' && late(&path))).then(|| path.clone());
            listing.unwatched.extend(unwatched.map(|path| Unwatched { path, mode, id, sparse, believed: !marked }));
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
            b"? new\0? inner/\0H 100644 aa 0\tplain\0h 100644 bb 0\tassumed\0S 100755 cc 0\ta\tb\0H 160000 dd 0\tsub\0H 100644 ee 0\tlate\0";
        let listing = read(printed, |path| path == b"late").unwrap();
        assert_eq!(listing.untracked, [b"new"]);
        assert_eq!(listing.nested, [b"inner"]);
        assert_eq!(listing.tracked, [&b"plain"[..], b"assumed", b"a\tb", b"sub", b"late"]);
        let about = |file: &Unwatched| (file.path.clone(), file.sparse, file.believed);
        let marked: Vec<_> = listing.unwatched.iter().map(about).collect();
        let want = [(&b"assumed"[..], false, false), (b"a\tb", true, false), (b"late", false, true)];
        assert_eq!(marked, want.map(|(path, sparse, believed)| (path.to_vec(), sparse, believed)));
        assert_eq!(listing.submodules, [Submodule { path: b"sub".to_vec(), id: b"dd".to_vec() }]);
        assert_eq!(read(b"H what is this", |_| false), None);
    }

    #[test]
    fn what_could_not_be_listed_is_read() {
        let complaints = b"warning: could not open directory 'src/a': b/': Permission denied\nwarning: other\n\
            warning: could not open directory 'odd\nname/': Permission denied\n";
        assert_eq!(closed(complaints), [&b"src/a': b"[..], b""]);
    }
}
