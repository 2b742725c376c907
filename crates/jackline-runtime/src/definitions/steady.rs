//! Definitions for a process that stays: read again only when one of their files is not as it was, or after a moment.
//!
//! A definition that was tightened counts from the next event on, however fast they come: each event looks at the files
//! themselves, which takes a microsecond or two where reading them takes a hundred.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use jackline_core::session::Pin;

use super::{DefinitionFault, Definitions, Standing};

/// Milliseconds for which what was in force stays so while its files do: what else it hangs on (trust that a person gave,
/// a file system that does not tell of changes at once) counts this much later at most.
const STEADY_MS: u64 = 50;
/// Milliseconds within which two changes of a file may bear the same time: two ticks of the slowest kernel's clock.
const TICK_MS: u64 = 20;

/// Definitions whose files are as they were are those still.
#[derive(Debug)]
pub struct Steady<D> {
    inner: D,
    last: Mutex<Option<Last>>,
}

#[derive(Debug)]
struct Last {
    at: Instant,
    pin: Pin,
    named: Option<String>,
    files: Vec<Watched>,
    standing: Arc<Standing>,
}

impl Last {
    /// Whether it answers this question still.
    fn holds(&self, pin: &Pin, named: Option<&str>) -> bool {
        let fresh = self.at.elapsed() < Duration::from_millis(STEADY_MS);
        fresh && self.pin == *pin && self.named.as_deref() == named && self.files.iter().all(Watched::is_as_it_was)
    }
}

impl<D> Steady<D> {
    #[must_use]
    pub const fn new(inner: D) -> Self {
        Self { inner, last: Mutex::new(None) }
    }
}

impl<D: Definitions> Definitions for Steady<D> {
    fn stack(&self, pin: Option<&Pin>, named: Option<&str>) -> Result<Arc<Standing>, DefinitionFault> {
        // Where a session that begins finds its definition, only a walk can tell; it begins once.
        let Some(pin) = pin else { return self.inner.stack(None, named) };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = last.as_ref().filter(|last| last.holds(pin, named)) {
            return Ok(Arc::clone(&known.standing));
        }
        // Before they are read: what changes meanwhile is not as it was.
        let files = watched(&self.inner.files(pin)).filter(|files| !files.is_empty());
        // Why there is none is never remembered.
        *last = None;
        let standing = self.inner.stack(Some(pin), named)?;
        *last = files.map(|files| {
            let (pin, named) = (pin.clone(), named.map(str::to_owned));
            Last { at: Instant::now(), pin, named, files, standing: Arc::clone(&standing) }
        });
        Ok(standing)
    }

    fn files(&self, pin: &Pin) -> Vec<PathBuf> {
        self.inner.files(pin)
    }

    fn root(&self, pin: Option<&Pin>) -> Option<String> {
        self.inner.root(pin)
    }
}

/// A file, and what tells it from another or from itself at another time; nothing of one that is not there.
#[derive(Debug)]
struct Watched {
    path: PathBuf,
    stamp: Option<Stamp>,
}

#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    file: (u64, u64),
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Watched {
    fn is_as_it_was(&self) -> bool {
        stamp(&self.path).is_ok_and(|now| now == self.stamp)
    }

    /// Whether another change of it would show: it would bear another time.
    fn is_settled(&self, now: Duration) -> bool {
        let Some(stamp) = &self.stamp else { return true };
        let (seconds, nanos) = stamp.changed;
        let changed = u64::try_from(seconds).ok().zip(u32::try_from(nanos).ok());
        changed.is_some_and(|(seconds, nanos)| Duration::new(seconds, nanos) + Duration::from_millis(TICK_MS) < now)
    }
}

/// What the files are now; nothing where a change of one might not show, or cannot be looked for.
fn watched(paths: &[impl AsRef<Path>]) -> Option<Vec<Watched>> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let watched = |path: &Path| {
        let stamp = stamp(path).ok()?;
        Some(Watched { path: path.to_owned(), stamp }).filter(|watched| watched.is_settled(now))
    };
    paths.iter().map(|path| watched(path.as_ref())).collect()
}

/// What tells a file, links followed; nothing where there is none.
fn stamp(path: &Path) -> io::Result<Option<Stamp>> {
    match fs::metadata(path) {
        Ok(there) => Ok(Some(Stamp {
            file: (there.dev(), there.ino()),
            size: there.size(),
            modified: (there.mtime(), there.mtime_nsec()),
            changed: (there.ctime(), there.ctime_nsec()),
        })),
        Err(fault) if matches!(fault.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(fault) => Err(fault),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definitions::{Found, Places};

    const FREE: &str = "jackline: 1\nlimits: { steps: 9 }\n";
    const BOUND: &str = "jackline: 1\nlimits: { steps: 5 }\n";

    struct Scene {
        dir: tempfile::TempDir,
        steady: Steady<Found>,
    }

    impl Scene {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let at = |name: &str| dir.path().join(name);
            fs::create_dir(at("ws")).unwrap();
            fs::write(at("ws/jackline.yaml"), FREE).unwrap();
            let user = Some(at("user.yaml"));
            let places = Places { home: at("home"), start: at("ws"), user, ..Places::default() };
            Self { steady: Steady::new(Found::new(places)), dir }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.dir.path().join(name)
        }

        fn steps(&self) -> Vec<u64> {
            let root = self.path("ws").display().to_string();
            let definition = Some(self.path("ws/jackline.yaml").display().to_string());
            let pin = Pin { home: root.clone(), root, definition };
            let standing = self.steady.stack(Some(&pin), None).unwrap();
            standing.stack.layers.iter().filter_map(|layer| Some(layer.model.limits.steps.as_ref()?.max)).collect()
        }

        fn is_remembered(&self) -> bool {
            self.steady.last.lock().unwrap().is_some()
        }
    }

    #[test]
    fn a_definition_that_was_tightened_counts_at_once() {
        let scene = Scene::new();
        assert_eq!(scene.steps(), [9]);
        // Of the same size, at the same place, within a tick of its first time.
        fs::write(scene.path("ws/jackline.yaml"), BOUND).unwrap();
        assert_eq!(scene.steps(), [5]);
        std::thread::sleep(Duration::from_millis(2 * TICK_MS));
        scene.steps();
        assert!(scene.is_remembered(), "what stays is not read again and again");
        fs::write(scene.path("ws/jackline.yaml"), BOUND.replace('5', "4")).unwrap();
        assert_eq!(scene.steps(), [4]);
    }

    #[test]
    fn one_that_appears_elsewhere_counts_at_once_too() {
        let scene = Scene::new();
        std::thread::sleep(Duration::from_millis(2 * TICK_MS));
        assert_eq!((scene.steps(), scene.is_remembered()), (vec![9], true));
        fs::write(scene.path("user.yaml"), BOUND).unwrap();
        assert_eq!(scene.steps(), [5, 9]);
        std::thread::sleep(Duration::from_millis(2 * TICK_MS));
        scene.steps();
        // A link is what it leads to.
        fs::write(scene.path("other.yaml"), BOUND.replace('5', "3")).unwrap();
        fs::remove_file(scene.path("ws/jackline.yaml")).unwrap();
        std::os::unix::fs::symlink(scene.path("other.yaml"), scene.path("ws/jackline.yaml")).unwrap();
        assert_eq!(scene.steps(), [5, 3]);
    }

    #[test]
    fn what_cannot_be_looked_at_is_read_each_time() {
        let scene = Scene::new();
        let round = scene.path("round");
        std::os::unix::fs::symlink(&round, &round).unwrap();
        assert!(watched(&[round]).is_none());
        assert!(watched(&[scene.path("none")]).is_some());
        let file = scene.path("later");
        fs::write(&file, "x").unwrap();
        fs::File::options().append(true).open(&file).unwrap();
        assert!(watched(&[file]).is_none(), "it changed a moment ago");
    }
}
