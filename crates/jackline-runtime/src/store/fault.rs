//! Why a store could not load or commit, and what to do about it.

use std::io;
use std::path::Path;

use jackline_core::code;
use jackline_core::decision::Finding;

/// Characters of a session id shown in a fault: enough to know it by, too few to flood a terminal.
const SESSION_CHARS_SHOWN: usize = 80;

/// Why a store could not load or commit. The text is for people; an agent is only told that the store failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreFault {
    #[error("cannot write `{what}`")]
    Unwritable { what: String, source: io::Error },
    #[error("cannot read `{what}`")]
    Unreadable { what: String, source: io::Error },
    #[error("no room left for `{what}`")]
    Full { what: String },
    /// A link, or anything else that is not the plain file or directory that we keep there.
    #[error("`{what}` is a link or not what the store keeps there")]
    Planted { what: String },
    #[error("session `{session}`: {why} at byte {at}")]
    Corrupt { session: String, at: u64, why: &'static str },
    #[error("{what} of {bytes} bytes is larger than {max}")]
    TooLarge { what: &'static str, bytes: u64, max: u64 },
    #[error("{what} are at their limit of {max}")]
    TooMany { what: &'static str, max: usize },
    #[error("another process held the lock of `{what}` for {waited_ms} ms")]
    Locked { what: String, waited_ms: u64 },
    #[error("another `jackline store gc` is at work on this store")]
    Retiring,
    #[error("malformed commit: {why}")]
    Malformed { why: &'static str },
}

impl StoreFault {
    /// What a person can do about it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Unwritable { .. } => {
                "make the store's directory writable for this user, or choose one with `--store`"
            }
            Self::Unreadable { .. } => "make the store's directory readable for this user, and check the disk",
            Self::Full { .. } => "free some disk space or raise the quota",
            Self::Planted { .. } => "look who put it there, then remove it",
            Self::Corrupt { .. } => "run `jackline audit verify` on the session, keep a copy, then move it away",
            Self::TooLarge { .. } => "start a new session; if it happens again, report it",
            Self::TooMany { .. } => "drop one that is no longer needed",
            Self::Locked { .. } => "end the process that holds it, or wait and try again",
            Self::Retiring => "wait until it has ended",
            Self::Malformed { .. } => "this is a defect of ours: report it",
        }
    }

    pub(crate) fn corrupt(session: &str, at: u64, why: &'static str) -> Self {
        Self::Corrupt { session: shown(session), at, why }
    }

    pub(super) fn unreadable(what: &Path, source: impl Into<io::Error>) -> Self {
        let (what, source) = (what.display().to_string(), source.into());
        if planted(&source) { Self::Planted { what } } else { Self::Unreadable { what, source } }
    }

    /// It, as the agent is told of it.
    #[must_use]
    pub fn finding(&self) -> Finding {
        Finding::fault("store", code::FAULT_STORE, &self.to_string()).suggest(self.help())
    }

    pub(super) fn unwritable(what: &Path, source: impl Into<io::Error>) -> Self {
        let (what, source) = (what.display().to_string(), source.into());
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { what },
            _ if planted(&source) => Self::Planted { what },
            _ => Self::Unwritable { what, source },
        }
    }
}

/// Whether opening or reading failed because something else than a plain file or directory is there.
fn planted(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let planted = [Errno::LOOP, Errno::NOTDIR, Errno::ISDIR, Errno::SPIPE, Errno::NXIO, Errno::MLINK];
    Errno::from_io_error(error).is_some_and(|errno| planted.contains(&errno))
}

/// A session id fit for a terminal: a host chose it, so it may hold anything.
fn shown(session: &str) -> String {
    let mut shown: String = session.escape_debug().take(SESSION_CHARS_SHOWN).collect();
    if session.escape_debug().nth(SESSION_CHARS_SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(fault: &StoreFault, want: &str) {
        assert_eq!(fault.to_string(), want);
        assert!(!fault.help().is_empty() && !fault.help().ends_with('.'));
    }

    fn os(errno: rustix::io::Errno) -> io::Error {
        errno.into()
    }

    #[test]
    fn faults_say_what_happened() {
        use rustix::io::Errno;
        let path = Path::new("/s/state");
        check(&StoreFault::unwritable(path, os(Errno::NOSPC)), "no room left for `/s/state`");
        check(&StoreFault::unwritable(path, os(Errno::DQUOT)), "no room left for `/s/state`");
        check(&StoreFault::unwritable(path, os(Errno::IO)), "cannot write `/s/state`");
        check(&StoreFault::unreadable(path, os(Errno::ACCESS)), "cannot read `/s/state`");
        check(&StoreFault::unreadable(path, os(Errno::LOOP)), "`/s/state` is a link or not what the store keeps there");
        check(&StoreFault::corrupt("a\u{1b}[2J", 7, "cut short"), "session `a\\u{1b}[2J`: cut short at byte 7");
    }

    #[test]
    fn a_long_session_id_is_clipped() {
        let StoreFault::Corrupt { session, .. } = StoreFault::corrupt(&"x".repeat(4096), 0, "") else { panic!() };
        assert_eq!(session.chars().count(), SESSION_CHARS_SHOWN + 1);
    }
}
