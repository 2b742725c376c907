//! Where exceptions are kept: one file each, per workspace, below the state directory and outside the agent's reach.
//!
//! They belong to a workspace and not to a session, so that sessions that run side by side or begin later see them.
//! What an exception covers is the core's to say; this keeps, lists, claims and forgets them.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use jackline_core::exception::{Exception, Refusal, chosen};
use jackline_core::probe::Fact;
use jackline_core::sha::Digest;
use jackline_core::time::Timestamp;

use crate::private;

/// Exceptions of one workspace at a time: a person oversees a handful, and every refusal reads them all.
pub const EXCEPTIONS_MAX: usize = 64;
/// Entries of the directory that are looked at: every exception as it stands and as it is claimed, with room for
/// what a crash left behind.
const ENTRIES_MAX: usize = 4 * EXCEPTIONS_MAX;
/// Bytes of a file: all texts at their bounds, escaped, and no more.
const FILE_BYTES_MAX: u64 = 16 * 1024;
/// Random bytes of an id: short enough to be typed, and no two among [`EXCEPTIONS_MAX`] alike.
const ID_BYTES: usize = 4;

/// The ending of an exception that stands.
const STANDING: &str = "json";
/// The ending of one for a single use that an event has claimed and not yet used.
const CLAIMED: &str = "claimed";

/// The exceptions of one workspace.
#[derive(Debug, Clone)]
pub struct Exceptions {
    dir: PathBuf,
}

impl Exceptions {
    /// Those of the workspace with this root, kept below a state directory.
    #[must_use]
    pub fn of(state: &Path, root: &str) -> Self {
        Self { dir: state.join("exceptions").join(Digest::of(root.as_bytes()).hex()) }
    }

    /// An id that no exception has.
    ///
    /// # Errors
    /// When the machine gives no random bytes.
    pub fn fresh_id() -> io::Result<String> {
        let mut bytes = [0; ID_BYTES];
        getrandom::fill(&mut bytes).map_err(|fault| io::Error::other(fault.to_string()))?;
        Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Every exception in force at a time, the oldest first.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub fn in_force(&self, at: Timestamp) -> io::Result<Vec<Exception>> {
        let mut known: Vec<Exception> = self.standing()?.into_iter().filter(|known| known.lasts(at)).collect();
        known.sort_by(|a, b| (a.granted_at, &a.id).cmp(&(b.granted_at, &b.id)));
        Ok(known)
    }

    /// Whether there is room for one more.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub fn has_room(&self, at: Timestamp) -> io::Result<bool> {
        Ok(self.in_force(at)?.len() < EXCEPTIONS_MAX)
    }

    /// Keeps an exception; those that are over make room.
    ///
    /// # Errors
    /// When there are too many, or the state directory cannot be written.
    pub fn keep(&self, exception: &Exception) -> io::Result<()> {
        debug_assert!(exception.is_bounded(), "whoever makes one holds it to its bounds");
        private::create_dir(&self.dir)?;
        self.sweep(exception.granted_at)?;
        if !self.has_room(exception.granted_at)? {
            return Err(io::Error::other(format!("there are {EXCEPTIONS_MAX} exceptions already")));
        }
        let file = self.file(&exception.id, STANDING);
        let beside = self.file(&exception.id, "new");
        let mut new = private::create_file(&beside)?;
        new.write_all(&serde_json::to_vec_pretty(exception)?)?;
        new.sync_all()?;
        fs::rename(&beside, &file)?;
        self.sync();
        Ok(())
    }

    /// Ends an exception; whether it was still there to be ended.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn end(&self, id: &str) -> io::Result<bool> {
        // A claimed one must not be given back after this.
        let ended = removed(&self.file(id, STANDING))? | removed(&self.file(id, CLAIMED))?;
        self.sync();
        Ok(ended)
    }

    /// Answers which exceptions count against these refusals, and claims those for a single use.
    #[must_use]
    pub fn answer(&self, at: Timestamp, refusals: &[Refusal]) -> Fact {
        let mut known = match self.in_force(at) {
            Ok(known) => known,
            Err(fault) => return Fact::Unknown(format!("exceptions cannot be read: {fault}")),
        };
        loop {
            let wanted: Vec<Exception> = chosen(&known, at, refusals).into_iter().cloned().collect();
            match self.claim_all(&wanted) {
                Ok(()) => return Fact::Excepted(wanted),
                // Someone else was quicker: without that one, another choice may do. Each turn has one fewer.
                Err(lost) => known.retain(|known| known.id != lost),
            }
        }
    }

    /// Claims every one for a single use, or none of them and gives the one that was lost.
    fn claim_all(&self, wanted: &[Exception]) -> Result<(), String> {
        let single: Vec<&Exception> = wanted.iter().filter(|exception| exception.once).collect();
        for (at, exception) in single.iter().enumerate() {
            // INVARIANT: a rename of one name succeeds in one process only.
            if fs::rename(self.file(&exception.id, STANDING), self.file(&exception.id, CLAIMED)).is_err() {
                single.iter().take(at).for_each(|claimed| self.give_back(&claimed.id));
                return Err(exception.id.clone());
            }
        }
        if !single.is_empty() {
            self.sync();
        }
        Ok(())
    }

    /// Forgets a claimed exception: the call that claimed it got through on it.
    pub fn use_up(&self, id: &str) {
        // One that cannot be removed stays claimed, which lets nothing pass.
        drop(fs::remove_file(self.file(id, CLAIMED)));
    }

    /// Lets a claimed exception stand again: the call that claimed it did not get through, or had no need of it.
    pub fn give_back(&self, id: &str) {
        // One that cannot be given back is lost, which lets nothing pass; its owner can make another.
        drop(fs::rename(self.file(id, CLAIMED), self.file(id, STANDING)));
    }

    /// Makes names durable, so that a loss of power brings nothing back that was ended or claimed. Where directories
    /// cannot be synced there is nothing more to be done.
    fn sync(&self) {
        drop(fs::File::open(&self.dir).and_then(|dir| dir.sync_all()));
    }

    fn file(&self, id: &str, ending: &str) -> PathBuf {
        self.dir.join(format!("{id}.{ending}"))
    }

    /// The exceptions as they lie there; what is none of ours counts for nothing.
    fn standing(&self) -> io::Result<Vec<Exception>> {
        let unread = |fault: io::Error| {
            io::Error::new(fault.kind(), format!("`{}` cannot be listed: {fault}", self.dir.display()))
        };
        let files = self
            .entries()
            .map_err(unread)?
            .into_iter()
            .filter(|path| path.extension().is_some_and(|end| end == STANDING));
        Ok(files.filter_map(|path| read(&path)).collect())
    }

    fn entries(&self) -> io::Result<Vec<PathBuf>> {
        // A link in its place could lead into the workspace.
        match fs::symlink_metadata(&self.dir) {
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(fault) => return Err(fault),
            Ok(there) if !there.is_dir() => return Err(io::Error::other("it is no directory")),
            Ok(_) => {}
        }
        fs::read_dir(&self.dir)?.take(ENTRIES_MAX).map(|entry| Ok(entry?.path())).collect()
    }

    /// Removes what is over, claimed ones included. What cannot be read may be another process's, half written.
    fn sweep(&self, now: Timestamp) -> io::Result<()> {
        for path in self.entries()? {
            if read(&path).is_some_and(|exception| !exception.lasts(now)) {
                removed(&path)?;
            }
        }
        Ok(())
    }
}

/// An exception from its file, held to its bounds again: a file may have been put there by someone else.
fn read(path: &Path) -> Option<Exception> {
    let there = fs::symlink_metadata(path).ok()?;
    if !there.is_file() || there.len() > FILE_BYTES_MAX {
        return None;
    }
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    let exception: Exception = serde_json::from_slice(&bytes).ok()?;
    let named = path.file_stem().is_some_and(|stem| stem == exception.id.as_str());
    (named && exception.is_bounded()).then_some(exception)
}

fn removed(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(fault) => Err(fault),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jackline_core::exception::{EXCEPTION_MS_MAX, What};
    use std::os::unix::fs::PermissionsExt as _;

    const NOW: Timestamp = Timestamp(1_767_225_600_000);

    fn exception(id: &str, once: bool) -> Exception {
        Exception {
            id: id.to_owned(),
            what: What::Policy("p".to_owned()),
            once,
            granted_at: NOW,
            until: Timestamp(NOW.0 + 60_000),
            reason: "a test".to_owned(),
            by: "dev".to_owned(),
        }
    }

    fn refusal() -> Vec<Refusal> {
        vec![Refusal { policy: "p".to_owned(), guard: "rule".to_owned(), code: "rule/p".to_owned() }]
    }

    fn ids(known: &[Exception]) -> Vec<&str> {
        known.iter().map(|exception| exception.id.as_str()).collect()
    }

    #[test]
    fn they_are_kept_per_workspace_and_for_their_owner_alone() {
        let state = tempfile::tempdir().unwrap();
        let (here, there) = (Exceptions::of(state.path(), "/a"), Exceptions::of(state.path(), "/b"));
        assert_eq!(here.in_force(NOW).unwrap(), []);
        here.keep(&exception("one", false)).unwrap();
        assert_eq!(here.in_force(NOW).unwrap(), [exception("one", false)]);
        assert_eq!(there.in_force(NOW).unwrap(), []);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&here.dir), mode(&here.file("one", STANDING))), (0o700, 0o600));
        assert!(here.end("one").unwrap());
        assert!(!here.end("one").unwrap());
    }

    #[test]
    fn what_is_over_makes_room() {
        let state = tempfile::tempdir().unwrap();
        let here = Exceptions::of(state.path(), "/a");
        for n in 0..EXCEPTIONS_MAX {
            here.keep(&exception(&format!("e{n}"), false)).unwrap();
        }
        let fault = here.keep(&exception("more", false)).unwrap_err().to_string();
        assert_eq!(fault, "there are 64 exceptions already");
        let later = Timestamp(NOW.0 + 60_000);
        assert_eq!(here.in_force(later).unwrap(), []);
        let next = Exception { granted_at: later, until: Timestamp(later.0 + 1), ..exception("next", false) };
        here.keep(&next).unwrap();
        assert_eq!(fs::read_dir(&here.dir).unwrap().count(), 1, "what was over is gone");
    }

    #[test]
    fn one_for_a_single_use_is_claimed_used_up_or_given_back() {
        let state = tempfile::tempdir().unwrap();
        let here = Exceptions::of(state.path(), "/a");
        here.keep(&exception("once", true)).unwrap();
        let claimed = Fact::Excepted(vec![exception("once", true)]);
        assert_eq!(here.answer(NOW, &refusal()), claimed);
        assert_eq!(here.answer(NOW, &refusal()), Fact::Excepted(vec![]), "it is claimed");
        here.give_back("once");
        assert_eq!(here.answer(NOW, &refusal()), claimed);
        assert!(here.end("once").unwrap(), "a person ends it while it is claimed");
        here.give_back("once");
        assert_eq!(here.in_force(NOW).unwrap(), []);
        here.keep(&exception("again", true)).unwrap();
        let left =
            [refusal(), vec![Refusal { policy: "q".into(), guard: "rule".into(), code: "rule/q".into() }]].concat();
        assert_eq!(here.answer(NOW, &left), Fact::Excepted(vec![]), "something else would still refuse");
        assert_eq!(ids(&here.in_force(NOW).unwrap()), ["again"]);
        assert_ne!(here.answer(NOW, &refusal()), Fact::Excepted(vec![]));
        here.use_up("again");
        assert_eq!(fs::read_dir(&here.dir).unwrap().count(), 0);
    }

    #[test]
    fn only_one_of_many_claims_it() {
        let state = tempfile::tempdir().unwrap();
        let here = Exceptions::of(state.path(), "/a");
        for round in 0..50 {
            here.keep(&exception(&format!("r{round}"), true)).unwrap();
            let won = std::thread::scope(|scope| {
                let ask = || here.answer(NOW, &refusal()) != Fact::Excepted(vec![]);
                let asking: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
                asking.into_iter().map(|asked| asked.join().unwrap()).filter(|won| *won).count()
            });
            assert_eq!(won, 1, "round {round}");
        }
    }

    #[test]
    fn what_is_none_of_ours_counts_for_nothing() {
        let state = tempfile::tempdir().unwrap();
        let here = Exceptions::of(state.path(), "/a");
        here.keep(&exception("fine", false)).unwrap();
        let plant = |name: &str, exception: &Exception| {
            fs::write(here.dir.join(name), serde_json::to_vec(exception).unwrap()).unwrap();
        };
        plant("other.json", &exception("renamed", false));
        let endless = Timestamp(NOW.0 + EXCEPTION_MS_MAX + 1);
        plant("endless.json", &Exception { until: endless, ..exception("endless", false) });
        plant("mute.json", &Exception { reason: String::new(), ..exception("mute", false) });
        fs::write(here.dir.join("broken.json"), "{").unwrap();
        fs::write(here.dir.join("huge.json"), vec![b' '; 1 << 20]).unwrap();
        plant("aim", &exception("linked", false));
        std::os::unix::fs::symlink("aim", here.dir.join("linked.json")).unwrap();
        fs::create_dir(here.dir.join("dir.json")).unwrap();
        assert_eq!(ids(&here.in_force(NOW).unwrap()), ["fine"]);
        let (elsewhere, moved) = (Exceptions::of(state.path(), "/b"), here.dir.clone());
        std::os::unix::fs::symlink(moved, &elsewhere.dir).unwrap();
        assert!(matches!(elsewhere.answer(NOW, &refusal()), Fact::Unknown(_)), "a link is not followed");
    }
}
