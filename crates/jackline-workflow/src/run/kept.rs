//! Values that a run needs again when it is taken up: whole, beside the log, named by their digests. Only the owner can
//! read them, and no record repeats what is sensitive in them.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use jackline_core::json::canonical;
use jackline_core::sha::Digest;
use jackline_runtime::private;
use serde_json::Value;

use super::fault::RunFault;

/// Bytes of a value: twice what the shared state may ever have, and every value becomes a part of that.
const VALUE_BYTES_MAX: u64 = 2 << 30;

/// A directory of values by digest.
#[derive(Debug)]
pub(super) struct Kept {
    directory: PathBuf,
}

impl Kept {
    /// In this directory, which is made with the first value.
    pub(super) const fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// Keeps a value; once this returns it survives the end of the process, and of the machine.
    pub(super) fn put(&self, value: &Value) -> Result<Digest, RunFault> {
        let bytes = canonical(value);
        let digest = Digest::of(&bytes);
        let path = self.path(&digest);
        if !path.exists() {
            private::create_dir(&self.directory).map_err(|fault| disk(&self.directory, &fault))?;
            write(&path, &bytes).map_err(|fault| disk(&path, &fault))?;
        }
        Ok(digest)
    }

    /// The value of a digest, checked against it.
    pub(super) fn get(&self, digest: &Digest) -> Option<Value> {
        let mut bytes = Vec::new();
        let file = fs::File::open(self.path(digest)).ok()?;
        file.take(VALUE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
        // INVARIANT: what was put can be got. It is ours and was bounded when it was said, so that it is not bounded again.
        if Digest::of(&bytes) == *digest { serde_json::from_slice(&bytes).ok() } else { None }
    }

    fn path(&self, digest: &Digest) -> PathBuf {
        self.directory.join(format!("{}.json", digest.hex()))
    }
}

/// Writes a file whole or not at all, and to the disk.
pub(super) fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    // Two agents may say the same at the same time: each writes a file of its own.
    static WRITTEN: AtomicU64 = AtomicU64::new(0);
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let beside = path.with_extension(format!("{}-{number}.new", std::process::id()));
    let mut file = private::create_file(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    path.parent().map_or(Ok(()), |directory| fs::File::open(directory)?.sync_all())
}

pub(super) fn disk(path: &Path, fault: &std::io::Error) -> RunFault {
    RunFault::Disk { path: path.display().to_string(), why: fault.to_string() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_put_can_be_got() {
        let place = tempfile::tempdir().unwrap();
        let kept = Kept::new(place.path().join("answers"));
        let deep = (0..80).fold(json!(1), |inner, _| json!([inner]));
        let wide = json!((0..300_000).map(|at| json!({"": at})).collect::<Vec<_>>());
        let long = json!({"text": "x".repeat(17 << 20)});
        for value in [deep, wide, long] {
            assert!(kept.get(&kept.put(&value).unwrap()) == Some(value));
        }
    }

    #[test]
    fn the_same_is_kept_by_many_at_once() {
        let place = tempfile::tempdir().unwrap();
        let kept = Kept::new(place.path().join("answers"));
        for round in 0..20 {
            let value = json!({"round": round});
            std::thread::scope(|scope| {
                let all: Vec<_> = (0..8).map(|_| scope.spawn(|| kept.put(&value).unwrap())).collect();
                for one in all {
                    assert_eq!(kept.get(&one.join().unwrap()), Some(value.clone()));
                }
            });
        }
        assert_eq!(fs::read_dir(place.path().join("answers")).unwrap().count(), 20);
    }
}
